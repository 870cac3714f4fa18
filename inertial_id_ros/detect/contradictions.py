# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Why an estimate is refused: units, sign, frame, a known mass; each a kind with its numbers."""

from __future__ import annotations

import numpy as np

from ..explain.explain import Explanation
from ..explain.residual import surprise
from ..explain.setup_errors import REFUSED, SetupError
from ..model.sheet import Sheet

Reason = tuple[str, dict[str, float | str]]

SIGNIFICANT = 5.0  # deviations
UNEXPLAINED, SHARE = 5.0, 0.2  # residual in those of the data sheet; and in the load, less its mean
HEAVIEST, FARTHEST = 150.0, 1.5  # kg, m: no robot carries more, or farther out
LIGHT = 0.2  # kg, of less than nothing
AWAY = 0.1  # of a known mass, which gains and calibration may make


def contradictions(explained: Explanation, sheet: Sheet, reference_mass: float = 0.0
                   ) -> list[Reason]:
    """Why the payload of an explanation cannot be true; empty: nothing speaks against it.

    Args:
        reference_mass: known mass of what hangs on the sensor [kg]; 0: not known.
    """
    if explained.error is not None and explained.error.kind in REFUSED:
        return [_less_than_nothing(*_finding(explained.error, explained))]
    found = [_of_body(explained), _of_frame(explained, sheet),
             _of_reference(explained, reference_mass)]
    return [_less_than_nothing(*reason) for reason in found if reason is not None]


def _less_than_nothing(kind: str, numbers: dict[str, float | str]) -> Reason:
    """The opposite sign of a payload that hardly weighs anything is no likely error: a driver that
    compensates what is carried leaves as little, of either sign."""
    mass = float(numbers.get("mass", 0.0))
    if kind != "sign_wrong" or abs(mass) > LIGHT:
        return kind, numbers
    return "payload_not_added", {"why": f"the mass fits as {mass:.3f} kg, as where the driver "
                                        "compensates all that is carried"}


def _finding(error: SetupError, explained: Explanation) -> Reason:
    kind, numbers = error.finding
    others = {other.kind for other in explained.alternatives} - {error.kind}
    why = f" (as likely: {', '.join(sorted(others))})" if others else ""
    return kind, {**numbers, "why": f"{numbers.get('why', '')}{why}"}


def _of_body(explained: Explanation) -> Reason | None:
    """A mass below zero, or one that no robot carries."""
    phi, sd = explained.wide_phi, float(np.sqrt(explained.wide_covariance[0, 0]))
    mass = float(phi[0])
    if mass < -SIGNIFICANT * sd:
        return "sign_wrong", {"mass": mass, "why": ""}
    centre = float(np.linalg.norm(phi[1:4]) / max(abs(mass), SIGNIFICANT * sd))
    if mass - SIGNIFICANT * sd > HEAVIEST or centre > FARTHEST:
        return "wrong_units.wrench", {
            "why": f"forces and torques fit {mass:.3g} kg at {centre:.2g} m; they must be in N and "
                   "N m"}
    return None


def _of_frame(explained: Explanation, sheet: Sheet) -> Reason | None:
    """A residual that is large beside what the sensor may do, and beside the load."""
    fit = explained.best
    if sheet.is_ideal or surprise(fit, sheet) < UNEXPLAINED:
        return None
    power = fit.solution.left**2
    moving = fit.rows.y - np.outer(fit.rows.constant, fit.values["bias"])
    share = np.sqrt(power[:, :3].sum() / max(float(np.square(moving[:, :3]).sum()), 1e-12))
    return ("frame_wrong", {"why": f": {share:.0%} of the force remain"}) if share > SHARE else None


def _of_reference(explained: Explanation, reference: float) -> Reason | None:
    if not reference:
        return None
    mass, sd = float(explained.phi[0]), float(np.sqrt(explained.wide_covariance[0, 0]))
    if abs(mass - reference) < SIGNIFICANT * sd + AWAY * reference:
        return None
    return "reference_contradicted", {"mass": mass, "reference": reference,
                                      "ratio": mass / reference, "why": ""}
