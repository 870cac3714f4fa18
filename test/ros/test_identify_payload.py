# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The command identify_payload beside a simulated cobot: wrong set-ups are named, and nothing moves
in them but the wiggle that finds some; interrupted, it leaves an arm at rest. From check to applied
payload it is led in `test_demo`."""

from __future__ import annotations

import json
import signal
import sys
import time

import numpy as np
import pytest

pytest.importorskip("rclpy")
pytest.importorskip("control_msgs.msg")
pytest.importorskip("inertial_id_ros.msg")
from action_msgs.msg import GoalStatus, GoalStatusArray  # noqa: E402
from control_msgs.action import FollowJointTrajectory  # noqa: E402
from faulty_relay import FaultyRelay, remaps  # noqa: E402
from geometry_msgs.msg import Vector3, Wrench  # noqa: E402
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue  # noqa: E402
from rcl_interfaces.srv import SetParameters  # noqa: E402
from rclpy.action import ActionClient  # noqa: E402
from ros_process import NODE, Client, RosProcess, own_domain  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from stand_in_trajectory_controller import SlowController  # noqa: E402
from std_srvs.srv import Trigger  # noqa: E402

from inertial_id_ros.apps.excitation.arm import Arm  # noqa: E402
from inertial_id_ros.apps.excitation.motions import MotionLimits, through  # noqa: E402
from inertial_id_ros.apps.simulation.description import (  # noqa: E402
    SENSOR_FRAME,
    load_description,
)
from inertial_id_ros.ros.motion_execution import trajectory_message  # noqa: E402

pytestmark = pytest.mark.alone

COBOT = (sys.executable, "-m", "inertial_id_ros.ros.tools.simulate_cobot")
# A simulated arm may be late where the machine is busy.
COMMAND = (sys.executable, "-c",
           "from inertial_id_ros.apps.guide import checks; checks.LATEST = 2.0; "
           "from inertial_id_ros.ros import motion_execution; motion_execution.DELAY = 1.0; "
           "from inertial_id_ros.ros.guide.identify_payload import main; raise SystemExit(main())")
SETTINGS = ("-p", "wrench.sensor:=ati_gamma", "-p", "motion.execute:=true")
WRONG = {  # row that names it
    "sign": "sign of the wrench", "frame turned": "axes of the sensor",
    "tilted gravity": "direction of gravity", "clock offset": "clocks",
    "joint order": "order of the joints", "wrong link": "frame of the wrench",
    "wrong TCP": "frame of the wrench", "stale stamps": "stamps",
    "payload set": "payload set on the robot", "saturated": "range of the sensor",
    "unplugged": "sensor is connected", "slow TF": "motion arrives",
    "two publishers": "publishers", "protective stop": "robot may move",
    "not allowed": "motion is allowed", "no controller": "controller"}


# Set-ups; in those that are known to be wrong at rest, several things are. The frames of the last
# two stay with the node, so that they come last.
MOVING = (("sign",), ("frame turned",), ("tilted gravity",), ("joint order",))
AT_REST = (("stale stamps", "payload set", "two publishers", "no controller", "protective stop"),
           ("wrong link", "saturated", "not allowed"), ("unplugged", "slow TF"),
           ("clock offset", "wrong TCP"))
# What is wrong with a simulated robot for which the machine has no time.
LATE = {"stamps", "wrench arrives", "motion arrives"}
LATE_ARM = ("rad from where the trajectory has it", "no new joint states")
RESTING = 0.01  # rad, within a tenth of a second


class Session:
    """A run of the command to its end: its events, and how it ended."""

    def __init__(self, process: RosProcess) -> None:
        self.status, self.text = process.finish(400.0)
        lines = [line for line in self.text.splitlines() if line.startswith("{")]
        self.events = [json.loads(line) for line in lines]

    def of(self, event: str) -> list[dict]:
        return [e for e in self.events if e["event"] == event]

    def rows(self) -> dict[str, dict]:
        """The last row of each check."""
        return {row["check"]: row for row in self.of("check")}

    @property
    def wrong(self) -> dict[str, dict]:
        return {name: row for name, row in self.rows().items() if row["verdict"] == "wrong"}


class Stage:
    """A cobot behind a relay, a node, and a client: one of each for all set-ups."""

    def __init__(self, domain: int, state) -> None:
        self.domain, self.relay = domain, FaultyRelay(domain)
        self.state = ("-p", f"state.directory:={state}")
        self._processes = [
            RosProcess(domain, *NODE, "--ros-args", *SETTINGS, *self.state),
            RosProcess(domain, *COBOT, "--ros-args", "-p", "motion:=commanded", "-p",
                       "rate:=125.0", "-p", "sensor:=ati_gamma", *remaps())]
        self.client = Client(domain)

    def start(self, folder, *words: str, faults: tuple[str, ...] = ()) -> RosProcess:
        """Start the command in a faulty set-up, beside a node that has forgotten all."""
        self.relay.set(*(fault for fault in faults if fault != "not allowed"))
        self.allow("not allowed" not in faults)
        self.client.call(Trigger, "/inertial_id_node/reset")
        return RosProcess(self.domain, *COMMAND, *words, "--yes", "--json", "--silence", "1.0",
                          "--report", str(folder), "--ros-args", *SETTINGS, *self.state)

    def run(self, faults: tuple[str, ...], folder) -> Session:
        """A session in a faulty set-up."""
        words: tuple[str, ...] = ("--controller", "nowhere") if "no controller" in faults else ()
        if "wrong TCP" in faults:  # a node keeps the frame of its first wrench
            words = ("--node", "/node_of_this_session")
        if "protective stop" in faults:
            for force in (80.0, 0.0):
                self.client.publish("/simulate_cobot/push", Wrench(force=Vector3(x=force)), 1)
                time.sleep(0.5)  # samples with it
        try:
            for _ in range(4):
                session = Session(self.start(folder, *words, faults=faults))
                if not (LATE & session.wrong.keys() - {WRONG[fault] for fault in faults}
                        or any(text in session.text for text in LATE_ARM)):
                    break
            return session
        finally:
            if "protective stop" in faults:
                self.client.call(Trigger, "/simulate_cobot/unlock")

    def allow(self, execute: bool) -> None:
        """Set motion.execute of the node."""
        value = ParameterValue(type=ParameterType.PARAMETER_BOOL, bool_value=execute)
        for _ in range(4):  # it may be busy with an estimate
            (answer,) = self.client.call(SetParameters, "/inertial_id_node/set_parameters",
                                         SetParameters.Request(parameters=[Parameter(
                                             name="motion.execute", value=value)])).results
            if answer.successful:
                return
        raise AssertionError(answer.reason)

    def close(self) -> None:
        self.client.close()
        for process in self._processes:
            process.stop(signal.SIGINT)
        self.relay.close()


@pytest.fixture(scope="module")
def stage(tmp_path_factory):
    made = Stage(own_domain(), tmp_path_factory.mktemp("state"))
    yield made
    made.close()


NAMES, LIMITS = load_description().joint_names, MotionLimits()
ACTION = "joint_trajectory_controller/follow_joint_trajectory"


class Person:
    """Moves the arm by hand: tilts and turns the wrist about two axes."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.arm = Arm(load_description().urdf, SENSOR_FRAME)
        self.states = client.listen(JointState, "/joint_states", 10)
        self.action = ActionClient(client.node, FollowJointTrajectory, ACTION)
        client.spin_until(self.action.server_is_ready)

    def turn(self) -> None:
        """Tilt and turn the wrist to and fro."""
        turns = [{3: 20, 5: 40}, {3: -40, 5: 20}, {3: 20, 5: -60}, {4: 20}, {4: -40}, {4: 20}]
        poses = [self.pose()]
        for step in turns:
            poses.append(poses[-1].copy())
            for joint, angle in step.items():
                poses[-1][joint] += np.radians(angle)
        self.move(np.array(poses))

    def pose(self) -> np.ndarray:
        """Where the joints are."""
        seen = len(self.states)
        self.client.spin_until(lambda: len(self.states) > seen + 2)
        at = dict(zip(self.states[-1].name, self.states[-1].position, strict=True))
        return np.array([at[name] for name in NAMES])

    def move(self, stacked: np.ndarray) -> None:
        """Go through poses (n, joints)."""
        motion = through(self.arm, LIMITS, stacked).as_planned(self.arm)
        sent = self.action.send_goal_async(FollowJointTrajectory.Goal(
            trajectory=trajectory_message(motion)))
        self.client.spin_until(sent.done)
        ended = sent.result().get_result_async()
        self.client.spin_until(ended.done)
        assert ended.result().status == GoalStatus.STATUS_SUCCEEDED


def lines(process: RosProcess, event: str) -> list[dict]:
    """The events of a kind that a command has told so far."""
    whole = process.text.rpartition("\n")[0].splitlines()
    return [e for e in map(json.loads, filter(lambda line: line.startswith("{"), whole))
            if e["event"] == event]


def wait_for(process: RosProcess, client: Client, event: str) -> None:
    """Until the command has told an event of a kind."""
    client.spin_until(lambda: lines(process, event) or process.process.poll() is not None, 150.0)
    assert lines(process, event), process.text


@pytest.mark.slow
def test_a_person_who_moves_the_arm_as_told_gets_a_proof(stage, tmp_path):
    person, told = Person(stage.client), []
    home = person.pose()
    process = stage.start(tmp_path, "--no-motion", "--mass-accuracy", "4", "--com-accuracy", "7",
                          "--inertia-accuracy", "0", faults=("not allowed",))  # nobody needs to
    while process.process.poll() is None:
        stage.client.spin_until(lambda: len(lines(process, "motion")) > len(told)
                                or process.process.poll() is not None, 120.0)
        for event in lines(process, "motion")[len(told):]:
            told.append(event)
            person.turn()
    person.move(np.stack([person.pose(), home]))  # other tests begin there
    assert process.finish()[0] == 0 and len(told) < 10, process.text
    assert lines(process, "proof")[0]["given"], process.text


@pytest.mark.slow
def test_interrupted_while_the_arm_moves_the_motion_is_cancelled_and_nothing_applied(
        stage, tmp_path):
    goals = stage.client.listen(GoalStatusArray, f"/{ACTION}/_action/status")
    states = stage.client.listen(JointState, "/joint_states", 100)
    process = stage.start(tmp_path)
    wait_for(process, stage.client, "motion")
    stage.client.spin_until(lambda: states)
    begin = states[-1]
    stage.client.spin_until(
        lambda: np.abs(np.subtract(states[-1].position, begin.position)).max() > 0.02)
    process.process.send_signal(signal.SIGINT)
    status, text = process.finish(60.0)
    assert status == 130 and "Traceback" not in text, text
    assert "nothing was applied" in lines(process, "end")[0]["text"]

    def last_goal() -> GoalStatus | None:
        found = max(goals[-1].status_list, key=accepted) if goals else None
        return found if found and accepted(found) > seconds(begin.header.stamp) - 10.0 else None

    stage.client.spin_until(
        lambda: (goal := last_goal()) and goal.status >= GoalStatus.STATUS_SUCCEEDED)
    assert last_goal().status == GoalStatus.STATUS_CANCELED
    seen = len(states)
    stage.client.spin_until(lambda: len(states) > seen + 10)
    assert np.ptp([state.position for state in states[seen:]], axis=0).max() < RESTING


def seconds(stamp):
    """A time of ROS [s]."""
    return stamp.sec + 1e-9 * stamp.nanosec


def accepted(goal):
    """When the controller took a goal [s]."""
    return seconds(goal.goal_info.stamp)


@pytest.mark.slow
def test_a_controller_that_accepts_after_the_session_has_ended_is_told_to_stop(stage, tmp_path):
    controller = SlowController(stage.domain, NAMES, np.zeros(len(NAMES)), 6.0)
    try:
        process = stage.start(tmp_path, "--controller", "arm_controller")
        wait_for(process, stage.client, "end")
        assert not controller.goals, process.text
        status, text = process.finish(60.0)
        assert status == 3 and "Traceback" not in text, text
        assert len(controller.goals) == controller.cancelled == controller.ended == 1
        assert np.abs(controller.positions - controller.start).max() < RESTING
    finally:
        controller.close()
        stage.client.spin_until(lambda: "slow_controller" not in stage.client.node.get_node_names())


@pytest.mark.slow
@pytest.mark.parametrize("faults", [(), ("frame turned",)], ids=["right", "frame turned"])
def test_a_contact_stops_the_small_motion(stage, tmp_path, faults):
    """Also while a sensor that is turned keeps the node from telling it from the weight."""
    process = stage.start(tmp_path, faults=faults)
    wait_for(process, stage.client, "motion")
    time.sleep(2.0)  # on its way back, less than the robot itself stops for
    stage.client.publish("/simulate_cobot/push", Wrench(force=Vector3(y=25.0)), 1)
    session = Session(process)
    stage.client.publish("/simulate_cobot/push", Wrench(), 1)
    assert session.status == 4 and "has stopped" in session.of("end")[0]["text"], session.text
    assert len(session.of("motion")) == 1, session.text


@pytest.mark.slow
@pytest.mark.parametrize("faults", [*MOVING, *AT_REST], ids=", ".join)
def test_a_wrong_set_up_is_named_and_nothing_is_identified(stage, tmp_path, faults):
    session = stage.run(faults, tmp_path)
    assert session.status == 4, session.text
    for fault in faults:
        assert session.wrong.get(WRONG[fault], {}).get("advice"), (fault, session.text)
    assert len(session.of("motion")) <= (2 if faults in MOVING else 0), session.text
    assert not {"identify", "prove", "apply"} & {e["name"] for e in session.of("step")}
    assert list(tmp_path.glob("*.html"))
