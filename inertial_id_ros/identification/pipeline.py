# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What every identifier offers, whatever measures the load.

`add_*` append samples to the inbox, from any thread; all else belongs to one thread. `advance`
moves them on through streams, bins and filters into the window (module `road`), `solve` turns that
into an estimate (`solving`); both keep what they learn in one place (`knowledge`). No stage calls
an earlier one, but solving: it replays the window after an estimate has shown that the stamps must
be corrected.
"""

from __future__ import annotations

import threading
from dataclasses import replace

from ..errors import InvalidShape
from ..estimate import Outcome
from ..findings import Finding, FindingLog
from ..geometry.shape import Shape
from ..inertia import Array
from ..io.sample_blocks import Samples, split_by_time
from ..regression.tool import Tool
from ..settings import Settings
from ..signals import inbox
from .compensation.load_latch import LoadInUse, Mode
from .knowledge import Knowledge
from .road import CompensatedWrenches, Road, join_wrenches
from .solving import WindowSolver
from .state import Keep, State, keep_nothing

_BATCH = 2000  # samples taken at once: fewer than any ring holds, however many wait


class Pipeline(inbox.Inbox):
    """An identifier without what depends on the kind of load."""

    _known: Knowledge
    _road: Road
    _window_solver: WindowSolver
    _handlers: inbox.Handlers

    def __init__(self) -> None:
        super().__init__(FindingLog())
        self._lock = threading.Lock()

    @property
    def settings(self) -> Settings:
        """In use; `set_settings` changes them."""
        return self._known.settings

    @property
    def sensor_frame(self) -> str:
        """Frame in which the payload is given; empty until known."""
        return self._known.sensor_frame

    @property
    def newest_ns(self) -> int:
        """Newest stamp of what measures the load [ns]; 0 before any sample."""
        return self._known.newest_ns

    @property
    def settled_ns(self) -> int:
        """As `Knowledge.settled_ns`."""
        return self._known.settled_ns

    @property
    def has_estimate(self) -> bool:
        """Whether there is an estimate to hold: of these data, or of an earlier run."""
        window = self._known.window
        return window.last is not None or window.restored is not None

    # ---- the stages ----------------------------------------------------------------------------

    def advance(self) -> CompensatedWrenches:
        """Move settled samples into the window; gives the newly settled wrenches, compensated."""
        with self._lock:
            settled = []
            waiting = self.waiting
            for begin in range(0, max(waiting, 1), _BATCH):
                self._hand_over(min(_BATCH, waiting - begin), self._handlers)
                settled.append(self._road.process_settled())
            return join_wrenches(settled, self.sensor_frame)

    def advance_to_tick(self) -> bool | None:
        """Process the samples up to the next tick in the queue; says whether that asks for an
        estimate. None, and nothing is processed, where no tick waits."""
        with self._lock:
            if not self.ticks:
                return None
            solves = self._hand_over_to_tick(self._handlers)
            self._road.process_settled()
            return solves

    def add_arrays(self, batches: list[Samples]) -> None:
        """Add samples of several streams, those of a stream in the order of time, and advance."""
        for part in split_by_time(batches, _BATCH):
            self.add_part(part)
            self.advance()

    def finish(self) -> CompensatedWrenches:
        """Let the last samples settle when none will follow; gives their compensated wrenches."""
        self._known.finished = True
        return self.advance()

    def solve(self) -> Outcome:
        """The estimate of the window: physically consistent, or the reason why there is none."""
        with self._lock:
            return self._window_solver.solve()

    # ---- questions -----------------------------------------------------------------------------

    def findings(self) -> tuple[Finding, ...]:
        """Everything that deserves attention, errors first."""
        with self._lock:
            return self._known.findings.all()

    def lookup(self, target_frame: str, source_frame: str) -> tuple[Array, Array, int | None]:
        """Newest rotation (3, 3) and translation (3,) [m] with ``x_target = R x_source + t``, and
        their time [ns]; None where the frames are fixed to each other.

        Raises:
            UnknownFrame: a frame is not known, or the two are not connected.
        """
        with self._lock:
            self._hand_over(min(self.waiting, _BATCH), self._handlers)
            return self._known.motion.streams.lookup(
                target_frame.lstrip("/"), source_frame.lstrip("/"))

    @property
    def robot_description(self) -> str:
        """The URDF in use; empty where there is none."""
        return self._known.motion.streams.urdf

    @property
    def frames(self) -> set[str]:
        """Names of the frames in transforms and robot description."""
        with self._lock:
            return self._known.motion.streams.frames

    @property
    def gravity_frame(self) -> str:
        """As `MotionSelector.gravity_frame`."""
        return self._known.motion.gravity_frame

    def joint_names(self) -> tuple[str, ...]:
        """Joints that move the sensor; empty where they are not known."""
        with self._lock:
            return self._known.motion.streams.joint_names

    def load_in_use(self) -> LoadInUse:
        """What may be removed from the wrenches that come, or why nothing."""
        return LoadInUse(Mode.SILENT, "there is no wrench to compensate")

    def doubtful_zero(self) -> str:
        """What of the reading may be contact or another zero, in one sentence; empty: nothing."""
        return ""

    @property
    def tool(self) -> Tool | None:
        """The stored tool."""
        return self._known.solver.tool

    @property
    def shape(self) -> Shape | None:
        """The shape of the object, as it is known."""
        return self._known.solver.shape

    def state(self) -> State:
        """What should outlive this run."""
        with self._lock:
            return self._known.state()

    # ---- commands ------------------------------------------------------------------------------

    def reset(self, reason: str) -> None:
        """Forget estimate and samples, those that wait among them; keep robot description, fixed
        transforms and tare."""
        with self._lock:
            self._hand_over(self.waiting, self._handlers)
            self._known.begin_without_samples(reason)

    def set_tool(self, tool: Tool | None, keep: Keep = keep_nothing) -> None:
        """Estimate what is carried beside this tool, from data to come; None: all there is.

        Args:
            keep: see `state.Keep`, here and in `tare` and `untare`.
        """
        with self._lock:
            keep(replace(self._known.state(), tool=tool, estimate=None))
            self._known.solver.tool = tool
            self._known.begin_payload()

    def set_shape(self, shape: Shape | None) -> None:
        """Use another shape from the next estimate on; None forgets it."""
        with self._lock:
            self._known.solver.shape = shape
            self._known.progress.force_solve()

    def check_settings(self, settings: Settings) -> None:
        """Raise why these settings could not be used now.

        Raises:
            InvalidSetting: they contradict each other, or the estimator cannot be made.
            InvalidShape: it needs a shape, unlike the present one, and none is there.
        """
        solver = self._known.solver
        estimator = solver.make_estimator(settings)
        if estimator.needs_shape and solver.shape is None and not solver.estimator.needs_shape:
            raise InvalidShape(
                f"the estimator '{estimator.name}' of these settings needs the shape of the "
                "object, and none is given: call set_shape first, or set shape.type at start")
