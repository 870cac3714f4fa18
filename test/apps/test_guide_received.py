# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Messages of the last minute as wrench and motion: against a payload of point masses."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from synthetic import (
    BODY,
    JOINTS,
    NOISE,
    RICH,
    SECOND,
    START,
    URDF,
    Scene,
    joint_messages,
    nanoseconds,
    stamps,
)

from inertial_id_ros.apps.guide.received import Received
from inertial_id_ros.inertia import phi_from_body
from inertial_id_ros.io import cdr
from inertial_id_ros.regression.rows import regressor_of
from inertial_id_ros.settings import Settings
from inertial_id_ros.signals.message_adapter import (
    JOINT_STATES,
    ROBOT_DESCRIPTION,
    TRANSFORMS,
    WRENCH,
)

SCENE = Scene(RICH)
DELAY = 4_000_000  # ns from stamp to arrival


class Messages:
    """Messages as objects in place of bytes."""

    def __init__(self) -> None:
        self.held: list[Any] = []
        decoders = dict.fromkeys((WRENCH.type, JOINT_STATES.type, ROBOT_DESCRIPTION.type,
                                  TRANSFORMS.type), self.decode)
        self.received = Received(Settings(), decoders)

    def decode(self, data: bytes) -> Any:
        return self.held[int(data)]  # ValueError where it is damaged

    def add(self, topic: Any, arrival_ns: int, message: Any) -> None:
        self.received.add(topic, arrival_ns, str(len(self.held)).encode())
        self.held.append(message)


@pytest.fixture
def messages() -> Messages:
    """Three seconds of wrench, joint states and a description."""
    made, t = Messages(), stamps(3.0, 200.0)
    made.add(ROBOT_DESCRIPTION, START, SimpleNamespace(data=URDF))
    for _, _, (stamp, names, positions) in joint_messages(SCENE, t).messages:
        made.add(JOINT_STATES, stamp + DELAY, cdr.JointState(
            stamp, tuple(names), tuple(positions), ()))
    noise = np.random.default_rng(4).normal(size=(len(t), 6)) * NOISE
    for stamp, reading in zip(nanoseconds(t), noise - SCENE.load(t, BODY), strict=True):
        force, torque = tuple(reading[:3]), tuple(reading[3:])
        made.add(WRENCH, int(stamp) + DELAY, cdr.Wrench(int(stamp), "tool0", force, torque))
    return made


def test_streams_tell_rate_delay_names_and_frame(messages: Messages) -> None:
    last = START + 10 * SECOND
    wrench = messages.received.wrench("/wrench", ("/driver",), 0, last)
    joints = messages.received.joints("/joint_states", ("/driver",), 0, last)
    assert wrench.names == ("tool0",) and wrench.rows.shape == (600, 6)
    assert wrench.rate == pytest.approx(200.0) and wrench.lag == pytest.approx(DELAY * 1e-9)
    assert set(JOINTS) <= set(joints.names) and joints.rows.shape[1] == len(joints.names)
    positions = messages.received.newest_positions()
    assert [positions[n] for n in joints.names] == joints.rows[-1].tolist()


def test_a_stretch_is_what_newton_and_euler_say(messages: Messages) -> None:
    stretch = messages.received.stretch(0, START + 10 * SECOND)
    assert stretch is not None and len(stretch.stamps) > 100
    mass, com, (xx, xy, xz, yy, yz, zz) = BODY.report[0], BODY.report[1:4], BODY.report[4:]
    phi = phi_from_body(mass, com, [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    left = -stretch.readings - regressor_of(stretch.motion) @ phi
    assert (left.std(axis=0) < 6.0 * NOISE).all() and (np.abs(left.mean(axis=0)) < NOISE).all()


def test_the_chain_holds_the_joints_that_move_the_sensor(messages: Messages) -> None:
    chain, beyond, missing = messages.received.chain(0, START + 10 * SECOND)
    assert set(chain) == set(JOINTS) and missing == ""
    assert not set(beyond) & set(JOINTS)
    nothing = Received(Settings())
    assert nothing.chain(0, 1)[2] and nothing.stretch(0, 1) is None and nothing.sensor_frame == ""


def test_what_is_older_than_a_minute_is_gone_but_what_is_latched_stays(messages: Messages) -> None:
    late = START + 100 * SECOND
    messages.add(WRENCH, late, cdr.Wrench(late, "tool0", (0.0,) * 3, (0.0,) * 3))
    assert len(messages.received.taken(WRENCH)) == 1 and messages.received.description == URDF


def test_damaged_messages_are_left_out(messages: Messages) -> None:
    before = len(messages.received.taken(WRENCH))
    messages.received.add(WRENCH, START, b"damaged")
    assert len(messages.received.taken(WRENCH)) == before


def test_the_link_that_is_told_most_seldom_speaks_for_the_transforms() -> None:
    made = Messages()
    for k in range(100):
        edges = [cdr.Edge(START + k, "base", "arm", (0.0,) * 3, (0.0, 0.0, 0.0, 1.0))]
        if k % 10 == 0:
            edges.append(cdr.Edge(START + k, "arm", "tool", (0.0,) * 3, (0.0, 0.0, 0.0, 1.0)))
        made.add(TRANSFORMS, START + k, edges)
    assert len(made.received.transforms("/tf", (), 0, START + 1000)) == 10
