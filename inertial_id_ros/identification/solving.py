# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""From the window to an estimate, as far as it does not depend on what measures the load.

A mass that was weighed is the absolute check of units, gain and sign.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Generic, TypeVar

from ..errors import InertialIdError, InvalidData, NotEnoughData
from ..estimate import UNOBSERVED, Estimate, NoEstimate, Outcome
from ..findings import FindingLog
from ..kinds import withdraw_doubted
from .knowledge import Knowledge

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


# Data this much older than the newest are those before a contact or a gap, and tell nothing of now.
_OLD_NS = 1_000_000_000
AnyWindow = TypeVar("AnyWindow")


class _TooShort(NotEnoughData):
    """The window holds too few data."""


class WindowSolver(ABC, Generic[AnyWindow]):
    """Solves the window.

    Args:
        known: what the samples have taught.
    """

    def __init__(self, known: Knowledge) -> None:
        self._known = known

    @abstractmethod
    def solve(self) -> Outcome:
        """The estimate of the window: physically consistent, or the reason why there is none."""

    @abstractmethod
    def _require_window(self) -> AnyWindow:
        """The window, if it can be solved.

        Raises:
            NotEnoughData: it cannot, and why.
        """

    @abstractmethod
    def _window_extent(self, window: AnyWindow) -> tuple[int, int]:
        """Two numbers that grow with the data in a window."""

    @abstractmethod
    def _estimate(self, window: AnyWindow) -> Estimate:
        """Solve a window (raises an InertialIdError where there is no estimate)."""

    def _solve_window(self) -> Outcome:
        """Solve the window as it is now; the outcome still lacks its findings."""
        known = self._known
        progress, last, restored = known.progress, known.window.last, known.window.restored
        progress.is_refuted = False
        try:
            window = self._require_window()
        except NotEnoughData as missing:
            if isinstance(missing, _TooShort) and last is not None:
                return last.as_stale()  # its rows have left the window during a contact
            if restored is not None and known.sensor_frame in ("", restored.frame_id):
                return restored
            return NoEstimate(known.newest_ns, known.sensor_frame, str(missing),
                              is_finding=missing.is_finding)
        if last is not None and self._window_extent(window) <= progress.solved:
            return last.as_stale()
        try:
            estimate = self._estimate(window)
        except InertialIdError as error:
            known.window.last = None
            progress.is_refuted = isinstance(error, InvalidData)
            return NoEstimate(known.newest_ns, known.sensor_frame,
                              progress.with_flush_reason(str(error)), is_finding=error.is_finding)
        progress.solved = self._window_extent(window)
        is_old = known.newest_ns - estimate.stamp_ns > _OLD_NS and not known.finished
        return estimate.as_stale() if is_old else estimate

    def _conclude(self, outcome: Outcome) -> Outcome:
        """Keep a new estimate, with its stamp in order; the outcome with the findings, as it may be
        handed on."""
        known = self._known
        if isinstance(outcome, Estimate) and not outcome.stale:
            outcome = known.progress.stamps.restamp(outcome)
            known.progress.flush_reason = None
        if isinstance(outcome, Estimate) and not outcome.restored:
            known.window.last = outcome
            check_reference(outcome, known.settings.load.reference_mass, known.findings)
        findings = known.findings.all()
        return withdraw_doubted(
            replace(outcome, findings=tuple(f.text for f in findings)), findings)

    def _too_short_error(self, duration: float | None) -> _TooShort:
        """The error of a window of this length [s] that is too short; None: it has no rows."""
        progress = self._known.progress
        if duration is None:
            return _TooShort(progress.flush_reason or "waiting for the first second of data")
        needed = self._least_duration
        why = ("" if needed == self._known.settings.estimator.min_duration
               else "after data that nothing explained, ")
        return _TooShort(progress.with_flush_reason(
            f"{duration:.2f} s of data; {why}an estimate needs {needed:g} s"))

    @property
    def _least_duration(self) -> float:
        """Length [s] of the window that an estimate needs."""
        return self._known.progress.recovery.least_duration(
            self._known.settings.estimator.min_duration)
