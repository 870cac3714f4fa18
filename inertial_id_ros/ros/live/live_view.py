# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The program `live_view`: the payload of a running node in the browser."""

from __future__ import annotations

import argparse
import sys
import threading
from collections.abc import Sequence

from ...arguments import Parser
from ...cli import OK, exit_status
from ...errors import InvalidSetting
from .. import compat
from ..program import ignore_signals, start_ros, stop_flag, without_ros_arguments
from .browsers import Browsers, checked_token, make_token
from .live_node import LiveNode

_NAME = "live_view"
_PERIOD = 0.1  # s between two pictures
_LOCAL = ("localhost", "127.0.0.1", "::1")


def make_parser() -> argparse.ArgumentParser:
    """Options of the program."""
    parser = Parser(
        prog=_NAME,
        description="Show the payload that a node identifies in the browser: arm, centre of mass "
        "with its uncertainty, equivalent box, compensated force, findings, residuals; buttons for "
        "identify, tare, tool and reset. ROS arguments follow --ros-args.")
    parser.add_argument("--node", default="/inertial_id_node", metavar="NAME",
                        help="node that identifies (default %(default)s)")
    parser.add_argument("--host", default="localhost",
                        help="address to listen on (default %(default)s: this machine alone). On "
                        "any other, token and numbers cross the network unencrypted")
    parser.add_argument("--port", type=int, default=8080, help="default %(default)s")
    parser.add_argument("--token", metavar="TEXT",
                        help="what a browser must give first (default: made anew and printed)")
    return parser


def parse(words: Sequence[str]) -> argparse.Namespace:
    """Checked options; ROS arguments are left to rclpy.

    Raises:
        InvalidSetting: a value that is not allowed.
    """
    options = make_parser().parse_args(without_ros_arguments(_NAME, words))
    if not 1 <= options.port <= 65535:
        raise InvalidSetting(f"--port is {options.port}; allowed: 1 to 65535")
    options.token = make_token() if options.token is None else checked_token(options.token)
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program; returns its exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    stop = stop_flag()
    try:
        return exit_status(lambda: run(words, stop))
    finally:
        compat.shutdown()
        ignore_signals()


def run(words: Sequence[str], stop: threading.Event) -> int:
    """Serve the view until stop is set; returns the exit status.

    Raises:
        InertialIdError: it cannot be served.
    """
    options = parse(words)
    start_ros(_NAME, words)
    node = LiveNode(options.node)
    try:
        browsers = Browsers(node, options.token, options.host, options.port)
        try:
            _say(options, browsers.port)
            executor = compat.make_executor()
            executor.add_node(node)

            def refresh() -> None:
                node.do_what_was_asked()
                browsers.show()

            node.create_timer(_PERIOD, refresh)
            compat.spin(executor, stop)
        finally:
            browsers.close()
    finally:
        node.destroy_node()
    return OK


def _say(options: argparse.Namespace, port: int) -> None:
    print(f"open http://{options.host}:{port} and give the token {options.token}", flush=True)
    if options.host not in _LOCAL:
        print(f"warning: whoever reaches {options.host} can read the token on its way",
              file=sys.stderr, flush=True)
