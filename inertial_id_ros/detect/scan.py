# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Judges rows as they come: marks what does not belong to the payload, finds what it became.

Calm: rows are learnt a while after they came, so that what begins slowly is not. Three rows far
off: suspect; then nothing is learnt until rows fit again (it was contact), or one hypothesis
foretells the rows better than all others.
"""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from ..model.history import History, Span
from ..model.setup import Setup, Sheet
from ..motion.motion import BIN, BIN_NS, Array
from ..motion.track import SECOND
from ..robot.robot_file import TorqueLoad
from ..samples.ring import SILENT_NS
from .bank import PAYLOAD, TURN, Bank, Kind
from .predictor import Forecast, Predictor
from .row import ALL, APART, HALF, PHI, SETUP, STEP, Row, Rows, TorqueRows

ENTER, LEAVE = 8.0, 4.0  # deviations of a row from its forecast: far off above, calm below
ACCURACY = 0.3  # of the square of the sensor's accuracy, that a row may be off
FAR, CALM = 3, 5  # successive rows that are far off for a suspicion, and calm for its end
SETTLED = 2 * HALF  # bins after the onset, from which on rows hold nothing from before
BEHIND = 2 * SETTLED  # bins after which a row is learnt, or hypotheses begin anew
STEADY = 0.2  # share of the time since the onset for which a change must be steady
KEPT = 300  # bins: after which hypotheses are given up
READINGS = 50  # rows of which a driver may take the mean as zero
LONGEST, DOUBTED = 6000, KEPT // 2  # bins of a disturbance in motion after which a fit, or one to
# so few rows as may be a zero, is given up
SILENT = SILENT_NS // BIN_NS  # bins without rows: the driver may have started anew
POUR = np.diag((PAYLOAD / 60.0) ** 2)  # of phi, in a second
EMPTY: tuple[Array, Array] = (np.zeros(10), PAYLOAD / 400.0)
ANOTHER = 0.01  # rad, s: from which rows are made anew
_ZEROS = (Kind.ZEROED, Kind.OFFSET)
_CHANGES = (Kind.PAYLOAD, Kind.RELEASED, Kind.RETURNED, Kind.LOST)
_DOUBTED = (Kind.PAYLOAD, Kind.RETURNED, Kind.OFFSET, Kind.LOST)
_DISTURBED = (Kind.CALM, Kind.PAYLOAD, Kind.RELEASED, Kind.RETURNED, *_ZEROS)


class Event(NamedTuple):
    """number: bin of the row that told; first: since when; steady: bin from which on nothing
    disturbs; change: of the mass [kg]."""

    kind: Kind
    number: int
    first: int
    steady: int
    change: float = 0.0


@dataclass
class Disturbance:
    """Rows that are suspect: since bin `onset`, when `up` (3,) was up; `near` of the last ones fit
    again. What they showed: largest residual, how far the sensor turned, squares of residuals."""

    onset: int
    up: Array
    peak: Array
    near: int = 0
    turn: float = 0.0
    surprise: list[float] = field(default_factory=list)
    banks: list[Bank] = field(default_factory=list)


class Scan:
    """Walks over the rows of a history.

    Args:
        load: of a robot whose torques, which no driver sets to zero, stand for the wrench.

    Attributes:
        predictor: of the payload as it is taken to be now; before: before the last change.
        disturbance: why rows are suspect; None: they are not.
        pours: whether the payload changes steadily.
        tool: phi (10,) and its deviations (10,) of what stays when the object is released.
    """

    def __init__(self, sheet: Sheet, load: TorqueLoad | None = None) -> None:
        self.sheet, self.tool = sheet, EMPTY
        self.setup = Setup()
        self._rows, self._can_be_zeroed = TorqueRows(load) if load else Rows(), load is None
        self._contacts: tuple[Span, ...] = ()
        self._row, self._resumed = 0, -ALL  # bins of the newest row, and after a silence
        self._pending: deque[Row] = deque()
        self._readings: deque[Array] = deque(maxlen=READINGS)
        self._begin_anew()
        self._walk = self.predictor.walk

    @property
    def onset(self) -> int | None:
        """Bin since which rows are suspect; None: they are not."""
        return None if self.disturbance is None else self.disturbance.onset

    @property
    def off(self) -> int:
        """Bin since which rows are suspect, or far off; later than any: they are not."""
        return min([ALL if self.onset is None else self.onset, *self._off])

    def _begin_anew(self) -> None:
        self.predictor = Predictor(self.sheet)
        self.before: Predictor | None = None
        self._walks = False
        self._resume()

    def _resume(self) -> None:
        """Nothing is suspect any more, and the payload is steady."""
        self.disturbance: Disturbance | None = None
        self.pours = False
        self._off: list[int] = []  # bins of successive rows that are far off: the first, the newest
        self._pending.clear()
        self._readings.clear()

    def use(self, setup: Setup, walks: bool = False) -> None:
        """Take tilt, delay and filter from the estimate of a window, where they are others.

        Args:
            walks: True if it says that the payload pours or slides now.
        """
        self._walks = walks
        mine = self.setup
        moved = np.r_[setup.tilt - mine.tilt, setup.delay - mine.delay]
        lags = [sum(some[:1]) * (2.0 * some[1] if len(some) > 1 else 1.0)  # of what is slow [s]
                for some in (setup.filter, mine.filter)]
        filters = abs(lags[0] - lags[1]) > ANOTHER
        if self.onset is not None or not (filters or (np.abs(moved) > ANOTHER).any()):
            return
        self.setup = setup
        self.predictor.mean[:, SETUP.start + 3:SETUP.stop] -= moved
        if filters or abs(moved[2]) > HALF * BIN:  # what was learnt is of another wrench
            self._begin_anew()

    def restart(self, history: History, sheet: Sheet, is_empty: bool) -> None:
        """Learn anew by another sheet; is_empty: True if only the tool was carried lately, at rest,
        and the sheet knows the zero."""
        if self.onset is not None:  # what is suspect is over
            history.marks = replace(history.marks, contacts=self._contacts, begin=self._row)
        self.sheet = sheet
        self._begin_anew()
        if is_empty:
            self.predictor.hold(*self.tool)
            first = (history.newest - SECOND) // BIN_NS + HALF
            for row in Rows(first).new(history, self.setup, self._row):
                if row.number % APART == 0:
                    self.predictor.learn_noise(self.predictor.learn(row)[0], row)

    def update(self, history: History, end: int = ALL,
               same: Callable[[Event], tuple[Setup, bool] | None] = lambda event: None
               ) -> list[Event]:
        """Judge the rows whose bins are all there, before a bin; marks the history.

        Args:
            same: what to `use` from an event on if the samples up to it, with nothing suspect left
                out, show the payload of before: then all its rows count.
        """
        out, setup = list[Event](), self.setup
        for row in self._rows.new(history, setup, end):
            if self.setup is not setup:  # the others of these few are made at the one before
                break
            for event in self.push(row):
                if event.kind in _DOUBTED:
                    history.marks = replace(history.marks, contacts=self._contacts)
                    if (known := same(event)) is not None:
                        self.use(*known)
                        event = Event(Kind.CALM, event.number, event.first, event.first - HALF)
                self._mark(history, event)
                out.append(event)
        return out

    def _mark(self, history: History, event: Event) -> None:
        """Mark what an event says; while rows are suspect, all are masked."""
        self._contacts = tuple(span for span in self._contacts if span[1] > history.first)
        if event.kind in _DISTURBED:
            self._contacts += ((event.first - HALF, event.steady),)
        suspect, was = () if self.onset is None else ((self.onset - HALF, ALL),), history.marks
        history.marks = replace(
            was, contacts=(*self._contacts, *suspect),
            begin=max(was.begin, event.steady) if event.kind in _CHANGES else was.begin,
            zero_moved=event.steady if event.kind in _ZEROS else was.zero_moved)

    def push(self, row: Row) -> Iterator[Event]:
        """Judge one row; the events that it tells."""
        if self.predictor.learnt < FAR:
            if row.number % APART == 0:
                self.predictor.learn(row)
            return
        noise = self.predictor.noise(row)[0] + ACCURACY * np.repeat(
            self.sheet.accuracy, len(row.y) // len(self.sheet.accuracy)) ** 2
        seen = self.predictor.predict(row, noise)
        distance = float(np.sqrt(seen.squares[0]))
        self._off = [*self._off[:FAR - 1], row.number] if distance > ENTER else []
        if row.number - self._row > SILENT:
            self._resumed = row.number
        self._row = row.number
        if self.disturbance is None:
            yield from self._calm(row)
        else:
            yield from self._suspect(self.disturbance, row, seen, distance)

    def _calm(self, row: Row) -> Iterator[Event]:
        if len(self._off) >= FAR:
            self.disturbance = Disturbance(self._off[0], row.up, np.zeros(len(row.y)))
            self._pending.clear()
            yield Event(Kind.SUSPECT, row.number, self._off[0], ALL)
            return
        if self._off:
            return
        if self._can_be_zeroed:
            self._readings.append(row.y)
        if row.number % APART == 0 and row.number - (self.predictor.number or 0) >= APART:
            self._pending.append(row)
        while self._pending and row.number - self._pending[0].number >= BEHIND:
            old = self._pending.popleft()
            self.predictor.learn_noise(self.predictor.learn(old)[0], old)
            if self._walks is not self.pours:
                self.pours, self.predictor.walk = self._walks, self._walk
                if self.pours:
                    self.predictor.doubting(PHI, 0.0, POUR)
                    yield Event(Kind.POURS, old.number, old.number, old.number)

    def _suspect(self, now: Disturbance, row: Row, seen: Forecast, distance: float
                 ) -> Iterator[Event]:
        """Are rows as before again, or does one hypothesis explain them?"""
        residual, age = seen.residual[0], row.number - now.onset
        if np.linalg.norm(residual[:3]) > np.linalg.norm(now.peak[:3]):
            now.peak = residual
        now.surprise.append(float(seen.squares[0]))
        shown = float((np.abs(now.peak) / np.sqrt(np.diag(seen.covariance[0]))).max())
        now.near = now.near + 1 if distance < LEAVE else 0
        if now.near >= CALM and shown > ENTER:
            self.disturbance, self._off = None, []
            yield Event(Kind.CALM, row.number, now.onset, row.number - now.near * STEP)
            return
        if age < SETTLED:
            return
        self._learn_hypotheses(now, row)
        now.turn = max(now.turn, float(np.linalg.norm(np.cross(row.up, now.up))))
        for bank in now.banks:
            waited = bank.begin - now.onset - SETTLED
            verdict = bank.verdict(row.number - bank.begin >= STEADY * (waited - APART))
            if verdict is not None:
                yield self._change(now.onset, row, bank, *verdict)
                return
        longest = LONGEST if self.predictor.learnt > READINGS else DOUBTED
        if age > longest and now.turn > 2.0 * TURN:  # from half of it on a hypothesis may be told
            noisy, was = float(np.mean(now.surprise)) / len(residual), self.predictor.scale
            self._begin_anew()
            self.predictor.scale = was * max(1.0, noisy)
            yield Event(Kind.LOST, row.number, now.onset, row.number)

    def _learn_hypotheses(self, now: Disturbance, row: Row) -> None:
        """Begin a bank of hypotheses from time to time, and learn a row in those that are there."""
        age = row.number - now.onset
        if not now.banks or row.number - now.banks[-1].begin >= max(BEHIND, 0.5 * STEADY * age):
            now.banks.append(Bank(self.predictor, self.before, row, now.peak, np.array(
                self._readings), self.tool, is_late=bool(now.banks)))
        keep, noise = max(KEPT, 2.0 * STEADY * age), self.predictor.noise(row)[0]
        now.banks = [b for b in now.banks if row.number - b.begin < keep]
        for bank in now.banks:
            if (row.number - bank.begin) % APART == 0:
                bank.learn(row, noise)

    def _change(self, onset: int, row: Row, bank: Bank, kind: Kind, predictor: Predictor) -> Event:
        if kind is Kind.CALM:
            self._resume()
            return Event(kind, row.number, onset, bank.begin - HALF)
        if kind is Kind.OFFSET and onset - self._resumed < SILENT:
            kind = Kind.ZEROED  # by a driver that has started anew: no contact waits for that
        was, self.predictor = self.predictor, predictor
        predictor.walk, predictor.scale = self._walk, was.scale
        self.before = was.copy(row.number)
        change = float(predictor.mean[0, 0] - was.mean[0, 0])
        self._resume()
        return Event(kind, row.number, onset, bank.begin - HALF, change)
