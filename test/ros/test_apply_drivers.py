# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Payloads reach the drivers of robots: stand-ins that serve what the drivers do, in processes of
their own, with types generated from the public definitions."""

from __future__ import annotations

import json

import numpy as np
import pytest

pytest.importorskip("rclpy")
pytest.importorskip("tf2_msgs.msg")
pytest.importorskip("inertial_id_ros.msg")
from apply_stage import SENSOR, SHIFT, TILT, ApplyStage, told  # noqa: E402
from node_client import (  # noqa: E402
    NODE,
    PARAMETERS,
    set_parameter,
    wait_for_valid,
)
from ros_process import LATCHED, PATIENCE, wait_until  # noqa: E402
from stand_in_driver import BEFORE  # noqa: E402
from std_msgs.msg import String  # noqa: E402

from inertial_id_ros.apps.simulation.payload import load_payload  # noqa: E402
from inertial_id_ros.msg import InertialParameters  # noqa: E402
from inertial_id_ros.srv import Apply  # noqa: E402

pytestmark = pytest.mark.slow
TRUE = load_payload("hammer")
AT_FLANGE = TRUE.com + SENSOR
AT_TILTED = TILT.inv().apply(AT_FLANGE - SHIFT)
SAVED = "hammer.json"  # an arm at rest tells its payload for as long as buffer.window only
MASS_TOLERANCE, COM_TOLERANCE = 0.02, 0.004  # kg, m


@pytest.fixture(scope="module")
def stage(types, tmp_path_factory):
    with ApplyStage() as stage:
        stage.folder = tmp_path_factory.mktemp("state")
        stage.begin(state__directory=str(stage.folder), precompensated__source="none")
        stage.save(SAVED)
        yield stage


@pytest.fixture(autouse=True)
def defaults(request):
    """What a test has set does not last."""
    yield
    if "stage" in request.fixturenames:
        stage = request.getfixturevalue("stage")
        for process in stage.processes[1:]:
            process.stop()
        del stage.processes[1:]
        for name, value in (("apply.frame", ""), ("apply.service", ""),
                            ("load.rated_payload", 5.0)):
            use(stage, name, value)


def use(stage, name, value):
    result = set_parameter(stage, name, value)
    assert result.successful, result.reason


def start(stage, target, driver, behaviour="accept"):
    """A stand-in of a driver that the node has found, and not one that has just ended."""
    wait_until(lambda: "there is no service" in stage.apply(target, estimate=SAVED).message)
    process = stage.stand_in("stand_in_driver.py", driver, behaviour)
    wait_until(lambda: not any(words in stage.apply(target, estimate=SAVED).message
                               for words in ("there is no service", "is silent")))
    return process


def newest(stage):
    return json.loads((stage.folder / "applications.jsonl").read_text().splitlines()[-1])


CASES = {  # driver, frame, its mass and centre of mass, and the unit of that [m]
    "universal_robots": ("ur", "tool0", lambda r: (r["mass"], list(
        r["center_of_gravity"].values())), 1.0),
    "franka": ("franka", "tilted", lambda r: (r["mass"], r["center_of_mass"]), 1.0),
    "xarm": ("xarm", "tilted", lambda r: (r["weight"], r["center_of_gravity"]), 1e-3),
    "doosan": ("doosan", "tool0", lambda r: (r["weight"], r["cog"]), 1e-3),
    "fanuc": ("fanuc", "tilted", lambda r: (r["mass"], [r["cg_x"], r["cg_y"], r["cg_z"]]), 1.0),
    "dobot": ("dobot", "tool0", lambda r: (r["load"], [r["x"], r["y"], r["z"]]), 1e-3)}


@pytest.mark.parametrize("target", CASES)
def test_a_driver_reads_the_payload_in_its_units_order_and_frame(stage, target):
    driver, frame, read, unit = CASES[target]
    use(stage, "apply.frame", frame)
    stand_in = start(stage, target, driver)
    rehearsal = stage.apply(target, estimate=SAVED)
    assert rehearsal.success and not told(stand_in), rehearsal.message
    answer = stage.apply(target, send=True, estimate=SAVED)
    assert answer.success, answer.message
    sent = told(stand_in, len(answer.calls))
    assert len(answer.calls) == len(sent) and all(
        line.startswith("ros2 service call /") for line in answer.calls)
    mass, com = read(sent[1 if driver == "doosan" else 0])
    assert mass == pytest.approx(TRUE.mass, abs=MASS_TOLERANCE)
    np.testing.assert_allclose(np.array(com) * unit, AT_TILTED if frame == "tilted" else AT_FLANGE,
                               atol=COM_TOLERANCE)
    tells = driver in ("ur", "franka")
    assert ("it tells the same" in answer.message) == tells
    undone = stage.apply(target, send=True, undo=True)
    if tells:
        assert undone.success, undone.message
        again = told(stand_in, len(sent) + 1)[-1]
        assert again["mass"] == pytest.approx(BEFORE["mass"])
        assert list(read(again)[1]) == pytest.approx(BEFORE["com"])
    elif driver == "doosan":
        assert undone.success and told(stand_in, len(sent) + 1)[-1] == {
            "service": "set_current_tool", "name": "gripper"}
    else:
        assert not undone.success and "did not tell what it had before" in undone.message
        assert len(told(stand_in)) == 1


def test_the_inertia_keeps_its_axes_and_its_order(stage):
    """What is sent, turned back to the axes of the sensor, is that of the recorded estimate."""
    use(stage, "apply.frame", "tilted")
    franka = start(stage, "franka", "franka")
    wait_until(lambda: stage.apply("franka", estimate=SAVED).success)
    answer = stage.apply("franka", send=True, estimate=SAVED)
    assert answer.success, answer.message
    sent = np.reshape(told(franka, 1)[0]["load_inertia"], (3, 3), order="F")
    turn = TILT.as_matrix()
    np.testing.assert_allclose(turn @ sent @ turn.T, newest(stage)["evidence"]["inertia_com"],
                               atol=1e-9)


def test_a_driver_that_exports_no_inertia_is_sent_none(stage):
    driver = start(stage, "universal_robots", "ur", "drop")
    answer = stage.apply("universal_robots", send=True, estimate=SAVED)
    assert answer.success, answer.message
    assert any("payload/inertia.ixx" in text for text in answer.left_out)
    (got,) = told(driver, 1)
    assert [got[f"i{e}"] for e in ("xx", "yy", "zz", "xy", "xz", "yz")] == [0.0] * 6


@pytest.mark.parametrize(("target", "driver", "behaviour", "words"), [
    ("universal_robots", "ur", "mistake", "it tells another payload than was sent: mass is"),
    ("universal_robots", "ur", "refuse", "set_payload' refuses: success is False"),
    ("franka", "franka", "refuse", "set_load' refuses: success is False: not now"),
    ("xarm", "xarm", "refuse", "set_tcp_load' refuses: ret is 1: not now"),
    ("doosan", "doosan", "refuse", "config_create_tool' refuses: success is False"),
    ("fanuc", "fanuc", "refuse", "set_payload_comp' refuses: result is 1"),
    ("dobot", "dobot", "refuse", "SetPayload' refuses: res is 1")])
def test_a_driver_that_does_not_take_it_is_named(stage, target, driver, behaviour, words):
    use(stage, "apply.frame", "tool0")
    stand_in = start(stage, target, driver, behaviour)
    answer = stage.apply(target, send=True, estimate=SAVED)
    assert not answer.success and words in answer.message, answer.message
    assert ("~/apply with undo gives back" in answer.message) == (behaviour == "mistake")
    assert told(stand_in, 1) and newest(stage)["failure"]
    assert answer.sent == newest(stage)["sent"] == (behaviour != "refuse" or driver == "doosan")


def test_nothing_is_sent_while_the_driver_or_its_type_is_not_the_expected_one(stage):
    """Each is one clear sentence; a rehearsal still gives the line that would be sent."""
    stand_in = start(stage, "universal_robots", "ur")
    for service, words in (
            ("/nowhere/set_payload", "there is no service '/nowhere/set_payload'"),
            ("/driver/list_parameters", "has the type rcl_interfaces/srv/ListParameters; expected: "
             "ur_msgs/srv/SetPayload"), ("no name", "'no name' is no name of a service")):
        use(stage, "apply.service", service)
        answer = stage.apply("universal_robots", send=True, estimate=SAVED)
        assert not answer.success and words in answer.message, answer.message
    assert not told(stand_in)


@pytest.mark.parametrize(("name", "value", "words"), [
    ("load.rated_payload", 0.2, "load.rated_payload allows 0.2 kg"),
    ("apply.frame", "forearm_link", "'forearm_link' moves against"),
    ("apply.frame", "no_link", "no_link")])
def test_limits_and_frames_are_gates_of_the_running_node(stage, name, value, words):
    stand_in = start(stage, "universal_robots", "ur")
    use(stage, name, value)
    answer = stage.apply("universal_robots", send=True, estimate=SAVED)
    assert not answer.success and words in answer.message and not told(stand_in), answer.message


def test_the_model_that_the_robot_description_names_limits_the_mass(stage):
    """Without load.rated_payload; the stage's own arm has a name that is no model."""
    stand_in = start(stage, "universal_robots", "ur")
    use(stage, "load.rated_payload", 0.0)
    answer = stage.apply("universal_robots", send=True, estimate=SAVED)
    assert not answer.success and "set load.rated_payload" in answer.message and not answer.calls
    arm = stage.robot.cobot.urdf
    try:
        stage.client.publish("/robot_description", String(
            data=arm.replace('name="ur5_class_arm"', 'name="ur5e"')), LATCHED)
        wait_until(lambda: stage.apply("universal_robots", estimate=SAVED).success)
    finally:
        stage.client.publish("/robot_description", String(data=arm), LATCHED)
    assert not told(stand_in)


def test_the_answer_tells_what_was_sent_also_where_that_cannot_be_recorded(stage):
    """An undo would not know of it."""
    record = stage.folder / "applications.jsonl"
    kept = record.read_text() if record.exists() else ""
    driver = stage.stand_in("stand_in_driver.py", "ur", "spoil", str(record))
    wait_until(lambda: stage.apply("universal_robots", estimate=SAVED).success)
    answer = stage.apply("universal_robots", send=True, estimate=SAVED)
    record.rmdir()
    record.write_text(kept)
    assert len(told(driver)) == 1
    assert answer.success and "it tells the same" in answer.message, answer.message
    assert f"cannot write {record}" in answer.message


def test_the_node_goes_on_while_a_driver_does_not_answer(stage):
    """Estimates are published meanwhile, and a second application is refused at once."""
    use(stage, "apply.frame", "tool0")
    silent, words = start(stage, "xarm", "xarm", "silent"), "did not answer within 10 s"
    client = stage.client.node.create_client(Apply, f"{NODE}/apply")
    assert client.wait_for_service(PATIENCE)
    got = stage.client.listen(InertialParameters, PARAMETERS)
    slow = client.call_async(Apply.Request(target="xarm", estimate=SAVED, send=True))
    stage.client.spin_until(lambda: len(told(silent)) == 1)
    count = len(got)
    assert "another application is under way" in stage.apply("xarm").message
    stage.client.spin_until(lambda: len(got) > count + 3)
    assert not slow.done()
    stage.client.spin_until(slow.done)
    answer = slow.result()
    assert not answer.success and answer.sent and words in answer.message
    assert "~/apply with undo gives back" not in answer.message
    assert newest(stage)["failure"] and newest(stage)["sent"]


class _CompensatedStage(ApplyStage):
    """A stage whose sensor reads nothing of the payload from when the driver was told of it."""

    driver = None

    @property
    def share(self):
        return 0.0 if self.driver and "answered" in self.driver.text else 1.0


def test_what_the_driver_removes_from_then_on_is_counted_once(types, tmp_path):
    """The node adds what the driver has to what it measures, sends the whole, and finds the whole
    again although nothing of it is left in the wrench."""
    whole = TRUE.mass + BEFORE["mass"]
    com = (TRUE.mass * AT_FLANGE + BEFORE["mass"] * np.array(BEFORE["com"])) / whole
    with _CompensatedStage() as stage:
        driver = stage.driver = stage.stand_in("stand_in_driver.py", "ur")
        stage.begin(state__directory=str(tmp_path), precompensated__source="dynamic_joint_states",
                    precompensated__topic="dynamic_joint_states", precompensated__frame="tool0")
        stage.apply_once_known("universal_robots")
        answer = stage.apply("universal_robots", send=True)
        assert answer.success and "counted once" in answer.message, answer.message
        (got,) = told(driver)
        assert got["mass"] == pytest.approx(whole, abs=MASS_TOLERANCE)
        np.testing.assert_allclose(list(got["center_of_gravity"].values()), com,
                                   atol=COM_TOLERANCE)
        stage.end_rest()
        stage.robot.play_to_rest(10.0, np.zeros(6))
        assert wait_for_valid(stage, 1).inertia.m == pytest.approx(whole, abs=MASS_TOLERANCE)
