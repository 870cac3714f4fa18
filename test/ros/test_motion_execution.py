# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Execution of a motion, and what stops it, with a stand-in of a trajectory controller."""

from __future__ import annotations

import time
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
import pytest
from ros_process import Client, own_domain
from stand_in_trajectory_controller import (
    ACTION,
    JOINT_STATES,
    SlowController,
    StandInController,
)

from inertial_id_ros.apps.simulation.motion import Trajectory
from inertial_id_ros.ros import motion_execution
from inertial_id_ros.ros.motion_execution import Ended, MotionExecution

NAMES = ("shoulder", "elbow", "wrist")
DURATION, LENGTH = 1.2, 0.6  # s, rad
BUSY, SILENCE = 3.0, 0.4  # s without joint states: of a busy machine, and to be noticed


def make_motion(length: float = LENGTH, begin: float = 0.0) -> Trajectory:
    """One joint turns, from rest to rest."""
    t = np.linspace(0.0, DURATION, 61)
    x = t / DURATION
    q, dq, ddq = (np.zeros((len(t), len(NAMES))) for _ in range(3))
    q[:, 2] = begin + length * x**3 * (10.0 - 15.0 * x + 6.0 * x * x)
    dq[:, 2] = length / DURATION * 30.0 * (x * (1.0 - x)) ** 2
    ddq[:, 2] = length / DURATION**2 * 60.0 * x * (1.0 - x) * (1.0 - 2.0 * x)
    return Trajectory(t, q, dq, ddq, NAMES)


class Scene:
    """A controller and executions in one process."""

    def __init__(self, slow: float = 0.0) -> None:
        domain = own_domain()
        self.client = Client(domain)
        self.controller = (SlowController(domain, NAMES, np.zeros(3), slow) if slow else
                           StandInController(self.client.node, NAMES, np.zeros(3)))
        self.fault, self.problems, self.speed = "", (), 1.0
        self.executions: list[MotionExecution] = []
        self._threads = ThreadPoolExecutor(2)

    def run(self, motion: Trajectory | None = None, find_fault=None, silence: float = BUSY
            ) -> Future[Ended]:
        """A motion on its way."""
        execution = MotionExecution(
            self.client.node, motion or make_motion(), ACTION, JOINT_STATES,
            lambda *_: self.problems, find_fault or (lambda: self.fault), silence,
            lambda: self.speed)
        self.executions.append(execution)
        return self._threads.submit(execution.run)

    def moving(self, **options) -> Future[Ended]:
        """A motion that is well under way."""
        ended = self.run(**options)
        self.client.spin_until(lambda: self.controller.positions[2] > 0.1 * LENGTH)
        assert not ended.done()
        return ended

    def end(self, ended: Future[Ended]) -> Ended:
        self.client.spin_until(ended.done)
        return ended.result()

    def close(self) -> None:
        self._threads.shutdown()
        for execution in self.executions:
            execution.close()
        self.client.close()
        if isinstance(self.controller, SlowController):
            self.controller.close()


@pytest.fixture
def scene():
    made = Scene()
    yield made
    made.close()


@pytest.mark.slow
def test_a_motion_is_made_to_its_end_as_it_was_planned(scene):
    assert scene.end(scene.run()) == Ended()
    assert scene.controller.positions[2] == pytest.approx(LENGTH)
    sent = scene.controller.goals[0]
    assert list(sent.joint_names) == list(NAMES)
    last = sent.points[-1].time_from_start
    assert last.sec + 1e-9 * last.nanosec == pytest.approx(DURATION)


@pytest.mark.parametrize("lacking", ["check", "fault", "controller", "joint states"])
def test_nothing_is_sent_where_something_is_wrong_before(scene, monkeypatch, lacking):
    monkeypatch.setattr(motion_execution, "READY", 0.5)
    scene.problems = ("elbow would touch the crate",) if lacking == "check" else ()
    scene.fault = "protective stop" if lacking == "fault" else ""
    scene.controller.published = lacking != "joint states"
    if lacking == "controller":
        scene.controller.vanish()
    ended = scene.end(scene.run())
    assert ended.reason and ended.is_at_rest
    assert not scene.controller.goals and scene.executions[0].is_settled


@pytest.mark.slow
@pytest.mark.parametrize("cause", ["fault", "program", "published", "moving_stamps", "follows"])
def test_what_is_found_on_the_way_cancels_the_goal(scene, cause):
    """Faults that others find, of this program itself, and joint states that end, stand still or
    lie."""
    def fail() -> str:
        if scene.fault == "program":
            raise RuntimeError("broken")
        return scene.fault

    ended = scene.moving(find_fault=fail, silence=SILENCE)
    if cause in ("fault", "program"):
        scene.fault = cause
    else:
        setattr(scene.controller, cause, False)
    found = scene.end(ended)
    assert found.reason and found.is_at_rest and scene.controller.cancelled == 1
    assert scene.controller.positions[2] < 0.95 * LENGTH
    wanted = {"fault": "fault", "program": "broken", "follows": "wrist"}.get(cause, NAMES[0])
    assert wanted in found.reason


@pytest.mark.slow
def test_a_robot_that_is_slowed_down_takes_its_time(scene):
    """The controller scales time, as those of cobots do with their slider."""
    scene.speed = scene.controller.speed = 0.5
    begun = time.monotonic()
    assert scene.end(scene.run()) == Ended()
    assert time.monotonic() - begun > 1.9 * DURATION


def test_a_controller_that_aborts_is_believed(scene):
    ended = scene.moving()
    scene.controller.fails = "path tolerance violated"
    found = scene.end(ended)
    assert scene.controller.fails in found.reason and found.is_at_rest


@pytest.mark.slow
@pytest.mark.parametrize("vanishes", [True, False])
def test_a_controller_that_confirms_nothing_leaves_it_open_whether_the_arm_rests(
        scene, monkeypatch, vanishes):
    monkeypatch.setattr(motion_execution, "ANSWER", 0.5)
    ended = scene.moving()
    scene.controller.answers = scene.controller.follows = False
    if vanishes:
        scene.controller.vanish()
    scene.fault = "enough"
    assert not scene.end(ended).is_at_rest
    assert scene.executions[0].is_settled == vanishes


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [3.0, 7.0])
def test_a_goal_that_is_accepted_late_is_cancelled_at_once(seconds):
    """Also after its end was reported: sending and withdrawing last 2 s and 4 s at most."""
    scene = Scene(seconds)
    try:
        found = scene.end(scene.run())
        assert found.reason and found.is_at_rest == (seconds < 6.0)
        scene.client.spin_until(lambda: scene.controller.ended)
        assert scene.controller.cancelled == 1 and len(scene.controller.goals) == 1
        assert scene.controller.positions[2] < 0.1 * LENGTH
        scene.client.spin_until(lambda: scene.executions[0].is_settled)
    finally:
        scene.close()
