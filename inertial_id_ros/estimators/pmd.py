# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""`pmd`: point-mass discretization (Nadeau, Giamou, Kelly 2022, eqs 8 and 9).

``min |F_static [b; P m; -1]| + |F_full [b; P m; -1]| + lambda |m|,  m >= 0``: masses at fixed
points of the shape, P maps them to phi, b is the bias, its prior part of the full model's norm.
The norms are not squared (form ``norm``). With the weighting ``noise`` there is one data norm, of
the full model without the bias.

`_Statement` is that in cvxpy, on triangular factors, for Clarabel; ``squared`` is a quadratic
program, which OSQP solves, or Clarabel where OSQP does not converge. Rows are divided by their
noise and multiplied by the force noise [N], so that lambda keeps the paper's unit.
"""

from functools import lru_cache

import numpy as np

from ..errors import NotEnoughData
from ..extras import optional_packages
from ..geometry.shape import Shape
from ..inertia import PARAMETERS, Array, point_columns
from ..model.problem import Problem, covariance_of
from ..settings import Settings
from . import Estimator, Solution
from .reference_body import reference_body, regularise

with optional_packages("the estimator 'pmd'"):
    import cvxpy as cp

    from .convex_program import solve

LAMBDA, POINTS = 0.1, 136  # weight of the norm of the point masses; how many there are


class _Statement:
    """``min sum_i |F_i [b; x; -1]| + lambda |m|,  x = P m,  m >= 0``, norms squared or not.

    x, in the coordinates of the reference body, is a variable of its own, so that the parameters
    have eleven or seventeen columns in place of one for each mass.

    Args:
        columns: P (10, n); sizes: columns of F_i, 11 and as many as the bias has, for each.
    """

    def __init__(self, is_squared: bool, columns: Array, sizes: tuple[int, ...]) -> None:
        self.masses, x = cp.Variable(columns.shape[1], nonneg=True), cp.Variable(PARAMETERS)
        bias = cp.Variable(sizes[0] - PARAMETERS - 1)
        point = cp.hstack([bias, x, -1.0] if bias.size else [x, -1.0])
        self._factors = [cp.Parameter((size, size)) for size in sizes]
        self.residuals = [cp.Variable(size) for size in sizes]
        measure = cp.sum_squares if is_squared else cp.norm2
        self._problem = cp.Problem(
            cp.Minimize(sum(map(measure, self.residuals)) + LAMBDA * measure(self.masses)),
            [x == columns @ self.masses, *(r == factor @ point for r, factor in zip(
                self.residuals, self._factors, strict=True))])
        self._is_squared = is_squared

    def solve(self, factors: list[Array]) -> bool:
        """Solve for these factors; False if no solver finds the optimum."""
        for parameter, factor in zip(self._factors, factors, strict=True):
            parameter.value = factor
        return (self._is_squared and solve(self._problem, solver=cp.OSQP)) or solve(self._problem)


class Pmd(Estimator):
    """Nonnegative point masses at points of the shape."""

    needs_shape = needs_wrench = True

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self._is_squared = settings.pmd.form == "squared"
        self._statement = lru_cache(maxsize=2)(self._stated)  # of the shape in use, and its factors

    def _stated(self, shape: Shape, *sizes: int) -> tuple[Array, _Statement]:
        """Columns (10, n) of unit masses at the points, and the statement for factors of sizes."""
        columns = point_columns(shape.spread(POINTS))
        return columns, _Statement(
            self._is_squared, reference_body(shape).from_phi @ columns, sizes)

    def solve(self, problem: Problem, shape: Shape | None) -> Solution:
        """The point masses' body; see `Estimator.solve`.

        The prior of its covariance is the Gaussian with the regulariser's curvature at the optimum;
        that masses are not negative is not counted.
        """
        self.check(shape)
        assert shape is not None
        data = regularise(problem, shape)
        unit = float(np.mean(problem.noise[:3]))  # noise of a force sample [N], of whitened rows
        # A triangular factor for each norm, rows in N, columns ``[bias | A | y]`` or ``[A | y]``.
        at = slice(-PARAMETERS - 1, -1)
        if len(problem.models) > 1 and not self._is_squared:
            factors = problem.rows(unit / problem.noise)
        else:  # the bias is eliminated
            factors = [np.zeros((PARAMETERS + 1, PARAMETERS + 1))]
            factors[0][:-1] = unit * np.c_[problem.matrix, problem.target]
            if not self._is_squared:  # a constant, beside which solvers would lose digits
                factors[0][-1, -1] = unit * problem.residual
        columns, statement = self._statement(shape, *map(len, factors))
        for factor in factors:
            factor[:, at] = factor[:, at] @ data.body.to_phi
            factor[:, -1] /= data.mass_scale
        if not statement.solve(factors):
            raise NotEnoughData("the data are too badly conditioned to find point masses")
        masses = np.maximum(np.asarray(statement.masses.value), 0.0)
        phi, weight = columns @ (data.mass_scale * masses), LAMBDA / unit**2
        if not phi[0] > 0.0:
            raise NotEnoughData("no mass inside the shape fits the data; does the shape lie where "
                                "the load is?")
        if not self._is_squared:  # weight of |m| against the squares of the rows
            norms = [float(np.linalg.norm(np.asarray(r.value))) for r in statement.residuals]
            weight *= float(np.linalg.norm(norms)) / max(float(np.linalg.norm(masses)), 1e-300)
        # Rows of a prior on phi by masses that are each known to 1 kg, of full rank.
        values, axes = np.linalg.eigh((coordinates := data.body.from_phi @ columns) @ coordinates.T)
        prior = axes.T / np.sqrt(np.maximum(values, 1e-9 * values[-1]))[:, None]
        rows = np.concatenate([problem.matrix, np.sqrt(weight) * prior @ data.body.from_phi])
        # Few active points may give a body without extent along some axis.
        return Solution(data.body.make_consistent(phi), covariance_of(rows))
