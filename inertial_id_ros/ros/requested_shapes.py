# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Shapes that requests and goals describe, in the sensor frame: small ones are made in the worker,
others in the thread of what comes from outside."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from shape_msgs.msg import Mesh, SolidPrimitive

from inertial_id_ros.srv import SetShape

from ..errors import InertialIdError, InvalidShape, UnknownFrame
from ..extras import optional_packages
from ..geometry.mesh import package_roots, resolve_allowed
from ..geometry.shape import (
    Shape,
    shape_from_file,
    shape_from_mesh,
    shape_from_points,
    shape_from_primitive,
)
from ..inertia import Array
from ..io.child_process import ChildProcess
from ..limits import MAX_REQUEST_FACES, MAX_REQUEST_POINTS
from ..settings import Settings
from .conversions import pose_matrix
from .estimation import Estimation
from .settings_node import SettingsNode
from .worker import Busy, OutsideReader

if TYPE_CHECKING:
    import trimesh

with suppress(ImportError):  # at the start, since it takes half a second; shapes say if it lacks
    import trimesh  # noqa: F401, F811

_KINDS = {SolidPrimitive.BOX: "box", SolidPrimitive.SPHERE: "sphere",
          SolidPrimitive.CYLINDER: "cylinder", SolidPrimitive.CONE: "cone"}
SMALL = 5000  # points or triangles that are filled within some hundredths of a second
_PORTION, _PAUSE = 2000, 0.002  # messages, s
Lookup = Callable[[str], Array]  # homogeneous (4, 4) from the named frame to the sensor frame


class ShapePlacement(NamedTuple):
    """Where a shape was asked for.

    Attributes:
        pose: (4, 4) of its origin in `frame_id` (empty: in the sensor frame).
        bounding: the shape only bounds the object.
    """

    pose: Array
    frame_id: str
    bounding: bool

    def place(self, shape: Shape, to_sensor: Lookup) -> Shape:
        """A shape about its own origin, in the sensor frame.

        Args:
            to_sensor: transform (4, 4) from a frame to the sensor frame (raises UnknownFrame).

        Raises:
            InvalidShape: it is too far away; UnknownFrame: the frame of the pose is not known.
        """
        pose = self.pose if not self.frame_id else to_sensor(self.frame_id) @ self.pose
        return shape.place(pose, self.bounding)


class RequestedShape(NamedTuple):
    """A shape that was asked for: its content was counted, and not yet looked at.

    Attributes:
        small: it is filled so fast that the thread which identifies may do that.
        fill: makes the shape about its own origin (raises InvalidShape); may take long, and holds
            the message, which may be large.
        placement: of that origin.
    """

    small: bool
    fill: Callable[[ChildProcess], Shape]
    placement: ShapePlacement


def read_request(request: SetShape.Request, roots: tuple[Path, ...] = (),
                 folders: tuple[Path, ...] = ()) -> RequestedShape | None:
    """The shape that a request describes; None where it asks to forget the shape.

    Args:
        roots: `package://` resources are looked for under these folders.
        folders: `file://` resources may lie in these folders.

    Raises:
        InvalidShape: more than one shape, or one that cannot be accepted; InvalidData: a bad pose.
    """
    given = [name for name, there in (
        ("primitive", request.primitive.type != 0), ("mesh", len(request.mesh.triangles) > 0
                                                     or len(request.mesh.vertices) > 0),
        ("mesh_resource", bool(request.mesh_resource)), ("points", len(request.points) > 0),
    ) if there]
    if not given:
        return None
    if len(given) > 1:
        raise InvalidShape(f"the request gives {' and '.join(given)}; give exactly one")
    size = 0
    for what, count, limit in (("mesh.vertices", len(request.mesh.vertices), MAX_REQUEST_POINTS),
                               ("mesh.triangles", len(request.mesh.triangles), MAX_REQUEST_FACES),
                               ("points", len(request.points), MAX_REQUEST_POINTS)):
        size = max(size, count)
        if count > limit:
            raise InvalidShape(f"{what} has {count} entries; at most {limit} are allowed in a "
                               "request; give fewer, or a mesh_resource")
    return RequestedShape(size <= SMALL and given[0] != "mesh_resource",
                          _filling(given[0], request, roots, folders),
                          ShapePlacement(pose_matrix(request.pose), request.frame_id,
                                    bool(request.bounding)))


def _filling(kind: str, request: SetShape.Request, roots: tuple[Path, ...],
             folders: tuple[Path, ...]) -> Callable[[ChildProcess], Shape]:
    """What makes the shape of this kind (raises InvalidShape)."""
    if kind == "primitive":
        name, sizes = _kind_and_sizes(request.primitive)
        return lambda _: shape_from_primitive(name, sizes, np.eye(4))
    if kind == "points":
        points = request.points
        return lambda _: shape_from_points(_rows(points))
    if kind == "mesh":
        mesh = request.mesh
        return lambda _: shape_from_mesh(_mesh_from_message(mesh), np.eye(4))
    scale = request.mesh_scale or 1.0
    if not (np.isfinite(scale) and scale > 0.0):
        raise InvalidShape(f"mesh_scale is {scale:g}; allowed: above 0, or 0 for 1")
    path = resolve_allowed(request.mesh_resource, roots, folders)
    return lambda _: shape_from_file(path, scale, np.eye(4), False)


def _kind_and_sizes(primitive: SolidPrimitive) -> tuple[str, list[float]]:
    """Kind and sizes [m] of a primitive, radius before height (raises InvalidShape)."""
    if primitive.type not in _KINDS:
        raise InvalidShape(f"primitive.type is {primitive.type}; allowed: " + ", ".join(
            f"{number} ({name})" for number, name in _KINDS.items()))
    kind, sizes = _KINDS[primitive.type], [float(d) for d in primitive.dimensions]
    return kind, sizes[::-1] if kind in ("cylinder", "cone") else sizes


def _mesh_from_message(message: Mesh) -> trimesh.Trimesh:
    """The mesh of a message (raises InvalidShape: not finite, or faces without vertices)."""
    with optional_packages("a shape from a mesh"):
        import trimesh

    vertices = _rows(message.vertices)
    faces = _gather(message.triangles, lambda t: t.vertex_indices.tolist(), np.int64)
    if not np.isfinite(vertices).all():
        raise InvalidShape("mesh.vertices must be finite")
    if len(faces) == 0 or faces.max() >= len(vertices):
        raise InvalidShape("mesh.triangles name vertices that the mesh does not have (it has "
                           f"{len(vertices)})")
    return trimesh.Trimesh(vertices, faces)


def _rows(points: Sequence[Any]) -> Array:
    """Coordinates (n, 3) of point messages."""
    return _gather(points, lambda p: (p.x, p.y, p.z), float)


def _gather(messages: Sequence[Any], numbers: Callable[[Any], Any], kind: type) -> np.ndarray:
    """The three numbers of each message as an array (n, 3), with pauses for the other threads."""
    out: np.ndarray = np.empty((len(messages), 3), dtype=kind)
    for k in range(0, len(messages), _PORTION):
        part = [numbers(message) for message in messages[k:k + _PORTION]]
        out[k:k + len(part)] = part
        if k:
            time.sleep(_PAUSE)
    return out


T = TypeVar("T")
_MOST_WAITING = 20  # jobs of the worker: a client that calls in a loop must not fill the memory


class RequestedShapes:
    """Makes the shapes that requests and goals describe; used in the executor's thread."""

    def __init__(self, node: SettingsNode, estimation: Estimation, reader: OutsideReader) -> None:
        self._node, self._estimation, self._reader = node, estimation, reader

    def read(self, request: Any) -> RequestedShape | None:
        """What a `SetShape` request, or a `Shape`, describes; None: no shape (raises
        InertialIdError)."""
        return read_request(request, package_roots(), _mesh_folders(self._node.settings))

    def make(self, wanted: RequestedShape) -> Shape:
        """A small shape in the sensor frame; in the worker (raises InertialIdError)."""
        return wanted.placement.place(wanted.fill(self._reader.child), self._to_sensor)

    def hand_over(self, wanted: RequestedShape | None, use: Callable[[Shape | None], T]
                  ) -> Future[T]:
        """Have the worker use a shape as soon as it is made, without waiting for that.

        Returns:
            what `use` returns, or why it was not called.
        """
        worker = self._estimation.worker
        result: Future[T] = Future()
        if worker.waiting >= _MOST_WAITING:
            result.set_exception(Busy(f"{_MOST_WAITING} requests wait already; try again later"))
            return result
        if wanted is None:
            return worker.post(lambda: use(None))
        if wanted.small:
            return worker.post(lambda: use(self.make(wanted)))
        place = wanted.placement.place  # the rest of `wanted` is dropped as soon as it is filled

        def go_on(filled: Future[Shape]) -> None:
            try:
                shape = result_of(filled)
            except Exception as error:  # handed to whom asked
                result.set_exception(error)
                return
            placed = worker.post(lambda: use(place(shape, self._to_sensor)))
            placed.add_done_callback(pass_on)

        def pass_on(used: Future[T]) -> None:
            try:
                result.set_result(result_of(used))
            except Exception as error:  # handed to whom asked
                result.set_exception(error)

        try:
            self._reader.post(wanted.fill).add_done_callback(go_on)
        except InertialIdError as error:
            result.set_exception(error)
        return result

    def _to_sensor(self, frame: str) -> Array:
        """Homogeneous transform (4, 4) from a frame to the sensor frame; in the worker."""
        identifier = self._estimation.identifier
        if not identifier.sensor_frame:
            raise UnknownFrame(f"frame '{frame}' cannot be related to the sensor frame, which is "
                               "not known before the first wrench message")
        matrix = np.eye(4)
        matrix[:3, :3], matrix[:3, 3] = identifier.lookup(identifier.sensor_frame, frame)[:2]
        return matrix


def result_of(future: Future[T]) -> T:
    """The result of a future that is done (raises what it raised; Busy where it was cancelled)."""
    try:
        return future.result()
    except CancelledError:
        raise Busy("the node is shutting down") from None


def _mesh_folders(settings: Settings) -> tuple[Path, ...]:
    """Folders that file:// resources may lie in."""
    names = [n for n in settings.resources.folders.split(":") if n]
    return tuple(Path(n) for n in [*names, settings.state.directory])
