# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What the samples of a motion tell about parameters, and the gain in information.

Rows of information are whitened by the sensor's noise, and in units of L, with ``L L'`` the
covariance of the parameters before the motion. With F the rows of all samples, the information is
``I + F'F``. Gain is in nats: where the standard deviations of all c parameters fall by a factor e,
the gain is c.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ...inertia import Array
from ...regression.newton_euler import regressor
from ...robot.base_parameters import structural_base_parameters
from ...robot.model import RobotModel
from ...robot.reference import Reference
from ...robot.rest_rows import rest_weights
from .arm import Arm

BIASES = 6


class Objective(Protocol):
    """Rows of information of a motion, in units of what is known before it."""

    def rows(self, q: Array, dq: Array, ddq: Array) -> Array:
        """Rows (n, r, c) of joint motion (n, joints): whitened regressor times L."""
        ...


class PayloadInformation:
    """The ten parameters of a payload on a wrench sensor, beside the sensor's six biases.

    As the biases' own information does not depend on the motion, the determinant over all sixteen
    ranks motions as that of the ten alone does, biases eliminated.

    Args:
        unit: (10, 10) root of the covariance of phi before any data.
        noise: (6,) of one wrench sample; bias_sd: (6,) of the biases before any data [N, N m].
    """

    def __init__(self, arm: Arm, unit: Array, noise: Array, bias_sd: Array) -> None:
        self._arm, self._unit = arm, unit
        self._noise, self._bias = np.asarray(noise), np.diag(np.asarray(bias_sd))

    def rows(self, q: Array, dq: Array, ddq: Array) -> Array:
        """Rows (n, 6, 16) of a joint motion: of the payload and of the biases."""
        motion = self._arm.frame_motion(q, dq, ddq)
        y = regressor(motion.proper_acceleration, motion.omega, motion.alpha) @ self._unit
        biases = np.broadcast_to(self._bias, (len(y), BIASES, BIASES))
        return np.concatenate([y, biases], axis=2) / self._noise[:, None]


class RobotInformation:
    """The base parameters of a whole robot, from joint torques.

    Samples at which a joint rests, creeps or turns back count less, as in the identification
    (`robot.recording`): friction may act either way there.

    Args:
        scale: covariance of the robot's parameters before any data.
        noise: (joints,) of one torque sample [N m].
        friction: (joints,) Coulomb friction to be expected [N m]; None: none.
        joints: indices of the k joints whose torques are measured; None: all.
    """

    def __init__(self, model: RobotModel, scale: Reference, noise: Array,
                 friction: Array | None = None, joints: np.ndarray | None = None) -> None:
        base = structural_base_parameters(model)
        self._model, self._columns = model, base.independent
        self._noise = np.asarray(noise)
        self._friction = np.zeros(model.nv) if friction is None else np.asarray(friction)
        self._joints = np.arange(model.nv) if joints is None else np.asarray(joints)
        across = base.matrix @ scale.unit
        self._root = np.asarray(np.linalg.qr(across.T, mode="r")).T

    @property
    def count(self) -> int:
        """Number of base parameters."""
        return len(self._columns)

    def rows(self, q: Array, dq: Array, ddq: Array) -> Array:
        """Rows (n, k, nb) of a joint motion, of the base parameters."""
        y = self._model.regressor(q, dq, ddq)
        weights = rest_weights(self._model, y, self._friction, self._noise) / self._noise
        return (y[:, :, self._columns] * weights[..., None])[:, self._joints] @ self._root


def information_gain(rows: Array, samples: float) -> float:
    """Information gain ``1/2 log det(I + F'F)`` [nats] of rows (n, r, c) that stand for a number of
    samples: D-optimality with a prior, so that a direction that the motion cannot show does not
    make it minus infinity."""
    return 0.5 * float(np.linalg.slogdet(_information(rows, samples))[1])


def gain_slopes(rows: Array, samples: float) -> Array:
    """Derivatives (n, r, c) of the information gain with respect to the rows."""
    flat = rows.reshape(-1, rows.shape[2])
    weight = samples / len(rows)
    return weight * np.linalg.solve(_information(rows, samples), flat.T).T.reshape(rows.shape)


def _information(rows: Array, samples: float) -> Array:
    """Information matrix (c, c) of rows that stand for a number of samples, prior included."""
    flat = rows.reshape(-1, rows.shape[2])
    return np.eye(flat.shape[1]) + samples / len(rows) * flat.T @ flat
