# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Node ``inertial_id_node``: identifies online what the arm carries.

Four threads: ``io``, that of the streams (`io_thread`), which never waits; ``worker``
(`estimation`), which owns the identifier and waits for nobody; ``apply``, which waits for drivers;
and that of the executor, in which services are coroutines that wait for the others. Parameters and
timers, which rclpy does not await, wait for nobody there; transitions wait for the worker.
"""

import gc
import os
import sys
import threading
import traceback
from argparse import RawDescriptionHelpFormatter
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from typing import Any

import rclpy
from rclpy.clock import Clock, ClockType
from rclpy.exceptions import ParameterException
from rclpy.executors import SingleThreadedExecutor
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.parameter import Parameter

from ..cli import Parser
from ..errors import InertialIdError, InvalidSetting, printable
from ..settings import Settings
from .apply import ApplyService
from .conversions import Publishing
from .diagnostics import PERIOD, Diagnostics
from .estimation import LOOK, Estimation
from .files import Files
from .io_thread import IoThread
from .parameters import Parameters
from .program import spin, start_ros, stop_flag
from .services import Services

NAME = "inertial_id_node"
STOP_TIME = 1.5  # s that the last estimate may take
RESULT_TIME = 0.3  # s to deliver what the node says at its end, as the result of an aborted goal
DESCRIPTION = """\
Identify online the mass, centre of mass and inertia of what a robot arm carries, from the wrench at
its wrist (or its joint torques), its joint states or TF, and its description.

settings are ROS parameters (docs/settings.md; config/ holds files for several drivers):
  inertial_id_node --ros-args --params-file ur.yaml -p estimator.method:=lmi
topics, services, the action and the parameters payload.*: docs/interfaces.md

Exit status: 0 stopped by a signal, 2 a setting or an argument that cannot be used."""


def _transition(action: Callable[[Any, LifecycleState], None]) -> Callable[..., Any]:
    """A transition: FAILURE where it raises, which is logged, since rclpy would swallow it."""
    def attempt(node: "InertialIdNode", state: LifecycleState) -> TransitionCallbackReturn:
        try:
            action(node, state)
        except Exception as error:
            node.failure = error
            node.get_logger().error(f"cannot {action.__name__[3:]}: {node.explain(error)}")
            return TransitionCallbackReturn.FAILURE
        return TransitionCallbackReturn.SUCCESS
    return attempt


class InertialIdNode(LifecycleNode):
    """The identification node (raises InertialIdError where a setting is not allowed)."""

    estimation: Estimation  # the worker and what it shows, while the node is configured
    files: Files  # that it writes, while it is

    def __init__(self) -> None:
        super().__init__(NAME, automatically_declare_parameters_from_overrides=True)
        self.failure: Exception | None = None  # of the last transition
        self._offered: Services | None = None  # None: the node is not configured
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
                assert self.failure is not None
                raise self.failure

    def _use_settings(self, settings: Settings, estimator: Any) -> None:
        """Use other settings (raises InertialIdError where they cannot be used)."""
        if self._offered is None or replace(
                self.settings, apply=settings.apply, motion=settings.motion) == settings:
            return
        identifier, submit = self.estimation.identifier, self.estimation.worker.submit
        estimator.check(identifier.beliefs.shape)
        # Python logs what a callback raises.
        submit(identifier.set_settings, settings).add_done_callback(Future.result)
        if self.estimation.io is not None:
            submit(self.estimation.solve)

    @_transition
    def on_configure(self, state: LifecycleState) -> None:
        """Make the identifier, the thread that owns it, and what clients and listeners see."""
        self.files = Files(self.settings, self.get_fully_qualified_name())
        identifier, wrong, unused = self.files.make_identifier(self.settings)
        publishing = Publishing(self, self._declared.write_payload)
        self.estimation = estimation = Estimation(identifier, publishing, self)
        estimation.note("file_failed", wrong)
        estimation.note("tare_not_used", unused)
        self._offered, steady = Services(self), Clock(clock_type=ClockType.STEADY_TIME)
        ApplyService(self)
        for period, routine in ((LOOK, estimation.look),
                                (PERIOD, Diagnostics(self, estimation).report)):
            self.create_timer(period, routine, clock=steady)

    @_transition
    def on_activate(self, state: LifecycleState) -> None:
        """Listen and estimate."""
        io = IoThread(self, self.settings, self._sim_time, self.estimation.age_of)
        super().on_activate(state)  # the publishers speak from now on
        self.estimation.start(io)
        self.get_logger().info(f"{self.settings.estimator.method} at "
                               f"{self.settings.estimator.rate:g} Hz")

    @_transition
    def on_deactivate(self, state: LifecycleState) -> None:
        """Forget the data, and say so in a last message."""
        self.estimation.end("the node is inactive")
        super().on_deactivate(state)

    @_transition
    def on_cleanup(self, state: LifecycleState) -> None:
        """End what configuring has begun."""
        assert self._offered is not None
        for made, destroy in ((self.timers, self.destroy_timer),
                              (self.services, self.destroy_service),
                              (self.publishers, self.destroy_lifecycle_publisher)):
            for one in {*made} - self._lasting:
                destroy(one)
        self._offered.close()
        self._offered = None
        self.estimation.worker.shutdown(wait=False)

    @_transition
    def on_shutdown(self, state: LifecycleState) -> None:
        """End all."""
        self.close()

    def close(self) -> None:
        """End the threads, in any state."""
        with suppress(InertialIdError):  # the worker takes longer
            if self._offered is not None:
                self.estimation.end("the node stops", STOP_TIME)

    def require_active(self) -> None:
        """Raise InertialIdError where the node is not active."""
        if self.estimation.io is None:
            raise InertialIdError("the node is inactive; activate it first (ros2 lifecycle set "
                                  f"{self.get_fully_qualified_name()} activate)")

    def explain(self, error: Exception) -> str:
        """An error in a sentence; one that should not happen is logged, too."""
        if isinstance(error, InertialIdError):
            return str(error)
        if isinstance(error, OSError):
            return printable(f"file {error.filename or ''}: {error.strerror or error}")
        if self.context.ok():
            self.get_logger().error("".join(traceback.format_exception(error)))
        return printable(f"internal error: {error}")


def main() -> int:
    """Run the node until SIGINT or SIGTERM (raises InertialIdError: an argument or a setting cannot
    be used)."""
    Parser(prog=NAME, description=DESCRIPTION, formatter_class=RawDescriptionHelpFormatter,
           usage="%(prog)s [--help] [--ros-args ROS_ARGUMENTS]"
           ).parse_args(start_ros(NAME, sys.argv[1:]))
    stop = stop_flag()  # rclpy's own handlers would end ROS before the last messages are out
    try:
        node = InertialIdNode()
    except ParameterException as error:
        raise InvalidSetting(str(error)) from error
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    try:
        node.autostart()
        gc.freeze()  # or a collection of all that was imported holds every thread for 60 ms
        spin(executor, stop)
    finally:
        node.close()
        spin(executor, threading.Event(), RESULT_TIME)
        rclpy.try_shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)  # a solver or a service that has not come to its end must not keep it
