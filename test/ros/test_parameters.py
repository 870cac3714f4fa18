# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Settings as ROS parameters: description, type, range, refusal."""

import math
import re

import pytest
from conftest import ROOT

rclpy = pytest.importorskip("rclpy")
pytest.importorskip("inertial_id_ros.msg")
from rcl_interfaces.msg import ParameterType  # noqa: E402
from rclpy.parameter import Parameter  # noqa: E402
from ros_process import NODE, RosProcess, own_domain  # noqa: E402

from inertial_id_ros.arguments import VERSION  # noqa: E402
from inertial_id_ros.errors import InertialIdError  # noqa: E402
from inertial_id_ros.ros.settings_node import SettingsNode  # noqa: E402
from inertial_id_ros.settings import SENSORS, Settings, iter_settings  # noqa: E402
from inertial_id_ros.settings.spec import allowed_range  # noqa: E402

TYPES = {bool: ParameterType.PARAMETER_BOOL, int: ParameterType.PARAMETER_INTEGER,
         float: ParameterType.PARAMETER_DOUBLE, str: ParameterType.PARAMETER_STRING,
         tuple: ParameterType.PARAMETER_DOUBLE_ARRAY}
TABLE = list(iter_settings(Settings()))


@pytest.fixture(scope="module")
def context():
    made = rclpy.Context()
    rclpy.init(context=made, domain_id=own_domain())
    yield made
    rclpy.shutdown(context=made)


@pytest.fixture
def make(context):
    """Makes a node from parameters; destroys it after the test."""
    nodes = []

    def make_node(**values):
        overrides = [Parameter(name.replace("__", "."), value=value)
                     for name, value in values.items()]
        nodes.append(SettingsNode("settings", context=context, parameter_overrides=overrides,
                                  start_parameter_services=False))
        return nodes[-1]

    yield make_node
    for node in nodes:
        node.destroy_node()


def test_every_setting_is_a_parameter_with_type_unit_and_range(make):
    node = make()
    for name, default, spec in TABLE:
        described = node.describe_parameter(name)
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


def test_topics_and_frames_need_a_restart_and_estimator_settings_do_not(make):
    node = make()
    for name in ("wrench.topic", "wrench.convention", "tf.topic", "gravity.frame", "shape.type"):
        assert node.describe_parameter(name).read_only
    for name in ("estimator.rate", "lmi.support", "pmd.points", "entropic.gamma", "wrench.noise"):
        assert not node.describe_parameter(name).read_only


def test_given_values_are_taken_and_whole_numbers_stand_for_decimals(make):
    node = make(wrench__topic="/ft", estimator__rate=5, shape__center=[1, 2, 3],
                gravity__acceleration=9.8)
    assert node.settings.wrench.topic == "/ft" and node.settings.estimator.rate == 5.0
    assert node.settings.shape.center == (1.0, 2.0, 3.0)
    assert node.get_parameter("estimator.rate").value == 5.0
    assert list(node.get_parameter("shape.center").value) == [1.0, 2.0, 3.0]


@pytest.mark.parametrize(("values", "said"), [
    ({"wrench__noise": [-1.0, 0.1]}, "wrench.noise is -1 N, N m; allowed: above 0 N, N m"),
    ({"wrench__noise": "low"}, "wrench.noise is 'low'; it must be a list of numbers"),
    ({"wrench__gain_error": "low"}, "wrench.gain_error is 'low'; it must be a number"),
    ({"wrench__noise": [math.nan, 0.1]}, "wrench.noise is nan"),
    ({"wrench__convention": "up"}, "allowed: on_sensor, on_environment"),
    ({"estimator__estimate_bias": 1}, "estimator.estimate_bias is 1; it must be true or false"),
    ({"estimator__method": "magic"}, "estimator.method is 'magic'; allowed: "),
    ({"pmd__points": 2.5}, "pmd.points is 2.5; it must be a whole number"),
    ({"shape__center": [0.0, 1.0]}, "shape.center has 2 numbers; it needs 3 or 6"),
    ({"wrench__topic": 5}, "wrench.topic is 5; it must be text"),
    ({"wrench__topci": "x"}, "unknown setting 'wrench.topci'"),
    ({"payload__mass": 1.0}, "payload.mass is written by the node"),
])
def test_a_bad_value_is_refused_with_name_value_and_what_is_allowed(make, values, said):
    with pytest.raises(InertialIdError) as caught:
        make(**values)
    assert said in str(caught.value) and "\n" not in str(caught.value)


def test_a_sensor_gives_the_parameters_of_its_data_sheet_but_for_those_that_are_given(make):
    node = make(wrench__sensor="ati_gamma", wrench__noise=[0.25, 0.01])
    assert node.settings == Settings().replace(
        {"wrench.sensor": "ati_gamma", "wrench.noise": (0.25, 0.01)})
    assert node.settings.wrench.noise == (0.25, 0.01)
    for name, value in SENSORS["ati_gamma"].defaults().items():
        if name != "wrench.noise":
            assert node.get_parameter(name).value == (
                list(value) if isinstance(value, tuple) else value)
    assert node.describe_parameter("wrench.sensor").read_only


def test_parameters_of_other_nodes_in_the_same_file_are_left_alone(make):
    assert make(camera__exposure=3).settings == Settings()


@pytest.mark.parametrize(("name", "value", "said"), [
    ("estimator.rate", 0.0, "estimator.rate is 0 Hz; allowed: at least 0.01"),
    ("lmi.support", "half", "allowed: none, box, ellipsoid, ellipsoids"),
    ("tf.topic", "/tf2", "tf.topic can only be set when the node starts"),
    ("payload.valid", True, "payload.valid is written by the node"),
    ("estimator.method", None, "estimator.method is None; it must be text"),
])
def test_a_bad_change_is_refused_and_leaves_the_settings(make, name, value, said):
    node = make()
    before = node.settings
    result = node.set_parameters_atomically([Parameter(name, value=value)])
    assert not result.successful and said in result.reason
    assert node.settings is before and node.has_parameter(name)


def test_a_good_change_reaches_the_settings_in_its_declared_type(make):
    node = make()
    seen = []
    node.on_settings = lambda before, after: seen.append((before, after))
    changes = [Parameter("estimator.rate", value=4), Parameter("lmi.support", value="box")]
    assert node.set_parameters_atomically(changes).successful
    assert node.settings.estimator.rate == 4.0 and node.settings.lmi.support == "box"
    assert node.get_parameter("estimator.rate").value == 4.0 and len(seen) == 1
    one_bad = [Parameter("estimator.rate", value=8.0), Parameter("pmd.points", value=1)]
    assert not node.set_parameters_atomically(one_bad).successful
    assert node.settings.estimator.rate == 4.0  # all or nothing


@pytest.mark.parametrize(("name", "value"), [
    ("pmd.points", 70), ("entropic.gamma", 2.0), ("lmi.support", "box")])
def test_options_of_every_estimator_may_change_while_the_node_runs(make, name, value):
    node = make()
    assert node.set_parameters_atomically([Parameter(name, value=value)]).successful
    group, key = name.split(".")
    assert getattr(getattr(node.settings, group), key) == value


def test_without_an_estimate_the_payload_parameters_are_not_a_number(make):
    node = make()
    assert math.isnan(node.get_parameter("payload.mass").value)
    for name, count in (("com", 3), ("inertia", 6), ("sigma", 10)):
        values = node.get_parameter(f"payload.{name}").value
        assert len(values) == count and all(math.isnan(v) for v in values)
    assert node.get_parameter("payload.valid").value is False


@pytest.mark.parametrize(("words", "said"), [
    (["-p", "buffer.window:=0.1"], "error: buffer.window is 0.1 s; allowed: at least 0.5 and at "
                                   "most 3600 s"),
    (["-p", "shape.type:=box"], "error: shape.type is 'box', but a box needs 3 positive sizes"),
    (["-p", "wrench.topic:='a b'"], "error: wrench.topic is 'a b'; it must be a topic name"),
    (["-p", "use_sim_time:=7"], "'use_sim_time' to '7'"),
    (["--params-file", "/nowhere.yaml"], "/nowhere.yaml"),
    (["-p", "robot_description.file:=/nowhere.urdf"], "No such file"),
])
def test_a_bad_value_at_start_ends_the_node_with_one_sentence(words, said):
    node = RosProcess(own_domain(), *NODE, "--ros-args", *words)
    status, text = node.finish()
    assert status == 2 and "Traceback" not in text
    lines = [x for x in text.splitlines() if not x.startswith("[ERROR]")]  # rcl's own
    assert len(lines) == 1 and lines[0].startswith("error: ") and said in lines[0], text


def test_an_argument_that_is_no_ros_argument_is_refused():
    node = RosProcess(own_domain(), *NODE, "wrench.topic:=/ft")
    status, text = node.finish()
    assert status == 2 and text.startswith("error: unknown argument 'wrench.topic:=/ft'")


def started(*words):
    """Status and output of a node that is expected to end by itself."""
    return RosProcess(own_domain(), *NODE, *words).finish()


def test_help_tells_topics_services_and_where_settings_are_documented():
    status, text = started("--help")
    assert status == 0 and text.startswith("usage: inertial_id_node")
    interfaces = re.findall(r"^\| `(~/\w+)`", (ROOT / "docs/interfaces.md").read_text(), re.M)
    assert len(interfaces) > 10
    for word in ("docs/settings.md", "wrench.topic", "/diagnostics"):
        assert word in text
    assert set(interfaces) <= set(text.split())


def test_the_node_tells_its_version():
    assert started("--version") == (0, f"inertial_id_ros {VERSION}\n")


@pytest.mark.parametrize(("words", "said"), [
    (("--ros-args", "--params-file", "nowhere.yaml"), "parameter file 'nowhere.yaml' cannot be "
     "read: No such file or directory"),
    (("--ros-args", "-p", "bogus.setting:=1"), "unknown setting 'bogus.setting'"),
    (("--ros-args", "-r"), "ROS arguments: Couldn't parse trailing -r flag")])
def test_a_bad_command_line_is_one_error_without_lines_of_ros_sources(words, said):
    status, text = started(*words)
    mine = [line for line in text.splitlines() if "[rcl]" not in line]  # ROS logs on its own
    assert status == 2 and len(mine) == 1 and mine[0].startswith(f"error: {said}"), text
    assert ".c:" not in mine[0]


def test_a_parameter_file_for_another_node_is_told(tmp_path):
    file = tmp_path / "params.yaml"
    file.write_text("other_node:\n  ros__parameters:\n    wrench: {topic: /ft}\n")
    node = RosProcess(own_domain(), *NODE, "--ros-args", "-p", "state.restore:=false",
                      "--params-file", str(file))
    node.wait_for_text("has nothing for /inertial_id_node; it is for /other_node")
    assert node.stop()[0] == 0
