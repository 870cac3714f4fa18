# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Hysteresis: a share of each channel lags behind its load by plays (Prandtl-Ishlinskii)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..model.rows import Rows
from ..motion.motion import Array
from .term import Effect, Term, linear

SHARES = (0.1, 0.2, 0.3, 0.4)  # half widths of the plays, of the range of a channel
INEXACT = 0.04  # of what the plays take from the gains
_SD, _TIMES = 0.15, 2.0  # of a weight at most; lag, of what the data sheet calls accuracy
_NAMED = 0.01  # share of the load


class Hysteresis(Term):
    """Weights of four plays in each channel."""

    name, place, strength = "hysteresis", 3, np.inf
    is_linear, is_inexact, odds = True, True, -1.0

    def __init__(self, rows: Rows, accuracy: tuple[float, ...]) -> None:
        """Rows, and accuracy of a force and of a torque [N, N m], tell how large weights may be."""
        half = np.outer(SHARES, np.ptp(rows.back(rows.y), axis=0))
        usual = _TIMES * np.repeat(accuracy, 3) / np.maximum(half, 1e-9)
        super().__init__(np.minimum(usual, _SD).ravel())
        self._accuracy = accuracy

    def on(self, rows: Rows) -> Hysteresis:
        return Hysteresis(rows, self._accuracy)

    def effect(self, rows: Rows, phi: Array, values: Array, load: Array) -> Effect:
        several = np.tile(rows.back(load), len(SHARES))  # (n, 24)
        out, side, last = _plays(several)
        count = len(SHARES)
        slopes = rows.modes(out - several).reshape(-1, count, 6, 1) * np.eye(6)
        slopes = slopes.transpose(0, 2, 1, 3).reshape(len(slopes), 6, -1)
        weight = values.reshape(count, 6, 1)
        bent = (side * np.repeat(SHARES, 6) * values).reshape(-1, count, 6).sum(1)[..., None]
        channel = np.arange(6)
        top, bottom = several[:, :6].argmax(0), several[:, :6].argmin(0)

        def through(more: Array) -> Array:
            part = rows.back(more)
            moved = bent * (part[top, channel] - part[bottom, channel]) - weight.sum(0) * part
            for k in range(count):
                moved += weight[k] * part[last[:, 6 * k:6 * k + 6], channel]
            return rows.modes(moved)
        return linear(slopes, values, through)

    def doubt(self, rows: Rows, phi: Array, values: Array) -> Array:
        share = INEXACT * np.abs(values.reshape(-1, 2, 3)).sum(0).mean(1)
        gains = np.zeros((10, 2))
        gains[0, 0], gains[1:, 1] = phi[0] * share[0], phi[1:] * share[1]
        return np.asarray(gains @ gains.T)

    def describe(self, rows: Rows, phi: Array, values: Array) -> Mapping[str, float]:
        share = float(np.abs(values.reshape(-1, 6).sum(0)).max())
        return {"share": share} if share > _NAMED else {}


def _plays(load: Array) -> tuple[Array, Array, np.ndarray]:
    """Outputs (n, 24) of plays on loads (n, 24), the side on which each slid last, and when."""
    half = np.repeat(SHARES, 6) * np.ptp(load, axis=0)
    low, high, out, at = load - half, load + half, np.empty_like(load), load[0]
    for k in range(len(load)):
        out[k] = at = np.maximum(low[k], np.minimum(high[k], at))
    side = np.where(out == high, 1.0, np.where(out == low, -1.0, 0.0))
    moved = np.where(side != 0.0, np.arange(len(load))[:, None], 0)
    last = np.maximum.accumulate(moved, axis=0)
    return out, np.take_along_axis(side, last, 0), last
