# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Online identification from a wrist sensor, as one object without ROS.

The node and the bag tool both use it, so that a recording that is played live and one that is read
offline give the same numbers. Samples go in through `add_*`, an estimate comes out of `solve`; the
stages between them are described in `pipeline`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeGuard

import numpy as np

from ...detection.disturbance_detector import Event, EventKind
from ...detection.disturbance_findings import DisturbanceFindings
from ...detection.removed_terms import Share
from ...doubts import withdraw_doubted
from ...errors import InertialIdError, NotEnoughData
from ...estimate import Estimate, NoEstimate, Outcome
from ...geometry.shape import Shape, shape_from_settings
from ...inertia import PARAMETERS, Array
from ...io.sample_blocks import Block
from ...kinematics.motion import Motion
from ...regression.regressor_window import Rows, WindowContent
from ...regression.rows import lag_behind, make_bin_columns, unpack_bins
from ...regression.tool import Tool
from ...regression.uncertainty.noise import datasheet_noise
from ...settings import Settings
from ...signals import inbox
from ...signals.bins import BIN_NS, BinColumns, Bins
from ...signals.precompensation import Removed, RemovedPayload
from ...signals.ring_buffer import JUMPED
from ..compensated_wrenches import CompensatedWrenches, join_wrenches, no_wrenches
from ..compensation.load_in_use import Load, LoadInUse
from ..compensation.load_latch import LoadLatch
from ..compensation.target_frame import TargetFrame
from ..knowledge import Setup, WristPayload, WristWindow
from ..pipeline import Pipeline
from ..state import Keep, State, keep_nothing
from .compensation import Compensation
from .input_watch import InputFault, InputWatch
from .load_check import CREPT, SPAN
from .provisional_rows import UnsettledBins, find_unsettled_bins
from .sensor_bias import UNKNOWN_BIAS, SensorBias, measure_tare
from .solver import Solver
from .stream import WrenchStream
from .wrench_model import WrenchModel

_SHIFT_NS = 1_000_000_000  # a larger shift of stamps is no delay: other clocks
_CREPT_BINS = round(6e9 / BIN_NS)  # least length of a window that a slow change ends
# ns without a wrench, in which a payload may be released and the sensor zeroed: what was removed
# before is not until an estimate holds data from after it.
_UNHEARD_NS = 1_000_000_000


class Identifier(Pipeline[WindowContent]):
    """Online payload identification from the wrenches of a sensor at the wrist.

    Raises:
        InvalidShape: the shape in the settings cannot be used.
        InvalidSetting: settings that contradict each other.
    """

    _solver: Solver
    _payload: WristPayload
    _window: WristWindow
    _stores_blocks = True

    def __init__(self, settings: Settings, shape: Shape | None = None) -> None:
        super().__init__(settings)
        self._stream = WrenchStream(settings, self._log)
        self._watch = InputWatch(settings.wrench, self._motion, self._log)
        self._disturbances = DisturbanceFindings(self._log, WrenchModel.texts)
        self._setup = Setup(settings, RemovedPayload(settings), Removed(np.zeros(PARAMETERS)),
                            self._log)
        model = WrenchModel(settings)
        self._payload = WristPayload(settings, model, self._log)
        self._window = WristWindow(settings, model, self._payload.segments)
        shape = shape if shape is not None else shape_from_settings(settings.shape)
        self._solver = Solver(settings, shape, self._payload.segments.filter)
        self._compensation = Compensation(settings, self._log)
        self._latch, self._target = LoadLatch(), TargetFrame()
        self._handlers = {
            inbox.WRENCH: self._take_wrench,
            inbox.JOINT_STATE: self._motion.take_joint_state,
            inbox.TRANSFORM: self._motion.take_transform,
            inbox.STATIC_TRANSFORM: self._motion.take_static_transform,
            inbox.REMOVED_PAYLOAD: self._take_removed_payload, inbox.ZEROING: self._take_zeroing,
            inbox.FINDING: self._log.set, inbox.PUBLISHERS: self._take_publishers}

    # ---- what is known begins anew (see `knowledge`) -------------------------------------------

    def _begin_stream(self, reason: str) -> None:
        """As `Pipeline._begin_stream`, with the wrenches that are stored."""
        super()._begin_stream(reason)
        self._latch.forget(reason)
        self._stream.next_bin = 0
        self._watch = InputWatch(self.settings.wrench, self._motion, self._log,
                                 self._watch.publishers)
        self._begin_setup()

    def _begin_setup(self) -> None:
        """Begin with nothing known of sensor, stamps and driver but the tare, and with nothing that
        follows from it."""
        driver = self._setup.correction
        self._log.clear("soft_mount")
        self._setup = Setup(self.settings, driver.removed, driver.taken_out, self._log)
        self._solver = self._solver.with_settings(self.settings)
        self._begin_payload()

    def _begin_payload(self) -> None:
        """As `Pipeline._begin_payload`; no replay brings earlier bins back."""
        self._begin_payload_at(self._stream.next_bin)

    def _begin_payload_at(self, begin: int, ends: Sequence[tuple[int, int]] = ()) -> None:
        """Begin with no rows of a payload that began at a bin, after others that have ended."""
        self._payload = WristPayload(self.settings, WrenchModel(self._setup.noise.settings),
                                     self._log, begin, tuple(ends), self._payload.segments)
        self._begin_window()

    def _begin_window(self) -> None:
        """As `Pipeline._begin_window`."""
        self._window = WristWindow(self.settings, WrenchModel(self.settings),
                                   self._payload.segments)

    # ---- from the inbox to the streams ---------------------------------------------------------

    def set_robot_description(self, urdf: str) -> None:
        """Use this URDF (raises InvalidModel; the one before stays in use)."""
        with self._lock:
            self._motion.set_robot_description(urdf)

    @property
    def robot_description(self) -> str:
        """The URDF in use; empty where there is none."""
        return self._motion.urdf

    @property
    def sensor_frame(self) -> str:
        """Frame of the wrench; empty until known."""
        return self._stream.frame.name

    @property
    def newest_ns(self) -> int:
        """Newest stamp of the stream [ns]; 0 before any sample."""
        return self._stream.newest

    @property
    def settled_ns(self) -> int:
        """Stamp up to which wrench and motion were processed [ns]; 0 before any."""
        return self._stream.next_bin * BIN_NS

    def _take_block(self, block: Block) -> bool:
        """As `Inbox._take_block`."""
        if not (self._motion.fits(block) and self._stream.accepts_all(block.wrenches)):
            return False
        self._motion.take_block(block)
        if block.wrenches is not None:
            self._stream.extend(block.wrenches)
        return True

    def _take_removed_payload(self, frame_id: str, values: Sequence[float]) -> None:
        """Use the payload that the driver says it removes; a change of it zeroes the sensor."""
        try:
            change = self._setup.correction.removed.update(frame_id, values)
            self._log.clear("removed_payload.invalid")
        except InertialIdError as error:
            self._log.set("removed_payload.invalid", "error", str(error))
            return
        if change is not None:
            self._take_zeroing(change)
        elif values[0] > 0.0:
            self._solver.bias = self._solver.bias.without_old(
                f"the driver now removes a payload of {values[0]:.3f} kg", self._log)

    def _take_zeroing(self, reason: str) -> None:
        """Use no data from before the sensor was zeroed, and ignore the wrench for a while."""
        self._stream.let_settle()
        self._begin_without_samples(reason)
        self._solver.bias = UNKNOWN_BIAS

    def _take_publishers(self, text: str) -> None:
        """Use no wrench while several publishers send it, as the text says; empty: one does. Either
        way nothing from before counts any more."""
        if bool(text) != bool(self._watch.publishers):
            self._begin_without_samples("several publishers sent the wrench")
        self._watch.use_publishers(text)

    def _take_wrench(self, stamp_ns: int, frame_id: str, force: Sequence[float],
                     torque: Sequence[float]) -> None:
        """Put a wrench that passes all checks into its stream."""
        before = self._stream.newest
        result = self._stream.append(stamp_ns, frame_id, force, torque)
        if result is None:
            return
        if result == JUMPED:
            self._begin_stream(f"the clock jumped back by {(before - stamp_ns) * 1e-9:.1f} s")
        elif before and self._stream.newest - before > _UNHEARD_NS:
            self._latch.forget("no usable wrench came for "
                               f"{(self._stream.newest - before) * 1e-9:.1f} s")
        self._stream.count(result)

    # ---- from the streams to the window --------------------------------------------------------

    def _process_settled(self) -> CompensatedWrenches:
        """Turn settled samples into rows of the window; gives the compensated wrenches."""
        nothing = no_wrenches(self.sensor_frame)
        ring, correction = self._stream.ring, self._setup.correction
        errors = correction.errors
        if not len(ring):
            return nothing
        source = self._motion.select_source(self.sensor_frame, ring, errors.early_ns)
        if self._motion.mounting_changed:
            self._motion.mounting_changed = False
            self._begin_payload()
            self._latch.forget("the mounting of the robot or of the sensor changed")
            self._log.count("mounting_changed", "buffers flushed: the mounting of the robot or of "
                            "the sensor changed", "info")
        if (shift := self._motion.take_shift()) and abs(shift) < _SHIFT_NS:
            self._handle_shift(shift)
            return nothing
        removed = correction.removed.in_sensor(self.sensor_frame, self._motion.lookup)
        if source is None or removed is None:
            return nothing
        if (text := correction.removed.describe()) is not None:
            self._log.set("removed_payload", "info", text)
        self._watch.judge_positions(self._disturbances.in_contact)
        self._payload.segments.detector.stays = self._carried(None)
        unsettled = find_unsettled_bins(source, ring.newest, removed, errors, self._finished)
        self._stream.find_first_bin()
        if unsettled is None or unsettled.first <= self._stream.next_bin:
            return nothing
        self._payload.unsettled = unsettled
        self._watch.judge_wrenches(ring, unsettled.first)
        parts = []
        while (fault := self._watch.next_fault(unsettled, self._finished)) is not None:
            parts.append(self._process_bins_before(fault.shown, unsettled))
            self._handle_fault(fault, unsettled)
        parts.append(self._process_bins_before(unsettled.first, unsettled))
        self._begin_where_lost(unsettled)
        return join_wrenches(parts, self.sensor_frame)

    def _handle_shift(self, shift: int) -> None:
        """Begin anew where the stamps of the motion have shifted by so much [ns] against those of
        the wrench, with that taken into account."""
        early = self._setup.correction.errors.early_ns + shift
        self._begin_without_samples(f"the stamps of the motion have shifted by {shift * 1e-9:+.2f} "
                                    "s against those of the wrench")
        self._setup.correction.errors.replace_offset(early)

    def _begin_where_lost(self, unsettled: UnsettledBins) -> None:
        """Begin with nothing learnt where the detector has given the payload up, and process the
        bins since then anew: the result does not depend on how many came with them."""
        while self._progress.lost_at is not None:
            end, self._stream.next_bin = self._stream.next_bin, self._progress.lost_at + 1
            self._progress.lost_at = None
            self._begin_setup()
            self._motion.expect_replay()
            self._process_bins_before(end, unsettled)
            self._payload.unsettled = unsettled

    def _process_bins_before(self, end: int, unsettled: UnsettledBins) -> CompensatedWrenches:
        """Turn the bins up to number `end` into rows; gives their compensated wrenches."""
        nothing = no_wrenches(self.sensor_frame)
        if end <= self._stream.next_bin:
            return nothing
        bins = self._stream.take_bins(end)
        early_ns = self._setup.correction.errors.early_ns
        unsettled.source.close(end * BIN_NS + early_ns)
        if len(bins.number) == 0 or self._watch.conflict is not None:
            return nothing
        return self._process_bins(bins, unsettled.source.motion_at(bins.stamps + early_ns),
                                  unsettled.removed)

    def _handle_fault(self, fault: InputFault, unsettled: UnsettledBins) -> None:
        """Take back the rows that a fault of the inputs has spoiled, and what followed from
        them."""
        if fault.first is None:
            self._watch.use_change(fault)
            self._latch.forget("the inputs contradict each other")
            self._begin_anew()
        elif fault.first < self._stream.next_bin and self._watch.conflict is None:
            self._take_back_events(fault.first)
            now = self._stream.next_bin
            self._begin_replay()
            self._process_bins_before(now, unsettled)
        self._payload.unsettled = unsettled

    def _process_bins(self, bins: Bins, motion: Motion, removed: Removed) -> CompensatedWrenches:
        """Filter settled bins into rows of the window; gives their compensated wrenches.

        Args:
            removed: payload that the driver removes.
        """
        setup, payload, window = self._setup, self._payload, self._window
        setup.correction.taken_out = removed
        self._motion.report_coverage(motion.valid)
        motion = motion._replace(valid=motion.valid & ~payload.stuck.judge(bins, motion))
        y, columns = make_bin_columns(bins, motion, removed, setup.correction.errors,
                                      self.settings.wrench.sign,
                                      self.settings.estimator.dynamism_c1)
        window.motion.add(motion)
        columns, motion, payload.lag = lag_behind(
            bins.number, columns, motion, setup.correction.errors, payload.lag)
        valid = motion.valid
        setup.units.add(*unpack_bins(columns[valid]))
        setup.vibration.add(bins.number[valid], y[valid])
        payload.segments.set_acceleration_noise(
            window.motion.acceleration_covariance(payload.segments.detector_kernel))
        self._filter_bins(bins, BinColumns(bins.number, bins.samples, columns).part(valid))
        self._window.rows.expire(payload.segments.newest_waiting_bin)
        self._check_load(bins, motion, y)
        return self._compensation.compensate(bins.stamps, motion, y, self._window.last,
                                             self._carried(self._window.last), self.sensor_frame)

    def _check_load(self, bins: Bins, motion: Motion, y: Array) -> None:
        """Do not remove a load any more that the newest wrenches (k, 6) contradict."""
        check = self._payload.load_check
        if self._payload.segments.detector.began is not None:
            check.keep_judged()
            return
        check.add(bins.number, motion, y)
        if self._misfit(self._latch.explanation) > 1.0 and self._latch.contradict(CREPT):
            self._set_crept(int(bins.number[-1]))

    def _set_crept(self, number: int) -> None:
        """Begin anew with the rows from before a bin on, unless a cable is too new for what is
        judged."""
        check = self._payload.load_check
        if not self._solver.cables.is_new(check.first):
            check.crept_at = number

    def _begin_where_crept(self) -> None:
        """Begin with the newest rows alone where the load that was removed has slowly become
        another one: a long window would give the mean of both. A young one may lack a cable
        instead."""
        payload = self._payload
        crept, payload.load_check.crept_at = payload.load_check.crept_at, None
        if (crept is None or self._solver.cables.is_new(payload.load_check.first)
                or crept - max(payload.begin, self._stream.oldest_bin) < _CREPT_BINS):
            return
        payload.begin = crept - SPAN
        self._log.count("payload_changed", f"{CREPT}; buffers flushed", "info")
        self._replay_window()
        self._progress.flush_reason = CREPT

    def _misfit(self, load: Load) -> float:
        """As `LoadCheck.misfit`."""
        known = self.settings.wrench
        wander = np.repeat([known.force_accuracy, known.torque_accuracy], 3)
        return self._payload.load_check.misfit(
            load, known.sign, self._sensor_noise, np.hypot(wander, self._solver.hysteresis),
            self._solver.cables.pull_at)

    @property
    def _sensor_noise(self) -> Array:
        """Noise (6,) of one wrench, as it was measured [N, N m]."""
        return datasheet_noise(self._setup.noise.settings.wrench)

    def _filter_bins(self, bins: Bins, columns: BinColumns) -> None:
        """Filter the columns of bins into rows, each judged by the noise up to its time."""
        for last in self._setup.noise.follow(bins):
            before = columns.number <= last
            self._push_bins(columns.part(before))
            columns = columns.part(~before)
            self._use_noise()
        self._push_bins(columns)

    def _push_bins(self, columns: BinColumns) -> None:
        """Send columns through the filters, and their rows to the window."""
        self._add_segments(self._payload.segments.push(columns, self._motion.rotation_only))

    def _use_noise(self) -> None:
        """Judge and weigh by the noise that was measured."""
        noise = self._setup.noise
        noise.report()
        self._payload.segments.use_model(WrenchModel(noise.settings))
        self._solver = self._solver.with_settings(noise.settings)

    def _add_rows(self, rows: Rows) -> None:
        """Add rows to the window."""
        self._window.rows.add(rows)
        self._window.terms.add(rows, self._setup.correction.taken_out)
        self._progress.rows += len(rows.number)

    def _handle_event(self, event: Event) -> None:
        """Record an event of the detector, and what it means for the load that may be removed."""
        if event.kind.ends_payload:
            text = self._disturbances.describe(event)
            if event.kind is EventKind.PAYLOAD_CHANGED:
                self._latch.end_payload(text, self._carried(None), event.change)
            elif event.kind is EventKind.LOST:
                self._latch.doubt(text)
            elif event.kind is EventKind.OFFSET:
                self._latch.add_offset(self.settings.wrench.sign * event.offset, text,
                                       self._sensor_noise)
            else:
                self._latch.forget(text)
        super()._handle_event(event)

    def _handle_moved_zero(self) -> None:
        """Use the tare no more, which belongs to the old zero."""
        self._solver.bias = UNKNOWN_BIAS

    # ---- from the window to an estimate --------------------------------------------------------

    def solve(self) -> Outcome:
        """The estimate of the window: physically consistent, or the reason why there is none.

        Where an estimate shows a large error of the set-up, such as clocks that differ or a sensor
        that is turned, or that the driver removes other forces of its payload than was believed,
        the window is replayed with that corrected and solved again; so it is where nothing explains
        the wrench, but would do so with another clock offset.
        """
        with self._lock:
            self._convert_wrenches()
            self._begin_where_crept()
            outcome = self._solve_window()
            if (self._search_filter(outcome) or self._search_setup(outcome)
                    or self._correct_terms(outcome)):
                self._replay_window()
                outcome = self._solve_window()
            while _is_new(outcome) and self._setup.correction.errors.remove(
                    outcome.alignment, outcome.alignment_sigma):
                self._replay_window()
                outcome = self._solve_window()
            if _is_new(outcome):
                self._compensation.begin_with(outcome)
            outcome = self._conclude(self._recover(outcome))
            if _is_new(outcome):
                noise = self._sensor_noise[[0, 3, 4, 5]]
                carried = self._carried(outcome)
                misfit = self._misfit(Load(carried, outcome.bias, outcome.alignment))
                pours = self._solver.cables.pours
                if pours:
                    self._latch.contradict(CREPT)
                self._latch.take(outcome, carried, noise / self.settings.gravity.acceleration,
                                 explains=misfit <= 1.0 and not pours)
                if pours or (self._latch.is_contradicted and misfit > 1.0):
                    self._set_crept(self._stream.next_bin)
            return outcome

    def _convert_wrenches(self) -> None:
        """Give the wrenches in the sensor frame where the transforms tell the place of the frame
        that the messages name; begin the window anew where it was not known, or has changed."""
        frame = self._stream.frame
        pose = self._motion.pose_of_wrench(self.newest_ns, frame.name, frame.said)
        if pose is None or not self._stream.convert_from(pose):
            return
        self._solver.bias = UNKNOWN_BIAS
        self._latch.forget(f"the place of '{frame.said}', in which the wrench is expressed, was "
                           "not known before")
        self._begin_anew()
        self._payload.begin = 0
        self._replay_window()

    def _recover(self, outcome: Outcome) -> Outcome:
        """Begin with nothing learnt where it has explained nothing for long; the outcome then is
        that there is no estimate."""
        progress, setup, facts = self._progress, self._setup, self._progress.facts
        if not (progress.is_refuted or _is_new(outcome)):
            return outcome
        doubted = progress.is_refuted or (
            facts.misfits and (setup.correction.errors.values.any() or setup.noise.is_raised))
        if not progress.recovery.is_due(self.newest_ns, not doubted):
            return outcome
        cause = facts.sign or facts.frame
        text = (f"{cause or 'nothing has explained the wrench for long'}; "
                "identification starts again")
        self._log.clear("residual_large", "residual_large.raised")
        facts.misfits = False
        self._latch.refute(text)
        self._begin_anew()
        self._disturbances.record_loss(text)
        progress.flush_reason = text
        return NoEstimate(self.newest_ns, self.sensor_frame, text, is_finding=bool(cause))

    def _correct_terms(self, outcome: Outcome) -> bool:
        """Compare what the driver is believed to remove with the motion; says whether the belief
        has changed."""
        return _is_new(outcome) and self._setup.correction.correct_terms(
            self.settings, self._share_of_terms(outcome))

    def _share_of_terms(self, estimate: Estimate | None) -> Share | None:
        """Inertial forces that the sum of what is measured and removed holds too many, if any."""
        return self._window.terms.share(self._carried(estimate),
                                        self._setup.correction.taken_out.weight_only)

    def _search_setup(self, outcome: Outcome) -> bool:
        """Look for another set-up where nothing explains the wrench; says whether there is one,
        which is then used."""
        unsettled = self._payload.unsettled
        if unsettled is None or not self._setup.correction.search(
                self._setup.noise.settings, self._stream.ring, unsettled.source,
                self._is_wrong(outcome)):
            return False
        self._disturbances = self._disturbances.none_so_far()  # the wrong set-up made these events
        self._payload.begin, self._progress.flush_reason = 0, None
        return True

    def _search_filter(self, outcome: Outcome) -> bool:
        """Look for the sensor's own low-pass where the wrench lags behind the motion; says whether
        one was found, which is then used."""
        unsettled = self._payload.unsettled
        if unsettled is None or not self._setup.correction.search_filter(
                self._setup.noise.settings, self._stream.ring, unsettled.source, outcome,
                self._progress.facts.lags, self._is_wrong(outcome)):
            return False
        self._disturbances = self._disturbances.none_so_far()  # the lag made these events
        self._solver = self._solver.with_settings(self._setup.noise.settings)  # and cables
        self._payload.begin, self._progress.flush_reason = 0, None
        return True

    def _is_wrong(self, outcome: Outcome) -> bool:
        """Whether there is no estimate, or something that a wrong clock or driver may cause."""
        return (not isinstance(outcome, Estimate) or self._disturbances.is_any
                or self._progress.facts.is_any)

    def _carried(self, estimate: Estimate | None) -> Array:
        """phi (10,) of all that the sensor carries by an estimate; None: the tool alone."""
        return self._solver.problems.total_payload(
            np.zeros(PARAMETERS) if estimate is None else estimate.phi)

    def _begin_anew(self) -> None:
        """Begin with nothing learnt from the samples so far, and no event; the tare and the tool
        stay."""
        self._disturbances = self._disturbances.none_so_far()
        self._begin_setup()

    def _replay_window(self) -> None:
        """Send the samples of the window through the stages again, as if they had just arrived."""
        self._begin_replay()
        self._process_settled()

    def _begin_replay(self) -> None:
        """Go back to the beginning of the window, with no row in it."""
        payload, last = self._payload, self._stream.next_bin
        self._begin_payload_at(payload.begin, payload.ends)
        self._solver.problems = self._solver.problems.without_solution()
        self._stream.next_bin = max(self._stream.oldest_bin, payload.begin,
                                    last - int(self.settings.buffer.window * 1e9) // BIN_NS)
        self._disturbances = self._disturbances.before(self._stream.next_bin)
        self._motion.expect_replay()

    def _window_content(self) -> WindowContent | None:
        """The rows of the window with the provisional ones; None without any."""
        payload, rows = self._payload, self._window.rows
        provisional = payload.unsettled and payload.unsettled.provisional_rows(
            self._stream.ring, payload.segments, self.settings.wrench.sign,
            self.settings.estimator.dynamism_c1, self._motion.rotation_only, payload.lag)
        return rows.content(provisional) if rows or provisional else None

    def _require_window(self) -> WindowContent:
        """The window, if it can be solved (raises NotEnoughData)."""
        if not len(self._stream.ring):
            raise NotEnoughData(self._stream.explain_silence())
        if self._watch.conflict is not None:
            raise NotEnoughData(self._watch.conflict, is_finding=True)
        missing = self._motion.missing or self._setup.correction.removed.missing
        if missing is not None:
            raise NotEnoughData(missing.text, is_finding=missing.is_finding)
        units = self._setup.units.judge(self.settings, self._solver.shape, self._log)
        if units is not None:
            raise NotEnoughData(units, is_finding=True)
        window = self._window_content()
        if window is None:
            raise self._too_short_error(None)
        if window.duration < self._least_duration:
            raise self._too_short_error(window.duration)
        return window

    def _window_extent(self, window: WindowContent) -> tuple[int, int]:
        """Number of settled rows so far, and last bin of the window."""
        return self._progress.rows, window.last

    def _estimate(self, window: WindowContent) -> Estimate:
        """Solve a window, with the motion so far."""
        statistics = self._window.motion
        share = (self._share_of_terms(self._window.last)
                 if self.settings.precompensated.terms == "auto" else None)
        return self._solver.solve(
            window, self.sensor_frame, self._log, self._progress.facts,
            self._disturbances.is_doubted,
            statistics.rms_rotation if self._motion.rotation_only else 0.0,
            self._setup.correction.errors.values,
            statistics.acceleration_covariance(self._payload.segments.filter.kernel),
            self._setup.correction.errors.filter_covariance
            + (0.0 if share is None else share.error_covariance))

    # ---- commands ------------------------------------------------------------------------------

    def _begin_without_samples(self, reason: str) -> None:
        """As `Pipeline._begin_without_samples`."""
        self._stream.begin_anew(reason)
        self._begin_stream(reason)

    def tare(self, keep: Keep = keep_nothing) -> str:
        """Use the mean reading of the last second as the bias; the arm must rest, without payload.

        Returns:
            the bias, in a sentence.

        Raises:
            NotEnoughData: too few samples, or the sensor is not at rest.
        """
        self.advance()
        with self._lock:
            self._setup.correction.removed.require_none()
            if not len(self._stream.ring):
                raise NotEnoughData("tare needs a second of wrench data; none was received")
            tare, text = measure_tare(self._stream.last_second(), self._stream.newest,
                                      self.sensor_frame, self._setup.noise.settings)
            keep(replace(self._state(), tare=tare, estimate=None))
            self._solver.bias = SensorBias(tare)
            self._log.clear("tare_not_used.contradicted", "tare_not_used")
            self._begin_payload()
            self._latch.use_tare(tare.reading, self._carried(None))
            return text

    def untare(self, keep: Keep = keep_nothing) -> str:
        """Drop the tare; says in a sentence whether there was one."""
        with self._lock:
            keep(replace(self._state(), tare=None))
            self._log.clear("tare_not_used.contradicted")
            self._force_solve()
            self._latch.drop_tare()
            had_one, self._solver.bias = self._solver.bias.tare is not None, UNKNOWN_BIAS
            return ("the tare is dropped; the bias is estimated from the data alone" if had_one
                    else "there is no tare to drop")

    def set_tool(self, tool: Tool | None, keep: Keep = keep_nothing) -> None:
        """As `Pipeline.set_tool`; what is carried beside the tool is not known yet."""
        super().set_tool(tool, keep)
        with self._lock:
            self._latch.end_payload("another tool was set", self._carried(None))

    def doubtful_zero(self) -> str:
        """As `Pipeline.doubtful_zero`: the estimates hold it for a bias."""
        with self._lock:
            return self._latch.doubtful_zero

    def load_in_use(self) -> LoadInUse:
        """What may be removed from the wrenches that come, or why nothing."""
        with self._lock:
            settings, latch = self.settings, self._latch
            removed, source = self._setup.correction.taken_out, self._motion.live
            frame = settings.compensation.frame.lstrip("/")
            use = LoadInUse(
                latch.mode, latch.reason, latch.load, self.sensor_frame,
                bool(settings.wrench.sensor_frame), latch.estimate_ns, removed.phi,
                removed.weight_only, self._sensor_noise, source, latch.epoch, None, frame,
                self._stream.conversion, self._setup.correction.errors.sensor)
            if frame and frame != self.sensor_frame:
                pose = self._motion.fixed_pose(self.sensor_frame, frame)
                if pose is None:
                    return use.silenced(f"compensation.frame is '{frame}', which is not known to "
                                        f"be fixed to the sensor frame '{self.sensor_frame}'")
                use = replace(use, target=self._target.matrix(pose))
            if self._watch.conflict is not None:
                return use.silenced(self._watch.conflict)
            if self._motion.missing is not None:
                return use.silenced(self._motion.missing.text)
            return use

    def _state(self) -> State:
        last = self._window.last
        known = last and withdraw_doubted(last, self._log.all())
        kept = known if isinstance(known, Estimate) else None
        return State(self._solver.tool, self._solver.bias.tare, kept or self._window.restored)

    def restore(self, state: State) -> None:
        """Go on from the state of an earlier run (see module `state`)."""
        with self._lock:
            self._begin_payload()
            self._solver.tool = state.tool
            self._solver.bias = SensorBias(state.tare, is_old=True)
            changes = state.tare and state.tare.describe_changes(self.settings)
            if changes:
                self._solver.bias = self._solver.bias.without_old(changes, self._log)
                state = replace(state, tare=None)
            self._window.restored = state.estimate and replace(
                state.estimate, stale=True, restored=True)
            if state != State():
                self._log.set("restored", "info", f"restored: {state.describe()}")

    def check_settings(self, settings: Settings) -> None:
        """Raise why these settings, with their removed payload, could not be used now (see
        `Pipeline.check_settings`)."""
        RemovedPayload(settings)
        super().check_settings(settings)

    def set_settings(self, settings: Settings) -> None:
        """Use other settings, of those that may change at run time, from the next estimate on.

        Another removed payload flushes all data; another weighting replays the window.
        """
        with self._lock:
            before, self.settings = self.settings, settings
            noise = self._setup.noise
            noise.declare(settings)
            self._solver = self._solver.with_settings(noise.settings)
            if settings.wrench != before.wrench:
                self._payload.segments.use_model(WrenchModel(noise.settings))
            if settings.precompensated != before.precompensated:
                self._setup.correction.removed = RemovedPayload(settings)
                self._take_zeroing("the payload that the driver removes is set to "
                                   f"{settings.precompensated.mass:.3f} kg")
            self._force_solve()
            if settings.estimator.weighting != before.estimator.weighting:
                self._begin_window()  # for another model of the wrench
                if len(self._stream.ring):
                    self._replay_window()


def _is_new(outcome: Outcome) -> TypeGuard[Estimate]:
    """Whether the window has just given an estimate."""
    return isinstance(outcome, Estimate) and not outcome.stale
