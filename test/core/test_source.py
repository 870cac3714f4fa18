# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""From samples of all streams to motion and wrench, against MuJoCo's motion of the same arm; what
streams remember and name beside it, and where frames lie."""

from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from scenes import FRAME, NAMES, URDF, Truth, cobot, moved
from scenes import START as START_NS
from scipy.spatial.transform import Rotation

from inertial_id_ros.io.inputs import Edges, JointStates, Wrenches
from inertial_id_ros.motion.frames import place_of
from inertial_id_ros.motion.motion import BIN_NS, Motion
from inertial_id_ros.motion.source import Streams
from inertial_id_ros.settings import Settings

SECONDS, RATE = 11.0, 200.0
T = np.arange(round(SECONDS * RATE)) / RATE
STAMPS = START_NS + np.round(1e9 * T).astype(np.int64)
TRUTH = moved(5, SECONDS, RATE)
Q = TRUTH.q
NOISE = np.random.default_rng(6).normal(0.0, 0.1, (len(T), 6))


def at_times(motion: Motion) -> Truth:
    """The truth in the middle of bins."""
    at = 1e-9 * (motion.number * BIN_NS + BIN_NS // 2 - START_NS)
    return cobot(SECONDS, seed=5).truth(at)


def with_arm(frame: str = FRAME, rows: np.ndarray | None = None, part: slice = slice(None),
             **changes: Any) -> Streams:
    """Streams of an arm that have wrenches of a frame; rows None: noise."""
    streams = Streams(Settings().replace(changes))
    streams.set_robot_description(URDF)
    return with_wrenches(streams, frame, NOISE + 5.0 if rows is None else rows, part)


def with_wrenches(streams: Streams, frame: str = FRAME, rows: np.ndarray = NOISE,
                  part: slice = slice(None)) -> Streams:
    streams.add(Wrenches(STAMPS[part], frame, rows[part]))
    return streams


def add_joints(streams: Streams, part: slice = slice(None), q: np.ndarray = Q) -> None:
    streams.add(JointStates(STAMPS[part], NAMES, q[part]))


def names(streams: Streams) -> set[str]:
    return set(dict(streams.findings()))


def check(motion: Motion, off: float = 0.02) -> None:
    """Compare a motion with the truth."""
    at, want = 1e-9 * (motion.number * BIN_NS + BIN_NS // 2 - START_NS), at_times(motion)
    inner = (at > 0.15) & (at < SECONDS - 0.15)
    assert inner.sum() > 1060
    proper = motion.acceleration + 9.81 * motion.rotation[:, 2]
    for mine, theirs in ((proper, want.a_g), (motion.omega, want.omega),
                         (motion.alpha, want.alpha), (motion.position, want.position),
                         (motion.rotation, want.rotation)):
        assert np.abs(mine - theirs)[inner].max() < off


def moving() -> np.ndarray:
    """Poses of the sensor in the base (n, 7); either sign of a quaternion is the same."""
    sign = np.where(np.arange(len(T)) // 31 % 2, 1.0, -1.0)
    rows = np.hstack([TRUTH.position, Rotation.from_matrix(TRUTH.rotation).as_quat()])
    return rows * np.c_[np.ones((len(T), 3)), np.tile(sign[:, None], 4)]


def test_joint_states_tell_the_motion() -> None:
    streams = with_arm()
    streams.add(JointStates(STAMPS, ("finger", *NAMES), np.hstack([Q[:, :1], Q])))
    motion, stamps, rows, _ = streams.advance(finished=True)
    check(motion)
    np.testing.assert_array_equal(stamps, STAMPS)
    np.testing.assert_array_equal(rows, NOISE + 5.0)
    assert not streams.missing() and not names(streams)


@pytest.mark.parametrize("blocks", [1, 50])
def test_a_wrench_that_never_changes_again_is_named_while_it_lasts(blocks: int) -> None:
    rows, spans = NOISE + 5.0, []
    rows[400:] = rows[400]
    streams = with_arm(part=slice(0))
    for part in np.array_split(np.arange(len(T)), blocks):
        add_joints(with_wrenches(streams, FRAME, rows, part), part)
        spans += [(f.first, f.last) for f in streams.advance()[3]]
    assert "input_stuck.wrench" in names(streams)
    first, last = np.array(sorted(spans)).T
    assert abs(first[0] - STAMPS[400]) < 100_000_000 and last[-1] > STAMPS[-1] - 500_000_000
    assert (first[1:] - last[:-1] <= BIN_NS).all()  # without a gap


def test_joint_states_in_parts_and_turned_names() -> None:
    streams = with_arm()
    streams.add(JointStates(STAMPS[::2], NAMES[:2], Q[::2, :2]))
    assert NAMES[2] in streams.missing()
    assert not len(streams.advance()[0].number)
    for k in range(0, len(T), 50):
        streams.add(JointStates(STAMPS[k:k + 50], NAMES[:1:-1], Q[k:k + 50, :1:-1]))
    streams.add(JointStates(STAMPS, ("finger",), Q[:, :1]))
    check(streams.advance(finished=True)[0])
    assert dict(streams.findings())["joint_states_incomplete"]["count"] == len(T)


@pytest.mark.parametrize("moved", ["sensor", "joint"])
def test_transforms_alone_tell_the_motion(moved: str) -> None:
    """The sensor, or a link to which it is fixed, moves in a base that stands on a table."""
    streams, rows = with_wrenches(Streams(Settings())), moving()
    streams.frames.fix("map", "base", place_of([0.0, 0.0, 1.0], [0.0, 0.0, 0.0, 1.0]))
    if moved == "joint":
        streams.frames.fix("link", FRAME, pin.SE3.Identity())
    for k in range(0, len(T), 100):
        streams.add(Edges(STAMPS[k:k + 100], "base", FRAME if moved == "sensor" else "link",
                               rows[k:k + 100]))
        streams.add(Edges(STAMPS[k:k + 100], "base", "other", rows[k:k + 100]))
    motion, *_ = streams.advance(finished=True)
    check(motion._replace(position=motion.position - [0.0, 0.0, 1.0]))
    assert not streams.missing()
    child = FRAME if moved == "sensor" else "link"
    assert streams.moved_by is not None and streams.moved_by.names == (child,)


def test_two_moving_transforms() -> None:
    """A slow one that leads to the shoulder, and one from there."""
    streams = with_wrenches(Streams(Settings()))
    rows, slow = moving(), slice(None, None, 4)
    turn = Rotation.from_rotvec(0.3 * np.sin(T)[:, None] * [0.0, 0.0, 1.0]).as_quat()
    base = np.hstack([np.stack([0.1 * T, 0.0 * T, 0.0 * T], 1), turn])
    inverse = Rotation.from_quat(turn).inv()
    rest = np.hstack([inverse.apply(rows[:, :3] - base[:, :3]),
                      (inverse * Rotation.from_quat(rows[:, 3:])).as_quat()])
    streams.add(Edges(STAMPS[slow], "base", "shoulder", base[slow]))
    streams.add(Edges(STAMPS, "shoulder", FRAME, rest))
    check(streams.advance(finished=True)[0], off=0.05)


def test_another_mounting_and_a_clock_that_goes_back_begin_anew() -> None:
    streams = with_arm()
    add_joints(streams)
    streams.set_robot_description(URDF)
    streams.advance()
    assert streams.restarts == 0
    streams.set_robot_description(URDF.replace("0.09465", "0.1"))
    streams.advance()
    assert streams.restarts == 1
    back = 30 * 10**9
    streams.add(Wrenches(STAMPS - back, FRAME, NOISE))
    streams.add(JointStates(STAMPS - back, NAMES, Q))
    motion, stamps, *_ = streams.advance(finished=True)
    assert streams.restarts == 2
    np.testing.assert_array_equal(stamps, STAMPS - back)
    assert len(motion.number) > 1080
    assert dict(streams.findings())["reset"]["why"]
    assert streams.emptied().chain is streams.chain


def test_what_is_missing_and_what_cannot_be() -> None:
    streams = with_arm()
    add_joints(streams, q=np.rad2deg(Q))
    streams.advance()
    assert "wrong_units.joints" in names(streams)
    streams = with_arm()
    assert not len(streams.advance(finished=True)[0].number)
    streams.add(JointStates(STAMPS, (f"left_{NAMES[0]}",), Q[:, :1]))
    assert sorted(NAMES)[0] in streams.missing() and f"left_{NAMES[0]}" in streams.missing()
    assert "'nowhere'" in with_arm(**{"gravity.frame": "nowhere"}).missing()
    streams, rows = with_wrenches(Streams(Settings())), moving()
    assert streams.missing()
    rows[:, :3] = 0.3
    streams.add(Edges(STAMPS[::40], "base", FRAME, rows[::40]))
    streams.advance(finished=True)
    assert {"translation_constant", "motion_slow"} <= names(streams)


@pytest.mark.parametrize("how", ["fixed", "moving", "link", "none", "other"])
def test_the_wrench_of_another_frame_is_converted(how: str) -> None:
    """Equal forces that act at another place, and along turned axes."""
    streams = with_arm(part=slice(0), **{"wrench.sensor_frame": FRAME})
    tcp = pin.SE3(pin.rpy.rpyToMatrix(0.1, 0.2, 0.3), np.array([0.0, 0.05, 0.1]))
    true, said = NOISE + 5.0, "ft" if how == "other" else "tool0_controller"
    there = np.array([tcp.actInv(pin.Force(row)).vector for row in true])
    add_joints(streams)
    if how == "fixed":
        streams.frames.fix(FRAME, said, tcp)
    elif how == "link":
        said, tcp = "tool0", None
        flange = pin.SE3(np.eye(3), np.array([0.0, 0.0, 0.04]))
        there = np.array([flange.act(pin.Force(row)).vector for row in true])
    elif how == "moving":
        rows = moving()
        turn = Rotation.from_quat(rows[:, 3:])
        at = np.hstack([rows[:, :3] + turn.apply(tcp.translation),
                        (turn * Rotation.from_matrix(tcp.rotation)).as_quat()])
        streams.add(Edges(STAMPS, "base_link", said, at))
    _, _, readings, _ = with_wrenches(streams, said, there).advance(finished=True)
    kinds = {name for name in names(streams) if name.startswith("sensor_frame")}
    if how in ("none", "other"):
        assert kinds == {f"sensor_frame.{'unknown' if how == 'none' else 'replaced'}"}
    else:
        np.testing.assert_allclose(readings, true, atol=0.02)
        assert not kinds


def test_joint_states_that_come_late_take_the_place_of_transforms() -> None:
    some, later = slice(0, 600), slice(600, 1200)
    streams = with_arm(part=some)
    streams.add(Edges(STAMPS[some], "base_link", FRAME, moving()[some]))
    assert len(streams.advance()[0].number)
    assert streams.moved_by is not streams.chain and streams.restarts == 0
    add_joints(with_wrenches(streams, part=later), later)
    motion = streams.advance()[0]
    assert streams.restarts == 1 and streams.moved_by is streams.chain
    assert len(motion.number) > 200
    np.testing.assert_allclose(motion.position[20:-20], at_times(motion).position[20:-20],
                               atol=1e-3)


def test_a_tcp_that_is_set_elsewhere_begins_anew_and_small_noise_does_not() -> None:
    """The driver of Universal Robots tells where its TCP lies by transforms alone."""
    streams, rows = with_arm(part=slice(0), **{"wrench.sensor_frame": FRAME}), moving()
    turn, restarts = Rotation.from_quat(rows[:, 3:]), list[int]()
    for k in range(0, 1800, 100):
        part, tcp = slice(k, k + 100), [0.0, 0.05, 0.1 + 1e-6 * (k % 3) + 0.1 * (k >= 900)]
        at = np.hstack([rows[part, :3] + turn[part].apply(tcp), rows[part, 3:]])
        streams.add(Edges(STAMPS[part], "base_link", "tool0_controller", at))
        add_joints(with_wrenches(streams, "tool0_controller", part=part), part)
        streams.advance()
        restarts.append(streams.restarts)
    assert restarts[8] == 0 and restarts[-1] == 1


def test_links_lie_where_the_joints_put_them() -> None:
    streams = with_arm(part=slice(0, 600))
    add_joints(streams, slice(0, 600))
    streams.frames.fix("map", "base_link", pin.SE3(np.eye(3), np.array([1.0, 2.0, 3.0])))
    streams.frames.fix(FRAME, "camera", pin.SE3(np.eye(3), np.array([0.0, 0.0, 0.1])))
    streams.advance()
    model = pin.buildModelFromXML(streams.urdf)
    data, at = model.createData(), streams.joints.newest()
    q = np.array([at[name][1] for name in model.names[1:]])
    pin.framesForwardKinematics(model, data, q)
    tree, expected = streams.tree(), data.oMf[model.getFrameId(FRAME)]
    place, stamp = tree.place("base_link", FRAME)
    assert place.isApprox(expected, 1e-9)
    assert stamp == min(s for s, _ in at.values())
    assert tree.place(FRAME, "base_link")[0].isApprox(expected.inverse(), 1e-9)
    place, _ = tree.place("map", "camera")
    shifted = expected.translation + [1.0, 2.0, 3.0] + expected.rotation @ [0.0, 0.0, 0.1]
    np.testing.assert_allclose(place.translation, shifted, atol=1e-9)
