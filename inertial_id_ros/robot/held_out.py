# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What each joint's candidate terms are worth on motion that was held out, for any subset at once.

The rows are cut into parts along time. Each part is predicted from the others, by least squares
with the description as a prior on the bodies. Joints share the bodies and nothing else, so that
all but one joint's candidates are eliminated once, and every subset of these then costs the
solution of a system of its own few columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ..inertia import Array

_RIDGE = 1e-9  # of candidates' squares: columns that say the same share what they explain


@dataclass(frozen=True)
class HeldOut:
    """Normal matrices of whitened rows, part by part.

    Attributes:
        train: (parts, joints, n, n) over the columns ``[bodies, candidates, torque]`` of the rows
            that predict a part; test: the same of the rows of that part.
        bodies: number of columns of bodies; they have unit variance before the data.
    """

    train: Array
    test: Array
    bodies: int
    _others: _Corners = field(default_factory=lambda: _Corners(), repr=False, compare=False)

    @property
    def joints(self) -> int:
        """Number of joints."""
        return int(self.train.shape[1])

    def __add__(self, other: HeldOut) -> HeldOut:
        """Both rows together."""
        return HeldOut(self.train + other.train, self.test + other.test, self.bodies)

    def joint(self, j: int, used: Sequence[Sequence[int]]) -> JointScores:
        """The candidates of joint j, where the others use these (joints, ...) of theirs."""
        others = [self._others.corners(self, k, used[k]) for k in range(self.joints) if k != j]
        b, n = self.bodies, self.train.shape[-1]
        corner = np.append(np.arange(b), n - 1)
        at = np.ix_(np.arange(len(self.train)), corner, corner)
        whole, other = self.train[:, j].copy(), self.test[:, j].copy()
        whole[:, np.arange(b), np.arange(b)] += 1.0
        for k, matrix in enumerate((whole, other)):
            matrix[at] += sum(corners[k] for corners in others)
        left = np.zeros((len(whole), n, n - b))
        left[:, :b] = -np.linalg.solve(whole[:, :b, :b], whole[:, :b, b:])
        left[:, b:] = np.eye(n - b)
        across = left.transpose(0, 2, 1)
        return JointScores(across @ whole @ left, across @ other @ left)


class _Corners:
    """What each joint adds to bodies and torque, its own terms eliminated; the newest is kept."""

    def __init__(self) -> None:
        self._kept: dict[int, tuple[tuple[int, ...], tuple[Array, Array]]] = {}

    def corners(self, held: HeldOut, k: int, used: Sequence[int]) -> tuple[Array, Array]:
        """Of joint k, with these of its candidates (used,): normal matrices (parts, bodies + 1,
        bodies + 1) of the rows that predict each part, and of the rows of that part."""
        known = self._kept.get(k)
        if known is None or known[0] != tuple(used):
            pairs = [_eliminate(train[k], test[k], held.bodies, used)
                     for train, test in zip(held.train, held.test, strict=True)]
            known = tuple(used), (np.stack([p[0] for p in pairs]), np.stack([p[1] for p in pairs]))
            self._kept[k] = known
        return known[1]


def _eliminate(train: Array, test: Array, bodies: int, used: Sequence[int]) -> tuple[Array, Array]:
    """Normal matrices (bodies + 1, bodies + 1) without the used candidates, whose values are those
    that fit the rows of `train` best."""
    left = _eliminate_terms(train, bodies, used)
    at = np.concatenate([np.arange(bodies), bodies + np.asarray(used, dtype=int),
                         [len(train) - 1]])
    return tuple(left.T @ matrix[np.ix_(at, at)] @ left  # type: ignore[return-value]
                 for matrix in (train, test))


@dataclass(frozen=True)
class JointScores:
    """One joint's candidates, everything else eliminated.

    Attributes:
        train, test: (parts, candidates + 1, candidates + 1) as in `HeldOut`, the torque last.
    """

    train: Array
    test: Array

    def squares(self, used: Sequence[int]) -> Array:
        """Squared errors (parts,) of all joints in the parts held out, in units of the noise."""
        at = np.append(np.asarray(used, dtype=int), self.train.shape[1] - 1)
        train, test = self.train[:, at][:, :, at], self.test[:, at][:, :, at]
        theta = self._solve(train)
        v = np.concatenate([theta, -np.ones((len(theta), 1))], axis=1)
        return np.einsum("ki,kij,kj->k", v, test, v)

    def values(self, used: Sequence[int]) -> Array:
        """Parameters (used,) of the candidates, the mean over the parts."""
        at = np.append(np.asarray(used, dtype=int), self.train.shape[1] - 1)
        return np.asarray(self._solve(self.train[:, at][:, :, at]).mean(axis=0))

    @staticmethod
    def _solve(train: Array) -> Array:
        """Least squares (parts, used) of systems (parts, used + 1, used + 1)."""
        matrix = train[:, :-1, :-1].copy()
        k = np.arange(matrix.shape[1])
        size = matrix[:, k, k]
        matrix[:, k, k] += _RIDGE * np.maximum(size, size.max(initial=0.0) * _RIDGE) + 1e-12
        return np.asarray(np.linalg.solve(matrix, train[:, :-1, -1:])[..., 0])


def _eliminate_terms(normal: Array, bodies: int, used: Sequence[int]) -> Array:
    """Matrix (bodies + used + 1, bodies + 1) from bodies to bodies and the terms that then fit
    best, the torque last."""
    at = bodies + np.asarray(used, dtype=int)
    corner = np.append(np.arange(bodies), len(normal) - 1)
    inner = normal[np.ix_(at, at)]
    size = np.diag(inner)
    inner = inner + np.diag(_RIDGE * np.maximum(size, size.max(initial=0.0) * _RIDGE) + 1e-12)
    out = np.zeros((bodies + len(at) + 1, bodies + 1))
    out[:bodies, :bodies] = np.eye(bodies)
    out[bodies:-1] = -np.linalg.solve(inner, normal[np.ix_(at, corner)])
    out[-1, -1] = 1.0
    return out


def hold_out(regressor: Array, candidates: Array, torque: Array, part: np.ndarray,
             test: np.ndarray, parts: int) -> HeldOut:
    """Normal matrices of whitened rows.

    Args:
        regressor: (r, joints, bodies) in units in which bodies have unit variance.
        candidates: (r, joints, candidates); torque: (r, joints).
        part: (r,) number of the part of each row; test: (r,) whether it counts in the test.
        parts: how many there are.
    """
    joints = torque.shape[1]
    n = regressor.shape[2] + candidates.shape[2] + 1
    inside, tested = np.zeros((parts, joints, n, n)), np.zeros((parts, joints, n, n))
    for j in range(joints):
        rows = np.concatenate([regressor[:, j], candidates[:, j], torque[:, j, None]], axis=1)
        for k in range(parts):
            own = rows[part == k]
            inside[k, j] = own.T @ own
            counted = rows[(part == k) & test]
            tested[k, j] = counted.T @ counted
    return HeldOut(inside.sum(axis=0) - inside, tested, regressor.shape[2])
