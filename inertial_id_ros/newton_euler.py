"""Newton-Euler equations of a payload, linear in its inertial parameters.

``[f; tau] = A(a_g, omega, alpha) phi`` is the wrench that the sensor exerts on the payload, at the
sensor origin, in sensor axes, with ``a_g = R'(pddot - g)`` (Atkeson, An, Hollerbach 1986;
Nadeau et al. 2022, eq. 2).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .inertia import Array, skew

# Places of the components of omega in L, row after row.
_ROTATION = np.zeros((3, 18))
_ROTATION[0, [0, 7, 14]] = _ROTATION[1, [1, 9, 16]] = _ROTATION[2, [2, 10, 17]] = 1.0


def rotation_columns(omega: ArrayLike) -> Array:
    """Matrices L (..., 3, 6) with ``tensor @ omega == L @ six_from_tensor(tensor)``."""
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
