# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Everything that samples have taught, by how long it holds.

To forget is to construct: an identifier keeps one object of each lifetime, and puts a fresh one in
its place where that lifetime ends. None of them has a method that forgets.

==================================================  ================================
what happens                                        what begins anew
==================================================  ================================
reset; a clock that jumps; stamps that shift; a     progress, set-up, payload, window
sensor that is zeroed; publishers that are doubled
nothing explains the wrench for long; all of the    set-up, payload, window
set-up has changed; the place of the wrench's
frame becomes known; wrenches begin to contradict
each other, or cease to
tare, tool, mounting, state of an earlier run       payload, window
another payload or zero, found by the detector      window, where that began
a replay: an error of the set-up was found,         payload that began where the
positions were wrong, the load has crept            present one did, and window
==================================================  ================================

Robot description, fixed transforms, tare, tool, shape and settings outlive all of these.
`wrench.knowledge` and `joint_torque.knowledge` hold what only one kind of load needs.

What was learnt from wrong inputs (a clock offset, a turned sensor, another noise) may outlive them,
and then contradicts the right ones. Where nothing has explained the data for long, everything
learnt is forgotten. The estimates that follow need more data than the first one: a few seconds of
motion may fit a set-up that is still wrong.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Protocol

from ..detection.consistency_checks import WindowFacts
from ..detection.disturbance_findings import DisturbanceFindings
from ..estimate import Estimate
from ..estimators import Estimator
from ..findings import FindingLog
from ..geometry.shape import Shape
from ..kinematics.motion_source import MotionSelector
from ..regression.tool import Tool
from ..settings import Settings
from .state import State


class MonotonicStamps:
    """Keeps the stamps of successive estimates from going back.

    A client that takes estimates by their stamps must not find an older one later. A finding says
    how far the data behind such an estimate reach.
    """

    def __init__(self, findings: FindingLog) -> None:
        self._findings, self._newest = findings, 0

    def restamp(self, estimate: Estimate) -> Estimate:
        """The estimate, stamped no earlier than those before it."""
        left_out = self._newest - estimate.stamp_ns
        if left_out <= 0:
            self._newest = estimate.stamp_ns
            self._findings.clear("newest_left_out")
            return estimate
        self._findings.set("newest_left_out", "info", f"the newest {left_out * 1e-9:.2f} s before "
                           "the stamp are left out: a disturbance may begin there")
        return replace(estimate, stamp_ns=self._newest)


_FIRST_NS, _LONGEST_NS = 10_000_000_000, 160_000_000_000
_PROBATION = 3.0  # s of data that the first estimate afterwards needs
_TRUSTED_NS = 20_000_000_000  # of explained data, after which patience is short again


class Recovery:
    """Says when everything learnt is to be forgotten: ever more rarely, while that does not help.

    All times are stamps of the data, so that a recording that is played slowly gives the same.
    """

    def __init__(self) -> None:
        self._patience, self._since, self._explained_since = _FIRST_NS, -1, -1
        self._on_probation = False

    def is_due(self, newest_ns: int, explained: bool) -> bool:
        """Whether to forget now, with data up to this stamp.

        Args:
            explained: whether what was learnt explains them.
        """
        if explained:
            self._since, self._on_probation = -1, False
            if self._explained_since < 0:
                self._explained_since = newest_ns
            if newest_ns - self._explained_since > _TRUSTED_NS:
                self._patience = _FIRST_NS
            return False
        self._explained_since = -1
        if self._since < 0 or newest_ns < self._since:
            self._since = newest_ns
        if newest_ns - self._since < self._patience:
            return False
        self._patience, self._since = min(2 * self._patience, _LONGEST_NS), -1
        self._on_probation = True
        return True

    def least_duration(self, usual: float) -> float:
        """Length [s] of data that an estimate needs, where `usual` is set."""
        return max(usual, _PROBATION) if self._on_probation else usual


NOTHING_SOLVED = -1, -1  # extent of no window


class Progress:
    """How far the samples of one stream have led.

    Attributes:
        stamps: of the estimates; recovery: from data that nothing explains.
        solved: extent of the window that was solved last; is_refuted: whether its data contradict
            every payload.
        flush_reason: why rows were given up since the last estimate; None: none were.
        lost_at: bin at which nothing that was learnt counted any more, until that is handled.
        rows: number of settled rows so far.
        facts: what the windows have shown to be wrong.
    """

    def __init__(self, findings: FindingLog) -> None:
        self.stamps, self.recovery = MonotonicStamps(findings), Recovery()
        self.solved, self.is_refuted = NOTHING_SOLVED, False
        self.flush_reason: str | None = None
        self.lost_at: int | None = None
        self.rows = 0
        self.facts = WindowFacts()

    def force_solve(self) -> None:
        """Solve the window next time even if it has not grown."""
        self.solved = NOTHING_SOLVED

    def with_flush_reason(self, text: str) -> str:
        """A reason for no estimate, preceded by why rows were forgotten."""
        return text if self.flush_reason is None else f"{self.flush_reason}; {text}"


class PayloadSpan:
    """Where the present payload began, and what was before.

    Attributes:
        begin: earlier bins belong to another payload.
        ends: bins at which payloads ended, each with the bin at which it began.
    """

    def __init__(self, begin: int = 0, ends: tuple[tuple[int, int], ...] = ()) -> None:
        self.begin, self.ends = begin, list(ends)


class EstimateOfWindow:
    """What the window has given.

    Attributes:
        last: the newest estimate; restored: of an earlier run, shown until there are data.
    """

    def __init__(self) -> None:
        self.last: Estimate | None = None
        self.restored: Estimate | None = None


class PayloadSolver(Protocol):
    """What solvers for all kinds of load have in common."""

    shape: Shape | None
    tool: Tool | None
    estimator: Estimator

    def make_estimator(self, settings: Settings) -> Estimator:
        """The estimator that these settings ask for (raises InvalidSetting)."""


class Knowledge(ABC):
    """All that an identifier knows.

    Attributes:
        settings: in use; findings: what deserves attention.
        motion: of the sensor; disturbances: of the stream so far.
        progress, payload, window: see there; solver: of the window, with tool and shape.
        finished: whether no sample will come any more.
    """

    payload: PayloadSpan
    window: EstimateOfWindow
    solver: PayloadSolver

    def __init__(self, settings: Settings, findings: FindingLog,
                 disturbances: DisturbanceFindings) -> None:
        self.settings, self.findings, self.disturbances = settings, findings, disturbances
        self.motion = MotionSelector(settings, findings)
        self.progress = Progress(findings)
        self.finished = False

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

    @abstractmethod
    def state(self) -> State:
        """What should outlive this run."""

    @abstractmethod
    def begin_without_samples(self, reason: str) -> None:
        """Begin without samples and what came of them."""

    def begin_stream(self, reason: str) -> None:
        """Begin with nothing learnt from samples, and without those of the motion."""
        self.findings.clear_all()
        self.findings.count("reset", f"buffers flushed: {reason}", "info")
        self.motion.begin_stream()
        self.disturbances = self.disturbances.none_so_far()
        self.progress = Progress(self.findings)

    @abstractmethod
    def begin_payload(self) -> None:
        """Begin with nothing known of the payload: no rows, no estimate, no bins in the filters."""

    @abstractmethod
    def begin_window(self) -> None:
        """Begin with no rows and no estimate."""

    def take_back_changes(self, first: int) -> None:
        """Take back the changes of payload since this bin: they were none."""
        payload = self.payload
        while payload.ends and payload.ends[-1][0] >= first:
            _, payload.begin = payload.ends.pop()
            self.progress.flush_reason = None
            self.disturbances.withdraw_changes()
