# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The node that identifies, as the command sees it: its settings, estimates, goals and services."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from rclpy.action import ActionClient

from inertial_id_ros.action import Identify
from inertial_id_ros.msg import InertialParameters
from inertial_id_ros.srv import Apply, GetInertialParameters, Save

from ...apps.guide.progress import Part, Progress, Wanted, parts_of
from ...errors import InertialIdError, InvalidData
from ...inertia import Array
from ...kinds import STOPPING, Doubt
from ...settings import Settings, iter_settings, settings_from_mapping
from ..contract import DEADLINE, received_qos
from ..conversions import stamp_ns
from ..ros_client import TIMES, NoAnswer, NoResponse
from .guide_node import GuideNode

APPLY = 100.0  # s: longer than the node takes, which waits for up to three services and reads back
# s in which a node that runs is found: where its first announcements are lost, DDS repeats them
# after 3 s. Two nodes of one name would answer the same goals.
LOOK = 7.0
GOAL = 10.0  # s until a goal is accepted


class Numbers(NamedTuple):
    """An estimate: mass, centre of mass and inertia about it (10,), covariance (10, 10), verdicts
    (10,), bias (6,), stamp [ns] and frame."""

    report: Array
    covariance: Array
    verdicts: tuple[int, ...]
    bias: Array
    stamp_ns: int
    frame: str

    @property
    def sigma(self) -> Array:
        """Standard deviations (10,)."""
        return np.sqrt(np.maximum(np.diag(self.covariance), 0.0))

    @classmethod
    def of(cls, message: InertialParameters) -> Numbers:
        """Those of a message."""
        i, b, header = message.inertia, message.bias, message.header
        return cls(
            np.array([i.m, i.com.x, i.com.y, i.com.z, i.ixx, i.ixy, i.ixz, i.iyy, i.iyz, i.izz]),
            np.array(message.covariance).reshape(10, 10), tuple(int(v) for v in message.verdict),
            np.array([b.force.x, b.force.y, b.force.z, b.torque.x, b.torque.y, b.torque.z]),
            stamp_ns(header.stamp), header.frame_id)


class NodeLink:
    """The topics, services and the action of a node.

    Args:
        name: full name of the node.

    Attributes:
        settings: of the node.

    Raises:
        NoAnswer: there is no such node.
    """

    def __init__(self, guide: GuideNode, name: str) -> None:
        self._guide, self.name = guide, name
        groups = sorted({name.split(".")[0] for name, _, _ in iter_settings(Settings())})
        values = guide.client.parameters(name, groups)
        self.settings = settings_from_mapping({
            name: value for name, value in values.items() if value is not None})
        self._message: InertialParameters | None = None
        self._heard = self._since = 0.0  # steady times of the newest message, and of the goal [s]
        self._missing = ""
        self._goal: Any = None  # handle in rclpy
        self._result: Any = None
        guide.subscribe(InertialParameters, f"{name}/inertial_parameters", self._take,
                        received_qos())
        self._client = ActionClient(guide.node, Identify, f"{name}/identify")

    def _take(self, message: InertialParameters) -> None:
        self._message, self._heard = message, time.monotonic()

    # ---- what is known ---------------------------------------------------------------------------

    @property
    def estimate(self) -> Numbers | None:
        """The newest estimate since the goal began; None before any."""
        message = self._message
        return Numbers.of(message) if message and message.valid and self._heard > self._since else (
            None)

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

    def parts(self, wanted: Wanted) -> tuple[Part, ...]:
        """Mass, centre of mass and inertia as far as they are known."""
        known = self.estimate
        return () if known is None else parts_of(known.report, known.sigma, known.verdicts, wanted)

    def progress(self, wanted: Wanted, timeout: float) -> Progress:
        """What is known, what is missing, and the time since the goal began."""
        elapsed, parts = time.monotonic() - self._since, self.parts(wanted)
        reached = parts and all(part.is_reached for part in parts)
        text = self._missing or ("" if parts or self._message is None else self._message.status)
        return Progress(elapsed, max(timeout - elapsed, 0.0), parts, "" if reached else text)

    # ---- goals -----------------------------------------------------------------------------------

    def begin(self, mass: float, com: float, inertia: float, timeout: float, keep_data: bool
              ) -> None:
        """Have the node identify to this accuracy (raises InvalidData: it refuses).

        Args:
            mass: [kg]; com: [m]; inertia: share of the mean moment; as in `Identify.action`.
        """
        guide = self._guide
        if not guide.wait_until(self._client.server_is_ready, GOAL):
            raise InvalidData(f"node '{self.name}' has no action ~/identify")
        sent = self._client.send_goal_async(Identify.Goal(
            mass_accuracy=float(mass), com_accuracy=float(com), inertia_accuracy=float(inertia),
            timeout=float(timeout), keep_data=keep_data), self._take_feedback)
        if not guide.wait_until(sent.done, GOAL) or not sent.result().accepted:
            raise InvalidData(f"node '{self.name}' refuses to identify; its log says why")
        if not keep_data:
            self._since = time.monotonic()
        self._goal, self._missing = sent.result(), ""
        self._result = self._goal.get_result_async()

    def _take_feedback(self, message: Any) -> None:
        self._missing = message.feedback.missing

    def end(self) -> None:
        """Cancel the goal that runs, if one does, and wait until it has ended, also after a stop:
        another goal must not find this one."""
        goal, self._goal = self._goal, None
        if goal is None or self._result.done():
            return
        goal.cancel_goal_async()
        end = time.monotonic() + GOAL
        while not self._result.done() and time.monotonic() < end:
            time.sleep(0.02)

    def close(self) -> None:
        """End the goal, and release what would outlive the node of this program."""
        self.end()
        self._client.destroy()

    # ---- services --------------------------------------------------------------------------------

    def newest(self) -> Numbers:
        """The last estimate (raises InvalidData where there is none)."""
        answer = self._guide.client.call(
            GetInertialParameters, f"{self.name}/get_inertial_parameters",
            GetInertialParameters.Request(), times=TIMES)
        if not answer.success:
            raise InvalidData(answer.message)
        return Numbers.of(answer.parameters)

    def save(self, name: str) -> str:
        """Save the last estimate under a name; where, in words (raises InvalidData)."""
        answer = self._guide.client.call(Save, f"{self.name}/save", Save.Request(name=name))
        if not answer.success:
            raise InvalidData(f"the estimate cannot be saved: {answer.message}")
        return str(answer.message)

    def apply(self, target: str, estimate: str, send: bool) -> Apply.Response:
        """The answer of ~/apply; without any within `APPLY`, one that says whether the payload may
        have been sent."""
        try:
            return self._guide.client.call(
                Apply, f"{self.name}/apply",
                Apply.Request(target=target, estimate=estimate, send=send), APPLY)
        except NoResponse as error:
            return Apply.Response(sent=send, message=str(error))
        except NoAnswer as error:
            return Apply.Response(message=str(error))


def find_node(guide: GuideNode, name: str) -> bool:
    """True if a node of this name identifies already."""
    return guide.wait_until(
        lambda: f"{name}/get_inertial_parameters" in guide.client.services(), LOOK)


def wait_for_node(guide: GuideNode, name: str, ended: Callable[[], str], seconds: float) -> None:
    """Wait until a node that was started answers.

    Args:
        ended: says in words that it has ended by itself; empty while it runs.

    Raises:
        InertialIdError: it ended, or does not answer.
    """
    def answers() -> bool:
        if text := ended():
            raise InvalidData(text)
        return f"{name}/apply" in guide.client.services()

    if not guide.wait_until(answers, seconds):
        raise InertialIdError(f"node '{name}' does not answer within {seconds:g} s")
