# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The simulated cobot: physics against Pinocchio, signs, noise, motions, payloads, bags."""

import numpy as np
import pinocchio as pin
import pytest
from rosbags.interfaces import QosDurability
from rosbags.rosbag2 import Reader
from rosbags.typesys import Stores, get_typestore
from scipy.spatial.transform import Rotation

from inertial_id_ros.apps.recordings.bags import read_bag
from inertial_id_ros.apps.simulation.cobot import (
    FAULTS,
    LOADS,
    Scenario,
    faults_of,
    load_description,
)
from inertial_id_ros.apps.simulation.motion import (
    START_POSE,
    STOPPING,
    CommandedMotion,
    JointMotion,
    Trajectory,
)
from inertial_id_ros.apps.simulation.payload import PAYLOADS, Part, Payload
from inertial_id_ros.apps.simulation.write import topics_of, write_bag
from inertial_id_ros.errors import InvalidModel, InvalidSetting, RecordingError
from inertial_id_ros.io.inputs import Wrenches, split_by_time
from inertial_id_ros.settings import Settings

URDF = load_description().urdf
CLEAN = {"noise": (0.0, 0.0), "encoder_noise": 0.0}
# 2 kg, centred at (0.03, -0.02, 0.1) m.
BALL = Payload(
    "ball", (Part("sphere", (0.05,), 2.0 / (4 / 3 * np.pi * 0.05**3), (0.03, -0.02, 0.1)),))


def random_motion(t):
    """Poses, velocities and accelerations without any relation to each other."""
    rng = np.random.default_rng(5)
    n = len(np.atleast_1d(t))
    return JointMotion(*rng.uniform(-1, 1, (3, n, 6)) * np.array([3.0, 3.0, 10.0])[:, None, None])


def readings(recording):
    return np.concatenate([some.rows for some in recording.of_kind(Wrenches)])


def pin_model(urdf=URDF):
    model = pin.buildModelFromXML(urdf)
    return model, model.getFrameId("ft_sensor")


def pin_wrenches(payload, motion, urdf=URDF):
    """Sensor on payload (n, 6): what RNEA hands on more through the last joint with the payload;
    and the efforts (n, 6) with it."""
    bare, frame = pin_model(urdf)
    loaded, _ = pin_model(urdf)
    placement, joint = loaded.frames[frame].placement, loaded.frames[frame].parentJoint
    loaded.appendBodyToJoint(
        joint, pin.Inertia(payload.mass, payload.com, payload.inertia_com), placement)
    wrenches, efforts = [], []
    for at in zip(*motion, strict=True):
        data, empty = loaded.createData(), bare.createData()
        efforts.append(pin.rnea(loaded, data, *at))
        pin.rnea(bare, empty, *at)
        wrenches.append(placement.actInv(data.f[joint] - empty.f[joint]).vector)
    return np.array(wrenches), np.array(efforts)


@pytest.mark.parametrize("payload", PAYLOADS.values(), ids=PAYLOADS)
def test_wrench_and_efforts_are_those_of_recursive_newton_euler_by_pinocchio(payload):
    cobot = Scenario(**CLEAN, payload=payload, motion=random_motion)
    truth = cobot.truth(np.arange(50) / 500.0)
    wrenches, efforts = pin_wrenches(payload, random_motion(np.arange(50)))
    scale = np.abs(wrenches).max(axis=0)
    assert np.abs((truth.wrench - wrenches) / scale).max() < 1e-9
    np.testing.assert_allclose(readings(cobot.record(0.1)), -truth.wrench, rtol=1e-15)
    np.testing.assert_allclose(truth.effort, efforts, atol=1e-9 * np.abs(efforts).max())


def test_another_arm_is_as_its_description_with_friction_in_its_joints(tmp_path):
    urdf, file = URDF.replace("<limit ", (
        '<dynamics damping="2" friction="1.5"/><limit ')), tmp_path / "arm.urdf"
    urdf = urdf.replace('<link name="base_link"', '<link name="root"').replace(
        '<parent link="base_link"', '<parent link="root"').replace('0.39225', '0.5')
    file.write_text(urdf)
    motion = random_motion(np.arange(50))
    wrenches, efforts = pin_wrenches(BALL, motion, urdf)
    recording = Scenario(**CLEAN, payload=BALL, motion=random_motion, arm=str(file),
                         effort_noise=(0.0,)).record(0.1)
    efforts += 2.0 * motion.dq + 1.5 * np.sign(motion.dq)
    np.testing.assert_allclose(recording.joints.efforts, efforts, atol=1e-4)
    np.testing.assert_allclose(readings(recording), -wrenches, atol=1e-9)
    assert recording.fixed[0].child == "root" and recording.description == urdf
    for arm, error in ((urdf.replace("ft_sensor", "ft"), InvalidModel), (
            urdf.replace('name="wrist_3_joint" type="revolute"', 'name="wrist_3_joint" type="fixed"'
                         ), InvalidSetting)):
        with pytest.raises(error):
            Scenario(arm=arm)


@pytest.mark.parametrize(("options", "sign", "tilt", "declared"), [
    ({"convention": "on_sensor"}, 1.0, (0.0, 0.0), False),
    ({"convention": "on_environment"}, -1.0, (0.0, 0.0), False),
    ({"tilt": (30.0, 10.0)}, 1.0, (30.0, 10.0), True),
    ({"tilt_error": (30.0, 10.0)}, 1.0, (30.0, 10.0), False)])
def test_hanging_mass_reads_its_weight_and_only_a_declared_tilt_is_in_the_transforms(
        options, sign, tilt, declared):
    bias = (1.0, 2, 3, 0.1, 0.2, 0.3)
    cobot = Scenario(bias=bias, **options, **CLEAN, payload=BALL, motion=lambda t: JointMotion(
        *(np.tile(part, (len(t), 1)) for part in (START_POSE, np.zeros(6), np.zeros(6)))))
    model, frame = pin_model()
    data = model.createData()
    pin.framesForwardKinematics(model, data, START_POSE)
    turn = Rotation.from_euler("xyz", [*tilt, 0.0], degrees=True)
    weight = data.oMf[frame].rotation.T @ turn.inv().apply([0.0, 0.0, -2.0 * 9.81])
    recording = cobot.record(0.01)
    reading = sign * readings(recording)[0] - np.array(bias)
    np.testing.assert_allclose(reading[:3], weight, atol=1e-12)
    np.testing.assert_allclose(reading[3:], np.cross([0.03, -0.02, 0.1], weight), atol=1e-12)
    base = recording.fixed[0]
    assert (base.parent, base.child) == ("world", "base_link")
    found = Rotation.from_quat(base.rows[0, 3:]).as_matrix()
    np.testing.assert_allclose(found, turn.as_matrix() if declared else np.eye(3), atol=1e-12)


def test_same_seed_gives_the_same_samples_however_they_are_asked_for():
    settings = {"seed": 7, "sensor": "ati_gamma"}
    whole, same = Scenario(**settings).record(4.0), Scenario(**settings)
    pieces = [same.samples(start, count)
              for start, count in ((0, 1), (1, 499), (500, 333), (833, 700))]
    np.testing.assert_allclose(np.concatenate([readings(p) for p in pieces]),
                               readings(whole)[:1533], atol=1e-12)
    np.testing.assert_array_equal(np.concatenate([p.joints.positions for p in pieces]),
                                  whole.joints.positions[:1533])
    late = Scenario(**settings).samples(1200, 100)
    np.testing.assert_allclose(readings(late), readings(whole)[1200:1300], atol=1e-12)
    np.testing.assert_array_equal(late.joints.stamps, whole.joints.stamps[1200:1300])
    other = Scenario(seed=8).record(4.0)
    assert np.abs(readings(other) - readings(whole)).max() > 0.1


@pytest.mark.parametrize(("convention", "sign"), [("on_sensor", 1.0), ("on_environment", -1.0)])
def test_effects_act_on_the_payload_beside_its_motion(convention, sign):
    def push(t, at):  # on the payload: the sensor holds against it
        return -np.outer(np.sin(t), [1.0, 2.0, 3.0, 0.1, 0.2, 0.3])

    alone, pushed = (readings(Scenario(convention=convention, effects=effects).record(0.5))
                     for effects in ([], [push, push]))
    np.testing.assert_allclose(pushed - alone, -2.0 * sign * push(np.arange(250) / 500.0, None),
                               atol=1e-12)


def test_faults_change_some_samples_the_same_however_they_are_asked_for():
    """From .2 to .4 s, or to .6 s what comes late."""
    right = Scenario().record(0.8).of_kind(Wrenches)[0]
    got, now = {}, (np.arange(400) >= 100) & (np.arange(400) < 200)
    for kind in (*FAULTS, *LOADS):
        size = {"stray": 9.0, "saturated": 20.0, "contact": 10.0}.get(kind, 0.04)
        same = Scenario(faults=faults_of(f"wrench {kind} .2 .2 {size}"))
        whole, pieces = same.record(0.8).of_kind(Wrenches)[0], [
            same.samples(k, 40).of_kind(Wrenches)[0] for k in range(0, 400, 40)]
        for field in (0, 2):
            np.testing.assert_allclose(
                whole[field], np.concatenate([piece[field] for piece in pieces]), atol=1e-12)
        got[kind] = whole
        if len(whole.stamps) == 400:  # all else as it was
            np.testing.assert_array_equal(whole.rows[~now][:100], right.rows[:100])
    np.testing.assert_array_equal(got["missing"].rows, right.rows[~now])
    np.testing.assert_array_equal(got["repeated"].stamps, right.stamps.repeat(1 + now))
    for kind in ("late", "reordered"):
        order = np.searchsorted(right.stamps, got[kind].stamps)
        np.testing.assert_array_equal(got[kind].rows, right.rows[order])
        assert sorted(order) == list(range(400)) and 1 < np.ptp(order - np.arange(400)) <= 40
    np.testing.assert_array_equal(got["stamped"].stamps, right.stamps + 40_000_000 * now)
    assert set(got["stray"].stamps - right.stamps) <= {0, 9 * 10**9, -9 * 10**9}
    assert 10 < (~np.isfinite(got["invalid"].rows[now])).sum() < 60
    np.testing.assert_array_equal(got["stuck"].rows[now] - right.rows[100], 0.0)
    np.testing.assert_array_equal(got["zeroed"].rows[now], (right.rows - right.rows[100])[now])
    assert np.abs(got["saturated"].rows[now]).max() == 20.0
    grown = (got["grip"].rows - right.rows)[125:175]
    np.testing.assert_allclose(grown, -0.04 * Scenario().truth(np.arange(125, 175) / 500.0).wrench)
    np.testing.assert_allclose(grown, (right.rows - got["release"].rows)[125:175], atol=1e-12)
    push = (got["contact"].rows - right.rows)[125:175]
    np.testing.assert_allclose(np.linalg.norm(push[:, :3], axis=1), 10.0, rtol=0.1)


# ---- joint motions -------------------------------------------------------------------------------


def cubic(t):
    """Points of q = t^3 of one joint; a quintic between them is that polynomial itself."""
    t = np.asarray(t, float)[:, None]
    return Trajectory(t[:, 0], t**3, 3.0 * t**2, 6.0 * t)


def test_a_trajectory_is_followed_from_the_newest_time_on_and_holds_its_end():
    motion = CommandedMotion([0.0])
    assert not np.any(motion(np.linspace(-1.0, 2.0, 7)).q)
    assert motion.follow(cubic([0.0, 0.3, 1.0])) == motion.newest == 2.0
    t = np.array([1.5, 2.0, 2.2, 2.77, 3.0, 9.0])
    run = np.clip(t - 2.0, 0.0, 1.0)
    for got, wanted in zip(motion(t), (run**3, 3.0 * run**2, 6.0 * run), strict=True):
        np.testing.assert_allclose(got[:, 0], wanted, atol=1e-12)


def test_a_stop_comes_to_rest_without_a_jump_and_changes_nothing_that_was_seen():
    motion = CommandedMotion([0.0])
    motion.follow(cubic([0.0, 1.0]))
    seen = motion(np.linspace(0.0, 0.6, 61))
    end = motion.stop()
    assert end == pytest.approx(0.6 + STOPPING)
    np.testing.assert_array_equal(motion(np.linspace(0.0, 0.6, 61)).q, seen.q)
    after = motion(np.linspace(0.6 + 1e-9, end, 400))
    for before, part in zip(seen, after, strict=True):
        np.testing.assert_allclose(part[0], before[-1], atol=1e-6)
    held = motion([end, end + 5.0])
    assert not np.any(held.dq[0]) and held.q[0] == held.q[1] == after.q[-1]


# ---- payloads ------------------------------------------------------------------------------------

def test_masses_of_parts_and_their_places_make_up_mass_and_centre_of_a_payload():
    ball = BALL.parts[0]._replace(shape="cylinder", size=(0.1, 0.3), density=1000.0)
    both = Payload("both", (ball, ball._replace(shape="box", size=(0.1, 0.2, 0.3),
                                                center=(0.0, 0.0, 0.0))))
    masses = np.array([3.0 * np.pi, 6.0])
    assert both.mass == pytest.approx(masses.sum(), rel=1e-12)
    np.testing.assert_allclose(both.com, masses[0] / masses.sum() * np.array(ball.center),
                               atol=1e-12)
    np.testing.assert_allclose(np.diag(Payload("box", both.parts[1:]).inertia_com),
                               6.0 / 12.0 * np.array([0.13, 0.1, 0.05]), atol=1e-12)
    assert PAYLOADS["hammer"].mass == pytest.approx(1.0, rel=1e-12)


# ---- bags ----------------------------------------------------------------------------------------


def test_a_recording_comes_back_from_its_bag(tmp_path):
    """All arrays, from messages that are recorded at the times of their stamps; velocities are
    written, and not read."""
    begin, store = 1_000_500_000_000, get_typestore(Stores.ROS2_JAZZY)
    recording = Scenario(payload="hammer", tilt=(5.0, -3.0), seed=4).record(2.5, begin)
    (joints, wrenches, *edges), = recording.parts
    np.testing.assert_array_equal(joints.stamps, begin + 2_000_000 * np.arange(1250))
    np.testing.assert_array_equal(edges[0].stamps, joints.stamps[::5])
    write_bag(tmp_path / "bag", topics_of(recording))
    read = read_bag(tmp_path / "bag", Settings())
    assert read.description == recording.description
    assert read.duration == pytest.approx(recording.duration, abs=0.01)
    (got,) = split_by_time(read.of_kind(object), 10**9)  # of each stream one block
    for one, other in zip((*got, *read.fixed), (joints._replace(velocities=None), wrenches, *edges,
                                                *recording.fixed), strict=True):
        for found, wanted in zip(one, other, strict=True):
            np.testing.assert_array_equal(found, wanted)
    velocities = []
    with Reader(tmp_path / "bag") as reader:
        assert {c.topic for c in reader.connections if c.ext.offered_qos_profiles[0].durability
                == QosDurability.TRANSIENT_LOCAL} == {"/tf_static", "/robot_description"}
        for connection, stamp, raw in reader.messages(
                [c for c in reader.connections if c.topic in ("/joint_states", "/wrench")]):
            message = store.deserialize_cdr(raw, connection.msgtype)
            at = message.header.stamp
            assert at.sec * 10**9 + at.nanosec == stamp
            velocities += [message.velocity] if connection.topic == "/joint_states" else []
    np.testing.assert_array_equal(velocities, joints.velocities)


def test_an_existing_folder_is_not_touched(tmp_path):
    (tmp_path / "kept").write_text("x")
    with pytest.raises(RecordingError, match="exists"):
        write_bag(tmp_path, topics_of(Scenario().record(0.1)))
    assert [p.name for p in tmp_path.iterdir()] == ["kept"]
