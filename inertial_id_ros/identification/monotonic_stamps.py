# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Keeps the stamps of successive estimates in order."""

from __future__ import annotations

from dataclasses import replace

from ..estimate import Estimate
from ..findings import FindingLog


class MonotonicStamps:
    """Keeps the stamps of successive estimates from going back.

    A client that takes estimates by their stamps must not find an older one later. A finding says
    how far the data behind such an estimate reach.
    """

    def __init__(self, findings: FindingLog) -> None:
        self._findings, self._newest = findings, 0

    def restamp(self, estimate: Estimate) -> Estimate:
        """The estimate, stamped no earlier than those before it."""
        left_out = self._newest - estimate.stamp_ns
        if left_out <= 0:
            self._newest = estimate.stamp_ns
            self._findings.clear("newest_left_out")
            return estimate
        self._findings.set("newest_left_out", "info", f"the newest {left_out * 1e-9:.2f} s before "
                           "the stamp are left out: a disturbance may begin there")
        return replace(estimate, stamp_ns=self._newest)
