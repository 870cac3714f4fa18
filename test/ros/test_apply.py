# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A payload reaches the driver of a robot, or the parameters of a controller of ros2_control, and
comes back by undo; what is in doubt is not told. What other drivers are sent is in test/targets."""

import json
import threading
import time
from pathlib import Path
from unittest.mock import MagicMock

import node_client
import numpy as np
import pytest
from apply_stage import BEFORE, HELD, SENSOR, SHIFT, TILT, ApplyStage, Controller, Driver
from geometry_msgs.msg import WrenchStamped
from node_client import NODE, PARAMETERS, hears, use, wait_for_valid
from rclpy.task import Task
from robot_graph import Graph, in_sensor, load
from ros_process import PATIENCE, play_until, wait_until
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

from inertial_id_ros.apps.simulation.payload import PAYLOADS
from inertial_id_ros.kinds import made
from inertial_id_ros.msg import CompensationState, InertialParameters
from inertial_id_ros.ros.apply import ApplyService
from inertial_id_ros.ros.estimation import Worker
from inertial_id_ros.ros.ros_client import NoAnswer
from inertial_id_ros.srv import Apply, Save

pytestmark = pytest.mark.slow
UR = "universal_robots"
TRUE = PAYLOADS["hammer"]
AT_FLANGE = TRUE.com + SENSOR
AT_TILTED = TILT.inv().apply(AT_FLANGE - SHIFT)
SAVED = "hammer.json"  # the payload of an arm at rest is known for as long as buffer.window only
MASS_TOLERANCE, COM_TOLERANCE = 0.02, 0.004  # kg, m


@pytest.fixture(scope="module")
def stage(tmp_path_factory):
    with ApplyStage() as stage:
        stage.folder = tmp_path_factory.mktemp("state")
        stage.begin(state__directory=str(stage.folder), precompensated__source="none",
                    apply__target="admittance_controller", wrench__topic="/wrench")
        assert stage.client.call(Save, f"{NODE}/save", Save.Request(name=SAVED)).success
        yield stage


@pytest.fixture(autouse=True)
def defaults(request):
    """What a test has set does not last."""
    yield
    if "stage" in request.fixturenames:
        stage = request.getfixturevalue("stage")
        for name, value in (("apply.frame", ""), ("apply.service", ""),
                            ("load.rated_payload", 5.0), ("load.reference_mass", 0.0)):
            use(stage, name, value)


@pytest.fixture
def driver(stage, request):
    """A stand-in of the driver that the node has found, and not one that has just ended."""
    def is_there():
        return "'/io_and_status_controller/set_payload'" not in stage.apply(
            UR, estimate=SAVED).message

    wait_until(lambda: not is_there())
    with stage.with_stand_in(Driver, getattr(request, "param", "")) as driver:
        wait_until(is_there)
        yield driver


@pytest.fixture
def controller(stage):
    with stage.with_stand_in(Controller) as controller:
        yield controller


def applications(stage):
    """What the node has written about what it sent."""
    return [json.loads(line)
            for line in (stage.folder / "applications.jsonl").read_text().splitlines()]


def test_the_admittance_controller_takes_newtons_about_the_sensor_and_gives_them_back(
        stage, controller):
    """The target is that of the settings. The filter takes the centre of mass from the origin of
    the sensor, along the axes of its frame."""
    rehearsal = stage.apply("", estimate=SAVED)
    assert rehearsal.success and len(rehearsal.calls) == 2 and rehearsal.left_out
    assert all(line.startswith("ros2 param set /admittance_controller gravity_compensation.CoG.")
               for line in rehearsal.calls)
    assert not controller.sent and not (stage.folder / "applications.jsonl").exists()
    answer = stage.apply("", send=True, estimate=SAVED)
    assert answer.success, answer.message
    (got,) = controller.sent
    assert got["gravity_compensation.CoG.force"] == pytest.approx(
        9.81 * TRUE.mass, abs=9.81 * MASS_TOLERANCE)
    np.testing.assert_allclose(got["gravity_compensation.CoG.pos"], TILT.inv().apply(TRUE.com),
                               atol=COM_TOLERANCE)
    entry = applications(stage)[-1]
    assert entry["sent"] and entry["before"]["gravity_compensation.CoG.force"] == 7.0
    assert entry["after"]["gravity_compensation.CoG.force"] == pytest.approx(
        got["gravity_compensation.CoG.force"])
    assert entry["evidence"]["mass"] == pytest.approx(TRUE.mass, abs=MASS_TOLERANCE)
    undone = stage.apply("", send=True, undo=True)
    assert undone.success, undone.message
    assert controller.sent[1] == {name: HELD[name] for name in got}
    assert not stage.apply("", send=True, undo=True).success and len(controller.sent) == 2


def test_a_payload_in_doubt_is_neither_valid_nor_applied_nor_saved(stage, controller):
    words = "4.000 kg"
    use(stage, "load.reference_mass", 4.0)
    stage.move_again()
    node_client.wait_for_finding(stage, "reference_contradicted", words)
    parameters = node_client.get_estimate(stage).parameters
    assert not parameters.valid and words in parameters.status
    answer = stage.apply("", send=True)
    assert not answer.success and words in answer.message and not answer.calls
    assert not stage.client.call(Save, f"{NODE}/save", Save.Request(name="wrong")).success
    assert not controller.sent


@pytest.mark.parametrize(("name", "words"), [
    ("read_only", "gravity_compensation.CoG.force"), ("refuses", "not while I run"),
    ("client", "gravity_compensation.frame.id"), ("nobody", "/nobody")])
def test_a_node_that_cannot_take_it_is_named_with_the_parameter(stage, name, words):
    def is_named():  # it may take a while until the node has found it
        answer = stage.apply("admittance_controller", send=True, estimate=SAVED)
        assert not answer.success and not answer.sent, answer.message
        return words in answer.message

    use(stage, "apply.service", name)
    with stage.with_stand_in(Controller, "read_only"), stage.with_stand_in(Controller, "refuses"):
        wait_until(is_named)


def answered(node, **fields):
    """What the service that a node has offered answers."""
    answering = Task(node.create_service.call_args.args[2],
                     (Apply.Request(**fields), Apply.Response()))
    wait_until(answering.done, step=answering)
    return answering.result()


@pytest.mark.parametrize(("said", "reads", "error", "words"), [
    ({}, [{}], None, "nothing is received on 'dynamic_joint_states'"),
    ({"name": ""}, [{}], None, "nobody read it back"), ({"mass": 0.5}, [{}], None, "nobody read"),
    ({"mass": 0.4}, [BEFORE, NoAnswer("silent")], None, "not read back: silent"),
    ({"mass": 0.5}, [{}], AssertionError("a field"), "a field: sent, not confirmed"),
    ({"mass": 0.5}, [{}], OSError, "nobody read it back")])  # of the record alone
def test_what_nobody_reads_needs_a_word_and_is_recorded_whatever_happens(
        tmp_path, monkeypatch, said, reads, error, words):
    graph, node = Graph({}, {"joint_states": JointState(name=["a"], position=[0.0])}), MagicMock()
    graph.kinds["/io_and_status_controller/set_payload"] = "ur_msgs/srv/SetPayload"
    is_recorded = error is not OSError
    graph.call, graph.timeout = MagicMock(
        return_value=None, side_effect=error if is_recorded else None), 0.5
    monkeypatch.setattr("inertial_id_ros.ros.apply.RosClient", lambda *_: graph)
    monkeypatch.setattr(type(load(UR)), "read", MagicMock(side_effect=2 * reads))
    node.settings = load(UR, apply__target=UR, apply__frame="sensor", load__rated_payload=9.0, **{
        f"precompensated__{name}": value for name, value in said.items()}).settings
    folder = tmp_path / "state"
    node.estimation.outcome, file = in_sensor(), folder / "applications.jsonl"
    if not is_recorded:
        folder.write_text("no folder")
    node.files.own.return_value, node.explain.side_effect = file, str
    node.estimation.worker, is_free = Worker("worker", list), threading.Event()
    node.estimation.apply = Worker("apply", list)
    node.estimation.worker.submit(is_free.wait, PATIENCE)
    ApplyService(node)
    answer = answered(node, send=True)
    assert words in answer.message and answer.success == (
        bool(said) and error in (None, OSError)), answer.message
    is_free.set()  # a worker that was busy for longer than anybody waits drops the data later
    node.estimation.worker.shutdown()
    assert answer.sent == node.estimation.reset.called == bool(said)
    assert not said or node.estimation.io.withhold.call_args.args == ("",)
    assert file.exists() == (answer.sent and is_recorded)
    assert ("undo" in answer.message) == (not is_recorded)
    # Who cannot read it back is not advised to.
    assert (".source" in answer.message) == (not said or bool(reads[0]))
    node.estimation.configure_mock(worker=Worker("worker", list), findings_now=[
        made("input_stuck")])
    undone = answered(node, send=True, undo=True)
    assert undone.sent == bool(reads[0]), undone.message  # a wrong payload leaves doubts


@pytest.mark.parametrize("frame", ["tool0", "tilted"])
def test_a_driver_reads_the_payload_in_its_frame_and_gets_back_what_it_had(stage, driver, frame):
    use(stage, "apply.frame", frame)
    rehearsal = stage.apply(UR, estimate=SAVED)
    assert rehearsal.success and not driver.sent, rehearsal.message
    answer = stage.apply(UR, send=True, estimate=SAVED)
    assert answer.success and applications(stage)[-1]["after"], answer.message
    (sent,), (line,) = driver.sent, answer.calls
    assert line.startswith("ros2 service call /io_and_status_controller/set_payload ")
    assert sent["mass"] == pytest.approx(TRUE.mass, abs=MASS_TOLERANCE)
    np.testing.assert_allclose(sent["com"], AT_TILTED if frame == "tilted" else AT_FLANGE,
                               atol=COM_TOLERANCE)
    undone = stage.apply(UR, send=True, undo=True)
    assert undone.success, undone.message
    for name in ("mass", "com"):
        assert driver.sent[1][name] == pytest.approx(BEFORE[name])


@pytest.mark.parametrize("driver", ["mistake", "refuse"], indirect=True)
def test_a_driver_that_does_not_accept_it_is_named(stage, driver):
    answer = stage.apply(UR, send=True, estimate=SAVED)
    assert not answer.success and answer.sent == driver.has_answered, answer.message
    entry = applications(stage)[-1]
    assert driver.sent and entry["failure"] and entry["sent"] == answer.sent
    assert ("mass" in entry["after"]) == driver.has_answered


@pytest.mark.parametrize(("name", "value", "words"), [
    ("apply.service", "/nowhere/set_payload", "/nowhere/set_payload"),
    ("apply.service", "/driver/list_parameters", "rcl_interfaces/srv/ListParameters"),
    ("apply.service", "no name", "no name"),
    ("load.rated_payload", 0.2, "0.2 kg"),
    ("load.rated_payload", 0.0, "load.rated_payload"),  # the description names no rated model
    ("apply.frame", "forearm_link", "'forearm_link'"), ("apply.frame", "no_link", "no_link")])
def test_a_condition_that_is_not_met_is_named_and_nothing_is_sent(
        stage, driver, name, value, words):
    use(stage, name, value)
    answer = stage.apply(UR, send=True, estimate=SAVED)
    assert not answer.success and words in answer.message, answer.message
    assert not answer.sent and not driver.sent


def test_nothing_is_sent_while_the_arm_moves_or_nobody_knows(stage, driver):
    def move():
        while not is_seen.is_set():
            stage.robot.play_to_rest(6.0)

    use(stage, "apply.frame", stage.robot.cobot.sensor_frame)
    stage.end_rest()
    mover, is_seen = threading.Thread(target=move), threading.Event()
    mover.start()
    try:
        wait_until(lambda: any(f"joint '{name}'" in stage.apply(UR, estimate=SAVED).message
                               for name in stage.robot.cobot.robot.joint_names))
    finally:
        is_seen.set()
        mover.join()
    silent = stage.apply(UR, send=True, estimate=SAVED)
    stage.begin_rest()
    assert not silent.success and "'joint_states'" in silent.message and not silent.calls
    # A busy machine loses samples of the motion: what seems a contact then ends with the next one.
    play_until(lambda _: stage.move_again(), lambda: stage.apply(UR, estimate=SAVED).success, 4.0)
    assert not driver.sent


@pytest.mark.parametrize("driver", ["silent"], indirect=True)
def test_the_node_goes_on_while_a_driver_does_not_answer(stage, driver):
    """Estimates are published meanwhile, other services answer, by one thread more, and a second
    application is refused at once. A driver that answers after 45 s is the same: what it does is
    not known, and undo can be asked for."""
    client = stage.client.node.create_client(Apply, f"{NODE}/apply")
    assert client.wait_for_service(PATIENCE)
    got = stage.client.listen(InertialParameters, PARAMETERS)
    threads = Path(f"/proc/{stage.node.process.pid}/task")
    before = len(list(threads.iterdir()))
    slow = client.call_async(Apply.Request(target=UR, estimate=SAVED, send=True))
    stage.client.spin_until(lambda: driver.sent)
    count = len(got)
    use(stage, "load.reference_mass", 0.0)
    assert node_client.get_estimate(stage, "base_link").message
    assert stage.client.call(Trigger, f"{NODE}/untare").success
    assert len(list(threads.iterdir())) <= before + 1 and not slow.done()
    assert not stage.apply(UR).success
    stage.client.spin_until(lambda: len(got) > count + 3)
    assert not slow.done()
    stage.client.spin_until(slow.done)
    answer = slow.result()
    assert not answer.success and answer.sent
    entry = applications(stage)[-1]
    assert entry["failure"] and entry["sent"]
    assert entry["before"]["mass"] == pytest.approx(BEFORE["mass"])


BOUND = 0.25 * 9.81 * TRUE.mass  # of the force: far below the payload twice
REST_NS = 100_000_000  # length of what the arm at rest publishes with the same reading
READ_BACK = {"precompensated__source": "state_interfaces",
             "precompensated__topic": "state_interfaces_broadcaster",
             "precompensated__frame": "tool0"}


def change_wrench(stage, happened, delay, changed):
    """Publish a wrench without the payload, this long [s] after something has happened, and note
    the stamp [ns] of the first one."""
    wait_until(happened)
    time.sleep(delay)
    stage.share = 0.0
    changed.append(stage.robot.newest_ns + REST_NS)


def forces_since(wrenches, stamp):
    """Magnitudes of the forces [N] that were published with this stamp [ns] or later."""
    return [float(np.linalg.norm([m.wrench.force.x, m.wrench.force.y, m.wrench.force.z]))
            for m in wrenches if node_client.stamp_of(m) >= stamp]


@pytest.mark.parametrize("settings", [{"precompensated__name": "''"}, READ_BACK])
def test_what_the_driver_removes_from_then_on_is_removed_and_counted_once(tmp_path, settings):
    """Silence, with the reason, from before the call until there are data from after it. A driver
    that tells what it has is sent that and what the node measures together, and the node finds the
    whole again, although nothing of it is left in the wrench."""
    is_read = settings is READ_BACK
    whole = TRUE.mass + is_read * BEFORE["mass"]
    com = (TRUE.mass * AT_FLANGE + is_read * BEFORE["mass"] * np.array(BEFORE["com"])) / whole
    with ApplyStage() as stage, stage.with_stand_in(Driver, "late", is_read or None) as driver:
        stage.begin(state__directory=str(tmp_path), **settings)
        states = stage.client.listen(CompensationState, f"{NODE}/compensation_state")
        wrenches = stage.client.listen(WrenchStamped, f"{NODE}/wrench_compensated", 10000)
        play_until(lambda _: stage.move_again(), lambda: stage.apply(UR).success, 4.0)
        stage.client.spin_until(lambda: wrenches and states[-1].mode == CompensationState.PAYLOAD)
        changed: list[int] = []
        watcher = threading.Thread(target=change_wrench, args=(
            stage, *((lambda: driver.has_answered, 0.1) if is_read else (lambda: driver.sent, 0.2)),
            changed))
        watcher.start()
        # A busy machine is late with samples, for which it is refused.
        play_until(lambda _: stage.move_again(), lambda: stage.apply(UR, send=True).success, 4.0)
        watcher.join()
        (got,) = driver.sent
        assert got["mass"] == pytest.approx(whole, abs=MASS_TOLERANCE)
        np.testing.assert_allclose(got["com"], com, atol=COM_TOLERANCE)
        assert any(state.mode == CompensationState.SILENT
                   and UR in state.reason
                   for state in states)
        stage.client.spin_until(lambda: states[-1].mode == CompensationState.SILENT)
        stage.end_rest()
        stage.robot.play_to_rest(8.0, np.zeros(6))
        if is_read:  # a payload that is wholly compensated
            play_until(lambda _: stage.robot.play_to_rest(2.0, np.zeros(6)), lambda: hears(
                stage, lambda: states[-1].mode == CompensationState.PAYLOAD
                and forces_since(wrenches, changed[0])))
            assert wait_for_valid(stage, 1).inertia.m == pytest.approx(whole, abs=MASS_TOLERANCE)
        stage.apply(UR)  # answered after all that came before
        assert not [force for force in forces_since(wrenches, changed[0]) if force > BOUND]
