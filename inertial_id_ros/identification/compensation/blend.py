# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Goes over from one load to the next without a jump."""

from __future__ import annotations

import numpy as np

from ...inertia import Array
from .load_in_use import Load, LoadInUse
from .prepared_load import PreparedLoad

_SLIGHT = 0.3  # standard deviations of a sample; a smaller difference is no jump
_STEP = 2.0  # the same, by which successive wrenches differ at most because of another load


class Blend:
    """Removes a load, and one that follows it more and more.

    Args:
        load: the first one; it is in use at once.
        sign: of the reading against ``A phi``; duration: of a transition, if it may be as fast [s].

    Attributes:
        share: of the newest load in what is removed, 0 to 1.
    """

    def __init__(self, use: LoadInUse, sign: float, duration: float) -> None:
        self._sign, self._duration = sign, duration
        self._use, self._new = use, PreparedLoad(use.load, use, sign)
        self._old: PreparedLoad | None = None
        self._tolerance = _tolerance(use)
        self.share = 1.0

    @property
    def load(self) -> Load:
        """What is removed now."""
        if self._old is None:
            return self._new.load
        return self._old.load.mixed(self._new.load, self.share)

    @property
    def early_ns(self) -> int:
        """By how much the stamps of the wrench are early [ns]."""
        if self._old is None:
            return self._new.early_ns
        return round(self._old.early_ns + self.share * (self._new.early_ns - self._old.early_ns))

    def follow(self, use: LoadInUse) -> None:
        """Go over to another load."""
        self._old = PreparedLoad(self.load, use, self._sign)
        self._use, self._new = use, PreparedLoad(use.load, use, self._sign)
        self._tolerance, self.share = _tolerance(use), 0.0

    def remove(self, inputs: Array, step: float) -> Array:
        """The wrench (6,) without the load.

        Args:
            inputs: (49,), as `inputs_of` gives them; step: since the last wrench [s].
        """
        new = self._new.remove(inputs)
        if self._old is None:
            return new
        old = self._old.remove(inputs)
        distance = float((np.abs(new - old) / self._tolerance).max())
        rest = 1.0 - self.share
        fastest = 1.0 if distance * rest <= _SLIGHT else min(
            _STEP / distance, step / self._duration if self._duration > 0.0 else 1.0)
        self.share += fastest
        if self.share >= 1.0:
            self._old, self.share = None, 1.0
            return new
        return np.asarray(old + self.share * (new - old))


def _tolerance(use: LoadInUse) -> Array:
    """Standard deviation (6,) of one wrench in the target frame [N, N m]."""
    noise = use.noise if use.target is None else np.sqrt((use.target**2) @ use.noise**2)
    return np.maximum(noise, 1e-9)
