# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The command line of identify_payload."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ...apps.excitation.motions import COBOT_SPEED
from ...apps.excitation.plan_excitation import box_corners
from ...apps.guide.progress import Wanted
from ...cli import Parser
from ...errors import InvalidSetting
from ...io.files import config_file
from ...settings import SENSORS

_DESCRIPTION = (
    "Lead from an unknown load to a robot that knows it: check the set-up, move the arm, identify "
    "the payload, prove it on another motion, hand it to the driver, write a report. Beside a node "
    "that runs already, or with one of its own.")
_EPILOG = (
    "Exit status: 0 identified, proved and applied (or as far as was asked for); 2 a mistake in "
    "the command; 3 not identified; 4 a check failed, nothing was identified; 5 identified, but "
    "not proved or not applied; 130 interrupted. Without a terminal each event is a line of JSON.")
_WINDOW = 90.0  # s: all motions of a session count, with the pauses between them
LIMITS = (("mass_accuracy", 0.01, 100.0), ("com_accuracy", 0.01, 1000.0),
          ("inertia_accuracy", 0.0, 1000.0), ("timeout", 5.0, 600.0), ("link_speed", 0.01, 2.0),
          ("silence", 0.05, 1.0), ("floor", -math.inf, 100.0))
# A box around the payload in the frame of the sensor, corners [m], where nobody gave one.
USUAL_BOX = np.array([[-0.1, -0.1, 0.0], [0.1, 0.1, 0.2]])


def make_parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = Parser(prog="identify_payload", description=_DESCRIPTION, epilog=_EPILOG)
    add = parser.add_argument_group("what is done").add_argument
    add("--check", action="store_true",
        help="only check the set-up: at rest, and by a small motion if you agree")
    add("--dry-run", action="store_true", help="do all, but tell the robot nothing")
    add("--no-motion", action="store_false", dest="motion",
        help="do not move the arm: say which motion is needed, and wait for it")
    add("--yes", "-y", action="store_true",
        help="agree to every question: the arm then moves without being asked for")
    add = parser.add_argument_group("accuracy (half of a 95 % interval)").add_argument
    add("--mass-accuracy", type=float, default=2.0, metavar="%", help="of the mass (default: 2)")
    add("--com-accuracy", type=float, default=3.0, metavar="MM",
        help="of each coordinate of the centre of mass, or what the mounting allows where that is "
        "worse (default: 3)")
    add("--inertia-accuracy", type=float, default=20.0, metavar="%",
        help="of the inertia, in %% of its mean moment, as far as the sensor allows; 0: it is not "
        "asked for (default: 20)")
    add("--timeout", type=float, default=120.0, metavar="S",
        help="longest identification, 5 to 600 s (default: 120)")
    add = parser.add_argument_group("robot").add_argument
    add("--config", metavar="NAME",
        help="settings of a node that is started: a file, or ur, franka, xarm, kuka_lbr, kinova, "
        "ros2_control")
    add("--sensor", choices=sorted(SENSORS), help="the wrench sensor, by its data sheet")
    add("--node", default="/inertial_id_node",
        help="the node that identifies (default: /inertial_id_node); started where it does not run")
    add("--target", default="",
        help="what the payload is handed to, such as universal_robots, which needs "
        "load.rated_payload (default: apply.target)")
    add("--payload-box", metavar="SX,SY,SZ,CX,CY,CZ",
        help="lengths and centre [m] of a box around the payload in the frame of the sensor, kept "
        "clear of the arm (default: a cube of 0.2 m, before the sensor)")
    add("--controller", default="", help="the trajectory controller, where there are several")
    add("--link-speed", type=float, default=COBOT_SPEED, metavar="M/S",
        help="of every link and the payload, 0.01 to 2 m/s (default: %(default)s)")
    add("--silence", type=float, metavar="S",
        help="longest time without joint states while the arm moves, after which it is stopped, "
        "0.05 to 1 s (default: 8 of their periods, 0.07 to 0.1 s)")
    add("--keep-out", metavar="SX,SY,SZ,CX,CY,CZ", action="append", default=[],
        help="lengths and centre [m], in axes of the description's root, of a box (table, wall) "
        "that nothing may touch; may be repeated")
    add("--floor", type=float, default=-math.inf, metavar="M",
        help="least height of the arm and the payload above the description's root (default: none)")
    add = parser.add_argument_group("output").add_argument
    add("--report", type=Path, default=Path("reports"), metavar="FOLDER",
        help="where the report is written (default: reports)")
    add("--json", action="store_true", help="lines of JSON on a terminal, too")
    return parser


def parse(words: Sequence[str], ros_words: Sequence[str] = ()) -> argparse.Namespace:
    """Checked options (raises InvalidSetting): those of the command line, boxes as corners (2, 3)
    [m], the accuracy as `wanted`, and `arguments` of a node that is started.

    Args:
        ros_words: the ROS arguments of the command line, which go to the node.
    """
    args = make_parser().parse_args(words)
    for name, low, high in LIMITS:
        value = getattr(args, name)
        if value is not None and not low <= value <= high:
            raise InvalidSetting(f"--{name.replace('_', '-')} is {value:g}; allowed: {low:g} to "
                                 f"{high:g}")
    args.wanted = Wanted(args.mass_accuracy / 100.0, args.com_accuracy / 1000.0,
                         args.inertia_accuracy / 100.0)
    args.box = USUAL_BOX if args.payload_box is None else box_corners(
        "--payload-box", args.payload_box)
    args.keep_out = [box_corners("--keep-out", text) for text in args.keep_out]
    args.node = f"/{args.node.removeprefix('/')}"
    namespace, name = args.node.rsplit("/", 1)
    args.arguments = [
        "--ros-args", "-r", f"__node:={name}", "-p", f"buffer.window:={_WINDOW}",
        *(["-r", f"__ns:={namespace}"] if namespace else []),
        *(["-p", "motion.execute:=true"] if args.motion else []),  # the command asks for it
        *(["--params-file", str(config_file(args.config))] if args.config else []),
        *(["-p", f"wrench.sensor:={args.sensor}"] if args.sensor else []), *ros_words]
    return args
