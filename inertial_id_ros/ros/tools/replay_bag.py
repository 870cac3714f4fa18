# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Command line: publish a recording with its clock, where ``ros2 bag play`` is not at hand.

Messages go out as the bytes that were recorded, in their order and at their times, with the
quality of service that their publishers offered. ``/clock`` follows the recorded time, for nodes
with ``use_sim_time``.
"""

from __future__ import annotations

import argparse
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.time import Time
from rosgraph_msgs.msg import Clock

from ...apps.bag.reader import BagReader, RecordedTopic
from ...apps.bag.topics import absolute_name, describe_topics
from ...arguments import Parser
from ...cli import exit_status, replay_bag
from ...errors import InvalidSetting, RecordingError, printable
from ...extras import optional_packages
from .. import compat
from ..program import ignore_signals, start_ros, stop_flag, without_ros_arguments

with optional_packages("playing a recording"):
    from rosbags.interfaces import Qos, QosDurability, QosReliability

CLOCK_TOPIC = "/clock"
_NAME = "replay_bag"
_CLOCK_RATE = 100.0  # Hz, in wall time and, up to the limit below, also in recorded time
_MAX_CLOCK_RATE = 1000.0
_DEPTH = 100  # messages a publisher keeps for slow subscribers
_MAX_LATCHED = 1000  # messages of a latched topic kept for late subscribers
_SETTLE = 0.2  # s from the first subscriber to the others of the same node
_POLL = 0.02  # s
_SLOW = 0.5  # s behind schedule that deserve a warning


def make_parser() -> argparse.ArgumentParser:
    """The command line of `replay_bag`."""
    parser = Parser(prog=_NAME, description="Publish a recording on its topics, with its clock.",
                    epilog="Exit status: 0 the end, or a signal, was reached; 2 the request cannot "
                    "be carried out.")
    add = parser.add_argument
    add("recording", metavar="BAG", type=Path, help="rosbag2 folder, .mcap or .db3 file")
    add("--rate", metavar="R", type=float, default=1.0, help="speed of the replay (default 1)")
    add("--loop", action="store_true", help="start again at the end; the clock jumps back")
    add("--topics", metavar="TOPIC", nargs="+", help="only these topics (default: all)")
    add("--delay", metavar="S", type=float, default=0.0, help="seconds to wait before the start")
    add("--wait", metavar="S", type=float, default=1.0,
        help="longest time to wait for subscribers before the start (default 1 s)")
    return parser


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Checked options; ROS arguments are left to rclpy.

    Raises:
        InvalidSetting: unknown option, or a value that is not allowed.
    """
    options = make_parser().parse_args(without_ros_arguments(_NAME, arguments))
    if not 0.001 <= options.rate <= 1000.0:
        raise InvalidSetting(f"--rate is {options.rate:g}; allowed: 0.001 to 1000")
    for name in ("delay", "wait"):
        value = getattr(options, name)
        if not 0.0 <= value <= 86400.0:
            raise InvalidSetting(f"--{name} is {value:g} s; allowed: 0 to 86400 s")
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tool; returns its exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    stop = stop_flag()
    try:
        return exit_status(lambda: run(words, stop))
    finally:
        compat.shutdown()
        ignore_signals()


def run(words: Sequence[str], stop: threading.Event) -> int:
    """Replay what the words of the command line ask for; returns the exit status.

    Raises:
        InertialIdError: it cannot be done.
    """
    options = parse(words)
    with BagReader(options.recording) as recording:
        chosen = choose_topics(recording.topics, options.topics)
        start_ros(_NAME, words)
        replay(recording, chosen, options, stop)
    return 0


def choose_topics(topics: Sequence[RecordedTopic],
                  names: Sequence[str] | None) -> list[RecordedTopic]:
    """The topics to replay.

    Raises:
        RecordingError: a name that the recording lacks.
    """
    if names is None:
        return list(topics)
    wanted = set(map(absolute_name, names))
    missing = wanted - {t.name for t in topics}
    if missing:
        raise RecordingError(f"the recording has no topic {', '.join(sorted(missing))}; it holds "
                             f"{describe_topics(topics)}")
    return [t for t in topics if t.name in wanted]


def replay(recording: BagReader, chosen: Sequence[RecordedTopic], options: argparse.Namespace,
           stop: threading.Event) -> None:
    """Publish the topics until the end, or until stop is set.

    Raises:
        RecordingError: nothing can be published, or the recording is damaged.
    """
    node = Node(_NAME, start_parameter_services=False)
    try:
        publishers, skipped = make_publishers(node, recording, chosen)
        _describe(recording, options.rate, publishers, chosen, skipped)
        if not publishers:
            raise RecordingError(f"{recording.path} holds nothing that can be published")
        player = Player(recording, publishers, node.create_publisher(Clock, CLOCK_TOPIC, 10),
                        options.rate, stop)
        if not player.wait_for_subscribers(options.wait) and options.wait > 0.0:
            _say(f"nobody subscribes after {options.wait:g} s; starting all the same")
        player.hold(options.delay)
        while player.play() and options.loop:
            player.hold(0.0 if recording.duration > 0.1 else 0.1)  # a loop of nothing needs a rest
        player.drain()
    finally:
        node.destroy_node()


class Player:
    """Publishes messages and the clock by the wall clock.

    Args:
        publishers: by topic.
        rate: recorded seconds in a second.
        stop: ends everything when set.
    """

    def __init__(self, recording: BagReader, publishers: dict[str, Publisher],
                 clock: Publisher, rate: float, stop: threading.Event) -> None:
        self._recording = recording
        self._publishers = publishers
        self._clock = clock
        self._rate = rate
        self._stop = stop
        self._clock_period = 1.0 / min(_CLOCK_RATE * max(rate, 1.0), _MAX_CLOCK_RATE)
        self._next_clock = 0.0

    def wait_for_subscribers(self, limit: float) -> bool:
        """Wait, at most so many seconds, until someone subscribes, and a little more for others."""
        end = time.monotonic() + limit
        while not self._stop.is_set() and time.monotonic() < end:
            if any(p.get_subscription_count() for p in self._publishers.values()):
                self.hold(min(_SETTLE, max(0.0, end - time.monotonic())))
                return True
            self.hold(_POLL)
        return any(p.get_subscription_count() for p in self._publishers.values())

    def hold(self, seconds: float) -> None:
        """Let time pass with the clock standing at the start of the recording."""
        self._until(time.monotonic() + seconds, lambda now: self._recording.start)

    def play(self) -> bool:
        """Publish the recording once; False if stopped before the end."""
        start, began, late = self._recording.start, time.monotonic(), 0.0
        for topic, log_time, data in self._recording.raw(self._publishers):
            due = began + (log_time - start) * 1e-9 / self._rate

            def recorded(now: float, latest: int = log_time) -> int:
                # When publishing falls behind, the clock waits for the messages.
                return min(start + int((now - began) * self._rate * 1e9), latest)

            if not self._until(due, recorded):
                return False
            self._publishers[topic].publish(data)
            late = max(late, time.monotonic() - due)
        if late > _SLOW:
            _say(f"warning: publishing fell up to {late:.1f} s behind; choose a lower --rate")
        return True

    def _until(self, due: float, recorded: Any) -> bool:
        """Publish the clock until the wall time is due; False if stopped."""
        while not self._stop.is_set():
            now = time.monotonic()
            if now >= self._next_clock:
                stamp = Time(nanoseconds=recorded(now)).to_msg()
                self._clock.publish(Clock(clock=stamp))
                self._next_clock = max(self._next_clock + self._clock_period, now)
            if now >= due:
                return True
            self._stop.wait(min(due, self._next_clock) - time.monotonic())
        return False

    def drain(self) -> None:
        """Wait, a second at most, until reliable subscribers have got everything."""
        end = time.monotonic() + 1.0
        for publisher in self._publishers.values():
            left = max(0.0, end - time.monotonic())
            if not self._stop.is_set():
                publisher.wait_for_all_acked(Duration(seconds=left))


def make_publishers(node: Node, recording: BagReader,
                    topics: Sequence[RecordedTopic]) -> tuple[dict[str, Publisher], dict[str, str]]:
    """A publisher for each topic that can be published, and why the others cannot."""
    publishers: dict[str, Publisher] = {}
    skipped: dict[str, str] = {}
    for topic in topics:
        reason = _why_not_published(topic, publishers)
        if not reason:
            try:
                kind = compat.message_type(topic.type)
                qos = replay_qos(recording.offered_qos(topic.name), topic.count)
                publishers[topic.name] = node.create_publisher(kind, topic.name, qos)
            except (ImportError, AttributeError, ValueError):
                reason = f"message type {topic.type} is not installed"
            except Exception as error:  # a broken type support, or a name that ROS refuses
                reason = " ".join(str(error).split())
        if reason:
            skipped[topic.name] = reason
    return publishers, skipped


def _why_not_published(topic: RecordedTopic, publishers: dict[str, Publisher]) -> str:
    """Why a topic is left out, whatever its type; empty if it is not."""
    if topic.name == CLOCK_TOPIC:
        return "the replay publishes its own clock"
    if topic.count == 0:
        return "no messages"
    if topic.name in publishers:
        return "recorded with two types"
    return ""


def replay_qos(offered: Sequence[Qos], count: int) -> QoSProfile:
    """The quality of service to publish with.

    Reliable and latched where any publisher was. One publisher stands in for all recorded ones, so
    it keeps all messages of a latched topic: tf_static often came from several nodes.

    Args:
        offered: recorded profiles; empty: reliable and volatile.
        count: messages on the topic.
    """
    latched = any(q.durability == QosDurability.TRANSIENT_LOCAL for q in offered)
    best_effort = bool(offered) and all(
        q.reliability == QosReliability.BEST_EFFORT for q in offered)
    depth = max([_DEPTH, *(q.depth for q in offered if 0 < q.depth <= _MAX_LATCHED)])
    return QoSProfile(
        depth=min(max(count, 1), _MAX_LATCHED) if latched else depth,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE,
        reliability=ReliabilityPolicy.BEST_EFFORT if best_effort else ReliabilityPolicy.RELIABLE)


def _describe(recording: BagReader, rate: float, publishers: dict[str, Publisher],
              topics: Sequence[RecordedTopic], skipped: dict[str, str]) -> None:
    """Print what is replayed, and what is not, and why."""
    _say(f"{recording.path}: {recording.duration:.1f} s, replayed at {rate:g} times its speed")
    for topic in topics:
        if topic.name in publishers and topic.name not in skipped:
            _say(f"  {topic.name} ({topic.type}): {topic.count} messages")
    for name, reason in skipped.items():
        _say(f"  {name} skipped: {reason}")
    for note in recording.notes:
        _say(f"note: {note}")


def _say(line: str) -> None:
    print(printable(line), flush=True)


if __name__ == "__main__":
    raise SystemExit(replay_bag())
