# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Launch files and parameter files; the demo identifies the payload, judges independently, and
leaves no process behind; settings as ROS parameters: description, type, range, refusal."""

import importlib.util
import json
import math
import os
import signal
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
import rclpy
import yaml
from conftest import ROOT
from rcl_interfaces.msg import ParameterType
from rcl_interfaces.srv import GetParameters
from rclpy.node import Node
from rclpy.parameter import Parameter
from ros_process import NODE, RosProcess, Stage, own_domain, wait_until

from inertial_id_ros.apps.simulation.payload import PAYLOADS
from inertial_id_ros.errors import InertialIdError
from inertial_id_ros.estimators import create
from inertial_id_ros.ros.parameters import Parameters
from inertial_id_ros.settings import Settings, flatten, iter_settings, settings_from_mapping
from inertial_id_ros.settings.spec import allowed_range

CONFIGS = sorted((ROOT / "config").glob("*.yaml"))


SIGNS = {"franka": "on_environment", "ur": "on_sensor", "simulation": "on_sensor"}


@pytest.mark.parametrize("path", CONFIGS, ids=lambda p: p.stem)
def test_every_parameter_file_is_accepted(path):
    tree = yaml.safe_load(path.read_text())
    assert list(tree) == ["/**"] and list(tree["/**"]) == ["ros__parameters"]
    settings = settings_from_mapping(tree)
    create(settings)
    assert not settings.load.rated_payload and len(CONFIGS) >= 7  # series hold 3 kg and 35 kg
    assert SIGNS.get(path.stem) in (settings.wrench.convention, None)  # that of the driver
    assert SIGNS.keys() < {each.stem for each in CONFIGS}
    for name, value in flatten(tree).items():  # ROS takes neither mixed nor empty lists
        if isinstance(value, list):
            assert value and all(isinstance(v, float) for v in value), name
        elif isinstance(dict((n, d) for n, d, _ in iter_settings(settings))[name], float):
            assert isinstance(value, float), name  # and 1e-6 would be text


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
            f"config:={ROOT / 'config' / 'ur.yaml'}", "tf:=/arm/tf") as process:
        process.wait_for_text("from /left/force_torque_sensor_broadcaster/wrench")
        wait_until(lambda: stage.client.node.count_subscribers("/arm/tf_static"))
        answer = stage.client.call(GetParameters, "/left/inertial_id_node/get_parameters",
                                   GetParameters.Request(names=list(wanted)))
        assert [v.string_value for v in answer.values] == list(wanted.values())


# ---- the demo ------------------------------------------------------------------------------------

DEMO = (sys.executable, "-m", "inertial_id_ros.cli", "inertial_id_demo")


@pytest.mark.alone
@pytest.mark.slow
def test_the_demo_leads_from_check_to_applied_payload(tmp_path):
    """What is told to the driver is the truth, and the report holds check and proof."""
    demo = RosProcess(own_domain(), *DEMO, "--report", str(tmp_path))
    status, text = demo.finish(300.0)
    assert status == 0, text
    events = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    notes = [e["text"] for e in events if e["event"] == "note" and e["good"]]
    assert sum("off by" in note for note in notes) == 2, text
    proof = next(e for e in events if e["event"] == "proof")
    assert proof["given"] and proof["residual_before"][0] > 10 * proof["residual_after"][0]
    told = next(note for note in notes if "was sent" in note)
    assert float(told.split("was sent ")[1].split(" kg")[0]) == pytest.approx(
        PAYLOADS["drill"].mass, rel=0.03)
    assert "the same is read back" in told
    page = next(tmp_path.glob("*.html")).read_text()
    assert "sign of the wrench" in page and "with the estimate" in page


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc")
def test_no_process_outlives_the_demo():
    demo = RosProcess(own_domain(), *DEMO)
    children = Path(f"/proc/{demo.process.pid}/task/{demo.process.pid}/children")
    wait_until(lambda: len(children.read_text().split()) == 2)
    started = children.read_text().split()
    status, text = demo.stop(signal.SIGTERM)
    assert status == 130 and "Traceback" not in text
    assert not [child for child in started if Path("/proc", child).exists()]


# ---- parameters ----------------------------------------------------------------------------------

TYPES = {bool: ParameterType.PARAMETER_BOOL, int: ParameterType.PARAMETER_INTEGER,
         float: ParameterType.PARAMETER_DOUBLE, str: ParameterType.PARAMETER_STRING,
         tuple: ParameterType.PARAMETER_DOUBLE_ARRAY}


@pytest.fixture
def make():
    """Makes a node with the settings as parameters."""
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=own_domain())

    def make_node(**values):
        node = Node("settings", context=context, start_parameter_services=False,
                    automatically_declare_parameters_from_overrides=True, parameter_overrides=[
                        Parameter(name.replace("__", "."), value=value)
                        for name, value in values.items()])
        Parameters(node, lambda *_: None)
        return node

    yield make_node
    rclpy.shutdown(context=context)


def test_every_setting_is_a_parameter_with_type_unit_and_range(make):
    node = make()
    for name, default, spec in iter_settings(Settings()):
        described = node.describe_parameter(name)
        if default != ():
            value = node.get_parameter(name).value
            assert (tuple(value) if isinstance(default, tuple) else value) == default
        assert described.type == TYPES[type(default)], name
        assert described.description.startswith(spec.description)
        assert f"[{spec.unit}]" in described.description or not spec.unit
        assert described.read_only is not spec.runtime
        if spec.choices or isinstance(default, float):
            assert allowed_range(spec) in described.additional_constraints
        if math.isfinite(spec.low) and math.isfinite(spec.high):
            ranges = described.floating_point_range or described.integer_range
            assert (ranges[0].from_value, ranges[0].to_value) == (spec.low, spec.high), name
    described = node.describe_parameter("payload.mass")
    assert "read-only" in described.additional_constraints and "kg" in described.description


@pytest.mark.parametrize(("values", "said"), [
    ({"wrench__noise": [-1.0, 0.1]}, ("wrench.noise", "-1", "above 0 N, N m")),
    ({"estimator__method": "magic"}, ("estimator.method", "'magic'", "density")),
    ({"wrench__topci": "x"}, ("'wrench.topci'",)),
    ({"payload__mass": 1.0}, ("payload.mass",)),
])
def test_a_bad_value_is_refused_with_name_value_and_what_is_allowed(make, values, said):
    with pytest.raises(InertialIdError) as caught:
        make(**values)
    assert all(part in str(caught.value) for part in said) and "\n" not in str(caught.value)


@pytest.mark.parametrize(("words", "said"), [
    (["-p", "buffer.window:=0.1"], "buffer.window is 0.1 s; allowed: at least 1 and"),
    (["-p", "robot_description.file:=/nowhere.urdf"], "/nowhere.urdf"),
    (["-r"], "trailing -r"),
])
def test_what_cannot_be_used_ends_the_node_with_one_sentence(words, said):
    status, text = RosProcess(own_domain(), *NODE, "--ros-args", *words).finish()
    assert status == 2 and "Traceback" not in text
    lines = [x for x in text.splitlines() if not x.startswith("[ERROR]")]  # in the log as well
    assert len(lines) == 1 and lines[0].startswith("error: ") and said in lines[0], text
    assert ".c:" not in lines[0]
