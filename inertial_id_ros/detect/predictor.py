# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Foretells the next row from those before: a Kalman filter of payload, zero and set-up.

Every hypothesis of the scan is one that differs in what it is sure of.
"""

from __future__ import annotations

from copy import copy
from typing import NamedTuple

import numpy as np

from ..model.newton_euler import static_wrench
from ..model.sheet import Sheet
from ..motion.motion import BIN, Array
from .row import GAIN, Row

PHI, BIAS, SETUP, PUSH = slice(0, 10), slice(10, 16), slice(16, 22), slice(22, 26)
STATES = 26
VAGUE = np.r_[20.0, np.full(3, 5.0), np.full(6, 1.0)]  # deviations of phi before the data
ZERO = np.repeat([30.0, 3.0], 3)  # N, N m, of the zero
DELAY, JITTER = 0.005, 0.002  # s, of the stamps; of a row
FLOOR = np.array([0.03, 0.0015])  # N, N m, of a row
ACCELERATION = np.array([0.01, 0.02])  # m/s^2, rad/s^2, of a row
DYNAMIC = 0.03  # share of the wrench by acceleration
MEMORY, YOUNG = 100, 5  # rows of the noise's scale; for which that of a new fit counts
UNCONFIRMED = 9.0  # that scale
LONGEST = 500  # bins after which what was learnt becomes no older


class Forecast(NamedTuple):
    """residual: (6,) measured less foretold; covariance: (6, 6) of it; columns: (6, 26)."""

    residual: Array
    covariance: Array
    columns: Array

    @property
    def squares(self) -> float:
        """Squared distance in deviations."""
        return float(self.residual @ np.linalg.solve(self.covariance, self.residual))

    @property
    def log_likelihood(self) -> float:
        """Of the row."""
        size = float(np.linalg.slogdet(2.0 * np.pi * self.covariance)[1])
        return -0.5 * (self.squares + size)


class Predictor:
    """Mean (26,) and covariance of [phi, bias, set-up, push along gravity] as of bin `number`.

    Attributes:
        walk: (26, 26) covariance of their change in a second; scale: (2,) of the noise of forces
            and torques; louder: noise of a row over what is believed.
        learnt: rows in all; rows, score: since the copy was made, and their log-likelihood;
        misfit: (6,) mean square of their residuals, in deviations.
    """

    def __init__(self, sheet: Sheet) -> None:
        self.sheet = sheet
        sd = np.r_[VAGUE, np.minimum(ZERO, 6.0 * sheet.bias_sd), np.full(3, sheet.rotation),
                   np.full(2, sheet.tilt), DELAY, np.zeros(4)]
        self.mean, self.covariance = np.zeros(STATES), np.diag(sd**2)
        self.mean[BIAS] = sheet.bias_mean
        self.walk = np.diag(np.r_[np.zeros(10), np.repeat(sheet.drift, 3) ** 2 / 60.0,
                                  np.zeros(10)])
        self.scale, self.louder = np.full(2, UNCONFIRMED), 1.0
        self.number: int | None = None
        self._last: Array | None = None
        self.learnt, self.rows, self.score, self.misfit = 0, 0, 0.0, np.zeros(6)

    def copy(self, number: int) -> Predictor:
        """The same as of a bin, with nothing scored."""
        out = copy(self)
        out.mean, out.scale = self.mean.copy(), self.scale.copy()
        out.covariance = self.covariance + self.walk * self._age(number)
        out.number, out.rows, out.score, out.misfit = number, 0, 0.0, np.zeros(6)
        return out

    def doubting(self, which: slice, covariance: Array | float, walk: Array | float = 0.0
                 ) -> Predictor:
        """Make some states more uncertain, and let them walk more in a second; gives itself."""
        self.covariance[which, which] += covariance
        self.walk = self.walk.copy()
        self.walk[which, which] += walk
        return self

    def predict(self, row: Row, noise: Array | None = None) -> Forecast:
        """Forecast of a row; noise: (6,) variance of it, None: as `noise` says."""
        H = np.concatenate([row.A, np.eye(6), row.setup_columns(self.phi), row.push_columns()], 1)
        own = self.noise(row) if noise is None else self.louder * noise
        S = H @ self._covariance_at(row) @ H.T + np.diag(own)
        return Forecast(row.y - H @ self.mean, S, H)

    def learn(self, row: Row, noise: Array | None = None) -> Forecast:
        """Learn an independent row; gives the forecast of it."""
        seen = self.predict(row, noise)
        self.score += seen.log_likelihood
        self.misfit = self.misfit + (seen.residual**2 / np.diag(seen.covariance)
                                     - self.misfit) / (self.rows + 1)
        before = self._covariance_at(row)
        gain = np.linalg.solve(seen.covariance, seen.columns @ before).T
        self.mean = self.mean + gain @ seen.residual
        after = before - gain @ seen.covariance @ gain.T
        self.covariance = 0.5 * (after + after.T)
        self._last, self.number = row.A, row.number
        self.rows, self.learnt = self.rows + 1, self.learnt + 1
        return seen

    def learn_noise(self, seen: Forecast, row: Row) -> None:
        """Learn how noisy rows are from a forecast of one in which nothing happened."""
        square = seen.residual.reshape(2, 3) ** 2
        known = (np.diag(seen.covariance) - self.noise(row)).reshape(2, 3)
        now = np.maximum(square - known, 0.0).mean(1) / self._noise(row)
        step = (now - self.scale) / min(self.learnt + YOUNG, MEMORY)
        self.scale = np.maximum(self.scale + step, 1.0)

    def noise(self, row: Row) -> Array:
        """Variance (6,) of a row."""
        return np.repeat(self.scale * self._noise(row), 3)

    def _noise(self, row: Row) -> Array:
        """Variance (2,) at scale 1: of the sensor; of accelerations and stamps for this payload."""
        linear, angular = np.square(ACCELERATION)
        squares = self.phi**2 + np.diag(self.covariance)[PHI]
        m, h, inertia = squares[0], squares[1:4].sum(), squares[4:].sum()
        inertial = row.A @ self.phi - static_wrench(self.phi, 9.81 * row.up)
        moving = np.square(JITTER * row.rate @ self.phi) + np.square(DYNAMIC * inertial)
        own = np.square(self.sheet.noise) * GAIN / row.samples + np.square(FLOOR)
        return np.asarray(own + moving.reshape(2, 3).max(1) + np.array(
            [linear * m + angular * h, linear * h + angular * inertia]))

    def _covariance_at(self, row: Row) -> Array:
        """As of a row: the zero walks with time, and by a share of each change of the load."""
        out = self.covariance + self.walk * self._age(row.number)
        if self._last is not None:
            change = np.linalg.norm(((row.A - self._last) @ self.phi).reshape(2, 3), axis=1)
            gain = max(self.sheet.gain, 0.01)
            out[BIAS, BIAS] += np.diag(np.repeat(gain * change, 3) ** 2)
        return np.asarray(out)

    def _age(self, number: int) -> float:
        return 0.0 if self.number is None else min(max(number - self.number, 0), LONGEST) * BIN

    @property
    def phi(self) -> Array:
        """(10,)."""
        return self.mean[PHI]

    @property
    def bias(self) -> Array:
        """(6,)."""
        return self.mean[BIAS]

    def is_known(self, share: float = 0.1) -> bool:
        """True if mass and first moment are known to a share, or as a sample weighs them."""
        sd = np.sqrt(np.diag(self.covariance)[:4])
        size = np.r_[abs(self.mean[0]), np.full(3, np.linalg.norm(self.mean[1:4]))]
        weighed = 3.0 * np.repeat(self.sheet.noise, (1, 3)) / 9.81
        return bool((sd < np.maximum(share * size, weighed)).all())
