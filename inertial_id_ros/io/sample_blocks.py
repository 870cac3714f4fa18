# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Samples of several streams as arrays, stream by stream.

Where nothing is wrong with them, each is only appended to its own stream, so that their order
between the streams does not matter and all may be taken at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..inertia import Array


def _same(values: Sequence[Any]) -> Any:
    """The value that all of them are (raises ValueError)."""
    if any(value != values[0] for value in values):
        raise ValueError(f"they differ: {values}")
    return values[0]


def _stamps(values: Sequence[int]) -> np.ndarray:
    """Stamps (n,) [ns]."""
    return np.array(values, dtype=np.int64)


def _rows(values: Sequence[Sequence[float] | Array]) -> Array:
    """Values of n samples, as many of each, as (n, k) (raises ValueError)."""
    return np.array(values, dtype=float)


class Wrenches(NamedTuple):
    """Wrenches of one frame: stamps (n,) [ns], rows (n, 6) of force [N] and torque [N m]."""

    stamps: np.ndarray
    frame_id: str
    rows: Array

    @classmethod
    def joined(cls, singles: Sequence[tuple[Any, ...]]) -> Wrenches:
        """Samples that `singles` could have given (raises ValueError for two frames)."""
        stamps, frames, forces, torques = zip(*singles, strict=True)
        return cls(_stamps(stamps), _same(frames), np.hstack([_rows(forces), _rows(torques)]))

    def singles(self) -> list[tuple[Any, ...]]:
        """Stamp, frame, force and torque of each sample."""
        return [(t, self.frame_id, row[:3], row[3:])
                for t, row in zip(self.stamps.tolist(), self.rows.tolist(), strict=True)]


class JointStates(NamedTuple):
    """Joint states of the same joints: stamps (n,) [ns], positions (n, k) [rad or m], and efforts
    (n, k) [N m or N], which are needed for an identification from joint torques only."""

    stamps: np.ndarray
    names: tuple[str, ...]
    positions: Array
    efforts: Array | None = None

    @classmethod
    def joined(cls, singles: Sequence[tuple[Any, ...]]) -> JointStates:
        """Samples that `singles` could have given (raises ValueError for two groups of joints)."""
        stamps, names, positions, efforts = zip(*singles, strict=True)
        return cls(_stamps(stamps), tuple(_same(names)), _rows(positions), _rows(efforts))

    def singles(self) -> list[tuple[Any, ...]]:
        """Stamp, names, positions and efforts of each sample."""
        efforts = np.empty((len(self.stamps), 0)) if self.efforts is None else self.efforts
        return [(t, self.names, q, effort) for t, q, effort in zip(
            self.stamps.tolist(), self.positions.tolist(), efforts.tolist(), strict=True)]


class Edges(NamedTuple):
    """Poses of one child in one parent: stamps (n,) [ns], rows (n, 7) of translation [m] and
    quaternion x, y, z, w."""

    stamps: np.ndarray
    parent: str
    child: str
    rows: Array

    @classmethod
    def joined(cls, singles: Sequence[tuple[Any, ...]]) -> Edges:
        """Samples that `singles` could have given (raises ValueError for two edges)."""
        stamps, parents, children, translations, quaternions = zip(*singles, strict=True)
        return cls(_stamps(stamps), _same(parents), _same(children),
                   np.hstack([_rows(translations), _rows(quaternions)]))

    def singles(self) -> list[tuple[Any, ...]]:
        """Stamp, parent, child, translation and quaternion of each sample."""
        return [(t, self.parent, self.child, row[:3], row[3:])
                for t, row in zip(self.stamps.tolist(), self.rows.tolist(), strict=True)]


class ImuReadings(NamedTuple):
    """Readings of the IMU on the robot's base: stamps (n,) [ns], rows (n, 6) of specific force
    [m/s^2] and angular velocity [rad/s] in its frame."""

    stamps: np.ndarray
    frame_id: str
    rows: Array

    def singles(self) -> list[tuple[Any, ...]]:
        """Stamp, frame, specific force and angular velocity of each reading."""
        return [(t, self.frame_id, row[:3], row[3:])
                for t, row in zip(self.stamps.tolist(), self.rows.tolist(), strict=True)]


class Block(NamedTuple):
    """Samples by stream; None or empty where there are none."""

    wrenches: Wrenches | None = None
    joint_states: JointStates | None = None
    transforms: tuple[Edges, ...] = ()


Samples = Wrenches | JointStates | Edges | ImuReadings


def as_block(part: list[Samples]) -> Block | None:
    """Samples of different streams as a block; None where it cannot hold them, with wrenches in two
    frames or two groups of joints."""
    wrenches = [samples for samples in part if isinstance(samples, Wrenches)]
    joints = [samples for samples in part if isinstance(samples, JointStates)]
    if len(wrenches) > 1 or len(joints) > 1:
        return None
    return Block(wrenches[0] if wrenches else None, joints[0] if joints else None,
                 tuple(samples for samples in part if isinstance(samples, Edges)))


def split_by_time(batches: list[Samples], count: int) -> Iterator[list[Samples]]:
    """Parts of about `count` samples that follow each other in time, each of different streams.

    Args:
        batches: of each stream in the order of time.
    """
    streams = join_streams(batches)
    if not streams:
        return
    bounds = np.sort(np.concatenate([samples.stamps for samples in streams]))[count::count]
    cuts = [[0, *np.searchsorted(samples.stamps, bounds).tolist(), len(samples.stamps)]
            for samples in streams]
    for k in range(len(bounds) + 1):
        yield [_cut(samples, slice(cut[k], cut[k + 1]))
               for samples, cut in zip(streams, cuts, strict=True) if cut[k] < cut[k + 1]]


def _cut(samples: Any, part: slice) -> Any:
    """The samples of a part of a batch."""
    return samples._make(value[part] if isinstance(value, np.ndarray) else value
                         for value in samples)


def join_streams(batches: list[Samples]) -> list[Samples]:
    """One batch of each stream."""
    groups: dict[tuple[Any, ...], list[Any]] = {}
    for batch in batches:
        labels = tuple(value for value in batch if not isinstance(value, np.ndarray))
        groups.setdefault((type(batch), labels), []).append(batch)
    return [group[0]._make(
        np.concatenate(values) if isinstance(values[0], np.ndarray) else values[0]
        for values in zip(*group, strict=True)) for group in groups.values()]
