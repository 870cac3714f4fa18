# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Stand-ins of drivers and controllers, which print what they are sent, a line of JSON each.

``python stand_in.py NODE``: a controller of ros2_control, as its public definition has it.
``python stand_in.py driver BEHAVIOUR``: ur_robot_driver, with its service and its topic.
BEHAVIOUR: accept; mistake (takes another mass than is sent); refuse; silent (does not answer);
late (answers after a second, and had no payload before).
"""

from __future__ import annotations

import json
import os
import sys
import time
from threading import Event
from typing import Any

import rclpy
from control_msgs.msg import DynamicJointState, InterfaceValue
from rcl_interfaces.msg import ParameterDescriptor, SetParametersResult
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from ur_msgs.srv import SetPayload

from inertial_id_ros.ros.program import spin, start_ros, stop_flag

PARAMETERS = {
    "admittance_controller": {
        "gravity_compensation.frame.id": "tilted",
        "gravity_compensation.CoG.pos": [0.1, 0.2, 0.3],
        "gravity_compensation.CoG.force": 7.0,
        "enable_parameter_update_without_reactivation": True},
    "force_torque_sensor_broadcaster": {
        **{f"offset.{kind}.{axis}": 0.25 for kind in ("force", "torque") for axis in "xyz"},
        **{f"multiplier.{kind}.{axis}": 2.0 for kind in ("force", "torque") for axis in "xyz"},
        "sensor_filter_chain.filter2.params.world_frame": "world",
        "sensor_filter_chain.filter2.params.sensor_frame": "tilted",
        "sensor_filter_chain.filter2.params.tool.mass": 0.5,
        "sensor_filter_chain.filter2.params.tool.CoG": [0.0, 0.0, 0.0],
        "sensor_filter_chain.filter2.params.tool.gravity_field": [0.0, 0.0, -9.81]},
}
# Names of nodes like the admittance_controller: whose weight is read-only, that refuses every
# change, that answers nothing any more after a change.
READ_ONLY, REFUSES, FALLS_SILENT = "read_only", "refuses", "falls_silent"
BEFORE = {"mass": 0.4, "com": [0.01, 0.02, 0.03], "inertia": [0.001, 0.0, 0.0, 0.001, 0.0, 0.002]}
ENTRIES = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")


def controller(name: str) -> Node:
    """A node with the parameters of the controller of that name."""
    node = Node(name)
    for parameter, value in PARAMETERS.get(name, PARAMETERS["admittance_controller"]).items():
        node.declare_parameter(parameter, value, ParameterDescriptor(
            read_only=name == READ_ONLY and parameter.endswith("force")))

    def check(parameters: list) -> SetParametersResult:
        if name == REFUSES:
            return SetParametersResult(successful=False, reason="not while I run")
        values = {p.name: list(p.value) if hasattr(p.value, "__len__") else p.value
                  for p in parameters}
        print(json.dumps(values), flush=True)
        if name == FALLS_SILENT:
            node.create_timer(0.0, lambda: time.sleep(60.0))
        return SetParametersResult(successful=True)

    node.add_on_set_parameters_callback(check)
    return node


class Driver(Node):
    """The service and the topic of a driver."""

    def __init__(self, stop: Event, behaviour: str) -> None:
        super().__init__("driver")
        self._behaviour, self._stop = behaviour, stop
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


def main(name: str, *words: str) -> None:
    """Run a node until a signal, and end whatever the middleware does then: `rclpy.spin` once did
    not return in a minute."""
    stop = stop_flag()
    start_ros("stand_in", [])
    executor, node = SingleThreadedExecutor(), (
        Driver(stop, *words) if name == "driver" else controller(name))
    executor.add_node(node)
    print("ready", flush=True)
    spin(executor, stop)
    node.destroy_node()  # or the others would hold its services for 20 s more
    rclpy.shutdown()
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
