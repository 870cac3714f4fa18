# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Starts inertial_id_node for a robot.

    ros2 launch inertial_id_ros identify.launch.py config:=ur
    ros2 launch inertial_id_ros identify.launch.py config:=ur namespace:=left prefix:=left_

``config`` is the name of a file in this package's config folder, or a path. Every other argument
overrides one setting of that file; an argument that is not given leaves the file's value.
The second line is for one of several arms, whose topics are in a namespace, and whose joints, links
and sensors have a prefix (tf_prefix of a driver). Where the arms share a topic, name it:
joint_states_topic:=/joint_states.
"""

from collections.abc import Iterator
from pathlib import Path

import yaml
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from launch import LaunchContext, LaunchDescription

CONFIG = Path(__file__).parent.parent / "config"
# Launch argument: setting, description. All are text, as launch gives it.
OVERRIDES = {
    "wrench_topic": ("wrench.topic", "Topic of the wrench."),
    "sensor": ("wrench.sensor", "Sensor whose data sheet is used, e.g. ati_gamma."),
    "sensor_frame": ("wrench.sensor_frame", "Frame of the wrench."),
    "convention": ("wrench.convention", "Sign of the wrench: on_sensor or on_environment."),
    "joint_states_topic": ("joint_states.topic", "Topic of the joint states."),
    "robot_description_topic": ("robot_description.topic", "Topic of the robot description."),
    "gravity_frame": ("gravity.frame", "Frame whose z axis points up."),
    "method": ("estimator.method", "Estimator."),
    "state_directory": ("state.directory", "Folder under which the node writes."),
}
# Settings that name what an arm's description gives a prefix, with their default.
PREFIXED = {
    "wrench.sensor_frame": "", "precompensated.frame": "", "apply.frame": "",
    "precompensated.name": "payload",
}


def config_file(name: str) -> Path:
    """The parameter file of that name (raises FileNotFoundError)."""
    for candidate in (CONFIG / f"{name}.yaml", CONFIG / name, Path(name).expanduser()):
        if candidate.is_file():
            return candidate
    known = ", ".join(sorted(path.stem for path in CONFIG.glob("*.yaml")))
    raise FileNotFoundError(f"config is '{name}'; it must be a file, or one of: {known}")


def flatten(branch: dict, name: str = "") -> Iterator[tuple[str, object]]:
    """Dotted names and values in a tree."""
    for key, value in branch.items():
        if isinstance(value, dict):
            yield from flatten(value, f"{name}{key}.")
        else:
            yield f"{name}{key}", value


def prefixed(tree: dict, prefix: str) -> dict[str, str]:
    """The settings of a parameter file that name frames or sensors of the arm, with a prefix."""
    given = {name.partition("ros__parameters.")[2]: value for name, value in flatten(tree)}
    names = {name: str(given.get(name, default)) for name, default in PREFIXED.items()}
    return {name: prefix + value for name, value in names.items() if value}


def make_node(context: LaunchContext) -> list[Node]:
    """The node with the arguments that were given."""

    def value(argument: str) -> str:
        return LaunchConfiguration(argument).perform(context)

    configs = [config_file(value("config"))] if value("config") else []
    overrides: dict[str, object] = {}
    if value("prefix"):
        tree = yaml.safe_load(configs[0].read_text()) if configs else {}
        overrides |= prefixed(tree, value("prefix"))
    overrides |= {
        setting: value(argument) for argument, (setting, _) in OVERRIDES.items()
        if value(argument)}
    for argument, setting in (("use_sim_time", "use_sim_time"),
                              ("autostart", "lifecycle.autostart")):
        if value(argument):
            overrides[setting] = value(argument).lower() in ("true", "1", "yes")
    topic = value("tf")
    logger = ".".join([*filter(None, value("namespace").split("/")), "inertial_id_node"])
    return [Node(
        package="inertial_id_ros", executable="inertial_id_node", name="inertial_id_node",
        namespace=value("namespace"), output="screen", emulate_tty=True,
        parameters=[*map(str, configs), overrides],
        remappings=[("/tf", topic), ("/tf_static", f"{topic}_static")] if topic else [],
        arguments=["--ros-args", "--log-level", f"{logger}:={value('log_level')}"])]


def generate_launch_description() -> LaunchDescription:
    """Arguments and node."""
    names = ", ".join(sorted(path.stem for path in CONFIG.glob("*.yaml")))
    arguments = [
        DeclareLaunchArgument(
            "config", default_value="",
            description=f"Parameter file: a path, or one of {names}; empty: none."),
        DeclareLaunchArgument("namespace", default_value="", description="Namespace of the node."),
        DeclareLaunchArgument(
            "prefix", default_value="",
            description="Put before the frames and sensors that the parameter file names."),
        DeclareLaunchArgument(
            "tf", default_value="",
            description="Topic in place of /tf; with _static, that in place of /tf_static."),
        DeclareLaunchArgument(
            "use_sim_time", default_value="", description="true: time comes from /clock."),
        DeclareLaunchArgument(
            "autostart", default_value="",
            description="false: a lifecycle manager starts the node. Empty: as in the parameter "
            "file."),
        DeclareLaunchArgument(
            "log_level", default_value="info", description="debug, info, warn, error or fatal."),
    ]
    arguments += [
        DeclareLaunchArgument(argument, default_value="",
                              description=f"{text} Empty: as in the parameter file.")
        for argument, (_, text) in OVERRIDES.items()]
    return LaunchDescription([*arguments, OpaqueFunction(function=make_node)])
