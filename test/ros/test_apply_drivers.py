# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A payload reaches the driver of a robot: a stand-in that serves what ur_robot_driver does, in a
process of its own. What the other drivers are sent is in test/targets."""

from __future__ import annotations

import json
import threading
import time

import numpy as np
import pytest
from apply_stage import SENSOR, SHIFT, TILT, ApplyStage, told
from geometry_msgs.msg import WrenchStamped
from node_client import NODE, PARAMETERS, hears, use, wait_for_valid
from ros_process import PATIENCE, play_until, wait_until
from stand_in import BEFORE

from inertial_id_ros.apps.simulation.payload import PAYLOADS
from inertial_id_ros.msg import CompensationState, InertialParameters
from inertial_id_ros.srv import Apply

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


def start(stage, behaviour="accept", *words):
    """A stand-in of the driver that the node has found, and not one that has just ended."""
    wait_until(lambda: "there is no service" in stage.apply(UR, estimate=SAVED).message)
    process = stage.stand_in("driver", behaviour, *words)
    wait_until(lambda: "there is no service" not in stage.apply(UR, estimate=SAVED).message)
    return process


def newest(stage):
    return json.loads((stage.folder / "applications.jsonl").read_text().splitlines()[-1])


@pytest.mark.parametrize("frame", ["tool0", "tilted"])
def test_a_driver_reads_the_payload_in_its_frame_and_gets_back_what_it_had(stage, frame):
    use(stage, "apply.frame", frame)
    stand_in = start(stage)
    rehearsal = stage.apply(UR, estimate=SAVED)
    assert rehearsal.success and not told(stand_in), rehearsal.message
    answer = stage.apply(UR, send=True, estimate=SAVED)
    assert answer.success and newest(stage)["after"], answer.message
    (sent,), (line,) = told(stand_in, 1), answer.calls
    assert line.startswith("ros2 service call /io_and_status_controller/set_payload ")
    assert sent["mass"] == pytest.approx(TRUE.mass, abs=MASS_TOLERANCE)
    np.testing.assert_allclose(list(sent["center_of_gravity"].values()),
                               AT_TILTED if frame == "tilted" else AT_FLANGE, atol=COM_TOLERANCE)
    undone = stage.apply(UR, send=True, undo=True)
    assert undone.success, undone.message
    again = told(stand_in, 2)[-1]
    assert again["mass"] == pytest.approx(BEFORE["mass"])
    assert list(again["center_of_gravity"].values()) == pytest.approx(BEFORE["com"])


@pytest.mark.parametrize("behaviour", ["mistake", "refuse"])
def test_a_driver_that_does_not_accept_it_is_named(stage, behaviour):
    stand_in = start(stage, behaviour)
    answer = stage.apply(UR, send=True, estimate=SAVED)
    assert not answer.success and answer.sent == (behaviour == "mistake"), answer.message
    record = newest(stage)
    assert told(stand_in, 1) and record["failure"] and record["sent"] == answer.sent
    assert ("mass" in record["after"]) == (behaviour == "mistake")


@pytest.mark.parametrize(("name", "value", "words"), [
    ("apply.service", "/nowhere/set_payload", "/nowhere/set_payload"),
    ("apply.service", "/driver/list_parameters", "rcl_interfaces/srv/ListParameters"),
    ("apply.service", "no name", "no name"),
    ("load.rated_payload", 0.2, "0.2 kg"),
    ("load.rated_payload", 0.0, "load.rated_payload"),  # the description names no rated model
    ("apply.frame", "forearm_link", "'forearm_link'"), ("apply.frame", "no_link", "no_link")])
def test_a_condition_that_is_not_met_is_named_and_nothing_is_sent(stage, name, value, words):
    stand_in = start(stage)
    use(stage, name, value)
    answer = stage.apply(UR, send=True, estimate=SAVED)
    assert not answer.success and words in answer.message, answer.message
    assert not answer.sent and not told(stand_in)


def test_nothing_is_sent_while_the_arm_moves_or_nobody_knows(stage):
    stand_in = start(stage)
    use(stage, "apply.frame", stage.robot.cobot.sensor_frame)
    stage.end_rest()
    mover = threading.Thread(target=stage.robot.play_to_rest, args=(30.0,))
    mover.start()
    wait_until(lambda: "the arm moves: joint" in stage.apply(UR, estimate=SAVED).message)
    mover.join()
    silent = stage.apply(UR, send=True, estimate=SAVED)
    stage.begin_rest()
    assert not silent.success and "'joint_states'" in silent.message and not silent.calls
    assert stage.apply(UR, estimate=SAVED).success and not told(stand_in)


def test_the_node_goes_on_while_a_driver_does_not_answer(stage):
    """Estimates are published meanwhile, and a second application is refused at once. A driver that
    answers after 45 s is the same: what it does is not known, and undo can be asked for."""
    silent = start(stage, "silent")
    client = stage.client.node.create_client(Apply, f"{NODE}/apply")
    assert client.wait_for_service(PATIENCE)
    got = stage.client.listen(InertialParameters, PARAMETERS)
    slow = client.call_async(Apply.Request(target=UR, estimate=SAVED, send=True))
    stage.client.spin_until(lambda: len(told(silent)) == 1)
    count = len(got)
    assert not stage.apply(UR).success
    stage.client.spin_until(lambda: len(got) > count + 3)
    assert not slow.done()
    stage.client.spin_until(slow.done)
    answer = slow.result()
    assert not answer.success and answer.sent and "sent, not confirmed" in answer.message
    assert newest(stage)["failure"] and newest(stage)["sent"]
    assert newest(stage)["before"]["mass"] == pytest.approx(BEFORE["mass"])


class _CompensatedStage(ApplyStage):
    """A stage whose sensor reads nothing of the payload once the driver has it."""

    driver = None

    @property
    def share(self):
        return 0.0 if self.driver and "answered" in self.driver.text else 1.0


def test_what_the_driver_compensates_from_then_on_is_counted_once(tmp_path):
    """The node adds what the driver has to what it measures, sends the whole, and finds the whole
    again although nothing of it is left in the wrench."""
    whole = TRUE.mass + BEFORE["mass"]
    com = (TRUE.mass * AT_FLANGE + BEFORE["mass"] * np.array(BEFORE["com"])) / whole
    with _CompensatedStage() as stage:
        driver = stage.driver = stage.stand_in("driver", "accept")
        stage.begin(state__directory=str(tmp_path), precompensated__source="dynamic_joint_states",
                    precompensated__topic="dynamic_joint_states", precompensated__frame="tool0")
        stage.apply_once_known(UR)
        answer = stage.apply(UR, send=True)
        assert answer.success, answer.message
        (got,) = told(driver)
        assert got["mass"] == pytest.approx(whole, abs=MASS_TOLERANCE)
        np.testing.assert_allclose(list(got["center_of_gravity"].values()), com,
                                   atol=COM_TOLERANCE)
        stage.end_rest()
        stage.robot.play_to_rest(10.0, np.zeros(6))
        assert wait_for_valid(stage, 1).inertia.m == pytest.approx(whole, abs=MASS_TOLERANCE)


BOUND = 0.25 * 9.81 * PAYLOADS["hammer"].mass  # of the force: far below the payload twice
# When the driver's wrench changes: so long after it has printed a word [s].
REST_NS = 100_000_000  # length of what the arm at rest publishes with the same reading
EARLY, AFTER = ("{", 0.2), ("answered", 0.1)
READ_BACK = {"precompensated__source": "dynamic_joint_states",
             "precompensated__topic": "dynamic_joint_states", "precompensated__frame": "tool0"}


def change_wrench(stage, driver, word, delay, changed):
    """Publish a wrench without the payload, this long [s] after the driver has printed a word, and
    note the stamp [ns] of the first one."""
    wait_until(lambda: word in driver.text)
    time.sleep(delay)
    stage.share = 0.0
    changed.append(stage.robot.newest_ns + REST_NS)


def forces_since(wrenches, stamp):
    """Magnitudes of the forces [N] that were published with this stamp [ns] or later."""
    return [float(np.linalg.norm([m.wrench.force.x, m.wrench.force.y, m.wrench.force.z]))
            for m in wrenches if m.header.stamp.sec * 10**9 + m.header.stamp.nanosec >= stamp]


@pytest.mark.parametrize(("moment", "settings"), [
    (EARLY, {"precompensated__source": "settings"}), (AFTER, READ_BACK)])
def test_what_the_driver_removes_from_then_on_is_not_removed_twice(tmp_path, moment, settings):
    """Silence, with the reason, from before the call until there are data from after it."""
    with ApplyStage() as stage:
        driver = stage.stand_in("driver", "late")
        stage.begin(state__directory=str(tmp_path), **settings)
        states = stage.client.listen(CompensationState, f"{NODE}/compensation_state")
        wrenches = stage.client.listen(WrenchStamped, f"{NODE}/wrench_compensated", 10000)
        stage.apply_once_known("universal_robots")
        stage.client.spin_until(lambda: wrenches and states[-1].mode == CompensationState.PAYLOAD)
        changed: list[int] = []
        watcher = threading.Thread(target=change_wrench, args=(stage, driver, *moment, changed))
        watcher.start()
        answer = stage.apply("universal_robots", send=True)
        watcher.join()
        assert answer.success, answer.message
        assert any(state.mode == CompensationState.SILENT
                   and "a payload is being applied to universal_robots" in state.reason
                   for state in states)
        stage.client.spin_until(lambda: states[-1].mode == CompensationState.SILENT)
        stage.end_rest()
        stage.robot.play_to_rest(8.0, np.zeros(6))
        if settings is READ_BACK:  # a payload that is wholly compensated
            play_until(lambda _: stage.robot.play_to_rest(2.0, np.zeros(6)), lambda: hears(
                stage, lambda: states[-1].mode == CompensationState.PAYLOAD
                and forces_since(wrenches, changed[0])))
        stage.apply("universal_robots")  # answered after all that came before
        assert not [force for force in forces_since(wrenches, changed[0]) if force > BOUND]
