# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The robot of a session: what its sensor, its joints and its driver say, and how its arm is moved,
and stopped where the node or the driver finds a fault."""

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from rclpy.qos import qos_profile_best_available

from ...apps.excitation.arm import Arm
from ...apps.excitation.information import Knowledge
from ...apps.excitation.motions import MotionLimits, MotionPlanner, Trajectory, violations
from ...apps.guide.checks import Driver, Snapshot
from ...apps.guide.recorder import Recorder
from ...io.decoding import StateReader
from ...io.inputs import JOINT_STATES, PAYLOADS, WRENCH, InputTopic
from ..io_thread import subscription_qos
from ..motion_execution import ENDING, SILENCE, Ended, MotionExecution, find_controllers
from ..planning_scene import SCENE, SceneWatch
from ..program import find_type, message_type
from .node_link import NodeLink

# s, N: in which the weight of a swung payload of 8 kg changes by 5 N, noise by 1 N
JUMP_TIME, JUMP = 0.15, 8.0
BY_HAND, STILL = 0.15, 0.01  # rad that a joint moves at least by hand; within which an arm rests
# ur_dashboard_msgs/SafetyMode; franka_msgs/FrankaRobotState.robot_mode.
SAFETY = {2: "", 1: "", 3: "protective stop", 4: "recovery mode", 5: "safeguard stop",
          6: "emergency stop of the system", 7: "emergency stop of the robot", 8: "violation",
          9: "fault", 11: "stop by the safety interface"}
FRANKA = {4: "reflex: the robot has stopped itself", 5: "user stop", 6: "error recovery",
          0: "unknown mode"}


def _payload(message: Any, states: StateReader, wanted: str) -> dict[str, Any]:
    """The mass that a driver states under a name; the usual one counts with any prefix."""
    return dict(("payload", value) for (name, kind), value in states.interfaces(message).items()
                if name.endswith(wanted or "payload") and kind == "mass")


# Topics on which drivers say something of the robot: type of their messages, ending of their names,
# and the part of `Driver` that a message says (None: nothing) where a payload has this name.
Source = tuple[str, str, Callable[[Any, StateReader, str], dict[str, Any] | None]]
SOURCES: tuple[Source, ...] = (
    ("std_msgs/msg/Bool", "/robot_program_running",
     lambda m, *_: {"stopped": "" if m.data else "the program on the robot does not run"}),
    ("ur_dashboard_msgs/msg/SafetyMode", "/safety_mode",
     lambda m, *_: {"stopped": SAFETY.get(m.mode, f"safety mode {m.mode}")}),
    ("franka_msgs/msg/FrankaRobotState", "",
     lambda m, *_: {"stopped": FRANKA.get(m.robot_mode, ""),
                    "payload": float(m.inertia_load.inertia.m)}),
    ("std_msgs/msg/Float64", "/speed_scaling", lambda m, *_: {"speed": m.data / 100.0}),
    *((topic.type, "", _payload) for source in ("dynamic_joint_states", "state_interfaces")
      for topic in PAYLOADS[source]))


class Robot:
    """Subscriptions to all inputs of a node and to what drivers say, and motions around the pose
    that the arm has first."""

    planner: MotionPlanner  # after `prepare`
    is_small = False  # True for motions that go on where the node doubts frames and sign

    def __init__(self, link: NodeLink, options: argparse.Namespace) -> None:
        self._link, self._options = link, options
        self.recorder, self.scene = Recorder(link.settings), SceneWatch(link.client)
        self._said: dict[str, dict[str, Any]] = {}  # by the driver, by topic
        self._states, self._controller = dict[str, StateReader](), ""
        now = link.node.get_clock().now
        for topic, messages in self.recorder.messages.items():
            link.node.create_subscription(
                message_type(topic.type, topic.setting), self._full_name(topic),
                lambda data, messages=messages: messages.append((now().nanoseconds, bytes(data))),
                subscription_qos(topic), raw=True)

    def _full_name(self, topic: InputTopic) -> str:
        """The full name of a topic of the node that identifies."""
        return str(self._link.node.resolve_topic_name(topic.name(self._link.settings)))

    def discover(self) -> None:
        """Subscribe to drivers of the own namespace, and to planning scenes, of installed types."""
        load = self._link.settings.precompensated.name
        scenes: Source = SCENE, "", lambda scene, *_: self.scene.take(scene)
        for name, type_name in self._link.client.topics().items():
            states = self._states.setdefault(name.rpartition("/")[0], StateReader())
            is_own = name.startswith(f"{self._link.name.rpartition('/')[0]}/")
            for wanted, ending, read in (*(SOURCES if is_own else ()), scenes):
                if (type_name == wanted and name.endswith(ending) and name not in self._said
                        and (kind := find_type(type_name)) is not None):
                    said = self._said[name] = {}
                    self._link.node.create_subscription(
                        kind, name, lambda message, said=said, read=read, states=states:
                        said.update(read(message, states, load) or {}), qos_profile_best_available)

    @property
    def driver(self) -> Driver:
        """What the driver says of itself: the first stop of several sources."""
        out: dict[str, Any] = {}
        for said in list(self._said.values()):
            out.update({name: out.get(name) or value for name, value in list(said.items())})
        return Driver(**out)

    def snapshot(self, seconds: float) -> Snapshot:
        """What was received of the set-up in so long a time."""
        client, options = self._link.client, self._options
        topics = {"wrench": self._full_name(WRENCH), "joints": self._full_name(JOINT_STATES)}
        return Snapshot(
            seconds=seconds, topics=topics, driver=self.driver, **self.recorder.facts(),
            controllers=find_controllers(self._link.node, client, options.controller) if (
                options.motion) else {},
            wrench_topics=tuple(name for name, kind in client.topics().items() if (
                kind == WRENCH.type and not name.endswith("/wrench_compensated"))))

    def prepare(self, seen: Snapshot) -> str:
        """Make the planner of motions around the pose of now (raises InertialIdError: none can be
        made); what they keep clear of, in words; empty: there is no planning scene."""
        options, self._controller, heard = self._options, seen.fitting[0], self.recorder.read()
        surroundings = self.scene.read(heard.place_in_root)
        arm = Arm(heard.streams.urdf, seen.frame, options.payload_box,
                  obstacles=[*options.keep_out, *self.scene.obstacles])
        limits = MotionLimits(link_speed=options.link_speed)
        self.planner = MotionPlanner(arm, limits, arm.positions(self.recorder.pose()),
                                     Knowledge.usual(self._link.settings))
        return surroundings

    @property
    def pose(self) -> np.ndarray:
        """Where all joints are (raises InvalidData: it is not known of one)."""
        return self.planner.arm.positions(self.recorder.pose())

    def move(self, motion: Trajectory) -> Ended:
        """Make a motion to its end."""
        planner = self.planner
        if self._link.execution:
            self._link.execution.close()
        self._link.execution = MotionExecution(
            self._link.node, motion, f"{self._controller}{ENDING}", self._full_name(JOINT_STATES),
            lambda: violations(planner.arm, motion, self.pose, planner.limits), self.find_fault,
            self._options.silence or SILENCE,
            lambda: 1.0 if (speed := self.driver.speed) is None else speed)
        return self._link.execution.run()

    def has_been_moved(self, seconds: float) -> bool:
        """Wait until a person has moved the arm and it rests again, at most so long; True if so."""
        begin = before = self.recorder.pose()
        is_away, end = False, time.monotonic() + seconds
        while time.monotonic() < end:
            self._link.wait(0.5)
            now = self.recorder.pose()
            is_away = is_away or _farthest(begin, now) > BY_HAND
            if is_away and _farthest(before, now) < STILL:
                return True
            before = now
        return False

    def find_fault(self) -> str:
        """What must stop the arm, in one sentence; empty where nothing must."""
        if self._link.stop.is_set():
            return "interrupted"
        if stopped := self.driver.stopped:
            return stopped
        if self.scene.has_changed:
            return "the planning scene has changed since it was read"
        if not self.is_small:
            return self._link.doubt()
        # A weight whose frames or sign are wrong looks like a contact: only a jump of the force is.
        first, _, last = np.array_split(self.recorder.wrench(JUMP_TIME)[:, :3], 3)
        jump = float(np.linalg.norm(last.mean(axis=0) - first.mean(axis=0))) if len(last) else 0.0
        return f"contact: the force has jumped by {jump:.0f} N" if jump > JUMP else ""


def _farthest(a: dict[str, float], b: dict[str, float]) -> float:
    """Largest difference between two poses [rad or m]."""
    return max((abs(a[name] - b[name]) for name in a if name in b), default=0.0)
