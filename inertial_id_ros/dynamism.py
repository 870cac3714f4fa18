"""How dynamic a motion is, and its weight for the full model (Nadeau et al. 2022, eqs 4, 9)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .inertia import Array

# Magnitudes of acceleration [m/s^2], angular acceleration [rad/s^2] and angular velocity [rad/s]
# that count as one unit of dynamism (n1, n2, n3 of the paper).
LINEAR_UNIT, ANGULAR_UNIT, VELOCITY_UNIT = 1.0, 1.0, 0.5


def dynamism(acceleration: ArrayLike, alpha: ArrayLike, omega: ArrayLike) -> Array:
    """Dynamism (...,) of motions (..., 3); acceleration is without gravity."""

    def squared(v: ArrayLike, unit: float) -> Array:
        return np.sum((np.asarray(v, dtype=float) / unit) ** 2, axis=-1)

    return (squared(acceleration, LINEAR_UNIT) + squared(alpha, ANGULAR_UNIT)
            + squared(omega, VELOCITY_UNIT))


def full_model_weight(nu: ArrayLike, c1: float) -> Array:
    """Weight in [0, 1) of the full model, ``tanh(3 nu / c1)`` of dynamism nu (...,); the
    gravity-only model has the rest (Nadeau et al. 2022, Section IV)."""
    return np.tanh(3.0 * np.asarray(nu, dtype=float) / c1)
