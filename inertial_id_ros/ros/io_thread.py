# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The thread of the streams: messages in, as they are serialised, and the compensated wrench out.
It never waits. An executor of many threads loses messages at these rates; so it has an executor,
to which rclpy adds whole nodes, and a node of its own."""

import math
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
from geometry_msgs.msg import Inertia, WrenchStamped
from rclpy.clock import Clock, ClockType
from rclpy.experimental import EventsExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile, ReliabilityPolicy
from std_msgs.msg import Header

from inertial_id_ros.msg import CompensationState

from ..compensation.live import BLEND, Compensation, LoadInUse, Mode
from ..errors import InvalidSetting
from ..identify.identifier import Identifier
from ..inertia import body_from_phi
from ..io import decoding
from ..io.inputs import JOINT_STATES, WRENCH, InputTopic, JointStates, Wrenches, input_topics
from ..motion.causal import MotionNow
from ..settings import Settings
from .conversions import LATCHED, NOBODY, inertia_message, latched, time_message
from .program import message_type, spin

HAND_OVER = 0.05  # s
# s between threads that run Python code: a wrench must not wait for an estimate.
SWITCH = 0.001
DEPTH = 2000  # messages of a topic that may wait for the executor
MOST = 50_000  # messages of a topic that may wait for the worker; the oldest one goes
OUT = 100  # compensated wrenches for a subscriber that is late
PERIOD = 1.0  # s between two messages about the compensation when nothing changes
HUNG = 2.0  # s without a worker that takes messages, in which the payload may have been released
REASONS = {
    "payload_unknown": "the payload is not known yet: move freely",
    "motion_unknown": "no motion of the sensor is known for this wrench",
    "stamps_repeated": "the stamps of the wrench stand still or go back",
    "wrench_stuck": "the wrench stands still to the last bit",
    "wrench_invalid": "the wrench is saturated, or no number",
    "frame_wrong": "the wrench is given in another frame than before",
    "load_unexplained": "nothing explains the wrench",
}
Message = tuple[float, bytes]  # steady time of its arrival [s], and as it is serialised


class IoThread:
    """The thread, which begins with `start`, and what others call: the worker `take`, `update` and
    `withhold` (raises InvalidSetting: a topic name that is none, or a type that is not installed).

    Args:
        owner: node by whose names, remappings and namespace topics are named; sim_time: True if
            /clock counts; age: time since the sample of a stamp [ns] came [s].

    Attributes:
        counts, damaged: messages of each topic so far, and those that cannot be used.
        load_topic: wrench, or joint states where there is none.
    """

    def __init__(self, owner: Node, settings: Settings, sim_time: bool,
                 age: Callable[[int], float]) -> None:
        self._owner, self._settings, self._age = owner, settings.compensation, age
        topics = input_topics(settings)
        self._waiting = {topic: deque[Message](maxlen=MOST) for topic in topics}
        self.counts, self.damaged = dict.fromkeys(topics, 0), dict.fromkeys(topics, 0)
        self.load_topic = WRENCH if WRENCH in topics else JOINT_STATES
        # Before there is a node, which would stay where one of them is wrong.
        subscriptions = [self._subscription(topic, topic.name(settings)) for topic in topics]
        self.node = Node(
            f"_{owner.get_name()}_io", context=owner.context, namespace=owner.get_namespace(),
            enable_rosout=False, start_parameter_services=False, use_global_arguments=False,
            parameter_overrides=[Parameter("use_sim_time", value=sim_time)])
        self._executor = EventsExecutor()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=spin, args=(self._executor, self._stop),
                                        name="io", daemon=True)
        self._live = Compensation(settings)
        self._since = self._taken = time.monotonic()  # a load of this mode; messages by the worker
        self._of_identifier, self._is_withheld = LoadInUse(), False
        self._moved_by: object = None  # what the motion that is used comes from
        self._header = Header()  # of the newest compensated wrench
        self._said: tuple[object, ...] = ()
        self._due, self._is_heard = 0.0, False  # True while anybody subscribes to them
        self._wrenches, self._states = (
            self.node.create_publisher(kind, owner.resolve_topic_name(f"~/{name}"), qos)
            for kind, name, qos in ((WrenchStamped, "wrench_compensated", OUT),
                                    (CompensationState, "compensation_state", LATCHED)))
        for subscription in subscriptions:
            self.node.create_subscription(*subscription, raw=True)

    def _subscription(self, topic: InputTopic, name: str) -> tuple[Any, ...]:
        def receive(data: bytes) -> None:
            if self._is_heard and time.monotonic() < self._taken + HUNG:
                self._compensate(topic, data)
            waiting.append((time.monotonic(), data))
            self.counts[topic] += 1

        waiting = self._waiting[topic]
        try:
            full = str(self._owner.resolve_topic_name(name))
        except Exception as error:  # of the library below rclpy
            raise InvalidSetting(f"{topic.setting} is '{name}'; it must be a topic name: "
                                 f"{' '.join(str(error).split())}") from error
        return message_type(topic.type, topic.setting), full, receive, subscription_qos(topic)

    def start(self, hand_over: Callable[[], None]) -> None:
        """Begin; `hand_over` is called again and again in the thread, and must not wait."""
        def serve() -> None:
            self._publish_state()
            hand_over()

        sys.setswitchinterval(SWITCH)
        self.node.create_timer(HAND_OVER, serve, clock=Clock(clock_type=ClockType.STEADY_TIME))
        self._executor.add_node(self.node)
        self._thread.start()

    def close(self, reason: str) -> None:
        """End the thread, and say why the compensated wrench ends."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()
        if self.node.context.ok():
            self._publish_state(reason)
        self._executor.shutdown()
        self.node.destroy_node()

    def take(self, seconds: float) -> dict[InputTopic, list[Message]]:
        """The messages of each topic that wait for the worker, once: those that arrived first, of
        so long a time [s]."""
        self._taken = time.monotonic()
        end = seconds + min((some[0][0] for some in self._waiting.values() if some), default=0.0)
        return {topic: [some.popleft() for _ in range(len(some)) if some[0][0] < end]
                for topic, some in self._waiting.items()}

    def update(self, identifier: Identifier, frame: str) -> None:
        """Compensate by motion and load of an identifier; frame: of the readings; empty: of the
        sensor."""
        known = identifier.streams
        if known.moved_by is not self._moved_by and known.moved_by is not None:
            self._moved_by = known.moved_by
            self._live.motion = MotionNow(known.moved_by)
        self._live.terms = identifier.settings.compensation.terms
        load = identifier.course.latch.load
        if load is not self._of_identifier:
            self._of_identifier = load
            load = load.seen_in(frame, known)
            if not self._is_withheld:
                if load.mode is not self._live.load.mode:  # it is made anew again and again
                    self._since = time.monotonic()
                self._live.load = load

    def withhold(self, reason: str) -> None:
        """Publish no compensated wrench for this reason, whatever load is given; empty: publish
        with the next load."""
        self._is_withheld = bool(reason)
        if reason:
            self._live.load = LoadInUse(reason=reason)

    def _compensate(self, topic: InputTopic, data: bytes) -> None:
        """Publish what follows from a serialised message; the worker reports damaged ones."""
        try:
            samples = decoding.read(topic, data)
        except (KeyError, ValueError):  # it holds no samples, or is damaged
            return
        for kind, stamp, labels, row in samples:
            if kind is Wrenches:
                if (out := self._live.compensate(stamp, labels[0], row)) is None:
                    continue
                message = WrenchStamped()  # parts that are made first would take twice as long
                self._header = message.header
                self._header.stamp, self._header.frame_id = time_message(stamp), labels[0]
                f, t = message.wrench.force, message.wrench.torque
                f.x, f.y, f.z, t.x, t.y, t.z = out
                self._wrenches.publish(message)
            elif (motion := self._live.motion) is None:
                continue
            elif kind is JointStates:
                motion.update(stamp, labels[0], row)
            else:
                motion.update_pose(stamp, labels[1].lstrip("/"), np.array(row))

    def _publish_state(self, end: str = "") -> None:
        """Publish what is removed: when it changes and once a second; end: why it is the last."""
        load, now = self._live.load, time.monotonic()
        self._is_heard = self._wrenches.get_subscription_count() > 0
        hangs = f"the estimate takes more than {HUNG:g} s" if now > self._taken + HUNG else ""
        reason = end or load.reason or hangs or (self._live.silence if self._is_heard else "")
        mode = Mode.SILENT if reason else load.mode
        age = self._age(load.stamp)
        is_old = age > self._settings.max_age
        blend = 1.0 - math.exp((self._since - now) / BLEND) if mode else 0.0
        said = (mode, reason, load.stamp, is_old, blend > 0.99)
        if said == self._said and now < self._due:
            return
        self._said, self._due = said, now + PERIOD
        inertia = Inertia()  # of no mass
        if not mode or load.phi[0] > 0.0:
            inertia = inertia_message(body_from_phi(load.phi) if mode else NOBODY)
        self._states.publish(CompensationState(
            header=self._header, mode=int(mode), estimate_stamp=time_message(load.stamp), age=age,
            old=is_old, blend=blend, inertia=inertia, reason=REASONS.get(reason, reason) or (
                f"the payload is {'' if mode is Mode.KNOWN else 'roughly '}known")))


def subscription_qos(topic: InputTopic) -> QoSProfile:
    """Best effort matches reliable and best-effort publishers; what is latched is reliable."""
    return latched(DEPTH) if topic.latched else QoSProfile(
        depth=DEPTH, reliability=ReliabilityPolicy.BEST_EFFORT)
