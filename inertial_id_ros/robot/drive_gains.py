# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Drive gains from motor currents, with a known mass carried and not carried.

``current_j = (Y_j phi) / k_j`` with the gain k_j [N m/A] of joint j. Torque models are homogeneous:
without a known mass every gain and every mass could be doubled. A recording without and one with a
payload of known mass fix the scale (Gautier and Briot 2014: total least squares on both; here the
errors are in the currents alone). Friction is each recording's own, as it changes with load and
temperature; inertia and, but for its mass, the payload are unknown.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import least_squares

from ..errors import NotEnoughData
from ..inertia import Array
from .base_parameters import structural_base_parameters
from .least_squares import equivalent_white_noise, factors_of_joints
from .model import RobotModel
from .recording import Rows

_ROUNDS = 4  # in which the noise of each joint is found
_TINY = float(np.finfo(float).tiny)


@dataclass(frozen=True)
class Drives:
    """Gains with which the currents of a robot's drives become torques.

    Attributes:
        gain: (joints,) [N m/A]; spread: (joints, joints) covariance of their relative errors.
    """

    gain: Array
    spread: Array


def gains_from_payload(model: RobotModel, unloaded: Rows, loaded: Rows, mass: float) -> Drives:
    """Gains of all drives from recordings without and with a payload of known mass [kg].

    Raises:
        NotEnoughData: the recordings do not determine the gain of every joint.
    """
    count, rows = model.nv, _columns(model, unloaded, loaded)
    effort = np.concatenate([unloaded.effort, loaded.effort])
    factors = factors_of_joints(np.concatenate([rows, effort[..., None]], axis=2))
    joint, _ = np.nonzero(factors.any(axis=2))
    stacked = factors[factors.any(axis=2)]
    lengths = np.linalg.norm(stacked[:, :-2], axis=0)
    lengths[lengths == 0.0] = 1.0
    y, pull, current = stacked[:, :-2] / lengths, mass * stacked[:, -2], stacked[:, -1]
    apart = np.eye(count)[joint]  # (n, joints): the rows of each joint
    # All on the side of torques: linear, but biased by the noise of the currents.
    first = np.linalg.lstsq(np.column_stack([apart * current[:, None], -y]), pull, rcond=None)[0]
    _check_gains(first[:count])
    x, noise = np.append(1.0 / first[:count], first[count:]), np.ones(count)

    def errors(x: Array) -> Array:
        return np.asarray((current - x[joint] * (y @ x[count:] + pull)) / noise[joint])

    def slopes(x: Array) -> Array:
        return -np.column_stack([apart * (y @ x[count:] + pull)[:, None],
                                 x[joint, None] * y]) / noise[joint, None]

    for _ in range(_ROUNDS):
        found = least_squares(errors, x, slopes, x_scale="jac", xtol=1e-12, ftol=1e-12)
        x, noise = found.x, noise * np.sqrt(apart.T @ found.fun**2 / len(effort))
    gain = 1.0 / x[:count]
    _check_gains(gain)
    # Residuals repeat themselves: rows count as so many independent ones.
    residual = effort - rows @ np.append(x[count:] / lengths, mass) / gain
    parts = np.split(residual, [len(unloaded.effort)])
    square = sum(len(part) * equivalent_white_noise(part, np.full(count, _TINY))**2
                 for part in parts)
    longer = np.sqrt(square / np.maximum(np.sum(residual**2, axis=0), _TINY))
    root = gain[:, None] * np.linalg.pinv(slopes(x))[:count] * longer[joint]
    return Drives(gain, root @ root.T)


def _check_gains(gain: Array) -> None:
    """Raise NotEnoughData where gains (joints,) cannot be those of drives."""
    if not (np.isfinite(gain).all() and (gain > 0.0).all()):
        raise NotEnoughData(
            "motor currents: the recordings do not determine the gain of every joint (found: "
            f"{np.round(gain, 2).tolist()} N m/A); do both move all joints, and does only one hold "
            "the payload? (Torques need no payload.)")


def _columns(model: RobotModel, unloaded: Rows, loaded: Rows) -> Array:
    """Both recordings in one system of torques (r, joints, columns): base parameters, frictions of
    each recording, the payload's parameters, the last of which is its mass."""
    base = structural_base_parameters(model).independent
    inertial, terms = base[base < model.inertial], base[base >= model.inertial]
    last = model.body_slice(len(model.bodies) - 1)
    parts = []
    for k, rows in enumerate((unloaded.regressor, loaded.regressor)):
        friction = [(own == k) * rows[:, :, terms] for own in (0, 1)]
        payload = np.roll(rows[:, :, last], -1, axis=2)
        parts.append(np.concatenate([rows[:, :, inertial], *friction, k * payload], axis=2))
    return np.concatenate(parts)
