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
from typing import Any

from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.clock import Clock, ClockType
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.parameter import Parameter

from ..errors import InertialIdError
from ..settings import Settings
from .apply import ApplyService
from .contract import LOOK
from .diagnostics import PERIOD, Diagnostics
from .estimation import Estimation
from .files import StateKeeper
from .identify_action import IdentifyAction
from .parameters import Parameters
from .publishing import Publishing
from .services import Services
from .streams import Subscriptions

NAME = "inertial_id_node"
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
        if estimation is None or replace(
                before, apply=settings.apply, motion=settings.motion) == settings:
            return

        def use() -> None:
            estimation.identifier.set_settings(settings)
            if estimation.streams is not None:
                estimation.solve()
        estimation.worker.call(use)

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
        keeper = StateKeeper(self.settings, self.get_fully_qualified_name())
        identifier, wrong, unused = keeper.make_identifier(self.settings)
        publishing = Publishing(self, self._declared.write_payload)
        self._estimation = estimation = Estimation(identifier, publishing, self._log_error)
        estimation.notes.say("file_failed", wrong)
        estimation.notes.say("tare_not_used", unused)
        diagnostics = Diagnostics(self, estimation)
        self._action = IdentifyAction(self, estimation, lambda: self.settings)
        self._parts = (self._action, Services(self, estimation, keeper, lambda: self.settings),
                       ApplyService(self, estimation, keeper, lambda: self.settings), publishing,
                       diagnostics)
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._routines = [
            self.create_timer(period, routine, MutuallyExclusiveCallbackGroup(), clock=steady)
            for period, routine in ((LOOK, estimation.look), (PERIOD, diagnostics.report))]

    def _activate(self) -> None:
        estimation = self._estimation
        assert estimation is not None
        streams = Subscriptions(self, self.settings, self._sim_time,
                                lambda stamp: estimation.freshness.age_of(stamp))
        estimation.start(streams)
        self.get_logger().info(f"{self.settings.estimator.method} at "
                               f"{self.settings.estimator.rate:g} Hz from {streams.load_name}")

    def _clean_up(self) -> None:
        estimation, self._estimation = self._estimation, None
        if estimation is None:
            return
        for timer in self._routines:
            self.destroy_timer(timer)
        estimation.worker.stop(STOP_TIME)
        for part in self._parts:
            part.close()

    def close(self) -> bool:
        """End the threads, in any state; True if a goal ran, whose result is still to be sent."""
        estimation = self._estimation
        if estimation is None:
            return False
        had_goal = self._action.is_running
        try:
            if estimation.streams is not None:
                estimation.end("the node stops", STOP_TIME)
        except InertialIdError as error:  # the worker takes longer
            self.get_logger().warning(str(error))
        return had_goal

    def _log_error(self, error: Exception) -> None:
        if self.context.ok():
            self.get_logger().error("".join(traceback.format_exception(error)))
