# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A stand-in of ur_robot_driver: ``python stand_in_driver.py [BEHAVIOUR [FILE]]``.

It serves ``set_payload``, prints each request as a line of JSON, and publishes its payload as the
driver does. BEHAVIOUR: accept; mistake (takes another mass than is sent); refuse; silent (does not
answer); late (answers after a second, and had no payload before); spoil (puts a folder in the place
of FILE before it answers, so that nobody can write that any more).
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from threading import Event
from typing import Any

from control_msgs.msg import DynamicJointState, InterfaceValue
from rclpy.node import Node
from stand_in import serve
from ur_msgs.srv import SetPayload

BEFORE = {"mass": 0.4, "com": [0.01, 0.02, 0.03], "inertia": [0.001, 0.0, 0.0, 0.001, 0.0, 0.002]}
ENTRIES = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")


class Driver(Node):
    """The service and the topic of the driver."""

    def __init__(self, behaviour: str, file: str, stop: Event) -> None:
        super().__init__("driver")
        self._file, self._behaviour, self._stop = Path(file), behaviour, stop
        self._now = dict(BEFORE)
        if behaviour == "late":
            self._now = {"mass": 0.0, "com": [0.0] * 3, "inertia": [0.0] * 6}
        self.create_service(SetPayload, "io_and_status_controller/set_payload", self._answer)
        self._publisher = self.create_publisher(DynamicJointState, "dynamic_joint_states", 10)
        self.create_timer(0.05, self._publish)

    def _answer(self, request: Any, response: Any) -> Any:
        com = request.center_of_gravity
        got = {"mass": request.mass, "center_of_gravity": {"x": com.x, "y": com.y, "z": com.z},
               **{name: getattr(request, name) for name in ENTRIES}}
        print(json.dumps(got), flush=True)
        while self._behaviour == "silent" and not self._stop.wait(0.05):
            pass
        if self._behaviour == "late":
            time.sleep(1.0)
        if self._behaviour == "spoil":
            self._file.unlink(missing_ok=True)
            self._file.mkdir()
        response.success = self._behaviour != "refuse"
        if response.success:
            self._now = {"mass": request.mass + 0.1 * (self._behaviour == "mistake"),
                         "com": [com.x, com.y, com.z], "inertia": [got[name] for name in ENTRIES]}
            print("answered", flush=True)
        return response

    def _publish(self) -> None:
        names = ["mass", "cog.x", "cog.y", "cog.z", *(f"inertia.{name}" for name in ENTRIES)]
        values = [float(x) for x in (self._now["mass"], *self._now["com"], *self._now["inertia"])]
        self._publisher.publish(DynamicJointState(
            joint_names=["payload"],
            interface_values=[InterfaceValue(interface_names=names, values=values)]))


def main(behaviour: str = "accept", file: str = "") -> None:
    serve(lambda stop: Driver(behaviour, file, stop))


if __name__ == "__main__":
    main(*sys.argv[1:])
