# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""``identify_payload``: from an unknown load to a robot that knows it, in one command.

Where no node identifies already, one is started as a process of its own: what a session finds is
then what the node would find, by the same topics and services, and whatever becomes of the command
cannot harm a node that others use.
"""

from __future__ import annotations

import argparse
import os
import sys
import threading
from collections.abc import Sequence
from itertools import takewhile

import rclpy

from ...apps.guide.show import End, Show, write_page
from ...cli import INTERRUPTED, exit_status, run_program
from ...errors import InertialIdError, InvalidData
from ..program import Children, ignore_signals, start_ros, stop_flag
from .command_line import parse
from .node_link import GuideNode, Stopped
from .session import Session

# s in which a node that runs is found: where its first announcements are lost, DDS repeats them
# after 3 s, and two nodes of one name would answer the same goals; in which one that is started
# must answer.
LOOK, START = 7.0, 30.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a session; returns the exit status (see --help)."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    own = list(takewhile(lambda word: word != "--ros-args", words))
    return exit_status(lambda: _run(parse(own, words[len(own) + 1:])))


def _run(options: argparse.Namespace) -> int:
    show = Show(options.yes, options.json or not sys.stdout.isatty())
    return run(options, stop_flag(), show).status


def run(options: argparse.Namespace, stop: threading.Event, show: Show,
        beside: Children | None = None) -> End:
    """Run a session; how it ended.

    Args:
        options: see `parse`; stop: set when the user wants to end.
        beside: processes that must live as long as the session.
    """
    start_ros("identify_payload", [])
    try:
        with Children(dict(os.environ)) as children, GuideNode(stop) as guide:
            _find_or_start(options, guide, children, beside, show)
            end = Session(guide, options, show).run()
            show.step("report")
            show.say(f"report: {write_page(options.report, show, end)}")
            show.end(end.text, end.status)
            return end
    except Stopped:
        return End(INTERRUPTED, "interrupted; nothing was applied")
    finally:
        if stop.is_set():
            ignore_signals()
        rclpy.try_shutdown()


def _find_or_start(options: argparse.Namespace, guide: GuideNode, children: Children,
                   beside: Children | None, show: Show) -> None:
    """Find the node that identifies, or start one (raises InertialIdError: it ended, or does not
    answer)."""
    if guide.wait_until(lambda: f"{options.node}/get_inertial_parameters"
                        in guide.client.services(), LOOK):
        return
    show.say(f"no node '{options.node}' runs; one is started")
    children.start("inertial_id_ros.ros.main", options.arguments)

    def answers() -> bool:
        for some in filter(None, (children, beside)):
            if text := some.describe_ended():
                raise InvalidData(text)
        return f"{options.node}/apply" in guide.client.services()

    if not guide.wait_until(answers, START):
        raise InertialIdError(f"node '{options.node}' does not answer within {START:g} s")


if __name__ == "__main__":
    raise SystemExit(run_program("identify_payload"))
