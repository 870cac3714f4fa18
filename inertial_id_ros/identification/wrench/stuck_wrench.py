# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A wrench that stands still to the last bit while the sensor turns: its driver repeats the last
one, or the sensor is not connected."""

from __future__ import annotations

import numpy as np

from ...findings import FindingLog
from ...kinematics.motion import Motion
from ...signals.bins import BIN_NS, Bins

STUCK = "input_stuck.wrench"
_LEAST = round(0.1e9 / BIN_NS)  # bins; sensors that are slower than the topic repeat for less
_TURNED = 0.05  # rad by which gravity must have turned in the sensor's axes since
_ROUNDING = 1e-12  # share by which means of equal samples may differ


class StuckWrench:
    """Finds bins with the wrench of those before them."""

    def __init__(self, findings: FindingLog) -> None:
        self._findings = findings
        self._mean = np.full(6, np.nan)  # of the newest bins, which are equal
        self._since = 0  # the first of them
        self._gravity = np.full(3, np.nan)  # its direction there, as soon as it is known
        self._is_stuck = False

    def judge(self, bins: Bins, motion: Motion) -> np.ndarray:
        """Which bins (k,), which follow those of the last call, hold a wrench that is stuck while
        the sensor turns; a finding says so."""
        before = np.vstack([self._mean, bins.mean[:-1]])
        changed = ~(np.abs(bins.mean - before) <= _ROUNDING * (1.0 + np.abs(before))).all(axis=1)
        stuck = np.zeros(len(changed), dtype=bool)
        if changed.all():  # as always, but for faults
            self._note_change(bins, motion, len(changed) - 1)
            return stuck
        for k, number in enumerate(bins.number.tolist()):
            if changed[k]:
                self._note_change(bins, motion, k)
            elif not motion.valid[k]:
                stuck[k] = self._is_stuck
            elif np.isnan(self._gravity[0]):
                self._gravity = motion.axes[k, 2]
            elif number - self._since >= _LEAST:
                turned = np.linalg.norm(motion.axes[k, 2] - self._gravity)
                self._is_stuck = stuck[k] = self._is_stuck or bool(turned > _TURNED)
        if self._is_stuck:
            self._findings.set(
                STUCK, "warning", f"{self._describe(int(bins.number[-1]))}: its driver repeats the "
                "last one, the sensor is not connected, or a simulated sensor carries nothing; it "
                "is left out")
        return stuck

    def _note_change(self, bins: Bins, motion: Motion, k: int) -> None:
        """A wrench that differs from the one before: that of bin `k`."""
        if self._is_stuck:
            self._findings.set(STUCK, "info", f"{self._describe(int(bins.number[k]))}; that time "
                               "is left out")
        self._mean, self._since = bins.mean[k], int(bins.number[k])
        self._gravity = motion.axes[k, 2] if motion.valid[k] else np.full(3, np.nan)
        self._is_stuck = False

    def _describe(self, newest: int) -> str:
        return ("the wrench was the same to the last bit for "
                f"{(newest - self._since) * BIN_NS * 1e-9:.1f} s while the sensor turned")
