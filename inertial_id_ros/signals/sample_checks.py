"""Gates at intake: which samples may enter, and the findings that say why one may not."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..findings import FindingLog
from ..inertia import Array
from ..io.sample_blocks import Wrenches
from ..settings import WrenchSettings
from .drop_counters import StoredCounts
from .precompensation import SETTLING_NS
from .ring_buffer import SampleRing
from .sensor_frame import SensorFrame

_IMPOSSIBLE = 1e6  # N, N m: no wrist sensor reads this, uninitialised memory does


class WrenchGate:
    """Checks wrench samples; counts what it refuses."""

    def __init__(self, settings: WrenchSettings, findings: FindingLog) -> None:
        self._settings = settings
        self._findings = findings
        self._counts = StoredCounts(findings, "wrench", "wrench samples")
        # A channel within one part in a thousand of full scale is clipped.
        self._ceilings = tuple(0.999 * full if full > 0.0 else _IMPOSSIBLE
                               for full in (settings.force_range, settings.torque_range))
        self._refused = ""  # why the last sample could not enter

    def check(self, stamp_ns: int, force: Sequence[float],
              torque: Sequence[float]) -> tuple[float, ...] | None:
        """The sample as 6 numbers [N, N m], or None where it must not enter."""
        (fx, fy, fz), (tx, ty, tz), (f, t) = force, torque, self._ceilings
        # Plain comparisons, which NaN fails: this runs for each sample.
        if (stamp_ns > 0 and -f < fx < f and -f < fy < f and -f < fz < f
                and -t < tx < t and -t < ty < t and -t < tz < t):
            self._refused = ""
            return fx, fy, fz, tx, ty, tz
        self._refuse(stamp_ns, (fx, fy, fz, tx, ty, tz))
        return None

    def _refuse(self, stamp_ns: int, sample: Sequence[float]) -> None:
        if not all(map(math.isfinite, sample)):
            self._findings.count("wrench_not_finite", "wrench samples with NaN or infinity dropped")
            self._refused = "hold NaN or infinity"
        elif stamp_ns <= 0:
            self._findings.count("wrench_stamp_missing", "wrench samples without a stamp dropped")
            self._refused = "are without a stamp"
        else:
            self._findings.count("wrench_saturated", "saturated wrench samples dropped")
            self._refused = "are saturated"

    def passes(self, stamps: np.ndarray, samples: Array) -> bool:
        """Whether samples (n, 6) with stamps (n,) [ns] may enter, every one of them."""
        ceiling = np.repeat(self._ceilings, 3)
        if not ((stamps > 0).all() and (np.abs(samples) < ceiling).all()):
            return False  # NaN is not below it either
        self._refused = ""
        return True

    def why_none(self, topic: str, since: str) -> str:
        """Why no sample of the topic has come through, since something if anything."""
        if self._refused:
            return f"no usable wrench on '{topic}': the samples {self._refused}"
        return f"no wrench received on '{topic}'" + (f" since {since}" if since else "")

    def stored(self, result: str, strays: int) -> None:
        """Count what the ring said of a sample, and the strays it has dropped so far."""
        self._counts.take(result, strays)


def fit(wrenches: Wrenches | None, gate: WrenchGate, frame: SensorFrame, ring: SampleRing,
        deaf_from: int) -> bool:
    """Whether all these wrenches pass and would be stored, one after the other."""
    if wrenches is None:
        return True
    stamps = wrenches.stamps
    deaf = (stamps >= deaf_from) & (stamps < deaf_from + SETTLING_NS)
    return (frame.knows(wrenches.frame_id) and not deaf.any() and ring.follows(stamps)
            and gate.passes(stamps, wrenches.rows) and frame.accepts(wrenches.frame_id))
