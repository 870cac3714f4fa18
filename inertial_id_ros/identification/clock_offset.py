"""The offset between the clocks of wrench and motion, which is removed from the wrench stamps.

The offset is a linear state of the estimate. What is quadratic in it would bias the parameters, so
a large offset is removed from the stamps, and the window is replayed with the new ones.
"""

from __future__ import annotations

from ..estimate import NoEstimate, Outcome
from ..regression.alignment import CLOCK_OFFSET

_MOST_TIMES, _WORTHWHILE = 3, 0.002  # replays of a window, and smallest offset to remove [s]
_SIGNIFICANT = 5.0  # standard deviations


class ClockOffset:
    """The removed offset, and the decision to remove more.

    Attributes:
        early_ns: by how much the wrench stamps are early, as far as known; it is added [ns].
    """

    def __init__(self) -> None:
        self.early_ns, self._times = 0, 0

    @property
    def seconds(self) -> float:
        """The removed offset [s]."""
        return self.early_ns * 1e-9

    def remaining_ns(self, outcome: Outcome) -> int:
        """Offset that a new estimate shows beside the removed one, if worth a replay [ns]; else 0.
        """
        if isinstance(outcome, NoEstimate) or outcome.stale or self._times == _MOST_TIMES:
            return 0
        (offset,) = outcome.alignment[CLOCK_OFFSET.values]
        (sigma,) = outcome.alignment_sigma[CLOCK_OFFSET.values]
        rest = offset - self.seconds
        if not _WORTHWHILE < abs(rest) > _SIGNIFICANT * sigma > 0.0:
            return 0
        return int(rest * 1e9)

    def remove(self, offset_ns: int) -> None:
        """Remove a further offset from the stamps [ns]."""
        self._times += 1
        self.early_ns += offset_ns
