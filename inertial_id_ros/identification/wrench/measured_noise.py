# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The settings with the noise of the sensor as it was measured, where that is clearly more."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import FindingLog
from ...regression.uncertainty.noise import datasheet_noise
from ...settings import Settings
from ...signals.bins import Bins
from ...signals.noise_level import NoiseLevel


class MeasuredNoise:
    """Follows the noise of the sensor, from which the settings only give where it begins."""

    def __init__(self, settings: Settings, findings: FindingLog) -> None:
        self._declared, self._findings = settings, findings
        self._measured = settings
        self._level = NoiseLevel(datasheet_noise(self._declared.wrench)[[0, 3]])

    def declare(self, settings: Settings) -> None:
        """Take the noise of other settings as declared."""
        self._declared = self._measured = settings
        self._level.declare(datasheet_noise(settings.wrench)[[0, 3]])

    def follow(self, bins: Bins) -> Iterator[int]:
        """Add bins in order of time; gives the number of each bin after which the noise is another
        (see `NoiseLevel.follow`)."""
        return self._level.follow(bins)

    def report(self) -> None:
        """Say which noise is used where that was measured."""
        self._level.report(self._findings)

    @property
    def is_raised(self) -> bool:
        """Whether more noise was measured than is declared."""
        return self._level.is_raised

    @property
    def settings(self) -> Settings:
        """The declared settings, with the noise that was measured; made anew only for another."""
        used = tuple(self._level.used.tolist())
        if self._measured.wrench.noise != used:
            self._measured = self._declared.replace({"wrench.noise": used})
        return self._measured
