# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Judges rows as they come: marks what does not belong to the payload, finds what it became.

Calm: rows are learnt a while after they came, so that what begins slowly is not. Three rows far
off: suspect; then nothing is learnt until rows fit again (it was contact), or one hypothesis
foretells the rows better than all others.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import ClassVar, NamedTuple

import numpy as np

from ..model.history import History, Span
from ..model.setup import Setup, Sheet
from ..motion.motion import Array
from ..motion.robot import Chain
from ..robot.robot_file import TorqueLoad
from .bank import TURN, Bank, Kind, has_moved
from .predictor import Forecast, Predictor
from .row import ALL, APART, BIAS, HALF, PHI, SETUP, STEP, Row, Rows, TorqueRows

ENTER, LEAVE = 6.0, 4.0  # deviations
ACCURACY = 0.3  # of the square of the sensor's accuracy, that a row may be off
FAR, CALM = 3, 5  # successive rows
BEHIND = 40  # bins after which a row is learnt
FIRST = 4  # rows that are learnt at once
SETTLED = 2 * HALF  # bins after the onset, from which on rows hold nothing from before
HEAD, ENOUGH = 8.0, 3.0  # odds, logarithms, for a payload to pour, and to have stopped
STEADY = 0.2  # share of the time since the onset for which a change must be steady
ANEW, KEPT = 48, 300  # bins: after which hypotheses begin anew, and are given up
VISIBLE = 8.0  # deviations: so large a contact would show in so few rows
READINGS = 50  # rows of which a driver may take the mean as zero
LONGEST, DOUBTED, RIPE = 6000, 150, 40  # bins of a disturbance in motion after which a fit, or one
# to so few rows, is given up
SILENT = 50  # bins without rows: the driver may have started anew
POUR = np.diag(np.r_[0.03, np.full(3, 0.005), np.full(6, 0.0005)] ** 2)  # of phi, in a second
EMPTY = (np.zeros(10), np.r_[0.005, np.full(3, 0.001), np.full(6, 1e-4)])
ANOTHER = np.array([0.015, 0.015, 0.006])  # rad, rad, s: from which rows are made anew
_ZEROS = (Kind.ZEROED, Kind.OFFSET)
_CHANGES = (Kind.PAYLOAD, Kind.RELEASED, Kind.RETURNED, Kind.SETTLED, Kind.LOST)
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


class Scan:
    """Walks over the rows of a history.

    Args:
        rows: made of something else than a wrench, which no driver sets to zero.

    Attributes:
        predictor: of the payload as it is taken to be now; before: before the last change.
        onset: bin since which rows are suspect; None: they are not.
        pours: whether the payload changes steadily.
        tool: phi (10,) and its deviations (10,) of what stays when the object is released.
    """

    def __init__(self, sheet: Sheet, tool: tuple[Array, Array] | None = None,
                 rows: Rows | None = None) -> None:
        self.sheet, self.tool = sheet, tool or EMPTY
        self.setup = Setup()
        self._rows, self._can_be_zeroed = rows or Rows(), rows is None
        self._contacts: tuple[Span, ...] = ()
        self._row, self._resumed = 0, -ALL  # bins of the newest row, and after a silence
        self._begin_with(Predictor(sheet))

    def _begin_with(self, predictor: Predictor) -> None:
        self.predictor = predictor
        self.before: Predictor | None = None
        self._is_told_to_pour = False
        self._walk, self._changed = predictor.walk, -KEPT
        self._resume()

    def _resume(self) -> None:
        """Nothing is suspect any more, and the payload is steady."""
        self.onset: int | None = None
        self.pours = False
        self._first = self._far = self._near = 0
        self._rivals: Predictor | None = None
        self._pending: deque[Row] = deque()
        self._readings: deque[Array] = deque(maxlen=READINGS)

    def use(self, setup: Setup, walks: bool = False) -> None:
        """Take tilt, delay and filter from the estimate of a window, where they are others.

        Args:
            walks: True if it says that the payload pours or slides now.
        """
        self._is_told_to_pour = walks
        mine = self.setup
        moved = np.r_[setup.tilt - mine.tilt, setup.delay - mine.delay]
        filters = abs(_lag(setup.filter) - _lag(mine.filter)) > ANOTHER[2]
        if self.onset is not None or not (filters or (np.abs(moved) > ANOTHER).any()):
            return
        self.setup = setup
        self.predictor.mean[:, SETUP.start + 3:SETUP.stop] -= moved
        if filters:  # what was learnt is of another wrench
            self._begin_with(Predictor(self.sheet))

    def update(self, history: History, end: int = ALL,
               is_same: Callable[[Event], bool] = lambda event: False) -> list[Event]:
        """Judge the rows whose bins are all there, before a bin; marks the history.

        Args:
            is_same: true if the samples up to an event, with nothing suspect left out, show the
                payload of before: then nothing has changed, and all its rows count.
        """
        out: list[Event] = []
        for row in self._rows.new(history, self.setup, end):
            for event in self.push(row):
                if event.kind in _DOUBTED:
                    history.marks = replace(history.marks, contacts=self._contacts)
                    if is_same(event):
                        event = Event(Kind.CALM, event.number, event.first, event.first - HALF)
                self._mark(history, event)
                out.append(event)
        return out

    def _mark(self, history: History, event: Event) -> None:
        """Mark what an event says; while rows are suspect, all are masked."""
        kept = tuple(span for span in self._contacts if span[1] > history.first)
        if event.kind in _DISTURBED:
            kept = (*kept, (event.first - HALF, event.steady))
        self._contacts = kept
        suspect = () if self.onset is None else ((self.onset - HALF, ALL),)
        marks = replace(history.marks, contacts=(*kept, *suspect))
        if event.kind in _CHANGES:
            marks = replace(marks, begin=max(marks.begin, event.steady))
        if event.kind in _ZEROS:
            marks = replace(marks, zero_moved=event.steady)
        history.marks = marks

    def push(self, row: Row) -> Iterator[Event]:
        """Judge one row; the events that it tells."""
        if self.predictor.learnt < FIRST:
            if row.is_independent:
                self.predictor.learn(row)
            return
        noise = self.predictor.noise(row)[0] + ACCURACY * np.repeat(
            self.sheet.accuracy, len(row.y) // len(self.sheet.accuracy)) ** 2
        seen = self.predictor.predict(row, noise)
        distance = float(np.sqrt(seen.squares[0]))
        if distance < LEAVE or self._far + self._near == 0:
            self._first = row.number
        self._far = self._far + 1 if distance > ENTER else 0
        if row.number - self._row > SILENT:
            self._resumed = row.number
        self._row = row.number
        yield from self._calm(row) if self.onset is None else self._suspect(row, seen, distance)

    def _calm(self, row: Row) -> Iterator[Event]:
        if self._far >= FAR:
            self.onset, self._near = self._first, 0
            self._banks, self._surprise = list[Bank](), list[float]()
            self._peak, self._up, self._turn = np.zeros(len(row.y)), row.up, 0.0
            self._pending.clear()
            yield Event(Kind.SUSPECT, row.number, self.onset, ALL)
            return
        if self._far:
            return
        if self._can_be_zeroed:
            self._readings.append(row.y)
        if row.is_independent and row.number - (self.predictor.number or 0) >= APART:
            self._pending.append(row)
        while self._pending and row.number - self._pending[0].number >= BEHIND:
            old = self._pending.popleft()
            self.predictor.learn_noise(self.predictor.learn(old)[0], old)
            yield from self._judge_pour(old)

    def _judge_pour(self, row: Row) -> Iterator[Event]:
        """Does a payload that walks foretell the rows better than a steady one and its shadow?"""
        if self._is_told_to_pour and not self.pours:
            self.pours = True
            yield Event(Kind.POURS, row.number, row.number, row.number)
            self._rivals = None
        if self._rivals is None:
            self._watch_pour(row)
            return
        self._rivals.learn(row)
        other, shadow = self._rivals.score.tolist()
        lead = other - max(float(self.predictor.score[0]), shadow)
        is_over = row.number - self._since >= KEPT
        rests = is_over and not has_moved(row, self._a)
        if lead > (ENOUGH if self.pours else HEAD) or (self.pours and rests):
            self.predictor, self.pours = self._rivals.one(0), not self.pours
            yield Event(Kind.POURS if self.pours else Kind.SETTLED, row.number, self._since,
                        self._since)
            self._watch_pour(row)
        elif is_over:
            self._watch_pour(row)

    def _watch_pour(self, row: Row) -> None:
        """Begin to compare: the predictor with the other one, walking or steady, and a shadow."""
        steady = self.predictor.copy(row.number)
        steady.walk = self._walk
        walking = steady.copy(row.number).doubting(PHI, 0.0, POUR)
        shadow = steady.copy(row.number).doubting(BIAS, 0.0, row.A @ POUR @ row.A.T)
        self.predictor = walking if self.pours else steady.copy(row.number)
        self._rivals = Predictor.beside([steady, steady] if self.pours else [walking, shadow])
        self._since, self._a = row.number, row.felt

    def _suspect(self, row: Row, seen: Forecast, distance: float) -> Iterator[Event]:
        """Are rows as before again, or does one hypothesis explain them?"""
        assert self.onset is not None
        residual, age = seen.residual[0], row.number - self.onset
        if np.linalg.norm(residual[:3]) > np.linalg.norm(self._peak[:3]):
            self._peak = residual
        self._surprise.append(float(seen.squares[0]))
        shown = float((np.abs(self._peak) / np.sqrt(np.diag(seen.covariance[0]))).max())
        self._near = self._near + 1 if distance < LEAVE else 0
        if self._near >= CALM * max(1.0, (VISIBLE / shown) ** 2):
            event = Event(Kind.CALM, row.number, self.onset, row.number - self._near * STEP)
            self.onset, self._far, self._near = None, 0, 0
            yield event
            return
        if age < SETTLED:
            return
        if not self._banks or row.number - self._banks[-1].begin >= max(ANEW, 0.5 * STEADY * age):
            self._banks.append(Bank(self.predictor, self.before, row, self._peak, np.array(
                self._readings), self.tool, is_late=bool(self._banks)))
        keep, noise = max(KEPT, 2.0 * STEADY * age), self.predictor.noise(row)[0]
        self._banks = [b for b in self._banks if row.number - b.begin < keep]
        for bank in self._banks:
            if (row.number - bank.begin) % APART == 0:
                bank.learn(row, noise)
        self._turn = max(self._turn, float(np.linalg.norm(np.cross(row.up, self._up))))
        if age > (LONGEST if self.predictor.learnt > RIPE else DOUBTED) and self._turn > TURN:
            # Nothing explains the rows for long: another set-up, or the fit was wrong.
            event = Event(Kind.LOST, row.number, self.onset, row.number)
            noisy, was = float(np.mean(self._surprise)) / len(residual), self.predictor.scale
            self._begin_with(Predictor(self.sheet))
            self.predictor.scale = was * max(1.0, noisy)
            yield event
            return
        for bank in self._banks:
            waited = bank.begin - self.onset - SETTLED
            told = bank.verdict(row.number - bank.begin >= STEADY * (waited - APART))
            if told is not None:
                yield self._change(row, bank, *told)
                if self.pours:
                    yield Event(Kind.POURS, row.number, bank.begin, bank.begin)
                return

    def _change(self, row: Row, bank: Bank, kind: Kind, predictor: Predictor) -> Event:
        assert self.onset is not None
        if kind is Kind.OFFSET and self.onset - self._resumed < SILENT:
            kind = Kind.ZEROED  # by a driver that has started anew: no contact waits for that
        was, self.predictor = self.predictor, predictor
        predictor.walk, predictor.scale = self._walk, was.scale
        self.before = was.copy(row.number)
        pours = kind is Kind.PAYLOAD and row.number - self._changed < KEPT  # one after another
        change = float(predictor.mean[0, 0] - was.mean[0, 0])
        event = Event(kind, row.number, self.onset, bank.begin - HALF, change)
        self._changed = row.number if kind is Kind.PAYLOAD else self._changed
        self._resume()
        if pours:
            self.pours = True
            self._watch_pour(row)
        return event


def _lag(sensor: tuple[float, ...]) -> float:
    """Time [s] by which a low-pass delays what is slow."""
    return sum(sensor[:1]) * (2.0 * sensor[1] if len(sensor) > 1 else 1.0)


class TorqueSheet(Sheet):
    """What is known of the joints of an identified robot, as `Sheet` has it of a sensor."""

    floor: ClassVar[tuple[float, ...]] = (0.0,)


def torque_scan(load: TorqueLoad, chain: Chain) -> Scan:
    """The scan of rows of a robot. Noise is that of its low-passed rows; what nothing explains is
    as large, and so is what offsets drift in a minute."""
    noise = tuple(load.robot.noise.tolist())
    sheet = TorqueSheet(noise, noise, noise, 0.0, 0.0, (0.0, 0.0), np.zeros(load.joints),
                        load.typical + load.robot.noise, 0.0, 0.0, 0.0, 0.0, 0.0)
    return Scan(sheet, rows=TorqueRows(load, chain))
