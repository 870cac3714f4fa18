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


def equivalent_box(body: Body) -> tuple[Array, Array]:
    """Lengths (3,) [m] and axes (3, 3) of the uniform box with the body's mass and inertia.

    The triangle inequalities of a possible body make all lengths real.
    """
    moments, axes = principal_moments(body.inertia_com)
    return np.sqrt(np.maximum(6.0 / body.mass * _FROM_MOMENTS @ moments, 0.0)), axes


def box_edges(centre: Array, lengths: Array, axes: Array) -> Array:
    """The twelve edges (12, 2, 3) of a box."""
    return np.asarray((centre + (0.5 * lengths * _CORNERS) @ axes.T)[_EDGES])
