# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Execution of a motion: its table of states, and what stops it, with a stand-in controller."""

from __future__ import annotations

import itertools
import sys
import threading
import time

import numpy as np
import pytest

pytest.importorskip("rclpy")
pytest.importorskip("control_msgs.action")
from ros_process import Client, own_domain  # noqa: E402
from stand_in_trajectory_controller import (  # noqa: E402
    ACTION,
    JOINT_STATES,
    SlowController,
    StandInController,
)

from inertial_id_ros.apps.excitation.motions import PlannedMotion  # noqa: E402
from inertial_id_ros.ros import motion_execution  # noqa: E402
from inertial_id_ros.ros.motion_execution import (  # noqa: E402
    ENDS,
    TRANSITIONS,
    Event,
    MotionExecution,
    State,
)

NAMES = ("shoulder", "elbow", "wrist")
DURATION, LENGTH = 1.2, 0.6  # s, rad
SILENCE = 0.4  # s, for a machine that is busy
# State: what leads out of it. Everything else changes nothing.
TABLE = """
RESTING: ASKED ASKING, FORBIDDEN REFUSED, STOP REFUSED
ASKING: CONFIRMED SENDING, DECLINED REFUSED, FORBIDDEN REFUSED, STOP REFUSED, NO_ANSWER REFUSED
SENDING: ACCEPTED MOVING, REJECTED REFUSED, STOP WITHDRAWING, NO_ANSWER WITHDRAWING
MOVING: SUCCEEDED DONE, ENDED STOPPED, STOP STOPPING, NO_ANSWER STOPPING
WITHDRAWING: ACCEPTED STOPPING, REJECTED STOPPED, NO_ANSWER UNKNOWN
STOPPING: SUCCEEDED STOPPED, ENDED STOPPED, NO_ANSWER UNKNOWN
UNKNOWN: ACCEPTED STOPPING, REJECTED STOPPED, SUCCEEDED STOPPED, ENDED STOPPED
DONE:
REFUSED:
STOPPED:
"""


def make_motion(length: float = LENGTH) -> PlannedMotion:
    """One joint turns, from rest to rest."""
    t = np.linspace(0.0, DURATION, 61)
    x = t / DURATION
    q, dq, ddq = (np.zeros((len(t), len(NAMES))) for _ in range(3))
    q[:, 2] = length * x**3 * (10.0 - 15.0 * x + 6.0 * x * x)
    dq[:, 2] = length / DURATION * 30.0 * (x * (1.0 - x)) ** 2
    ddq[:, 2] = length / DURATION**2 * 60.0 * x * (1.0 - x) * (1.0 - 2.0 * x)
    return PlannedMotion(NAMES, t, q, dq, ddq)


class Scene:
    """A controller and an execution in one process."""

    def __init__(self, slow: float = 0.0) -> None:
        domain = own_domain()
        self.client = Client(domain)
        self.controller = (SlowController(domain, NAMES, np.zeros(3), slow) if slow else
                           StandInController(self.client.node, NAMES, np.zeros(3)))
        self.fault, self.problems = "", ()
        self.executions: list[MotionExecution] = []

    def execution(self, allowed: bool = True, motion: PlannedMotion | None = None,
                  find_fault=None) -> MotionExecution:
        """An execution that hears joint states and sees the controller."""
        made = MotionExecution(
            self.client.node, motion or make_motion(), ACTION, JOINT_STATES, allowed,
            lambda *_: self.problems, find_fault or (lambda: self.fault), SILENCE)
        self.executions.append(made)
        self.client.spin_until(lambda: not made.find_problem())
        return made

    def moving(self, **options) -> MotionExecution:
        """An execution whose arm is well under way."""
        made = self.execution(**options)
        made.ask()
        made.confirm()
        self.client.spin_until(lambda: self.controller.positions[2] > 0.1 * LENGTH)
        assert made.state is State.MOVING
        return made

    def close(self) -> None:
        for execution in self.executions:
            execution.close()
        self.client.close()
        if isinstance(self.controller, SlowController):
            self.controller.close()

    def end(self, execution: MotionExecution) -> State:
        self.client.spin_until(execution.finished.is_set)
        return execution.state


@pytest.fixture
def scene():
    made = Scene()
    yield made
    made.close()


# The table


def expected_transitions() -> dict[tuple[State, Event], State]:
    found = {}
    for line in filter(None, TABLE.splitlines()):
        state, ways = line.split(":")
        for way in filter(None, ways.split(",")):
            event, target = way.split()
            found[State[state], Event[event]] = State[target]
    return found


def test_the_table_is_the_one_that_was_agreed_on():
    assert dict(TRANSITIONS) == expected_transitions()


def test_every_pair_of_state_and_event_does_what_the_table_says_and_nothing_else(scene):
    execution = scene.execution()
    sent, cancelled = [], []
    execution._send = lambda: sent.append(1)
    execution._handle = type("Handle", (), {
        "cancel_goal_async": lambda self: cancelled.append(1)})()
    for state, event in itertools.product(State, Event):
        execution.state = state
        sent.clear(), cancelled.clear(), execution.finished.clear()
        execution._happen(event, "reason")
        target = expected_transitions().get((state, event), state)
        changed = target is not state
        assert execution.state is target, (state, event)
        assert len(sent) == (changed and target is State.SENDING), (state, event)
        assert len(cancelled) == (changed and target is State.STOPPING), (state, event)
        assert execution.finished.is_set() == (changed and target in ENDS), (state, event)


def test_nothing_is_sent_on_any_way_without_a_confirmation():
    reached, waiting = {State.RESTING}, [State.RESTING]
    while waiting:
        here = waiting.pop()
        for (state, event), target in TRANSITIONS.items():
            if state is here and event is not Event.CONFIRMED and target not in reached:
                reached.add(target)
                waiting.append(target)
    assert reached == {State.RESTING, State.ASKING, State.REFUSED}


def test_each_state_but_an_end_can_be_stopped_and_cannot_last_for_ever():
    for state in set(State) - ENDS:
        stopping = state in (State.WITHDRAWING, State.STOPPING)
        assert stopping or (state, Event.STOP) in TRANSITIONS
        assert state is State.RESTING or ((state, Event.NO_ANSWER) in TRANSITIONS
                                          and state in motion_execution.DEADLINES)


# Before anything is sent


@pytest.mark.slow
def test_a_motion_that_is_confirmed_is_made_to_its_end(scene):
    execution = scene.execution()
    execution.ask()
    assert execution.state is State.ASKING and not scene.controller.goals
    execution.confirm()
    assert scene.end(execution) is State.DONE and execution.reason == ""
    assert scene.controller.positions[2] == pytest.approx(LENGTH)
    sent = scene.controller.goals[0]
    assert list(sent.joint_names) == list(NAMES)
    assert sent.points[-1].time_from_start.sec + 1e-9 * sent.points[-1].time_from_start.nanosec \
        == pytest.approx(DURATION)


def test_no_motion_without_the_setting(scene):
    execution = scene.execution(allowed=False)
    execution.ask()
    execution.confirm()
    assert execution.state is State.REFUSED and "not allowed" in execution.reason
    assert not scene.controller.goals


def test_no_motion_that_a_person_declines(scene):
    execution = scene.execution()
    execution.ask()
    execution.decline()
    execution.confirm()
    assert execution.state is State.REFUSED and execution.reason == "declined"
    assert not scene.controller.goals


def test_no_motion_in_which_the_check_finds_something_when_it_is_confirmed(scene):
    execution = scene.execution()
    execution.ask()
    scene.problems = ("elbow would touch the crate",)
    execution.confirm()
    assert execution.state is State.REFUSED and "crate" in execution.reason
    assert not scene.controller.goals


def test_no_motion_that_nobody_confirms_in_time(scene, monkeypatch):
    monkeypatch.setitem(motion_execution.DEADLINES, State.ASKING, 0.1)
    execution = scene.execution()
    execution.ask()
    assert scene.end(execution) is State.REFUSED
    assert "waits for confirmation" in execution.reason


def test_a_controller_that_rejects_the_goal_is_named(scene):
    scene.controller.accepts = False
    execution = scene.execution()
    execution.ask()
    execution.confirm()
    assert scene.end(execution) is State.REFUSED and "rejected" in execution.reason


def test_no_motion_without_a_controller(scene):
    execution = scene.execution()
    execution.ask()
    scene.controller.vanish()
    scene.client.spin_until(lambda: execution.find_problem() != "")
    execution.confirm()
    assert scene.end(execution) is State.REFUSED
    assert "no controller" in execution.reason and not scene.controller.goals


# What stops it


def test_an_abort_from_another_thread_cancels_the_goal(scene):
    execution = scene.moving()
    threading.Thread(target=execution.abort, args=("interrupted by Ctrl-C",)).start()
    assert scene.end(execution) is State.STOPPED
    assert execution.reason == "interrupted by Ctrl-C" and scene.controller.cancelled == 1
    assert scene.controller.positions[2] < 0.9 * LENGTH


def test_a_fault_that_the_identification_reports_cancels_the_goal(scene):
    execution = scene.moving()
    scene.fault = "contact: 12 N that nothing explains"
    assert scene.end(execution) is State.STOPPED
    assert execution.reason == scene.fault and scene.controller.cancelled == 1


def test_a_fault_of_the_program_itself_cancels_the_goal(scene):
    def fail() -> str:
        if scene.fault:
            raise RuntimeError("broken")
        return ""

    execution = scene.moving(find_fault=fail)
    scene.fault = "now"
    assert scene.end(execution) is State.STOPPED
    assert "RuntimeError: broken" in execution.reason and scene.controller.cancelled == 1


@pytest.mark.slow
@pytest.mark.parametrize(("attribute", "words"), [
    ("published", "joint states"),
    ("moving_stamps", "joint states"),
    ("follows", "from where the trajectory has it"),
])
def test_joint_states_that_end_stand_still_or_lie_cancel_the_goal(scene, attribute, words):
    execution = scene.moving()
    setattr(scene.controller, attribute, False)
    assert scene.end(execution) is State.STOPPED
    assert words in execution.reason and scene.controller.cancelled == 1


def test_time_for_which_the_program_itself_was_held_up_is_no_silence(scene, monkeypatch):
    """Joint states that came meanwhile wait behind the timer that looks for them."""
    monkeypatch.setattr(sys.modules[__name__], "SILENCE", 0.1)
    execution = scene.moving()
    time.sleep(0.2)
    assert scene.end(execution) is State.DONE, execution.reason


def test_an_answer_that_is_noticed_late_does_not_look_like_an_arm_that_hurries(scene):
    """The controller moves as soon as it accepts."""
    execution = scene.moving()
    execution._began += 0.15  # at 0.9 rad/s
    assert scene.end(execution) is State.DONE, execution.reason


def test_the_quicker_joint_states_come_the_sooner_their_end_is_noticed(scene):
    execution = scene.execution()
    execution._silence = None
    assert execution._longest_silence() == motion_execution.SILENCE
    for rate, allowed in ((1000.0, 0.07), (100.0, 0.08), (50.0, 0.1)):
        execution._came.extend(np.arange(50) / rate)
        assert execution._longest_silence() == pytest.approx(allowed), rate


def test_a_controller_that_aborts_is_believed(scene):
    execution = scene.moving()
    scene.controller.fails = "path tolerance violated"
    assert scene.end(execution) is State.STOPPED and "path tolerance" in execution.reason


@pytest.mark.slow
def test_a_controller_that_vanishes_and_confirms_nothing_calls_for_the_emergency_stop(
        scene, monkeypatch):
    monkeypatch.setitem(motion_execution.DEADLINES, State.STOPPING, 0.3)
    execution = scene.moving()
    scene.controller.vanish()
    assert scene.end(execution) is State.UNKNOWN
    assert "emergency stop" in execution.state.value and "no controller" in execution.reason


def test_a_controller_that_takes_no_notice_of_a_cancelled_goal_calls_for_the_emergency_stop(
        scene, monkeypatch):
    monkeypatch.setitem(motion_execution.DEADLINES, State.STOPPING, 0.3)
    scene.controller.answers = scene.controller.follows = False
    execution = scene.execution()
    execution.ask()
    execution.confirm()
    scene.client.spin_until(lambda: execution.state is State.MOVING)
    execution.abort("enough")
    assert scene.end(execution) is State.UNKNOWN and execution.reason == "enough"


def test_an_abort_before_the_controller_answers_cancels_as_soon_as_it_does(scene):
    execution = scene.execution()
    execution.ask()
    execution.confirm()
    execution.abort("changed my mind")
    execution._look()
    assert execution.state is State.WITHDRAWING
    assert scene.end(execution) is State.STOPPED and scene.controller.cancelled == 1


def test_wherever_an_answer_may_still_come_it_starts_the_watched_motion_or_cancels_it():
    reached, waiting = {State.SENDING}, [State.SENDING]
    while waiting:
        here = waiting.pop()
        assert TRANSITIONS[here, Event.ACCEPTED] in (State.MOVING, State.STOPPING), here
        for (state, event), target in TRANSITIONS.items():
            if state is here and event in (Event.STOP, Event.NO_ANSWER) and target not in reached:
                reached.add(target)
                waiting.append(target)
    assert State.UNKNOWN in reached


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [3.0, 4.6])
def test_a_goal_that_is_accepted_late_is_cancelled_at_once(seconds):
    """Also after its end was reported: sending and withdrawing may last 2 s each."""
    scene = Scene(seconds)
    execution = scene.execution()
    execution.ask()
    execution.confirm()
    try:
        assert scene.end(execution) is (State.STOPPED if seconds < 4.0 else State.UNKNOWN)
        scene.client.spin_until(lambda: scene.controller.ended)
        assert scene.controller.cancelled == 1 and len(scene.controller.goals) == 1
        assert scene.controller.positions[2] < 0.1 * LENGTH
        scene.client.spin_until(lambda: execution.is_settled)
        assert execution.state is State.STOPPED
    finally:
        scene.close()


@pytest.mark.slow
def test_the_next_motion_starts_clean_after_one_that_was_stopped(scene):
    first = scene.moving()
    first.abort("stop")
    assert scene.end(first) is State.STOPPED
    back = make_motion(0.2)
    back.positions[:, 2] += scene.controller.positions[2]
    second = scene.execution(motion=back)
    second.ask()
    second.confirm()
    assert scene.end(second) is State.DONE and second.reason == ""


def test_a_missing_control_msgs_is_named(scene, monkeypatch):
    from inertial_id_ros.errors import MissingPackage

    monkeypatch.setattr(motion_execution, "find_type", lambda name: None)
    with pytest.raises(MissingPackage, match="control_msgs"):
        MotionExecution(scene.client.node, make_motion(), ACTION, JOINT_STATES, True,
                        lambda *_: ())
