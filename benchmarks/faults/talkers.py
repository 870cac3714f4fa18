# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Faults of whole publishers: two of one topic, and joint states that freeze, jump or are moved."""

from __future__ import annotations

import numpy as np

from .fault import Fault, Inject
from .stream import JOINTS, SECOND, TRANSFORM, WRENCH, Message, Stream, moved, restamped, seconds

_MOVES = 0.05  # rad
_SPREAD = 60_000_000  # ns by which joint states overtake each other


def second_wrench(lasts: float, size: float) -> Inject:
    """A second publisher of the wrench, of zeros (size 0) or of a constant wrench."""
    def inject(stream: Stream, at: float, rng: np.random.Generator) -> Stream:
        other = size * np.r_[rng.normal(size=3), 0.1 * rng.normal(size=3)]
        late = int(rng.integers(100_000, 4_900_000))  # ns after the true one

        def change(t: float, m: Message) -> list[Message]:
            if not at <= t < at + lasts:
                return [m]
            stamp, frame = m.arguments[:2]
            return [m, Message(m.arrival + late, WRENCH, (
                stamp + late, frame, other[:3].tolist(), other[3:].tolist()))]
        return stream.rewritten(WRENCH, change)
    return inject


def moving_from(stream: Stream, at: float, lasts: float, again: float = 0.0) -> float:
    """The first second from then on at which the arm begins to be elsewhere `lasts` seconds later,
    and also `again` seconds later: what happens while it rests leaves no trace."""
    names = next(m.arguments[1] for m in stream.messages if m.method == JOINTS)
    some = [(seconds(m), m.arguments[2]) for m in stream.messages
            if m.method == JOINTS and seconds(m) >= at and m.arguments[1] == names]
    times, positions = np.array([t for t, _ in some]), np.array([q for _, q in some])
    later = np.minimum(np.searchsorted(times, times + lasts), len(times) - 1)
    moved = np.abs(positions[later] - positions).max(axis=1)
    back = np.minimum(np.searchsorted(times, times + again), len(times) - 1)
    return float(times[np.argmax((moved > _MOVES) & (moved[back] > _MOVES))])


def frozen(lasts: float, only: int | None = None) -> Inject:
    """Joint states repeat one position with fresh stamps, while the arm moves on; `only`: that
    joint's."""
    def inject(stream: Stream, at: float, rng: np.random.Generator) -> Stream:
        held: list[float] = []
        begin = moving_from(stream, at, lasts)

        def change(t: float, m: Message) -> list[Message]:
            if not begin <= t < begin + lasts:
                return [m]
            stamp, names, positions = m.arguments
            held[:] = held or positions
            row = list(held)
            if only is not None:
                row = list(positions)
                row[only] = held[only]
            return [m._replace(arguments=(stamp, names, row))]
        return stream.rewritten(JOINTS, change)
    return inject


def transforms_frozen(stream: Stream, at: float, rng: np.random.Generator) -> Stream:
    """Transforms repeat one pose with fresh stamps for two seconds."""
    held: dict[str, tuple[object, ...]] = {}

    def change(t: float, m: Message) -> list[Message]:
        if not at <= t < at + 2.0:
            return [m]
        pose = held.setdefault(m.arguments[2], m.arguments[1:])
        return [m._replace(arguments=(m.arguments[0], *pose))]
    return stream.rewritten(TRANSFORM, change)


def stamps_moved(by: float, lasts: float) -> Inject:
    """The stamps of the joint states are off for some seconds."""
    def inject(stream: Stream, at: float, rng: np.random.Generator) -> Stream:
        begin = moving_from(stream, at, abs(by), lasts)
        return stream.rewritten(JOINTS, lambda t, m: [
            restamped(m, int(by * SECOND)) if begin <= t < begin + lasts else m])
    return inject


def reordered(stream: Stream, at: float, rng: np.random.Generator) -> Stream:
    """Joint states are stamped in the order in which they arrive, which is not that of the arm."""
    begin = moving_from(stream, at, 0.1)
    hits = [k for k, m in enumerate(stream.messages)
            if m.method == JOINTS and begin <= seconds(m) < begin + 1.0]
    order = np.argsort([stream.messages[k].arrival + int(rng.integers(0, _SPREAD)) for k in hits])
    messages = list(stream.messages)
    for hit, other in zip(hits, order.tolist(), strict=True):
        m, (_, names, positions) = stream.messages[hit], stream.messages[hits[other]].arguments
        messages[hit] = m._replace(arguments=(m.arguments[0], names, positions))
    return stream.sorted(messages)


def second_robot(lasts: float, back: float) -> Inject:
    """Another arm in another place publishes on both topics, then nobody, then the first again."""
    def inject(stream: Stream, at: float, rng: np.random.Generator) -> Stream:
        shift, late = int(7.31 * SECOND), int(rng.integers(100_000, 4_900_000))
        out = []
        for m in stream.messages:
            t = seconds(m)
            if at + lasts <= t < at + lasts + back:
                continue
            out.append(m)
            if at <= t - shift / SECOND < at + lasts:
                out.append(moved(m, late - shift))
        return stream.sorted(out)
    return inject


TALKERS = (
    Fault("second publisher of the wrench, zeros", "streams_mixed.wrench", second_wrench(3.0, 0.0),
          4.5),
    Fault("second publisher of the wrench, constant", "streams_mixed.wrench", second_wrench(3.0,
                                                                                            5.0),
                                                                                            4.5),
    Fault("joint states frozen for 0.2 s", "motion_frozen.joints", frozen(0.2), 1.2, on=(JOINTS,)),
    Fault("joint states frozen for 5 s", "motion_frozen.joints", frozen(5.0), 6.0, on=(JOINTS,)),
    Fault("one joint frozen for 3 s", "motion_frozen.joints", frozen(3.0, only=4), 4.0,
          on=(JOINTS,)),
    Fault("transforms frozen for 2 s", "motion_frozen.transforms", transforms_frozen, 3.0,
          on=(TRANSFORM,)),
    Fault("stamps of joint states 0.4 s ahead", "streams_mixed.joints", stamps_moved(0.4, 3.0), 4.0,
          on=(JOINTS,)),
    Fault("stamps of joint states 0.4 s behind", "streams_mixed.joints", stamps_moved(-0.4, 3.0),
          4.0, on=(JOINTS,)),
    Fault("joint states with each other's stamps", "streams_mixed.joints", reordered, 2.0,
          on=(JOINTS,)),
    Fault("second robot on all topics, then silence", "streams_mixed.joints",
          second_robot(3.0, 1.0), 5.5, on=(JOINTS,)),
)
