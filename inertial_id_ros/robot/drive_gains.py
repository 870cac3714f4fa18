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
from .factors import equivalent_white_noise, factors_of_joints
from .model import BODY_SIZE, RobotModel
from .recording import FilteredRecording, JointRecording

_ROUNDS = 4  # in which the noise of each joint is found


@dataclass(frozen=True)
class Drives:
    """Gains with which the currents of a robot's drives become torques.

    Attributes:
        gain: (joints,) [N m/A]; covariance: (joints, joints) of them.
    """

    gain: Array
    covariance: Array

    @property
    def spread(self) -> Array:
        """Covariance (joints, joints) of the relative errors of the gains."""
        return np.asarray(self.covariance / np.outer(self.gain, self.gain))

    def torques(self, recording: JointRecording) -> JointRecording:
        """A recording of currents as one of torques."""
        return JointRecording(recording.stamps, recording.q, recording.effort * self.gain)


def gains_from_payload(model: RobotModel, unloaded: FilteredRecording, loaded: FilteredRecording,
                       mass: float) -> Drives:
    """Gains of all drives from recordings without and with a payload of known mass [kg].

    Raises:
        NotEnoughData: the recordings do not determine the gain of every joint.
    """
    count, rows = model.nv, _columns(model, unloaded, loaded)
    effort = np.concatenate([unloaded.effort, loaded.effort])
    factors = factors_of_joints(np.concatenate([rows, effort[..., None]], axis=2))
    joint, _ = np.nonzero(factors.any(axis=2))
    stacked = factors[factors.any(axis=2)]
    y, pull, current = stacked[:, :-2], mass * stacked[:, -2], stacked[:, -1]
    lengths = np.linalg.norm(y, axis=0)
    y = y / np.where(lengths > 0.0, lengths, 1.0)
    apart = np.eye(count)[joint]  # (n, joints): the rows of each joint

    def without_gain(error: str, gain: Array) -> NotEnoughData:
        return NotEnoughData("the recordings do not determine the gain of every joint "
                             f"({error}: {np.round(gain, 2).tolist()} N m/A)")

    # All on the side of torques: linear, but biased by the noise of the currents.
    first = np.linalg.lstsq(np.column_stack([apart * current[:, None], -y]), pull, rcond=None)[0]
    if not (first[:count] > 0.0).all():
        raise without_gain("first guess", first[:count])
    x = np.append(1.0 / first[:count], first[count:])
    noise: Array = np.ones(count)

    def errors(x: Array, noise: Array) -> Array:
        return np.asarray((current - x[joint] * (y @ x[count:] + pull)) / noise[joint])

    def slopes(x: Array, noise: Array) -> Array:
        torque = y @ x[count:] + pull
        return -np.concatenate([apart * torque[:, None], x[joint, None] * y],
                               axis=1) / noise[joint, None]

    for _ in range(_ROUNDS):
        found = least_squares(errors, x, slopes, x_scale="jac", xtol=1e-12, ftol=1e-12,
                              args=(noise,))
        x = found.x
        noise = noise * np.sqrt(apart.T @ found.fun**2 / len(effort))
    gain = 1.0 / x[:count]
    if not (np.isfinite(gain).all() and (gain > 0.0).all()):
        raise without_gain("found", gain)
    # Residuals repeat themselves: rows count as so many independent ones.
    solved = rows @ np.append(x[count:] / np.where(lengths > 0.0, lengths, 1.0), mass)
    residual = effort - solved / gain
    parts = np.split(residual, [len(unloaded.effort)])
    square = sum(len(part) * equivalent_white_noise(part, np.full(count, np.finfo(float).tiny))**2
                 for part in parts)
    longer = np.sqrt(square / np.maximum(np.sum(residual**2, axis=0), np.finfo(float).tiny))
    root = np.linalg.pinv(slopes(x, noise))[:count] * longer[joint]
    return Drives(gain, np.outer(gain**2, gain**2) * (root @ root.T))


def _columns(model: RobotModel, unloaded: FilteredRecording, loaded: FilteredRecording) -> Array:
    """Both recordings in one system of torques (r, joints, columns): base parameters, frictions of
    each recording, the payload's parameters, the last of which is its mass."""
    base = structural_base_parameters(model).independent
    inertial, terms = base[base < BODY_SIZE * len(model.bodies)], base[
        base >= BODY_SIZE * len(model.bodies)]
    last = model.body_slice(len(model.bodies) - 1)
    parts = []
    for k, rows in enumerate((unloaded.regressor, loaded.regressor)):
        friction = [(own == k) * rows[:, :, terms] for own in (0, 1)]
        payload = np.roll(rows[:, :, last], -1, axis=2)
        parts.append(np.concatenate([rows[:, :, inertial], *friction, k * payload], axis=2))
    return np.concatenate(parts)
