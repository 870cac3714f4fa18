# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The node as a process: how it bears resets, bad messages, clocks and signals, and what it does in
each state of its life cycle."""

import signal
import time
from functools import partial

import node_client
import numpy as np
import pytest
import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import InertiaStamped, WrenchStamped
from lifecycle_msgs.msg import State, Transition
from lifecycle_msgs.srv import ChangeState, GetState
from node_client import NODE, PARAMETERS, current_findings, hears, wait_for_valid
from ros_process import LATCHED, Robot, Stage, play_until, queued, wait_until, wrench_message
from rosgraph_msgs.msg import Clock
from std_msgs.msg import String
from std_srvs.srv import Trigger
from visualization_msgs.msg import MarkerArray

from inertial_id_ros.msg import InertialParameters

BIAS = np.array([3.0, -2.0, 1.0, 0.1, 0.05, -0.02])


@pytest.fixture(scope="module")
def running():
    """A node, and the robot whose samples it reads."""
    with Stage() as stage:
        stage.node = stage.start_node(wrench__sensor="ideal")
        stage.robot = Robot(stage.client, bias=tuple(BIAS))
        stage.got = stage.client.listen(InertialParameters, PARAMETERS, 100)
        yield stage


@pytest.fixture
def stage(running):
    """The same, which has forgotten all."""
    assert running.client.call(Trigger, f"{NODE}/reset").success
    running.client.spin_until(lambda: running.got and not running.got[-1].valid)
    running.got.clear()
    return running


def test_tare_takes_the_reading_at_rest_as_the_bias(stage):
    early = stage.client.call(Trigger, f"{NODE}/tare")
    assert not early.success and early.message
    stage.robot.publish_description()
    stage.robot.play(1.5, wrench=BIAS, rest=True)
    response = stage.client.call(Trigger, f"{NODE}/tare")
    assert response.success and "3.000" in response.message
    play_until(stage.robot.play, lambda: hears(stage, lambda: stage.got and stage.got[-1].valid))
    stage.robot.play(2.0)
    message = wait_for_valid(stage, 2)
    f, t = message.bias.force, message.bias.torque
    np.testing.assert_allclose([f.x, f.y, f.z], BIAS[:3], atol=0.1)
    np.testing.assert_allclose([t.x, t.y, t.z], BIAS[3:], atol=0.01)
    assert message.inertia.m == pytest.approx(stage.robot.cobot.carried.mass, rel=0.02)
    dropped, none = (stage.client.call(Trigger, f"{NODE}/untare") for _ in range(2))
    assert dropped.success and none.success and dropped.message != none.message


def test_bad_messages_are_named_and_nothing_wrong_is_published(stage):
    stage.client.publish("/robot_description", String(data="<robot name='x'><link"), LATCHED)
    play_until(partial(stage.robot.play, wrench=np.full(6, np.nan)), lambda: (
        {"robot_description_invalid", "samples_invalid.wrench"} <= current_findings(stage).keys()))
    assert stage.got and all(not m.valid and node_client.all_numbers_nan(m) for m in stage.got)
    assert stage.node.text.count("not usable") <= 10  # not a line for each sample
    stage.robot.publish_description()
    stage.robot.play(4.0)
    assert node_client.is_physical(wait_for_valid(stage).inertia)
    node_client.wait_until_cleared(stage, "robot_description_invalid")


def test_two_publishers_of_the_wrench_are_named_and_nothing_wrong_is_published(stage):
    """Nobody has to reset the node afterwards."""
    robot, got = stage.robot, stage.got
    other = rclpy.create_node("other_sensor", context=stage.client.context)
    publisher = other.create_publisher(WrenchStamped, "/wrench", 100)
    wait_until(lambda: publisher.get_subscription_count() > 0)
    robot.play(4.0, each=lambda stamp: publisher.publish(
        wrench_message(stamp + 1_000_000, "ft_sensor", np.zeros(6))))
    node_client.wait_for_finding(stage, "streams_mixed.wrench")
    assert not any(m.valid for m in got)
    other.destroy_node()
    truth = robot.cobot.carried.mass
    play_until(robot.play, lambda: hears(
        stage, lambda: got[-1].valid and abs(got[-1].inertia.m - truth) < 0.02))
    assert all(abs(m.inertia.m - truth) < 0.05 * truth for m in got if m.valid)


def test_signals_end_the_running_node_cleanly(stage):
    node = stage.node
    stage.robot.play(1.5)
    node.process.send_signal(signal.SIGINT)
    time.sleep(0.02)
    node.process.send_signal(signal.SIGINT)  # launch sends two
    started, waits = time.monotonic(), [queued(node.process.pid)]

    def has_ended():
        waits.append(queued(node.process.pid))
        return node.process.poll() is not None

    wait_until(has_ended)
    took = time.monotonic() - started
    status, text = node.finish()
    assert status == 0 and "Traceback" not in text, text
    assert took < 1.0 + max(waits) - waits[0]


def test_stamps_of_a_simulation_decide_and_a_clock_of_a_kilohertz_does_no_harm():
    with Stage() as stage:
        stage.start_node(use_sim_time=True)
        got = stage.client.listen(InertialParameters, PARAMETERS, 100)
        robot = Robot(stage.client, start_ns=500_000_000_000)
        robot.publish_description()

        def tick(stamp):
            for k in range(4):  # in each sample's 4 ms
                clock = Clock()
                clock.clock.sec, clock.clock.nanosec = divmod(stamp + k * 1_000_000, 10**9)
                stage.client.publish("/clock", clock, 10)

        play_until(partial(robot.play, each=tick, speed=1.0),
                   lambda: hears(stage, lambda: got and got[-1].valid and not got[-1].stale))
        assert 500 <= got[-1].header.stamp.sec < 600
        again = Robot(stage.client, start_ns=100_000_000_000)  # the simulation is started anew
        play_until(partial(again.play, each=tick, speed=1.0), lambda: hears(
            stage, lambda: got[-1].valid and got[-1].header.stamp.sec < 200))
        diagnostics = stage.client.listen(DiagnosticArray, "/diagnostics", 10)
        stage.client.spin_until(lambda: diagnostics)
        assert diagnostics[-1].header.stamp.sec < 200  # by the clock of the simulation


CONFIGURE, CLEAN_UP = Transition.TRANSITION_CONFIGURE, Transition.TRANSITION_CLEANUP
ACTIVATE, DEACTIVATE = Transition.TRANSITION_ACTIVATE, Transition.TRANSITION_DEACTIVATE


def change(stage, transition):
    request = ChangeState.Request()
    request.transition.id = transition
    return stage.client.call(ChangeState, f"{NODE}/change_state", request).success


def state(stage):
    return stage.client.call(GetState, f"{NODE}/get_state").current_state.id


def subscribed(stage):
    """Whether the node listens to the wrench."""
    return stage.client.node.count_subscribers("/wrench") > 0


def publishers(stage):
    """Topics of its own that the node publishes; services may be found before the node is."""
    graph = stage.client.node
    stage.client.spin_until(lambda: (NODE[1:], "/") in graph.get_node_names_and_namespaces())
    topics = graph.get_publisher_names_and_types_by_node(NODE[1:], "/")
    return {name for name, _ in topics if name.startswith(NODE) and "transition" not in name
            and "_action" not in name}


@pytest.fixture(scope="module")
def managed():
    """A node that a lifecycle manager leads."""
    with Stage() as stage:
        stage.node = stage.start_node(lifecycle__autostart=False)
        yield stage


def test_each_state_has_what_it_needs_and_no_more(managed):
    managed.node.wait_for_text("waiting for a lifecycle manager")
    assert state(managed) == State.PRIMARY_STATE_UNCONFIGURED
    assert not publishers(managed) and not subscribed(managed)
    for _ in range(2):
        assert change(managed, CONFIGURE) and state(managed) == State.PRIMARY_STATE_INACTIVE
        managed.client.spin_until(lambda: f"{NODE}/inertial_parameters" in publishers(managed))
        assert not subscribed(managed)
        assert change(managed, ACTIVATE) and state(managed) == State.PRIMARY_STATE_ACTIVE
        managed.client.spin_until(lambda: subscribed(managed))
        assert change(managed, DEACTIVATE) and state(managed) == State.PRIMARY_STATE_INACTIVE
        managed.client.spin_until(lambda: not subscribed(managed))
        assert change(managed, CLEAN_UP) and state(managed) == State.PRIMARY_STATE_UNCONFIGURED
        managed.client.spin_until(lambda: not publishers(managed))


def test_an_inactive_node_is_silent_and_shows_no_old_estimate(managed):
    client, robot = managed.client, Robot(managed.client)
    assert change(managed, CONFIGURE)
    refused = client.call(Trigger, f"{NODE}/tare")
    assert not refused.success and "inactive" in refused.message
    answer = node_client.get_estimate(managed)
    assert not answer.success and "inactive" in answer.message
    assert answer.parameters.status == answer.message
    assert change(managed, ACTIVATE)
    robot.publish_description()
    robot.play(4.0)
    first = wait_for_valid(managed)
    got = client.listen(InertialParameters, PARAMETERS)
    others = [client.listen(kind, f"{NODE}/{name}", 10) for kind, name in (
        (InertiaStamped, "inertia"), (MarkerArray, "markers"),
        (WrenchStamped, "wrench_compensated"))]
    assert change(managed, DEACTIVATE)
    client.spin_until(lambda: got and not got[-1].valid)
    assert "the node is inactive" in got[-1].status
    wait_until(lambda: not node_client.get_parameters(managed, "payload.valid")[0].bool_value)
    answer = node_client.get_estimate(managed)
    assert not answer.success and not answer.parameters.valid
    current_findings(managed)  # what was on its way has arrived
    counts = [len(x) for x in (got, *others)]
    node_client.use(managed, "estimator.method", "lmi")
    for _ in range(2):  # diagnostics go on, and show that time has passed
        current_findings(managed)
    assert [len(x) for x in (got, *others)] == counts and not got[-1].valid
    assert change(managed, ACTIVATE)
    client.spin_until(lambda: len(got) > counts[0])
    assert "inactive" not in got[-1].status
    assert not any(m.valid for m in got[counts[0]:])  # all of it was forgotten
    robot.play(4.0)
    again = wait_for_valid(managed)
    assert again.method == "lmi"
    play_until(robot.play, lambda: hears(managed, lambda: len(others[2]) > counts[3]))
    assert again.inertia.m == pytest.approx(first.inertia.m, rel=0.03)


def test_a_node_that_was_shut_down_ends_without_an_error(managed):
    assert change(managed, Transition.TRANSITION_ACTIVE_SHUTDOWN)
    assert state(managed) == State.PRIMARY_STATE_FINALIZED
    status, text = managed.node.stop()
    assert status == 0 and "Traceback" not in text and "ERROR" not in text, text
