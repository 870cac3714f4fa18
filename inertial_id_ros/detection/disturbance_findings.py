"""Contact, changes of payload and of the sensor's zero: what is said about them."""

from __future__ import annotations

import math

from ..findings import FindingLog
from ..signals.bins import BIN_NS
from .disturbance_detector import BEGAN, DOUBTED, ENDED, PAYLOAD, ZERO, Event
from .load_model import Words

_KEPT = 1000  # intervals of contact that are remembered one by one


class Disturbances:
    """Turns the detector's events into findings."""

    def __init__(self, findings: FindingLog, words: Words) -> None:
        self._findings, self._words = findings, words
        self.restart()

    def restart(self) -> None:
        """Forget all intervals."""
        self.intervals: list[tuple[int, int]] = []  # first and last bin of each contact
        self._older, self._older_bins = 0, 0

    def take(self, event: Event) -> str:
        """Say what happened; gives the sentence where the payload or the zero is another now."""
        if event.kind == BEGAN:
            self._findings.set("contact", "warning", self._words.contact + self._so_far())
            return ""
        if event.kind == DOUBTED:
            self._findings.set(self._words.doubted_name, "warning", self._words.doubted)
            return ""
        self._findings.clear(self._words.doubted_name)
        if event.kind == ENDED:
            self._append(event.first, event.clean)
            self._findings.set("contact", "info", f"contact left out{self._so_far()}")
            return ""
        return self._changed(event)

    def _changed(self, event: Event) -> str:
        if self.intervals or self._older:
            self._findings.set("contact", "info", f"contact left out{self._so_far()}")
        else:
            self._findings.clear("contact")
        if event.kind == PAYLOAD:
            text = _payload_text(event)
            self._findings.count("payload_changed", f"{text}; buffers flushed", "info")
        elif event.kind == ZERO:
            text = self._words.zeroed
            self._findings.count(self._words.zeroed_name, f"{text}; buffers flushed")
        else:
            lasted = (event.row - event.first) * BIN_NS * 1e-9
            text = f"{self._words.lost} {lasted:.0f} s"
            self._findings.count("estimate_lost", f"{text}; buffers flushed")
        return text

    def forget_from(self, number: int) -> None:
        """The time from this bin on is gone through again."""
        self.intervals = [i for i in self.intervals if i[0] < number]

    def _append(self, first: int, last: int) -> None:
        self.intervals.append((first, last))
        if len(self.intervals) > _KEPT:
            oldest = self.intervals.pop(0)
            self._older += 1
            self._older_bins += oldest[1] - oldest[0]

    def _so_far(self) -> str:
        count = self._older + len(self.intervals)
        if count == 0:
            return ""
        bins = self._older_bins + sum(last - first for first, last in self.intervals)
        times = "once" if count == 1 else f"{count} times"
        return f" ({times} so far, {bins * BIN_NS * 1e-9:.1f} s in all)"


def _payload_text(event: Event) -> str:
    if math.isnan(event.before):
        return f"payload changed: by about {event.change:+.2f} kg"
    before, after = max(event.before, 0.0), max(event.after, 0.0)
    return f"payload changed: from {before:.2f} to about {after:.2f} kg"
