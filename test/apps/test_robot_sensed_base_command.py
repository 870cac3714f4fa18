# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""`identify_robot` on recordings of a moving base, and of the wrench on a base, made by MuJoCo."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import bags
import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from benchmarks.robot.robots import random_tree
from inertial_id_ros.apps.robot.identify_robot import main
from inertial_id_ros.robot.joint_terms import NO_TERMS
from inertial_id_ros.robot.recording import LOW_PASS
from inertial_id_ros.robot.robot_file import robot_model
from inertial_id_ros.robot.sensed_base import BaseSensing

JOINTS, RATE, DURATION = 5, 200.0, 16.0
WRENCH_NOISE = np.array([1.0, 1.0, 1.0, 0.1, 0.1, 0.1])  # N, N m of one sample
ZERO = np.array([5.0, -8.0, 20.0, 0.7, -0.4, 0.3])  # N, N m
VISCOUS, COULOMB = 0.8, 1.2  # N m s/rad, N m
URDF = random_tree(np.random.default_rng(11), JOINTS, rooted=True)
MODEL = robot_model(URDF, None, NO_TERMS, sensing=BaseSensing(True, True))
ODOMETRY = "nav_msgs/msg/Odometry"
EXACT = ("--no-align", "--hold-back", "0.3")


class Motion(NamedTuple):
    """Base (n, 6): position, roll, pitch, yaw; joints (n, 5); with derivatives."""

    q: np.ndarray
    dq: np.ndarray
    ddq: np.ndarray


def swing(t: np.ndarray, seed: int, moves: bool) -> Motion:
    """Sums of sinusoids; the base moves by decimetres and half a radian."""
    rng = np.random.default_rng(seed)
    size = np.r_[np.full(3, 0.1), np.full(3, 0.25), np.full(JOINTS, 0.6)]
    size[:6] *= moves
    w = 2.0 * np.pi * rng.uniform(0.1, 0.6, (4, len(size)))
    a, phase = size * rng.uniform(0.4, 1.0, w.shape), rng.uniform(0.0, 6.3, w.shape)
    at = w * t[:, None, None] + phase
    return Motion(np.sum(a * np.sin(at), axis=1), np.sum(a * w * np.cos(at), axis=1),
                  np.sum(-a * w**2 * np.sin(at), axis=1))


def truth() -> mujoco.MjModel:
    """The robot on a free joint, with other bodies than described."""
    spec = mujoco.MjSpec.from_string(URDF)
    spec.compiler.fusestatic = False
    spec.body("link0").add_freejoint()
    spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    model = spec.compile()
    rng = np.random.default_rng(3)
    for k in range(1, model.nbody):
        factor = rng.uniform(0.75, 1.25)
        model.body_mass[k] *= factor
        model.body_inertia[k] *= factor
        model.body_ipos[k] += rng.uniform(-0.01, 0.01, 3)
    mujoco.mj_setConst(model, mujoco.MjData(model))
    return model


def forces(motion: Motion) -> np.ndarray:
    """Wrench on the base in its own axes at its origin, then torques without friction (n, 11).

    MuJoCo takes velocities of the base in world axes, angular ones in the body's, here from
    differences of its orientation.
    """
    model, h = truth(), 1e-4
    data = mujoco.MjData(model)
    at = np.array([model.joint(name).dofadr[0] for name in MODEL.joint_names])

    def turned(s: float) -> Rotation:
        angles = (motion.q + s * motion.dq + 0.5 * s * s * motion.ddq)[:, 3:6]
        return Rotation.from_euler("ZYX", angles[:, ::-1])

    def omega(s: float) -> np.ndarray:
        step = turned(s - h).inv() * turned(s + h)
        return np.asarray(step.as_rotvec() / (2.0 * h))

    rotation, spin, change = turned(0.0), omega(0.0), (omega(h) - omega(-h)) / (2.0 * h)
    out = np.empty((len(motion.q), 6 + JOINTS))
    for i in range(len(out)):
        data.qpos[:3] = motion.q[i, :3]
        data.qpos[3:7] = rotation[i].as_quat()[[3, 0, 1, 2]]
        data.qvel[:6] = np.r_[motion.dq[i, :3], spin[i]]
        data.qacc[:6] = np.r_[motion.ddq[i, :3], change[i]]
        data.qpos[at + 1], data.qvel[at] = motion.q[i, 6:], motion.dq[i, 6:]
        data.qacc[at] = motion.ddq[i, 6:]
        mujoco.mj_inverse(model, data)
        out[i] = np.concatenate([rotation[i].inv().apply(data.qfrc_inverse[:3]),
                                 data.qfrc_inverse[3:6], data.qfrc_inverse[at]])
    return out


def record(path: Path, moves: bool, seed: int = 0) -> dict[str, np.ndarray]:
    """Arrays of a noisy recording, saved as NPZ as well."""
    t = np.arange(0.0, DURATION, 1.0 / RATE)
    motion = swing(t, seed, moves)
    rng = np.random.default_rng(100 + seed)
    found, noise = forces(motion), rng.normal(size=(len(t), 6 + JOINTS))
    friction = VISCOUS * motion.dq[:, 6:] + COULOMB * np.tanh(motion.dq[:, 6:] / 0.01)
    made = {"t": t, "q": motion.q[:, 6:] + 2e-5 * rng.normal(size=(len(t), JOINTS)),
            "effort": found[:, 6:] + friction + 0.1 * noise[:, 6:],
            "wrench": found[:, :6] + ZERO + WRENCH_NOISE * noise[:, :6],
            "base_position": motion.q[:, :3] + 1e-4 * rng.normal(size=(len(t), 3)) * moves,
            "base_orientation": Rotation.from_euler("ZYX", (
                motion.q[:, 3:6] + 1e-4 * rng.normal(size=(len(t), 3)) * moves)[:, ::-1]).as_quat(),
            "names": np.array(MODEL.joint_names)}
    np.savez(path, **made)
    return made


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recording with a moving base, and one on a force plate."""
    out = tmp_path_factory.mktemp("sensed")
    (out / "robot.urdf").write_text(URDF)
    record(out / "moving.npz", True)
    record(out / "standing.npz", False)
    return out


def identify(folder: Path, out: Path, *words: str) -> dict[str, Any]:
    """The JSON of a run."""
    assert main([*words, "--urdf", str(folder / "robot.urdf"), "--quiet", "--json", str(out)]) == 0
    tree: dict[str, Any] = json.loads(out.read_text())
    return tree


def other_motion_error(tree: dict[str, Any], moves: bool) -> float:
    """Error of the torques of the joints on another motion without noise, relative."""
    motion = swing(np.linspace(0.0, 20.0, 300), 77, moves)
    phi = np.zeros(MODEL.size)
    bodies = 10 * len(MODEL.bodies)
    phi[:bodies] = [p["value"] for p in tree["parameters"]][:bodies]
    want = forces(motion)[:, 6:]
    got = (MODEL.regressor(*motion) @ phi)[:, 6:]
    return float(np.linalg.norm(got - want) / np.linalg.norm(want))


@pytest.mark.slow
@pytest.mark.parametrize("moves", [False, True])
def test_the_wrench_on_the_base_tells_the_torques_of_all_joints(
        folder: Path, tmp_path: Path, moves: bool) -> None:
    """None was recorded. As described, torques of that other motion are wrong by a fifth."""
    words = ["--base-wrench", "--no-efforts", *EXACT, *["--floating-base"] * moves]
    tree = identify(folder, tmp_path / "a.json",
                    str(folder / ("moving.npz" if moves else "standing.npz")), *words)
    error = other_motion_error(tree, moves)
    described = {"parameters": [{"value": v} for v in MODEL.nominal]}
    assert error < 0.01 and other_motion_error(described, moves) > 0.15
    # What is left is noise: of N samples under a Hann window, the mean has 1.5 / N of its variance.
    noise = WRENCH_NOISE * np.sqrt(1.5 / (LOW_PASS * RATE))
    np.testing.assert_allclose(tree["error_rms"], noise, rtol=0.3)
    assert tree["outputs"][:3] == ["force x", "force y", "force z"] and all(tree["consistent"])
    if moves:  # which alone tells the zero from the robot's weight
        zero = np.array([[p["value"], p["sigma"]] for p in tree["parameters"][-6:]])
        assert (np.abs(zero[:, 0] - ZERO) < 5.0 * zero[:, 1] + 0.05).all(), zero


@pytest.mark.slow
def test_torques_on_a_moving_base_need_its_pose(
        folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A robot in the hands of a person: with the pose of its base the joints' torques are
    explained, without it hardly."""
    where = str(folder / "moving.npz")
    words = ["--no-align", "--terms", "viscous,coulomb,offset", "--coulomb-velocity", "0.01"]
    tree = identify(folder, tmp_path / "a.json", where, "--floating-base", *words)
    assert other_motion_error(tree, True) < 0.02 and tree["held_back_relative_error"] < 0.03
    chosen = identify(folder, tmp_path / "b.json", where, "--floating-base")
    assert other_motion_error(chosen, True) < 0.02 and chosen["terms"]
    assert main([where, "--urdf", str(folder / "robot.urdf"), "--quiet", *words]) == 1
    assert "of the torque unexplained" in capsys.readouterr().err


@pytest.mark.slow
def test_a_wrench_is_in_the_frame_and_of_the_sign_that_are_told(
        folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The sensor stands below the root link and is turned."""
    with np.load(folder / "standing.npz") as data:
        made = dict(data)
    shift, turn = np.array([0.1, -0.2, -0.3]), Rotation.from_euler("xyz", [0.4, -0.3, 1.0])
    force, torque = made["wrench"][:, :3], made["wrench"][:, 3:]
    made["wrench"] = -np.hstack([turn.inv().apply(force),
                                 turn.inv().apply(torque - np.cross(shift, force))])
    np.savez(tmp_path / "turned.npz", **made)
    (tmp_path / "robot.urdf").write_text(URDF.replace("</robot>", (
        '<link name="plate"/><joint name="foot" type="fixed"><parent link="link0"/>'
        '<child link="plate"/><origin xyz="0.1 -0.2 -0.3" rpy="0.4 -0.3 1.0"/></joint></robot>')))
    words = ["--base-wrench", "--no-efforts", *EXACT]
    told = ["--wrench-frame", "plate", "--wrench-on", "sensor"]
    where = str(tmp_path / "turned.npz")
    tree = identify(tmp_path, tmp_path / "a.json", where, *words, *told)
    plain = identify(folder, tmp_path / "b.json", str(folder / "standing.npz"), *words)
    np.testing.assert_allclose([p["value"] for p in tree["base_parameters"]],
                               [p["value"] for p in plain["base_parameters"]], rtol=1e-3, atol=1e-3)
    for wrong, status, said in ((told[:2], 2, "opposite to what the description says"),
                                (told[2:], 1, "in which frame (--wrench-frame)")):
        assert main([where, "--urdf", str(tmp_path / "robot.urdf"), *words, *wrong,
                     "--quiet"]) == status
        assert said in capsys.readouterr().err
    assert main([where, "--urdf", str(tmp_path / "robot.urdf"), *words, "--wrench-frame",
                 "link2"]) == 2
    assert "link 'link2' moves" in capsys.readouterr().err


def sensed_bag(path: Path, transforms: bool) -> Path:
    """Joint states without efforts at 125 Hz, the wrench at 200 Hz, the pose of the base at 60 Hz,
    as odometry or as transforms, none at the same times."""
    stamps = {name: bags.START + late + np.arange(0.0, 14e9, 1e9 / rate).astype(np.int64)
              for name, rate, late in (("joints", 125.0, 0), ("wrench", 200.0, 1_700_000),
                                       ("pose", 60.0, -90_000_000))}
    shown = {name: swing((at - bags.START) * 1e-9, 0, True) for name, at in stamps.items()}
    types, nothing = bags.STORE.types, np.empty(0)
    vector, point = (types[f"geometry_msgs/msg/{name}"] for name in ("Vector3", "Point"))
    joints = [types[bags.JOINTS](header=bags.header(s, ""), name=list(MODEL.joint_names),
                                 position=q, velocity=nothing, effort=nothing)
              for s, q in zip(stamps["joints"].tolist(), shown["joints"].q[:, 6:], strict=True)]
    loads = [types[bags.WRENCH](header=bags.header(s, "link0"), wrench=types[
        "geometry_msgs/msg/Wrench"](force=vector(*map(float, w[:3])),
                                    torque=vector(*map(float, w[3:]))))
             for s, w in zip(stamps["wrench"].tolist(), forces(shown["wrench"])[:, :6],
                             strict=True)]
    turned = Rotation.from_euler("ZYX", shown["pose"].q[:, 5:2:-1]).as_quat()
    poses = []
    for s, p, r in zip(stamps["pose"].tolist(), shown["pose"].q[:, :3], turned, strict=True):
        if transforms:
            poses.append(types[bags.TF](transforms=[
                bags.transform(s, "odom", "other", p + 1.0, r),
                bags.transform(s, "odom", "link0", p, r)]))
            continue
        pose = types["geometry_msgs/msg/Pose"](
            position=point(*map(float, p)),
            orientation=types["geometry_msgs/msg/Quaternion"](*map(float, r)))
        twist = types["geometry_msgs/msg/Twist"](vector(0.0, 0.0, 0.0), vector(0.0, 0.0, 0.0))
        poses.append(types[ODOMETRY](
            header=bags.header(s, "odom"), child_frame_id="link0",
            pose=types["geometry_msgs/msg/PoseWithCovariance"](pose, np.zeros(36)),
            twist=types["geometry_msgs/msg/TwistWithCovariance"](twist, np.zeros(36))))
    return bags.write_bag(path, [
        bags.Stream(topic, kind, list(zip(stamps[name].tolist(), messages, strict=True)))
        for topic, kind, name, messages in (
            ("/joint_states", bags.JOINTS, "joints", joints),
            ("/plate", bags.WRENCH, "wrench", loads),
            ("/tf" if transforms else "/odom", bags.TF if transforms else ODOMETRY, "pose",
             poses))])


@pytest.mark.slow
@pytest.mark.parametrize("transforms", [False, True])
def test_a_bag_holds_base_and_wrench_at_rates_of_their_own(
        tmp_path: Path, transforms: bool, capsys: pytest.CaptureFixture[str]) -> None:
    where = str(sensed_bag(tmp_path / "bag", transforms))
    (tmp_path / "robot.urdf").write_text(URDF)
    words = ["--floating-base", "--base-wrench", "--no-efforts", *EXACT]
    if transforms:
        words += ["--base-topic", "/tf"]
        assert main([where, "--urdf", str(tmp_path / "robot.urdf"), *words]) == 2
        assert "--base-frame names its child frame" in capsys.readouterr().err
        words += ["--base-frame", "link0"]
    tree = identify(tmp_path, tmp_path / "a.json", where, *words)
    assert other_motion_error(tree, True) < 0.01
    # Written, the root link has the mass that was found.
    assert main([where, "--urdf", str(tmp_path / "robot.urdf"), *words, "--quiet", "--write-urdf",
                 str(tmp_path / "out.urdf"), "--report", str(tmp_path / "report")]) == 0
    written = robot_model((tmp_path / "out.urdf").read_text(), None, NO_TERMS,
                          sensing=BaseSensing(True, True))
    bodies = 10 * len(MODEL.bodies)
    np.testing.assert_allclose(written.nominal[:bodies],
                               [p["value"] for p in tree["parameters"]][:bodies], atol=1e-9)


@pytest.mark.parametrize(("words", "said"), [
    (["--no-efforts"], "--no-efforts needs --base-wrench"),
    (["--base-topic", "/odom"], "--base-topic is of use with --floating-base only"),
    (["--wrench-on", "sensor"], "--wrench-on is of use with --base-wrench only"),
    (["--base-wrench", "--write-robot", "x"], "leave out --floating-base and --base-wrench"),
    (["--base-wrench", "--no-efforts", "--terms", "viscous"], "--terms are told by efforts"),
    (["--base-wrench", "--gains", "1,1,1,1,1"], "motor currents are used of robots whose base"),
    (["--base-wrench"], "it needs t, q and effort (or tau, torque), wrench"),
    (["--floating-base"], "base_position, base_orientation; of these it has: t, q, effort")])
def test_what_does_not_go_together_is_one_sentence(
        tmp_path: Path, words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    there = {"wrench": np.zeros((9, 6))} if "--gains" in words else {}
    np.savez(tmp_path / "a.npz", t=np.arange(9.0), q=np.zeros((9, JOINTS)),
             effort=np.zeros((9, JOINTS)), **there)
    (tmp_path / "robot.urdf").write_text(URDF)
    assert main([str(tmp_path / "a.npz"), "--urdf", str(tmp_path / "robot.urdf"), *words]) == 2
    assert said in capsys.readouterr().err
