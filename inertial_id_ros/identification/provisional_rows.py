"""The newest end of the data, where the filters still wait for what comes after.

A quartic and a low-pass that look to both sides are worth the wait, but a recording of a second is
then mostly wait. Between the last settled bin and the newest sample, rows are therefore made of
what is there, with quartics that lack their future half and kernels that end with the data. They
belong to one answer only: the next one gets them anew, from more data.

All of it is a function of the bin where they end. An answer is then the same however the stream
was cut into pieces. Its stamp alone may remember the answers before it: where something begins at
the newest end, rows are left out that have counted, and the stamp stays (see `Stamps`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from ..detection.segments import Segments
from ..estimate import Estimate
from ..findings import FindingLog
from ..inertia import Array
from ..kinematics.motion import MotionSource
from ..regression.regressor_window import Rows
from ..regression.rows import bin_columns
from ..signals.bins import BIN_NS, bin_samples
from ..signals.ring_buffer import SampleRing

_REORDER_NS = 20_000_000  # a sample may overtake others by this much


class NewestEnd(NamedTuple):
    """Bins that are not settled.

    Attributes:
        settled: number of the first of them; end: number after the last.
        source: of the motion; removed: (10,) payload that the driver takes out.
        early_ns: offset that is taken out of the wrench stamps [ns].
    """

    settled: int
    end: int
    source: MotionSource
    removed: Array
    early_ns: int

    def rows(self, wrenches: SampleRing, segments: Segments, sign: float, c1: float,
             rotation_only: bool) -> Rows | None:
        """The rows that they give by now, if any; nothing changes."""
        bins = bin_samples(wrenches, self.settled, self.end)
        if len(bins.number) == 0:
            return segments.waiting
        motion = self.source.newest_motion(bins.stamps + self.early_ns,
                                           self.end * BIN_NS + self.early_ns)
        _, _, columns = bin_columns(bins, motion, self.removed, sign, c1)
        keep = motion.valid
        return segments.preview(bins.number[keep], bins.samples[keep], columns[keep],
                                rotation_only)


class Stamps:
    """Keeps the stamps of successive estimates from going back.

    Whoever takes an estimate by its stamp must not find an older one later. Rows that no longer
    count were looked at all the same; a finding says how far the data behind the estimate reach.
    """

    def __init__(self, findings: FindingLog) -> None:
        self._findings, self._newest = findings, 0

    def in_order(self, estimate: Estimate) -> Estimate:
        """The estimate, stamped no earlier than those before it."""
        left_out = self._newest - estimate.stamp_ns
        if left_out <= 0:
            self._newest = estimate.stamp_ns
            self._findings.clear("newest_left_out")
            return estimate
        self._findings.set("newest_left_out", "info", f"the newest {left_out * 1e-9:.2f} s before "
                           "the stamp are left out: a disturbance may begin there")
        return replace(estimate, stamp_ns=self._newest)


def newest_end(source: MotionSource, newest_ns: int, removed: Array, early_ns: int,
               finished: bool) -> NewestEnd | None:
    """Where the data end by now; None before the first motion.

    Args:
        newest_ns: stamp of the newest wrench [ns]; finished: no sample will come any more.
    """
    settled = source.settled_until()
    if settled is None:
        return None
    wait = -BIN_NS if finished else _REORDER_NS
    end = min(newest_ns - wait, settled + source.newest_ns - early_ns - max(wait, 0))
    first = (end - source.newest_ns) // BIN_NS
    return NewestEnd(first, first + source.newest_ns // BIN_NS, source, removed, early_ns)
