# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""How far the newest sample of a motion lies from a wrench, and whether its filter can be used."""

from __future__ import annotations

from .fading_memory import SETTLED

OLDEST = 0.1  # s by which a wrench may be newer than the motion, or older
_PERIODS = 3.0  # of the samples that a time constant spans at least
_LONGEST_STEP = 0.5  # s without samples after which the filter begins anew
_SHARE = 0.05  # of the newest step in the mean one


class SampleClock:
    """Follows the stamps of samples.

    Args:
        what: one sample is, in words; tau: time constant of the filter [s].
    """

    def __init__(self, what: str, tau: float) -> None:
        self._what, self._least = what, tau
        self._tau, self._period = tau, 0.0
        self._newest, self._since = 0, 0

    def step_to(self, stamp_ns: int) -> float | None:
        """Time [s] from the newest sample to a stamp [ns], negative where that is an older one;
        None: the filter must begin anew."""
        step = 1e-9 * (stamp_ns - self._newest)
        return step if -_LONGEST_STEP < step < _LONGEST_STEP else None

    def begin(self, stamp_ns: int) -> None:
        """Begin with this sample [ns]."""
        self._newest = self._since = stamp_ns
        self._tau, self._period = self._least, 0.0

    def advance(self, stamp_ns: int, step: float) -> float:
        """Go on to the next sample [ns], a step [s] later; gives the time constant to use [s]."""
        self._newest = stamp_ns
        self._period += _SHARE * (step - self._period)
        self._tau = max(self._least, _PERIODS * self._period)
        return self._tau

    def ahead(self, stamp_ns: int) -> tuple[float, str]:
        """Time [s] from the newest sample to a wrench at a stamp [ns], and why there is no motion
        for it; empty where there is."""
        if not self._newest:
            return 0.0, f"no {self._what} has arrived"
        ahead = 1e-9 * (stamp_ns - self._newest)
        if not -OLDEST < ahead < OLDEST:
            return ahead, (f"the newest {self._what} is more than {OLDEST:g} s "
                           f"{'older' if ahead > 0.0 else 'newer'} than the wrench")
        if 1e-9 * (self._newest - self._since) < SETTLED * self._tau:
            return ahead, f"the filter of the motion has begun anew with the newest {self._what}"
        return ahead, ""
