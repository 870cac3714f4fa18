# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""`identify_robot` on an arm that MuJoCo simulates: prediction, consistency, files in and out."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import mujoco
import numpy as np
import pytest
from torque_arm import COULOMB, VISCOUS, SimulatedTorques, simulate, wide_motion

from inertial_id_ros.apps.robot.files import read_recording
from inertial_id_ros.apps.robot.identify_robot import main
from inertial_id_ros.apps.simulation.description import load_description
from inertial_id_ros.robot.robot_file import load_robot

NAMES = load_description().joint_names
DURATION = 16.0


@pytest.fixture(scope="module")
def recorded() -> SimulatedTorques:
    return simulate(wide_motion(DURATION), DURATION)


@pytest.fixture(scope="module")
def folder(recorded: SimulatedTorques, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files of the recording, and what the tool writes about it."""
    out = tmp_path_factory.mktemp("robot")
    (out / "arm.urdf").write_text(load_description().urdf)
    np.savez(out / "free.npz", t=recorded.t, q=recorded.q, effort=recorded.effort,
             names=np.array(NAMES))
    assert main([str(out / "free.npz"), "--urdf", str(out / "arm.urdf"), "--quiet",
                 "--write-urdf", str(out / "found.urdf"), "--write-robot",
                 str(out / "found.robot"), "--json", str(out / "found.json")]) == 0
    return out


@pytest.mark.slow
def test_torques_are_predicted_to_their_noise(folder: Path):
    tree = json.loads((folder / "found.json").read_text())
    assert load_robot(folder / "found.robot").joints == NAMES
    # The low-pass averages about 50 samples, whose noise is 0.5 and 0.1 N m.
    assert (np.array(tree["error_rms"]) < 0.5 * np.array([0.5, 0.5, 0.5, 0.1, 0.1, 0.1])).all()
    assert tree["held_back_relative_error"] < 0.03
    assert tree["consistent"] == [True] * 6


def test_friction_is_found_within_its_interval(folder: Path):
    tree = json.loads((folder / "found.json").read_text())
    found = {p["name"]: p for p in tree["parameters"]}
    for k, name in enumerate(NAMES):
        for term, truth in (("viscous", VISCOUS[k]), ("coulomb", COULOMB[k])):
            p = found[f"{term}({name})"]
            assert abs(p["value"] - truth) < 4.0 * p["sigma"] + 0.02 * truth, (name, term)


def test_the_written_description_holds_the_friction_that_mujoco_had(
        folder: Path, tmp_path: Path):
    """MuJoCo reads the URDF itself. The arm has no offsets and no tilt, which a URDF cannot hold;
    they are not asked for, or they would take their share of the gravity torques."""
    assert main([str(folder / "free.npz"), "--urdf", str(folder / "arm.urdf"), "--quiet",
                 "--set", "align=false", "--terms", "viscous,coulomb",
                 "--write-urdf", str(tmp_path / "found.urdf")]) == 0
    tree = ElementTree.parse(tmp_path / "found.urdf")
    for link in tree.iter("link"):  # MuJoCo makes bodies of shapes where there is no inertia
        for shape in link.findall("collision"):
            link.remove(shape)
    model = mujoco.MjSpec.from_string(ElementTree.tostring(tree.getroot(), "unicode")).compile()
    np.testing.assert_allclose(model.dof_damping, VISCOUS, rtol=0.1)
    np.testing.assert_allclose(model.dof_frictionloss, COULOMB, rtol=0.05)


@pytest.mark.parametrize("bad", [np.nan, -np.inf, 1e300])
def test_samples_that_are_late_repeated_or_absurd_are_left_out(tmp_path: Path, bad: float):
    t = np.array([0.0, 0.1, 0.1, 0.1, 0.2, 0.3])
    q = 0.5 * np.arange(6.0)[:, None]
    q[4] = bad
    np.savez(tmp_path / "a.npz", t=t, q=q, tau=np.ones((6, 1)))
    kept = read_recording(tmp_path / "a.npz").of_joints(["a"])
    assert kept.q[:, 0].tolist() == [0.0, 0.5, 2.5]


@pytest.mark.parametrize("words", [
    "--terms glue", "--set low_pass=9", "--joints knee", "--json /nowhere/a.json"])
def test_a_request_that_cannot_be_carried_out_is_one_sentence(
        folder: Path, words: str, capsys: pytest.CaptureFixture[str]):
    given = ["--urdf", str(folder / "arm.urdf"), *words.split()]
    assert main([str(folder / "free.npz"), *given]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and words.split()[-1].partition("=")[0] in said


# The report


def parse(path: Path) -> ElementTree.Element:
    return ElementTree.fromstring(path.read_text(encoding="utf-8").split("\n", 1)[1])


def table(root: ElementTree.Element, caption: str) -> list[list[str]]:
    found = next(t for t in root.iter("table") if "".join(t.find("caption").itertext()) == caption)
    return [["".join(cell.itertext()) for cell in row] for row in found.findall("tbody/tr")]


@pytest.mark.slow
def test_the_report_holds_the_numbers_of_the_result_and_its_verdict(
        recorded: SimulatedTorques, folder: Path) -> None:
    """Of an arm as it is, with its efforts in another order of joints, and with noise in place of
    the efforts of one joint, in which the bodies are hardly felt."""
    noise = recorded.effort.copy()
    noise[:, 5] = 0.05 * np.random.default_rng(2).normal(size=len(noise))
    roots = []
    for name, effort, tone in (("right", recorded.effort, "good"),
                               ("wrong", recorded.effort[:, ::-1], "bad"),
                               ("noise", noise, "fair")):
        np.savez(folder / f"{name}.npz", t=recorded.t, q=recorded.q, effort=effort,
                 names=np.array(NAMES))
        main([str(folder / f"{name}.npz"), "--urdf", str(folder / "arm.urdf"), "--quiet",
              "--set", "align=false", "--set", "coulomb_velocity=0.01",
              "--report", str(folder / "pages"), "--json", str(folder / f"{name}.json")])
        roots.append(parse(folder / "pages" / f"{name}.npz.html"))
        assert next(roots[-1].iter("section")).get("class") == f"verdict {tone}"
    assert not (folder / "wrong.json").exists()
    root, result = roots[0], json.loads((folder / "right.json").read_text())
    rows = table(root, "Torque, rms [N m]")
    assert [row[0] for row in rows] == list(NAMES)
    for row, torque, error in zip(rows, result["torque_rms"], result["error_rms"], strict=True):
        assert float(row[1]) == pytest.approx(torque, abs=5.1e-4)
        assert float(row[2]) == pytest.approx(error, abs=5.1e-5)
    values = {p["name"]: p["value"] for p in result["parameters"]}
    terms = {row[0]: row[1:] for row in table(root, "Joints, with 95 % intervals")}
    assert float(terms[NAMES[0]][0].split(" \u00b1 ")[0]) == pytest.approx(
        values[f"viscous({NAMES[0]})"], rel=0.02)
    assert len(table(root, "Base parameters")) == len(result["base_parameters"])
    charts = next(s for s in root.iter("section") if s.get("id") == "torques").iter("img")
    assert [picture.get("alt").split(": ")[0] for picture in charts] == list(NAMES)
