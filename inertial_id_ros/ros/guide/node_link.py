# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The node that identifies, as the command sees it by a node of its own: its settings, estimates
and services."""

import os
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import rclpy
from rclpy.experimental import EventsExecutor
from std_srvs.srv import Trigger

from inertial_id_ros.msg import InertialParameters
from inertial_id_ros.srv import Apply, Save

from ...apps.guide.show import interrupted
from ...errors import InvalidData
from ...estimate import Estimate
from ...export import estimate_from
from ...kinds import STOPPING, Doubt
from ...settings import Settings, iter_settings, settings_from_mapping
from ..conversions import DEADLINE, LATCHED, body_of, verdicts_of
from ..motion_execution import MotionExecution
from ..program import Children, spin, start_ros
from ..ros_client import NoAnswer, NoResponse, RosClient

# s in which a node that runs is found, by name or service: DDS announces both for half a second and
# again after 3 s (`doubt` finds one that is later); in which it must offer its services.
LOOK, START = 4.0, 30.0
ANSWER = 60.0  # s: an estimate that runs is waited for
APPLY = 100.0  # s: longer than the node takes, which waits for up to three services and reads back
POLL = 0.02  # s
SERVICES = {"reset": Trigger, "save": Save}
SETUP = Doubt.MASS | Doubt.FRAME  # what a wrong set-up puts in doubt
LATEST = 60.0  # s after a session for which a controller may answer late


class NodeLink:
    """A context manager that starts and ends ROS. Callbacks run in a thread, so that a session can
    wait for answers one after the other. name: of the node that identifies, in full; stop: set to
    end; words: arguments of ROS.

    Attributes:
        node: of the command; client: of other nodes.
        settings: of the node that identifies; message: its newest. Both after `connect`.
        since: steady time before which no message counts [s]; on_message: called with each.
        execution: the newest motion; None: there was none. Until the command ends, and up to
            `LATEST` after that, a goal that the controller accepts late is cancelled.
    """

    settings: Settings
    on_message: Callable[[], object] = staticmethod(lambda: None)

    def __init__(self, name: str, stop: threading.Event, words: Sequence[str] = ()) -> None:
        self.name, self.stop = name, stop
        start_ros("identify_payload", words)
        self.node = rclpy.create_node(
            f"identify_payload_{os.getpid()}", namespace=name.rpartition("/")[0],
            start_parameter_services=False, enable_rosout=False)
        self.client = RosClient(self.node)
        self._servers = partial(self.node.count_services, f"{name}/apply")
        self.execution: MotionExecution | None = None
        self.message, self._heard, self.since = InertialParameters(), -DEADLINE, 0.0
        executor = EventsExecutor()
        executor.add_node(self.node)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=spin, args=(executor, self._ended),
                                        name="executor", daemon=True)

    def __enter__(self) -> "NodeLink":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        end = time.monotonic() + LATEST
        while self.execution and not self.execution.is_settled and time.monotonic() < end:
            time.sleep(POLL)  # also after a stop
        if self.execution:
            self.execution.close()
        self._ended.set()
        self._thread.join(2.0)
        self.node.destroy_node()
        rclpy.try_shutdown()

    def wait(self, seconds: float, condition: Callable[[], Any] = lambda: False) -> bool:
        """Wait until a condition holds, at most so long; True if it does (raises End: stopped)."""
        end = time.monotonic() + seconds
        while not condition():
            if self.stop.is_set():
                raise interrupted()
            if time.monotonic() >= end:
                return False
            self.stop.wait(POLL)
        return True

    def connect(self, children: Children, arguments: Sequence[str], say: Callable[[str], None]
                ) -> None:
        """Find the node, or start it and say so, read its settings, and listen to it (raises
        NoAnswer; InvalidData: the one that was started has ended)."""
        if not self.wait(LOOK, lambda: self._servers() or (
                self.name in self.node.get_fully_qualified_node_names())):
            say(f"no node '{self.name}' runs; one is started")
            children.start("inertial_id_node", arguments)
        if not self.wait(START, lambda: self._servers() or children.describe_ended()):
            raise NoAnswer(f"node '{self.name}' offers no ~/apply; is it configured?")
        if text := children.describe_ended():
            raise InvalidData(text)
        groups = sorted({name.split(".")[0] for name, _, _ in iter_settings(Settings())})
        values = self.client.parameters(self.name, groups)
        self.settings = settings_from_mapping({
            name: value for name, value in values.items() if value is not None})
        self.node.create_subscription(
            InertialParameters, f"{self.name}/inertial_parameters", self._keep, LATCHED)

    def _keep(self, message: InertialParameters) -> None:
        self.message, self._heard = message, time.monotonic()
        self.on_message()

    @property
    def estimate(self) -> Estimate | None:
        """The newest estimate, NaN where its message says nothing; None: none since `since`."""
        message = self.message
        if not message.valid or self._heard <= self.since:
            return None
        parts = message.bias.force, message.bias.torque
        return estimate_from(
            body_of(message), message.covariance.reshape(10, 10), stale=message.stale,
            frame_id=message.header.frame_id, verdict=verdicts_of(message),
            bias=np.array([getattr(part, axis) for part in parts for axis in "xyz"]))

    def doubt(self, which: Doubt = STOPPING) -> str:
        """The node's sentence about doubts, of these, that it has, or its silence; empty: none."""
        message = self.message
        if self._servers() > 1:
            return f"several nodes are named '{self.name}'"
        if time.monotonic() - self._heard > DEADLINE:
            return f"node '{self.name}' has sent nothing for {DEADLINE:g} s"
        return next(iter(message.diagnostics), message.status) if (
            Doubt(message.doubt) & which) else ""

    def call(self, service: str, **request: Any) -> str:
        """The message of an answer of `SERVICES` (raises NoAnswer; InvalidData: it refuses)."""
        answer = self.client.call(SERVICES[service], f"{self.name}/{service}", request, ANSWER)
        if not answer.success:
            raise InvalidData(f"~/{service} of node '{self.name}': {answer.message}")
        return str(answer.message)

    def apply(self, target: str, estimate: str, send: bool) -> Apply.Response:
        """The answer of ~/apply, or, without any, whether the payload may have been sent."""
        try:
            return self.client.call(Apply, f"{self.name}/apply", {
                "target": target, "estimate": estimate, "send": send}, APPLY)
        except NoAnswer as error:
            return Apply.Response(sent=send and isinstance(error, NoResponse), message=str(error))
