# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The least-squares fit of the data alone, without shape or consistency."""

from __future__ import annotations

import numpy as np

from ..inertia import Array
from ..linalg import identity, inverse

_REACH = 1.0  # m; no payload is taken to reach farther from the sensor
_MASS_SD = 100.0  # kg
# The information: about the mass, and of a kilogram about first moments and tensor.
_OF_MASS = np.diag([_MASS_SD**-2, *9 * (0.0,)])
_OF_PLACE = np.diag([0.0, *3 * (_REACH**-2,), *6 * (_REACH**-4,)])


def vague_information(mass: float) -> Array:
    """Information (10, 10) of a vague prior: the payload is light and near the sensor.

    Args:
        mass: of the payload, about [kg].
    """
    return np.asarray(_OF_MASS + _OF_PLACE / max(mass, 0.1) ** 2)


_VAGUE = vague_information(1.0)


def unconstrained_fit(information: Array, vector: Array) -> tuple[Array, Array]:
    """Solve normal equations of the data under the vague prior: phi (10,), covariance (10, 10).

    Args:
        information: (10, 10) of the data; vector: (10,) right-hand side.
    """
    covariance = inverse(information + _VAGUE)
    return covariance @ vector, covariance


def center_of_mass(phi: Array, covariance: Array) -> tuple[Array, Array]:
    """Centre of mass (3,) [m] and its covariance (3, 3) from those of phi; the mass is positive."""
    com = phi[1:4] / phi[0]
    jacobian = np.empty((3, 4))
    jacobian[:, 0], jacobian[:, 1:] = -com, identity(3)
    jacobian /= phi[0]
    return com, jacobian @ covariance[:4, :4] @ jacobian.T
