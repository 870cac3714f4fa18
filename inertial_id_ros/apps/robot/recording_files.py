# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Joint positions and efforts from a rosbag2 recording or a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ...errors import RecordingError
from ...inertia import Array
from ...io.messages import stamp_ns
from ...limits import MAX_JOINTS, MAX_TABLE_BYTES
from ...robot.recording import JointRecording
from ..bag.reader import BagReader
from ..bag.topics import absolute_name, describe_topics, names_of_type
from ..tables.read_table import SUFFIXES, read_table, read_words

_JOINT_STATES, _DESCRIPTION = "sensor_msgs/msg/JointState", "std_msgs/msg/String"
_TIMES = ("time", "t")
_EFFORTS = ("effort", "tau", "torque")
_LATEST = 9e9  # s: nanoseconds must fit into 64 bits
_LARGEST = 1e9  # of positions and efforts: no robot has more


@dataclass(frozen=True)
class NamedRecording:
    """A recording as it was read.

    Attributes:
        names: of the joints; empty where the file holds none.
        stamps: (n,) [ns]; q, effort: (n, joints).
        urdf: robot description in it; empty if there is none.
        notes: choices that were made.
    """

    names: tuple[str, ...]
    stamps: np.ndarray
    q: Array
    effort: Array
    urdf: str = ""
    notes: tuple[str, ...] = ()

    def of_joints(self, names: Sequence[str]) -> JointRecording:
        """The samples of these joints, in their order; repeated and late samples left out,
        positions that wrap at a full turn made continuous.

        Raises:
            RecordingError: a joint is missing, or no two samples are left.
        """
        columns = self._columns(names)
        q, effort = self.q[:, columns], self.effort[:, columns]
        good = self._good_samples(np.hstack([q, effort]))
        # Some drivers wrap to +-pi; joints do not move by half a turn from sample to sample.
        return JointRecording(self.stamps[good], np.unwrap(q[good], axis=0), effort[good])

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


def read_recording(path: Path, topic: str = "") -> NamedRecording:
    """Read joint positions and efforts from a bag or a table.

    Args:
        topic: of the joint states in a bag; empty: the only one.

    Raises:
        RecordingError: it cannot be read, or lacks positions or efforts.
    """
    return _read_columns(path) if path.suffix in SUFFIXES else _read_bag(path, topic)


def _read_columns(path: Path) -> NamedRecording:
    """A table with columns ``time`` (or ``t``), ``position.<joint>``, ``effort.<joint>``; or with
    arrays ``q`` and ``effort`` (or tau, torque) (n, joints) and, in NPZ files, ``names``."""
    if not path.is_file() or path.stat().st_size > MAX_TABLE_BYTES:
        raise RecordingError(f"{path} is no regular file of at most {MAX_TABLE_BYTES} bytes")
    table = read_table(path)
    time = next((table[key] for key in _TIMES if key in table), None)
    names = tuple(word.removeprefix("position.") for word in table if word.startswith("position."))
    q: Array | None
    effort: Array | None
    if names:
        missing = [f"effort.{name}" for name in names if f"effort.{name}" not in table]
        if missing:
            raise RecordingError(f"{path} lacks columns {', '.join(missing)}")
        q, effort = (np.column_stack([table[f"{kind}.{name}"] for name in names])
                     for kind in ("position", "effort"))
    else:
        q, effort = (next((table[key] for key in keys if key in table), None)
                     for keys in (("q",), _EFFORTS))
        names = read_words(path, "names") if path.suffix == ".npz" else ()
    if time is None or q is None or effort is None:
        raise RecordingError(f"{path} needs columns time, position.<joint> and effort.<joint>, or "
                             "arrays t, q and effort (or tau, torque)")
    return _check_arrays(path, names, time, q, effort)


def _check_arrays(path: Path, names: tuple[str, ...], time: Array, q: Array, effort: Array
                  ) -> NamedRecording:
    """Arrays of a file that fit each other (raises RecordingError)."""
    if time.ndim != 1 or q.ndim != 2 or effort.shape != q.shape or (
            len(q) != len(time)) or (names and len(names) != q.shape[1]):
        raise RecordingError(f"{path} holds arrays that do not fit: t {time.shape}, q "
                             f"{q.shape}, effort {effort.shape}, {len(names)} names")
    there = np.abs(time) < _LATEST  # False for what is no number, too
    without = len(time) - int(there.sum())
    told = f"{without} of its {len(time)} times are not finite, or beyond {_LATEST:g} s"
    if len(time) - without < 2:
        raise RecordingError(f"{path} holds fewer than two samples with a time: {told}")
    used = there if without else slice(None)  # no copy
    stamps = np.round(time[used] * 1e9).astype(np.int64)
    return NamedRecording(names, stamps, q[used], effort[used],
                          notes=(f"samples left out: {told}",) if without else ())


def _read_bag(path: Path, topic: str) -> NamedRecording:
    """Joint states of a bag, and the robot description if it holds one."""
    with BagReader(path) as recording:
        name = _choose_topic(recording, topic)
        notes = list(recording.notes)
        if not topic:
            notes.append(f"using {name}, the only joint state topic")
        text = [t.name for t in recording.topics
                if t.type == _DESCRIPTION and t.name != name
                and t.name.rsplit("/", 1)[-1] == "robot_description"]
        urdf, skipped = "", 0
        names: tuple[str, ...] = ()
        rows: list[tuple[int, Array, Array]] = []
        wanted = {name: _JOINT_STATES, **({text[0]: _DESCRIPTION} if text else {})}
        for message in recording.messages(wanted):
            content = message.content
            if message.topic != name:
                urdf = urdf or content.data
                continue
            if len(content.name) > MAX_JOINTS:
                skipped += 1
                continue
            index = {joint: k for k, joint in enumerate(content.name)}  # a name twice: shorter
            if not (len(content.position) == len(content.effort) == len(content.name) == len(index)
                    ) or any(joint not in index for joint in names):
                skipped += 1
                continue
            names = names or tuple(content.name)
            order = [index[joint] for joint in names]
            rows.append((stamp_ns(content.header.stamp),
                         np.asarray(content.position, dtype=float)[order],
                         np.asarray(content.effort, dtype=float)[order]))
    if not rows:
        raise RecordingError(f"joint states of {name} carry no efforts beside their positions")
    if skipped:
        notes.append(f"{skipped} joint states without efforts, or of other joints, left out")
    stamps = np.array([row[0] for row in rows], dtype=np.int64)
    return NamedRecording(names, stamps, np.array([row[1] for row in rows]),
                          np.array([row[2] for row in rows]), urdf, tuple(notes))


def _choose_topic(recording: BagReader, wanted: str) -> str:
    """Name of the wanted topic of joint states, or of the only one (raises RecordingError)."""
    kind = _JOINT_STATES
    names = names_of_type(recording.topics, kind)
    if wanted:
        name = absolute_name(wanted)
        if name not in names:
            raise RecordingError(f"topic {name} with joint states ({kind}) is not in the "
                                 f"recording; it holds {describe_topics(recording.topics)}")
        return name
    if not names:
        raise RecordingError(f"the recording holds no joint states ({kind}); it holds "
                             f"{describe_topics(recording.topics)}")
    if len(names) > 1:
        raise RecordingError(f"the recording holds {len(names)} topics with joint states: "
                             f"{', '.join(names)}; choose one with --joint-states-topic")
    return names[0]
