# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""From samples of all streams to motion and wrench, against the truth of a simulated arm; what
streams remember and name beside it, and where frames lie."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from scipy.spatial.transform import Rotation

from benchmarks.referee import faults
from benchmarks.referee.generator import ARMS, FRAME, START_NS, Arm, Law, random_law
from inertial_id_ros.io.sample_blocks import Edges, JointStates, Wrenches
from inertial_id_ros.motion.causal import MotionNow
from inertial_id_ros.motion.frames import place_of
from inertial_id_ros.motion.motion import BIN_NS, Motion
from inertial_id_ros.motion.source import Streams
from inertial_id_ros.settings import Settings

ARM = ARMS[1]
SECONDS, RATE = 11.0, 200.0
T = np.arange(round(SECONDS * RATE)) / RATE
STAMPS = START_NS + np.round(1e9 * T).astype(np.int64)
LAW: Law = random_law(ARM, "joints", 0.8, SECONDS, np.random.default_rng(5))
Q = LAW(T).q
NOISE = np.random.default_rng(6).normal(0.0, 0.1, (len(T), 6))


def wrenches(streams: Streams, frame: str = FRAME) -> None:
    streams.add(Wrenches(STAMPS, frame, NOISE + 5.0))


def with_arm(**changes: Any) -> Streams:
    streams = Streams(Settings().replace(changes))
    streams.set_robot_description(ARM.urdf)
    return streams


def check(motion: Motion, arm: Arm = ARM, off: float = 0.02) -> None:
    """Compare a motion with the truth."""
    at = 1e-9 * (motion.number * BIN_NS + BIN_NS // 2 - START_NS)
    inner = (at > 0.15) & (at < SECONDS - 0.15)
    assert inner.sum() > 1060
    want = arm.motion(LAW(at))
    proper = motion.acceleration + 9.81 * motion.rotation[:, 2]
    for mine, theirs in ((proper, want.proper), (motion.omega, want.omega),
                         (motion.alpha, want.alpha), (motion.position, want.position),
                         (motion.rotation, want.axes.transpose(0, 2, 1))):
        assert np.abs(mine - theirs)[inner].max() < off


def poses() -> np.ndarray:
    """Of the sensor in the base (n, 7)."""
    true = ARM.motion(LAW(T))
    turn = Rotation.from_matrix(true.axes.transpose(0, 2, 1)).as_quat()
    sign = np.where(np.arange(len(T)) // 31 % 2, 1.0, -1.0)  # both tell the same
    return np.hstack([true.position, turn * sign[:, None]])


def test_joint_states_tell_the_motion() -> None:
    streams = with_arm()
    streams.add(JointStates(STAMPS, ("finger", *ARM.names), np.hstack([Q[:, :1], Q])))
    assert streams.missing().startswith("no wrench")
    wrenches(streams)
    motion, stamps, rows = streams.advance(finished=True)
    check(motion)
    np.testing.assert_array_equal(stamps, STAMPS)
    np.testing.assert_array_equal(rows, NOISE + 5.0)
    assert not streams.missing()
    assert not list(streams.findings())


@pytest.mark.parametrize("blocks", [1, 50])
def test_a_wrench_that_never_changes_again_is_named_while_it_lasts(blocks: int) -> None:
    streams, rows = with_arm(), NOISE + 5.0
    rows[400:] = rows[400]
    spans = []
    for part in np.array_split(np.arange(len(T)), blocks):
        streams.add(JointStates(STAMPS[part], ARM.names, Q[part]))
        streams.add(Wrenches(STAMPS[part], FRAME, rows[part]))
        streams.advance()
        spans += [(f.first, f.last) for f in streams.take_faults()]
    assert "input_stuck.wrench" in dict(streams.findings())
    first, last = np.array(sorted(spans)).T
    assert abs(first[0] - STAMPS[400]) < 100_000_000 and last[-1] > STAMPS[-1] - 500_000_000
    assert (first[1:] <= last[:-1]).all()  # without a gap


def test_joint_states_in_parts_and_turned_names() -> None:
    streams = with_arm()
    wrenches(streams)
    streams.add(JointStates(STAMPS[::2], ARM.names[:2], Q[::2, :2]))
    assert streams.missing().startswith("no joint states of joint3")
    assert not len(streams.advance()[0].number)
    for k in range(0, len(T), 50):
        streams.add(JointStates(STAMPS[k:k + 50], ARM.names[:1:-1], Q[k:k + 50, :1:-1]))
    streams.add(JointStates(STAMPS, ("finger",), Q[:, :1]))
    check(streams.advance(finished=True)[0])
    assert dict(streams.findings())["joint_states_incomplete"]["count"] == len(T)


@pytest.mark.parametrize("moved", ["sensor", "joint"])
def test_transforms_alone_tell_the_motion(moved: str) -> None:
    """The sensor, or a link to which it is fixed, moves in a base that stands on a table."""
    streams = Streams(Settings())
    wrenches(streams)
    rows = poses()
    streams.frames.fix("map", "base", place_of([0.0, 0.0, 1.0], [0.0, 0.0, 0.0, 1.0]))
    if moved == "joint":
        streams.frames.fix("link", FRAME, pin.SE3.Identity())
    for k in range(0, len(T), 100):
        streams.add(Edges(STAMPS[k:k + 100], "base", FRAME if moved == "sensor" else "link",
                               rows[k:k + 100]))
        streams.add(Edges(STAMPS[k:k + 100], "base", "other", rows[k:k + 100]))
    motion, _, _ = streams.advance(finished=True)
    check(motion._replace(position=motion.position - [0.0, 0.0, 1.0]))
    assert not streams.missing()
    child = FRAME if moved == "sensor" else "link"
    assert streams.moved_by is not None and streams.moved_by.names == (child,)
    now = MotionNow(streams.moved_by)
    for stamp, row in zip(STAMPS[:400].tolist(), rows, strict=False):
        now.update_pose(stamp, child, row)
    state, want = now.at(int(STAMPS[399])), ARM.motion(LAW(T[399:400]))
    assert state is not None
    np.testing.assert_allclose(state.omega, want.omega[0], atol=0.02)
    np.testing.assert_allclose(state.proper, want.proper[0], atol=0.1)


def test_two_moving_transforms() -> None:
    """A slow one that leads to the shoulder, and one from there."""
    streams = Streams(Settings())
    wrenches(streams)
    rows, slow = poses(), slice(None, None, 4)
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
    wrenches(streams)
    streams.add(JointStates(STAMPS, ARM.names, Q))
    streams.set_robot_description(ARM.urdf)
    streams.advance()
    assert streams.restarts == 0
    streams.set_robot_description(ARM.urdf.replace("0.09465", "0.1"))
    streams.advance()
    assert streams.restarts == 1
    back = 30 * 10**9
    streams.add(Wrenches(STAMPS - back, FRAME, NOISE))
    streams.add(JointStates(STAMPS - back, ARM.names, Q))
    motion, stamps, _ = streams.advance(finished=True)
    assert streams.restarts == 2
    np.testing.assert_array_equal(stamps, STAMPS - back)
    assert len(motion.number) > 1080
    assert "reset" in dict(streams.findings())
    assert streams.emptied().chain is streams.chain


def test_what_is_missing_and_what_cannot_be() -> None:
    streams = with_arm()
    streams.add(JointStates(STAMPS, ARM.names, np.rad2deg(Q)))
    wrenches(streams)
    streams.advance()
    assert "wrong_units.joints" in dict(streams.findings())
    streams = with_arm()
    wrenches(streams)
    assert not len(streams.advance(finished=True)[0].number)
    streams.add(JointStates(STAMPS, ("left_joint1",), Q[:, :1]))
    assert streams.missing().startswith("no joint states of joint1")
    assert streams.missing().endswith("(but of left_joint1)")
    streams = with_arm(**{"gravity.frame": "nowhere"})
    wrenches(streams)
    assert "'nowhere'" in streams.missing()
    streams = Streams(Settings())
    wrenches(streams)
    assert streams.missing().startswith("no motion")
    rows = poses()
    rows[:, :3] = 0.3
    streams.add(Edges(STAMPS[::40], "base", FRAME, rows[::40]))
    streams.advance(finished=True)
    names = dict(streams.findings())
    assert {"translation_constant", "motion_slow"} <= names.keys()


@pytest.mark.parametrize("how", ["fixed", "moving", "link", "none", "other"])
def test_the_wrench_of_another_frame_is_converted(how: str) -> None:
    """Equal forces that act at another place, and along turned axes."""
    streams = with_arm(**{"wrench.sensor_frame": FRAME})
    tcp = pin.SE3(pin.rpy.rpyToMatrix(0.1, 0.2, 0.3), np.array([0.0, 0.05, 0.1]))
    true, said = NOISE + 5.0, "ft" if how == "other" else "tool0_controller"
    there = np.array([tcp.actInv(pin.Force(row)).vector for row in true])
    streams.add(JointStates(STAMPS, ARM.names, Q))
    if how == "fixed":
        streams.frames.fix(FRAME, said, tcp)
    elif how == "link":
        said, tcp = "link6", None
        last = ARM.places[-1]
        flange = pin.SE3(last[1].as_matrix(), np.asarray(last[0]))
        there = np.array([flange.act(pin.Force(row)).vector for row in true])
    elif how == "moving":
        rows = poses()
        turn = Rotation.from_quat(rows[:, 3:])
        at = np.hstack([rows[:, :3] + turn.apply(tcp.translation),
                        (turn * Rotation.from_matrix(tcp.rotation)).as_quat()])
        streams.add(Edges(STAMPS, "link0", said, at))
    streams.add(Wrenches(STAMPS, said, there))
    _, _, readings = streams.advance(finished=True)
    kinds = {name for name in names(streams) if name.startswith("sensor_frame")}
    if how in ("none", "other"):
        assert kinds == {f"sensor_frame.{'unknown' if how == 'none' else 'replaced'}"}
    else:
        np.testing.assert_allclose(readings, true, atol=0.02)
        assert not kinds


def named(item: faults.Fault, seed: int) -> dict[str, float]:
    """When each finding comes after a fault in the middle [s]."""
    kind, rows = ("joints", Q) if item.on == "joints" else ("pose", poses())
    q = rows + 1e-4 * np.random.default_rng(seed).normal(size=Q.shape) if kind == "joints" else rows
    stream = []
    for at, row, reading in zip(T.tolist(), q, NOISE + 5.0, strict=True):
        stream += [faults.Message(at, kind, at, (ARM.names, row) if kind == "joints" else row),
                   faults.Message(at, "wrench", at, reading)]
    stream = item.inject(stream, 2.0, np.random.default_rng(seed))
    streams = Streams(Settings().replace({"wrench.range": (150.0, 0.0)}))
    streams.set_robot_description(ARM.urdf if kind == "joints" else "")
    out: dict[str, float] = {}
    bins, advance = 0, 0.0
    for m in stream:
        stamp = np.array([START_NS + round(1e9 * m.stamp)])
        if m.kind == "joints":
            streams.add(JointStates(stamp, m.content[0], m.content[1][None]))
        elif m.kind == "wrench":
            streams.add(Wrenches(stamp, FRAME, np.asarray(m.content)[None]))
        else:
            streams.add(Edges(stamp, "base", FRAME, m.content[None]))
        if m.at >= advance:
            advance += 0.05
            bins += len(streams.advance()[0].number)
            out = {**{n: m.at - 2.0 for n, _ in streams.findings()}, **out}
    assert bins > 150
    return out


NAMES = [name for name, item in faults.FAULTS.items() if not item.setup and item.finding.split(".")[
    0] not in ("contact", "payload_changed", "zero_moved")]


@pytest.mark.parametrize("name", NAMES)
def test_faults_are_named(name: str) -> None:
    item = faults.FAULTS[name]
    found = named(item, 1)
    assert item.finding in found
    assert found[item.finding] < item.lasts + 0.75


SOME = slice(0, 600)


def names(streams: Streams) -> set[str]:
    return set(dict(streams.findings()))


def moved(streams: Streams, readings: np.ndarray = NOISE, frame: str = FRAME,
          part: slice = SOME) -> Streams:
    """Wrench and joint states of three seconds."""
    streams.add(Wrenches(STAMPS[part], frame, readings[part]))
    streams.add(JointStates(STAMPS[part], ARM.names, Q[part]))
    return streams


def test_joint_states_that_come_late_take_the_place_of_transforms() -> None:
    streams = with_arm()
    streams.add(Wrenches(STAMPS[SOME], FRAME, NOISE[SOME]))
    streams.add(Edges(STAMPS[SOME], "link0", FRAME, poses()[SOME]))
    assert len(streams.advance()[0].number)
    assert streams.moved_by is not streams.chain and streams.restarts == 0
    later = slice(600, 1200)
    moved(streams, part=later)
    motion = streams.advance()[0]
    assert streams.restarts == 1 and streams.moved_by is streams.chain
    true = ARM.motion(LAW(1e-9 * (motion.number * BIN_NS + BIN_NS // 2 - START_NS)))
    assert len(motion.number) > 200
    np.testing.assert_allclose(motion.position[20:-20], true.position[20:-20], atol=1e-3)


def test_a_tcp_that_is_set_elsewhere_begins_anew_and_small_noise_does_not() -> None:
    """The driver of Universal Robots tells where its TCP lies by transforms alone."""
    streams, rows = with_arm(**{"wrench.sensor_frame": FRAME}), poses()
    turn, restarts = Rotation.from_quat(rows[:, 3:]), list[int]()
    for k in range(0, 1800, 100):
        part, tcp = slice(k, k + 100), [0.0, 0.05, 0.1 + 1e-6 * (k % 3) + 0.1 * (k >= 900)]
        at = np.hstack([rows[part, :3] + turn[part].apply(tcp), rows[part, 3:]])
        streams.add(Edges(STAMPS[part], "link0", "tool0_controller", at))
        moved(streams, frame="tool0_controller", part=part)
        streams.advance()
        restarts.append(streams.restarts)
    assert restarts[8] == 0 and restarts[-1] == 1


def test_links_lie_where_the_joints_put_them() -> None:
    streams = moved(with_arm())
    streams.frames.fix("map", "link0", pin.SE3(np.eye(3), np.array([1.0, 2.0, 3.0])))
    streams.frames.fix(FRAME, "camera", pin.SE3(np.eye(3), np.array([0.0, 0.0, 0.1])))
    streams.advance()
    model = pin.buildModelFromXML(streams.urdf)
    data, at = model.createData(), streams.joints.newest()
    q = np.array([at[name][1] for name in model.names[1:]])
    pin.framesForwardKinematics(model, data, q)
    tree, expected = streams.tree(), data.oMf[model.getFrameId(FRAME)]
    place, stamp = tree.place("link0", FRAME)
    assert place.isApprox(expected, 1e-9)
    assert stamp == min(s for s, _ in at.values())
    assert tree.place(FRAME, "link0")[0].isApprox(expected.inverse(), 1e-9)
    place, _ = tree.place("map", "camera")
    shifted = expected.translation + [1.0, 2.0, 3.0] + expected.rotation @ [0.0, 0.0, 0.1]
    np.testing.assert_allclose(place.translation, shifted, atol=1e-9)
