# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The road of a wrench, from its stream to the rows of the window."""

from __future__ import annotations

import numpy as np

from ...detection.disturbance_detector import Event
from ...inertia import Array
from ...kinematics.motion import Motion, MotionSource
from ...regression.regressor_window import Rows
from ...regression.rows import lag_behind, make_bin_columns, unpack_bins
from ...signals.bins import BIN_NS, BinColumns, Bins
from ...signals.precompensation import Removed
from ..road import CompensatedWrenches, Road, join_wrenches, no_wrenches
from .compensation import Compensation
from .input_watch import InputFault
from .knowledge import WristKnowledge
from .provisional_rows import UnsettledBins, find_unsettled_bins
from .removable_load import RemovableLoad
from .sensor_bias import UNKNOWN_BIAS
from .wrench_model import WrenchModel

_SHIFT_NS = 1_000_000_000  # a larger shift of stamps is no delay: other clocks


class WristRoad(Road):
    """Moves wrenches and motion into the window.

    Args:
        load: is told of what the bins and the events say of it.

    Attributes:
        compensation: of the wrenches that settle.
    """

    _known: WristKnowledge

    def __init__(self, known: WristKnowledge, load: RemovableLoad) -> None:
        super().__init__(known)
        self._load = load
        self.compensation = Compensation(known.settings, known.findings)

    def process_settled(self) -> CompensatedWrenches:
        """As `Road.process_settled`."""
        known = self._known
        ring, frame = known.stream.ring, known.sensor_frame
        if not len(ring):
            return no_wrenches(frame)
        source = known.motion.select_source(frame, ring, known.setup.correction.errors.early_ns)
        self._begin_where_mounted_anew()
        if (shift := known.motion.take_shift()) and abs(shift) < _SHIFT_NS:
            self._begin_where_shifted(shift)
            return no_wrenches(frame)
        unsettled = self._find_unsettled(source)
        if unsettled is None:
            return no_wrenches(frame)
        known.payload.unsettled = unsettled
        known.watch.judge_wrenches(ring, unsettled.first)
        parts = []
        while (fault := known.watch.next_fault(unsettled, known.finished)) is not None:
            parts.append(self._process_bins_before(fault.shown, unsettled))
            self._handle_fault(fault, unsettled)
        parts.append(self._process_bins_before(unsettled.first, unsettled))
        self._begin_where_lost(unsettled)
        return join_wrenches(parts, frame)

    def replay_window(self) -> None:
        """Send the samples of the window through the stages again, as if they had just arrived."""
        self._known.begin_replay()
        self.process_settled()

    def _begin_where_mounted_anew(self) -> None:
        """Begin with nothing known of the payload where robot or sensor were mounted otherwise."""
        known = self._known
        if not known.motion.mounting_changed:
            return
        known.motion.mounting_changed = False
        known.begin_payload()
        known.latch.forget("the mounting of the robot or of the sensor changed")
        known.findings.count("mounting_changed", "buffers flushed: the mounting of the robot or of "
                             "the sensor changed", "info")

    def _begin_where_shifted(self, shift: int) -> None:
        """Begin anew where the stamps of the motion have shifted by so much [ns] against those of
        the wrench, with that taken into account."""
        known = self._known
        early = known.setup.correction.errors.early_ns + shift
        known.begin_without_samples(f"the stamps of the motion have shifted by {shift * 1e-9:+.2f} "
                                    "s against those of the wrench")
        known.setup.correction.errors.replace_offset(early)

    def _find_unsettled(self, source: MotionSource | None) -> UnsettledBins | None:
        """The bins for which samples may still come, where others have settled before them."""
        known, correction = self._known, self._known.setup.correction
        removed = correction.removed.in_sensor(known.sensor_frame, known.motion.streams.lookup)
        if source is None or removed is None:
            return None
        if (text := correction.removed.describe()) is not None:
            known.findings.set("removed_payload", "info", text)
        known.watch.judge_positions(known.disturbances.in_contact)
        known.payload.segments.detector.stays = known.carried(None)
        unsettled = find_unsettled_bins(source, known.newest_ns, removed, correction.errors,
                                        known.finished)
        known.stream.find_first_bin()
        return None if unsettled is None or unsettled.first <= known.stream.next_bin else unsettled

    def _begin_where_lost(self, unsettled: UnsettledBins) -> None:
        """Begin with nothing learnt where the detector has given the payload up, and process the
        bins since then anew: the result does not depend on how many came with them."""
        known = self._known
        while known.progress.lost_at is not None:
            end, known.stream.next_bin = known.stream.next_bin, known.progress.lost_at + 1
            known.progress.lost_at = None
            known.begin_setup()
            known.motion.expect_replay()
            self._process_bins_before(end, unsettled)
            known.payload.unsettled = unsettled

    def _process_bins_before(self, end: int, unsettled: UnsettledBins) -> CompensatedWrenches:
        """Turn the bins up to number `end` into rows; gives their compensated wrenches."""
        known = self._known
        nothing = no_wrenches(known.sensor_frame)
        if end <= known.stream.next_bin:
            return nothing
        bins = known.stream.take_bins(end)
        early_ns = known.setup.correction.errors.early_ns
        unsettled.source.close(end * BIN_NS + early_ns)
        if len(bins.number) == 0 or known.watch.conflict is not None:
            return nothing
        return self._process_bins(bins, unsettled.source.motion_at(bins.stamps + early_ns),
                                  unsettled.removed)

    def _handle_fault(self, fault: InputFault, unsettled: UnsettledBins) -> None:
        """Take back the rows that a fault of the inputs has spoiled, and what followed from
        them."""
        known = self._known
        if fault.first is None:
            known.watch.use_change(fault)
            known.latch.forget("the inputs contradict each other")
            known.begin_anew()
        elif fault.first < known.stream.next_bin and known.watch.conflict is None:
            known.take_back_changes(fault.first)
            now = known.stream.next_bin
            known.begin_replay()
            self._process_bins_before(now, unsettled)
        known.payload.unsettled = unsettled

    def _process_bins(self, bins: Bins, motion: Motion, removed: Removed) -> CompensatedWrenches:
        """Filter settled bins into rows of the window; gives their compensated wrenches.

        Args:
            removed: payload that the driver removes.
        """
        known = self._known
        setup, payload, window = known.setup, known.payload, known.window
        setup.correction.taken_out = removed
        known.motion.report_coverage(motion.valid)
        motion = motion._replace(valid=motion.valid & ~payload.stuck.judge(bins, motion))
        y, columns = make_bin_columns(bins, motion, removed, setup.correction.errors,
                                      known.settings.wrench.sign,
                                      known.settings.estimator.dynamism_c1)
        window.motion.add(motion)
        columns, motion, payload.lag = lag_behind(
            bins.number, columns, motion, setup.correction.errors, payload.lag)
        self._show_bins(bins, motion, y, columns)
        payload.segments.set_acceleration_noise(
            window.motion.acceleration_covariance(payload.segments.detector_kernel))
        self._filter_bins(bins, BinColumns(bins.number, bins.samples, columns).part(motion.valid))
        known.window.rows.expire(payload.segments.newest_waiting_bin)
        self._load.check(bins, motion, y)
        last = known.window.last
        return self.compensation.compensate(bins.stamps, motion, y, last, known.carried(last),
                                            known.sensor_frame)

    def _show_bins(self, bins: Bins, motion: Motion, y: Array, columns: Array) -> None:
        """Show bins to the watches that judge the set-up and whether the payload swings.

        Args:
            y: wrenches (k, 6) with the sign of ``A phi``; columns: of the bins, as they were made.
        """
        known, valid = self._known, motion.valid
        a, corrected = unpack_bins(columns[valid])
        known.setup.units.add(a, corrected)
        known.payload.swings.add(
            bins.number[valid], motion.part(valid), a, corrected,
            known.sensor_noise / np.sqrt(max(np.mean(bins.samples), 1.0)))
        known.setup.vibration.add(bins.number[valid], y[valid])

    def _filter_bins(self, bins: Bins, columns: BinColumns) -> None:
        """Filter the columns of bins into rows, each judged by the noise up to its time."""
        for last in self._known.setup.noise.follow(bins):
            before = columns.number <= last
            self._push_bins(columns.part(before))
            columns = columns.part(~before)
            self._use_noise()
        self._push_bins(columns)

    def _push_bins(self, columns: BinColumns) -> None:
        """Send columns through the filters, and their rows to the window."""
        known = self._known
        self._add_segments(known.payload.segments.push(columns, known.motion.rotation_only))

    def _use_noise(self) -> None:
        """Judge and weigh by the noise that was measured."""
        known, noise = self._known, self._known.setup.noise
        noise.report()
        known.payload.segments.use_model(WrenchModel(noise.settings))
        known.solver = known.solver.with_settings(noise.settings)

    def _add_rows(self, rows: Rows) -> None:
        """As `Road._add_rows`."""
        known = self._known
        known.window.rows.add(rows)
        known.window.terms.add(rows, known.setup.correction.taken_out)
        known.progress.rows += len(rows.number)

    def _handle_event(self, event: Event) -> None:
        """As `Road._handle_event`, after what the event means for the load that may be removed."""
        self._load.follow(event)
        super()._handle_event(event)

    def _handle_moved_zero(self) -> None:
        """Use the tare no more, which belongs to the old zero."""
        self._known.solver.bias = UNKNOWN_BIAS
