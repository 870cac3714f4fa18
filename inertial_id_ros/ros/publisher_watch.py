# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Whether several publishers talk at once on the topic of the wrench, or of the same joints.

A publisher numbers its messages. Those of one never go back; those of two do so with each message
of the slower one. Where the middleware does not tell the numbers, the number of publishers decides
alone. A driver that was killed stays among the publishers for a while, but says nothing, and what
two players say after each other is no conflict either. Nor are joint states of an arm and of its
gripper from two drivers: numbers are compared among the messages that name the same joint.

`PayloadWatch` looks for a driver that states a configured payload which nobody has asked to add.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Collection, Iterable
from typing import Any

import rclpy
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy

from ..findings import FindingLog
from ..io import cdr
from ..io.messages import DynamicJointStates
from ..settings import Settings
from ..signals.message_adapter import InputTopic
from ..signals.precompensation import (
    NOT_ADDED,
    STATED_BY,
    describe_not_added,
    may_be_not_added,
    stated_mass,
)
from .compat import message_type

_LASTS = 3.0  # s after the last sign of two publishers: one may send but once a second
_SIGNS = 2  # within that time; one is a publisher that was started again
_UNKNOWN = 2**64 - 1  # number of a message where the middleware has none
_NAMED = 5  # publishers at most
_NAMELESS = "_UNKNOWN_"  # in the name of a node that was not discovered yet
NAMELESS = "a node whose name is not known yet"  # and what it is called here
_DEPTH = 100  # messages; what is lost shows no sign
_LONGEST = 16_384  # bytes of a message whose names are read: those of a humanoid need a third
Contents = Callable[[bytes], Iterable[str]]  # what a message tells of, which one may send alone


def everything(_: bytes) -> Iterable[str]:
    """Each message tells of one thing, whatever it holds."""
    return ("",)


def joints_among(used: Callable[[], Collection[str]]) -> Contents:
    """The joints that a JointState tells of, of those that are used when it is taken."""
    decode = cdr.Decoder(cdr.joint_state.learn)  # that of the worker is its own

    def contents(data: bytes) -> Iterable[str]:
        joints = used()
        if not joints or len(data) > _LONGEST:
            return ()
        try:
            return set(joints).intersection(decode(data).names)
        except ValueError:  # it is damaged, which the worker says
            return ()

    return contents


class PublisherWatch:
    """Watches the publishers of a subscription; listens to them only while there are several.

    Args:
        what: the topic carries, in words.
        contents: of a message.
        report: called with what is wrong, in a sentence, and with an empty text when it is over.
    """

    def __init__(self, node: Node, subscription: Any, what: str, contents: Contents,
                 report: Callable[[str], None]) -> None:
        self._node, self._subscription = node, subscription
        self._what, self._contents = what, contents
        self._report, self._text = report, ""
        self._probe: _Probe | None = None
        self._alone = False  # whether there was one publisher at most at the last look

    def look(self) -> None:
        """Look at the publishers, and report a conflict that begins or ends; cheap.

        It ends at the second look without another publisher, since what that sent last may still
        wait to be taken at the first.
        """
        count = self._subscription.get_publisher_count()
        was_alone, self._alone = self._alone, count < 2
        if count > 1 and self._probe is None:
            self._probe = _Probe(self._node, self._subscription, self._contents)
        elif self._alone and was_alone:
            self.close()
        text = ""
        if self._probe is not None and self._probe.hears_several():
            unnamed = not self._text or NAMELESS in self._text
            text = self._describe(count) if unnamed and count > 1 else self._text
        if text != self._text:
            self._text = text
            self._report(text)

    def close(self) -> None:
        """Stop listening to the publishers."""
        if self._probe is not None:
            self._probe.close()
            self._probe = None

    def _describe(self, count: int) -> str:
        """Which nodes publish, in a sentence."""
        topic = self._subscription.topic_name
        nodes = publishing_nodes(self._node, topic)
        more = " and others" if len(nodes) > _NAMED else ""
        return (f"{count} publishers send the {self._what} on '{topic}' at once: "
                f"{', '.join(nodes[:_NAMED])}{more}; there is no estimate until only one does")


def publishing_nodes(node: Node, topic: str) -> list[str]:
    """The full names of the nodes that publish a topic, in order, each once."""
    names = {f"{info.node_namespace.rstrip('/')}/{info.node_name}"
             for info in node.get_publishers_info_by_topic(topic)}
    return sorted({NAMELESS if _NAMELESS in name else name for name in names})


class _Probe:
    """A second subscription, of which only the numbers of the messages matter, and what they tell
    of.

    It belongs to a node that no executor spins: some executors cannot hand over the numbers.
    """

    def __init__(self, node: Node, subscription: Any, contents: Contents) -> None:
        self._node = rclpy.create_node(
            f"{node.get_name()}_publisher_probe", namespace=node.get_namespace(),
            context=node.context, enable_rosout=False, start_parameter_services=False,
            use_global_arguments=False)
        self._subscription = self._node.create_subscription(
            subscription.msg_type, subscription.topic_name, _ignore,
            QoSProfile(depth=_DEPTH, history=HistoryPolicy.KEEP_LAST,
                       reliability=ReliabilityPolicy.BEST_EFFORT), raw=True)
        self._contents = contents
        self._newest: dict[str, int] = {}  # number of the last message, by what it tells of
        self._signs: deque[float] = deque(maxlen=_SIGNS)  # times [s] at which numbers went back

    def hears_several(self) -> bool:
        """Whether several publishers talk, by the messages since the last call."""
        now = time.monotonic()
        handle = self._subscription.handle
        with handle:
            for _ in range(_DEPTH):
                taken = handle.take_message(self._subscription.msg_type, True)
                if taken is None:
                    break
                if self._is_sign(*taken):
                    self._signs.append(now)
        return len(self._signs) == _SIGNS and now - self._signs[0] < _LASTS

    def _is_sign(self, data: bytes, info: dict[str, Any]) -> bool:
        """Whether another publisher has told of the same before, with a later number."""
        number = info.get("publication_sequence_number") or _UNKNOWN
        told = {content: self._newest.get(content) for content in self._contents(data)}
        self._newest.update(dict.fromkeys(told, number))
        return any(before is not None and (number <= before or number == _UNKNOWN)
                   for before in told.values())

    def close(self) -> None:
        """Stop listening."""
        self._node.destroy_node()


def _ignore(_: Any) -> None:
    """Take no message: nobody spins the node."""


_ENOUGH = 20  # messages without a payload, after which a topic is left alone


class PayloadWatch:
    """Listens to a topic that may state a payload until it has; costs nothing afterwards.

    Args:
        findings: gets the finding.
    """

    def __init__(self, node: Node, findings: FindingLog) -> None:
        self._node, self._findings = node, findings
        self._done: set[str] = set()  # topics
        self._subscription: Any = None
        self._seen = 0
        self._stated: tuple[str, str, float] | None = None  # topic, source, mass [kg]

    def check(self, settings: Settings) -> None:
        """Look for such a topic, or at what it has said; called now and then in the executor."""
        if self._stated is not None and may_be_not_added(settings):
            self._findings.set(NOT_ADDED, "warning", describe_not_added(*self._stated))
        else:
            self._findings.clear(NOT_ADDED)
        if self._subscription is not None and (self._stated is not None or self._seen >= _ENOUGH):
            self.stop()
        if self._subscription is None and self._stated is None and may_be_not_added(settings):
            self._listen(settings)

    def stop(self) -> None:
        """Listen no more."""
        if self._subscription is not None:
            self._node.destroy_subscription(self._subscription)
            self._subscription = None

    def _listen(self, settings: Settings) -> None:
        """Subscribe to the next topic of a type that may state a payload."""
        for name, types in self._node.get_topic_names_and_types():
            for kind, source in STATED_BY.items():
                if kind.type in types and name not in self._done:
                    self._done.add(name)
                    self._subscribe(name, kind, source, settings)
                    return

    def _subscribe(self, name: str, kind: InputTopic, source: str, settings: Settings) -> None:
        """Listen to a topic, if its type is installed."""
        states = DynamicJointStates(settings.dynamic_joint_states)
        self._seen = 0

        def take(message: Any) -> None:
            self._seen += 1
            mass = stated_mass(kind, message, states)
            if mass > 0.0:
                self._stated = name, source, mass

        try:
            message_class = message_type(kind.type)
        except (ImportError, AttributeError, ValueError):
            return
        self._subscription = self._node.create_subscription(
            message_class, name, take, subscription_qos(kind))


def subscription_qos(topic: InputTopic) -> QoSProfile:
    """Best effort matches reliable and best-effort publishers; what is latched is reliable."""
    if topic.latched:
        return QoSProfile(depth=topic.depth, history=HistoryPolicy.KEEP_LAST,
                          reliability=ReliabilityPolicy.RELIABLE,
                          durability=DurabilityPolicy.TRANSIENT_LOCAL)
    return QoSProfile(depth=topic.depth, history=HistoryPolicy.KEEP_LAST,
                      reliability=ReliabilityPolicy.BEST_EFFORT)
