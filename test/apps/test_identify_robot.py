# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""`identify_robot` on an arm that MuJoCo simulates: prediction, consistency, files in and out; it
names by joint what is wrong with a recording, writes nothing then, and refuses nothing that may be
right."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import mujoco
import numpy as np
import pinocchio as pin
import pytest
from robots import mujoco_torque
from torque_arm import COULOMB, NAMES, URDF, VISCOUS, save_table, simulate, wide_motion

from inertial_id_ros.apps.robot.files import set_inertias
from inertial_id_ros.apps.robot.identify_robot import main
from inertial_id_ros.errors import InvalidData, InvalidModel
from inertial_id_ros.inertia import is_consistent
from inertial_id_ros.io.inputs import JointStates
from inertial_id_ros.robot.identify import check_motion, compare_with_description
from inertial_id_ros.robot.least_squares import description_reference
from inertial_id_ros.robot.model import NO_TERMS, RobotModel
from inertial_id_ros.robot.recording import RowFilter
from inertial_id_ros.robot.robot_file import load_robot

# A link without anything, whose body is that of another one, and comments around the robot.
DESCRIPTION = URDF.replace('<link name="shoulder_link">', """<link
  name='shoulder_link'/><joint name="fix" type="fixed"><parent link="shoulder_link"/>
  <child link="cover"/></joint><link name="cover">""") + "<!-- 1 > 0 -->"
SECONDS = 12.0  # of the recording


@pytest.fixture(scope="module")
def recorded() -> JointStates:
    return simulate(wide_motion(SECONDS, seed=11), SECONDS, seed=12)


@pytest.fixture(scope="module")
def folder(recorded: JointStates, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files of the recording, and what the tool writes about it."""
    out = tmp_path_factory.mktemp("robot")
    (out / "arm.urdf").write_text(DESCRIPTION)
    path = save_table(out / "free.npz", recorded)
    assert main([str(path), "--urdf", str(out / "arm.urdf"),
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
    assert main([*words, "--effort-sign", "elbow"]) == 2
    assert main([*words, "--effort-sign", ",".join(turned), "--json",
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
    assert main([str(folder / "free.npz"), "--urdf", str(folder / "arm.urdf"),
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
        main([str(path), "--urdf", str(folder / "arm.urdf"),
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
GRIPPING = URDF.replace("</robot>", FINGERS + "</robot>")


def identified(factor: float = 1.1) -> tuple[RobotModel, np.ndarray]:
    """The arm with locked fingers, its bodies other than described: heavier, and the last one by a
    factor."""
    model = RobotModel.from_urdf(GRIPPING, NO_TERMS, joints=NAMES)
    phi = 1.2 * model.nominal
    phi[model.body_slice(-1)] *= factor / 1.2
    return model, phi


def test_torques_are_those_of_the_robot_that_was_found() -> None:
    """By MuJoCo, with the fingers where they were locked."""
    model, phi = identified()
    states = np.random.default_rng(0).normal(size=(3, 5, len(NAMES)))
    found = mujoco_torque(set_inertias(GRIPPING, model, phi), NAMES, *states)
    for row, truth in zip(found, model.regressor(*states) @ phi, strict=True):
        np.testing.assert_allclose(row, truth, rtol=0.0, atol=1e-9 * np.abs(truth).max())


def test_links_that_do_not_fit_into_the_body_that_was_found_are_named() -> None:
    """Light bodies cannot hold fingers as described."""
    with pytest.raises(InvalidModel, match="left_tip"):
        set_inertias(GRIPPING, *identified(0.05))


def test_locked_joints_can_move_in_the_written_description() -> None:
    """Forward dynamics has numbers for fingers, too, which keep their own inertials."""
    model, phi = identified()
    written = set_inertias(GRIPPING, model, phi)
    read = pin.buildModelFromXML(written)
    q, torque = pin.neutral(read), np.ones(read.nv)
    acceleration = pin.aba(read, read.createData(), q, np.zeros(read.nv), torque)
    assert np.isfinite(acceleration).all()
    finger = read.getJointId("left_slide")
    described = pin.buildModelFromXML(GRIPPING).inertias[finger]
    np.testing.assert_allclose(read.inertias[finger].matrix(), described.matrix(), rtol=1e-12)


# ---- what is wrong with a recording --------------------------------------------------------------

PAN, _, ELBOW, WRIST_1, WRIST_2, WRIST_3 = range(6)
Run = Callable[..., tuple[int, str, list[str]]]


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs the command: its status, what it prints, and the files that it writes."""
    def command(bad: JointStates) -> tuple[int, str, list[str]]:
        (tmp_path / "arm.urdf").write_text(URDF)
        outputs = {"--write-urdf": "x.urdf", "--write-robot": "x.robot", "--json": "x.json"}
        words = [w for option, name in outputs.items() for w in (option, str(tmp_path / name))]
        words = [str(save_table(tmp_path / "a.npz", bad)), *words]
        status = main([*words, "--urdf", str(tmp_path / "arm.urdf")])
        said = capsys.readouterr()
        return status, said.out + said.err, [name for name in outputs.values()
                                             if (tmp_path / name).exists()]
    return command


def scaled(r: JointStates, factor: float, *joints: int) -> JointStates:
    """Efforts of some joints times a factor."""
    return r._replace(efforts=r.efforts * np.where(np.isin(np.arange(6), joints), factor, 1.0))


def exchanged(r: JointStates, one: int, other: int, both: bool) -> JointStates:
    """Two joints under each other's names, or with each other's efforts."""
    order = np.arange(6)
    order[[one, other]] = other, one
    if both:
        return r._replace(names=tuple(NAMES[k] for k in order))
    return r._replace(efforts=r.efforts[:, order])


def resting(r: JointStates, seconds: float) -> JointStates:
    """An arm that moves only after some seconds, with noise."""
    before, rng = r.stamps < 1e9 * seconds, np.random.default_rng(0)
    q, effort = r.positions.copy(), r.efforts.copy()
    q[before], effort[before] = q[~before][0], effort[~before][0]
    return r._replace(positions=q + 1e-5 * rng.normal(size=q.shape),
                      efforts=effort + 0.1 * rng.normal(size=q.shape))


def weightless(r: JointStates) -> JointStates:
    """Efforts from which a controller has taken the gravity of the described bodies."""
    at_rest = r.positions, 0.0 * r.positions, 0.0 * r.positions
    return r._replace(efforts=r.efforts - mujoco_torque(URDF, NAMES, *at_rest))


def noise(r: JointStates, joint: int, size: float) -> JointStates:
    """White noise in place of a joint's efforts."""
    random = np.random.default_rng(0).normal(0.0, size, r.efforts.shape)
    return r._replace(efforts=np.where(np.arange(6) == joint, random, r.efforts))


SHORT, ALL = slice(0, 300), tuple(range(6))
CASES: dict[str, tuple[Callable[[JointStates], JointStates], int, list[str]]] = {
    "no motion": (lambda r: resting(r, SECONDS - 0.01), 1, []),
    "a short recording": (lambda r: r._replace(
        stamps=r.stamps[SHORT], positions=r.positions[SHORT], efforts=r.efforts[SHORT]), 1, []),
    "degrees": (lambda r: r._replace(positions=np.degrees(r.positions)), 2, []),
    "last wrist turned": (lambda r: scaled(r, -1.0, WRIST_3), 2, [NAMES[WRIST_3]]),
    "all turned": (lambda r: scaled(r, -1.0, *ALL), 2, ["all joints"]),
    "no gravity": (weightless, 2, ["gravity"]),
    "pan and elbow named as each other": (lambda r: exchanged(r, PAN, ELBOW, True), 2, []),
    "two wrists named as each other": (lambda r: exchanged(r, WRIST_1, WRIST_2, True), 2,
                                       [NAMES[WRIST_1], NAMES[WRIST_2]]),
    "efforts of two wrists exchanged": (lambda r: exchanged(r, WRIST_1, WRIST_2, False), 1, []),
    "a joint that is missing": (lambda r: JointStates(
        r.stamps, NAMES[:5], r.positions[:, :5], r.efforts[:, :5]), 2, [NAMES[WRIST_3]]),
    "kN m": (lambda r: scaled(r, 1e-3, *ALL), 2, ["another unit"]),
    "N mm of a wrist": (lambda r: scaled(r, 1e3, WRIST_2), 2, [NAMES[WRIST_2]]),
    "no torque of the elbow": (lambda r: scaled(r, 0.0, ELBOW), 2, [NAMES[ELBOW]]),
    "noise for the elbow": (lambda r: noise(r, ELBOW, 10.0), 1, [NAMES[ELBOW]]),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("error")
def test_a_bad_recording_is_one_sentence_and_no_file(
        name: str, recorded: JointStates, run: Run) -> None:
    spoil, status, named = CASES[name]
    found, printed, written = run(spoil(recorded))
    error = [line for line in printed.splitlines() if line.startswith("error: ")]
    assert found == status and not written
    assert len(error) == 1 and all(word in error[0] for word in named) and len(error[0]) < 350


@pytest.mark.slow
@pytest.mark.filterwarnings("error")
def test_what_may_be_right_is_a_note(recorded: JointStates, run: Run) -> None:
    """The same recording unspoilt; with torques of a tenth, as currents would be; with noise in
    place of a torque that is friction alone; with a joint that rests."""
    r = recorded
    status, printed, written = run(r)
    assert status == 0 and len(written) == 3
    usual = printed.count("note: ")
    still = simulate(lambda t: tuple(  # no motion of the last joint
        np.where(np.arange(6) == WRIST_3, 0.0, x) for x in wide_motion(SECONDS, 11)(t)), SECONDS)
    for bad in (scaled(r, 0.1, *ALL), noise(r, WRIST_3, 0.05), still):
        status, printed, written = run(bad)
        assert status == 0 and printed.count("note: ") > usual


def test_an_impossible_inertia_is_named_and_its_mass_is_used() -> None:
    """The upper arm's largest moment of inertia a thousand times as large."""
    root = ElementTree.fromstring(URDF)
    link = next(each for each in root.iter("link") if each.get("name") == "upper_arm_link")
    moments, mass = link.find("inertial/inertia"), float(link.find("inertial/mass").get("value"))
    moments.set("izz", str(1000.0 * float(moments.get("izz"))))
    model = RobotModel.from_urdf(ElementTree.tostring(root, encoding="unicode"))
    (note,) = compare_with_description(model, model.nominal, np.full(len(model.bodies), False))
    assert "upper_arm_link" in note
    reference = description_reference(model)
    where = model.body_slice(model.bodies.index("upper_arm_link"))
    assert is_consistent(reference.phi[where]) and reference.phi[where][0] == mass


# Units of positions

PRESS = """<robot name="r"><link name="base"/>
<link name="tilted"><inertial><mass value="3"/><inertia ixx="0.03" iyy="0.04" izz="0.02" ixy="0"
  ixz="0" iyz="0"/></inertial></link>
<link name="slid"><inertial><mass value="2"/><inertia ixx="0.03" iyy="0.04" izz="0.02" ixy="0"
  ixz="0" iyz="0"/></inertial></link>
<joint name="tilt" type="revolute"><parent link="base"/><child link="tilted"/><axis xyz="0 1 0"/>
  <limit lower="-2.9" upper="2.9" velocity="2" effort="500"/></joint>
<joint name="slide" type="prismatic"><parent link="tilted"/><child link="slid"/><axis xyz="0 0 1"/>
  <limit lower="0" upper="0.4" velocity="2" effort="500"/></joint></robot>"""


@pytest.mark.parametrize("amplitude", [0.2, 0.4, 1.5])
def test_efforts_show_degrees_before_anything_is_fitted(amplitude: float) -> None:
    """A fit of so many unknowns may explain wrong angles, too: the description alone tells."""
    model = RobotModel.from_urdf(URDF)
    good = simulate(wide_motion(12.0, size=amplitude), 12.0)
    check_motion(model, RowFilter(good))
    with pytest.raises(InvalidData, match="degrees"):
        check_motion(model, RowFilter(good._replace(positions=np.degrees(good.positions))))


@pytest.mark.parametrize(("factors", "unit"), [
    ((np.degrees(1.0), 1.0), "degrees"), ((1.0, 1e3), "millimetres")])
def test_positions_in_another_unit_are_named(factors: tuple[float, float], unit: str) -> None:
    """Of motor currents, too, whose gains nobody knows yet."""
    model, t = RobotModel.from_urdf(PRESS), np.arange(0.0, 20.0, 0.004)
    q = np.stack([np.sin(2.0 * t), 0.2 + 0.2 * np.sin(t)], axis=1)
    dq, ddq = np.gradient(q, t, axis=0), np.gradient(np.gradient(q, t, axis=0), t, axis=0)
    effort = 0.1 * (model.described_torque(q, dq, ddq) + dq + 0.5 * np.sign(dq))
    right = JointStates(np.round(1e9 * t).astype(np.int64), model.joint_names, q, effort)
    check_motion(model, RowFilter(right))
    with pytest.raises(InvalidData, match=unit):
        check_motion(model, RowFilter(right._replace(positions=factors * q)))
