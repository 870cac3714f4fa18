# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A stand-in of a robot's driver: ``python stand_in_driver.py DRIVER [BEHAVIOUR [FILE]]``.

It serves what the driver serves, under its default names, prints each request as a line of JSON,
and tells its payload where the driver does. BEHAVIOUR: accept; drop (takes no inertia, and exports
none); mistake (takes another mass than it is told); refuse; silent (does not answer); moving (of
Franka: not idle); late (answers after a second, and had no payload before); spoil (puts a folder in
the place of FILE before it answers, so that nobody can write that any more).
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
from rclpy.node import Node
from stand_in import serve

BEFORE = {"mass": 0.4, "com": [0.01, 0.02, 0.03], "inertia": [0.001, 0.0, 0.0, 0.001, 0.0, 0.002]}
SERVICES = {
    "ur": [("io_and_status_controller/set_payload", "ur_msgs/srv/SetPayload", "success", True)],
    "franka": [("service_server/set_load", "franka_msgs/srv/SetLoad", "success", True)],
    "xarm": [("xarm/set_tcp_load", "xarm_msgs/srv/SetTcpLoad", "ret", 0)],
    "doosan": [(f"dsr01/dsr_controller2/tool/{name}", f"dsr_msgs2/srv/{kind}", "success", True)
               for name, kind in (("config_create_tool", "ConfigCreateTool"),
                                  ("config_delete_tool", "ConfigDeleteTool"),
                                  ("set_current_tool", "SetCurrentTool"),
                                  ("get_current_tool", "GetCurrentTool"))],
    "fanuc": [("fanuc_gpio_controller/set_payload_comp", "fanuc_msgs/srv/SetPayloadComp",
               "result", 0),
              ("fanuc_gpio_controller/set_payload_value", "fanuc_msgs/srv/SetPayloadValue",
               "result", 0)],
    "dobot": [("dobot_bringup_ros2/srv/SetPayload", "dobot_msgs_v4/srv/SetPayload", "res", 0)],
}


def load(name: str) -> Any:
    """The class of a type."""
    package, kind, message = name.split("/")
    return getattr(importlib.import_module(f"{package}.{kind}"), message)


def plain(message: Any) -> Any:
    """A message as data."""
    if hasattr(message, "get_fields_and_field_types"):
        return {name: plain(getattr(message, name))
                for name in message.get_fields_and_field_types()}
    return np.asarray(message).tolist() if hasattr(message, "__len__") and not isinstance(
        message, str) else message


class Driver(Node):
    """The services and the topic of a driver."""

    def __init__(self, name: str, behaviour: str, file: str, stop: Event) -> None:
        super().__init__("driver")
        self._file = Path(file)
        self._name, self._behaviour, self._stop = name, behaviour, stop
        self._now, self._tool = dict(BEFORE), "gripper"
        if behaviour == "late":
            self._now = {"mass": 0.0, "com": [0.0] * 3, "inertia": [0.0] * 6}
        for service, kind, field, value in SERVICES[name]:
            self.create_service(load(kind), service, partial(
                self._answer, service.rsplit("/", 1)[-1], field, value))
        if name in ("ur", "franka"):
            publish = self._publish_ur if name == "ur" else self._publish_franka
            kind, topic = (("control_msgs/msg/DynamicJointState", "dynamic_joint_states")
                           if name == "ur" else ("franka_msgs/msg/FrankaRobotState",
                                                 "franka_robot_state_broadcaster/robot_state"))
            self._kind = load(kind)
            self._publisher = self.create_publisher(self._kind, topic, 10)
            self.create_timer(0.05, publish)

    def _answer(self, service: str, field: str, value: Any, request: Any, response: Any) -> Any:
        if service == "get_current_tool":
            response.info, response.success = self._tool, True
            return response
        print(json.dumps({"service": service, **plain(request)}), flush=True)
        while self._behaviour == "silent" and not self._stop.wait(0.05):
            pass
        if self._behaviour == "late":
            time.sleep(1.0)
        if self._behaviour == "spoil":
            self._file.unlink(missing_ok=True)
            self._file.mkdir()
        if self._behaviour == "refuse" and service != "config_delete_tool":
            setattr(response, field, type(value)(not value))
            for reason in ("error", "message"):
                if hasattr(response, reason):
                    setattr(response, reason, "not now")
            return response
        setattr(response, field, value)
        self._take(service, request)
        print("answered", flush=True)
        return response

    def _take(self, service: str, request: Any) -> None:
        """Have from now on what was asked for."""
        if service == "set_payload":
            com = request.center_of_gravity
            self._now = {"mass": request.mass, "com": [com.x, com.y, com.z], "inertia": [
                getattr(request, f"i{entry}") for entry in ("xx", "xy", "xz", "yy", "yz", "zz")]}
        elif service == "set_load":
            tensor = np.array(request.load_inertia).reshape(3, 3, order="F")
            self._now = {"mass": request.mass, "com": list(request.center_of_mass),
                         "inertia": tensor[np.triu_indices(3)].tolist()}
        elif service == "set_current_tool":
            self._tool = request.name
        if self._behaviour == "mistake":
            self._now["mass"] += 0.1

    def _publish_ur(self) -> None:
        message = self._kind(joint_names=["payload"])
        values = load("control_msgs/msg/InterfaceValue")()
        values.interface_names = ["mass", "cog.x", "cog.y", "cog.z"]
        values.values = [float(self._now["mass"]), *map(float, self._now["com"])]
        if self._behaviour != "drop":
            values.interface_names += [f"inertia.{e}" for e in ("ixx", "ixy", "ixz", "iyy", "iyz",
                                                                "izz")]
            values.values = [*values.values, *map(float, self._now["inertia"])]
        message.interface_values = [values]
        self._publisher.publish(message)

    def _publish_franka(self) -> None:
        message = self._kind(robot_mode=2 if self._behaviour == "moving" else 1)
        body = message.inertia_load.inertia
        body.m = float(self._now["mass"])
        body.com.x, body.com.y, body.com.z = map(float, self._now["com"])
        (body.ixx, body.ixy, body.ixz, body.iyy, body.iyz, body.izz) = map(
            float, self._now["inertia"])
        self._publisher.publish(message)


def main(name: str, behaviour: str = "accept", file: str = "") -> None:
    serve(lambda stop: Driver(name, behaviour, file, stop))


if __name__ == "__main__":
    main(*sys.argv[1:])
