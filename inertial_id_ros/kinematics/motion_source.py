# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Where the sensor's motion comes from: joint states with a robot description, or TF alone."""

from __future__ import annotations

import numpy as np

from ..errors import InertialIdError, UnknownFrame
from ..findings import FindingLog, Missing
from ..settings import Settings
from ..signals.ring_buffer import SampleRing
from ..signals.sample_checks import STAMPS_HINT
from ..signals.stream_watch import StreamWatch
from .causal.pose_filter import TransformChain
from .frame_shift import FrameShift
from .frozen_positions import Frozen
from .joint_motion import JointMotion, RobotFrame
from .motion import MotionSource
from .motion_streams import MotionStreams
from .polynomial import Spacing
from .position_jumps import FROZEN, JUMPED, MIXED, Span
from .tf_motion import TfMotion
from .transform_tree import Pose

_BASE_IMU = "samples_invalid.base"  # finding
SLOW, UNITS, FROZEN_TF = "motion_slow", "wrong_units.joints", "motion_frozen.transforms"
_RECENT = 100  # joint states whose unit is judged
_SPAN_LEVELS = {FROZEN: "warning", JUMPED: "warning", MIXED: "error"}
_PATIENCE_NS = 2_000_000_000  # wrench without joint states for this long: TF is used if it can be


class MotionSelector:
    """Makes a source of motion from what comes, and says what is wrong with it.

    Attributes:
        streams: robot description, joint states and transforms.
        missing: what the motion lacks, where there is none.
        mounting_changed: whether robot or sensor are mounted otherwise than before; its reader
            takes it back.
    """

    def __init__(self, settings: Settings, findings: FindingLog) -> None:
        self._settings = settings
        self._findings = findings
        self.streams = MotionStreams(findings)
        self._tf: TfMotion | None = None
        self._model, self._version = self.streams.model, self.streams.tree.version  # in use
        self._moving_seen = False
        self._watch = StreamWatch(findings)
        self._frame_shift = FrameShift(findings)
        self.missing: Missing | None = Missing("waiting for the motion of the sensor")
        self.mounting_changed = False
        self._told_frozen = False  # whether joint states are said to be frozen now

    def begin_stream(self) -> None:
        """Begin without samples; robot description and fixed transforms stay."""
        self.streams.begin_stream()
        self._tf = None
        self._moving_seen = False
        self._watch = StreamWatch(self._findings)

    @property
    def live(self) -> RobotFrame | TransformChain | None:
        """What gives the motion of the sensor now: joint states of a robot, or transforms; None
        while it is not known."""
        if self.streams.joint is not None:
            return self.streams.joint.robot
        return self._tf.chain if self._tf is not None else None

    @property
    def gravity_frame(self) -> str:
        """Frame whose z axis points up; empty where it is not given and no motion is known."""
        if self.streams.joint is not None:
            return self.streams.joint.robot.gravity_frame
        return self._tf.world if self._tf is not None else self._settings.gravity.frame

    # ---- choice --------------------------------------------------------------------------------

    def select_source(self, sensor_frame: str, wrench: SampleRing,
                      early_ns: int = 0) -> MotionSource | None:
        """The source of motion to use now; None while it lacks what `missing` says.

        Args:
            early_ns: by how much the stamps of the wrench are known to be early [ns].
        """
        self.streams.tree.want(*filter(None, (sensor_frame, self._settings.gravity.frame)))
        if self.streams.model is not self._model or self.streams.tree.version != self._version:
            self._rebuild(sensor_frame)
        joint = self.streams.joint
        if joint is not None:
            self._explain_joint_states()
            self._explain_rate(joint, "joint states", self._settings.joint_states.topic)
            self._watch.compare(wrench.newest, joint.newest(), "joint states",
                                self._settings.joint_states.topic, early_ns)
            return joint if self._uses_base(joint) else None
        if not sensor_frame:
            self.missing = Missing("the wrench messages have no frame_id; set wrench.sensor_frame "
                                   "to the frame of the sensor")
            return None
        if self._tf is not None and not self._joints_ready():
            self.missing = None
            self._explain_rate(self._tf, "transforms", self._settings.tf.topic)
            self._watch.compare(wrench.newest, self._tf.newest(), "transforms",
                                self._settings.tf.topic, early_ns)
            return self._tf
        try:
            return self._choose(sensor_frame, wrench)
        except InertialIdError as error:
            self.missing = Missing(str(error))
            return None

    def _uses_base(self, joint: JointMotion) -> bool:
        """Put the robot on its base, where that has an IMU; False, and `missing` says why, where
        its readings cannot be used."""
        topic, imu = self._settings.base_imu.topic, self.streams.base
        if not topic and imu is None:
            return True
        self._findings.clear(_BASE_IMU)
        wrong = ""
        if imu is None or imu.settled_until(self._settings.kinematics.window) is None:
            self.missing = self.missing or Missing(f"no base IMU on '{topic}' received")
            return False
        apart = abs((joint.newest() or imu.ring.newest) - imu.ring.newest)
        if apart > _PATIENCE_NS:
            wrong = (f"are {1e-9 * apart:.1f} s away from the joint states: they have stopped, or "
                     "are stamped by another clock")
        elif joint.base is None or joint.robot.imu is None:
            root = joint.robot.root
            pose = self.streams.fixed_pose(root, imu.frame)
            wrong = (f"are given in frame '{imu.frame}', which is not fixed to the robot's root "
                     f"'{root}' by robot description or static transforms" if pose is None else
                     imu.what_is_wrong(self._settings.kinematics.window, pose,
                                       joint.robot.gravity_at_rest))
            if not wrong:
                joint.base, joint.robot.imu = imu, pose
        if wrong:
            text = f"the readings of the base's IMU on '{topic}' {wrong}"
            self._findings.set(_BASE_IMU, "error", text)
            self.missing = Missing(text, is_finding=True)
        return not wrong

    def take_shift(self) -> int:
        """As `StreamWatch.take_shift`."""
        return self._watch.take_shift()

    def _joints_ready(self) -> bool:
        """Whether joint states may be used, and they and the robot description are there."""
        return (self._settings.kinematics.source != "tf" and self.streams.model is not None
                and self.streams.joints_seen is not None)

    def _choose(self, sensor_frame: str, wrench: SampleRing) -> MotionSource | None:
        """Make a source from what is there by now; None while it lacks what `missing` says.

        Raises:
            InertialIdError: frames or robot description cannot be used.
        """
        requested = self._settings.kinematics.source
        if self._joints_ready():
            try:
                return self._use_joints(sensor_frame)
            except UnknownFrame:
                if requested == "joint_states" or not self._tf_moves(sensor_frame):
                    raise
                return self._tf or self._use_tf(sensor_frame)
        if requested == "joint_states":
            missing = ("robot description on '" + self._settings.robot_description.topic + "'"
                       if self.streams.model is None
                       else f"joint states on '{self._settings.joint_states.topic}'")
            self.missing = Missing(f"no {missing} received")
            return None
        waited = wrench.newest - int(wrench.stamps[0]) > _PATIENCE_NS
        if requested == "auto" and self.streams.model is not None and not waited:
            self.missing = Missing(
                f"no joint states on '{self._settings.joint_states.topic}' received")
            return None
        return self._use_tf(sensor_frame)

    def _tf_moves(self, sensor_frame: str) -> bool:
        """Whether TF holds a moving transform between the world and the sensor."""
        try:
            world = self._settings.gravity.frame or self.streams.tree.ancestors(sensor_frame)[-1]
            return bool(self.streams.tree.moving_edges(world, sensor_frame))
        except UnknownFrame:
            return False

    def _make_robot(self, sensor_frame: str) -> RobotFrame:
        """The sensor frame on the robot as described now (raises what `RobotFrame` raises)."""
        gravity = self._settings.gravity
        return RobotFrame(self.streams.model, self.streams.tree, sensor_frame, gravity.frame,
                          gravity.acceleration)

    def _use_joints(self, sensor_frame: str) -> JointMotion:
        """Make a source from joint states, and give it those that waited for it."""
        joint = JointMotion(self._make_robot(sensor_frame), self._settings.kinematics.window)
        self._tf = None
        self.streams.use_joints(joint)
        self._explain_joint_states()
        return joint

    def _explain_joint_states(self) -> None:
        """Set `missing` where joint states come and none can be used."""
        joint, seen = self.streams.joint, self.streams.joints_seen
        assert joint is not None
        if joint.newest() is not None:
            self.missing = None
            wrong = joint.robot.unit_error(joint.ring.rows[-_RECENT:])
            self._findings.clear(UNITS)
            if wrong is not None:
                text = f"{wrong} (topic '{self._settings.joint_states.topic}')"
                self.missing = Missing(text, is_finding=True)
                self._findings.set(UNITS, "error", text)
        elif seen is not None:
            absent = [j for j in joint.robot.joint_names if j not in seen]
            self.missing = Missing(
                f"no joint state carries joint '{absent[0]}', which moves the sensor; "
                f"they carry: {', '.join(seen[:12])}" if absent
                else "no usable joint state received")

    def _explain_rate(self, source: MotionSource, what: str, topic: str) -> None:
        """Say that the motion comes too slowly, where it does."""
        slow = source.too_slow()
        if slow is None:
            self._findings.clear(SLOW)
            return
        text = describe_slow(slow, what, topic)
        self._findings.set(SLOW, "error", text)
        self.missing = Missing(text, is_finding=True)

    def _use_tf(self, sensor_frame: str) -> TfMotion | None:
        """Make a source from TF; None where no moving transform leads to the sensor."""
        gravity = self._settings.gravity
        if self._settings.base_imu.topic:
            self.missing = Missing("the IMU of base_imu.topic needs motion from joint states with "
                                   "a robot description, and they do not come")
            return None
        if not self.streams.tree.knows(sensor_frame):
            self.missing = Missing(
                f"frame '{sensor_frame}' of the wrench is unknown: there is no robot description "
                "with joint states and no transform to it; known frames: "
                + self.streams.tree.describe() + self._hint())
            return None
        source = TfMotion(self.streams.tree, sensor_frame, gravity.frame, gravity.acceleration,
                          self._settings.kinematics.window)
        if not source.edges:
            self.missing = Missing(
                f"the sensor frame '{sensor_frame}' does not move "
                + (f"against '{gravity.frame}' " if gravity.frame else "")
                + "in TF, and there is no robot description with joint states" + self._hint())
            return None
        self._tf = source
        self.missing = None
        return source

    def _hint(self) -> str:
        """What would give the motion, to be appended to what is missing."""
        if self.streams.unstamped:
            return f"; the {self.streams.unstamped} have no stamp: {STAMPS_HINT}"
        if self.streams.joints_seen is not None and self.streams.model is None:
            return (f"; joint states come, but no robot description on "
                    f"'{self._settings.robot_description.topic}': set robot_description.file "
                    "(identify_bag --urdf)")
        return ""

    def _rebuild(self, sensor_frame: str) -> None:
        """Use a new robot description or changed transforms."""
        self._model, self._version = self.streams.model, self.streams.tree.version
        if self._tf is not None and not self._tf.is_current():
            self._tf = None
            self.mounting_changed = True
        if self.streams.joint is None:
            return
        try:
            robot = self._make_robot(sensor_frame)
        except InertialIdError as error:
            self._findings.set("robot_description_invalid.frame", "error", str(error))
            return
        if not robot.same_geometry(self.streams.joint.robot):
            self.mounting_changed = True
            if robot.joint_names != self.streams.joint.robot.joint_names:
                self.streams.joint = JointMotion(robot, self._settings.kinematics.window)
            else:
                self.streams.joint.robot = robot

    def expect_replay(self) -> None:
        """Prepare for a replay of the window: motion missing at its beginning is not a gap."""
        self._moving_seen = False

    def judge_positions(self) -> list[Span]:
        """Judge the positions that came since the last call; gives those found to be wrong, which
        are left out from now on."""
        if self.streams.joint is None:
            if self._tf is not None:
                for what in self._tf.judge_poses():
                    self._findings.count(FROZEN_TF, f"{what} on '{self._settings.tf.topic}' was "
                                         "frozen; that time is left out")
                self._report_frozen(self._tf.frozen, FROZEN_TF, self._settings.tf.topic)
            return []
        found = self.streams.joint.judge_positions()
        frozen = self.streams.joint.frozen
        if frozen is None and self._told_frozen:
            self._findings.clear(FROZEN)  # that positions jump at its end is counted
        self._report_frozen(frozen, FROZEN, self._settings.joint_states.topic)
        for span in found:
            self._findings.count(span.name, self._describe(span), _SPAN_LEVELS[span.name])
        self._told_frozen = frozen is not None and all(span.name != FROZEN for span in found)
        mixed = self.streams.joint.mixed_positions
        if mixed is None:
            if not found:
                self._findings.lower(MIXED, "warning")
        else:
            self.missing = Missing(self._describe(mixed))
        return found

    @property
    def still(self) -> float:
        """Time [s] for which no joint has moved to the last bit; 0 without joint states."""
        return 0.0 if self.streams.joint is None else self.streams.joint.still

    def _report_frozen(self, frozen: Frozen | None, name: str, topic: str) -> None:
        """Say that positions are frozen, and use none as long as they are."""
        if frozen is not None:
            text = (f"{frozen.what} on '{topic}' is frozen: {frozen.why}, as no arm does; the "
                    "driver repeats an old position")
            self._findings.set(name, "error", text)
            self.missing = Missing(text, is_finding=True)

    def _describe(self, span: Span) -> str:
        """What is wrong with joint positions, in a sentence."""
        assert self.streams.joint is not None
        return describe_span(span, self.streams.joint.robot.joint_names[span.joint],
                             self._settings.joint_states.topic)

    # ---- queries -------------------------------------------------------------------------------

    def report_coverage(self, valid: np.ndarray) -> None:
        """Record findings on gaps in the motion and on TF without translation.

        Args:
            valid: (n,) whether the motion is known at successive times.
        """
        # What is missing before the first motion is no gap.
        first = 0 if self._moving_seen else int(np.argmax(np.append(valid, True)))
        self._moving_seen = self._moving_seen or bool(valid.any())
        if not valid[first:].all():
            self._findings.count("samples_missing.motion",
                                 "intervals without enough motion samples (joint "
                                 "states or transforms) left out", "info")
        if self.rotation_only:
            self._findings.set(
                "translation_constant", "warning",
                "TF carries rotation only (the translation never changes): the acceleration of the "
                "sensor is not known and taken as zero, so the inertia cannot be identified")
        else:
            self._findings.clear("translation_constant")

    @property
    def rotation_only(self) -> bool:
        """Whether only the rotation of the sensor is known, not its translation."""
        return self._tf is not None and self._tf.rotation_only

    def pose_of_wrench(self, newest_ns: int, used: str, said: str) -> Pose | None:
        """As `FrameShift.check`, which has these arguments."""
        return self._frame_shift.check(newest_ns, used, said, self.streams.joint, self.streams.tree)


def describe_span(span: Span, joint: str, topic: str) -> str:
    """What is wrong with joint positions, in a sentence."""
    seconds = f"{(span.last - span.first) * 1e-9:.2g} s"
    if span.name == FROZEN:
        return (f"the joint states on '{topic}' were frozen: joint '{joint}' stood still for "
                f"{seconds} and then jumped by {span.step:.2g}; that time is left out")
    if span.name == MIXED:
        return (f"the joint states on '{topic}' contradict each other, by {span.step:.2g} at joint "
                f"'{joint}': two publishers, or stamps of another clock; they are left out")
    return (f"joint '{joint}' on '{topic}' jumps by {span.step:.2g} from one sample to the next, "
            f"which no arm does; {seconds} before, up to the last gap or jump, are left out")


def describe_slow(spacing: Spacing, what: str, topic: str) -> str:
    """That samples with this spacing come too slowly, in a sentence."""
    bursts = "" if spacing.block == 1 else f" in bursts {spacing.gap:.2g} s from each other"
    return (f"the {what} on '{topic}' come at {1.0 / spacing.period:.2g} Hz{bursts}, too slowly "
            "for accelerations: publish them at 50 Hz or more (10 Hz is the least)")

