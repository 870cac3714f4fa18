# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Tool, state and files of the node as another process sees them."""

import json

import numpy as np
import pytest
from node_client import wait_for_finding
from ros_process import PATIENCE, Robot, Stage

from inertial_id_ros.msg import InertialParameters
from inertial_id_ros.settings import Settings
from inertial_id_ros.srv import Save, SetTool

NODE = "/inertial_id_node"
PARAMETERS = f"{NODE}/inertial_parameters"
STATE = "inertial_id_node.state.json"


def messages(stage):
    return stage.client.listen(InertialParameters, PARAMETERS)


def wait_for(stage, condition, timeout=PATIENCE):
    """The newest message, of those that arrive from now on, that fulfils a condition."""
    got = messages(stage)
    before = len(got)
    stage.client.spin_until(lambda: any(condition(m) for m in got[before:]), timeout)
    return next(m for m in reversed(got) if condition(m))


STORE = SetTool.Request.STORE


def set_tool(stage, **fields):
    return stage.client.call(SetTool, f"{NODE}/set_tool", SetTool.Request(**fields))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("state")


@pytest.fixture(scope="module")
def lived(folder):
    """A node that stored its payload as the tool in a file, was saved, and is gone."""
    with Stage() as stage:
        node = stage.start_node(state__directory=str(folder))
        robot = Robot(stage.client)
        robot.publish_description()
        early = set_tool(stage, action=STORE)
        robot.play(6.0)
        last = wait_for(stage, lambda m: m.valid)
        stored = set_tool(stage, action=STORE,
                          name="gripper.json")
        robot.play(6.0)
        empty = wait_for(stage, lambda m: m.valid and m.tool_apart)
        answers = {
            "early": early, "stored": stored, "last": last, "empty": empty,
            "outside": set_tool(stage, action=SetTool.Request.LOAD, name="../gripper.json"),
            "missing": set_tool(stage, action=SetTool.Request.LOAD, name="missing.json"),
            "nonsense": set_tool(stage, action=9), "unnamed": set_tool(stage),
            "cleared": set_tool(stage, action=SetTool.Request.CLEAR)}
        robot.play(6.0)
        answers["all"] = wait_for(stage, lambda m: m.valid and not m.stale)
        answers["saved"] = stage.client.call(Save, f"{NODE}/save", Save.Request(
            name="gripper.json"))
        answers["loaded"] = set_tool(stage, action=SetTool.Request.LOAD, name="gripper.json")
        status, text = node.stop()
        assert status == 0 and "Traceback" not in text
    return answers


def test_without_an_estimate_there_is_nothing_to_store(lived):
    assert not lived["early"].success and "no estimate to store" in lived["early"].message


def test_storing_says_what_and_writes_the_file(lived, folder):
    assert lived["stored"].success
    assert f"tool of {lived['last'].inertia.m:.2f}" in lived["stored"].message[:17 + 6]
    tool = json.loads((folder / "tools" / "gripper.json").read_text())["content"]
    assert tool["phi"][0] == pytest.approx(lived["last"].inertia.m, rel=1e-2)
    assert np.shape(tool["covariance"]) == (10, 10)


def test_with_the_tool_alone_nothing_is_carried(lived):
    assert lived["empty"].inertia.m < 0.05 * lived["last"].inertia.m
    assert "nothing is carried beside the tool" in lived["empty"].status


@pytest.mark.parametrize(("answer", "said"), [
    ("outside", "plain file name"), ("missing", "there are: gripper.json"),
    ("nonsense", "action is 9"), ("unnamed", "action is 0")])
def test_bad_requests_are_refused_in_words(lived, answer, said):
    assert not lived[answer].success and said in lived[answer].message


def test_clearing_gives_all_there_is_again(lived):
    assert lived["cleared"].success and not lived["all"].tool_apart
    assert lived["all"].inertia.m == pytest.approx(lived["last"].inertia.m, rel=0.02)


def test_the_next_run_begins_with_the_tool(lived, folder):
    with Stage() as stage:
        node = stage.start_node(state__directory=str(folder))
        robot = Robot(stage.client)
        robot.publish_description()
        robot.play(4.0)
        assert wait_for(stage, lambda m: m.valid).tool_apart
        response = set_tool(stage, action=SetTool.Request.CLEAR)
        assert response.success
        node.stop()


def test_a_home_that_cannot_be_written_is_told_and_does_not_stop_the_node(monkeypatch, tmp_path):
    """The folder is the default's; one that the user names must be of use (test_saving)."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("HOME", str(tmp_path / "file"))
    monkeypatch.setenv("ROS_LOG_DIR", str(tmp_path))
    with Stage() as stage:
        stage.start_node(state__directory=Settings().state.directory)
        wait_for_finding(stage, "file_failed")
        cleared = set_tool(stage, action=SetTool.Request.CLEAR)
        assert cleared.success and "the next run will not know" in cleared.message
