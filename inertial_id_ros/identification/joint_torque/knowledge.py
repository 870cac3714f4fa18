# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What joint torques have taught, by how long it holds (see `identification.knowledge`)."""

from __future__ import annotations

from ...detection.disturbance_findings import DisturbanceFindings
from ...detection.segments import Segments
from ...findings import FindingLog
from ...geometry.shape import Shape, shape_from_settings
from ...regression.regressor_window import Rows
from ...robot.robot_file import load_robot
from ...settings import Settings
from ..knowledge import EstimateOfWindow, Knowledge, PayloadSpan
from ..state import State
from .problem import TorqueProblem
from .rows import TorqueStream
from .sample_checks import JointStateChecks
from .solver import TorqueSolver
from .torque_model import TorqueModel

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
