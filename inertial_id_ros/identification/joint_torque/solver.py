# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""From a window of joint torques to an estimate: problem, estimator, covariance, verdict.

`check_model` says why no payload explains the joint torques, or only an impossible one does.
"""

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
from ..estimator_problem import solve_for
from ..verdict import MASS_SHARE, judge
from .problem import FRICTION, GAINS, MOTION, ROBOT, TorqueFit, TorqueProblem

_MISFIT = 4.0  # residual over the robot's own noise from which the set-up may be wrong
_UNEXPLAINED = 0.3  # share of the payload's torques that a correct set-up may leave unexplained
_SIGNIFICANT = 5.0  # standard deviations by which a mass is negative
_OPPOSITE = -0.5  # ratio to the robot's own torque from which a joint has the opposite sign
_LOADED = 10.0  # noises that a joint's torque must reach for a check of its sign


def check_model(problem: TorqueProblem, fit: TorqueFit, rows: Array, tool: Tool | None,
                log: FindingLog) -> None:
    """Check for wrong signs of efforts, another robot, and a negative mass; set their findings.

    Args:
        rows: (r, joints, p + joints + 1) that the fit was made from.

    Raises:
        InvalidData: there can be no estimate.
    """
    log.clear("sign_wrong", "robot_wrong", "robot_wrong.mass", "residual_large")
    phi, covariance = fit.problem.marginal("noise").unconstrained_fit
    ratio = fit.residual_rms / problem.robot.noise
    worst = int(np.argmax(ratio))
    large = (f"{ratio[worst]:.0f} times the noise of the identified robot in joint "
             f"'{problem.robot.joints[worst]}'")
    if ratio[worst] > _MISFIT:
        text = _wrong_sign_text(problem, rows)
        if text is not None:
            raise log.error("sign_wrong", text)
        share = float(np.linalg.norm(fit.residual_rms) / np.linalg.norm(fit.bare_rms + 1e-12))
        if share > _UNEXPLAINED or phi[0] < -_SIGNIFICANT * np.sqrt(covariance[0, 0]):
            raise log.error(
                "robot_wrong", f"no payload explains the joint torques (residual {large}): "
                "the robot file is of another robot or out of date, wrench.sensor_frame is carried "
                "by another body, or something touches the arm")
        log.set("residual_large", "warning", f"the residual is {large}: contact, friction that "
                "has changed, or another payload within the window")
    elif phi[0] < -_SIGNIFICANT * np.sqrt(covariance[0, 0]):
        if tool is not None:
            raise InvalidData(f"what the arm carries is {-phi[0]:.3f} kg lighter than the stored "
                              f"tool ({tool.phi[0]:.3f} kg); clear the tool, or store it again")
        raise log.error("robot_wrong.mass", f"the mass fits as {phi[0]:.3f} kg: the robot "
                        "carried a payload when it was identified, or its description has "
                        "another hand; identify it again without payload")


def _wrong_sign_text(problem: TorqueProblem, rows: Array) -> str | None:
    """Names the joints whose efforts have the opposite sign of the torques that move the robot;
    None where none has."""
    robot = problem.robot
    own = rows[..., :len(robot.phi)] @ robot.phi
    power = (own**2).sum(axis=0)
    loaded = np.sqrt(power / len(rows)) > _LOADED * robot.noise
    along = (own * rows[..., -1]).sum(axis=0) / np.maximum(power, 1e-300)
    opposite = loaded & (along < _OPPOSITE)
    if not opposite.any():
        return None
    if opposite.sum() == loaded.sum():
        return ("the efforts have the opposite sign of the torques that move this robot: the "
                "driver publishes what acts on the motors; turn their sign")
    names = ", ".join(f"'{robot.joints[k]}'" for k in np.flatnonzero(opposite))
    return f"the efforts of {names} have the opposite sign of the torques that move this robot"


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
        solution = solve_for(self.estimator, fit.problem, "noise", shape)
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
