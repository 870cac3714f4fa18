# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Command line of the simulated cobot: options from the settings table, and writing a bag."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ...arguments import Parser
from ...cli import OK, exit_status
from ...errors import InvalidSetting
from ...settings.spec import Spec, allowed_range, iter_group
from .cobot import SimulatedCobot
from .record import STORAGES, write_bag
from .settings import CobotSettings

# Argument types; a vector is read word by word and joined later.
_SCALARS: dict[type, Callable[[str], Any]] = {float: float, int: int, str: str}


@dataclass(frozen=True)
class Options:
    """What the command line asks for: settings, and the bag to write (empty: none)."""

    settings: CobotSettings
    write: str
    storage: str


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
    parser.add_argument("--storage", choices=tuple(STORAGES), default="mcap",
                        help="storage of the bag (default: mcap)")
    given = vars(parser.parse_args(list(arguments)))
    write, storage = given.pop("write"), given.pop("storage")
    changes = {name: _vector(name, value) if isinstance(value, list) else value
               for name, value in given.items() if value is not None}
    settings = CobotSettings().replace(changes)
    if write and not settings.duration > 0.0:
        raise InvalidSetting("duration is 0 s; --write needs a --duration above 0 s")
    return Options(settings, write, storage)


def write_simulation(options: Options) -> None:
    """Simulates and writes the bag that the options ask for.

    Raises:
        InertialIdError: the payload, or the bag's folder, is not allowed.
    """
    cobot = SimulatedCobot(options.settings)
    write_bag(options.write, cobot, cobot.blocks(options.settings.duration),
              storage=options.storage)


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
