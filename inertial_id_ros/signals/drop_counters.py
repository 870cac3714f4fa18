"""What became of samples on their way into a ring, as findings."""

from __future__ import annotations

from ..findings import FindingLog
from .ring_buffer import LATE, REORDERED, REPEATED, STORED


class StoredCounts:
    """Counts samples that are late, repeated, out of order or strays.

    Args:
        prefix: of the findings' names; what: the samples are called.
    """

    def __init__(self, findings: FindingLog, prefix: str, what: str) -> None:
        self._findings, self._prefix, self._what = findings, prefix, what
        self.strays = 0  # so far

    def take(self, result: str, strays: int) -> None:
        """Count what the ring said of a sample, and the strays it has dropped so far."""
        if result == STORED and strays == self.strays:
            return
        if result == REPEATED:
            self._count("repeated", "with a repeated stamp dropped", "info")
        elif result == LATE:
            self._count("late", "that came too late dropped")
        elif result == REORDERED:
            self._count("reordered", "that came out of order put where they belong", "info")
        for _ in range(strays - self.strays):
            self._count("stamp_stray", "with a stamp far from those before and after dropped")
        self.strays = strays

    def _count(self, name: str, text: str, level: str = "warning") -> None:
        self._findings.count(f"{self._prefix}_{name}", f"{self._what} {text}", level)
