# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Why an estimate is refused: units, sign, frame, a known mass; each a kind with its numbers."""

import numpy as np
from scipy.spatial.transform import Rotation

from ..model.setup import SetupError, Sheet
from .explain import Explanation
from .residual import LARGE, SHARE, lengths
from .setup_errors import ACCOUNTED, SMALLEST
from .torques import JointRows

Reason = tuple[str, dict[str, float | str]]

SIGNIFICANT = 5.0  # deviations
HEAVIEST = 150.0  # kg: no robot carries more
UNEXPLAINED = 0.3  # share of the payload's torques that the right robot may leave
OPPOSITE, LOADED = -0.5, 10.0  # of the robot's own torque; noises that this must reach to be judged
LIGHT, WIDE = 0.2, 0.3  # kg, of less than nothing; m, within which so light a body lies


def contradictions(explained: Explanation, sheet: Sheet, reference_mass: float = 0.0
                   ) -> list[Reason]:
    """Why the payload of an explanation cannot be true; empty: nothing speaks against it.

    Args:
        reference_mass: known mass of what hangs on the sensor [kg]; 0: not known.
    """
    if isinstance(explained.best.rows, JointRows):
        return _of_robot(explained, explained.best.rows)
    error, mass = explained.error, float(explained.phi[0])
    sd = float(np.sqrt(explained.wide_covariance[0, 0]))
    if error.kind not in ACCOUNTED:
        return [_of_setup(error, mass)]
    out, fit = _of_body(explained.wide_phi, explained.wide_covariance), explained.best
    # A residual that is large beside what the sensor may do, and beside the load.
    moving = fit.rows.y - np.outer(fit.rows.constant, fit.values["bias"])
    share = float((lengths(fit.solution.left) / np.maximum(lengths(moving), 1e-6))[0])
    if not (sheet.is_ideal or explained.surprise < LARGE or share < 2.0 * SHARE):
        is_tared = sheet.bias_mean.any()  # a frame that is wrong as well shows without the tare
        out.append(("tare_not_used", {"why": "loaded"}) if is_tared else
                   ("frame_wrong", {"share": share}))
    if reference_mass and abs(mass - reference_mass) > SIGNIFICANT * sd + SHARE * reference_mass:
        out.append(("reference_contradicted", {"mass": mass, "reference": reference_mass,
                                               "ratio": mass / reference_mass}))
    return out


def _of_setup(error: SetupError, mass: float) -> Reason:
    """An error of the set-up by whose correction a mass is found [kg]."""
    if error.kind == "sign_wrong":
        return _less_than_nothing(-mass)
    if error.kind == "wrong_units":
        return "wrong_units.wrench", {"why": "other_units", "units": error.units}
    numbers: dict[str, float | str] = dict(zip("xyz", error.up.tolist(), strict=True))
    angles = Rotation.from_matrix(error.turn).as_euler("xyz", degrees=True).round() + 0.0  # no -0
    numbers |= zip(("roll", "pitch", "yaw"), angles.tolist(), strict=True)
    numbers["axes"] = " and ".join(f"F{axis} and T{axis}" for axis, sign in zip(
        "xyz", error.channels, strict=False) if sign < 0.0)
    is_reversed = error.kind == "gravity_elsewhere" and error.up[2] < -np.cos(SMALLEST)
    numbers["why"] = "gravity_reversed" if is_reversed else ""
    return f"frame_wrong.{error.kind}", numbers


def _less_than_nothing(mass: float) -> Reason:
    """The opposite sign of a payload that hardly weighs anything is no likely error: a driver that
    compensates what is carried leaves as little, of either sign."""
    if abs(mass) > LIGHT:
        return "sign_wrong", {"mass": mass}
    return "payload_not_added", {"why": "nothing_left", "mass": mass}


def _of_body(phi: np.ndarray, covariance: np.ndarray) -> list[Reason]:
    """A mass below zero, or one that no robot carries; inertia without mass."""
    mass, sds = float(phi[0]), np.sqrt(np.diag(covariance))
    sd, least = float(sds[0]), (phi - SIGNIFICANT * sds)[[4, 7, 9]].max()
    if mass < -SIGNIFICANT * sd or (
            mass + SIGNIFICANT * sd < LIGHT and least > WIDE**2 * (max(mass, 0.0) + 2.0 * sd)):
        return [_less_than_nothing(mass)]
    if mass - SIGNIFICANT * sd < HEAVIEST:
        return []
    return [("wrong_units.wrench", {"why": "too_heavy", "mass": mass})]


def _of_robot(explained: Explanation, rows: JointRows) -> list[Reason]:
    """In which way an identified robot is wrong, if it is."""
    robot, mass = rows.load.robot, float(explained.phi[0])
    residual = np.sqrt(np.square(explained.best.solution.left).sum(0) / rows.n)
    ratio = residual / robot.noise
    is_negative = mass < -SIGNIFICANT * np.sqrt(explained.wide_covariance[0, 0])
    if ratio.max() <= LARGE:
        return [("robot_wrong.mass", {"mass": mass})] if is_negative else []
    # Joints whose efforts follow the robot's own torques, with the opposite sign.
    power = np.square(rows.own).sum(0)
    judged = np.sqrt(power / rows.n) > LOADED * robot.noise
    along = (rows.own * (rows.torque + rows.own)).sum(0) / np.maximum(power, 1e-300)
    opposite = judged & (along < OPPOSITE)
    if opposite.any():
        return [("robot_wrong.sign", {"joints": "all joints" if (opposite == judged).all() else
                                      ", ".join(f"'{name}'" for name in np.array(robot.joints)[
                                          opposite])})]
    share = np.linalg.norm(residual) / (np.linalg.norm(rows.torque) / np.sqrt(rows.n))
    is_large = share > UNEXPLAINED or is_negative
    return [("robot_wrong" if is_large else "robot_wrong.residual", {
        "times": float(ratio.max()), "joint": robot.joints[ratio.argmax()]})]
