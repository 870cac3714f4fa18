# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The identify action as its client sees it."""

import itertools
import math

import numpy as np
import pytest

pytest.importorskip("rclpy")
pytest.importorskip("tf2_msgs.msg")
pytest.importorskip("inertial_id_ros.action")
from action_msgs.msg import GoalStatus  # noqa: E402
from node_client import (  # noqa: E402
    NODE,
    PARAMETERS,
    com_of,
    tensor_of,
    wait_for_finding,
    wait_for_valid,
    wait_until_all_is_used,
    wait_until_cleared,
)
from rclpy.action import ActionClient  # noqa: E402
from ros_process import Robot, Stage, queued  # noqa: E402
from shape_msgs.msg import SolidPrimitive  # noqa: E402

from inertial_id_ros.action import Identify  # noqa: E402
from inertial_id_ros.msg import InertialParameters, Shape  # noqa: E402
from inertial_id_ros.srv import SetShape  # noqa: E402

BOX = Shape(primitive=SolidPrimitive(type=SolidPrimitive.BOX, dimensions=[0.9, 0.3, 0.3]),
            bounding=True)


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

    def result(self, handle, rest=False, seconds=30.0):
        """Status and result of a goal, while the robot moves or rests."""
        future = handle.get_result_async()
        self.play(future.done, rest, seconds)
        return future.result().status, future.result().result

    def play(self, until=None, rest=False, seconds=30.0):
        """Publish the robot's samples for so long, or until a condition holds that must hold."""
        for _ in range(round(seconds / 0.25)):
            if until is not None and until():
                return
            self.robot.play(0.25, rest=rest, speed=3.0,
                            each=lambda _: self.client.executor.spin_once(timeout_sec=0.0))
        if until is not None:
            self.client.spin_until(until)


@pytest.fixture(scope="module")
def goals():
    with Stage() as stage:
        stage.node = stage.start_node(wrench__gain_error=0.0, wrench__cross_talk=0.0,
                                      estimator__rate=8.0, alignment__orientation_sd=0.0,
                                      alignment__position_sd=0.0)
        goals = Goals(stage)
        goals.robot.publish_description()
        yield goals


def test_each_rejected_goal_is_logged_with_its_own_reason(goals):
    """Although diagnostics hold but the last one, and findings are logged once in 10 s. First, as
    more than ten in ten seconds are not logged."""
    for timeout in (-3.0, -4.0):
        assert not goals.send(timeout=timeout).accepted
    for timeout in (-3.0, -4.0):
        goals.stage.node.wait_for_text(f"rejected: timeout is {timeout:g} s; allowed")


def test_a_goal_succeeds_when_the_wanted_accuracy_is_reached(goals):
    goals.play(seconds=3.0)
    before = wait_for_valid(goals.stage).samples
    status, result = goals.result(goals.send(mass_accuracy=0.02, com_accuracy=0.002))
    assert status == GoalStatus.STATUS_SUCCEEDED and result.success, result.message
    body = result.parameters.inertia
    truth = goals.robot.cobot.payload
    assert body.m == pytest.approx(truth.mass, abs=0.02)
    last = goals.feedback[-1]
    said = last.summary
    assert 2.0 * said.sigma[0] <= 0.02 and 2.0 * max(said.sigma[1:4]) <= 0.002
    assert not last.missing and said.values[0] == body.m and said.values[3] == body.com.z
    assert list(said.names[:2]) == ["mass", "com.x"] and said.verdicts[0] == "identified"
    assert f"mass {body.m:.3f} ±" in result.message
    np.testing.assert_allclose(
        said.sigma, np.sqrt(result.parameters.covariance.reshape(10, 10).diagonal()))
    assert goals.feedback[0].missing  # the data before did not count
    assert result.parameters.samples < before + 250 * 3
    assert not result.parameters.stale


def test_inertia_is_waited_for_where_it_is_asked(goals):
    status, result = goals.result(goals.send(inertia_accuracy=0.2))
    assert status == GoalStatus.STATUS_SUCCEEDED
    m = result.parameters
    width = 2.0 * np.sqrt(m.covariance.reshape(10, 10).diagonal()[4:])
    assert width.max() <= 0.2 * np.trace(tensor_of(m.inertia)) / 3.0 and min(m.verdict) > 0
    assert any("turn faster" in f.missing for f in goals.feedback)
    waiting = [f for f in goals.feedback if f.missing]
    assert all(later.elapsed - sooner.elapsed >= 1.0 and (later.summary.text, later.missing)
               != (sooner.summary.text, sooner.missing)
               for sooner, later in itertools.pairwise(waiting))


def test_at_the_timeout_the_goal_is_aborted_with_what_is_missing(goals):
    wait_until_all_is_used(goals.stage)
    goal = goals.send(timeout=4.0)
    status, result = goals.result(goal, rest=True, seconds=24.0)
    assert status == GoalStatus.STATUS_ABORTED and not result.success
    assert result.message.startswith("timeout of 4 s: ") and "tilt the sensor" in result.message
    said = ("no wrench received", "data", "tilt the sensor")  # one after the other
    assert all(any(text in f.missing for text in said) for f in goals.feedback)


def is_known(message):
    """Whether an estimate is new, and tells mass and centre of mass."""
    return (message.valid and not message.stale
            and min(message.verdict[:4]) > InertialParameters.UNOBSERVED)


def test_an_accuracy_that_is_not_reached_is_named_with_both_numbers(goals):
    got = goals.client.listen(InertialParameters, PARAMETERS)
    goals.play(lambda: bool(got) and got[-1].valid and not got[-1].stale)
    for _ in range(10):
        status, result = goals.result(goals.send(com_accuracy=1e-7, timeout=1.0, keep_data=True))
        # Where this process or the node had to wait for its turn, the estimate is held, or samples
        # were lost.
        if is_known(result.parameters):
            break
        goals.play(lambda: is_known(got[-1]))
    assert status == GoalStatus.STATUS_ABORTED
    assert "where 0.0001 mm is wanted" in result.message
    assert result.parameters.valid and not result.success


def test_a_cancelled_goal_ends_at_once_with_what_there_is(goals):
    goal = goals.send(com_accuracy=1e-7)
    goals.play(lambda: any(f.summary.valid for f in goals.feedback))
    cancelled = goal.cancel_goal_async()
    goals.client.spin_until(cancelled.done)
    assert len(cancelled.result().goals_canceling) == 1
    status, result = goals.result(goal)
    assert status == GoalStatus.STATUS_CANCELED and not result.success
    assert "cancelled after" in result.message and result.parameters.valid
    again = goal.cancel_goal_async()
    goals.client.spin_until(again.done)
    assert not again.result().goals_canceling


def test_without_samples_a_goal_does_not_succeed(goals):
    wait_until_all_is_used(goals.stage)
    status, result = goals.result(goals.send(keep_data=True, timeout=1.0), seconds=0.0)
    assert status == GoalStatus.STATUS_ABORTED and "held" in result.message


def test_data_so_far_count_where_the_goal_keeps_them(goals):
    goals.play(seconds=4.0)
    goal = goals.send(keep_data=True, inertia_accuracy=0.2)
    status, _ = goals.result(goal)
    assert status == GoalStatus.STATUS_SUCCEEDED
    assert goals.feedback[0].summary.valid


@pytest.mark.parametrize(("fields", "said"), [
    ({"method": "guess"}, "estimator.method is 'guess'; allowed: density"),
    ({"method": "entropic"}, "needs the shape"),
    ({"mass_accuracy": -1.0}, "mass_accuracy is -1; it must be finite and not negative"),
    ({"com_accuracy": math.nan}, "com_accuracy is nan"),
    ({"inertia_accuracy": math.inf}, "inertia_accuracy is inf"),
    ({"timeout": -2.0}, "timeout is -2 s; allowed: 0 to 3600 s"),
    ({"timeout": 1e9}, "timeout is 1e+09 s"),
    ({"shape": Shape(primitive=SolidPrimitive(type=1, dimensions=[1.0, 1.0, -1.0]))},
     "positive sizes"),
    ({"shape": Shape(mesh_resource="file:///etc/passwd")}, "resources.folders"),
    ({"shape": Shape(primitive=BOX.primitive, frame_id="nowhere")}, "nowhere"),
])
def test_a_bad_goal_is_rejected_and_diagnostics_say_why(goals, fields, said):
    assert not goals.send(**fields).accepted
    wait_for_finding(goals.stage, "goal.rejected", said)


def test_one_goal_at_a_time(goals):
    first = goals.send(com_accuracy=1e-7, timeout=20.0)
    assert not goals.send().accepted
    said = wait_for_finding(goals.stage, "goal.rejected", "another goal runs")
    assert "at most 20 s" in said["goal"]
    goals.client.spin_until(first.cancel_goal_async().done)
    assert goals.result(first)[0] == GoalStatus.STATUS_CANCELED
    second = goals.send(timeout=0.5)
    assert second.accepted
    wait_until_cleared(goals.stage, "goal.rejected")
    goals.result(second)


def test_method_and_shape_hold_for_the_goal_alone(goals):
    own = SetShape.Request(primitive=SolidPrimitive(type=2, dimensions=[0.6]), bounding=True)
    assert goals.client.call(SetShape, f"{NODE}/set_shape", own).success
    goal = goals.send(method="entropic", shape=BOX, com_accuracy=1e-7)
    got = goals.client.listen(InertialParameters, PARAMETERS)
    goals.play(lambda: any(f.summary.valid for f in goals.feedback)
               and got[-1].method == "entropic" and got[-1].valid)
    refused = goals.client.call(SetShape, f"{NODE}/set_shape", own)
    assert not refused.success and "holds its own shape" in refused.message
    goals.client.spin_until(goal.cancel_goal_async().done)
    goals.result(goal)
    got = goals.client.listen(InertialParameters, PARAMETERS)
    count = len(got) + 3
    goals.play(lambda: len(got) >= count)
    assert got[-1].method == "density" and got[-1].valid
    assert goals.client.call(SetShape, f"{NODE}/set_shape", SetShape.Request()).success


def test_goals_in_a_tight_loop_neither_starve_the_estimate_nor_grow_memory(goals):
    def resident():
        lines = open(f"/proc/{goals.stage.node.process.pid}/status").read().splitlines()
        return int(next(x for x in lines if x.startswith("VmRSS")).split()[1])  # kB

    goals.robot.play(24.0)  # the buffers are as large as they become, whatever came before
    first = goals.send(com_accuracy=1e-7, timeout=100.0)
    requests = [Identify.Goal(), Identify.Goal(method="guess"), Identify.Goal(shape=BOX)]
    sent, sizes = 0, []
    got = goals.client.listen(InertialParameters, PARAMETERS)

    def send(_):
        nonlocal sent
        goals.actions.send_goal_async(requests[sent % 3])
        for _ in range(2):
            goals.client.executor.spin_once(timeout_sec=0.0)
        sent += 1

    goals.robot.play(4.0, speed=2.0, each=send)
    before, waits = len(got), queued(goals.stage.node.process.pid)
    for _ in range(6):
        goals.robot.play(2.0, speed=2.0, each=send)
        sizes.append(resident())
    valid = [m for m in got[before:] if m.valid]
    busy = queued(goals.stage.node.process.pid) - waits
    print(f"{sent} goals sent, {len(valid)} estimates in 6 s, resident {sizes} kB")
    # Half of those without such a client, in the time that the machine had for them.
    assert len(valid) >= max(24 - 4.0 * busy, 3)
    # The allocator takes megabytes at a time: only the median of the growths tells of a leak.
    assert np.median(np.diff(sizes)) / (sent / 8) < 1.0  # kB a goal
    goals.client.spin_until(first.cancel_goal_async().done)
    assert goals.result(first)[0] == GoalStatus.STATUS_CANCELED


def test_a_node_that_stops_tells_the_client_of_its_goal():
    with Stage() as stage:
        node = stage.start_node()
        goals = Goals(stage)
        future = goals.send(timeout=100.0).get_result_async()
        goals.client.spin_until(lambda: goals.feedback)
        node.process.send_signal(2)
        goals.client.spin_until(future.done)
        assert future.result().status == GoalStatus.STATUS_ABORTED
        assert future.result().result.message == "the node stops"
        status, text = node.finish()
        assert status == 0 and "Traceback" not in text, text
    assert com_of(future.result().result.parameters.inertia).shape == (3,)
