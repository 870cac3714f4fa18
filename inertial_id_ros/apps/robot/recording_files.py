# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Joint positions and efforts from a rosbag2 recording or a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ...errors import InvalidData, RecordingError
from ...inertia import Array
from ...io import decoding
from ...io.input_topics import JOINT_STATES, ROBOT_DESCRIPTION
from ...io.sample_blocks import JointStates
from ...robot.recording import JointRecording
from ..recordings.bag_reader import BagReader
from ..recordings.columns import SLOWEST, TIMES, Columns, Reader, columns_from_file
from ..recordings.table_files import is_table, read_table, read_words
from ..recordings.topics import absolute_name, describe_topics, missing_topic, names_of_type

__all__ = ["NamedRecording", "columns_from_file", "read_recording"]

# Beginnings of names of columns, followed by the name of the joint, its number or nothing.
POSITIONS = ("position", "positions", "q", "qpos")
EFFORTS = ("effort", "efforts", "tau", "torque")
MOST_SECONDS = 9e9  # s: nanoseconds must fit into 64 bits
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


def read_recording(path: Path, topic: str = "", columns: Columns | None = None
                   ) -> NamedRecording:
    """Read joint positions and efforts from a bag or a table.

    Args:
        topic: of the joint states in a bag; empty: the only one.
        columns: of a table; None: columns ``time`` (or ``t``), ``position.<joint>`` and
            ``effort.<joint>``, or arrays ``q`` and ``effort`` (or tau, torque) (n, joints), also as
            ``q_0``, ``q_1``, ...

    Raises:
        RecordingError, InvalidData: it cannot be read, or lacks times, positions or efforts.
    """
    return _read_columns(path, columns or Columns()) if is_table(path) else _read_bag(path, topic)


def _read_columns(path: Path, columns: Columns) -> NamedRecording:
    reader = Reader(read_table(path), columns, f"table {path}")
    names, q, effort = _of_joints(reader)
    names = names or read_words(path, "names")
    if len(q) != len(effort) or q.shape != effort.shape or (names and len(names) != q.shape[1]):
        raise RecordingError(f"{path} holds arrays that do not fit: positions {q.shape}, efforts "
                             f"{effort.shape}, {len(names)} names")
    stamps, notes = _times(reader, len(q))
    there = stamps >= 0
    return NamedRecording(names, stamps[there], q[there], effort[there], notes=notes)


def _of_joints(reader: Reader) -> tuple[tuple[str, ...], Array, Array]:
    """Names of the joints, positions and efforts (n, joints) (raises RecordingError, InvalidData).
    """
    columns = reader.columns
    if columns.joints:
        lacks = [joint for joint in columns.joints if joint not in columns.efforts]
        if lacks:
            raise RecordingError(f"the file of --columns names no effort of {', '.join(lacks)}")
        parts = [reader.joints(named) for named in (
            columns.joints, {name: columns.efforts[name] for name in columns.joints})]
        q, effort = (np.column_stack(list(part.values())) for part in parts)
        return tuple(columns.joints), q, effort
    found = [_with_beginning(reader, words) for words in (POSITIONS, EFFORTS)]
    (names, q_), (others, effort_) = found
    if q_ is None or effort_ is None:
        raise RecordingError(f"{reader.what} needs columns position.<joint> and effort.<joint>, or "
                             "arrays q and effort (or tau, torque); --columns names others. It has "
                             f"{reader.present}")
    if names != others:
        lacks = [name for name in names if name not in others]
        raise RecordingError(f"{reader.what} lacks efforts of {', '.join(lacks) or 'no joint'}"
                             f", and has those of {', '.join(others)}")
    numbers = all(name.isdecimal() for name in names)
    return () if numbers else names, np.column_stack([q_]), np.column_stack([effort_])


def _with_beginning(reader: Reader, words: Sequence[str]) -> tuple[tuple[str, ...], Array | None]:
    """Columns whose names begin with one of these words, and what follows in their names."""
    for word in words:
        if word in reader.table and np.ndim(reader.table[word]) == 2:
            return (), np.asarray(reader.table[word], dtype=float)
        for mark in (".", "_"):
            begin = f"{word}{mark}"
            named = [name for name in reader.table if name.startswith(begin)]
            if named:
                return (tuple(name.removeprefix(begin) for name in named),
                        np.column_stack([reader.column(name) for name in named]))
    return (), None


def _times(reader: Reader, count: int) -> tuple[np.ndarray, tuple[str, ...]]:
    """Stamps (n,) [ns], below 0 where there is none, and notes (raises RecordingError)."""
    name = reader.time_column
    if not name and not reader.columns.rate:
        raise RecordingError(f"{reader.what} has no column of the time ({', '.join(TIMES)}); name "
                             "it with --columns, or give the rate of the rows there (rate: 100)")
    if not name:
        return np.round(1e9 * np.arange(count) / reader.columns.rate).astype(np.int64), ()
    seconds = reader.columns.seconds * reader.column(name)
    there = np.abs(seconds) < MOST_SECONDS  # False for what is no number, too
    without = len(seconds) - int(there.sum())
    told = f"{without} of its {count} times are not finite, or beyond {MOST_SECONDS:g} s"
    if len(seconds) != count or count - without < 2:
        raise RecordingError(f"{reader.what} holds fewer than two samples with a time: {told}")
    step = float(np.median(np.diff(seconds[there])))
    if step > SLOWEST:
        raise InvalidData(f"the rows of {reader.what} are {step:.4g} s apart by time_unit "
                          f"'{reader.columns.time_unit}'; no arm is measured so slowly: name "
                          "another unit with --columns (time_unit: ms)")
    stamps = np.full(count, -1, dtype=np.int64)
    first = min(float(seconds[there].min()), 0.0)
    stamps[there] = np.round(1e9 * (seconds[there] - first)).astype(np.int64)
    return stamps, (f"samples left out: {told}",) if without else ()


def _read_bag(path: Path, topic: str) -> NamedRecording:
    """Joint states of a bag, and the robot description if it holds one."""
    with BagReader(path) as bag:
        name = _choose_topic(bag, topic)
        notes = [*bag.notes, *([] if topic else [f"using {name}, the only joint state topic"])]
        described = [t.name for t in bag.topics if t.type == ROBOT_DESCRIPTION.type
                     and t.name.rsplit("/", 1)[-1] == "robot_description"][:1]
        urdf = next((bag.decode(message, ROBOT_DESCRIPTION.type).data for message in bag.messages(
            dict.fromkeys(described, ROBOT_DESCRIPTION.type))), "")
        decoded = decoding.joint_states(
            [message.data for message in bag.messages({name: JOINT_STATES.type})])
    blocks = [block.samples for block in decoded.blocks if isinstance(block.samples, JointStates)]
    return _of_blocks(blocks, name, urdf, notes, decoded.damaged)


def _of_blocks(blocks: Sequence[JointStates], topic: str, urdf: str, notes: list[str],
               damaged: int) -> NamedRecording:
    """The joint states of the joints that carry efforts (raises RecordingError)."""
    used = [block for block in blocks if block.efforts is not None and len(set(block.names))
            == len(block.names) == block.positions.shape[1]]
    if not used:
        raise RecordingError(f"joint states of {topic} carry no efforts beside their positions")
    largest = max(used, key=lambda block: len(block.stamps))
    assert largest.efforts is not None
    names = tuple(name for name, efforts in zip(largest.names, largest.efforts.T, strict=True)
                  if np.isfinite(efforts).any())
    if not names:
        raise RecordingError(f"no effort in the joint states of {topic} is a number")
    used = [block for block in used if set(block.names) >= set(names)]
    without = {name for block in blocks for name in block.names} - set(names)
    if without:
        notes.append("left out, as no message brings them with an effort: "
                     f"{', '.join(sorted(without))}")
    skipped = damaged + sum(len(block.stamps) for block in blocks) - sum(
        len(block.stamps) for block in used)
    if skipped:
        notes.append(f"{skipped} joint states without efforts, or of other joints, left out")
    orders = [[block.names.index(name) for name in names] for block in used]
    stamps = np.concatenate([block.stamps for block in used])
    q, effort = (np.concatenate([part[:, order] for part, order in zip(parts, orders, strict=True)
                                 if part is not None])
                 for parts in ([b.positions for b in used], [b.efforts for b in used]))
    order = np.argsort(stamps, kind="stable")
    return NamedRecording(names, stamps[order], q[order], effort[order], urdf, tuple(notes))


def _choose_topic(bag: BagReader, wanted: str) -> str:
    """Name of the wanted topic of joint states, or of the only one (raises RecordingError)."""
    names = names_of_type(bag.topics, JOINT_STATES.type)
    if wanted:
        if absolute_name(wanted) not in names:
            raise missing_topic(bag.topics, JOINT_STATES, wanted)
        return absolute_name(wanted)
    if len(names) != 1:
        raise RecordingError(
            f"the recording holds {len(names)} topics with joint states: {', '.join(names)}; "
            "choose one with --joint-states-topic" if names else
            f"the recording holds no joint states ({JOINT_STATES.type}); it holds "
            f"{describe_topics(bag.topics)}")
    return names[0]
