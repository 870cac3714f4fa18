"""What is wrong where no payload explains the joint torques, or only an impossible one does."""

from __future__ import annotations

import numpy as np

from ...errors import InvalidData
from ...findings import FindingLog, named
from ...inertia import Array
from ...regression.tool import Tool
from .problem import TorqueFit, TorqueProblem

_MISFIT = 4.0  # residual over the noise of the robot's own identification: something else is wrong
_UNEXPLAINED = 0.3  # share of what the robot alone does not explain that may then be left
_SURE = 5.0  # standard deviations by which a mass is negative
_TURNED = -0.5  # of the robot's own torque: a joint that reads this has the opposite sign
_CLEAR = 10.0  # noises that a joint's torque must reach to be asked for its sign


def check_model(problem: TorqueProblem, fit: TorqueFit, rows: Array, tool: Tool | None,
                log: FindingLog) -> None:
    """Set or clear the findings about the model.

    Args:
        rows: (r, joints, p + joints + 1) behind the fit.

    Raises:
        InvalidData: no answer can be given.
    """
    log.clear("sign_wrong", "robot_wrong", "mass_negative", "residual_large")
    phi, covariance = fit.problem.marginal("noise").unconstrained_fit
    ratio = fit.left / problem.robot.noise
    worst = int(np.argmax(ratio))
    large = (f"{ratio[worst]:.0f} times the noise of the identified robot in joint "
             f"'{problem.robot.joints[worst]}'")
    if ratio[worst] > _MISFIT:
        if text := _signs(problem, rows):
            raise named(log, "sign_wrong", text)
        share = float(np.linalg.norm(fit.left) / np.linalg.norm(fit.bare + 1e-12))
        if share > _UNEXPLAINED or phi[0] < -_SURE * np.sqrt(covariance[0, 0]):
            raise named(
                log, "robot_wrong", f"no payload explains the joint torques (residual {large}): "
                "the robot file is of another robot or out of date, wrench.sensor_frame is carried "
                "by another body, or something touches the arm")
        log.set("residual_large", "warning", f"the residual is {large}: contact, friction that "
                "has changed, or another payload within the window")
    elif phi[0] < -_SURE * np.sqrt(covariance[0, 0]):
        if tool is not None:
            raise InvalidData(f"what the arm carries is {-phi[0]:.3f} kg lighter than the stored "
                              f"tool ({tool.phi[0]:.3f} kg); clear the tool, or store it again")
        raise named(log, "mass_negative", f"the mass fits as {phi[0]:.3f} kg: the robot "
                          "carried a payload when it was identified, or its description has "
                          "another hand; identify it again without payload")


def _signs(problem: TorqueProblem, rows: Array) -> str:
    """What to say where torques have the opposite sign of those that move the robot; else empty."""
    robot = problem.robot
    own = rows[..., :len(robot.phi)] @ robot.phi
    power = (own**2).sum(axis=0)
    clear = np.sqrt(power / len(rows)) > _CLEAR * robot.noise
    along = (own * rows[..., -1]).sum(axis=0) / np.maximum(power, 1e-300)
    turned = clear & (along < _TURNED)
    if not turned.any():
        return ""
    if turned.sum() == clear.sum():
        return ("the efforts have the opposite sign of the torques that move this robot: the "
                "driver publishes what acts on the motors; turn their sign")
    names = ", ".join(f"'{robot.joints[k]}'" for k in np.flatnonzero(turned))
    return f"the efforts of {names} have the opposite sign of the torques that move this robot"
