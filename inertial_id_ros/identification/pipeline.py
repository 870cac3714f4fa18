# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The stages of every identifier, in order, as far as they do not depend on what measures the load.

`add_*` append samples to the inbox, from any thread; all else belongs to one thread. `advance`
moves them on through streams, bins and filters into the window, `solve` turns that into an
estimate. No stage calls an earlier one, with one exception: `Identifier.solve` has a stage that
replays the window after an estimate has shown that the stamps must be corrected.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import replace
from typing import Generic, Protocol, TypeVar

from ..detection.disturbance_detector import Event, EventKind
from ..detection.disturbance_findings import DisturbanceFindings
from ..detection.reference_check import check_reference
from ..detection.segments import Segment
from ..doubts import withdraw_doubted
from ..errors import InertialIdError, InvalidData, InvalidShape, NotEnoughData
from ..estimate import Estimate, NoEstimate, Outcome
from ..estimators import Estimator
from ..findings import Finding, FindingLog
from ..geometry.shape import Shape
from ..inertia import Array
from ..io.sample_blocks import Samples, split_by_time
from ..kinematics.motion_source import MotionSelector
from ..regression.regressor_window import Rows
from ..regression.tool import Tool
from ..settings import Settings
from ..signals import inbox
from .compensated_wrenches import CompensatedWrenches, join_wrenches
from .compensation.load_in_use import LoadInUse, Mode
from .knowledge import NOTHING_SOLVED, EstimateOfWindow, PayloadSpan, Progress
from .state import Keep, State, keep_nothing

_BATCH = 2000  # samples taken at once: fewer than any ring holds, however many wait
# Data this much older than the newest are those before a contact or a gap, and tell nothing of now.
_OLD_NS = 1_000_000_000
AnyWindow = TypeVar("AnyWindow")


class _TooShort(NotEnoughData):
    """The window holds too few data."""


class PayloadSolver(Protocol):
    """What solvers for all kinds of load have in common."""

    shape: Shape | None
    tool: Tool | None
    estimator: Estimator

    def make_estimator(self, settings: Settings) -> Estimator:
        """The estimator that these settings ask for (raises InvalidSetting)."""


class Pipeline(inbox.Inbox, ABC, Generic[AnyWindow]):
    """An identifier without the stages that depend on what measures the load.

    Attributes:
        settings: in use. The identifier owns them; `set_settings` is the one place that hands
            changed ones to its parts.
    """

    _handlers: inbox.Handlers
    _disturbances: DisturbanceFindings
    _solver: PayloadSolver
    _payload: PayloadSpan
    _window: EstimateOfWindow

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._log = FindingLog()
        super().__init__(self._log)
        self._lock = threading.Lock()
        self._motion = MotionSelector(settings, self._log)
        self._finished = False
        self._progress = Progress(self._log)

    # ---- stages of each kind of load -----------------------------------------------------------

    @property
    @abstractmethod
    def sensor_frame(self) -> str:
        """Frame in which the payload is given; empty until known."""

    @property
    @abstractmethod
    def newest_ns(self) -> int:
        """Newest stamp of what measures the load [ns]; 0 before any sample."""

    @property
    def settled_ns(self) -> int:
        """Stamp up to which samples were processed [ns]; stands still where the load or the motion
        is missing."""
        return self.newest_ns

    @property
    def has_estimate(self) -> bool:
        """Whether there is an estimate to hold: of these data, or of an earlier run."""
        return self._window.last is not None or self._window.restored is not None

    @abstractmethod
    def _process_settled(self) -> CompensatedWrenches:
        """Turn settled samples into rows of the window; gives the compensated wrenches."""

    @abstractmethod
    def _add_rows(self, rows: Rows) -> None:
        """Add rows to the window."""

    @abstractmethod
    def _require_window(self) -> AnyWindow:
        """The window, if it can be solved.

        Raises:
            NotEnoughData: it cannot, and why.
        """

    @abstractmethod
    def _window_extent(self, window: AnyWindow) -> tuple[int, int]:
        """Two numbers that grow with the data in a window."""

    @abstractmethod
    def _estimate(self, window: AnyWindow) -> Estimate:
        """Solve a window (raises an InertialIdError where there is no estimate)."""

    @abstractmethod
    def _handle_moved_zero(self) -> None:
        """Take into account that the zero of what measures the load has moved."""

    @abstractmethod
    def _state(self) -> State:
        """What should outlive this run."""

    @abstractmethod
    def _begin_window(self) -> None:
        """Begin with no rows and no estimate."""

    @abstractmethod
    def _begin_payload(self) -> None:
        """Begin with nothing known of the payload: no rows, no estimate, no bins in the filters."""

    @abstractmethod
    def _begin_without_samples(self, reason: str) -> None:
        """Begin without samples and what came of them."""

    # ---- stages that all share -----------------------------------------------------------------

    def advance(self) -> CompensatedWrenches:
        """Move settled samples into the window; gives the newly settled wrenches, compensated."""
        with self._lock:
            settled = []
            waiting = self.waiting
            for begin in range(0, max(waiting, 1), _BATCH):
                self._hand_over(min(_BATCH, waiting - begin), self._handlers)
                settled.append(self._process_settled())
            return join_wrenches(settled, self.sensor_frame)

    def advance_to_tick(self) -> bool | None:
        """Process the samples up to the next tick in the queue; says whether that asks for an
        estimate. None, and nothing is processed, where no tick waits."""
        with self._lock:
            if not self.ticks:
                return None
            solves = self._hand_over_to_tick(self._handlers)
            self._process_settled()
            return solves

    def add_arrays(self, batches: list[Samples]) -> None:
        """Add samples of several streams, those of a stream in the order of time, and advance."""
        for part in split_by_time(batches, _BATCH):
            self.add_part(part)
            self.advance()

    def finish(self) -> CompensatedWrenches:
        """Let the last samples settle when none will follow; gives their compensated wrenches."""
        self._finished = True
        return self.advance()

    def _add_segments(self, segments: Iterable[Segment]) -> None:
        """Add rows to the window, and handle the events between them."""
        for segment in segments:
            for rows in segment.rows:
                self._add_rows(rows)
            if segment.event is not None:
                self._handle_event(segment.event)

    def _handle_event(self, event: Event) -> None:
        """Record an event of the detector; forget the rows of another payload or zero."""
        self._disturbances.record(event)
        if not event.kind.ends_payload:
            return
        if event.kind.moves_zero:
            self._handle_moved_zero()
        payload = self._payload
        payload.ends.append((event.row, payload.begin))
        self._progress.flush_reason = self._disturbances.describe(event)
        payload.begin = event.row if event.clean < 0 else event.clean
        self._begin_window()
        if event.kind in (EventKind.SETUP_CHANGED, EventKind.LOST):
            self._progress.lost_at = event.row

    def _take_back_events(self, first: int) -> None:
        """Take back the changes of payload since this bin: they were none."""
        payload = self._payload
        while payload.ends and payload.ends[-1][0] >= first:
            _, payload.begin = payload.ends.pop()
            self._progress.flush_reason = None
            self._disturbances.withdraw_changes()

    def _solve_window(self) -> Outcome:
        """Solve the window as it is now; the outcome still lacks its findings."""
        progress, last, restored = self._progress, self._window.last, self._window.restored
        progress.is_refuted = False
        try:
            window = self._require_window()
        except NotEnoughData as missing:
            if isinstance(missing, _TooShort) and last is not None:
                return last.as_stale()  # its rows have left the window during a contact
            if restored is not None and self.sensor_frame in ("", restored.frame_id):
                return restored
            return NoEstimate(self.newest_ns, self.sensor_frame, str(missing),
                              is_finding=missing.is_finding)
        if last is not None and self._window_extent(window) <= progress.solved:
            return last.as_stale()
        try:
            estimate = self._estimate(window)
        except InertialIdError as error:
            self._window.last = None
            progress.is_refuted = isinstance(error, InvalidData)
            return NoEstimate(self.newest_ns, self.sensor_frame,
                              self._with_flush_reason(str(error)), is_finding=error.is_finding)
        progress.solved = self._window_extent(window)
        is_old = self.newest_ns - estimate.stamp_ns > _OLD_NS and not self._finished
        return estimate.as_stale() if is_old else estimate

    def _conclude(self, outcome: Outcome) -> Outcome:
        """Keep a new estimate, with its stamp in order; the outcome with the findings, as it may be
        handed on."""
        if isinstance(outcome, Estimate) and not outcome.stale:
            outcome = self._progress.stamps.restamp(outcome)
            self._progress.flush_reason = None
        if isinstance(outcome, Estimate) and not outcome.restored:
            self._window.last = outcome
            check_reference(outcome, self.settings.load.reference_mass, self._log)
        findings = self._log.all()
        return withdraw_doubted(
            replace(outcome, findings=tuple(f.text for f in findings)), findings)

    def _with_flush_reason(self, text: str) -> str:
        """A reason for no estimate, preceded by why rows were forgotten."""
        reason = self._progress.flush_reason
        return text if reason is None else f"{reason}; {text}"

    def _too_short_error(self, duration: float | None) -> _TooShort:
        """The error of a window of this length [s] that is too short; None: it has no rows."""
        if duration is None:
            return _TooShort(self._progress.flush_reason or "waiting for the first second of data")
        needed = self._least_duration
        why = ("" if needed == self.settings.estimator.min_duration
               else "after data that nothing explained, ")
        return _TooShort(self._with_flush_reason(
            f"{duration:.2f} s of data; {why}an estimate needs {needed:g} s"))

    @property
    def _least_duration(self) -> float:
        """Length [s] of the window that an estimate needs."""
        return self._progress.recovery.least_duration(self.settings.estimator.min_duration)

    # ---- questions and commands ----------------------------------------------------------------

    def findings(self) -> tuple[Finding, ...]:
        """Everything that deserves attention, errors first."""
        with self._lock:
            return self._log.all()

    def lookup(self, target_frame: str, source_frame: str) -> tuple[Array, Array, int | None]:
        """Newest rotation (3, 3) and translation (3,) [m] with ``x_target = R x_source + t``, and
        their time [ns]; None where the frames are fixed to each other.

        Raises:
            UnknownFrame: a frame is not known, or the two are not connected.
        """
        with self._lock:
            self._hand_over(min(self.waiting, _BATCH), self._handlers)
            return self._motion.lookup(target_frame.lstrip("/"), source_frame.lstrip("/"))

    @property
    def frames(self) -> set[str]:
        """Names of the frames in transforms and robot description."""
        with self._lock:
            return self._motion.frames

    @property
    def gravity_frame(self) -> str:
        """As `MotionSelector.gravity_frame`."""
        return self._motion.gravity_frame

    def load_in_use(self) -> LoadInUse:
        """What may be removed from the wrenches that come, or why nothing."""
        return LoadInUse(Mode.SILENT, "there is no wrench to compensate")

    def doubtful_zero(self) -> str:
        """What of the reading may be contact or another zero, in one sentence; empty: nothing."""
        return ""

    def joint_names(self) -> tuple[str, ...]:
        """Joints that move the sensor; empty where they are not known."""
        with self._lock:
            return self._motion.joint_names

    def _begin_stream(self, reason: str) -> None:
        """Begin with nothing learnt from samples, and without those of the motion."""
        self._log.clear_all()
        self._log.count("reset", f"buffers flushed: {reason}", "info")
        self._motion.begin_stream()
        self._disturbances = self._disturbances.none_so_far()
        self._progress = Progress(self._log)

    @property
    def tool(self) -> Tool | None:
        """The stored tool."""
        return self._solver.tool

    @property
    def shape(self) -> Shape | None:
        """The shape of the object, as it is known."""
        return self._solver.shape

    def state(self) -> State:
        """What should outlive this run."""
        with self._lock:
            return self._state()

    def reset(self, reason: str) -> None:
        """Forget estimate and samples, those that wait among them; keep robot description, fixed
        transforms and tare."""
        with self._lock:
            self._hand_over(self.waiting, self._handlers)
            self._begin_without_samples(reason)

    def set_tool(self, tool: Tool | None, keep: Keep = keep_nothing) -> None:
        """Estimate what is carried beside this tool, from data to come; None: all there is.

        Args:
            keep: see `state.Keep`, here and in `tare` and `untare`.
        """
        with self._lock:
            keep(replace(self._state(), tool=tool, estimate=None))
            self._solver.tool = tool
            self._begin_payload()

    def set_shape(self, shape: Shape | None) -> None:
        """Use another shape from the next estimate on; None forgets it."""
        with self._lock:
            self._solver.shape = shape
            self._force_solve()

    def _force_solve(self) -> None:
        """Solve the window next time even if it has not grown."""
        self._progress.solved = NOTHING_SOLVED

    def check_settings(self, settings: Settings) -> None:
        """Raise why these settings could not be used now.

        Raises:
            InvalidSetting: they contradict each other, or the estimator cannot be made.
            InvalidShape: it needs a shape, unlike the present one, and none is there.
        """
        estimator = self._solver.make_estimator(settings)
        waits_already = self._solver.estimator.needs_shape
        if estimator.needs_shape and self._solver.shape is None and not waits_already:
            raise InvalidShape(
                f"the estimator '{estimator.name}' of these settings needs the shape of the "
                "object, and none is given: call set_shape first, or set shape.type at start")
