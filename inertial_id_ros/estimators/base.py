"""What every estimator takes and returns, and the registry of their names.

An estimator sees the data only through the small triangular factors of a `Problem`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from ..errors import UnknownEstimator
from ..geometry.shape import Shape
from ..inertia import Array
from ..regression.problem import Problem
from ..settings import Settings


@dataclass(frozen=True)
class Solution:
    """What an estimator returns.

    Attributes:
        phi: (10,) inertial parameters about the sensor origin.
        bias: (6,) sensor bias in y = A phi + bias.
        prior_information: (10, 10) information about phi that came from a prior, not from data.
        covariance: (10, 10) of phi, where it is not that of data and prior information together.
        prior_covariance: (10, 10) of phi before the data, where rounding spoils the inverse of
            prior_information.
    """

    phi: Array
    bias: Array
    prior_information: Array
    covariance: Array | None = None
    prior_covariance: Array | None = None


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
            f"estimator.method is '{wanted[:200]}'; allowed: {', '.join(names())}")
    return _REGISTRY[wanted](settings)
