# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The messages of a simulated cobot, as of a driver with robot_state_publisher, and recordings of
them, by ``rosbags`` and without ROS: ``python -m inertial_id_ros.apps.simulation.write BAG``."""

import sys
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

import pinocchio as pin

from ...cli import Parser, exit_status
from ...errors import RecordingError
from ...extras import optional_packages
from ...inertia import Array
from ...motion.frames import Edge
from .cobot import Recording, SimulatedCobot, parse

with optional_packages("writing a recording"):
    from rosbags import interfaces
    from rosbags.rosbag2 import StoragePlugin, Writer
    from rosbags.rosbag2.errors import WriterError
    from rosbags.typesys import Stores, get_typestore

START = 1_700_000_000.0  # s: stamp of the first sample where none is given; never 0, "no stamp"
# Type of each topic, and whether it is latched.
TOPICS = {
    "joint_states": ("sensor_msgs/msg/JointState", False),
    "wrench": ("geometry_msgs/msg/WrenchStamped", False),
    "/tf": ("tf2_msgs/msg/TFMessage", False),
    "/tf_static": ("tf2_msgs/msg/TFMessage", True),
    "robot_description": ("std_msgs/msg/String", True)}
STORE = get_typestore(Stores.ROS2_JAZZY)
Messages = Iterator[tuple[int, str, bytes]]  # stamp [ns], topic, serialised message


def write_bag(path: str | Path, cobot: SimulatedCobot, recording: Recording, *,
              start: float = START) -> None:
    """Write a recording of a cobot into a new bag, which begins at a ROS time [s] (raises
    RecordingError: the folder exists, or cannot be written)."""
    begin = round(start * 1e9)
    try:
        with Writer(Path(path), version=9, storage_plugin=StoragePlugin.MCAP) as writer:
            topics = {name: writer.add_connection(
                f"/{name.lstrip('/')}", kind, typestore=STORE,
                offered_qos_profiles=[quality_of_service(latched)])
                for name, (kind, latched) in TOPICS.items()}
            for stamp, name, data in chain(latched_messages(cobot, begin),
                                           sample_messages(cobot, recording, begin)):
                writer.write(topics[name], stamp, data)
    except (OSError, WriterError) as error:
        raise RecordingError(f"bag {path} cannot be written: {error}") from error


def latched_messages(cobot: SimulatedCobot, stamp: int) -> Messages:
    """What every subscriber gets once: fixed transforms and description."""
    yield _message(stamp, "/tf_static", _transforms(stamp, cobot.fixed_frames()))
    yield _message(stamp, "robot_description", cobot.urdf)


def sample_messages(cobot: SimulatedCobot, recording: Recording, start: int) -> Messages:
    """Joint states and wrench of each sample, and transforms; start: stamp at t = 0 [ns]."""
    for i, t in enumerate(recording.t.tolist()):
        stamp, wrench = start + round(1e9 * t), recording.wrench[i]
        yield _message(stamp, "joint_states", header(stamp, ""), list(cobot.joint_names),
                       recording.q[i], recording.dq[i], recording.effort[i])
        yield _message(stamp, "wrench", header(stamp, cobot.sensor_frame), make(
            "geometry_msgs/Wrench", _vector(wrench[:3]), _vector(wrench[3:])))
        if round(t * cobot.settings.rate) % cobot.tf_step == 0:
            yield _message(stamp, "/tf", _transforms(stamp, {
                name: edge for name, edge in cobot.description.links(recording.q[i]).items()
                if edge.joint is not None}))


def _message(stamp: int, topic: str, *values: Any) -> tuple[int, str, bytes]:
    kind = TOPICS[topic][0]
    return stamp, topic, bytes(STORE.serialize_cdr(STORE.types[kind](*values), kind))


def make(kind: str, *values: Any) -> Any:
    """A message of a type, such as std_msgs/Header, of the values of its fields."""
    return STORE.types[kind.replace("/", "/msg/")](*values)


def header(stamp: int, frame: str) -> Any:
    """A std_msgs/Header with a stamp [ns]."""
    return make("std_msgs/Header", make("builtin_interfaces/Time", *divmod(stamp, 10**9)), frame)


def _vector(values: Array) -> Any:
    return make("geometry_msgs/Vector3", *values.tolist())


def _transforms(stamp: int, edges: Mapping[str, Edge]) -> list[Any]:
    poses = {name: pin.SE3ToXYZQUAT(edge.place) for name, edge in edges.items()}
    return [make("geometry_msgs/TransformStamped", header(stamp, edges[name].parent), name, make(
        "geometry_msgs/Transform", _vector(pose[:3]),
        make("geometry_msgs/Quaternion", *pose[3:].tolist()))) for name, pose in poses.items()]


def quality_of_service(latched: bool) -> interfaces.Qos:
    """Reliable, kept for late subscribers where latched; times of 0 s mean no limit."""
    zero, durability = interfaces.QosTime(0, 0), interfaces.QosDurability
    return interfaces.Qos(
        interfaces.QosHistory.KEEP_LAST, 1 if latched else 10, interfaces.QosReliability.RELIABLE,
        durability.TRANSIENT_LOCAL if latched else durability.VOLATILE, zero, zero,
        interfaces.QosLiveliness.AUTOMATIC, zero, False)


def main() -> int:
    """Write the bag that the command line names; returns the exit status."""
    parser = Parser(prog="python -m inertial_id_ros.apps.simulation.write",
                    description="Writes a recording of a simulated cobot with a wrist sensor.")
    parser.add_argument("bag", metavar="BAG", help="folder of the recording, of --duration seconds")
    settings, options = parse(parser, sys.argv[1:])
    cobot = SimulatedCobot(settings)
    write_bag(options["bag"], cobot, cobot.run(settings.duration))
    return 0


if __name__ == "__main__":
    sys.exit(exit_status(main))
