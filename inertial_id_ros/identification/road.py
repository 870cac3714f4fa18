# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The road of a sample, from the streams to the rows of the window, as far as it does not depend on
what measures the load; and what it gives back, the wrenches without the payload.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from ..detection.disturbance_detector import Event, EventKind
from ..detection.segments import Segment
from ..inertia import Array
from ..regression.regressor_window import Rows
from .knowledge import Knowledge


class CompensatedWrenches(NamedTuple):
    """Wrenches with bias, weight and inertia of the payload removed.

    Attributes:
        stamps_ns: (k,); wrench: (k, 6) [N, N m], sign of the incoming topic; frame_id.
    """

    stamps_ns: np.ndarray
    wrench: Array
    frame_id: str


def no_wrenches(frame_id: str) -> CompensatedWrenches:
    """Compensated wrenches without any sample."""
    return CompensatedWrenches(np.empty(0, np.int64), np.empty((0, 6)), frame_id)


def join_wrenches(parts: Sequence[CompensatedWrenches], frame_id: str) -> CompensatedWrenches:
    """Successive compensated wrenches as one."""
    return CompensatedWrenches(np.concatenate([p.stamps_ns for p in parts]),
                               np.concatenate([p.wrench for p in parts]), frame_id)


class Road(ABC):
    """Moves samples from the streams into the window.

    Args:
        known: what the samples teach is kept there.
    """

    def __init__(self, known: Knowledge) -> None:
        self._known = known

    @abstractmethod
    def process_settled(self) -> CompensatedWrenches:
        """Turn settled samples into rows of the window; gives the compensated wrenches."""

    @abstractmethod
    def _add_rows(self, rows: Rows) -> None:
        """Add rows to the window."""

    @abstractmethod
    def _handle_moved_zero(self) -> None:
        """Take into account that the zero of what measures the load has moved."""

    def _add_segments(self, segments: Iterable[Segment]) -> None:
        """Add rows to the window, and handle the events between them."""
        for segment in segments:
            for rows in segment.rows:
                self._add_rows(rows)
            if segment.event is not None:
                self._handle_event(segment.event)

    def _handle_event(self, event: Event) -> None:
        """Record an event of the detector; forget the rows of another payload or zero."""
        known = self._known
        known.disturbances.record(event)
        if not event.kind.ends_payload:
            return
        if event.kind.moves_zero:
            self._handle_moved_zero()
        payload = known.payload
        payload.ends.append((event.row, payload.begin))
        known.progress.flush_reason = known.disturbances.describe(event)
        payload.begin = event.row if event.clean < 0 else event.clean
        known.begin_window()
        if event.kind in (EventKind.SETUP_CHANGED, EventKind.LOST):
            known.progress.lost_at = event.row
