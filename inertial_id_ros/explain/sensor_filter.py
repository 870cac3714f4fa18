# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The sensor's own low-pass: log time constant, damping if of second order, what it held before."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..model.rows import Rows
from ..model.setup import low_pass
from ..motion.motion import Array
from .fit import Fit
from .term import Effect, Term, Values

_SHORTEST, _LONGEST, _USUAL = 0.003, 2.0, 0.05  # s, time constants
_DAMPINGS, _DAMPING = (0.3, 1.5), 0.8
_SEEN, _CLEAR = 0.012, 4.0  # s of delay, and its deviations, from which on a filter is looked for
_STEP = 0.02


class SensorFilter(Term):
    """A low-pass of first or second order."""

    place, strength, odds = 4, np.inf, -2.0

    def __init__(self, order: int) -> None:
        self.name, self.order = f"sensor_filter{order}", order
        super().__init__(np.r_[1.5, [0.15] * (order - 1), ([1.0] * 3 + [0.05] * 3) * order])
        self.mean[:order] = np.r_[np.log(_USUAL), [_DAMPING] * (order - 1)]

    def starts(self, fit: Fit) -> list[Values]:
        """A filter is first seen as a delay."""
        late, least = _USUAL, _SEEN
        if "delay" in fit.values:
            late, least = fit.values["delay"][0], max(_SEEN, _CLEAR * fit.sigma["delay"][0])
        if late < least:
            return []
        values = self.mean.copy()
        values[0] = np.log(late / (2.0 * values[1] if self.order == 2 else 1.0))
        return [{self.name: values, "delay": np.zeros(1)}]

    def filter(self, values: Array) -> tuple[float, ...]:
        """Time constant [s], and damping."""
        time = float(np.exp(np.clip(values[0], np.log(_SHORTEST), np.log(_LONGEST))))
        return (time, *np.clip(values[1:self.order], *_DAMPINGS).tolist())

    def describe(self, rows: Rows, phi: Array, values: Array) -> Mapping[str, float]:
        time = self.filter(values)[0]
        return {"cutoff": 1.0 / (2.0 * np.pi * time), "order": float(self.order)}

    def effect(self, rows: Rows, phi: Array, values: Array, load: Array) -> Effect:
        wrench, known = rows.unfiltered @ phi, self.filter(values)
        here, slopes = low_pass(wrench, known), []
        for k in range(self.order):
            step = np.zeros(len(values))
            step[k] = _STEP
            slopes.append((low_pass(wrench, self.filter(values + step)) - here) / _STEP)
        t = (rows.time - rows.time[0]) / known[0]
        decay = [np.exp(-t)] if self.order == 1 else [np.exp(-t), t * np.exp(-t)]
        modes = rows.modes(np.concatenate([
            rows.smooth(np.stack(slopes, 2)), *[d[:, None, None] * np.eye(6) for d in decay]], 2))
        return Effect(modes, modes[..., self.order:] @ values[self.order:])
