# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Joint positions and efforts from a rosbag2 recording or a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ...errors import InvalidData, RecordingError
from ...inertia import Array
from ...io.files import user_path
from ...io.sample_blocks import JointStates
from ...robot.recording import JointRecording
from ...settings import Settings
from ..recordings.bags import BagReader, read_bag
from ..recordings.table_files import is_table, read_table, read_words
from ..recordings.tables import SLOWEST, TIMES, Columns, Reader

# Beginnings of names of columns, followed by the name of the joint, its number or nothing.
POSITIONS = ("position", "positions", "q", "qpos")
EFFORTS = ("effort", "efforts", "tau", "torque")
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
        """The samples of these joints, in their order; repeated and late samples and those that are
        no numbers left out, positions that wrap at a full turn made continuous.

        Raises:
            RecordingError: a joint is missing, or no two samples are left.
        """
        columns = self._columns(names)
        q, effort = self.q[:, columns], self.effort[:, columns]
        # Comparisons with NaN are false.
        good = (np.abs(np.hstack([q, effort])) < _LARGEST).all(axis=1)
        newest = np.maximum.accumulate(np.where(good, self.stamps, np.iinfo(np.int64).min))
        good[1:] &= self.stamps[1:] > newest[:-1]
        if good.sum() < 2:
            raise RecordingError("the recording holds fewer than two joint states with positions "
                                 "and efforts of all joints, and times that increase")
        # Some drivers wrap to +-pi; joints do not move by half a turn from sample to sample.
        return JointRecording(self.stamps[good], np.unwrap(q[good], axis=0), effort[good])

    def positions(self, names: Sequence[str]) -> Array:
        """Positions (n, joints) of these joints as recorded, those that are no numbers left out
        (raises RecordingError)."""
        q = self.q[:, self._columns(names)]
        return q[(np.abs(q) < _LARGEST).all(axis=1)]

    def _columns(self, names: Sequence[str]) -> list[int]:
        """Columns of these joints (raises RecordingError)."""
        if not self.names and self.q.shape[1] != len(names):
            raise RecordingError(f"the recording has {self.q.shape[1]} joints without names; the "
                                 f"robot description has {len(names)}: {', '.join(names)}; "
                                 "--joints names those that it holds, in this order")
        there = self.names or tuple(names)
        lacks = [name for name in names if name not in there]
        if lacks:
            raise RecordingError(f"the recording has no joint '{lacks[0]}'; it has: "
                                 + ", ".join(there))
        return [there.index(name) for name in names]


def read_recording(path: Path, columns: Columns | None = None, topic: str | None = None,
                   described: bool = False) -> NamedRecording:
    """Read joint positions and efforts from a bag or a table.

    Args:
        columns: of a table; None: columns ``time`` (or ``t``), ``position.<joint>`` and
            ``effort.<joint>``, or arrays ``q`` and ``effort`` (or tau, torque) (n, joints), also as
            ``q_0``, ``q_1``, ...
        topic: of the joint states in a bag; None: the only one.
        described: True if a bag needs no robot description.

    Raises:
        RecordingError, InvalidData: it cannot be read, or lacks times, positions or efforts.
    """
    path = user_path(path)
    # Joint states with efforts are what payloads from joint torques need, too.
    used = Settings().replace({
        "load.robot": "-", "wrench.sensor_frame": "-",
        "robot_description.file": "-" if described else "",
        **({} if topic is None else {"joint_states.topic": topic})})
    if is_table(path):
        return _read_columns(path, columns or Columns())
    asked = [] if used.joint_states == Settings().joint_states else ["joint_states.topic"]
    with BagReader(path) as bag:
        recording = read_bag(bag, used, asked)
        blocks = [block for part in recording.parts for block in part.samples
                  if isinstance(block, JointStates)]
    damaged = sum(count for count, _ in recording.damaged.values())
    return _of_blocks(blocks, recording.description, [*recording.notes], damaged)


def _of_blocks(blocks: Sequence[JointStates], urdf: str, notes: list[str], damaged: int
               ) -> NamedRecording:
    """The joint states of the joints that carry efforts (raises RecordingError)."""
    used = [block for block in blocks if block.efforts is not None and len(set(block.names))
            == len(block.names) == block.positions.shape[1]]
    if not used:
        raise RecordingError("no joint states of the recording carry efforts beside positions")
    largest = max(used, key=lambda block: len(block.stamps))
    measured = np.isfinite(np.asarray(largest.efforts)).any(axis=0)
    names = tuple(name for name, there in zip(largest.names, measured, strict=True) if there)
    if not names:
        raise RecordingError("no effort in the joint states of the recording is a number")
    used = [block for block in used if set(block.names) >= set(names)]
    without = {name for block in blocks for name in block.names} - set(names)
    if without:
        notes.append("left out, as no message brings them with an effort: "
                     f"{', '.join(sorted(without))}")
    skipped = damaged + sum(len(block.stamps) for block in blocks) - sum(
        len(block.stamps) for block in used)
    if skipped:
        notes.append(f"{skipped} joint states without efforts, or of other joints, left out")
    columns = [[block.names.index(name) for name in names] for block in used]
    stamps = np.concatenate([block.stamps for block in used])
    order = np.argsort(stamps, kind="stable")
    q, effort = (np.concatenate([np.asarray(rows)[:, own] for rows, own in zip(
        parts, columns, strict=True)])[order] for parts in (
            [block.positions for block in used], [block.efforts for block in used]))
    return NamedRecording(names, stamps[order], q, effort, urdf, tuple(notes))


def _read_columns(path: Path, columns: Columns) -> NamedRecording:
    """The joints of a table (raises RecordingError, InvalidData)."""
    reader = Reader(read_table(path), columns, f"table {path}")
    names, q, effort = _of_joints(reader)
    names = names or read_words(path, "names")
    if q.shape != effort.shape or (names and len(names) != q.shape[1]):
        raise RecordingError(f"{path} holds arrays that do not fit: positions {q.shape}, efforts "
                             f"{effort.shape}, {len(names)} names")
    stamps = reader.stamps()
    if stamps is None or len(stamps) != len(q):
        raise RecordingError(f"{reader.what} has no column of the time ({', '.join(TIMES)}) for"
                             " its rows; name it with --columns, or give the rate of the rows there"
                             " (rate: 100)")
    step = 1e-9 * float(np.median(np.diff(stamps)))
    if step > SLOWEST:
        raise InvalidData(f"the rows of {reader.what} are {step:.4g} s apart by time_unit "
                          f"'{columns.time_unit}'; no arm is measured so slowly: name "
                          "another unit with --columns (time_unit: ms)")
    return NamedRecording(names, stamps, q, effort)


def _of_joints(reader: Reader) -> tuple[tuple[str, ...], Array, Array]:
    """Names of the joints, positions and efforts (n, joints) (raises RecordingError, InvalidData).
    """
    columns = reader.columns
    if columns.joints:
        names = others = tuple(columns.joints)
        lacks = [joint for joint in names if joint not in columns.efforts]
        if lacks:
            raise RecordingError(f"the file of --columns names no effort of {', '.join(lacks)}")
        q, effort = (np.column_stack([reader.column(given[name]) for name in names])
                     for given in (columns.joints, columns.efforts))
        return names, q, effort
    (names, q_), (others, effort_) = (_with_beginning(reader, words)
                                      for words in (POSITIONS, EFFORTS))
    if q_ is None or effort_ is None:
        raise RecordingError(f"{reader.what} needs columns position.<joint> and effort.<joint>, or "
                             "arrays q and effort (or tau, torque); --columns names others. It has "
                             f"{reader.present}")
    if names != others:
        lacks = [name for name in names if name not in others]
        raise RecordingError(f"{reader.what} lacks efforts of {', '.join(lacks) or 'no joint'}"
                             f", and has those of {', '.join(others)}")
    return () if all(name.isdecimal() for name in names) else names, q_, effort_


def _with_beginning(reader: Reader, words: Sequence[str]) -> tuple[tuple[str, ...], Array | None]:
    """Columns whose names begin with one of these words, and what follows in their names."""
    for word in words:
        if word in reader.table and np.ndim(reader.table[word]) == 2:
            return (), np.asarray(reader.table[word], dtype=float)
        for begin in (f"{word}.", f"{word}_"):
            named = [name for name in reader.table if name.startswith(begin)]
            if named:
                return (tuple(name.removeprefix(begin) for name in named),
                        np.column_stack([reader.column(name) for name in named]))
    return (), None
