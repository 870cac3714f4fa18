# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What stands around the robot: boxes, balls, cylinders and meshes of a planning scene."""

from __future__ import annotations

from dataclasses import dataclass, field

import coal
import numpy as np

from ...errors import InvalidShape
from ...inertia import Array
from ...limits import MAX_FACES

# Shape -> its sizes [m].
SIZES = {"box": ("x", "y", "z"), "sphere": ("radius",), "cylinder": ("height", "radius"),
         "mesh": ()}
_LONGEST = 200  # characters of a name


@dataclass(frozen=True, eq=False)
class Obstacle:
    """A solid that no moving link may touch.

    Attributes:
        name: for messages.
        shape: box, sphere, cylinder (along its z axis) or mesh.
        size: full lengths x, y, z; radius; height and radius; empty for a mesh [m].
        pose: (4, 4) from its axes to those of the description's root.
        vertices: (n, 3) [m] and triangles: (m, 3), of a mesh.

    Raises:
        InvalidShape: unknown shape, sizes that are not positive, or a pose that is none.
    """

    name: str
    shape: str
    size: tuple[float, ...]
    pose: Array = field(default_factory=lambda: np.eye(4))
    vertices: Array = field(default_factory=lambda: np.empty((0, 3)))
    triangles: np.ndarray = field(default_factory=lambda: np.empty((0, 3), dtype=int))

    def __post_init__(self) -> None:
        name = self.name[:_LONGEST]
        if self.shape not in SIZES:
            raise InvalidShape(f"obstacle '{name}' is a {self.shape}; allowed: {', '.join(SIZES)}")
        wanted = SIZES[self.shape]
        if len(self.size) != len(wanted) or not (
                np.isfinite(self.size).all() and np.all(np.array(self.size) > 0.0)):
            raise InvalidShape(f"size of the {self.shape} '{name}' is {list(self.size)}; it needs "
                               f"{len(wanted)} positive numbers: {', '.join(wanted)}")
        turn = np.asarray(self.pose)[:3, :3]
        if not np.allclose(turn @ turn.T, np.eye(3), atol=1e-6) or not np.isfinite(
                self.pose).all():
            raise InvalidShape(f"pose of the obstacle '{name}' is no rotation and translation")
        if self.shape == "mesh":
            self._check_mesh(name)

    def _check_mesh(self, name: str) -> None:
        corners, faces = np.asarray(self.vertices), np.asarray(self.triangles)
        if not 0 < len(faces) <= MAX_FACES:
            raise InvalidShape(f"mesh '{name}' has {len(faces)} faces; allowed: 1 to {MAX_FACES}")
        if not np.isfinite(corners).all() or faces.min() < 0 or faces.max() >= len(corners):
            raise InvalidShape(f"mesh '{name}' has a corner that is not finite, or a face without "
                               "its corner")

    def solid(self) -> coal.CollisionGeometry:
        """The shape for collision tests, in its own axes."""
        if self.shape == "box":
            return coal.Box(*self.size)
        if self.shape == "sphere":
            return coal.Sphere(*self.size)
        if self.shape == "cylinder":
            return coal.Cylinder(self.size[1], self.size[0])
        out = coal.BVHModelOBBRSS()
        out.beginModel(len(self.triangles), len(self.vertices))
        out.addVertices(np.asarray(self.vertices, dtype=float))
        out.addTriangles(np.asarray(self.triangles, dtype=np.int64))
        out.endModel()
        return out


def box_obstacle(name: str, corners: Array) -> Obstacle:
    """A box with corners (2, 3) [m], along the axes of the description's root."""
    low, high = np.asarray(corners, dtype=float)
    pose = np.eye(4)
    pose[:3, 3] = 0.5 * (low + high)
    return Obstacle(name, "box", tuple((high - low).tolist()), pose)
