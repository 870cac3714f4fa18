# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Command line of the simulated cobot: options from the settings table, and writing a bag.

The bag is written with ``rosbags``, without ROS. It holds what a driver with robot_state_publisher
would have published: ``/joint_states``, ``/wrench``, ``/tf`` (from the measured joint positions),
and the latched ``/tf_static`` and ``/robot_description``; besides these the truth, latched, on
``/simulate_cobot/truth``."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...arguments import Parser, numbers
from ...cli import OK, exit_status
from ...errors import DamagedFile, InvalidSetting, RecordingError
from ...extras import optional_packages
from ...inertia import six_from_tensor
from ...io.bag_writing import JOINTS, TRANSFORMS, WRENCH, MessageWriter
from ...io.yaml_files import parse_yaml
from ...settings.spec import allowed_range, iter_group
from .cobot import Recording, SimulatedCobot
from .settings import CobotSettings

with optional_packages("writing a recording"):
    from rosbags.rosbag2 import StoragePlugin, Writer
    from rosbags.rosbag2.errors import WriterError

START = 1_700_000_000.0  # s: stamp of the first sample where none is given; never 0, "no stamp"
TRUTH_TOPIC = "/simulate_cobot/truth"


def write_bag(path: str | Path, cobot: SimulatedCobot, blocks: Recording | Iterable[Recording], *,
              start: float = START) -> None:
    """Writes consecutive recordings of a cobot into a new bag.

    Args:
        path: folder of the bag, which must not exist.
        cobot: gives names, transforms and the robot description.
        blocks: one recording, or consecutive blocks (``cobot.blocks(duration)``), which are
            written as they come.
        start: ROS time of the sample at t = 0 [s].

    Raises:
        RecordingError: the folder exists, or cannot be written.
    """
    folder = Path(path)
    if folder.exists():
        raise RecordingError(f"bag {folder} exists already; name a folder that does not")
    try:
        with Writer(folder, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
            bag, begin = MessageWriter(writer), round(start * 1e9)
            topics = [bag.add_topic("/joint_states", JOINTS), bag.add_topic("/wrench", WRENCH),
                      bag.add_topic("/tf", TRANSFORMS)]
            _write_latched(bag, cobot, begin)
            for block in [blocks] if isinstance(blocks, Recording) else blocks:
                _write_samples(bag, topics, cobot, block, begin)
    except BaseException as error:
        # A bag that stops half-way looks like a complete one.
        shutil.rmtree(folder, ignore_errors=True)
        if isinstance(error, OSError | WriterError):
            raise RecordingError(f"bag {folder} cannot be written: {error}") from error
        raise


def _write_samples(bag: MessageWriter, topics: Sequence[Any], cobot: SimulatedCobot,
                   recording: Recording, start: int) -> None:
    """Write all messages of a recording in the order of their stamps; start: of time 0 [ns]."""
    joint_states, wrench, tf = topics
    quaternions = cobot.description.joint_quaternions(recording.q)
    for i, t in enumerate(recording.t.tolist()):
        stamp = start + round(1e9 * t)
        bag.write(joint_states, stamp, bag.joints(
            stamp, cobot.joint_names, recording.q[i], recording.dq[i], recording.effort[i]))
        bag.write(wrench, stamp, bag.wrench(stamp, cobot.sensor_frame, recording.wrench[i]))
        if round(t * cobot.settings.rate) % cobot.tf_step == 0:
            bag.write(tf, stamp, bag.transforms([
                bag.transform(stamp, j.parent, j.child, j.translation, quaternion)
                for j, quaternion in zip(cobot.description.moving, quaternions[i], strict=True)]))


def _write_latched(bag: MessageWriter, cobot: SimulatedCobot, start: int) -> None:
    """Write the transforms that are fixed, the robot description and the truth."""
    payload = cobot.payload
    inertia = bag.make("geometry_msgs/msg/Inertia", payload.mass, bag.vector(payload.com),
                       *six_from_tensor(payload.inertia_com).tolist())
    for topic, kind, message in (
            ("/tf_static", TRANSFORMS, bag.transforms([
                bag.transform(start, *edge) for edge in cobot.static_transforms()])),
            ("/robot_description", "std_msgs/msg/String",
             bag.make("std_msgs/msg/String", cobot.urdf)),
            (TRUTH_TOPIC, "geometry_msgs/msg/InertiaStamped",
             bag.make("geometry_msgs/msg/InertiaStamped",
                      bag.header(start, cobot.sensor_frame), inertia))):
        bag.write(bag.add_topic(topic, kind, latched=True), start, message)


@dataclass(frozen=True)
class Options:
    """What the command line asks for: settings, and the bag to write (empty: none)."""

    settings: CobotSettings
    write: str


def parse(arguments: Sequence[str], program: str = "simulate_cobot") -> Options:
    """Options from command-line words (without ROS arguments).

    Raises:
        InvalidSetting: an unknown option, or a value that is not allowed.
    """
    parser = Parser(prog=program, description="A simulated cobot with a wrist sensor.")
    defaults = CobotSettings()
    for name, default, spec in iter_group(defaults):
        shown = ",".join(f"{v:g}" for v in default) if isinstance(default, tuple) else default
        text = f"{spec.description} ({allowed_range(spec)}; default: {shown})"
        parser.add_argument("--" + name.replace("_", "-"), dest=name, metavar="VALUE",
                            help=text.replace("%", "%%"))
    parser.add_argument("--write", metavar="BAG", default="",
                        help="write a bag of --duration seconds and exit, without ROS")
    given = vars(parser.parse_args(list(arguments)))
    write = given.pop("write")
    settings = defaults.replace({name: _value(name, text, getattr(defaults, name))
                                 for name, text in given.items() if text is not None})
    if write and not settings.duration > 0.0:
        raise InvalidSetting("duration is 0 s; --write needs a --duration above 0 s")
    return Options(settings, write)


def _value(name: str, text: str, default: Any) -> Any:
    """The value of an option (raises InvalidSetting); numbers of a list are separated by commas."""
    if isinstance(default, tuple):
        return numbers(f"{name} is '{text}'", text, "numbers")
    try:
        return text if isinstance(default, str) else parse_yaml(text)
    except DamagedFile:
        raise InvalidSetting(f"{name} is '{text:.200}'; it must be a number") from None


def write_simulation(options: Options) -> None:
    """Simulates and writes the bag that the options ask for.

    Raises:
        InertialIdError: the payload, or the bag's folder, is not allowed.
    """
    cobot = SimulatedCobot(options.settings)
    write_bag(options.write, cobot, cobot.blocks(options.settings.duration))


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes a bag without ROS: ``python -m inertial_id_ros.apps.simulation --write BAG``."""
    return exit_status(lambda: _write(sys.argv[1:] if arguments is None else arguments))


def _write(arguments: Sequence[str]) -> int:
    """Write the bag that the command line names; returns the exit status."""
    options = parse(arguments, "python -m inertial_id_ros.apps.simulation")
    if not options.write:
        raise InvalidSetting("no bag is named; give --write BAG (live: simulate_cobot in ROS)")
    write_simulation(options)
    return OK
