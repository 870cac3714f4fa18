# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Online identification from the joint torques of a robot without a wrist sensor.

Samples, checks and estimates are those of `wrench.identifier.Identifier`, except for what only a
wrist sensor has: biases and compensated wrenches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...errors import NotEnoughData
from ...estimate import Estimate, Outcome
from ...geometry.shape import Shape
from ...kinematics.motion_source import describe_slow
from ...regression.regressor_window import Rows
from ...settings import Settings
from ...signals import inbox
from ...signals.bins import BIN_NS
from ...signals.ring_buffer import JUMPED
from ...signals.stream_watch import DropCounters
from ..pipeline import Pipeline
from ..road import CompensatedWrenches, Road, no_wrenches
from ..solving import WindowSolver
from ..state import Keep, State, keep_nothing
from .knowledge import PUBLISHERS, TorqueKnowledge
from .solver import window_duration

_FEWEST = 10  # rows


class TorqueRoad(Road):
    """Moves joint states into the window.

    Args:
        inbox: of the identifier.
    """

    _known: TorqueKnowledge

    def __init__(self, known: TorqueKnowledge, waiting: inbox.Inbox) -> None:
        super().__init__(known)
        self._inbox = waiting

    def process_settled(self) -> CompensatedWrenches:
        """As `Road.process_settled`; there are no wrenches."""
        known = self._known
        if known.stream is not None and known.segments is not None:
            last = known.finished and not self._inbox.waiting
            known.newest_taken = known.stream.newest or known.newest_taken
            self._add_segments(known.segments.push(known.stream.take(last), False))
            for rows in known.segments.finish() if last else ():
                self._add_rows(rows)
        return no_wrenches(known.sensor_frame)

    def _add_rows(self, rows: Rows) -> None:
        """Add rows to the window, and drop those that are too old."""
        known = self._known
        known.window.rows = recent(known.settings, [*known.window.rows, rows])

    def _handle_moved_zero(self) -> None:
        """Estimate the zeros of the torques from now on."""
        assert self._known.problem is not None
        self._known.problem.zero_moved = True


def recent(settings: Settings, rows: list[Rows]) -> list[Rows]:
    """The rows within a window's length of the last one."""
    oldest = rows[-1].number[-1] - int(settings.buffer.window * 1e9) // BIN_NS
    return [part for part in rows if part.number[-1] >= oldest]


class TorqueWindowSolver(WindowSolver[list[Rows]]):
    """Solves the window of joint torques."""

    _known: TorqueKnowledge

    def solve(self) -> Outcome:
        """As `WindowSolver.solve`."""
        return self._conclude(self._solve_window())

    def _require_window(self) -> list[Rows]:
        """The rows of the window and the provisional ones (raises NotEnoughData)."""
        known, topic = self._known, self._known.settings.joint_states.topic
        if known.conflict:
            raise NotEnoughData(known.conflict, is_finding=True)
        if known.stream is None or known.segments is None:
            raise NotEnoughData("no robot description was received yet")
        if known.stream.newest is None:
            raise NotEnoughData(known.checks.explain_silence(topic))
        slow = known.stream.too_slow()
        if slow is not None:
            raise NotEnoughData(describe_slow(slow, "joint states", topic))
        provisional = known.segments.preview(known.stream.no_bins, False)
        rows = known.window.rows
        if provisional is not None:
            rows = recent(known.settings, [*rows, provisional])
        if not rows:
            raise self._too_short_error(None)
        duration = window_duration(rows)
        if (duration < known.settings.estimator.min_duration
                or sum(len(part.number) for part in rows) < _FEWEST):
            raise self._too_short_error(duration)
        return rows

    def _window_extent(self, window: list[Rows]) -> tuple[int, int]:
        """Last bin of the window."""
        return 0, int(window[-1].number[-1])

    def _estimate(self, window: list[Rows]) -> Estimate:
        """Solve a window."""
        known = self._known
        assert known.problem is not None
        return known.solver.solve(known.problem, window, known.sensor_frame, known.findings)


class TorqueIdentifier(Pipeline):
    """Online payload identification from joint torques.

    Raises:
        InvalidSetting, InvalidData: load.robot cannot be used, or the estimator needs a wrench.
        InvalidShape: the shape in the settings cannot be used.
    """

    _known: TorqueKnowledge

    def __init__(self, settings: Settings, shape: Shape | None = None) -> None:
        super().__init__()
        self._known = known = TorqueKnowledge(settings, shape, self._incoming)
        self._drops = DropCounters(known.findings, "joints", "joint states")
        self._road = TorqueRoad(known, self)
        self._window_solver = TorqueWindowSolver(known)
        self._handlers = {
            inbox.JOINT_STATE: self._take_joint_state,
            inbox.TRANSFORM: known.motion.streams.take_transform,
            inbox.STATIC_TRANSFORM: known.motion.streams.take_static_transform,
            inbox.FINDING: known.findings.set, inbox.PUBLISHERS: self._take_publishers,
            inbox.WRENCH: _ignore, inbox.REMOVED_PAYLOAD: _ignore, inbox.ZEROING: _ignore,
            inbox.IMU: _ignore}

    def set_robot_description(self, urdf: str) -> None:
        """Use this URDF (raises InvalidModel, UnknownFrame; the one before stays in use)."""
        with self._lock:
            self._known.describe_robot(urdf)

    def _take_joint_state(self, stamp_ns: int, names: Sequence[str], positions: Sequence[float],
                          efforts: Sequence[float]) -> None:
        """Put a joint state that passes all checks into the stream, and any into the motion."""
        known, stream = self._known, self._known.stream
        known.motion.streams.take_joint_state(stamp_ns, names, positions)
        sample = known.checks.check(stamp_ns, names, positions, efforts)
        if sample is None or stream is None:
            return
        if known.robot.currents is not None:
            sample[len(sample) // 2:] *= known.robot.currents.gain
        before = stream.newest or 0
        result = stream.ring.append(stamp_ns, sample)
        if result == JUMPED:
            stream.begin_with_oldest()
            known.begin_stream(f"the clock jumped back by {(before - stamp_ns) * 1e-9:.1f} s")
        self._drops.count(result, stream.ring)

    def _take_publishers(self, text: str) -> None:
        """Use no joint state while several publishers send them, as the text says; empty: one does.
        Either way nothing from before counts any more."""
        known = self._known
        if bool(text) != bool(known.conflict):
            known.begin_without_samples("several publishers sent joint states")
        known.conflict = text
        known.findings.set_or_clear(PUBLISHERS, "error", text)

    def tare(self, keep: Keep = keep_nothing) -> str:
        """Refuse: there is no sensor to tare (raises NotEnoughData)."""
        raise NotEnoughData("joint torques have no bias to tare; identify the robot without "
                            "payload anew (identify_robot)")

    def untare(self, keep: Keep = keep_nothing) -> str:
        """Refuse, as `tare` does."""
        return self.tare(keep)

    def restore(self, state: State) -> None:
        """Go on with the tool of an earlier run; its estimate is not shown."""
        with self._lock:
            self._known.solver.tool = state.tool
            if state != State():
                self._known.findings.set(
                    "restored", "info",
                    f"restored: {replace(state, estimate=None, tare=None).describe()}")

    def set_settings(self, settings: Settings) -> None:
        """Use other settings, of those that may change at run time, from the next estimate on."""
        with self._lock:
            self._known.solver.configure(settings)
            self._known.settings = settings
            self._known.progress.force_solve()


def _ignore(*_: object) -> None:
    """Ignore a sample that joint torques do not need."""
