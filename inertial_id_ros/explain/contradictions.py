# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Why an estimate is refused: units, sign, frame, a known mass; each a kind with its numbers."""

import numpy as np
from scipy.spatial.transform import Rotation

from ..model.setup import SetupError, Sheet
from .explain import Explanation
from .residual import LARGE, SHARE, lengths
from .setup_errors import ACCOUNTED, SMALLEST

Reason = tuple[str, dict[str, float | str]]

SIGNIFICANT = 5.0  # deviations
HEAVIEST = 150.0  # kg: no robot carries more
LIGHT, WIDE = 0.2, 0.3  # kg, of less than nothing; m, within which so light a body lies
FRAMES = {  # errors of frames, and what to enter
    "axes_mirrored": "{axes} have the opposite sign, as in axes of a left-handed frame; turn them "
                     "in the driver",
    "wrench_in_base_axes": "it is given in axes of the base; let the driver give it in those of "
                           "the sensor",
    "sensor_turned": "the sensor is turned against its frame by roll {roll:.0f}, pitch "
                     "{pitch:.0f}, yaw {yaw:.0f} deg; turn the frame by that, or set "
                     "wrench.sensor_frame",
    "gravity_elsewhere": "gravity does not point along -z of the base, up is ({x:.3f}, {y:.3f}, "
                         "{z:.3f}) in its axes (robot on a wall, a ceiling, a slope); set "
                         "gravity.frame to a frame whose z axis points up",
    "quaternion_order": "orientations are given with w first; their order is x, y, z, w",
    "poses_inverted": "poses are those of the base in the sensor; invert them"}


def contradictions(explained: Explanation, sheet: Sheet, reference_mass: float = 0.0
                   ) -> list[Reason]:
    """Why the payload of an explanation cannot be true; empty: nothing speaks against it.

    Args:
        reference_mass: known mass of what hangs on the sensor [kg]; 0: not known.
    """
    error, mass = explained.error, float(explained.phi[0])
    sd = float(np.sqrt(explained.wide_covariance[0, 0]))
    if error.kind not in ACCOUNTED:
        return [_of_setup(error, mass)]
    out = [*_of_body(explained.wide_phi, explained.wide_covariance),
           *_of_frame(explained, sheet)]
    if reference_mass and abs(mass - reference_mass) > SIGNIFICANT * sd + SHARE * reference_mass:
        out.append(("reference_contradicted", {"mass": mass, "reference": reference_mass,
                                               "ratio": mass / reference_mass}))
    return out


def _of_setup(error: SetupError, mass: float) -> Reason:
    """An error of the set-up by whose correction a mass is found [kg]."""
    if error.kind == "sign_wrong":
        return _less_than_nothing(-mass)
    if error.kind == "wrong_units":
        return "wrong_units.wrench", {"why": f"forces and torques are in {error.units}, as it "
                                             "seems; they must be in N and N m"}
    numbers: dict[str, float | str] = dict(zip("xyz", error.up.tolist(), strict=True))
    angles = Rotation.from_matrix(error.turn).as_euler("xyz", degrees=True).round() + 0.0  # no -0
    numbers |= zip(("roll", "pitch", "yaw"), angles.tolist(), strict=True)
    numbers["axes"] = " and ".join(f"F{axis} and T{axis}" for axis, sign in zip(
        "xyz", error.channels, strict=False) if sign < 0.0)
    why = FRAMES[error.kind].format(**numbers)
    if error.kind == "gravity_elsewhere" and error.up[2] < -np.cos(SMALLEST):
        why += ("; or the driver compensates more than is carried, which looks the same: set its "
                "payload to 0, or precompensated.*")
    return f"frame_wrong.{error.kind}", {**numbers, "why": f": {why}"}


def _less_than_nothing(mass: float) -> Reason:
    """The opposite sign of a payload that hardly weighs anything is no likely error: a driver that
    compensates what is carried leaves as little, of either sign."""
    if abs(mass) > LIGHT:
        return "sign_wrong", {"mass": mass}
    return "payload_not_added", {"why": f"the mass fits as {mass:.3f} kg, as where the driver "
                                        "compensates all that is carried"}


def _of_body(phi: np.ndarray, covariance: np.ndarray) -> list[Reason]:
    """A mass below zero, or one that no robot carries; inertia without mass."""
    mass, sds = float(phi[0]), np.sqrt(np.diag(covariance))
    sd, least = float(sds[0]), (phi - SIGNIFICANT * sds)[[4, 7, 9]].max()
    if mass < -SIGNIFICANT * sd or (
            mass + SIGNIFICANT * sd < LIGHT and least > WIDE**2 * (max(mass, 0.0) + 2.0 * sd)):
        return [_less_than_nothing(mass)]
    if mass - SIGNIFICANT * sd < HEAVIEST:
        return []
    return [("wrong_units.wrench", {"why": f"forces and torques fit {mass:.3g} kg; they must be in "
                                           "N and N m"})]


def _of_frame(explained: Explanation, sheet: Sheet) -> list[Reason]:
    """A residual that is large beside what the sensor may do, and beside the load."""
    fit = explained.best
    moving = fit.rows.y - np.outer(fit.rows.constant, fit.values["bias"])
    share = (lengths(fit.solution.left) / np.maximum(lengths(moving), 1e-6))[0]
    if sheet.is_ideal or explained.surprise < LARGE or share < 2.0 * SHARE:
        return []
    return [("frame_wrong", {"why": f": {share:.0%} of the force remain"})]
