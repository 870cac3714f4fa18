# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Filters bins into rows of the window, in segments that gaps, contact and changes separate.

No row mixes bins of two segments. A second, shorter filter feeds the disturbance detector. The
detector reports a disturbance some time after it began; rows that contain its first bins may have
left the filter by then. Rows therefore wait here until no later event can reach back to them. An
estimate that is asked for meanwhile gets them from `preview`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..findings import FindingLog
from ..inertia import Array
from ..regression.regressor_window import Rows, concatenate_rows
from ..settings import Settings
from ..signals.bins import BIN_NS, BinColumns
from ..signals.low_pass import FilteredRows
from .disturbance_detector import EARLIEST, DisturbanceDetector, Event, EventKind
from .load_model import LoadModel
from .running_fit import RunningFit

_NOWHERE = np.empty(0, dtype=np.int64)
_HELD = round(1.5e9 / BIN_NS)  # bins kept during a contact, for use after its end


class Segment(NamedTuple):
    """Undisturbed rows in order of time, and the event that ends them.

    Attributes:
        rows: for the window.
        event: of the detector; None where the rows end with a gap or the newest bin.
    """

    rows: tuple[Rows, ...]
    event: Event | None


class Segments:
    """The filter of the window's rows, and the detector that says which bins to leave out.

    Args:
        model: of the load.
        window: length of the kernel of the window's rows [s].
        previous: of other samples, whose noise of the accelerations is kept, and that the payload
            walks.
    """

    def __init__(self, settings: Settings, model: LoadModel, window: float,
                 findings: FindingLog, previous: Segments | None = None) -> None:
        self._model, self._findings = model, findings
        self.filter = model.make_filter(window)
        self._fast = model.make_filter(min(model.detector_kernel, 0.5 * window))
        self._thresholds = settings.contact, settings.change
        self.detector = self._make_detector(None)
        if previous is not None:
            self.detector.stays = previous.detector.stays
            self.detector.running_fit.follow_as(previous.detector.running_fit)
            self.set_acceleration_noise(previous.detector.running_fit.acceleration_covariance)
        self._leaves_contact_out = settings.contact.detect
        self._detects = settings.contact.detect or settings.change.detect
        self._longest_gap = int(settings.kinematics.max_gap * 1e9 / BIN_NS)  # bins
        self._gap_text = f"{model.texts.gap} {settings.kinematics.max_gap:g} s"
        # bins for which rows wait
        self._delay = self.filter.reach + self._fast.reach + EARLIEST if self._detects else 0
        self._last_bin: int | None = None
        self._begin = 0  # first bin of the present segment
        self._open = True  # whether bins become rows
        self._held: list[BinColumns] = []  # bins that were left out, newest last
        self._waiting: list[Rows] = []

    def _make_detector(self, previous: DisturbanceDetector | None) -> DisturbanceDetector:
        """A detector for another payload than that of the one before, if any."""
        fit = RunningFit(self._model, self._fast.block_gain(1), self._fast.step * BIN_NS * 1e-9,
                         None if previous is None else previous.running_fit)
        return DisturbanceDetector(*self._thresholds, fit, self._fast.reach, previous)

    def use_model(self, model: LoadModel) -> None:
        """Judge the following rows with other noise or priors of the same kind of load."""
        self._model = model
        self.detector.running_fit.use_model(model)

    @property
    def detector_kernel(self) -> Array:
        """Kernel of the detector's rows, over bins."""
        return self._fast.kernel

    def set_acceleration_noise(self, covariance: Array) -> None:
        """Take into account the noise of the acceleration in the detector's rows.

        Args:
            covariance: (6, 6) of linear [m/s^2] and angular acceleration [rad/s^2]; zeros where it
                is not known, which leaves the last known one in use.
        """
        if covariance.any():  # it is unknown just after the statistics were cleared
            self.detector.running_fit.acceleration_covariance = covariance

    def push(self, bins: BinColumns, rotation_only: bool) -> Iterator[Segment]:
        """Add bins in order of time; gives the rows and events that follow from them.

        Handle each segment's event before taking the next segment.

        Args:
            bins: columns as the model's filter takes them.
            rotation_only: whether the acceleration of the sensor is not known.
        """
        if len(bins.number) == 0:
            return
        starts = self._after_gaps(bins.number)
        edges = sorted({0, *starts.tolist(), len(bins.number)})
        for low, high in zip(edges[:-1], edges[1:], strict=True):
            if low in starts:
                yield Segment(tuple(self._end_at_gap(int(bins.number[low]))), None)
            yield from self._push_without_gaps(bins.part(slice(low, high)), rotation_only)
        self._last_bin = int(bins.number[-1])

    def preview(self, bins: BinColumns, rotation_only: bool) -> Rows | None:
        """The rows that would follow if the data ended after these bins; changes nothing.

        None while something looks wrong. A disturbance that begins in the last bins does not show
        yet, and has as little weight in these rows as in those of the detector.

        Args:
            bins, rotation_only: as `push` takes them.
        """
        if self._last_bin is None or not self._open:
            return None
        gaps = self._after_gaps(bins.number)
        if len(gaps):
            bins = bins.part(slice(0, int(gaps[0])))
        if self._detects:
            fast = self._detector_rows(self._fast.preview(*bins, whole=True))
            if len(fast.number) == 0:
                return self.waiting_rows
            if not self.detector.is_calm(fast, rotation_only):
                return None
            bins = bins.part(bins.number <= fast.number[-1] + self._fast.reach)
        return concatenate_rows([*self._waiting, *self._window_rows(self.filter.preview(*bins))])

    def finish(self) -> list[Rows]:
        """The waiting rows and the last ones of the filter, when no bin will follow."""
        waiting, self._waiting = self._waiting, []
        rows = waiting + self._window_rows(self.filter.last_rows())
        self.filter = self.filter.for_next_segment()
        return rows

    @property
    def waiting_rows(self) -> Rows | None:
        """Rows that a later event may still withdraw, if any."""
        return concatenate_rows(self._waiting)

    @property
    def newest_waiting_bin(self) -> int | None:
        """Bin number of the newest waiting row."""
        return int(self._waiting[-1].number[-1]) if self._waiting else None

    def _after_gaps(self, number: np.ndarray) -> np.ndarray:
        """Indices of the bins (k,) before which too many bins are missing."""
        if len(number) == 0:
            return _NOWHERE
        before = number[0] - self._longest_gap - 1 if self._last_bin is None else self._last_bin
        if number[-1] - before - len(number) < self._longest_gap:  # no step can be as long
            return _NOWHERE
        return np.flatnonzero(np.diff(number, prepend=before) > self._longest_gap)

    def _detector_rows(self, fast: FilteredRows) -> Rows:
        """Rows for the detector, without those of the narrow kernels at the beginning of a segment,
        which would look like a disturbance."""
        whole = fast.number >= self._begin + self._fast.reach
        return self._model.make_detector_rows(FilteredRows(*(field[whole] for field in fast)),
                                              self._fast.step)

    def _window_rows(self, filtered: FilteredRows) -> list[Rows]:
        """Rows for the window, as a list that is empty where there are none."""
        return [self._model.make_rows(filtered)] if len(filtered.number) else []

    def _end_at_gap(self, begin: int) -> list[Rows]:
        """End the segment at a gap, after which bin number `begin` is the first."""
        if self._last_bin is not None or self._begin:
            self._findings.count(self._model.texts.gap_name, self._gap_text, "info")
        rows = self._release_final(self._window_rows(self.filter.last_rows()), begin)
        self.filter, self._fast = self.filter.for_next_segment(), self._fast.for_next_segment()
        self._begin = begin
        return rows

    def _push_without_gaps(self, bins: BinColumns, rotation_only: bool) -> Iterator[Segment]:
        """Filter and judge bins that no gap separates."""
        if not self._detects:
            yield Segment(tuple(self._filter_or_hold(bins)), None)
            return
        judged = self._detector_rows(self._fast.push(*bins))
        done, resumed = 0, list[Rows]()
        while (event := self.detector.judge(judged, rotation_only)) is not None:
            # Up to the bin that completed the row of the event: the same however bins arrive.
            seen = int(np.searchsorted(bins.number, event.row + self._fast.reach + 1, side="right"))
            part = slice(done, max(done, seen))
            rows = self._filter_or_hold(bins.part(part))
            done = part.stop
            yield Segment((*resumed, *rows, *self._leave_out_from(event)), event)
            resumed = self._resume_after(event)
            judged = judged.part(judged.number > event.row)
        yield Segment((*resumed, *self._filter_or_hold(bins.part(slice(done, None)))), None)

    def _filter_or_hold(self, bins: BinColumns) -> list[Rows]:
        """Rows that these bins complete; none during a contact, when the bins are only held."""
        if len(bins.number) == 0:
            return []
        newest = int(bins.number[-1])
        if self._open:
            return self._release_final(self._window_rows(self.filter.push(*bins)), newest)
        self._held.append(bins)
        while self._held[0].number[-1] < newest - _HELD:
            self._held.pop(0)
        return []

    def _leave_out_from(self, event: Event) -> list[Rows]:
        """Leave out the bins of a contact that begins; gives the last rows before it."""
        if event.kind is not EventKind.BEGAN or not self._leaves_contact_out:
            return []
        rows = self._end_before(event.first)
        self._open = False
        return rows

    def _resume_after(self, event: Event) -> list[Rows]:
        """Begin a new segment after an event that ends a disturbance; gives its first rows."""
        if event.kind in (EventKind.BEGAN, EventKind.DOUBTED):
            return []
        held, self._held, self._open = self._held, [], True
        if event.kind is not EventKind.ENDED:
            self.filter = self.filter.for_next_segment()
            self.detector = self._make_detector(self.detector)
            self._waiting = []
        if not held or event.clean < 0:
            return []
        bins = BinColumns(*(np.concatenate(parts) for parts in zip(*held, strict=True)))
        return self._filter_or_hold(bins.part(bins.number >= max(event.clean, self._begin)))

    def _release_final(self, rows: list[Rows], last: int) -> list[Rows]:
        """Add rows to the waiting ones; gives those that no event after bin `last` can reach."""
        self._waiting += rows
        released = []
        while self._waiting and self._waiting[0].number[0] <= last - self._delay:
            first = self._waiting.pop(0)
            late = first.number > last - self._delay
            if late.any():
                self._waiting.insert(0, first.part(late))
            released.append(first.part(~late))
        return released

    def _end_before(self, first: int) -> list[Rows]:
        """End the segment before bin number `first`; gives its waiting rows without later bins."""
        waiting, self._waiting = self.waiting_rows, []
        rows = []
        if waiting is not None and (clean := waiting.number + self.filter.reach < first).any():
            rows.append(waiting.part(clean))
        rows += self._window_rows(self.filter.last_rows(first))
        self.filter = self.filter.for_next_segment()
        return rows
