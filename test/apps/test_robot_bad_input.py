# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""`identify_robot` names by joint what is wrong with a recording, writes nothing then, and refuses
nothing that may be right."""

from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin
import pytest
from torque_arm import NAMES, URDF, save_table, simulate, wide_motion

from inertial_id_ros.apps.robot.identify_robot import main
from inertial_id_ros.errors import InvalidData
from inertial_id_ros.inertia import is_consistent
from inertial_id_ros.io.inputs import JointStates
from inertial_id_ros.robot.identify import check_motion, compare_with_description
from inertial_id_ros.robot.least_squares import description_reference
from inertial_id_ros.robot.model import RobotModel
from inertial_id_ros.robot.recording import RowFilter

DURATION = 12.0
PAN, _, ELBOW, WRIST_1, WRIST_2, WRIST_3 = range(6)


Run = Callable[..., tuple[int, str, list[str]]]


@pytest.fixture(scope="module")
def recorded() -> JointStates:
    return simulate(wide_motion(DURATION, seed=11), DURATION, seed=12)


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
    model = pin.buildModelFromXML(URDF)
    data = model.createData()
    gravity = [pin.computeGeneralizedGravity(model, data, q).copy() for q in r.positions]
    return r._replace(efforts=r.efforts - gravity)


def noise(r: JointStates, joint: int, size: float) -> JointStates:
    """White noise in place of a joint's efforts."""
    random = np.random.default_rng(0).normal(0.0, size, r.efforts.shape)
    return r._replace(efforts=np.where(np.arange(6) == joint, random, r.efforts))


SHORT, ALL = slice(0, 300), tuple(range(6))
CASES: dict[str, tuple[Callable[[JointStates], JointStates], int, list[str]]] = {
    "no motion": (lambda r: resting(r, DURATION - 0.01), 1, []),
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
    "kN m": (lambda r: scaled(r, 1e-3, *ALL), 2, ["all joints"]),
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
        np.where(np.arange(6) == WRIST_3, 0.0, x) for x in wide_motion(DURATION, 11)(t)), DURATION)
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
