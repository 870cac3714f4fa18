# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The wrenches of the sensor: checked, stored until they settle, and turned into bins."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...findings import FindingLog
from ...inertia import Array
from ...io.sample_blocks import Wrenches
from ...kinematics.transform_tree import Pose
from ...settings import Settings
from ...signals.bins import BIN_NS, Bins, bin_samples
from ...signals.precompensation import SETTLED, is_settling
from ...signals.ring_buffer import Arrival, SampleRing
from ...signals.sample_checks import SensorFrame, WrenchChecks, accepts_all
from ...signals.stream_watch import DropCounters
from ..compensation.load_latch import wrench_matrix

_CAPACITY = 65_536  # samples kept until they settle
_SAME = 2e-3  # rad, m; poses that differ by less are equal
_TARE_NS = 1_000_000_000  # of readings for a tare


class WrenchStream:
    """Stores the wrenches that pass all checks, and gives them back as bins.

    Attributes:
        ring: samples (6,) [N, N m]; frame: of the sensor.
        next_bin: number of the first bin that was not taken yet; 0 before any.
        conversion: (6, 6) from the wrenches of the messages to those in the sensor frame; None:
            they are given in it.
    """

    def __init__(self, settings: Settings, findings: FindingLog) -> None:
        self.ring = SampleRing(6, _CAPACITY)
        self.frame = SensorFrame(settings.wrench.sensor_frame, findings)
        self.next_bin = 0
        self.conversion: Array | None = None
        self._checks = WrenchChecks(settings.wrench, findings)
        self._findings = findings
        self._drops = self._make_drops()
        self._topic = settings.dynamic_joint_states.topic or settings.wrench.topic
        self._settling_from = SETTLED  # stamp from which on wrenches are ignored for a while [ns]
        self._empty_reason: str | None = None  # why the ring was emptied last

    def _make_drops(self) -> DropCounters:
        """A counter of what becomes of wrenches."""
        return DropCounters(self._findings, "wrench", "wrench samples")

    @property
    def newest(self) -> int:
        """Newest stamp [ns]; 0 without any sample."""
        return self.ring.newest if len(self.ring) else 0

    def append(self, stamp_ns: int, frame_id: str, force: Sequence[float],
               torque: Sequence[float]) -> Arrival | None:
        """Store a wrench that passes all checks; says what the ring did, None where it does not."""
        sample = self._checks.check(stamp_ns, force, torque)
        if sample is None or is_settling(stamp_ns, self._settling_from):
            return None
        if not self.frame.accepts(frame_id):
            return None
        return self.ring.append(
            stamp_ns, sample if self.conversion is None else self.conversion @ sample)

    def extend(self, wrenches: Wrenches) -> None:
        """Store wrenches all of which are accepted."""
        rows = wrenches.rows
        self.ring.extend(wrenches.stamps,
                         rows if self.conversion is None else rows @ self.conversion.T)

    def convert_from(self, pose: Pose) -> bool:
        """Convert wrenches of a frame that has this pose in the sensor frame, also those that are
        stored; says whether they were converted otherwise."""
        self.frame.mark_compared()
        matrix = wrench_matrix(pose.inverse())
        before = np.eye(6) if self.conversion is None else self.conversion
        if np.allclose(matrix, before, rtol=0.0, atol=_SAME):
            return False
        self.ring.rows[:] = self.ring.rows @ np.linalg.solve(before.T, matrix.T)
        self.conversion = matrix
        return True

    def count(self, result: Arrival) -> None:
        """Count what the ring did with a wrench."""
        self._drops.count(result, self.ring)

    def accepts_all(self, wrenches: Wrenches | None) -> bool:
        """Whether all these wrenches would be stored, one after the other."""
        return accepts_all(wrenches, self._checks, self.frame, self.ring, self._settling_from)

    def let_settle(self) -> None:
        """Ignore the wrenches of the next moments: the zero of the sensor changes."""
        self._settling_from = self.ring.newest if len(self.ring) else SETTLED

    def begin_anew(self, reason: str) -> None:
        """Begin without samples."""
        if len(self.ring):
            self._empty_reason = f"the buffers were flushed: {reason}"
        self.ring = SampleRing(6, _CAPACITY)
        self._drops = self._make_drops()

    def find_first_bin(self) -> None:
        """Begin the bins with the oldest sample, unless they have begun."""
        self.next_bin = self.next_bin or self.oldest_bin

    @property
    def oldest_bin(self) -> int:
        """Number of the bin of the oldest sample."""
        return int(self.ring.stamps[0]) // BIN_NS

    def take_bins(self, end: int) -> Bins:
        """The bins up to a number, which are closed with that."""
        bins = bin_samples(self.ring, self.next_bin, end)
        self.next_bin = end
        self.ring.closed_until = end * BIN_NS - 1
        return bins

    def last_second(self) -> Array:
        """The readings (n, 6) of the last second [N, N m]."""
        return self.ring.rows[self.ring.between(self.ring.newest - _TARE_NS, self.ring.newest + 1)]

    def explain_silence(self) -> str:
        """Say why there is no sample."""
        return self._checks.explain_silence(self._topic, self._empty_reason)
