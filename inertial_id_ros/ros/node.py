# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Node ``inertial_id_node``: identifies online what the arm carries.

Three kinds of threads touch the Identifier: those that take messages append samples (mostly the
executor's), the worker does all the rest, and services have the worker do what they need.
"""

from __future__ import annotations

import time
import traceback
from collections import deque
from collections.abc import Sequence

from rclpy.clock import Clock, ClockType

from ..estimate import Estimate, NoEstimate, Outcome
from ..findings import NOTHING, Finding, FindingLog
from ..identification.make_identifier import make_identifier
from ..kinds import doubt_in, withdraw_doubted
from ..settings import Settings
from .apply.application import ApplyService
from .clocks import Freshness, Rounds, SolveTimer, Watchdog
from .compensation import CompensationTopics
from .conversions import refuse_unphysical
from .diagnostics import FindingLogger, NodeCounters, PayloadLogger, statuses
from .estimation import Changes, Configuration, Estimation, described_shape
from .inputs import Inputs
from .publisher_watch import PayloadWatch
from .publishing import Publishing
from .requested_shapes import RequestedShapes
from .services.black_boxes import BlackBoxes
from .services.handlers import Services
from .services.identify_action import IdentifyAction
from .services.lifecycle import ManagedNode
from .services.saving import StateKeeper
from .settings_node import Section
from .worker import Busy, OutsideReader, Worker

NAME = "inertial_id_node"
_HOUSEKEEPING = 0.05  # s between two rounds
_SAMPLES = 0.05  # s between two looks for samples
_BEHIND = 1.0  # s of data that may wait before estimates are left out
_REPORT = 1.0  # s between diagnostics
_PATIENCE = 3.0  # s after the start before missing data, or a missing /clock, are reported
_STOP_TIME, _READER_TIME = 0.8, 0.3  # s that the last solve, and what is read, may take


class InertialIdNode(ManagedNode):
    """The identification node; `services.lifecycle` says what its states are.

    Args:
        files: parameter files of the command line, as `SettingsNode` takes them.

    Raises:
        InertialIdError: a setting is not allowed, or names a file that cannot be used.
    """

    def __init__(self, files: Sequence[Sequence[Section]] | None = None) -> None:
        super().__init__(NAME, files)
        self.findings = FindingLog()  # of the node itself

    # ---- life cycle: in the executor's thread ----------------------------------------------------

    def configure(self) -> None:
        """Make the identifier, the thread that owns it, and what clients and listeners see."""
        self.findings.clear_all()
        shape = described_shape(self.settings)
        self.identifier = make_identifier(self.settings, shape)
        self.configuration = Configuration(self.identifier, self.settings, shape)
        self.state = StateKeeper(self.settings, self.get_fully_qualified_name(), self.findings)
        if self.unused_in_files:
            self.findings.set("parameters_not_used", "warning", "; ".join(self.unused_in_files))
        self.state.restore(self.identifier)
        self._pipeline_findings: tuple[Finding, ...] = ()
        self._outbox: deque[Outcome] = deque(maxlen=1)
        self._report_due, self._doubt = True, NOTHING
        self._skipped, self._longest = 0, 0.0
        self._started = time.monotonic()
        self._changes = Changes(
            self.identifier, self.configuration, self.findings,
            lambda name: self.worker.request(name), self.publish_if_forgotten,
            lambda urdf: self.black_boxes.keep_description(urdf, self.rounds.processed_ns))
        self.worker = Worker(
            {"configure": self._changes.use_settings, "describe": self._changes.use_description,
             "advance": self._advance}, self._report_failure, self._take_samples)
        self._out = Publishing(self)
        self.compensation = CompensationTopics(self, self.settings, self.findings)
        self.rounds = Rounds(
            self.identifier, lambda: self.worker.request("advance"),
            lambda: self.compensation.longest_wait, lambda: self.settings.estimator.rate,
            lambda: bool(self.get_clock().ros_time_is_active))
        self._freshness = Freshness(time.monotonic())
        self.watchdog = Watchdog(self, self._freshness, self.findings, _PATIENCE,
                                 lambda: self.settings.estimator.rate, self._publish)
        self._logger_of_findings = FindingLogger(self.get_logger())
        self._logger_of_payloads = PayloadLogger(self.get_logger())
        self.black_boxes = BlackBoxes(self, self.identifier.state())
        self._payload_watch = PayloadWatch(self, self.findings)
        self.reader = OutsideReader(self._changes.keep_description, self._report_failure)
        estimation = Estimation(
            self.identifier, self.worker, self.configuration, self.watchdog, self.state,
            self.findings, self.all_findings, self.solve_after_change, self.publish_if_forgotten)
        shapes = RequestedShapes(self, estimation, self.reader)
        self._apply = ApplyService(self, estimation, self.compensation, self.black_boxes)
        Services(self, estimation, self.black_boxes, shapes)
        self._identify = IdentifyAction(self, estimation, shapes)
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(_HOUSEKEEPING, self._do_housekeeping, clock=steady)
        self.create_timer(_REPORT, self._request_report, clock=steady)
        self.worker.start()
        self.reader.start()
        self._apply.start()

    def activate(self) -> None:
        """Listen and estimate."""
        self._started = time.monotonic()
        self.rounds.begin()
        self._inputs = Inputs(self, self.settings, self.identifier, self.reader.read_description,
                              self.rounds.arrive, self.black_boxes, self.compensation)
        self._timer = SolveTimer(self, self.settings.estimator.rate, self._follow_simulated_clock)
        self._inputs.serve(at_once=False)
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(_SAMPLES, self._take_samples, clock=steady)
        self.watchdog.start()
        self.get_logger().info(
            f"{self.settings.estimator.method} at {self.settings.estimator.rate:g} Hz from "
            f"{self.resolve_topic_name(_load_topic(self.settings))}")

    def deactivate(self) -> None:
        """Forget the data, so that nothing old is taken for new later, and say so in a last message
        (raises Busy, and goes on, where the worker cannot do that in time)."""
        self.worker.call(self._end_estimates, _STOP_TIME)
        self._identify.close()
        self._timer.stop()
        self._inputs.close()
        self.compensation.stop()
        self.watchdog.stop()
        self._payload_watch.stop()

    def _end_estimates(self) -> None:
        """Forget the data, and show that there is no estimate any more; in the worker, which makes
        no other from then on."""
        self.is_active = False
        self.black_boxes.note_command("the node was deactivated")
        self.identifier.reset("the node was deactivated")
        self.compensation.end("the node is inactive")
        shown = self.watchdog.outcome
        self.watchdog.show(NoEstimate(shown.stamp_ns, shown.frame_id, "the node is inactive"))

    def clean_up(self) -> None:
        """End the threads (raises Busy where one cannot end in time)."""
        self._apply.stop(0.0)  # it may wait for somebody's answer
        if not all([self.reader.stop(_STOP_TIME), self.worker.stop(_STOP_TIME)]):
            raise Busy(f"an estimate is still being made after {_STOP_TIME:g} s; try again")
        self.write_payload(self.watchdog.outcome)
        self._identify.destroy()

    def end_goal(self) -> bool:
        """Abort a goal that runs; False where there is none."""
        return self.is_active and self._identify.close()

    def stop(self) -> bool:
        """End the threads; False where one could not end in time."""
        if not self.is_configured:
            return True
        self.watchdog.stop()
        self._apply.stop(0.0)
        self.black_boxes.stop()
        return all([self.reader.stop(_READER_TIME), self.worker.stop(_STOP_TIME)])

    # ---- timers: in the executor's thread --------------------------------------------------------

    def _take_samples(self) -> None:
        """Take what has arrived; from any thread."""
        if self.is_active:
            self._inputs.take()

    def _follow_simulated_clock(self) -> None:
        self._take_samples()
        self.rounds.follow_simulated_clock()

    def _do_housekeeping(self) -> None:
        """Take samples in and wake the worker; step goals and `~/apply`; publish what the worker
        has left: the payload's parameters, findings."""
        self._changes.request()
        self.reader.resume()
        if self.is_active:
            self._inputs.look_at_publishers()
            self.compensation.follow_subscribers()
            self._inputs.serve(at_once=self.compensation.is_used)
            self._inputs.take()
            if self.identifier.ticks:
                self.worker.request("advance")
        self._identify.step()
        self._apply.step()
        self._publish_doubt()
        self._out.draw()
        if self._outbox:
            self.write_payload(self._outbox.pop())
        findings = self.all_findings()
        if self._logger_of_findings.update(findings):
            self._report_due = True
        self._logger_of_payloads.update(self.watchdog.outcome)
        self.black_boxes.watch(findings)
        if self._report_due:
            self._report_due = False
            self._report()

    def _request_report(self) -> None:
        self._report_due = True
        if self.is_active:
            self._payload_watch.check(self.settings)

    def _report(self) -> None:
        """Publish diagnostics."""
        now, rates = time.monotonic(), self._inputs.rates if self.is_active else {}
        counters = NodeCounters(
            {name: rate.per_second(now) for name, rate in rates.items()},
            {name: rate.count for name, rate in rates.items()}, self._skipped, self._longest)
        self.findings.set_or_clear("settings_changed", "info", self.changes_since_start())
        self._out.publish_diagnostics(
            statuses(self.get_fully_qualified_name().lstrip("/"), self.all_findings(),
                     self.watchdog.outcome, counters))

    # ---- the worker ------------------------------------------------------------------------------

    def _advance(self) -> None:
        """Process new samples up to each tick, solve and publish where it asks for an estimate, and
        publish at once that they have ended one."""
        for _ in range(self.identifier.ticks * self.is_active):  # no more: services wait, too
            started, arrived = time.monotonic(), self._inputs.load_arrived
            solves = self.identifier.advance_to_tick()
            self._hand_on(arrived)
            if solves and self._is_in_time():
                self.solve_now()
                self.state.follow(self.identifier)
                self._longest = max(self._longest, time.monotonic() - started)
                self.findings.clear("internal_error")
            else:
                self.publish_if_forgotten()

    def _is_in_time(self) -> bool:
        """Whether there is time to solve: no more than a second of data waits."""
        if self.identifier.ticks * self.compensation.longest_wait <= _BEHIND:
            return True
        self._skipped += 1
        if self._skipped == 1:
            self.black_boxes.note_command("the machine was too busy for all estimates")
        return False

    def _hand_on(self, arrived: float) -> None:
        """Hand on what a round has found out, the load that the compensated wrench is without among
        it.

        Args:
            arrived: when the last message that brings the load arrived [s].
        """
        self._inputs.joints = self.identifier.joint_names()
        self._freshness.note(self.identifier.newest_ns, self.identifier.settled_ns, arrived,
                             time.monotonic())
        self.compensation.use_load(self.identifier.load_in_use())
        self._pipeline_findings = self.identifier.findings()
        self._publish_doubt()

    def publish_if_forgotten(self) -> None:
        """Solve where what the estimate came of was forgotten, so that it is shown no longer; in
        the worker."""
        if isinstance(self.watchdog.outcome, Estimate) and not self.identifier.has_estimate:
            self.solve_now()

    def solve_now(self) -> Outcome:
        """Solve with the samples so far, and publish; in the worker."""
        outcome = withdraw_doubted(refuse_unphysical(self.identifier.solve()), self.findings.all())
        self.compensation.use_load(self.identifier.load_in_use())
        self._pipeline_findings = self.identifier.findings()
        self._publish_outcome(outcome)
        return outcome

    def solve_after_change(self) -> None:
        """Solve and publish after a service has changed something; in the worker. What goes wrong
        then is no failure of the service."""
        try:
            self.solve_now()
        except Exception as error:  # as in any other round of the worker
            self._report_failure("solve", error)

    def _publish_outcome(self, outcome: Outcome) -> None:
        """Publish an outcome, and keep it for services, parameters, goals and diagnostics."""
        if isinstance(outcome, Estimate) or outcome.is_finding:
            self.findings.clear("no_estimate")
        elif time.monotonic() - self._started > _PATIENCE:
            self.findings.set("no_estimate", "warning",
                              f"no estimate: {outcome.reason}{self._inputs.hint}")
        if isinstance(outcome, Estimate) != isinstance(self.watchdog.outcome, Estimate):
            self._report_due = True
        self._identify.keep_outcome(self.watchdog.show(outcome))

    def _publish(self, outcome: Outcome, age: float) -> None:
        """Publish an outcome of some age [s], and have housekeeping write its parameters."""
        findings = self.all_findings()
        self._doubt = doubt_in(findings)
        self._out.publish_outcome(outcome, findings, age)
        self._outbox.append(outcome)

    def _publish_doubt(self) -> None:
        """Publish at once where something else is in doubt than was published: arms stop by it."""
        if self.is_active and doubt_in(self.all_findings()) != self._doubt:
            self.watchdog.repeat()

    def _report_failure(self, routine: str, error: Exception) -> None:
        """Publish that a routine of the worker raised: as a finding, and as a missing estimate."""
        if self.worker.stopping:
            return
        self.get_logger().debug("".join(traceback.format_exception(error)))
        text = f"internal error in {routine}: {type(error).__name__}: {error}"
        self.findings.set("internal_error", "error", text)
        shown = self.watchdog.outcome
        self._publish_outcome(NoEstimate(shown.stamp_ns, shown.frame_id, text))

    # ---- findings --------------------------------------------------------------------------------

    def all_findings(self) -> tuple[Finding, ...]:
        """Findings of the node and of the pipeline, but for one about what only recordings keep."""
        return (*self.findings.all(),
                *(f for f in self._pipeline_findings if f.name != "compensation_silent.smoothed"))

    # ---- for services and parameters -------------------------------------------------------------

    def check_settings(self, settings: Settings) -> None:
        """Raise an InertialIdError where these settings could not be used, as that of an estimator
        which needs a shape where none is given."""
        if not self.is_configured:
            return
        self.identifier.check_settings(settings)

    def on_settings(self, before: Settings, after: Settings) -> None:
        """Hand changed settings to the worker; another rate needs another timer."""
        if not self.is_configured:
            return
        self.black_boxes.note_command("settings were changed")
        self.compensation.configure(after)
        self._changes.keep_settings(after)
        if self.is_active and after.estimator.rate != before.estimator.rate:
            self._timer.set_rate(after.estimator.rate)


def _load_topic(settings: Settings) -> str:
    """Name of the topic that brings the wrench or the joint torques."""
    if settings.load.source == "joint_torque":
        return settings.joint_states.topic
    return settings.dynamic_joint_states.topic or settings.wrench.topic
