# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What the residual of a window looks like: the hysteresis of a sensor.

It does not average out, and the model of the sensor's errors does not hold it. It leaves a residual
of its own shape: it follows the load with play, channel by channel and with the same sign in all.
Where that explains nearly all of the residual it is named, and the payload gets the uncertainty
that goes with it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ..findings import FindingLog
from ..inertia import PARAMETERS, Array

_SHORTEST = 10  # slices
# Root mean square of the residual below which no shape is sought, and none is named, though the
# estimate is without it: the data sheet holds it.
_CLEAR, _NAMED = 0.3, 1.0
# Share of the residual that hysteresis explains, from which on the estimate is without it; those
# that one play of either sign explains, from which on it is likely, and may be.
_HYSTERESIS, _LIKELY, _MAYBE = 0.78, 0.62, 0.45
# Half the play of the operators, as shares of the range of a channel's load, and the standard
# deviation of their weights.
_PLAY, _WEIGHT_SD = np.array([0.1, 0.2, 0.3, 0.4]), 0.3
_FINER = 4  # times finer than slices
_ALONE = 0, 2  # of them, those that are tried alone
_ROUNDS, _SETTLED = 5, 1e-3  # of the load, relative to it
_LEAST_UNSURE = 0.05  # how far the model of hysteresis may be from the truth, times what it does
_UNSURE = 1.5  # the same where it is not certain
_OFFSET = 1.03  # times the residual that is left without an offset of the clocks that may be a play
_TINY = 1e-9


class SliceMeans(NamedTuple):
    """Means over the slices of a window, linearised.

    Attributes:
        rows: (s, 6, n) of ``[A | states | y]``; sd: (6,) of one mean by noise and accuracy [N, ..].
        prior: (n, n) products of whitened rows that are known before the data; in_time: the same if
            the clocks agree exactly, None where that is known.
        phi: (10,) of the estimate; load: (s, 6) of all that hangs on the sensor [N, N m].
    """

    rows: Array
    sd: Array
    prior: Array
    in_time: Array | None
    phi: Array
    load: Array


class Shaped(NamedTuple):
    """What a shape of the residual does to an estimate.

    Attributes:
        covariance: (10, 10) of phi by what the model of it lacks; data: (10, 10) by what the data
            do not tell of it, for an estimator that knows more.
        wrench: (s, 6) that it adds to the slices; None: it is not certain, and the estimate is that
            with it.
        states: standard deviations (k,) of the states beside phi by what the model of it lacks;
            None: the model does not change them.
        likely: from 0, there is none, to 1, there is, or as good as.
    """

    covariance: Array
    data: Array
    wrench: Array | None = None
    states: Array | None = None
    likely: float = 0.0

    @property
    def size(self) -> Array:
        """Root mean square (6,) of the wrench [N, N m]."""
        if self.wrench is None:
            return np.zeros(6)
        return np.asarray(np.sqrt((self.wrench * self.wrench).mean(axis=0)))


def is_clear(residual: Array, sd: Array, prior_cost: float) -> bool:
    """Whether no shape is sought in a window with these means (s, 6) of a residual over slices.

    No fit needs to be made then: the best one has a smaller sum of squares still.

    Args:
        sd: (6,) of one mean; prior_cost: sum of squares by which the solution deviates from what is
            known before the data.
    """
    whitened = residual / sd
    cost = float((whitened * whitened).sum()) + prior_cost
    return cost < _CLEAR**2 * whitened.size


def check_residual_shape(means: SliceMeans | None, log: FindingLog) -> Shaped:
    """Name hysteresis that shapes the residual.

    Args:
        means: None where the residual is clear.
    """
    zeros = np.zeros((PARAMETERS, PARAMETERS))
    nothing = Shaped(zeros, zeros)
    log.clear("hysteresis")
    if means is None or len(means.rows) < _SHORTEST:
        return nothing
    problem = _Problem(means)
    before, _ = problem.fit(np.zeros((len(means.rows), 6, 0)))
    if before.rms < _CLEAR:
        return nothing
    load, phi = means.load, means.phi
    plays = first = _lags(load)
    for _ in range(_ROUNDS):
        lag, slope = problem.fit(plays)
        moved = means.rows[..., :PARAMETERS] @ (lag.phi - phi)
        load, phi = load + moved, lag.phi
        if np.abs(moved).max() < _SETTLED * np.abs(load).max():
            break
        plays = _lags(load)
    explained = 1.0 - (lag.rms / before.rms) ** 2
    if explained < _HYSTERESIS:
        alone = [problem.fit(first[..., k:k + 1], signed=True)[0] for k in _ALONE]
        if explained >= _LIKELY:  # so many weights explain less than that of other errors, too
            alone.append(lag)
        lag = min(alone, key=lambda fit: fit.rms)
        explained = 1.0 - (lag.rms / before.rms) ** 2
        likely = min(max((explained - _MAYBE) / (_LIKELY - _MAYBE), 0.0), 1.0)
        maybe = Shaped(likely * _lag_covariance(means.phi, lag.phi, _UNSURE), zeros, likely=likely)
        late = _like_an_offset(means, before, plays)
        return late if late and late.covariance[0, 0] > maybe.covariance[0, 0] else maybe
    wrench = (plays * lag.weights).sum(axis=2)
    unsure = min(max(_LEAST_UNSURE, (1.0 + lag.rms) * float(np.sqrt(1.0 - explained))), _UNSURE)
    covariance = _lag_covariance(means.phi, lag.phi, unsure)
    data = max(lag.rms, 1.0)**2 * slope  # and what is unsure of the inertia, which shapes bound
    data[4:, 4:] += covariance[4:, 4:]
    covariance[4:] = covariance[:, 4:] = 0.0
    shaped = Shaped(covariance, data, wrench, unsure * np.abs(lag.states - before.states), 1.0)
    if before.rms >= _NAMED:
        _report_hysteresis(shaped.size, log)
    return shaped


def _like_an_offset(means: SliceMeans, before: _Fit, plays: Array) -> Shaped | None:
    """What hysteresis does to the estimate if it is what looks like an offset of the clocks; None
    where there is none, or plays (s, 6, k) explain less.

    A light load moves within the play of the sensor for most of the time: that takes from its
    weight, and hardly shapes the residual otherwise.

    Args:
        before: the fit with an offset.
    """
    if means.in_time is None:
        return None
    problem = _Problem(means._replace(prior=means.in_time))
    without, _ = problem.fit(np.zeros((len(means.rows), 6, 0)))
    lag, _ = problem.fit(plays)
    if without.rms < _OFFSET * before.rms or lag.rms > before.rms:
        return None
    return Shaped(_lag_covariance(means.phi, lag.phi, _UNSURE), np.zeros((PARAMETERS, PARAMETERS)),
                  states=_UNSURE * np.abs(lag.states - before.states), likely=1.0)


class _Fit(NamedTuple):
    """Least squares with operators: payload (10,), states (m,), the weights (6, k) of the
    operators, and the root mean square of the residual in standard deviations."""

    phi: Array
    states: Array
    weights: Array
    rms: float


class _Problem:
    """The least-squares problem of the means of a window."""

    def __init__(self, means: SliceMeans) -> None:
        self._rows = (means.rows / means.sd[:, None]).transpose(1, 0, 2)  # (6, s, n)
        self._sd = means.sd
        self._products = np.einsum("csi,csj->ij", self._rows, self._rows) + means.prior

    def fit(self, operators: Array, signed: bool = False) -> tuple[_Fit, Array]:
        """Fit payload, states and weights of operators (s, 6, k), which are not negative unless
        they may have a sign.

        Returns:
            The fit, and the covariance (10, 10) of phi by what is not known of the weights.
        """
        rows, n, k = self._rows, self._rows.shape[2] - 1, operators.shape[2]
        shape = operators.transpose(1, 0, 2) / self._sd[:, None, None]
        beside = shape.transpose(0, 2, 1) @ rows  # (6, k, n + 1)
        products = np.zeros((n + 6 * k,) * 2)
        products[:n, :n] = self._products[:-1, :-1]
        products[n:, :n] = beside[..., :-1].reshape(6 * k, n)
        products[:n, n:] = products[n:, :n].T
        own = shape.transpose(0, 2, 1) @ shape + np.eye(k) / _WEIGHT_SD**2
        for channel in range(6):
            at = slice(n + channel * k, n + (channel + 1) * k)
            products[at, at] = own[channel]
        products += _TINY * np.diag(products.diagonal() + _TINY)
        vector = np.concatenate([self._products[:-1, -1], beside[..., -1].ravel()])
        free, found = np.arange(len(products)), np.zeros(len(products))
        while True:  # at most as often as there are operators
            found[:] = 0.0
            found[free] = np.linalg.solve(products[free[:, None], free], vector[free])
            if signed or not (found[n:] < 0.0).any():
                break
            free = free[(free < n) | (found[free] > 0.0)]
        left = rows[..., -1] - rows[..., :-1] @ found[:n] - (
            shape @ found[n:].reshape(6, k, 1))[..., 0]
        known = np.linalg.inv(products[:n, :n])[:PARAMETERS, :PARAMETERS]
        unknown = np.linalg.inv(products[free[:, None], free])[:PARAMETERS, :PARAMETERS] - known
        freedom = left.size + n - len(free)  # short windows fit many weights by chance
        return _Fit(found[:PARAMETERS], found[PARAMETERS:n], found[n:].reshape(6, k),
                    float(np.sqrt((left * left).sum() / freedom))), unknown


def _lags(load: Array) -> Array:
    """What the plays of `_PLAY` add (s, 6, k) to a load (s, 6), whose turns lie within slices."""
    fine = _between(len(load)) @ load
    lags = _plays(fine, _PLAY[:, None] * np.ptp(load, axis=0)) - fine[:, :, None]
    return np.asarray(lags.reshape(len(load), _FINER, *lags.shape[1:]).mean(axis=1))


@lru_cache(maxsize=4)
def _between(slices: int) -> Array:
    """Matrix (f s, s) from values in the middle of slices to those of parts of them, by cubics."""
    from scipy.interpolate import CubicSpline  # loads slowly, and most residuals are clear

    at = (np.arange(slices * _FINER) + 0.5) / _FINER - 0.5
    return np.asarray(CubicSpline(np.arange(slices), np.eye(slices))(at))


def _plays(load: Array, halves: Array) -> Array:
    """What a load (s, 6) moves through plays of these half widths (k, 6): (s, 6, k)."""
    low, high = load[:, None] - halves, load[:, None] + halves
    out = np.empty_like(low)
    at = low[0] + halves
    for k in range(len(load)):
        at = out[k] = np.minimum(np.maximum(at, low[k]), high[k])
    return np.asarray(out.transpose(0, 2, 1))


def _lag_covariance(phi: Array, with_lag: Array, unsure: float) -> Array:
    """Covariance (10, 10) of the estimate, phi (10,) without and (10,) with a model of hysteresis,
    where this share of the change is unsure; the centre of mass may be as far off along each
    axis."""
    change = with_lag - phi
    covariance = np.outer(change, change)
    moved = phi[0] * with_lag[1:4] / max(with_lag[0], _TINY) - phi[1:4]
    covariance[1:4, 1:4] += np.eye(3) * float(moved @ moved) / 3.0
    return np.asarray(unsure**2 * covariance)


def _report_hysteresis(size: Array, log: FindingLog) -> None:
    """Name hysteresis of a size (6,) [N, N m]."""
    force, torque = np.sqrt((size.reshape(2, 3) ** 2).mean(axis=1))
    log.set("hysteresis", "warning",
            f"the wrench lags behind its own changes by about {force:.2g} N and {torque:.2g} N m: "
            "hysteresis of the sensor or of its mounting; tighten the mounting, or use a sensor "
            "with less; the estimate is without it, and the intervals are wider by what is not "
            "known of it")

