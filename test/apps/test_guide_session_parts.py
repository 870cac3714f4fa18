# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Parts of a session: its motions, what is printed and reported."""

from __future__ import annotations

import io
import json
from xml.etree import ElementTree

import numpy as np
import pytest
from wiggled import BIAS, record, wiggle

from inertial_id_ros.apps.excitation.arm import Arm
from inertial_id_ros.apps.excitation.motions import MotionLimits
from inertial_id_ros.apps.guide.checks import Row, Verdict
from inertial_id_ros.apps.guide.motions import MotionSource
from inertial_id_ros.apps.guide.progress import Numbers, Progress, Wanted, parts_of
from inertial_id_ros.apps.guide.proof import Proof, prove
from inertial_id_ros.apps.guide.show import End, Show, session_page
from inertial_id_ros.apps.simulation.cobot import SimulatedCobot
from inertial_id_ros.apps.simulation.description import SENSOR_FRAME, load_description
from inertial_id_ros.apps.simulation.motion import START_POSE
from inertial_id_ros.apps.simulation.payload import PAYLOADS
from inertial_id_ros.errors import InvalidData
from inertial_id_ros.inertia import report_from_phi
from inertial_id_ros.settings import Settings

SETTINGS = Settings().replace({"wrench.sensor": "ati_gamma"})
DESCRIPTION = load_description()
BOX = np.array([[-0.1, -0.1, 0.0], [0.1, 0.1, 0.2]])
POSE = dict(zip(DESCRIPTION.joint_names, START_POSE.tolist(), strict=True))
TRUTH = report_from_phi(PAYLOADS["drill"].phi)


def found(sigma, verdict=2) -> Numbers:
    """The true payload as an estimate with deviations (10,)."""
    return Numbers(TRUTH, np.diag(np.square(sigma)), (verdict,) * 10, np.zeros(6), "ft_sensor")


PROGRESS = Progress(7.0, 83.0, parts_of(found([0.05] + 9 * [0.001]), Wanted(0.02, 0.003)))
WRONG = Row("clocks", Verdict.FAILED, "0.30 s apart", "less than 0.1 s", "Synchronise <both>.")


def made_source(urdf=DESCRIPTION.urdf) -> MotionSource:
    return MotionSource(Arm(urdf, SENSOR_FRAME, BOX), MotionLimits(), POSE, SETTINGS)


@pytest.fixture(scope="module")
def source() -> MotionSource:
    return made_source()


def ups(motion):
    """Direction of gravity in the sensor over a motion, by MuJoCo."""
    q = motion.sample(np.linspace(0.0, motion.duration, 100)).q
    return SimulatedCobot().engine.evaluate(q, 0.0 * q, 0.0 * q).rotation[:, 2]


def angle(a, b):
    return np.degrees(np.arccos(np.clip(a @ b, -1.0, 1.0)))


@pytest.mark.slow
def test_the_wiggle_tilts_the_sensor_about_two_axes_and_comes_back(source):
    motions = source.wiggle(POSE)
    assert len(motions) == 2
    axes = []
    for motion in motions:
        assert set(motion.joint_names) == set(DESCRIPTION.joint_names)
        np.testing.assert_allclose(motion.positions[-1], motion.positions[0], atol=1e-9)
        directions = ups(motion)
        assert max(angle(up, directions[0]) for up in directions) > 15.0
        axes.append(np.cross(directions[0], directions[len(directions) // 4]))
        assert source.problems(motion, POSE) == ()
    assert 60.0 < angle(*(axis / np.linalg.norm(axis) for axis in axes)) < 120.0


@pytest.mark.slow
def test_a_large_motion_is_larger_than_the_wiggle_and_another_each_time(source):
    first, second = (source.large_motion(POSE) for _ in range(2))
    assert not np.array_equal(first.positions[len(first.stamps) // 2],
                              second.positions[len(second.stamps) // 2])
    for motion in (first, second):
        directions = ups(motion)
        assert max(angle(up, directions[0]) for up in directions) > 25.0
        assert source.problems(motion, POSE) == ()


# ---- what is planned -----------------------------------------------------------------------------


def test_a_wrist_without_room_can_make_no_motion():
    tree = ElementTree.fromstring(DESCRIPTION.urdf)
    for joint in tree.iter("joint"):
        limit, at = joint.find("limit"), POSE.get(joint.get("name", ""))
        if limit is not None and at is not None:
            limit.set("lower", str(at - 0.01))
            limit.set("upper", str(at + 0.01))
    tight = made_source(ElementTree.tostring(tree, "unicode"))
    for motion in (tight.wiggle, tight.large_motion):
        with pytest.raises(InvalidData):
            motion(POSE)


# ---- what is printed and reported ----------------------------------------------------------------

PROOF = Proof(np.arange(3.0), np.tile([3.0, 0.0, 4.0, 0.0, 0.6, 0.8], (3, 1)), np.zeros((3, 6)),
              np.tile([3.0, 0.0, 3.5, 0.0, 0.6, 0.7], (3, 1)), (0.7, 0.2))
UNKNOWN = PROGRESS._replace(parts=parts_of(found(np.full(10, 0.01), 0), Wanted(0.02, 0.003)))


def run_show(**options):
    """Every event of a session; what was printed, and the answer."""
    out = io.StringIO()
    show = Show(out=out, **options)
    show.step("check", "at rest")
    show.row(WRONG)
    show.motion("tilt it", 1.234)
    for k in range(20):
        show.progress(PROGRESS._replace(elapsed=0.1 * k))
    show.progress(UNKNOWN._replace(elapsed=9.0))
    show.proof(PROOF)
    show.say("saved", True)
    agreed = show.ask("Move?")
    show.end("not done", 4)
    return out.getvalue(), agreed


def test_events_are_lines_of_json_and_progress_comes_once_a_second():
    text, agreed = run_show(yes=False, as_json=True)
    events = [json.loads(line) for line in text.splitlines()]
    assert [e["event"] for e in events] == ["step", "check", "motion", *3 * ["progress"], "proof",
                                            "note", "question", "end"] and not agreed
    assert events[1]["advice"] == WRONG.advice and events[1]["verdict"] == "wrong"
    assert events[3]["mass"]["goal"] == pytest.approx(0.02 * PAYLOADS["drill"].mass)
    assert events[6]["given"] and events[6]["left_after"] == pytest.approx([0.5, 0.1])
    assert events[-1]["status"] == 4


@pytest.mark.parametrize(("answer", "agreed"), [("y\n", True), ("n\n", False), ("\n", False),
                                                ("", False)])
def test_a_person_reads_what_is_wrong_and_what_to_do_and_is_asked(monkeypatch, answer, agreed):
    monkeypatch.setattr("sys.stdin", io.StringIO(answer))
    text, agrees = run_show(yes=False, as_json=False)
    assert agrees is agreed
    for number in ("0.30 s apart", WRONG.expected, WRONG.advice, "tilt it (1.2 s)", "0.5 N"):
        assert number in text, number


@pytest.mark.slow
def test_the_report_holds_checks_and_proof_and_is_well_formed():
    proof = prove(record(motion=wiggle(angle=30.0, move=0.9)), np.array(BIAS), np.zeros(10),
                  PAYLOADS["drill"].phi, SETTINGS)
    show = Show(yes=False, as_json=True, out=io.StringIO())
    show.row(WRONG)
    show.progress(UNKNOWN)
    show.motion("turn the wrist", 3.0)
    show.motion("tilt it", 0.0)
    show.found, show.proofs, show.applied = found(np.full(10, 0.01)), [proof, proof], "told"
    page = session_page(show, End(4, "stopped: contact.", "Look for what touches it."))
    root = ElementTree.fromstring(page.split("\n", 1)[1] if page.startswith("<!") else page)
    assert len(root.findall(".//{*}figure")) == 4
    text = "".join(root.itertext())
    for words in (WRONG.advice, WRONG.measured, "contact.", "Look for what touches it.", "by hand",
                  UNKNOWN.parts[0].value):
        assert words in text, words


# ---- how near the goal is ------------------------------------------------------------------------
