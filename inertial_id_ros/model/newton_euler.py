# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The wrench of a rigid payload: Newton and Euler, linear in the inertial parameters.

W = A(proper, omega, alpha) phi is what the sensor exerts on the payload; `proper` is the
acceleration of the sensor's origin less gravity. All vectors are in sensor axes, phi (10,) is about
the sensor's origin (Atkeson, An, Hollerbach 1986).
"""

import numpy as np
import pinocchio as pin

from ..inertia import Array, tensor_from_six
from ..inertia import skew as skew
from ..motion.motion import Motion

GRAVITY = np.array([0.0, 0.0, -9.81])  # m/s^2, in base axes
_COLUMNS = tensor_from_six(np.eye(6)).transpose(2, 1, 0).reshape(3, -1)  # of an axis of v each
# Of products v_j v_l: v x (v x 1), and v x (I v) for a unit of each entry of I.
_TURN = np.eye(3 * 3) - np.outer(np.eye(3), np.eye(3))
_SPIN = np.einsum("jik,ckl->jlic", skew(np.eye(3)), tensor_from_six(np.eye(6))).reshape(3 * 3, -1)


def rotation(vector: Array) -> Array:
    """Rotation matrix (3, 3) of a rotation vector (3,) [rad]."""
    return np.asarray(pin.exp3(np.asarray(vector, float)))


def regressor(proper: Array, omega: Array, alpha: Array) -> Array:
    """A (n, 6, 10) of motions (n, 3)."""
    square = (omega[:, :, None] * omega[:, None]).reshape(-1, 9)
    return linear_regressor(np.hstack([proper, alpha, square]))


def linear_regressor(parts: Array) -> Array:
    """A (n, 6, 10) of `proper`, alpha and the products of omega with itself (n, 15), in which it is
    linear: their means make the mean of A."""
    proper, alpha, square = parts[:, :3], parts[:, 3:6], parts[:, 6:]
    out = np.zeros((len(parts), 6, 10))
    out[:, :3, 0] = proper
    out[:, :3, 1:4] = skew(alpha) + (square @ _TURN).reshape(-1, 3, 3)
    out[:, 3:, 1:4] = -skew(proper)
    out[:, 3:, 4:] = (alpha @ _COLUMNS + square @ _SPIN).reshape(-1, 3, 6)
    return out


def regressor_of(motion: Motion, gravity: Array = GRAVITY) -> Array:
    """A (n, 6, 10) in the bins of a motion; gravity: (3,) in base axes [m/s^2]."""
    return regressor(motion.acceleration - gravity @ motion.rotation, motion.omega, motion.alpha)


def static_wrench(phi: Array, proper: Array) -> Array:
    """Wrench (..., 6) of a payload that only feels an acceleration (..., 3)."""
    return np.concatenate([phi[0] * proper, np.cross(phi[1:4], proper)], -1)


def weight_columns(proper: Array) -> Array:
    """Columns (..., 6, 4) of `static_wrench` by mass and first moment."""
    out = np.zeros((*proper.shape[:-1], 6, 4))
    out[..., :3, 0], out[..., 3:, 1:] = proper, -skew(proper)
    return out
