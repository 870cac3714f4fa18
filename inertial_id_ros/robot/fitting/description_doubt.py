# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""How far a robot description may be off, body by body, as the data themselves say.

A body is expected to be as described, with a standard deviation of 100 % of itself. A gripper that
the description lacks is many times the described wrist, and such a prior would pull on what the
data know. Each body therefore has a factor on its standard deviation, and the factors are those
under which the data are most likely (evidence; Tipping 2001, one factor for the ten parameters of
a body): with ``b = A d + e``, ``d ~ N(0, S)`` and ``e ~ N(0, 1)``,

    log p(b) = -1/2 (log det C + b' C^-1 b) + const,   C = 1 + A S A'.

Where the data know nothing, or agree with the description, the factor stays 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.stats import chi2

from ...inertia import Array
from ..compression import Compressed
from ..model import BODY_SIZE
from ..reference_robot import Reference

FACTORS = 2.0 ** np.arange(13)  # that are tried
_COST = 1.0  # nats by which a factor other than 1 must be better
_GAIN = 0.1  # nats below which the search ends
_RARE = 1e-4  # chance at which a body as described would be called another one
_KNOWN = 0.99  # part of the variance that is left, up to which the data say something
_EPS = float(np.finfo(float).eps)


@dataclass(frozen=True)
class Doubt:
    """What the data say about a description.

    Attributes:
        factors: (bodies,) standard deviation of each body, in units of itself; 1: not in doubt.
        differs: (bodies,) whether no robot in which this body is exactly as described explains the
            data, the others within their standard deviations.
    """

    factors: Array
    differs: np.ndarray

    @property
    def contradicted(self) -> np.ndarray:
        """Whether each body (bodies,) is beyond 100 % of its description."""
        return self.differs & (self.factors > 1.0)


def term_sizes(data: Compressed, first: int) -> Array:
    """Standard deviations (terms,) of joint terms before any data: each may make up all of the
    torque of its joint. For joints that do not move: 1 in SI units.

    Args:
        first: index of the first joint term in phi.
    """
    lengths = np.linalg.norm(data.factors[:, :, first:], axis=1)
    columns, torque = lengths[:, :-1], lengths[:, -1]
    joint = columns.argmax(axis=0)
    own = columns[joint, np.arange(columns.shape[1])]
    moves = own > 1e-3 * np.sqrt(data.counts[joint])
    return np.maximum(torque[joint] / np.where(moves, own, np.inf), 1.0)


def doubt_description(rows: Array, target: Array, reference: Reference, spread: Array, bodies: int
                      ) -> Doubt:
    """The factors of the bodies by the evidence of whitened rows (r, p), target (r,), r >= p.

    One factor after another is set to the value of `FACTORS` that raises the evidence most.

    Args:
        spread: (p,) standard deviations in units of the reference, without factors.
    """
    scaled = rows @ reference.unit * spread
    rest = target - rows @ reference.phi
    factors = np.ones(bodies)
    for _ in range(4 * bodies):
        known = _posteriors(scaled, rest, factors)
        steps = [_best_factor(body, factor) for body, factor in zip(known, factors, strict=True)]
        k = int(np.argmax([gain for gain, _ in steps]))
        if steps[k][0] < _GAIN:
            break
        factors[k] = steps[k][1]
    return Doubt(factors, np.array([_contradicts(body) for body in known]))


class _Posterior(NamedTuple):
    """What data and prior know of one body, in units of its standard deviation before.

    Attributes:
        values: (10,) eigenvalues of its covariance: 1 where the data know nothing.
        squares: (10,) squared differences from the description along the eigenvectors.
    """

    values: Array
    squares: Array


def _posteriors(scaled: Array, rest: Array, factors: Array) -> list[_Posterior]:
    """What is known of each body after rows (r, p), rest (r,), in units before the factors."""
    sizes = np.ones(scaled.shape[1])
    sizes[:BODY_SIZE * len(factors)] = np.repeat(factors, BODY_SIZE)
    left, s, right = np.linalg.svd(scaled * sizes, full_matrices=False)
    mean = right.T @ (s / (1.0 + s**2) * (left.T @ rest))
    out = []
    for k in range(len(factors)):
        where = slice(BODY_SIZE * k, BODY_SIZE * (k + 1))
        axes = right[:, where] / np.sqrt(1.0 + s**2)[:, None]
        values, vectors = np.linalg.eigh(axes.T @ axes)
        out.append(_Posterior(np.clip(values, _EPS, 1.0), (vectors.T @ mean[where])**2))
    return out


def _best_factor(body: _Posterior, now: float) -> tuple[float, float]:
    """Gain of evidence by the best other factor [nats], and that factor.

    With the ratio r of variances, ``C + (r - 1) B B'`` has the determinant and the quadratic form
    of C but for ``q = r - (r - 1) values`` along each eigenvector.
    """
    ratio = (FACTORS / now)[:, None]**2
    inner = ratio + (1.0 - ratio) * body.values
    gains = 0.5 * np.sum((ratio - 1.0) * body.squares / inner - np.log(inner), axis=1)
    gains -= _COST * ((FACTORS > 1.0).astype(float) - float(now > 1.0))
    gains[FACTORS == now] = 0.0
    best = int(np.argmax(gains))
    return float(gains[best]), float(FACTORS[best])


def _contradicts(body: _Posterior) -> bool:
    """Whether the data contradict a body exactly as described: chi-squared test of its estimate
    without the prior on it."""
    known = body.values < _KNOWN
    if not known.any():
        return False
    left = body.values[known]
    statistic = np.sum(body.squares[known] / (left * (1.0 - left)))
    return bool(statistic > chi2.isf(_RARE, int(known.sum())))
