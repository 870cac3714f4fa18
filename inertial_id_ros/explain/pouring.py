# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A payload that pours or slides: phi changes evenly over stretches, and is wanted as it is now.

phi(t) = phi_now - sum_k change_k left_k(t), where left_k falls from 1 to 0 over stretch k. What
pours is like the rest (a share of phi), what slides takes its inertia along, and where in the
payload that happens is unknown: the inertia changes by itself, too. It goes on, over one or two
stretches up to now, or is over, after one. Values: logarithms of the ages of the knots [s]; of each
stretch the share of the mass (1), the way of the centre (3) [m], the inertia (6) over what such
changes may make of it.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..inertia import report_from_phi, report_jacobian
from ..model.rows import Rows
from ..motion.motion import BIN, Array
from .coarse import is_explained, likely
from .fit import Fit
from .term import Effect, Term, Values

_SHARE, _WAY = 0.3, 0.03  # deviations in a stretch: of the mass; of the centre [m]
_AGE, _SPREAD = np.log(6.0), 1.0  # of the logarithm of the age of a knot [s]
_SHORTEST = 0.4  # s, of a stretch
_BOUNDS = (-3.0, 4.5)  # of these logarithms
_RADII = (0.05, 0.25)  # m, bounds of the radius of gyration
_BEGINS = (1.5, 3.0, 5.0, 8.0, 12.0, 17.0, 23.0)  # s: ages at which climbs begin
_ENDS, _LASTS = (1.0, 3.0, 7.0, 11.0, 16.0), (1.5, 5.0, 11.0, 20.0)
_NAMED = (0.03, 0.003)  # of the mass; m
SECOND, FEWEST, ENOUGH = 1.0, 6, 3  # s, of a slice; rows in one; slices to compare with
MISFIT = 3.5  # of a slice, over the root mean square of those before
_UNSURE, _LIGHTEST = 0.2, 0.01  # s, of when now is; kg


class Pouring(Term):
    """See the module. Args: knots: that are free; is_over: True if the last of them is the end."""

    name, place, strength, odds = "payload_walks", -2, np.inf, -4.0

    def __init__(self, knots: int, is_over: bool) -> None:
        self.knots, self.is_over, self._count = knots, is_over, knots - is_over
        one = np.r_[_SHARE, np.full(3, _WAY), np.full(6, 1.0)]
        super().__init__(np.r_[np.full(knots, _SPREAD), np.tile(one, self._count)])
        self.mean[:knots] = _AGE

    def starts(self, fit: Fit) -> list[Values]:
        if fit.phi[0] < _LIGHTEST or is_explained(fit):
            return []
        length = BIN * (fit.rows.index[-1] - fit.rows.index[0])
        knots = ([(end + lasts, end) for end in _ENDS for lasts in _LASTS] if self.is_over
                 else [(age, 0.5 * age)[:self.knots] for age in _BEGINS])
        ages = np.array([k for k in knots if k[-1] + 1.0 < length and k[0] < length + 5.0])
        if not len(ages):
            return []
        rows, age = fit.rows, BIN * (len(fit.rows.window.used) - fit.rows.index)
        ends = ages[:, -1] if self.is_over else np.zeros(len(ages))
        left = np.clip((age[:, None] - ends) / (ages[:, 0] - ends), 0.0, 1.0)
        sd = self.sd[self.knots:self.knots + 4]
        wrench = -rows.steady @ (_unit_changes(fit.phi)[:, :4] * sd)
        found = likely(fit, rows.modes(wrench[:, :, None] * left[:, None, :, None]))
        return [{self.name: np.r_[np.log(ages[k]), np.tile(
            np.r_[change * sd, np.zeros(6)] / self._count, self._count)]} for k, change in found]

    def later(self, values: Array, seconds: float) -> Array:
        ages = np.log(_ages(values[:self.knots]) + seconds)
        return np.r_[np.clip(ages, *_BOUNDS), values[self.knots:]]

    def is_believable(self, values: Array) -> bool:
        """The knots are in order, and there was a payload before."""
        ages, shares = values[:self.knots], values[self.knots::10]
        return bool(np.all(np.diff(ages) < 0.0) and shares.sum() < 1.0)

    def effect(self, rows: Rows, phi: Array, values: Array, load: Array) -> Effect:
        n, unit = self.knots, _unit_changes(phi)
        change = unit @ values[n:].reshape(-1, 10).T  # (10, K)
        left, by_knot = self._left(BIN * (len(rows.window.used) - rows.index), values)
        columns = np.empty((rows.n, 6, len(values) + 1))
        wrench, unit = rows.steady @ change, rows.steady @ unit
        columns[..., :n] = -wrench @ by_knot
        for k in range(self._count):
            columns[..., n + 10 * k:n + 10 * k + 10] = -left[:, k, None, None] * unit
        columns[..., -1] = -(wrench * left[:, None]).sum(2)
        modes = rows.modes(columns)
        return Effect(modes[..., :-1], modes[..., -1])

    def _left(self, age: Array, values: Array) -> tuple[Array, Array]:
        """Share of each stretch that comes after an age (n, K), and slopes by the knots."""
        left = np.empty((len(age), self._count))
        slopes, knots = np.zeros((*left.shape, self.knots)), [*_ages(values[:self.knots]), 0.0]
        for k in range(self._count):
            end = knots[k + 1]
            length = max(knots[k] - end, _SHORTEST)
            part = (age - end) / length
            inside = ((part > 0.0) & (part < 1.0)) / length
            left[:, k], slopes[:, k, k] = np.clip(part, 0.0, 1.0), -part * inside * knots[k]
            if k + 1 < self.knots:
                slopes[:, k, k + 1] = (part - 1.0) * inside * end
        return left, slopes

    def _rate(self, phi: Array, values: Array) -> Array:
        """Rate (10,) of phi now [1/s]."""
        if self.is_over:
            return np.zeros(10)
        lasts = max(float(_ages(values[self.knots - 1])), _SHORTEST)
        return np.asarray(_unit_changes(phi) @ values[-10:] / lasts)

    def doubt(self, rows: Rows, phi: Array, values: Array) -> Array:
        rate = self._rate(phi, values)
        return np.asarray(_UNSURE**2 * np.outer(rate, rate))

    def describe(self, rows: Rows, phi: Array, values: Array) -> Mapping[str, float]:
        change = values[self.knots:].reshape(-1, 10).sum(0)
        if abs(change[0]) < _NAMED[0] and np.linalg.norm(change[1:4]) < _NAMED[1]:
            return {}
        rate = self._rate(phi, values)
        centre = rate[1:4] - rate[0] * phi[1:4] / phi[0]
        return {"mass_rate": float(rate[0]), "speed": float(np.linalg.norm(centre) / phi[0])}


def _ages(logarithms: Array) -> Array:
    return np.asarray(np.exp(np.clip(logarithms, *_BOUNDS)))


def _unit_changes(phi: Array) -> Array:
    """Changes (10, 10) of phi by units of the values of a stretch."""
    mass, out = phi[0], np.zeros((10, 10))
    if mass < _LIGHTEST:
        return out
    out[:, 0] = phi
    out[1:4, 1:4] = mass * np.eye(3)
    out[4:, 1:4] = -mass * report_jacobian(phi)[4:, 1:4]
    gyration = max(float(report_from_phi(phi)[[4, 7, 9]].sum()), 0.0) / (2.0 * mass)
    radius = float(np.clip(np.sqrt(gyration), *_RADII))
    out[4:, 4:] = mass * radius * (_SHARE * radius + 2.0 * _WAY) * np.eye(6)
    return out


def newest_misfit(fit: Fit) -> float:
    """Where a pour shows first: mean residual of the newest second over the root mean square of
    those of the seconds before, of forces or of torques; 0 where there are too few of these."""
    rows, solution = fit.rows, fit.solution
    modes = solution.residual.reshape(solution.variance.shape) * np.sqrt(solution.variance)
    left = rows.back(modes)
    number = ((rows.time[-1] - rows.time) / SECOND).astype(int)
    count = np.bincount(number)
    mean: Array = np.stack([np.bincount(number, column) for column in left.T], 1) / np.maximum(
        count, 1)[:, None]
    power = np.square(mean).reshape(len(count), -1, 3).sum(2)[count >= FEWEST]
    if len(power) <= ENOUGH or count[0] < FEWEST:
        return 0.0
    return float(np.sqrt((power[0] / np.maximum(power[1:].mean(0), 1e-12)).max()))
