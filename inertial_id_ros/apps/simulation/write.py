# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The messages of recordings, as of a driver with robot_state_publisher, and bags of them, by
``rosbags``, without ROS. A scenario: ``python -m inertial_id_ros.apps.simulation.write BAG``."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...cli import Parser, exit_status, numbers
from ...errors import RecordingError
from ...extras import optional_packages
from ...io import inputs
from ...io.inputs import Edges, JointStates, Samples, Wrenches
from ...settings import Settings
from ...settings.spec import allowed_range, iter_group
from ..recordings import Recording
from .cobot import Scenario, faults_of

with optional_packages("writing a recording"):
    from rosbags import interfaces
    from rosbags.rosbag2 import StoragePlugin, Writer
    from rosbags.rosbag2.errors import WriterError
    from rosbags.typesys import Stores, get_typestore

STORE, USUAL = get_typestore(Stores.ROS2_JAZZY), Settings()


class Topic(NamedTuple):
    """Messages of a topic, by their stamps [ns]; those that are serialised already are bytes."""

    name: str
    type: str
    messages: Sequence[tuple[int, Any]]
    latched: bool = False


def write_bag(path: str | Path, topics: Sequence[Topic],
              storage: StoragePlugin = StoragePlugin.MCAP) -> None:
    """Write topics into a new bag (raises RecordingError: the folder exists, or cannot be
    written)."""
    try:
        with Writer(Path(path), version=9, storage_plugin=storage) as writer:
            connections = {topic.name: writer.add_connection(
                f"/{topic.name.lstrip('/')}", topic.type, typestore=STORE,
                offered_qos_profiles=[quality_of_service(topic.latched)]) for topic in topics}
            for stamp, name, data in by_time(topics):
                writer.write(connections[name], stamp, data)
    except (OSError, WriterError) as error:
        raise RecordingError(f"bag {path} cannot be written: {error}") from error


def by_time(topics: Iterable[Topic]) -> Iterator[tuple[int, str, bytes]]:
    """Stamp, name of the topic and serialised message, in the order of stamps."""
    rows = ((stamp, topic, message) for topic in topics for stamp, message in topic.messages)
    for stamp, topic, message in sorted(rows, key=itemgetter(0)):
        yield stamp, topic.name, message if isinstance(message, bytes) else bytes(
            STORE.serialize_cdr(message, topic.type))


def topics_of(recording: Recording) -> list[Topic]:
    """The topics on which there is something, by their usual names."""
    blocks = ((inputs.JOINT_STATES, recording.of_kind(JointStates)),
              (inputs.WRENCH, recording.of_kind(Wrenches)),
              (inputs.TRANSFORMS, recording.of_kind(Edges)),
              (inputs.STATIC_TRANSFORMS, recording.fixed))
    out = [(topic, messages_of(some)) for topic, some in blocks if some]
    if recording.description:
        begin = min(messages[0][0] for _, messages in out if messages)
        out.append((inputs.ROBOT_DESCRIPTION, [
            (begin, make("std_msgs/String", recording.description))]))
    return [Topic(topic.name(USUAL), topic.type, messages, topic.latched)
            for topic, messages in out]


def messages_of(blocks: Iterable[Samples]) -> list[tuple[int, Any]]:
    """Stamp [ns] and message of each sample of a kind; transforms of a time are one message."""
    out, edges = list[tuple[int, Any]](), dict[int, list[Any]]()
    for block in blocks:
        for k, stamp in enumerate(block.stamps.tolist()):
            if isinstance(block, Edges):
                row = block.rows[k].tolist()
                edges.setdefault(stamp, []).append(make(
                    "geometry_msgs/TransformStamped", header(stamp, block.parent), block.child,
                    make("geometry_msgs/Transform", make("geometry_msgs/Vector3", *row[:3]),
                         make("geometry_msgs/Quaternion", *row[3:]))))
            elif isinstance(block, Wrenches):
                row = block.rows[k].tolist()
                parts = (make("geometry_msgs/Vector3", *part) for part in (row[:3], row[3:]))
                out.append((stamp, make("geometry_msgs/WrenchStamped", header(
                    stamp, block.frame_id), make("geometry_msgs/Wrench", *parts))))
            else:
                rows = (np.empty(0) if part is None else part[k] for part in (
                    block.positions, block.velocities, block.efforts))
                out.append((stamp, make("sensor_msgs/JointState", header(stamp, ""),
                                        list(block.names), *rows)))
    out += [(stamp, make("tf2_msgs/TFMessage", some)) for stamp, some in edges.items()]
    return sorted(out, key=itemgetter(0))


def make(kind: str, *values: Any) -> Any:
    """A message of a type, such as std_msgs/Header, of the values of its fields."""
    return STORE.types[kind.replace("/", "/msg/")](*values)


def header(stamp: int, frame: str) -> Any:
    """A std_msgs/Header with a stamp [ns]."""
    return make("std_msgs/Header", make("builtin_interfaces/Time", *divmod(stamp, 10**9)), frame)


def quality_of_service(latched: bool) -> interfaces.Qos:
    """Reliable, kept for late subscribers where latched; times of 0 s mean no limit."""
    zero, durability = interfaces.QosTime(0, 0), interfaces.QosDurability
    return interfaces.Qos(
        interfaces.QosHistory.KEEP_LAST, 1 if latched else 10, interfaces.QosReliability.RELIABLE,
        durability.TRANSIENT_LOCAL if latched else durability.VOLATILE, zero, zero,
        interfaces.QosLiveliness.AUTOMATIC, zero, False)


def parse(parser: Parser, arguments: Sequence[str]) -> tuple[Scenario, dict[str, Any]]:
    """A scenario from command-line words (without ROS arguments), and other options of a parser
    (raises InvalidSetting: an unknown option, or a value that is not allowed)."""
    options = list(iter_group(Scenario))
    for name, default, spec in options:
        option = "--" + name.replace("_", "-")
        parser.add_argument(
            option, default=default, metavar="VALUE", type=faults_of if name == "faults" else
            partial(numbers, option, wanted="numbers") if isinstance(default, tuple) else
            type(default),
            help=f"{spec.description} ({allowed_range(spec)}; default: %(default)s)")
    given = vars(parser.parse_args(list(arguments)))
    return Scenario(**{name: given.pop(name) for name, _, _ in options}), given


def main() -> int:
    """Write the bag that the command line names; returns the exit status."""
    parser = Parser(prog="python -m inertial_id_ros.apps.simulation.write",
                    description="Writes a recording of a simulated cobot with a wrist sensor.")
    parser.add_argument("bag", metavar="BAG", help="folder of the recording, of --duration seconds")
    scenario, options = parse(parser, sys.argv[1:])
    write_bag(options["bag"], topics_of(scenario.record(scenario.duration)))
    return 0


if __name__ == "__main__":
    sys.exit(exit_status(main))
