# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Command line of the simulated cobot: options from the settings table."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

from ...arguments import Parser, numbers
from ...cli import OK, exit_status
from ...errors import DamagedFile, InvalidSetting
from ...io.yaml_files import parse_yaml
from ...settings.spec import allowed_range, iter_group
from .cobot import SimulatedCobot
from .settings import CobotSettings
from .write import write_bag


class Options(NamedTuple):
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
