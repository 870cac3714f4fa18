# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Tables as people have them hold the samples that were written, or are refused by name."""

import json
from io import BytesIO
from pathlib import Path
from typing import Any

import bags
import numpy as np
import pytest
from scenes import GRAVITY, dotted
from scipy.spatial.transform import Rotation

from inertial_id_ros.apps.bag.identify_bag import main
from inertial_id_ros.apps.recordings import Recording
from inertial_id_ros.apps.recordings.tables import Columns, columns_from_file, read_motion
from inertial_id_ros.apps.robot.files import read_recording
from inertial_id_ros.cli import OK, USER_ERROR
from inertial_id_ros.errors import InertialIdError, InvalidData
from inertial_id_ros.io.inputs import Edges, JointStates, Wrenches
from inertial_id_ros.robot.recording import of_joints
from inertial_id_ros.settings import Settings

N = 40
TIME = bags.times(N / 100.0, 100.0)
LOAD, MOTION = bags.wrench(N / 100.0, 100.0), bags.motion(N / 100.0, 100.0)
TURN, PLACE = MOTION.rotation, MOTION.position
QUATERNION = Rotation.from_matrix(TURN).as_quat()
JOINTS = list(bags.NAMES)
NAMES = ["time", "fx", "fy", "fz", "tx", "ty", "tz", "x", "y", "z", "qx", "qy", "qz", "qw"]
ROWS = np.column_stack([TIME, LOAD, PLACE, QUATERNION])
AXES = NAMES[1:7]
UNITS = ["ms", "kN", "N", "N", "N mm", "Nm", "mN·m", "mm", "m", "m", "-", "1", "", ""]
SCALED = ROWS * np.r_[1e3, 1e-3, 1, 1, 1e3, 1, 1e3, 1e3, np.ones(6)]


def csv(path: Path, names: list[str] | None = None, rows: np.ndarray = ROWS, cell: str = ",",
        above: str = "", encoding: str = "utf-8", point: str = ".") -> Path:
    lines = [cell.join(names or NAMES), *(
        cell.join(f"{value:.17g}" for value in row).replace(".", point) for row in rows)]
    path.write_bytes((above + "\n".join(lines) + "\n").encode(encoding))
    return path


def read(path: Path, columns: Columns | None = None, **changes: Any) -> tuple[Any, Any]:
    """The wrenches, and the poses or joint states in a table."""
    got = read_motion(path, columns or Columns(), Settings().replace(dotted(changes)))
    assert isinstance(got, Recording)
    (load,), (motion,) = got.of_kind(Wrenches), got.of_kind(Edges | JointStates)
    return load, motion


def assert_read(got: tuple[Any, Any], tolerance: float = 1e-12) -> None:
    load, motion = got
    assert np.allclose(1e-9 * np.diff(load.stamps), 0.01, atol=2e-6)
    np.testing.assert_allclose(load.rows, LOAD, atol=tolerance)
    assert isinstance(motion, Edges)
    np.testing.assert_allclose(motion.rows[:, :3], PLACE, atol=tolerance)
    turn = Rotation.from_quat(motion.rows[:, 3:]).as_matrix()
    np.testing.assert_allclose(turn, TURN, atol=1e-9)


@pytest.mark.parametrize("options", [
    {}, {"cell": ";"}, {"cell": "\t"}, {"cell": " "}, {"cell": ";", "point": ","},
    {"encoding": "utf-16"}, {"encoding": "utf-8-sig"}, {"above": "# "},
    {"above": "Recorded: 2025-03-04 10:11\nSensor: A, serial 7\n\n"},
    {"names": [*NAMES[:4], "tx (N\u00b7m)", "ty (N\u00b7m)", "tz (N\u00b7m)", *NAMES[7:]],
     "encoding": "cp1252"}])
def test_text_is_read_whoever_wrote_it(tmp_path: Path, options: dict[str, Any]) -> None:
    names = options.get("names", NAMES)
    assert_read(read(csv(tmp_path / "LOG.CSV", **options), Columns(wrench=tuple(names[1:7]))))


@pytest.mark.parametrize("way", ["rotation", "rotation_vector", "rpy"])
def test_orientations_come_in_many_ways(tmp_path: Path, way: str) -> None:
    turn = Rotation.from_quat(QUATERNION)
    values = {"rotation": turn.as_matrix().reshape(-1, 9), "rotation_vector": turn.as_rotvec(),
              "rpy": turn.as_euler("xyz")}[way]
    names = [f"a{k}" for k in range(values.shape[1])]
    path = csv(tmp_path / "a.csv", [*NAMES[:10], *names], np.column_stack([ROWS[:, :10], values]))
    assert_read(read(path, Columns(**{way: tuple(names)})))
    rows = np.column_stack([ROWS[:, :10], ROWS[:, 13:9:-1], values])
    path = csv(tmp_path / "both.csv", [*NAMES, *names], rows)  # the one that is named counts
    assert_read(read(path, Columns(**{way: tuple(names)})))
    if way == "rpy":
        rows = np.column_stack([ROWS[:, :10], np.rad2deg(values)])
        with pytest.raises(InvalidData, match="degrees"):
            read(csv(tmp_path / "b.csv", [*NAMES[:10], *names], rows), Columns(rpy=tuple(names)))


@pytest.mark.parametrize(("names", "rows", "columns"), [
    (NAMES, np.column_stack([1e3 * TIME, LOAD, 1e3 * PLACE, QUATERNION]),
     Columns(time_unit="ms", position_unit="mm")), (NAMES[1:], ROWS[:, 1:], Columns(rate=100.0)),
    ([f"{name} [{unit}]" for name, unit in zip(NAMES, UNITS, strict=True)], SCALED, Columns()),
    ([*NAMES[:13], "qw\n" + ",".join(UNITS)], SCALED, Columns(time_unit="us"))])
def test_units_and_a_rate_are_converted(tmp_path: Path, names: list[str], rows: np.ndarray,
                                        columns: Columns) -> None:
    assert_read(read(csv(tmp_path / "a.csv", names, rows), columns))


def test_vectors_in_npz_and_parquet(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", t=TIME + 1.7e9, ft=LOAD, p=PLACE, q=QUATERNION)
    columns = Columns(wrench=("ft",), position=("p",), quaternion=("q",))
    assert_read(read(tmp_path / "a.npz", columns))
    np.savez(tmp_path / "b.npz", t=TIME, ft=LOAD[1:], p=PLACE, q=QUATERNION)
    with pytest.raises(InertialIdError, match="'ft'.* 39\\b"):
        read(tmp_path / "b.npz", columns)
    arrow = pytest.importorskip("pyarrow")
    from pyarrow.parquet import write_table
    write_table(arrow.table({
        "t": TIME, "f": list(LOAD[:, :3]), "m": list(LOAD[:, 3:]), "p": list(PLACE),
        "q": list(QUATERNION)}), tmp_path / "a.parquet")
    assert_read(read(tmp_path / "a.parquet", Columns(
        wrench=("f", "m"), position=("p",), quaternion=("q",))))


@pytest.mark.parametrize("names", [JOINTS, {"motors": JOINTS}, None])
def test_an_episode_of_a_dataset(tmp_path: Path, names: Any) -> None:
    arrow = pytest.importorskip("pyarrow")
    from pyarrow.parquet import write_table
    (tmp_path / "meta").mkdir()
    (tmp_path / "data").mkdir()
    (tmp_path / "meta" / "info.json").write_text(json.dumps({"total_episodes": 2, "features": {
        "wrench": {"names": AXES}, "state": {"names": names}}}))
    twice = np.r_[0:10, 0:N]
    write_table(arrow.table({
        "timestamp": TIME[twice], "episode_index": [0] * 10 + [1] * N, "task": ["a"] * (10 + N),
        "wrench": list(LOAD[twice]), "state": list(MOTION.q[twice])}),
        tmp_path / "data" / "a.parquet")
    urdf = tmp_path / "arm.urdf"
    urdf.write_text(bags.URDF)
    ways = [{joint: f"state[{k}]" for k, joint in enumerate(JOINTS)}]
    if names is not None:
        ways.append({joint: f"state/{joint}" for joint in JOINTS})
    for joints in ways:
        settings = Settings().replace({"robot_description.file": str(urdf)})
        got = read_motion(tmp_path, Columns(wrench=("wrench",), joints=joints, episode=1), settings)
        assert isinstance(got, Recording)
        assert got.joints.names == bags.NAMES
        np.testing.assert_allclose(got.joints.positions, MOTION.q)


@pytest.mark.parametrize(("change", "named"), [
    ({"names": [*NAMES[:13], "fx"]}, "fx"), ({"names": NAMES[:13]}, "13"),
    ({"names": [*NAMES[:13], "q"]}, "qw"), ({"names": ["clock", *NAMES[1:]]}, "column of the time"),
    ({"names": [*NAMES[:7], "x [in]", *NAMES[8:]]}, "'x' .* 'in'; allowed: m, mm"),
    ({"rows": ROWS * np.r_[np.ones(10), 2.0 * np.ones(4)]}, "length 2"),
    ({"names": ["stamp", *NAMES[1:]], "rows": ROWS[::-1]}, "'stamp'"),
    ({"rows": ROWS * np.r_[1e3, np.ones(13)]}, "time_unit"),
    ({"rows": np.where(np.arange(14) == 0, np.nan, ROWS)}, "time")])
def test_a_bad_table_is_refused_by_name(tmp_path: Path, change: dict[str, Any], named: str) -> None:
    path = csv(tmp_path / "a.csv", **change)
    with pytest.raises(InertialIdError, match=named) as caught:
        read(path)
    assert len(str(caught.value).splitlines()) == 1
    with pytest.raises(InertialIdError, match=r"\b4\b"):
        read(csv(tmp_path / "b.csv"), Columns(quaternion=("qx", "qy", "qz")))


def npz(**arrays: np.ndarray) -> bytes:
    """An NPZ file."""
    out = BytesIO()
    np.savez(out, **arrays)
    return out.getvalue()


@pytest.mark.parametrize(("name", "content"), [
    ("a.csv", b""), ("a.csv", b"hello\n"), ("a.csv", b"1,2\n3,4\n"), ("a.csv", b"PK\0\0\0"),
    ("a.npz", npz(time=TIME, **{axis: TIME[1:] for axis in AXES}, qx=TIME, qy=TIME, qz=TIME,
                  qw=TIME)), ("a.npz", b"PK\x03\x04 no"), ("a.parquet", b"PAR1 no"),
    ("a.csv", b"t,fx\n0,1\n1,2,3\n2,3\n3,4\n")])
def test_a_damaged_file_is_one_sentence(tmp_path: Path, name: str, content: bytes,
                                        capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / name).write_bytes(content)
    assert main([str(tmp_path / name)]) == USER_ERROR
    assert len(capsys.readouterr().err.splitlines()) == 1


@pytest.mark.parametrize(("text", "named"), [
    ("time_unit: h", "time_unit"), ("colour: red", "colour"), ("joints: [a]", "joints"),
    ("rate: -1", "rate"), ("[1, 2]", "allowed"),
    ("{quaternion: q, rpy: r}", "rpy"), ("time: 7", "time"), ("episode: -1", "episode")])
def test_a_bad_file_of_columns_is_refused_by_name(tmp_path: Path, text: str, named: str) -> None:
    (tmp_path / "c.yaml").write_text(text)
    with pytest.raises(InertialIdError, match=named):
        columns_from_file(tmp_path / "c.yaml")


# ---- poses at rest -------------------------------------------------------------------------------

def test_rows_without_a_time_are_poses_at_rest(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    turn = Rotation.random(20, rng=rng)
    force = bags.MASS * turn.inv().apply(GRAVITY)
    rows = np.hstack([force, np.cross(bags.COM, force)]) + bags.BIAS
    rows += rng.normal(size=rows.shape) * np.repeat([0.02, 0.001], 3)
    path = csv(tmp_path / "a.csv", AXES + NAMES[10:], np.column_stack([rows, turn.as_quat()]))
    assert not isinstance(read_motion(path, Columns(), Settings()), Recording)
    out = tmp_path / "out.json"
    assert main([str(path), "--sensor", "ati_gamma", "--json", str(out)]) == OK
    tree = json.loads(out.read_text())
    assert tree["mass"] == pytest.approx(bags.MASS, rel=0.01)
    assert tree["com"] == pytest.approx(bags.COM, abs=0.002)
    assert tree["verdict"][4:] == ["unobserved"] * 6


def test_the_real_poses_of_an_arm_hold_its_payload(data_folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    main([str(data_folder / "kuka_ati_gamma" / "static_poses.csv"), "--sensor", "ati_gamma",
          "--json", str(out)])
    tree = json.loads(out.read_text())
    assert abs(tree["mass"] - 0.933) < 2.0 * np.sqrt(tree["covariance"][0][0]) < 0.02
    assert tree["verdict"][:4] == ["identified"] * 4


# ---- positions and efforts of robots -------------------------------------------------------------

def test_arm_and_gripper_in_messages_of_their_own_make_one_recording(tmp_path: Path) -> None:
    rows, stamps = np.random.default_rng(0).normal(size=(50, 2, 2)), 10**7 * np.arange(1, 51)
    q, effort = rows.transpose(1, 0, 2)
    messages = bags.messages_of([JointStates(stamps, ("a", "b"), q, effort), JointStates(
        stamps + 10**6, ("finger",), q[:, :1], effort[:, :1])])
    bag = bags.write_bag(tmp_path / "bag", [bags.Topic("/joint_states", bags.JOINTS, messages)])
    read = read_recording(bag, described=True)
    assert set(read.joints.names) == {"a", "b", "finger"} and not read.notes
    got = of_joints(read.joints, ["b", "a"])
    np.testing.assert_array_equal(got.stamps, stamps)
    np.testing.assert_array_equal(np.stack([got.positions, got.efforts], axis=1), rows[:, :, ::-1])


@pytest.mark.parametrize(("q", "effort", "cell"), [
    ("position.{}", "effort.{}", ";"), ("q_{}", "tau_{}", ","), ("pos {}", "load {}", "\t")])
def test_joints_of_robots_are_read_by_the_same_rules(tmp_path: Path, q: str, effort: str,
                                                     cell: str) -> None:
    joints = [str(k) for k in range(6)] if q == "q_{}" else JOINTS
    names = [f.format(joint) for f in (q, effort) for joint in joints]
    named = {"joints": {joint: q.format(joint) for joint in joints},
             "efforts": {joint: effort.format(joint) for joint in joints}} if " " in q else {}
    columns = tmp_path / "columns.yaml"
    columns.write_text(json.dumps({"rate": 100.0, **named}))
    path = csv(tmp_path / "a.csv", names, np.column_stack([MOTION.q, LOAD]), cell)
    got = read_recording(path, columns).joints
    assert got.names == (() if q == "q_{}" else tuple(joints))
    np.testing.assert_allclose(got.positions, MOTION.q)
    np.testing.assert_allclose(got.efforts, LOAD)
    assert np.diff(got.stamps).tolist() == [10_000_000] * (N - 1)
    if q == "position.{}":  # a wrench in place of efforts
        _, motion = read(path, Columns(wrench=tuple(names[6:]), rate=100.0),
                         robot_description__file="arm.urdf")
        np.testing.assert_allclose(motion.positions, MOTION.q)
    for rate in ({}, {"rate": 0.01}):  # no time; another unit of it
        columns.write_text(json.dumps({**rate, **named}))
        with pytest.raises(InertialIdError, match="time"):
            read_recording(path, columns)


def test_joint_torques_are_read_with_each_joint_or_not_at_all(tmp_path: Path) -> None:
    settings = Settings().replace({"load.robot": "a.robot", "wrench.sensor_frame": "sensor"})
    path = csv(tmp_path / "a.csv", ["time", "qa", "qb", "ta", "tb"], ROWS[:, :5])
    joints, efforts = {"a": "qa", "b": "qb"}, {"b": "tb", "a": "ta"}
    got = read_motion(path, Columns(joints=joints, efforts=efforts), settings)
    assert isinstance(got, Recording)
    (motion,) = got.of_kind(object)
    assert isinstance(motion, JointStates) and motion.names == ("a", "b")
    np.testing.assert_allclose(np.hstack([motion.positions, motion.efforts]), ROWS[:, 1:5])
    with pytest.raises(InertialIdError, match="torque"):
        read_motion(path, Columns(joints=joints, efforts={"a": "ta"}), settings)
