# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""`pmd`: point-mass discretization (Nadeau, Giamou, Kelly 2022, eqs 8 and 9).

``min |F_static [b; P m; -1]| + |F_full [b; P m; -1]| + lambda |m|,  m >= 0``: masses at fixed
points of the shape, P maps them to phi, b is the bias. The norms are not squared (form ``norm``);
the prior of the bias, where it has one, is part of the full model's norm, one sample's noise being
one unit. With the weighting ``noise`` there is one data norm, of the full model, in which the bias
is eliminated already.

`_Statement` is that in cvxpy, on the triangular factors of the data, for Clarabel. ``squared`` is a
quadratic program, for OSQP first: with rows in units of the noise, and masses in units of the
load's, it solves nine of ten random problems within 20 ms; Clarabel solves the rest.

The rows are in N: each is divided by its noise and multiplied by the force noise, so that lambda
keeps the paper's unit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..errors import InvalidShape, NotEnoughData
from ..extras import optional_packages
from ..geometry.shape import Shape
from ..inertia import PARAMETERS, Array, point_columns
from ..model.problem import Problem
from ..settings import Settings
from .base import Solution
from .reference_body import ReferenceBody, reference_body, regularise

with optional_packages("the estimator 'pmd'"):
    import cvxpy as cp

    from .convex_program import solve, solve_quadratic


class _Statement:
    """``min sum_i |F_i [b; x; -1]| + lambda |m|,  x = P m,  m >= 0``, norms squared or not.

    x, in the coordinates of the reference body, is a variable of its own, so that the parameters
    have eleven or seventeen columns in place of one for each mass.

    Args:
        is_squared: form of the norms; weight: lambda; columns: P (10, n); sizes: columns of F_i, 11
            and as many as the bias has, for each.
    """

    def __init__(self, is_squared: bool, weight: float, columns: Array, sizes: list[int]) -> None:
        self.masses, x = cp.Variable(columns.shape[1], nonneg=True), cp.Variable(PARAMETERS)
        bias = cp.Variable(sizes[0] - PARAMETERS - 1)
        point = cp.hstack([bias, x, -1.0] if bias.size else [x, -1.0])
        self.factors = [cp.Parameter((size, size)) for size in sizes]
        self.residuals = [cp.Variable(size) for size in sizes]
        measure = cp.sum_squares if is_squared else cp.norm2
        self.problem = cp.Problem(
            cp.Minimize(sum(map(measure, self.residuals)) + weight * measure(self.masses)),
            [x == columns @ self.masses, *(r == factor @ point for r, factor in zip(
                self.residuals, self.factors, strict=True))])
        self._is_squared = is_squared

    def solve(self, factors: list[Array]) -> bool:
        """Solve for these factors; False if no solver finds the optimum."""
        for parameter, factor in zip(self.factors, factors, strict=True):
            parameter.value = factor
        return (self._is_squared and solve_quadratic(self.problem)) or solve(self.problem)


@dataclass(frozen=True)
class _Points:
    """What depends on the shape only: columns (10, n) of unit masses, the reference body, and the
    statements by the sizes of their factors."""

    shape: Shape
    columns: Array
    body: ReferenceBody
    statements: dict[tuple[int, ...], _Statement]


class _Fit(NamedTuple):
    """Masses (n,) [kg], and the weight of |m|^2 against squared rows."""

    masses: Array
    curvature: float


class Pmd:
    """Nonnegative point masses at points of the shape."""

    name = "pmd"
    needs_shape = needs_wrench = True

    def __init__(self, settings: Settings) -> None:
        self._settings = settings.pmd
        self._points: _Points | None = None

    def solve(self, problem: Problem, shape: Shape | None) -> Solution:
        """The point masses' body.

        ``prior_information`` is that of the Gaussian with the regulariser's curvature at the
        optimum; that masses are not negative is not counted.

        Raises:
            InvalidShape: no shape.
            NotEnoughData: no usable data, or no positive mass fits.
        """
        if shape is None:
            raise InvalidShape("the estimator 'pmd' needs a shape")
        if self._points is None or self._points.shape is not shape:
            columns = point_columns(shape.spread(self._settings.points))
            self._points = _Points(shape, columns, reference_body(shape), {})
        points = self._points
        data = regularise(problem.matrix, problem.target, points.body)
        data.require_mass()
        unit = float(np.mean(problem.noise[:3]))  # noise of a force sample [N], of whitened rows
        found = self._fit(self._factors(problem, unit), points, data.mass_scale)
        if found is None:
            raise NotEnoughData("the data are too badly conditioned to find point masses")
        phi = points.columns @ found.masses
        if not phi[0] > 0.0:
            raise NotEnoughData("no mass inside the shape fits the data; does the shape lie where "
                                "the load is?")
        # Few active points may give a body without extent along some axis.
        return Solution(points.body.make_consistent(phi),
                        found.curvature / unit**2 * _information(points))

    def _fit(self, factors: list[Array], points: _Points, scale: float) -> _Fit | None:
        """The optimum, found in units of a mass [kg]; None where it was not found.

        Args:
            factors: see `_factors`.
        """
        weight = self._settings.regularization
        sizes = tuple(map(len, factors))
        if sizes not in points.statements:
            points.statements[sizes] = _Statement(
                self._settings.form == "squared", weight, points.body.from_phi @ points.columns,
                list(sizes))
        statement, phi = points.statements[sizes], slice(-PARAMETERS - 1, -1)
        for factor in factors:
            factor[:, phi] = factor[:, phi] @ points.body.to_phi
            factor[:, -1] /= scale
        if not statement.solve(factors):
            return None
        masses = np.maximum(np.asarray(statement.masses.value), 0.0)
        if self._settings.form != "squared":  # of |m| against the squares of the rows
            norms = [float(np.linalg.norm(np.asarray(r.value))) for r in statement.residuals]
            weight *= float(np.linalg.norm(norms)) / max(float(np.linalg.norm(masses)), 1e-300)
        return _Fit(scale * masses, weight)

    def _factors(self, problem: Problem, unit: float) -> list[Array]:
        """A triangular factor for each norm, rows in N, columns ``[bias | A | y]``, or ``[A | y]``
        where it is eliminated."""
        if len(problem.models) > 1 and self._settings.form != "squared":
            return problem.rows(unit / problem.noise)
        factor = np.zeros((PARAMETERS + 1, PARAMETERS + 1))
        factor[:-1, :-1], factor[:-1, -1] = unit * problem.matrix, unit * problem.target
        if self._settings.form != "squared":  # a constant, beside which solvers would lose digits
            factor[-1, -1] = unit * problem.residual
        return [factor]


def _information(points: _Points) -> Array:
    """Information (10, 10) about phi of masses that are each known to 1 kg."""
    coordinates = points.body.from_phi @ points.columns
    values, vectors = np.linalg.eigh(coordinates @ coordinates.T)
    inverse = vectors / np.maximum(values, 1e-9 * values[-1]) @ vectors.T
    return np.asarray(points.body.from_phi.T @ inverse @ points.body.from_phi)
