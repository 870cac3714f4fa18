# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Newton-Euler equations of a payload, linear in its inertial parameters.

``[f; tau] = A(a_g, omega, alpha) phi`` is the wrench that the sensor exerts on the payload, at the
sensor origin, in sensor axes, with ``a_g = R'(pddot - g)`` (Atkeson, An, Hollerbach 1986;
Nadeau et al. 2022, eq. 2).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..inertia import Array, skew

# Places of the components of omega in L, row after row.
_ROTATION = np.zeros((3, 18))
_ROTATION[0, [0, 7, 14]] = _ROTATION[1, [1, 9, 16]] = _ROTATION[2, [2, 10, 17]] = 1.0


def rotation_columns(omega: ArrayLike) -> Array:
    """Matrices L (..., 3, 6) that multiply an inertia tensor, as six entries, with omega (..., 3):
    ``tensor @ omega == L @ six_from_tensor(tensor)``."""
    w = np.asarray(omega, dtype=float)
    return np.asarray(w @ _ROTATION).reshape(*w.shape[:-1], 3, 6)


def regressor(a_g: ArrayLike, omega: ArrayLike, alpha: ArrayLike) -> Array:
    """Regressor A (..., 6, 10) of the wrench on the payload.

    Args:
        a_g: proper acceleration of the sensor origin, ``R'(pddot - g)``, sensor axes (..., 3)
            [m/s^2].
        omega: angular velocity, sensor axes (..., 3) [rad/s].
        alpha: angular acceleration, sensor axes (..., 3) [rad/s^2].
    """
    a_g, omega, alpha = (np.asarray(v, dtype=float) for v in (a_g, omega, alpha))
    spin = skew(omega)
    out = np.zeros((*a_g.shape[:-1], 6, 10))
    out[..., :3, 0] = a_g
    out[..., :3, 1:4] = skew(alpha) + spin @ spin
    out[..., 3:, 1:4] = -skew(a_g)  # [h]x a_g = -[a_g]x h
    out[..., 3:, 4:] = rotation_columns(alpha) + spin @ rotation_columns(omega)
    return out


def static_regressor(gravity_sensor: ArrayLike) -> Array:
    """Reduced regressor (..., 6, 10): gravity only, at rest (Nadeau et al. 2022, eq. 6).

    Args:
        gravity_sensor: gravity in sensor axes, ``R' g`` (..., 3) [m/s^2].
    """
    g = np.asarray(gravity_sensor, dtype=float)
    out = np.zeros((*g.shape[:-1], 6, 10))
    out[..., :3, 0], out[..., 3:, 1:4] = -g, skew(g)
    return out


# Regressor per unit of linear and angular acceleration along each axis (6, 6, 10).
ACCELERATION_REGRESSORS = np.concatenate([
    regressor(np.eye(3), np.zeros((3, 3)), np.zeros((3, 3))),
    regressor(np.zeros((3, 3)), np.zeros((3, 3)), np.eye(3))])


def acceleration_wrenches(phi: Array) -> Array:
    """Wrench on a payload phi (10,) per unit of linear and angular acceleration: columns (6, 6)."""
    return (ACCELERATION_REGRESSORS @ phi).T


# Magnitudes of acceleration [m/s^2], angular acceleration [rad/s^2] and angular velocity [rad/s]
# that count as one unit of dynamism (n1, n2, n3 of the paper).
LINEAR_UNIT, ANGULAR_UNIT, VELOCITY_UNIT = 1.0, 1.0, 0.5


def dynamism(acceleration: ArrayLike, alpha: ArrayLike, omega: ArrayLike) -> Array:
    """Dynamism (...,) of motions: how far they are from rest, in the units above.

    Args:
        acceleration: without gravity, alpha, omega: (..., 3).
    """

    def squared(v: ArrayLike, unit: float) -> Array:
        """Squared lengths (...,) of vectors (..., 3) in this unit."""
        return np.sum((np.asarray(v, dtype=float) / unit) ** 2, axis=-1)

    return (squared(acceleration, LINEAR_UNIT) + squared(alpha, ANGULAR_UNIT)
            + squared(omega, VELOCITY_UNIT))


def full_model_weight(nu: ArrayLike, c1: float) -> Array:
    """Weight (...,) in [0, 1) of the full model against the gravity-only one in the blend.

    It is ``tanh(3 nu / c1)`` of the dynamism nu (...,) (Nadeau et al. 2022, Section IV).
    """
    return np.tanh(3.0 * np.asarray(nu, dtype=float) / c1)
