# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The compressed least-squares problem of a window, and its marginal in the inertial parameters.

Columns of every factor are ``[A (10) | B (6) | y (1)]``: inertial parameters, sensor biases,
wrench. Factors are small and triangular, so that a solve costs the same for a second and a minute.

`fit_unconstrained` is the fit of the data alone, without shape or consistency.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import NamedTuple

import numpy as np

from ..inertia import PARAMETERS, Array
from ..linalg import cholesky_factor, identity, inverse, solve, solve_upper, triangular_factor
from .row_layout import BIASES

_REACH = 1.0  # m; no payload is taken to reach farther from the sensor
_MASS_SD = 100.0  # kg
# The information: about the mass, and of a kilogram about first moments and tensor.
_OF_MASS = np.diag([_MASS_SD**-2, *9 * (0.0,)])
_OF_PLACE = np.diag([0.0, *3 * (_REACH**-2,), *6 * (_REACH**-4,)])


def vague_information(mass: float) -> Array:
    """Information (10, 10) of a vague prior: the payload is light and near the sensor.

    Args:
        mass: of the payload, about [kg].
    """
    return np.asarray(_OF_MASS + _OF_PLACE / max(mass, 0.1) ** 2)


_VAGUE = vague_information(1.0)


def unconstrained_fit(information: Array, vector: Array) -> tuple[Array, Array]:
    """Solve normal equations of the data under the vague prior: phi (10,), covariance (10, 10).

    Args:
        information: (10, 10) of the data; vector: (10,) right-hand side.
    """
    covariance = inverse(information + _VAGUE)
    return covariance @ vector, covariance


def center_of_mass(phi: Array, covariance: Array) -> tuple[Array, Array]:
    """Centre of mass (3,) [m] and its covariance (3, 3) from those of phi; the mass is positive."""
    com = phi[1:4] / phi[0]
    jacobian = np.empty((3, 4))
    jacobian[:, 0], jacobian[:, 1:] = -com, identity(3)
    jacobian /= phi[0]
    return com, jacobian @ covariance[:4, :4] @ jacobian.T


COLUMNS = PARAMETERS + BIASES + 1
_TINY = 1e-12  # rounding


class Change(NamedTuple):
    """How phi changes if the bias is constant.

    Attributes:
        phi: (10,) of that change what is beyond chance: its square is the excess of that of the
            change over what is allowed.
        covariance: (10, 10) of the fit with a constant bias.
    """

    phi: Array
    covariance: Array

    def of_answer(self, prior: Array) -> Array:
        """Change (10,) of an answer that has an information (10, 10) beside the data."""
        information = inverse(self.covariance)
        return solve(information + prior, information @ self.phi)


@dataclass(frozen=True)
class Problem:
    """The compressed least-squares problem of the window.

    The squared norm ``|F [phi; bias; -1]|^2`` of each factor F is the sum of squared residuals of
    all raw samples it stands for. Factors are not whitened; each holds the same number of rows for
    each channel (fx, fy, fz [N], tx, ty, tz [N m]), one channel after the other. In ``full`` the
    nuisance states are fixed at their estimate; the two of the blend do not know them.

    Attributes:
        rows: (n, 17) full model, weight 1; or what computes them, for the few who need them.
        dynamic: (n, 17) full model, weight w (Nadeau et al. 2022, eq. 8); with the weighting
            ``dynamism`` only.
        static: (n, 17) reduced (gravity-only) model, weight 1 - w; as `dynamic`.
        noise: (6,) standard deviation of one raw sample of each channel.
        bias_sd: (6,) prior standard deviation of the biases about bias_mean; zeros: no bias states.
        bias_mean: (6,) prior mean of the biases in y = A phi + bias.
        samples: raw samples in the window.
        with_states: (n, 17 + q) full model with q more states, nuisance states and those of a
            stored tool, as columns ``[A | B | q | y]``; empty without such states. They hold all
            that was measured; the others and the marginal are without what a walking bias hides.
        state_sd: (q,) prior standard deviation of these states about zero.
        known_marginal: the noise-weighted problem in phi alone, where it is not that of the
            factors, or is there already.
        unexpected: change of phi beyond chance, if the bias is constant.
    """

    rows: Array | Callable[[], Array]
    dynamic: Array
    static: Array
    noise: Array
    bias_sd: Array
    bias_mean: Array
    samples: int
    with_states: Array = field(default_factory=lambda: np.empty((0, COLUMNS)))
    state_sd: Array = field(default_factory=lambda: np.empty(0))
    known_marginal: Marginal | None = None
    unexpected: Change | None = None

    @classmethod
    def from_marginal(cls, marginal: Marginal, samples: int) -> Problem:
        """A problem without factors and biases, of which only the marginal in phi is known."""
        nothing, zeros = np.empty((0, COLUMNS)), np.zeros(BIASES)
        return cls(nothing, nothing, nothing, np.ones(BIASES), zeros, zeros, samples,
                   known_marginal=marginal)

    @cached_property
    def full(self) -> Array:
        """The rows (n, 17) of the full model, weight 1."""
        return self.rows() if callable(self.rows) else self.rows

    @property
    def has_bias(self) -> bool:
        """Whether the biases are states (with a prior) rather than known."""
        return bool(np.all(self.bias_sd > 0.0))

    def with_errors(self, covariance: Array) -> Problem:
        """The same where phi has errors of a covariance (10, 10) beside those of the data."""
        return replace(self, known_marginal=self.marginal("noise").with_errors(covariance))

    def bias_prior(self) -> Array:
        """Whitened rows (6, 17) of the bias prior; sd 0 means the bias is known exactly."""
        return state_prior(self.bias_sd, self.bias_mean, np.empty(0))

    def marginal(self, weighting: str) -> Marginal:
        """The problem in phi alone, all other states eliminated with their priors.

        Args:
            weighting: ``noise`` (full model) or ``dynamism`` (blend, squared).
        """
        return self._noise_weighted if weighting == "noise" else self._blended

    @cached_property
    def _noise_weighted(self) -> Marginal:
        """Marginal of the full model, every row weighted by the noise alone."""
        if self.known_marginal is not None:
            return self.known_marginal
        if len(self.state_sd):
            return eliminate(whiten(self.with_states, self.noise), self.state_prior())
        return eliminate(whiten(self.full, self.noise), self.bias_prior())

    @cached_property
    def _blended(self) -> Marginal:
        """Marginal of the blend of full and gravity-only model."""
        return eliminate(whiten(self.dynamic, self.noise), whiten(self.static, self.noise),
                         self.bias_prior())

    def prior_cost(self, states: Array) -> float:
        """Sum of squares by which states (6 + q,) deviate from their priors, in standard
        deviations."""
        off = states.copy()
        off[:BIASES] -= self.bias_mean
        off /= _usable_sd(self.bias_sd, self.state_sd)
        return float(off @ off)

    def state_prior(self) -> Array:
        """Whitened rows (6 + q, 17 + q) of the priors of biases and other states."""
        return state_prior(self.bias_sd, self.bias_mean, self.state_sd)


def whiten(factor: Array, noise: Array) -> Array:
    """Divide the rows of a factor (n, k) by the noise (6,) of their channel."""
    by_channel = factor.reshape(len(noise), factor.size // len(noise))
    return (by_channel * (1.0 / noise)[:, None]).reshape(factor.shape)


def state_prior(bias_sd: Array, bias_mean: Array, state_sd: Array) -> Array:
    """Whitened rows (6 + q, 17 + q) ``[A | B | q | y]`` of the priors of biases and other states.

    Args:
        bias_sd, bias_mean: (6,); sd 0: known exactly. state_sd: (q,) about zero.
    """
    states = BIASES + len(state_sd)
    sd = _usable_sd(bias_sd, state_sd)
    prior = np.zeros((states, PARAMETERS + states + 1))
    row = np.arange(states)
    prior[row, PARAMETERS + row] = 1.0 / sd
    prior[:BIASES, -1] = bias_mean / sd[:BIASES]
    return prior


def _usable_sd(bias_sd: Array, state_sd: Array) -> Array:
    """Standard deviations (6 + q,) of biases and other states, none of them zero."""
    return np.concatenate([np.maximum(bias_sd, 1e-9), state_sd])


def eliminate(*parts: Array) -> Marginal:
    """Eliminate all states but phi from whitened rows (n, 10 + s + 1) ``[A | states | y]``, given
    in parts; priors are rows, too."""
    width = parts[0].shape[1]
    states = width - PARAMETERS - 1
    rows = np.empty((sum(map(len, parts)), width), order="F")  # as LAPACK reads it
    begin = 0
    for part in parts:
        end = begin + len(part)
        rows[begin:end, :states] = part[:, PARAMETERS:-1]
        rows[begin:end, states:-1] = part[:, :PARAMETERS]
        rows[begin:end, -1] = part[:, -1]
        begin = end
    upper = triangular_factor(rows, overwrite=True)
    return Marginal(upper[states:, states:], upper[:states])


def eliminate_products(products: Array) -> Marginal | None:
    """Eliminate all states but phi, as `eliminate` does, given the products (n, n) of the rows;
    None where rounding has spoilt these."""
    states = len(products) - PARAMETERS - 1
    order = _states_first(states)
    upper = cholesky_factor(products[order[:, None], order])
    return None if upper is None else Marginal(upper[states:, states:], upper[:states])


@cache
def _states_first(states: int) -> np.ndarray:
    """Order of the columns ``[states | A | y]``, of so many states."""
    last = PARAMETERS + states
    return np.r_[PARAMETERS:last, :PARAMETERS, last]


@dataclass(frozen=True)
class Marginal:
    """A least-squares problem in phi alone: minimise ``|upper [phi; -1]|^2``.

    Attributes:
        upper: (11, 11) triangular factor of [A | y] after elimination of the states.
        state_rows: (6 + q, 17 + q) triangular rows in the order [B | other states | A | y] that
            give the eliminated states back.
    """

    upper: Array
    state_rows: Array

    @property
    def matrix(self) -> Array:
        """Square-root information (10, 10) of phi, upper triangular."""
        return self.upper[:PARAMETERS, :PARAMETERS]

    @property
    def target(self) -> Array:
        """Right-hand side (10,): the unconstrained optimum solves ``matrix @ phi = target``."""
        return self.upper[:PARAMETERS, PARAMETERS]

    @cached_property
    def information(self) -> Array:
        """Information matrix (10, 10) of phi."""
        return self.matrix.T @ self.matrix

    def with_errors(self, covariance: Array) -> Marginal:
        """The same where phi has errors of a covariance (10, 10) beside those of the data."""
        shrink = np.linalg.inv(identity(PARAMETERS) + self.information @ covariance)
        information = shrink @ self.information
        length = np.sqrt(np.maximum(information.diagonal(), _TINY))
        scaled = 0.5 * (information + information.T) / np.outer(length, length)
        root = np.linalg.cholesky(scaled + _TINY * identity(PARAMETERS)).T * length
        upper = self.upper.copy()
        upper[:PARAMETERS, :PARAMETERS] = root
        upper[:PARAMETERS, PARAMETERS] = solve_upper(
            root, shrink @ (self.matrix.T @ self.target), transposed=True)
        return Marginal(upper, self.state_rows)

    @cached_property
    def unconstrained_fit(self) -> tuple[Array, Array]:
        """phi (10,) of the data alone, without shape and consistency; its covariance (10, 10)."""
        return unconstrained_fit(self.information, self.matrix.T @ self.target)

    @cached_property
    def unconstrained_states(self) -> Array:
        """The states (6 + q,) that go with the unconstrained fit."""
        return self.states(self.unconstrained_fit[0])

    def states(self, phi: Array) -> Array:
        """The most probable eliminated states (6 + q,) at phi (10,): biases, then the others."""
        r = self.state_rows
        n = len(r)
        return solve_upper(r[:, :n], r[:, -1] - r[:, n:-1] @ phi)

    def state_covariance(self, phi_covariance: Array) -> Array:
        """Covariance (6 + q, 6 + q) of the eliminated states, given that of phi (10, 10)."""
        r = self.state_rows
        n = len(r)
        root = solve_upper(r[:, :n], identity(n))
        slope = root @ r[:, n:-1]
        return root @ root.T + slope @ phi_covariance @ slope.T

    def bias(self, phi: Array) -> Array:
        """The most probable biases (6,) at phi (10,) [N, N m]."""
        return self.states(phi)[:BIASES]
