# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""`identify_robot` names by joint what is wrong with a recording, and writes nothing then."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin
import pytest
from torque_arm import SimulatedTorques, simulate, wide_motion

from inertial_id_ros.apps.report.results import interval
from inertial_id_ros.apps.robot.identify_robot import main
from inertial_id_ros.apps.simulation.description import load_description
from inertial_id_ros.inertia import is_consistent
from inertial_id_ros.robot.checks import check_description
from inertial_id_ros.robot.reference import description_reference
from inertial_id_ros.robot.robot_file import robot_model

NAMES = load_description().joint_names
DURATION = 12.0
PAN, LIFT, ELBOW, WRIST_1, WRIST_2, WRIST_3 = range(6)


class Bad(NamedTuple):
    """A recording."""

    t: np.ndarray
    q: np.ndarray
    effort: np.ndarray
    names: tuple[str, ...] = NAMES


@pytest.fixture(scope="module")
def recorded() -> SimulatedTorques:
    return simulate(wide_motion(DURATION, seed=11), DURATION, seed=12)


@pytest.fixture
def run(recorded: SimulatedTorques, tmp_path: Path, capsys: pytest.CaptureFixture[str]
        ) -> Callable[[Bad], tuple[int, str, list[str]]]:
    """Runs the command: its status, what it prints, and the files that it writes."""
    def command(bad: Bad) -> tuple[int, str, list[str]]:
        (tmp_path / "arm.urdf").write_text(load_description().urdf)
        np.savez(tmp_path / "a.npz", t=bad.t, q=bad.q, effort=bad.effort,
                 names=np.array(bad.names))
        outputs = {"--write-urdf": "x.urdf", "--write-robot": "x.robot",
                   "--json": "x.json"}
        words = [w for option, name in outputs.items() for w in (option, str(tmp_path / name))]
        status = main([str(tmp_path / "a.npz"), "--urdf", str(tmp_path / "arm.urdf"), *words])
        said = capsys.readouterr()
        return status, said.out + said.err, [name for name in outputs.values()
                                             if (tmp_path / name).exists()]
    return command


def turned(r: SimulatedTorques, *joints: int) -> Bad:
    """Efforts of some joints with the opposite sign."""
    return Bad(r.t, r.q, r.effort * np.where(np.isin(np.arange(6), joints), -1.0, 1.0))


def scaled(r: SimulatedTorques, factor: float, *joints: int) -> Bad:
    """Efforts of some joints times a factor."""
    return Bad(r.t, r.q, r.effort * np.where(np.isin(np.arange(6), joints), factor, 1.0))


def exchanged(r: SimulatedTorques, one: int, other: int, both: bool) -> Bad:
    """Two joints under each other's names, or with each other's efforts."""
    order = np.arange(6)
    order[[one, other]] = other, one
    if both:
        return Bad(r.t, r.q, r.effort, tuple(NAMES[k] for k in order))
    return Bad(r.t, r.q, r.effort[:, order])


def still(r: SimulatedTorques) -> Bad:
    """An arm that holds a pose, with noise."""
    rng = np.random.default_rng(0)
    return Bad(r.t, r.q[0] + 1e-5 * rng.normal(size=r.q.shape),
               r.effort[0] + 0.1 * rng.normal(size=r.q.shape))


def rests_first(r: SimulatedTorques) -> Bad:
    """An arm that moves in the last 1.2 s only."""
    before = r.t < DURATION - 1.2
    rng = np.random.default_rng(0)
    q, effort = r.q.copy(), r.effort.copy()
    q[before], effort[before] = q[~before][0], effort[~before][0]
    return Bad(r.t, q + 1e-5 * rng.normal(size=q.shape), effort + 0.1 * rng.normal(size=q.shape))


def weightless(r: SimulatedTorques) -> Bad:
    """Efforts from which a controller has taken the gravity of the described bodies."""
    model = pin.buildModelFromXML(load_description().urdf)
    data = model.createData()
    gravity = [pin.computeGeneralizedGravity(model, data, q).copy() for q in r.q]
    return Bad(r.t, r.q, r.effort - gravity)


SHORT, ALL = slice(0, 300), tuple(range(6))
CASES: dict[str, tuple[Callable[[SimulatedTorques], Bad], int, str]] = {
    "no motion": (still, 1, "no joint moves ("),
    "a short recording": (lambda r: Bad(r.t[SHORT], r.q[SHORT], r.effort[SHORT]), 1,
                          " s only; the 6 joints of this robot need"),
    "a short motion": (rests_first, 1, " s only; the 6 joints of this robot need"),
    **{f"{NAMES[j]} turned": (lambda r, j=j: turned(r, j), 2,
                              f"of '{NAMES[j]}' have the opposite sign") for j in (PAN, WRIST_3)},
    "lift and a wrist turned": (
        lambda r: turned(r, LIFT, WRIST_2), 2,
        f"efforts of '{NAMES[WRIST_2]}' have the opposite sign; and the efforts of "
        f"'{NAMES[LIFT]}' have"),
    "no gravity": (weightless, 2, "the efforts hold no gravity"),
    "all turned": (lambda r: turned(r, *ALL), 2, "efforts of all joints have the opposite sign"),
    "pan and elbow named as each other": (
        lambda r: exchanged(r, PAN, ELBOW, True), 2, "are named as each other"),
    "efforts of pan and elbow exchanged": (
        lambda r: exchanged(r, PAN, ELBOW, False), 2, "are those of each other"),
    "efforts of two wrists exchanged": (
        lambda r: exchanged(r, WRIST_1, WRIST_2, False), 2,
        f"the efforts of '{NAMES[WRIST_1]}' and '{NAMES[WRIST_2]}' are those of each other"),
    "a joint that is missing": (
        lambda r: Bad(r.t, r.q[:, :5], r.effort[:, :5], NAMES[:5]), 2,
        f"lacks '{NAMES[WRIST_3]}' of the robot description"),
    "a joint that is misspelt": (
        lambda r: Bad(r.t, r.q, r.effort, (*NAMES[:2], "elbow", *NAMES[3:])), 2,
        "lacks 'elbow_joint' of the robot description (is 'elbow', which it has, the same"),
    "N mm": (lambda r: scaled(r, 1e3, *ALL), 2, "the efforts of all joints are 1"),
    "kN m": (lambda r: scaled(r, 1e-3, *ALL), 2, "the efforts of all joints are 0.001"),
    "N mm of the lift": (lambda r: scaled(r, 1e3, LIFT), 2, f"the efforts of '{NAMES[LIFT]}' are"),
    "N mm of a wrist": (lambda r: scaled(r, 1e3, WRIST_2), 2,
                        f"the efforts of '{NAMES[WRIST_2]}' are"),
    "no torques": (lambda r: scaled(r, 0.0, *ALL), 2, f"efforts of '{NAMES[PAN]}' are 0 through"),
    "no torque of the elbow": (lambda r: scaled(r, 0.0, ELBOW), 2,
                               f"efforts of '{NAMES[ELBOW]}' are 0 throughout"),
    "noise for the elbow": (
        lambda r: Bad(r.t, r.q, np.where(np.arange(6) == ELBOW, np.random.default_rng(0).normal(
            0.0, 10.0, r.q.shape), r.effort)), 1, f"torque is unexplained of '{NAMES[ELBOW]}'"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("error")
def test_a_bad_recording_is_one_sentence_and_no_file(
        name: str, recorded: SimulatedTorques, run: Callable[[Bad], tuple[int, str, list[str]]]):
    spoil, status, said = CASES[name]
    found, printed, written = run(spoil(recorded))
    error = [line for line in printed.splitlines() if line.startswith("error: ")]
    assert found == status and not written
    assert len(error) == 1 and said in error[0] and len(error[0]) < 350


@pytest.mark.slow
@pytest.mark.filterwarnings("error")
def test_what_may_be_right_is_a_note(
        recorded: SimulatedTorques, run: Callable[[Bad], tuple[int, str, list[str]]]):
    """The same recording unspoilt; with torques of a tenth, as currents would be; with noise in
    place of a torque that is friction alone; with a joint that rests."""
    r, rng = recorded, np.random.default_rng(0)
    status, printed, written = run(Bad(r.t, r.q, r.effort))
    assert status == 0 and len(written) == 3 and "not explained" not in printed
    for bad, said in (
            (scaled(r, 0.1, *ALL), "are they torques, and no motor currents (--gains)?"),
            (Bad(r.t, r.q, np.where(np.arange(6) == WRIST_3, rng.normal(0.0, 0.05, r.q.shape),
                                    r.effort)), f"of the torque of {NAMES[WRIST_3]} is not expl")):
        status, printed, written = run(bad)
        assert status == 0 and said in printed
    resting = simulate(lambda t: tuple(  # no motion of the last joint
        np.where(np.arange(6) == WRIST_3, 0.0, x) for x in wide_motion(DURATION, 11)(t)), DURATION)
    status, printed, written = run(Bad(*resting))
    assert status == 0 and f"{NAMES[WRIST_3]} does not move" in printed


def test_an_impossible_inertia_is_named_and_its_mass_is_used():
    """The upper arm's largest moment of inertia a thousand times as large."""
    root = ElementTree.fromstring(load_description().urdf)
    link = next(each for each in root.iter("link") if each.get("name") == "upper_arm_link")
    moments, mass = link.find("inertial/inertia"), float(link.find("inertial/mass").get("value"))
    moments.set("izz", str(1000.0 * float(moments.get("izz"))))
    model = robot_model(ElementTree.tostring(root, encoding="unicode"))
    (note,) = check_description(model)
    assert "upper_arm_link" in note
    reference = description_reference(model)
    where = model.body_slice("upper_arm_link")
    assert is_consistent(reference.phi[where]) and reference.phi[where][0] == mass


def test_intervals_of_masses_end_at_zero():
    assert interval(3.71, 7.28, True) == "3.7 (0 to 11.0)"
    assert interval(3.71, 0.28, True) == "3.71 ± 0.28"
    assert interval(-0.1, 0.28) == "-0.10 ± 0.28"
