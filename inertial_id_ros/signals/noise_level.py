# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The noise of a sensor, measured from its samples before anything is judged by it.

Differences of the fifth order of successive bins hold next to nothing of the motion of an arm and
of slow vibration, but all of the noise: no rest is needed. Their median over blocks passes over
blows, and that over channels and the least of bins and of pairs of bins over vibration of a tool.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator

import numpy as np

from ..findings import FindingLog
from ..inertia import Array
from .bins import Bins

_BLOCK = 25  # bins with samples
_KEPT = 40  # newest blocks that count
_ORDER = 5
_GAIN = math.comb(2 * _ORDER, _ORDER)  # variance of such a difference over that of a bin
_CHANGE = 1.5  # factor from which on another level is used


class NoiseLevel:
    """Follows the noise of one raw sample, as far as it exceeds what is declared.

    Args:
        declared: (g,) standard deviations of a sample of each group of three channels.

    Attributes:
        used: (g,) the same, measured where that is clearly more.
    """

    def __init__(self, declared: Array) -> None:
        self.used: Array = declared
        self._declared = declared
        self._waiting = np.empty((0, 3 * len(declared)))  # bins of an unfinished block
        self._samples = np.empty(0)
        self._variances: deque[Array] = deque(maxlen=_KEPT)
        self._last, self._blocks = -1, 0

    @property
    def is_raised(self) -> bool:
        """Whether the noise in use is above what is declared."""
        return bool((self.used > self._declared).any())

    def report(self, log: FindingLog) -> None:
        """Say which noise is used where that was measured."""
        log.clear("noise_measured")
        if self.is_raised:
            (force, torque), (force_set, torque_set) = self.used, self._declared
            log.set("noise_measured", "info", f"the noise of a sample is {force:.2g} N and "
                    f"{torque:.2g} N m; wrench.noise is {force_set:g} N and {torque_set:g} N m: "
                    "the measured noise is used")

    def declare(self, declared: Array) -> None:
        """Take other standard deviations (g,) as declared."""
        self._declared = declared
        self.used = self._level()

    def follow(self, bins: Bins) -> Iterator[int]:
        """Add bins in order of time; gives the number of each bin after which `used` is another.

        `used` changes when that number is given. Bins that were seen before change nothing.
        """
        new = bins.number > self._last
        number = bins.number[new]
        if len(number) == 0:
            return
        self._last = int(number[-1])
        held = len(self._samples)
        rows = np.concatenate([self._waiting, bins.mean[new]])
        samples = np.concatenate([self._samples, bins.samples[new]])
        whole = len(samples) // _BLOCK * _BLOCK
        self._waiting, self._samples = rows[whole:], samples[whole:]
        for begin in range(0, whole, _BLOCK):
            part = slice(begin, begin + _BLOCK)
            self._variances.append(_white_variances(rows[part]) * samples[part].mean())
            level, self._blocks = self._level(), self._blocks + 1
            is_due = self._blocks & (self._blocks - 1) == 0  # seldom, as the median settles
            if (is_due and (level != self.used).any()
                    or np.abs(np.log(level / self.used)).max() > math.log(_CHANGE)):
                self.used = level
                yield int(number[begin + _BLOCK - 1 - held])

    def _level(self) -> Array:
        """Noise (g,) by the blocks so far: measured where it clearly exceeds what is declared."""
        if not self._variances:
            return self._declared
        ordered, count = np.sort(self._variances, axis=0), len(self._variances)
        median = 0.5 * (ordered[(count - 1) // 2] + ordered[count // 2])
        of_channel = median.min(axis=0)
        measured = np.sqrt(np.median(of_channel.reshape(-1, 3), axis=1))
        return np.where(measured > _CHANGE * self._declared, measured, self._declared)


def _white_variances(bins: Array) -> Array:
    """Variances (2, c) of white noise in bins (n, c): by them, and by means of successive two."""
    pairs = bins[:len(bins) // 2 * 2].reshape(-1, 2, bins.shape[1]).mean(axis=1)
    return np.stack([k * (np.diff(part, _ORDER, axis=0) ** 2).mean(axis=0) / _GAIN
                     for k, part in ((1, bins), (2, pairs))])
