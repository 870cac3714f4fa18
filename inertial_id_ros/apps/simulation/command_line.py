# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Command line of the simulated cobot: options from the settings table."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from ...arguments import Parser, numbers
from ...cli import OK, exit_status
from ...errors import DamagedFile, InvalidSetting
from ...io.yaml_files import parse_yaml
from ...settings.spec import allowed_range, iter_group
from .cobot import SimulatedCobot
from .settings import CobotSettings
from .write import write_bag


def parse(parser: Parser, arguments: Sequence[str]) -> tuple[CobotSettings, dict[str, Any]]:
    """Settings from command-line words (without ROS arguments), and the other options of a parser.

    Raises:
        InvalidSetting: an unknown option, or a value that is not allowed.
    """
    defaults = CobotSettings()
    for name, default, spec in iter_group(defaults):
        shown = ",".join(f"{v:g}" for v in default) if isinstance(default, tuple) else default
        text = f"{spec.description} ({allowed_range(spec)}; default: {shown})"
        parser.add_argument("--" + name.replace("_", "-"), dest=name, metavar="VALUE",
                            help=text.replace("%", "%%"))
    given = vars(parser.parse_args(list(arguments)))
    texts = {name: given.pop(name) for name, _, _ in iter_group(defaults)}
    return defaults.replace({name: _value(name, text, getattr(defaults, name))
                             for name, text in texts.items() if text is not None}), given


def _value(name: str, text: str, default: Any) -> Any:
    """The value of an option (raises InvalidSetting); numbers of a list are separated by commas."""
    if isinstance(default, tuple):
        return numbers(f"{name} is '{text}'", text, "numbers")
    try:
        return text if isinstance(default, str) else parse_yaml(text)
    except DamagedFile:
        raise InvalidSetting(f"{name} is '{text:.200}'; it must be a number") from None


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes a bag without ROS: ``python -m inertial_id_ros.apps.simulation --write BAG``."""
    return exit_status(lambda: _write(sys.argv[1:] if arguments is None else arguments))


def _write(arguments: Sequence[str]) -> int:
    """Write the bag that the command line names; returns the exit status."""
    parser = Parser(prog="python -m inertial_id_ros.apps.simulation",
                    description="Writes a recording of a simulated cobot with a wrist sensor.")
    parser.add_argument("--write", metavar="BAG", required=True,
                        help="folder of the recording, of --duration seconds")
    settings, options = parse(parser, arguments)
    cobot = SimulatedCobot(settings)
    write_bag(options["write"], cobot, cobot.blocks(settings.duration))
    return OK
