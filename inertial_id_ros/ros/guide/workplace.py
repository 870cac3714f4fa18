# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What the stages of a session share: node, robot, person, and what was done so far."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from ...apps.excitation.motions import PlannedMotion
from ...apps.guide.by_motion import rejected_row
from ...apps.guide.motions import MotionSource
from ...apps.guide.progress import Progress, Wanted
from ...apps.guide.record import End, Record, Row, describe_failed, replaced
from ...apps.guide.show import Show
from ...cli import CHECK_FAILED, INTERRUPTED, NOT_APPLIED, NOT_IDENTIFIED
from ...errors import InertialIdError
from .guide_node import LATEST, GuideNode, Stopped
from .listening import Listening
from .node_link import NodeLink

_SHOWN = 0.2  # s between two looks at what is known
_BY_HAND = 0.15  # rad that a joint moves at least where the arm is moved by hand
_AFTER_A_STOP = ("Mend what stopped the arm, make sure that nothing touches it, and run the "
                 "command again: it begins anew.")
_NO_ANSWER = (f"The controller has not answered. This program stays for up to {LATEST:g} s, and "
              "cancels the motion if the controller accepts it after all.")
_STILL = 0.01  # rad within which an arm is at rest again


class Mover(Protocol):
    """Moves the arm, and stops it.

    Attributes:
        was_rejected: whether the controller rejected the last motion.
        is_patient: whether motions go on where the node doubts frames and sign: small ones, which
            are made to find that out.
        is_at_rest: False if the controller has not said that the last motion ended.
    """

    was_rejected: bool
    is_at_rest: bool
    is_patient: bool

    def run(self, motion: PlannedMotion, told: Callable[[], object]) -> str:
        """Make a motion; why it ended before its end, in words, or empty.

        Args:
            told: called now and then while the arm moves.
        """


@dataclass(frozen=True)
class Plan:
    """What a session is asked to do.

    Attributes:
        wanted: accuracy; timeout: of the identification [s].
        only_check, dry_run: end after the checks, or before anything is applied.
        target: of ~/apply; empty: that of the node; controller: to use, where there are several.
    """

    wanted: Wanted
    timeout: float
    only_check: bool = False
    dry_run: bool = False
    target: str = ""
    controller: str = ""


class Motions(NamedTuple):
    """Where motions come from, and who makes them.

    Attributes:
        make_source: plans motions from a pose.
        make_mover: makes the motions of a source; None: a person moves the arm, who is told what
            to do.
        display: shows where a motion leads from a pose.
    """

    make_source: Callable[[Mapping[str, float]], MotionSource]
    make_mover: Callable[[MotionSource], Mover] | None
    display: Callable[[MotionSource, PlannedMotion, Mapping[str, float]], None]


class Ended(Exception):
    """A stage ends the session."""

    def __init__(self, status: int, text: str, advice: str = "") -> None:
        super().__init__(text)
        self.end = End(status, text, advice)


class Workplace:
    """An arm with a payload, the node that identifies it, and whoever moves the arm.

    Attributes:
        guide, link, listening, show, plan: as given; record: what happened.
        wanted: accuracy.
        source: plans motions; mover: makes them; None before the first, or where a person does.
        is_identifying: whether what is known is shown.
    """

    def __init__(self, guide: GuideNode, link: NodeLink, listening: Listening, show: Show,
                 plan: Plan, motions: Motions) -> None:
        self.guide, self.link, self.listening = guide, link, listening
        self.show, self.plan, self._motions = show, plan, motions
        self.record, self.wanted = Record(), plan.wanted
        self.source: MotionSource | None = None
        self.mover: Mover | None = None
        self.is_identifying = False

    @property
    def moves_itself(self) -> bool:
        """Whether no person needs to move the arm."""
        return self._motions.make_mover is not None

    @property
    def pose(self) -> dict[str, float]:
        """Where every joint is now [rad or m]."""
        return self.listening.received.newest_positions()

    def note_rows(self, rows: tuple[Row, ...]) -> None:
        """Show rows and keep them."""
        for row in rows:
            self.show.row(row)
        self.record.rows = replaced(self.record.rows, rows)

    def begin_goal(self) -> None:
        """Have the node forget what it knew, and begin."""
        if self.plan.only_check:
            return
        try:
            self.link.begin(0.0, 0.0, 0.0, self.plan.timeout, keep_data=False)
        except InertialIdError as error:
            raise Ended(CHECK_FAILED, str(error)) from None
        self.is_identifying = True

    def look(self, seconds: float) -> Progress:
        """Show what is known, for so long."""
        end = time.monotonic() + seconds
        while True:
            progress = self.link.progress(self.wanted, self.plan.timeout)
            last = self.record.progress[-1].elapsed if self.record.progress else -_SHOWN
            if self.is_identifying and abs(progress.elapsed - last) >= _SHOWN:
                self.show.progress(progress)
                self.record.progress.append(progress)
            left = end - time.monotonic()
            if left <= 0.0:
                return progress
            self.guide.wait(min(left, _SHOWN))

    # ---- motion ----------------------------------------------------------------------------------

    def plan_from_here(self) -> MotionSource:
        """What plans motions around the present pose; kept, as it knows what was made before
        (raises InertialIdError)."""
        if self.source is None:
            self.source = self._motions.make_source(self.pose)
            if self._motions.make_mover is not None:
                self.mover = self._motions.make_mover(self.source)
        return self.source

    def display(self, motion: PlannedMotion) -> None:
        """Show where a motion leads from here."""
        self._motions.display(self.plan_from_here(), motion, self.pose)

    def move(self, motion: PlannedMotion) -> None:
        """Make a motion (raises Ended where it does not come to its end)."""
        assert self.mover is not None
        self.display(motion)
        self.show.motion(motion.words, motion.duration)
        self.record.motions.append((motion.words, motion.duration))
        ended = self.mover.run(motion, lambda: self.look(0.0))
        if not self.mover.is_at_rest:
            raise Ended(INTERRUPTED if self.guide.stop.is_set() else self._stopped_status,
                        f"It is not known whether the arm has stopped ({ended}): use the emergency "
                        f"stop. {self._applied}", _NO_ANSWER)
        if self.guide.stop.is_set():
            raise Stopped
        if ended and self.mover.was_rejected and len(self.record.motions) == 1:
            self.note_rows((rejected_row(ended),))
            raise Ended(CHECK_FAILED, describe_failed(self.record.rows) + " Nothing has moved.")
        if ended:
            raise Ended(self._stopped_status, f"The arm has stopped: {ended}. {self._applied}",
                        _AFTER_A_STOP)

    @property
    def _stopped_status(self) -> int:
        """Exit status where the arm was stopped."""
        return NOT_APPLIED if self.record.proof else NOT_IDENTIFIED

    @property
    def _applied(self) -> str:
        """Sentence on whether the payload was applied."""
        return ("The payload was applied; its check was not finished." if self.record.applied
                else "Nothing was applied.")

    def have_moved(self, words: str) -> None:
        """Tell a person a motion, and wait until the arm has moved and rests again."""
        self.show.motion(words, 0.0)
        self.record.motions.append((words, 0.0))
        begin, moved = self.pose, False
        before, deadline = begin, time.monotonic() + self.plan.timeout
        while time.monotonic() < deadline:
            self.look(0.5)
            now = self.pose
            moved = moved or _farthest(begin, now) > _BY_HAND
            if moved and _farthest(before, now) < _STILL:
                return
            before = now
        raise Ended(NOT_IDENTIFIED, f"Nobody has moved the arm for {self.plan.timeout:g} s.")


def _farthest(a: Mapping[str, float], b: Mapping[str, float]) -> float:
    """Largest difference between two poses [rad or m]."""
    return max((abs(a[name] - b[name]) for name in a if name in b), default=0.0)
