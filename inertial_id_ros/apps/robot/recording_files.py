# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Joint positions and efforts from a rosbag2 recording, a CSV or an NPZ file."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from zipfile import ZipFile

import numpy as np

from ...errors import DamagedFile, RecordingError
from ...inertia import Array
from ...io.files import read_text
from ...io.messages import stamp_ns
from ...limits import MAX_JOINTS, MAX_TABLE_BYTES
from ...robot.recording import JointRecording
from ...signals.message_adapter import JOINT_STATES, ROBOT_DESCRIPTION
from ..bag.reader import BagReader
from ..bag.topics import absolute_name, describe_topics, names_of_type

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
    """Read joint positions and efforts from a bag, a CSV or an NPZ file.

    Args:
        topic: of the joint states in a bag; empty: the only one.

    Raises:
        RecordingError: it cannot be read, or lacks positions or efforts.
    """
    if path.suffix == ".npz":
        return _read_npz(path)
    if path.suffix == ".csv":
        return _read_csv(path)
    return _read_bag(path, topic)


def _read_npz(path: Path) -> NamedRecording:
    """Arrays ``t`` (n,) [s], ``q`` (n, joints), ``effort`` (or tau, torque), ``names``."""
    try:
        _check_sizes(path)
        with np.load(path, allow_pickle=False) as data:
            held = {key: data[key] for key in data.files
                    if key in (*_TIMES, "q", *_EFFORTS, "names")}
    except Exception as error:  # damaged archives raise errors of many kinds
        reason = " ".join(str(error).split())[:300] or type(error).__name__
        raise RecordingError(f"{path} is not a readable NPZ file: {reason}") from error
    time = next((held[key] for key in _TIMES if key in held), None)
    effort = next((held[key] for key in _EFFORTS if key in held), None)
    if time is None or effort is None or "q" not in held:
        raise RecordingError(f"{path} lacks an array; it needs t, q and effort (or tau, torque); "
                             f"of these it has: {', '.join(held) or 'none'}")
    names = tuple(str(name) for name in np.ravel(held.get("names", ())))
    return _check_arrays(path, names, time, held["q"], effort)


def _check_sizes(path: Path) -> None:
    """Refuse an archive that unpacks to more than is allowed (raises ValueError and others)."""
    if not path.is_file():  # a named pipe would be waited for
        raise ValueError("it is no regular file")
    with ZipFile(path) as archive:
        size = sum(part.file_size for part in archive.infolist())
    if size > MAX_TABLE_BYTES:
        raise ValueError(f"it unpacks to {size} bytes; at most {MAX_TABLE_BYTES} are allowed")


def _read_csv(path: Path) -> NamedRecording:
    """Columns ``time``, ``position.<joint>`` and ``effort.<joint>``."""
    try:
        text = read_text(path, MAX_TABLE_BYTES)
        lines = list(csv.reader(StringIO(text, newline="")))
    except (OSError, DamagedFile, csv.Error) as error:
        raise RecordingError(f"{path} cannot be read: {error}") from error
    header = [word.strip() for word in lines[0]] if lines else []
    time = next((header.index(key) for key in _TIMES if key in header), None)
    names = tuple(word.removeprefix("position.") for word in header
                  if word.startswith("position."))
    efforts = [f"effort.{name}" for name in names]
    missing = [word for word in efforts if word not in header]
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
    q, effort = (rows[:, [header.index(word) for word in words]]
                 for words in ([f"position.{name}" for name in names], efforts))
    return _check_arrays(path, names, rows[:, time], q, effort)


def _check_arrays(path: Path, names: tuple[str, ...], time: Array, q: Array, effort: Array
                  ) -> NamedRecording:
    """Arrays of a file that fit each other (raises RecordingError)."""
    if any(np.iscomplexobj(x) for x in (time, q, effort)):
        raise RecordingError(f"{path} holds complex numbers; they must be real")
    try:
        t, positions, efforts = (np.asarray(x, dtype=float) for x in (time, q, effort))
    except (TypeError, ValueError) as error:
        raise RecordingError(f"{path} holds arrays that are no numbers: {error}") from error
    if t.ndim != 1 or positions.ndim != 2 or efforts.shape != positions.shape or (
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
                          notes=(f"samples left out: {told}",) if without else ())


def _read_bag(path: Path, topic: str) -> NamedRecording:
    """Joint states of a bag, and the robot description if it holds one."""
    with BagReader(path) as recording:
        name = _choose_topic(recording, topic)
        notes = list(recording.notes)
        if not topic:
            notes.append(f"using {name}, the only joint state topic")
        text = [t.name for t in recording.topics
                if t.type == ROBOT_DESCRIPTION.type and t.name != name
                and t.name.rsplit("/", 1)[-1] == "robot_description"]
        urdf, skipped = "", 0
        names: tuple[str, ...] = ()
        rows: list[tuple[int, Array, Array]] = []
        wanted = {name: JOINT_STATES.type, **({text[0]: ROBOT_DESCRIPTION.type} if text else {})}
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
    kind = JOINT_STATES.type
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
