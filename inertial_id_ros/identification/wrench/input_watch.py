# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Watches the inputs for what no estimate can show: wrenches of two publishers, and joint positions
that were wrong for a while.

Each fault belongs to the bin in which it showed. The bins before it are processed first, however
late the fault is noticed, so that the result does not depend on how a stream is cut into pieces.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from ...findings import FindingLog
from ...kinematics.motion_source import MotionSelector
from ...kinematics.position_jumps import Span
from ...regression.uncertainty.noise import datasheet_noise
from ...settings import WrenchSettings
from ...signals.bins import BIN_NS
from ...signals.mixed_streams import MIXED, Change, MixedStreams
from ...signals.ring_buffer import SampleRing
from .provisional_rows import REORDER_NS, UnsettledBins

PUBLISHERS, STILL = "several_publishers.wrench", "input_stuck.joints"
_LONG_STILL = 1.0  # s


class InputFault(NamedTuple):
    """Something that is wrong with the inputs.

    Attributes:
        shown: number of the bin before which it could not be known.
        first: number of the first bin whose row is wrong; None: nothing before counts any more,
            since the wrench begins to contradict itself, as the text says, or ceases to.
    """

    shown: int
    first: int | None
    text: str | None = None


class InputWatch:
    """Collects faults of the inputs.

    Args:
        settings: of the wrench; motion: whose positions are judged.
        publishers: what is wrong with the publishers of the wrench; empty where nothing is.

    Attributes:
        publishers: the same.
    """

    def __init__(self, settings: WrenchSettings, motion: MotionSelector,
                 findings: FindingLog, publishers: str = "") -> None:
        self._settings, self._motion, self._findings = settings, motion, findings
        self.use_publishers(publishers)
        self._mixed = MixedStreams(datasheet_noise(self._settings)[[0, 3]])
        self._changes: deque[Change] = deque()
        self._spans: deque[Span] = deque()
        self._mixed_text: str | None = None

    @property
    def conflict(self) -> str | None:
        """Why the wrench cannot be used at all; None where it can."""
        return self.publishers or self._mixed_text

    def use_publishers(self, text: str) -> None:
        """Note that several publishers send the wrench, as the text says; empty: that is over."""
        self.publishers = text
        self._findings.set_or_clear(PUBLISHERS, "error", text)

    def judge_positions(self, in_contact: bool) -> None:
        """Judge the joint positions that came; what they show shortens the motion that settled.

        Args:
            in_contact: whether the wrench does not fit what is carried.
        """
        self._spans += self._motion.judge_positions()
        still = self._motion.still
        if still > _LONG_STILL and in_contact:
            self._findings.set(
                STILL, "warning", "no joint position has changed to the last bit for "
                f"{still:.0f} s while the wrench does not fit: something touches the "
                "arm at rest, or the joint states were frozen before it moved")
        else:
            self._findings.clear(STILL)

    def judge_wrenches(self, ring: SampleRing, end: int) -> None:
        """Judge the wrenches of the bins before number `end`."""
        self._changes += self._mixed.judge(ring, end)

    def next_fault(self, unsettled: UnsettledBins, finished: bool) -> InputFault | None:
        """Take out the earliest fault that showed until the first unsettled bin; None: there is
        none. Wrong positions from which no motion was made are dropped.

        Args:
            finished: whether no sample will come any more, so that none is waited for.
        """
        while self._spans and not _reaches_back(self._spans[0], unsettled):
            self._spans.popleft()
        end = unsettled.first + 1
        change = self._changes[0].number if self._changes else end
        span = _shown(self._spans[0], unsettled, finished) if self._spans else end
        if min(change, span) >= end:
            return None
        if change <= span:
            return InputFault(change, None, self._changes.popleft().text)
        return InputFault(span, _first_wrong(self._spans.popleft(), unsettled))

    def use_change(self, fault: InputFault) -> None:
        """Note that wrenches begin to contradict each other, or cease to."""
        self._mixed_text = fault.text
        if fault.text is not None:
            self._findings.set(MIXED, "error", fault.text)
        else:
            self._findings.clear(MIXED)
            self._findings.count("reset", "buffers flushed: the wrench came from two publishers",
                                 "info")


def _shown(span: Span, unsettled: UnsettledBins, finished: bool) -> int:
    """Number of the first bin that could not be settled before wrong positions showed."""
    wait = 0 if finished else REORDER_NS
    return (span.shown - 1 - unsettled.source.provisional_ns - unsettled.errors.early_ns
            - wait) // BIN_NS


def _reaches_back(span: Span, unsettled: UnsettledBins) -> bool:
    """Whether motion with wrong positions had settled before they showed."""
    return span.shown - span.first > 2 * unsettled.source.provisional_ns + BIN_NS


def _first_wrong(span: Span, unsettled: UnsettledBins) -> int:
    """Number of the first bin whose motion depends on wrong positions."""
    return (span.first - unsettled.source.provisional_ns - unsettled.errors.early_ns) // BIN_NS
