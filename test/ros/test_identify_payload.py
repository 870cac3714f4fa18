# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The command identify_payload beside a simulated cobot: wrong set-ups are named, and nothing moves
in them but the wiggle that finds some; interrupted, it leaves an arm at rest. From check to applied
payload it is led in `test_launch`; each check by itself is tested in `test_guide`."""

import json
import signal
import sys

import numpy as np
import pytest
from action_msgs.msg import GoalStatus, GoalStatusArray
from control_msgs.action import FollowJointTrajectory
from geometry_msgs.msg import Vector3, Wrench
from node_client import hears, set_parameter
from rclpy.action import ActionClient
from ros_process import LATCHED, NODE, Client, RosProcess, Stage, wait_until
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool
from std_srvs.srv import Trigger
from ur_msgs.srv import SetPayload

from inertial_id_ros.apps.simulation.cobot import load_description
from inertial_id_ros.apps.simulation.motion import Trajectory
from inertial_id_ros.ros.motion_execution import trajectory_message

pytestmark = pytest.mark.alone

COBOT = (sys.executable, "-m", "inertial_id_ros.cli", "simulate_cobot", "--motion", "commanded",
         "--rate", "125", "--sensor", "ati_gamma")
# A simulated arm may be late where the machine is busy.
COMMAND = (sys.executable, "-c",
           "from inertial_id_ros.apps.guide import checks; checks.LATEST = 2.0; "
           "from inertial_id_ros.ros import motion_execution; motion_execution.DELAY = 1.0; "
           "from inertial_id_ros.ros.guide.identify_payload import main; raise SystemExit(main())")
SETTINGS = ("-p", "wrench.sensor:=ati_gamma")
ALLOWED = ("-p", "motion.execute:=true")
# What is wrong with a simulated robot for which the machine has no time.
LATE = {"stamps", "wrench arrives", "motion arrives"}
LATE_ARM = ("rad from where the trajectory has it", "no new joint states")
RESTING = 0.01  # rad, within a tenth of a second


class Session(RosProcess):
    """A run of the command: its events, and how it ended.

    Attributes:
        status: of its end.
    """

    @property
    def has_ended(self) -> bool:
        return self.process.poll() is not None

    def of(self, event: str) -> list[dict]:
        """The events of a kind so far."""
        whole = self.text.rpartition("\n")[0].splitlines()
        events = [json.loads(line) for line in whole if line.startswith("{")]
        return [e for e in events if e["event"] == event]

    def wait_for(self, client: Client, event: str) -> None:
        """Until it has told an event of a kind."""
        client.spin_until(lambda: self.of(event) or self.has_ended, 150.0)
        assert self.of(event), self.text

    def end(self) -> "Session":
        """Wait for its end."""
        self.status, _ = self.finish(400.0)
        return self

    @property
    def wrong(self) -> dict[str, dict]:
        """The last row of each check that has found something wrong."""
        rows = {row["check"]: row for row in self.of("check")}
        return {name: row for name, row in rows.items() if row["verdict"] == "wrong"}


class CobotStage(Stage):
    """A cobot, a node, and a client."""

    def __init__(self, state, *cobot: str) -> None:
        super().__init__()
        self.ros = ("--ros-args", *SETTINGS, "-p", f"state.directory:={state}")
        self.start(*NODE, *self.ros, *ALLOWED)
        self.start(*COBOT, *cobot)

    def begin_motion(self, folder) -> tuple[Session, list[JointState]]:
        """Start the command until a motion begins; states of the joints from then on."""
        session, states = self.begin(folder), self.client.listen(JointState, "/joint_states", 100)
        session.wait_for(self.client, "motion")
        states.clear()
        return session, states

    def begin(self, folder, *words: str) -> Session:
        """Start the command beside a node that has forgotten all."""
        self.client.call(Trigger, "/inertial_id_node/reset")
        self.processes.append(Session(
            self.domain, *COMMAND, *words, "--yes", "--json", "--silence", "1.0", "--report",
            str(folder), *self.ros))
        return self.processes[-1]

    def run(self, folder, wrong: set[str], *words: str) -> Session:
        """A session to its end; it is repeated where the machine had no time for the arm."""
        for _ in range(4):
            session = self.begin(folder, *words).end()
            if not (LATE & session.wrong.keys() - wrong
                    or any(text in session.text for text in LATE_ARM)):
                break
        return session

    def allow(self, execute: bool) -> None:
        """Set motion.execute of the node, once it is not busy with an estimate."""
        wait_until(lambda: set_parameter(self, "motion.execute", execute).successful)

    def push(self, **force: float) -> None:
        self.client.publish("/simulate_cobot/push", Wrench(force=Vector3(**force)), 1)


@pytest.fixture(scope="module")
def stage(tmp_path_factory):
    with CobotStage(tmp_path_factory.mktemp("state")) as made:
        yield made


NAMES = load_description().joint_names
ACTION = "joint_trajectory_controller/follow_joint_trajectory"
# The last three joints to and fro, from where they are [rad].
TURNS = np.zeros((7, 6))
TURNS[:, 3:] = np.radians([[0, 0, 0], [20, 0, 40], [-20, 0, 60], [0, 0, 0], [0, 20, 0],
                           [0, -20, 0], [0, 0, 0]])


def away(states: list[JointState]) -> np.ndarray:
    """How far joints are from where they were in the first state: largest angles (n,) [rad]."""
    positions = np.array([state.position for state in states[::10]])
    return np.abs(positions - positions[0]).max(axis=1)


@pytest.mark.slow
def test_a_person_who_moves_the_arm_as_told_gets_a_proof(stage, tmp_path):
    def pose() -> np.ndarray:
        """Where the joints are."""
        seen = len(states)
        client.spin_until(lambda: len(states) > seen + 2)
        at = dict(zip(states[-1].name, states[-1].position, strict=True))
        return np.array([at[name] for name in NAMES])

    def move(poses: np.ndarray) -> None:
        """Go from pose to pose (n, joints), and rest in each."""
        still = np.zeros_like(poses)
        motion = Trajectory(2.0 * np.arange(len(poses)), poses, still, still, NAMES)
        sent = action.send_goal_async(FollowJointTrajectory.Goal(
            trajectory=trajectory_message(motion)))
        client.spin_until(sent.done)
        ended = sent.result().get_result_async()
        client.spin_until(ended.done)
        assert ended.result().status == GoalStatus.STATUS_SUCCEEDED

    client, told = stage.client, []
    states = client.listen(JointState, "/joint_states", 100)
    action = ActionClient(client.node, FollowJointTrajectory, ACTION)
    client.spin_until(action.server_is_ready)
    home = pose()
    stage.allow(False)  # nobody needs to
    session = stage.begin(tmp_path, "--no-motion", "--mass-accuracy", "4", "--com-accuracy", "7",
                          "--inertia-accuracy", "0")
    while not session.has_ended:
        client.spin_until(
            lambda: len(session.of("motion")) > len(told) or session.has_ended, 120.0)
        for event in session.of("motion")[len(told):]:
            told.append(event)
            move(pose() + TURNS)
    move(np.stack([pose(), home]))  # other tests begin there
    assert session.end().status == 0 and len(told) < 10, session.text
    assert session.of("proof")[0]["given"], session.text


@pytest.mark.slow
def test_interrupted_while_the_arm_moves_the_motion_is_cancelled_and_nothing_applied(
        stage, tmp_path):
    def status() -> int:
        """Of the goal that the controller took last: all before succeeded."""
        taken = [(g.goal_info.stamp.sec, g.goal_info.stamp.nanosec, g.status)
                 for g in (goals[-1].status_list if goals else ())]
        return max(taken, default=(0, 0, GoalStatus.STATUS_UNKNOWN))[2]

    stage.allow(True)
    goals = stage.client.listen(GoalStatusArray, f"/{ACTION}/_action/status")
    session, states = stage.begin_motion(tmp_path)
    stage.client.spin_until(lambda: states and away(states)[-1] > 0.02)
    session.process.send_signal(signal.SIGINT)
    assert session.end().status == 130 and "Traceback" not in session.text, session.text
    assert "apply" not in [event["name"] for event in session.of("step")]
    stage.client.spin_until(lambda: status() == GoalStatus.STATUS_CANCELED)
    hears(stage, lambda: True)  # what came meanwhile is of before
    states.clear()
    stage.client.spin_until(lambda: len(states) > 10)
    assert np.ptp([state.position for state in states], axis=0).max() < RESTING


@pytest.mark.slow
def test_a_contact_stops_the_small_motion(stage, tmp_path):
    def comes_back() -> bool:
        angles = away(states) if states else np.zeros(1)
        return angles.max() > 0.1 and angles[-1] < 0.8 * angles.max()

    session, states = stage.begin_motion(tmp_path)
    stage.client.spin_until(comes_back)
    stage.push(y=25.0)  # less than the robot itself stops for
    session.end()
    stage.push()
    assert session.status == 4, session.text
    assert len(session.of("motion")) == 1, session.text


@pytest.mark.slow
def test_what_keeps_the_arm_from_moving_is_named_at_rest(stage, tmp_path):
    stage.allow(False)
    stop = stage.client.node.create_publisher(Bool, "/io/robot_program_running", LATCHED)
    stop.publish(Bool(data=False))
    wrong = {"motion is allowed", "robot may move", "controller"}
    try:
        session = stage.run(tmp_path, wrong, "--controller", "nowhere")
    finally:
        stage.allow(True)
        stage.client.node.destroy_publisher(stop)
    assert_named(session, wrong, 0)
    assert list(tmp_path.glob("*.html"))


@pytest.mark.slow
@pytest.mark.parametrize(("cobot", "stated", "wrong", "motions"), [
    (("--bias", "125,125,125,0,0,0"), 1.2, {"range of the sensor", "payload set on the robot"}, 0),
    (("--convention", "on_environment"), 0.0, {"sign of the wrench"}, 2)])
def test_a_wrong_set_up_is_named_and_nothing_is_identified(tmp_path, cobot, stated, wrong, motions):
    with CobotStage(tmp_path, *cobot) as stage:
        stage.client.call(SetPayload, "/io_and_status_controller/set_payload",
                          SetPayload.Request(mass=stated))
        assert_named(stage.run(tmp_path, wrong), wrong, motions)


def assert_named(session: Session, wrong: set[str], motions: int) -> None:
    """Each row says what to do, nothing was identified, and the arm made so many motions at most.
    """
    assert session.status == 4, session.text
    assert all(session.wrong.get(name, {}).get("advice") for name in wrong), session.text
    assert len(session.of("motion")) <= motions, session.text
    assert not {"identify", "prove", "apply"} & {e["name"] for e in session.of("step")}
