# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Motions of the packaged arm checked by MuJoCo, and the sinusoids of Nadeau et al. (2022)."""

from __future__ import annotations

from typing import NamedTuple

import mujoco
import numpy as np

from inertial_id_ros.apps.excitation.arm import Arm
from inertial_id_ros.apps.excitation.objective import (
    Objective,
    PayloadInformation,
    information_gain,
)
from inertial_id_ros.apps.excitation.optimise import dense_times
from inertial_id_ros.apps.simulation.description import SENSOR_FRAME, load_description
from inertial_id_ros.apps.simulation.motion import TOOL_POINT, Motion, Sinusoid, SmoothStart
from inertial_id_ros.estimators.reference_body import body_coordinates
from inertial_id_ros.inertia import phi_from_body

SPEED = 0.25  # m/s of the tool point
RAMP = 1.0  # s in which the sinusoids gain their speed
NOISE = np.repeat([0.1, 0.005], 3)  # of the simulated sensor
BIAS_SD = np.repeat([5.0, 0.5], 3)


def gain_of(motion: Motion, objective: Objective, rate: float, duration: float) -> float:
    """Information gain [nats] of a motion of some length [s], sampled densely."""
    return information_gain(objective.rows(*motion(dense_times(duration))), rate * duration)


class Checked(NamedTuple):
    """What MuJoCo says of a motion: peak speed of the tool point [m/s], instants with contact."""

    speed: float
    contacts: int


def check(motion: Motion, duration: float, rate: float = 1000.0) -> Checked:
    """Independent check: MuJoCo's velocities and contacts, densely sampled.

    Neighbours in the chain of links, and the pair of links whose shapes overlap in every pose, are
    no contacts.
    """
    spec = mujoco.MjSpec.from_string(load_description().urdf)
    spec.compiler.fusestatic = False
    spec.compiler.discardvisual = True
    spec.body(SENSOR_FRAME).add_site(name="tool", pos=TOOL_POINT)
    model = spec.compile()
    data = mujoco.MjData(model)
    site = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_SITE, "tool")
    peak, touching = 0.0, 0
    always = _always_touching(model, data)
    velocity = np.zeros(6)
    for q, dq, _ in zip(*motion(np.arange(0.0, duration, 1.0 / rate)), strict=True):
        data.qpos[:], data.qvel[:] = q, dq
        mujoco.mj_forward(model, data)
        mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_SITE, site, velocity, 0)
        peak = max(peak, float(np.linalg.norm(velocity[3:])))
        touching += bool(_pairs(data, model) - always)
    return Checked(peak, touching)


def _pairs(data: mujoco.MjData, model: mujoco.MjModel) -> set[frozenset[int]]:
    """Pairs of bodies that touch, neighbours left out (fixed frames count as their body)."""
    found = set()
    for contact in data.contact[:data.ncon]:
        if contact.dist > 0.0:
            continue
        bodies = [model.body_weldid[model.geom_bodyid[g]] for g in contact.geom]
        parents = [model.body_weldid[model.body_parentid[b]] for b in bodies]
        if bodies[0] not in (bodies[1], parents[1]) and bodies[1] != parents[0]:
            found.add(frozenset(int(b) for b in bodies))
    return found


def _always_touching(model: mujoco.MjModel, data: mujoco.MjData) -> set[frozenset[int]]:
    rng = np.random.default_rng(1)
    found: set[frozenset[int]] | None = None
    for _ in range(100):
        data.qpos[:] = rng.uniform(-np.pi, np.pi, model.nq)
        mujoco.mj_forward(model, data)
        now = _pairs(data, model)
        found = now if found is None else found & now
    return found or set()


def peak_speed(motion: Motion, duration: float) -> float:
    """Peak speed of the tool point [m/s], from the chain of the packaged arm."""
    arm = load_description()
    q, dq, _ = motion(np.arange(0.0, duration, 0.005))
    return float(np.linalg.norm(arm.tool_velocity(q, dq, TOOL_POINT).linear, axis=1).max())


def sinusoid_in_time(duration: float) -> Sinusoid:
    """The published sinusoids at the fastest pace within the speed."""
    low, high = 0.0, 4.0
    for _ in range(30):
        pace = 0.5 * (low + high)
        within = peak_speed(Sinusoid(SmoothStart(pace, RAMP)), duration) <= SPEED
        low, high = (pace, high) if within else (low, pace)
    return Sinusoid(SmoothStart(low, RAMP))


def payload_objective(arm: Arm) -> PayloadInformation:
    """Information about a ball of 1 kg and of 5 cm (root mean square along each axis)."""
    ball = phi_from_body(1.0, np.zeros(3), 2.0 * 0.05**2 * np.eye(3))
    return PayloadInformation(arm, body_coordinates(ball).to_phi, NOISE, BIAS_SD)
