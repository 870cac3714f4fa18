"""The pipeline of `identifier.Identifier` for robots without a wrist sensor.

Same way in, same kind of answer; what a wrist sensor alone has (bias, contact and change detection,
compensated wrenches) is missing. `add_*` only append and may be called from another thread;
everything else belongs to one thread.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from .. import intake
from ..bins import BIN_NS
from ..compensation import CompensatedWrenches, no_wrenches
from ..containment import usable_shape
from ..errors import InertialIdError, InvalidData, InvalidSetting, InvalidShape, NotEnoughData
from ..estimate import UNOBSERVED, Estimate, NoEstimate, Outcome
from ..estimators import Estimator, create
from ..findings import Finding, FindingLog
from ..inertia import Array, is_consistent, min_eigenvalue
from ..motion_selection import MotionSelector
from ..robot_tool.robot_file import load_robot
from ..settings import Settings
from ..shape import Shape, shape_from_settings
from ..state import State
from ..tool import Tool
from ..verdict import judge
from .problem import TorqueProblem
from .rows import TorqueRows, TorqueStream

METHODS = ("density", "lmi", "manifold", "entropic", "uniform", "wls")
_BATCH = 2000  # samples taken at once
_FEWEST = 10  # rows


class TorqueIdentifier(intake.Intake):
    """Online payload identification from joint torques.

    Raises:
        InvalidSetting, InvalidData: load.robot cannot be used, or the estimator needs a wrench.
        InvalidShape: the shape in the settings cannot be used.
    """

    def __init__(self, settings: Settings, shape: Shape | None = None) -> None:
        self.settings = settings
        self._log = FindingLog()
        super().__init__(self._log)
        self._lock = threading.Lock()
        self._robot = load_robot(Path(settings.load.robot).expanduser())
        self._estimator = _estimator(settings)
        self._shape = shape if shape is not None else shape_from_settings(settings.shape)
        self._motion = MotionSelector(settings, self._log)  # for the frames
        self._frame = settings.wrench.sensor_frame.lstrip("/")
        self._tool: Tool | None = None
        self._problem: TorqueProblem | None = None
        self._stream: TorqueStream | None = None
        self._rows: list[TorqueRows] = []
        self._complaint = "no robot description was received yet"
        self._last: Estimate | None = None
        self._fresh = False
        self._newest = 0
        self._finished = False
        self._handlers: intake.Handlers = {
            intake.JOINT_STATE: self._take_joint_state,
            intake.TRANSFORM: self._motion.take_transform,
            intake.STATIC_TRANSFORM: self._motion.take_static_transform,
            intake.FINDING: self._log.set, intake.WRENCH: _ignore,
            intake.REMOVED_PAYLOAD: _ignore, intake.ZEROING: _ignore}

    # ---- the road ------------------------------------------------------------------------------

    def set_robot_description(self, urdf: str) -> None:
        """Use this URDF (raises InvalidModel, UnknownFrame; the one before stays in use)."""
        with self._lock:
            k = self.settings.kinematics
            problem = TorqueProblem(self._robot, urdf, self._frame,
                                    self.settings.load.friction_drift)
            self._motion.set_robot_description(urdf)
            self._problem = problem
            self._stream = TorqueStream(problem.model, self._robot.delay, k.window,
                                        self._robot.low_pass, k.max_gap)
            self._forget()
            self._complaint = ""

    @property
    def sensor_frame(self) -> str:
        """Frame in which the payload is given."""
        return self._frame

    def _take_joint_state(self, stamp_ns: int, names: Sequence[str], positions: Sequence[float],
                          efforts: Sequence[float]) -> None:
        self._motion.take_joint_state(stamp_ns, names, positions)
        if self._stream is None:
            return
        index = {name: k for k, name in enumerate(names)}
        if any(joint not in index for joint in self._robot.joints):
            return  # a joint state of something else, such as a gripper
        if len(positions) < len(index) or len(efforts) < len(index):
            self._log.count("no_efforts", "joint states without efforts dropped; load.source "
                            "'joint_torque' needs them")
            return
        order = [index[joint] for joint in self._robot.joints]
        q, effort = (np.array([values[k] for k in order], dtype=float)
                     for values in (positions, efforts))
        if not (np.isfinite(q).all() and np.isfinite(effort).all()):
            self._log.count("joint_state_not_finite", "joint states that are not finite dropped")
            return
        if not self._stream.add(stamp_ns, q, effort):
            self._log.count("reset", "buffers flushed: the clock jumped back", "info")
            self._rows, self._last = [], None

    def advance(self) -> CompensatedWrenches:
        """Move settled samples into the window; there are no wrenches to compensate."""
        with self._lock:
            waiting = self._waiting
            for begin in range(0, max(waiting, 1), _BATCH):
                self._hand_over(min(_BATCH, waiting - begin), self._handlers)
                self._settle(False)
            if self._finished:
                self._settle(True)
            return no_wrenches(self._frame)

    def finish(self) -> CompensatedWrenches:
        """No sample will come any more: let the last ones settle."""
        self._finished = True
        return self.advance()

    def _settle(self, finished: bool) -> None:
        if self._stream is None:
            return
        self._newest = self._stream.newest or self._newest
        rows = self._stream.take(finished)
        if not len(rows.number):
            return
        self._rows.append(rows)
        self._fresh = True
        oldest = rows.number[-1] - int(self.settings.buffer.window * 1e9) // BIN_NS
        while self._rows and self._rows[0].number[-1] < oldest:
            self._rows.pop(0)

    # ---- answers -------------------------------------------------------------------------------

    def solve(self) -> Outcome:
        """The estimate of the window: physically consistent, or the reason why there is none."""
        with self._lock:
            reason = self._why_not()
            if reason:
                return NoEstimate(self._newest, self._frame, reason, self._sentences())
            if not self._fresh and self._last is not None:
                self._last = self._last.as_stale()
                return self._last.with_findings(self._sentences())
            try:
                self._last = self._estimate()
                self._fresh = False
            except InertialIdError as error:
                self._last = None
                return NoEstimate(self._newest, self._frame, str(error), self._sentences())
            return self._last.with_findings(self._sentences())

    def _why_not(self) -> str:
        if self._complaint:
            return self._complaint
        if not self._rows:
            return "waiting for joint states with positions and efforts of all joints"
        duration = self._span()
        wanted = self.settings.estimator.min_duration
        count = sum(len(rows.number) for rows in self._rows)
        if duration < wanted or count < _FEWEST:
            return f"{duration:.2f} s of data; estimator.min_duration is {wanted:g} s"
        return ""

    def _span(self) -> float:
        return float(self._rows[-1].number[-1] - self._rows[0].number[0]) * BIN_NS * 1e-9

    def _estimate(self) -> Estimate:
        assert self._problem is not None
        started = time.perf_counter()
        if self._tool is not None and self._tool.frame_id != self._frame:
            raise InvalidData(f"the stored tool is given in frame '{self._tool.frame_id}', the "
                              f"payload in '{self._frame}'; clear the tool and store it again")
        regressor = np.concatenate([rows.regressor for rows in self._rows])
        torque = np.concatenate([rows.torque for rows in self._rows])
        problem, rms = self._problem.build(regressor, torque, self._tool)
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
            f"{name} {value:.3f}" for name, value in zip(self._robot.joints, rms, strict=True))
            + " N m")
        nothing = np.zeros(6)
        return Estimate(
            stamp_ns=int((self._rows[-1].number[-1] + 1) * BIN_NS), frame_id=self._frame,
            phi=solution.phi, phi_covariance=verdict.phi_covariance, bias=nothing,
            method=self._estimator.name, weighting="noise", data_share=verdict.data_share,
            verdict=verdict.verdict, alignment=nothing, alignment_sigma=nothing,
            residual_rms=nothing, samples=int(sum(rows.samples.sum() for rows in self._rows)),
            window=self._span(), condition_number=verdict.condition_number,
            min_eigenvalue=min_eigenvalue(solution.phi),
            solve_time=time.perf_counter() - started, tool_apart=self._tool is not None)

    def _sentences(self) -> tuple[str, ...]:
        return tuple(f.text for f in self._log.all())

    def findings(self) -> tuple[Finding, ...]:
        """Everything that deserves attention, errors first."""
        with self._lock:
            return self._log.all()

    def lookup(self, target_frame: str, source_frame: str) -> tuple[Array, Array]:
        """See `Identifier.lookup`."""
        with self._lock:
            return self._motion.lookup(target_frame.lstrip("/"), source_frame.lstrip("/"))

    # ---- commands ------------------------------------------------------------------------------

    def reset(self, reason: str) -> None:
        """Forget samples and estimate; keep the robot description."""
        with self._lock:
            self._log.clear_all()
            self._log.count("reset", f"buffers flushed: {reason}", "info")
            self._motion.reset()
            self._forget()

    def _forget(self) -> None:
        if self._stream is not None:
            self._stream.restart()
        self._rows, self._last, self._fresh = [], None, False

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
            self._rows, self._last, self._fresh = [], None, False

    def set_shape(self, shape: Shape | None) -> None:
        """Use another shape from the next estimate on; None forgets it."""
        with self._lock:
            self._shape, self._fresh = shape, True

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
            self._fresh = True


def _estimator(settings: Settings) -> Estimator:
    """The estimator of the settings (raises InvalidSetting where it needs rows of wrenches)."""
    method = settings.estimator.method
    if method not in METHODS:
        raise InvalidSetting(f"estimator.method is '{method}', which works on wrenches; with "
                             f"load.source 'joint_torque' allowed: {', '.join(METHODS)}")
    return create(settings.replace({"estimator.weighting": "noise"}))


def _ignore(*_: object) -> None:
    """A sample that joint torques do not need."""
