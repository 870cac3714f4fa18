# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Tables of motion and wrench give what a recording of the same data gives."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from inertial_id_ros.apps.bag.identify_bag import main
from inertial_id_ros.apps.simulation.cobot import Recording, SimulatedCobot
from inertial_id_ros.apps.simulation.command_line import write_bag
from inertial_id_ros.apps.simulation.settings import CobotSettings

pytestmark = pytest.mark.slow
WRENCH = ["fx", "fy", "fz", "tx", "ty", "tz"]
POSE = ["x", "y", "z", "qx", "qy", "qz", "qw"]
Rows = tuple[list[str], np.ndarray]


@pytest.fixture(scope="module")
def simulated() -> tuple[SimulatedCobot, Recording]:
    cobot = SimulatedCobot()
    return cobot, cobot.run(5.0)


@pytest.fixture()
def poses(simulated: tuple[SimulatedCobot, Recording]) -> Rows:
    """Names and rows of time, wrench and pose."""
    recorded = simulated[1]
    quaternion = Rotation.from_matrix(recorded.truth.rotation).as_quat()
    return ["t", *WRENCH, *POSE], np.column_stack(
        [recorded.t, recorded.wrench, recorded.truth.position, quaternion])


def csv(path: Path, names: list[str], rows: np.ndarray, delimiter: str = ",") -> Path:
    np.savetxt(path, rows, delimiter=delimiter, header=delimiter.join(names), comments="",
               fmt="%.17g")
    return path


def npz(path: Path, names: list[str], rows: np.ndarray) -> Path:
    np.savez(path, t=rows[:, 0], ft=rows[:, 1:7], p=rows[:, 7:10], q=rows[:, 10:14])
    return path


def parquet(path: Path, names: list[str], rows: np.ndarray) -> Path:
    arrow = pytest.importorskip("pyarrow")
    from pyarrow.parquet import write_table
    write_table(arrow.table({name: rows[:, k] for k, name in enumerate(names)}), path)
    return path


def lerobot(folder: Path, names: list[str], rows: np.ndarray) -> Path:
    """Two episodes, the second with the data; vectors with names, as its features have them."""
    arrow = pytest.importorskip("pyarrow")
    from pyarrow.parquet import write_table
    (folder / "meta").mkdir(parents=True)
    (folder / "data" / "chunk-000").mkdir(parents=True)
    (folder / "meta" / "info.json").write_text(json.dumps({
        "total_episodes": 2, "features": {
            "observation.wrench": {"dtype": "float32", "shape": [6], "names": WRENCH},
            "observation.state": {"dtype": "float32", "shape": [7], "names": POSE}}}))
    both = np.concatenate([rows[:10], rows])
    write_table(arrow.table({
        "timestamp": both[:, 0], "episode_index": [0] * 10 + [1] * len(rows),
        "task": ["pick"] * len(both), "observation.wrench": list(both[:, 1:7]),
        "observation.state": list(both[:, 7:14])}), folder / "data/chunk-000/file-000.parquet")
    return folder


def result(folder: Path, path: Path, *options: str) -> dict[str, Any]:
    """What `identify_bag --json` writes."""
    out = folder / "result.json"
    assert main([str(path), "--quiet", "--json", str(out), *options]) == 0
    return json.loads(out.read_text())


def columns(folder: Path, text: str) -> str:
    (folder / "columns.yaml").write_text(text)
    return str(folder / "columns.yaml")


NPZ = "{wrench: ft, position: p, quaternion: q}"
LEROBOT = """
wrench: observation.wrench
position: [observation.state/x, observation.state/y, observation.state/z]
quaternion: [observation.state/qx, observation.state/qy, observation.state/qz, observation.state/qw]
"""


def test_joint_positions_give_exactly_what_a_bag_of_them_gives(
        simulated: tuple[SimulatedCobot, Recording], tmp_path: Path) -> None:
    cobot, recorded = simulated
    plain = replace(recorded, dq=None)
    write_bag(tmp_path / "bag", cobot, plain)
    (tmp_path / "arm.urdf").write_text(cobot.urdf)
    names = [f"joint {k}" for k in range(6)]
    table = csv(tmp_path / "arm.csv", ["time", *WRENCH, *names], np.column_stack(
        [recorded.t, recorded.wrench, recorded.q]))
    joints = "".join(f"  {j}: {n}\n" for j, n in zip(cobot.joint_names, names, strict=True))
    options = ["--urdf", str(tmp_path / "arm.urdf"), "--columns",
               columns(tmp_path, f"frame: {cobot.sensor_frame}\njoints:\n{joints}")]
    bag, found = result(tmp_path, tmp_path / "bag"), result(tmp_path, table, *options)
    for key in ("mass", "com", "inertia_com", "covariance", "verdict", "frame_id"):
        assert found[key] == bag[key], key


def test_poses_give_the_payload(poses: Rows, simulated: tuple[SimulatedCobot, Recording],
                                tmp_path: Path) -> None:
    found, payload = result(tmp_path, csv(tmp_path / "arm.csv", *poses)), simulated[0].payload
    assert found["mass"] == pytest.approx(payload.mass, rel=0.01)
    np.testing.assert_allclose(found["com"], payload.com, atol=1e-3)
    assert found["frame_id"] == "sensor" and set(found["verdict"]) == {"identified"}


@pytest.mark.parametrize("rate", [200, 10])
def test_orientation_alone_gives_mass_and_centre_of_mass(
        tmp_path: Path, rate: int) -> None:
    """In slow motion; at 10 Hz, as tables of poses often are."""
    cobot = SimulatedCobot(CobotSettings(rate=rate, speed=0.3, seed=52200))
    recorded, payload = cobot.run(60.0), cobot.payload
    rows = np.column_stack([recorded.t, recorded.wrench,
                            Rotation.from_matrix(recorded.truth.rotation).as_quat()])
    found = result(tmp_path, csv(tmp_path / "arm.csv", ["t", *WRENCH, *POSE[3:]], rows),
                   "--window", "all")
    sigma = np.sqrt(np.diag(found["covariance"]))
    assert found["mass"] == pytest.approx(payload.mass, rel=0.05)
    np.testing.assert_allclose(found["com"], payload.com, atol=6e-3)
    assert abs(found["mass"] - payload.mass) < 3.0 * sigma[0]
    assert set(found["verdict"][:4]) == {"identified"} and "unobserved" in found["verdict"][4:]


@pytest.mark.parametrize(("write", "name", "options"), [
    (npz, "arm.npz", NPZ), (parquet, "arm.parquet", "{}"), (lerobot, "dataset", LEROBOT)])
def test_each_format_gives_the_same(poses: Rows, tmp_path: Path, write: Callable[..., Path],
                                    name: str, options: str) -> None:
    asked = ["--columns", columns(tmp_path, options)]
    if write is lerobot:
        asked += ["--episode", "1"]
    expected = result(tmp_path, csv(tmp_path / "arm.csv", *poses))
    assert result(tmp_path, write(tmp_path / name, *poses), *asked)["mass"] == pytest.approx(
        expected["mass"], rel=1e-9)


def test_units_names_and_matrices_of_others_are_converted(poses: Rows, tmp_path: Path) -> None:
    names, rows = poses
    expected = result(tmp_path, csv(tmp_path / "arm.csv", names, rows))
    matrices = Rotation.from_quat(rows[:, 10:14]).as_matrix().reshape(-1, 9)
    other = csv(tmp_path / "other.csv", ["ms", *"abcdef", *"xyz", *(f"r{k}" for k in range(9))],
                np.column_stack([1e3 * rows[:, 0], rows[:, 1:7], 1e3 * rows[:, 7:10], matrices]),
                delimiter=";")
    text = ("{time: ms, time_unit: ms, position_unit: mm, wrench: [a, b, c, d, e, f], rotation: "
            f"[{', '.join(f'r{k}' for k in range(9))}]}}")
    found = result(tmp_path, other, "--columns", columns(tmp_path, text))
    assert found["mass"] == pytest.approx(expected["mass"], rel=1e-6)


@pytest.mark.parametrize(("break_it", "said"), [
    (lambda n, r: (["u", *n[1:]], r), "has no column 'time' (--columns names them); it has fx, fy"),
    (lambda n, r: ([*n[:3], "other", *n[4:]], r), "has no column 'fz'"),
    (lambda n, r: ([*n[:7], *"abcdefg"], r), "or those of joint positions (joints, "),
    (lambda n, r: ([*n[:8], "a", *n[9:]], r), "has no column 'y'"),
    (lambda n, r: (n, r[:0]), "has no rows below its first line"),
    (lambda n, r: (n, np.vstack([r[:5], r[3:]])), "the time of row 6 of table"),
    (lambda n, r: (n, np.vstack([r[:5], np.full_like(r[:1], np.nan), r[5:]])),
     "the time of row 6 of table"),
    (lambda n, r: (n, np.hstack([r[:, :10], 2.0 * r[:, 10:]])), "the quaternion of row 1 of table"),
    (lambda n, r: (n[:-1], r), "has 13 names in its first line and 14 columns below"),
    (lambda n, r: ([str(k) for k in range(14)], r), "has no names in its first line"),
    (lambda n, r: (n, r[:1]), "has 1 rows; it needs at least two"),
    (lambda n, r: (n, np.hstack([1e3 * r[:, :1], r[:, 1:]])), "set time_unit to ms, us or ns"),
])
def test_a_bad_table_is_refused_in_one_sentence(
        poses: Rows, tmp_path: Path, capsys: pytest.CaptureFixture[str],
        break_it: Callable[[list[str], np.ndarray], Rows], said: str) -> None:
    path = csv(tmp_path / "arm.csv", *break_it(*poses))
    assert main([str(path), "--quiet"]) == 2
    error = capsys.readouterr().err
    assert said in error and error.count("\n") == 1


def test_a_decimal_comma_is_named(poses: Rows, tmp_path: Path,
                                  capsys: pytest.CaptureFixture[str]) -> None:
    names, rows = poses
    path = csv(tmp_path / "arm.csv", names, rows[:50], ";")
    path.write_text(path.read_text().replace(".", ","))
    assert main([str(path), "--quiet"]) == 2
    assert "writes numbers with a decimal comma" in capsys.readouterr().err


@pytest.mark.parametrize(("text", "said"), [
    ("{force: [a]}", "'force' is not known; allowed: efforts, frame, joints, position"),
    ("{wrench: [a, b]}", "wrench names 2 columns; it needs 6"),
    ("{time: 3}", "time is 3; it must be text"),
    ("{time_unit: h}", "time_unit is 'h'; allowed: s, ms, us, ns"),
    ("{joints: [a]}", "joints must map names of joints"),
    ("{joints: {shoulder: fx}}", "name the robot description with --urdf"),
])
def test_a_bad_file_of_columns_is_refused_in_one_sentence(
        poses: Rows, tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str,
        said: str) -> None:
    path = csv(tmp_path / "arm.csv", *poses)
    assert main([str(path), "--quiet", "--columns", columns(tmp_path, text)]) == 2
    error = capsys.readouterr().err
    assert said in error and error.count("\n") == 1


@pytest.mark.parametrize(("name", "content"), [
    ("arm.npz", b"PK\x03\x04 cut off"), ("arm.csv", b"\xff\xfe\x00\x01"),
    ("arm.csv", b"t,fx\n1,a,2\n3"), ("arm.parquet", b"PAR1"), ("arm.csv", b"")])
def test_a_damaged_file_is_refused_in_one_sentence(
        tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    assert main([str(tmp_path / name), "--quiet"]) == 2
    error = capsys.readouterr().err
    assert str(tmp_path / name) in error and error.count("\n") == 1


def test_an_option_of_tables_is_refused_elsewhere(
        poses: Rows, simulated: tuple[SimulatedCobot, Recording], tmp_path: Path,
        capsys: pytest.CaptureFixture[str]) -> None:
    write_bag(tmp_path / "bag", *simulated)
    for path, option in ((tmp_path / "bag", ("--columns", columns(tmp_path, "{}"))),
                         (csv(tmp_path / "arm.csv", *poses), ("--episode", "0"))):
        assert main([str(path), "--quiet", *option]) == 2
        error = capsys.readouterr().err
        assert option[0] in error and "is none" in error and error.count("\n") == 1


def test_names_that_numpy_writes_as_a_comment_are_read(poses: Rows, tmp_path: Path) -> None:
    path = csv(tmp_path / "arm.csv", *poses)
    expected = result(tmp_path, path)["mass"]
    path.write_text("# " + path.read_text())
    assert result(tmp_path, path)["mass"] == expected


def test_what_was_written_is_said(poses: Rows, tmp_path: Path,
                                  capsys: pytest.CaptureFixture[str]) -> None:
    path = csv(tmp_path / "arm.csv", *poses)
    main([str(path), "--report", str(tmp_path / "pages"), "--json", str(tmp_path / "out.json")])
    said = capsys.readouterr().out
    assert f"wrote {tmp_path / 'out.json'}\n" in said
    assert f"wrote {tmp_path / 'pages' / 'arm.csv.html'}\n" in said


def test_an_episode_that_is_not_there_is_named(poses: Rows, tmp_path: Path,
                                               capsys: pytest.CaptureFixture[str]) -> None:
    path = lerobot(tmp_path / "dataset", *poses)
    assert main([str(path), "--episode", "7", "--quiet"]) == 2
    assert "--episode is 7;" in capsys.readouterr().err


def test_nothing_stays_in_the_temporary_folder(poses: Rows, tmp_path: Path,
                                               monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    result(tmp_path, csv(tmp_path / "arm.csv", *poses))
    assert list((tmp_path / "tmp").iterdir()) == []
