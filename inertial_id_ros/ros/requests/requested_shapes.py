# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""From requested shapes to shapes in the sensor frame: small ones in the worker, others outside."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ...errors import InertialIdError, UnknownFrame
from ...geometry.resources import package_roots
from ...geometry.shape import Shape
from ...inertia import Array
from ...settings import Settings
from ..worker import Busy
from .shape_request import RequestedShape, read_request

if TYPE_CHECKING:
    from ..node import InertialIdNode

T = TypeVar("T")
_MOST_WAITING = 20  # jobs of the worker: a client that calls in a loop must not fill the memory


class RequestedShapes:
    """Makes the shapes that requests and goals describe; used in the executor's thread."""

    def __init__(self, node: InertialIdNode) -> None:
        self._node = node

    def read(self, request: Any) -> RequestedShape | None:
        """What a `SetShape` request, or a `Shape`, describes; None: no shape (raises
        InertialIdError)."""
        return read_request(request, package_roots(), _mesh_folders(self._node.settings))

    def make(self, wanted: RequestedShape) -> Shape:
        """A small shape in the sensor frame; in the worker (raises InertialIdError)."""
        return wanted.placement.place(wanted.fill(self._node.reader.child), self._to_sensor)

    def hand_over(self, wanted: RequestedShape | None, use: Callable[[Shape | None], T]
                  ) -> Future[T]:
        """Have the worker use a shape as soon as it is made, without waiting for that.

        Returns:
            what `use` returns, or why it was not called.
        """
        worker = self._node.worker
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
            self._node.reader.post(wanted.fill).add_done_callback(go_on)
        except InertialIdError as error:
            result.set_exception(error)
        return result

    def _to_sensor(self, frame: str) -> Array:
        """Homogeneous transform (4, 4) from a frame to the sensor frame; in the worker."""
        identifier = self._node.identifier
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
