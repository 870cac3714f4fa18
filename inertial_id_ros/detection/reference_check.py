# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Compares an estimate with a mass that was weighed: the absolute check of units, gain and sign."""

from __future__ import annotations

import math

from ..estimate import UNOBSERVED, Estimate
from ..findings import FindingLog

CONTRADICTED = "reference_contradicted"
_FAR = 3.0  # standard deviations
_SHARE = 0.01  # to which a mass is weighed
_CLOSE = 0.05  # share by which a ratio may miss that of a unit
_UNITS = {1.0 / 9.81: "forces in kgf", 1.0 / 4.448: "forces in lbf", 1000.0: "forces in mN",
          0.001: "forces in kN", 10.0: "forces in units of 0.1 N", -1.0: "the opposite sign"}


def check_reference(estimate: Estimate, reference: float, log: FindingLog) -> None:
    """Set or clear the finding on an estimate that contradicts a mass [kg]; 0: there is none."""
    mass, sd = estimate.body.mass, float(estimate.sigma[0])
    if reference <= 0.0 or estimate.verdict[0] == UNOBSERVED or (
            abs(mass - reference) <= math.hypot(_FAR * sd, _SHARE * reference)):
        log.clear(CONTRADICTED)
        return
    ratio = mass / reference
    unit = next((f", as with {name}" for factor, name in _UNITS.items()
                 if abs(ratio / factor - 1.0) < _CLOSE), "")
    log.set(CONTRADICTED, "error",
            f"the mass fits as {mass:.3f} kg, and load.reference_mass is {reference:.3f} kg: "
            f"{ratio:.3g} times as much{unit}; the units, the gain or the sign of the wrench are "
            "wrong, what the driver removes is not known, or something else is carried")
