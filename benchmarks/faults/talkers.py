# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Faults of whole publishers: two of one topic, and joint states that freeze, jump or are moved."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .stream import JOINTS, SECOND, WRENCH, Message, Stream, restamped, seconds

Inject = Callable[[Stream, float, np.random.Generator], Stream]
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


def frozen(lasts: float) -> Inject:
    """Joint states repeat one position with fresh stamps, while the arm moves on."""
    def inject(stream: Stream, at: float, rng: np.random.Generator) -> Stream:
        held: list[float] = []

        def change(t: float, m: Message) -> list[Message]:
            if not at <= t < at + lasts:
                return [m]
            stamp, names, positions = m.arguments
            held[:] = held or positions
            return [m._replace(arguments=(stamp, names, list(held)))]
        return stream.rewritten(JOINTS, change)
    return inject


def stamps_moved(by: float, lasts: float) -> Inject:
    """The stamps of the joint states are off for some seconds."""
    def inject(stream: Stream, at: float, rng: np.random.Generator) -> Stream:
        return stream.rewritten(JOINTS, lambda t, m: [
            restamped(m, int(by * SECOND)) if at <= t < at + lasts else m])
    return inject


def reordered(stream: Stream, at: float, rng: np.random.Generator) -> Stream:
    """Joint states are stamped in the order in which they arrive, which is not that of the arm."""
    hits = [k for k, m in enumerate(stream.messages)
            if m.method == JOINTS and at <= seconds(m) < at + 1.0]
    order = np.argsort([stream.messages[k].arrival + int(rng.integers(0, _SPREAD)) for k in hits])
    messages = list(stream.messages)
    for hit, other in zip(hits, order.tolist(), strict=True):
        m, (_, names, positions) = stream.messages[hit], stream.messages[hits[other]].arguments
        messages[hit] = m._replace(arguments=(m.arguments[0], names, positions))
    return stream.sorted(messages)


def late(stream: Stream, at: float, rng: np.random.Generator) -> Stream:
    """Joint states overtake each other by up to 60 ms, with their own stamps."""
    def change(t: float, m: Message) -> list[Message]:
        delay = int(rng.integers(0, _SPREAD)) if at <= t < at + 1.0 else 0
        return [m._replace(arrival=m.arrival + delay)]
    return stream.rewritten(JOINTS, change)


def second_robot(lasts: float, back: float) -> Inject:
    """Another arm in another place publishes on both topics, then nobody, then the first again."""
    def inject(stream: Stream, at: float, rng: np.random.Generator) -> Stream:
        shift, late = int(7.31 * SECOND), int(rng.integers(100_000, 4_900_000))
        begin, out = stream.messages[0].arrival, []
        for m in stream.messages:
            t = seconds(m)
            if at + lasts <= t < at + lasts + back:
                continue
            out.append(m)
            stamp = m.arguments[0] - shift
            moved = m.arrival - shift
            if at <= (moved - begin) / SECOND < at + lasts:
                out.append(Message(moved + late, m.method, (stamp + late, *m.arguments[1:])))
        return stream.sorted(out)
    return inject
