# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Messages of the last minute as streams, and as wrench and motion of the sensor."""

from __future__ import annotations

import numpy as np
import pytest
from wiggled import BIAS, DELAY, EPOCH, receive

from inertial_id_ros.apps.guide.proof import prove
from inertial_id_ros.apps.guide.received import Received, kinematics_of, place_in_root
from inertial_id_ros.apps.simulation.description import load_description
from inertial_id_ros.apps.simulation.payload import PAYLOADS
from inertial_id_ros.apps.simulation.write import STORE, header, make
from inertial_id_ros.io.input_topics import ROBOT_DESCRIPTION, STATIC_TRANSFORMS, TRANSFORMS, WRENCH
from inertial_id_ros.settings import Settings

NAMES = load_description().joint_names
SECOND = 10**9  # ns


@pytest.fixture(scope="module")
def received() -> Received:
    return receive(seconds=4.0)


def wrench_bytes(stamp: int, frame: str, row: np.ndarray) -> bytes:
    vectors = (make("geometry_msgs/Vector3", *part) for part in (row[:3], row[3:]))
    return bytes(STORE.serialize_cdr(make(
        "geometry_msgs/WrenchStamped", header(stamp, frame), make("geometry_msgs/Wrench", *vectors)
        ), "geometry_msgs/msg/WrenchStamped"))


def transform_bytes(stamp: int, child: str, parent: str = "base",
                    at: tuple[float, ...] = (0.0, 0.0, 0.0)) -> bytes:
    still = make("geometry_msgs/Transform", make("geometry_msgs/Vector3", *at),
                 make("geometry_msgs/Quaternion", 0.0, 0.0, 0.0, 1.0))
    return bytes(STORE.serialize_cdr(make("tf2_msgs/TFMessage", [make(
        "geometry_msgs/TransformStamped", header(stamp, parent), child, still)]),
        "tf2_msgs/msg/TFMessage"))


def test_streams_have_rate_delay_names_and_frame(received: Received) -> None:
    wrench, joints = received.wrench(), received.joints()
    assert wrench.names == ("ft_sensor",) and wrench.rows.shape == (800, 6)
    assert wrench.rate == pytest.approx(200.0) and wrench.lag == pytest.approx(DELAY * 1e-9)
    assert joints.names == NAMES and joints.rows.shape == (800, 6)
    assert len(received.wrench(EPOCH + SECOND, EPOCH + 2 * SECOND)) == 200
    newest = received.newest_positions()
    assert [newest[name] for name in NAMES] == joints.rows[-1].tolist()


def test_a_window_is_what_newton_and_euler_say(received: Received) -> None:
    window = received.window(EPOCH, EPOCH + 4 * SECOND)
    assert window.used.sum() > 350
    proof = prove(window, np.array(BIAS), np.zeros(10), PAYLOADS["drill"].phi, Settings())
    assert proof is not None
    left = (proof.measured - proof.after).std(axis=0)
    assert (left < 3.0 * np.repeat([0.1, 0.005], 3)).all()
    assert window.samples == pytest.approx(2.0, abs=0.1)


def test_the_chain_holds_the_joints_that_move_the_sensor(received: Received) -> None:
    streams = received.streams(EPOCH, EPOCH + SECOND)
    seen = kinematics_of(streams)
    assert set(seen["chain"]) == set(NAMES) and not seen["missing"] and seen["beyond"] == ()
    assert seen["frame"] == "ft_sensor"
    np.testing.assert_allclose(place_in_root(streams, "base_link"), np.eye(4), atol=1e-12)
    forearm = receive(seconds=1.0, node={"wrench.sensor_frame": "forearm_link"})
    assert set(kinematics_of(forearm.streams())["beyond"]) == {
        name for name in NAMES if name.startswith("wrist")}
    nothing = Received(Settings())
    assert kinematics_of(nothing.streams(0, 1))["missing"] and not nothing.window(0, 1).used.any()
    assert nothing.wrench().rate == 0.0 and nothing.newest_positions() == {}


def test_what_is_damaged_or_older_than_a_minute_is_left_out() -> None:
    some = receive(seconds=0.5)
    described = some.description
    some.add(WRENCH, EPOCH + SECOND, b"damaged")
    some.add(ROBOT_DESCRIPTION, EPOCH + SECOND, b"damaged")
    assert len(some.wrench()) == 100 and some.description == described
    late = EPOCH + 100 * SECOND
    some.add(WRENCH, late, wrench_bytes(late, "tool0", np.zeros(6)))
    assert len(some.wrench()) == 1 and some.description == described


def test_the_distance_of_the_tcp_is_read_where_the_driver_publishes_it() -> None:
    for child, distance in (("tool0_controller", 0.05), ("camera", 0.0)):
        made = Received(Settings())
        made.add(STATIC_TRANSFORMS, EPOCH, transform_bytes(
            EPOCH, child, "tool0", (0.0, 0.03, 0.04)))
        for k in range(100):
            stamp = EPOCH + 5_000_000 * k
            made.add(WRENCH, stamp, wrench_bytes(stamp, "tool0", np.arange(6.0) + 0.01 * k))
            made.add(TRANSFORMS, stamp, transform_bytes(stamp, "tool0"))
        seen = kinematics_of(made.streams(EPOCH, EPOCH + SECOND))
        assert seen["frame"] == "tool0" and seen["tcp"] == pytest.approx(distance)
