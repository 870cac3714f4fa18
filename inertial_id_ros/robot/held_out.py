# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What each joint's candidate terms are worth on motion that was held out, for any subset at once.

The rows are cut into parts along time. Each part is predicted from the others, by least squares
with the description as a prior on the bodies. Joints share the bodies and nothing else, so that
all but one joint's candidates are eliminated once, and every subset of these then costs the
solution of a system of its own few columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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

    @property
    def joints(self) -> int:
        """Number of joints."""
        return int(self.train.shape[1])

    def joint(self, j: int, used: Sequence[Sequence[int]]) -> JointScores:
        """The candidates of joint j, where the others use these (joints, ...) of theirs."""
        parts = []
        for train, test in zip(self.train, self.test, strict=True):
            b = self.bodies
            whole, other = train[j].copy(), test[j].copy()
            whole[np.arange(b), np.arange(b)] += 1.0
            corner = np.append(np.arange(b), len(whole) - 1)
            for k in range(self.joints):
                if k != j:
                    left = _eliminate_terms(train[k], b, used[k])
                    at = np.concatenate([np.arange(b), b + np.asarray(used[k], dtype=int),
                                         [len(whole) - 1]])
                    whole[np.ix_(corner, corner)] += left.T @ train[k][np.ix_(at, at)] @ left
                    other[np.ix_(corner, corner)] += left.T @ test[k][np.ix_(at, at)] @ left
            solved = np.linalg.solve(whole[:b, :b], whole[:b, b:])
            left = np.vstack([-solved, np.eye(len(whole) - b)])
            parts.append((left.T @ whole @ left, left.T @ other @ left))
        return JointScores(np.stack([p[0] for p in parts]), np.stack([p[1] for p in parts]))


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
             test: np.ndarray) -> HeldOut:
    """Normal matrices of whitened rows.

    Args:
        regressor: (r, joints, bodies) in units in which bodies have unit variance.
        candidates: (r, joints, candidates); torque: (r, joints).
        part: (r,) number of the part of each row; test: (r,) whether it counts in the test.
    """
    parts, joints = int(part.max()) + 1, torque.shape[1]
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
