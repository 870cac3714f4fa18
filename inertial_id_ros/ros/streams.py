# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The thread of the streams: messages in, as they are serialised, and the compensated wrench out.
It never waits. An executor of many threads loses messages at these rates; so it has an executor,
to which rclpy adds whole nodes, and a node of its own."""

import sys
import threading
import time
from collections import deque
from collections.abc import Callable

from rclpy.clock import Clock, ClockType
from rclpy.experimental import EventsExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile, ReliabilityPolicy

from ..errors import InvalidSetting
from ..io.inputs import JOINT_STATES, WRENCH, InputTopic, input_topics
from ..settings import Settings
from .compensation import CompensatedWrench
from .conversions import latched
from .program import message_type, spin

HAND_OVER = 0.05  # s
# s between threads that run Python code: a wrench must not wait for an estimate.
SWITCH = 0.001
DEPTH = 2000  # messages of a topic that may wait for the executor
MOST = 50_000  # messages of a topic that may wait for the worker; the oldest one goes
Message = tuple[float, bytes]  # steady time of its arrival [s], and as it is serialised


class Subscriptions:
    """Subscriptions of a node, and the serialised messages between their thread and the worker
    (raises InvalidSetting: a topic name that is none, or a type that is not installed).

    Args:
        owner: node by whose names, remappings and namespace topics are named; sim_time: True if
            /clock counts; age: as `CompensatedWrench` takes it.

    Attributes:
        counts, damaged: messages of each topic so far, and those that cannot be used.
        load_topic: wrench, or joint states where there is none.
    """

    def __init__(self, owner: Node, settings: Settings, sim_time: bool,
                 age: Callable[[int], float]) -> None:
        self._owner = owner
        topics = input_topics(settings)
        self._waiting = {topic: deque[Message](maxlen=MOST) for topic in topics}
        self.counts, self.damaged = dict.fromkeys(topics, 0), dict.fromkeys(topics, 0)
        self.load_topic = WRENCH if WRENCH in topics else JOINT_STATES
        self.node = Node(
            f"_{owner.get_name()}_io", context=owner.context, namespace=owner.get_namespace(),
            enable_rosout=False, start_parameter_services=False, use_global_arguments=False,
            parameter_overrides=[Parameter("use_sim_time", value=sim_time)])
        self._executor = EventsExecutor()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=spin, args=(self._executor, self._stop),
                                        name="io", daemon=True)
        self.compensation = CompensatedWrench(self.node, owner.resolve_topic_name, settings, age)
        for topic in topics:
            self._subscribe(topic, topic.name(settings))

    def _subscribe(self, topic: InputTopic, name: str) -> None:
        def receive(data: bytes) -> None:
            if self.compensation.is_used:
                self.compensation.receive(topic, data)
            waiting.append((time.monotonic(), data))
            self.counts[topic] += 1

        waiting = self._waiting[topic]
        try:
            full = str(self._owner.resolve_topic_name(name))
        except Exception as error:  # of the library below rclpy
            raise InvalidSetting(f"{topic.setting} is '{name}'; it must be a topic name: "
                                 f"{' '.join(str(error).split())}") from error
        self.node.create_subscription(message_type(topic.type, topic.setting), full, receive,
                                      subscription_qos(topic), raw=True)

    def start(self, hand_over: Callable[[], None]) -> None:
        """Begin; `hand_over` is called again and again in the thread, and must not wait."""
        def serve() -> None:
            self.compensation.publish_state()
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
            self.compensation.publish_state(reason)
        self._executor.shutdown()
        self.node.destroy_node()

    def take(self, seconds: float) -> dict[InputTopic, list[Message]]:
        """The messages of each topic that wait for the worker, once: those that arrived first, of
        so long a time [s]."""
        end = seconds + min((some[0][0] for some in self._waiting.values() if some), default=0.0)
        return {topic: [some.popleft() for _ in range(len(some)) if some[0][0] < end]
                for topic, some in self._waiting.items()}


def subscription_qos(topic: InputTopic) -> QoSProfile:
    """Best effort matches reliable and best-effort publishers; what is latched is reliable."""
    return latched(DEPTH) if topic.latched else QoSProfile(
        depth=DEPTH, reliability=ReliabilityPolicy.BEST_EFFORT)
