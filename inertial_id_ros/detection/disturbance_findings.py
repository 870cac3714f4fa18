# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What the detector's events say: contact, changes of payload and moved zeros, for the stages that
act upon it and as findings for people."""

from __future__ import annotations

import math

from ..findings import FindingLog
from ..signals.bins import BIN_NS
from .disturbance_detector import Event, EventKind
from .load_model import DisturbanceTexts

_OFFSET_NAME = "zero_or_contact"
_KEPT = 1000  # contacts that are kept one by one


class DisturbanceFindings:
    """Records the detector's events as findings, and counts contacts.

    Attributes:
        in_contact: whether something touches the payload now; is_doubted: whether nothing explains
            the load in motion; has_moved: whether the zero has moved, or what was learnt was lost.
        intervals: first and last bin of each contact.
    """

    def __init__(self, findings: FindingLog, texts: DisturbanceTexts) -> None:
        self._findings, self._texts = findings, texts
        self.in_contact = self.is_doubted = self.has_moved = False
        self.intervals: list[tuple[int, int]] = []
        self._older, self._older_bins = 0, 0  # contacts that are no longer kept one by one

    @property
    def is_any(self) -> bool:
        """Whether something is as none of these data should be."""
        return self.in_contact or self.is_doubted or self.has_moved

    def record(self, event: Event) -> None:
        """Set, count or clear the findings that an event concerns."""
        if event.kind is EventKind.BEGAN:
            self.in_contact = True
            self._findings.set("contact", "warning", self._texts.contact + self._total_text())
            return
        if event.kind is EventKind.DOUBTED:
            self.is_doubted = True
            self._findings.set(self._texts.doubted_name, "warning", self._texts.doubted)
            return
        self.in_contact = self.is_doubted = False
        self._findings.clear(self._texts.doubted_name)
        if event.kind is EventKind.ENDED:
            self._add_contact(event.first, event.clean)
        self._report_past()
        if event.kind.ends_payload:
            name, level = {EventKind.PAYLOAD_CHANGED: ("payload_changed", "info"),
                           EventKind.ZERO_MOVED: (self._texts.zeroed_name, "warning"),
                           EventKind.OFFSET: (_OFFSET_NAME, "warning"),
                           EventKind.SETUP_CHANGED: ("estimate_lost", "warning"),
                           EventKind.LOST: ("estimate_lost", "warning")}[event.kind]
            self._findings.count(name, f"{self.describe(event)}; buffers flushed", level)
            self.has_moved = self.has_moved or event.kind not in (EventKind.PAYLOAD_CHANGED,
                                                                  EventKind.OFFSET)

    def record_loss(self, text: str) -> None:
        """Record that what was learnt has explained nothing for long, as the text says."""
        self.has_moved = True
        self._findings.count("estimate_lost", f"{text}; buffers flushed")

    def describe(self, event: Event) -> str:
        """Why an event that ends a payload makes earlier data useless, in one sentence."""
        if event.kind is EventKind.PAYLOAD_CHANGED:
            return _payload_text(event)
        if event.kind is EventKind.ZERO_MOVED:
            return self._texts.zeroed
        if event.kind is EventKind.OFFSET:
            return self._texts.offset
        if event.kind is EventKind.SETUP_CHANGED:
            return self._texts.another_setup
        return f"{self._texts.lost} {(event.row - event.first) * BIN_NS * 1e-9:.0f} s"

    def none_so_far(self) -> DisturbanceFindings:
        """No contacts, and no finding of any disturbance: the events so far were none."""
        self._findings.clear("contact", self._texts.doubted_name)
        self.withdraw_changes()
        return DisturbanceFindings(self._findings, self._texts)

    def withdraw_changes(self) -> None:
        """Withdraw the findings of changes of payload and zero: they were none."""
        self.has_moved = False
        self._findings.clear("payload_changed", "estimate_lost", self._texts.zeroed_name,
                             _OFFSET_NAME)

    def before(self, number: int) -> DisturbanceFindings:
        """Those before this bin; the later ones will be found again."""
        kept = DisturbanceFindings(self._findings, self._texts)
        kept.intervals = [i for i in self.intervals if i[0] < number]
        kept._older, kept._older_bins = self._older, self._older_bins
        kept.has_moved = self.has_moved
        self._findings.clear(self._texts.doubted_name)
        kept._report_past()
        return kept

    def _report_past(self) -> None:
        """Say what contacts were left out; nothing touches the payload now."""
        if self.intervals or self._older:
            self._findings.set("contact", "info", f"contact left out{self._total_text()}")
        else:
            self._findings.clear("contact")

    def _add_contact(self, first: int, last: int) -> None:
        """Count a contact between two bins."""
        self.intervals.append((first, last))
        if len(self.intervals) > _KEPT:
            oldest = self.intervals.pop(0)
            self._older += 1
            self._older_bins += oldest[1] - oldest[0]

    def _total_text(self) -> str:
        """Number and total length of the contacts so far, in parentheses; empty without any."""
        count = self._older + len(self.intervals)
        if count == 0:
            return ""
        bins = self._older_bins + sum(last - first for first, last in self.intervals)
        times = "once" if count == 1 else f"{count} times"
        return f" ({times} so far, {bins * BIN_NS * 1e-9:.1f} s in all)"


def _payload_text(event: Event) -> str:
    """Mass before and after a change of payload, as far as known."""
    if event.change == 0.0:
        return "payload changed: its centre of mass has moved"
    if math.isnan(event.before):
        return f"payload changed: by about {event.change:+.2f} kg"
    before, after = max(event.before, 0.0), max(event.after, 0.0)
    return f"payload changed: from {before:.2f} to about {after:.2f} kg"
