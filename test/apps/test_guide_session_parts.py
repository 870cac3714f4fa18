# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Parts of a session: its motions, when more motion is in vain, what is shown and reported."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from wiggled import BIAS, record, wiggle

from inertial_id_ros.apps.excitation.motions import MotionLimits
from inertial_id_ros.apps.guide.checks import Row, Verdict, describe_failed
from inertial_id_ros.apps.guide.motions import USUAL_BOX, MotionSource
from inertial_id_ros.apps.guide.page import End, Record, session_page
from inertial_id_ros.apps.guide.progress import (
    Progress,
    Wanted,
    is_at_its_limit,
    parts_of,
)
from inertial_id_ros.apps.guide.proof import prove
from inertial_id_ros.apps.guide.show import Console, Show, Terminal
from inertial_id_ros.apps.simulation.description import SENSOR_FRAME, load_description
from inertial_id_ros.apps.simulation.motion import START_POSE
from inertial_id_ros.apps.simulation.payload import PAYLOADS
from inertial_id_ros.errors import InvalidData
from inertial_id_ros.inertia import report_from_phi
from inertial_id_ros.settings import Settings

SETTINGS = Settings().replace({"wrench.sensor": "ati_gamma"})
DESCRIPTION = load_description()
POSE = dict(zip(DESCRIPTION.joint_names, START_POSE.tolist(), strict=True))
TRUTH = report_from_phi(PAYLOADS["drill"].phi)
PROGRESS = Progress(7.0, 83.0, parts_of(TRUTH, np.array([0.05] + 9 * [0.001]), [2] * 10,
                                        Wanted(0.02, 0.003)), "tilt the sensor")
WRONG = Row("clocks", Verdict.FAILED, "0.30 s apart", "less than 0.1 s", "Synchronise <both>.")


@pytest.fixture(scope="module")
def source() -> MotionSource:
    return MotionSource(DESCRIPTION.urdf, SENSOR_FRAME, POSE, SETTINGS, MotionLimits())


def ups(motion):
    """Direction of gravity in the sensor over a motion, by the simulation's own kinematics."""
    q = motion.sample(np.linspace(0.0, motion.duration, 100)).q
    return DESCRIPTION.motion(q).rotation[:, 2]


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


def test_a_joint_that_is_not_heard_of_is_named(source):
    known = {name: value for name, value in POSE.items() if name != "elbow_joint"}
    with pytest.raises(InvalidData, match="elbow_joint"):
        source.wiggle(known)


def test_more_motion_is_in_vain_where_no_lacking_interval_narrows():
    falling = [np.array([8.0 * 0.7**k, 0.5]) for k in range(14)]
    assert not is_at_its_limit(falling)
    stuck = [np.array([3.0, 2.0])] + [np.array([2.95, 2.0])] * 12
    assert is_at_its_limit(stuck)
    assert not is_at_its_limit([*stuck[:-1], np.array([2.95, 1.5])])
    assert not is_at_its_limit([np.empty(0)] * 14)


def test_events_are_lines_of_json_and_progress_comes_once_a_second():
    out = io.StringIO()
    show = Show(out, yes=False)
    show.step("check")
    show.row(WRONG)
    for k in range(20):
        show.progress(replace(PROGRESS, elapsed=0.1 * k))
    assert show.ask("Move?") is False
    show.end("not done", 4)
    events = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [e["event"] for e in events] == ["step", "check", "progress", "progress", "question",
                                            "end"]
    assert events[1]["advice"] == WRONG.advice and events[-1]["status"] == 4
    unknown = parts_of(TRUTH, np.full(10, 0.01), [0] * 10, Wanted(0.02, 0.003))
    json.dumps(replace(PROGRESS, parts=unknown).to_json())
    assert events[2]["mass"]["goal"] == pytest.approx(0.02 * PAYLOADS["drill"].mass)


def test_the_terminal_shows_what_is_wrong_and_what_to_do():
    out = io.StringIO()
    terminal = Terminal(Console(file=out, width=100, force_terminal=True), yes=True)
    terminal.step("check", "at rest")
    terminal.row(WRONG)
    terminal.progress(PROGRESS)
    terminal.say("saved", True)
    assert terminal.ask("Move?") is True
    terminal.end("done", 0)
    terminal.close()
    text = out.getvalue()
    for words in ("0.30 s apart", "less than 0.1 s", "Synchronise", "wanted ±", "tilt the sensor",
                  "saved"):
        assert words in text, words


@pytest.mark.slow
def test_the_report_holds_checks_and_proof_and_is_well_formed():
    stretch = record(motion=wiggle(angle=30.0, move=0.9))
    proof = prove(stretch, np.array(BIAS), np.zeros(10), PAYLOADS["drill"].phi, SETTINGS)
    kept = Record({WRONG.name: WRONG}, [replace(PROGRESS, elapsed=float(k)) for k in range(4)],
                  [("turn the wrist", 3.0), ("tilt it", 0.0)], TRUTH, np.full(10, 0.01),
                  PROGRESS.parts, "ft_sensor", 1, proof, proof, "told", "name")
    page = session_page(kept, End(4, describe_failed(kept.rows.values())))
    root = ElementTree.fromstring(page.split("\n", 1)[1] if page.startswith("<!") else page)
    assert len(root.findall(".//{*}figure")) >= 10
    text = "".join(root.itertext())
    for words in ("Synchronise <both>.", "0.30 s apart", "what the robot has now", "by hand",
                  f"1 check is wrong: {WRONG.name}."):
        assert words in text, words


def test_the_report_of_a_session_that_was_stopped_says_what_was_known_and_what_to_do():
    kept = Record(progress=[replace(PROGRESS, elapsed=float(k)) for k in range(4)])
    page = session_page(kept, End(4, "The arm has stopped: contact.", "Look for what touches it."))
    text = "".join(ElementTree.fromstring(page.split("\n", 1)[1]).itertext())
    for words in ("contact.", "What to do", "Look for what touches it.", PROGRESS.parts[0].value):
        assert words in text, words


def test_a_centre_of_mass_outside_the_box_that_motions_are_checked_with_is_named(source):
    inside = USUAL_BOX.mean(axis=0)
    assert source.describe_outside(inside, np.full(3, 0.5)) == ""
    beside = inside + [0.11, 0.0, 0.0]
    assert source.describe_outside(beside, np.full(3, 0.006)) == ""  # it may lie in the box
    text = source.describe_outside(beside, np.full(3, 0.001))
    assert "x -100 to 100" in text and "--payload-box" in text
