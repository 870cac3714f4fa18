# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Time in the node: nothing old is shown as fresh, whatever the system's clock and /clock do."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("rclpy")
pytest.importorskip("inertial_id_ros.msg")
from node_client import (  # noqa: E402
    PARAMETERS,
    current_findings,
    get_estimate,
    get_parameters,
    set_parameter,
    wait_for_finding,
    wait_for_valid,
    wait_until_cleared,
)
from ros_process import Listener, Robot, Stage, play_until, queued, wait_until  # noqa: E402
from rosgraph_msgs.msg import Clock  # noqa: E402

from inertial_id_ros.estimate import Estimate, NoEstimate  # noqa: E402
from inertial_id_ros.findings import FindingLog  # noqa: E402
from inertial_id_ros.msg import InertialParameters  # noqa: E402
from inertial_id_ros.ros.clocks import (
    Arrivals,  # noqa: E402
    Freshness,  # noqa: E402
    RosClockWatch,  # noqa: E402
    Watchdog,  # noqa: E402
)
from inertial_id_ros.ros.contract import HEARTBEAT, STALE_AFTER  # noqa: E402

SECOND = 1_000_000_000
HOUR = 3600
LATEST = 1.0  # s of steady time after which an estimate to which nothing is added must be stale
NOISE = 0.3  # s to deliver a message, beside the time for which the machine was busy


# ---- when samples arrived ------------------------------------------------------------------------


def test_arrivals_are_interpolated_between_marks_whatever_the_rate_of_the_stamps():
    arrivals = Arrivals()
    assert arrivals.of(5) is None
    for k in range(10):  # stamps run at three times real time
        arrivals.note(3 * k * SECOND, 100.0 + k)
    assert arrivals.of(10 * SECOND) == pytest.approx(100.0 + 10 / 3)
    assert arrivals.of(27 * SECOND) == arrivals.of(99 * SECOND) == 109.0
    assert arrivals.of(-SECOND) == pytest.approx(99.0)


def test_stamps_that_go_back_end_the_marks_before():
    arrivals = Arrivals()
    arrivals.note(100 * SECOND, 1.0)
    arrivals.note(10 * SECOND, 2.0)
    arrivals.note(10 * SECOND, 3.0)  # nothing new
    arrivals.note(11 * SECOND, 4.0)
    assert arrivals.of(10 * SECOND) == 2.0 and arrivals.of(100 * SECOND) == 4.0


# ---- what the ROS clock does ---------------------------------------------------------------------


class Looks:
    """Looks at a clock every 50 ms of steady time, by a function of the seconds since the start."""

    def __init__(self, simulated: bool) -> None:
        self.findings, self.simulated = FindingLog(), simulated
        self.watch = RosClockWatch(self.findings, patience=3.0)
        self.time = 0.0

    def look(self, seconds: float, clock) -> dict[str, str]:
        """Names and texts of the findings after so many seconds more."""
        for _ in range(round(seconds / 0.05)):
            self.time += 0.05
            self.watch.note(500.0 + self.time, clock(self.time), self.simulated)
        return {f.name: f.text for f in self.findings.all()}


@pytest.mark.parametrize("by", [-3600.0, -0.5, 0.5, 3600.0])
def test_a_step_of_the_system_clock_is_named_for_a_while(by):
    looks = Looks(simulated=False)
    assert looks.look(5.0, lambda t: 1e9 + t * (1.0 + 5e-4)) == {}  # as NTP slews it at most
    said = looks.look(0.1, lambda t: 1e9 + by + t)
    assert f"{'back' if by < 0 else 'ahead'} by {abs(by):.1f} s" in said["clock_jumped"]
    assert not looks.watch.stands_still
    assert looks.look(40.0, lambda t: 1e9 + by + t) == {}


def test_a_simulated_clock_that_stops_is_named_and_its_return_too():
    looks = Looks(simulated=True)
    assert looks.look(3.0, lambda t: 7.0 + t) == {}
    said = looks.look(0.8, lambda t: 10.0)
    assert looks.watch.stands_still and "stands still" in said["clock_stopped"]
    assert looks.look(0.1, lambda t: 10.0 + t) == {} and not looks.watch.stands_still


def test_a_simulated_clock_that_never_ran_is_silent_after_the_patience():
    looks = Looks(simulated=True)
    assert looks.look(2.5, lambda t: 0.0) == {} and looks.watch.stands_still
    assert list(looks.look(1.0, lambda t: 0.0)) == ["clock_stopped.silent"]
    assert looks.look(0.1, lambda t: 1e6 + t) == {}


@pytest.mark.parametrize(("by", "word"), [(-30.0, "back"), (500.0, "ahead")])
def test_a_jump_of_a_simulated_clock_is_named(by, word):
    looks = Looks(simulated=True)
    assert looks.look(3.0, lambda t: 1000.0 + 10.0 * t) == {}  # ten times as fast
    assert f"/clock jumped {word}" in looks.look(0.1, lambda t: 1000.0 + by + t)["clock_jumped"]


# ---- how old an estimate is ----------------------------------------------------------------------


def an_estimate(stamp_ns: int) -> Estimate:
    return Estimate(stamp_ns, "sensor", np.r_[1.0, np.zeros(3), 0.01, 0, 0, 0.01, 0, 0.01],
                    np.eye(10), np.zeros(6), "lmi", "noise", np.ones(10), (2,) * 10, np.zeros(0),
                    np.zeros(0), np.zeros(6), 100, 2.0, 3.0, 0.1, 0.001)


def test_an_estimate_is_stale_when_no_data_come_and_the_reason_says_which():
    freshness, estimate = Freshness(0.0), an_estimate(2 * SECOND)
    freshness.note(2 * SECOND, 2 * SECOND, arrived=10.0, now=10.1)
    freshness.note_shown(estimate)
    assert freshness.age(estimate, 10.4) == pytest.approx(0.4)
    assert freshness.why_stale(estimate, 2.0, 10.5) == ""
    freshness.note(3 * SECOND, 3 * SECOND, arrived=11.0, now=11.0)
    assert "more than" in freshness.why_stale(estimate, 2.0, 11.0)  # newer data, not used
    assert freshness.why_stale(estimate, 0.5, 11.0) == ""  # nor are they due yet
    assert "too busy" in freshness.why_stale(estimate, 0.5, 12.0)
    freshness.note(3 * SECOND, 3 * SECOND, arrived=11.0, now=12.0)
    assert "no data have arrived" in freshness.why_stale(estimate, 0.1, 12.0)
    freshness.note(3 * SECOND, 3 * SECOND, arrived=12.0, now=12.0)
    assert "no new stamps" in freshness.why_stale(estimate, 0.1, 12.0)


def test_what_has_no_sample_of_this_run_has_no_age():
    freshness = Freshness(0.0)
    assert math.isnan(freshness.age(NoEstimate(0, "", "none"), 1.0))
    assert math.isnan(freshness.age(an_estimate(5), 1.0))
    freshness.note(2 * SECOND, 2 * SECOND, 1.0, 1.0)
    assert math.isnan(freshness.age(replace(an_estimate(5), restored=True), 1.0))


def test_the_watchdog_publishes_a_forgotten_estimate_as_stale_and_goes_on():
    """Nobody calls it: neither an executor nor a worker lives."""
    clock = SimpleNamespace(now=lambda: SimpleNamespace(nanoseconds=time.time_ns()),
                            ros_time_is_active=False)
    freshness, findings, published = Freshness(time.monotonic()), FindingLog(), []
    dog = Watchdog(SimpleNamespace(get_clock=lambda: clock), freshness, findings, 3.0,
                   lambda: 2.0, lambda o, age: published.append((time.monotonic(), o, age)))
    dog.start()
    try:
        begun, waits = time.monotonic(), queued()
        freshness.note(2 * SECOND, 2 * SECOND, begun, begun)
        dog.show(an_estimate(2 * SECOND))
        assert not published[-1][1].stale
        wait_until(lambda: len(published) >= 4)
        busy = queued() - waits
    finally:
        dog.stop()
    at, outcome, age = next(item for item in published if getattr(item[1], "stale", False))
    assert at - begun < LATEST + busy and age == pytest.approx(at - begun, abs=0.01 + busy)
    assert "busy" in outcome.stale_reason and "busy" in findings.all()[0].text
    gaps = np.diff([at for at, *_ in published])
    assert gaps.max() < HEARTBEAT + 0.2 + busy  # held ones are repeated
    assert STALE_AFTER < LATEST


# ---- the node ------------------------------------------------------------------------------------


class Ticking:
    """A stage with a node on simulated time, and a robot whose play may move /clock."""

    def __init__(self, stage: Stage) -> None:
        self.stage, self.begin = stage, 5 * SECOND
        self.robot = Robot(stage.client, start_ns=self.begin)
        self.robot.publish_description()
        self.ticked = time.monotonic()  # steady time of the last tick

    def tick(self, stamp: int) -> None:
        """Move /clock to a stamp, if that is 20 ms on."""
        if stamp // 20_000_000 == (stamp - 4_000_000) // 20_000_000:
            return
        clock = Clock()
        clock.clock.sec, clock.clock.nanosec = divmod(stamp, SECOND)
        self.stage.client.publish("/clock", clock, 10)
        self.ticked = time.monotonic()

    def play(self, seconds: float, ticks: bool = True) -> None:
        self.robot.play(seconds, speed=1.0, each=self.tick if ticks else None)


def first_stale(watcher: Listener, since: float):
    """Time of arrival and message of the first stale estimate from then on."""
    def found():
        return [item for item in watcher.got[PARAMETERS] if item[0] >= since and item[1].stale]

    assert watcher.spin(found)
    return found()[0]


@pytest.mark.slow
@pytest.mark.parametrize("data_go_on", [False, True])
def test_a_clock_that_stops_leaves_a_stale_estimate_within_a_second(data_go_on):
    with Stage() as stage:
        node = stage.start_node(use_sim_time=True).process.pid
        ticking = Ticking(stage)
        watcher = Listener(stage.domain)
        try:
            watcher.subscribe(PARAMETERS, InertialParameters)

            def is_fresh(first=0):
                return watcher.spin(lambda: any(
                    m.valid and not m.stale for _, m in watcher.got[PARAMETERS][first:]), 0.3)

            ticking.play(3.5)
            play_until(ticking.play, is_fresh)
            stopped, waits = ticking.ticked, queued(node)
            if data_go_on:
                ticking.play(1.5, ticks=False)
            at, message = first_stale(watcher, stopped)
            if not data_go_on:  # else messages wait for the watcher while it plays
                assert at - stopped < LATEST + NOISE + queued(node) - waits
            assert message.valid and "held" in message.status
            reason = "stands still" if data_go_on else ""
            assert watcher.spin(lambda: reason in watcher.got[PARAMETERS][-1][1].status)
            answer = get_estimate(stage)
            assert answer.success and answer.parameters.stale and reason in answer.message
            stage.client.spin_until(lambda: get_parameters(stage, "payload.stale")[0].bool_value)
            said = wait_for_finding(stage, "estimate_stale", reason)
            assert "clock_stopped" in wait_for_finding(stage, "clock_stopped") and said
            resumed = len(watcher.got[PARAMETERS])
            ticking.play(2.0)
            play_until(ticking.play, lambda: is_fresh(resumed))
            wait_until_cleared(stage, "clock_stopped")
        finally:
            watcher.close()


@pytest.mark.slow
def test_a_payload_that_changes_while_the_clock_stands_is_not_shown_as_the_one_before():
    with Stage() as stage:
        stage.start_node(use_sim_time=True)
        ticking = Ticking(stage)
        got = stage.client.listen(InertialParameters, PARAMETERS, 100)
        ticking.play(4.0)
        before = wait_for_valid(stage).inertia.m
        ticking.robot.cobot = Robot(stage.client, payload="drill").cobot
        ticking.play(4.0, ticks=False)
        stage.client.spin_until(lambda: got[-1].valid and got[-1].inertia.m > 1.2 * before)
        assert got[-1].stale and "stands still" in got[-1].status


@pytest.mark.slow
@pytest.mark.parametrize("step", [-HOUR, HOUR, -30, 5])
def test_stamps_that_jump_with_the_system_clock_are_named_and_identified_anew_within_2_s(step):
    with Stage() as stage:
        stage.start_node()
        robot = Robot(stage.client)
        robot.publish_description()
        got = stage.client.listen(InertialParameters, PARAMETERS, 100)
        robot.play(4.0, speed=1.0)
        first = wait_for_valid(stage)
        before = stamp_of(first)
        robot._stamp += step * SECOND
        robot.play(2.0, speed=1.0)

        def anew():
            return [m for m in got if m.valid and not m.stale and m.sequence > first.sequence
                    and 0.0 < stamp_of(m) - before - step < 10.0]

        stage.client.spin_until(anew)
        for m in anew():
            assert m.inertia.m == pytest.approx(robot.cobot.payload.mass, rel=0.03)
        names = current_findings(stage).keys()
        assert names & {"reset", "samples_missing.wrench", "clock_jumped"}, names


def stamp_of(message: InertialParameters) -> float:
    return message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec


@pytest.mark.alone
@pytest.mark.slow
@pytest.mark.parametrize("rate", [2.0, 0.1])
def test_an_estimate_without_new_data_is_stale_within_a_second_at_any_rate(rate):
    with Stage() as stage:
        node = stage.start_node(estimator__rate=2.0).process.pid
        robot = Robot(stage.client)
        robot.publish_description()
        watcher = Listener(stage.domain)
        try:
            watcher.subscribe(PARAMETERS, InertialParameters)
            robot.play(3.0, speed=1.0)
            assert set_parameter(stage, "estimator.rate", rate).successful
            robot.play(0.5, speed=1.0)
            ended, waits = time.monotonic(), queued(node)
            at, message = first_stale(watcher, ended)
            assert at - ended < LATEST + NOISE + queued(node) - waits
            assert message.valid and message.age < max(LATEST, 1.5 / rate) + queued(node) - waits

            def held():  # of the newest estimate: a tick may come after the data have ended
                newest = stamp_of(watcher.got[PARAMETERS][-1][1])
                return [(t, m.age) for t, m in watcher.got[PARAMETERS]
                        if m.stale and stamp_of(m) == newest]

            assert watcher.spin(lambda: len(held()) > 2)
            numbers = [m.sequence for _, m in watcher.got[PARAMETERS]]
            assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
            (first, young), *_, (last, old) = held()  # and it grows old
            assert old - young == pytest.approx(last - first, abs=NOISE + queued(node) - waits)
        finally:
            watcher.close()


@pytest.mark.slow
def test_what_ends_an_estimate_is_published_at_once_and_not_at_the_next_tick():
    """The driver removes another payload from now on: all data are of another kind."""
    with Stage() as stage:
        node = stage.start_node(estimator__rate=5.0, precompensated__mass=0.0).process.pid
        robot = Robot(stage.client)
        robot.publish_description()
        robot.play(3.0)
        got = stage.client.listen(InertialParameters, PARAMETERS, 100)
        wait_for_valid(stage)
        assert set_parameter(stage, "estimator.rate", 0.01).successful
        began, waits = time.monotonic(), queued(node)
        assert set_parameter(stage, "precompensated.mass", 0.4).successful
        stage.client.spin_until(lambda: not got[-1].valid)
        assert time.monotonic() - began < LATEST + NOISE + queued(node) - waits  # and not 100 s
        assert not get_estimate(stage).success
