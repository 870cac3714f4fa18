# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A thread that reads what may take long: large descriptions, meshes, sets of points.

The worker goes on with estimates meanwhile, and the executor's thread with messages. The reading
itself is done by another process (`io.child_process`), for which this thread waits.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from ..errors import InertialIdError
from ..export.urdf import without_payloads
from ..io.child_process import ChildProcess
from ..kinematics.robot_description import simplify
from .worker import Busy, Worker

T = TypeVar("T")
_MOST_WAITING = 4  # pieces of data; each may have the size of the largest message


class OutsideReader:
    """Reads one piece of data after the other; of descriptions only the newest.

    Args:
        on_description: gets, in the reader's thread, a description as it came, and the same such
            that it can be parsed at once, or why it cannot be used.
        failed: called with the name of a routine and what it raised.

    Attributes:
        description: the newest robot description that could be read, as it came; empty: none.
    """

    def __init__(self, on_description: Callable[[str, str | InertialIdError], None],
                 failed: Callable[[str, Exception], None]) -> None:
        self._on_description = on_description
        self.child = ChildProcess()
        self._thread = Worker({"read a description": self._read_description}, failed)
        self._newest: str | None = None
        self.description = ""
        self._waiting: list[Future[object]] = []

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self, timeout: float) -> bool:
        """End the thread and the other process; False where the thread still runs after [s]."""
        self.child.stop()
        return self._thread.stop(timeout)

    def read_description(self, urdf: str) -> None:
        """Read this description in place of those that still wait; in the executor's thread."""
        self._newest = urdf
        self._thread.request("read a description")

    def resume(self) -> None:
        """Begin with a description that came while another was read; forget what is done."""
        self._waiting = [future for future in self._waiting if not future.done()]
        if self._newest is not None:
            self._thread.request("read a description")

    def run(self, job: Callable[[], None]) -> None:
        """Have the thread do something else, which takes a fraction of a second; in any thread."""
        self._thread.post(job)

    def post(self, read: Callable[[ChildProcess], T]) -> Future[T]:
        """Have the thread read something; in the executor's thread (raises Busy)."""
        self.resume()
        if len(self._waiting) >= _MOST_WAITING:
            raise Busy(f"{_MOST_WAITING} requests wait to be read already; try again later")
        future = self._thread.post(lambda: read(self.child))
        self._waiting.append(future)  # type: ignore[arg-type]
        return future

    def _read_description(self) -> None:
        urdf, self._newest = self._newest, None
        if urdf is None:
            return
        before, self.description = self.description, urdf
        plain = without_payloads(urdf)
        if (before != urdf or plain != urdf) and plain == without_payloads(before):
            return  # what an export has published: the robot is as it was, and so are the data
        try:
            self._on_description(urdf, simplify(urdf, self.child))
        except InertialIdError as error:
            self.description = before
            # An error keeps the frames that it came through, and they keep the text.
            self._on_description(urdf, error.with_traceback(None))
