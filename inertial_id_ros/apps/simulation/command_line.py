# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Command line of the simulated cobot: options from the settings table, and writing a bag.

The bag is written with ``rosbags``, without ROS. It holds what a driver with robot_state_publisher
would have published: ``/joint_states``, ``/wrench``, ``/tf`` (from the measured joint positions),
and the latched ``/tf_static`` and ``/robot_description``; besides these the truth, latched, on
``/simulate_cobot/truth``."""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...arguments import Parser
from ...cli import OK, exit_status
from ...errors import InvalidSetting, RecordingError
from ...extras import optional_packages
from ...inertia import six_from_tensor
from ...io.bag_writing import JOINTS, TRANSFORMS, WRENCH, MessageWriter
from ...settings.spec import Spec, allowed_range, iter_group
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
            bag = _CobotWriter(writer, cobot, round(start * 1e9))
            for block in [blocks] if isinstance(blocks, Recording) else blocks:
                bag.add(block)
    except (OSError, WriterError) as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise RecordingError(f"bag {folder} cannot be written: {error}") from error
    except BaseException:
        # A bag that stops half-way looks like a complete one.
        shutil.rmtree(folder, ignore_errors=True)
        raise


class _CobotWriter:
    """Writes the messages of a cobot to one bag."""

    def __init__(self, writer: Writer, cobot: SimulatedCobot, start: int) -> None:
        self._bag, self._cobot, self._start = MessageWriter(writer), cobot, start
        self._written = 0  # samples so far
        self._joint_states = self._bag.add_topic("/joint_states", JOINTS)
        self._wrench = self._bag.add_topic("/wrench", WRENCH)
        self._tf = self._bag.add_topic("/tf", TRANSFORMS)
        self._write_latched()

    def add(self, recording: Recording) -> None:
        """Writes all messages of a recording in the order of their stamps."""
        bag, cobot = self._bag, self._cobot
        stamps = self._start + np.round(recording.t * 1e9).astype(np.int64)
        quaternions = cobot.description.joint_quaternions(recording.q)
        for i, stamp in enumerate(stamps.tolist()):
            velocity = np.empty(0) if recording.dq is None else recording.dq[i]
            bag.write(self._joint_states, stamp, bag.joints(
                stamp, cobot.joint_names, recording.q[i], velocity, recording.effort[i]))
            bag.write(self._wrench, stamp,
                      bag.wrench(stamp, cobot.sensor_frame, recording.wrench[i]))
            if self._written % cobot.tf_step == 0:
                bag.write(self._tf, stamp, bag.transforms([
                    bag.transform(stamp, j.parent, j.child, j.translation, quaternion)
                    for j, quaternion in zip(cobot.description.moving, quaternions[i],
                                             strict=True)]))
            self._written += 1

    def _write_latched(self) -> None:
        """Write the transforms that are fixed, the robot description and the truth."""
        bag, cobot, start, payload = self._bag, self._cobot, self._start, self._cobot.payload
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


# Argument types; a vector is read word by word and joined later.
_SCALARS: dict[type, Callable[[str], Any]] = {float: float, int: int, str: str}


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
    for name, default, spec in iter_group(CobotSettings()):
        _add_option(parser, name, default, spec)
    parser.add_argument("--write", metavar="BAG", default="",
                        help="write a bag of --duration seconds and exit, without ROS")
    given = vars(parser.parse_args(list(arguments)))
    write = given.pop("write")
    changes = {name: _vector(name, value) if isinstance(value, list) else value
               for name, value in given.items() if value is not None}
    settings = CobotSettings().replace(changes)
    if write and not settings.duration > 0.0:
        raise InvalidSetting("duration is 0 s; --write needs a --duration above 0 s")
    return Options(settings, write)


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


def _add_option(parser: argparse.ArgumentParser, name: str, default: Any, spec: Spec) -> None:
    """Add the option of a setting, with its description, range and default as help."""
    option = "--" + name.replace("_", "-")
    unit = f" [{spec.unit}]" if spec.unit else ""
    notes = [] if allowed_range(spec).startswith("finite") else [allowed_range(spec)]
    if isinstance(default, bool):
        notes.append(f"default: {str(default).lower()}")
    elif isinstance(default, tuple):
        notes.append("default: " + " ".join(f"{v:g}" for v in default))
    elif default != "":
        notes.append(f"default: {default}")
    text = f"{spec.description}{unit}" + (f" ({'; '.join(notes)})" if notes else "")
    common: dict[str, Any] = {"dest": name, "default": None, "help": text.replace("%", "%%")}
    if isinstance(default, bool):
        parser.add_argument(option, type=_boolean, metavar="true|false", **common)
    elif isinstance(default, tuple):
        parser.add_argument(option, nargs="+", metavar="X", **common)
    else:
        parser.add_argument(option, type=_SCALARS[type(default)], metavar=name.upper(), **common)


def _boolean(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise argparse.ArgumentTypeError("must be true or false")
    return text.lower() == "true"


def _vector(name: str, words: Sequence[str]) -> tuple[float, ...]:
    """Numbers separated by blanks or commas (``--bias=-1e-3,0,0,0,0,0`` keeps signs safe)."""
    try:
        return tuple(float(x) for word in words for x in word.replace(",", " ").split())
    except ValueError:
        raise InvalidSetting(
            f"{name} is '{' '.join(words)}'; it must be a list of numbers") from None
