# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Identification from the torques of the joints of a robot without a wrist sensor.

The samples are those of a wrench but for their channels: one for each joint, what the identified
robot without payload does not explain (`robot.payload`). History, scan and estimators are the same;
there is no zero to tare, and no wrench to take a load from.
"""

from __future__ import annotations

import time
from typing import Any, NoReturn

import numpy as np

from ..compensation.latch import Latch
from ..detect.bank import Kind
from ..detect.scan import Scan
from ..detect.torque_row import TorqueRows, torque_sheet
from ..errors import NotEnoughData
from ..estimate import Estimate, NoEstimate
from ..explain.torques import explain_torques
from ..inertia import is_consistent, min_eigenvalue
from ..io.sample_blocks import JointStates, Samples
from ..model.history import Window
from ..model.rows import stretches
from ..motion.motion import BIN, BIN_NS
from ..motion.robot import Chain
from ..robot.payload import TorqueLoad
from ..robot.robot_file import load_robot
from ..settings import Settings
from .beliefs import Beliefs
from .conclusion import Basis, Conclusion
from .course import Course
from .estimate import FEWEST, condition, too_short
from .identifier import Identifier
from .solving import solve
from .torque_streams import TorqueStreams
from .verdict import judge, vague
from .watch import finding_of

NO_ZERO = ("joint torques have no bias to tare; identify the robot without payload anew "
           "(identify_robot)")


def estimate_from_torques(window: Window, end: int, basis: Basis, load: TorqueLoad,
                          zero_moved: bool) -> Conclusion:
    """Estimate the payload from a window before a bin, a pure function as `estimate.estimate` is.

    Args:
        zero_moved: see `explain_torques`.
    """
    begun = time.perf_counter()
    settings, stamp = basis.settings, end * BIN_NS
    if sum(stretch.n for stretch in stretches(window.used)) < FEWEST:
        return Conclusion(NoEstimate(stamp, basis.frame, too_short(window)))
    explained = explain_torques(window, load, zero_moved)
    if explained.refused:
        reason = finding_of(*explained.refused[0]).text
        return Conclusion(NoEstimate(stamp, basis.frame, reason, is_finding=True), explained,
                          explained.refused)
    phi, covariance = solve(explained, basis)
    if phi is None or not is_consistent(phi):
        reason = "no body fits the data yet: move more"
        return Conclusion(NoEstimate(stamp, basis.frame, reason), explained)
    verdict, nothing = judge(phi, covariance, vague(phi[0])), np.zeros(6)
    return Conclusion(Estimate(
        stamp_ns=stamp, frame_id=basis.frame, phi=phi, phi_covariance=covariance, bias=nothing,
        method=settings.estimator.method, weighting="noise", data_share=verdict.share,
        verdict=verdict.verdict, alignment=nothing, alignment_sigma=nothing, residual_rms=nothing,
        samples=round(float(window.count[window.used].sum())),
        window=BIN * float(window.used.sum()), condition_number=condition(explained.covariance),
        min_eigenvalue=min_eigenvalue(phi), solve_time=time.perf_counter() - begun,
        tool_apart=basis.beliefs.tool is not None), explained)


class Silent(Latch):
    """There is no wrench from which a load could be removed."""

    def update(self, *_: Any) -> None:
        """Remove nothing."""


class TorqueCourse(Course):
    """As `Course`, of joint torques."""

    def __init__(self, basis: Basis, now: int, load: TorqueLoad, chain: Chain) -> None:
        super().__init__(basis, now)
        self.latch, self._load = Silent(), load
        self.scan = Scan(torque_sheet(load), self.scan.tool, TorqueRows(load, chain))

    def _estimate(self, end: int) -> Conclusion:
        return estimate_from_torques(self._window(end), end, self.basis, self._load,
                                     self.history.marks.zero_moved > 0)

    def _searched_for(self, end: int) -> Conclusion:
        return self._estimate(end)


class TorqueIdentifier(Identifier):
    """As `Identifier`, of joint states with efforts, with the robot file of the settings.

    Raises:
        InvalidSetting, InvalidData: load.robot cannot be used.
    """

    streams: TorqueStreams

    def __init__(self, settings: Settings, beliefs: Beliefs | None = None) -> None:
        super().__init__(settings, beliefs, TorqueStreams(settings, load_robot(
            settings.load.robot)), {Kind.OFFSET: "zero_moved.joints"})

    def _new_course(self) -> Course:
        load, chain = self.streams.load, self.streams.chain
        if load is None or chain is None:
            return super()._new_course()
        return TorqueCourse(self._basis, self.streams.newest, load, chain)

    def _add(self, samples: Samples) -> None:
        if isinstance(samples, JointStates):
            self.streams.add_joint_states(samples.stamps, samples.names, samples.positions,
                                          samples.efforts)

    def tare(self) -> NoReturn:
        """Refuse (raises NotEnoughData)."""
        raise NotEnoughData(NO_ZERO)

    def untare(self) -> NoReturn:
        """Refuse (raises NotEnoughData)."""
        raise NotEnoughData(NO_ZERO)
