"""Bins become rows of the buffer, in segments: holes, contact and changes of payload part them.

Rows never mix bins from before and after a parting. A second, shorter filter feeds the detector.
It finds a disturbance a while after it began, and the first bins of it may be under the kernels of
rows that have left the filter by then. Rows therefore wait here until nothing that is found out
later can reach back to them; an estimate that asks meanwhile gets them from `preview`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..findings import FindingLog
from ..inertia import Array
from ..kinematics.motion_statistics import Turning
from ..regression.regressor_window import Rows, joined
from ..settings import Settings
from ..signals.bins import BIN_NS
from ..signals.low_pass import FilteredRows
from .disturbance_detector import BEGAN, DOUBTED, EARLIEST, ENDED, Detector, Event
from .load_model import LoadModel
from .running_fit import RunningReference

_HELD = round(1.5e9 / BIN_NS)  # bins kept while they are left out, to be taken up again


class Segments:
    """The filters, and the detector that tells them what to leave out.

    Args:
        model: of the load; window: length of the buffer's kernel [s].
    """

    def __init__(self, settings: Settings, model: LoadModel, window: float,
                 findings: FindingLog) -> None:
        self._model = model
        self.filter = model.make_filter(window)
        self._fast = model.make_filter(min(model.fast, 0.5 * window))
        self._settings, self._findings = settings, findings
        reference = RunningReference(model, self._fast.block_gain(1),
                                     self._fast.step * BIN_NS * 1e-9)
        self.detector = Detector(settings.contact, settings.change, reference, self._fast.reach)
        self._detects = settings.contact.detect or settings.change.detect
        # bins for which rows wait
        self._delay = self.filter.reach + self._fast.reach + EARLIEST if self._detects else 0
        self.restart()

    def restart(self) -> None:
        """Forget all bins and the payload."""
        self.filter.restart()
        self._fast.restart()
        self.detector.restart()
        self.detector.reference.restart()
        self._last_bin: int | None = None
        self._begin = 0  # first bin of the present segment
        self._open = True
        self._held: list[tuple[np.ndarray, np.ndarray, Array]] = []  # left out, newest last
        self._waiting: list[Rows] = []

    def hear_motion(self, turning: Turning) -> None:
        """How noisy the motion is, as heard so far, where that is known."""
        shaking = turning.acceleration_noise(self._fast.kernel)
        if shaking.any():  # nothing is heard just after the rows were forgotten
            self.detector.reference.shaking = shaking

    def push(self, number: np.ndarray, samples: np.ndarray, columns: Array,
             rotation_only: bool) -> Iterator[Rows | Event]:
        """Add bins in order; gives rows for the buffer and events in between, in order.

        Args:
            number: (k,) bin numbers; samples: (k,) raw samples in each; columns: (k, d) as
                the model's filter takes them.
            rotation_only: whether the acceleration of the sensor is not known.
        """
        if len(number) == 0:
            return
        longest = int(self._settings.kinematics.max_gap * 1e9 / BIN_NS)
        before = number[0] - longest - 1 if self._last_bin is None else self._last_bin
        starts = np.flatnonzero(np.diff(np.r_[before, number]) > longest)
        edges = sorted({0, *starts.tolist(), len(number)})
        for low, high in zip(edges[:-1], edges[1:], strict=True):
            if low in starts:
                yield from self._part(int(number[low]))
            yield from self._segment(number[low:high], samples[low:high], columns[low:high],
                                     rotation_only)
        self._last_bin = int(number[-1])

    def preview(self, number: np.ndarray, samples: np.ndarray, columns: Array,
                rotation_only: bool) -> Rows | None:
        """The rows that would follow if the data ended after these bins (see `push`), unless
        something looks wrong; nothing changes.

        A disturbance that begins in the last of them does not show yet, and weighs as little in
        these rows as in those of the detector.
        """
        if self._last_bin is None or not self._open:
            return None
        longest = int(self._settings.kinematics.max_gap * 1e9 / BIN_NS)
        bins = number, samples, columns
        holes = np.flatnonzero(np.diff(number, prepend=self._last_bin) > longest)
        if len(holes):
            bins = number[:holes[0]], samples[:holes[0]], columns[:holes[0]]
        if self._detects:
            fast = self._judged(self._fast.preview(*bins, whole=True))
            if len(fast.number) == 0:
                return self.waiting
            if not self.detector.is_calm(fast, rotation_only):
                return None
            judged = bins[0] <= fast.number[-1] + self._fast.reach
            bins = bins[0][judged], bins[1][judged], bins[2][judged]
        return joined([*self._waiting, *self._rows(self.filter.preview(*bins))])

    def finish(self) -> Iterator[Rows]:
        """No bin will come any more: the rows that waited, and the last."""
        waiting, self._waiting = self._waiting, []
        yield from waiting
        yield from self._rows(self.filter.flush())

    @property
    def waiting(self) -> Rows | None:
        """Rows that later bins may still take back, if any."""
        return joined(self._waiting)

    @property
    def newest(self) -> int | None:
        """Bin number of the newest of them."""
        return int(self._waiting[-1].number[-1]) if self._waiting else None

    def _judged(self, fast: FilteredRows) -> Rows:
        """Rows for the detector. Narrow kernels at the beginning of a segment would look like
        trouble."""
        whole = fast.number >= self._begin + self._fast.reach
        return self._model.judged(FilteredRows(*(field[whole] for field in fast)),
                                  self._fast.step)

    def _part(self, begin: int) -> Iterator[Rows]:
        """A hole ends before this bin."""
        if self._last_bin is not None or self._begin:
            words = self._model.words
            self._findings.count(words.gap_name, f"{words.gap} "
                                 f"{self._settings.kinematics.max_gap:g} s", "info")
        yield from self._release(self._rows(self.filter.flush()), begin)
        self._fast.restart()
        self._begin = begin

    def _segment(self, number: np.ndarray, samples: np.ndarray, columns: Array,
                 rotation_only: bool) -> Iterator[Rows | Event]:
        if not self._detects:
            yield from self._forward(number, samples, columns)
            return
        rows = self._judged(self._fast.push(number, samples, columns))
        done = 0
        while (event := self.detector.judge(rows, rotation_only)) is not None:
            # Up to the bin that made this row complete: the same, however bins arrive.
            seen = int(np.searchsorted(number, event.row + self._fast.reach + 1, side="right"))
            part = slice(done, max(done, seen))
            yield from self._forward(number[part], samples[part], columns[part])
            done = part.stop
            yield from self._obey(event)
            later = rows.number > event.row
            rows = Rows(*(field[later] for field in rows))
        yield from self._forward(number[done:], samples[done:], columns[done:])

    def _forward(self, number: np.ndarray, samples: np.ndarray,
                 columns: Array) -> Iterator[Rows]:
        if len(number) == 0:
            return
        if self._open:
            rows = self._rows(self.filter.push(number, samples, columns))
            yield from self._release(rows, int(number[-1]))
            return
        self._held.append((number, samples, columns))
        while self._held[0][0][-1] < number[-1] - _HELD:
            self._held.pop(0)

    def _obey(self, event: Event) -> Iterator[Rows | Event]:
        if event.kind in (BEGAN, DOUBTED):
            if event.kind == BEGAN and self._settings.contact.detect:
                yield from self._withdraw(event.first)
                self._open = False
            yield event
            return
        held, self._held, self._open = self._held, [], True
        if event.kind != ENDED:
            self.filter.restart()
            self.detector.restart()
            self._waiting = []
        yield event
        if event.kind == ENDED and held:
            number, samples, columns = (np.concatenate(parts) for parts in zip(*held, strict=True))
            clean = number >= max(event.clean, self._begin)
            yield from self._forward(number[clean], samples[clean], columns[clean])

    def _release(self, rows: Iterator[Rows], last: int) -> Iterator[Rows]:
        """The rows, and those before them, that nothing found out after this bin can reach."""
        self._waiting += rows
        while self._waiting and self._waiting[0].number[0] <= last - self._delay:
            first = self._waiting.pop(0)
            late = first.number > last - self._delay
            if late.any():
                self._waiting.insert(0, first.part(late))
            yield first.part(~late)

    def _withdraw(self, first: int) -> Iterator[Rows]:
        """Give the rows without bins from this number on; forget these bins."""
        waiting, self._waiting = self.waiting, []
        if waiting is not None and (clean := waiting.number + self.filter.reach < first).any():
            yield waiting.part(clean)
        self.filter.forget_from(first)
        yield from self._rows(self.filter.flush())

    def _rows(self, rows: FilteredRows) -> Iterator[Rows]:
        if len(rows.number):
            yield self._model.rows(rows)
