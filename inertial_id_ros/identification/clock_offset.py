"""The offset between the clocks of wrench and motion that is taken out of the wrench's stamps.

The offset is a linear state of the estimate; what is quadratic in it would bias the parameters, so
an offset that is worth it is taken out and the window goes through the pipeline once more.
"""

from __future__ import annotations

from ..estimate import Estimate

_TIMES, _WORTH = 3, 0.002  # how often, and from which offset on [s]


class ClockOffset:
    """See above.

    Attributes:
        early_ns: by how much stamps of the wrench are early, as far as taken out [ns].
    """

    def __init__(self) -> None:
        self.early_ns, self._taken = 0, 0

    @property
    def seconds(self) -> float:
        """The same [s]."""
        return self.early_ns * 1e-9

    def take_out(self, estimate: Estimate) -> bool:
        """Take out what an estimate says is left; whether that was worth it."""
        rest = estimate.alignment[5] - self.seconds
        sigma = estimate.alignment_sigma[5]
        if self._taken == _TIMES or not _WORTH < abs(rest) > 5.0 * sigma > 0.0:
            return False
        self._taken += 1
        self.early_ns += int(rest * 1e9)
        return True
