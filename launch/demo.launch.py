# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Starts a simulated cobot that carries a payload, and the node that identifies the payload.

    ros2 launch inertial_id_ros demo.launch.py payload:=hammer
    ros2 topic echo /inertial_id_node/inertia
    ros2 topic echo /simulate_cobot/truth
"""

from pathlib import Path

from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription
from launch.conditions import IfCondition
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

from launch import LaunchDescription

# Parameters of simulate_cobot: name, default, type, description.
ARGUMENTS = (
    ("payload", "drill", str, "Named payload: cylinder, hammer, box_offset or drill."),
    ("speed", "1.0", float, "Angular speed of the tool [rad/s]."),
    ("convention", "on_sensor", str, "Sign of the wrench: on_sensor or on_environment."),
    ("seed", "0", int, "Seed of the noise."),
    ("prefix", "", str, "Put before the names of all joints and links."),
)


def generate_launch_description() -> LaunchDescription:
    """Arguments, cobot and node."""
    arguments = [DeclareLaunchArgument(name, default_value=default, description=text)
                 for name, default, _, text in ARGUMENTS]
    namespace = DeclareLaunchArgument(
        "namespace", default_value="", description="Namespace of both nodes.")
    method = DeclareLaunchArgument("method", default_value="", description="Estimator.")
    state = DeclareLaunchArgument(
        "state_directory", default_value="", description="Folder under which the node writes.")
    rviz = DeclareLaunchArgument("rviz", default_value="false", description="Show it in RViz, too.")
    cobot = Node(
        package="inertial_id_ros", executable="simulate_cobot", name="simulate_cobot",
        namespace=LaunchConfiguration("namespace"), output="screen", emulate_tty=True,
        parameters=[{name: ParameterValue(LaunchConfiguration(name), value_type=kind)
                     for name, _, kind, _ in ARGUMENTS}])
    identify = IncludeLaunchDescription(
        PythonLaunchDescriptionSource(str(Path(__file__).parent / "identify.launch.py")),
        launch_arguments={"config": "simulation", **{
            name: LaunchConfiguration(name)
            for name in ("convention", "method", "namespace", "prefix",
                         "state_directory")}}.items())
    view = IncludeLaunchDescription(
        PythonLaunchDescriptionSource(str(Path(__file__).parent / "view.launch.py")),
        launch_arguments={"node": [LaunchConfiguration("namespace"), "/inertial_id_node"],
                          "robot_description": [LaunchConfiguration("namespace"),
                                                "/robot_description"],
                          "fixed_frame": [LaunchConfiguration("prefix"), "base_link"]}.items(),
        condition=IfCondition(LaunchConfiguration("rviz")))
    return LaunchDescription([*arguments, namespace, method, state, rviz, cobot, identify, view])
