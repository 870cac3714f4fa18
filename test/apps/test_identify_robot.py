# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""`identify_robot` on an arm that MuJoCo simulates: prediction, consistency, files in and out."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import mujoco
import numpy as np
import pinocchio as pin
import pytest
from robots import mujoco_torque
from torque_arm import COULOMB, VISCOUS, save_table, simulate, wide_motion

from inertial_id_ros.apps.robot.files import set_inertias
from inertial_id_ros.apps.robot.identify_robot import main
from inertial_id_ros.apps.simulation.cobot import load_description
from inertial_id_ros.errors import InvalidModel
from inertial_id_ros.io.inputs import JointStates
from inertial_id_ros.robot.model import NO_TERMS, RobotModel
from inertial_id_ros.robot.robot_file import load_robot

NAMES = load_description().joint_names
DURATION = 16.0
# A link without anything, whose body is that of another one, and comments around the robot.
DESCRIPTION = load_description().urdf.replace('<link name="shoulder_link">', """<link
  name='shoulder_link'/><joint name="fix" type="fixed"><parent link="shoulder_link"/>
  <child link="cover"/></joint><link name="cover">""") + "<!-- 1 > 0 -->"


@pytest.fixture(scope="module")
def recorded() -> JointStates:
    return simulate(wide_motion(DURATION), DURATION)


@pytest.fixture(scope="module")
def folder(recorded: JointStates, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files of the recording, and what the tool writes about it."""
    out = tmp_path_factory.mktemp("robot")
    (out / "arm.urdf").write_text(DESCRIPTION)
    path = save_table(out / "free.npz", recorded)
    assert main([str(path), "--urdf", str(out / "arm.urdf"), "--quiet",
                 "--write-urdf", str(out / "found.urdf"), "--write-robot",
                 str(out / "found.robot"), "--json", str(out / "found.json")]) == 0
    return out


def test_efforts_of_joints_that_are_named_are_turned(
        recorded: JointStates, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    turned = [NAMES[1], NAMES[4]]
    sign = np.where(np.isin(NAMES, turned), -1.0, 1.0)
    path = save_table(tmp_path / "a.npz", recorded._replace(efforts=sign * recorded.efforts))
    words = [str(path), "--urdf", str(folder / "arm.urdf")]
    assert main(words) == 2
    said = capsys.readouterr()
    assert all(name in said.err for name in turned) and NAMES[0] not in said.err
    assert "kg" not in said.out  # no numbers of a robot that explains nothing
    assert main([*words, "--quiet", "--effort-sign", "elbow"]) == 2
    assert main([*words, "--quiet", "--effort-sign", ",".join(turned), "--json",
                 str(tmp_path / "a.json")]) == 0
    got, want = (json.loads(path.read_text())["error_rms"]
                 for path in (tmp_path / "a.json", folder / "found.json"))
    np.testing.assert_allclose(got, want, rtol=1e-6)


@pytest.mark.slow
def test_torques_are_predicted_to_their_noise(folder: Path):
    tree = json.loads((folder / "found.json").read_text())
    assert load_robot(folder / "found.robot").joints == NAMES
    # The low-pass averages about 50 samples, whose noise is 0.5 and 0.1 N m.
    assert (np.array(tree["error_rms"]) < 0.5 * np.array([0.5, 0.5, 0.5, 0.1, 0.1, 0.1])).all()
    assert tree["held_back_relative_error"] < 0.03
    assert tree["consistent"] == [True] * 6


def test_the_written_description_holds_the_friction_that_mujoco_had(
        folder: Path, tmp_path: Path):
    """MuJoCo reads the URDF itself. The arm has no offsets and no tilt, which a URDF cannot hold;
    they are not asked for, or they would take their share of the gravity torques. All else is as
    it was, byte for byte."""
    assert main([str(folder / "free.npz"), "--urdf", str(folder / "arm.urdf"), "--quiet",
                 "--set", "align=false", "--terms", "viscous,coulomb",
                 "--write-urdf", str(tmp_path / "found.urdf")]) == 0
    tree = ElementTree.parse(tmp_path / "found.urdf")
    kept = [re.sub(r"<inertial>.*?</inertial>|<dynamics [^>]*>", "", text, flags=re.S).replace(
        "></link>", "/>") for text in (DESCRIPTION, (tmp_path / "found.urdf").read_text())]
    assert kept[0] == kept[1]
    for link in tree.iter("link"):  # MuJoCo makes bodies of shapes where there is no inertia
        for shape in link.findall("collision"):
            link.remove(shape)
    model = mujoco.MjSpec.from_string(ElementTree.tostring(tree.getroot(), "unicode")).compile()
    np.testing.assert_allclose(model.dof_damping, VISCOUS, rtol=0.1)
    np.testing.assert_allclose(model.dof_frictionloss, COULOMB, rtol=0.05)


@pytest.mark.parametrize("words", [
    "--terms glue", "--set low_pass=9", "--joints knee", "--json /nowhere/a.json"])
def test_a_request_that_cannot_be_carried_out_is_one_sentence(
        folder: Path, words: str, capsys: pytest.CaptureFixture[str]):
    given = ["--urdf", str(folder / "arm.urdf"), *words.split()]
    assert main([str(folder / "free.npz"), *given]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and words.split()[-1].partition("=")[0] in said


@pytest.mark.slow
def test_the_report_holds_the_numbers_of_the_result_and_its_verdict(
        recorded: JointStates, folder: Path) -> None:
    """Of an arm as it is, and with noise in place of the efforts of one joint, in which the bodies
    are hardly felt. Recordings of one name have reports of their own."""
    noise = recorded.efforts.copy()
    noise[:, 5] = 0.05 * np.random.default_rng(2).normal(size=len(noise))
    roots, tables = [], dict[str, list[list[str]]]()
    for name, effort, tone in (("a.npz", recorded.efforts, "good"), ("a.npz-2", noise, "fair")):
        path = save_table(folder / "a.npz", recorded._replace(efforts=effort))
        main([str(path), "--urdf", str(folder / "arm.urdf"), "--quiet",
              "--set", "align=false", "--set", "coulomb_velocity=0.01",
              "--report", str(folder / "pages"), "--json", str(folder / f"{name}.json")])
        page = (folder / "pages" / f"{name}.html").read_text(encoding="utf-8").split("\n", 1)[1]
        roots.append(ElementTree.fromstring(page))
        assert next(roots[-1].iter("section")).get("class") == f"verdict {tone}"
    root, result = roots[0], json.loads((folder / "a.npz.json").read_text())
    for each in root.iter("table"):
        tables["".join(each.find("caption").itertext())] = [
            ["".join(cell.itertext()) for cell in row] for row in each.findall("tbody/tr")]
    rows = tables["Torque, rms [N m]"]
    assert [row[0] for row in rows] == list(NAMES)
    for row, torque, error in zip(rows, result["torque_rms"], result["error_rms"], strict=True):
        assert float(row[1]) == pytest.approx(torque, abs=5.1e-4)
        assert float(row[2]) == pytest.approx(error, abs=5.1e-5)
    values = {p["name"]: p["value"] for p in result["parameters"]}
    terms = {row[0]: row[1:] for row in tables["Joints, with 95 % intervals"]}
    assert float(terms[NAMES[0]][0].split(" \u00b1 ")[0]) == pytest.approx(
        values[f"viscous({NAMES[0]})"], rel=0.02)
    charts = next(s for s in root.iter("section") if s.get("id") == "torques").iter("img")
    assert [picture.get("alt").split(": ")[0] for picture in charts] == list(NAMES)


FINGERS = "".join(f"""
  <link name="{name}"><inertial><origin xyz="0 {y} 0.03" rpy="0.3 0 0.2"/><mass value="0.05"/>
    <inertia ixx="2e-5" ixy="1e-6" ixz="0" iyy="2.5e-5" iyz="0" izz="1e-5"/></inertial></link>
  <link name="{name}_tip"><inertial><mass value="0.01"/>
    <inertia ixx="1e-6" ixy="0" ixz="0" iyy="1e-6" iyz="0" izz="1e-6"/></inertial></link>
  <joint name="{name}_tip" type="fixed"><parent link="{name}"/><child link="{name}_tip"/>
    <origin xyz="0 0 0.05"/></joint>
  <joint name="{name}_slide" type="prismatic"><parent link="tool0"/><child link="{name}"/>
    <origin xyz="0 0 0.06" rpy="0 0 {y}"/><axis xyz="0 1 0"/>
    <limit lower="0" upper="0.04" effort="20" velocity="0.2"/></joint>"""
    for name, y in (("left", 0.02), ("right", -0.02)))
URDF = load_description().urdf.replace("</robot>", FINGERS + "</robot>")


def identified(factor: float = 1.1) -> tuple[RobotModel, np.ndarray]:
    """The arm with locked fingers, its bodies other than described: heavier, and the last one by a
    factor."""
    model = RobotModel.from_urdf(URDF, NO_TERMS, joints=NAMES)
    phi = 1.2 * model.nominal
    phi[model.body_slice(-1)] *= factor / 1.2
    return model, phi


def test_torques_are_those_of_the_robot_that_was_found() -> None:
    """By MuJoCo, with the fingers where they were locked."""
    model, phi = identified()
    states = np.random.default_rng(0).normal(size=(3, 5, len(NAMES)))
    found = mujoco_torque(set_inertias(URDF, model, phi), NAMES, *states)
    for row, truth in zip(found, model.regressor(*states) @ phi, strict=True):
        np.testing.assert_allclose(row, truth, rtol=0.0, atol=1e-9 * np.abs(truth).max())


def test_links_that_do_not_fit_into_the_body_that_was_found_are_named() -> None:
    """Light bodies cannot hold fingers as described."""
    with pytest.raises(InvalidModel, match="left_tip"):
        set_inertias(URDF, *identified(0.05))


def test_locked_joints_can_move_in_the_written_description() -> None:
    """Forward dynamics has numbers for fingers, too, which keep their own inertials."""
    model, phi = identified()
    written = set_inertias(URDF, model, phi)
    read = pin.buildModelFromXML(written)
    q, torque = pin.neutral(read), np.ones(read.nv)
    acceleration = pin.aba(read, read.createData(), q, np.zeros(read.nv), torque)
    assert np.isfinite(acceleration).all()
    finger = read.getJointId("left_slide")
    described = pin.buildModelFromXML(URDF).inertias[finger]
    np.testing.assert_allclose(read.inertias[finger].matrix(), described.matrix(), rtol=1e-12)
