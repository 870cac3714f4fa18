# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Plays messages to an identifier and to the live compensation beside it, as a node does."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from synthetic import START, Recording

from inertial_id_ros.identification.compensation.live_compensation import LiveCompensation
from inertial_id_ros.identification.compensation.load_latch import Mode
from inertial_id_ros.identification.wrench.identifier import Identifier

_ADVANCE, _SOLVE = 0.1, 0.5  # s


class Heard(NamedTuple):
    """What was published.

    Attributes:
        t: (k,) stamps since the start [s]; wrench: (k, 6); mode: (k,).
        silent: (seconds, reason) of each wrench for which nothing was published.
        removed: (k, 6) incoming less compensated wrench.
    """

    t: np.ndarray
    wrench: np.ndarray
    mode: np.ndarray
    silent: list[tuple[float, str]]
    removed: np.ndarray

    def between(self, first: float, last: float) -> Heard:
        """What was published from `first` to `last` [s]."""
        which = (self.t >= first) & (self.t < last)
        return Heard(self.t[which], self.wrench[which], self.mode[which],
                     [s for s in self.silent if first <= s[0] < last], self.removed[which])


class Live:
    """An identifier with the live compensation; the clock is that of the stamps."""

    def __init__(self, made: Identifier) -> None:
        self.made, self.now = made, 0.0
        self.live = LiveCompensation(made.settings, lambda: self.now)
        self.live.begin()
        self._advance = self._solve = -1.0

    def play(self, samples: Recording) -> Heard:
        """Play messages; what was published meanwhile."""
        rows, modes, silent, removed = [], [], [], []
        for stamp, method, arguments in samples.messages:
            self.now = (stamp - START) * 1e-9
            getattr(self.made, method)(*arguments)
            if method == "add_joint_state":
                self.live.add_joint_state(arguments[0], tuple(arguments[1]), arguments[2])
            elif method == "add_imu":
                self.live.add_imu(arguments[0], (*arguments[2], *arguments[3]))
            elif method == "add_transform":
                self.live.add_transform(*arguments)
            elif method == "add_wrench":
                wrench = (*arguments[2], *arguments[3])
                out = self.live.compensate(arguments[0], arguments[1], wrench)
                status = self.live.status()
                if out is None:
                    assert status.mode is Mode.SILENT and status.reason
                    silent.append((self.now, status.reason))
                else:
                    rows.append([self.now, *out])
                    modes.append(status.mode)
                    removed.append(np.array(wrench) - out)
            self._work()
        made = np.array(rows).reshape(-1, 7)
        return Heard(made[:, 0], made[:, 1:], np.array(modes), silent,
                     np.array(removed).reshape(-1, 6))

    def _work(self) -> None:
        """Do what the worker of a node does when it is due."""
        if self.now >= self._advance:
            self.made.advance()
            self._advance = self.now + _ADVANCE
            self.use()
        if self.now >= self._solve:
            self.made.solve()
            self._solve = self.now + _SOLVE
            self.use()

    def use(self) -> None:
        """Have the live compensation use what the identifier knows now."""
        self.live.use(self.made.load_in_use())
