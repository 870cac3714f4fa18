"""How fast the sensor turns over a window."""

from __future__ import annotations

import numpy as np

from .motion import Motion


class Turning:
    """Running root mean square of ``(|alpha|^2 + |omega|^4)^(1/2)`` [rad/s^2]."""

    def __init__(self) -> None:
        self._squares, self._count = 0.0, 0

    def add(self, motion: Motion) -> None:
        """Take valid motion in."""
        squares = (motion.alpha**2).sum(axis=1) + (motion.omega**2).sum(axis=1) ** 2
        self._squares += float(squares[motion.valid].sum())
        self._count += int(motion.valid.sum())

    @property
    def rms(self) -> float:
        """The root mean square; 0 before any motion."""
        return float(np.sqrt(self._squares / self._count)) if self._count else 0.0
