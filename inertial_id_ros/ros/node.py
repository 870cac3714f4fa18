# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Node ``inertial_id_node``: identifies online what the arm carries.

Three kinds of threads: that of the streams (`streams`), which never waits; the worker (`worker`),
which owns the identifier and waits for nobody; and the pool of an executor, in which services,
parameters, transitions and timers may wait for both.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import replace
from time import monotonic
from typing import Any

from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.clock import Clock, ClockType
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.parameter import Parameter

from ..errors import InertialIdError, InvalidSetting
from ..identify.identifier import make_identifier
from ..identify.state import restored
from ..io.files import user_path
from ..motion.description import read_description
from ..settings import Settings
from .apply import ApplyService
from .diagnostics import FindingLogger, PayloadLogger, Rate, statuses
from .estimation import Estimation, Notes
from .files import StateKeeper
from .identify_action import IdentifyAction
from .parameters import Parameters
from .publishing import Publishing
from .services import Services
from .streams import Subscriptions

NAME = "inertial_id_node"
LOOK, REPORT = 0.05, 1.0  # s between two looks whether what is shown is fresh; two diagnostics
STOP_TIME = 1.5  # s that the last estimate may take


class InertialIdNode(LifecycleNode):
    """The identification node.

    Attributes:
        failure: why the last transition failed.

    Raises:
        InertialIdError: a setting is not allowed.
    """

    def __init__(self, name: str = NAME, **options: Any) -> None:
        super().__init__(name, automatically_declare_parameters_from_overrides=True, **options)
        self.failure: Exception | None = None
        self._estimation: Estimation | None = None
        # /clock may come at 1 kHz, too fast for this executor: the thread of the streams hears it.
        self._sim_time = bool(self.get_parameter("use_sim_time").value)
        if self._sim_time:
            self.set_parameters([Parameter("use_sim_time", value=False)])
        self._declared = Parameters(self, self._change_settings)

    @property
    def settings(self) -> Settings:
        """Those of now."""
        return self._declared.settings

    def _change_settings(self, settings: Settings) -> None:
        """Use other settings (raises InertialIdError where they cannot be used)."""
        estimation, before = self._estimation, self.settings
        if estimation is None:
            return
        if replace(before, apply=settings.apply, motion=settings.motion,
                   compensation=settings.compensation) != settings:
            estimation.worker.call(lambda: estimation.use_settings(settings))
        if estimation.streams is not None:
            estimation.streams.compensation.configure(settings)

    # ---- transitions ----------------------------------------------------------------------------

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Make the identifier, the thread that owns it, and what clients and listeners see."""
        return self._attempt("configure", self._configure) or super().on_configure(state)

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Listen and estimate."""
        super().on_activate(state)
        failed = self._attempt("activate", self._activate)
        if failed:
            super().on_deactivate(state)
        return failed or TransitionCallbackReturn.SUCCESS

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Forget the data, and say so in a last message."""
        estimation = self._estimation
        assert estimation is not None
        return self._attempt("deactivate", lambda: estimation.end("the node is inactive")) or (
            super().on_deactivate(state))

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """End what configuring has begun."""
        return self._attempt("clean up", self._clean_up) or super().on_cleanup(state)

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """End all."""
        return self._attempt("shut down", self.close) or super().on_shutdown(state)

    def _attempt(self, name: str, action: Callable[[], object]) -> Any:
        """Run an action; FAILURE where it raises, which is logged, since rclpy would swallow it."""
        try:
            action()
        except Exception as error:
            self.failure = error
            words = str(error) if isinstance(error, InertialIdError) else repr(error)
            self.get_logger().error(f"cannot {name}: {words}")
            self.get_logger().debug("".join(traceback.format_exception(error)))
            return TransitionCallbackReturn.FAILURE
        return None

    def _configure(self) -> None:
        settings, notes = self.settings, Notes()
        identifier = make_identifier(settings)
        keeper = StateKeeper(settings, self.get_fully_qualified_name())
        state, complaint = keeper.load()
        notes.say("file_failed", complaint or keeper.why_not)
        beliefs, unused = restored(identifier.beliefs, settings, state)
        notes.say("tare_not_used", unused)
        identifier.believe(replace(beliefs, tool=identifier.beliefs.tool or beliefs.tool))
        if settings.robot_description.file:
            _use_description_file(identifier, settings.robot_description.file)
        self._publishing = Publishing(self, self._declared.write_payload)
        self._estimation = Estimation(identifier, self._publishing, notes, self._log_error)
        self._action = IdentifyAction(self, self._estimation, lambda: self.settings)
        self._offered = Services(self, self._estimation, keeper, lambda: self.settings)
        self._apply = ApplyService(self, self._estimation, keeper, lambda: self.settings)
        self._loggers = FindingLogger(self.get_logger()), PayloadLogger(self.get_logger())
        self._rates: dict[str, Rate] = {}
        self._several = ""  # that several nodes publish the wrench
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._routines = [
            self.create_timer(period, routine, MutuallyExclusiveCallbackGroup(), clock=steady)
            for period, routine in ((LOOK, self._estimation.look), (REPORT, self._report))]

    def _activate(self) -> None:
        estimation = self._estimation
        assert estimation is not None
        streams = Subscriptions(self, self.settings, self._sim_time,
                                lambda stamp: estimation.freshness.age_of(stamp))
        self._rates = {}
        estimation.start(streams)
        self.get_logger().info(
            f"{self.settings.estimator.method} at {self.settings.estimator.rate:g} Hz from "
            f"{self.resolve_topic_name(streams.load_topic.name(self.settings))}")

    def _clean_up(self) -> None:
        estimation, self._estimation = self._estimation, None
        if estimation is None:
            return
        for timer in self._routines:
            self.destroy_timer(timer)
        self._action.close()
        self._offered.close()
        self._apply.close()
        estimation.worker.stop(STOP_TIME)
        self._publishing.close()

    def close(self) -> bool:
        """End the threads, in any state; True if a goal ran."""
        if self._estimation is None:
            return False
        had_goal = self._action.is_running
        try:
            if self._estimation.streams is not None:
                self._estimation.end("the node stops", STOP_TIME)
        except InertialIdError as error:  # the worker takes longer
            self.get_logger().warning(str(error))
        else:
            if not had_goal:
                self._clean_up()
        return had_goal

    # ---- reports --------------------------------------------------------------------------------

    def _log_error(self, error: Exception) -> None:
        if self.context.ok():
            self.get_logger().error("".join(traceback.format_exception(error)))

    def _report(self) -> None:
        """Publish diagnostics, and log what is new."""
        estimation = self._estimation
        if estimation is None:
            return
        streams, now, rates = estimation.streams, monotonic(), {}
        stamp = self.get_clock().now().to_msg()
        if streams is not None:
            several = streams.several_publishers()
            if several != self._several:
                self._several = several
                self.get_logger().warning(several or "one node publishes the wrench again")
            received = streams.inbox.received
            for topic in (streams.load_topic, *received):
                name = topic.setting.removesuffix(".topic")
                count = received[topic].count
                if name not in rates:
                    rates[name] = self._rates.setdefault(name, Rate()).update(count, now), count
            stamp = streams.node.get_clock().now().to_msg()
        findings = (*estimation.notes.all(), *estimation.findings_now)
        findings = tuple({f.name: f for f in findings}.values())
        self._loggers[0].update(findings)
        self._loggers[1].update(estimation.outcome)
        self._publishing.publish_diagnostics(statuses(
            self.get_fully_qualified_name().lstrip("/"), findings, estimation.outcome, rates,
            estimation.longest), stamp)


def _use_description_file(identifier: Any, name: str) -> None:
    try:
        identifier.set_robot_description(read_description(user_path(name)))
    except InertialIdError as error:
        raise InvalidSetting(f"robot_description.file is '{name}': {error}") from error
