# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Joint positions, efforts, pose of the base and wrench on it, from a rosbag2 recording, a CSV or
an NPZ file."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
from scipy.interpolate import CubicSpline

from ...errors import DamagedFile, InvalidData, RecordingError
from ...inertia import Array
from ...io.files import read_text
from ...io.messages import stamp_ns
from ...limits import MAX_JOINTS, MAX_TABLE_BYTES
from ...robot.recording import JointRecording
from ...robot.sensed_base import BaseSensing, base_coordinates
from ...signals.message_adapter import JOINT_STATES, ROBOT_DESCRIPTION, TRANSFORMS, WRENCH
from ..bag.reader import BagReader
from ..bag.topics import absolute_name, describe_topics, names_of_type

_TIMES = ("time", "t")
_EFFORTS = ("effort", "tau", "torque")
_LATEST = 9e9  # s: nanoseconds must fit into 64 bits
_LARGEST = 1e9  # of positions and efforts: no robot has more
_LONGEST_GAP = 200_000_000  # ns without a pose of the base
_BASE = ("base_position", "base_orientation", "wrench")  # arrays of an NPZ file
_POSE_COLUMNS = ("base.x", "base.y", "base.z", "base.qx", "base.qy", "base.qz", "base.qw")
_WRENCH_COLUMNS = tuple(f"wrench.{name}" for name in ("fx", "fy", "fz", "tx", "ty", "tz"))
_ODOMETRY, _UNSURE_POSE = "nav_msgs/msg/Odometry", "geometry_msgs/msg/PoseWithCovarianceStamped"
_TRANSFORMS, _TRANSFORM = TRANSFORMS.type, "geometry_msgs/msg/TransformStamped"
_POSES = (_ODOMETRY, _UNSURE_POSE, "geometry_msgs/msg/PoseStamped", _TRANSFORM, _TRANSFORMS)
TORQUES = BaseSensing()  # nothing but joint torques


@dataclass(frozen=True)
class NamedRecording:
    """A recording as it was read.

    Attributes:
        names: of the joints; empty where the file holds none.
        stamps: (n,) [ns]; q: (n, joints); effort: (n, joints), or (n, 0) where there is none.
        urdf: robot description in it; empty if there is none.
        notes: choices that were made.
        base: (n, 6) position [m], roll, pitch and yaw [rad] of the base; wrench: (n, 6) [N, N m];
            None where they are not there, NaN at times without them.
    """

    names: tuple[str, ...]
    stamps: np.ndarray
    q: Array
    effort: Array
    urdf: str = ""
    notes: tuple[str, ...] = ()
    base: Array | None = None
    wrench: Array | None = None

    def of_joints(self, names: Sequence[str], sensing: BaseSensing = TORQUES,
                  to_root: Array | None = None) -> JointRecording:
        """The samples of these joints, in their order; repeated and late samples left out,
        positions that wrap at a full turn made continuous.

        Args:
            sensing: coordinates and outputs to hold, see `SensedBaseModel`.
            to_root: see `wrench_to_root`; None: the wrench as it is.

        Raises:
            RecordingError: a joint or a measurement is missing, or no two samples are left.
        """
        columns = self._columns(names)
        outputs = []
        if sensing.wrench:
            if self.wrench is None:
                raise RecordingError("the recording holds no wrench on the base")
            outputs.append(self.wrench if to_root is None else self.wrench @ to_root.T)
        if sensing.efforts:
            if self.effort.shape[1] != self.q.shape[1]:
                raise RecordingError("the recording holds no efforts of the joints")
            outputs.append(self.effort[:, columns])
        if sensing.moves and self.base is None:
            raise RecordingError("the recording holds no pose of the base")
        base = self.base if sensing.moves and self.base is not None else self.q[:, :0]
        good = self._good_samples(np.hstack([base, self.q[:, columns], *outputs]))
        # Some drivers wrap to +-pi; joints do not move by half a turn from sample to sample.
        q = np.hstack([base[good], np.unwrap(self.q[good][:, columns], axis=0)])
        return JointRecording(self.stamps[good], q, np.hstack(outputs)[good])

    def positions(self, names: Sequence[str]) -> tuple[np.ndarray, Array]:
        """Stamps (n,) [ns] and positions (n, joints) of these joints as recorded, those that are
        no numbers left out (raises RecordingError)."""
        q = self.q[:, self._columns(names)]
        good = (np.abs(q) < _LARGEST).all(axis=1)
        return self.stamps[good], q[good]

    def _columns(self, names: Sequence[str]) -> list[int]:
        """Columns of these joints (raises RecordingError)."""
        if self.names:
            for name in names:
                if name not in self.names:
                    raise RecordingError(f"the recording has no joint '{name}'; it has: "
                                         + ", ".join(self.names))
            return [self.names.index(name) for name in names]
        if self.q.shape[1] != len(names):
            raise RecordingError(f"the recording has {self.q.shape[1]} joints without names; the "
                                 f"robot description has {len(names)}: {', '.join(names)}; "
                                 "--joints names those that it holds, in this order")
        return list(range(len(names)))

    def _good_samples(self, numbers: Array) -> np.ndarray:
        """Whether each row (n, k) of numbers is possible and in time (raises RecordingError)."""
        # Comparisons with NaN are false.
        good = np.asarray((np.abs(numbers) < _LARGEST).all(axis=1).reshape(-1))
        newest = np.maximum.accumulate(np.where(good, self.stamps, np.iinfo(np.int64).min))
        back = int(np.sum(good[1:] & (self.stamps[1:] < newest[:-1])))
        if back > 0.5 * len(good):
            raise RecordingError(f"the time of the recording goes back: {back} of its {len(good)} "
                                 "samples are earlier than one before them; it must increase")
        good[1:] &= self.stamps[1:] > newest[:-1]
        if good.sum() < 2:
            raise RecordingError("the recording holds fewer than two joint states with positions "
                                 "and efforts of all joints")
        return good


@dataclass(frozen=True)
class BagTopics:
    """Topics to read in a bag; empty: the only one of its type.

    Attributes:
        joint_states: of them; wrench: of the wrench on the base.
        base: of the base's pose: odometry, stamped poses or transforms.
        base_frame: child frame of the base in transforms.
    """

    joint_states: str = ""
    wrench: str = ""
    base: str = ""
    base_frame: str = ""


def read_recording(path: Path, topics: BagTopics = BagTopics(), sensing: BaseSensing = TORQUES
                   ) -> NamedRecording:
    """Read joint positions, and what is measured, from a bag, a CSV or an NPZ file.

    Raises:
        RecordingError: it cannot be read, or lacks positions or a measurement.
    """
    if path.suffix == ".npz":
        return _read_npz(path, sensing)
    if path.suffix == ".csv":
        return _read_csv(path, sensing)
    return _read_bag(path, topics, sensing)


def _read_npz(path: Path, sensing: BaseSensing) -> NamedRecording:
    """Arrays ``t`` (n,) [s], ``q`` (n, joints), ``effort`` (or tau, torque), ``names``; for a
    sensed base ``base_position`` (n, 3), ``base_orientation`` (n, 4) x, y, z, w, ``wrench`` (n, 6).
    """
    try:
        _check_sizes(path)
        with np.load(path, allow_pickle=False) as data:
            held = {key: data[key] for key in data.files
                    if key in (*_TIMES, "q", *_EFFORTS, "names", *_BASE)}
    except Exception as error:  # damaged archives raise errors of many kinds
        reason = " ".join(str(error).split())[:300] or type(error).__name__
        raise RecordingError(f"{path} is not a readable NPZ file: {reason}") from error
    time = next((held[key] for key in _TIMES if key in held), None)
    effort = next((held[key] for key in _EFFORTS if key in held), None)
    lacking = [name for name in ("base_position", "base_orientation") if sensing.moves]
    lacking = [name for name in (*lacking, *("wrench",) * sensing.wrench) if name not in held]
    if time is None or (effort is None and sensing.efforts) or "q" not in held or lacking:
        raise RecordingError(f"{path} lacks an array; it needs t, q"
                             + " and effort (or tau, torque)" * sensing.efforts
                             + "".join(f", {name}" for name in lacking)
                             + f"; of these it has: {', '.join(held) or 'none'}")
    names = tuple(str(name) for name in np.ravel(held.get("names", ())))
    if effort is None:
        effort = np.zeros((len(np.atleast_1d(held["q"])), 0))
    pose = None
    if sensing.moves:
        place, turned = (held[key] for key in _BASE[:2])
        if place.ndim != 2 or turned.ndim != 2 or len(place) != len(turned):
            raise RecordingError(f"{path} holds arrays that do not fit: base_position "
                                 f"{place.shape}, base_orientation {turned.shape}")
        pose = np.hstack([place, turned])
    return _check_arrays(path, names, time, held["q"], effort, pose,
                         held["wrench"] if sensing.wrench else None)


def _check_sizes(path: Path) -> None:
    """Refuse an archive that unpacks to more than is allowed (raises ValueError and others)."""
    if not path.is_file():  # a named pipe would be waited for
        raise ValueError("it is no regular file")
    with ZipFile(path) as archive:
        size = sum(part.file_size for part in archive.infolist())
    if size > MAX_TABLE_BYTES:
        raise ValueError(f"it unpacks to {size} bytes; at most {MAX_TABLE_BYTES} are allowed")


def _read_csv(path: Path, sensing: BaseSensing) -> NamedRecording:
    """Columns ``time``, ``position.<joint>`` and ``effort.<joint>``; for a sensed base ``base.x``
    to ``base.qw`` and ``wrench.fx`` to ``wrench.tz``."""
    try:
        text = read_text(path, MAX_TABLE_BYTES)
        lines = list(csv.reader(StringIO(text, newline="")))
    except (OSError, DamagedFile, csv.Error) as error:
        raise RecordingError(f"{path} cannot be read: {error}") from error
    header = [word.strip() for word in lines[0]] if lines else []
    time = next((header.index(key) for key in _TIMES if key in header), None)
    names = tuple(word.removeprefix("position.") for word in header
                  if word.startswith("position."))
    efforts = [f"effort.{name}" for name in names] * sensing.efforts
    pose, wrench = _POSE_COLUMNS * sensing.moves, _WRENCH_COLUMNS * sensing.wrench
    missing = [word for word in (*efforts, *pose, *wrench) if word not in header]
    if time is None or not names or missing:
        raise RecordingError(f"{path} lacks columns {', '.join(missing)}" if missing else
                             f"{path} needs columns time, position.<joint> and effort.<joint>")
    try:
        rows = np.array([[float(word) for word in line] for line in lines[1:] if line])
    except ValueError as error:
        raise RecordingError(f"{path} holds something else than numbers: {str(error)[:100]}"
                             ) from error
    if rows.ndim != 2 or rows.shape[1] != len(header):
        raise RecordingError(f"{path} holds no rows of {len(header)} numbers")
    positions = [f"position.{name}" for name in names]
    q, effort, base, loads = (rows[:, [header.index(word) for word in words]]
                              for words in (positions, efforts, pose, wrench))
    return _check_arrays(path, names, rows[:, time], q, effort, base if pose else None,
                         loads if wrench else None)


def _check_arrays(path: Path, names: tuple[str, ...], time: Array, q: Array, effort: Array,
                  pose: Array | None, wrench: Array | None) -> NamedRecording:
    """Arrays of a file that fit each other (raises RecordingError).

    Args:
        pose: (n, 7) of the base, position and quaternion.
    """
    if any(np.iscomplexobj(x) for x in (time, q, effort, pose, wrench) if x is not None):
        raise RecordingError(f"{path} holds complex numbers; they must be real")
    try:
        t, positions, efforts = (np.asarray(x, dtype=float) for x in (time, q, effort))
    except (TypeError, ValueError) as error:
        raise RecordingError(f"{path} holds arrays that are no numbers: {error}") from error
    for name, array, width in (("pose of the base", pose, 7), ("wrench", wrench, 6)):
        if array is not None and array.shape != (len(t), width):
            raise RecordingError(f"{path} holds a {name} of shape {array.shape}; ({len(t)}, "
                                 f"{width}) is needed")
    if t.ndim != 1 or positions.ndim != 2 or efforts.shape not in (
            positions.shape, (len(positions), 0)) or (
            len(positions) != len(t)) or (names and len(names) != positions.shape[1]):
        raise RecordingError(f"{path} holds arrays that do not fit: t {t.shape}, q "
                             f"{positions.shape}, effort {efforts.shape}, {len(names)} names")
    there = np.abs(t) < _LATEST  # False for what is no number, too
    without = len(t) - int(there.sum())
    told = f"{without} of its {len(t)} times are not finite, or beyond {_LATEST:g} s"
    if len(t) - without < 2:
        raise RecordingError(f"{path} holds fewer than two samples with a time: {told}")
    used = there if without else slice(None)  # no copy
    stamps = np.round(t[used] * 1e9).astype(np.int64)
    return NamedRecording(names, stamps, positions[used], efforts[used],
                          notes=(f"samples left out: {told}",) if without else (),
                          base=None if pose is None else _coordinates(pose[used]),
                          wrench=None if wrench is None else np.asarray(wrench, float)[used])


def _coordinates(pose: Array) -> Array:
    """Coordinates (n, 6) of poses (n, 7), NaN where a pose is no number (raises RecordingError)."""
    numbers = np.asarray(pose, dtype=float)
    out = np.full((len(numbers), 6), np.nan)
    good = np.isfinite(numbers).all(axis=1)
    try:
        out[good] = base_coordinates(numbers[good, :3], numbers[good, 3:])
    except InvalidData as error:
        raise RecordingError(str(error)) from error
    return out


def _read_bag(path: Path, topics: BagTopics, sensing: BaseSensing) -> NamedRecording:
    """Joint states of a bag, what is measured of the base, and the robot description if it holds
    one."""
    with BagReader(path) as recording:
        topic = topics.joint_states
        name = _choose_topic(recording, topic, (JOINT_STATES.type,), "joint states",
                             "--joint-states-topic")
        base = _choose_topic(recording, topics.base, tuple(_POSES) if topics.base else (
            _ODOMETRY,), "pose of the base", "--base-topic") if sensing.moves else ""
        wrench = _choose_topic(recording, topics.wrench, (WRENCH.type,), "wrench",
                               "--wrench-topic") if sensing.wrench else ""
        notes = list(recording.notes)
        if not topic:
            notes.append(f"using {name}, the only joint state topic")
        text = [t.name for t in recording.topics
                if t.type == ROBOT_DESCRIPTION.type and t.name != name
                and t.name.rsplit("/", 1)[-1] == "robot_description"]
        urdf, skipped = "", 0
        names: tuple[str, ...] = ()
        rows: list[tuple[int, Array, Array]] = []
        types = {t.name: t.type for t in recording.topics}
        wanted = {name: JOINT_STATES.type, **({text[0]: ROBOT_DESCRIPTION.type} if text else {}),
                  **{other: types[other] for other in (base, wrench) if other}}
        poses: list[tuple[float, ...]] = []
        loads: list[tuple[float, ...]] = []
        for message in recording.messages(wanted):
            content = message.content
            if message.topic == base:
                poses += _poses_of(types[base], content, topics.base_frame)
                continue
            if message.topic == wrench:
                loads.append((stamp_ns(content.header.stamp), *_vector(content.wrench.force),
                              *_vector(content.wrench.torque)))
                continue
            if message.topic != name:
                urdf = urdf or content.data
                continue
            if len(content.name) > MAX_JOINTS:
                skipped += 1
                continue
            index = {joint: k for k, joint in enumerate(content.name)}  # a name twice: shorter
            efforts = content.effort if sensing.efforts else content.position
            if not (len(content.position) == len(efforts) == len(content.name) == len(index)
                    ) or any(joint not in index for joint in names):
                skipped += 1
                continue
            names = names or tuple(content.name)
            order = [index[joint] for joint in names]
            rows.append((stamp_ns(content.header.stamp),
                         np.asarray(content.position, dtype=float)[order],
                         np.asarray(efforts, dtype=float)[order]))
    if not rows:
        raise RecordingError(f"joint states of {name} carry no efforts beside their positions")
    if skipped:
        notes.append(f"{skipped} joint states without efforts, or of other joints, left out")
    stamps = np.array([row[0] for row in rows], dtype=np.int64)
    effort = np.array([row[2] for row in rows])
    return NamedRecording(
        names, stamps, np.array([row[1] for row in rows]),
        effort if sensing.efforts else effort[:, :0], urdf, tuple(notes),
        _pose_at(poses, stamps) if base else None, _wrench_at(loads, stamps) if wrench else None)


def _choose_topic(recording: BagReader, wanted: str, types: tuple[str, ...], what: str,
                  option: str) -> str:
    """Name of a topic of one of these types: the wanted one, or the only one (raises
    RecordingError)."""
    names = [name for kind in types for name in names_of_type(recording.topics, kind)]
    if wanted:
        name = absolute_name(wanted)
        if name not in names:
            raise RecordingError(f"topic {name} with {what} ({', '.join(types)}) is not in the "
                                 f"recording; it holds {describe_topics(recording.topics)}")
        return name
    if not names:
        raise RecordingError(f"the recording holds no {what} ({', '.join(types)}); it holds "
                             f"{describe_topics(recording.topics)}")
    if len(names) > 1:
        raise RecordingError(f"the recording holds {len(names)} topics with {what}: "
                             f"{', '.join(names)}; choose one with {option}")
    return names[0]


def _poses_of(kind: str, content: Any, frame: str) -> list[tuple[float, ...]]:
    """Stamp [ns], position and quaternion of each pose of the base in a message.

    Raises:
        RecordingError: a message with transforms, and the base's frame is not known.
    """
    if kind == _TRANSFORMS:
        if not frame:
            raise RecordingError("transforms tell the pose of the base once --base-frame names its "
                                 "child frame")
        return [(stamp_ns(t.header.stamp), *_vector(t.transform.translation),
                 *_quaternion(t.transform.rotation)) for t in content.transforms
                if t.child_frame_id.lstrip("/") == frame.lstrip("/")]
    if kind == _TRANSFORM:
        return [(stamp_ns(content.header.stamp), *_vector(content.transform.translation),
                 *_quaternion(content.transform.rotation))]
    pose = content.pose.pose if kind in (_ODOMETRY, _UNSURE_POSE) else content.pose
    return [(stamp_ns(content.header.stamp), *_vector(pose.position),
             *_quaternion(pose.orientation))]


def _vector(v: Any) -> tuple[float, float, float]:
    """Numbers of a geometry_msgs/Vector3 or Point."""
    return float(v.x), float(v.y), float(v.z)


def _quaternion(q: Any) -> tuple[float, float, float, float]:
    """Numbers of a geometry_msgs/Quaternion."""
    return float(q.x), float(q.y), float(q.z), float(q.w)


def _pose_at(poses: list[tuple[float, ...]], stamps: np.ndarray) -> Array:
    """Coordinates (n, 6) of the base at times (n,) [ns], by a cubic spline; NaN beyond and in gaps.

    Raises:
        RecordingError: there are hardly any.
    """
    times, values = _in_order(poses, "poses of the base")
    spline = CubicSpline((times - times[0]) * 1e-9, _coordinates(values))
    out = np.asarray(spline((stamps - times[0]) * 1e-9))
    after = np.clip(np.searchsorted(times, stamps), 1, len(times) - 1)
    gap = times[after] - times[after - 1]
    out[(stamps < times[0]) | (stamps > times[-1]) | (gap > _LONGEST_GAP)] = np.nan
    return out


def _wrench_at(loads: list[tuple[float, ...]], stamps: np.ndarray) -> Array:
    """Wrenches (n, 6) at times (n,) [ns]: the mean of those that are nearer to a time than to
    others, or between two of them; NaN beyond.

    Raises:
        RecordingError: there are hardly any.
    """
    times, values = _in_order(loads, "wrenches")
    middle = stamps[:-1] + (stamps[1:] - stamps[:-1]) // 2
    edges = np.concatenate([[2 * stamps[0] - middle[0]], middle, [2 * stamps[-1] - middle[-1]]]
                           if len(middle) else [stamps, stamps + 1])
    at = np.searchsorted(times, edges)
    count = np.diff(at)
    sums = np.concatenate([np.zeros((1, 6)), np.cumsum(values, axis=0)])
    between = np.stack([np.interp(stamps - times[0], times - times[0], column, np.nan, np.nan)
                        for column in values.T], axis=1)
    means = (sums[at[1:]] - sums[at[:-1]]) / np.maximum(count, 1)[:, None]
    return np.where((count > 0)[:, None], means, between)


def _in_order(rows: list[tuple[float, ...]], what: str) -> tuple[np.ndarray, Array]:
    """Increasing times (k,) [ns] and the numbers (k, d) of rows (raises RecordingError)."""
    if len(rows) < 10:
        raise RecordingError(f"the recording holds {len(rows)} {what}; at least 10 are needed")
    times = np.array([row[0] for row in rows], dtype=np.int64)
    values = np.array([row[1:] for row in rows])
    good = np.isfinite(values).all(axis=1)
    times, first = np.unique(times[good], return_index=True)
    if len(times) < 10:
        raise RecordingError(f"the recording holds fewer than 10 {what} with a time of their own")
    return times, values[good][first]


