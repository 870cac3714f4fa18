# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Collision shapes of links, payload and surroundings, and which come near each other.

Distances between meshes cost milliseconds a pose, those between convex hulls microseconds. A hull
contains its mesh: where hulls are apart, meshes are, and only the others are compared themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product

import coal
import numpy as np
import pinocchio as pin

from ...errors import InvalidShape
from ...inertia import Array
from ...limits import MAX_FACES

# Shape -> its sizes [m].
SIZES = {"box": ("x", "y", "z"), "sphere": ("radius",), "cylinder": ("height", "radius"),
         "mesh": ()}
MOST_CORNERS = 60  # of a convex hull; beyond that its box stands for it
POSES = 100  # random ones: shapes that meet in all of them are neighbours drawn too large


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
        InvalidShape: sizes that are not positive, a pose or a mesh that is none.
    """

    name: str
    shape: str
    size: tuple[float, ...]
    pose: Array = field(default_factory=lambda: np.eye(4))
    vertices: Array = field(default_factory=lambda: np.empty((0, 3)))
    triangles: np.ndarray = field(default_factory=lambda: np.empty((0, 3), dtype=int))

    def __post_init__(self) -> None:
        wanted, turn = SIZES[self.shape], np.asarray(self.pose)[:3, :3]
        if len(self.size) != len(wanted) or not all(0.0 < s < np.inf for s in self.size):
            raise InvalidShape(f"size of the {self.shape} '{self.name}' is {list(self.size)}; it "
                               f"needs {len(wanted)} positive numbers: {', '.join(wanted)}")
        if not (np.isfinite(self.pose).all() and np.allclose(turn @ turn.T, np.eye(3), atol=1e-6)):
            raise InvalidShape(f"pose of the obstacle '{self.name}' is no rotation and translation")
        faces = self.triangles
        if self.shape == "mesh" and not (
                0 < len(faces) <= MAX_FACES and np.isfinite(self.vertices).all()
                and faces.min() >= 0 and faces.max() < len(self.vertices)):
            raise InvalidShape(f"mesh '{self.name}' has {len(faces)} faces (allowed: 1 to "
                               f"{MAX_FACES}), a corner that is not finite, or a face without its "
                               "corner")

    def solid(self) -> coal.CollisionGeometry:
        """The shape in its own axes."""
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


class CollisionShapes:
    """The shapes of a robot, with the pairs that may not come near each other.

    Args:
        model: of the robot.
        shapes: of its links and payload; obstacles: what stands where it is.
        poses: configurations (n, nq), by which neighbours are told that always meet.

    Attributes:
        pairs: names of the shapes that are compared.
    """

    def __init__(self, model: pin.Model, shapes: pin.GeometryModel, obstacles: Sequence[Obstacle],
                 poses: Array) -> None:
        self._model, self._data = model, model.createData()
        self._exact = exact = pin.GeometryModel(shapes)
        own, parents = exact.ngeoms, model.parents
        for obstacle in obstacles:
            exact.addGeometryObject(pin.GeometryObject(
                obstacle.name, 0, 0, pin.SE3(obstacle.pose), obstacle.solid()))
        joints = [shape.parentJoint for shape in exact.geometryObjects]
        for i, first in enumerate(joints[:own]):
            for j, second in enumerate(joints[i + 1:], i + 1):
                # Links that a joint ties together touch in it.
                tied = j < own and (first == parents[second] or second == parents[first])
                if first != second and not tied:
                    exact.addCollisionPair(pin.CollisionPair(i, j))
        self._simple = pin.GeometryModel(exact)
        for shape in self._simple.geometryObjects:
            shape.geometry = _hull(shape.geometry)
        always = self.near(poses, 0.0).all(axis=0)
        for k in reversed(np.flatnonzero(always).tolist()):
            pair = exact.collisionPairs[k]
            if max(pair.first, pair.second) < own:  # obstacles are meant as they stand
                exact.removeCollisionPair(pair)
                self._simple.removeCollisionPair(pair)
        objects = exact.geometryObjects
        self.pairs: tuple[tuple[str, str], ...] = tuple(
            (objects[p.first].name, objects[p.second].name) for p in exact.collisionPairs)

    def near(self, configurations: Array, margin: float) -> np.ndarray:
        """True (n, pairs) where shapes are nearer than a margin [m]."""
        simple, exact = self._simple.createData(), self._exact.createData()
        for request in (*simple.collisionRequests, *exact.collisionRequests):
            request.security_margin = margin
        out = np.zeros((len(configurations), len(self._exact.collisionPairs)), dtype=bool)
        for row, configuration in zip(out, configurations, strict=True):
            if not pin.computeCollisions(self._model, self._data, self._simple, simple,
                                         configuration, False):
                continue
            pin.updateGeometryPlacements(self._model, self._data, self._exact, exact)
            for k, result in enumerate(simple.collisionResults):
                row[k] = result.isCollision() and pin.computeCollision(self._exact, exact, k)
        return out


def corners_of(shape: pin.GeometryObject) -> Array:
    """Corners (c, 3) [m] of a convex polyhedron that contains a shape, in axes of its joint."""
    solid = _hull(shape.geometry)
    if isinstance(solid, coal.ConvexBase) and len(solid.points()) <= MOST_CORNERS:
        corners = np.array(solid.points())
    elif isinstance(solid, coal.Cylinder):
        angle = np.pi / 6.0 * np.arange(12)
        rim = solid.radius / np.cos(np.pi / 12.0) * np.column_stack([np.cos(angle), np.sin(angle)])
        corners = np.vstack([np.insert(rim, 2, end, axis=1) for end in (-solid.halfLength,
                                                                        solid.halfLength)])
    else:
        solid.computeLocalAABB()
        box = solid.aabb_local
        corners = np.array(list(product(*zip(box.min_, box.max_, strict=True))))
    return np.asarray(corners @ shape.placement.rotation.T + shape.placement.translation)


def _hull(solid: coal.CollisionGeometry) -> coal.CollisionGeometry:
    """The convex hull of a mesh; of another shape, or a mesh without volume, itself."""
    if not isinstance(solid, coal.BVHModelBase):
        return solid
    points = coal.StdVec_Vec3s()
    for corner in np.array(solid.vertices()):
        points.append(corner)
    try:
        return coal.Convex.convexHull(points, True, "Qt")
    except RuntimeError:  # all in one plane
        return solid
