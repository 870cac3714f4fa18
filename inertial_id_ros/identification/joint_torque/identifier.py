# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Online identification from the joint torques of a robot without a wrist sensor.

Samples, checks and estimates are those of `wrench.identifier.Identifier`, except for what only a
wrist sensor has: biases and compensated wrenches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...detection.disturbance_findings import DisturbanceFindings
from ...detection.segments import Segments
from ...errors import NotEnoughData
from ...estimate import Estimate, Outcome
from ...geometry.shape import Shape, shape_from_settings
from ...kinematics.motion_source import describe_slow
from ...regression.regressor_window import Rows
from ...robot.robot_file import load_robot
from ...settings import Settings
from ...signals import inbox
from ...signals.bins import BIN_NS
from ...signals.drop_counters import DropCounters
from ...signals.ring_buffer import JUMPED
from ..compensated_wrenches import CompensatedWrenches, no_wrenches
from ..knowledge import PayloadSpan, TorqueWindow
from ..pipeline import Pipeline
from ..state import Keep, State, keep_nothing
from .problem import TorqueProblem
from .rows import TorqueStream
from .sample_checks import JointStateChecks
from .solver import TorqueSolver, window_duration
from .torque_model import TorqueModel

_FEWEST = 10  # rows
_PUBLISHERS = "several_publishers.joints"


class TorqueIdentifier(Pipeline[list[Rows]]):
    """Online payload identification from joint torques.

    Raises:
        InvalidSetting, InvalidData: load.robot cannot be used, or the estimator needs a wrench.
        InvalidShape: the shape in the settings cannot be used.
    """

    _solver: TorqueSolver
    _window: TorqueWindow

    def __init__(self, settings: Settings, shape: Shape | None = None) -> None:
        super().__init__(settings)
        self._robot = load_robot(settings.load.robot)
        self._solver = TorqueSolver(settings, shape)
        if shape is None:
            self._solver.shape = shape_from_settings(settings.shape)
        self._checks = JointStateChecks(self._robot.joints, self._log)
        self._drops = DropCounters(self._log, "joints", "joint states")
        self._disturbances = DisturbanceFindings(self._log, TorqueModel.texts)
        self._frame = settings.wrench.sensor_frame.lstrip("/")
        self._problem: TorqueProblem | None = None
        self._stream: TorqueStream | None = None
        self._segments: Segments | None = None
        self._payload, self._window = PayloadSpan(), TorqueWindow()
        self._newest = 0
        self._conflict = ""  # what is wrong with the publishers; empty where nothing is
        self._handlers = {
            inbox.JOINT_STATE: self._take_joint_state,
            inbox.TRANSFORM: self._motion.take_transform,
            inbox.STATIC_TRANSFORM: self._motion.take_static_transform,
            inbox.FINDING: self._log.set, inbox.PUBLISHERS: self._take_publishers,
            inbox.WRENCH: _ignore, inbox.REMOVED_PAYLOAD: _ignore, inbox.ZEROING: _ignore}

    # ---- from the inbox to the streams ---------------------------------------------------------

    def set_robot_description(self, urdf: str) -> None:
        """Use this URDF (raises InvalidModel, UnknownFrame; the one before stays in use)."""
        with self._lock:
            problem = TorqueProblem(self._robot, urdf, self._frame,
                                    self.settings.load.friction_drift)
            self._motion.set_robot_description(urdf)
            if self._robot.currents is None:
                self._checks.use_limits(problem.model.effort_limits)
            self._problem = problem
            self._stream = self._make_stream(problem)
            self._begin_payload()

    def _make_stream(self, problem: TorqueProblem) -> TorqueStream:
        """A stream without samples."""
        return TorqueStream(problem.model, self._robot.delay, self.settings.kinematics.window)

    @property
    def sensor_frame(self) -> str:
        """Frame in which the payload is given."""
        return self._frame

    @property
    def newest_ns(self) -> int:
        """Newest stamp of the stream [ns]; 0 before any sample."""
        return self._newest

    def _take_joint_state(self, stamp_ns: int, names: Sequence[str], positions: Sequence[float],
                          efforts: Sequence[float]) -> None:
        """Put a joint state that passes all checks into the stream, and any into the motion."""
        self._motion.take_joint_state(stamp_ns, names, positions)
        sample = self._checks.check(stamp_ns, names, positions, efforts)
        if sample is None or self._stream is None:
            return
        if self._robot.currents is not None:
            sample[len(sample) // 2:] *= self._robot.currents.gain
        before = self._stream.newest or 0
        result = self._stream.ring.append(stamp_ns, sample)
        if result == JUMPED:
            self._stream.begin_with_oldest()
            self._begin_stream(f"the clock jumped back by {(before - stamp_ns) * 1e-9:.1f} s")
        self._drops.count(result, self._stream.ring)

    def _take_publishers(self, text: str) -> None:
        """Use no joint state while several publishers send them, as the text says; empty: one does.
        Either way nothing from before counts any more."""
        if bool(text) != bool(self._conflict):
            self._begin_without_samples("several publishers sent joint states")
        self._conflict = text
        self._log.set_or_clear(_PUBLISHERS, "error", text)

    # ---- from the streams to the window --------------------------------------------------------

    def _process_settled(self) -> CompensatedWrenches:
        """Turn settled samples into rows of the window."""
        if self._stream is not None and self._segments is not None:
            last = self._finished and not self.waiting
            self._newest = self._stream.newest or self._newest
            self._add_segments(self._segments.push(self._stream.take(last), False))
            for rows in self._segments.finish() if last else ():
                self._add_rows(rows)
        return no_wrenches(self._frame)

    def _add_rows(self, rows: Rows) -> None:
        """Add rows to the window, and drop those that are too old."""
        self._window.rows = self._recent([*self._window.rows, rows])

    def _recent(self, rows: list[Rows]) -> list[Rows]:
        """The rows within a window's length of the last one."""
        oldest = rows[-1].number[-1] - int(self.settings.buffer.window * 1e9) // BIN_NS
        return [part for part in rows if part.number[-1] >= oldest]

    def _handle_moved_zero(self) -> None:
        """Estimate the zeros of the torques from now on."""
        assert self._problem is not None
        self._problem.zero_moved = True

    # ---- from the window to an estimate --------------------------------------------------------

    def solve(self) -> Outcome:
        """The estimate of the window: physically consistent, or the reason why there is none."""
        with self._lock:
            return self._conclude(self._solve_window())

    def _require_window(self) -> list[Rows]:
        """The rows of the window and the provisional ones (raises NotEnoughData)."""
        if self._conflict:
            raise NotEnoughData(self._conflict, is_finding=True)
        if self._stream is None or self._segments is None:
            raise NotEnoughData("no robot description was received yet")
        if self._stream.newest is None:
            raise NotEnoughData(self._checks.explain_silence(self.settings.joint_states.topic))
        slow = self._stream.too_slow()
        if slow is not None:
            raise NotEnoughData(describe_slow(slow, "joint states",
                                              self.settings.joint_states.topic))
        provisional = self._segments.preview(self._stream.no_bins, False)
        rows = self._window.rows
        if provisional is not None:
            rows = self._recent([*rows, provisional])
        if not rows:
            raise self._too_short_error(None)
        duration = window_duration(rows)
        if (duration < self.settings.estimator.min_duration
                or sum(len(part.number) for part in rows) < _FEWEST):
            raise self._too_short_error(duration)
        return rows

    def _window_extent(self, window: list[Rows]) -> tuple[int, int]:
        """Last bin of the window."""
        return 0, int(window[-1].number[-1])

    def _estimate(self, window: list[Rows]) -> Estimate:
        """Solve a window."""
        assert self._problem is not None
        return self._solver.solve(self._problem, window, self._frame, self._log)

    # ---- commands ------------------------------------------------------------------------------

    def _begin_without_samples(self, reason: str) -> None:
        """As `Pipeline._begin_without_samples`."""
        if self._problem is not None:
            self._stream = self._make_stream(self._problem)
        self._begin_stream(reason)

    def _begin_stream(self, reason: str) -> None:
        """As `Pipeline._begin_stream`."""
        super()._begin_stream(reason)
        self._log.set_or_clear(_PUBLISHERS, "error", self._conflict)
        self._begin_payload()
        self._payload = PayloadSpan()

    def _begin_payload(self) -> None:
        """As `Pipeline._begin_payload`."""
        if self._problem is not None:
            self._segments = Segments(self.settings, TorqueModel(self._problem),
                                      self._robot.low_pass, self._log)
        self._begin_window()

    def _begin_window(self) -> None:
        """As `Pipeline._begin_window`."""
        self._window = TorqueWindow()

    def tare(self, keep: Keep = keep_nothing) -> str:
        """Refuse: there is no sensor to tare (raises NotEnoughData)."""
        raise NotEnoughData("joint torques have no bias to tare; identify the robot without "
                            "payload anew (identify_robot)")

    def untare(self, keep: Keep = keep_nothing) -> str:
        """Refuse, as `tare` does."""
        return self.tare(keep)

    def _state(self) -> State:
        return State(self._solver.tool, None, self._window.last)

    def restore(self, state: State) -> None:
        """Go on with the tool of an earlier run; its estimate is not shown."""
        with self._lock:
            self._solver.tool = state.tool
            if state != State():
                self._log.set("restored", "info",
                              f"restored: {replace(state, estimate=None, tare=None).describe()}")

    def set_settings(self, settings: Settings) -> None:
        """Use other settings, of those that may change at run time, from the next estimate on."""
        with self._lock:
            self._solver.configure(settings)
            self.settings = settings
            self._force_solve()


def _ignore(*_: object) -> None:
    """Ignore a sample that joint torques do not need."""
