# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The faults: each changes a stream from some second on, and names the finding that must come."""

from __future__ import annotations

import math

import numpy as np
from scipy.spatial.transform import Rotation

from .fault import Fault, Inject
from .stream import (
    JOINTS,
    SECOND,
    TRANSFORM,
    WRENCH,
    Message,
    Stream,
    restamped,
    seconds,
    with_wrench,
    wrench_of,
)
from .talkers import TALKERS, second_wrench


def not_finite(stream: Stream, at: float, rng: np.random.Generator) -> Stream:
    """Every fifth wrench holds a NaN or infinity."""
    def change(t: float, m: Message) -> list[Message]:
        wrench = wrench_of(m)
        if at <= t < at + 1.0 and rng.random() < 0.2:
            wrench[rng.integers(6)] = rng.choice([math.nan, math.inf, -math.inf])
        return [with_wrench(m, wrench)]
    return stream.rewritten(WRENCH, change)


def missing(stream: Stream, at: float, rng: np.random.Generator) -> Stream:
    """No wrench for 1.5 s."""
    return stream.rewritten(WRENCH, lambda t, m: [] if at <= t < at + 1.5 else [m])


def motion_missing(stream: Stream, at: float, rng: np.random.Generator) -> Stream:
    """Neither joint states nor transforms for 1.5 s."""
    for method in (JOINTS, TRANSFORM):
        stream = stream.rewritten(method, lambda t, m: [] if at <= t < at + 1.5 else [m])
    return stream


def repeated(stream: Stream, at: float, rng: np.random.Generator) -> Stream:
    """Every wrench comes twice for a second."""
    return stream.rewritten(WRENCH, lambda t, m: [m, m] if at <= t < at + 1.0 else [m])


def late(stream: Stream, at: float, rng: np.random.Generator) -> Stream:
    """One in twenty wrenches comes 0.6 s after its stamp."""
    def change(t: float, m: Message) -> list[Message]:
        delay = at <= t < at + 1.0 and rng.random() < 0.05
        return [m._replace(arrival=m.arrival + delay * 600_000_000)]
    return stream.rewritten(WRENCH, change)


def out_of_order(stream: Stream, at: float, rng: np.random.Generator) -> Stream:
    """Wrenches overtake each other by up to 12 ms."""
    def change(t: float, m: Message) -> list[Message]:
        delay = int(rng.integers(0, 12_000_000)) if at <= t < at + 1.0 else 0
        return [m._replace(arrival=m.arrival + delay)]
    return stream.rewritten(WRENCH, change)


def clock_back(stream: Stream, at: float, rng: np.random.Generator) -> Stream:
    """All stamps jump back by 30 s: a bag that loops."""
    return stream.sorted([restamped(m, -30 * SECOND) if seconds(m) >= at else m
                          for m in stream.messages])


def clock_ahead(stream: Stream, at: float, rng: np.random.Generator) -> Stream:
    """All stamps jump ahead by an hour: the system clock is set."""
    return stream.sorted([restamped(m, 3600 * SECOND) if seconds(m) >= at else m
                          for m in stream.messages])


def stray(method: str) -> Inject:
    """One stamp is 100 s ahead, one 100 s behind."""
    def inject(stream: Stream, at: float, rng: np.random.Generator) -> Stream:
        hits = [k for k, m in enumerate(stream.messages)
                if m.method == method and seconds(m) >= at][:100]
        messages = list(stream.messages)
        for hit, by in zip(rng.choice(hits, 2, replace=False), (100, -100), strict=True):
            messages[hit] = restamped(messages[hit], by * SECOND)
        return stream.sorted(messages)
    return inject


def other_joints(stream: Stream, at: float, rng: np.random.Generator) -> Stream:
    """A gripper publishes on the same topic, and the arm's joints change their order."""
    def change(t: float, m: Message) -> list[Message]:
        if not at <= t < at + 1.0:
            return [m]
        stamp, names, positions = m.arguments
        order = rng.permutation(len(names))
        arm = m._replace(arguments=(stamp, [names[k] for k in order],
                                    [positions[k] for k in order]))
        return [m._replace(arguments=(stamp, ["finger_left", "finger_right"], [0.01, 0.02])), arm]
    return stream.rewritten(JOINTS, change)


def saturated(stream: Stream, at: float, rng: np.random.Generator) -> Stream:
    """A blow of 300 N on a sensor of 150 N for 0.3 s."""
    push = 300.0 * _direction(rng)

    def change(t: float, m: Message) -> list[Message]:
        wrench = wrench_of(m)
        wrench[:3] += push * (at <= t < at + 0.3)
        return [with_wrench(m, np.clip(wrench, -150.0, 150.0))]
    return stream.rewritten(WRENCH, change)


def contact(stream: Stream, at: float, rng: np.random.Generator) -> Stream:
    """Something pushes and scrapes for 0.3 to 3 s, with 3 to 40 N, at a point of the payload."""
    lasts, force = rng.uniform(0.3, 3.0), np.exp(rng.uniform(np.log(3.0), np.log(40.0)))
    push, lever = force * _direction(rng), 0.15 * _direction(rng)
    rise, wave, rough = rng.uniform(0.01, 0.2), rng.uniform(1.0, 4.0), rng.uniform(0.1, 0.5)

    def change(t: float, m: Message) -> list[Message]:
        if not at <= t < at + lasts:
            return [m]
        since = t - at
        size = min(1.0, since / rise, (lasts - since) / rise)
        f = size * (push + rough * force * np.sin(
            2.0 * np.pi * wave * since * np.array([1.0, 1.3, 0.7])))
        return [with_wrench(m, wrench_of(m) + np.r_[f, np.cross(lever, f)])]
    return stream.rewritten(WRENCH, change)


def zeroed(stream: Stream, at: float, rng: np.random.Generator) -> Stream:
    """The sensor is set to zero under its load."""
    jump = -wrench_of(next(m for m in stream.messages if m.method == WRENCH and seconds(m) >= at))
    return _offset(stream, at, jump)


def restarted(stream: Stream, at: float, rng: np.random.Generator) -> Stream:
    """The driver is away for 2 s and comes back with another zero."""
    jump = np.r_[rng.normal(0.0, 4.0, 3), rng.normal(0.0, 0.3, 3)]
    back = _offset(stream, at, jump)
    return back.rewritten(WRENCH, lambda t, m: [] if at <= t < at + 2.0 else [m])


def _offset(stream: Stream, at: float, jump: np.ndarray) -> Stream:
    def change(t: float, m: Message) -> list[Message]:
        return [with_wrench(m, wrench_of(m) + jump) if t >= at else m]
    return stream.rewritten(WRENCH, change)


def wrong_sign(stream: Stream, at: float, rng: np.random.Generator) -> Stream:
    """The wrench has the opposite sign from the beginning."""
    return stream.rewritten(WRENCH, lambda t, m: [with_wrench(m, -wrench_of(m))])


def wrong_frame(stream: Stream, at: float, rng: np.random.Generator) -> Stream:
    """The wrench is given in axes that are turned by 40 to 180 degrees."""
    turn = Rotation.from_rotvec(np.deg2rad(rng.uniform(40.0, 180.0)) * _direction(rng))

    def change(t: float, m: Message) -> list[Message]:
        return [with_wrench(m, turn.apply(wrench_of(m).reshape(2, 3)).ravel())]
    return stream.rewritten(WRENCH, change)


def transposed(stream: Stream, at: float, rng: np.random.Generator) -> Stream:
    """Transforms hold the inverse rotation."""
    def change(t: float, m: Message) -> list[Message]:
        *rest, q = m.arguments
        return [m._replace(arguments=(*rest, [-q[0], -q[1], -q[2], q[3]]))]
    return stream.rewritten(TRANSFORM, change)


def always(inject: Inject) -> Inject:
    """The fault is there from the beginning."""
    return lambda stream, at, rng: inject(stream, 0.0, rng)


def _direction(rng: np.random.Generator) -> np.ndarray:
    vector = rng.normal(size=3)
    return vector / np.linalg.norm(vector)


RANGE = (("wrench.range", (150.0, 0.0)),)
FAULTS = (
    Fault("NaN and infinity", "samples_invalid.wrench", not_finite),
    Fault("wrench missing for 1.5 s", "samples_missing.wrench", missing, 1.5),
    Fault("motion missing for 1.5 s", "samples_missing.motion", motion_missing, 1.5),
    Fault("wrench repeated", "samples_repeated.wrench", repeated),
    Fault("wrench late", "samples_late.wrench", late, 1.6),
    Fault("wrench out of order", "samples_reordered.wrench", out_of_order),
    Fault("clock jumps back", "reset", clock_back, 0.0),
    Fault("clock jumps ahead", "samples_missing.wrench", clock_ahead, 0.0),
    Fault("stray stamps of the wrench", "stamp_stray.wrench", stray(WRENCH)),
    Fault("stray stamps of joint states", "stamp_stray.joints", stray(JOINTS), on=(JOINTS,)),
    Fault("stray stamps of transforms", "stamp_stray.transforms", stray(TRANSFORM),
          on=(TRANSFORM,)),
    Fault("joint states of another device", "joint_states_incomplete", other_joints, on=(JOINTS,)),
    Fault("sensor saturated", "samples_saturated.wrench", saturated, 0.3, changes=RANGE),
    Fault("contact", "contact", contact, 3.0),
    Fault("sensor zeroed", "zero_moved.wrench", zeroed, 0.0),
    Fault("driver restarted", "zero_moved.wrench", restarted, 2.0),
    *TALKERS,
)
# These last from the beginning to the end: there must be no estimate, and a reason.
SETUP_FAULTS = (
    Fault("wrong sign", "sign_wrong", wrong_sign, math.inf),
    Fault("wrong sensor axes", "frame_wrong", wrong_frame, math.inf),
    Fault("two publishers of the wrench, always", "streams_mixed.wrench",
          always(second_wrench(99.0, 0.0)),
          math.inf),
    Fault("rotation transposed", "frame_wrong", transposed, math.inf, on=(TRANSFORM,)),
)


