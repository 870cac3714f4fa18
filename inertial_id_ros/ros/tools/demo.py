# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""``inertial_id_demo``: a simulated cobot carries a payload, and the node identifies it.

Both run as processes of their own in a private ROS domain. The demo is a third program that listens
to the estimate, compares it with the truth, and reads it by service and by parameters as well.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from ...arguments import Parser
from ...cli import exit_status, inertial_id_demo
from ...errors import InvalidSetting

if TYPE_CHECKING:
    import threading

    from rich.console import Console

    from .children import Children
    from .demo_client import Check, DemoClient

# A sensor as it is: with a bias that nobody tared away.
_BIAS = "bias:=[2.0, -1.5, 3.0, 0.05, -0.08, 0.03]"
_LIMIT = 50.0  # s for everything but start and end
_STEP = 0.25  # s between looks


def make_parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = Parser(
        prog="inertial_id_demo", description="Identify the payload of a simulated cobot.",
        epilog="Exit status: 0 mass within 1 %, centre of mass within 2 mm and every estimate "
        "physically consistent; 1 not so; 2 the request cannot be carried out.")
    add = parser.add_argument
    add("--payload", default="drill", help="payload of simulate_cobot (default: drill)")
    add("--motion", default="sinusoid", help="its motion (default: sinusoid)")
    add("--method", default="density", help="estimator (default: density)")
    add("--seconds", type=float, default=20.0,
        help="time to watch, 5 to 45 s (default: 20)")
    add("--seed", type=int, default=0, help="seed of the sensor noise (default: 0)")
    add("--plot", type=Path, default=Path("demo.svg"), metavar="SVG",
        help="where to draw the estimate over time (default: demo.svg)")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demo; returns the exit status (see --help)."""
    return exit_status(lambda: _run_demo(_parse(arguments)))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Checked options (raises InvalidSetting)."""
    options = make_parser().parse_args(arguments)
    if not 5.0 <= options.seconds <= 45.0:
        raise InvalidSetting(f"--seconds is {options.seconds:g} s; allowed: at least 5 and at "
                             "most 45 s")
    if not options.plot.absolute().parent.is_dir():
        raise InvalidSetting(f"--plot is '{options.plot}'; its folder does not exist")
    return options


def _run_demo(options: argparse.Namespace) -> int:
    from ..program import ignore_signals, stop_flag
    from .children import Children, private_environment
    from .demo_view import Console  # with what is missing, if it is, before anything starts

    stop, console = stop_flag(), Console()
    environment = private_environment()
    os.environ.update(environment)
    client = None
    with TemporaryDirectory() as state, Children(environment) as children:
        try:
            from .demo_client import DemoClient

            _start_processes(children, options, state)
            client = DemoClient(stop)
            if not _watch(client, children, console, stop, options.seconds):
                return 1
            return _report_success(client, console, options)
        finally:
            if stop.is_set():
                ignore_signals()
            if client is not None:
                client.close()


def _start_processes(children: Children, options: argparse.Namespace, state: str) -> None:
    """Start the node and the simulated cobot.

    Args:
        state: folder for the node's files: tool and tare of the user's robot are not the demo's.
    """
    children.start("inertial_id_ros.ros.main", [
        "--ros-args", "-p", f"estimator.method:={options.method}", "-p",
        f"state.directory:={state}"])
    children.start("inertial_id_ros.ros.tools.simulate_cobot", [
        "--ros-args", "-p", f"payload:={options.payload}", "-p", f"motion:={options.motion}",
        "-p", f"seed:={options.seed}", "-p", _BIAS])


def _watch(client: DemoClient, children: Children, console: Console, stop: threading.Event,
           seconds: float) -> bool:
    """Show the estimates for so long; False where there is nothing to conclude from."""
    import time

    from .demo_view import View

    started, first = time.monotonic(), None
    with View(console) as view:
        while not stop.is_set():
            client.spin(_STEP)
            elapsed = time.monotonic() - started
            view.update(client.record, elapsed)
            ended = children.describe_ended()
            if ended:
                raise InvalidSetting(ended)
            if first is None and client.record.valid:
                first = elapsed
            if elapsed > _LIMIT or (first is not None and elapsed > first + seconds):
                break
    return not stop.is_set()


def _report_success(client: DemoClient, console: Console, options: argparse.Namespace) -> int:
    """Print what was reached, draw the plot; returns the exit status."""
    from .demo_view import picture

    checks: list[Check] = client.record.checks()
    if client.record.valid:
        checks += [client.ask_service(), client.ask_parameters()]
        title = f"'{options.payload}' on a simulated cobot, identified by {options.method}"
        try:
            options.plot.write_text(picture(client.record, title), encoding="utf-8")
        except OSError as error:
            raise InvalidSetting(f"--plot is '{options.plot}'; cannot write it: "
                                 f"{error.strerror or error}") from error
    for check in checks:
        mark = "[green]ok  [/green]" if check.passed else "[red]FAIL[/red]"
        console.print(f"{mark} {check.text}", highlight=False, soft_wrap=True)
    if client.record.valid:
        console.print(f"plot: {options.plot}", highlight=False, soft_wrap=True)
    elif client.record.messages:
        console.print(client.record.messages[-1].status, highlight=False, soft_wrap=True)
    return 0 if all(check.passed for check in checks) else 1


if __name__ == "__main__":
    raise SystemExit(inertial_id_demo())
