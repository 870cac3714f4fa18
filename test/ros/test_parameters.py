# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Settings as ROS parameters: description, type, range, refusal; and the node's command line."""

import math

import pytest
import rclpy
from rcl_interfaces.msg import ParameterType
from rclpy.node import Node
from rclpy.parameter import Parameter
from ros_process import NODE, RosProcess, own_domain

from inertial_id_ros.errors import InertialIdError
from inertial_id_ros.ros.parameters import Parameters
from inertial_id_ros.settings import Settings, iter_settings
from inertial_id_ros.settings.spec import allowed_range

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
        Parameters(node, lambda settings: None)
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


def started(*words):
    """Status and output of a node that is expected to end by itself."""
    return RosProcess(own_domain(), *NODE, *words).finish()


@pytest.mark.parametrize(("words", "said"), [
    (["-p", "buffer.window:=0.1"], "buffer.window is 0.1 s; allowed: at least 1 and"),
    (["-p", "robot_description.file:=/nowhere.urdf"], "/nowhere.urdf"),
    (["-r"], "trailing -r"),
])
def test_what_cannot_be_used_ends_the_node_with_one_sentence(words, said):
    status, text = started("--ros-args", *words)
    assert status == 2 and "Traceback" not in text
    lines = [x for x in text.splitlines() if not x.startswith("[ERROR]")]  # in the log as well
    assert len(lines) == 1 and lines[0].startswith("error: ") and said in lines[0], text
    assert ".c:" not in lines[0]
