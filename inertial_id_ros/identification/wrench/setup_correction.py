# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Finds and keeps what estimates and residuals show to be wrong in the set-up.

That is: clocks that differ, a sensor that is turned against its frame, gravity that is tilted, and
what the driver removes of its own payload. What is found asks for a replay of the window, in which
`WristRoad` takes it out of the samples.
"""

from __future__ import annotations

from ...detection import removed_terms
from ...detection.consistency_checks import sensor_errors
from ...detection.filter_search import find_filter
from ...detection.removed_terms import Share
from ...detection.setup_trials import Setup, SetupSearch, find_setup, gather
from ...estimate import Estimate, Outcome
from ...findings import FindingLog
from ...kinematics.motion import MotionSource
from ...regression.alignment import CLOCK_OFFSET
from ...regression.rows import RemovedErrors
from ...regression.uncertainty.noise import datasheet_noise
from ...settings import Settings
from ...signals.low_pass import NO_FILTER, SensorFilter
from ...signals.precompensation import Removed, RemovedPayload
from ...signals.ring_buffer import SampleRing
from .sensor_bias import prior_bias_sd

_LAG, _CLEAR = 0.008, 5.0  # s, and standard deviations, of an offset that may be a filter
_UNEXPLAINED = 1.5  # times the errors of the sensor, of a residual that a filter may have left


class SetupCorrection:
    """What is believed of the set-up, and what the data say against it.

    Args:
        removed: payload that the driver removes from the wrench, as far as known; taken_out: the
            same in the sensor frame, of the newest bins. What the driver does outlives a set-up.

    Attributes:
        errors: are removed from the samples before they are filtered.
        removed, taken_out: as above.
    """

    def __init__(self, removed: RemovedPayload, taken_out: Removed, findings: FindingLog,
                 told: SensorFilter = NO_FILTER) -> None:
        self.removed, self.taken_out = removed, taken_out
        self._findings, self._told = findings, told
        self.errors = RemovedErrors(told)
        self._search, self._filter_search = SetupSearch(), SetupSearch()

    def correct_terms(self, settings: Settings, share: Share | None) -> bool:
        """Compare what the driver is believed to remove with the motion; says whether the belief
        has changed.

        Args:
            share: of the removed inertial forces that the sum of what is measured and removed holds
                too many, if any.
        """
        if share is None or not share.contradicts:
            return False
        return self._believe(settings, not self.taken_out.weight_only, share)

    def search(self, settings: Settings, ring: SampleRing, source: MotionSource,
               is_wrong: bool, finished: bool) -> bool:
        """Look for a clock offset or terms of the removed payload that explain wrenches which
        nothing explains; says whether there are others than before, which are then used.

        Args:
            settings: with the noise as it was measured; is_wrong: whether there is no estimate, or
                something in the data that a wrong clock or driver may cause.
            finished: whether no sample will come any more.
        """
        if not self._search.is_due(ring.newest, is_wrong, finished):
            return False
        found = find_setup(ring, source, Setup(self.errors.early_ns, self.taken_out),
                           settings.wrench.sign, datasheet_noise(settings.wrench),
                           prior_bias_sd(settings.wrench),
                           # One beside a filter that was found is found with it.
                           settings.alignment.delay_sd > 0.0 and self.errors.sensor == self._told,
                           self.errors.sensor)
        if found is None:
            return False
        if (found.removed.weight_only != self.taken_out.weight_only
                and not self._believe(settings, found.removed.weight_only, None)):
            return False
        self.errors.replace_offset(found.early_ns)
        return True

    def search_filter(self, settings: Settings, ring: SampleRing, source: MotionSource,
                      outcome: Outcome, lags: bool, is_wrong: bool, finished: bool) -> bool:
        """Look for a low-pass of the sensor where the wrench lags behind the motion, or nothing
        explains it; says whether one was found, which is then used.

        Args:
            settings: with the noise as it was measured; outcome: of the window.
            lags: whether there is hysteresis, which a low-pass looks like.
            is_wrong, finished: as in `search`.
        """
        if self._told.order or not settings.alignment.delay_sd:
            return False
        lags = lags or bool(self.errors.sensor.order)
        if isinstance(outcome, Estimate) and not lags:
            offset, sd = (float(values[CLOCK_OFFSET.values][0])
                          for values in (outcome.alignment, outcome.alignment_sigma))
            unexplained = outcome.residual_rms > _UNEXPLAINED * sensor_errors(settings.wrench)
            lags = abs(offset) > max(_LAG, _CLEAR * sd) or bool(unexplained.any())
        if not self._filter_search.is_due(ring.newest, lags or is_wrong, finished):
            return False
        signals = gather(ring, source, self.errors.early_ns, settings.wrench.sign)
        found = signals and find_filter(signals, self.taken_out, self.errors.early_ns,
                                        datasheet_noise(settings.wrench),
                                        prior_bias_sd(settings.wrench))
        if not found or not (found.sensor.order or self.errors.sensor.order):
            return False
        if self.errors.sensor.order != found.sensor.order:  # look soon whether later data agree
            self._filter_search = SetupSearch(ring.newest)
        self.errors.replace_offset(found.early_ns)
        self.errors.sensor, self.errors.beginning = found.sensor, found.beginning
        self.errors.filter_covariance = found.phi_covariance
        if found.sensor.order:
            self._findings.set("wrench_filtered", "info", found.describe())
        else:  # few data had seemed to show one
            self._findings.clear("wrench_filtered")
        return True

    def _believe(self, settings: Settings, weight_only: bool, share: Share | None) -> bool:
        """Believe that the driver removes other terms than before; False where the user has said
        what it removes, and is told."""
        chosen = settings.precompensated.terms != "auto"
        changed = self.removed.believe(weight_only)
        if changed or chosen:
            self._findings.set("removed_payload.terms", "warning" if chosen else "info",
                               removed_terms.describe(self.taken_out, share, chosen))
        return changed
