# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Whether the sensor's own low-pass explains a wrench that lags behind the motion.

A filter delays slow motion as a clock offset does, and flattens fast motion besides. The wrench of
the last seconds is fitted by least squares with an offset alone, and with filters of one or two
stages beside an offset; cut-off and offset are sought by Gauss-Newton steps on what the payload and
the biases leave (variable projection: Golub and Pereyra, SIAM J. Numer. Anal., 1973). Both sides
get the low-pass of the window's rows first: a fit without it would prefer filters that take noise
from the accelerations.
"""

from __future__ import annotations

import math
from copy import copy
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from ..inertia import PARAMETERS, Array
from ..linalg import cholesky_factor, triangular_factor
from ..regression.problem import vague_information
from ..signals.bins import BIN_NS
from ..signals.low_pass import NO_FILTER, Beginning, SensorFilter, make_low_pass
from ..signals.precompensation import Removed
from .setup_trials import FARTHEST, Signals

_SMOOTHING = 0.4  # s, length of the low-pass on both sides
_STEP = 5  # bins between two rows of a fit
_FEWEST, _FEWEST_MOVING = 30, 10  # rows, and those of motion: at rest a filter shows in nothing
_SHORT_HOLE = 4  # bins without a wrench, over which it is interpolated
_COVERED = 0.7  # of the usual number of wrenches that a row stands for
_MOST_SETTLED = 0.8  # of the rows from the beginning on: else what the filter held then is fitted
_INDEPENDENT = 0.185  # of the rows: the others repeat what the low-pass has made alike
_LAGS = (-8.0, 0.0, 8.0)  # bins
_STARTS = (0.01, 0.03, 0.08, 0.2, 0.5)  # s, time constants of one stage
_ORDERS = (1, 2)
_SHORTEST, _LONGEST = 0.008, 0.9  # s, time constants that are believed
_FARTHEST, _OFFSET_SD = 60, 5.0  # bins; clock offsets beside a filter, and what is usual of them
# What a filter must leave at most of the mean square that the best offset leaves: hysteresis of one
# percent of full scale may look like a filter that leaves half, and a cable in few rows like any.
_BETTER, _FEW, _BETTER_OF_FEW = 0.4, 80, 0.15
_MOVES = 0.03  # m/s^2 by which the acceleration less gravity changes from row to row in motion
_ACCELERATION = [0, PARAMETERS, 2 * PARAMETERS]  # columns of a regressor that hold it
# Times the noise that the low-pass leaves: where little else is there to explain, and at most where
# what the stages held at the beginning explains much.
_CLEAN, _CLEAN_OF_UNSURE = 1.5, 4.0
_AS_GOOD = 1.5  # times what a filter leaves: an offset that leaves no more needs none
_CLEAR, _CLEAR_OF_FEW = 12.0, 22.0  # twice the logarithm of the odds
_STEPS = 20  # of Gauss and Newton
_SMALL = 0.02  # of a standard deviation: steps end here


class FoundFilter(NamedTuple):
    """The filter that explains the wrench, or that there is none.

    Attributes:
        sensor: the filter; early_ns: by how much the stamps of the wrench are early beside it [ns].
        log_sd: standard deviation of the logarithm of its time constant.
        phi_covariance: (10, 10) of phi by what is not known of the filter.
        beginning: what its stages held when the data begin, where these are too few to wait until
            it is forgotten.
    """

    sensor: SensorFilter
    early_ns: int
    log_sd: float
    phi_covariance: Array
    beginning: Beginning | None

    def describe(self) -> str:
        """What it does, in one sentence."""
        order = {1: "first", 2: "second"}[self.sensor.order]
        return (f"the wrench lags behind the motion as a low-pass of {order} order at "
                f"{self.sensor.cutoff:.2g} Hz (± {200.0 * self.log_sd:.2g} %) makes it: the "
                "sensor's own filter, which is taken into account (wrench.filter_cutoff sets it)")


class _Fit(NamedTuple):
    """A fit with a filter and an offset.

    Attributes:
        order: of the filter.
        at: (2,) logarithm of its time constant, and the offset [bins] that delays slow motion as
            much as the filter and the offset beside it do.
        early: the clock offset in use [bins].
        residual: (m,) whitened; phi: (10,).
        excess: (k, 6) of the stages when the rows begin [N, N m]; k is 0 where they have settled.
        covariance: (2, 2) of `at`, and slope: (10, 2) of phi by it; zeros before it has converged.
            Infinite where the wrench does not depend on `at`: it stands still.
    """

    order: int
    at: Array
    early: float
    residual: Array
    phi: Array
    excess: Array
    covariance: Array = np.zeros((2, 2))
    slope: Array = np.zeros((PARAMETERS, 2))

    @property
    def left(self) -> float:
        """Mean square of the residual, for as many degrees of freedom as a fit of settled stages
        has."""
        return float(self.residual @ self.residual) / max(
            len(self.residual) - self.excess.size / _INDEPENDENT, 1e-9)

    @property
    def variance(self) -> float:
        """Of the whitened noise of independent rows, by what is left of the degrees of freedom."""
        used = PARAMETERS + 6 + len(self.at) + self.excess.size
        independent = _INDEPENDENT * len(self.residual)
        return float(self.residual @ self.residual) / max(independent - used, 1.0)

    @property
    def sensor(self) -> SensorFilter:
        """The filter."""
        return SensorFilter(self.order, math.exp(self.at[0]))

    @property
    def shift(self) -> float:
        """Offset beside the filter and the one in use [bins]."""
        return float(self.at[1]) + self.order * math.exp(self.at[0]) * 1e9 / BIN_NS

    @property
    def clock(self) -> float:
        """All of the clock offset [bins]. The one in use may be large because it stands for a
        filter."""
        return self.early + self.shift

    @property
    def settling(self) -> int:
        """Bins until the filter has forgotten how it began."""
        return self.sensor.settling

    @property
    def cost(self) -> float:
        """Minus twice its log likelihood, with the prior of the offset, but for a constant."""
        prior = (self.clock / _OFFSET_SD) ** 2 if self.order else 0.0
        return _INDEPENDENT * len(self.residual) * math.log(max(self.left, 1e-300)) + prior


_left, _cost = attrgetter("left"), attrgetter("cost")


def find_filter(signals: Signals, removed: Removed, early_ns: int, noise: Array,
                bias_sd: Array) -> FoundFilter | None:
    """The filter that explains the wrench far better than any clock offset, or `NO_FILTER` where an
    offset does as well as any; None: neither.

    Args:
        signals: wrench and motion of the last seconds, with the offset of the stamps in use taken
            into account.
        removed: payload that the driver takes out; early_ns: the offset in use [ns].
        noise, bias_sd: (6,) of a sample, and of the biases before any data [N, N m].
    """
    problem = _Problem(signals, removed, early_ns, noise, bias_sd)
    if problem.rows < _FEWEST or problem.moving < _FEWEST_MOVING:
        return None
    near = problem.coarse_offset()
    begun = problem.begun(near._replace(at=np.zeros(2)))
    if begun.rows < _FEWEST:
        return None
    offset, filtered = _search(begun, near)
    if not np.isfinite(offset.covariance).all():
        return None
    begun, offset, filtered = _begin_anew(problem, filtered, offset, filtered)
    if begun.rows < _FEWEST:
        return None
    if not _is_better(filtered, offset, begun):
        if offset.left > _AS_GOOD * min(fit.left for fit in filtered):
            return None
        return FoundFilter(NO_FILTER, round(offset.clock * BIN_NS), 0.0,
                           np.zeros((PARAMETERS, PARAMETERS)), None)
    settled = begun.settled(min(filtered, key=_left))
    if settled.rows >= max(_FEWEST, _MOST_SETTLED * begun.rows):
        offset, filtered = _search(settled, offset)
    elif problem.is_whole:
        whole = _Problem(signals, removed, early_ns, noise, bias_sd, True)
        for _ in range(2):  # where they begin depends on the offset
            best = min(filtered, key=_cost)
            settled, offset, filtered = _begin_anew(whole, [best], offset, filtered)
    else:
        return None
    if settled.rows < _FEWEST or not _is_better(filtered, offset, settled):
        return None
    best = min(filtered, key=_cost)
    if (not _SHORTEST < best.sensor.time_constant < _LONGEST or abs(best.clock) > _FARTHEST
            or not np.isfinite(best.covariance).all()):
        return None
    other = next(fit for fit in filtered if fit is not best)
    return FoundFilter(best.sensor, round(best.clock * BIN_NS), math.sqrt(best.covariance[0, 0]),
                       _phi_covariance(best, other) + settled.beginning_covariance(best),
                       settled.beginning(best))


def _phi_covariance(best: _Fit, other: _Fit) -> Array:
    """Covariance (10, 10) of phi by what is not known of time constant, offset and order."""
    likelihood = math.exp(0.5 * (best.cost - other.cost))
    change = other.phi - best.phi
    return np.asarray(best.slope @ best.covariance @ best.slope.T
                      + likelihood / (1.0 + likelihood) ** 2 * np.outer(change, change))


def _begin_anew(problem: _Problem, near: list[_Fit], offset: _Fit,
                filtered: list[_Fit]) -> tuple[_Problem, _Fit, list[_Fit]]:
    """The fits from where wrench and motion, at the offsets of the near ones, begin."""
    begun = problem.begun(*near)
    if begun.rows >= _FEWEST:
        offset, *filtered = (begun.converge(fit) for fit in (offset, *filtered))
    return begun, offset, filtered


def _search(problem: _Problem, near: _Fit) -> tuple[_Fit, list[_Fit]]:
    """The best offset alone, and the best filter of each order, sought near an offset."""
    offset = problem.converge(problem.fit(0, near.at))
    filtered = []
    for order in _ORDERS:
        starts = (problem.fit(order, np.array([math.log(time / order), offset.at[1] + lag]))
                  for time in _STARTS for lag in _LAGS)
        filtered.append(problem.converge(min(starts, key=_left)))
    return offset, filtered


def _is_better(filtered: list[_Fit], offset: _Fit, problem: _Problem) -> bool:
    """Whether one of the filters leaves far less than the best offset does, or nothing but noise
    where the offset leaves more."""
    best, few = min(filtered, key=_left), problem.moving < _FEW
    better, clear = (_BETTER_OF_FEW, _CLEAR_OF_FEW) if few else (_BETTER, _CLEAR)
    if best.left < better * offset.left:
        unsure = problem.raw or (few and best.excess.size > 0)
        return not unsure or best.left < _CLEAN_OF_UNSURE * problem.floor
    return (best.left < _CLEAN * problem.floor
            and offset.cost - min(fit.cost for fit in filtered) > clear)


class _Problem:
    """The rows of the fits, without filter and offset.

    Args: as for `find_filter`, and
        raw: whether both sides are smoothed after the filter: it then begins with the wrench.

    Attributes:
        rows: their number; floor: mean square of white noise in them.
        raw: as above; is_whole: whether there is no motion before that of the rows.
    """

    def __init__(self, signals: Signals, removed: Removed, early_ns: int, noise: Array,
                 bias_sd: Array, raw: bool = False) -> None:
        self._noise, self._early = noise, early_ns / BIN_NS
        self._prior = np.diag(np.concatenate([np.zeros(PARAMETERS), 1.0 / bias_sd]))
        self._prior[:PARAMETERS, :PARAMETERS] = np.sqrt(vague_information(1.0))
        run = _last_run(signals.moving)
        self.is_whole = not signals.moving[:run.start].any()
        self._first, self.raw = signals.first + run.start - FARTHEST, raw
        self._begin: int | None = None  # bin from which the filter runs; None: it has settled
        a = signals.a[run].reshape(-1, 6 * PARAMETERS)
        driver = (signals.weight if removed.weight_only else signals.a)[run] @ removed.phi
        number = np.flatnonzero(signals.known) + FARTHEST - run.start  # among the bins of the run
        beyond = FARTHEST if raw else 0  # of the motion: an offset may bring them to it
        inside = (number >= -beyond) & (number < len(a) + beyond) & (len(a) > 0)
        number, wrench = number[inside], signals.wrench[signals.known][inside]
        self._set_rows(a, number, wrench + driver[np.clip(number, 0, len(a) - 1)], signals.samples)

    def _set_rows(self, a: Array, number: np.ndarray, y: Array, samples: float) -> None:
        """Smooth and thin out both sides.

        Args:
            a: regressors (m, 60) of bins; number: (n,) of those with wrenches y (n, 6).
            samples: in a bin with a wrench.
        """
        kernel = make_low_pass(_SMOOTHING, 1).kernel
        kernel = kernel / kernel.sum()
        reach = self._reach = len(kernel) // 2
        self._a, self._number, self._y = a, number, y
        self._earliest = int(number[0]) if len(number) else 0
        self._weights: Array | None = None
        self._middles, self.rows = number[:0], 0
        self._moves = np.empty(0, dtype=bool)
        if len(number) < 2:
            return
        middles = np.arange(number[0] + reach, number[-1] - reach + 1, _STEP)
        if not self.raw and np.diff(number).max() <= _SHORT_HOLE:
            # Smoothing, filter and offset commute.
            every = np.arange(number[0], number[-1] + 1)
            whole = np.stack([np.interp(every, number, column) for column in y.T], axis=1)
            self._y = _smooth(whole, kernel)[middles - number[0]]
            self._a, self._number = _smooth(a, kernel), middles
            self.floor = float(kernel @ kernel) / samples
        else:
            away = number - middles[:, None]
            weights = np.where(np.abs(away) <= reach, kernel[np.clip(away, -reach, reach) + reach],
                               0.0)
            usual = float(np.median((weights > 0.0).sum(axis=1)))
            kept = (weights > 0.0).sum(axis=1) > max(_COVERED * usual, 1.0)
            middles, weights = middles[kept], weights[kept]
            weights /= weights.sum(axis=1, keepdims=True)
            self._weights, self._y = weights, weights @ y
            self.floor = float(np.square(weights).sum(axis=1).mean()) / samples if kept.any() else 0
        self._middles, self.rows = middles, len(middles)
        now, ahead = (np.clip(middles + step, 0, len(a) - 1) for step in (0, _STEP))
        change = self._a[ahead][:, _ACCELERATION] - self._a[now][:, _ACCELERATION]
        self._moves = np.linalg.norm(change, axis=1) > _MOVES

    @property
    def moving(self) -> int:
        """How many of the rows are of motion."""
        return int(self._moves.sum())

    def _part(self, kept: np.ndarray) -> _Problem:
        """The problem with the rows (rows,) that are kept."""
        part = copy(self)
        part._middles, part._y = self._middles[kept], self._y[kept]
        part._moves = self._moves[kept]
        if self._weights is None:
            part._number = self._number[kept]
        else:
            part._weights = self._weights[kept]
        part.rows = len(part._middles)
        return part

    def begun(self, *fits: _Fit) -> _Problem:
        """The problem with the rows whose motion is known at the offsets of the fits; what the
        stages of a filter hold at the beginning is unknown."""
        begin = max(self._earliest, math.ceil(-min(fit.shift for fit in fits)))
        end = len(self._a) - max(fit.shift for fit in fits)
        part = self._part((self._middles - self._reach >= begin)
                          & (self._middles + self._reach < end))
        part._begin = begin
        return part

    def settled(self, fit: _Fit) -> _Problem:
        """The problem with the rows that do not depend on what the stages held at the beginning."""
        part = self._part(self._middles + fit.shift >= self._reach + fit.settling)
        part._begin = None
        return part

    def beginning(self, fit: _Fit) -> Beginning | None:
        """What the stages held at the beginning, by a fit; None where they have settled."""
        return None if self._begin is None else Beginning(self._first + self._begin, fit.excess)

    def beginning_covariance(self, fit: _Fit) -> Array:
        """Covariance (10, 10) of phi by what is not known of the beginning."""
        if not fit.excess.size:
            return np.zeros((PARAMETERS, PARAMETERS))
        known = PARAMETERS + 6
        upper = self._equations(fit.order, fit.at)[1][:-1, :-1]
        whole, rest = (np.linalg.inv(part.T @ part)[:PARAMETERS, :PARAMETERS]
                       for part in (upper, upper[:known, :known]))
        return np.asarray(whole - rest) * fit.variance

    def fit(self, order: int, at: Array) -> _Fit:
        """The fit with a filter and an offset `at` (2,), see `_Fit`."""
        flat, upper = self._equations(order, at)
        solution = np.linalg.lstsq(upper[:-1, :-1], upper[:-1, -1], rcond=None)[0]
        residual = flat[:, -1] - flat[:, :-1] @ solution
        return _Fit(order, at, self._early, residual, solution[:PARAMETERS],
                    solution[PARAMETERS + 6:].reshape(-1, 6))

    def _equations(self, order: int, at: Array) -> tuple[Array, Array]:
        """Whitened equations of phi, biases and what the stages held, and their triangular factor
        with the prior."""
        a, shift, free = self._a, float(at[1]), 0
        number = self._number
        if order:
            sensor = SensorFilter(order, math.exp(at[0]))
            shift += order * sensor.time_constant * 1e9 / BIN_NS
            if self._begin is not None:
                low = min(max(self._begin + math.floor(shift), 0), len(a) - 2)
                a, number, free = a[low:], number - low, order
            a = sensor.run(a, np.broadcast_to(a[0], (order, a.shape[1])), a[0])[-1]
        shown = _between(a, number + shift)
        if self._weights is not None:
            shown = self._weights @ shown
        rows = np.zeros((self.rows, 6, PARAMETERS + 7 + 6 * free))
        rows[..., :PARAMETERS] = shown.reshape(-1, 6, PARAMETERS)
        rows[..., PARAMETERS:PARAMETERS + 6], rows[..., -1] = np.eye(6), self._y
        if self._begin is not None and free:
            fading = sensor.fading(self._number - self._begin).T
            if self._weights is not None:
                fading = self._weights @ fading
            rows[..., PARAMETERS + 6:-1] = (
                fading[:, None, :, None] * np.eye(6)[:, None, :]).reshape(self.rows, 6, -1)
        rows /= self._noise[:, None]
        flat = rows.reshape(-1, rows.shape[2])
        prior = np.zeros((flat.shape[1] - 1, flat.shape[1]))
        prior[:PARAMETERS + 6, :PARAMETERS + 6] = self._prior
        prior[PARAMETERS + 6:, PARAMETERS + 6:-1] = np.diag(
            np.tile(1.0 / np.maximum(np.ptp(self._y, axis=0), self._noise), free))
        return flat, triangular_factor(np.concatenate([flat, prior]))

    def coarse_offset(self) -> _Fit:
        """The best of a few offsets without a filter."""
        return min((self.fit(0, np.array([0.0, lag])) for lag in range(-100, 41, 10)), key=_left)

    def converge(self, fit: _Fit) -> _Fit:
        """The best fit that Gauss-Newton steps reach from this one, with its covariance."""
        free = slice(0 if fit.order else 1, 2)
        fit = self.fit(fit.order, fit.at)
        damping = 1e-3
        for _ in range(_STEPS):
            slopes, _ = self._slopes(fit, free)
            information = slopes.T @ slopes
            if cholesky_factor(information) is None:
                break
            step = np.zeros(2)
            step[free] = -np.linalg.solve(
                information * (np.eye(len(information)) * damping + 1.0), slopes.T @ fit.residual)
            step[0] = np.clip(step[0], -0.7, 0.7)
            step[1] = np.clip(step[1], -15.0, 15.0)
            new = self.fit(fit.order, fit.at + step)
            if new.left > fit.left:
                damping = min(10.0 * damping, 1e3)
                continue
            damping = max(0.1 * damping, 1e-6)
            small = float(step[free] @ information @ step[free]) < _SMALL**2 * fit.left
            fit = new
            if small:
                break
        slopes, slope = self._slopes(fit, free)
        information = slopes.T @ slopes
        covariance: Array = np.zeros((2, 2))
        covariance[free, free] = (np.inf if cholesky_factor(information) is None
                                  else np.linalg.inv(information) * fit.variance)
        whole = np.zeros((PARAMETERS, 2))
        whole[:, free] = slope
        return fit._replace(covariance=covariance, slope=whole)

    def _slopes(self, fit: _Fit, free: slice) -> tuple[Array, Array]:
        """Slopes of residual (m, f) and phi (10, f) by the free ones of `fit.at`."""
        residuals, phis = [], []
        for k in range(free.start, free.stop):
            step = np.zeros(2)
            step[k] = (0.01, 0.1)[k]
            moved = self.fit(fit.order, fit.at + step)
            residuals.append((moved.residual - fit.residual) / step[k])
            phis.append((moved.phi - fit.phi) / step[k])
        return np.stack(residuals, axis=1), np.stack(phis, axis=1)


def _last_run(flags: np.ndarray) -> slice:
    """The last run of true flags (n,)."""
    true = np.flatnonzero(flags)
    if not len(true):
        return slice(0, 0)
    after = np.flatnonzero(np.diff(true) > 1)
    return slice(int(true[after[-1] + 1] if len(after) else true[0]), int(true[-1]) + 1)


def _smooth(values: Array, kernel: Array) -> Array:
    """Means (n, k) of values (n, k) under a kernel; the first and the last one stand for those
    beyond them."""
    reach = len(kernel) // 2
    padded = np.pad(values, ((reach, reach), (0, 0)), mode="edge")
    return np.stack([np.convolve(column, kernel, mode="valid") for column in padded.T], axis=1)


def _between(values: Array, at: Array) -> Array:
    """Values (n, k) of bins at places (m,) between them, by cubics through four bins."""
    low = np.floor(at).astype(int)
    u = (at - low)[:, None]
    weights = (-u * (u - 1) * (u - 2) / 6, (u + 1) * (u - 1) * (u - 2) / 2,
               -(u + 1) * u * (u - 2) / 2, (u + 1) * u * (u - 1) / 6)
    return np.asarray(sum(w * values[np.clip(low + k, 0, len(values) - 1)]
                          for k, w in zip((-1, 0, 1, 2), weights, strict=True)))
