# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What follows from the samples since they last began anew: history, scan, load to remove, and
what the estimates say. A function of the samples alone, whoever asks and when."""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..compensation.live import Latch
from ..detect.bank import Kind
from ..detect.scan import EMPTY, HALF, Event, Scan
from ..explain.explain import Explanation
from ..explain.torques import torque_sheet
from ..model.history import LONGEST, History
from ..model.setup import Setup
from ..motion.motion import BIN, BIN_NS, Array, IntArray, Motion
from ..motion.track import SECOND, Fault
from ..robot.robot_file import TorqueLoad
from .beliefs import Basis
from .estimate import Conclusion, Reason, estimate, walk_of

NAMES = {Kind.PAYLOAD: "payload_changed", Kind.RELEASED: "payload_changed",
         Kind.RETURNED: "payload_changed", Kind.ZEROED: "zero_moved.wrench",
         Kind.OFFSET: "zero_or_contact", Kind.POURS: "payload_walks", Kind.LOST: "estimate_lost"}
ENDING = NAMES.keys() - {Kind.OFFSET, Kind.POURS}  # of what was estimated before
SHOWN_NS = 3 * SECOND  # for which the finding of an event stands
EVERY, PACE = 50, 10  # bins between estimates that scan and latch read; from judging to judging
LATER = 1000  # bins after a search, after which is searched anew
GROWN = 1.25  # of the bins that count, or of what the models left, from which on is searched anew


class Known(NamedTuple):
    """What a search found: made before the bin `end`, of `used` bins that count; where it is
    refuted, none follows for `pause` bins."""

    end: int
    used: int
    pause: int
    found: Explanation


class Course:
    """See the module.

    Args:
        now: newest stamp [ns]; load: of the joints that measure it; None: a wrench does.

    Attributes:
        basis: of estimates from now on; history, scan, latch: as their classes say.
        newest: what was concluded last; None before anything.
    """

    def __init__(self, basis: Basis, now: int, load: TorqueLoad | None = None) -> None:
        by_driver, own = basis.beliefs.compensated, basis.settings
        weighed = by_driver if by_driver.any() and own.precompensated.terms == "weight" else None
        self.history, self.latch = History(weighed=weighed), Latch(weighed)
        sheet = torque_sheet(load) if load else basis.beliefs.sheet(own, now)
        self._load, self.scan = load, Scan(sheet, load)
        self.basis = basis
        self.newest: Conclusion | None = None
        self._events: dict[str, tuple[int, float, int]] = {}  # bin, change of mass [kg], how often
        self._judged = -2 * round(LONGEST / BIN)  # bin before which rows are judged
        self._faults: list[Fault] = []
        self.believe(basis)

    def believe(self, basis: Basis) -> None:
        """Go on with the same samples on another basis."""
        was, self.basis = self.basis, basis
        self._until = -1  # bin before which the newest conclusion on this basis was made
        self._known: tuple[Known, ...] = ()  # last two searches for this payload
        self._waiting: tuple[int, Conclusion] | None = None  # until the scan has judged its rows
        tool = basis.beliefs.tool
        self.scan.tool = EMPTY if tool is None else (tool.phi, np.sqrt(np.diag(tool.covariance)))
        before, now = ((some.beliefs.tare, some.settings.wrench, some.settings.alignment)
                       for some in (was, basis))
        if self._load is None and before != now:
            newest, tare = self.history.newest, basis.beliefs.tare
            if is_empty := tare is not None and tare.stamp_ns == newest:  # it is measured now
                self.latch.offset = np.zeros(6)
            self.scan.restart(self.history, basis.beliefs.sheet(basis.settings, newest), is_empty)

    def append(self, motion: Motion, stamps: IntArray, wrench: Array, faults: list[Fault]) -> None:
        """Take bins of motion, W + bias (m, 6) at stamps (m,) [ns], and faults of any bins."""
        self._faults += faults
        self.history.append(motion, stamps, wrench)

    @property
    def ready(self) -> int:
        """Bin before which motion and wrench are complete; 0 while there are not both."""
        return min(self.history.end, self.history.newest // BIN_NS)

    @property
    def period(self) -> int:
        """Bins from one estimate that is published to the next."""
        return round(1.0 / (self.basis.settings.estimator.rate * BIN))

    def advance(self) -> Iterator[Conclusion]:
        """Judge the next bins that are all there: scan the rows whose bins are before the end,
        whatever is there of later ones. What an estimate says holds for the rows after it.

        Returns:
            What was concluded, where that is due: by the rate, and where a change ends it.
        """
        while self.ready and (end := self._judged + PACE) <= self.ready:
            there = self.history.next(self._judged)
            if there - self._judged > LONGEST / BIN:  # the first, or a clock that was set
                self._judged = there // EVERY * EVERY
                continue
            self._judged = end
            self._mark_faults(end)
            due = end - end % self.period
            late = max(round(self.scan.setup.delay / BIN), 0)
            for event in self.scan.update(self.history, end - late, self._same):
                self._note(event)
                due = end if event.kind in ENDING else due
            if end % EVERY == 0:
                self._conclude(end)
            if self._load is None:  # no load is taken off joint torques
                self.latch.update(self.scan)
            if due > end - PACE:
                yield self.conclusion(due)

    def _note(self, event: Event) -> None:
        if self._load is None:
            self.latch.update(self.scan, event)
        if event.kind is Kind.SUSPECT:
            self._distrust(event.first - HALF)
        elif name := NAMES.get(event.kind):
            self._known = self._known if event.kind is Kind.POURS else ()
            if self._load is not None and event.kind is Kind.OFFSET:
                name = "zero_moved.joints"
            count = self._events[name][2] if name in self._events else 0
            self._events[name] = event.number, event.change, count + 1

    def findings(self) -> Iterator[Reason]:
        """Kinds and numbers of what the scan found lately. The finding of an event stands for a
        while, that of a contact as long as it lasts, or is left in the compensated wrench."""
        offset = np.abs(self.latch.offset) - np.repeat(self.basis.settings.wrench.accuracy, 3)
        for name, (number, change, count) in self._events.items():
            lasts = name == NAMES[Kind.OFFSET] and offset.max() > 0.0
            if lasts or (self._judged - number) * BIN_NS < SHOWN_NS:
                yield name, {"change": change, "count": count}
        if self.scan.onset is not None:
            yield "contact", {"seconds": BIN * (self._judged - self.scan.onset),
                              "count": len(self.history.marks.contacts)}

    def _distrust(self, onset: int) -> None:
        """Drop what was found in windows that reach beyond a bin: estimates use samples before the
        scan can judge them, and would explain another payload by another set-up."""
        self._known = tuple(known for known in self._known if known.end <= onset)
        if self._waiting is not None and self._waiting[0] > onset:
            self._waiting = None

    def _mark_faults(self, end: int) -> None:
        """Mark bins whose motion or wrench was known to be wrong before a bin."""
        spans = tuple((f.first // BIN_NS - HALF, f.last // BIN_NS + HALF + 1)
                      for f in self._faults if f.known < end * BIN_NS)
        if spans:
            self._faults = [fault for fault in self._faults if fault.known >= end * BIN_NS]
            marks, first = self.history.marks, self.history.first
            self.history.marks = replace(marks, faults=(
                *(span for span in marks.faults if span[1] > first), *spans))

    def _conclude(self, end: int) -> None:
        """Let scan and latch know what the estimate before a bin says; search, where that is due.

        While rows are suspect nothing is searched: estimates that were due in between, whose
        number depends on the rate, must see the same models.
        """
        until = min(end, self.scan.off - HALF)
        if self.newest is None or until != self._until:
            self.newest, self._until = self._estimate(until, search=until == end), until
        was, self._waiting = self._waiting, (end, self.newest)
        if was is not None and (explained := was[1].explained) is not None:
            self.scan.use(explained.setup, any(walk_of(explained)))
        if self.newest.explained is not None:
            self.latch.judge(end, self.newest.doubt)
        beliefs = self.basis.beliefs
        if beliefs.tare and was is not None and "tare_not_used" in dict(was[1].findings):
            self.believe(replace(self.basis, beliefs=replace(
                beliefs, tare=replace(beliefs.tare, refuted="loaded"))))

    def conclusion(self, end: int) -> Conclusion:
        """What follows from the history before a bin, and what is off now. It changes nothing."""
        until = min(end, self.scan.off - HALF)
        known = self.newest if until == self._until else None
        return known or self._estimate(until)

    def _same(self, event: Event) -> tuple[Setup, bool] | None:
        """The set-up, and whether the payload walks, if one payload and causes that the scan knows
        nothing of explain the samples up to an event: those of the last search before or, where
        nothing explains them to the scan, just another set-up, which a new search finds."""
        self._distrust(event.first - HALF)
        is_known = any(term.is_inexact for last in self._known[-1:]
                       for term in last.found.best.terms)
        if not is_known:
            if event.kind is not Kind.LOST:
                return None
            self._known = ()
        said = self._estimate(event.number + HALF)
        if said.explained is None or not said.outcome.valid or self._is_refuted(said) or not (
                is_known or said.explained.is_undisturbed):
            return None
        return said.explained.setup, any(walk_of(said.explained))

    def _is_refuted(self, said: Conclusion) -> bool:
        """True if a conclusion does not explain its samples, or not as well as what the last search
        found, if there was one, explained older ones."""
        now = said.explained
        return now is None or now.is_outdated or (now.is_surprising and not any(
            now.surprise <= GROWN * last.found.surprise for last in self._known[-1:]))

    def _estimate(self, end: int, search: bool = False) -> Conclusion:
        """The estimate before a bin, by the models of the last search if it was of this payload.

        Args:
            search: whether to search anew where that is due, and to remember what it finds.
        """
        window = self.history.window(end, self.basis.settings.buffer.window)
        robot = (self._load, self.history.marks.zero_moved > 0) if self._load else None
        last, used = self._known[-1:], int(window.used.sum())
        if last and not (search and (
                end - last[0].end >= LATER or used > GROWN * last[0].used)):
            said = estimate(window, end, self.basis, last[0].found, robot)
            if not search or end - last[0].end < last[0].pause or not self._is_refuted(said):
                return said
        said = estimate(window, end, self.basis, None, robot)
        if search and (found := said.explained) is not None:
            pause = min(2 * last[0].pause, LATER) if last and found.is_surprising else EVERY
            self._known = *last, Known(end, used, pause, found)
        return said
