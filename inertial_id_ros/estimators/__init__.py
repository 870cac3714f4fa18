"""Estimators of the inertial parameters of one body, each in the module of its name."""

from ..regression.problem import Marginal, Problem
from .base import Estimator, Solution, create, names

__all__ = ["Estimator", "Marginal", "Problem", "Solution", "create", "names"]
