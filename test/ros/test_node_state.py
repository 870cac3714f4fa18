# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Tool, state and files of the node, and its action, as another process sees them."""

from functools import partial

import pytest
from action_msgs.msg import GoalStatus
from node_client import NODE, PARAMETERS, hears, wait_for_valid, wait_until_all_is_used
from rclpy.action import ActionClient
from ros_process import Robot, Stage, play_until

from inertial_id_ros.action import Identify
from inertial_id_ros.estimate import NOTHING_CARRIED
from inertial_id_ros.msg import InertialParameters
from inertial_id_ros.srv import Save, SetTool

STORE = SetTool.Request.STORE


def wait_for(stage, condition):
    """The newest message, of those that arrive from now on, that fulfils a condition."""
    got = stage.client.listen(InertialParameters, PARAMETERS)
    before = len(got)
    stage.client.spin_until(lambda: any(condition(m) for m in got[before:]))
    return next(m for m in reversed(got) if condition(m))


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
        stored = set_tool(stage, action=STORE, name="gripper.json")
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


def test_with_the_tool_alone_nothing_is_carried(lived):
    assert lived["empty"].inertia.m < 0.05 * lived["last"].inertia.m
    assert NOTHING_CARRIED in lived["empty"].status


@pytest.mark.parametrize(("answer", "said"), [
    ("outside", "../gripper.json"), ("missing", "gripper.json"), ("nonsense", "9"),
    ("unnamed", "0"), ("early", "estimate")])
def test_bad_requests_are_refused_with_what_is_wrong(lived, answer, said):
    assert not lived[answer].success and said in lived[answer].message


def test_clearing_gives_all_there_is_again(lived):
    assert lived["cleared"].success and not lived["all"].tool_apart
    assert lived["all"].inertia.m == pytest.approx(lived["last"].inertia.m, rel=0.02)


class Goals:
    """An action client, and the robot whose samples it publishes meanwhile."""

    def __init__(self, stage):
        self.stage, self.client = stage, stage.client
        self.robot = Robot(stage.client)
        self.actions = ActionClient(stage.client.node, Identify, f"{NODE}/identify")
        stage.client.spin_until(self.actions.server_is_ready)
        self.feedback = []

    def send(self, **fields):
        """The handle of a goal."""
        feedback = self.feedback = []  # that of the goal before may come late
        future = self.actions.send_goal_async(
            Identify.Goal(**fields), feedback_callback=lambda m: feedback.append(m.feedback))
        self.client.spin_until(future.done)
        return future.result()

    def result(self, handle, rest=False):
        """Status and result of a goal, while the robot moves or rests."""
        future = handle.get_result_async()
        self.play_until(future.done, rest)
        return future.result().status, future.result().result

    def play_until(self, condition, rest=False):
        """Publish the robot's samples, and hear the node, until a condition holds."""
        play_until(partial(self.robot.play, rest=rest), lambda: hears(self.stage, condition))


@pytest.fixture(scope="module")
def goals(lived, folder):
    """The next run."""
    with Stage() as stage:
        stage.node = stage.start_node(state__directory=str(folder), wrench__sensor="ideal")
        yield Goals(stage)


def test_the_next_run_begins_with_the_tool(goals):
    goals.robot.publish_description()
    goals.robot.play(4.0)
    assert wait_for(goals.stage, lambda m: m.valid).tool_apart
    assert set_tool(goals.stage, action=SetTool.Request.CLEAR).success


def test_a_goal_succeeds_when_the_wanted_accuracy_is_reached(goals):
    goals.robot.play(3.0)
    wait_for_valid(goals.stage)
    status, result = goals.result(goals.send(mass_accuracy=0.02, com_accuracy=0.01))
    assert status == GoalStatus.STATUS_SUCCEEDED and result.success, result.message
    body = result.parameters.inertia
    assert body.m == pytest.approx(goals.robot.cobot.carried.mass, abs=0.02)
    said, last = goals.feedback[-1].summary, goals.feedback[-1]
    assert 1.96 * said.sigma[0] <= 0.02 and 1.96 * max(said.sigma[1:4]) <= 0.01
    assert not last.missing and said.values[0] == body.m and said.verdicts[0] == "identified"
    assert goals.feedback[0].missing  # the data before did not count
    assert not result.parameters.stale


def test_at_the_timeout_the_goal_is_aborted_with_what_is_missing(goals):
    wait_until_all_is_used(goals.stage)
    status, result = goals.result(goals.send(timeout=1.5), rest=True)
    assert status == GoalStatus.STATUS_ABORTED and not result.success
    assert "1.5 s" in result.message and not result.parameters.valid


def test_one_goal_runs_at_a_time_and_can_be_cancelled(goals):
    handle = goals.send(keep_data=True, inertia_accuracy=1e-6)
    goals.play_until(lambda: any(f.summary.valid for f in goals.feedback))
    assert not goals.send().accepted
    goals.client.spin_until(handle.cancel_goal_async().done)
    status, result = goals.result(handle)
    assert status == GoalStatus.STATUS_CANCELED and not result.success


@pytest.mark.parametrize(("fields", "said"), [
    ({"timeout": -3.0}, "timeout is -3; allowed"),
    ({"mass_accuracy": float("nan")}, "mass_accuracy is nan")])
def test_a_goal_that_cannot_be_reached_is_rejected_and_the_log_says_why(goals, fields, said):
    assert not goals.send(**fields).accepted
    goals.stage.node.wait_for_text(said)


def test_a_goal_is_aborted_when_the_node_stops(goals):
    handle = goals.send(inertia_accuracy=1e-6)
    future = handle.get_result_async()
    goals.robot.play(0.5)
    goals.stage.node.process.terminate()
    goals.client.spin_until(future.done)
    assert future.result().status == GoalStatus.STATUS_ABORTED
    status, text = goals.stage.node.finish()
    assert status == 0 and "Traceback" not in text
