# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""From a window of joint torques to an estimate: problem, estimator, covariance, verdict."""

from __future__ import annotations

import time
from itertools import combinations

import numpy as np

from ...detection.shape_check import check_shape
from ...errors import InvalidData, InvalidSetting, NotEnoughData
from ...estimate import UNOBSERVED, Estimate
from ...estimators import Estimator, create
from ...findings import FindingLog
from ...geometry.shape import Shape
from ...inertia import Array, is_consistent, min_eigenvalue
from ...regression.regressor_window import Rows
from ...regression.row_layout import NUISANCE_VALUES
from ...regression.tool import Tool
from ...settings import Settings
from ...signals.bins import BIN_NS
from ..verdict import MASS_SHARE, judge
from .checks import check_model
from .problem import FRICTION, GAINS, MOTION, ROBOT, TorqueProblem


class TorqueSolver:
    """Everything between the rows of a window and the estimate.

    Args:
        settings: as checked; shape: of the object, or None.

    Attributes:
        shape: of the object; tool: to estimate the object beside; either may be None.

    Raises:
        InvalidSetting: the estimator needs a wrench.
    """

    def __init__(self, settings: Settings, shape: Shape | None) -> None:
        self.shape = shape
        self.tool: Tool | None = None
        self.configure(settings)

    def configure(self, settings: Settings) -> None:
        """Use these settings from now on."""
        self.estimator = self.make_estimator(settings)
        self._shape_settings = settings.shape

    @staticmethod
    def make_estimator(settings: Settings) -> Estimator:
        """The estimator of the settings (raises InvalidSetting where it needs rows of wrenches)."""
        estimator = create(settings.replace({"estimator.weighting": "noise"}))
        if estimator.needs_wrench:
            raise InvalidSetting(
                f"estimator.method is '{estimator.name}', which works on wrenches; with "
                "load.robot choose another, e.g. density")
        return estimator

    def solve(self, problem: TorqueProblem, parts: list[Rows], frame_id: str,
              log: FindingLog) -> Estimate:
        """The estimate of a window, which consists of these parts, in a frame.

        Raises:
            NotEnoughData, InvalidShape: the estimator cannot answer.
            InvalidData: the answer is not physical (the text says what that points to).
        """
        started = time.perf_counter()
        if self.tool is not None and self.tool.frame_id != frame_id:
            raise InvalidData(f"the stored tool is given in frame '{self.tool.frame_id}', the "
                              f"payload in '{frame_id}'; clear the tool and store it again")
        rows = np.concatenate([part.full for part in parts])
        fit = problem.build(rows, self.tool)
        check_model(problem, fit, rows, self.tool, log)
        marginal = fit.problem.marginal("noise")
        shape = check_shape(self.shape, self._shape_settings, marginal, self.estimator, log)
        solution = self.estimator.solve(fit.problem, shape)
        if not is_consistent(solution.phi):
            raise InvalidData(f"'{self.estimator.name}' gives a body that cannot exist; choose an "
                              "estimator that guarantees consistency, or move more")
        verdict = judge(solution, marginal)
        if verdict.verdict[0] == UNOBSERVED:
            raise NotEnoughData(_why_unobserved(
                problem, rows, self.tool, float(solution.phi[0]),
                float(np.sqrt(verdict.phi_covariance[0, 0]))))
        log.set("verdict", "info", verdict.sentence)
        log.set("joint_residual", "info", "residual torques: " + ", ".join(
            f"{name} {value:.3f}"
            for name, value in zip(problem.robot.joints, fit.residual_rms, strict=True)) + " N m")
        nothing, set_up = np.zeros(6), np.zeros(NUISANCE_VALUES)  # no sensor, nothing estimated
        return Estimate(
            stamp_ns=int((parts[-1].number[-1] + 1) * BIN_NS), frame_id=frame_id,
            phi=solution.phi, phi_covariance=verdict.phi_covariance, bias=nothing,
            method=self.estimator.name, weighting="noise", data_share=verdict.data_share,
            verdict=verdict.verdict, alignment=set_up, alignment_sigma=set_up,
            residual_rms=nothing, samples=int(sum(part.samples.sum() for part in parts)),
            window=window_duration(parts), condition_number=verdict.condition_number,
            min_eigenvalue=min_eigenvalue(solution.phi),
            solve_time=time.perf_counter() - started, tool_apart=self.tool is not None)


_REMEDIES = {
    MOTION: "four times as much motion of this kind",
    ROBOT: "a longer recording of the robot without payload (identify_robot)",
    FRICTION: "motion to and fro through the same poses, which tells weight from friction",
    GAINS: "more motion for the gains of the drives (identify_robot --loaded), or with a heavier "
           "known payload"}


def _why_unobserved(problem: TorqueProblem, rows: Array, tool: Tool | None, mass: float, sd: float
                    ) -> str:
    """What leaves the mass open, and what mends it: of all that may, the fewest that do.

    Args:
        rows: that it was found from; mass, sd: of the payload [kg].
    """
    wanted = 0.5 * MASS_SHARE * mass
    found = (f"the mass is not identified yet ({mass:.2f} ± {2.0 * sd:.2g} kg, wanted is "
             f"± {2.0 * wanted:.2g} kg)")
    for count in range(1, len(problem.causes) + 1):
        known = {causes: problem.mass_sd(rows, tool, mass, causes)
                 for causes in combinations(problem.causes, count)}
        best = min(known, key=lambda causes: known[causes])
        if known[best] <= wanted:
            return (f"{found}; it would be (± {2.0 * known[best]:.2g} kg) with "
                    + ", and ".join(_REMEDIES[cause] for cause in best))
    return f"{found}; move more, and farther from the vertical"


def window_duration(parts: list[Rows]) -> float:
    """Time between the first and the last row of a window [s]."""
    return float(parts[-1].number[-1] - parts[0].number[0]) * BIN_NS * 1e-9
