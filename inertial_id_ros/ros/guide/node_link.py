# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The command's own node, and the node that identifies as the command sees it: its settings,
estimates and services."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import rclpy
from std_srvs.srv import Trigger

from inertial_id_ros.msg import InertialParameters
from inertial_id_ros.srv import Apply, GetInertialParameters, Save

from ...apps.guide.progress import Numbers, Progress, Wanted, parts_of
from ...errors import InvalidData
from ...io.decoding import inertia_numbers
from ...kinds import STOPPING, Doubt
from ...settings import Settings, iter_settings, settings_from_mapping
from ..conversions import DEADLINE, LATCHED
from ..motion_execution import MotionExecution
from ..program import make_executor, spin
from ..ros_client import TIMES, NoAnswer, NoResponse, RosClient

RESET = 60.0  # s: an estimate that runs is waited for
APPLY = 100.0  # s: longer than the node takes, which waits for up to three services and reads back
POLL = 0.02  # s
LATEST = 60.0  # s after a session for which a controller may answer late


class Stopped(Exception):
    """The user wants to end."""


class GuideNode:
    """A node whose executor runs in a thread, so that the session can wait for answers one after
    the other; a context manager that leaves the graph.

    Args:
        stop: set when the user wants to end.

    Attributes:
        node: of rclpy; client: of other nodes.
        unsettled: motions whose goal the controller has neither rejected nor ended. Until this node
            leaves, and up to `LATEST` after that, a goal that is accepted late is cancelled.
    """

    def __init__(self, stop: threading.Event) -> None:
        self.stop = stop
        self.node = rclpy.create_node(f"identify_payload_{os.getpid()}",
                                      start_parameter_services=False, enable_rosout=False)
        self.client = RosClient(self.node)
        self.unsettled: list[MotionExecution] = []
        executor = make_executor()
        executor.add_node(self.node)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=spin, args=(executor, self._ended),
                                        name="executor", daemon=True)

    def __enter__(self) -> GuideNode:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        end = time.monotonic() + LATEST
        for execution in self.unsettled:
            while not execution.is_settled and time.monotonic() < end:
                time.sleep(POLL)  # also after a stop
            execution.close()
        self._ended.set()
        self._thread.join(2.0)
        self.node.destroy_node()

    def now_ns(self) -> int:
        """The time by the clock of ROS [ns]."""
        return int(self.node.get_clock().now().nanoseconds)

    def wait(self, seconds: float) -> None:
        """Let time pass (raises Stopped)."""
        self.wait_until(lambda: False, seconds)

    def wait_until(self, condition: Callable[[], Any], seconds: float) -> bool:
        """Wait for a condition; True if it holds within this time [s] (raises Stopped)."""
        end = time.monotonic() + seconds
        while not condition():
            if self.stop.is_set():
                raise Stopped
            if time.monotonic() >= end:
                return False
            self.stop.wait(POLL)
        return True


class NodeLink:
    """The topics and services of a node.

    Args:
        name: full name of the node.

    Attributes:
        settings: of the node.

    Raises:
        NoAnswer: there is no such node.
    """

    def __init__(self, guide: GuideNode, name: str) -> None:
        self._client, self.name = guide.client, name
        groups = sorted({name.split(".")[0] for name, _, _ in iter_settings(Settings())})
        values = self._client.parameters(name, groups)
        self.settings = settings_from_mapping({
            name: value for name, value in values.items() if value is not None})
        self._message: InertialParameters | None = None
        self._heard = self._since = 0.0  # steady times of the newest message, and of `forget` [s]
        guide.node.create_subscription(
            InertialParameters, f"{name}/inertial_parameters", self._keep, LATCHED)

    def _keep(self, message: InertialParameters) -> None:
        self._message, self._heard = message, time.monotonic()

    # ---- what is known ---------------------------------------------------------------------------

    @property
    def estimate(self) -> Numbers | None:
        """The newest estimate since `forget`; None before any."""
        message = self._message
        if message is None or not message.valid or self._heard <= self._since:
            return None
        return numbers_of(message)

    @property
    def is_fresh(self) -> bool:
        """True if the newest message holds an estimate that is not held."""
        return bool(self._message and self._message.valid and not self._message.stale)

    def doubt(self) -> tuple[Doubt, str]:
        """The doubts of the node at this moment, and its sentence about them; all that must
        stop an arm where the node is silent."""
        message = self._message
        if message is None or time.monotonic() - self._heard > DEADLINE:
            return STOPPING, f"node '{self.name}' has sent nothing for {DEADLINE:g} s"
        return Doubt(message.doubt), next(iter(message.diagnostics), message.status)

    def progress(self, wanted: Wanted, timeout: float) -> Progress:
        """What is known, what is missing, and the time since `forget`."""
        known, elapsed = self.estimate, time.monotonic() - self._since
        return Progress(elapsed, max(timeout - elapsed, 0.0),
                        () if known is None else parts_of(known, wanted),
                        self._message.status if known is None and self._message else "")

    # ---- services --------------------------------------------------------------------------------

    def _call(self, kind: Any, service: str, request: Any, failure: str,
              **options: Any) -> Any:
        """The response of a service (raises NoAnswer; InvalidData, whose text a failure begins: it
        refuses)."""
        answer = self._client.call(kind, f"{self.name}/{service}", request, **options)
        if not answer.success:
            raise InvalidData(failure + answer.message)
        return answer

    def forget(self) -> None:
        """Have the node forget all samples: the time of the session begins."""
        self._call(Trigger, "reset", Trigger.Request(),
                   f"node '{self.name}' does not begin anew: ", timeout=RESET)
        self._since = time.monotonic()

    def newest(self) -> Numbers:
        """The last estimate (raises InvalidData where there is none)."""
        return numbers_of(self._call(GetInertialParameters, "get_inertial_parameters",
                                     GetInertialParameters.Request(), "", times=TIMES).parameters)

    def save(self, name: str) -> str:
        """Save the last estimate under a name; where, in words."""
        return str(self._call(Save, "save", Save.Request(name=name),
                              "the estimate cannot be saved: ").message)

    def apply(self, target: str, estimate: str, send: bool) -> Apply.Response:
        """The answer of ~/apply; without any within `APPLY`, one that says whether the payload may
        have been sent."""
        try:
            return self._client.call(
                Apply, f"{self.name}/apply",
                Apply.Request(target=target, estimate=estimate, send=send), APPLY)
        except NoAnswer as error:
            return Apply.Response(sent=send and isinstance(error, NoResponse), message=str(error))


def numbers_of(message: InertialParameters) -> Numbers:
    """The estimate of a message."""
    force, torque = message.bias.force, message.bias.torque
    return Numbers(
        inertia_numbers(message.inertia), np.array(message.covariance).reshape(10, 10),
        tuple(int(v) for v in message.verdict),
        np.array([force.x, force.y, force.z, torque.x, torque.y, torque.z]),
        message.header.frame_id)
