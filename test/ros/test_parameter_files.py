# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Parameter files as ROS takes them, and what of them is of no use; no ROS is needed."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("rclpy")
from inertial_id_ros.errors import InvalidSetting  # noqa: E402
from inertial_id_ros.ros.settings_node import Section, check_parameter_files, read_parameter_files

NODE = "/inertial_id_node"


def write(folder: Path, text: str) -> str:
    file = folder / "params.yaml"
    file.write_text(text)
    return str(file)


def read(folder: Path, text: str) -> list[Section]:
    return read_parameter_files(["--ros-args", "--params-file", write(folder, text)])[0]


def test_sections_are_found_in_namespaces_too(tmp_path):
    found = read(tmp_path, "left:\n  arm_node:\n    ros__parameters:\n      wrench: {topic: /w}\n"
                           "/**:\n  ros__parameters:\n    estimator.rate: 5.0\n")
    assert [(s.node, s.names) for s in found] == [
        ("/left/arm_node", {"wrench.topic"}), ("/**", {"estimator.rate"})]


def test_only_files_among_ros_arguments_are_read(tmp_path):
    file = write(tmp_path, "/**:\n  ros__parameters: {}\n")
    assert read_parameter_files(["--params-file", "missing.yaml"]) == []
    assert len(read_parameter_files(["--ros-args", "--params-file", file, "-p", "a:=1",
                                     "--params-file", file, "--", "--params-file", "x"])) == 2


@pytest.mark.parametrize(("pattern", "node", "takes"), [
    ("/**", "/a", True), ("/**", "/a/b", True), ("/a", "/a", True), ("/a", "/b/a", False),
    ("/**/a", "/a", True), ("/**/a", "/x/y/a", True), ("/*/a", "/x/a", True),
    ("/*/a", "/a", False), ("/*/a", "/x/y/a", False), ("/a.b", "/aXb", False)])
def test_patterns_of_nodes_are_those_of_ros(pattern, node, takes):
    assert Section("f", pattern, frozenset()).is_for(node) is takes


@pytest.mark.parametrize(("text", "said"), [
    ("a: [1\n b", "not valid YAML"), ("- 1\n", "must hold 'ros__parameters'"),
    ("/**:\n  wrench: {topic: x}\n", "must hold 'ros__parameters'"),
    ("n:\n  ros__parameters: 5\n", "'ros__parameters' of '/n' must hold names"),
    ("n: &a\n  ros__parameters: *a\n", "aliases")])
def test_what_is_no_parameter_file_is_refused_by_its_name(tmp_path, text, said):
    with pytest.raises(InvalidSetting, match="params.yaml") as caught:
        read(tmp_path, text)
    assert said in str(caught.value)


def test_a_missing_file_is_named():
    with pytest.raises(InvalidSetting, match="file 'nowhere.yaml' cannot be read: No such file"):
        read_parameter_files(["--ros-args", "--params-file", "nowhere.yaml"])


def test_a_file_for_other_nodes_only_is_told():
    file = [Section("a.yaml", "/other", frozenset({"x"}))]
    assert check_parameter_files(NODE, [], [file]) == [
        "parameter file 'a.yaml' has nothing for /inertial_id_node; it is for /other"]
    both = [*file, Section("a.yaml", NODE, frozenset())]
    assert check_parameter_files(NODE, [], [both]) == []


def test_an_unknown_name_for_this_node_is_refused_and_its_file_named():
    file = [Section("a.yaml", NODE, frozenset({"bogus.setting"}))]
    with pytest.raises(InvalidSetting, match="'a.yaml': unknown setting 'bogus.setting'"):
        check_parameter_files(NODE, ["bogus.setting"], [file])
    with pytest.raises(InvalidSetting, match="^unknown setting 'bogus.setting'"):
        check_parameter_files(NODE, ["bogus.setting"], [])  # from the command line


def test_an_unknown_name_for_every_node_is_told_unless_it_is_misspelt():
    file = [Section("a.yaml", "/**", frozenset({"camera.exposure", "wrench.topci"}))]
    assert check_parameter_files(NODE, ["camera.exposure"], [file]) == [
        "parameter file 'a.yaml' sets 'camera.exposure' for /**; this node has no such setting"]
    with pytest.raises(InvalidSetting, match="'a.yaml': unknown setting 'wrench.topci'"):
        check_parameter_files(NODE, ["wrench.topci"], [file])


def test_parameters_of_every_ros_node_and_our_settings_are_no_matter():
    given = ["use_sim_time", "qos_overrides./tf.subscription.depth", "wrench.topic"]
    assert check_parameter_files(NODE, given, []) == []


def test_a_node_without_arguments_has_no_files():
    assert read_parameter_files([]) == []
