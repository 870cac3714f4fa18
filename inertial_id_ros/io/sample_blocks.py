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


class Wrenches(NamedTuple):
    """Wrenches of one frame: stamps (n,) [ns], rows (n, 6) of force [N] and torque [N m]."""

    stamps: np.ndarray
    frame_id: str
    rows: Array


class JointStates(NamedTuple):
    """Joint states of the same joints: stamps (n,) [ns], positions (n, k) [rad or m], and efforts
    (n, k) [N m or N], which are needed for an identification from joint torques only."""

    stamps: np.ndarray
    names: tuple[str, ...]
    positions: Array
    efforts: Array | None = None


class Edges(NamedTuple):
    """Poses of one child in one parent: stamps (n,) [ns], rows (n, 7) of translation [m] and
    quaternion x, y, z, w."""

    stamps: np.ndarray
    parent: str
    child: str
    rows: Array


Samples = Wrenches | JointStates | Edges


def split_by_time(batches: Sequence[Samples], count: int) -> Iterator[list[Samples]]:
    """Parts of about `count` samples that follow each other in time, each of different streams, of
    batches that are in the order of time."""
    streams = join_streams(batches)
    if not streams:
        return
    bounds = np.sort(np.concatenate([samples.stamps for samples in streams]))[count::count]
    # Stamps may go back, as of a clock that was set: no sample is lost all the same.
    cuts = [[0, *np.maximum.accumulate(np.searchsorted(samples.stamps, bounds)).tolist(),
             len(samples.stamps)] for samples in streams]
    for k in range(len(bounds) + 1):
        yield [_select([some], slice(cut[k], cut[k + 1]))
               for some, cut in zip(streams, cuts, strict=True) if cut[k] < cut[k + 1]]


def join_streams(batches: Sequence[Any], places: Sequence[np.ndarray] = ()) -> list[Any]:
    """One batch of each stream; places: where the samples (n,) of each batch stand in the order
    that is wanted; without them, one batch follows the other."""
    streams: dict[tuple[Any, ...], list[int]] = {}
    for k, batch in enumerate(batches):
        labels = tuple(value for value in batch if not isinstance(value, np.ndarray))
        streams.setdefault((type(batch), labels), []).append(k)
    return [batches[some[0]] if len(some) == 1 else _select([batches[k] for k in some], (
        np.argsort(np.concatenate([places[k] for k in some]), kind="stable")
        if places else slice(None))) for some in streams.values()]


def _select(batches: list[Any], where: Any) -> Any:
    """Some samples of the batches of one stream, as one batch."""
    return batches[0]._make(
        np.concatenate(values)[where] if isinstance(values[0], np.ndarray) else values[0]
        for values in zip(*batches, strict=True))
