# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Collision shapes of links, payload and surroundings, and which come near each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations, product

import coal
import numpy as np
import pinocchio as pin

from ...errors import InvalidShape
from ...geometry.mesh import package_roots
from ...inertia import Array
from ...limits import MAX_FACES

# Shape -> its sizes [m].
SIZES = {"box": "x, y, z", "sphere": "radius", "cylinder": "height, radius", "mesh": ""}


@dataclass(frozen=True, eq=False)
class Obstacle:
    """A solid that no moving link may touch.

    Attributes:
        name: for messages; shape: box, sphere, cylinder (along its z axis) or mesh.
        size: full lengths x, y, z; radius; height and radius; empty for a mesh [m].
        pose: (4, 4) from its axes to those of the description's root.
        vertices: (n, 3) [m] and triangles: (m, 3), of a mesh.

    Raises:
        InvalidShape: sizes that are not positive, a pose or a mesh that is none.
    """

    name: str
    shape: str
    size: tuple[float, ...]
    pose: Array = field(default_factory=lambda: np.eye(4))
    vertices: Array = field(default_factory=lambda: np.empty((0, 3)))
    triangles: np.ndarray = field(default_factory=lambda: np.empty((0, 3), dtype=int))

    def __post_init__(self) -> None:
        wanted, turn, faces = SIZES[self.shape], np.asarray(self.pose)[:3, :3], self.triangles
        if len(self.size) != len(wanted.split()) or not all(0.0 < s < np.inf for s in self.size):
            raise InvalidShape(f"size of the {self.shape} '{self.name}' is {list(self.size)}; it "
                               f"must be positive numbers: {wanted}")
        if not (np.isfinite(self.pose).all() and np.allclose(turn @ turn.T, np.eye(3), atol=1e-6)):
            raise InvalidShape(f"pose of the obstacle '{self.name}' is no rotation and translation")
        if self.shape == "mesh" and not (
                0 < len(faces) <= MAX_FACES and np.isfinite(self.vertices).all()
                and faces.min() >= 0 and faces.max() < len(self.vertices)):
            raise InvalidShape(f"mesh '{self.name}' has {len(faces)} faces (allowed: 1 to "
                               f"{MAX_FACES}), a corner that is not finite, or a face without its "
                               "corner")

    def solid(self) -> coal.CollisionGeometry:
        """The shape in its own axes."""
        if self.shape == "cylinder":
            return coal.Cylinder(self.size[1], self.size[0])
        if self.shape != "mesh":
            return {"box": coal.Box, "sphere": coal.Sphere}[self.shape](*self.size)
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


def read_shapes(model: pin.Model, urdf: str) -> tuple[pin.GeometryModel, str]:
    """Collision shapes of a robot's links, and why there are none."""
    try:
        shapes = pin.buildGeomFromUrdfString(
            model, urdf, pin.GeometryType.COLLISION,
            package_dirs=[str(root) for root in package_roots()])
    except ValueError as error:  # a mesh is not there, or cannot be read
        reason = str(error).rpartition("message:")[2]
        return pin.GeometryModel(), f"collision shapes: {' '.join(reason.split())}"
    return shapes, "" if shapes.ngeoms else "the robot description has no collision shapes"


class CollisionShapes:
    """The shapes of a robot, with the pairs that may not come near each other.

    Args:
        shapes: of links and payload; obstacles: what stands where it is.
        poses: random configurations (n, nq): shapes that meet in all of them are neighbours drawn
            too large.

    Attributes:
        pairs: names of the shapes that are compared.
    """

    def __init__(self, model: pin.Model, shapes: pin.GeometryModel, obstacles: Sequence[Obstacle],
                 poses: Array) -> None:
        self._model, self._data, self._shapes = model, model.createData(), shapes
        own, parents = shapes.ngeoms, model.parents
        for one in obstacles:
            shapes.addGeometryObject(
                pin.GeometryObject(one.name, 0, 0, pin.SE3(one.pose), one.solid()))
        joints = [shape.parentJoint for shape in shapes.geometryObjects]
        for (i, first), (j, second) in combinations(enumerate(joints), 2):
            # Links that a joint ties together touch in it.
            tied = j < own and (first == parents[second] or second == parents[first])
            if first != second and not tied:
                shapes.addCollisionPair(pin.CollisionPair(i, j))
        for k in reversed(np.flatnonzero(self.near(poses, 0.0).all(axis=0)).tolist()):
            pair = shapes.collisionPairs[k]
            if max(pair.first, pair.second) < own:  # obstacles are meant as they stand
                shapes.removeCollisionPair(pair)
        self.pairs = [tuple(shapes.geometryObjects[k].name for k in (p.first, p.second))
                      for p in shapes.collisionPairs]

    def near(self, configurations: Array, margin: float) -> np.ndarray:
        """True (n, pairs) where shapes are nearer than a margin [m]."""
        data = self._shapes.createData()
        for request in data.collisionRequests:
            request.security_margin = margin
        out = np.zeros((len(configurations), len(self._shapes.collisionPairs)), dtype=bool)
        for row, configuration in zip(out, configurations, strict=True):
            if pin.computeCollisions(self._model, self._data, self._shapes, data, configuration,
                                     False):
                row[:] = [result.isCollision() for result in data.collisionResults]
        return out


def corners_of(shape: pin.GeometryObject) -> Array:
    """Corners (c, 3) [m] of a convex polyhedron that contains a shape, in axes of its joint."""
    solid = shape.geometry
    solid.computeLocalAABB()
    corners = np.array(list(product(*zip(solid.aabb_local.min_, solid.aabb_local.max_,
                                         strict=True))))
    if isinstance(solid, coal.Cylinder):  # a prism of twelve sides
        angle = np.pi / 6.0 * np.arange(12)
        x, y = solid.radius / np.cos(np.pi / 12.0) * np.array([np.cos(angle), np.sin(angle)])
        corners = np.vstack([np.column_stack([x, y, np.full(12, end * solid.halfLength)])
                             for end in (-1.0, 1.0)])
    return np.asarray(corners @ shape.placement.rotation.T + shape.placement.translation)
