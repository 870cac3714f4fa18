# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""`pmd`: point-mass discretization (Nadeau, Giamou, Kelly 2022, eqs 8 and 9).

``min |F_static [P m; b; -1]| + |F_full [P m; b; -1]| + lambda |m|,  m >= 0``: masses at fixed
points of the shape, P maps them to phi, b are the biases. The norms are not squared (forms
``norm`` and ``published``); the prior of the biases, when they are states, is part of the full
model's norm, one raw sample's noise being one unit. With the weighting ``noise`` there is one data
norm, of the full model.

`_Statement` is that in cvxpy, on the triangular factors of the window; Clarabel solves it. For
``squared``, a quadratic program, OSQP was tried: it converges within a tick for two of three random
problems, since the rows differ in weight by factors of a million.

The rows are in N: each is divided by its noise and multiplied by the force noise, so that lambda
keeps the paper's unit; with the form ``published`` torque rows enter in N m.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..errors import InvalidShape, NotEnoughData
from ..extras import optional_packages
from ..geometry.shape import Shape
from ..inertia import PARAMETERS, Array, point_columns
from ..linalg import triangular_factor
from ..regression.problem import COLUMNS, Problem
from ..regression.row_layout import BIASES
from ..settings import Settings
from .base import Solution
from .reference_body import ReferenceBody, reference_body, regularise

with optional_packages("the estimator 'pmd'"):
    import cvxpy as cp

    from .convex_program import solve

# lambda [N/kg] that stands for none: without any the masses are not unique.
SMALLEST_REGULARIZATION = 1e-6


class _Statement:
    """``min sum_i |F_i [b; x; -1]| + lambda |m|,  x = P m,  m >= 0``, norms squared or not.

    x, in the coordinates of the reference body, is a variable of its own, so that the parameters
    have eleven or seventeen columns in place of one for each mass.

    Args:
        form: as in the settings; weight: lambda; columns: P (10, n).
        norms: number of factors F_i; biases: six, or none.
    """

    def __init__(self, form: str, weight: float, columns: Array, norms: int, biases: int) -> None:
        self.masses, self.bias = cp.Variable(columns.shape[1], nonneg=True), cp.Variable(biases)
        x = cp.Variable(PARAMETERS)
        point = cp.hstack([self.bias, x, -1.0] if biases else [x, -1.0])
        self.factors = [cp.Parameter((point.size, point.size)) for _ in range(norms)]
        self.residuals = [factor @ point for factor in self.factors]
        measure = cp.sum_squares if form == "squared" else cp.norm2
        self.problem = cp.Problem(
            cp.Minimize(sum(measure(r) for r in self.residuals)
                        + weight * measure(self.masses)),
            [x == columns @ self.masses])


@dataclass(frozen=True)
class _Points:
    """What depends on the shape only: columns (10, n) of unit masses, the reference body, and the
    statements by number of biases."""

    shape: Shape
    columns: Array
    body: ReferenceBody
    statements: dict[int, _Statement]


class _Fit(NamedTuple):
    """Masses (n,) [kg], biases (k,), and the weight of |m|^2 against squared rows."""

    masses: Array
    bias: Array
    curvature: float


class Pmd:
    """Nonnegative point masses at points of the shape."""

    name = "pmd"
    needs_shape = True
    keeps_mass_inside = True
    needs_wrench = True
    needs_noise = "no"
    guarantees_consistency = True

    def __init__(self, settings: Settings) -> None:
        self._weighting = settings.estimator.weighting
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
        points = self._place_points(shape)
        marginal = problem.marginal(self._weighting)
        data = regularise(marginal.matrix, marginal.target, points.body)
        data.require_mass()
        found = self._fit(self._factors(problem), points, data.mass_scale)
        if found is None:
            raise NotEnoughData("the data are too badly conditioned to find point masses")
        phi = points.columns @ found.masses
        if not phi[0] > 0.0:
            raise NotEnoughData("no mass inside the shape fits the data; does the shape lie where "
                                "the load is?")
        bias = found.bias if problem.has_bias else problem.bias_mean.copy()
        information = found.curvature / _force_noise(problem) ** 2
        # Few active points may give a body without extent along some axis.
        return Solution(points.body.make_consistent(phi), bias,
                        _prior_information(points, information))

    def _fit(self, factors: list[Array], points: _Points, scale: float) -> _Fit | None:
        """The optimum, found in units of a mass [kg]; None where it was not found.

        Args:
            factors: as of `_factors`.
        """
        biases, form = factors[0].shape[1] - PARAMETERS - 1, self._settings.form
        weight = max(self._settings.regularization, SMALLEST_REGULARIZATION)
        if biases not in points.statements:
            points.statements[biases] = _Statement(
                form, weight, points.body.from_phi @ points.columns, len(factors), biases)
        statement = points.statements[biases]
        for parameter, factor in zip(statement.factors, factors, strict=True):
            parameter.value = np.column_stack([
                factor[:, :biases], factor[:, biases:-1] @ points.body.to_phi,
                factor[:, -1] / scale])
        if not solve(statement.problem):
            return None
        masses = np.maximum(np.asarray(statement.masses.value), 0.0)
        curvature = weight
        if form != "squared":  # of |m| against the squares of the rows
            norms = [float(np.linalg.norm(r.value)) for r in statement.residuals]
            curvature *= float(np.linalg.norm(norms)) / max(float(np.linalg.norm(masses)), 1e-300)
        bias = scale * np.asarray(statement.bias.value) if biases else np.empty(0)
        return _Fit(scale * masses, bias, curvature)

    def _place_points(self, shape: Shape) -> _Points:
        """The point masses of a shape, kept until another shape comes."""
        if self._points is None or self._points.shape is not shape:
            columns = point_columns(shape.spread(self._settings.points))
            self._points = _Points(shape, columns, reference_body(shape), {})
        return self._points

    def _factors(self, problem: Problem) -> list[Array]:
        """A triangular factor for each norm, rows in N, columns [B (6 or none) | A (10) | y]."""
        unit = _force_noise(problem)
        scale = unit / problem.noise if self._settings.form != "published" else np.ones(BIASES)
        parts = ([problem.full] if self._weighting == "noise"
                 else [problem.dynamic, problem.static])
        stacks = [part * np.repeat(scale, len(part) // BIASES)[:, None] for part in parts]
        if problem.has_bias:
            prior = problem.bias_prior() * (scale * problem.noise)[:, None]
            stacks[0] = np.concatenate([stacks[0], prior])
            order = np.r_[PARAMETERS:COLUMNS - 1, 0:PARAMETERS, COLUMNS - 1]
            stacks = [s[:, order] for s in stacks]
        else:
            stacks = [_subtract_bias(s, problem.bias_mean) for s in stacks]
        if self._settings.form != "squared":
            return [triangular_factor(s) for s in stacks]
        factor = triangular_factor(np.concatenate(stacks))
        factor[-1, -1] = 0.0  # what no body explains, beside which solvers would lose digits
        return [factor]


def _force_noise(problem: Problem) -> float:
    """Noise of a force sample [N], the unit of whitened rows."""
    return float(np.mean(problem.noise[:3]))


def _subtract_bias(rows: Array, bias: Array) -> Array:
    """Rows [A | y - B bias] of rows [A | B | y]."""
    target = rows[:, -1] - rows[:, PARAMETERS:-1] @ bias
    return np.concatenate([rows[:, :PARAMETERS], target[:, None]], axis=1)


def _prior_information(points: _Points, information: float) -> Array:
    """Information (10, 10) about phi of masses that each have this information [1/kg^2]."""
    coordinates = points.body.from_phi @ points.columns
    values, vectors = np.linalg.eigh(coordinates @ coordinates.T)
    inverse = vectors / np.maximum(values, 1e-9 * values[-1]) @ vectors.T
    return information * points.body.from_phi.T @ inverse @ points.body.from_phi
