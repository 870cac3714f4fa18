# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A short simulated recording, and mutations of it that leave its container intact."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rosbags.rosbag2 import Reader

from inertial_id_ros.apps.simulation.cobot import SimulatedCobot
from inertial_id_ros.apps.simulation.command_line import write_bag
from inertial_id_ros.apps.simulation.settings import CobotSettings

from .containers import STORE, Raw
from .texts import Rng, mutated_bytes

_FLOATS = (float("nan"), float("inf"), -float("inf"), 1e308, -1e308, 1e-320, 0.0, 1e6, -1.0)
_STRINGS = ("", "x", "/", "world", "ft_sensor", "base_link", "ä\U0001f4a5", "a" * 100_000)
_TIMES = (0, 1, -1, 2**62, -2**62, 2**63 - 1, 10**9, -10**9)


def simulate(folder: Path) -> SimulatedCobot:
    """Write three seconds at 100 Hz of an arm that carries a drill."""
    cobot = SimulatedCobot(CobotSettings(duration=3.0, rate=100.0, tf_rate=50.0, ramp=0.3))
    write_bag(folder, cobot, cobot.blocks(3.0), storage="mcap")
    return cobot


def read(folder: Path) -> list[Raw]:
    """All messages of a recording."""
    with Reader(folder) as reader:
        return [Raw(c.topic, c.msgtype, time, bytes(data)) for c, time, data in reader.messages()]


def some(messages: Sequence[Raw], rng: Rng) -> set[int]:
    """Which messages are touched: one, some, or all, of all topics or of one."""
    topic = str(rng.choice(sorted({m.topic for m in messages})))
    among = [k for k, m in enumerate(messages) if m.topic == topic or rng.random() < 0.02]
    share = float(rng.choice([0.0, 0.02, 0.3, 1.0]))
    return {k for k in among if rng.random() < share} | {among[int(rng.integers(len(among)))]}


def with_mutated_bytes(messages: Sequence[Raw], rng: Rng) -> list[Raw]:
    """Bytes of messages mutated: cut payloads, enormous lengths, other numbers."""
    chosen = some(messages, rng)
    return [m._replace(data=_damaged(m.data, rng)) if k in chosen else m
            for k, m in enumerate(messages)]


def _damaged(data: bytes, rng: Rng) -> bytes:
    if rng.random() < 0.3 and len(data) > 8:  # a length of a text or of an array
        at = 4 * int(rng.integers(len(data) // 4))
        return data[:at] + b"\xff\xff\xff\x7f" + data[at + 4:]
    return mutated_bytes(data, rng) if rng.random() < 0.7 else data[:int(rng.integers(len(data)))]


def with_other_values(messages: Sequence[Raw], rng: Rng) -> list[Raw]:
    """Fields of messages changed: numbers that are none, stamps, frames, lengths of lists."""
    chosen, out = some(messages, rng), []
    place, value = float(rng.random()), int(rng.integers(1 << 30))
    for k, m in enumerate(messages):
        if k in chosen:
            content = STORE.deserialize_cdr(m.data, m.type)
            _change(content, place, np.random.default_rng(value))
            m = m._replace(data=bytes(STORE.serialize_cdr(content, m.type)))
        out.append(m)
    return out


def _change(content: Any, place: float, rng: Rng) -> None:
    """Change the field at this part of a message's fields."""
    leaves = list(_leaves(content))
    holder, key = leaves[int(place * len(leaves))]
    get, put = (holder.__getitem__, holder.__setitem__) if isinstance(holder, list) else (
        lambda k: getattr(holder, k), lambda k, v: object.__setattr__(holder, k, v))
    value = get(key)
    if isinstance(value, bool):
        put(key, not value)
    elif isinstance(value, int):
        put(key, int(rng.choice([0, 1, 999_999_999, 2**31 - 1])))
    elif isinstance(value, float):
        put(key, float(rng.choice(_FLOATS)))
    elif isinstance(value, str):
        put(key, str(rng.choice(_STRINGS)))
    elif isinstance(value, np.ndarray):
        put(key, rng.choice(_FLOATS, int(rng.choice([0, 1, len(value), 7, 5000]))))
    elif isinstance(value, list):
        put(key, value * int(rng.choice([0, 2, 1500])))


def _leaves(content: Any) -> Any:
    if isinstance(content, list):
        for k, item in enumerate(content):
            yield content, k
            yield from _leaves(item)
    elif dataclasses.is_dataclass(content):
        for field in dataclasses.fields(content):
            value = getattr(content, field.name)
            if field.name == "__msgtype__":
                continue
            if not dataclasses.is_dataclass(value):
                yield content, field.name
            yield from _leaves(value)


def with_other_times(messages: Sequence[Raw], rng: Rng) -> list[Raw]:
    """Log times of some messages replaced, shifted or reversed."""
    chosen, shift = some(messages, rng), int(rng.choice(_TIMES))
    if rng.random() < 0.2:
        return list(reversed(messages))
    kind = rng.random()
    return [m._replace(time=_clipped(shift if kind < 0.4 else m.time + shift)) if k in chosen
            else m for k, m in enumerate(messages)]


def _clipped(time: int) -> int:
    return max(0, min(time, 2**63 - 1))


def with_other_topics(messages: Sequence[Raw], rng: Rng) -> list[Raw]:
    """Topics missing, of another type, under another name, twice, or without messages."""
    topics = sorted({m.topic for m in messages})
    one, other = (str(t) for t in rng.choice(topics, 2))
    types = {m.topic: m.type for m in messages}
    faults: tuple[Callable[[Raw], list[Raw]], ...] = (
        lambda m: [], lambda m: [m._replace(type=types[other])],
        lambda m: [m._replace(topic=other)], lambda m: [m, m],
        lambda m: [m, m._replace(type=types[other])], lambda m: [m, m._replace(topic="/ns" + one)],
        lambda m: [m._replace(data=b"")], lambda m: [m._replace(data=m.data[:4])])
    fault = faults[int(rng.integers(len(faults)))]
    return [new for m in messages for new in (fault(m) if m.topic == one else [m])]


def with_an_unrelated_topic(messages: Sequence[Raw], rng: Rng) -> list[Raw]:
    """Random bytes under a topic that nobody asked for; the rest is as it was."""
    kind = str(rng.choice(["sensor_msgs/msg/Imu", "nav_msgs/msg/Odometry", "std_msgs/msg/Header"]))
    extra = [Raw("/unrelated", kind, m.time, rng.bytes(int(rng.integers(1, 300))))
             for m in messages[::7]]
    return sorted([*messages, *extra], key=lambda m: m.time)


def joint_torques(urdf: str, names: Sequence[str], recorded: Any) -> list[Raw]:
    """Positions and torques of joints, times [s] from 1 on, as messages, after a description."""
    types, kind = STORE.types, "sensor_msgs/msg/JointState"
    out = [Raw("/robot_description", "std_msgs/msg/String", 10**9, bytes(STORE.serialize_cdr(
        types["std_msgs/msg/String"](data=urdf), "std_msgs/msg/String")))]
    for t, q, effort in zip(recorded.t, recorded.q, recorded.effort, strict=True):
        stamp = 10**9 + round(t * 1e9)
        time = types["builtin_interfaces/msg/Time"](sec=stamp // 10**9, nanosec=stamp % 10**9)
        message = types[kind](header=types["std_msgs/msg/Header"](stamp=time, frame_id=""),
                              name=list(names), position=q, velocity=np.zeros(0), effort=effort)
        out.append(Raw("/joint_states", kind, stamp, bytes(STORE.serialize_cdr(message, kind))))
    return out
