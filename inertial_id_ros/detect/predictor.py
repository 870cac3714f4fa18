# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Predicts the next row from those before: Kalman filters of payload, zero and set-up.

Hypotheses of the scan are filters side by side that differ in what they are sure of.
"""

from copy import copy
from typing import NamedTuple

import numpy as np

from ..explain.fit import VAGUE
from ..model.setup import Sheet
from ..motion.motion import BIN, Array
from .row import BIAS, PHI, PUSH, SETUP, Row

JITTER = 0.002  # s, of the stamps of a row
ACCELERATION = np.array([0.01, 0.02])  # m/s^2, rad/s^2, of a row
_LINEAR, _ANGULAR = np.square(ACCELERATION)
# Variance (10, 6) of a wrench by these, by the square of each entry of phi.
JERK = np.repeat([[_LINEAR, 0.0], *3 * [[_ANGULAR, _LINEAR]], *6 * [[0.0, _ANGULAR]]], 3, axis=1)
DYNAMIC = 0.03  # share of the wrench by acceleration
MEMORY = 100  # rows of the noise's scale
NOISY = 3.0  # deviations of the noise over those of the data sheet: at first; or unexplained
OF_EACH = ("mean", "covariance", "walk", "scale", "louder", "score", "misfit")  # of h filters


class Forecast(NamedTuple):
    """Of h filters: residual (h, c) measured less predicted; covariance (h, c, c) of it; before:
    covariance of the states; slopes (h, c, 20 + c): columns times that; squares (h,): squared
    distance in deviations."""

    residual: Array
    covariance: Array
    before: Array
    slopes: Array
    squares: Array


class Predictor:
    """h filters: mean (h, 20 + c) and covariance of phi, set-up, a push along gravity and bias.

    Channels come in g groups of equal size, those of the data sheet.

    Attributes:
        walk: (h, 20 + c, 20 + c) covariance of their change in a second; scale: (h, g) of the
            noise of groups; louder: (h,) noise of a row over what is believed.
        number: bin of the states, None before any; learnt: rows in all.
        rows, score: since the copy was made, and their log-likelihoods (h,); misfit: (h, c) mean
        square of their residuals, in deviations.
    """

    def __init__(self, sheet: Sheet) -> None:
        self.sheet = sheet
        channels, groups = len(sheet.bias_sd), len(sheet.noise)
        self._size = channels // groups
        sd = np.r_[VAGUE, np.full(3, sheet.rotation), np.full(2, sheet.tilt), sheet.delay,
                   np.zeros(4), 6.0 * sheet.bias_sd]
        self.mean, self.covariance = np.zeros((1, len(sd))), np.diag(sd**2)[None]
        self.mean[:, BIAS] = sheet.bias_mean
        self.walk = np.diag(np.r_[np.zeros(20), np.repeat(sheet.drift, self._size) ** 2
                                  / 60.0])[None]
        self.scale, self.louder = np.full((1, groups), NOISY**2), np.ones(1)
        self.number: int | None = None
        self._last: Array | None = None  # (c, 10) of the newest row
        self.learnt, self.rows = 0, 0
        self.score, self.misfit = np.zeros(1), np.zeros((1, channels))

    def copy(self, number: int) -> "Predictor":
        """A copy, propagated to a bin, with its scores reset."""
        out = copy(self)
        out.mean, out.scale = self.mean.copy(), self.scale.copy()
        out.covariance = self.covariance + self.walk * self._age(number)
        out.number, out.rows = number, 0
        out.score, out.misfit = np.zeros_like(self.score), np.zeros_like(self.misfit)
        return out

    @staticmethod
    def beside(parts: "list[Predictor]") -> "Predictor":
        """Filters of the same bin, side by side."""
        out = copy(parts[0])
        for name in OF_EACH:
            setattr(out, name, np.concatenate([getattr(part, name) for part in parts]))
        return out

    def one(self, k: int) -> "Predictor":
        """The filter k alone."""
        out = copy(self)
        for name in OF_EACH:
            setattr(out, name, getattr(self, name)[k:k + 1].copy())
        return out

    def doubting(self, which: slice, covariance: Array | float, walk: Array | float = 0.0
                 ) -> "Predictor":
        """Make some states more uncertain, and let them walk more in a second; gives itself."""
        self.covariance[:, which, which] += covariance
        self.walk = self.walk.copy()
        self.walk[:, which, which] += walk
        return self

    def hold(self, phi: Array, sd: Array) -> None:
        """Be sure of phi (10,), up to its deviations (10,)."""
        self.mean[:, PHI] = phi
        self.covariance[:, PHI, :] = self.covariance[:, :, PHI] = 0.0
        self.covariance[:, PHI, PHI] = np.diag(sd**2)

    def predict(self, row: Row, noise: Array) -> Forecast:
        """Forecast of a row whose variance is `noise` ((h or 1, c)). The zero drifts with time, and
        by the error of the gain at each change of the load."""
        channels = np.arange(len(row.y))
        before = self.covariance + self.walk * self._age(row.number)
        if self._last is not None:
            load = (self.mean[:, PHI] @ (row.A - self._last).T).reshape(len(before), -1, self._size)
            change = self.sheet.gain**2 * (load**2).sum(2)
            before[:, BIAS.start + channels, BIAS.start + channels] += np.repeat(
                change, self._size, axis=1)
        columns = np.repeat(row.columns[None], len(self.mean), axis=0)
        columns[:, :, SETUP] = (row.setup @ self.mean[:, PHI].T).transpose(2, 0, 1)
        slopes = columns @ before
        out = slopes @ columns.transpose(0, 2, 1)
        out[:, channels, channels] += noise
        residual = row.y - (columns @ self.mean[:, :, None])[..., 0]
        squares = np.einsum("hi,hi->h", residual, np.linalg.solve(out, residual[..., None])[..., 0])
        return Forecast(residual, out, before, slopes, squares)

    def learn(self, row: Row, noise: Array | None = None) -> tuple[Forecast, Array]:
        """Update all h filters with a row (Kalman), and their scores; gives its forecast and
        log-likelihoods (h,).

        Args:
            noise: (c,) variance of the row, times `louder` of each filter; None: that of `noise`.
        """
        seen = self.predict(row, self.noise(row) if noise is None else self.louder[:, None] * noise)
        likelihood = -0.5 * (seen.squares + np.linalg.slogdet(2.0 * np.pi * seen.covariance)[1])
        self.score = self.score + likelihood
        square = seen.residual**2 / np.diagonal(seen.covariance, axis1=1, axis2=2)
        self.misfit = self.misfit + (square - self.misfit) / (self.rows + 1)
        gain = np.linalg.solve(seen.covariance, seen.slopes).transpose(0, 2, 1)
        self.mean = self.mean + (gain @ seen.residual[..., None])[..., 0]
        after = seen.before - gain @ seen.slopes
        self.covariance = 0.5 * (after + after.transpose(0, 2, 1))
        self._last, self.number = row.A, row.number
        self.rows, self.learnt = self.rows + 1, self.learnt + 1
        return seen, likelihood

    def learn_noise(self, seen: Forecast, row: Row) -> None:
        """Learn how noisy rows are from a forecast of one in which nothing happened."""
        own = self._noise(row)
        known = np.diagonal(seen.covariance, axis1=1, axis2=2).reshape(*own.shape, -1) - (
            self.scale * own)[..., None]
        now = np.maximum((seen.residual**2).reshape(known.shape) - known, 0.0).mean(2) / own
        step = (now - self.scale) / min(self.learnt, MEMORY)
        self.scale = np.maximum(self.scale + step, 1.0)

    def noise(self, row: Row) -> Array:
        """Variance (h, c) of a row."""
        return np.repeat(self.scale * self._noise(row), self._size, axis=1)

    def _noise(self, row: Row) -> Array:
        """Variance (h, g) of a row before it is scaled: the sum of those of the sensor, and of what
        errors of accelerations and stamps make of the payload."""
        phi = self.mean[:, PHI]
        squares = phi**2 + np.diagonal(self.covariance, axis1=1, axis2=2)[:, PHI]
        inertial = phi @ row.A.T - phi[:, :4] @ row.columns[:, PUSH].T
        late = JITTER * (phi @ row.setup[:, -1].T)
        moving = np.square(late) + np.square(DYNAMIC * inertial) + row.extra
        own = np.square(self.sheet.noise) * row.gain + np.square(self.sheet.floor)
        return np.asarray(own + sum(np.max(part.reshape(len(phi), -1, self._size), axis=2)
                                    for part in (moving, squares @ JERK @ np.square(row.lever).T)))

    def _age(self, number: int) -> float:
        return 0.0 if self.number is None else max(number - self.number, 0) * BIN

    def is_known(self) -> bool:
        """True if mass and first moment are known to a tenth, or as a sample weighs them."""
        sd = np.sqrt(np.diag(self.covariance[0])[:4])
        size = np.r_[abs(self.mean[0, 0]), np.full(3, np.linalg.norm(self.mean[0, 1:4]))]
        weighed = 3.0 * np.repeat(self.sheet.noise, (1, 3)) / 9.81
        return bool((sd < np.maximum(0.1 * size, weighed)).all())
