# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Serialised messages of one topic as samples, many at once.

One ``control_msgs/DynamicJointState`` may hold wrench, joint positions and the payload that the
driver compensates: ros2_control's broadcasters publish every state interface there, by name of its
joint or sensor, all under one stamp. Drivers state the payload as ``payload/mass``,
``payload/cog.x``, ... and, newer ones, ``payload/inertia.ixx``, ..., about the centre of mass.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..inertia import PARAMETER_NAMES, Array
from ..limits import MAX_JOINTS, MAX_TRANSFORMS
from ..settings import DynamicJointStatesSettings
from . import cdr
from .sample_blocks import Edges, JointStates, Samples, Wrenches

FORCES = ("force.x", "force.y", "force.z", "torque.x", "torque.y", "torque.z")
PAYLOAD = ("mass", "cog.x", "cog.y", "cog.z")
ENTRIES = PARAMETER_NAMES[4:]
INERTIA = tuple(f"inertia.{entry}" for entry in ENTRIES)
Interfaces = Mapping[tuple[str, str], Any]  # numbers or columns by joint or sensor, and interface


class Block(NamedTuple):
    """Samples of one stream, and the messages (n,) by number that they come from."""

    messages: np.ndarray
    samples: Samples


class Decoded(NamedTuple):
    """What messages hold.

    Attributes:
        blocks: a stream may have several.
        payload: mass [kg], centre of mass (3,) [m] and inertia about it (6,) [kg m^2] that the
            newest message states, in the frame of the sensor; None: none does.
        damaged: number of messages that cannot be used; why: of the last of them.
    """

    blocks: list[Block]
    payload: Array | None = None
    damaged: int = 0
    why: str = ""


def wrenches(messages: Sequence[bytes]) -> Decoded:
    """Of geometry_msgs/WrenchStamped."""
    return _decode(cdr.learn_wrench, messages, lambda w, n: [
        Wrenches(w.stamp_ns, w.frame_id, _rows(w.wrench, n))])


def joint_states(messages: Sequence[bytes]) -> Decoded:
    """Of sensor_msgs/JointState; messages without positions give none."""
    def samples(state: Any, n: int) -> list[Samples]:
        _require(len(state.names) <= MAX_JOINTS, f"it has {len(state.names)} joints; at most "
                 f"{MAX_JOINTS} are accepted")
        efforts = _rows(state.efforts, n) if len(state.efforts) == len(state.names) else None
        return [JointStates(state.stamp_ns, state.names, _rows(state.positions, n), efforts)]
    return _decode(cdr.learn_joint_state, messages, samples)


def transforms(messages: Sequence[bytes]) -> Decoded:
    """Of tf2_msgs/TFMessage, each edge of the tree a stream of its own."""
    def samples(edges: Any, n: int) -> list[Samples]:
        _require(len(edges) <= MAX_TRANSFORMS, f"it has {len(edges)} transforms; at most "
                 f"{MAX_TRANSFORMS} are accepted")
        return [Edges(e.stamp_ns, e.parent, e.child, _rows([*e.translation, *e.quaternion], n))
                for e in edges]
    return _decode(cdr.learn_transforms, messages, samples)


def dynamic_joint_states(messages: Sequence[bytes], settings: DynamicJointStatesSettings,
                         frame: str) -> Decoded:
    """Of control_msgs/DynamicJointState.

    Args:
        settings: names of the sensor and of the payload in it; frame: of the wrench, which the
            messages do not name.
    """
    newest: list[tuple[int, Array]] = []

    def samples(state: Any, n: int) -> list[Samples]:
        values: Interfaces = state.values
        _require(len(values) <= MAX_JOINTS * 32, f"it has {len(values)} interfaces")
        names = tuple(name for name, kind in values if kind == "position")
        out: list[Samples] = []
        if names:
            efforts = [values[name, "effort"] for name in names if (name, "effort") in values]
            out.append(JointStates(
                state.stamp_ns, names, _rows([values[name, "position"] for name in names], n),
                _rows(efforts, n) if len(efforts) == len(names) else None))
        forces = [values[settings.sensor, kind] for kind in FORCES
                  if (settings.sensor, kind) in values]
        if len(forces) == len(FORCES):
            out.append(Wrenches(state.stamp_ns, frame, _rows(forces, n)))
        payload = stated_payload(values, settings.payload)
        if payload is not None:
            newest.append((int(state.stamp_ns[-1]), payload))
        return out

    decoded = _decode(cdr.learn_dynamic, messages, samples)
    return decoded._replace(payload=max(newest, key=lambda p: p[0])[1] if newest else None)


def stated_payload(values: Interfaces, name: str) -> Array | None:
    """Mass, centre of mass and inertia about it (10,) of the payload that a driver states under a
    name, as its newest values; None where it states none."""
    if any((name, kind) not in values for kind in PAYLOAD):
        return None
    # A driver that publishes no inertia does not compensate that of the payload.
    return np.array([np.ravel(values.get((name, kind), 0.0))[-1] for kind in PAYLOAD + INERTIA])


def interfaces_of(message: Any) -> dict[tuple[str, str], float]:
    """Values by joint or sensor, and interface, of a control_msgs/DynamicJointState."""
    return {(name, kind): float(value)
            for name, some in zip(message.joint_names, message.interface_values, strict=False)
            for kind, value in zip(some.interface_names, some.values, strict=False)}


def inertia_numbers(i: Any) -> Array:
    """Mass, centre of mass and inertia about it (10,) of a geometry_msgs/Inertia."""
    return np.array([i.m, i.com.x, i.com.y, i.com.z, *(getattr(i, name) for name in ENTRIES)])


def _decode(learn: cdr.Learn, messages: Sequence[bytes],
            samples: Callable[[Any, int], list[Samples]]) -> Decoded:
    """Decode messages; samples: of columns, and their length (raises ValueError)."""
    blocks: list[Block] = []
    damaged, why = 0, ""
    for index, content in cdr.groups(learn, messages):
        try:
            if isinstance(content, ValueError):
                raise content
            blocks += [Block(index, some) for some in samples(content, len(index))]
        except ValueError as error:
            damaged, why = damaged + len(index), str(error)
    return Decoded(_joined(blocks), None, damaged, why)


def _joined(blocks: list[Block]) -> list[Block]:
    """One block of each stream, in the order of the messages."""
    streams: dict[tuple[Any, ...], list[Block]] = {}
    for block in blocks:
        labels = tuple(v for v in block.samples if not isinstance(v, np.ndarray))
        streams.setdefault((type(block.samples), labels), []).append(block)
    return [group[0] if len(group) == 1 else _in_order(group) for group in streams.values()]


def _in_order(group: list[Block]) -> Block:
    index = np.concatenate([block.messages for block in group])
    order = np.argsort(index, kind="stable")
    columns = zip(*(block.samples for block in group), strict=True)
    return Block(index[order], type(group[0].samples)(*(  # type: ignore[arg-type]
        np.concatenate(some)[order] if isinstance(some[0], np.ndarray) else some[0]
        for some in columns)))


def _require(fits: bool, text: str) -> None:
    if not fits:
        raise ValueError(text)


def _rows(columns: Sequence[Any], count: int) -> Array:
    """Columns (n,) side by side (n, columns)."""
    rows = np.empty((count, len(columns)))
    for k, column in enumerate(columns):
        rows[:, k] = column
    return rows
