# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Detects rows that the running fit cannot explain, and decides what they mean.

The detector takes rows in order of time and answers with events. All its decisions depend on the
bin numbers of the rows, so that they are the same however a stream is cut into pieces. It has two
states. While calm, it passes rows to the running fit with a delay of one to two blocks, so that the
fit does not learn a disturbance that begins slowly. From the first rows far outside of the
expectation on it is disturbed: the fit learns nothing until a hypothesis of `change_hypotheses`
explains the rows. How far is far: `ContactSettings.enter` and `leave`, in standard deviations.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import NamedTuple

import numpy as np

from ..inertia import PARAMETERS, Array
from ..regression.regressor_window import Rows
from ..settings import ChangeSettings, ContactSettings
from ..signals.bins import BIN_NS
from .change_hypotheses import (
    AnotherSetup,
    Evidence,
    fit_no_change,
    fit_payload_change,
    fit_release,
    fit_zero_change,
    is_change_growing,
    is_plausible_payload_change,
    is_significant_zero_change,
    is_told_by_motion,
    is_turned,
    load_rotation,
    reads_nothing_after,
)
from .running_fit import Forecast, RunningFit

_BLOCK = round(0.25e9 / BIN_NS)  # bins that the fit learns at once
_BIN = BIN_NS * 1e-9  # s
EARLIEST = _BLOCK  # bins before the row that shows it, where a disturbance may have begun
_ZEROING = round(2e9 / BIN_NS)  # bins of the readings of which a driver may take the mean as zero
_FIRST_BLOCKS = 2  # blocks that the fit learns before any row is judged
_FAR_ROWS = 3  # successive rows far off that make a disturbance
_EVIDENCE = round(3e9 / BIN_NS)  # bins of rows kept while disturbed
_TEST_PERIOD = round(0.04e9 / BIN_NS)  # bins between two tests of the hypotheses
_LONG = round(1e9 / BIN_NS)  # bins after which an uncertain fit may go on
# Bins, and share of the time since it began, for which a change that came slowly must be steady.
_SLOW, _GROWING = round(0.5e9 / BIN_NS), 0.3
# A contact that is half as strong as at its peak is then four times the uncertainty.
_CERTAIN = 8.0
_SHOWS = 0.5  # share of the threshold that began a contact, by which it must show while it lasts
_MOVED = 0.1  # rad; at rest a change shows even in an uncertain fit
_TURNED = 0.02  # rad; below, only acceleration tells a payload from a contact
_HALF = 0.5  # of what a contact leaves unexplained a payload must then explain
# Bins of a disturbance in motion after which a fit to fewer rows than this may itself be wrong.
_DOUBT, _YOUNG = round(1.5e9 / BIN_NS), 250
# Bins between two looks at whether all of the set-up has changed, and that this must have foretold.
_SETUP_PERIOD, _FORETOLD = round(0.5e9 / BIN_NS), round(4e9 / BIN_NS)
_ANGLE = 0.35  # rad by which the sensor turns before an offset in its axes counts as its zero
_UNDONE = 0.3  # share of an offset that may stay where it goes again: a contact is not that steady
_RESTART = round(0.25e9 / BIN_NS)  # bins without rows in which a driver may have started again


class EventKind(Enum):
    """What the detector found."""

    BEGAN = auto()  # a disturbance began
    DOUBTED = auto()  # nothing explains it, and the fit is so young that it may be wrong
    ENDED = auto()  # the rows fit again, as before the disturbance
    PAYLOAD_CHANGED = auto()
    ZERO_MOVED = auto()  # of what measures the load
    OFFSET = auto()  # the same in all orientations: a moved zero, or contact that turns along
    SETUP_CHANGED = auto()  # the rows follow the motion in another way than before
    LOST = auto()  # the disturbance has lasted too long

    @property
    def ends_payload(self) -> bool:
        """Whether earlier data do not belong to the present payload or zero."""
        return self in (EventKind.PAYLOAD_CHANGED, EventKind.ZERO_MOVED, EventKind.OFFSET,
                        EventKind.SETUP_CHANGED, EventKind.LOST)

    @property
    def moves_zero(self) -> bool:
        """Whether the zero that was learnt does not hold any more."""
        return self in (EventKind.ZERO_MOVED, EventKind.OFFSET)


class Event(NamedTuple):
    """One decision of the detector.

    Attributes:
        kind: what it found.
        row: bin number of the row that decided; first: of the first row that was affected.
        clean: bin number from which on bins are undisturbed again (ENDED), or belong to the new
            payload (PAYLOAD_CHANGED); -1: none is.
        before, after: payload mass [kg], NaN where it is not known; change: of the mass [kg]
            (PAYLOAD_CHANGED); 0: only its centre has moved.
        offset: (c,) by which the reading has changed in the axes of the sensor (OFFSET) [N, N m].
    """

    kind: EventKind
    row: int
    first: int
    clean: int = -1
    before: float = np.nan
    after: float = np.nan
    change: float = np.nan
    offset: Array = np.empty(0)


class DisturbanceDetector:
    """Judges rows against a running fit, and teaches it the undisturbed ones.

    Args:
        contact, change: thresholds and times.
        running_fit: to the load, empty.
        reach: bins from the middle of a row to the end of its kernel.
        previous: detector of another payload, whose offset may stand yet.

    Attributes:
        began: bin number where the present disturbance began; None: there is none.
    """

    def __init__(self, contact: ContactSettings, change: ChangeSettings, running_fit: RunningFit,
                 reach: int, previous: DisturbanceDetector | None = None) -> None:
        self._contact, self._change = contact, change
        self.running_fit, self._reach = running_fit, reach
        # Offset (c,) that may be a contact and end as one.
        self._standing: Array | None = None if previous is None else previous._standing
        self._step = round(running_fit.period * 1e9 / BIN_NS)  # bins from one row to the next
        self._steady, self._hold, self._longest = (
            round(s * 1e9 / BIN_NS) for s in (change.steady, contact.hold, contact.longest))
        # phi of what a release leaves: the tool
        self.stays: Array = np.zeros(PARAMETERS) if previous is None else previous.stays
        self._learnt_blocks, self._block = 0, -1
        self._learnt = 0  # bin number of the last row that the fit has learnt
        self._pending: list[list[Rows]] = []  # blocks that the fit has not learnt yet
        # The readings (n, c) that were expected lately, and their bin numbers (n,).
        self._expected = np.empty((0, len(self.running_fit.model.noise)))
        self._expected_at = np.empty(0, dtype=np.int64)
        self._far, self._far_since = 0, 0  # successive rows far off, and the first not calm
        self._newest = self._resumed = 0  # the newest row, and the first one after a pause
        self._is_after_pause = False  # whether the present disturbance began there
        self._calm_since: int | None = None
        # Largest residual of each group of channels in the present disturbance.
        self._peak = np.zeros(len(self.running_fit.model.groups))
        self.began: int | None = None
        self._evidence: Evidence | None = None
        self._next_test, self._doubted = 0, False
        self._next_setup_test = 0
        self._setup: AnotherSetup | None = None  # that may have explained the disturbance

    def judge(self, rows: Rows, rotation_only: bool) -> Event | None:
        """Take rows up to the first event, which is returned; call again with the rows after
        ``event.row``."""
        blocks = rows.number // _BLOCK
        start = 0
        while start < len(blocks):
            end = int(np.searchsorted(blocks, blocks[start], side="right"))
            part = rows.part(slice(start, end))
            event = self._judge_block(int(blocks[start]), part, rotation_only)
            if event is not None:
                return event
            start = end
        return None

    def is_calm(self, rows: Rows, rotation_only: bool) -> bool:
        """Whether nothing is wrong now nor in these next rows; changes nothing."""
        if self.began is not None or self._far:
            return False
        if self._learnt_blocks < _FIRST_BLOCKS:
            return True
        distance = self._expect(rows, rotation_only).distance
        return bool((distance < self._contact.leave).all())

    def _expect(self, rows: Rows, rotation_only: bool) -> Forecast:
        """What the running fit expects of rows after those that it has learnt."""
        return self.running_fit.expect(rows.full, rows.samples, rotation_only,
                                       (rows.number - self._learnt) * _BIN)

    def _judge_block(self, block: int, rows: Rows, rotation_only: bool) -> Event | None:
        """Judge rows that lie in one block, up to the first event."""
        if block != self._block:
            self._teach_finished_blocks(rotation_only)
            self._block = block
        if self._learnt_blocks < _FIRST_BLOCKS:
            self._pending[-1].append(rows)
            return None
        forecast = self._expect(rows, rotation_only)
        distance = forecast.distance
        if self.began is None and distance.max() <= self._contact.enter:
            for number, far in zip(rows.number.tolist(), distance.tolist(), strict=True):
                self._follow(number)
                self._judge_row(number, far, False)
        else:
            event = self._judge_disturbed(rows, forecast, distance)
            if event is not None:
                return event
        if self.began is None:
            self._pending[-1].append(rows)
            self._expected_at = np.concatenate([self._expected_at, rows.number])
            self._expected = np.concatenate([self._expected,
                                             rows.full[..., -1] - forecast.residual])
            old = int(np.searchsorted(self._expected_at, self._newest - _ZEROING))
            self._expected, self._expected_at = self._expected[old:], self._expected_at[old:]
        return None

    def _judge_disturbed(self, rows: Rows, forecast: Forecast, distance: Array) -> Event | None:
        """Judge rows, up to the first event, where one of them is far off or a disturbance lasts;
        distance: (n,) as `Forecast.distance`."""
        groups = self.running_fit.model.groups
        uncertainty, lengths = forecast.uncertainty(groups), forecast.residual_lengths(groups)
        for k, number in enumerate(rows.number.tolist()):
            self._follow(number)
            if distance[k] > self._contact.enter:
                self._peak = np.maximum(self._peak, lengths[k])
            certain = bool((_CERTAIN * uncertainty[k] < self._peak).any())
            event = self._judge_row(number, float(distance[k]), certain)
            if event is None and self.began is not None:
                self._add_evidence(rows, forecast, k)
                event = self._test_hypotheses(number, certain)
            if event is not None:
                return event
        return None

    def _follow(self, number: int) -> None:
        """Note the newest row, and whether it comes after a pause."""
        if number - self._newest > _RESTART:
            self._resumed = number
        self._newest = number

    # ---- calm ----------------------------------------------------------------------------------

    def _teach_finished_blocks(self, rotation_only: bool) -> None:
        """Teach the running fit all finished blocks but the last, at first the last one as well."""
        wait = 1 if self._learnt_blocks >= _FIRST_BLOCKS else 0
        self._pending = [parts for parts in self._pending if parts]
        while len(self._pending) > wait:
            parts = self._pending.pop(0)
            self.running_fit.learn(np.concatenate([p.full for p in parts]),
                                   np.concatenate([p.samples for p in parts]), rotation_only)
            self._learnt_blocks += 1
            self._learnt = int(parts[-1].number[-1])
        self._pending.append([])

    def _judge_row(self, number: int, distance: float, certain: bool) -> Event | None:
        """Begin or end a disturbance, with hysteresis over successive rows.

        Args:
            distance: Mahalanobis distance of the row's residual.
            certain: whether the fit is so certain that the disturbance would show if it lasted.
        """
        if distance < self._contact.leave:
            self._far = 0
            if self._calm_since is None:
                self._calm_since = number
        else:
            if self._calm_since is not None or self._far_since == 0:
                self._far_since = number
            self._calm_since = None
        self._far = self._far + 1 if distance > self._contact.enter else 0
        if self.began is None and self._far >= _FAR_ROWS:
            self.began = max(self._far_since, number - EARLIEST)
            self._is_after_pause = number - self._resumed <= EARLIEST
            self._pending = [[]]
            self._evidence, self._next_test, self._doubted = None, 0, False
            self._next_setup_test, self._setup = 0, None
            return Event(EventKind.BEGAN, number, self.began)
        if (self.began is not None and certain and self._calm_since is not None
                and number - self._calm_since >= self._hold):
            return self._end_disturbance(number, self._calm_since)
        return None

    # ---- disturbed -----------------------------------------------------------------------------

    def _add_evidence(self, rows: Rows, forecast: Forecast, k: int) -> None:
        """Add row k to the evidence about the present disturbance."""
        assert self.began is not None
        row = slice(k, k + 1)
        model = self.running_fit.model
        mean, information = self.running_fit.states_before(
            max(self.began - self._learnt, 0) * _BIN)
        new = Evidence(rows.number[row], forecast.part(row), rows.full[row, :, -1],
                       rows.full[row, :, model.zero_columns], mean, information, model)
        if self._evidence is None:
            self._evidence = new
            return
        self._evidence = self._evidence.since(int(rows.number[k]) - _EVIDENCE).extended(new)

    def _test_hypotheses(self, number: int, certain: bool) -> Event | None:
        """What the rows since the disturbance began mean, if they tell (see `_judge_row`)."""
        assert self.began is not None and self._evidence is not None
        if number < self._next_test:
            return None
        self._next_test = number + _TEST_PERIOD
        # Bins of rows without any bin from before; those that a gap leaves out tell nothing.
        begin = self.began + 2 * self._reach
        settled = min(number - begin, self._step * len(self._evidence.since(begin).number))
        if not certain and settled >= _LONG and self._fits_again(number):
            return self._end_disturbance(number, number - _LONG)
        if self._change.detect and self.running_fit.is_confirmed:
            event = self._find_change(number, settled)
            if event is not None:
                return event
        if number >= self._next_setup_test and self._has_another_setup(number):
            return Event(EventKind.SETUP_CHANGED, number, self.began)
        if not self._doubted and self._is_doubtful(number):
            self._doubted = True
            return Event(EventKind.DOUBTED, number, self.began)
        if number - self.began > self._longest:
            return Event(EventKind.LOST, number, self.began)
        return None

    def _fits_again(self, number: int) -> bool:
        """Whether the last rows fit, and would not if the disturbance still lasted."""
        assert self._evidence is not None
        recent = self._evidence.since(number - _LONG)
        visibility = recent.forecast.visibility(self._peak, self.running_fit.model.groups)
        return bool(np.median(visibility) > _SHOWS * self._contact.enter
                    and fit_no_change(recent).misfit < self._change.fit)

    def _find_change(self, number: int, settled: int) -> Event | None:
        """The change of payload or zero that explains the disturbed rows, if one does.

        Args:
            settled: bins of rows that contain nothing from before the disturbance.
        """
        assert self._evidence is not None and self.began is not None
        if settled < self._steady:
            return None
        whole = self._evidence.since(self.began + 2 * self._reach)
        if (settled < _LONG and load_rotation(self._evidence) > _MOVED
                and not self._is_mass_certain(fit_payload_change(whole).change[0])):
            return None
        kind = self._kind_of_change(whole, settled)
        if kind is None and settled >= _LONG:  # a slow change fits from its end on
            recent = max(_SLOW, round(_GROWING * (number - self.began)))
            whole = self._evidence.since(number - recent)
            if 2 * self._step * len(whole.number) > recent:  # a gap may have left out most of them
                kind = self._kind_of_change(whole, settled)
        if kind is None:
            return None
        is_payload = kind is EventKind.PAYLOAD_CHANGED
        changed = fit_payload_change(whole)
        change = np.nan if not is_payload else 0.0 if is_turned(changed) else changed.change[0]
        before = self.running_fit.mass[0] if self._is_mass_certain(change) else np.nan
        offset = fit_zero_change(whole).change
        clean = int(whole.number[0]) - self._reach if is_payload else -1
        if kind is not EventKind.PAYLOAD_CHANGED:
            begins = kind is EventKind.OFFSET and self._standing is None
            self._standing = offset if begins else None
        return Event(kind, number, self.began, clean, before, before + change, change, offset)

    def _kind_of_change(self, evidence: Evidence, settled: int) -> EventKind | None:
        """PAYLOAD_CHANGED, ZERO_MOVED or OFFSET where that explains the evidence, else None."""
        limit = self._change.fit
        zero = fit_zero_change(evidence)
        if zero.misfit < limit and self._undoes_offset(zero.change / evidence.model.zero_sd,
                                                       evidence.model.zero_sd):
            return EventKind.OFFSET  # the contact ends
        payload = fit_payload_change(evidence)
        # At rest a contact looks the same: only the release of all that is known is believed. Where
        # the arm yields to a contact, it accelerates with the force, but not in proportion to it.
        is_told = is_told_by_motion(payload, zero) and (
            load_rotation(evidence) > _TURNED or payload.squares < _HALF * zero.squares)
        if (payload.misfit < limit and is_plausible_payload_change(payload)
                and not is_change_growing(evidence, payload)
                and (is_told or self._is_release(evidence))):
            return EventKind.PAYLOAD_CHANGED
        if self.running_fit.is_refuted:  # an offset would fit a wrong frame for a while
            return None
        if zero.misfit >= limit or not is_significant_zero_change(zero):
            return None
        return self._kind_of_offset(evidence, zero.change, settled)

    def _is_release(self, evidence: Evidence) -> bool:
        """Whether all that was carried beside the tool is gone: an uncertain fit cannot tell."""
        return (self._is_mass_certain(0.0)
                and fit_release(evidence, self.stays).misfit < self._change.fit)

    def _undoes_offset(self, change: Array, sd: Array) -> bool:
        """Whether a change of zero (c,), over sd (c,), takes back the offset that stands."""
        if self._standing is None:
            return False
        standing = self._standing / sd
        return bool(np.linalg.norm(change + standing) < _UNDONE * np.linalg.norm(standing))

    def _kind_of_offset(self, evidence: Evidence, offset: Array, settled: int) -> EventKind | None:
        """What an offset (c,) in the axes of the sensor means, if it is one."""
        assert self._evidence is not None
        model = evidence.model
        if model.zeroed_under_load and reads_nothing_after(
                self._evidence, offset, self._expected):
            return EventKind.ZERO_MOVED
        if settled < model.shortest_zero or load_rotation(evidence) <= _ANGLE:
            return None
        # A tool that is pressed on a surface with a constant force, and turned along it, does the
        # same as another zero.
        is_zero = self._is_after_pause or not model.zeroed_under_load
        return EventKind.ZERO_MOVED if is_zero else EventKind.OFFSET

    def _has_another_setup(self, number: int) -> bool:
        """Whether rows are foretold by another set-up (payload, zero and gain at once) that was
        learnt from rows before them, while the sensor turns."""
        assert self.began is not None and self._evidence is not None
        begin = self.began + 2 * self._reach
        if self._setup is not None:
            begin = max(begin, self._setup.last + 1)
        new = self._evidence.since(begin)
        if self._step * len(new.number) < _SETUP_PERIOD:
            return False
        self._next_setup_test = number + _SETUP_PERIOD
        if self._setup is None or not self._setup.learn(new, self._change.fit):
            self._setup = AnotherSetup(new)
            self._setup.learn(new, np.inf)
        return self._setup.foretold >= _FORETOLD and self._setup.turned > 2.0 * _ANGLE

    def _is_doubtful(self, number: int) -> bool:
        """Whether a young fit has failed in motion for so long that it may itself be wrong."""
        assert self.began is not None and self._evidence is not None
        return (number - self.began > _DOUBT and self.running_fit.rows < _YOUNG
                and load_rotation(self._evidence) > _ANGLE)

    def _is_mass_certain(self, change: float) -> bool:
        """Whether the standard deviation of the mass in the running fit is less than a tenth of it,
        or of the change [kg]."""
        mass, sd = self.running_fit.mass
        return sd < 0.1 * max(mass, abs(change))

    def _end_disturbance(self, number: int, calm: int) -> Event:
        """End the disturbance; the rows from bin number `calm` on fit, and all bins under them."""
        assert self.began is not None
        event = Event(EventKind.ENDED, number, self.began, calm)
        self.began, self._evidence, self._far = None, None, 0
        self._peak[:] = 0.0
        return event
