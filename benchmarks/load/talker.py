# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Publishes the topics of a fast cobot driver from a prepared simulation, at exact rates.

Messages are serialised beforehand and only their stamps are patched, so that the talker keeps its
schedule on a busy machine. Prints one JSON line with the number of messages sent on each topic.
"""

import json
import os
import struct
import sys
import time
from concurrent.futures import Executor, ProcessPoolExecutor
from multiprocessing import get_context

import pinocchio as pin
import rclpy
from geometry_msgs.msg import TransformStamped, WrenchStamped
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

from inertial_id_ros.apps.simulation.cobot import CobotSettings, Recording, SimulatedCobot
from inertial_id_ros.motion.frames import Edge

_DEPTH = 1000
_STAMP_AT = 4  # after the header of the serialisation comes the stamp
_BLOCK = 60.0  # s of messages that are prepared at once
_QUIET = 0.2  # s asleep at most, so that a late wake-up sends few messages at once


def main() -> None:
    """Entry point: wrench, joint state and TF rates [Hz], seconds, seconds of silence before."""
    rates = [float(x) for x in sys.argv[1:4]]
    seconds, before = float(sys.argv[4]), float(sys.argv[5])
    cobot = SimulatedCobot(CobotSettings(rate=max(rates)))
    with ProcessPoolExecutor(1, get_context("spawn")) as helper:
        _talk(cobot, helper, rates, seconds, before)


def _talk(cobot: SimulatedCobot, helper: Executor, rates: list[float], seconds: float,
          before: float) -> None:
    """Publish, while a helper prepares the next block of messages."""
    begins = range(0, round(seconds * max(rates)), round(_BLOCK * max(rates)))
    counts = [min(begins.step, begins.stop - begin) for begin in begins]
    waiting = helper.submit(_prepare, rates, 0, counts[0])
    waiting.result()
    rclpy.init()
    node = rclpy.create_node("talker")
    kinds = (WrenchStamped, JointState, TFMessage)
    publishers = [node.create_publisher(kind, topic, _DEPTH)
                  for kind, topic in zip(kinds, ("wrench", "joint_states", "/tf"), strict=True)]
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    node.create_publisher(String, "robot_description", latched).publish(String(data=cobot.urdf))
    fixed = TFMessage(transforms=[_transform(child, edge)
                                  for child, edge in cobot.fixed_frames().items()])
    node.create_publisher(TFMessage, "/tf_static", latched).publish(fixed)
    time.sleep(before)
    sent = [0, 0, 0]
    start, wall = time.monotonic() + 0.1, time.time_ns() + 100_000_000
    for number, begin in enumerate(begins):
        streams = waiting.result()
        if number + 1 < len(begins):
            waiting = helper.submit(_prepare, rates, begins[number + 1], counts[number + 1])
        after = round(begin / max(rates) * 1e9)
        _stream(publishers, streams, rates, start + 1e-9 * after, wall + after)
        sent = [n + len(stream) for n, stream in zip(sent, streams, strict=True)]
    print(json.dumps(sent), flush=True)
    time.sleep(1.0)  # the last messages are still on their way


def _prepare(rates: list[float], begin: int, count: int) -> list[list[bytearray]]:
    """Serialised messages of each topic for `count` samples from number `begin` on."""
    os.nice(10)  # the talker must not wait for this
    cobot = SimulatedCobot(CobotSettings(rate=max(rates)))
    recording = cobot.samples(begin, count)
    return [[bytearray(serialize_message(m)) for m in messages]
            for messages in _messages(cobot, recording, rates)]


def _stream(publishers: list, streams: list[list[bytearray]], rates: list[float], start: float,
            wall: int) -> None:
    """Publish a block; start: when, on the steady clock [s]; wall: its first stamp [ns]."""
    order = sorted((k / rate, which, k) for which, rate in enumerate(rates)
                   for k in range(len(streams[which])))
    for due, which, k in order:
        while (delay := start + due - time.monotonic()) > 0.0:
            time.sleep(min(delay, _QUIET))
        data = streams[which][k]
        stamp = struct.pack("<iI", *divmod(wall + int(due * 1e9), 1_000_000_000))
        for at in _stamps_of(data, which):
            data[at:at + 8] = stamp
        publishers[which].publish(bytes(data))


def _stamps_of(data: bytearray, which: int) -> list[int]:
    """Where stamps stand in a message; for transforms the marks that `_transform` left."""
    if which < 2:
        return [_STAMP_AT]
    places, at = [], data.find(_MARK)
    if at < 0:
        return _known_places[len(data)]
    while at >= 0:
        places.append(at)
        at = data.find(_MARK, at + 8)
    _known_places[len(data)] = places
    return places


_MARK = struct.pack("<iI", 1_234_567_890, 123_456_789)
_known_places: dict[int, list[int]] = {}


def _transform(child: str, edge: Edge) -> TransformStamped:
    message = TransformStamped()
    message.header.stamp.sec, message.header.stamp.nanosec = struct.unpack("<iI", _MARK)
    message.header.frame_id, message.child_frame_id = edge.parent, child
    pose = pin.SE3ToXYZQUAT(edge.place)
    t, r = message.transform.translation, message.transform.rotation
    t.x, t.y, t.z = (float(v) for v in pose[:3])
    r.x, r.y, r.z, r.w = (float(v) for v in pose[3:])
    return message


def _messages(cobot: SimulatedCobot, recording: Recording, rates: list[float]) -> list[list]:
    steps = [round(max(rates) / rate) for rate in rates]
    wrenches, joints, transforms = [], [], []
    for row in recording.wrench[::steps[0]].tolist():
        message = WrenchStamped()
        message.header.frame_id = cobot.sensor_frame
        f, t = message.wrench.force, message.wrench.torque
        f.x, f.y, f.z, t.x, t.y, t.z = row
        wrenches.append(message)
    for row in recording.q[::steps[1]].tolist():
        joints.append(JointState(name=list(cobot.joint_names), position=row))
    for row in recording.q[::steps[2]]:
        transforms.append(TFMessage(transforms=[
            _transform(child, edge) for child, edge in cobot.description.links(row).items()
            if edge.joint is not None]))
    return [wrenches, joints, transforms]


if __name__ == "__main__":
    main()
