# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The node's subscriptions: what arrives is only appended.

Messages are taken as they are serialised. Those that come at high rates stay so, since making
objects of them costs more than all the rest, and the worker decodes them faster. Nor does the
executor serve these streams one by one, which costs several times what is done with a message: they
wait until a timer, or a job of the worker, takes them together. Only while the compensated wrench
is used the executor serves them, at once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from operator import itemgetter
from time import monotonic, time_ns
from typing import Any

from rclpy.exceptions import InvalidTopicNameException
from rclpy.serialization import deserialize_message

from ..errors import InvalidModel, InvalidSetting
from ..identification.make_identifier import AnyIdentifier
from ..io.files import user_path
from ..kinematics.robot_description import read_description
from ..settings import Settings
from ..signals.message_adapter import JOINT_STATES, WRENCH, InputTopic, MessageAdapter, input_topics
from .compat import message_type, waiting_messages
from .compensation import CompensationTopics, Tee
from .diagnostics import TopicRate, load_topic
from .publisher_watch import PublisherWatch, everything, joints_among, subscription_qos
from .services.black_boxes import BlackBoxes
from .services.lifecycle import ManagedNode

_BETWEEN_HINTS = 2.0  # s
_NAMED = 10  # topics at most


class Inputs:
    """Subscriptions of a node that feed an identifier.

    Args:
        on_description: called with every robot description (its parsing takes time).
        arrive: as `Rounds.arrive`.
        black_boxes: keep every message.
        compensation: is given wrenches and motion before all else.

    Attributes:
        rates: messages by the name of the setting that names their topic.
        joints: that move the sensor, as far as they are known; those of joint states that two
            publishers send are compared.
        hint: which topics there are in place of the one that brings the load, in words; empty
            where that is heard.

    Raises:
        InvalidSetting: a topic name that is none, a type that is not installed, or a robot
            description file that cannot be used.
    """

    def __init__(self, node: ManagedNode, settings: Settings, identifier: AnyIdentifier,
                 on_description: Callable[[str], None], arrive: Callable[[int], int],
                 black_boxes: BlackBoxes, compensation: CompensationTopics) -> None:
        self._node, self._identifier, self._black_boxes = node, identifier, black_boxes
        self._arrive = arrive
        self._taps = compensation.taps
        self._adapter = MessageAdapter(Tee(identifier, compensation.live),  # type: ignore[arg-type]
                                       settings,
                                       on_description)
        self.rates: dict[str, TopicRate] = {}
        self.joints: tuple[str, ...] = ()
        self.hint, self._next_hint = "", monotonic() + _BETWEEN_HINTS
        self._lock = threading.RLock()  # of what appends
        # Subscriptions, messages that may wait there, and what keeps one that arrived [ns].
        self._streams: list[tuple[Any, int, Callable[[int, bytes], None]]] = []
        self._together = False  # whether they are taken so
        self._watches: list[PublisherWatch] = []
        self._conflicts: dict[str, str] = {}  # texts about several publishers, by what they send
        for topic in input_topics(settings):
            self._subscribe(topic, topic.name(settings))
        self._tell_of_publishers()  # none is known yet, whatever was seen before
        if settings.robot_description.file:
            self._use_description_file(settings.robot_description.file)

    def _subscribe(self, topic: InputTopic, name: str) -> None:
        """Subscribe to a topic and count its messages."""
        rate = self.rates[topic.setting.removesuffix(".topic")] = TopicRate()
        tap = self._taps.get(topic)
        message_class = message_type(topic.type, topic.required_by)
        is_stream = topic.kind is not None and not topic.latched
        take: Callable[[bytes], Any] = (
            partial(self._identifier.add_serialized, topic.kind) if topic.kind is not None
            else lambda data: self._adapter.add(topic, deserialize_message(data, message_class)))

        def keep(arrived_ns: int, data: bytes) -> None:
            rate.count += 1
            rate.arrived = monotonic()
            if record is not None:
                record(arrived_ns, data)
            take(data)

        def receive(data: bytes) -> None:
            if tap is not None:
                tap(data)
            with self._lock:
                keep(self._arrive(0) if is_stream else self.take(), data)

        try:
            subscription = self._node.create_subscription(
                message_class, name, receive, subscription_qos(topic), raw=True)
        except (InvalidTopicNameException, ValueError) as error:
            reason = " ".join(str(error).split())
            raise InvalidSetting(f"{topic.setting} is '{name}'; it must be a topic name: "
                                 f"{reason}") from error
        record = self._black_boxes.recorder(topic, name)  # its name is one, as was found out
        if is_stream:
            self._streams.append((subscription, topic.depth, keep))
        if topic in (WRENCH, JOINT_STATES):
            contents = everything if topic is WRENCH else joints_among(lambda: self.joints)
            self._watches.append(PublisherWatch(
                self._node, subscription, topic.content, contents,
                partial(self._use_publishers, topic.content)))

    def take(self) -> int:
        """Take what has arrived by now, in the order of arrival; gives the time [ns]. From any
        thread."""
        with self._lock:
            if self._together:
                waiting = [(received, keep, data) for subscription, depth, keep in self._streams
                           for received, data in waiting_messages(subscription, depth)]
                waiting.sort(key=itemgetter(0))
                now = time_ns()
                for received, keep, data in waiting:
                    keep(self._arrive(now - received if received else 0), data)
            return self._arrive(0)

    def serve(self, at_once: bool) -> None:
        """Have the executor serve the streams, each message at once, or not; in its thread."""
        if self._together == at_once:
            with self._lock:
                self._together = not at_once
            self._node.leave_out(() if at_once else [stream for stream, *_ in self._streams])

    def _use_publishers(self, what: str, text: str) -> None:
        """Hand on that several publishers send the same, as the text says; empty: one does."""
        self._conflicts[what] = text
        self._black_boxes.note_command(text or f"one publisher sends the {what} again")
        self._tell_of_publishers()

    def _tell_of_publishers(self) -> None:
        """Tell the identifier what is wrong with publishers now."""
        text = "; ".join(filter(None, self._conflicts.values()))
        self._identifier.add_publishers(text)

    def close(self) -> None:
        """Take no more messages, and stop watching the publishers."""
        self.serve(at_once=True)
        for watch in self._watches:
            watch.close()

    def look_at_publishers(self) -> None:
        """Look whether several publishers send the same; cheap."""
        for watch in self._watches:
            watch.look()
        if self.rates[load_topic(self.rates)].count:
            self.hint = ""
        elif monotonic() > self._next_hint:
            self._next_hint = monotonic() + _BETWEEN_HINTS
            self.hint = self._other_topics()

    def _other_topics(self) -> str:
        """Which topics of wrenches there are, in words."""
        own = self._node.get_fully_qualified_name()
        names = [name for name, types in self._node.get_topic_names_and_types()
                 if WRENCH.type in types and not name.startswith(f"{own}/")
                 and self._node.count_publishers(name)]
        return (f"; topics of type {WRENCH.type}: {', '.join(names[:_NAMED])}" if names else
                f"; nobody publishes {WRENCH.type}")

    @property
    def load_arrived(self) -> float:
        """Steady time at which the last message that brings the load arrived [s]."""
        return self.rates[load_topic(self.rates)].arrived

    def _use_description_file(self, name: str) -> None:
        try:
            self._identifier.set_robot_description(read_description(user_path(name)))
        except InvalidModel as error:
            raise InvalidSetting(f"robot_description.file is '{name}': {error}") from error
