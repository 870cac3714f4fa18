# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The simulated cobot: physics against Pinocchio, signs, misalignments, noise, reproducibility."""

import numpy as np
import pinocchio as pin
import pytest
from scipy.spatial.transform import Rotation

from inertial_id_ros.apps.simulation.cobot import SimulatedCobot
from inertial_id_ros.apps.simulation.description import ArmDescription, load_description
from inertial_id_ros.apps.simulation.motion import START_POSE, JointMotion
from inertial_id_ros.apps.simulation.payload import PAYLOADS, Part, Payload
from inertial_id_ros.apps.simulation.settings import CobotSettings
from inertial_id_ros.errors import InvalidModel, InvalidSetting

G = np.array([0.0, 0.0, -9.81])
CLEAN = {"noise": (0.0, 0.0), "encoder_noise": 0.0, "velocity_noise": 0.0}
# 2 kg, centred at (0.03, -0.02, 0.1) m.
BALL = Payload(
    "ball", (Part("sphere", (0.05,), 2.0 / (4 / 3 * np.pi * 0.05**3), (0.03, -0.02, 0.1)),))


def random_motion(t):
    """Poses, velocities and accelerations without any relation to each other."""
    rng = np.random.default_rng(5)
    n = len(np.atleast_1d(t))
    return JointMotion(*rng.uniform(-1, 1, (3, n, 6)) * np.array([3.0, 3.0, 10.0])[:, None, None])


def hold(q):
    """A motion that stays in one pose."""
    def motion(t):
        n = len(np.atleast_1d(t))
        return JointMotion(np.tile(q, (n, 1)), np.zeros((n, 6)), np.zeros((n, 6)))
    return motion


def pin_model(gravity=G):
    model = pin.buildModelFromXML(load_description().urdf)
    model.gravity.linear = gravity
    return model, model.getFrameId("ft_sensor")


def pin_inertia(payload):
    """Inertia of a payload in the sensor frame, from Pinocchio's own formulas for primitives."""
    total = pin.Inertia.Zero()
    for part in payload.parts:
        if part.shape == "box":
            body = pin.Inertia.FromBox(part.mass, *part.size)
        elif part.shape == "cylinder":
            body = pin.Inertia.FromCylinder(part.mass, *part.size)
        else:
            body = pin.Inertia.FromSphere(part.mass, *part.size)
        total += body.se3Action(pin.SE3(pin.rpy.rpyToMatrix(*part.rpy), np.array(part.center)))
    return total


def pin_wrenches(payload, motion, gravity=G):
    """Sensor on payload (n, 6): what RNEA hands on more through the last joint with the payload."""
    bare, frame = pin_model(gravity)
    loaded, _ = pin_model(gravity)
    placement, joint = loaded.frames[frame].placement, loaded.frames[frame].parentJoint
    loaded.appendBodyToJoint(joint, pin_inertia(payload), placement)
    out = []
    for q, dq, ddq in zip(*motion, strict=True):
        forces = []
        for model in (loaded, bare):
            data = model.createData()
            pin.rnea(model, data, q, dq, ddq)
            forces.append(data.f[joint])
        out.append(placement.actInv(forces[0] - forces[1]).vector)
    return np.array(out)


def test_efforts_are_those_of_the_arm_with_its_payload():
    cobot = SimulatedCobot(CobotSettings(**CLEAN, effort_noise=0.0), payload=BALL,
                           motion=random_motion)
    got = cobot.run(0.05)
    model, frame = pin_model()
    placement, joint = model.frames[frame].placement, model.frames[frame].parentJoint
    model.appendBodyToJoint(joint, pin_inertia(BALL), placement)
    data = model.createData()
    wanted = [pin.rnea(model, data, q, dq, ddq)
              for q, dq, ddq in zip(got.truth.q, got.truth.dq, got.truth.ddq, strict=True)]
    np.testing.assert_allclose(got.effort, wanted, atol=1e-9 * np.abs(wanted).max())


def test_the_noise_of_efforts_is_white_and_changes_nothing_else():
    quiet, noisy = (SimulatedCobot(CobotSettings(effort_noise=sd, seed=3)).run(4.0)
                    for sd in (0.0, 0.5))
    assert np.array_equal(quiet.wrench, noisy.wrench) and np.array_equal(quiet.q, noisy.q)
    left = noisy.effort - quiet.effort
    np.testing.assert_allclose(left.std(axis=0), 0.5, rtol=0.08)
    assert np.abs(np.corrcoef(left.T) - np.eye(6)).max() < 0.1


@pytest.mark.parametrize("payload", PAYLOADS.values(), ids=PAYLOADS)
def test_wrench_is_that_of_recursive_newton_euler_by_pinocchio(payload):
    cobot = SimulatedCobot(CobotSettings(**CLEAN), payload=payload, motion=random_motion)
    recording = cobot.run(0.1)
    expected = pin_wrenches(payload, random_motion(recording.t))
    scale = np.abs(expected).max(axis=0)
    assert np.abs((recording.truth.wrench - expected) / scale).max() < 1e-9
    np.testing.assert_allclose(recording.wrench, -recording.truth.wrench, rtol=1e-15)


@pytest.mark.parametrize("tilt", [(0.0, 0.0), (25.0, -40.0)])
def test_true_motion_of_the_sensor_is_that_of_pinocchio(tilt):
    cobot = SimulatedCobot(CobotSettings(tilt=tilt), motion=random_motion)
    truth = cobot.run(0.05).truth
    model, frame = pin_model()
    data = model.createData()
    base = Rotation.from_euler("xyz", [*tilt, 0.0], degrees=True).as_matrix()
    local = pin.ReferenceFrame.LOCAL
    for k in range(len(truth.q)):
        pin.forwardKinematics(model, data, truth.q[k], truth.dq[k], truth.ddq[k])
        pin.updateFramePlacements(model, data)
        rotation, position = base @ data.oMf[frame].rotation, base @ data.oMf[frame].translation
        classical = pin.getFrameClassicalAcceleration(model, data, frame, local)
        np.testing.assert_allclose(truth.rotation[k], rotation, atol=1e-12)
        np.testing.assert_allclose(truth.position[k], position, atol=1e-12)
        np.testing.assert_allclose(
            truth.omega[k], pin.getFrameVelocity(model, data, frame, local).angular, atol=1e-11)
        np.testing.assert_allclose(truth.alpha[k], classical.angular, atol=1e-10)
        np.testing.assert_allclose(truth.acceleration[k], classical.linear, atol=1e-10)
        np.testing.assert_allclose(
            truth.a_g[k], classical.linear - rotation.T @ G, atol=1e-10)


@pytest.mark.parametrize(("convention", "sign"), [("on_sensor", 1.0), ("on_environment", -1.0)])
def test_hanging_mass_reads_its_weight_downwards_on_sensor_and_upwards_on_environment(
        convention, sign):
    settings = CobotSettings(convention=convention, bias=(1.0, 2, 3, 0.1, 0.2, 0.3), **CLEAN)
    cobot = SimulatedCobot(settings, payload=BALL, motion=hold(START_POSE))
    reading = sign * cobot.run(0.01).wrench[0] - np.array(settings.bias)
    model, frame = pin_model()
    data = model.createData()
    pin.framesForwardKinematics(model, data, START_POSE)
    weight = data.oMf[frame].rotation.T @ np.array([0.0, 0.0, -2.0 * 9.81])
    np.testing.assert_allclose(reading[:3], weight, atol=1e-12)
    np.testing.assert_allclose(reading[3:], np.cross([0.03, -0.02, 0.1], weight), atol=1e-12)


@pytest.mark.parametrize("name", ["tilt", "tilt_error"])
def test_tilted_base_turns_the_weight_and_only_a_declared_tilt_is_in_the_transforms(name):
    cobot = SimulatedCobot(CobotSettings(**{name: (30.0, 10.0)}, **CLEAN), payload=BALL,
                           motion=hold(START_POSE))
    tilt = Rotation.from_euler("xyz", [30.0, 10.0, 0.0], degrees=True)
    model, frame = pin_model()
    data = model.createData()
    pin.framesForwardKinematics(model, data, START_POSE)
    weight = data.oMf[frame].rotation.T @ tilt.inv().apply([0.0, 0.0, -19.62])
    np.testing.assert_allclose(cobot.run(0.01).wrench[0, :3], weight, atol=1e-12)
    base = cobot.static_transforms()[0]
    assert (base.parent, base.child) == ("world", "base_link")
    declared = tilt if name == "tilt" else Rotation.identity()
    np.testing.assert_allclose(Rotation.from_quat(base.quaternion).as_matrix(),
                               declared.as_matrix(), atol=1e-12)


def test_turned_sensor_reads_the_wrench_in_its_own_axes():
    turn = np.array([3.0, -2.0, 5.0])
    straight, turned = (
        SimulatedCobot(CobotSettings(sensor_rotation_error=tuple(v), **CLEAN)).run(2.0)
        for v in (0.0 * turn, turn))
    axes = Rotation.from_rotvec(turn, degrees=True)
    for part in (slice(0, 3), slice(3, 6)):
        # The same vector: turned components along the turned axes.
        np.testing.assert_allclose(
            axes.apply(turned.wrench[:, part]), straight.wrench[:, part], atol=1e-12)
    np.testing.assert_array_equal(turned.truth.wrench, straight.truth.wrench)


def test_clock_offset_delays_the_wrench_against_the_joint_states():
    ahead, late = (SimulatedCobot(CobotSettings(clock_offset=x, **CLEAN)).run(2.0)
                   for x in (0.0, 0.01))
    np.testing.assert_allclose(late.wrench[5:], ahead.wrench[:-5], atol=1e-9)
    np.testing.assert_array_equal(late.q, ahead.q)
    np.testing.assert_array_equal(late.truth.wrench, ahead.truth.wrench)


def test_noise_is_white_with_the_wanted_deviations_around_bias_and_truth():
    bias = (1.0, -2.0, 3.0, 0.1, -0.2, 0.3)
    recording = SimulatedCobot(CobotSettings(bias=bias, noise=(0.2, 0.01))).run(40.0)
    noise = recording.wrench + recording.truth.wrench - np.array(bias)
    joints = np.hstack([(recording.q - recording.truth.q) / 1e-4,
                        (recording.dq - recording.truth.dq) / 1e-3])
    unit = np.hstack([noise / np.repeat([0.2, 0.01], 3), joints])
    n = len(unit)
    # Five standard errors of a mean, a deviation, and a correlation.
    assert np.abs(unit.mean(axis=0)).max() < 5 / np.sqrt(n)
    assert np.abs(unit.std(axis=0) - 1).max() < 5 / np.sqrt(2 * n)
    assert np.abs(np.corrcoef(unit.T) - np.eye(18)).max() < 5 / np.sqrt(n)
    assert np.abs((unit[1:] * unit[:-1]).mean(axis=0)).max() < 5 / np.sqrt(n)


def test_same_seed_gives_the_same_samples_however_they_are_asked_for():
    settings = CobotSettings(motion="point_to_point", seed=7)
    whole = SimulatedCobot(settings).run(4.0)
    same = SimulatedCobot(settings)
    pieces = [same.samples(start, count)
              for start, count in ((0, 1), (1, 499), (500, 333), (833, 700))]
    np.testing.assert_array_equal(np.concatenate([p.wrench for p in pieces]), whole.wrench[:1533])
    np.testing.assert_array_equal(np.concatenate([p.q for p in pieces]), whole.q[:1533])
    late = SimulatedCobot(settings).samples(1200, 100)
    np.testing.assert_array_equal(late.wrench, whole.wrench[1200:1300])
    np.testing.assert_array_equal(late.t, whole.t[1200:1300])
    other = SimulatedCobot(CobotSettings(motion="point_to_point", seed=8)).run(4.0)
    assert np.abs(other.q - whole.q).max() > 0.1


def test_velocities_can_be_left_out():
    assert SimulatedCobot(CobotSettings(velocities=False)).run(0.1).dq is None


def test_duration_without_a_sample_is_refused():
    with pytest.raises(InvalidSetting, match="duration is 0 s"):
        SimulatedCobot().run(0.0)


def test_arm_has_the_published_denavit_hartenberg_parameters():
    arm = load_description()
    d = [0.089159, 0, 0, 0.10915, 0.09465, 0.0823]
    a = [0, -0.425, -0.39225, 0, 0, 0]
    alpha = np.radians([90, 0, 0, 90, -90, 0])
    for q in np.random.default_rng(1).uniform(-3, 3, (5, 6)):
        pose = np.diag([-1.0, -1.0, 1.0, 1.0])  # base_link points the other way than the controller
        for i in range(6):
            c, s, ca, sa = np.cos(q[i]), np.sin(q[i]), np.cos(alpha[i]), np.sin(alpha[i])
            pose = pose @ np.array([[c, -s * ca, s * sa, a[i] * c], [s, c * ca, -c * sa, a[i] * s],
                                    [0, sa, ca, d[i]], [0, 0, 0, 1]])
        sensor = arm.motion(q[None])  # 40 mm before the flange
        np.testing.assert_allclose(sensor.position[0], pose[:3, 3] + 0.04 * pose[:3, 2], atol=1e-12)
        np.testing.assert_allclose(sensor.rotation[0], pose[:3, :3], atol=1e-12)


def test_sensor_lies_forty_millimetres_before_the_flange():
    flange, sensor = load_description().fixed_transforms()
    assert (sensor.parent, sensor.child) == ("tool0", "ft_sensor")
    np.testing.assert_array_equal(np.array([flange.translation, sensor.translation]),
                                  [[0.0, 0.0, 0.0], [0.0, 0.0, 0.04]])
    np.testing.assert_array_equal(np.array([flange.quaternion, sensor.quaternion])[:, 3], 1.0)


def test_transforms_of_the_links_lead_to_the_pose_of_the_sensor():
    cobot = SimulatedCobot(CobotSettings(tilt=(10.0, 20.0), **CLEAN))
    recording = cobot.run(3.0)
    quaternions = cobot.description.joint_quaternions(recording.q)[-1]
    steps = {t.child: t for t in cobot.static_transforms()}
    for joint, quaternion in zip(cobot.description.moving, quaternions, strict=True):
        steps[joint.child] = (joint.parent, joint.child, joint.translation, quaternion)
    frame, pose = "ft_sensor", np.eye(4)
    while frame != "world":
        parent, _, translation, quaternion = steps[frame]
        step = np.eye(4)
        step[:3, :3], step[:3, 3] = Rotation.from_quat(quaternion).as_matrix(), translation
        frame, pose = parent, step @ pose
    np.testing.assert_allclose(pose[:3, :3], recording.truth.rotation[-1], atol=1e-12)
    np.testing.assert_allclose(pose[:3, 3], recording.truth.position[-1], atol=1e-12)


@pytest.mark.parametrize(("name", "value", "text"), [
    ("rate", 5.0, "rate is 5 Hz; allowed: at least 10 and at most 2000 Hz"),
    ("motion", "dance", "motion is 'dance'; allowed: sinusoid, point_to_point, commanded"),
    ("bias", (1.0, 2.0), "bias has 2 numbers; it needs 6"),
    ("noise", (-0.1, 0.0), "noise is -0.1; allowed: at least 0"),
    ("speed", "fast", "speed is 'fast'; it must be a number"),
    ("colour", "red", "unknown setting 'colour'"),
])
def test_bad_setting_is_named_with_its_value_and_what_is_allowed(name, value, text):
    with pytest.raises(InvalidSetting, match=text.replace(".", r"\.")):
        CobotSettings().replace({name: value})


@pytest.mark.parametrize(("urdf", "text"), [
    ("<robot", "not XML"),
    ("<robot name='x'/>", "not one chain"),
    ("<robot name='x'><joint name='j' type='floating'/></robot>", "joint 'j' is floating"),
])
def test_description_that_is_no_arm_is_refused(urdf, text):
    with pytest.raises(InvalidModel, match=text):
        assert ArmDescription(urdf).chain
