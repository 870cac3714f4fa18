# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What joint torques have taught, by how long it holds (see `identification.knowledge`).

`JointStateChecks` are those of joint states with efforts before they enter the stream.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...detection.disturbance_findings import DisturbanceFindings
from ...detection.segments import Segments
from ...findings import FindingLog
from ...geometry.shape import Shape, shape_from_settings
from ...inertia import Array
from ...regression.regressor_window import Rows
from ...robot.robot_file import load_robot
from ...settings import Settings
from ..knowledge import EstimateOfWindow, Knowledge, PayloadSpan
from ..state import State
from .problem import TorqueProblem
from .rows import TorqueStream
from .solver import TorqueSolver
from .torque_model import TorqueModel

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
