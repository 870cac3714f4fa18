# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Nothing is sent while a gate is closed; each says in one sentence why."""

from __future__ import annotations

import json
import sys
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("rclpy")
pytest.importorskip("tf2_msgs.msg")
pytest.importorskip("inertial_id_ros.msg")
from apply_stage import ApplyStage, told  # noqa: E402
from node_client import (  # noqa: E402
    NODE,
    wait_for_finding,
    wait_until_all_is_used,
)
from ros_process import wait_until  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402

from inertial_id_ros.ros.apply.application import consequences  # noqa: E402
from inertial_id_ros.ros.apply.gates import (  # noqa: E402
    History,
    NothingToUndo,
    doubt_gate,
    record_gate,
    removal_gate,
    rest_gate,
    undo_calls,
)
from inertial_id_ros.ros.apply.other_nodes import Graph  # noqa: E402
from inertial_id_ros.settings import Settings  # noqa: E402
from inertial_id_ros.srv import Save  # noqa: E402
from inertial_id_ros.targets.registry import load_target  # noqa: E402
from inertial_id_ros.targets.target import (
    body_reading,  # noqa: E402
    closed_gates,  # noqa: E402
    payload_of_report,  # noqa: E402
)

SAVED = "hammer.json"
REPORT = {"frame_id": "link_eef", "mass": 1.0, "com": [0.0, 0.0, 0.1], "tool_apart": False,
          "inertia_com": np.diag([1e-3, 1e-3, 1e-3]).tolist(), "verdict": ["identified"] * 10,
          "covariance": (1e-6 * np.eye(10)).tolist()}
slow = pytest.mark.slow


@pytest.fixture(scope="module")
def stage(tmp_path_factory):
    with ApplyStage() as stage:
        folder = stage.folder = tmp_path_factory.mktemp("state")
        stage.begin(state__directory=str(folder), apply__target="admittance_controller")
        assert stage.client.call(Save, f"{NODE}/save", Save.Request(name=SAVED)).success
        stage.controller = stage.stand_in("stand_in_controllers.py", "admittance_controller")
        wait_until(lambda: stage.apply("", estimate=SAVED).success)
        yield stage


def refused(stage, words, **request):
    """Ask to send; nothing may arrive, and the answer must hold these words."""
    count = len(told(stage.controller))
    answer = stage.apply(request.pop("target", ""), send=True, **request)
    assert not answer.success and words in answer.message, answer.message
    assert len(told(stage.controller)) == count
    return answer


@slow
@pytest.mark.parametrize(("request_", "words"), [
    ({"target": "kuka"}, "there is no target 'kuka'; there are: admittance_controller, dobot,"),
    ({"estimate": "nothing.json"}, "there is no saved estimate 'nothing.json'"),
    ({"estimate": "../x.json"}, "it must be a plain file name"),
    ({"undo": True}, "nothing was applied to 'admittance_controller' that was not undone")])
def test_what_is_not_there_is_named(stage, request_, words):
    refused(stage, words, **request_)


@slow
@pytest.mark.parametrize(("entry", "words"), [
    (0, "the mass is unobserved"), (2, "the centre of mass is unobserved"), (5, None)])
def test_what_is_unobserved_is_not_sent(stage, entry, words):
    report = json.loads((stage.folder / "saves" / SAVED).read_text())
    report["verdict"][entry] = "unobserved"
    report["covariance"][entry][entry] = 0.1**2
    (stage.folder / "saves" / "doubtful.json").write_text(json.dumps(report))
    if words:
        refused(stage, words, estimate="doubtful.json")
    else:  # this target takes no inertia
        assert stage.apply("", estimate="doubtful.json").success


@slow
def test_while_it_is_not_known_what_a_driver_removes_there_is_no_line_to_run(stage):
    answer = stage.apply("universal_robots", estimate=SAVED)
    assert not answer.success
    assert "there is no service '/io_and_status_controller/set_payload'" in answer.message
    assert not answer.calls


@slow
def test_nothing_is_sent_during_contact(stage):
    stage.contact = np.array([15.0, 0.0, -15.0, 0.0, 0.0, 0.0])
    try:
        words = "the wrench does not fit the estimate"
        wait_for_finding(stage, "contact", words)
        answer = refused(stage, words, estimate=SAVED)
        assert not answer.calls  # no line to paste all the same
    finally:
        stage.contact = np.zeros(6)


@slow
def test_nothing_is_sent_while_the_arm_moves(stage):
    stage.moves = True
    try:
        refused(stage, "the arm moves: joint '", estimate=SAVED)
    finally:
        stage.moves = False


@slow
def test_nothing_is_sent_of_an_estimate_that_is_old_or_an_arm_that_is_silent(stage):
    """The last test: nothing is published any more."""
    stage.end_rest()
    wait_until_all_is_used(stage)
    refused(stage, "the estimate is stale")
    refused(stage, "'joint_states' is silent", estimate=SAVED)


@pytest.mark.parametrize(("joints", "words"), [
    (("left_lift",), ""), (("right_lift",), "joint 'right_lift' by 0.333 per second"),
    ((), "right_lift"), (("other",), "no joint that moves the sensor"),
    (("left_lift", "left_wrist"), "joint 'left_wrist' is not among the joint states")])
def test_only_joints_that_move_the_sensor_must_rest(joints, words):
    """Two arms may share a topic, whose messages carry the joints of one of them each."""
    messages = [JointState(name=["left_lift"], position=[1.0]),
                JointState(name=["right_lift"], position=[2.0]),
                JointState(name=["left_lift"], position=[1.001]),
                JointState(name=["right_lift"], position=[2.1])]
    closed = rest_gate(lambda *_: messages, Settings(), joints).closed
    assert bool(closed) == bool(words) and words in closed


def test_what_may_be_contact_and_is_in_the_bias_closes_the_gate():
    """New offsets would hide a contact that turns with the sensor."""
    assert not doubt_gate([], "").closed
    assert doubt_gate([], "10 N of contact, or of another zero").closed.startswith("10 N of")


def test_a_type_that_is_not_installed_is_named_with_its_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "xarm_msgs", None)
    node = SimpleNamespace(
        resolve_service_name=lambda name: f"/{name}",
        get_service_names_and_types=lambda: [("/xarm/set_tcp_load", ["xarm_msgs/srv/SetTcpLoad"])])
    target = load_target("xarm")
    survey = Graph(node, None).survey(target.sources(Settings()), Settings())
    (closed,) = closed_gates(survey.gates)
    assert "xarm_msgs/srv/SetTcpLoad is not installed where this node runs" in closed
    assert target.plan(payload_of_report(REPORT)[0], Settings(), survey.seen).calls


def test_nothing_is_sent_that_could_not_be_recorded(tmp_path):
    (tmp_path / "file").write_text("")
    assert "is no folder" in record_gate(History(str(tmp_path / "file"), "/node")).closed
    assert not record_gate(History(str(tmp_path / "new"), "/node")).closed
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file"]


def test_a_line_that_was_written_in_part_hides_no_other(tmp_path):
    history = History(str(tmp_path), "/left/node")
    history.append({"target": "ur", "sent": True, "mass": 1.0, "undo": None})
    history.append({"target": "ur", "sent": False, "mass": 2.0})
    history.append({"target": "franka", "sent": True, "mass": 3.0})
    with history.path.open("a") as file:
        file.write('{"target": "ur", "sent": tr')
    assert history.path.name == "left.applications.jsonl"
    assert history.last("ur")["mass"] == 1.0 and history.last("xarm") is None
    with pytest.raises(NothingToUndo, match="did not tell what it had before"):
        undo_calls(history.last("ur"), "ur")


def test_an_undo_that_failed_can_be_asked_for_again(tmp_path):
    history = History(str(tmp_path), "node")
    history.append({"target": "ur", "sent": True, "mass": 1.0, "failure": ""})
    for failure, left in (("no answer", True), ("mass is 1 kg", True), ("", False)):
        history.append({"target": "ur", "sent": True, "failure": failure,
                        "evidence": {"undo_of": "then"}})
        assert (history.last("ur") is not None) == left


# ---- what is configured already, and what follows ------------------------------------------------

NOTHING = SimpleNamespace(last=lambda name: None)
ONE_KILO = body_reading(1.0, [0.0, 0.0, 0.1], None)


@pytest.mark.parametrize(("change", "told_now", "closed"), [
    ({}, ONE_KILO, True), ({}, body_reading(0.0, [0.0] * 3, None), False), ({}, None, False),
    ({"precompensated.source": "none"}, ONE_KILO, False),
    ({"precompensated.source": "dynamic_joint_states",
      "dynamic_joint_states.topic": "d", "wrench.sensor_frame": "s"}, ONE_KILO, False),
    ({"precompensated.mass": 1.0}, ONE_KILO, False),
    ({"precompensated.mass": 1.5}, ONE_KILO, True)])
def test_what_is_left_of_a_payload_does_not_replace_the_whole(change, told_now, closed):
    """A driver that has a payload removes it: unless that is added, the estimate is the rest."""
    settings = Settings().replace(change)
    gate = removal_gate("universal_robots", load_target("universal_robots"), settings, told_now,
                        "", NOTHING)
    assert bool(gate.closed) == closed and (not closed or "1.000 kg" in gate.closed)


def test_of_a_driver_that_removes_a_payload_by_the_settings_the_wrench_changes():
    """It will remove the new one: what is left then must not replace it."""
    last = SimpleNamespace(last=lambda name: {"mass": 1.0})
    settings = Settings().replace({"precompensated.mass": 0.4})
    target = load_target("fanuc")
    assert not removal_gate("fanuc", target, settings, None, "", NOTHING).closed
    assert "was told" in removal_gate("fanuc", target, settings, None, "", last).closed
    assert any("removes this payload" in note for note in consequences(target, settings))


def test_without_a_reading_what_was_sent_last_counts():
    last = SimpleNamespace(last=lambda name: {"mass": 1.0})
    target = load_target("universal_robots")
    assert "was told" in removal_gate("x", target, Settings(), None, "", last).closed
    assert not removal_gate("x", load_target("xarm"), Settings(), None, "", last).closed


@pytest.mark.parametrize(("target", "change", "words"), [
    ("universal_robots", {}, "does not read that back: set precompensated.mass"),
    ("universal_robots", {"precompensated.source": "franka"}, "counted once"),
    ("universal_robots", {"precompensated.source": "none"}, None),
    ("xarm", {}, None), ("admittance_controller", {}, None),
    ("force_torque_sensor_broadcaster", {}, "the node forgets its data")])
def test_the_answer_says_what_becomes_of_the_nodes_own_wrench(target, change, words):
    notes = consequences(load_target(target), Settings().replace(change))
    assert (notes == []) if words is None else any(words in note for note in notes)
