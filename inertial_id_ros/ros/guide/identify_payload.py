# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""``identify_payload``: from an unknown load to a robot that knows it, in one command.

Where no node identifies already, one is started as a process of its own: what a session finds is
then what the node would find, by the same topics and services, and whatever becomes of the command
cannot harm a node that others use.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Sequence
from itertools import takewhile
from typing import NamedTuple

from ...apps.guide.page import End, Record, write_page
from ...apps.guide.show import Show
from ...cli import INTERRUPTED, exit_status, identify_payload
from .. import compat
from ..program import Children, ignore_signals, stop_flag
from .command_line import Options, parse
from .guide_node import GuideNode, Stopped
from .node_link import find_node, wait_for_node
from .session import Session

START = 30.0  # s in which a node that is started must answer


class Outcome(NamedTuple):
    """How a session ended, and what happened; None where it did not begin."""

    end: End
    record: Record | None


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a session; returns the exit status (see --help)."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    own = list(takewhile(lambda word: word != "--ros-args", words))
    return exit_status(lambda: _run(parse(own, words[len(own) + 1:])))


def _run(options: Options) -> int:
    show = Show(options.yes, options.json or not sys.stdout.isatty())
    return run(options, stop_flag(), show).end.status


def run(options: Options, stop: threading.Event, show: Show,
        observe: Callable[[GuideNode], None] = lambda guide: None,
        beside: Children | None = None) -> Outcome:
    """Run a session.

    Args:
        stop: set when the user wants to end.
        observe: called with the command's node before the session.
        beside: processes that must live as long as the session.
    """
    compat.init([])
    try:
        with Children(dict(os.environ)) as children, GuideNode(stop) as guide:
            try:
                observe(guide)
                _find_or_start(options, guide, [children, *filter(None, [beside])], show)
                session = Session(guide, options, show)
                end = session.run()
                show.step("report")
                show.say(f"report: {write_page(options.report, session.record, end)}")
                show.end(end.text, end.status)
                return Outcome(end, session.record)
            except Stopped:
                return Outcome(End(INTERRUPTED, "interrupted; nothing was applied"), None)
            finally:
                if stop.is_set():
                    ignore_signals()
    finally:
        compat.shutdown()


def _find_or_start(options: Options, guide: GuideNode, children: Sequence[Children], show: Show
                   ) -> None:
    """Find the node that identifies, or start one."""
    if not find_node(guide, options.node):
        show.say(f"no node '{options.node}' runs; one is started")
        children[0].start("inertial_id_ros.ros.main", options.arguments)
        wait_for_node(guide, options.node, lambda: "; ".join(
            filter(None, (some.describe_ended() for some in children))), START)


if __name__ == "__main__":
    raise SystemExit(identify_payload())
