"""The pipeline as one object without ROS: push samples in, take an estimate out.

The node and the bag tool both use it, so that a recording that is played live and one that is
read offline give the same numbers. `add_*` only append to an inbox and may be called from another
thread; everything else belongs to one thread.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..detection.consistency_checks import sheet
from ..detection.disturbance_findings import Disturbances
from ..detection.segments import Segments
from ..errors import InertialIdError, NotEnoughData, UnknownFrame
from ..estimate import Estimate, NoEstimate, Outcome
from ..geometry.shape import Shape, shape_from_settings
from ..inertia import Array
from ..io.sample_blocks import Block
from ..kinematics.motion import Motion
from ..kinematics.motion_statistics import Turning
from ..regression.regressor_window import Rows, Window, make_buffer
from ..regression.rows import bin_columns
from ..regression.tool import Tool
from ..settings import Settings
from ..signals import inbox
from ..signals.bins import BIN_NS, Bins, bin_samples
from ..signals.precompensation import SETTLING_NS, RemovedPayload
from ..signals.ring_buffer import JUMPED, SampleRing
from ..signals.sample_checks import WrenchGate, fit
from ..signals.sensor_frame import SensorFrame
from .clock_offset import ClockOffset
from .compensation import CompensatedWrenches, compensate, no_wrenches, why_silent
from .pipeline import Pipeline
from .provisional_rows import NewestEnd, Stamps, newest_end
from .solver import Solver
from .state import State
from .wrench_model import wrench_model

_RING = 65_536  # wrench samples kept until they settle


class Identifier(Pipeline):
    """Online payload identification.

    Raises:
        InvalidShape: the shape in the settings cannot be used.
        InvalidSetting: settings that contradict each other.
    """

    def __init__(self, settings: Settings, shape: Shape | None = None) -> None:
        super().__init__(settings)
        self._gate = WrenchGate(settings.wrench, self._log)
        self._ring = SampleRing(6, _RING)
        model = wrench_model(settings, sheet(settings.wrench))
        self._segments = Segments(settings, model, settings.kinematics.filter_window, self._log)
        self._disturbances = Disturbances(self._log, model.words)
        self._buffer = make_buffer(settings)
        self._sign = -1.0 if settings.wrench.convention == "on_sensor" else 1.0
        self._removed = RemovedPayload(settings)
        self._deaf_from = -SETTLING_NS  # ns; wrenches are not heard for a while from then on
        shape = shape if shape is not None else shape_from_settings(settings.shape)
        self._solver = Solver(settings, shape, self._segments.filter, self._sign)
        self._frame = SensorFrame(settings.wrench.sensor_frame, self._log)
        self._next_bin: int | None = None
        self._newest_end: NewestEnd | None = None
        self._restored: Estimate | None = None  # shown until there are data
        self._row_count = 0
        self._solved = -1, -1  # that count and the last bin of the window that was solved
        self._turning = Turning()
        self._emptied = ""  # what emptied the ring
        self._clock, self._stamps = ClockOffset(), Stamps(self._log)
        self._handlers: inbox.Handlers = {
            inbox.WRENCH: self._take_wrench,
            inbox.JOINT_STATE: self._motion.take_joint_state,
            inbox.TRANSFORM: self._motion.take_transform,
            inbox.STATIC_TRANSFORM: self._motion.take_static_transform,
            inbox.REMOVED_PAYLOAD: self._take_removed, inbox.ZEROING: self._take_zeroing,
            inbox.FINDING: self._log.set}

    # ---- the road ------------------------------------------------------------------------------

    def set_robot_description(self, urdf: str) -> None:
        """Use this URDF (raises InvalidModel; the one before stays in use)."""
        with self._lock:
            self._motion.set_robot_description(urdf)

    @property
    def sensor_frame(self) -> str:
        """Frame of the wrench; empty until known."""
        return self._frame.name

    def take_block(self, block: Block) -> bool:
        """See `Intake.take_block`. What comes of a sample with which something is wrong depends on
        those before: then each is looked at by itself."""
        with self._lock:
            self._hand_over(self._waiting, self._handlers)
            if not (self._motion.fits(block) and fit(
                    block.wrenches, self._gate, self._frame, self._ring, self._deaf_from)):
                return False
            self._motion.take_block(block)
            if block.wrenches is not None:
                self._ring.extend(block.wrenches.stamps, block.wrenches.rows)
            return True

    def _take_removed(self, frame_id: str, values: Sequence[float]) -> None:
        try:
            change = self._removed.take(frame_id, values)
            self._log.clear("removed_payload_invalid")
        except InertialIdError as error:
            self._log.set("removed_payload_invalid", "error", str(error))
            return
        if change:
            self._take_zeroing(change)
        elif values[0] > 0.0:
            self._solver.drop_old_tare(f"the driver now removes a payload of {values[0]:.3f} kg",
                                       self._log)

    def _take_zeroing(self, reason: str) -> None:
        newest = self._ring.newest if len(self._ring) else -SETTLING_NS
        self._empty(reason)
        self._solver.forget_tare()
        self._deaf_from = newest

    def _take_wrench(self, stamp_ns: int, frame_id: str, force: Sequence[float],
                     torque: Sequence[float]) -> None:
        sample = self._gate.check(stamp_ns, force, torque)
        if sample is None or self._deaf_from <= stamp_ns < self._deaf_from + SETTLING_NS:
            return
        if not self._frame.accepts(frame_id):
            return
        before, result = self._ring.newest, self._ring.append(stamp_ns, sample)
        if result == JUMPED:
            self._restart(f"the clock jumped back by {(before - stamp_ns) * 1e-9:.1f} s")
        self._gate.stored(result, self._ring.strays)

    def _advance(self) -> CompensatedWrenches:
        nothing = no_wrenches(self.sensor_frame)
        if not len(self._ring):
            return nothing
        source = self._motion.source(self.sensor_frame, self._ring)
        if self._motion.mounting_changed:
            self._motion.mounting_changed = False
            self._flush_rows()
            self._log.count("mounting_changed", "buffers flushed: the mounting of the robot or of "
                            "the sensor changed", "info")
        removed = self._removed.in_sensor(self.sensor_frame, self._motion.lookup)
        if source is None or removed is None:
            return nothing
        if self._removed.words:
            self._log.set("removed_payload", "info", self._removed.words)
        newest = newest_end(source, self._ring.newest, removed, self._clock.early_ns,
                            self._finished)
        if self._next_bin is None:
            self._next_bin = int(self._ring.stamps[0]) // BIN_NS
        if newest is None or newest.settled <= self._next_bin:
            return nothing
        self._newest_end, end = newest, newest.settled
        bins = bin_samples(self._ring, self._next_bin, end)
        self._next_bin = end
        self._ring.closed_until = end * BIN_NS - 1
        source.close(end * BIN_NS + self._clock.early_ns)
        if len(bins.number) == 0:
            return nothing
        return self._process(bins, source.motion_at(bins.stamps + self._clock.early_ns), removed)

    def _process(self, bins: Bins, motion: Motion, removed: Array) -> CompensatedWrenches:
        a, y, columns = bin_columns(bins, motion, removed, self._sign,
                                    self.settings.estimator.dynamism_c1)
        keep = motion.valid
        self._turning.add(motion)
        self._motion.report_coverage(keep)
        self._segments.hear_motion(self._turning)
        for item in self._segments.push(bins.number[keep], bins.samples[keep], columns[keep],
                                        self._motion.rotation_only):
            if isinstance(item, Rows):
                self._buffer.add(item)
                self._row_count += len(item.number)
            else:
                self._obey(item)
        self._buffer.expire(self._segments.newest)
        return self._compensate(bins.stamps[keep], a[keep], y[keep])

    def _zero_moved(self) -> None:
        self._solver.forget_tare()

    def _compensate(self, stamps: np.ndarray, a: Array, y: Array) -> CompensatedWrenches:
        """Wrenches without the load; none where the estimate does not serve.

        One that is held serves as long as its data could stand in the buffer: in contact, when it
        is wanted most, every estimate is held.
        """
        if self._last is None:
            return no_wrenches(self.sensor_frame)
        why = why_silent(self._last)
        age = int(stamps[-1]) - self._last.stamp_ns if len(stamps) else 0
        if not why and age > int(self.settings.buffer.window * 1e9):
            why = ("the compensated wrench is silent: the estimate is held for longer than "
                   f"buffer.window, {self.settings.buffer.window:g} s")
        if why:
            self._log.set("compensation_silent", "info", why)
            return no_wrenches(self.sensor_frame)
        self._log.clear("compensation_silent")
        wrench = compensate(a, y, self._last, self._solver.carried(self._last.phi), self._sign)
        return CompensatedWrenches(stamps, wrench, self.sensor_frame)

    # ---- answers -------------------------------------------------------------------------------

    def solve(self) -> Outcome:
        """The estimate of the window: physically consistent, or the reason why there is none."""
        with self._lock:
            stamp = self._ring.newest if len(self._ring) else 0
            window = self._window()
            reason = self._why_not(window)
            if reason and self._restored is not None and self.sensor_frame in (
                    "", self._restored.frame_id):
                return self._restored.with_findings(self._sentences())
            if reason or window is None:
                return NoEstimate(stamp, self.sensor_frame, reason, self._sentences())
            if self._last is not None and (self._row_count, window.last) <= self._solved:
                self._last = self._last.as_stale()
                return self._last.with_findings(self._sentences())
            try:
                self._last = self._solve_window(window)
                if self._clock.take_out(self._last):
                    self._rebuild()
                    window = self._window()
                    if (reason := self._why_not(window)) or window is None:
                        return NoEstimate(stamp, self.sensor_frame, reason, self._sentences())
                    self._last = self._solve_window(window)
            except InertialIdError as error:
                self._last = None
                return NoEstimate(stamp, self.sensor_frame, self._after_news(str(error)),
                                  self._sentences())
            self._news = ""
            self._solved = self._row_count, window.last
            self._last = self._stamps.in_order(self._last)
            return self._last.with_findings(self._sentences())

    def _window(self) -> Window | None:
        """The rows of the buffer and those at the newest end; None without any."""
        more = self._newest_end and self._newest_end.rows(
            self._ring, self._segments, self._sign, self.settings.estimator.dynamism_c1,
            self._motion.rotation_only)
        return self._buffer.content(more) if self._buffer or more else None

    def _solve_window(self, window: Window) -> Estimate:
        turning = self._turning.rms if self._motion.rotation_only else 0.0
        return self._solver.solve(window, self.sensor_frame, self._log, turning,
                                  self._clock.seconds,
                                  self._turning.acceleration_noise(self._segments.filter.kernel))

    def _rebuild(self) -> None:
        """Send the window through the pipeline once more."""
        last = self._next_bin if self._next_bin is not None else 0
        self._flush_rows()
        self._next_bin = max(int(self._ring.stamps[0]) // BIN_NS, self._begin_bin,
                             last - int(self.settings.buffer.window * 1e9) // BIN_NS)
        self._disturbances.forget_from(self._next_bin)
        self._motion.rewind()
        self._advance()

    def _why_not(self, window: Window | None) -> str:
        """Why no estimate can be made now; empty if one can."""
        if not len(self._ring):
            topic = self.settings.dynamic_joint_states.topic or self.settings.wrench.topic
            return self._gate.why_none(topic, self._emptied)
        blocked = self._motion.blocked or self._removed.waiting_for
        if blocked:
            return blocked
        if window is None:
            return self._news or "waiting for the first second of data"
        if window.duration < self.settings.estimator.min_duration:
            return self._after_news(f"{window.duration:.2f} s of data; estimator.min_duration is "
                                    f"{self.settings.estimator.min_duration:g} s")
        return ""

    # ---- commands ------------------------------------------------------------------------------

    def reset(self, reason: str) -> None:
        """Forget samples and estimate; keep robot description, fixed transforms and tare."""
        with self._lock:
            self._empty(reason)

    def _empty(self, reason: str) -> None:
        if len(self._ring):
            self._emptied = f"the buffers were flushed: {reason}"
        self._ring.clear()
        self._restart(reason)

    def _restart(self, reason: str) -> None:
        """Forget all but the wrench samples."""
        self._log.clear_all()
        self._log.count("reset", f"buffers flushed: {reason}", "info")
        self._motion.reset()
        self._flush_rows()
        self._solver.reset()
        self._next_bin = None
        self._clock, self._stamps = ClockOffset(), Stamps(self._log)
        self._row_count, self._solved = 0, (-1, -1)
        self._begin_bin, self._news = 0, ""
        self._disturbances.restart()

    def tare(self) -> str:
        """Take the mean reading of the last second as the bias; the arm must rest, without payload.

        Raises:
            NotEnoughData: too few samples, or the sensor is not at rest.
        """
        self.advance()
        with self._lock:
            self._removed.require_none()
            if not len(self._ring):
                raise NotEnoughData("tare needs a second of wrench data; none was received")
            recent = self._ring.rows[self._ring.between(
                self._ring.newest - 1_000_000_000, self._ring.newest + 1)]
            text = self._solver.tare(recent, self._ring.newest, self.sensor_frame)
            self._flush_rows()
            return text

    def state(self) -> State:
        """What should outlive this run."""
        with self._lock:
            return State(self._solver.tool, self._solver.tared, self._last or self._restored)

    def restore(self, state: State) -> None:
        """Go on from the state of an earlier run; `state` says what its parts then mean."""
        with self._lock:
            self._flush_rows()
            self._solver.tool = state.tool
            self._solver.restore_tare(state.tare)
            if state.tare is not None and (why := state.tare.why_unfit(self.settings)):
                self._solver.drop_old_tare(why, self._log)
                state = replace(state, tare=None)
            self._restored = state.estimate and replace(state.estimate, stale=True, restored=True)
            if state != State():
                self._log.set("restored", "info", f"restored: {state.describe()}")

    def _flush_rows(self) -> None:
        self._segments.restart()
        self._newest_end = None
        self._forget_rows()

    def _forget_rows(self) -> None:
        self._buffer.clear()
        self._turning = Turning()
        self._last, self._restored = None, None

    @property
    def tool(self) -> Tool | None:
        """The stored tool."""
        return self._solver.tool

    def set_tool(self, tool: Tool | None) -> None:
        """Estimate what is carried beside this tool, from data to come; None: all there is."""
        with self._lock:
            self._solver.tool = tool
            self._flush_rows()

    def set_shape(self, shape: Shape | None) -> None:
        """Use another shape from the next estimate on; None forgets it."""
        with self._lock:
            self._solver.shape = shape
            self._solved = -1, -1

    def check_settings(self, settings: Settings) -> None:
        """Raise why these settings could not be used now: what `Solver.check_settings` raises, or
        InvalidSetting for a removed payload that no body has."""
        RemovedPayload(settings)
        self._solver.check_settings(settings)

    def set_settings(self, settings: Settings) -> None:
        """Use other estimator settings from the next estimate on (groups estimator, pmd, lmi,
        and the noise of wrench); another removed payload (precompensated) flushes the buffer."""
        with self._lock:
            self._solver.configure(settings)
            if settings.precompensated != self.settings.precompensated:
                self._removed = RemovedPayload(settings)
                self._take_zeroing("the payload that the driver removes is set to "
                                   f"{settings.precompensated.mass:.3f} kg")
            other_weighting = settings.estimator.weighting != self.settings.estimator.weighting
            self.settings = settings
            self._solved = -1, -1
            if other_weighting:  # another model of the wrench in the buffer
                self._buffer = make_buffer(settings)
                if len(self._ring):
                    self._rebuild()


__all__ = ["CompensatedWrenches", "Identifier", "UnknownFrame"]
