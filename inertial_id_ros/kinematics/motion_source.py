# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Where the sensor's motion comes from: joint states with a robot description, or TF alone."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import numpy as np

from ..errors import InertialIdError, InvalidData, UnknownFrame
from ..findings import FindingLog, Missing
from ..inertia import Array
from ..io.sample_blocks import Block, Edges
from ..limits import MAX_MOVING_FRAMES, MAX_NAME
from ..settings import Settings
from ..signals.drop_counters import LEVELS, DropCounters
from ..signals.ring_buffer import LATE, MISSING_JOINT, NOT_FINITE, REPEATED, SampleRing
from ..signals.sample_checks import STAMPS_HINT
from ..signals.stream_watch import StreamWatch
from .causal.transform_chain import TransformChain
from .frame_shift import FrameShift, find_fixed_pose
from .frozen_positions import Frozen
from .joint_motion import JointMotion, RobotFrame
from .motion import MotionSource
from .polynomial import Spacing
from .position_jumps import FROZEN, JUMPED, MIXED, Span
from .robot_description import link_names, parse_urdf
from .tf_motion import TfMotion
from .transform_tree import Pose, TransformTree

SLOW, UNITS, FROZEN_TF = "motion_slow", "wrong_units.joints", "motion_frozen.transforms"
_RECENT = 100  # joint states whose unit is judged
_OTHER_POSITION = 0.3  # rad or m; frames whose relative pose stays when joints move are fixed
_PENDING = 4096  # joint states kept until the sensor frame is known
_PENDING_VALUES = 200_000  # positions of theirs
_JOINT_LEVELS = {REPEATED: LEVELS[REPEATED], LATE: LEVELS[LATE]}
_SPAN_LEVELS = {FROZEN: "warning", JUMPED: "warning", MIXED: "error"}
_TRANSFORM_LEVELS = {LATE: "info"}
_PATIENCE_NS = 2_000_000_000  # wrench without joint states for this long: TF is used if it can be


class MotionSelector:
    """Collects robot description, joint states and transforms, and makes a source of motion.

    Attributes:
        urdf: the robot description in use; empty where there is none.
    """

    def __init__(self, settings: Settings, findings: FindingLog) -> None:
        self._settings = settings
        self._findings = findings
        self.tree = TransformTree()
        self._model = None
        self.urdf = ""
        self._joint: JointMotion | None = None
        self._tf: TfMotion | None = None
        self._pending: deque[tuple[int, tuple[str, ...], Sequence[float]]] = deque()
        self._waiting_values = 0
        self._joints_seen: tuple[str, ...] | None = None
        self._outdated = False
        self._version = self.tree.version
        self._moving_seen = False
        self._unstamped = ""  # what came without stamps, in words
        self._unstamped_frames: set[str] = set()
        self._joint_drops = self._make_joint_drops()
        self._transform_drops: dict[str, DropCounters] = {}
        self._watch = StreamWatch(findings)
        self._frame_shift = FrameShift(findings)
        self.missing: Missing | None = Missing("waiting for the motion of the sensor")
        self.mounting_changed = False
        self._told_frozen = False  # whether joint states are said to be frozen now

    # ---- input ---------------------------------------------------------------------------------

    def set_robot_description(self, urdf: str) -> None:
        """Use this URDF (raises InvalidModel; the one before stays in use)."""
        self._model, self.urdf = parse_urdf(urdf), urdf
        self._outdated = True

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Joints of the robot description that move the sensor; empty where they are not known."""
        return () if self._joint is None else tuple(self._joint.robot.joint_names)

    def take_joint_state(self, stamp_ns: int, names: Sequence[str], positions: Sequence[float],
                         _efforts: Sequence[float] = ()) -> None:
        """Add a joint state, or count and drop it if it cannot be used."""
        if not len(names):
            self._findings.count("joint_states_incomplete.names",
                                 "joint states without joint names dropped")
            return
        if stamp_ns <= 0:
            self._note_missing_stamp("joints", "joint states")
            return
        key = tuple(names)
        if key != self._joints_seen:
            if max(map(len, key)) > MAX_NAME:
                self._findings.count("joint_states_incomplete.long_names",
                                     "joint states with names of more than "
                                     f"{MAX_NAME} characters dropped")
                return
            self._joints_seen = key
        if self._joint is None:
            self._wait(stamp_ns, self._joints_seen, positions)
            return
        result = self._joint.add(stamp_ns, names, positions)
        if result == MISSING_JOINT:
            absent = [j for j in self._joint.robot.joint_names if j not in names]
            self._findings.count("joint_states_incomplete", "joint states without "
                                 + (f"joint '{absent[0]}'" if absent else "positions") + " dropped",
                                 "info" if self._joint.newest() else "warning")
        elif result == NOT_FINITE:
            self._findings.count("samples_invalid.joints",
                                 "joint states with NaN or infinity dropped")
        self._joint_drops.count(result, self._joint.ring)

    def _wait(self, stamp_ns: int, names: tuple[str, ...], positions: Sequence[float]) -> None:
        """Keep a joint state until the sensor frame is known; the oldest go where they are many."""
        self._pending.append((stamp_ns, names, positions))
        self._waiting_values += len(names)
        while len(self._pending) > _PENDING or self._waiting_values > _PENDING_VALUES:
            self._waiting_values -= len(self._pending.popleft()[1])

    def take_transform(self, stamp_ns: int, parent: str, child: str,
                       translation: Sequence[float], quaternion: Sequence[float]) -> None:
        """Add a moving transform, or count and drop it if it is invalid."""
        parent, child = parent.lstrip("/"), child.lstrip("/")
        if stamp_ns <= 0:
            self._note_missing_stamp("transforms", "transforms")
            if len(self._unstamped_frames) < MAX_MOVING_FRAMES:
                self._unstamped_frames.update((parent, child))
            return
        try:
            result = self.tree.add(stamp_ns, parent, child, translation, quaternion)
        except InvalidData as error:
            self._findings.count("samples_invalid.transforms", f"dropped: {error}")
            return
        drops = self._transform_drops.get(child)
        if drops is None:
            if len(self._transform_drops) >= MAX_MOVING_FRAMES:
                del self._transform_drops[next(iter(self._transform_drops))]
            drops = self._transform_drops[child] = DropCounters(
                self._findings, "transforms", "transforms", _TRANSFORM_LEVELS)
        drops.count(result, self.tree.ring(child))

    def _note_missing_stamp(self, stream: str, what: str) -> None:
        """Count a sample without a stamp, which is dropped."""
        self._findings.count(f"stamp_missing.{stream}",
                             f"{what} without a stamp dropped: {STAMPS_HINT}")
        self._unstamped = what

    def take_static_transform(self, parent: str, child: str, translation: Sequence[float],
                              quaternion: Sequence[float]) -> None:
        """Add a fixed transform, or count and drop it if it is invalid."""
        try:
            self.tree.set_static(parent.lstrip("/"), child.lstrip("/"), translation, quaternion)
        except InvalidData as error:
            self._findings.count("samples_invalid.transforms", f"dropped: {error}")

    def fits(self, block: Block) -> bool:
        """Whether all joint states and transforms would be stored, one after the other."""
        joints, edges = block.joint_states, _strip_slashes(block.transforms)
        if joints is not None and not (
                self._joint is not None and joints.names and (joints.stamps > 0).all()
                and self._joint.fits(joints)):
            return False
        return (len({e.child for e in edges}) == len(edges)
                and all((e.stamps > 0).all() and self.tree.fits(e) for e in edges))

    def take_block(self, block: Block) -> None:
        """Take joint states and transforms that fit (see `fits`)."""
        if block.joint_states is not None:
            assert self._joint is not None
            self._joints_seen = block.joint_states.names
            self._joint.add_block(block.joint_states)
        for edges in _strip_slashes(block.transforms):
            self.tree.add_block(edges)

    def begin_stream(self) -> None:
        """Begin without samples; robot description and fixed transforms stay."""
        self.tree.begin_motion()
        self._pending, self._waiting_values = deque(), 0
        if self._joint is not None and self._joint.ring.held is not None:
            stamp, positions = self._joint.ring.held  # perhaps the first after a clock that jumped
            self._wait(stamp, tuple(self._joint.robot.joint_names), positions.tolist())
        self._joint = self._tf = None
        self._joint_drops = self._make_joint_drops()
        self._transform_drops = {}
        self._joints_seen = None
        self._moving_seen = False
        self._watch = StreamWatch(self._findings)

    def _make_joint_drops(self) -> DropCounters:
        """A counter of what becomes of joint states."""
        return DropCounters(self._findings, "joints", "joint states", _JOINT_LEVELS)

    @property
    def live(self) -> RobotFrame | TransformChain | None:
        """What gives the motion of the sensor now: joint states of a robot, or transforms; None
        while it is not known."""
        if self._joint is not None:
            return self._joint.robot
        return self._tf.chain if self._tf is not None else None

    @property
    def frames(self) -> set[str]:
        """Names of the frames in transforms and robot description."""
        links: set[str] = set() if self._model is None else set(link_names(self._model))
        return self.tree.frames() | self._unstamped_frames | links

    @property
    def gravity_frame(self) -> str:
        """Frame whose z axis points up; empty where it is not given and no motion is known."""
        if self._joint is not None:
            return self._joint.robot.gravity_frame
        return self._tf.world if self._tf is not None else self._settings.gravity.frame

    def fixed_pose(self, frame: str, other: str) -> Pose | None:
        """Pose of `other` in `frame`, to which it is fixed; None where it is not, or not known."""
        self.tree.want(frame, other)
        by_joints = self._pose_by_joints(frame, other)
        if by_joints is not None:
            pose, is_fixed = by_joints
            return pose if is_fixed else None
        return find_fixed_pose(frame, other, self._joint, self.tree)

    # ---- choice --------------------------------------------------------------------------------

    def select_source(self, sensor_frame: str, wrench: SampleRing,
                      early_ns: int = 0) -> MotionSource | None:
        """The source of motion to use now; None while it lacks what `missing` says.

        Args:
            early_ns: by how much the stamps of the wrench are known to be early [ns].
        """
        self.tree.want(*filter(None, (sensor_frame, self._settings.gravity.frame)))
        if self._outdated or self._version != self.tree.version:
            self._rebuild(sensor_frame)
        if self._joint is not None:
            self._explain_joint_states()
            self._explain_rate(self._joint, "joint states", self._settings.joint_states.topic)
            self._watch.compare(wrench.newest, self._joint.newest(), "joint states",
                                self._settings.joint_states.topic, early_ns)
            return self._joint
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

    def take_shift(self) -> int:
        """As `StreamWatch.take_shift`."""
        return self._watch.take_shift()

    def _joints_ready(self) -> bool:
        """Whether joint states may be used, and they and the robot description are there."""
        return (self._settings.kinematics.source != "tf" and self._model is not None
                and self._joints_seen is not None)

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
                       if self._model is None
                       else f"joint states on '{self._settings.joint_states.topic}'")
            self.missing = Missing(f"no {missing} received")
            return None
        waited = wrench.newest - int(wrench.stamps[0]) > _PATIENCE_NS
        if requested == "auto" and self._model is not None and not waited:
            self.missing = Missing(
                f"no joint states on '{self._settings.joint_states.topic}' received")
            return None
        return self._use_tf(sensor_frame)

    def _tf_moves(self, sensor_frame: str) -> bool:
        """Whether TF holds a moving transform between the world and the sensor."""
        try:
            world = self._settings.gravity.frame or self.tree.ancestors(sensor_frame)[-1]
            return bool(self.tree.moving_edges(world, sensor_frame))
        except UnknownFrame:
            return False

    def _make_robot(self, sensor_frame: str) -> RobotFrame:
        """The sensor frame on the robot as described now (raises what `RobotFrame` raises)."""
        gravity = self._settings.gravity
        return RobotFrame(self._model, self.tree, sensor_frame, gravity.frame,
                          gravity.acceleration)

    def _use_joints(self, sensor_frame: str) -> JointMotion:
        """Make a source from joint states, and give it those that waited for it."""
        self._joint = JointMotion(self._make_robot(sensor_frame), self._settings.kinematics.window)
        self._tf = None
        for sample in self._pending:
            self.take_joint_state(*sample)
        self._pending, self._waiting_values = deque(), 0
        self._explain_joint_states()
        return self._joint

    def _explain_joint_states(self) -> None:
        """Set `missing` where joint states come and none can be used."""
        assert self._joint is not None
        if self._joint.newest() is not None:
            self.missing = None
            wrong = self._joint.robot.unit_error(self._joint.ring.rows[-_RECENT:])
            self._findings.clear(UNITS)
            if wrong is not None:
                text = f"{wrong} (topic '{self._settings.joint_states.topic}')"
                self.missing = Missing(text, is_finding=True)
                self._findings.set(UNITS, "error", text)
        elif self._joints_seen is not None:
            absent = [j for j in self._joint.robot.joint_names if j not in self._joints_seen]
            self.missing = Missing(
                f"no joint state carries joint '{absent[0]}', which moves the sensor; "
                f"they carry: {', '.join(self._joints_seen[:12])}" if absent
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
        if not self.tree.knows(sensor_frame):
            self.missing = Missing(
                f"frame '{sensor_frame}' of the wrench is unknown: there is no robot description "
                f"with joint states and no transform to it; known frames: {self.tree.describe()}"
                + self._hint())
            return None
        source = TfMotion(self.tree, sensor_frame, gravity.frame, gravity.acceleration,
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
        if self._unstamped:
            return f"; the {self._unstamped} have no stamp: {STAMPS_HINT}"
        if self._joints_seen is not None and self._model is None:
            return (f"; joint states come, but no robot description on "
                    f"'{self._settings.robot_description.topic}': set robot_description.file "
                    "(identify_bag --urdf)")
        return ""

    def _rebuild(self, sensor_frame: str) -> None:
        """Use a new robot description or changed transforms."""
        self._outdated = False
        self._version = self.tree.version
        if self._tf is not None and not self._tf.is_current():
            self._tf = None
            self.mounting_changed = True
        if self._joint is None:
            return
        try:
            robot = self._make_robot(sensor_frame)
        except InertialIdError as error:
            self._findings.set("robot_description_invalid.frame", "error", str(error))
            return
        if not robot.same_geometry(self._joint.robot):
            self.mounting_changed = True
            if robot.joint_names != self._joint.robot.joint_names:
                self._joint = JointMotion(robot, self._settings.kinematics.window)
            else:
                self._joint.robot = robot

    def expect_replay(self) -> None:
        """Prepare for a replay of the window: motion missing at its beginning is not a gap."""
        self._moving_seen = False

    def judge_positions(self) -> list[Span]:
        """Judge the positions that came since the last call; gives those found to be wrong, which
        are left out from now on."""
        if self._joint is None:
            if self._tf is not None:
                for what in self._tf.judge_poses():
                    self._findings.count(FROZEN_TF, f"{what} on '{self._settings.tf.topic}' was "
                                         "frozen; that time is left out")
                self._report_frozen(self._tf.frozen, FROZEN_TF, self._settings.tf.topic)
            return []
        found = self._joint.judge_positions()
        frozen = self._joint.frozen
        if frozen is None and self._told_frozen:
            self._findings.clear(FROZEN)  # that positions jump at its end is counted
        self._report_frozen(frozen, FROZEN, self._settings.joint_states.topic)
        for span in found:
            self._findings.count(span.name, self._describe(span), _SPAN_LEVELS[span.name])
        self._told_frozen = frozen is not None and all(span.name != FROZEN for span in found)
        mixed = self._joint.mixed_positions
        if mixed is None:
            if not found:
                self._findings.lower(MIXED, "warning")
        else:
            self.missing = Missing(self._describe(mixed))
        return found

    @property
    def still(self) -> float:
        """Time [s] for which no joint has moved to the last bit; 0 without joint states."""
        return 0.0 if self._joint is None else self._joint.still

    def _report_frozen(self, frozen: Frozen | None, name: str, topic: str) -> None:
        """Say that positions are frozen, and use none as long as they are."""
        if frozen is not None:
            text = (f"{frozen.what} on '{topic}' is frozen: {frozen.why}, as no arm does; the "
                    "driver repeats an old position")
            self._findings.set(name, "error", text)
            self.missing = Missing(text, is_finding=True)

    def _describe(self, span: Span) -> str:
        """What is wrong with joint positions, in a sentence."""
        assert self._joint is not None
        return describe_span(span, self._joint.robot.joint_names[span.joint],
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

    def lookup(self, target: str, source: str) -> tuple[Array, Array, int | None]:
        """Newest rotation (3, 3) and translation (3,) with ``x_target = R x_source + t``, and their
        time [ns]; None where the frames are fixed to each other."""
        if target == source:
            return np.eye(3), np.zeros(3), None
        by_joints = self._pose_by_joints(target, source)
        if by_joints is not None:
            assert self._joint is not None
            pose, is_fixed = by_joints
            return pose.rotation, pose.translation, None if is_fixed else self._joint.newest()
        pose = self.tree.newest(target, source)
        return pose.rotation, pose.translation, self.tree.newest_stamp(target, source)

    def pose_of_wrench(self, newest_ns: int, used: str, said: str) -> Pose | None:
        """As `FrameShift.check`, which has these arguments."""
        return self._frame_shift.check(newest_ns, used, said, self._joint, self.tree)

    def _pose_by_joints(self, target: str, source: str) -> tuple[Pose, bool] | None:
        """Newest pose of source in target, and whether no joint moves it; None where the joint
        states do not tell it."""
        if self._joint is None or self._joint.newest() is None:
            return None
        positions = self._joint.ring.rows[-1].copy()
        try:
            pose = self._pose_between(self._joint.robot, target, source, positions)
            turned = self._pose_between(self._joint.robot, target, source,
                                        positions + _OTHER_POSITION)
        except UnknownFrame:
            return None
        return pose, bool(np.allclose(pose.rotation, turned.rotation, atol=1e-9)
                          and np.allclose(pose.translation, turned.translation, atol=1e-9))

    def _pose_between(self, robot: RobotFrame, target: str, source: str,
                      positions: Array) -> Pose:
        """Pose of source in target at joint positions (joints,) (raises UnknownFrame)."""
        world_target = robot.pose(target, self.tree, positions)
        return world_target.inverse() @ robot.pose(source, self.tree, positions)


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


def _strip_slashes(transforms: Sequence[Edges]) -> list[Edges]:
    """Remove the leading slash that frame names had in ROS 1."""
    return [e._replace(parent=e.parent.lstrip("/"), child=e.child.lstrip("/")) for e in transforms]
