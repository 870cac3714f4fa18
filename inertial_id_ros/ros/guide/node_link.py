# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The node that identifies, as the command sees it: its settings, estimates, goals and services."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from rclpy.action import ActionClient

from inertial_id_ros.action import Identify
from inertial_id_ros.msg import InertialParameters, InertialSummary
from inertial_id_ros.srv import Apply, GetInertialParameters, Save

from ...apps.guide.progress import Part, Progress, Wanted, parts_of
from ...errors import InertialIdError, InvalidData
from ...findings import STOPPING, Doubt
from ...inertia import Array
from ...settings import Settings, iter_settings, settings_from_mapping
from ..apply.other_nodes import NoAnswer, NoResponse, ParameterClient
from ..contract import DEADLINE, received_qos
from .guide_node import GuideNode

_ANSWER = 10.0  # s
APPLY = 100.0  # s: longer than the node takes, which waits for up to three services and reads back
# s in which a node that runs is found: where its first announcements are lost, DDS repeats them
# after 3 s. Two nodes of one name would answer the same goals.
_LOOK = 7.0
_GOAL = 10.0  # s until a goal is accepted


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
        self.settings = self._read_settings()
        self._summary: InertialSummary | None = None
        self._parameters: InertialParameters | None = None
        self._heard = 0.0  # steady time of the newest message [s]
        self._missing = ""
        self._goal: Any = None  # handle in rclpy
        self._result: Any = None
        self._since = time.monotonic()
        guide.subscribe(InertialSummary, f"{name}/summary", self._take_summary, received_qos())
        guide.subscribe(InertialParameters, f"{name}/inertial_parameters", self._take_parameters,
                        received_qos())
        self._client = guide.jobs.run(
            lambda: ActionClient(guide.node, Identify, f"{name}/identify"))

    def _read_settings(self) -> Settings:
        """The settings that the node runs with."""
        groups = sorted({name.split(".")[0] for name, _, _ in iter_settings(Settings())})
        values = ParameterClient(self._guide.asking, self.name, _ANSWER).read(groups)
        known = {name: value for name, value in values.items() if value is not None}
        return settings_from_mapping(known)

    def _take_summary(self, message: InertialSummary) -> None:
        self._summary = message

    def _take_parameters(self, message: InertialParameters) -> None:
        self._parameters, self._heard = message, time.monotonic()

    # ---- what is known ---------------------------------------------------------------------------

    @property
    def parameters(self) -> InertialParameters | None:
        """The newest message where it holds an estimate; None where it does not, or before any."""
        return self._parameters if self._parameters and self._parameters.valid else None

    def doubt(self) -> tuple[Doubt, str]:
        """The doubts of the node at this moment, and its sentence about them; all that must
        stop an arm where the node is silent."""
        message = self._parameters
        if message is None or time.monotonic() - self._heard > DEADLINE:
            return STOPPING, f"node '{self.name}' has told nothing for {DEADLINE:g} s"
        return Doubt(message.doubt), next(iter(message.diagnostics), message.status)

    @property
    def has_fresh_estimate(self) -> bool:
        """Whether there is an estimate of the goal that runs."""
        return bool(self._summary and self._summary.valid and not self._summary.stale)

    def parts(self, wanted: Wanted) -> tuple[Part, ...]:
        """Mass, centre of mass and inertia as far as they are known."""
        summary, known = self._summary, self.parameters
        if summary is None or not summary.valid or known is None:
            return ()
        report, covariance, _ = numbers_of(known)
        sigma = np.sqrt(np.maximum(np.diag(covariance), 0.0))
        return parts_of(report, sigma, list(known.verdict), wanted)

    def progress(self, wanted: Wanted, timeout: float) -> Progress:
        """What is known, what is missing, and the time since the goal began."""
        elapsed = time.monotonic() - self._since
        text = self._missing
        if not text and self._summary is not None and not self._summary.valid:
            text = self._summary.text
        parts = self.parts(wanted)
        if parts and all(part.is_reached for part in parts):
            text = ""  # of the verdict, which may ask for more
        return Progress(elapsed, max(timeout - elapsed, 0.0), parts, text)

    # ---- goals -----------------------------------------------------------------------------------

    def begin(self, mass: float, com: float, inertia: float, timeout: float, keep_data: bool
              ) -> None:
        """Have the node identify to this accuracy.

        Args:
            mass: [kg]; com: [m]; inertia: share of the mean moment; as in `Identify.action`.

        Raises:
            InvalidData: the node refuses.
        """
        guide = self._guide
        if not guide.wait_until(self._client.server_is_ready, _GOAL):
            raise InvalidData(f"node '{self.name}' has no action ~/identify")
        goal = Identify.Goal(mass_accuracy=float(mass), com_accuracy=float(com),
                             inertia_accuracy=float(inertia), timeout=float(timeout),
                             keep_data=keep_data)
        if not keep_data:
            self._summary, self._since = None, time.monotonic()
        sent = guide.jobs.run(lambda: self._client.send_goal_async(goal, self._take_feedback))
        if not guide.wait_until(sent.done, _GOAL) or not sent.result().accepted:
            raise InvalidData("the node refuses to identify: "
                              f"see `goal.rejected` of {self.name} in /diagnostics")
        self._goal, self._missing = sent.result(), ""
        self._result = guide.jobs.run(self._goal.get_result_async)

    def _take_feedback(self, message: Any) -> None:
        self._missing = message.feedback.missing

    def end(self) -> None:
        """Cancel the goal that runs, if one does, and wait until it has ended."""
        goal, self._goal = self._goal, None
        if goal is None or self._result.done():
            return
        self._guide.jobs.run(goal.cancel_goal_async)
        end = time.monotonic() + _ANSWER
        while not self._result.done() and time.monotonic() < end:
            time.sleep(0.02)  # also after a stop: another goal must not find this one

    def close(self) -> None:
        """End the goal, and release what would outlive the node of this program."""
        self.end()
        self._guide.jobs.run(self._client.destroy)

    # ---- services --------------------------------------------------------------------------------

    def newest(self) -> InertialParameters:
        """The last estimate (raises InvalidData where there is none)."""
        answer = self._guide.asking.ask(
            GetInertialParameters, f"{self.name}/get_inertial_parameters",
            GetInertialParameters.Request(), _ANSWER)
        if not answer.success:
            raise InvalidData(answer.message)
        return answer.parameters

    def save(self, name: str) -> str:
        """Save the last estimate under a name, with recording and report; where, in words (raises
        InvalidData)."""
        answer = self._guide.asking.call(Save, f"{self.name}/save", Save.Request(name=name),
                                         _ANSWER)
        if not answer.success:
            raise InvalidData(f"the estimate cannot be saved: {answer.message}")
        return str(answer.message)

    def apply(self, target: str, estimate: str, send: bool) -> Apply.Response:
        """The answer of ~/apply; without any within `APPLY`, one that says whether the payload may
        have been sent."""
        try:
            return self._guide.asking.call(
                Apply, f"{self.name}/apply",
                Apply.Request(target=target, estimate=estimate, send=send), APPLY)
        except NoResponse as error:
            return Apply.Response(sent=send, message=str(error))
        except NoAnswer as error:
            return Apply.Response(message=str(error))


def find_node(guide: GuideNode, name: str) -> bool:
    """Whether a node of this name identifies already."""
    service = f"{name}/get_inertial_parameters"
    return guide.wait_until(
        lambda: any(found == service for found, _ in guide.node.get_service_names_and_types()),
        _LOOK)


def wait_for_node(guide: GuideNode, name: str, ended: Any, seconds: float) -> None:
    """Wait until a node that was started answers.

    Args:
        ended: says in words that it has ended by itself; empty while it runs.

    Raises:
        InertialIdError: it ended, or does not answer.
    """
    service = f"{name}/apply"

    def answers() -> bool:
        text = ended()
        if text:
            raise InvalidData(text)
        return any(found == service for found, _ in guide.node.get_service_names_and_types())

    if not guide.wait_until(answers, seconds):
        raise InertialIdError(f"node '{name}' does not answer within {seconds:g} s")


def numbers_of(message: InertialParameters) -> tuple[Array, Array, Array]:
    """Mass, centre of mass and inertia about it (10,), their covariance (10, 10), and the bias
    (6,) of a message."""
    i, b = message.inertia, message.bias
    report = np.array([i.m, i.com.x, i.com.y, i.com.z, i.ixx, i.ixy, i.ixz, i.iyy, i.iyz, i.izz])
    bias = np.array([b.force.x, b.force.y, b.force.z, b.torque.x, b.torque.y, b.torque.z])
    return report, np.array(message.covariance).reshape(10, 10), bias

