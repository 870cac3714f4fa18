# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Causal smoothing: a cubic through the past with exponentially fading weights gives value,
velocity and acceleration now.

The discounted least-squares fit of degree three (Morrison, Introduction to Sequential Smoothing and
Prediction, 1969, ch. 13) as a recursion of four numbers a channel. In continuous time its four
poles lie at -1/tau, and with ``u = tau s``::

    value         (4 u^3 + 6 u^2 + 4 u + 1) / (1 + u)^4
    velocity    s (6 u^2 + 4 u + 1) / (1 + u)^4
    acceleration s^2 (4 u + 1) / (1 + u)^4

so that none of them lags behind a motion of constant jerk.

`SampleClock` tells how far the newest sample of a motion lies from a wrench, and whether its filter
can be used.
"""

from __future__ import annotations

import math

import numpy as np

from ...inertia import Array

OLDEST = 0.1  # s by which a wrench may be newer than the motion, or older
_PERIODS = 3.0  # of the samples that a time constant spans at least
_LONGEST_STEP = 0.5  # s without samples after which the filter begins anew
_SHARE = 0.05  # of the newest step in the mean one


class SampleClock:
    """Follows the stamps of samples.

    Args:
        what: one sample is, in words; tau: time constant of the filter [s].
    """

    def __init__(self, what: str, tau: float) -> None:
        self._what, self._least = what, tau
        self._tau, self._period = tau, 0.0
        self._newest, self._since = 0, 0

    def step_to(self, stamp_ns: int) -> float | None:
        """Time [s] from the newest sample to a stamp [ns], negative where that is an older one;
        None: the filter must begin anew."""
        step = 1e-9 * (stamp_ns - self._newest)
        return step if -_LONGEST_STEP < step < _LONGEST_STEP else None

    def begin(self, stamp_ns: int) -> None:
        """Begin with this sample [ns]."""
        self._newest = self._since = stamp_ns
        self._tau, self._period = self._least, 0.0

    def advance(self, stamp_ns: int, step: float) -> float:
        """Go on to the next sample [ns], a step [s] later; gives the time constant to use [s]."""
        self._newest = stamp_ns
        self._period += _SHARE * (step - self._period)
        self._tau = max(self._least, _PERIODS * self._period)
        return self._tau

    def ahead(self, stamp_ns: int) -> tuple[float, str]:
        """Time [s] from the newest sample to a wrench at a stamp [ns], and why there is no motion
        for it; empty where there is."""
        if not self._newest:
            return 0.0, f"no {self._what} has arrived"
        ahead = 1e-9 * (stamp_ns - self._newest)
        if not -OLDEST < ahead < OLDEST:
            return ahead, (f"the newest {self._what} is more than {OLDEST:g} s "
                           f"{'older' if ahead > 0.0 else 'newer'} than the wrench")
        if 1e-9 * (self._newest - self._since) < SETTLED * self._tau:
            return ahead, f"the filter of the motion has begun anew with the newest {self._what}"
        return ahead, ""


STATES = 4  # value and three derivatives
SETTLED = 12.0  # time constants after which less than 0.3 % of the first error is left
_RESOLUTION = 1e6  # 1/s, of the steps for which matrices are kept: 1 us is 1e-6 rad at 1 rad/s
_KEPT = 256  # matrices; irregular steps must not grow memory


class FadingMemory:
    """The filter of n channels, for samples at any increasing times.

    Args:
        first: sample (n,) to begin with, at rest.
        tau: time constant [s].

    Attributes:
        state: (4, n) value and derivatives at the time of the newest sample.
    """

    def __init__(self, first: Array, tau: float) -> None:
        self._tau = tau
        self.state: Array = np.zeros((STATES, len(first)))
        self.state[0] = first
        # by step: the matrices of a prediction (4, 4), of an update (4, 4), and the gain (4, 1)
        self._predictions: dict[int, Array] = {}
        self._updates: dict[int, tuple[Array, Array]] = {}

    @property
    def tau(self) -> float:
        """Time constant [s]."""
        return self._tau

    @tau.setter
    def tau(self, tau: float) -> None:
        if not 0.8 * self._tau < tau < 1.25 * self._tau:  # a little more or less matters little
            self._tau = tau
            self._updates.clear()

    def predict(self, ahead: float) -> Array:
        """Value and derivatives (4, n) some time [s] after the newest sample."""
        return np.asarray(self._prediction(round(ahead * _RESOLUTION)) @ self.state)

    def update(self, sample: Array, step: float) -> None:
        """Take a sample (n,) in, some time [s] after the one before."""
        matrix, gain = self._updates.get(key := round(step * _RESOLUTION)) or self._prepare(key)
        self.state = matrix @ self.state + gain * sample

    def correct(self, predicted: Array, error: Array, step: float) -> None:
        """Take a sample in by its error (n,) against a prediction (4, n), which may be about
        another zero than the state."""
        _, gain = self._updates.get(key := round(step * _RESOLUTION)) or self._prepare(key)
        self.state = predicted + gain * error

    def _prediction(self, key: int) -> Array:
        """Matrix (4, 4) of a prediction by that many microseconds."""
        known = self._predictions.get(key)
        if known is None:
            if len(self._predictions) >= _KEPT:
                self._predictions.clear()
            known = self._predictions[key] = prediction(key / _RESOLUTION)
        return known

    def _prepare(self, key: int) -> tuple[Array, Array]:
        """Matrix (4, 4) and gain (4, 1) of an update after that many microseconds."""
        if len(self._updates) >= _KEPT:
            self._updates.clear()
        step = max(key, 1) / _RESOLUTION
        matrix, gain = prediction(step), np.array(gains(step, self._tau))[:, None]
        self._updates[key] = matrix - gain * matrix[0], gain
        return self._updates[key]


def prediction(ahead: float) -> Array:
    """Matrix (4, 4) from value and derivatives to those some time [s] later."""
    half = 0.5 * ahead * ahead
    return np.array(((1.0, ahead, half, half * ahead / 3.0), (0.0, 1.0, ahead, half),
                     (0.0, 0.0, 1.0, ahead), (0.0, 0.0, 0.0, 1.0)))


def gains(step: float, tau: float) -> tuple[float, float, float, float]:
    """What value and derivatives take of the error of a prediction over a step [s]."""
    theta, rest = math.exp(-step / tau), -math.expm1(-step / tau)
    square = rest * rest
    return (1.0 - theta**4, square * (11.0 + 14.0 * theta + 11.0 * theta * theta) / (6.0 * step),
            2.0 * square * rest * (1.0 + theta) / step**2, square * square / step**3)
