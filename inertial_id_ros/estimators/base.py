"""What every estimator takes and returns, and the registry of their names.

An estimator sees the data only through small triangular factors, so that it costs the same for one
second and for one minute. Columns of every factor are ``[A (10) | B (6) | y (1)]``: inertial
parameters, sensor biases, wrench.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..errors import UnknownEstimator
from ..inertia import Array
from ..settings import Settings
from ..shape import Shape

PARAMETERS, BIASES = 10, 6
COLUMNS = PARAMETERS + BIASES + 1


@dataclass(frozen=True)
class Problem:
    """The compressed least-squares problem of the window.

    The squared norm ``|F [phi; bias; -1]|^2`` of each factor F is the sum of squared residuals of
    all raw samples it stands for. ``full`` and the two of the blend are not whitened: rows 17c to
    17c+16 are channel c (fx, fy, fz [N], tx, ty, tz [N m]).

    Attributes:
        full: (6*17, 17) full model, weight 1.
        dynamic: (6*17, 17) full model, weight w (Nadeau et al. 2022, eq. 8).
        static: (6*17, 17) reduced (gravity-only) model, weight 1 - w.
        noise: (6,) standard deviation of one raw sample of each channel.
        bias_sd: (6,) prior standard deviation of the biases about bias_mean; zeros: no bias states.
        bias_mean: (6,) prior mean of the biases in y = A phi + bias.
        samples: raw samples in the window.
    """

    full: Array
    dynamic: Array
    static: Array
    noise: Array
    bias_sd: Array
    bias_mean: Array
    samples: int

    def whitened(self, factor: Array) -> Array:
        """A factor with each channel divided by its noise."""
        return factor / np.repeat(self.noise, COLUMNS)[:, None]

    @property
    def has_bias(self) -> bool:
        """Whether the biases are states (with a prior) rather than known."""
        return bool(np.all(self.bias_sd > 0.0))

    def bias_prior(self) -> Array:
        """Whitened rows (6, 17) of the bias prior; sd 0 means the bias is known exactly."""
        rows = np.zeros((BIASES, COLUMNS))
        sd = np.maximum(self.bias_sd, 1e-9)
        rows[:, PARAMETERS:-1] = np.diag(1.0 / sd)
        rows[:, -1] = self.bias_mean / sd
        return rows

    def marginal(self, weighting: str) -> Marginal:
        """The problem in phi alone, biases eliminated with their prior.

        Args:
            weighting: ``noise`` (full model) or ``dynamism`` (blend, squared).
        """
        parts = [self.full] if weighting == "noise" else [self.dynamic, self.static]
        rows = np.concatenate([*(self.whitened(p) for p in parts), self.bias_prior()])
        order = np.r_[PARAMETERS:COLUMNS - 1, 0:PARAMETERS, COLUMNS - 1]
        upper = np.asarray(np.linalg.qr(rows[:, order], mode="r"))
        return Marginal(upper[BIASES:, BIASES:], upper[:BIASES])


@dataclass(frozen=True)
class Marginal:
    """Least squares in phi alone: ``|upper [phi; -1]|^2`` plus a constant already inside.

    Attributes:
        upper: (11, 11) triangular factor of [A | y] after elimination of the biases.
        bias_rows: (6, 17) triangular rows in the order [B | A | y] that give the biases back.
    """

    upper: Array
    bias_rows: Array

    @property
    def matrix(self) -> Array:
        """Square-root information (10, 10) of phi, upper triangular."""
        return self.upper[:PARAMETERS, :PARAMETERS]

    @property
    def target(self) -> Array:
        """Right-hand side (10,): the unconstrained optimum solves ``matrix @ phi = target``."""
        return self.upper[:PARAMETERS, PARAMETERS]

    @property
    def constant(self) -> float:
        """Sum of squares that no phi can remove."""
        return float(self.upper[PARAMETERS, PARAMETERS] ** 2)

    @property
    def information(self) -> Array:
        """Information matrix (10, 10) of phi."""
        return self.matrix.T @ self.matrix

    def objective(self, phi: Array) -> float:
        """Sum of squares at phi, biases at their best."""
        r = self.matrix @ phi - self.target
        return float(r @ r) + self.constant

    def bias(self, phi: Array) -> Array:
        """The biases (6,) that go with phi."""
        r = self.bias_rows
        return np.linalg.solve(r[:, :BIASES], r[:, -1] - r[:, BIASES:-1] @ phi)


@dataclass(frozen=True)
class Solution:
    """What an estimator returns.

    Attributes:
        phi: (10,) inertial parameters about the sensor origin.
        bias: (6,) sensor bias in y = A phi + bias.
        prior_information: (10, 10) information about phi that came from a prior, not from data.
    """

    phi: Array
    bias: Array
    prior_information: Array


class Estimator(Protocol):
    """An estimator: a name, what it needs, what it guarantees, and `solve`."""

    name: str
    needs_shape: bool
    guarantees_consistency: bool

    def solve(self, problem: Problem, shape: Shape | None) -> Solution:
        """Solve the compressed problem.

        Raises:
            NotEnoughData: the data do not determine an answer.
            InvalidShape: a shape is needed and missing.
        """
        ...


Factory = Callable[[Settings], Estimator]
_REGISTRY: dict[str, Factory] = {}


def register(name: str) -> Callable[[Factory], Factory]:
    """Class decorator: make an estimator known by name."""

    def add(factory: Factory) -> Factory:
        _REGISTRY[name] = factory
        return factory

    return add


def names() -> list[str]:
    """Names of all registered estimators."""
    return sorted(_REGISTRY)


def create(settings: Settings, name: str | None = None) -> Estimator:
    """The estimator of that name (default: ``settings.estimator.method``), configured.

    Raises:
        UnknownEstimator: no such name; the text lists those that exist.
    """
    wanted = settings.estimator.method if name is None else name
    if wanted not in _REGISTRY:
        raise UnknownEstimator(
            f"estimator.method is '{wanted}'; allowed: {', '.join(names())}")
    return _REGISTRY[wanted](settings)
