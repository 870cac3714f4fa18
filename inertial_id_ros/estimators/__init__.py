"""Estimators of the inertial parameters of one body, by name."""

from ..regression.problem import Marginal, Problem
from . import (  # noqa: F401  (each registers itself)
    density,
    entropic,
    lmi,
    manifold,
    ols,
    pmd,
    rtls,
    uniform,
    wls,
)
from .base import Estimator, Solution, create, names

__all__ = ["Estimator", "Marginal", "Problem", "Solution", "create", "names"]
