# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The node as a managed one: what each state of its life cycle does, and what it does not."""


import pytest
from geometry_msgs.msg import InertiaStamped, WrenchStamped
from lifecycle_msgs.msg import State, Transition
from lifecycle_msgs.srv import ChangeState, GetState
from node_client import (
    NODE,
    PARAMETERS,
    current_findings,
    get_estimate,
    get_parameters,
    set_parameter,
    wait_for_valid,
)
from ros_process import Robot, Stage, wait_until
from std_srvs.srv import Trigger
from visualization_msgs.msg import MarkerArray

from inertial_id_ros.msg import InertialParameters

WAITING = "waiting for a lifecycle manager"
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


def wait_for_node(stage):
    """The graph of its own process must know the node."""
    graph = stage.client.node
    stage.client.spin_until(lambda: (NODE[1:], "/") in graph.get_node_names_and_namespaces())


def publishers(stage):
    """Topics of its own that the node publishes; services may be found before the node is."""
    wait_for_node(stage)
    topics = stage.client.node.get_publisher_names_and_types_by_node(NODE[1:], "/")
    return {name for name, _ in topics if name.startswith(NODE) and "transition" not in name
            and "_action" not in name}


def start(stage, **settings):
    return stage.start_node(lifecycle__autostart=False, **settings)


def test_each_state_has_what_it_needs_and_no_more():
    with Stage() as stage:
        node = start(stage)
        node.wait_for_text(WAITING)
        assert state(stage) == State.PRIMARY_STATE_UNCONFIGURED
        assert not publishers(stage) and not subscribed(stage)
        for _ in range(2):
            assert change(stage, CONFIGURE) and state(stage) == State.PRIMARY_STATE_INACTIVE
            stage.client.spin_until(lambda: f"{NODE}/inertial_parameters" in publishers(stage))
            assert not subscribed(stage)
            assert change(stage, ACTIVATE) and state(stage) == State.PRIMARY_STATE_ACTIVE
            stage.client.spin_until(lambda: subscribed(stage))
            assert change(stage, DEACTIVATE) and state(stage) == State.PRIMARY_STATE_INACTIVE
            stage.client.spin_until(lambda: not subscribed(stage))
            assert change(stage, CLEAN_UP) and state(stage) == State.PRIMARY_STATE_UNCONFIGURED
            stage.client.spin_until(lambda: not publishers(stage))
        assert change(stage, Transition.TRANSITION_UNCONFIGURED_SHUTDOWN)
        assert state(stage) == State.PRIMARY_STATE_FINALIZED
        status, text = node.stop()
        assert status == 0 and "Traceback" not in text and "ERROR" not in text, text


def test_an_inactive_node_is_silent_and_shows_no_old_estimate():
    with Stage() as stage:
        node = start(stage)
        assert change(stage, CONFIGURE)
        robot = Robot(stage.client)
        refused = stage.client.call(Trigger, f"{NODE}/tare")
        assert not refused.success and "the node is inactive; activate it" in refused.message
        answer = get_estimate(stage)
        assert not answer.success and answer.message == "the node is inactive"
        assert answer.parameters.status == "the node is inactive"
        assert change(stage, ACTIVATE)
        robot.publish_description()
        robot.play(4.0)
        first = wait_for_valid(stage)
        got = stage.client.listen(InertialParameters, PARAMETERS)
        others = [stage.client.listen(kind, f"{NODE}/{name}", 10) for kind, name in (
            (InertiaStamped, "inertia"), (MarkerArray, "markers"),
            (WrenchStamped, "wrench_compensated"))]
        assert change(stage, DEACTIVATE)
        stage.client.spin_until(lambda: got and not got[-1].valid)
        assert "the node is inactive" in got[-1].status
        wait_until(lambda: not get_parameters(stage, "payload.valid")[0].bool_value)
        answer = get_estimate(stage)
        assert not answer.success and not answer.parameters.valid
        current_findings(stage)  # what was on its way has arrived
        counts = [len(x) for x in (got, *others)]
        assert set_parameter(stage, "estimator.method", "lmi").successful
        for _ in range(2):  # diagnostics go on, and show that time has passed
            current_findings(stage)
        assert [len(x) for x in (got, *others)] == counts and not got[-1].valid
        assert change(stage, ACTIVATE)
        stage.client.spin_until(lambda: len(got) > counts[0])
        assert "inactive" not in got[-1].status
        assert not any(m.valid for m in got[counts[0]:])  # all of it was forgotten
        robot.play(4.0)
        again = wait_for_valid(stage)
        assert again.method == "lmi"
        robot.play(1.0)
        stage.client.spin_until(lambda: len(others[2]) > counts[3])  # compensated wrenches, too
        assert again.inertia.m == pytest.approx(first.inertia.m, rel=0.03)
        status, text = node.stop()
        assert status == 0 and "Traceback" not in text
