# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Shows robot and payload in RViz.

    ros2 launch inertial_id_ros view.launch.py fixed_frame:=base_link
    ros2 launch inertial_id_ros view.launch.py node:=/left/inertial_id_node

The robot, the centre of mass with two standard deviations, the box of the same mass and inertia
once inertia is observed, the mass with its verdict, and the wrench without the payload.
"""

from pathlib import Path

from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.logging import launch_config
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from launch import LaunchContext, LaunchDescription

TEMPLATE = Path(__file__).parent.parent / "config" / "rviz" / "payload.rviz"
# Launch argument: word in the template, default, description.
ARGUMENTS = {
    "node": ("NODE", "/inertial_id_node", "Node that identifies, with its namespace."),
    "fixed_frame": ("FIXED_FRAME", "base_link", "Frame that stands still."),
    "robot_description": ("ROBOT_DESCRIPTION", "/robot_description",
                          "Topic of the robot description."),
}


def fill(values: dict[str, str]) -> str:
    """The configuration of RViz for the values of the arguments."""
    text = TEMPLATE.read_text()
    for name, value in values.items():
        text = text.replace(f": {ARGUMENTS[name][0]}", f": {value.rstrip('/')}")
    return text


def start(context: LaunchContext) -> list[Node]:
    """RViz with a configuration of its own, which lies beside the logs of the launch."""
    values = {name: LaunchConfiguration(name).perform(context) for name in ARGUMENTS}
    path = Path(launch_config.log_dir, TEMPLATE.name)
    path.write_text(fill(values))
    return [Node(package="rviz2", executable="rviz2", name="payload_view",
                 arguments=["-d", str(path)], output="screen")]


def generate_launch_description() -> LaunchDescription:
    """Arguments and RViz."""
    arguments = [DeclareLaunchArgument(name, default_value=default, description=text)
                 for name, (_, default, text) in ARGUMENTS.items()]
    return LaunchDescription([*arguments, OpaqueFunction(function=start)])
