# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Corrects what estimates and residuals show to be wrong in the set-up.

That is: clocks that differ, a sensor that is turned against its frame, gravity that is tilted, and
what the driver removes of its own payload. Each correction asks for a replay of the window.
"""

from __future__ import annotations

import numpy as np

from ...detection import removed_terms
from ...detection.removed_terms import RemovedTerms, Share
from ...detection.setup_trials import Setup, SetupSearch, find_setup
from ...findings import FindingLog
from ...inertia import PARAMETERS, Array
from ...kinematics.motion import MotionSource
from ...regression.regressor_window import Rows
from ...regression.rows import RemovedErrors
from ...regression.uncertainty.noise import datasheet_noise
from ...settings import Settings
from ...signals.low_pass import ZeroPhaseFilter
from ...signals.precompensation import Removed, RemovedPayload
from ...signals.ring_buffer import SampleRing
from .sensor_bias import prior_bias_sd
from .wrench_model import WrenchModel


class SetupCorrection:
    """What is believed of the set-up, and what the data say against it.

    Args:
        model: of the load; low_pass: the filter of the rows.

    Attributes:
        errors: are removed from the samples before they are filtered.
        removed: payload that the driver removes from the wrench, as far as known.
        taken_out: the same in the sensor frame, of the newest bins.

    Raises:
        InvalidSetting: a removed payload that no body has, or that lacks its topic.
    """

    def __init__(self, settings: Settings, model: WrenchModel, low_pass: ZeroPhaseFilter,
                 findings: FindingLog) -> None:
        self.removed = RemovedPayload(settings)
        self.taken_out = Removed(np.zeros(PARAMETERS))
        self._terms = RemovedTerms(model, low_pass)
        self._findings = findings
        self.restart()

    def restart(self) -> None:
        """Forget the errors that were found, but not what the driver removes."""
        self.errors = RemovedErrors()
        self._search = SetupSearch()

    def clear_rows(self) -> None:
        """Forget the rows of another payload."""
        self._terms.clear()

    def add_rows(self, rows: Rows) -> None:
        """Compare rows of the window with what the driver is believed to remove."""
        self._terms.add(rows, self.taken_out)

    def share(self, carried: Array) -> Share | None:
        """Inertial forces that the sum of what is measured and removed holds too many, if any, with
        phi (10,) of all that the sensor carries."""
        return self._terms.share(carried, self.taken_out.weight_only)

    def correct_terms(self, settings: Settings, carried: Array) -> bool:
        """Compare what the driver is believed to remove with the motion; says whether the belief
        has changed."""
        share = self.share(carried)
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
