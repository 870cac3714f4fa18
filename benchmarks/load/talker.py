# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Publishes the topics of a fast cobot driver from a prepared simulation, at exact rates.

Messages are serialised beforehand and only their stamps are replaced, so that the talker keeps its
schedule on a busy machine. Prints one JSON line with the number of messages sent on each topic.
"""

import json
import os
import struct
import sys
import time
from collections import Counter
from concurrent.futures import Executor, ProcessPoolExecutor
from multiprocessing import get_context

import rclpy

from inertial_id_ros.apps.recordings import Recording
from inertial_id_ros.apps.simulation.cobot import Scenario
from inertial_id_ros.apps.simulation.write import by_time, topics_of
from inertial_id_ros.io.inputs import START, JointStates, Wrenches
from inertial_id_ros.ros.conversions import LATCHED
from inertial_id_ros.ros.program import message_type

_DEPTH = 1000
_BLOCK = 60.0  # s of messages that are prepared at once
_QUIET = 0.2  # s asleep at most, so that a late wake-up sends few messages at once
_SENT = "wrench", "joint_states", "/tf"


def main() -> None:
    """Entry point: wrench, joint state and TF rates [Hz], seconds, seconds of silence before."""
    rates = [float(x) for x in sys.argv[1:4]]
    seconds, before = float(sys.argv[4]), float(sys.argv[5])
    with ProcessPoolExecutor(1, get_context("spawn")) as helper:
        _talk(helper, rates, seconds, before)


def _talk(helper: Executor, rates: list[float], seconds: float, before: float) -> None:
    """Publish, while a helper prepares the next block of messages."""
    begins = range(0, round(seconds * max(rates)), round(_BLOCK * max(rates)))
    counts = [min(begins.step, begins.stop - begin) for begin in begins]
    waiting = helper.submit(_prepare, rates, 0, counts[0])
    waiting.result()
    rclpy.init()
    node, topics = rclpy.create_node("talker"), topics_of(Scenario().record(0.1))
    publishers = {topic.name: node.create_publisher(
        message_type(topic.type), topic.name, LATCHED if topic.latched else _DEPTH)
        for topic in topics}
    for _, name, data in by_time([topic for topic in topics if topic.latched]):
        publishers[name].publish(data)
    time.sleep(before)
    sent = Counter[str]()
    start, wall = time.monotonic() + 0.1, time.time_ns() + 100_000_000
    for number, _ in enumerate(begins):
        messages = waiting.result()
        if number + 1 < len(begins):
            waiting = helper.submit(_prepare, rates, begins[number + 1], counts[number + 1])
        for stamp, name, data in messages:
            due = start + 1e-9 * (stamp - START)
            while (delay := due - time.monotonic()) > 0.0:
                time.sleep(min(delay, _QUIET))
            publishers[name].publish(data.replace(_packed(stamp), _packed(wall + stamp - START)))
            sent[name] += 1
    print(json.dumps([sent[name] for name in _SENT]), flush=True)
    time.sleep(1.0)  # the last messages are still on their way


def _packed(stamp: int) -> bytes:
    """A stamp [ns] as in a message."""
    return struct.pack("<iI", *divmod(stamp, 10**9))


def _prepare(rates: list[float], begin: int, count: int) -> list[tuple[int, str, bytes]]:
    """Stamp, topic and serialised message of `count` samples from number `begin` on."""
    os.nice(10)  # the talker must not wait for this
    scenario = Scenario(rate=max(rates))
    (joints, wrenches, *_), = scenario.samples(begin, count).parts
    some, joint, edge = (slice(None, None, round(max(rates) / rate)) for rate in rates)
    return list(by_time(topics_of(Recording([[
        Wrenches(wrenches.stamps[some], wrenches.frame_id, wrenches.rows[some]),
        JointStates(joints.stamps[joint], joints.names, joints.positions[joint]),
        *scenario.robot.edges(joints.stamps[edge], joints.positions[edge])]], 0.0))))


if __name__ == "__main__":
    main()
