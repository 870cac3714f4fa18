# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Boxes, spheres, cylinders and cones about their centre: sizes, insides, exact moments.

Sizes [m]: box (x, y, z), sphere (radius), cylinder and cone (radius, height) along z; the centre of
a cone lies at half its height, its tip up, as in shape_msgs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..errors import InvalidShape
from ..extras import optional_packages
from ..inertia import Array, Body
from ..limits import FARTHEST, THINNEST

if TYPE_CHECKING:
    import trimesh

SIZES = {"box": 3, "cylinder": 2, "sphere": 1, "cone": 2}
_SECTIONS = 96  # corners of a circle, for points on the surface


def check_sizes(kind: str, sizes: Array) -> None:
    """Raises InvalidShape for an unknown kind, or sizes (k,) [m] that do not fit it."""
    if kind not in SIZES:
        raise InvalidShape(f"shape type is '{kind}'; allowed: {', '.join(SIZES)}")
    if sizes.shape != (SIZES[kind],) or not np.all(np.isfinite(sizes) & (sizes > 0.0)):
        raise InvalidShape(f"a {kind} needs {SIZES[kind]} positive sizes in metres, "
                           f"got {sizes.tolist()}")
    if sizes.max() > FARTHEST or sizes.min() < THINNEST:
        raise InvalidShape(f"a {kind} has sizes {sizes.tolist()} m; allowed: {THINNEST:g} to "
                           f"{FARTHEST:g} m")


def is_inside(kind: str, sizes: Array, points: Array) -> np.ndarray:
    """Which of points (n, 3) lie inside, of those inside the bounding box."""
    if kind == "box":
        return np.ones(len(points), dtype=bool)
    if kind == "sphere":
        return (points**2).sum(axis=1) <= sizes[0] ** 2
    radius = np.full(len(points), sizes[0])
    if kind == "cone":
        radius = radius * (0.5 - points[:, 2] / sizes[1])
    return (points[:, :2] ** 2).sum(axis=1) <= radius**2


def volume_and_body(kind: str, sizes: Array) -> tuple[float, Body]:
    """Volume [m^3] of sizes (k,) [m], and the body when filled evenly with 1 kg."""
    center = np.zeros(3)
    if kind == "box":
        squares = sizes**2
        return float(sizes.prod()), Body(1.0, center, np.diag(squares.sum() - squares) / 12.0)
    r2 = float(sizes[0] ** 2)
    if kind == "sphere":
        return 4.0 / 3.0 * np.pi * r2 * float(sizes[0]), Body(1.0, center, 0.4 * r2 * np.eye(3))
    h2, base = float(sizes[1] ** 2), np.pi * r2 * float(sizes[1])
    if kind == "cylinder":
        across = (3.0 * r2 + h2) / 12.0
        return base, Body(1.0, center, np.diag([across, across, 0.5 * r2]))
    across = 0.15 * r2 + 0.0375 * h2
    center = np.array([0.0, 0.0, -0.25 * float(sizes[1])])
    return base / 3.0, Body(1.0, center, np.diag([across, across, 0.3 * r2]))


def surface_mesh(kind: str, sizes: Array) -> trimesh.Trimesh:
    """A mesh [m] of the surface of sizes (k,) [m]; round ones have their corners on it."""
    with optional_packages("a shape"):
        import trimesh

    if kind == "box":
        return trimesh.creation.box(extents=sizes)
    if kind == "sphere":
        return trimesh.creation.icosphere(subdivisions=4, radius=sizes[0])
    if kind == "cylinder":
        return trimesh.creation.cylinder(radius=sizes[0], height=sizes[1], sections=_SECTIONS)
    mesh = trimesh.creation.cone(radius=sizes[0], height=sizes[1], sections=_SECTIONS)
    mesh.apply_translation([0.0, 0.0, -0.5 * sizes[1]])
    return mesh
