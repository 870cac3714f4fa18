# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""`identify_bag`: what comes out of recordings, exit statuses, files, and mistakes of users."""

import json
import os
from pathlib import Path
from typing import Any

import bags
import numpy as np
import pytest
from rosbags.typesys import get_types_from_msg
from scenes import BODY, Points
from scipy.spatial.transform import Rotation
from torque_arm import FRAME, bag, loaded, write_robot

from inertial_id_ros.apps.bag.identify_bag import main, make_parser, settings_of
from inertial_id_ros.apps.robot.identify_robot import main as identify_robot
from inertial_id_ros.cli import NO_ESTIMATE, NOT_IDENTIFIED, OK, USER_ERROR
from inertial_id_ros.model.tool import load_tool

DYNAMIC, FRANKA = bags.DYNAMIC, "franka_msgs/msg/FrankaRobotState"
bags.STORE.register(get_types_from_msg("geometry_msgs/InertiaStamped inertia_load\n", FRANKA))
SENSOR = ("--sensor", "ati_gamma")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Recordings of the same payload and motion in several forms."""
    path = tmp_path_factory.mktemp("bags")
    bags.tf_bag(path / "tf", duration=6.0)
    bags.joint_bag(path / "joint", duration=6.0)
    bags.tf_bag(path / "franka", duration=6.0, convention="on_environment")
    os.mkfifo(path / "pipe")  # a file is written by renaming, which would remove it
    return path


def run(tmp_path: Path, *words: object) -> tuple[int, dict[str, Any]]:
    """Exit status, and what `--json` holds; empty where nothing was written."""
    out = tmp_path / "result.json"
    out.unlink(missing_ok=True)
    status = main([*map(str, words), "--json", str(out)])
    return status, json.loads(out.read_text(), parse_constant=pytest.fail) if out.exists() else {}


def kinds(tree: dict[str, Any]) -> set[str]:
    return {finding["name"] for finding in tree["findings"]}


def assert_truth(tree: dict[str, Any]) -> None:
    """Mass and centre of mass within 1 % and 2 mm, and within three deviations."""
    sd = np.sqrt(np.diag(tree["covariance"]))[:4]
    gap = np.abs(np.r_[tree["mass"], tree["com"]] - np.r_[bags.MASS, bags.COM])
    assert (gap < [0.01 * bags.MASS, 0.002, 0.002, 0.002]).all() and (gap < 3.0 * sd).all()


# ---- what comes out ------------------------------------------------------------------------------

@pytest.mark.parametrize(("name", "options"), [
    ("tf", ()), ("joint", ()), ("franka", ("--set", "wrench.convention=on_environment"))])
def test_the_payload_that_made_a_recording_is_found(folder: Path, tmp_path: Path, name: str,
                                                    options: tuple[str, ...]) -> None:
    status, tree = run(tmp_path, folder / name, *SENSOR, *options)
    assert status == OK and tree["verdict"][:4] == ["identified"] * 4
    assert_truth(tree)
    times = [entry["t"] for entry in tree["history"]]
    assert times == sorted(times) and len(times) >= 8
    assert tree["history"][-1]["mass"] == tree["mass"]
    assert tree["messages"]["/wrench"] == 1200 and tree["duration"] == pytest.approx(6.0, abs=0.1)


def without_stamps(wrench: bags.Topic, joints: bags.Topic) -> list[bags.Topic]:
    for stream in (wrench, joints):
        for _, message in stream.messages:
            message.header = bags.header(0, message.header.frame_id)
    return [wrench, joints]


def damaged(wrench: bags.Topic, joints: bags.Topic) -> list[bags.Topic]:
    cut = [(s, bytes(bags.STORE.serialize_cdr(m, bags.WRENCH))[:-30] if k % 100 == 50 else m)
           for k, (s, m) in enumerate(wrench.messages)]
    return [bags.Topic("/wrench", bags.WRENCH, cut), joints]


def on_two_topics(wrench: bags.Topic, joints: bags.Topic) -> list[bags.Topic]:
    return [wrench, *(bags.Topic(topic, bags.JOINTS, [
        (s, type(m)(m.header, m.name[part], m.position[part], m.velocity, m.effort))
        for s, m in joints.messages]) for topic, part in (("/arm/joint_states", slice(0, 3)),
                                                         ("/hand/joint_states", slice(3, 6))))]


@pytest.mark.parametrize(("change", "options", "finding"), [
    (without_stamps, ("--stamps", "recorded"), None), (damaged, (), "message_malformed.wrench"),
    (on_two_topics, (), None)])
def test_recordings_as_drivers_make_them_hold_the_payload(
        tmp_path: Path, change: Any, options: tuple[str, ...], finding: str | None) -> None:
    streams = change(bags.wrench_stream(6.0), bags.joint_stream(6.0))
    bags.write_bag(tmp_path / "bag", [*streams, bags.text_stream("/robot_description", bags.URDF)])
    status, tree = run(tmp_path, tmp_path / "bag", *SENSOR, *options)
    assert status == OK and (finding is None or finding in kinds(tree))
    assert_truth(tree)
    if options:  # without them, there is no time
        assert run(tmp_path, tmp_path / "bag", *SENSOR)[0] == NO_ESTIMATE


# ---- payloads that a driver compensates ----------------------------------------------------------

REMOVED = Points(np.array([0.61]), np.array([[0.01, 0.02, 0.05]]))
LEFT = Points(np.r_[BODY.masses, -REMOVED.masses], np.vstack([BODY.places, REMOVED.places]))


def compensated_bag(path: Path, topic: str, kind: str) -> Path:
    """A wrench without the payload that the driver states, and the statements."""
    (mass,), (com,) = REMOVED

    def state(stamp: int) -> Any:
        if kind == bags.VALUES:
            return bags.make("control_msgs/Float64Values", bags.header(stamp, ""),
                             np.array([*com, 0.0, mass]))
        if kind == DYNAMIC:
            values = bags.make("control_msgs/InterfaceValue", ["mass", "cog.x", "cog.y", "cog.z"],
                               np.array([mass, *com]))
            return bags.make("control_msgs/DynamicJointState", bags.header(stamp, ""), ["payload"],
                             [values])
        inertia = bags.make("geometry_msgs/Inertia", mass,
                            bags.make("geometry_msgs/Vector3", *com), *[0.0] * 6)
        return bags.make("franka_msgs/FrankaRobotState", bags.make(
            "geometry_msgs/InertiaStamped", bags.header(stamp, "tool0"), inertia))

    keys = bags.make("control_msgs/Keys", bags.header(bags.START, ""), [
        f"payload/{name}" for name in ("cog.x", "cog.y", "cog.z", "inertia.ixx", "mass")])
    names = bags.Topic("/state_broadcaster/names", bags.KEYS, [(bags.START, keys)], True)
    return bags.write_bag(path, [
        bags.wrench_stream(6.0, points=LEFT), bags.joint_stream(6.0),
        *([names] if kind == bags.VALUES else []),
        bags.text_stream("/robot_description", bags.URDF), bags.Topic(topic, kind, [
            (s, state(s)) for s in bags.nanoseconds(6.0, 50.0).tolist()])])


@pytest.mark.parametrize(("source", "topic", "named", "kind"), [
    ("dynamic_joint_states", "/states", "/states", DYNAMIC),
    ("state_interfaces", "/state_broadcaster/values", "/state_broadcaster", bags.VALUES)])
def test_a_payload_that_a_driver_states_is_named_and_can_be_added(
        tmp_path: Path, source: str, topic: str, named: str, kind: str) -> None:
    bag = compensated_bag(tmp_path / "bag", topic, kind)
    status, tree = run(tmp_path, bag, *SENSOR)
    assert status == NOT_IDENTIFIED and "payload_not_added" in kinds(tree)
    status, tree = run(tmp_path, bag, *SENSOR, "--set", f"precompensated.topic={named}",
                       "--set", f"precompensated.source={source}")
    assert status == OK and "payload_not_added" not in kinds(tree)
    assert_truth(tree)


def test_a_stated_payload_is_converted_from_its_frame(tmp_path: Path) -> None:
    bag = compensated_bag(tmp_path / "bag", "/state", FRANKA)
    status, tree = run(tmp_path, bag, *SENSOR, "--set", "precompensated.topic=/state",
                       "--set", "precompensated.source=franka")
    # Stated at (.01, .02, .05) in a frame .04 m behind the sensor: the sum lies farther back.
    com = bags.COM + REMOVED.masses[0] / bags.MASS * np.array([0.0, 0.0, -0.04])
    assert tree["mass"] == pytest.approx(bags.MASS, rel=0.02)
    assert tree["com"] == pytest.approx(com, abs=0.005)
    status, tree = run(tmp_path, bag, *SENSOR, "--set", "precompensated.topic=/state",
                       "--set", "precompensated.source=franka",
                       "--set", "precompensated.frame=nowhere")
    assert status != OK and "payload_not_added" in kinds(tree)


# ---- options and files ---------------------------------------------------------------------------

def given(*words: object) -> Any:
    """The settings of a command line."""
    return settings_of(make_parser().parse_args(["bag", *map(str, words)]))


def test_the_command_line_wins_over_the_file_and_the_file_over_defaults(tmp_path: Path) -> None:
    file = tmp_path / "s.yaml"
    file.write_text("/**:\n  ros__parameters:\n    use_sim_time: true\n    wrench:\n"
                    "      topic: /ft\n      noise: [0.3, 0.03]\n    estimator.rate: 4.0\n")
    settings = given("--config", file, "--set", "estimator.rate=5", "--sensor", "ati_gamma",
                     "--shape", "cylinder:.1,.2@0,0,.1", "--window", "7")
    assert settings.wrench.topic == "/ft" and settings.estimator.rate == 5.0
    assert settings.wrench.noise == (0.3, 0.03) and settings.wrench.range == (130.0, 10.0)
    assert settings.shape.type == "cylinder" and settings.shape.size == (0.1, 0.2)
    assert settings.shape.center == (0.0, 0.0, 0.1) and settings.buffer.window == 7.0
    assert given("--config", "ur").wrench.sensor == "ur_e_series"
    assert given("--shape", "part.stl").shape.mesh == "part.stl"


def test_a_result_can_be_saved_as_a_tool_and_taken_out_again(folder: Path, tmp_path: Path) -> None:
    tool = tmp_path / "tool.yaml"
    assert run(tmp_path, folder / "joint", *SENSOR, "--save-tool", tool)[0] == OK
    assert load_tool(tool).phi[0] == pytest.approx(bags.MASS, rel=0.01)
    status, tree = run(tmp_path, folder / "joint", *SENSOR, "--set", f"tool.file={tool}")
    assert status == OK and tree["tool_apart"]  # that it carries nothing is a result
    assert abs(tree["mass"]) < min(0.02, 3.0 * np.sqrt(tree["covariance"][0][0]))


@pytest.mark.parametrize(("bag", "words", "named"), [
    ("none", (), "none"), ("tf", ("--set", "wrench.topic=/wrenh"), "/wrench"),
    ("tf", ("--set", "estimator.rat=3"), "estimator.rat"), ("tf", ("--shape", "box:1,2"), "box"),
    ("tf", ("--columns", "c.yaml"), "--columns"), ("tf", ("--config", "nobody"), "nobody"),
    ("tf", ("--set", "estimator.method=pmd"), "shape.type"), ("tf", ("--foo",), "--foo"),
    ("tf", ("--report", "{tf}/metadata.yaml"), "--report"),
    ("tf", ("--save-tool", "{tf}/metadata.yaml"), "--save-tool"),
    ("tf", ("--json", "{tf}/../pipe"), "--json")])
def test_a_mistake_is_one_line_that_names_it(folder: Path, tmp_path: Path, bag: str,
                                             words: tuple[str, ...], named: str,
                                             capsys: pytest.CaptureFixture[str]) -> None:
    given = [word.format(tf=folder / "tf") for word in words]
    before = sorted(path.name for path in folder.rglob("*"))
    assert main([str(folder / bag), *given]) == USER_ERROR
    out, err = capsys.readouterr()
    assert out == "" and named in err
    assert err.startswith("error: ") and len(err.splitlines()) == 1
    assert sorted(path.name for path in folder.rglob("*")) == before


@pytest.mark.parametrize(("name", "known"), [("baseline", True), ("contact", False)])
def test_a_real_arm_about_one_axis_that_only_turns(data_folder: Path, tmp_path: Path, name: str,
                                                   known: bool) -> None:
    """Transforms without translation: weight is all that tells the mass."""
    status, tree = run(tmp_path, data_folder / "kuka_ati_gamma" / name, *SENSOR)
    assert status != OK and "translation_constant" in kinds(tree)
    assert not known or tree["verdict"][0] == "identified"
    if tree["valid"]:
        gap = np.abs(np.r_[tree["mass"], tree["com"][2]] - [0.933, 0.0439])
        sd = np.sqrt(np.diag(tree["covariance"]))[[0, 3]]
        assert (gap < 2.0 * sd).all() and (sd < [0.03, 0.004]).all()
        assert tree["verdict"][4:] == ["unobserved"] * 6


TIME = bags.times(6.0, 100.0)
PLACE, ROW = bags.motion(6.0, 100.0).position, np.arange(len(TIME))[:, None]
QUATERNION = Rotation.from_matrix(bags.motion(6.0, 100.0).rotation).as_quat()
LOAD = bags.wrench(6.0, 100.0) + bags.NOISE * np.random.default_rng(0).normal(size=(len(TIME), 6))
CASES: dict[str, dict[str, np.ndarray]] = {
    "zero wrench": {"y": 0.0 * LOAD}, "constant wrench": {"y": 0.0 * LOAD + LOAD[0]},
    "huge": {"y": 1e200 * LOAD},
    "one spike": {"y": np.where(ROW == 300, 1e12, LOAD)},
    "no motion": {"p": 0.0 * PLACE + PLACE[0], "q": 0.0 * QUATERNION + QUATERNION[0]},
    "turned at once": {"p": np.where(ROW < 300, PLACE[0], PLACE[-1]),
                       "q": np.where(ROW < 300, QUATERNION[0], QUATERNION[-1])},
    "same times": {"t": 0.0 * TIME},
    "two samples": {"t": TIME[:2], "y": LOAD[:2], "p": PLACE[:2], "q": QUATERNION[:2]},
    "much of it missing": {"y": np.where(ROW % 10 < 9, np.nan, LOAD)}}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", CASES)
def test_the_run_ends_with_a_reason(tmp_path: Path, name: str,
                                    capsys: pytest.CaptureFixture[str]) -> None:
    np.savez(tmp_path / "a.npz", **{"t": TIME, "y": LOAD, "p": PLACE, "q": QUATERNION}
             | CASES[name])
    (tmp_path / "c.yaml").write_text("{time: t, wrench: y, position: p, quaternion: q}")
    status, tree = run(tmp_path, tmp_path / "a.npz", "--columns", tmp_path / "c.yaml", *SENSOR)
    if status == USER_ERROR:
        assert len(capsys.readouterr().err.splitlines()) == 1
    elif status == OK:  # what is left of it tells the payload
        assert name in ("one spike", "much of it missing")
        assert tree["mass"] == pytest.approx(bags.MASS, rel=0.02)
    else:
        assert status in (NO_ESTIMATE, NOT_IDENTIFIED) and (tree["valid"] or tree["diagnostics"])


@pytest.mark.slow
def test_identify_bag_and_identify_robot_read_efforts_from_a_bag_that_has_them(tmp_path: Path):
    path, robot = bag(tmp_path / "bag", loaded(2.0, 4)), write_robot(tmp_path / "arm.robot")
    words = ("--set", f"load.robot={robot}", "--sensor-frame", FRAME)
    status, tree = run(tmp_path, path, *words, "--report", tmp_path)
    assert status == OK and tree["frame_id"] == FRAME
    assert tree["mass"] == pytest.approx(2.0, rel=0.03)
    assert identify_robot([str(path), "--set", "hold_back=0", "--set", "align=false",
                           "--set", "coulomb_velocity=0.003"]) == 0
    path = bag(tmp_path / "without", loaded(1.0, 0, 0.5), efforts=False)
    assert main([str(path), *words]) == NO_ESTIMATE and identify_robot([str(path)]) == USER_ERROR
