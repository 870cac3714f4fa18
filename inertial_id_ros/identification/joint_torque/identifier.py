# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Online identification from the joint torques of a robot without a wrist sensor.

Samples, checks and estimates are those of `wrench.identifier.Identifier`, except for what only a
wrist sensor has: biases and compensated wrenches.

What joint torques have taught is kept by how long it holds (see `identification.knowledge`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...detection.disturbance_findings import DisturbanceFindings
from ...detection.segments import Segments
from ...errors import NotEnoughData
from ...estimate import Estimate, Outcome
from ...findings import FindingLog
from ...geometry.shape import Shape, shape_from_settings
from ...inertia import Array
from ...kinematics.motion_source import describe_slow
from ...regression.regressor_window import Rows
from ...robot.robot_file import load_robot
from ...settings import Settings
from ...signals import inbox
from ...signals.bins import BIN_NS
from ...signals.ring_buffer import JUMPED
from ...signals.stream_watch import DropCounters
from ..knowledge import EstimateOfWindow, Knowledge, PayloadSpan
from ..pipeline import Pipeline
from ..road import CompensatedWrenches, Road, no_wrenches
from ..solving import WindowSolver
from ..state import Keep, State, keep_nothing
from .problem import TorqueModel, TorqueProblem, TorqueStream
from .solver import TorqueSolver, window_duration

_IMPOSSIBLE = 1e6  # rad, N m: no joint stands there, uninitialised memory does
_CLIPPED = 0.999  # share of the largest torque from which on a torque is clipped


class JointStateChecks:
    """Checks joint states with efforts; counts what it refuses.

    Args:
        joints: names in the wanted order.
    """

    def __init__(self, joints: Sequence[str], findings: FindingLog) -> None:
        self._joints, self._findings = tuple(joints), findings
        self.use_limits(np.zeros(len(self._joints)))
        self._refused: str | None = None  # why the last sample could not enter

    def use_limits(self, limits: Array) -> None:
        """Set the largest torques (joints,) [N m] of the robot description; 0: it has none."""
        self._limits = limits
        self._ceiling = np.where(limits > 0.0, _CLIPPED * limits, _IMPOSSIBLE)

    def check(self, stamp_ns: int, names: Sequence[str], positions: Sequence[float],
              efforts: Sequence[float]) -> Array | None:
        """Positions and efforts (2 joints,), or None where they must not enter."""
        if stamp_ns <= 0 or not len(names):
            return None  # `MotionSelector` counts these
        index = {name: k for k, name in enumerate(names)}
        absent = [joint for joint in self._joints if joint not in index]
        if absent:  # of something else, such as a gripper, or of part of the robot
            if any(joint in index for joint in self._joints):
                self._refuse("joint_states_incomplete", f"joint states without joint '{absent[0]}' "
                             "dropped", f"are without joint '{absent[0]}'")
            return None
        if len(positions) < len(names) or len(efforts) < len(names):
            self._refuse("joint_states_incomplete.efforts", "joint states without efforts dropped; "
                         "load.robot needs them", "are without efforts")
            return None
        order = [index[joint] for joint in self._joints]
        q, effort = (np.array([values[k] for k in order], dtype=float)
                     for values in (positions, efforts))
        if not ((np.abs(q) < _IMPOSSIBLE).all() and np.isfinite(effort).all()):
            self._refuse("samples_invalid.joints", "joint states with NaN or infinity dropped",
                         "hold NaN or infinity")
            return None
        if np.any(clipped := np.abs(effort) >= self._ceiling):
            which = int(np.argmax(clipped))
            self._refuse("samples_saturated.joints", "joint states with a saturated torque dropped "
                         f"(the last: {effort[which]:.1f} N m of '{self._joints[which]}', which "
                         f"the robot description allows {self._limits[which]:g} N m)",
                         f"hold a torque of '{self._joints[which]}' at its limit")
            return None
        self._refused = None
        return np.concatenate([q, effort])

    def _refuse(self, name: str, text: str, why: str) -> None:
        """Count a finding, and remember why the sample was refused."""
        self._findings.count(name, text)
        self._refused = why

    def explain_silence(self, topic: str) -> str:
        """Why no sample of the topic has come through."""
        if self._refused is not None:
            return f"no usable joint states on '{topic}': they {self._refused}"
        return f"no joint states with positions and efforts of all joints received on '{topic}'"


PUBLISHERS = "several_publishers.joints"


class TorqueWindow(EstimateOfWindow):
    """The rows of the last seconds, from joint torques."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[Rows] = []


class TorqueKnowledge(Knowledge):
    """All that is known from the joint torques of a robot.

    Args:
        shape: of the object; None: what the settings name.

    Attributes:
        robot: as it was identified without payload; checks: of the joint states.
        problem, stream, segments: of the robot description; None: there is none yet.
        conflict: what is wrong with the publishers; empty where nothing is.
    """

    window: TorqueWindow

    def __init__(self, settings: Settings, shape: Shape | None, findings: FindingLog) -> None:
        super().__init__(settings, findings, DisturbanceFindings(findings, TorqueModel.texts))
        self.robot = load_robot(settings.load.robot)
        self.solver: TorqueSolver = TorqueSolver(settings, shape)
        if shape is None:
            self.solver.shape = shape_from_settings(settings.shape)
        self.checks = JointStateChecks(self.robot.joints, findings)
        self._frame = settings.wrench.sensor_frame.lstrip("/")
        self.problem: TorqueProblem | None = None
        self.stream: TorqueStream | None = None
        self.segments: Segments | None = None
        self.payload, self.window = PayloadSpan(), TorqueWindow()
        self.newest_taken = 0
        self.conflict = ""

    @property
    def sensor_frame(self) -> str:
        """Frame in which the payload is given."""
        return self._frame

    @property
    def newest_ns(self) -> int:
        """Newest stamp of the stream [ns]; 0 before any sample."""
        return self.newest_taken

    def describe_robot(self, urdf: str) -> None:
        """Use this URDF (raises InvalidModel, UnknownFrame; the one before stays in use)."""
        problem = TorqueProblem(self.robot, urdf, self._frame, self.settings.load.friction_drift)
        self.motion.streams.set_robot_description(urdf)
        if self.robot.currents is None:
            self.checks.use_limits(problem.model.effort_limits)
        self.problem, self.stream = problem, self._make_stream(problem)
        self.begin_payload()

    def _make_stream(self, problem: TorqueProblem) -> TorqueStream:
        """A stream without samples."""
        return TorqueStream(problem.model, self.robot.delay, self.settings.kinematics.window)

    def state(self) -> State:
        """As `Knowledge.state`; joint torques have no tare."""
        return State(self.solver.tool, None, self.window.last)

    # ---- what begins anew ----------------------------------------------------------------------

    def begin_without_samples(self, reason: str) -> None:
        """As `Knowledge.begin_without_samples`."""
        if self.problem is not None:
            self.stream = self._make_stream(self.problem)
        self.begin_stream(reason)

    def begin_stream(self, reason: str) -> None:
        """As `Knowledge.begin_stream`."""
        super().begin_stream(reason)
        self.findings.set_or_clear(PUBLISHERS, "error", self.conflict)
        self.begin_payload()
        self.payload = PayloadSpan()

    def begin_payload(self) -> None:
        """As `Knowledge.begin_payload`."""
        if self.problem is not None:
            self.segments = Segments(self.settings, TorqueModel(self.problem),
                                     self.robot.low_pass, self.findings)
        self.begin_window()

    def begin_window(self) -> None:
        """As `Knowledge.begin_window`."""
        self.window = TorqueWindow()


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
