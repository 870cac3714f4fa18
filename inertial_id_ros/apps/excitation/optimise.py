# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The Fourier motion with the largest information gain within the limits.

Information and limits depend on a sample of the motion only through q, dq, ddq there, and these are
linear in the coefficients: derivatives come from differences at every sample, three for each
moving joint whatever the number of harmonics, and the chain rule. Limits enter as a penalty that
grows; in the end the motion is shrunk about its start pose until none is exceeded between samples
either. Random starts, the same for a seed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from ...errors import InvalidData
from ...inertia import Array
from .fourier import Basis, FourierMotion
from .limits import Excess
from .objective import Objective, gain, gain_slopes

_PER_HARMONIC = 12  # samples of a period for each harmonic, while optimising
_DENSE = 0.02  # s between samples of the last check
_PENALTIES = (30.0, 3e3, 1e5)  # nats for a limit exceeded by 100 % all the time
_STEP = 1e-4  # of differences [rad, rad/s, rad/s^2]: distances are found to 1e-6 m
_ROOM = 0.995  # part of the largest allowed excursion that is used: peaks between samples
_NEAR, _FINE = 0.95, 2e-3  # where shrinking begins, and how finely it is done
_FIRST_AMPLITUDE = 0.3  # rad, of random starts


@dataclass(frozen=True)
class SearchEffort:
    """How hard to look.

    Attributes:
        starts: random starts; iterations: at most, of each; budget: time after which no more is
        begun [s]; the answer depends on it only where it runs out. seed: of the starts.
    """

    starts: int = 4
    iterations: int = 90
    budget: float = 120.0
    seed: int = 0


@dataclass(frozen=True)
class Plan:
    """A motion within the limits.

    Attributes:
        motion: the motion; gain: information [nats] of one period; gains: what each random start
        led to; closest: name of the limit that it comes closest
        to, and excess: by how much it exceeds that (not above 0).
    """

    motion: FourierMotion
    gain: float
    gains: tuple[float, ...]
    closest: str
    excess: float


def plan_motion(basis: Basis, start: Array, active: np.ndarray, objective: Objective,
                excess: Excess, rate: float, effort: SearchEffort | None = None) -> Plan:
    """Plan the motion with the largest information gain within the limits, from random starts.

    Args:
        start: (joints,) pose at time 0; active: (k,) indices of the joints that move.
        rate: samples a second that the sensor gives.

    Raises:
        InvalidData: the start pose itself is beyond a limit.
    """
    effort = SearchEffort() if effort is None else effort
    rest = np.zeros((1, len(start)))
    beyond, what = excess.worst(start[None], rest, rest)
    if beyond > 0.0:
        raise InvalidData(f"the start pose is beyond the limits: {what}")
    search = _Search(basis, start, active, objective, excess, rate * basis.period)
    rng = np.random.default_rng(effort.seed)
    begun, found, gains = time.monotonic(), None, []
    for _ in range(effort.starts):
        left = effort.budget - (time.monotonic() - begun)
        if found is not None and left <= 0.0:
            break
        motion = search.search(rng, effort.iterations, time.monotonic() + left)
        gains.append(information_gain(motion, objective, rate))
        if found is None or gains[-1] >= max(gains):
            found = motion
    assert found is not None
    worst, what = excess.worst(*found(dense_times(basis.period)))
    return Plan(found, max(gains), tuple(gains), what, worst)


def information_gain(motion: Callable, objective: Objective, rate: float,
                     duration: float | None = None) -> float:
    """Information gain [nats] of a motion, sampled densely.

    Args:
        motion: joint motion at times; duration: [s]; None: one period of a `FourierMotion`.
    """
    length = motion.basis.period if duration is None else duration  # type: ignore[attr-defined]
    return gain(objective.rows(*motion(dense_times(length))), rate * length)


def dense_times(duration: float) -> Array:
    """Times (n,) [s] at which a finished motion is checked."""
    return np.linspace(0.0, duration, int(np.ceil(duration / _DENSE)) + 1)


class _OutOfTime(Exception):
    """The budget has run out."""


class _Search:
    """One optimisation problem in coefficients x (k, size)."""

    def __init__(self, basis: Basis, start: Array, active: np.ndarray, objective: Objective,
                 excess: Excess, samples: float) -> None:
        self._basis, self._start, self._active = basis, start, active
        self._objective, self._excess, self._samples = objective, excess, samples
        count = _PER_HARMONIC * basis.harmonics
        self._times = (np.arange(count) + 0.5) * basis.period / count
        self._functions = basis.at(self._times)

    def search(self, rng: np.random.Generator, iterations: int, deadline: float) -> FourierMotion:
        """The motion within the limits that a random start leads to."""
        x: Array = rng.normal(size=(len(self._active), self._basis.size))
        x *= _FIRST_AMPLITUDE / np.abs(self._functions[0] @ x.T).max()
        x = self._shrink_within_limits(self._motion(x), self._times).x
        for weight in _PENALTIES:
            x = self._descend(x, weight, iterations // len(_PENALTIES), deadline)
        return self._shrink_within_limits(self._motion(x), dense_times(self._basis.period))

    def _motion(self, x: Array) -> FourierMotion:
        """The motion of coefficients x (k, size)."""
        return FourierMotion(self._basis, self._start, self._active, x)

    def _descend(self, x: Array, weight: float, iterations: int, deadline: float) -> Array:
        """Coefficients after L-BFGS steps under one penalty, or as far as they came in time."""
        last = [x.ravel()]

        def cost(flat: Array) -> tuple[float, Array]:
            if time.monotonic() > deadline:
                raise _OutOfTime
            return self._cost(flat.reshape(x.shape), weight)

        def keep(flat: Array) -> None:
            last[0] = flat.copy()

        try:
            minimize(cost, x.ravel(), jac=True, method="L-BFGS-B", callback=keep,
                     options={"maxiter": max(iterations, 1)})
        except _OutOfTime:
            pass
        return last[0].reshape(x.shape)

    def _cost(self, x: Array, weight: float) -> tuple[float, Array]:
        """Penalty less gain, and its slope (k size,)."""
        state = [np.tile(pose, (len(self._times), 1))
                 for pose in (self._start, 0.0 * self._start, 0.0 * self._start)]
        for part, functions in zip(state, self._functions, strict=True):
            part[:, self._active] += functions @ x.T
        distances = self._excess.distance_rows(state[0])
        rows = self._objective.rows(*state)
        over = np.maximum(self._excess.rows(state[0], state[1], state[2], distances), 0.0)
        weight /= len(self._times)
        value = weight * float((over**2).sum()) - gain(rows, self._samples)
        slopes = gain_slopes(rows, self._samples)
        out = np.zeros_like(x)
        for order, functions in enumerate(self._functions):
            for k, joint in enumerate(self._active):
                moved = [part.copy() for part in state]
                moved[order][:, joint] += _STEP
                change = self._objective.rows(*moved) - rows
                more = np.maximum(self._excess.rows(
                    moved[0], moved[1], moved[2], distances if order else None), 0.0)
                # (a^2 - b^2) of the penalty, per sample
                slope = (weight * ((more - over) * (more + over)).sum(axis=1)
                         - np.einsum("nrc,nrc->n", slopes, change)) / _STEP
                out[k] += functions.T @ slope
        return value, out.ravel()

    def _shrink_within_limits(self, motion: FourierMotion, times: Array) -> FourierMotion:
        """The motion, shrunk about its start as little as makes it allowed at the times."""

        def allowed(factor: float) -> bool:
            return self._excess.worst(*motion.scale_excursion(factor)(times))[0] <= 0.0

        if allowed(1.0 / _ROOM):
            return motion
        low, high = (_NEAR, 1.0) if allowed(_NEAR) else (0.0, _NEAR)
        while high - low > _FINE * high:
            middle = 0.5 * (low + high)
            low, high = (middle, high) if allowed(middle) else (low, middle)
        return motion.scale_excursion(_ROOM * low)
