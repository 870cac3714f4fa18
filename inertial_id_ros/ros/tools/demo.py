# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""``inertial_id_demo``: identify_payload on a simulated cobot, from check to report.

The cobot and the node run as processes of their own in a private ROS domain. The sensor has the
errors of its data sheet, and a bias that nobody tared away. The session knows nothing of the truth,
with which the demo compares its result.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from ...arguments import Parser
from ...cli import INTERRUPTED, exit_status, inertial_id_demo
from ...errors import InvalidSetting
from ...settings import SENSORS

if TYPE_CHECKING:
    import threading

    from ...apps.guide.show import Show
    from .children import Children
    from .demo_record import Record

_ACCURACY = ("--mass-accuracy", "3", "--com-accuracy", "5", "--inertia-accuracy", "0")
_SILENCE = ("--silence", "0.5")  # of a simulation on a busy machine
_BIAS = "bias:=[2.0, -1.5, 3.0, 0.05, -0.08, 0.03]"
# The arm stands exactly where its description says; what its driver subtracts, it tells.
_NODE = {"alignment.orientation_sd": "0.0", "alignment.position_sd": "0.001",
         "precompensated.source": "dynamic_joint_states",
         "precompensated.topic": "dynamic_joint_states", "precompensated.frame": "tool0",
         "apply.target": "universal_robots", "apply.max_mass": "10.0"}


def make_parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = Parser(
        prog="inertial_id_demo", description="identify_payload on a simulated cobot.",
        epilog="Exit status: that of identify_payload; 1 where what was identified is not true: "
        "mass within 2 %, centre of mass within 5 mm, or their intervals where these are wider; "
        "every estimate physically consistent.")
    add = parser.add_argument
    add("--payload", default="drill", help="payload of simulate_cobot (default: drill)")
    add("--sensor", default="ati_gamma", choices=sorted(SENSORS),
        help="its sensor, with the errors of its data sheet (default: ati_gamma)")
    add("--method", default="density", help="estimator (default: density)")
    add("--seed", type=int, default=0, help="seed of the sensor's errors (default: 0)")
    add("--ask", action="store_true", help="ask before the arm moves, as on a real one")
    add("--report", type=Path, default=Path("reports"), metavar="FOLDER",
        help="where the report is written (default: reports)")
    add("--plot", type=Path, default=Path("demo.svg"), metavar="SVG",
        help="where to draw the estimate over time (default: demo.svg)")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demo; returns the exit status (see --help)."""
    return exit_status(lambda: _run_demo(_parse(arguments)))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Checked options (raises InvalidSetting)."""
    options = make_parser().parse_args(arguments)
    if not options.plot.absolute().parent.is_dir():
        raise InvalidSetting(f"--plot is '{options.plot}'; its folder does not exist")
    return options


def _run_demo(options: argparse.Namespace) -> int:
    from ..guide.command_line import parse
    from ..guide.identify_payload import make_show
    from ..program import ignore_signals, stop_flag
    from .children import Children, private_environment

    stop = stop_flag()
    environment = private_environment()
    os.environ.update(environment)
    with TemporaryDirectory() as state, Children(environment) as children:
        try:
            children.start("inertial_id_ros.ros.tools.simulate_cobot", [
                "--ros-args", "-p", f"payload:={options.payload}", "-p", "motion:=commanded", "-p",
                f"sensor:={options.sensor}", "-p", f"seed:={options.seed}", "-p", _BIAS])
            node = {**_NODE, "estimator.method": options.method, "wrench.sensor": options.sensor,
                    "state.directory": state}
            session = parse(
                [*_ACCURACY, *_SILENCE, *([] if options.ask else ["--yes"]), "--report",
                 str(options.report)],
                [word for name, value in node.items() for word in ("-p", f"{name}:={value}")])
            return _run_session(session, options, children, stop,
                                make_show(session.yes, session.json))
        finally:
            if stop.is_set():
                ignore_signals()


def _run_session(session: object, options: argparse.Namespace, children: Children,
                 stop: threading.Event, show: Show) -> int:
    """Run the session beside the cobot, and compare what came out with the truth."""
    from ..guide.command_line import Options
    from ..guide.identify_payload import run
    from .demo_record import Record, listen

    assert isinstance(session, Options)
    record = Record()
    end, found = run(session, stop, show, lambda guide: listen(guide, record), children)
    if end.status == INTERRUPTED or found is None or found.report is None or (
            found.sigma is None):
        return end.status
    record.end(found.report, found.sigma, found.stamp_ns)
    _draw(record, options)
    checks = record.checks()
    for check in checks:
        show.say(check.text, check.passed)
    show.say(f"plot: {options.plot}")
    return end.status or int(not all(check.passed for check in checks))


def _draw(record: Record, options: argparse.Namespace) -> None:
    """Draw the estimate over time (raises InvalidSetting)."""
    from .demo_view import picture

    title = f"'{options.payload}' on a simulated cobot, identified by {options.method}"
    try:
        options.plot.write_text(picture(record, title), encoding="utf-8")
    except OSError as error:
        raise InvalidSetting(f"--plot is '{options.plot}'; cannot write it: "
                             f"{error.strerror or error}") from error


if __name__ == "__main__":
    raise SystemExit(inertial_id_demo())
