"""Samples that come as long arrays, stream by stream, on their way into an identifier."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from ..io.sample_blocks import Block, Edges, JointStates, Wrenches
from .make_identifier import AnyIdentifier

Samples = Wrenches | JointStates | Edges
_COUNT = 2000  # samples between two calls of advance: fewer than any stream of an identifier holds
_Call = tuple[int, Callable[..., None], tuple[Any, ...]]


def push(identifier: AnyIdentifier, batches: list[Samples]) -> None:
    """Give an identifier all samples in the order of their stamps, and let them settle.

    Args:
        batches: of each stream in the order of time.
    """
    for part in _in_order(list(_streams(batches))):
        block = _as_block(part)
        if block is None or not identifier.take_block(block):
            calls = [call for samples in part for call in _calls(identifier, samples)]
            for _, add, arguments in sorted(calls, key=lambda call: call[0]):
                add(*arguments)
        identifier.advance()


def _streams(batches: list[Samples]) -> Iterator[Samples]:
    """The batches of each stream put together."""
    groups: dict[tuple[Any, ...], list[Samples]] = {}
    for batch in batches:
        labels = tuple(value for value in batch if not isinstance(value, np.ndarray))
        groups.setdefault((type(batch), labels), []).append(batch)
    for group in groups.values():
        yield _like(group[0], (
            np.concatenate(values) if isinstance(values[0], np.ndarray) else values[0]
            for values in zip(*group, strict=True)))


def _in_order(streams: list[Samples]) -> Iterator[list[Samples]]:
    """Parts of the streams that follow each other in time, of about `_COUNT` samples each."""
    if not streams:
        return
    bounds = np.sort(np.concatenate([samples.stamps for samples in streams]))[_COUNT::_COUNT]
    cuts = [[0, *np.searchsorted(samples.stamps, bounds).tolist(), len(samples.stamps)]
            for samples in streams]
    for k in range(len(bounds) + 1):
        yield [_between(samples, cut[k], cut[k + 1])
               for samples, cut in zip(streams, cuts, strict=True) if cut[k] < cut[k + 1]]


def _between(samples: Samples, begin: int, end: int) -> Samples:
    """Samples number `begin` to `end` of a stream."""
    return _like(samples, (value[begin:end] if isinstance(value, np.ndarray) else value
                           for value in samples))


def _like(samples: Samples, values: Iterable[Any]) -> Samples:
    """Samples of the same kind with other values."""
    kind: Callable[..., Samples] = type(samples)
    return kind(*values)


def _as_block(part: list[Samples]) -> Block | None:
    """The samples as one block; None where it cannot hold them, with wrenches in two frames or
    two groups of joints."""
    wrenches = [samples for samples in part if isinstance(samples, Wrenches)]
    joints = [samples for samples in part if isinstance(samples, JointStates)]
    if len(wrenches) > 1 or len(joints) > 1:
        return None
    return Block(wrenches[0] if wrenches else None, joints[0] if joints else None,
                 tuple(samples for samples in part if isinstance(samples, Edges)))


def _calls(identifier: AnyIdentifier, samples: Samples) -> list[_Call]:
    """Stamp, method and arguments that add each sample by itself."""
    stamps = samples.stamps.tolist()
    if isinstance(samples, Wrenches):
        return [(t, identifier.add_wrench, (t, samples.frame_id, row[:3], row[3:]))
                for t, row in zip(stamps, samples.rows.tolist(), strict=True)]
    if isinstance(samples, Edges):
        return [(t, identifier.add_transform, (t, samples.parent, samples.child, row[:3], row[3:]))
                for t, row in zip(stamps, samples.rows.tolist(), strict=True)]
    efforts = [()] * len(stamps) if samples.efforts is None else samples.efforts.tolist()
    return [(t, identifier.add_joint_state, (t, samples.names, q, effort))
            for t, q, effort in zip(stamps, samples.positions.tolist(), efforts, strict=True)]
