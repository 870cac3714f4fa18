# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Writes a simulated recording: ``python -m inertial_id_ros.apps.simulation --write BAG``."""

import sys

from ...cli import OK, Parser, exit_status
from .cobot import SimulatedCobot, parse
from .write import write_bag


def main() -> int:
    """Write the bag that the command line names; returns the exit status."""
    parser = Parser(prog="python -m inertial_id_ros.apps.simulation",
                    description="Writes a recording of a simulated cobot with a wrist sensor.")
    parser.add_argument("--write", metavar="BAG", required=True,
                        help="folder of the recording, of --duration seconds")
    settings, options = parse(parser, sys.argv[1:])
    cobot = SimulatedCobot(settings)
    write_bag(options["write"], cobot, cobot.run(settings.duration))
    return OK


sys.exit(exit_status(main))
