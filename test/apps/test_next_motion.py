# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The arm as a planner sees it, motions for an identification, and the command `plan_excitation`:
speeds, heights and limits by MuJoCo, distances by hand, the check of every trajectory."""

from pathlib import Path

import mujoco
import numpy as np
import pytest
import trimesh
import yaml
from scipy.interpolate import BPoly

from inertial_id_ros.apps.excitation import motions as planned
from inertial_id_ros.apps.excitation.arm import Arm, box_obstacle, floor, obstacle
from inertial_id_ros.apps.excitation.information import Knowledge
from inertial_id_ros.apps.excitation.motions import MotionLimits, MotionPlanner, violations
from inertial_id_ros.apps.excitation.plan_excitation import main, robot_motion
from inertial_id_ros.apps.simulation.cobot import SENSOR_FRAME, Scenario
from inertial_id_ros.apps.simulation.motion import START_POSE, Sinusoid, Trajectory
from inertial_id_ros.apps.simulation.payload import PAYLOADS
from inertial_id_ros.errors import InvalidData, InvalidModel
from inertial_id_ros.robot.base_parameters import structural_base_parameters
from inertial_id_ros.settings import Settings

URDF, BOX = Scenario().robot.urdf, np.array([[-0.06, -0.05, 0.0], [0.06, 0.05, 0.15]])
WANTED = 0.5 * np.repeat([0.04, 0.003, 0.0005], [1, 3, 6])
NOTHING = Knowledge.usual(Settings().replace({"wrench.sensor": "ati_gamma"}))
LIMITS = MotionLimits()


@pytest.fixture(scope="module")
def arm() -> Arm:
    return Arm(URDF, SENSOR_FRAME, BOX)


@pytest.fixture(scope="module")
def motions(arm: Arm) -> list[Trajectory]:
    """Three motions, one after the other."""
    planner, found, pose = MotionPlanner(arm, LIMITS, START_POSE, NOTHING, 0), [], START_POSE
    for _ in range(3):
        found.append(planner.next_motion(pose, WANTED))
        pose = found[-1].positions[-1]
    return found


def test_motions_follow_each_other_at_rest_as_quintics_between_their_points(arm, motions):
    at = START_POSE
    for motion in motions:
        np.testing.assert_allclose(motion.positions[0], at, atol=1e-12)
        for part in (motion.velocities, motion.accelerations):
            assert not part[[0, -1]].any() and np.abs(part).max() > 0.1
        assert violations(arm, motion, at, LIMITS) == ()
        at = motion.positions[-1]
    t = np.linspace(0.0, motion.duration, 333)
    spline = BPoly.from_derivatives(motion.stamps, np.stack(motion[1:4], axis=1))
    for order, (part, atol) in enumerate(zip(
            motion.sample(t), (1e-10, 1e-8, 1e-6), strict=True)):
        np.testing.assert_allclose(part, spline(t, order), atol=atol)


def test_three_motions_identify_more_than_the_published_sinusoid_in_the_same_time(arm, motions):
    known = NOTHING
    for motion in motions:
        before, known = known.sigma(), known.after(arm, motion)
        assert (known.sigma() <= before * (1.0 + 1e-9)).all()
    spent = sum(motion.duration for motion in motions) + 0.4 * len(motions)  # with all rests
    t = np.arange(0.0, spent - 0.4, 0.01)
    published = NOTHING.after(arm, Trajectory(t, *Sinusoid(1.0)(t)))
    missing = [np.log(np.maximum(k.sigma() / WANTED, 1.0)).sum() for k in (known, published)]
    assert missing[0] < 0.5 * missing[1]


def test_no_corner_of_the_payload_is_faster_than_allowed_and_turns_keep_their_speed_by_mujoco(
        arm, motions):
    turn = START_POSE + np.outer([0.0, 1.5], np.eye(6)[3])
    turn = planned.moves(turn, planned.shortest_moves(arm, LIMITS, turn))
    *others, speed = (corners(BOX, *motion.sample(np.arange(0.0, motion.duration, 0.002))[:2])
                      for motion in (*motions, turn))
    assert 0.15 < np.concatenate(others).max() <= LIMITS.link_speed
    assert 0.97 * LIMITS.link_speed < np.median(speed) <= speed.max() <= LIMITS.link_speed


@pytest.mark.parametrize(("limits", "change", "words"), [
    ({"link_speed": 0.1}, {}, "m/s, and may be 0.1"), ({"joint_speed": 0.2}, {}, "speed of wrist"),
    ({"joint_acceleration": 0.5}, {}, "acceleration of wrist"), ({"share": 0.05}, {}, "torque of"),
    ({"clearance": 0.2}, {}, "would come within"),
    ({}, {"velocities": lambda v: v + 0.1}, "does not begin and end at rest"),
    ({}, {"positions": lambda q: q + 0.1}, "rad from where"),
    ({}, {"positions": lambda q: q * np.nan}, "not finite")])
def test_the_check_names_each_limit_that_a_motion_exceeds_and_what_is_wrong_with_points(
        arm, motions, limits, change, words):
    bad = motions[0]._replace(**{
        name: make(getattr(motions[0], name)) for name, make in change.items()})
    found = violations(arm, bad, START_POSE, MotionLimits(**limits))
    assert any(words in problem for problem in found)


@pytest.mark.parametrize("shape", ["sphere", "cylinder", "box"])
def test_the_check_names_an_obstacle_in_the_way_and_no_motion_starts_in_one(motions, shape):
    pose = np.eye(4)
    end = motions[0].positions[-1:]
    sensor = Scenario().engine.evaluate(end, 0.0 * end, 0.0 * end)
    pose[:3, 3] = sensor.position[0] + sensor.rotation[0] @ [0.0, 0.0, 0.1]
    size = {"sphere": (0.05,), "cylinder": (0.3, 0.02), "box": (0.06, 0.06, 0.06)}[shape]
    arm = Arm(URDF, SENSOR_FRAME, BOX, obstacles=[obstacle("crate", shape, size, pose)])
    assert any("crate" in problem for problem in violations(arm, motions[0], START_POSE, LIMITS))
    low = Arm(URDF, SENSOR_FRAME, BOX, obstacles=[floor(0.6)])
    assert any("floor" in problem for problem in violations(low, motions[0], START_POSE, LIMITS))
    around = box_obstacle("crate", np.array([[-2.0, -2.0, 0.3], [2.0, 2.0, 2.0]]))
    with pytest.raises(InvalidData, match="crate"):
        MotionPlanner(Arm(URDF, SENSOR_FRAME, BOX, obstacles=[around]), LIMITS, START_POSE, NOTHING)


def test_no_joint_goes_farther_from_home_than_its_range(arm):
    motion = MotionPlanner(arm, MotionLimits(range=0.3), START_POSE, NOTHING, 0).next_motion(
        START_POSE, WANTED)
    assert (np.abs(motion.positions - START_POSE).max(axis=0) <= 0.3 + 1e-9).all()


ROBOT = """<robot name="r">
<link name="base"><collision><geometry><mesh filename="package://robot/{}" scale="0.5 0.5 0.5"/>
</geometry></collision></link>
<link name="mid"/><link name="arm"><collision><origin xyz="0.5 0 0.5"/><geometry>
<box size="0.2 0.1 0.1"/></geometry></collision></link>
<joint name="turn" type="continuous"><parent link="base"/><child link="mid"/><axis xyz="0 0 1"/>
<limit effort="100" velocity="2"/></joint>
<joint name="lift" type="prismatic"><parent link="mid"/><child link="arm"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="100" velocity="2"/></joint></robot>"""


@pytest.fixture
def meshes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cup of 4 m with walls of 0.2 m, open at the top, a ball, and one that is cut off, as meshes
    of a package, which the description has at half their size."""
    folder = tmp_path / "share" / "robot"
    folder.mkdir(parents=True)
    walls = [((4.0, 4.0, 0.2), (0.0, 0.0, -1.9)), *(((0.2, 4.0, 4.0), (x, 0.0, 0.0)) for x in (
        1.9, -1.9)), *(((4.0, 0.2, 4.0), (0.0, y, 0.0)) for y in (1.9, -1.9))]
    trimesh.util.concatenate([trimesh.creation.box(
        size, trimesh.transformations.translation_matrix(at)) for size, at in walls]).export(
            folder / "cup.stl")
    trimesh.creation.icosphere(subdivisions=3, radius=0.6).export(folder / "ball.stl")
    (folder / "cut.stl").write_bytes((folder / "ball.stl").read_bytes()[:100])
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))


def corners(box: np.ndarray, q: np.ndarray, dq: np.ndarray) -> np.ndarray:
    """Greatest speed [m/s] of the corners of a box on the sensor, by MuJoCo, for positions and
    velocities (n, joints)."""
    spec = mujoco.MjSpec.from_string(URDF)
    spec.compiler.fusestatic = False
    for k, corner in enumerate(np.stack(np.meshgrid(*box.T), axis=-1).reshape(-1, 3)):
        spec.body(SENSOR_FRAME).add_site(name=f"corner{k}", pos=corner)
    model = spec.compile()
    data, velocity, speed = mujoco.MjData(model), np.zeros(6), np.zeros(len(q))
    for i in range(len(q)):
        data.qpos[:], data.qvel[:] = q[i], dq[i]
        mujoco.mj_forward(model, data)
        for site in range(model.nsite):
            mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_SITE, site, velocity, 0)
            speed[i] = max(speed[i], np.linalg.norm(velocity[3:]))
    return speed


def test_motion_of_the_sensor_and_torques_are_those_of_mujoco() -> None:
    rng, payload = np.random.default_rng(5), PAYLOADS["drill"]
    q, dq, ddq = rng.uniform(-2.0, 2.0, (3, 20, 6))
    arm = Arm(URDF, SENSOR_FRAME, phi=payload.phi)
    proper, omega, alpha = arm.motion(q, dq, ddq)
    truth = Scenario(payload=payload, arm=URDF).engine.evaluate(q, dq, ddq)
    np.testing.assert_allclose(proper, truth.a_g, atol=1e-8)
    np.testing.assert_allclose(omega, truth.omega, atol=1e-10)
    np.testing.assert_allclose(alpha, truth.alpha, atol=1e-10)
    np.testing.assert_allclose(arm.described_torque(q, dq, ddq), truth.effort, atol=1e-6)


def test_shapes_are_near_from_their_distance_on(meshes: None) -> None:
    """The distance of a ball of 0.3 m to a box that stands upright beside it is known."""
    arm = Arm(ROBOT.format("ball.stl"), "arm")
    q = np.array([[0.3, -0.5], [0.0, -0.2], [1.0, 0.4]])
    above = np.maximum(np.abs(0.5 + q[:, 1]) - 0.05, 0.0)
    for at, exact in zip(q, np.hypot(0.4, above) - 0.3, strict=True):
        assert not arm.near(at[None], exact - 1e-6).any()  # the mesh is inscribed
        assert arm.near(at[None], exact + 0.01).all()


def test_a_link_inside_a_hollow_one_is_free_until_it_meets_a_wall(meshes: None) -> None:
    """The box stands 0.3 m from a wall of the cup, and in the middle of its hull."""
    arm = Arm(ROBOT.format("cup.stl"), "arm")
    at = np.array([[0.0, 0.0], [0.0, -1.38]])
    assert arm.near(at, 0.29)[:, 0].tolist() == [False, True]
    assert arm.near(at, 0.31)[:, 0].tolist() == [True, True]


def test_obstacles_are_kept_out_of_as_they_stand(meshes: None) -> None:
    """A wall 0.15 m above the arm; the root stands where it stands, and may touch it."""
    wall = box_obstacle("wall", np.array([[-2.0, -2.0, 0.7], [2.0, 2.0, 0.8]]))
    arm = Arm(ROBOT.format("ball.stl"), "arm", obstacles=[wall])
    assert [pair[1] for pair in arm.pairs] == ["arm_0", "wall"]
    at = np.array([[0.0, 0.12], [0.0, 0.14]])
    assert arm.near(at, 0.02)[:, 1].tolist() == [False, True]
    around = box_obstacle("around", np.array([[-2.0, -2.0, -2.0], [2.0, 2.0, 2.0]]))
    everywhere = Arm(ROBOT.format("ball.stl"), "arm", obstacles=[around])
    assert len(everywhere.pairs) == 2


@pytest.mark.parametrize("name", ["cut.stl", "nowhere.stl"])
def test_without_meshes_no_motion_is_planned(meshes: None, name: str) -> None:
    with pytest.raises(InvalidModel, match=name) as caught:
        Arm(ROBOT.format(name), "arm")
    assert "\n" not in str(caught.value)


WIDE = MotionLimits(range=np.inf)
NAMES = Scenario().robot.joint_names
START = "--start=0,-1.5708,1.0472,-1.5708,-1.5708,0"


@pytest.mark.slow
def test_a_series_for_a_robot_keeps_its_limits_and_returns_to_its_start() -> None:
    arm = Arm(URDF, "tool0")
    motion = robot_motion(arm, WIDE, START_POSE, 8.0)
    assert violations(arm, motion, START_POSE, WIDE) == () and motion.duration == 8.0
    np.testing.assert_allclose(motion.positions[[0, -1]], [START_POSE, START_POSE], atol=1e-9)
    assert (np.ptp(motion.positions, axis=0) > 0.1).all()
    base = structural_base_parameters(arm).independent
    rows = arm.regressor(*motion.sample(np.arange(0.1, 8.0, 0.1)))[:, :, base]
    assert np.linalg.matrix_rank(rows.reshape(-1, len(base))) == len(base)
    slopes = np.gradient(motion.positions, motion.stamps, axis=0)[5:-5]
    np.testing.assert_allclose(slopes, motion.velocities[5:-5], atol=1e-3)


@pytest.fixture(scope="module")
def urdf(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("robot") / "arm.urdf"
    path.write_text(URDF)
    return str(path)


def test_the_file_holds_the_motion_of_every_joint(urdf: str, tmp_path: Path) -> None:
    assert main([urdf, "--frame", "ft_sensor", START, "--duration", "4", "--set",
                 "wrench.sensor=ur_e_series", "--payload-box", "0.1,0.1,0.1,0,0,0.05",
                 "--trajectory", str(tmp_path / "a.yaml")]) == 0
    tree = yaml.safe_load((tmp_path / "a.yaml").read_text())
    assert tree["joint_names"] == list(NAMES)
    t = np.array([p["time_from_start"]["sec"] + 1e-9 * p["time_from_start"]["nanosec"]
                  for p in tree["points"]])
    q, dq, ddq = (np.array([p[kind] for p in tree["points"]]) for kind in (
        "positions", "velocities", "accelerations"))
    assert 3.0 < t[-1] <= 4.0
    arm = Arm(URDF, SENSOR_FRAME, np.array([[-0.05, -0.05, 0.0], [0.05, 0.05, 0.1]]))
    assert violations(arm, Trajectory(t, q, dq, ddq, NAMES), START_POSE, WIDE) == ()
    assert not (dq[[0, -1]].any() or ddq[[0, -1]].any())
    slope = np.gradient(q[:, 3], t)[5:-5]
    np.testing.assert_allclose(slope, dq[5:-5, 3], atol=0.02 * np.abs(slope).max())


@pytest.mark.parametrize(("words", "said"), [
    (["--frame", "ft_sensor", "--start=0,1"], "--start"),
    (["--frame", "ft_sensor", "--duration", "-1"], "--duration"),
    (["--frame", "ft_sensor", START, "--duration", "0.7"], "--duration"),
    (["--frame", "base_link"], "base_link"), (["--frame", "ft_sensor", "--set", "a=1"], "'a'"),
    (["--frame", "ft_sensor", START, "--duration", "2", "--trajectory", "/nowhere/a.yaml"],
     "/nowhere"),
    (["--frame", "ft_sensor", START, "--floor", "2"], "floor"),
    (["--frame", "ft_sensor", START, "--keep-out", "1,1,1,0.4,0,0.5"], "keep-out box 1")])
def test_a_request_that_cannot_be_carried_out_is_one_sentence(urdf, words, said, capsys):
    assert main([urdf, *words]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ") and said in error and error.count("\n") == 1


def test_a_robot_is_planned_for_with_all_its_joints(urdf, capsys):
    assert main([urdf, "--frame", "tool0", "--for", "robot", START, "--duration", "2"]) == 0
    said = capsys.readouterr().out
    assert all(f"\n{name}: from " in said for name in NAMES)


def test_a_joint_of_the_chain_that_mimics_another_is_refused_by_name() -> None:
    at = URDF.index("<", URDF.index('<joint name="wrist_1_joint"') + 1)
    with pytest.raises(InvalidModel, match="wrist_1_joint.*elbow_joint"):
        Arm(f'{URDF[:at]}<mimic joint="elbow_joint"/>{URDF[at:]}', SENSOR_FRAME)
