# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Many serialised messages become the samples that an independent library wrote."""

from __future__ import annotations

from typing import Any

import cdr_messages
import numpy as np
from cdr_messages import STORE
from rosbags.typesys import get_types_from_msg

from inertial_id_ros.io import decoding
from inertial_id_ros.io.sample_blocks import Edges, JointStates, Wrenches, split_by_time
from inertial_id_ros.settings import DynamicJointStatesSettings

STAMP = 1_785_000_000_123_456_789
DYNAMIC = "control_msgs/msg/DynamicJointState"
for _name, _text in {
        "control_msgs/msg/InterfaceValue": "string[] interface_names\nfloat64[] values\n",
        DYNAMIC: "std_msgs/Header header\nstring[] joint_names\n"
                 "control_msgs/InterfaceValue[] interface_values\n"}.items():
    if _name not in STORE.types:
        STORE.register(get_types_from_msg(_text, _name))


def dynamic(stamp: int, values: dict[str, dict[str, float]]) -> bytes:
    T = STORE.types
    header = T["std_msgs/msg/Header"](
        T["builtin_interfaces/msg/Time"](*divmod(stamp, 10**9)), "")
    held = [T["control_msgs/msg/InterfaceValue"](list(v), np.array(list(v.values())))
            for v in values.values()]
    return bytes(STORE.serialize_cdr(T[DYNAMIC](header, list(values), held), DYNAMIC))


def test_frames_and_byte_orders_are_streams_in_the_order_of_their_messages(
        rng: np.random.Generator) -> None:
    rows = rng.normal(size=(40, 6))
    frames = rng.choice(["a", "tool0"], 40)
    data = [cdr_messages.wrench(STAMP + k, frames[k], row[:3], row[3:], bool(k % 3))
            for k, row in enumerate(rows)]
    got = decoding.wrenches(data)
    assert got.damaged == 0 and len(got.blocks) == 2
    for block in got.blocks:
        wrench: Any = block.samples
        of_frame = np.flatnonzero(frames == wrench.frame_id)
        assert isinstance(wrench, Wrenches) and np.array_equal(block.messages, of_frame)
        assert np.array_equal(wrench.rows, rows[of_frame])
        assert np.array_equal(wrench.stamps, STAMP + of_frame)


def test_joint_states_keep_efforts_where_every_joint_has_one(rng: np.random.Generator) -> None:
    q, effort = rng.normal(size=(2, 3))
    both, bare, other = (decoding.joint_states([data] * 2).blocks[0].samples for data in (
        cdr_messages.joint_state(STAMP, "abc", q, q, effort),
        cdr_messages.joint_state(STAMP, "abc", q),
        cdr_messages.joint_state(STAMP, "abc", q, (), effort[:2])))
    assert isinstance(both, JointStates) and both.efforts is not None
    assert np.array_equal(both.efforts, [effort] * 2) and np.array_equal(both.positions, [q] * 2)
    assert isinstance(bare, JointStates) and bare.efforts is None
    assert isinstance(other, JointStates) and other.efforts is None


def test_each_edge_of_transforms_is_a_stream(rng: np.random.Generator) -> None:
    poses = rng.normal(size=(6, 2, 7))
    data = [cdr_messages.transforms([(STAMP + k, "world", child, p[:3], p[3:]) for child, p in zip(
        ("a", "b"), pose, strict=True)][:1 + k % 2]) for k, pose in enumerate(poses)]
    got = {block.samples.child: block.samples for block in decoding.transforms(data).blocks
           if isinstance(block.samples, Edges)}
    assert np.array_equal(got["a"].rows, poses[:, 0]) and np.array_equal(
        got["b"].rows, poses[1::2, 1])


def test_damaged_messages_are_counted_and_the_others_used() -> None:
    good = cdr_messages.wrench(STAMP, "a", (1, 2, 3), (4, 5, 6))
    got = decoding.wrenches([good[:-20], good, b"", good + bytes(40), good])
    assert got.damaged == 3 and got.why
    (block,) = got.blocks
    assert block.messages.tolist() == [1, 4]


def test_a_dynamic_joint_state_holds_wrench_joints_and_payload() -> None:
    wrench = dict(zip(decoding.FORCES, (1.0, 2.0, 3.0, 4.0, 5.0, 6.0), strict=True))
    values = {"arm_tcp_fts_sensor": wrench, "j": {"velocity": 0.0, "position": 1.0},
              "k": {"position": 2.0}, "io": {"output": 1.0},
              "arm_payload": {"cog.y": 0.2, "mass": 1.5, "cog.x": 0.1, "cog.z": 0.3}}
    data = [dynamic(STAMP + k, values) for k in range(3)]
    got = decoding.dynamic_joint_states(
        data, DynamicJointStatesSettings("/d", "arm_tcp_fts_sensor"), "tool0")
    joints, force = (block.samples for block in got.blocks)
    assert isinstance(joints, JointStates) and joints.names == ("j", "k")
    assert joints.positions.tolist() == [[1.0, 2.0]] * 3 and joints.efforts is None
    assert isinstance(force, Wrenches) and force.frame_id == "tool0"
    assert force.rows.tolist() == [[1, 2, 3, 4, 5, 6]] * 3
    assert got.payload is not None and got.payload.tolist() == [1.5, 0.1, 0.2, 0.3] + [0.0] * 6
    other = decoding.dynamic_joint_states(data, DynamicJointStatesSettings("/d", "wrist"), "tool0")
    assert len(other.blocks) == 1 and other.payload is None


def test_no_sample_is_lost_where_stamps_go_back(rng: np.random.Generator) -> None:
    for _ in range(20):
        stamps = STAMP + rng.integers(0, 10**9, 300)
        parts = list(split_by_time([Wrenches(stamps, "a", rng.normal(size=(300, 6)))], 70))
        assert np.array_equal(np.concatenate([p.stamps for part in parts for p in part]), stamps)
