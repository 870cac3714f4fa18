# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The command identify_payload beside a simulated cobot: wrong set-ups are named, and nothing moves
in them but the wiggle that finds some; interrupted, it leaves an arm at rest. From check to applied
payload it is led in `test_demo`; each check by itself is tested in `test_guide_checks`."""

from __future__ import annotations

import json
import signal
import sys
import time

import numpy as np
import pytest
from action_msgs.msg import GoalStatus, GoalStatusArray
from control_msgs.action import FollowJointTrajectory
from geometry_msgs.msg import Vector3, Wrench, WrenchStamped
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import SetParameters
from rclpy.action import ActionClient
from ros_process import NODE, Client, RosProcess, own_domain
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

from inertial_id_ros.apps.excitation.arm import Arm
from inertial_id_ros.apps.excitation.motions import MotionLimits, points_for_controller, through
from inertial_id_ros.apps.simulation.description import (
    SENSOR_FRAME,
    load_description,
)
from inertial_id_ros.ros.motion_execution import trajectory_message

pytestmark = pytest.mark.alone

COBOT = (sys.executable, "-m", "inertial_id_ros.ros.tools.simulate_cobot", "--motion", "commanded",
         "--rate", "125", "--sensor", "ati_gamma")
# A simulated arm may be late where the machine is busy.
COMMAND = (sys.executable, "-c",
           "from inertial_id_ros.apps.guide import checks; checks.LATEST = 2.0; "
           "from inertial_id_ros.ros import motion_execution; motion_execution.DELAY = 1.0; "
           "from inertial_id_ros.ros.guide.identify_payload import main; raise SystemExit(main())")
SETTINGS = ("-p", "wrench.sensor:=ati_gamma")
ALLOWED = ("-p", "motion.execute:=true")
# Options of the cobot; rows that name what is wrong.
MOVING = (("--convention", "on_environment"), {"sign of the wrench"})
AT_REST = (("--bias", "125,125,125,0,0,0", "--stated-mass", "1.2"),
           {"range of the sensor", "payload set on the robot"})
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
    """A cobot, a node, and a client."""

    def __init__(self, state, *cobot: str) -> None:
        self.domain = domain = own_domain()
        self.ros = ("--ros-args", *SETTINGS, "-p", f"state.directory:={state}")
        self._processes = [RosProcess(domain, *NODE, *self.ros, *ALLOWED),
                           RosProcess(domain, *COBOT, *cobot)]
        self.client = Client(domain)

    def start(self, folder, *words: str) -> RosProcess:
        """Start the command beside a node that has forgotten all."""
        self.client.call(Trigger, "/inertial_id_node/reset")
        return RosProcess(self.domain, *COMMAND, *words, "--yes", "--json", "--silence", "1.0",
                          "--report", str(folder), *self.ros)

    def run(self, folder, wrong: set[str], *words: str) -> Session:
        """A session; it is repeated where the machine had no time for the arm."""
        for _ in range(4):
            session = Session(self.start(folder, *words))
            if not (LATE & session.wrong.keys() - wrong
                    or any(text in session.text for text in LATE_ARM)):
                break
        return session

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

    def push(self, **force: float) -> None:
        self.client.publish("/simulate_cobot/push", Wrench(force=Vector3(**force)), 1)

    def close(self) -> None:
        self.client.close()
        for process in self._processes:
            process.stop(signal.SIGINT)


@pytest.fixture(scope="module")
def stage(tmp_path_factory):
    made = Stage(tmp_path_factory.mktemp("state"))
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
        motion = points_for_controller(self.arm, through(self.arm, LIMITS, stacked))
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
    stage.allow(False)  # nobody needs to
    process = stage.start(tmp_path, "--no-motion", "--mass-accuracy", "4", "--com-accuracy", "7",
                          "--inertia-accuracy", "0")
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
    stage.allow(True)
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
def test_a_contact_stops_the_small_motion(stage, tmp_path):
    process = stage.start(tmp_path)
    wait_for(process, stage.client, "motion")
    time.sleep(2.0)  # on its way back, less than the robot itself stops for
    stage.push(y=25.0)
    session = Session(process)
    stage.push()
    assert session.status == 4 and "has stopped" in session.of("end")[0]["text"], session.text
    assert len(session.of("motion")) == 1, session.text


@pytest.mark.slow
def test_what_keeps_the_arm_from_moving_is_named_at_rest(stage, tmp_path):
    other = stage.client.node.create_publisher(WrenchStamped, "/wrench", 10)
    stage.allow(False)
    for force in (80.0, 0.0):
        stage.push(x=force)
        time.sleep(0.5)  # samples with it
    wrong = {"motion is allowed", "robot may move", "controller", "publishers"}
    try:
        session = stage.run(tmp_path, wrong, "--controller", "nowhere")
    finally:
        stage.allow(True)
        stage.client.node.destroy_publisher(other)
        stage.client.call(Trigger, "/simulate_cobot/unlock")
    assert_named(session, wrong, 0)
    assert list(tmp_path.glob("*.html"))


@pytest.mark.slow
@pytest.mark.parametrize(("cobot", "wrong"), [MOVING, AT_REST])
def test_a_wrong_set_up_is_named_and_nothing_is_identified(tmp_path, cobot, wrong):
    stage = Stage(tmp_path, *cobot)
    try:
        assert_named(stage.run(tmp_path, wrong), wrong, 2 if (cobot, wrong) == MOVING else 0)
    finally:
        stage.close()


def assert_named(session: Session, wrong: set[str], motions: int) -> None:
    """Each row says what to do, nothing was identified, and the arm made so many motions at most.
    """
    assert session.status == 4, session.text
    assert all(session.wrong.get(name, {}).get("advice") for name in wrong), session.text
    assert len(session.of("motion")) <= motions, session.text
    assert not {"identify", "prove", "apply"} & {e["name"] for e in session.of("step")}
