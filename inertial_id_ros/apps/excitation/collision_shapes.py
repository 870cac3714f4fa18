# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Shapes of links, payload and surroundings: how far they are apart, and whether they meet.

A search asks for distances, and between meshes they cost milliseconds a pose. It is told those
between convex hulls, up to a hundred times faster: a hull contains its mesh, so that links are at
least as far apart as their hulls. Where a motion starts with a link inside another's hull, meshes
are compared. Whether a finished motion is free is asked of the meshes themselves.

An `Obstacle` stands around the robot: a box, ball, cylinder or mesh of a planning scene.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import coal
import numpy as np
import pinocchio as pin

from ...errors import InvalidShape
from ...inertia import Array
from ...io.child_process import capture_complaints
from ...limits import MAX_FACES
from ...robot.model import configuration_columns

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


_ROOT = 0  # joint and frame of the root of a description


@dataclass(frozen=True)
class PlacedBox:
    """A box: corners (2, 3) [m] in a frame of the model, by its index."""

    name: str
    corners: Array
    frame: int


class CollisionShapes:
    """The shapes of a robot, with the pairs that may not come near each other.

    Args:
        model: of the robot; circular: (joints,) which of its joints turn without end.
        links: collision shapes of its links; carried: boxes on links; obstacles: what stands where
            it is, which every link that moves must keep out of.
        clearance: least distance [m].
        start: (joints,) pose at which the motion starts; poses: (n, joints) over the whole range.
            Links that meet in each of these are neighbours drawn too large, and not compared.
        moving: indices of the joints that move: what they do not move against each other is not
            compared.
    """

    def __init__(self, model: pin.Model, circular: Array, links: pin.GeometryModel,
                 carried: Sequence[PlacedBox], obstacles: Sequence[Obstacle], clearance: float,
                 start: Array, poses: Array, moving: Iterable[int]) -> None:
        self._model, self._data, self._circular = model, model.createData(), circular
        self._exact = carried_shapes(model, links, carried)
        own = self._exact.ngeoms
        for obstacle in obstacles:
            self._exact.addGeometryObject(pin.GeometryObject(
                obstacle.name, _ROOT, _ROOT, pin.SE3(obstacle.pose), obstacle.solid()))
        self._add_pairs(own, _moved_by(model, moving))
        self._remove_always_touching(own, poses)
        self._exact_data = _data_with_margin(self._exact, clearance)
        self._simple = self._stand_ins(clearance, np.asarray(start)[None])
        self._simple_data = self._simple.createData()

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """Names of the shapes that are compared."""
        shapes = self._exact.geometryObjects
        return tuple((shapes[p.first].name, shapes[p.second].name)
                     for p in self._exact.collisionPairs)

    def distances(self, q: Array) -> Array:
        """Distances (n, pairs) [m] of hulls in poses (n, joints); negative where they meet."""
        count = len(self._simple.collisionPairs)
        out = np.empty((len(q), count))
        if not count:
            return out
        for i, configuration in enumerate(self._configurations(q)):
            pin.computeDistances(self._model, self._data, self._simple, self._simple_data,
                                 configuration)
            results = self._simple_data.distanceResults
            out[i] = [results[k].min_distance for k in range(count)]
        return out

    def near(self, q: Array) -> np.ndarray:
        """Which pairs (n, pairs) of the shapes themselves are nearer than the clearance."""
        return self._meeting(self._exact, self._exact_data, q)

    def _meeting(self, shapes: pin.GeometryModel, data: pin.GeometryData, q: Array
                 ) -> np.ndarray:
        """Which pairs (n, pairs) are nearer than the data's margin in poses (n, joints)."""
        out = np.zeros((len(q), len(shapes.collisionPairs)), dtype=bool)
        for i, configuration in enumerate(self._configurations(q)):
            if pin.computeCollisions(self._model, self._data, shapes, data, configuration, False):
                out[i] = [result.isCollision() for result in data.collisionResults]
        return out

    def _configurations(self, q: Array) -> Array:
        """Pinocchio's configurations (n, nq) of poses (n, joints)."""
        return np.concatenate(configuration_columns(q, self._circular), axis=1)

    def _add_pairs(self, own: int, moved_by: Sequence[frozenset[int]]) -> None:
        """Pairs of the first `own` shapes, and of each with the boxes that follow."""
        joints = [shape.parentJoint for shape in self._exact.geometryObjects]
        parents = self._model.parents
        for i in range(own):
            for j in range(i + 1, len(joints)):
                first, second = joints[i], joints[j]
                # Links that a joint ties together touch in it.
                tied = first == parents[second] or second == parents[first]
                if moved_by[first] != moved_by[second] and not (tied and j < own):
                    self._exact.addCollisionPair(pin.CollisionPair(i, j))

    def _remove_always_touching(self, own: int, poses: Array) -> None:
        """Remove pairs of links that touch in every pose; boxes are meant as they stand."""
        always = self._meeting(self._exact, self._exact.createData(), poses).all(axis=0)
        for k in reversed(np.flatnonzero(always)):
            pair = self._exact.collisionPairs[int(k)]
            if max(pair.first, pair.second) < own:
                self._exact.removeCollisionPair(pair)

    def _stand_ins(self, clearance: float, start: Array) -> pin.GeometryModel:
        """Simple shapes for each pair: hulls, or the shapes themselves where hulls come too near in
        the first pose (1, joints) and these do not."""
        meshes = np.zeros(len(self._exact.collisionPairs), dtype=bool)
        simple = _simplified(self._exact, meshes)
        near = self._meeting(simple, _data_with_margin(simple, clearance), start)
        meshes = (near & ~self.near(start))[0]
        return _simplified(self._exact, meshes) if meshes.any() else simple


def carried_shapes(model: pin.Model, links: pin.GeometryModel, carried: Sequence[PlacedBox]
                   ) -> pin.GeometryModel:
    """The shapes of links, with the boxes that they carry."""
    out = pin.GeometryModel(links)
    for box in carried:
        out.addGeometryObject(_box_shape(model, box))
    return out


def _moved_by(model: pin.Model, moving: Iterable[int]) -> list[frozenset[int]]:
    """For each joint of the model, those of `moving` (joints but the root's) that move it."""
    wanted = {int(joint) + 1 for joint in moving}
    return [frozenset(int(j) for j in support if int(j) in wanted) for support in model.supports]


def _simplified(shapes: pin.GeometryModel, meshes: np.ndarray) -> pin.GeometryModel:
    """The same pairs, of hulls or, where `meshes` (pairs,) says so, of the shapes themselves."""
    out = pin.GeometryModel()
    made: dict[tuple[int, bool], int] = {}

    def stand_in(index: int, itself: bool) -> int:
        if (index, itself) not in made:
            copied = shapes.geometryObjects[index].copy()
            if not itself:
                copied.name, copied.geometry = f"{copied.name}:hull", _hull(copied.geometry)
            made[index, itself] = out.addGeometryObject(copied)
        return made[index, itself]

    for pair, itself in zip(shapes.collisionPairs, meshes.tolist(), strict=True):
        out.addCollisionPair(pin.CollisionPair(stand_in(pair.first, itself),
                                               stand_in(pair.second, itself)))
    return out


def _data_with_margin(shapes: pin.GeometryModel, margin: float) -> pin.GeometryData:
    """Data for which shapes collide that are nearer than the margin [m]."""
    data = shapes.createData()
    for request in data.collisionRequests:
        request.security_margin = margin
    return data


def _box_shape(model: pin.Model, box: PlacedBox) -> pin.GeometryObject:
    """A box as a collision shape."""
    low, high = np.asarray(box.corners, dtype=float)
    frame = model.frames[box.frame]
    place = frame.placement * pin.SE3(np.eye(3), 0.5 * (low + high))
    return pin.GeometryObject(box.name, frame.parentJoint, box.frame, place,
                              coal.Box(*(high - low)))


def _hull(shape: coal.CollisionGeometry) -> coal.CollisionGeometry:
    """The convex hull of a mesh; of another shape, or a mesh without volume, itself."""
    if not isinstance(shape, coal.BVHModelBase):
        return shape
    points = coal.StdVec_Vec3s()
    for corner in np.array(shape.vertices()):
        points.append(corner)
    try:
        return coal.Convex.convexHull(points, True, "Qt")
    except RuntimeError:  # all in one plane
        return shape


def link_shapes(model: pin.Model, urdf: str, packages: Sequence[Path]) -> pin.GeometryModel:
    """The collision shapes of a description, with its meshes.

    Args:
        packages: folders in which ``package://`` meshes are looked for.

    Raises:
        InvalidShape: a mesh is not there, or cannot be read.
    """
    try:
        with capture_complaints():  # `parse_urdf` has told what matters
            return pin.buildGeomFromUrdfString(model, urdf, pin.GeometryType.COLLISION,
                                               package_dirs=[str(folder) for folder in packages])
    except ValueError as error:
        reason = str(error).rpartition("message:")[2]  # behind the place in coal's source
        raise InvalidShape(" ".join(reason.split())) from None
