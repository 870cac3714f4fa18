# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Removes bias, weight and inertia of the payload from wrenches."""

from __future__ import annotations

import numpy as np

from ...estimate import UNOBSERVED, Estimate
from ...findings import FindingLog
from ...inertia import Array
from ...kinematics.motion import Motion
from ...regression.row_layout import correct_wrench
from ...regression.rows import regressor_of, tilt_gravity
from ...settings import Settings
from ..compensation.load_latch import Load
from ..road import CompensatedWrenches, no_wrenches

_SILENT = "compensation_silent.smoothed"  # finding


class Compensation:
    """Compensates wrenches while an estimate can be used for that; else a finding says why not.

    A held estimate can be used as long as its data could be in the window: during a contact, when
    compensated wrenches matter most, every estimate is held.
    """

    def __init__(self, settings: Settings, findings: FindingLog) -> None:
        self._window, self._sign = settings.buffer.window, settings.wrench.sign
        self._findings = findings

    def begin_with(self, estimate: Estimate) -> None:
        """Clear the finding if it does not hold for this new estimate."""
        if why_not_compensated(estimate, 0, self._window) is None:
            self._findings.clear(_SILENT)

    def compensate(self, stamps: np.ndarray, motion: Motion, y: Array, estimate: Estimate | None,
                   carried: Array, frame_id: str) -> CompensatedWrenches:
        """Wrenches without the load, where the motion is known; none where the estimate cannot be
        used for that.

        Args:
            stamps: (k,) [ns]; y: wrenches (k, 6) with the sign of ``A phi``.
            estimate: the newest; carried: phi (10,) of all that the sensor carries by it.
        """
        valid = motion.valid
        if estimate is None or not valid.any():
            return no_wrenches(frame_id)
        age = int(stamps[valid][-1]) - estimate.stamp_ns
        reason = why_not_compensated(estimate, age, self._window)
        if reason is not None:
            self._findings.set(_SILENT, "info", reason)
            return no_wrenches(frame_id)
        self._findings.clear(_SILENT)
        wrench = remove_load(motion, y, Load(carried, estimate.bias, estimate.alignment),
                             self._sign)
        return CompensatedWrenches(stamps[valid], wrench[valid], frame_id)


def why_not_compensated(estimate: Estimate, age_ns: int, window: float) -> str | None:
    """Why this estimate cannot compensate wrenches; None where it can.

    Unknown inertia is no reason: motion that does not identify it hardly depends on it.

    Args:
        age_ns: of the estimate [ns]; window: length of the window [s], which bounds the age.
    """
    if UNOBSERVED in estimate.verdict[:4]:
        what = "mass" if estimate.verdict[0] == UNOBSERVED else "centre of mass"
        return f"the smoothed compensated wrench is silent: the {what} is not identified yet"
    if age_ns > int(window * 1e9):
        return ("the smoothed compensated wrench is silent: the estimate is held for longer than "
                f"buffer.window, {window:g} s")
    return None


def remove_load(motion: Motion, y: Array, load: Load, sign: float) -> Array:
    """Wrenches (k, 6) without bias and load, with the sign of the topic [N, N m].

    Args:
        y: wrenches (k, 6) with the sign of ``A phi``; sign: of the reading against that.
    """
    measured = correct_wrench(y - sign * load.bias, load.alignment)
    a = regressor_of(tilt_gravity(motion, load.alignment))
    return sign * (measured - a @ load.phi)
