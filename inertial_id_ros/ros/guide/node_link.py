# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The node that identifies, as the command sees it: its settings, estimates and services."""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np
from std_srvs.srv import Trigger

from inertial_id_ros.msg import InertialParameters
from inertial_id_ros.srv import Apply, GetInertialParameters, Save

from ...apps.guide.progress import Progress, Wanted, parts_of
from ...errors import InvalidData
from ...inertia import Array, phi_from_body, report_jacobian, tensor_from_six
from ...kinds import STOPPING, Doubt
from ...settings import Settings, iter_settings, settings_from_mapping
from ...targets.registry import TARGETS
from ..contract import DEADLINE, LATCHED
from ..ros_client import TIMES, NoAnswer, NoResponse
from .guide_node import GuideNode

RESET = 60.0  # s: an estimate that runs is waited for
APPLY = 100.0  # s: longer than the node takes, which waits for up to three services and reads back


class Numbers(NamedTuple):
    """An estimate: mass, centre of mass and inertia about it (10,), covariance (10, 10), verdicts
    (10,), bias (6,) and frame."""

    report: Array
    covariance: Array
    verdicts: tuple[int, ...]
    bias: Array
    frame: str

    @property
    def sigma(self) -> Array:
        """Standard deviations (10,)."""
        return np.sqrt(np.maximum(np.diag(self.covariance), 0.0))

    @property
    def phi(self) -> Array:
        """phi (10,)."""
        return phi_from_body(self.report[0], self.report[1:4], tensor_from_six(self.report[4:]))

    @property
    def phi_covariance(self) -> Array:
        """Covariance (10, 10) of phi."""
        back = np.linalg.inv(report_jacobian(self.phi))
        return np.asarray(back @ self.covariance @ back.T)

    @classmethod
    def of(cls, message: InertialParameters) -> Numbers:
        """Those of a message."""
        i, force, torque = message.inertia, message.bias.force, message.bias.torque
        return cls(
            np.array([i.m, i.com.x, i.com.y, i.com.z, i.ixx, i.ixy, i.ixz, i.iyy, i.iyz, i.izz]),
            np.array(message.covariance).reshape(10, 10), tuple(int(v) for v in message.verdict),
            np.array([force.x, force.y, force.z, torque.x, torque.y, torque.z]),
            message.header.frame_id)


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
        self._guide, self.name = guide, name
        groups = sorted({name.split(".")[0] for name, _, _ in iter_settings(Settings())})
        values = guide.client.parameters(name, groups)
        self.settings = settings_from_mapping({
            name: value for name, value in values.items() if value is not None})
        self._message: InertialParameters | None = None
        self._heard = self._since = 0.0  # steady times of the newest message, and of `forget` [s]
        guide.subscribe(InertialParameters, f"{name}/inertial_parameters", self._keep, LATCHED)

    def _keep(self, message: InertialParameters) -> None:
        self._message, self._heard = message, time.monotonic()

    # ---- what is known ---------------------------------------------------------------------------

    @property
    def estimate(self) -> Numbers | None:
        """The newest estimate since `forget`; None before any."""
        message = self._message
        if message is None or not message.valid or self._heard <= self._since:
            return None
        return Numbers.of(message)

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

    def doubts_set_up(self) -> str:
        """Why the node doubts signs, frames or units, in a sentence; empty: it does not."""
        doubt, text = self.doubt()
        return text if doubt & (Doubt.MASS | Doubt.FRAME) else ""

    def progress(self, wanted: Wanted, timeout: float) -> Progress:
        """What is known, what is missing, and the time since the session began."""
        known, elapsed = self.estimate, time.monotonic() - self._since
        left = max(timeout - elapsed, 0.0)
        if known is None:
            return Progress(elapsed, left, (), self._message.status if self._message else "")
        return Progress(elapsed, left, parts_of(
            known.report, known.sigma, known.verdicts, wanted))

    # ---- services --------------------------------------------------------------------------------

    def forget(self) -> None:
        """Have the node forget all samples: the time of the session begins (raises InvalidData: it
        refuses)."""
        answer = self._guide.client.call(Trigger, f"{self.name}/reset", Trigger.Request(), RESET)
        if not answer.success:
            raise InvalidData(f"node '{self.name}' does not begin anew: {answer.message}")
        self._since = time.monotonic()

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

    def changes_wrench(self, target: str) -> bool:
        """True if the driver compensates the payload in its wrench, once it has it."""
        return TARGETS[target].changes_wrench

    def apply(self, target: str, estimate: str, send: bool) -> Apply.Response:
        """The answer of ~/apply; without any within `APPLY`, one that says whether the payload may
        have been sent."""
        try:
            return self._guide.client.call(
                Apply, f"{self.name}/apply",
                Apply.Request(target=target, estimate=estimate, send=send), APPLY)
        except NoAnswer as error:
            return Apply.Response(sent=send and isinstance(error, NoResponse), message=str(error))
