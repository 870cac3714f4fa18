# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Payload and zero by least squares on thinned rows, at any set-up, with its evidence.

The noise of forces and of torques is unknown, and at least what usual terms may leave. Bodies that
cannot be cost evidence: a negative mass, or a centre of mass out of reach.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.ndimage import uniform_filter1d
from scipy.special import log_ndtr

from ..model.history import Window
from ..model.newton_euler import GRAVITY, regressor, skew
from ..model.sheet import Sheet
from ..motion.motion import BIN, Array, Motion
from .fit import VAGUE, Region

STEP, BOX = 4, 9  # bins from row to row, and of a moving mean that is taken twice
THIN = 3  # one of so many rows is fitted
INDEPENDENT = 0.4  # s, between residuals that do not repeat one another
USUAL = 0.01  # of the wrench, which usual terms may leave
ROUNDS = 4
WORST = 20.0  # logarithm, of a centre of mass outside of where it can be
MASS, WIDE = 2.0, 1.5  # kg, usual; and within what factor's logarithm
ONES = np.ones(6)


class Solved(NamedTuple):
    """Least squares of one hypothesis.

    Attributes:
        evidence: logarithm; x, covariance: (p,), (p, p) of payload, further columns, zero.
        residual: (2,) rms of forces and of torques [N, N m].
    """

    evidence: float
    x: Array
    covariance: Array
    residual: Array


class Thinned:
    """The rows of a window.

    Attributes:
        at: (r,) bins; used: (r,); A: (r, 6, 10); back: (r, 3, 3) from base to sensor axes.
        wrench: (n, 6) of all bins, smoothed; y: (r, 6).
        count: independent residuals of a force; region: where the centre of mass lies.
    """

    def __init__(self, window: Window, sheet: Sheet, region: Region | None) -> None:
        self.window, self.sheet, self.region = window, sheet, region
        self.at = np.arange(BOX, len(window.used) - BOX, STEP)
        self.used = _smooth(window.used.astype(float))[self.at] > 0.999
        self.back = _smooth(window.motion.rotation.transpose(0, 2, 1))[self.at]
        self.A = self.regressor(window.motion)
        self.wrench = _smooth(window.wrench)
        self.y = self.wrench[self.at]
        self.count = max(3.0 * self.used.sum() * STEP * BIN / INDEPENDENT, 6.0)

    def regressor(self, motion: Motion) -> Array:
        """Regressor (r, 6, 10) of the rows."""
        proper = motion.acceleration - motion.rotation.transpose(0, 2, 1) @ GRAVITY
        return _smooth(regressor(proper, motion.omega, motion.alpha))[self.at]

    def solve(self, A: Array, y: Array, used: np.ndarray | None = None, *, more: Array = ONES[:0],
              factor: Array = ONES) -> Solved:
        """Fit y (r, 6), readings times a factor (6,), by A (r, 6, p) and a zero.

        Args:
            used: (r,) rows; more: deviations before the data of columns beside those of phi.
        """
        used, p, sheet = self.used if used is None else used, A.shape[2], self.sheet
        A, y = A[used][::THIN], y[used][::THIN]
        rows = np.concatenate([A, np.broadcast_to(np.eye(6), (len(A), 6, 6)), y[..., None]], 2)
        parts = np.stack([rows[:, k:k + 3].reshape(-1, p + 7) for k in (0, 3)])
        normal = parts.transpose(0, 2, 1) @ parts / max(3 * len(rows), 1)
        own = np.hypot(sheet.accuracy, sheet.noise) * np.abs(factor[[0, 3]])
        floor = own**2 + USUAL**2 * (y.reshape(-1, 2, 3).var(0).mean(1) if len(y) else 1.0)
        precision = np.concatenate([VAGUE, more, sheet.bias_sd]) ** -2.0
        mean = np.concatenate([np.zeros(p), sheet.bias_mean])
        variance = floor
        for _ in range(ROUNDS):
            both = self.count * (normal / variance[:, None, None]).sum(0)
            H = both[:-1, :-1] + np.diag(precision)
            x = np.linalg.solve(H, both[:-1, -1] + precision * mean)
            full = np.append(x, -1.0)
            square = np.maximum(full @ normal @ full, 0.0)
            variance = floor + square
        fit = self.count * (np.log(variance) + square / variance).sum()
        known = precision @ (x - mean) ** 2 + len(x) * np.log(self.count)
        evidence = self.count / 3.0 * np.log(np.abs(factor)).sum() - 0.5 * (fit + known)
        return Solved(float(evidence), x, np.linalg.inv(H), np.sqrt(square))


def _smooth(bins: Array) -> Array:
    return np.asarray(uniform_filter1d(uniform_filter1d(bins, BOX, 0), BOX, 0))


def weight_columns(proper: Array) -> Array:
    """Columns (n, 6, 4) of mass and first moment at rest in accelerations (n, 3)."""
    out = np.zeros((len(proper), 6, 4))
    out[:, :3, 0], out[:, 3:, 1:] = proper, -skew(proper)
    return out


def belief_in_body(phi: Array, covariance: Array, region: Region | None) -> float:
    """Logarithm of how believable mass and centre of mass of phi (10,) are; 0: fully."""
    mass, variance = float(phi[0]), np.diag(covariance)
    sd = float(np.sqrt(variance[0] + (0.03 * mass) ** 2 + 0.02**2))
    out = float(log_ndtr(mass / sd))
    if abs(mass) < 3.0 * sd:
        return out
    strange = max(abs(float(np.log(abs(mass) / MASS))) - WIDE, 0.0)
    centre, size = (region.centre, region.size) if region else (np.zeros(3), np.ones(3))
    away = np.square(phi[1:4] / mass - centre) / (np.square(0.5 * size) + variance[1:4] / mass**2)
    return out - min(float(away.sum()), WORST) - 0.5 * strange**2
