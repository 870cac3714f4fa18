# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""How old the estimate is, when it is made, and when it becomes stale."""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from rclpy.clock import Clock, ClockType
from rclpy.node import Node

from ..estimate import Estimate, NoEstimate, Outcome
from ..findings import FindingLog
from ..signals.inbox import Inbox, Tick, Ticks
from .contract import HEARTBEAT, LOOK, PERIODS, STALE_AFTER

_MARKS = 256  # more than ten seconds of them


class Arrivals:
    """Marks of how far the stamps had come at which steady time, and interpolation between them.

    A mark a round costs nothing, while the time of each of thousands of samples a second would.
    """

    def __init__(self) -> None:
        self._marks: deque[tuple[int, float]] = deque(maxlen=_MARKS)

    def note(self, stamp_ns: int, arrived: float) -> None:
        """Note when the newest sample has arrived [s], and its stamp; one that goes back ends the
        marks before."""
        if self._marks and stamp_ns < self._marks[-1][0]:
            self._marks.clear()
        if not self._marks or stamp_ns > self._marks[-1][0]:
            self._marks.append((stamp_ns, arrived))

    def of(self, stamp_ns: int) -> float | None:
        """When the sample of a stamp arrived [s]; of a stamp before all marks as if stamps ran
        with the steady clock. None without marks."""
        if not self._marks:
            return None
        marks = list(self._marks)
        first, last = marks[0], marks[-1]
        if stamp_ns >= last[0]:
            return last[1]
        if stamp_ns <= first[0]:
            return first[1] - 1e-9 * (first[0] - stamp_ns)
        (s, a), (t, b) = next(pair for pair in pairwise(marks) if pair[1][0] >= stamp_ns)
        return a + (b - a) * (stamp_ns - s) / (t - s)


class Freshness:
    """Follows what arrives and what is made of it.

    Its methods may be called from any thread: each works on values that are replaced as a whole.

    Args:
        now: steady time at the start [s].
    """

    def __init__(self, now: float) -> None:
        self._arrivals = Arrivals()
        self._shown: tuple[int, float] | None = None  # stamp and arrival of the last estimate
        self._settled_ns = 0
        self._arrived = self._processed = self._progress = now

    def note(self, newest_ns: int, settled_ns: int, arrived: float, now: float) -> None:
        """Note a round of the worker.

        Args:
            newest_ns: newest stamp of what measures the load.
            settled_ns: stamp up to which load and motion were processed.
            arrived: when the last message that brings the load arrived; now: both steady [s].
        """
        if newest_ns:
            self._arrivals.note(newest_ns, arrived)
        if settled_ns != self._settled_ns:
            self._settled_ns, self._progress = settled_ns, now
        self._arrived, self._processed = arrived, now

    def note_shown(self, outcome: Outcome) -> None:
        """Remember when the newest sample of an estimate arrived."""
        if not isinstance(outcome, Estimate) or outcome.restored:
            self._shown = None
        elif self._shown is None or self._shown[0] != outcome.stamp_ns:
            arrived = self._arrivals.of(outcome.stamp_ns)
            self._shown = None if arrived is None else (outcome.stamp_ns, arrived)

    def age(self, outcome: Outcome, now: float) -> float:
        """Time since the newest sample of an estimate arrived [s]; NaN where there is none."""
        if not isinstance(outcome, Estimate) or outcome.restored:
            return math.nan
        shown = self._shown
        arrived = (shown[1] if shown is not None and shown[0] == outcome.stamp_ns
                   else self._arrivals.of(outcome.stamp_ns))
        return math.nan if arrived is None else max(now - arrived, 0.0)

    def why_stale(self, outcome: Outcome, rate: float, now: float) -> str:
        """Why an estimate is no longer fresh, in words; empty where it is.

        Args:
            rate: at which estimates are made [Hz].
        """
        if now - self._processed > STALE_AFTER:
            return f"the node has been too busy for {STALE_AFTER:g} s to process data"
        if now - self._progress > STALE_AFTER:
            if now - self._arrived > STALE_AFTER:
                return f"no data have arrived for {STALE_AFTER:g} s"
            return (f"the data that have arrived for {STALE_AFTER:g} s have no new stamps, or no "
                    "motion for them")
        limit = max(STALE_AFTER, PERIODS / rate)
        if self.age(outcome, now) > limit:
            return f"the newest sample used arrived more than {limit:.3g} s ago"
        return ""


STANDSTILL = 0.7  # s of steady time without progress, after which the clock stands still
_SHOWN = 30.0  # s that a jump is reported
_SYSTEM_STEP = 0.1  # s: no discipline of the system clock moves it so far between two looks
# A simulated clock may run fast, and comes in steps: a jump is longer than so many seconds, and
# than so many times the steady time between two looks.
_SIMULATED_STEP, _FASTEST = 5.0, 100.0


class RosClockWatch:
    """Follows the ROS clock by looks at it.

    Args:
        findings: gets `clock_stopped.silent`, `clock_stopped` and `clock_jumped`.
        patience: time after the start in which nothing needs to arrive on /clock yet [s].
    """

    def __init__(self, findings: FindingLog, patience: float) -> None:
        self._findings, self._patience = findings, patience
        self._started: float | None = None
        self._last: tuple[float, float, bool] | None = None  # steady, ROS time, simulated
        self._advanced = 0.0  # steady time at which the clock was seen to go on
        self._jumped = -_SHOWN  # steady time of the last jump
        self.stands_still = False

    def note(self, steady: float, ros: float, simulated: bool) -> None:
        """Note what the clock says.

        Args:
            steady, ros: times by the two clocks [s]; simulated: whether use_sim_time is true.
        """
        if self._started is None:
            self._started = self._advanced = steady
        before, self._last = self._last, (steady, ros, simulated)
        if before is not None and before[2] == simulated:
            self._compare(before, steady, ros, simulated)
        else:
            self._advanced = steady
        self.stands_still = simulated and steady - self._advanced > STANDSTILL
        self._report(steady, ros)

    def _compare(self, before: tuple[float, float, bool], steady: float, ros: float,
                 simulated: bool) -> None:
        """Compare with the look before."""
        elapsed, moved = steady - before[0], ros - before[1]
        if moved != 0.0:
            self._advanced = steady
        if simulated:
            began = before[1] == 0.0
            jumped = not began and (moved < 0.0 or moved > max(_SIMULATED_STEP, _FASTEST * elapsed))
            by, name = moved, "the time on /clock"
        else:
            by, name = moved - elapsed, "the system clock"
            jumped = abs(by) > _SYSTEM_STEP
        if jumped:
            self._jumped = steady
            self._findings.count("clock_jumped", f"{name} jumped {'back' if by < 0.0 else 'ahead'} "
                                 f"by {abs(by):.1f} s")

    def _report(self, steady: float, ros: float) -> None:
        """Set and clear the findings."""
        assert self._started is not None
        silent = self.stands_still and ros == 0.0
        if silent and steady - self._started > self._patience:
            self._findings.set("clock_stopped.silent", "error",
                               "use_sim_time is true and nothing arrives "
                               "on /clock, so every estimate counts as stale")
        else:
            self._findings.clear("clock_stopped.silent")
        if self.stands_still and not silent:
            self._findings.set("clock_stopped", "warning", "use_sim_time is true and the time on "
                               "/clock stands still, so every estimate counts as stale")
        else:
            self._findings.clear("clock_stopped")
        if steady - self._jumped > _SHOWN:
            self._findings.clear("clock_jumped")


class Rounds:
    """Puts ticks between the samples, where times of arrival pass one.

    Args:
        inbox: of the identifier; request: called when ticks wait there.
        round_period: gives the time between two rounds [s]; rate: the setting estimator.rate [Hz].
        simulated: whether a simulated clock is in use, which asks for estimates itself.
    """

    def __init__(self, inbox: Inbox, request: Callable[[], object],
                 round_period: Callable[[], float], rate: Callable[[], float],
                 simulated: Callable[[], bool]) -> None:
        self._inbox, self._request, self._simulated = inbox, request, simulated
        self._round_period, self._rate = round_period, rate
        # By the system clock as it was at the start: later steps of it do not matter.
        self._epoch_ns = time.time_ns() - time.monotonic_ns()
        self._lock = threading.Lock()  # of who adds ticks
        self.begin()

    def begin(self) -> None:
        """Begin with ticks from now on."""
        self._begin_ns = self._last_ns = self.now_ns()
        self._ticks = Ticks(self._begin_ns, *self._periods())

    @property
    def processed_ns(self) -> int:
        """The time of arrival up to which the worker has processed samples [ns]."""
        return max(self._begin_ns, self._inbox.tick_ns)

    def now_ns(self) -> int:
        """The time of arrival of what arrives now [ns]."""
        return self._epoch_ns + time.monotonic_ns()

    def _periods(self) -> tuple[int, int]:
        return round(1e9 * self._round_period()), round(1e9 / self._rate())

    def arrive(self, late_ns: int) -> int:
        """The time of arrival of what has arrived so long ago [ns], in the order of arrival; puts
        the ticks before it into the inbox."""
        now = self._last_ns = max(self._epoch_ns + time.monotonic_ns() - max(late_ns, 0),
                                  self._last_ns)
        if now >= self._ticks.next_ns:
            solves = not self._simulated()
            with self._lock:
                for tick in self._ticks.until(now):
                    self._inbox.add_tick(tick._replace(solves=tick.solves and solves))
                self._ticks.use_periods(*self._periods())
            self._request()
        return now

    def follow_simulated_clock(self) -> None:
        """Have the samples so far solved where a simulated clock is in use."""
        if self._simulated():
            with self._lock:
                self._inbox.add_tick(Tick(self.now_ns(), solves=True))
            self._request()


_PATIENCE = 1.5  # periods without a tick of a simulated clock, after which the steady clock serves


class SolveTimer:
    """Asks for estimates at a rate of a simulated clock while it runs, else of the steady clock.

    The system clock serves for nothing here: set back by an hour, it would stop the estimates for
    that long. Nor may they end with a simulated clock that stops, since the payload may change.

    Args:
        rate: estimates a second; request: called in the executor's thread.
    """

    def __init__(self, node: Node, rate: float, request: Callable[[], None]) -> None:
        self._node, self._request = node, request
        self._steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timers: list[Any] = []
        self._simulated_tick = -float("inf")  # by the steady clock [s]
        self.set_rate(rate)

    def set_rate(self, rate: float) -> None:
        """Ask at another rate [Hz] from now on."""
        self.stop()
        self._period = 1.0 / rate
        self._timers = [
            self._node.create_timer(self._period, self._on_ros_time),
            self._node.create_timer(self._period, self._on_steady_time, clock=self._steady)]

    def stop(self) -> None:
        """Ask no more."""
        while self._timers:
            self._node.destroy_timer(self._timers.pop())

    def _on_ros_time(self) -> None:
        """A tick of the ROS clock, which counts where that is a simulated one."""
        if self._node.get_clock().ros_time_is_active:
            self._simulated_tick = time.monotonic()
            self._request()

    def _on_steady_time(self) -> None:
        """A tick of the steady clock, which counts where no other has come for a while."""
        if (not self._node.get_clock().ros_time_is_active
                or time.monotonic() - self._simulated_tick > _PATIENCE * self._period):
            self._request()


_AT_ONCE = 0.02  # s between the readings of two clocks that count as simultaneous
_END = 1.0  # s that the thread may take to end


class Watchdog:
    """Holds the outcome that topics, services, parameters and diagnostics show.

    Its own thread looks at the steady clock, as the executor's may wait for the worker, and the
    worker for a solver. An estimate to which nothing new is added becomes stale there.

    Args:
        freshness: judges the estimates; patience: as `RosClockWatch` takes it [s].
        findings: of the node; rate: gives the setting estimator.rate [Hz].
        publish: called with an outcome and its age [s], one call at a time, from any thread.
    """

    def __init__(self, node: Node, freshness: Freshness, findings: FindingLog, patience: float,
                 rate: Callable[[], float], publish: Callable[[Outcome, float], None]) -> None:
        self._clock, self._freshness, self._findings = node.get_clock(), freshness, findings
        self._ros_clock = RosClockWatch(findings, patience)
        self._rate, self._publish = rate, publish
        self.outcome: Outcome = NoEstimate(0, "", "the node is inactive")
        self._published = time.monotonic()
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start the thread, which may have been stopped before."""
        self.outcome = NoEstimate(0, "", "waiting for the first estimate")
        self._stop.clear()
        self._thread = threading.Thread(target=self._run, name="watchdog", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the thread: nothing is published by it any more."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(_END)

    def age(self, outcome: Outcome) -> float:
        """Time since the newest sample of an estimate arrived [s]; NaN where there is none."""
        return self._freshness.age(outcome, time.monotonic())

    def show(self, outcome: Outcome) -> Outcome:
        """Show a new outcome; returns it as it is shown."""
        with self._lock:
            self._freshness.note_shown(outcome)
            now = time.monotonic()
            self._show(self._judge(outcome, now), now)
            return self.outcome

    def repeat(self) -> None:
        """Publish the outcome again: something about it has changed."""
        self.show(self.outcome)

    def _run(self) -> None:
        """Look again and again until stopped."""
        while not self._stop.wait(LOOK):
            self._look()

    def _look(self) -> None:
        """Publish the outcome anew where it has become stale, or is due again."""
        self._look_at_clock()
        with self._lock:
            now = time.monotonic()
            outcome = self._judge(self.outcome, now)
            if outcome is not self.outcome or now - self._published >= HEARTBEAT:
                self._show(outcome, now)

    def _look_at_clock(self) -> None:
        """Compare the ROS clock with the steady one, if both could be read at once."""
        before = time.monotonic()
        ros = self._clock.now().nanoseconds
        if time.monotonic() - before < _AT_ONCE:
            self._ros_clock.note(before, 1e-9 * ros, self._clock.ros_time_is_active)

    def _judge(self, outcome: Outcome, now: float) -> Outcome:
        """The outcome, marked as stale with the reason where it is no longer fresh."""
        if not isinstance(outcome, Estimate) or outcome.restored:
            return outcome
        reason = ("the time on /clock stands still" if self._ros_clock.stands_still
                  else self._freshness.why_stale(outcome, self._rate(), now))
        return outcome if reason in ("", outcome.stale_reason) else outcome.as_stale(reason)

    def _show(self, outcome: Outcome, now: float) -> None:
        """Show an outcome everywhere."""
        self.outcome, self._published = outcome, now
        if isinstance(outcome, Estimate) and outcome.stale_reason:
            self._findings.set("estimate_stale", "warning",
                               f"the estimate is held as stale: {outcome.stale_reason}")
        else:
            self._findings.clear("estimate_stale")
        self._publish(outcome, self._freshness.age(outcome, now))
