# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Corrects what estimates and residuals show to be wrong in the set-up.

That is: clocks that differ, a sensor that is turned against its frame, gravity that is tilted, and
what the driver removes of its own payload. Each correction asks for a replay of the window.
"""

from __future__ import annotations

from ...detection import removed_terms
from ...detection.removed_terms import Share
from ...detection.setup_trials import Setup, SetupSearch, find_setup
from ...findings import FindingLog
from ...kinematics.motion import MotionSource
from ...regression.rows import RemovedErrors
from ...regression.uncertainty.noise import datasheet_noise
from ...settings import Settings
from ...signals.precompensation import Removed, RemovedPayload
from ...signals.ring_buffer import SampleRing
from .sensor_bias import prior_bias_sd


class SetupCorrection:
    """What is believed of the set-up, and what the data say against it.

    Args:
        removed: payload that the driver removes from the wrench, as far as known; taken_out: the
            same in the sensor frame, of the newest bins. What the driver does outlives a set-up.

    Attributes:
        errors: are removed from the samples before they are filtered.
        removed, taken_out: as above.
    """

    def __init__(self, removed: RemovedPayload, taken_out: Removed, findings: FindingLog) -> None:
        self.removed, self.taken_out = removed, taken_out
        self._findings = findings
        self.errors = RemovedErrors()
        self._search = SetupSearch()

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
               is_estimated: bool) -> bool:
        """Look for a clock offset or terms of the removed payload that explain wrenches which
        nothing explains; says whether there are others than before, which are then used.

        Args:
            settings: with the noise as it was measured; is_estimated: whether there is an estimate.
        """
        if not self._search.is_due(ring.newest, is_estimated, self._findings.all()):
            return False
        found = find_setup(ring, source, Setup(self.errors.early_ns, self.taken_out),
                           settings.wrench.sign, datasheet_noise(settings.wrench),
                           prior_bias_sd(settings.wrench), settings.alignment.delay_sd > 0.0)
        if found is None:
            return False
        if (found.removed.weight_only != self.taken_out.weight_only
                and not self._believe(settings, found.removed.weight_only, None)):
            return False
        self.errors.replace_offset(found.early_ns)
        return True

    def _believe(self, settings: Settings, weight_only: bool, share: Share | None) -> bool:
        """Believe that the driver removes other terms than before; False where the user has said
        what it removes, and is told."""
        chosen = settings.precompensated.terms != "auto"
        changed = self.removed.believe(weight_only)
        if changed or chosen:
            self._findings.set("removed_terms", "warning" if chosen else "info",
                               removed_terms.describe(self.taken_out, share, chosen))
        return changed
