# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Rows of the newest bins, for which the filters still wait for later samples.

A quartic and a low-pass that look to both sides are worth the wait, but in a recording of one
second most of the time would be wait. Rows are therefore made of the bins between the last settled
one and the newest sample, with quartics without their future half and kernels that end with the
data. They belong to one estimate only: the next one gets them anew, from more data.

Provisional rows depend only on the bin where they end. An estimate is then the same however the
stream was cut into pieces, except for its stamp: where a disturbance may begin in the newest bins,
their rows are left out although earlier estimates have used them, and the stamp does not go back
(see `MonotonicStamps`).
"""

from __future__ import annotations

from typing import NamedTuple

from ...detection.segments import Segments
from ...kinematics.motion import MotionSource
from ...regression.regressor_window import Rows
from ...regression.rows import RemovedErrors, lag_behind, make_bin_columns
from ...signals.bins import BIN_NS, BinColumns, bin_samples
from ...signals.low_pass import Lag
from ...signals.precompensation import Removed
from ...signals.ring_buffer import SampleRing

REORDER_NS = 20_000_000  # a sample may overtake others by this much


class UnsettledBins(NamedTuple):
    """The bins for which samples may still come.

    Attributes:
        first: number of the first of them; end: number after the last.
        source: of the motion.
        removed: payload that the driver removes from the wrench.
        errors: of the set-up, which are removed from the samples.
    """

    first: int
    end: int
    source: MotionSource
    removed: Removed
    errors: RemovedErrors

    def provisional_rows(self, wrenches: SampleRing, segments: Segments, sign: float, c1: float,
                         rotation_only: bool, lag: Lag | None) -> Rows | None:
        """The rows that these bins give by now, if any, with the waiting ones; changes nothing.

        Args:
            lag: where the low-pass of the sensor has come to in the bins before.
        """
        bins = bin_samples(wrenches, self.first, self.end)
        if len(bins.number) == 0:
            return segments.waiting_rows
        early_ns = self.errors.early_ns
        motion = self.source.provisional_motion(bins.stamps + early_ns,
                                                self.end * BIN_NS + early_ns)
        _, columns = make_bin_columns(bins, motion, self.removed, self.errors, sign, c1)
        shown = lag_behind(bins.number, columns, motion, self.errors, lag)
        return segments.preview(BinColumns(bins.number, bins.samples, shown.columns).part(
            shown.motion.valid), rotation_only)


def find_unsettled_bins(source: MotionSource, newest_ns: int, removed: Removed,
                        errors: RemovedErrors, finished: bool) -> UnsettledBins | None:
    """The bins between the last settled one and the newest sample; None before the first motion.

    Args:
        newest_ns: stamp of the newest wrench [ns].
        removed, errors: as in `UnsettledBins`.
        finished: whether no sample will come any more.
    """
    settled = source.settled_until()
    if settled is None:
        return None
    wait = -BIN_NS if finished else REORDER_NS
    end = min(newest_ns - wait, settled + source.provisional_ns - errors.early_ns - max(wait, 0))
    first = (end - source.provisional_ns) // BIN_NS
    return UnsettledBins(first, first + source.provisional_ns // BIN_NS, source, removed, errors)
