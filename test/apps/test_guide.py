# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The guide. Checks at rest: a right set-up passes, and each fault makes the row that names it
wrong. What motions tell: what is recorded of them, which faults of a set-up the small one names,
what the proof accepts, and that they stay within limits. What a session prints, asks and reports.
"""

import io
import json
import os
import re
import threading
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from robot_graph import in_sensor

from inertial_id_ros.apps.excitation.arm import Arm
from inertial_id_ros.apps.excitation.information import Knowledge
from inertial_id_ros.apps.excitation.motions import MotionLimits, MotionPlanner, violations
from inertial_id_ros.apps.guide.checks import (
    FAILED,
    OPEN,
    PASSED,
    Driver,
    Row,
    Snapshot,
    check_at_rest,
    check_by_motion,
    failed,
    prove,
)
from inertial_id_ros.apps.guide.recorder import Recorder
from inertial_id_ros.apps.guide.show import End, Show, Wanted, session_page
from inertial_id_ros.apps.report.results import LEAST, Prediction
from inertial_id_ros.apps.simulation.cobot import SENSOR_FRAME, Scenario, load_description
from inertial_id_ros.apps.simulation.motion import START_POSE, Trajectory
from inertial_id_ros.apps.simulation.payload import PAYLOADS, Part, Payload
from inertial_id_ros.apps.simulation.write import by_time, topics_of
from inertial_id_ros.errors import InvalidData
from inertial_id_ros.estimate import Estimate
from inertial_id_ros.inertia import report_jacobian
from inertial_id_ros.io.inputs import JOINT_STATES, ROBOT_DESCRIPTION, WRENCH
from inertial_id_ros.kinds import Finding
from inertial_id_ros.model.history import Window
from inertial_id_ros.settings import Settings

SETTINGS = Settings().replace({"wrench.sensor": "ati_gamma", "motion.execute": True})
JOINTS = ("shoulder", "elbow", "wrist")
RNG = np.random.default_rng(3)
N = 1000


def wrench(scale=1.0, offset=0.0):
    rows = scale * RNG.normal(size=(N, 6)) * np.repeat([0.05, 0.002], 3)
    return rows + [1.0, 2.0, -9.0, 0.1, 0.2, 0.0] + offset


def ages(wrench=0.005, joints=0.005):
    return {"wrench": wrench, "joint states": joints}


TOPICS = {"wrench": "/wrench", "joints": "/joint_states"}
SEEN = Snapshot(
    2.0, wrench(), N, TOPICS, ages(), 1e-4, JOINTS, frame="ft_sensor",
    controllers={"/arm_controller": JOINTS}, driver=Driver(0.0, "", 1.0))


def test_a_right_set_up_passes_every_check():
    rows = check_at_rest(SEEN, SETTINGS)
    assert all(row.verdict == PASSED and not row.advice for row in rows), rows
    assert len({row.check for row in rows}) == len(rows) == 14


def test_without_an_arm_only_what_is_missing_has_a_row():
    rows = check_at_rest(Snapshot(2.0, np.empty((0, 6)), 0, TOPICS, missing="nothing"), SETTINGS)
    assert [row.check for row in rows if row.verdict == PASSED] == ["motion is allowed"]
    assert {row.check for row in failed(rows)} == {
        "wrench arrives", "motion arrives", "controller"}


@pytest.mark.parametrize(("change", "name", "measured"), [
    ({"wrench": np.empty((0, 6)), "wrench_topics": ("/ft/raw",)}, "wrench arrives", "2.0 s"),
    ({"wrench": wrench()[:20]}, "wrench arrives", "10 Hz"),
    ({"wrench": np.ones((N, 6))}, "sensor is connected", "1000 readings"),
    ({"wrench": np.zeros((N, 6))}, "sensor is connected", "1000 readings"),
    ({"wrench": wrench(offset=125.0)}, "range of the sensor", "127.2 N"),
    ({"wrench": wrench(scale=5.0)}, "noise at rest", "0.2"),
    ({"ages": ages(1e9)}, "stamps", "1000000000"),
    ({"ages": ages(3.0, -0.1)}, "stamps", "3.000 s"),
    ({"ages": ages(0.3)}, "clocks", "295 ms before"),
    ({"findings": (Finding("streams_mixed.wrench", "error", "two publishers"),)},
     "wrench arrives", "two publishers"),
    ({"joints": 0}, "motion arrives", "2.0 s"),
    ({"speed": 0.3}, "arm at rest", "0.3 rad/s"),
    ({"chain": (), "missing": "no joint states of twist"}, "robot description", "twist"),
    ({"missing": "frame 'ft' is unknown"}, "robot description", "'ft'"),
    ({"driver": Driver(1.2, "", 1.0)}, "payload set on the robot", "1.200 kg"),
    ({"driver": Driver(0.0, "protective stop", 1.0)}, "robot may move", "protective stop"),
    ({"driver": Driver(0.0, "", 0.0)}, "robot may move", "0 %"),
    ({"controllers": {}}, "controller", "no node"),
    ({"controllers": {"/gripper": ("finger",)}}, "controller", "finger"),
    ({"controllers": {**SEEN.controllers, "/other": ()}}, "controller", "/arm_controller"),
    ({"tcp": 0.1}, "frame of the wrench", "100 mm"),
    ({"findings": (Finding("sensor_frame.unknown", "warning", "no frame"),)},
     "frame of the wrench", "no frame"),
    ({"findings": (Finding("motion_slow", "error", "at 5 Hz"),)}, "motion arrives", "at 5 Hz"),
])
def test_a_fault_makes_the_row_wrong_that_names_it(change, name, measured):
    rows = check_at_rest(SEEN._replace(**change), SETTINGS)
    row = next(row for row in rows if row.check == name)
    assert measured in row.measured
    assert row in failed(rows) and row.advice, rows
    assert {r.check for r in failed(rows)} - {name} <= ({"clocks"} if name == "stamps" else set())


def test_a_slower_robot_information_and_an_added_payload_make_nothing_wrong():
    note = (Finding("sensor_frame.unknown", "info", "it is converted"),)
    assert not failed(check_at_rest(SEEN._replace(findings=note), SETTINGS))
    assert not failed(check_at_rest(SEEN._replace(driver=Driver(0.0, "", 0.3)), SETTINGS))
    added = SETTINGS.replace({"precompensated.mass": 1.2})
    assert not failed(check_at_rest(SEEN._replace(driver=Driver(1.2, "", 1.0)), added))


def test_nothing_of_the_controller_is_checked_where_the_arm_is_moved_by_hand():
    seen = SEEN._replace(controllers={}, driver=Driver(0.0, "stopped", 0.0))
    settings = SETTINGS.replace({"motion.execute": False})
    assert not failed(check_at_rest(seen, settings, may_move=False))
    assert {"motion is allowed", "controller"} < {r.check for r in failed(
        check_at_rest(seen, settings))}


# ---- an arm that tilts its wrist to and fro, and what is recorded of it --------------------------

ATI = Settings().replace({"wrench.sensor": "ati_gamma"})
UR = Settings().replace({"wrench.sensor": "ur_e_series"})
DESCRIPTION = load_description()
NAMES = DESCRIPTION.joint_names
POSE = dict(zip(NAMES, START_POSE.tolist(), strict=True))
LIMITS = MotionLimits()
TRUTH = PAYLOADS["drill"].phi
BIAS = (2.0, -1.5, 3.0, 0.05, -0.08, 0.03)
EPOCH, DELAY = 10**18, 4_000_000  # ns
INPUTS = {"joint_states": JOINT_STATES, "wrench": WRENCH, "robot_description": ROBOT_DESCRIPTION}


def wiggle(angle: float = 18.0, move: float = 1.4, joints: tuple[int, ...] = (3, 4)):
    """A motion that turns joints by an angle [deg] to either side, in moves of some time [s]."""
    poses = [START_POSE, START_POSE]
    for joint in joints:
        poses += [START_POSE + np.radians(angle) * side * np.eye(6)[joint] for side in (1, -1, 0)]
    still = np.zeros((len(poses), 6))
    stamps = np.r_[0.0, 0.5 + move * np.arange(len(poses) - 1)]
    return Trajectory(stamps, np.array(poses), still, still).sample


def receive(motion=None, seconds: float = 9.5, **settings) -> Recorder:
    """What is received while the wrist is tilted; settings: of the scenario."""
    recording = Scenario(**{"payload": "drill", "bias": BIAS, "rate": 200.0,
                            "motion": motion or wiggle(), **settings}).record(seconds, EPOCH)
    recorder = Recorder(Settings())
    for stamp, name, data in by_time(topics_of(recording)):
        if name in INPUTS:
            recorder.messages[INPUTS[name]].append((stamp + DELAY, data))
    return recorder


def record(**changes) -> Window:
    """The same as wrench and motion."""
    return receive(**changes).read().window


def test_what_is_recorded_is_what_newton_and_euler_say() -> None:
    recorder = receive(seconds=4.0)
    facts = recorder.facts()
    assert facts["wrench"].shape == (800, 6) and facts["joints"] == 800
    assert len(recorder.wrench(0.1)) == 20
    assert facts["ages"] == pytest.approx({"wrench": DELAY * 1e-9, "joint states": DELAY * 1e-9})
    assert set(recorder.pose()) == set(NAMES) and facts["speed"] > 0.1
    assert set(facts["chain"]) == set(NAMES) and not facts["missing"]
    heard = recorder.read()
    assert facts["frame"] == "ft_sensor" and heard.streams.urdf
    np.testing.assert_allclose(heard.place_in_root("base_link"), np.eye(4), atol=1e-12)
    window = heard.window
    assert window.used.sum() > 350
    assert window.count[window.used].mean() == pytest.approx(2.0, abs=0.1)
    proof = prove(window, np.array(BIAS), np.zeros(10), TRUTH, Settings())
    assert proof is not None
    left = np.nanstd(proof.measured - proof.after, axis=0)
    assert (left < 3.0 * np.repeat([0.1, 0.005], 3)).all()

    recorder.messages[WRENCH].append((EPOCH, b"damaged"))
    recorder.messages[ROBOT_DESCRIPTION].append((EPOCH, b"damaged"))
    heard = recorder.read()
    assert len(recorder.wrench()) == 800 and heard.streams.urdf and heard.problem
    recorder.begin()
    heard = recorder.read()
    assert not len(recorder.wrench()) and not heard.window.used.any() and heard.streams.urdf
    assert recorder.pose() and recorder.facts()["missing"]


# ---- the small motion ----------------------------------------------------------------------------


def rows_of(settings=ATI, **changes):
    return {row.check: row for row in check_by_motion(record(**changes), settings)}


@pytest.mark.slow
@pytest.mark.parametrize(("payload", "turn"), [("drill", 0), ("hammer", 0), ("box_offset", 4)])
def test_a_right_set_up_passes_whatever_it_carries_with_a_small_turn_as_measured(payload, turn):
    rows = rows_of(payload=payload, sensor_rotation_error=(0, 0, turn))
    assert [row.verdict for row in rows.values()] == [PASSED] * 4, rows
    size, spread = map(float, re.findall(r"[\d.]+", rows["axes of the sensor"].measured))
    assert abs(size - turn) < spread < 2.0


@pytest.mark.slow
@pytest.mark.parametrize(("changes", "check", "measured"), [
    ({"convention": "on_environment"}, "sign of the wrench", "-1.4"),
    ({"sensor_rotation_error": (0, 0, 90)}, "axes of the sensor", "yaw 90"),
    ({"sensor_rotation_error": (180, 0, 0)}, "axes of the sensor", "180, "),
    ({"sensor_rotation_error": (0, 0, 30)}, "axes of the sensor", "yaw 30"),
    ({"tilt_error": (12, 0)}, "direction of gravity", "0.97"),
    ({"tilt_error": (0, 45)}, "direction of gravity", "(-0.7"),
    ({"clock_offset": 0.15}, "clocks", " ms after"),
    ({"settings": ATI.replace({"load.reference_mass": 3.0})}, "payload mass", "3.000 kg"),
])
def test_a_fault_is_named_with_what_to_do(changes, check, measured):
    rows = rows_of(**changes)
    assert [row.check for row in failed(rows.values())] == [check], rows
    assert measured in rows[check].measured and rows[check].advice


@pytest.mark.slow
@pytest.mark.parametrize(("payload", "tilt", "verdict"), [
    ("hammer", (20, 0), FAILED), ("box_offset", (0, 0), OPEN)])
def test_a_noisy_sensor_passes_no_direction_that_it_cannot_measure(payload, tilt, verdict):
    rows = rows_of(UR, sensor="ur_e_series", payload=payload, tilt_error=tilt)
    row = rows["direction of gravity"]
    assert row.verdict == verdict and "±" in row.measured and row.advice, row


@pytest.mark.slow
@pytest.mark.parametrize("joint", [3, 4])
def test_a_swing_about_one_axis_does_not_tell_where_gravity_points(joint):
    """What the force has along the axis may be the zero of the sensor as well."""
    for seed in range(3):
        rows = rows_of(payload="drill", sensor="ati_gamma", seed=seed,
                       motion=wiggle(joints=(joint,)))
        assert not failed(rows.values()), rows
        assert rows["direction of gravity"].verdict == OPEN, rows


@pytest.mark.slow
def test_what_is_small_against_the_errors_of_the_sensor_stays_open():
    light = Payload("dice", (Part("box", (0.02, 0.02, 0.02), 500.0),))  # 4 g
    for changes in ({"payload": light, "sensor": "ur_e_series"},
                    {"motion": wiggle(angle=2.0)}):
        assert {row.verdict for row in rows_of(UR, **changes).values()} == {OPEN}
    whole = record(seconds=4.0)
    holed = replace(whole, used=whole.used & (np.arange(len(whole.used)) % 10 > 0))
    assert {row.verdict for row in check_by_motion(holed, ATI)} == {OPEN}


# ---- the proof -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_true_payload_is_proved_and_another_is_not():
    """MuJoCo's wrench of a motion is what the true payload predicts, and no other."""
    window, bias = record(motion=wiggle(angle=30.0, move=0.9, joints=(3, 4, 5))), np.array(BIAS)
    proof = prove(window, bias, np.zeros(10), TRUTH, ATI)
    (before, _), (after, _) = proof.residuals
    assert proof.is_proof and after < 0.05 * before
    # The weight of the drill is what is left without it, in forces.
    assert before == pytest.approx(9.81 * PAYLOADS["drill"].mass, rel=0.02)
    assert not prove(window, bias, np.zeros(10), 1.2 * TRUTH, ATI).is_proof
    assert not prove(window, bias, TRUTH, 1.2 * TRUTH, ATI).is_proof
    moved = TRUTH + 0.03 * TRUTH[0] * np.eye(10)[1]
    assert not prove(window, bias, np.zeros(10), moved, ATI).is_proof
    short = replace(window, used=window.used & (np.arange(len(window.used)) < 45))
    assert prove(short, bias, np.zeros(10), TRUTH, ATI) is None


@pytest.mark.parametrize("offset", [0.06, -0.06])
def test_clocks_that_differ_as_they_may_disprove_no_payload(offset):
    window = record(payload="box_offset", clock_offset=offset,
                    motion=wiggle(angle=45.0, move=0.6, joints=(3, 4, 5)))
    args, true = (window, np.array(BIAS), np.zeros(10)), PAYLOADS["box_offset"].phi
    assert prove(*args, true, ATI).is_proof
    assert not prove(*args, true, ATI.replace({"alignment.delay_sd": 0.01})).is_proof
    assert not prove(*args, 1.2 * true, ATI).is_proof
    assert not prove(*args, true + 0.03 * true[0] * np.eye(10)[1], ATI).is_proof


# ---- the motions themselves ----------------------------------------------------------------------


def make_planner(urdf=DESCRIPTION.urdf) -> MotionPlanner:
    box = np.array([[-0.1, -0.1, 0.0], [0.1, 0.1, 0.2]])
    arm = Arm(urdf, SENSOR_FRAME, box)
    return MotionPlanner(arm, LIMITS, arm.positions(POSE), Knowledge.usual(ATI))


def angle(a, b):
    return np.degrees(np.arccos(np.clip(a @ b, -1.0, 1.0)))


@pytest.mark.slow
def test_the_wiggle_tilts_the_sensor_about_two_axes_and_comes_back():
    planner = make_planner()
    motions = planner.wiggle(START_POSE)
    assert len(motions) == 2
    axes = []
    for motion in motions:
        assert set(motion.joint_names) == set(NAMES)
        np.testing.assert_allclose(motion.positions[-1], motion.positions[0], atol=1e-9)
        q = motion.sample(np.linspace(0.0, motion.duration, 100)).q
        directions = Scenario().engine.evaluate(q, 0.0 * q, 0.0 * q).rotation[:, 2]
        assert max(angle(up, directions[0]) for up in directions) > 15.0
        axes.append(np.cross(directions[0], directions[len(directions) // 4]))
        assert violations(planner.arm, motion, START_POSE, LIMITS) == ()
    assert 60.0 < angle(*(axis / np.linalg.norm(axis) for axis in axes)) < 120.0


def test_a_wrist_without_room_can_make_no_motion():
    tree = ElementTree.fromstring(DESCRIPTION.urdf)
    for joint in tree.iter("joint"):
        limit, at = joint.find("limit"), POSE.get(joint.get("name", ""))
        if limit is not None and at is not None:
            limit.set("lower", str(at - 0.01))
            limit.set("upper", str(at + 0.01))
    tight = make_planner(ElementTree.tostring(tree, "unicode"))
    with pytest.raises(InvalidData):
        tight.wiggle(START_POSE)


# ---- what a person sees --------------------------------------------------------------------------

def found(sigma) -> Estimate:
    """The true payload as an estimate with deviations (10,) of the report."""
    back = np.linalg.inv(report_jacobian(TRUTH))
    return in_sensor(phi=TRUTH, phi_covariance=back @ np.diag(np.square(sigma)) @ back.T)


WRONG = Row("clocks", FAILED, "0.30 s apart", "less than 0.1 s", "Synchronise <both>.")
PROOF = Prediction(np.arange(LEAST), np.tile([3.0, 0.0, 4.0, 0.0, 0.6, 0.8], (LEAST, 1)),
                   np.zeros((LEAST, 6)), np.tile([3.0, 0.0, 3.5, 0.0, 0.6, 0.7], (LEAST, 1)),
                   (0.7, 0.2))


def run_show(**options):
    """Every event of a session; what was printed, and the answer."""
    out = io.StringIO()
    show = Show(stop=threading.Event(), out=out, **options)
    show.step("check", "at rest")
    show.row(WRONG)
    show.motion("tilt it", 1.234)
    for k in range(20):
        show.progress(0.1 * k, 83.0, found([0.05] + 9 * [0.001]), "mass 1.4 kg", "inertia")
    show.progress(9.0, 74.0, None, "", "no estimate yet")
    show.prove(PROOF)
    show.say("saved", True)
    agreed = show.ask("Move?")
    show.end(End(4, "not done"))
    return out.getvalue(), agreed


def test_events_are_lines_of_json_and_progress_comes_once_a_second():
    text, agreed = run_show(yes=False, as_json=True)
    events = [json.loads(line) for line in text.splitlines()]
    assert [e["event"] for e in events] == ["step", "check", "motion", *3 * ["progress"], "proof",
                                            "note", "question", "end"] and not agreed
    assert events[1]["advice"] == WRONG.advice and events[1]["verdict"] == "wrong"
    assert events[3]["values"][0] == pytest.approx(PAYLOADS["drill"].mass)
    assert events[3]["sigma"][:2] == pytest.approx([0.05, 0.001])
    assert events[5]["missing"] == "no estimate yet" and not events[5]["values"]
    assert events[6]["given"] and events[6]["residual_after"] == pytest.approx([0.5, 0.1])
    assert events[-1]["status"] == 4


def test_what_is_wanted_is_for_a_planner_a_deviation_of_each_parameter():
    report = found(np.full(10, 0.01)).report
    half = 1.96 * Wanted(0.02, 0.003, 0.2).sigma(TRUTH)
    assert half[:2] == pytest.approx([0.02 * report[0], 0.003])
    assert half[4:] == pytest.approx(0.2 * report[[4, 7, 9]].mean())
    assert np.isinf(Wanted(0.02, 0.003).sigma(TRUTH)[4:]).all()


@pytest.mark.parametrize(("answer", "agreed"), [("y\n", True), ("n\n", False), ("\n", False),
                                                ("", False)])
def test_a_person_reads_what_is_wrong_and_what_to_do_and_is_asked(
        monkeypatch, tmp_path, answer, agreed):
    (tmp_path / "answer").write_text(answer)
    with open(tmp_path / "answer") as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        text, agrees = run_show(yes=False, as_json=False)
    assert agrees is agreed
    for number in ("0.30 s apart", WRONG.expected, WRONG.advice, "tilt it (1.2 s)", "0.5 N"):
        assert number in text, number


def test_a_stop_ends_a_question_that_nobody_answers_and_one_that_was_asked_too_late(monkeypatch):
    stop, (reader, writer) = threading.Event(), os.pipe()
    with open(reader) as stdin, open(writer, "w") as answers:
        monkeypatch.setattr("sys.stdin", stdin)
        threading.Timer(0.3, stop.set).start()
        for _ in range(2):
            with pytest.raises(End):
                Show(False, False, stop, io.StringIO()).ask("Move?")
            print("y", file=answers, flush=True)


def test_the_report_holds_checks_and_proof_and_is_well_formed():
    show = Show(yes=False, as_json=True, stop=threading.Event(), out=io.StringIO())
    show.row(WRONG)
    show.found, show.proof, show.applied = found(np.full(10, 0.01)), PROOF, "told"
    page = session_page(show, End(4, "stopped: contact.", "Look for what touches it."))
    root = ElementTree.fromstring(page.split("\n", 1)[1] if page.startswith("<!") else page)
    assert len(root.findall(".//{*}figure")) == 2
    text = "".join(root.itertext())
    for words in (WRONG.advice, WRONG.measured, "contact.", "Look for what touches it.", "told",
                  "COM x"):
        assert words in text, words
