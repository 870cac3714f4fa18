# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""`pmd`: point-mass discretization (Nadeau, Giamou, Kelly 2022, eqs 8 and 9).

``min |F_static [P m; b; -1]| + |F_full [P m; b; -1]| + lambda |m|,  m >= 0``: masses at fixed
points of the shape, P maps them to phi, b are the biases. The norms are not squared (form
``norm``); the prior of the biases, when they are states, is part of the full model's norm, one raw
sample's noise being one unit. With the weighting ``noise`` there is one data norm, of the full
model.

The rows are in N: with ``whiten`` each is divided by its noise and multiplied by the force noise,
so that lambda keeps the paper's unit; without, torque rows enter in N m as published.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import InvalidShape, NotEnoughData
from ..geometry.shape import Shape
from ..inertia import PARAMETERS, Array, point_columns
from ..linalg import triangular_factor
from ..regression.problem import COLUMNS, Problem
from ..regression.row_layout import BIASES
from ..settings import Settings
from .base import Solution
from .reference_body import ReferenceBody, reference_body, regularise
from .solvers.point_masses import least_sum_of_norms, least_sum_of_squares

# lambda [N/kg] that stands for none: without any the masses are not unique.
SMALLEST_REGULARIZATION = 1e-6


@dataclass(frozen=True)
class _Points:
    """What depends on the shape only: columns (10, n) of unit masses, and the reference body."""

    shape: Shape
    columns: Array
    body: ReferenceBody


class Pmd:
    """Nonnegative point masses at points of the shape."""

    name = "pmd"
    needs_shape = True
    keeps_mass_inside = True
    needs_noise = "no"
    guarantees_consistency = True

    def __init__(self, settings: Settings) -> None:
        self._weighting = settings.estimator.weighting
        self._form = settings.pmd.form
        self._regularization = max(settings.pmd.regularization, SMALLEST_REGULARIZATION)
        self._whiten = settings.pmd.whiten
        self._count = settings.pmd.points
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
        regularise(marginal.matrix, marginal.target, points.body).require_mass()
        factors = self._factors(problem)
        solve = least_sum_of_norms if self._form == "norm" else least_sum_of_squares
        found = solve(factors, points.columns, self._regularization)
        phi = points.columns @ found.masses
        if not phi[0] > 0.0:
            raise NotEnoughData("no mass inside the shape fits the data; does the shape lie where "
                                "the load is?")
        bias = found.bias if problem.has_bias else problem.bias_mean.copy()
        information = found.tikhonov / _force_noise(problem) ** 2
        # Few active points may give a body without extent along some axis.
        return Solution(points.body.make_consistent(phi), bias,
                        _prior_information(points, information))

    def _place_points(self, shape: Shape) -> _Points:
        """The point masses of a shape, kept until another shape comes."""
        if self._points is None or self._points.shape is not shape:
            columns = point_columns(shape.spread(self._count))
            self._points = _Points(shape, columns, reference_body(shape))
        return self._points

    def _factors(self, problem: Problem) -> list[Array]:
        """Triangular factors of each norm, rows in N, columns [B (6 or none) | A (10) | y]."""
        unit = _force_noise(problem)
        scale = unit / problem.noise if self._whiten else np.ones(BIASES)
        parts = ([problem.full] if self._weighting == "noise"
                 else [problem.dynamic, problem.static])
        stacks = [part * np.repeat(scale, len(part) // BIASES)[:, None] for part in parts]
        if not problem.has_bias:
            return [triangular_factor(_subtract_bias(s, problem.bias_mean)) for s in stacks]
        prior = problem.bias_prior() * (scale * problem.noise)[:, None]
        stacks[0] = np.concatenate([stacks[0], prior])
        order = np.r_[PARAMETERS:COLUMNS - 1, 0:PARAMETERS, COLUMNS - 1]
        return [triangular_factor(s[:, order]) for s in stacks]


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
