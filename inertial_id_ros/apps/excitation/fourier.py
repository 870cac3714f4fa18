# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Joint motions as finite Fourier series (Swevers et al. 1997), at rest in a start pose at time 0.

``q_j(t) = start_j + sum_k a_jk (sin k w t) / (k w) + b_jk (1 - cos k w t) / (k w)``, periodic in
``2 pi / w``. Velocity and acceleration vanish at time 0, and so after every period, where
``sum_k a_jk = 0`` and ``sum_k k b_jk = 0``: the free coefficients x are coordinates of that space,
and joint motion is linear in them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import null_space

from ...errors import InvalidSetting
from ...inertia import Array
from ..simulation.motion import JointMotion

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
