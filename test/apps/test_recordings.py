# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Tables as people have them, and bags, hold the samples that were written, or are refused by name
and in one sentence; the topics that can be meant are used."""

import json
import os
import re
import shutil
import sqlite3
from io import BytesIO
from pathlib import Path
from typing import Any

import bags
import numpy as np
import pytest
from rosbags.rosbag1 import Writer
from rosbags.typesys import Stores, get_types_from_msg, get_typestore
from scenes import GRAVITY, dotted
from scipy.spatial.transform import Rotation

from inertial_id_ros.apps.bag.identify_bag import main
from inertial_id_ros.apps.bag.offline import identify_recording
from inertial_id_ros.apps.recordings.bags import Bag, read_bag, select_topics
from inertial_id_ros.apps.recordings.tables import Columns, columns_from_file, read_motion
from inertial_id_ros.apps.robot.files import read_recording
from inertial_id_ros.cli import OK, USER_ERROR
from inertial_id_ros.errors import InertialIdError, InvalidData, RecordingError
from inertial_id_ros.estimate import Estimate
from inertial_id_ros.io.decoding import decode
from inertial_id_ros.io.inputs import (
    JOINT_STATES,
    ROBOT_DESCRIPTION,
    TRANSFORMS,
    WRENCH,
    Edges,
    JointStates,
    Wrenches,
)
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


@pytest.mark.parametrize("zone", ["", "Z", "+01:00"])
def test_names_in_capitals_and_dates_are_read(tmp_path: Path, zone: str) -> None:
    path = csv(tmp_path / "a.csv", [name.upper() for name in NAMES])
    assert_read(read(path))
    head, *lines = path.read_text().splitlines()
    dates = np.datetime64("2026-01-01T23:59:59.8", "us") + np.round(1e6 * TIME).astype(int)
    path.write_text("\n".join([head, *(f"{date}{zone},{line.partition(',')[2]}" for date, line in
                                       zip(dates, lines, strict=True))]))
    assert_read(read(path))


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
    for more in ([], ["--stamps", "recorded"]):
        assert main([str(tmp_path / name), *more]) == USER_ERROR
        assert (said := capsys.readouterr().err).count("\n") == 1 and ("--stamps" in said) == bool(
            more)


@pytest.mark.parametrize(("text", "named"), [
    ("time_unit: h", "time_unit"), ("colour: red", "colour"), ("joints: [a]", "joints"),
    ("rate: -1", "rate"), ("[1, 2]", "allowed"),
    ("{quaternion: q, rpy: r}", "rpy"), ("time: 7", "time"), ("episode: -1", "episode")])
def test_a_bad_file_of_columns_is_refused_by_name(tmp_path: Path, text: str, named: str) -> None:
    (tmp_path / "c.yaml").write_text(text)
    with pytest.raises(InertialIdError, match=named):
        columns_from_file(tmp_path / "c.yaml")


# ---- poses at rest -------------------------------------------------------------------------------

def poses(path: Path, change: Any, n: int = 20) -> tuple[Rotation, np.ndarray]:
    """Write poses at rest, with wrenches (n, 6) changed in place."""
    rng = np.random.default_rng(3)
    turn = Rotation.random(n, rng=rng)
    force = bags.MASS * turn.inv().apply(GRAVITY)
    rows = np.hstack([force, np.cross(bags.COM, force)]) + bags.BIAS
    rows += rng.normal(size=rows.shape) * np.repeat([0.05, 0.003], 3)
    change(rows)
    csv(path, AXES + NAMES[10:], np.column_stack([rows, turn.as_quat()]))
    return turn, rows


def test_a_unit_of_torques_is_named_by_poses_at_rest(tmp_path: Path) -> None:
    path, scale = tmp_path / "a.csv", np.repeat([1.0, 1e3], 3)
    poses(path, lambda rows: np.multiply(rows, scale, out=rows))
    found = identify_recording(path, Settings().replace({"wrench.sensor": "ati_gamma"}))
    assert [f.name for f in found.findings] == ["wrong_units.wrench"]
    assert "N and N mm" in found.findings[0].text


@pytest.mark.parametrize("off", [{4: 8.0}, {4: 8.0, 9: 8.0}])
def test_poses_that_do_not_fit_the_others_are_named_and_left_out(tmp_path: Path,
                                                                 off: dict[int, float]) -> None:
    def change(rows: np.ndarray) -> None:
        rows[list(off), 0] += list(off.values())

    poses(tmp_path / "a.csv", change, 12)
    found = identify_recording(tmp_path / "a.csv",
                               Settings().replace({"wrench.sensor": "ati_gamma"}))
    (finding,) = found.findings
    assert finding.name == "pose_misfit" and re.findall(r"\d+", finding.text)[:len(off)] == [
        str(row + 1) for row in off]
    assert isinstance(found.outcome, Estimate)
    sd = np.sqrt(found.outcome.phi_covariance[0, 0])
    assert abs(found.outcome.phi[0] - bags.MASS) < 2.0 * sd < 0.02 * bags.MASS


def test_rows_without_a_time_are_poses_at_rest(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    turn, rows = poses(path, lambda rows: None)
    got = read_motion(path, Columns(), Settings())
    (turned,), (load,) = got.of_kind(Edges), got.of_kind(Wrenches)
    assert (turn.inv() * Rotation.from_quat(turned.rows[:, 3:])).magnitude().max() < 1e-12
    np.testing.assert_array_equal(load.rows, rows)
    out, pages = tmp_path / "out.json", tmp_path / "pages"
    assert main([str(path), "--sensor", "ati_gamma", "--json", str(out), "--report", str(pages),
                 "--window", "5"]) == OK
    (page,) = pages.iterdir()
    assert page.read_text().count("<figure>") == 2  # forces, torques
    tree = json.loads(out.read_text())
    assert tree["mass"] == pytest.approx(bags.MASS, rel=0.01)
    assert tree["com"] == pytest.approx(bags.COM, abs=0.002)
    assert tree["verdict"][4:] == ["unobserved"] * 6 and any("window" in d for d in
                                                             tree["diagnostics"])


def test_the_real_poses_of_an_arm_hold_its_payload_or_name_a_sign_that_is_wrong(
        data_folder: Path, tmp_path: Path) -> None:
    right, wrong = {}, {}
    for tree, convention in ((right, "on_sensor"), (wrong, "on_environment")):
        main([str(data_folder / "kuka_ati_gamma" / "static_poses.csv"), "--sensor", "ati_gamma",
              "--set", f"wrench.convention={convention}", "--json", str(tmp_path / "out.json")])
        tree.update(json.loads((tmp_path / "out.json").read_text()))
    assert abs(right["mass"] - 0.933) < 2.0 * np.sqrt(right["covariance"][0][0]) < 0.02
    assert right["verdict"][:4] == ["identified"] * 4
    assert [f["name"] for f in wrong["findings"]] == ["sign_wrong"]


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
    (motion,) = got.of_kind(object)
    assert isinstance(motion, JointStates) and motion.names == ("a", "b")
    np.testing.assert_allclose(np.hstack([motion.positions, motion.efforts]), ROWS[:, 1:5])
    with pytest.raises(InertialIdError, match="torque"):
        read_motion(path, Columns(joints=joints, efforts={"a": "ta"}), settings)


# ---- bags ----------------------------------------------------------------------------------------

@pytest.fixture(params=["mcap", "sqlite3"])
def bag(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return bags.tf_bag(tmp_path / "bag", duration=0.5, storage=request.param)


def test_messages_come_in_the_order_of_recording_with_what_was_written(bag: Path) -> None:
    with Bag(bag) as reader:
        assert {name: count for (name, _), count in reader.topics.items()} == {
            "/wrench": 100, "/tf": 50, "/tf_static": 1}
        assert reader.duration == pytest.approx(0.495)
        messages = list(reader.messages({"/wrench": WRENCH.type, "/tf": TRANSFORMS.type}))
        times = [time for _, time, _ in messages]
        assert times == sorted(times) and len(times) == 150
        first = next(data for topic, _, data in messages if topic == "/tf")
        (edge,) = decode(TRANSFORMS, [first])[0]
        assert edge.rows[0, :3] == pytest.approx(bags.motion(0.1, 100.0).position[0])


@pytest.mark.parametrize("metadata", [
    None, ("storage_identifier: [a-z0-9]+", "storage_identifier: ''"), ("depth: 1", "depth: 7")])
def test_metadata_that_lacks_or_is_of_another_tool_hides_no_message(
        bag: Path, metadata: tuple[str, str] | None) -> None:
    """Without the kind of storage, or with another quality of service."""
    file, paths = bag / "metadata.yaml", [bag, bags.storage_file(bag)]
    if metadata is None:
        file.unlink()
    else:
        file.write_text(re.sub(*metadata, file.read_text()))
        paths.append(file)
    for path in paths:
        with Bag(path) as reader:
            assert len(list(reader.messages(dict(list(reader.topics))))) == 151


@pytest.mark.parametrize("apart", [0, 10**10])  # ns
def test_several_files_are_one_bag_if_they_follow_each_other_or_its_metadata_names_them(
        tmp_path: Path, apart: int) -> None:
    for k, name in enumerate(("first", "second")):
        stream = bags.text_stream("/a", "x")
        stream = stream._replace(messages=[(stamp + k * apart, m) for stamp, m in stream.messages])
        shutil.copy(bags.storage_file(bags.write_bag(tmp_path / name, [stream])), tmp_path)
    if apart:
        with pytest.raises(RecordingError, match=r"second\.mcap"):
            Bag(tmp_path)
        (tmp_path / "metadata.yaml").write_text("relative_file_paths: [first.mcap, second.mcap]")
    with Bag(tmp_path) as reader:
        assert sum(reader.topics.values()) == 2


def test_a_bag_of_ros_1_holds_the_same_samples(tmp_path: Path) -> None:
    store = get_typestore(Stores.ROS1_NOETIC)
    store.register(get_types_from_msg("geometry_msgs/TransformStamped[] transforms",
                                      "tf/msg/tfMessage"))
    streams, found = [bags.wrench_stream(0.1), bags.tf_stream(0.1)], []
    new = bags.write_bag(tmp_path / "bag", streams)
    with Writer(tmp_path / "a.bag") as writer:
        for stream, kind in zip(streams, (WRENCH.type, "tf/msg/tfMessage"), strict=True):
            connection = writer.add_connection(stream.name, kind, typestore=store)
            for stamp, message in stream.messages:
                for part in getattr(message, "transforms", [message]):
                    part.header = store.types["std_msgs/msg/Header"](
                        7, part.header.stamp, part.header.frame_id)
                writer.write(connection, stamp, bytes(store.serialize_ros1(message, kind)))
    for path in (tmp_path / "a.bag", new):
        found.append(read_bag(path, Settings()).of_kind(object))
    assert len(found[0]) == len(found[1]) == 2
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one.rows, other.rows)
        np.testing.assert_array_equal(one.stamps, other.stamps)


@pytest.mark.parametrize("share", [0.0, 0.7])
def test_a_cut_off_bag_is_one_clear_error(bag: Path, share: float) -> None:
    file = bags.storage_file(bag)
    file.write_bytes(file.read_bytes()[:int(share * file.stat().st_size)])
    with pytest.raises(RecordingError), Bag(bag) as reader:
        list(reader.messages({"/wrench": WRENCH.type}))


@pytest.mark.parametrize("name", ["nothing", "empty", "old.bag", "a.xyz", "pipe.mcap", "zero.mcap"])
def test_what_is_no_bag_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    for file in ("old.bag", "a.xyz"):
        (tmp_path / file).write_text("x")
    (tmp_path / "zero.mcap").touch()
    os.mkfifo(tmp_path / "pipe.mcap")
    with pytest.raises(RecordingError, match=name):
        Bag(tmp_path / name)


# ---- topics --------------------------------------------------------------------------------------

def selected(tmp_path: Path, streams: list[bags.Topic], **changes: object
             ) -> tuple[dict[str, object], list[str]]:
    notes: list[str] = []
    settings = Settings().replace(dotted(changes))
    with Bag(bags.write_bag(tmp_path / "bag", streams)) as reader:
        return dict(select_topics(reader, settings, notes)), notes


def test_topics_of_the_settings_or_the_only_ones_are_used(tmp_path: Path) -> None:
    streams = [bags.wrench_stream(0.1, topic="/arm/ft"),
               bags.joint_stream(0.1, topic="/arm/joint_states"),
               bags.text_stream("/arm/robot_description", bags.URDF), bags.tf_stream(0.1)]
    topics, notes = selected(tmp_path, streams, wrench__topic="arm/ft")
    assert topics == {"/arm/ft": WRENCH, "/arm/joint_states": JOINT_STATES, "/tf": TRANSFORMS,
                      "/arm/robot_description": ROBOT_DESCRIPTION}
    assert len(notes) == 2


WRENCHES, STATES = bags.wrench_stream(0.1), bags.joint_stream(0.1)
DESCRIPTION = bags.text_stream("/robot_description", bags.URDF)


def wrenches(*topics: str) -> list[bags.Topic]:
    return [bags.tf_stream(0.1), *(bags.wrench_stream(0.1, topic=name) for name in topics)]


@pytest.mark.parametrize(("streams", "changes", "named"), [
    (wrenches(), {}, "WrenchStamped"), (wrenches("/a", "/b"), {}, "/a .*/b "),
    (wrenches("/wrench"), {"wrench__topic": "/wrenhc"}, "/wrenhc"),
    ([bags.joint_stream(0.1, topic="/wrench"), bags.tf_stream(0.1)], {}, JOINT_STATES.type),
    ([WRENCHES], {}, "/joint_states.*/tf"), ([WRENCHES, STATES], {}, "/robot_description.*--urdf"),
    ([WRENCHES, STATES, DESCRIPTION], {"precompensated__source": "inertia",
                                       "precompensated__topic": "/payload"}, "/payload")])
def test_what_a_recording_lacks_is_named(tmp_path: Path, streams: list[bags.Topic],
                                         changes: dict[str, object], named: str) -> None:
    with pytest.raises(RecordingError, match=named):
        selected(tmp_path, streams, **changes)


def test_a_definition_that_cannot_be_parsed_refuses_no_bag(tmp_path: Path) -> None:
    file = bags.storage_file(bags.tf_bag(tmp_path / "bag", duration=0.5, storage="sqlite3"))
    with sqlite3.connect(file) as db:
        db.execute("UPDATE message_definitions SET encoded_message_definition = '?? [] x'")
    assert sum(len(part) for part in read_bag(file, Settings()).parts)
