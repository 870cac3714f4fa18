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
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple

from ...apps.guide.record import End, Record
from ...cli import INTERRUPTED, exit_status, identify_payload

if TYPE_CHECKING:
    from ...apps.excitation.motions import PlannedMotion
    from ...apps.guide.motions import MotionSource
    from ...apps.guide.progress import Wanted
    from ...apps.guide.show import Show
    from ..program import Children
    from .command_line import Options
    from .guide_node import GuideNode
    from .listening import Listening
    from .node_link import NodeLink
    from .workplace import Mover

_MARGIN = 1.25  # of the accuracy that no motion surpasses
_START = 30.0  # s in which a node that is started must answer


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a session; returns the exit status (see --help)."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    own = list(takewhile(lambda word: word != "--ros-args", words))
    return exit_status(lambda: _run(own, words[len(own) + 1:]))


def _run(words: list[str], ros_words: list[str]) -> int:
    from ..program import stop_flag
    from .command_line import parse

    options = parse(words, ros_words)
    stop = stop_flag()
    show = make_show(options.yes, options.json)
    return run(options, stop, show).end.status


def make_show(yes: bool, json: bool) -> Show:
    """A terminal for a person, else lines of JSON.

    Args:
        yes: what is answered to every question; json: lines of JSON on a terminal, too.
    """
    from ...apps.guide.show import JsonLines
    from ...apps.guide.terminal import Console, Terminal

    console = Console(highlight=False)
    if console.is_terminal and not json:
        return Terminal(console, yes)
    return JsonLines(sys.stdout, yes)


class Outcome(NamedTuple):
    """How a session ended, and what happened; None where it did not begin."""

    end: End
    record: Record | None


def run(options: Options, stop: threading.Event, show: Show,
        observe: Callable[[GuideNode], None] = lambda guide: None,
        beside: Children | None = None) -> Outcome:
    """Run a session.

    Args:
        stop: set when the user wants to end.
        observe: called with the command's node before the session.
        beside: processes that must live as long as the session.
    """
    from .. import compat
    from ..program import Children, ignore_signals
    from .guide_node import GuideNode, Stopped

    compat.init([])
    try:
        with Children(dict(os.environ)) as children, GuideNode(stop) as guide:
            try:
                observe(guide)
                return _session(options, guide, [children, *filter(None, [beside])], show)
            except Stopped:
                return Outcome(End(INTERRUPTED, "interrupted; nothing was applied"), None)
            finally:
                show.close()
                if stop.is_set():
                    ignore_signals()
    finally:
        compat.shutdown()


def _find_or_start(options: Options, guide: GuideNode, children: Sequence[Children], show: Show
                   ) -> None:
    """Find the node that identifies, or start one."""
    from .node_link import find_node, wait_for_node

    if not find_node(guide, options.node):
        show.say(f"no node '{options.node}' runs; one is started")
        children[0].start("inertial_id_ros.ros.main", options.arguments)
        wait_for_node(guide, options.node, lambda: "; ".join(
            filter(None, (some.describe_ended() for some in children))), _START)


def _session(options: Options, guide: GuideNode, children: Sequence[Children], show: Show
             ) -> Outcome:
    """Find or start the node, run the session, and write the report."""
    from ...apps.guide.page import write_page
    from .listening import Listening
    from .node_link import NodeLink
    from .session import run_session
    from .workplace import Motions, Plan, Workplace

    _find_or_start(options, guide, children, show)
    link = NodeLink(guide, options.node)
    listening = Listening(guide, options.node, link.settings)
    plan = Plan(reachable(options.wanted, link), options.timeout, options.only_check,
                options.dry_run, options.target, options.controller)
    place = Workplace(guide, link, listening, show, plan, Motions(
        _source_maker(options, listening),
        _mover_maker(options, guide, listening, link) if options.motion else None,
        _make_display(guide)))
    end = run_session(place)
    show.step("report")
    show.say(f"report: {write_page(options.report, place.record, end)}")
    show.end(end.text, end.status)
    return Outcome(end, place.record)


def reachable(wanted: Wanted, link: NodeLink) -> Wanted:
    """The accuracy that was asked for, or what the mounting of the sensor allows."""
    known = link.settings.alignment
    least = 0.0 if known.estimate_position else _MARGIN * 2.0 * known.position_sd
    return replace(wanted, com=max(wanted.com, least))


def _source_maker(options: Options, listening: Listening
                  ) -> Callable[[Mapping[str, float]], MotionSource]:
    """A function that plans motions from a pose."""
    from ...apps.excitation.collision import box_obstacle
    from ...apps.excitation.motions import MotionLimits
    from ...apps.guide.motions import MotionSource

    def make(pose: Mapping[str, float]) -> MotionSource:
        received = listening.received
        return MotionSource(received.description, received.sensor_frame, pose, received.settings,
                            MotionLimits(link_speed=options.link_speed, floor=options.floor),
                            options.box, [*(box_obstacle(f"keep-out box {k + 1}", corners) for
                                            k, corners in enumerate(options.keep_out)),
                                          *listening.scene.obstacles])

    return make


def _make_display(guide: GuideNode
                  ) -> Callable[[MotionSource, PlannedMotion, Mapping[str, float]], None]:
    """A function that shows in RViz where a motion leads from a pose."""
    from ..motion_execution import MotionDisplay

    made: list[MotionDisplay] = []

    def show(source: MotionSource, motion: PlannedMotion, pose: Mapping[str, float]) -> None:
        if not made:
            made.append(MotionDisplay(guide.node, source.arm))
        made[0].show(motion, source.positions(pose))

    return lambda *what: guide.jobs.run(lambda: show(*what))


def _mover_maker(options: Options, guide: GuideNode, listening: Listening, link: NodeLink
                 ) -> Callable[[MotionSource], Mover]:
    """A function that moves the arm as a source plans it."""
    from .mover import ControllerMover

    return lambda source: ControllerMover(guide, listening, link, options.controller,
                                          source.problems, options.silence)


if __name__ == "__main__":
    raise SystemExit(identify_payload())
