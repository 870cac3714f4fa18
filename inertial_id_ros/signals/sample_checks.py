# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Checks of wrench samples before they enter the ring buffer, and findings on those refused.

`SensorFrame` is that of the sensor: as configured, or as the messages say.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..findings import FindingLog
from ..inertia import Array
from ..io.sample_blocks import Wrenches
from ..settings import WrenchSettings
from .precompensation import is_settling
from .ring_buffer import SampleRing


class SensorFrame:
    """The frame that the wrenches are in.

    Args:
        configured: name from the settings; empty: that of the first message which has one.

    Attributes:
        said: what the messages call it; empty until known.
    """

    def __init__(self, configured: str, findings: FindingLog) -> None:
        self._configured, self._seen = configured.lstrip("/"), ""
        self._findings, self.said = findings, ""
        self._compared = ""  # frame_id that was compared with the configured frame
        self._usual = self._configured or None  # frame_id that needs no further check

    @property
    def name(self) -> str:
        """Name of the frame; empty until known."""
        return self._configured or self._seen

    def mark_compared(self) -> None:
        """Note that the place of the messages' frame is known, and another finding tells it."""
        self._compared = self.said
        self._findings.clear("sensor_frame.replaced")

    def knows(self, frame_id: str) -> bool:
        """Whether this frame_id is that of the samples before."""
        return bool(self._configured) or frame_id.lstrip("/") == self._seen

    def accepts(self, frame_id: str) -> bool:
        """Whether a wrench with this frame_id is used; another frame is a finding."""
        if frame_id == self._usual:
            return True
        frame_id = self.said = frame_id.lstrip("/")
        if self._configured and frame_id not in ("", self._configured, self._compared):
            self._findings.set(
                "sensor_frame.replaced", "warning",
                f"wrench.sensor_frame is '{self._configured}', the messages say '{frame_id}'; if "
                "these differ in place or axes, the result is wrong")
        if not self._configured and frame_id != self._seen:
            if self._seen:
                self._findings.count("sensor_frame.changed", f"wrench samples in frame "
                                     f"'{frame_id}' instead of '{self._seen}' dropped")
                return False
            self._seen = self._usual = frame_id
        return True


# What mends samples whose stamp is zero.
STAMPS_HINT = ("their driver must fill header.stamp; of a recording, identify_bag --stamps "
               "recorded takes the times of recording")
_IMPOSSIBLE = 1e6  # N, N m: no wrist sensor reads this, uninitialised memory does


def plausible_limits(settings: WrenchSettings) -> tuple[float, float]:
    """Size below which a force [N] and a torque [N m] are plausible."""
    # A channel within one part in a thousand of full scale is clipped.
    force, torque = (0.999 * full if full > 0.0 else _IMPOSSIBLE
                     for full in (settings.force_range, settings.torque_range))
    return force, torque


def is_plausible(wrench: Sequence[float], limits: tuple[float, float]) -> bool:
    """Whether a wrench (6,) is finite and within the limits."""
    (fx, fy, fz, tx, ty, tz), (f, t) = wrench, limits
    # Plain comparisons, which NaN fails: this runs for each sample.
    return (-f < fx < f and -f < fy < f and -f < fz < f
            and -t < tx < t and -t < ty < t and -t < tz < t)


class WrenchChecks:
    """Checks wrench samples; counts what it refuses."""

    def __init__(self, settings: WrenchSettings, findings: FindingLog) -> None:
        self._findings = findings
        self._ceilings = plausible_limits(settings)
        self._refused: str | None = None  # what is wrong with the last sample

    def check(self, stamp_ns: int, force: Sequence[float],
              torque: Sequence[float]) -> tuple[float, ...] | None:
        """The sample as 6 numbers [N, N m]; None where it is refused."""
        sample = (*force, *torque)
        if stamp_ns > 0 and is_plausible(sample, self._ceilings):
            self._refused = None
            return sample
        self._refuse(stamp_ns, sample)
        return None

    def _refuse(self, stamp_ns: int, sample: Sequence[float]) -> None:
        """Count a refused sample under the finding that says what is wrong with it."""
        if not all(map(math.isfinite, sample)):
            self._findings.count("samples_invalid.wrench",
                                 "wrench samples with NaN or infinity dropped")
            self._refused = "hold NaN or infinity"
        elif stamp_ns <= 0:
            self._findings.count("stamp_missing.wrench", "wrench samples without a stamp dropped: "
                                 + STAMPS_HINT)
            self._refused = "are without a stamp"
        else:
            self._findings.count("samples_saturated.wrench", "saturated wrench samples dropped")
            self._refused = "are saturated, or not in N and N m"

    def passes_all(self, stamps: np.ndarray, samples: Array) -> bool:
        """Whether `check` would accept every one of samples (n, 6) with stamps (n,) [ns]."""
        ceiling = np.repeat(self._ceilings, 3)
        if not ((stamps > 0).all() and (np.abs(samples) < ceiling).all()):
            return False  # NaN is not below it either
        self._refused = None
        return True

    def explain_silence(self, topic: str, since: str | None) -> str:
        """Say why no sample of the topic was accepted, since an event if there was one."""
        if self._refused is not None:
            return f"no usable wrench on '{topic}': the samples {self._refused}"
        return f"no wrench received on '{topic}'" + ("" if since is None else f" since {since}")


def accepts_all(wrenches: Wrenches | None, gate: WrenchChecks, frame: SensorFrame, ring: SampleRing,
                settling_from: int) -> bool:
    """Whether all these wrenches would be accepted and stored, one after the other.

    Args:
        settling_from: stamp of the last change of the sensor's zero [ns] (see `is_settling`).
    """
    if wrenches is None:
        return True
    stamps = wrenches.stamps
    return (frame.knows(wrenches.frame_id) and ring.would_store_all(stamps)
            and not np.any(is_settling(stamps, settling_from))
            and gate.passes_all(stamps, wrenches.rows) and frame.accepts(wrenches.frame_id))
