"""The pipeline of `identifier.Identifier` for robots without a wrist sensor.

Same way in, same gates, same kind of answer; what a wrist sensor alone has (bias, compensated
wrenches) is missing.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from ...detection.consistency_checks import usable_shape
from ...detection.disturbance_findings import Disturbances
from ...detection.segments import Segments
from ...errors import InertialIdError, InvalidData, InvalidSetting, InvalidShape, NotEnoughData
from ...estimate import UNOBSERVED, Estimate, NoEstimate, Outcome
from ...estimators import Estimator, create
from ...geometry.shape import Shape, shape_from_settings
from ...inertia import is_consistent, min_eigenvalue
from ...regression.regressor_window import Rows
from ...regression.tool import Tool
from ...robot.robot_file import load_robot
from ...settings import Settings
from ...signals import inbox
from ...signals.bins import BIN_NS
from ...signals.ring_buffer import JUMPED
from ..compensation import CompensatedWrenches, no_wrenches
from ..pipeline import Pipeline
from ..provisional_rows import Stamps
from ..state import State
from ..verdict import judge
from .checks import check_model
from .problem import TorqueProblem
from .rows import TorqueStream
from .sample_checks import JointStateGate
from .torque_model import TorqueModel

METHODS = ("density", "lmi", "manifold", "entropic", "uniform", "wls")
_FEWEST = 10  # rows


class TorqueIdentifier(Pipeline):
    """Online payload identification from joint torques.

    Raises:
        InvalidSetting, InvalidData: load.robot cannot be used, or the estimator needs a wrench.
        InvalidShape: the shape in the settings cannot be used.
    """

    def __init__(self, settings: Settings, shape: Shape | None = None) -> None:
        super().__init__(settings)
        self._robot = load_robot(Path(settings.load.robot).expanduser())
        self._estimator = _estimator(settings)
        self._shape = shape if shape is not None else shape_from_settings(settings.shape)
        self._gate = JointStateGate(self._robot.joints, self._log)
        self._disturbances = Disturbances(self._log, TorqueModel.words)
        self._frame = settings.wrench.sensor_frame.lstrip("/")
        self._tool: Tool | None = None
        self._problem: TorqueProblem | None = None
        self._stream: TorqueStream | None = None
        self._segments: Segments | None = None
        self._rows: list[Rows] = []
        self._solved = -1  # last bin of the window that was solved
        self._stamps = Stamps(self._log)
        self._newest = 0
        self._handlers = {
            inbox.JOINT_STATE: self._take_joint_state,
            inbox.TRANSFORM: self._motion.take_transform,
            inbox.STATIC_TRANSFORM: self._motion.take_static_transform,
            inbox.FINDING: self._log.set, inbox.WRENCH: _ignore,
            inbox.REMOVED_PAYLOAD: _ignore, inbox.ZEROING: _ignore}

    # ---- the road ------------------------------------------------------------------------------

    def set_robot_description(self, urdf: str) -> None:
        """Use this URDF (raises InvalidModel, UnknownFrame; the one before stays in use)."""
        with self._lock:
            problem = TorqueProblem(self._robot, urdf, self._frame,
                                    self.settings.load.friction_drift)
            self._motion.set_robot_description(urdf)
            self._gate.use_limits(problem.model.effort_limits)
            self._problem = problem
            self._stream = TorqueStream(problem.model, self._robot.delay,
                                        self.settings.kinematics.window)
            self._segments = Segments(self.settings, TorqueModel(problem), self._robot.low_pass,
                                      self._log)
            self._flush_rows()

    @property
    def sensor_frame(self) -> str:
        """Frame in which the payload is given."""
        return self._frame

    def _take_joint_state(self, stamp_ns: int, names: Sequence[str], positions: Sequence[float],
                          efforts: Sequence[float]) -> None:
        self._motion.take_joint_state(stamp_ns, names, positions)
        sample = self._gate.check(stamp_ns, names, positions, efforts)
        if sample is None or self._stream is None:
            return
        before = self._stream.newest or 0
        result = self._stream.add(stamp_ns, sample)
        if result == JUMPED:
            self._stream.begin_anew()
            self._restart(f"the clock jumped back by {(before - stamp_ns) * 1e-9:.1f} s")
        self._gate.stored(result, self._stream.strays)

    def _advance(self) -> CompensatedWrenches:
        """There are no wrenches to compensate."""
        if self._stream is not None and self._segments is not None:
            last = self._finished and not self._waiting
            self._newest = self._stream.newest or self._newest
            bins = self._stream.take(last)
            for item in self._segments.push(*bins, False):
                if isinstance(item, Rows):
                    self._keep(item)
                else:
                    self._obey(item)
            for rows in self._segments.finish() if last else ():
                self._keep(rows)
        return no_wrenches(self._frame)

    def _keep(self, rows: Rows) -> None:
        self._rows = self._recent([*self._rows, rows])

    def _recent(self, rows: list[Rows]) -> list[Rows]:
        """Those within a window's length of the last."""
        oldest = rows[-1].number[-1] - int(self.settings.buffer.window * 1e9) // BIN_NS
        return [part for part in rows if part.number[-1] >= oldest]

    def _zero_moved(self) -> None:
        assert self._problem is not None
        self._problem.zero_moved = True

    # ---- answers -------------------------------------------------------------------------------

    def solve(self) -> Outcome:
        """The estimate of the window: physically consistent, or the reason why there is none."""
        with self._lock:
            rows = self._window()
            reason = self._why_not(rows)
            if reason:
                return NoEstimate(self._newest, self._frame, reason, self._sentences())
            if self._last is not None and rows[-1].number[-1] <= self._solved:
                self._last = self._last.as_stale()
                return self._last.with_findings(self._sentences())
            try:
                self._last = self._stamps.in_order(self._estimate(rows))
            except InertialIdError as error:
                self._last = None
                return NoEstimate(self._newest, self._frame, self._after_news(str(error)),
                                  self._sentences())
            self._solved, self._news = int(rows[-1].number[-1]), ""
            return self._last.with_findings(self._sentences())

    def _window(self) -> list[Rows]:
        """The rows of the buffer, and those that still wait for what comes after them."""
        if self._segments is None or self._stream is None:
            return []
        more = self._segments.preview(*self._stream.no_bins, False)
        return self._rows if more is None else self._recent([*self._rows, more])

    def _why_not(self, rows: list[Rows]) -> str:
        if self._stream is None:
            return "no robot description was received yet"
        if self._stream.newest is None:
            return self._gate.why_none(self.settings.joint_states.topic)
        if not rows:
            return self._news or "waiting for the first second of data"
        duration = _span(rows)
        wanted = self.settings.estimator.min_duration
        count = sum(len(part.number) for part in rows)
        if duration < wanted or count < _FEWEST:
            return self._after_news(f"{duration:.2f} s of data; estimator.min_duration is "
                                    f"{wanted:g} s")
        return ""

    def _estimate(self, parts: list[Rows]) -> Estimate:
        assert self._problem is not None
        started = time.perf_counter()
        if self._tool is not None and self._tool.frame_id != self._frame:
            raise InvalidData(f"the stored tool is given in frame '{self._tool.frame_id}', the "
                              f"payload in '{self._frame}'; clear the tool and store it again")
        rows = np.concatenate([part.full for part in parts])
        fit = self._problem.build(rows, self._tool)
        check_model(self._problem, fit, rows, self._tool, self._log)
        problem = fit.problem
        marginal = problem.marginal("noise")
        shape = usable_shape(self._shape, self.settings.shape.max_reach, marginal,
                             self._estimator, self._log)
        solution = self._estimator.solve(problem, shape)
        if not is_consistent(solution.phi):
            raise InvalidData(f"'{self._estimator.name}' gives a body that cannot exist; choose an "
                              "estimator that guarantees consistency, or move more")
        verdict = judge(solution, marginal)
        sd = float(np.sqrt(verdict.phi_covariance[0, 0]))
        if verdict.verdict[0] == UNOBSERVED:
            raise NotEnoughData(f"the mass is not identified yet ({solution.phi[0]:.2f} ± "
                                f"{2.0 * sd:.2f} kg); move more, and farther from the vertical")
        self._log.set("verdict", "info", verdict.sentence)
        self._log.set("joint_residual", "info", "residual torques: " + ", ".join(
            f"{name} {value:.3f}" for name, value in zip(self._robot.joints, fit.left, strict=True))
            + " N m")
        nothing = np.zeros(6)
        return Estimate(
            stamp_ns=int((parts[-1].number[-1] + 1) * BIN_NS), frame_id=self._frame,
            phi=solution.phi, phi_covariance=verdict.phi_covariance, bias=nothing,
            method=self._estimator.name, weighting="noise", data_share=verdict.data_share,
            verdict=verdict.verdict, alignment=nothing, alignment_sigma=nothing,
            residual_rms=nothing, samples=int(sum(part.samples.sum() for part in parts)),
            window=_span(parts), condition_number=verdict.condition_number,
            min_eigenvalue=min_eigenvalue(solution.phi),
            solve_time=time.perf_counter() - started, tool_apart=self._tool is not None)

    # ---- commands ------------------------------------------------------------------------------

    def reset(self, reason: str) -> None:
        """Forget samples and estimate; keep the robot description."""
        with self._lock:
            if self._stream is not None:
                self._stream.restart()
            self._restart(reason)

    def _restart(self, reason: str) -> None:
        """Forget all but the samples of the stream."""
        self._log.clear_all()
        self._log.count("reset", f"buffers flushed: {reason}", "info")
        self._motion.reset()
        self._disturbances.restart()
        self._begin_bin, self._news = 0, ""
        self._stamps = Stamps(self._log)
        self._flush_rows()

    def _flush_rows(self) -> None:
        if self._segments is not None:
            self._segments.restart()
        self._forget_rows()

    def _forget_rows(self) -> None:
        self._rows, self._last, self._solved = [], None, -1

    def tare(self) -> str:
        """There is no sensor to tare (raises NotEnoughData)."""
        raise NotEnoughData("joint torques have no bias to tare; identify the robot without "
                            "payload anew (identify_robot)")

    def state(self) -> State:
        """What should outlive this run."""
        with self._lock:
            return State(self._tool, None, self._last)

    def restore(self, state: State) -> None:
        """Go on with the tool of an earlier run; its estimate is not shown."""
        with self._lock:
            self._tool = state.tool
            if state != State():
                self._log.set("restored", "info",
                              f"restored: {replace(state, estimate=None, tare=None).describe()}")

    @property
    def tool(self) -> Tool | None:
        """The stored tool."""
        return self._tool

    def set_tool(self, tool: Tool | None) -> None:
        """Estimate what is carried beside this tool, from data to come; None: all there is."""
        with self._lock:
            self._tool = tool
            self._flush_rows()

    def set_shape(self, shape: Shape | None) -> None:
        """Use another shape from the next estimate on; None forgets it."""
        with self._lock:
            self._shape, self._solved = shape, -1

    def check_settings(self, settings: Settings) -> None:
        """Raise why these settings could not be used now (InvalidSetting, InvalidShape)."""
        estimator = _estimator(settings)
        if estimator.needs_shape and self._shape is None and not self._estimator.needs_shape:
            raise InvalidShape(f"the estimator '{estimator.name}' needs the shape of the object, "
                               "and none is given: call set_shape first")

    def set_settings(self, settings: Settings) -> None:
        """Use other estimator settings from the next estimate on."""
        with self._lock:
            self._estimator = _estimator(settings)
            self.settings = settings
            self._solved = -1


def _span(rows: list[Rows]) -> float:
    """Length [s] of a window."""
    return float(rows[-1].number[-1] - rows[0].number[0]) * BIN_NS * 1e-9


def _estimator(settings: Settings) -> Estimator:
    """The estimator of the settings (raises InvalidSetting where it needs rows of wrenches)."""
    method = settings.estimator.method
    if method not in METHODS:
        raise InvalidSetting(f"estimator.method is '{method}', which works on wrenches; with "
                             f"load.source 'joint_torque' allowed: {', '.join(METHODS)}")
    return create(settings.replace({"estimator.weighting": "noise"}))


def _ignore(*_: object) -> None:
    """A sample that joint torques do not need."""
