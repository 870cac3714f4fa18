# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Checks why no payload explains the joint torques, or only an impossible one does."""

from __future__ import annotations

import numpy as np

from ...errors import InvalidData
from ...findings import FindingLog
from ...inertia import Array
from ...regression.tool import Tool
from .problem import TorqueFit, TorqueProblem

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
