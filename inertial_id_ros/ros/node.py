# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Node ``inertial_id_node``: identifies online what the arm carries.

Three kinds of threads: that of the streams (`streams`), which never waits; the worker
(`estimation`), which owns the identifier and waits for nobody; and the pool of an executor, in
which services, parameters, transitions and timers may wait for both.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.clock import Clock, ClockType
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.parameter import Parameter

from ..errors import InertialIdError, printable
from ..settings import Settings
from .apply import ApplyService
from .conversions import Publishing
from .diagnostics import PERIOD, Diagnostics
from .estimation import LOOK, Estimation
from .files import Files
from .identify_action import IdentifyAction
from .parameters import Parameters
from .services import Services
from .streams import Subscriptions

NAME = "inertial_id_node"
STOP_TIME = 1.5  # s that the last estimate may take


class InertialIdNode(LifecycleNode):
    """The identification node (raises InertialIdError where a setting is not allowed)."""

    estimation: Estimation  # the worker and what it shows, while the node is configured
    files: Files  # that it writes, while it is

    def __init__(self, name: str = NAME, **options: Any) -> None:
        super().__init__(name, automatically_declare_parameters_from_overrides=True, **options)
        self._failure: Exception | None = None
        self._action: IdentifyAction | None = None  # None: the node is not configured
        # /clock may come at 1 kHz, too fast for this executor: the thread of the streams hears it.
        self._sim_time = bool(self.get_parameter("use_sim_time").value)
        if self._sim_time:
            self.set_parameters([Parameter("use_sim_time", value=False)])
        self._declared = Parameters(self, self._use_settings)
        self._lasting = {*self.services, *self.publishers, *self.timers}

    @property
    def settings(self) -> Settings:
        """Those of now."""
        return self._declared.settings

    def autostart(self) -> None:
        """Configure and activate, where the settings want that; raises what prevents it."""
        if not self.settings.lifecycle.autostart:
            self.get_logger().info("unconfigured: waiting for a lifecycle manager, because "
                                   "lifecycle.autostart is false")
            return
        for transition in (self.trigger_configure, self.trigger_activate):
            if transition() != TransitionCallbackReturn.SUCCESS:
                assert self._failure is not None
                raise self._failure

    def _use_settings(self, settings: Settings) -> None:
        """Use other settings (raises InertialIdError where they cannot be used)."""
        if self._action is None or replace(
                self.settings, apply=settings.apply, motion=settings.motion) == settings:
            return

        def use() -> None:
            self.estimation.identifier.set_settings(settings)
            if self.estimation.streams is not None:
                self.estimation.solve()
        self.estimation.worker.call(use)

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Make the identifier, the thread that owns it, and what clients and listeners see."""
        return self._attempt("configure", self._configure)

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Listen and estimate."""
        super().on_activate(state)  # the publishers speak from now on
        result = self._attempt("activate", self._activate)
        if result != TransitionCallbackReturn.SUCCESS:
            super().on_deactivate(state)
        return result

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Forget the data, and say so in a last message."""
        result = self._attempt("deactivate", lambda: self.estimation.end("the node is inactive"))
        if result == TransitionCallbackReturn.SUCCESS:
            super().on_deactivate(state)
        return result

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """End what configuring has begun."""
        return self._attempt("clean up", self._clean_up)

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """End all."""
        return self._attempt("shut down", self.close)

    def _attempt(self, name: str, action: Callable[[], object]) -> TransitionCallbackReturn:
        """Run an action; FAILURE where it raises, which is logged, since rclpy would swallow it."""
        try:
            action()
        except Exception as error:
            self._failure = error
            self.get_logger().error(f"cannot {name}: {self.explain(error)}")
            return TransitionCallbackReturn.FAILURE
        return TransitionCallbackReturn.SUCCESS

    def _configure(self) -> None:
        self.files = Files(self.settings, self.get_fully_qualified_name())
        identifier, wrong, unused = self.files.make_identifier(self.settings)
        publishing = Publishing(self, self._declared.write_payload)
        self.estimation = estimation = Estimation(identifier, publishing, self.explain)
        estimation.note("file_failed", wrong)
        estimation.note("tare_not_used", unused)
        Services(self)
        ApplyService(self)
        self._action, steady = IdentifyAction(self), Clock(clock_type=ClockType.STEADY_TIME)
        for period, routine in ((LOOK, estimation.look),
                                (PERIOD, Diagnostics(self, estimation).report)):
            self.create_timer(period, routine, MutuallyExclusiveCallbackGroup(), clock=steady)

    def _activate(self) -> None:
        streams = Subscriptions(self, self.settings, self._sim_time,
                                lambda stamp: self.estimation.freshness.age_of(stamp))
        self.estimation.start(streams)
        self.get_logger().info(f"{self.settings.estimator.method} at "
                               f"{self.settings.estimator.rate:g} Hz from {streams.load_name}")

    def _clean_up(self) -> None:
        assert self._action is not None
        for made, destroy in ((self.timers, self.destroy_timer),
                              (self.services, self.destroy_service),
                              (self.publishers, self.destroy_lifecycle_publisher)):
            for one in {*made} - self._lasting:
                destroy(one)
        self._action.close()
        self._action = None
        self.estimation.worker.stop(STOP_TIME)

    def close(self) -> None:
        """End the threads, in any state."""
        try:
            if self._action is not None:
                self.estimation.end("the node stops", STOP_TIME)
        except InertialIdError as error:  # the worker takes longer
            self.get_logger().warning(str(error))

    def require_active(self) -> None:
        """Raise InertialIdError where the node is not active."""
        if self.estimation.streams is None:
            raise InertialIdError("the node is inactive; activate it first (ros2 lifecycle set "
                                  f"{self.get_fully_qualified_name()} activate)")

    def explain(self, error: Exception) -> str:
        """An error in a sentence; one that should not happen is logged, too."""
        if isinstance(error, InertialIdError):
            return str(error)
        if self.context.ok():
            self.get_logger().error("".join(traceback.format_exception(error)))
        return printable(f"internal error: {error}")
