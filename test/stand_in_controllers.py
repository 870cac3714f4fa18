# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A node that declares the parameters of a controller of ros2_control, as its public definition has
them: ``python stand_in_controllers.py NODE``. It prints what it was told, a line of JSON each."""

from __future__ import annotations

import json
import sys
import time

from rcl_interfaces.msg import ParameterDescriptor, SetParametersResult
from rclpy.node import Node
from stand_in import serve

FRAME = "tilted"
PARAMETERS = {
    "admittance_controller": {
        "gravity_compensation.frame.id": FRAME,
        "gravity_compensation.CoG.pos": [0.1, 0.2, 0.3],
        "gravity_compensation.CoG.force": 7.0,
        "enable_parameter_update_without_reactivation": True},
    "force_torque_sensor_broadcaster": {
        **{f"offset.{kind}.{axis}": 0.25 for kind in ("force", "torque") for axis in "xyz"},
        **{f"multiplier.{kind}.{axis}": 2.0 for kind in ("force", "torque") for axis in "xyz"},
        "sensor_filter_chain.filter2.params.world_frame": "world",
        "sensor_filter_chain.filter2.params.sensor_frame": FRAME,
        "sensor_filter_chain.filter2.params.tool.mass": 0.5,
        "sensor_filter_chain.filter2.params.tool.CoG": [0.0, 0.0, 0.0],
        "sensor_filter_chain.filter2.params.tool.gravity_field": [0.0, 0.0, -9.81]},
}
READ_ONLY = "read_only"  # name of a node like the admittance_controller whose weight is read-only
REFUSES = "refuses"  # name of one that refuses every change
FALLS_SILENT = "falls_silent"  # name of one that answers nothing any more after a change


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


if __name__ == "__main__":
    serve(lambda stop: controller(sys.argv[1]))
