# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The end of states in which nothing explains the data.

What was learnt from wrong inputs (a clock offset, a turned sensor, another noise) may outlive them,
and then contradicts the right ones. Where nothing has explained the data for long, everything
learnt is forgotten. The estimates that follow need more data than the first one: a few seconds of
motion may fit a set-up that is still wrong.
"""

from __future__ import annotations

_FIRST_NS, _LONGEST_NS = 10_000_000_000, 160_000_000_000
_PROBATION = 3.0  # s of data that the first estimate afterwards needs
_TRUSTED_NS = 20_000_000_000  # of explained data, after which patience is short again


class Recovery:
    """Says when everything learnt is to be forgotten: ever more rarely, while that does not help.

    All times are stamps of the data, so that a recording that is played slowly gives the same.
    """

    def __init__(self) -> None:
        self._patience, self._since, self._explained_since = _FIRST_NS, -1, -1
        self._on_probation = False

    def is_due(self, newest_ns: int, explained: bool) -> bool:
        """Whether to forget now, with data up to this stamp.

        Args:
            explained: whether what was learnt explains them.
        """
        if explained:
            self._since, self._on_probation = -1, False
            if self._explained_since < 0:
                self._explained_since = newest_ns
            if newest_ns - self._explained_since > _TRUSTED_NS:
                self._patience = _FIRST_NS
            return False
        self._explained_since = -1
        if self._since < 0 or newest_ns < self._since:
            self._since = newest_ns
        if newest_ns - self._since < self._patience:
            return False
        self._patience, self._since = min(2 * self._patience, _LONGEST_NS), -1
        self._on_probation = True
        return True

    def least_duration(self, usual: float) -> float:
        """Length [s] of data that an estimate needs, where `usual` is set."""
        return max(usual, _PROBATION) if self._on_probation else usual
