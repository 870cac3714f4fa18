# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The Fourier motion with most information within the limits.

Joint motions are finite Fourier series (Swevers et al. 1997), at rest in a start pose at time 0:
``q_j(t) = start_j + sum_k a_jk (sin k w t) / (k w) + b_jk (1 - cos k w t) / (k w)``, periodic in
``2 pi / w``. Velocity and acceleration vanish at time 0, and so after the period, where
``sum_k a_jk = 0`` and ``sum_k k b_jk = 0``: the free coefficients x are coordinates of that space.

Information and limits depend on a sample only through q, dq, ddq there, which are linear in x:
slopes come from differences at every sample, three for each moving joint, and the chain rule.
Limits enter as a penalty that grows; in the end the motion is shrunk about its start pose until the
check finds nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import null_space
from scipy.optimize import minimize

from ...errors import InvalidData
from ...inertia import Array
from ..simulation.motion import JointMotion
from .arm import Arm
from .motions import POINTS, MotionLimits, PlannedMotion
from .violations import violations

Rows = Callable[[Array, Array, Array], Array]  # rows (n, r, c) of information of joint motion
HARMONICS, PER_HARMONIC = 5, 12  # of a period; samples for each while optimising
PENALTIES = (1e3, 1e4, 1e5)  # nats for a limit exceeded by 100 % all the time, one after the other
ITERATIONS, STARTS = 30, 4  # under each penalty; random starts
STEP = 1e-4  # of differences [rad, rad/s, rad/s^2]
LENGTH = 0.1  # m of missing distance that count like a limit exceeded by 100 %
FIRST = 0.3  # rad, amplitude of random starts
SIZES = (*(1.0 - 0.01 * np.arange(10.0)), *(0.9 * 0.87 ** np.arange(1.0, 30.0)))  # to be tried


@dataclass(frozen=True, eq=False)
class FourierMotion:
    """A motion of some joints of a robot; the others stay in the start pose.

    Attributes:
        period: [s]; start: (joints,) pose at time 0 [rad or m]; active: (k,) indices of the joints
            that move; x: (k, 2 h - 2) free coefficients of h harmonics.
    """

    period: float
    start: Array
    active: np.ndarray
    x: Array

    def __call__(self, times: Array) -> JointMotion:
        """Joint motion (n, joints) at times (n,) [s]; at rest before and after the period."""
        t = np.clip(times, 0.0, self.period)
        out = np.zeros((3, len(t), len(self.start)))
        out[0] = self.start
        for part, functions in zip(out, basis(self.period, t, self.x.shape[1] // 2 + 1),
                                   strict=True):
            part[:, self.active] += functions @ self.x.T
        out[1:, (t <= 0.0) | (t >= self.period)] = 0.0  # what remains there is rounding
        return JointMotion(*out)

    def as_planned(self, arm: Arm) -> PlannedMotion:
        """Points of all joints."""
        stamps = np.linspace(0.0, self.period, int(np.ceil(self.period / POINTS)) + 1)
        return PlannedMotion(arm.joint_names, stamps, *self(stamps))


def basis(period: float, t: Array, harmonics: int = HARMONICS) -> tuple[Array, Array, Array]:
    """Functions that span the motion of one joint about its start, and their first and second
    derivatives (n, 2 h - 2), at times (n,) [s]."""
    k = np.arange(1.0, harmonics + 1.0)
    a, b = null_space(np.ones((1, harmonics))), null_space(k[None])
    free = np.block([[a, np.zeros_like(b)], [np.zeros_like(a), b]])
    w = k * 2.0 * np.pi / period
    sine, cosine = np.sin(t[:, None] * w), np.cos(t[:, None] * w)
    return (np.hstack([sine / w, (1.0 - cosine) / w]) @ free, np.hstack([cosine, sine]) @ free,
            np.hstack([-w * sine, w * cosine]) @ free)


def information_gain(rows: Array, samples: float) -> float:
    """Information gain ``1/2 log det(I + F'F)`` [nats] of rows F (n, r, c) that stand for a number
    of samples, in units of what is known before: D-optimality with a prior."""
    return 0.5 * float(np.linalg.slogdet(_information(rows, samples))[1])


def _information(rows: Array, samples: float) -> Array:
    flat = rows.reshape(-1, rows.shape[2])
    return np.eye(flat.shape[1]) + samples / len(rows) * flat.T @ flat


def plan_fourier(arm: Arm, start: Array, active: np.ndarray, rows: Rows, limits: MotionLimits,
                 period: float, rate: float = 500.0, budget: float = 120.0) -> FourierMotion:
    """The motion that gains most within the limits, from random starts.

    Args:
        start: (joints,) pose at time 0; active: (k,) indices of the joints that move.
        rows: of information; rate: samples a second; budget: computing time that it may take [s].

    Raises:
        InvalidData: the start pose itself is beyond a limit, or leaves no room to move.
    """
    search = _Search(arm, start, active, rows, limits, period, rate * period)
    if problem := search.problem(0.0 * search.random(np.random.default_rng(0))):
        raise InvalidData(f"the start pose is beyond the limits: {problem}")
    rng, begin = np.random.default_rng(0), time.thread_time()
    found: list[Array] = []
    for k in range(STARTS):
        if found and time.thread_time() > begin + budget:
            break
        x = search.climb(search.random(rng), begin + budget * (k + 1) / STARTS)
        found += [size * x for size in SIZES if not search.problem(size * x)][:1]
    if not found:
        raise InvalidData("no motion from the start pose was found within the limits: "
                          + search.problem(SIZES[-1] * x))
    return search.motion(max(found, key=search.gain))


class _Search:
    """One optimisation problem in coefficients x (k, c)."""

    def __init__(self, arm: Arm, start: Array, active: np.ndarray, rows: Rows,
                 limits: MotionLimits, period: float, samples: float) -> None:
        self._arm, self._start, self._active, self._rows = arm, start, active, rows
        self._limits, self._period, self._samples = limits, period, samples
        count = PER_HARMONIC * HARMONICS
        self._times = (np.arange(count) + 0.5) * period / count
        self._functions = basis(period, self._times)

    def random(self, rng: np.random.Generator) -> Array:
        """Coefficients of a random motion."""
        x = rng.normal(size=(len(self._active), self._functions[0].shape[1]))
        return np.asarray(x * FIRST / np.abs(self._functions[0] @ x.T).max())

    def problem(self, x: Array) -> str:
        """What the check finds first; empty: nothing."""
        planned = self.motion(x).as_planned(self._arm)
        return next(iter(violations(self._arm, planned, self._start, self._limits)), "")

    def motion(self, x: Array) -> FourierMotion:
        """The motion of coefficients."""
        return FourierMotion(self._period, self._start, self._active, x)

    def gain(self, x: Array) -> float:
        """Information of a period [nats]."""
        return information_gain(self._rows(*self.motion(x)(self._times)), self._samples)

    def climb(self, x: Array, end: float) -> Array:
        """Better coefficients, as far as they come until a time of `time.thread_time`."""
        def stop(_: Array) -> None:
            if time.thread_time() > end:
                raise StopIteration

        flat = x.ravel()
        for weight in PENALTIES:
            flat = minimize(self._cost, flat, (weight, x.shape), method="L-BFGS-B", jac=True,
                            callback=stop, options={"maxiter": ITERATIONS}).x
        return np.asarray(flat.reshape(x.shape))

    def _excess(self, q: Array, dq: Array, ddq: Array) -> Array:
        """By how much a motion exceeds limits (n, m), 0 where it does not."""
        arm, limits = self._arm, self._limits
        links = arm.links(q, dq)
        parts = [arm.lower - q, q - arm.upper,
                 np.abs(dq) / np.minimum(limits.share * arm.speed, limits.joint_speed) - 1.0,
                 np.abs(ddq) / limits.joint_acceleration - 1.0,
                 np.abs(arm.torque(q, dq, ddq)) / (limits.share * arm.effort) - 1.0,
                 links.speed / limits.link_speed - 1.0,
                 (limits.floor - links.height[:, arm.rises]) / LENGTH]
        if arm.shapes is not None:
            parts.append((limits.clearance - arm.shapes.distances(arm.configurations(q))) / LENGTH)
        return np.maximum(np.concatenate(parts, axis=1), 0.0)

    def _cost(self, flat: Array, weight: float, shape: tuple[int, int]) -> tuple[float, Array]:
        """Penalty less gain, and its slope (k c,)."""
        x = flat.reshape(shape)
        state = self.motion(x)(self._times)
        rows, over = self._rows(*state), self._excess(*state)
        weight /= len(self._times)
        value = weight * float((over**2).sum()) - information_gain(rows, self._samples)
        slopes = self._samples / len(rows) * np.linalg.solve(
            _information(rows, self._samples), rows.reshape(-1, rows.shape[2]).T).T.reshape(
                rows.shape)
        out = np.zeros_like(x)
        for order, functions in enumerate(self._functions):
            for k, joint in enumerate(self._active):
                moved = [part.copy() for part in state]
                moved[order][:, joint] += STEP
                change = self._rows(*moved) - rows
                more = self._excess(*moved)
                slope = weight * ((more - over) * (more + over)).sum(axis=1) - np.einsum(
                    "nrc,nrc->n", slopes, change)
                out[k] += functions.T @ slope / STEP
        return value, out.ravel()
