# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Identification of a robot from compressed joint torques, over all robots that can exist.

A prior says what joint torques cannot tell (Wensing et al. 2017, eq. 25): a body is expected to be
as described, with a standard deviation of 100 % of itself. A gripper that the description lacks is
many times the described wrist, and such a prior would pull on what the data know. Each body
therefore has a factor on its standard deviation, and the factors are those under which the data are
most likely (evidence; Tipping 2001, one factor for the ten parameters of a body): with
``b = A d + e``, ``d ~ N(0, S)`` and ``e ~ N(0, 1)``,

    log p(b) = -1/2 (log det C + b' C^-1 b) + const,   C = 1 + A S A'.

Where the data know nothing, or agree with the description, the factor stays 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.stats import chi2

from ..inertia import Array
from .constraints import Limits
from .factors import Compressed
from .model import BODY_SIZE
from .nearest_robot import nearest_robot
from .reference import Reference

FACTORS = 2.0 ** np.arange(13)  # that are tried
_DOUBT_COST = 1.0  # nats by which a factor other than 1 must be better
_LEAST_GAIN = 0.1  # nats below which the search ends
_RARE = 1e-4  # chance at which a body as described would be called another one
_KNOWN = 0.99  # part of the variance that is left, up to which the data say something
_EPS = float(np.finfo(float).eps)
# The pull of the description may cost this part of what the true robot would cost on average:
# one squared standard deviation for each base parameter. Of simulated arms it costs 0.1 to 0.4.
MOST_PULL = 0.5
_EASE, _NONE = 0.1, 1e-6  # of the prior's weight, from try to try; of one that does not pull


@dataclass(frozen=True)
class DescriptionDoubt:
    """What the data say about a description.

    Attributes:
        factors: (bodies,) standard deviation of each body, in units of itself; 1: not in doubt.
        differs: (bodies,) True if no robot in which this body is exactly as described explains the
            data, the others within their standard deviations.
    """

    factors: Array
    differs: np.ndarray

    @property
    def contradicted(self) -> np.ndarray:
        """True (bodies,) for bodies beyond 100 % of their description."""
        return self.differs & (self.factors > 1.0)


@dataclass(frozen=True)
class Described:
    """An identified robot and what became of its description.

    Attributes:
        phi: (p,) the robot; prior: that it was found with, one standard deviation a unit.
        doubt: the description's bodies; eased: by how much the prior was made weaker, 1: it is not.
    """

    phi: Array
    prior: Reference
    doubt: DescriptionDoubt
    eased: float


def identify(data: Compressed, noise: Array, limits: Limits, prior: Reference) -> Array:
    """The robot (p,) that fits data and prior best, within the limits.

    Args:
        noise: (k,) of each output [N m]; prior: one standard deviation a unit.

    Raises:
        InfeasibleProblem, SolverFailure: see `nearest_robot`.
    """
    factor = data.stack(noise)
    return nearest_robot(np.concatenate([factor[:, :-1], prior.inverse]),
                         np.append(factor[:, -1], prior.inverse @ prior.phi), limits, prior)


def covariance_and_share(data: Compressed, noise: Array, prior: Reference) -> tuple[Array, Array]:
    """Covariance (p, p) of what data and prior know, limits not counted; and the part (p,) of each
    parameter that the data know and the prior need not: 0 to 1."""
    rows = data.stack(noise)[:, :-1] @ prior.unit
    information = rows.T @ rows + np.eye(data.size)
    spread = prior.unit @ np.linalg.inv(information) @ prior.unit.T
    before = np.sum(prior.unit**2, axis=1)
    return 0.5 * (spread + spread.T), 1.0 - np.clip(np.diag(spread) / before, 0.0, 1.0)


def identify_described(data: Compressed, limits: Limits, reference: Reference, bodies: int,
                       noise: Array, count: int, weight: float = 1.0) -> Described:
    """Identify, with a prior that trusts each body of the description as far as the data do.

    Where the model lacks something that moves the robot (friction that it does not know), even that
    prior may pull. It is made weaker until the fit is nearly the best possible one.

    Args:
        bodies: that phi begins with; noise: (k,) of each output [N m]; count: of base parameters.
        weight: inverse variance of a body that the data do not contradict, in units of itself.

    Raises:
        InfeasibleProblem, SolverFailure: see `nearest_robot`.
    """
    first = BODY_SIZE * bodies
    spread = np.append(np.full(first, weight**-0.5), term_sizes(data, first))
    factor = data.stack(noise)
    doubt = doubt_description(factor[:, :-1], factor[:, -1], reference, spread, bodies)
    spread[:first] *= np.repeat(doubt.factors, BODY_SIZE)
    prior, eased = reference.scaled(spread), 1.0
    phi = identify(data, noise, limits, prior)

    def squares(phi: Array) -> float:
        return float(np.sum(data.squares(phi) / noise**2))

    none, most = reference.scaled(spread * _NONE**-0.5), MOST_PULL * count
    # Without limits, the best possible fit takes no solver, and is at least as good as with them.
    if squares(phi) > squares(identify(data, noise, lambda _: [], none)) + most:
        limit = squares(identify(data, noise, limits, none)) + most
        while squares(phi) > limit and eased > _NONE:
            eased *= _EASE
            prior = reference.scaled(spread * eased**-0.5)
            phi = identify(data, noise, limits, prior)
    return Described(phi, prior, doubt, eased)


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
    moves = own > 1e-3 * np.sqrt(data.count)
    return np.maximum(torque[joint] / np.where(moves, own, np.inf), 1.0)


def doubt_description(rows: Array, target: Array, reference: Reference, spread: Array, bodies: int
                      ) -> DescriptionDoubt:
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
        if steps[k][0] < _LEAST_GAIN:
            break
        factors[k] = steps[k][1]
    return DescriptionDoubt(factors, np.array([_contradicts(body) for body in known]))


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
    gains -= _DOUBT_COST * ((FACTORS > 1.0).astype(float) - float(now > 1.0))
    gains[FACTORS == now] = 0.0
    best = int(np.argmax(gains))
    return float(gains[best]), float(FACTORS[best])


def _contradicts(body: _Posterior) -> bool:
    """True if the data contradict a body exactly as described: chi-squared test of its estimate
    without the prior on it."""
    known = body.values < _KNOWN
    if not known.any():
        return False
    left = body.values[known]
    statistic = np.sum(body.squares[known] / (left * (1.0 - left)))
    return bool(statistic > chi2.isf(_RARE, int(known.sum())))
