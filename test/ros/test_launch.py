# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Launch files and parameter files."""

import importlib.util
import os
import signal
from contextlib import contextmanager

import pytest
import yaml
from conftest import ROOT
from rcl_interfaces.srv import GetParameters
from ros_process import Stage

from inertial_id_ros.estimators import create
from inertial_id_ros.settings import flatten, iter_settings, settings_from_mapping

CONFIGS = sorted((ROOT / "config").glob("*.yaml"))


@pytest.mark.parametrize("path", CONFIGS, ids=lambda p: p.stem)
def test_every_parameter_file_is_accepted(path):
    tree = yaml.safe_load(path.read_text())
    assert list(tree) == ["/**"] and list(tree["/**"]) == ["ros__parameters"]
    settings = settings_from_mapping(tree)
    create(settings)
    for name, value in flatten(tree).items():  # ROS takes neither mixed nor empty lists
        if isinstance(value, list):
            assert value and all(isinstance(v, float) for v in value), name
        elif isinstance(dict((n, d) for n, d, _ in iter_settings(settings))[name], float):
            assert isinstance(value, float), name  # and 1e-6 would be text


def test_signs_are_those_of_the_drivers():
    def convention(name):
        tree = yaml.safe_load((ROOT / "config" / f"{name}.yaml").read_text())
        return settings_from_mapping(tree).wrench.convention

    assert convention("franka") == "on_environment"
    assert convention("ur") == convention("simulation") == "on_sensor"


@contextmanager
def launched(stage, *words):
    """A launch file as a process, which ends with all that it has started."""
    for module in ("launch", "launch_ros", "ros2launch"):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed (it is no part of the PyPI wheels of ROS 2)")
    ament = pytest.importorskip("ament_index_python")
    try:
        ament.get_package_prefix("inertial_id_ros")
    except (LookupError, OSError):
        pytest.skip("inertial_id_ros is not in AMENT_PREFIX_PATH")
    process = stage.start("ros2", "launch", *words)
    try:
        yield process
    finally:
        os.killpg(process.process.pid, signal.SIGINT)  # as Ctrl-C in a terminal: to all of them
        process.finish()


@pytest.mark.parametrize(("words", "said"), [
    (("demo.launch.py", "payload:=hammer"), "mass is identified"),
    (("identify.launch.py", "config:=ur", "wrench_topic:=/my/ft", "namespace:=left"),
     "from /my/ft"),
])
def test_ros2_launch_starts_and_stops_cleanly(words, said):
    with Stage() as stage:
        with launched(stage, "inertial_id_ros", *words) as process:
            process.wait_for_text(said)
        assert "has died" not in process.text and "Traceback" not in process.text, process.text
        assert process.text.count("finished cleanly") == 1 + words[0].startswith("demo")


def test_a_prefix_stands_before_the_frames_and_sensors_of_the_parameter_file():
    wanted = {
        "wrench.topic": "force_torque_sensor_broadcaster/wrench",
        "wrench.sensor_frame": "left_tool0", "precompensated.frame": "left_tool0",
        "apply.frame": "left_tool0",
        "precompensated.name": "left_payload", "gravity.frame": ""}
    with Stage() as stage, launched(
            stage, str(ROOT / "launch" / "identify.launch.py"), "namespace:=left", "prefix:=left_",
            f"config:={ROOT / 'config' / 'ur.yaml'}") as process:
        process.wait_for_text("from /left/force_torque_sensor_broadcaster/wrench")
        answer = stage.client.call(GetParameters, "/left/inertial_id_node/get_parameters",
                                   GetParameters.Request(names=list(wanted)))
        assert [v.string_value for v in answer.values] == list(wanted.values())
