# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""``identify_payload``: from an unknown load to a robot that knows it, in one command, by topics
and services of a node; where none identifies already, one is started as a process of its own."""

from __future__ import annotations

import argparse
import os
import sys
import threading
import time
from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path

import numpy as np

from ...apps.excitation.motions import MotionLimits
from ...apps.excitation.plan_excitation import add_limits, within
from ...apps.guide.show import End, Show, Wanted, session_page
from ...cli import Parser, exit_status
from ...errors import InertialIdError, InvalidData
from ...io.files import config_file, write_atomically
from ...settings import SENSORS
from ..motion_execution import SILENCE
from ..program import Children, stop_flag
from .session import NodeLink, Session

WINDOW = 90.0  # s: all motions of a session count, with the pauses between them
# Corners of a box around the payload in the frame of the sensor [m], where nobody gave one.
USUAL_BOX = np.array([[-0.1, -0.1, 0.0], [0.1, 0.1, 0.2]])
# s in which a node that runs is found, whose first announcements may be lost, which DDS repeats
# after 3 s; in which one that is started must answer.
LOOK, START = 7.0, 30.0


def make_parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = Parser(
        prog="identify_payload",
        description="Lead from an unknown load to a robot that knows it: check the set-up, move "
        "the arm, identify the payload, prove it on another motion, hand it to the driver, write a "
        "report. Beside a node that runs already, or with one of its own.",
        epilog="Exit status: 0 identified, proved and applied (or as far as was asked for); 2 a "
        "mistake in the command; 3 not identified; 4 a check failed, nothing was identified; 5 "
        "identified, but not proved or not applied; 130 interrupted. Without a terminal each event "
        "is a line of JSON.")
    add = parser.add_argument_group("what is done").add_argument
    add("--check", action="store_true",
        help="only check the set-up: at rest, and by a small motion if you agree")
    add("--dry-run", action="store_true", help="do all, but tell the robot nothing")
    add("--no-motion", action="store_false", dest="motion",
        help="do not move the arm: say which motion is needed, and wait for it")
    add("--yes", "-y", action="store_true",
        help="agree to every question: the arm then moves without being asked for")
    add = parser.add_argument_group("accuracy (half of a 95 % interval)").add_argument
    add("--mass-accuracy", type=within(0.01, 100.0), default=2.0, metavar="%",
        help="of the mass (default: 2)")
    add("--com-accuracy", type=within(0.01, 1000.0), default=3.0, metavar="MM",
        help="of each coordinate of the centre of mass (default: 3)")
    add("--inertia-accuracy", type=within(0.0, 1000.0), default=20.0, metavar="%",
        help="of the inertia, in %% of its mean moment; 0: it is not asked for (default: 20)")
    add("--timeout", type=within(5.0, 600.0), default=120.0, metavar="S",
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
    add("--controller", default="", help="the trajectory controller, where there are several")
    add_limits(add, 2.0)
    add("--silence", type=within(0.05, 1.0), default=SILENCE, metavar="S",
        help="longest time without joint states while the arm moves, after which it is stopped, "
        "0.05 to 1 s (default: %(default)s)")
    add = parser.add_argument_group("output").add_argument
    add("--report", type=Path, default=Path("reports"), metavar="FOLDER",
        help="where the report is written (default: reports)")
    add("--json", action="store_true", help="lines of JSON on a terminal, too")
    return parser


def parse(words: Sequence[str], ros_words: Sequence[str] = ()) -> argparse.Namespace:
    """Checked options (raises InvalidSetting): those of the command line, `limits` of motions, the
    accuracy as `wanted`, and `arguments` of a node that is started, to which `ros_words` go."""
    args = make_parser().parse_args(words)
    args.wanted = Wanted(args.mass_accuracy / 100.0, args.com_accuracy / 1000.0,
                         args.inertia_accuracy / 100.0)
    args.limits = MotionLimits(link_speed=args.link_speed)
    args.payload_box = USUAL_BOX if args.payload_box is None else args.payload_box
    args.node = f"/{args.node.removeprefix('/')}"
    namespace, name = args.node.rsplit("/", 1)
    args.arguments = [
        "--ros-args", "-r", f"__node:={name}", "-p", f"buffer.window:={WINDOW}",
        *(["-r", f"__ns:={namespace}"] if namespace else []),
        *(["-p", "motion.execute:=true"] if args.motion else []),  # the command asks for it
        *(["--params-file", str(config_file(args.config))] if args.config else []),
        *(["-p", f"wrench.sensor:={args.sensor}"] if args.sensor else []), *ros_words]
    return args


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a session; returns the exit status (see --help)."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    own = list(takewhile(lambda word: word != "--ros-args", words))
    return exit_status(lambda: run(parse(own, words[len(own) + 1:]), stop_flag())[0].status)


def run(options: argparse.Namespace, stop: threading.Event) -> tuple[End, Show]:
    """Find or start the node that identifies, and run a session until `stop` is set; how it ended,
    and what was shown (raises InertialIdError: the node has ended, or does not answer)."""
    def answers() -> bool:
        if text := children.describe_ended():
            raise InvalidData(text)
        return f"{options.node}/apply" in link.client.services()

    show = Show(options.yes, options.json or not sys.stdout.isatty())
    try:
        with Children(dict(os.environ)) as children, NodeLink(options.node, stop) as link:
            if not link.wait(LOOK, answers):
                show.say(f"no node '{options.node}' runs; one is started")
                children.start("inertial_id_node", options.arguments)
                if not link.wait(START, answers):
                    raise InertialIdError(f"node '{options.node}' does not answer within "
                                          f"{START:g} s")
            end = Session(link, options, show).run()
            show.step("report")
            path = options.report / f"identify_payload_{time.strftime('%Y%m%d-%H%M%S')}.html"
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, session_page(show, end))
            show.say(f"report: {path}")
            show.end(end)
            return end, show
    except End as end:  # interrupted before the session
        return end, show
