# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Starts two simulated cobots, left and right, and a node for each that identifies its payload.

    ros2 launch inertial_id_ros two_arms.launch.py left:=hammer right:=drill
    ros2 topic echo /left/inertial_id_node/inertia
    ros2 topic echo /right/inertial_id_node/inertia

For two robots in place of the simulated ones, include identify.launch.py in the same way.
"""

from pathlib import Path

from launch.actions import DeclareLaunchArgument, GroupAction, IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration

from launch import LaunchDescription

ARMS = {"left": "hammer", "right": "drill"}  # and what they carry


def start_arm(name: str) -> GroupAction:
    """One arm: its topics in a namespace, its joints and links with a prefix."""
    return GroupAction([IncludeLaunchDescription(
        PythonLaunchDescriptionSource(str(Path(__file__).parent / "demo.launch.py")),
        launch_arguments={"namespace": name, "prefix": f"{name}_",
                          "payload": LaunchConfiguration(name)}.items())])


def generate_launch_description() -> LaunchDescription:
    """Arguments, and both arms."""
    arguments = [DeclareLaunchArgument(name, default_value=payload,
                                       description=f"Payload of the {name} arm.")
                 for name, payload in ARMS.items()]
    return LaunchDescription([*arguments, *map(start_arm, ARMS)])
