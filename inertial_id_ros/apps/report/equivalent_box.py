# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The uniform box with the mass and the inertia of a body: a picture of what the inertia means."""

from __future__ import annotations

import numpy as np

from ...inertia import Array, Body, principal_moments

# For a box, ``I_x = m (b^2 + c^2) / 12``: its squared lengths are 6 / m times this matrix times the
# principal moments.
_FROM_MOMENTS = np.ones((3, 3)) - 2.0 * np.eye(3)
_CORNERS = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
_EDGES = np.array([(a, b) for a in range(8) for b in range(a + 1, 8)
                   if np.abs(_CORNERS[a] - _CORNERS[b]).sum() == 2.0])
_TENSOR = np.eye(6)[[0, 1, 2, 1, 3, 4, 2, 4, 5]]  # (9, 6): from (xx, xy, xz, yy, yz, zz) to I


def equivalent_box(body: Body) -> tuple[Array, Array]:
    """Lengths (3,) [m] and axes (3, 3) of the uniform box with the body's mass and inertia.

    The triangle inequalities of a possible body make all lengths real.
    """
    moments, axes = principal_moments(body.inertia_com)
    return np.sqrt(np.maximum(6.0 / body.mass * _FROM_MOMENTS @ moments, 0.0)), axes


def box_interval(body: Body, covariance: Array, deviations: float) -> tuple[Array, Array]:
    """Lengths (3,) [m] of the equivalent box, less and plus so many standard deviations.

    The squared lengths are linearised, not the lengths: those of a flat body have no derivative.

    Args:
        covariance: (10, 10) of mass, centre of mass, and inertia about it (`PARAMETER_NAMES`).
    """
    moments, axes = principal_moments(body.inertia_com)
    squares = 6.0 / body.mass * _FROM_MOMENTS @ moments
    products = np.einsum("ik,jk->kij", axes, axes).reshape(3, 9)  # times I they are the moments
    of_moments = products @ _TENSOR
    jacobian = np.column_stack([-squares, 6.0 * _FROM_MOMENTS @ of_moments]) / body.mass
    chosen = [0, *range(4, 10)]
    variances = np.einsum("ki,ij,kj->k", jacobian, covariance[np.ix_(chosen, chosen)], jacobian)
    half = deviations * np.sqrt(np.maximum(variances, 0.0))
    return np.sqrt(np.maximum(squares - half, 0.0)), np.sqrt(np.maximum(squares + half, 0.0))


def box_edges(centre: Array, lengths: Array, axes: Array) -> Array:
    """The twelve edges (12, 2, 3) of a box."""
    return np.asarray((centre + (0.5 * lengths * _CORNERS) @ axes.T)[_EDGES])
