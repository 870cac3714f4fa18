"""Estimators of the inertial parameters of one body, by name."""

from . import density, lmi, ols, pmd, uniform, wls  # noqa: F401  (each registers itself)
from .base import Estimator, Marginal, Problem, Solution, create, names

__all__ = ["Estimator", "Marginal", "Problem", "Solution", "create", "names"]
