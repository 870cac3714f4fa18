"""Finds the rows that the running fit cannot explain, and what they mean.

The detector is fed with rows in the order of time and answers with events. All it does is keyed on
the bin numbers of the rows, so that it says the same however a stream is cut into pieces. It knows
two conditions. While all is calm, rows are learnt with a delay of one to two blocks, so that a
trouble that begins slowly does not teach the fit. From the first rows far outside the expectation
on, it is disturbed: nothing is learnt until an explanation holds (see `change`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..regression.regressor_window import Rows
from ..settings import ChangeSettings, ContactSettings
from ..signals.bins import BIN_NS
from .change_hypotheses import (
    Evidence,
    another_payload,
    another_zero,
    is_clear_zero,
    is_growing,
    is_possible_payload,
    reads_zero,
    turned,
    unchanged,
)
from .running_fit import Forecast, RunningReference

BEGAN, ENDED, PAYLOAD, ZERO, LOST = "began", "ended", "payload", "zero", "lost"
DOUBTED = "doubted"  # a young fit that nothing explains: it may itself be wrong
_BLOCK = round(0.25e9 / BIN_NS)  # bins that are learnt at once
EARLIEST = _BLOCK  # bins before the row that tells it where a disturbance may have begun
_LEARNT = 2  # blocks that are learnt before anything is judged
_ROWS = 3  # successive rows far off that make a disturbance
_EVIDENCE = 3.0  # s of rows kept while disturbed
_LOOK = round(0.04e9 / BIN_NS)  # bins between two looks at the explanations
_LONG = round(1e9 / BIN_NS)  # bins after which a fit that knows too little may be taken up again
_SLOW = round(0.5e9 / BIN_NS)  # bins for which a change that came slowly must be steady,
_GROWING = 0.3  # or this share of the time since it began
_TELLING = 8.0  # a contact that is half as strong as at its peak is four times what is not known
_SHOWS = 0.5  # of the threshold that began a contact, by which it must show while it lasts
_MOVED = 0.1  # rad; at rest, a change shows even if little is known
_DOUBT = round(1.5e9 / BIN_NS)  # bins of disturbance in motion, for which a fit to
_YOUNG = 250  # rows at most is doubted itself
_ANGLE = 0.35  # rad through which the sensor turns before an offset in its axes counts as its zero


class Event(NamedTuple):
    """Something that the detector found.

    Attributes:
        kind: BEGAN, DOUBTED, ENDED, PAYLOAD, ZERO or LOST.
        row: bin number of the row that decided; first: of the first row that was affected.
        clean: bin number from which on bins are good again (ENDED).
        before, after: payload mass [kg], NaN where it is not known; change: of the mass [kg].
    """

    kind: str
    row: int
    first: int
    clean: int = -1
    before: float = np.nan
    after: float = np.nan
    change: float = np.nan


class Detector:
    """See above.

    Args:
        contact, change: thresholds and times.
        reference: the running fit, empty.
        reach: bins from the middle of a row to the end of its kernel.
    """

    def __init__(self, contact: ContactSettings, change: ChangeSettings,
                 reference: RunningReference, reach: int) -> None:
        self._contact, self._change = contact, change
        self.reference, self._reach = reference, reach
        self._steady, self._hold, self._longest = (
            round(s * 1e9 / BIN_NS) for s in (change.steady, contact.hold, contact.longest))
        self.restart()

    def restart(self) -> None:
        """Forget the payload: what comes next is new."""
        self.reference.forget()
        self._learnt, self._block = 0, -1
        self._pending: list[list[Rows]] = []  # blocks not yet learnt
        self._far, self._far_since = 0, 0  # successive rows far off, and the first not calm
        self._calm_since: int | None = None
        # Largest residual of each group of channels in the present disturbance.
        self._peak = np.zeros(len(self.reference.model.groups))
        self.began: int | None = None  # bin number where the present disturbance began
        self._evidence: Evidence | None = None
        self._next_look, self._doubted = 0, False

    def judge(self, rows: Rows, rotation_only: bool) -> Event | None:
        """Take rows up to the first event; call again with the rows after ``event.row``."""
        blocks = rows.number // _BLOCK
        start = 0
        while start < len(blocks):
            end = int(np.searchsorted(blocks, blocks[start], side="right"))
            part = Rows(*(field[start:end] for field in rows))
            event = self._judge_block(int(blocks[start]), part, rotation_only)
            if event is not None:
                return event
            start = end
        return None

    def is_calm(self, rows: Rows, rotation_only: bool) -> bool:
        """Whether nothing is wrong now, and these next rows look so too; nothing changes."""
        if self.began is not None or self._far:
            return False
        if self._learnt < _LEARNT:
            return True
        distance = self.reference.expect(rows.full, rows.samples, rotation_only).distance
        return bool((distance < self._contact.leave).all())

    def _judge_block(self, block: int, rows: Rows, rotation_only: bool) -> Event | None:
        if block != self._block:
            self._enter(rotation_only)
            self._block = block
        if self._learnt < _LEARNT:
            self._keep(rows)
            return None
        forecast = self.reference.expect(rows.full, rows.samples, rotation_only)
        groups = self.reference.model.groups
        distance = forecast.distance
        unknown, excess = forecast.unknown(groups), forecast.excess(groups)
        for k, number in enumerate(rows.number):
            if distance[k] > self._contact.enter:
                self._peak = np.maximum(self._peak, excess[k])
            telling = bool((_TELLING * unknown[k] < self._peak).any())
            event = self._row(int(number), float(distance[k]), telling)
            if event is None and self.began is not None:
                self._collect(rows, forecast, k)
                event = self._look(int(number), telling)
            if event is not None:
                return event
        if self.began is None:
            self._keep(rows)
        return None

    # ---- calm ----------------------------------------------------------------------------------

    def _keep(self, rows: Rows) -> None:
        if self._pending:
            self._pending[-1].append(rows)
        else:
            self._pending.append([rows])

    def _enter(self, rotation_only: bool) -> None:
        """A new block begins: the one before the last is learnt, at first the last as well."""
        wait = 1 if self._learnt >= _LEARNT else 0
        self._pending = [parts for parts in self._pending if parts]
        while len(self._pending) > wait:
            parts = self._pending.pop(0)
            self.reference.learn(np.concatenate([p.full for p in parts]),
                                 np.concatenate([p.samples for p in parts]), rotation_only)
            self._learnt += 1
        self._pending.append([])

    def _row(self, number: int, distance: float, telling: bool) -> Event | None:
        """Hysteresis over successive rows."""
        if distance < self._contact.leave:
            self._far = 0
            if self._calm_since is None:
                self._calm_since = number
        else:
            if self._calm_since is not None or self._far_since == 0:
                self._far_since = number
            self._calm_since = None
        self._far = self._far + 1 if distance > self._contact.enter else 0
        if self.began is None and self._far >= _ROWS:
            self.began = max(self._far_since, number - EARLIEST)
            self._pending.clear()
            self._evidence, self._next_look, self._doubted = None, 0, False
            return Event(BEGAN, number, self.began)
        if (self.began is not None and telling and self._calm_since is not None
                and number - self._calm_since >= self._hold):
            return self._end(number, self._calm_since)
        return None

    # ---- disturbed -----------------------------------------------------------------------------

    def _collect(self, rows: Rows, forecast: Forecast, k: int) -> None:
        row = slice(k, k + 1)
        model = self.reference.model
        new = Evidence(rows.number[row], forecast.part(row), rows.full[row, :, -1],
                       rows.full[row, :, model.zeros], self.reference.mean,
                       self.reference.information, model)
        if self._evidence is None:
            self._evidence = new
            return
        old = self._evidence.since(int(rows.number[k] - _EVIDENCE * 1e9 / BIN_NS))
        joined = Forecast(*(np.concatenate(pair) for pair in
                                      zip(old.forecast, new.forecast, strict=True)))
        self._evidence = new._replace(number=np.concatenate([old.number, new.number]),
                                      forecast=joined,
                                      measured=np.concatenate([old.measured, new.measured]),
                                      zeros=np.concatenate([old.zeros, new.zeros]))

    def _look(self, number: int, telling: bool) -> Event | None:
        assert self.began is not None and self._evidence is not None
        if number < self._next_look:
            return None
        self._next_look = number + _LOOK
        settled = number - self.began - 2 * self._reach  # bins of rows with nothing from before
        if not telling and settled >= _LONG and self._is_over(number):
            return self._end(number, number - _LONG)
        if self._change.detect and self.reference.is_proven:
            event = self._explain(number, settled)
            if event is not None:
                return event
        if not self._doubted and self._is_doubtful(number):
            self._doubted = True
            return Event(DOUBTED, number, self.began)
        if number - self.began > self._longest:
            return Event(LOST, number, self.began)
        return None

    def _is_over(self, number: int) -> bool:
        """Whether the last rows fit, and could not if what disturbed them were still there."""
        assert self._evidence is not None
        recent = self._evidence.since(number - _LONG)
        shows = recent.forecast.shows(self._peak, self.reference.model.groups)
        return bool(np.median(shows) > _SHOWS * self._contact.enter
                    and unchanged(recent).misfit < self._change.fit)

    def _explain(self, number: int, settled: int) -> Event | None:
        """The change of payload or zero that explains the rows since it began, if one does."""
        assert self._evidence is not None and self.began is not None
        if settled < self._steady:
            return None
        whole = self._evidence.since(self.began + 2 * self._reach)
        if (settled < _LONG and turned(self._evidence) > _MOVED
                and not self._knows_mass(another_payload(whole).change[0])):
            return None
        kind = self._cause(whole, settled)
        if kind is None and settled >= _LONG:  # what came slowly fits from its end on
            recent = max(_SLOW, round(_GROWING * (number - self.began)))
            whole = self._evidence.since(number - recent)
            kind = self._cause(whole, settled)
        if kind is None:
            return None
        change = another_payload(whole).change[0] if kind == PAYLOAD else np.nan
        before = self.reference.mass[0] if self._knows_mass(change) else np.nan
        return Event(kind, number, self.began, -1, before, before + change, change)

    def _cause(self, evidence: Evidence, settled: int) -> str | None:
        assert self._evidence is not None
        limit = self._change.fit
        payload = another_payload(evidence)
        if payload.misfit < limit and is_possible_payload(payload) and not is_growing(evidence):
            return PAYLOAD
        zero = another_zero(evidence)
        if zero.misfit < limit and is_clear_zero(zero) and (
                (evidence.model.reads_nothing and reads_zero(self._evidence, zero.change))
                or (settled >= evidence.model.zero_lasts and turned(evidence) > _ANGLE)):
            return ZERO
        return None

    def _is_doubtful(self, number: int) -> bool:
        """Whether a fit that is no older than the disturbance has failed in motion for a while."""
        assert self.began is not None and self._evidence is not None
        return (number - self.began > _DOUBT and self.reference.rows < _YOUNG
                and turned(self._evidence) > _ANGLE)

    def _knows_mass(self, change: float) -> bool:
        """Whether the mass is known to a tenth of it, or of what it changed by [kg]."""
        mass, sd = self.reference.mass
        return sd < 0.1 * max(mass, abs(change))

    def _end(self, number: int, calm: int) -> Event:
        """The disturbance is over: the rows from `calm` on fit, whose kernels reach half a kernel
        back."""
        assert self.began is not None
        event = Event(ENDED, number, self.began, calm)
        self.began, self._evidence, self._far = None, None, 0
        self._peak[:] = 0.0
        return event
