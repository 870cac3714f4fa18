# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Faults of the inputs: each changes the messages of a run, and names the finding that must come.

A message is (arrival [s], kind, stamp [s], content): kind "joints" with (names, positions),
"wrench" with (6,), "pose" with (7,). Times count from the beginning of the run.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from .generator import Array, Rng, direction


class Message(NamedTuple):
    """See above."""

    at: float
    kind: str
    stamp: float
    content: Any

    def moved(self, by: float) -> "Message":
        """The same at another time [s], its stamp with it."""
        return self._replace(at=self.at + by, stamp=self.stamp + by)


Stream = list[Message]
Inject = Callable[[Stream, float, Rng], Stream]  # of a stream, a time [s]: another stream
Change = Callable[[Message], list[Message]]


class Fault(NamedTuple):
    """What is injected; finding: names it; lasts: so long, and what it leaves behind [s]; setup: it
    is there from the beginning, and no estimate is right; on: kind of messages that it needs."""

    inject: Inject
    finding: str
    lasts: float = 1.0
    setup: bool = False
    on: str = "joints"
    settings: tuple[tuple[str, Any], ...] = ()


def each(kind: str, lasts: float, change: Callable[[Message, Rng], list[Message]]) -> Inject:
    """Messages of a kind replaced by others for some seconds."""
    def inject(stream: Stream, at: float, rng: Rng) -> Stream:
        out: Stream = []
        for m in stream:
            out += change(m, rng) if m.kind == kind and at <= m.at < at + lasts else [m]
        return sorted(out, key=lambda m: m.at)
    return inject


def every(change: Callable[[Message], Message]) -> Inject:
    """All messages from a time on."""
    return lambda stream, at, rng: [change(m) if m.at >= at else m for m in stream]


def _not_finite(m: Message, rng: Rng) -> list[Message]:
    wrench = np.array(m.content)
    if rng.random() < 0.2:
        wrench[rng.integers(6)] = rng.choice([np.nan, np.inf, -np.inf])
    return [m._replace(content=wrench)]


def _other_device(m: Message, rng: Rng) -> list[Message]:
    names, q = m.content
    order = rng.permutation(len(names))
    return [m._replace(content=(("finger_left", "finger_right"), np.array([0.01, 0.02]))),
            m._replace(content=(tuple(names[k] for k in order), q[order]))]


def _stray(kind: str) -> Inject:
    def inject(stream: Stream, at: float, rng: Rng) -> Stream:
        hits = [k for k, m in enumerate(stream) if m.kind == kind and m.at >= at][:100]
        for hit, by in zip(rng.choice(hits, 2, replace=False), (100.0, -100.0), strict=True):
            stream[hit] = stream[hit]._replace(stamp=stream[hit].stamp + by)
        return stream
    return inject


def _saturated(stream: Stream, at: float, rng: Rng) -> Stream:
    push = np.r_[300.0 * direction(rng), np.zeros(3)]
    return [m._replace(content=np.clip(m.content + push * (at <= m.at < at + 0.3), -150.0, 150.0))
            if m.kind == "wrench" else m for m in stream]


def _contact(stream: Stream, at: float, rng: Rng) -> Stream:
    lasts, force = rng.uniform(0.3, 3.0), np.exp(rng.uniform(np.log(3.0), np.log(40.0)))
    push, lever = force * direction(rng), 0.15 * direction(rng)
    rise, wave, rough = rng.uniform(0.01, 0.2), rng.uniform(1.0, 4.0), rng.uniform(0.1, 0.5)

    def change(m: Message, rng: Rng) -> list[Message]:
        since = m.at - at
        f = min(1.0, since / rise, (lasts - since) / rise) * (push + rough * force * np.sin(
            2.0 * np.pi * wave * since * np.array([1.0, 1.3, 0.7])))
        return [m._replace(content=m.content + np.r_[f, np.cross(lever, f)])]
    return each("wrench", lasts, change)(stream, at, rng)


def _jump(jump: Callable[[Stream, float, Rng], Array], away: float = 0.0) -> Inject:
    def inject(stream: Stream, at: float, rng: Rng) -> Stream:
        by = jump(stream, at, rng)
        return [m._replace(content=m.content + by) if m.kind == "wrench" and m.at >= at else m
                for m in stream if m.kind != "wrench" or not at <= m.at < at + away]
    return inject


def _zero(stream: Stream, at: float, rng: Rng) -> Array:
    return -next(m.content for m in stream if m.kind == "wrench" and m.at >= at)


def _wrong_axes(stream: Stream, at: float, rng: Rng) -> Stream:
    turn = Rotation.from_rotvec(np.deg2rad(rng.uniform(40.0, 180.0)) * direction(rng))
    return [m._replace(content=turn.apply(m.content.reshape(2, 3)).ravel())
            if m.kind == "wrench" else m for m in stream]


def _second_wrench(lasts: float, size: float) -> Inject:
    def inject(stream: Stream, at: float, rng: Rng) -> Stream:
        other = size * np.r_[rng.normal(size=3), 0.1 * rng.normal(size=3)]
        late = rng.uniform(1e-4, 4.9e-3)
        return each("wrench", lasts, lambda m, _: [m, m.moved(late)._replace(content=other)])(
            stream, at, rng)
    return inject


def _moving_from(stream: Stream, at: float, lasts: float, again: float = 0.0) -> float:
    """When the arm begins to be elsewhere `lasts` (and `again`) later: at rest nothing shows."""
    some = [m for m in stream if m.kind == "joints" and m.at >= at]
    times, q = np.array([m.at for m in some]), np.array([m.content[1] for m in some])

    def gone(after: float) -> Array:
        later = np.minimum(np.searchsorted(times, times + after), len(times) - 1)
        return np.abs(q[later] - q).max(axis=1) > 0.05
    return float(times[np.argmax(gone(lasts) & (gone(again) if again else True))])


def _frozen(lasts: float, only: int | None = None) -> Inject:
    def inject(stream: Stream, at: float, rng: Rng) -> Stream:
        begin, held = _moving_from(stream, at, lasts), []

        def change(m: Message, rng: Rng) -> list[Message]:
            names, q = m.content
            held[:] = held or q
            row = np.array(held if only is None else q)
            row[slice(only, None if only is None else only + 1)] = held[slice(
                only, None if only is None else only + 1)]
            return [m._replace(content=(names, row))]
        return each("joints", lasts, change)(stream, begin, rng)
    return inject


def _poses_frozen(stream: Stream, at: float, rng: Rng) -> Stream:
    held = next(m.content for m in stream if m.kind == "pose" and m.at >= at)
    return each("pose", 2.0, lambda m, _: [m._replace(content=held)])(stream, at, rng)


def _restamped(by: float) -> Inject:
    return lambda stream, at, rng: each("joints", 3.0, lambda m, _: [
        m._replace(stamp=m.stamp + by)])(stream, _moving_from(stream, at, abs(by), 3.0), rng)


def _reordered(stream: Stream, at: float, rng: Rng) -> Stream:
    begin = _moving_from(stream, at, 0.1)
    hits = [k for k, m in enumerate(stream) if m.kind == "joints" and begin <= m.at < begin + 1.0]
    order = np.argsort([stream[k].at + rng.uniform(0.0, 0.06) for k in hits])
    contents = [stream[hits[k]].content for k in order]
    for hit, content in zip(hits, contents, strict=True):
        stream[hit] = stream[hit]._replace(content=content)
    return stream


def _second_robot(stream: Stream, at: float, rng: Rng) -> Stream:
    out, by = [], rng.uniform(1e-4, 4.9e-3) - 7.31
    for m in stream:
        out += [] if at + 3.0 <= m.at < at + 4.0 else [m]
        out += [m.moved(by)] if at <= m.at - 7.31 < at + 3.0 else []
    return sorted(out, key=lambda m: m.at)


def _none(m: Message, rng: Rng) -> list[Message]:
    return []


def _always(inject: Inject) -> Inject:
    return lambda stream, at, rng: inject(stream, 0.0, rng)


MIXED = "streams_mixed.joints"
FAULTS = {
    "NaN and infinity": Fault(each("wrench", 1.0, _not_finite), "samples_invalid.wrench"),
    "wrench missing": Fault(each("wrench", 1.5, _none), "samples_missing.wrench", 1.5),
    "motion missing": Fault(each("joints", 1.5, _none), "samples_missing.motion", 1.5),
    "wrench repeated": Fault(each("wrench", 1.0, lambda m, _: [m, m]), "samples_repeated.wrench"),
    "wrench late": Fault(each("wrench", 1.0, lambda m, rng: [
        m._replace(at=m.at + 0.6 * (rng.random() < 0.05))]), "samples_late.wrench", 1.6),
    "wrench out of order": Fault(each("wrench", 1.0, lambda m, rng: [
        m._replace(at=m.at + rng.uniform(0.0, 0.012))]), "samples_reordered.wrench"),
    "clock jumps back": Fault(every(lambda m: m._replace(stamp=m.stamp - 30.0)), "reset", 0.0),
    "clock jumps ahead": Fault(every(lambda m: m._replace(stamp=m.stamp + 3600.0)),
                               "samples_missing.wrench", 0.0),
    "stray stamps, wrench": Fault(_stray("wrench"), "stamp_stray.wrench"),
    "stray stamps, joints": Fault(_stray("joints"), "stamp_stray.joints"),
    "stray stamps, poses": Fault(_stray("pose"), "stamp_stray.transforms", on="pose"),
    "joints of another device": Fault(each("joints", 1.0, _other_device),
                                      "joint_states_incomplete"),
    "sensor saturated": Fault(_saturated, "samples_saturated.wrench", 0.3,
                              settings=(("wrench.range", (150.0, 0.0)),)),
    "contact": Fault(_contact, "contact", 3.0),
    "payload changed": Fault(lambda stream, at, rng: stream, "payload_changed", 0.0),
    "sensor zeroed": Fault(_jump(_zero), "zero_moved.wrench", 0.0),
    "driver restarted": Fault(_jump(lambda s, at, rng: np.r_[
        rng.normal(0.0, 4.0, 3), rng.normal(0.0, 0.3, 3)], 2.0), "zero_moved.wrench", 2.0),
    "second wrench, zeros": Fault(_second_wrench(3.0, 0.0), "streams_mixed.wrench", 4.5),
    "second wrench, constant": Fault(_second_wrench(3.0, 5.0), "streams_mixed.wrench", 4.5),
    "joints frozen for .2 s": Fault(_frozen(0.2), "motion_frozen.joints", 1.2),
    "joints frozen for 5 s": Fault(_frozen(5.0), "motion_frozen.joints", 6.0),
    "one joint frozen": Fault(_frozen(3.0, 4), "motion_frozen.joints", 4.0),
    "poses frozen": Fault(_poses_frozen, "motion_frozen.transforms", 3.0, on="pose"),
    "joints stamped ahead": Fault(_restamped(0.4), MIXED, 4.0),
    "joints stamped behind": Fault(_restamped(-0.4), MIXED, 4.0),
    "joints with others' stamps": Fault(_reordered, MIXED, 2.0),
    "second robot, then silence": Fault(_second_robot, MIXED, 5.5),
    "wrong sign": Fault(_always(lambda s, at, rng: [
        m._replace(content=-m.content) if m.kind == "wrench" else m for m in s]), "sign_wrong",
        setup=True),
    "wrong axes": Fault(_wrong_axes, "frame_wrong", setup=True),
    "two wrenches, always": Fault(_always(_second_wrench(99.0, 0.0)), "streams_mixed.wrench",
                                  setup=True),
    "poses transposed": Fault(_always(each("pose", 99.0, lambda m, _: [m._replace(
        content=np.r_[m.content[:3], -m.content[3:6], m.content[6]])])), "frame_wrong", setup=True,
        on="pose"),
}
