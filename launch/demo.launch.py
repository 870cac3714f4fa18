# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Starts a simulated cobot that carries a payload, and the node that identifies the payload.

    ros2 launch inertial_id_ros demo.launch.py payload:=hammer
    ros2 topic echo /inertial_id_node/inertia
"""

from pathlib import Path

from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from launch import LaunchDescription

# Options of simulate_cobot: name, default, description.
ARGUMENTS = (
    ("payload", "drill", "Named payload: cylinder, hammer, box_offset or drill."),
    ("speed", "1.0", "Angular speed of the tool [rad/s]."),
    ("convention", "on_sensor", "Sign of the wrench: on_sensor or on_environment."),
    ("seed", "0", "Seed of the noise."),
    ("prefix", "", "Put before the names of all joints and links."),
)


def generate_launch_description() -> LaunchDescription:
    """Arguments, cobot and node."""
    arguments = [DeclareLaunchArgument(name, default_value=default, description=text)
                 for name, default, text in ARGUMENTS]
    namespace = DeclareLaunchArgument(
        "namespace", default_value="", description="Namespace of both nodes.")
    method = DeclareLaunchArgument("method", default_value="", description="Estimator.")
    state = DeclareLaunchArgument(
        "state_directory", default_value="", description="Folder under which the node writes.")
    cobot = Node(
        package="inertial_id_ros", executable="simulate_cobot", name="simulate_cobot",
        namespace=LaunchConfiguration("namespace"), output="screen", emulate_tty=True,
        arguments=[[f"--{name}=", LaunchConfiguration(name)] for name, _, _ in ARGUMENTS])
    identify = IncludeLaunchDescription(
        PythonLaunchDescriptionSource(str(Path(__file__).parent / "identify.launch.py")),
        launch_arguments={"config": "simulation", **{
            name: LaunchConfiguration(name)
            for name in ("convention", "method", "namespace", "prefix",
                         "state_directory")}}.items())
    return LaunchDescription([*arguments, namespace, method, state, cobot, identify])
