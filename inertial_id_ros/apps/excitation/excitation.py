# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Motions one after the other, each with most information a second about a payload or a robot."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import numpy as np

from ...errors import InvalidData
from ...estimators.reference_body import body_coordinates
from ...inertia import Array
from ...model.newton_euler import regressor
from ...settings import Settings
from .arm import Arm
from .motions import MotionLimits, RestToRest, joined
from .planner import MotionPlanner

STEP = 0.1  # s between the instants at which information is counted
RATE = 500.0  # Hz, of the samples
TORQUE_NOISE = 0.5  # N m, of one sample of a joint torque
Rows = Callable[[Array, Array, Array], Array]  # rows (n, r, c) of information of joint motion


def plan(arm: Arm, start: Array, active: np.ndarray, rows: Rows, limits: MotionLimits,
         duration: float, budget: float) -> tuple[RestToRest, float]:
    """Motions one after the other, each with most information a second: of as many attempts as the
    computing time [s] allows the best, with its information [nats].

    Args:
        start: (joints,) pose at time 0; active: (k,) indices of the joints that move.

    Raises:
        InvalidData: the start pose itself is beyond a limit, or leaves no room to move.
    """
    planner, begin = MotionPlanner(arm, limits, start), time.thread_time()
    found: list[tuple[RestToRest, float]] = []
    while not found or (time.thread_time() - begin) * (1.0 + 1.0 / len(found)) <= budget:
        found.append(_attempt(planner, start, active, rows, duration,
                              np.random.default_rng(len(found))))
    return max(found, key=lambda attempt: attempt[1])


def _attempt(planner: MotionPlanner, start: Array, active: np.ndarray, rows: Rows, duration: float,
             rng: np.random.Generator) -> tuple[RestToRest, float]:
    """See `plan`.

    The gain is ``1/2 log det(I + F'F)`` of rows F, in units of what is known before: D-optimality
    with a prior.
    """
    def information(motions: list[RestToRest]) -> Array:
        times = [np.arange(0.5 * STEP, motion.duration, STEP) for motion in motions]
        states = zip(*(motion.at(t) for motion, t in zip(motions, times, strict=True)), strict=True)
        ends = np.cumsum([len(t) for t in times])
        parts = np.split(rows(*map(np.concatenate, states)), ends[:-1])
        flat = [part.reshape(-1, part.shape[2]) for part in parts]
        return RATE * STEP * np.stack([part.T @ part for part in flat])

    def gains(known: Array, motions: list[RestToRest]) -> Array:
        after = np.linalg.slogdet(known + information(motions))[1]
        return np.asarray((after - np.linalg.slogdet(known)[1]) / [m.duration for m in motions])

    motions: list[RestToRest] = []
    pose, left = start, duration
    known = np.eye(rows(*np.zeros((3, 1, len(start)))).shape[2])
    while True:
        motion = planner.best_motion(pose, partial(gains, known), (active,), rng, left)
        if motion is None and not motions:
            raise InvalidData("no motion from the start pose was found within the limits")
        if motion is None:
            return joined(motions), 0.5 * float(np.linalg.slogdet(known)[1])
        motions.append(motion)
        known = known + information([motion])[0]
        pose, left = motion.poses[-1], left - motion.duration


def payload_rows(arm: Arm, phi: Array) -> Rows:
    """Whitened rows (n, 6, 16) of the ten parameters of a payload phi (10,), in units of itself,
    and of the sensor's six biases."""
    wrench = Settings().wrench
    unit = phi[0] * body_coordinates(phi / phi[0]).to_phi
    noise, bias = np.repeat(wrench.noise, 3), np.diag(np.repeat(wrench.bias_sd, 3))

    def rows(q: Array, dq: Array, ddq: Array) -> Array:
        motion = arm.motion(q, dq, ddq)
        y = regressor(motion.proper, motion.omega, motion.alpha) @ unit
        biases = np.broadcast_to(bias, (len(y), 6, 6))
        return np.concatenate([y, biases], axis=2) / noise[:, None]

    return rows


def robot_rows(arm: Arm, active: np.ndarray) -> Rows:
    """Whitened rows (n, k, nb) of the base parameters of the whole robot, in units of those of its
    description, from the torques of the active joints (k,)."""
    from ...robot.base_parameters import structural_base_parameters
    from ...robot.joint_terms import NO_TERMS
    from ...robot.model import RobotModel
    from ...robot.reference import description_reference

    model = RobotModel.from_urdf(arm.urdf, NO_TERMS)
    base = structural_base_parameters(model)
    across = base.matrix @ description_reference(model).unit
    root = np.asarray(np.linalg.qr(across.T, mode="r")).T / TORQUE_NOISE

    def rows(q: Array, dq: Array, ddq: Array) -> Array:
        return np.asarray(model.regressor(q, dq, ddq)[:, active][:, :, base.independent] @ root)

    return rows
