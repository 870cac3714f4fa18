# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""``python -m benchmarks.next_motion.interruptions``: motions interrupted at random moments.

The simulated cobot runs as a process, motions go to its controller, and at a random moment of each
one thing goes wrong. From then to rest, by the robot's own stamps and velocities; then the next
motion starts from where the arm is.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import time
from typing import NamedTuple

import numpy as np
import rclpy
from geometry_msgs.msg import Wrench
from rclpy.executors import SingleThreadedExecutor
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool
from std_srvs.srv import Trigger

from inertial_id_ros.apps.excitation.arm import Arm, CarriedLoad
from inertial_id_ros.apps.excitation.next_motion.check_motion import CheckedRobot, check_motion
from inertial_id_ros.apps.excitation.next_motion.planned_motion import (
    MotionLimits,
    PlannedMotion,
    RestToRest,
    shortest_moves,
)
from inertial_id_ros.apps.simulation.description import SENSOR_FRAME, load_description
from inertial_id_ros.apps.simulation.motion import START_POSE
from inertial_id_ros.ros.motion_execution import MotionExecution, State
from inertial_id_ros.ros.program import stop_flag

ACTION = "joint_trajectory_controller/follow_joint_trajectory"
CONTACT, INTERRUPT, FAULT, FROZEN, LOST = (
    "contact", "Ctrl-C", "fault of the identification", "joint states that stop", "client killed")
KINDS = (CONTACT, INTERRUPT, FAULT, FROZEN, LOST)
LIMITS = MotionLimits()
RESTING = 0.01  # rad/s
PATIENCE = 30.0  # s
_TURN = 1.0  # rad, of the wrist about the start pose


class Outcome(NamedTuple):
    """What came of an interruption: its kind, the end of the execution, seconds until it was
    noticed and to rest, seconds that the trajectory had left, and whether the motion after it was
    made."""

    kind: str
    state: str
    noticed: float
    to_rest: float
    left: float
    next_made: bool


class Campaign:
    """A cobot in a process, and a node that moves it."""

    def __init__(self, seed: int, silence: float | None) -> None:
        self._cobot = subprocess.Popen(
            [sys.executable, "-m", "inertial_id_ros.ros.tools.simulate_cobot", "--motion",
             "commanded", "--payload", "drill", "--velocity-noise", "0", "--encoder-noise", "0",
             "--rate", "200"])
        rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
        self._stop = stop_flag()
        self._node = rclpy.create_node("interruptions")
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self._node)
        self._states: list[tuple[float, np.ndarray, float]] = []  # stamp, positions, speed
        self._stopped, self._fault = False, ""
        self._node.create_subscription(JointState, "joint_states", self._take, 100)
        self._node.create_subscription(Bool, "/simulate_cobot/protective_stop", self._take_stop, 1)
        self._push = self._node.create_publisher(Wrench, "/simulate_cobot/push", 1)
        self._unlock = self._node.create_client(Trigger, "/simulate_cobot/unlock")
        self._silence = silence
        self._rng = np.random.default_rng(seed)
        self._arm = Arm(load_description().urdf, SENSOR_FRAME, CarriedLoad())
        self._robot = CheckedRobot(load_description().urdf, SENSOR_FRAME, CarriedLoad())
        self._spin(lambda: bool(self._states) and self._unlock.service_is_ready())

    def run(self, kind: str) -> Outcome:
        """Interrupt one motion, and make the next."""
        motion = self._motion()
        execution = self._start(motion)
        self._states = self._states[-1:]
        begun = self._states[-1][0]
        moment = self._rng.uniform(0.1, 0.9) * motion.duration
        self._spin(lambda: self._states[-1][0] - begun > moment)
        at, asked = self._states[-1][0], time.monotonic()
        self._interrupt(kind, execution)
        if kind != LOST:
            self._spin(lambda: execution.state is not State.MOVING)
        noticed = time.monotonic() - asked
        if kind != LOST:
            self._spin(execution.finished.is_set)
        self._spin(lambda: self._is_at_rest(at))
        to_rest = max((t for t, _, speed in self._states if speed >= RESTING), default=at) - at
        if kind != LOST:
            execution.close()
        self._clear(kind)
        following = self._start(self._motion())
        self._spin(following.finished.is_set)
        following.close()
        if following.state is not State.DONE:
            print(f"after '{kind}': {following.state.name}, {following.reason}", file=sys.stderr)
        return Outcome(kind, execution.state.name, noticed, max(to_rest, 0.0),
                       begun + motion.duration - at, following.state is State.DONE)

    def close(self) -> None:
        """End the cobot."""
        self._cobot.terminate()
        self._cobot.wait(PATIENCE)
        rclpy.shutdown()

    def _interrupt(self, kind: str, execution: MotionExecution) -> None:
        if kind == CONTACT:
            push = Wrench()
            push.force.y = 90.0
            self._push.publish(push)
        elif kind == INTERRUPT:
            os.kill(os.getpid(), signal.SIGINT)
        elif kind == FAULT:
            self._fault = "contact that nothing explains"
        elif kind == FROZEN:
            execution._take_joint_states = lambda message: None  # type: ignore[method-assign]
            self._node.destroy_subscription(execution._joints)
            execution._joints = self._node.create_subscription(JointState, "nothing", print, 1)
        else:  # nothing of the client is left that could cancel
            execution.close()

    def _clear(self, kind: str) -> None:
        """Put an end to what was wrong."""
        self._fault = ""
        self._stop.clear()
        if kind == CONTACT:
            self._push.publish(Wrench())
            self._spin(lambda: self._stopped)
            end = self._states[-1][0] + 0.3  # the arm has noticed that nothing pushes
            self._spin(lambda: self._states[-1][0] > end)
            answer = self._unlock.call_async(Trigger.Request())
            self._spin(answer.done)
            self._spin(lambda: not self._stopped)

    def _start(self, motion: PlannedMotion) -> MotionExecution:
        execution = MotionExecution(
            self._node, motion, ACTION, "joint_states", True,
            lambda m, start: check_motion(self._robot, m, start, LIMITS),
            lambda: "interrupted" if self._stop.is_set() else self._fault, self._silence)
        self._spin(lambda: not execution.find_problem())
        execution.ask()
        execution.confirm()
        self._spin(lambda: execution.state is State.MOVING or execution.finished.is_set())
        return execution

    def _motion(self) -> PlannedMotion:
        """A random turn of the wrist from where it is."""
        begin = self._states[-1][1]
        end = START_POSE.copy()
        end[3:] += _TURN * self._rng.uniform(-1.0, 1.0, 3)
        path = RestToRest(np.stack([begin, end]),
                          shortest_moves(self._arm, LIMITS, begin[None], end[None]))
        t = np.linspace(0.0, path.duration, max(10, int(path.duration / 0.02)))
        q, dq, ddq = path(t)
        dq[[0, -1]] = ddq[[0, -1]] = 0.0
        return PlannedMotion(load_description().joint_names, t, q, dq, ddq)

    def _is_at_rest(self, since: float) -> bool:
        recent = [speed for t, _, speed in self._states[-20:] if t > since]
        return len(recent) == 20 and max(recent) < RESTING

    def _take(self, message: JointState) -> None:
        stamp = message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec
        self._states.append((stamp, np.array(message.position),
                             float(np.abs(message.velocity).max())))

    def _take_stop(self, message: Bool) -> None:
        self._stopped = message.data

    def _spin(self, condition) -> None:  # noqa: ANN001
        end = time.monotonic() + PATIENCE
        while not condition():
            if time.monotonic() > end:
                raise TimeoutError("what was waited for did not come")
            self._executor.spin_once(timeout_sec=0.02)


def main() -> int:
    """Interrupt, and print a row for each kind."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--silence", type=float, help="longest time without joint states [s]; more "
                        "on a busy machine (default: as their rate allows)")
    options = parser.parse_args()
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    campaign = Campaign(options.seed, options.silence)
    try:
        outcomes = [campaign.run(KINDS[k % len(KINDS)]) for k in range(options.runs)]
    finally:
        campaign.close()
    print("| interrupted by | motions | ended as | noticed, median (worst), s | to rest, median "
          "(worst), s | at rest within 0.3 s | later than the trajectory's own end, s | next "
          "motion made |")
    print("|---|---|---|---|---|---|---|---|")
    for kind in KINDS:
        own = [o for o in outcomes if o.kind == kind]
        times = np.array([o.to_rest for o in own])
        noticed = np.array([o.noticed for o in own])
        late = max(o.to_rest - o.left for o in own)
        states = ", ".join(sorted({o.state for o in own}))
        print(f"| {kind} | {len(own)} | {states} | "
              f"{np.median(noticed):.2f} ({noticed.max():.2f}) | "
              f"{np.median(times):.2f} ({times.max():.2f}) | {(times <= 0.3).sum()} | "
              f"{late:.2f} | {sum(o.next_made for o in own)} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
