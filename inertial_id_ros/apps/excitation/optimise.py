# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The Fourier motion that gains most information within the limits.

Information and limits depend on a sample of the motion only through q, dq, ddq there, and these are
linear in the coefficients: derivatives come from differences at every sample, three for each
moving joint whatever the number of harmonics, and the chain rule. Limits enter as a penalty that
grows; in the end the motion is shrunk about its start pose until none is exceeded between samples
either, and the shapes of the links themselves are apart. Random starts, the same for a seed.

Joint motions are finite Fourier series (Swevers et al. 1997), at rest in a start pose at time 0:
``q_j(t) = start_j + sum_k a_jk (sin k w t) / (k w) + b_jk (1 - cos k w t) / (k w)``, periodic in
``2 pi / w``. Velocity and acceleration vanish at time 0, and so after every period, where
``sum_k a_jk = 0`` and ``sum_k k b_jk = 0``: the free coefficients x are coordinates of that space,
and joint motion is linear in them.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import null_space
from scipy.optimize import minimize

from ...errors import InvalidData, InvalidSetting
from ...inertia import Array
from ..simulation.motion import JointMotion
from .limits import Excess
from .objective import Objective, gain_slopes, information_gain

FEWEST_HARMONICS = 2  # one alone cannot start and end at rest


@dataclass(frozen=True, eq=False)
class Basis:
    """Functions that span the motion of one joint about its start, for a period [s].

    Raises:
        InvalidSetting: a period that is not positive, or too few harmonics.
    """

    period: float
    harmonics: int
    _map: Array = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not (np.isfinite(self.period) and self.period > 0.0):
            raise InvalidSetting(f"duration is {self.period:g} s; it must be positive")
        if self.harmonics < FEWEST_HARMONICS:
            raise InvalidSetting(f"harmonics is {self.harmonics}; at least {FEWEST_HARMONICS} are "
                                 "needed to start and end at rest")
        k = np.arange(1.0, self.harmonics + 1.0)
        a, b = null_space(np.ones((1, len(k)))), null_space(k[None])
        object.__setattr__(self, "_map", np.block([[a, np.zeros_like(b)], [np.zeros_like(a), b]]))

    @property
    def size(self) -> int:
        """Number of free coefficients of a joint."""
        return self._map.shape[1]

    def at(self, t: ArrayLike) -> tuple[Array, Array, Array]:
        """The functions and their first and second derivatives (n, size) at times (n,) [s]."""
        k = np.arange(1.0, self.harmonics + 1.0) * 2.0 * np.pi / self.period
        angle = np.asarray(t, dtype=float)[:, None] * k
        sine, cosine = np.sin(angle), np.cos(angle)
        rows = (np.hstack([sine / k, (1.0 - cosine) / k]), np.hstack([cosine, sine]),
                np.hstack([-k * sine, k * cosine]))
        position, velocity, acceleration = (row @ self._map for row in rows)
        return position, velocity, acceleration


@dataclass(frozen=True, eq=False)
class FourierMotion:
    """A motion of some joints of a robot; the others stay in the start pose.

    Attributes:
        basis: functions of each moving joint.
        start: (joints,) pose at time 0 [rad or m].
        active: (k,) indices of the joints that move.
        x: (k, size) free coefficients.
        periods: how often the motion is run through; at rest before and after.
    """

    basis: Basis
    start: Array
    active: np.ndarray
    x: Array
    periods: int = 1

    @property
    def duration(self) -> float:
        """Length [s] of all periods."""
        return self.periods * self.basis.period

    def __call__(self, t: ArrayLike) -> JointMotion:
        """Joint motion at times (n,) [s]."""
        times = np.clip(np.atleast_1d(np.asarray(t, dtype=float)), 0.0, self.duration)
        out = np.zeros((3, len(times), len(self.start)))
        out[0] = self.start
        for part, functions in zip(out, self.basis.at(times), strict=True):
            part[:, self.active] += functions @ self.x.T
        resting = (times <= 0.0) | (times >= self.duration)
        out[1:, resting] = 0.0  # what is left there is rounding
        return JointMotion(*out)

    def scale_excursion(self, factor: float) -> FourierMotion:
        """The same path about the start pose, with all excursions and speeds times a factor."""
        return replace(self, x=factor * self.x)


_PER_HARMONIC = 12  # samples of a period for each harmonic, while optimising
_CHUNK = 50  # poses whose meshes are compared between two looks at the clock
_DENSE = 0.01  # s between samples of the last check
# Nats for a limit exceeded by 100 % all the time. With less at first, motions end up beyond
# obstacles, from where nothing leads back.
_PENALTIES = (1e3, 1e4, 1e5)
_REPAIRS, _SPARE = 3, 2e-3  # times that limits are drawn in, and by how much more than is needed
_STEP = 1e-4  # of differences [rad, rad/s, rad/s^2]: distances are found to 1e-6 m
_NEARBY = 0.01  # excess of a distance below its limit (1 mm) up to which its slope is found
_BETWEEN = 1e-3  # by which limits are kept at samples: peaks between them
_SIZES = (*(1.0 - 0.01 * np.arange(10.0)), *(0.9 * 0.87**np.arange(1.0, 30.0)))  # to be tried
_FIRST_AMPLITUDE = 0.3  # rad, of random starts
_FINISHES = 2.0  # time kept for finishing, in units of what it took before


@dataclass(frozen=True)
class SearchEffort:
    """How hard to look.

    Attributes:
        starts: random starts; iterations: at most, of each; budget: time that all of it may take
        [s]; the answer depends on it only where it runs out. seed: of the starts.
    """

    starts: int = 4
    iterations: int = 90
    budget: float = 120.0
    seed: int = 0


@dataclass(frozen=True)
class Plan:
    """A motion within the limits.

    Attributes:
        motion: the motion; gain: of one period, in information [nats]; gains: what each random
        start led to; closest: name of the limit that it comes closest to, and excess: by how much
        it exceeds that (not above 0).
    """

    motion: FourierMotion
    gain: float
    gains: tuple[float, ...]
    closest: str
    excess: float


def plan_motion(basis: Basis, start: Array, active: np.ndarray, objective: Objective,
                excess: Excess, rate: float, effort: SearchEffort | None = None
                ) -> Plan:
    """Plan the motion that gains most within the limits, from random starts.

    Args:
        start: (joints,) pose at time 0; active: (k,) indices of the joints that move.
        rate: samples a second that the sensor gives.

    Raises:
        InvalidData: the start pose itself is beyond a limit, or leaves no room to move.
        InvalidSetting: the budget ends before any motion is found.
    """
    effort = SearchEffort() if effort is None else effort
    search = _Search(basis, start, active, objective, excess, rate * basis.period,
                     time.monotonic() + effort.budget)
    search.check_start()
    rng = np.random.default_rng(effort.seed)
    best: Plan | None = None
    gains: list[float] = []
    try:
        for _ in range(effort.starts):
            x = search.random_start(rng)
            if best is None:  # for want of time; it also shows how long finishing takes
                best = search.finish(x)
            found = search.finish(search.climb(x, effort.iterations))
            gains.append(found.gain)
            if found.gain >= max(gains):
                best = found
    except _OutOfTime:
        pass
    if best is None:
        raise InvalidSetting("no motion was found in the time that the budget leaves for a search "
                             f"({max(effort.budget, 0.0):.3g} s); allow more")
    if not best.motion.x.any():
        raise InvalidData("no motion from the start pose was found within the limits: "
                          + best.closest)
    return replace(best, gains=tuple(gains))


def dense_times(duration: float) -> Array:
    """Times (n,) [s] at which a finished motion is checked."""
    return np.linspace(0.0, duration, int(np.ceil(duration / _DENSE)) + 1)


class _OutOfTime(Exception):
    """The budget has run out."""


class _Search:
    """One optimisation problem in coefficients x (k, size), to be solved until a deadline.

    Args:
        samples: that the sensor gives in a period; deadline: of `time.monotonic` [s].
    """

    def __init__(self, basis: Basis, start: Array, active: np.ndarray, objective: Objective,
                 excess: Excess, samples: float, deadline: float) -> None:
        self._basis, self._start, self._active = basis, start, active
        self._objective, self._excess, self._samples = objective, excess, samples
        self._deadline = deadline
        self._finishing = 0.0  # s, how long it may take
        self._drawn_in: Array = np.zeros(len(excess.names))
        count = _PER_HARMONIC * basis.harmonics
        self._times = (np.arange(count) + 0.5) * basis.period / count
        self._functions = basis.at(self._times)

    def check_start(self) -> None:
        """Raise InvalidData where the start pose itself is beyond the limits."""
        rest = np.zeros((1, len(self._start)))
        beyond, what = self._excess.worst(self._start[None], rest, rest)
        if beyond <= 0.0:
            what = self._excess.find_contact(self._start[None])
        if what:
            raise InvalidData(f"the start pose is beyond the limits: {what}")

    def random_start(self, rng: np.random.Generator) -> Array:
        """Coefficients (k, size) of a random motion that is allowed at the samples."""
        x: Array = rng.normal(size=(len(self._active), self._basis.size))
        x *= _FIRST_AMPLITUDE / np.abs(self._functions[0] @ x.T).max()
        return self._shrink_within_limits(self._motion(x), self._times, False).x

    def climb(self, x: Array, iterations: int) -> Array:
        """Better coefficients, those of the last step where time runs out.

        Under the last penalty, limits that are exceeded between the samples are drawn in: to shrink
        a motion does not always slow its tool down, which several joints may hold still together.
        """
        self._drawn_in = np.zeros(len(self._excess.names))
        weights = (*_PENALTIES, *_PENALTIES[-1:] * _REPAIRS)
        for k, weight in enumerate(weights):
            now, end = time.monotonic(), self._deadline - self._finishing
            if now >= end:
                break
            if k >= len(_PENALTIES):
                peaks = self._excess.rows(*self._motion(x)(dense_times(self._basis.period)))
                beyond = np.maximum(peaks.max(axis=0) + _BETWEEN, 0.0)
                if not beyond.any():
                    break
                self._drawn_in += np.where(beyond > 0.0, beyond + _SPARE, 0.0)
            # Each has its share of the time: without the last ones a motion would be useless.
            x = self._descend(x, weight, iterations // len(_PENALTIES),
                              now + (end - now) / (len(weights) - k))
        return x

    def finish(self, x: Array) -> Plan:
        """The plan of coefficients, shrunk until it is within the limits everywhere.

        Raises:
            _OutOfTime: the deadline has passed.
        """
        begun = time.monotonic()
        times = dense_times(self._basis.period)
        motion = self._shrink_within_limits(self._motion(x), times, False)
        if not self._are_apart(motion(times).q):
            motion = self._shrink_within_limits(motion, times, True)
        state = motion(times)
        worst, what = self._excess.worst(*state)
        gain = information_gain(self._objective.rows(*state), self._samples)
        self._finishing = max(self._finishing, _FINISHES * (time.monotonic() - begun))
        return Plan(motion, gain, (), what, worst)

    def _are_apart(self, q: Array) -> bool:
        """Whether the shapes themselves are apart in poses (n, joints): slow, where they are near.

        Raises:
            _OutOfTime: the deadline has passed.
        """
        for first in range(0, len(q), _CHUNK):
            if time.monotonic() > self._deadline:
                raise _OutOfTime
            if self._excess.find_contact(q[first:first + _CHUNK]):
                return False
        return True

    def _motion(self, x: Array) -> FourierMotion:
        """The motion of coefficients x (k, size)."""
        return FourierMotion(self._basis, self._start, self._active, x)

    def _descend(self, x: Array, weight: float, iterations: int, deadline: float) -> Array:
        """Coefficients after L-BFGS steps under one penalty, or as far as they came in time."""
        last = [x.ravel()]

        def cost(flat: Array) -> tuple[float, Array]:
            return self._cost(flat.reshape(x.shape), weight, deadline)

        def keep(flat: Array) -> None:
            last[0] = flat.copy()

        try:
            minimize(cost, x.ravel(), jac=True, method="L-BFGS-B", callback=keep,
                     options={"maxiter": max(iterations, 1)})
        except _OutOfTime:
            pass
        return last[0].reshape(x.shape)

    def _cost(self, x: Array, weight: float, deadline: float) -> tuple[float, Array]:
        """Penalty less gain, and its slope (k size,) (raises _OutOfTime)."""
        state = [np.tile(pose, (len(self._times), 1))
                 for pose in (self._start, 0.0 * self._start, 0.0 * self._start)]
        for part, functions in zip(state, self._functions, strict=True):
            part[:, self._active] += functions @ x.T
        distances = self._excess.distance_rows(state[0])
        near = (distances > -_NEARBY - self._drawn_in[-distances.shape[1]:].max(initial=0.0)
                ).any(axis=1)  # elsewhere no step of a difference matters
        rows = self._objective.rows(*state)
        over = np.maximum(self._excess.rows(state[0], state[1], state[2], distances)
                          + self._drawn_in, 0.0)
        weight /= len(self._times)
        value = weight * float((over**2).sum()) - information_gain(rows, self._samples)
        slopes = gain_slopes(rows, self._samples)
        out = np.zeros_like(x)
        for order, functions in enumerate(self._functions):
            for k, joint in enumerate(self._active):
                if time.monotonic() > deadline:
                    raise _OutOfTime
                moved = [part.copy() for part in state]
                moved[order][:, joint] += _STEP
                change = self._objective.rows(*moved) - rows
                changed = distances.copy()
                if order == 0 and near.any():
                    changed[near] = self._excess.distance_rows(moved[0][near])
                more = np.maximum(self._excess.rows(moved[0], moved[1], moved[2], changed)
                                  + self._drawn_in, 0.0)
                # (a^2 - b^2) of the penalty, per sample
                slope = (weight * ((more - over) * (more + over)).sum(axis=1)
                         - np.einsum("nrc,nrc->n", slopes, change)) / _STEP
                out[k] += functions.T @ slope
        return value, out.ravel()

    def _shrink_within_limits(self, motion: FourierMotion, times: Array, exact: bool
                              ) -> FourierMotion:
        """The motion, shrunk about its start as little as makes it allowed at the times.

        Args:
            exact: also the shapes themselves are kept apart, not their hulls alone.

        Raises:
            _OutOfTime: the deadline has passed.
        """

        def allowed(factor: float) -> bool:
            if time.monotonic() > self._deadline:
                raise _OutOfTime
            state = motion.scale_excursion(factor)(times)
            return self._excess.worst(*state)[0] <= -_BETWEEN and (
                not exact or self._are_apart(state.q))

        # One after the other: a smaller motion of several joints may move the tool faster.
        return motion.scale_excursion(next((f for f in _SIZES if allowed(f)), 0.0))
