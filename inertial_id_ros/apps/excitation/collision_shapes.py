# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Shapes of links, payload and surroundings: how far they are apart, and whether they meet.

A search asks for distances, and between meshes they cost milliseconds a pose. It is told those
between convex hulls, up to a hundred times faster: a hull contains its mesh, so that links are at
least as far apart as their hulls. Where hulls are much larger than links, several stand for each.
A hull contains its mesh, and so do the hulls of all its slices together, which follow a bent or
hollow link more closely. Whether a finished motion is free is asked of the meshes themselves.

Pinocchio reads whatever mesh a description names, with readers that damaged files crash or keep
busy for ever. It is given copies of what this package has read by its rules for meshes from outside
(`copy_meshes`).

An `Obstacle` stands around the robot: a box, ball, cylinder or mesh of a planning scene.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.etree import ElementTree

import coal
import numpy as np
import pinocchio as pin

from ...errors import InvalidShape
from ...extras import optional_packages
from ...geometry.mesh import load_mesh
from ...geometry.resources import resolve_allowed
from ...inertia import Array
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


_OFTEN = 0.02  # of all poses: hulls that meet this much more often than meshes are too large
_ROOT = 0  # joint and frame of the root of a description
_SLICES = 6  # of a mesh along its longest extent
_SLICED, _ITSELF = 1, 2  # what stands for a shape, in place of its hull


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
        self._simple, self._first = self._stand_ins(clearance, np.vstack([start, poses]))
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
        return np.minimum.reduceat(out, self._first, axis=1)

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

    def _stand_ins(self, clearance: float, poses: Array) -> tuple[pin.GeometryModel, np.ndarray]:
        """Simple shapes for each pair, and the index (pairs,) of the first pair of them.

        Hulls; hulls of slices where hulls come too near in the first pose, or often, where the
        shapes themselves do not; the shapes themselves where slices do so in the first pose.
        """
        count = len(self._exact.collisionPairs)
        level, near = np.zeros(count, dtype=int), self.near(poses)
        simple, first = _simplified(self._exact, level)
        if count:
            early = self._early(simple, first, clearance, poses) & ~near
            level[early[0] | (early.mean(axis=0) > _OFTEN)] = _SLICED
            simple, first = _simplified(self._exact, level)
            early = self._early(simple, first, clearance, poses[:1]) & ~near[:1]
            level[early[0]] = _ITSELF
            simple, first = _simplified(self._exact, level)
        return simple, first

    def _early(self, simple: pin.GeometryModel, first: np.ndarray, clearance: float, poses: Array
               ) -> np.ndarray:
        """Which pairs (n, pairs) of stand-ins are nearer than the clearance."""
        return np.logical_or.reduceat(
            self._meeting(simple, _data_with_margin(simple, clearance), poses), first, axis=1)


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


def _simplified(shapes: pin.GeometryModel, level: np.ndarray
                ) -> tuple[pin.GeometryModel, np.ndarray]:
    """Stand-ins of each pair as its level (pairs,) says, and the index of the first for each."""
    out, first = pin.GeometryModel(), []
    made: dict[tuple[int, int], list[int]] = {}

    def stand_ins(index: int, kind: int) -> list[int]:
        if (index, kind) not in made:
            shape = shapes.geometryObjects[index]
            parts = [shape.geometry] if kind == _ITSELF else hulls(shape.geometry, kind == _SLICED)
            made[index, kind] = []
            for k, part in enumerate(parts):
                copied = shape.copy()
                copied.name, copied.geometry = f"{shape.name}:{kind}:{k}", part
                made[index, kind].append(out.addGeometryObject(copied))
        return made[index, kind]

    for pair, kind in zip(shapes.collisionPairs, level, strict=True):
        first.append(len(out.collisionPairs))
        for i in stand_ins(pair.first, int(kind)):
            for j in stand_ins(pair.second, int(kind)):
                out.addCollisionPair(pin.CollisionPair(i, j))
    return out, np.array(first, dtype=int)


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


def hulls(shape: coal.CollisionGeometry, sliced: bool) -> list[coal.CollisionGeometry]:
    """The convex hull of a mesh, or those of its slices; of another shape, itself.

    A mesh or slice without volume stays a mesh.
    """
    if not isinstance(shape, coal.BVHModelBase):
        return [shape]
    corners = np.array(shape.vertices())
    groups = _slices(corners, _edges(shape)) if sliced else [corners]
    try:
        return [coal.Convex.convexHull(_points(group), True, "Qt") for group in groups]
    except RuntimeError:  # all in one plane
        return [shape]


def _slices(corners: Array, edges: np.ndarray) -> list[Array]:
    """Points (k, 3) of each slice of a mesh: its corners, and where its edges are cut."""
    axis = int(np.argmax(np.ptp(corners, axis=0)))
    planes = np.linspace(corners[:, axis].min(), corners[:, axis].max(), _SLICES + 1)
    ends = corners[edges]  # (e, 2, 3)
    out = []
    for low, high in zip(planes[:-1], planes[1:], strict=True):
        inside = (corners[:, axis] >= low) & (corners[:, axis] <= high)
        out.append(np.vstack([corners[inside], *(_cut(ends, axis, at) for at in (low, high))]))
    return [group for group in out if len(group)]


def _cut(ends: Array, axis: int, at: float) -> Array:
    """Points (k, 3) where edges, ends (e, 2, 3), pass a plane across an axis."""
    first, last = ends[:, 0], ends[:, 1]
    passing = (first[:, axis] - at) * (last[:, axis] - at) < 0.0
    first, last = first[passing], last[passing]
    part = (at - first[:, axis]) / (last[:, axis] - first[:, axis])
    return first + part[:, None] * (last - first)


def _edges(mesh: coal.BVHModelBase) -> np.ndarray:
    """Edges (e, 2) of all triangles, as indices of corners."""
    triangles = np.array([[mesh.tri_indices(k)[i] for i in range(3)]
                          for k in range(mesh.num_tris)])
    return np.unique(np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)), axis=0)


def _points(rows: Array) -> coal.StdVec_Vec3s:
    """Points as coal takes them."""
    out = coal.StdVec_Vec3s()
    for row in rows:
        out.append(row)
    return out


@contextmanager
def copy_meshes(urdf: str, packages: Sequence[Path], folders: Sequence[Path], setting: str
                ) -> Iterator[str]:
    """The description with its collision meshes replaced by copies; they live as long as the block.

    Args:
        urdf: text that was parsed before; packages, folders, setting: see `resolve_allowed`.

    Raises:
        InvalidShape: a mesh that is not allowed, too large, or cannot be read; InvalidSetting: a
            path that no file can have.
    """
    tree = ElementTree.fromstring(urdf)
    copies: dict[str, str] = {}
    with TemporaryDirectory() as place:
        for mesh in tree.iterfind(".//collision/geometry/mesh"):
            name = mesh.get("filename", "")
            if name not in copies:
                path = resolve_allowed(name, tuple(packages), tuple(folders), setting)
                copies[name] = str(Path(place) / f"{len(copies)}.stl")
                Path(copies[name]).write_bytes(_binary_stl(path))
            mesh.set("filename", copies[name])
        yield ElementTree.tostring(tree, "unicode")


def _binary_stl(path: Path) -> bytes:
    """A mesh file as binary STL (raises InvalidShape: too many faces)."""
    with optional_packages("reading a mesh"):  # only where there is one: it costs a second
        from trimesh.exchange.stl import export_stl

    mesh = load_mesh(path)
    if len(mesh.faces) > MAX_FACES:
        raise InvalidShape(f"mesh file {path} has {len(mesh.faces)} faces; at most {MAX_FACES} are "
                           "allowed")
    return export_stl(mesh)
