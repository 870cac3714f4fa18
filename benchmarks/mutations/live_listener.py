# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Hears estimates in a process of its own, which what is sent meanwhile does not slow down."""

from __future__ import annotations

import struct
import subprocess
import sys
import threading
import time
from typing import Any

from rclpy.node import Node

from inertial_id_ros.msg import InertialParameters
from inertial_id_ros.ros import compat

_ENTRY = struct.Struct("=d?")  # monotonic time of arrival [s], whether the estimate is valid


class Listener:
    """The process that listens, and what it has heard."""

    def __init__(self, topic: str) -> None:
        self._heard: list[tuple[float, bool]] = []
        self._process = subprocess.Popen([sys.executable, "-m", __name__, topic],
                                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        self._thread = threading.Thread(target=self._read)
        self._thread.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        while len(entry := self._process.stdout.read(_ENTRY.size)) == _ENTRY.size:
            self._heard.append(_ENTRY.unpack(entry))

    def times(self) -> list[float]:
        """Monotonic times [s] of all messages so far."""
        return [moment for moment, _ in list(self._heard)]

    def valid(self) -> int:
        """How many messages were valid."""
        return sum(valid for _, valid in list(self._heard))

    def close(self) -> None:
        """End the process."""
        self._process.terminate()
        self._process.wait()
        self._thread.join()


def main(topic: str) -> None:
    """Write an entry for each message of a topic to standard output."""
    compat.init([])
    node = Node("listener")

    def hear(message: Any) -> None:
        sys.stdout.buffer.write(_ENTRY.pack(time.monotonic(), bool(message.valid)))
        sys.stdout.buffer.flush()

    node.create_subscription(InertialParameters, topic, hear, 50)
    executor = compat.make_executor()
    executor.add_node(node)
    compat.spin(executor, threading.Event())


if __name__ == "__main__":
    main(sys.argv[1])
