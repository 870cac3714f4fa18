# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""`lmi`, `entropic`, `pmd` stated with cvxpy on all rows: readable, slow, what others reach.

Of the `Data` they take the noise and the priors of the biases; the factors are made from the rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import cvxpy as cp
import numpy as np
from problems import Data, Rows, residuals

from inertial_id_ros.geometry.shape import Shape
from inertial_id_ros.inertia import Array, point_columns, pseudo_inertia


@dataclass(frozen=True)
class Answer:
    """phi (10,), bias (6,) and the optimal objective."""

    phi: Array
    bias: Array
    objective: float


def _whitened_squares(rows: Rows, sensor: Data, weighting: str, phi: cp.Variable,
                      bias: cp.Variable) -> tuple[list[cp.Expression], list[cp.Constraint]]:
    """Whitened sums of squares of data and bias prior; constraints where the biases are known."""
    squares = []
    for a, b, y in residuals(rows, weighting):
        scale = 1.0 / np.tile(sensor.noise, len(y) // 6)
        squares.append(cp.sum_squares((scale[:, None] * a) @ phi + (scale[:, None] * b) @ bias
                                      - scale * y))
    constraints, prior = _bias_prior(bias, sensor)
    return [*squares, cp.sum_squares(prior)], constraints


def lmi(rows: Rows, sensor: Data, weighting: str, unit_phi: Array, epsilon: float,
        shape: Shape | None = None, support: str = "none", max_mass: float = 0.0) -> Answer:
    """Whitened least squares with a positive pseudo-inertia (Wensing et al. 2017, Theorem 3).

    Args:
        unit_phi: reference body of 1 kg (10,); constraint ``J(phi) >= epsilon m J(unit_phi)``.
        shape, support: ``box``: centre of mass in the bounding box; ``ellipsoid``: eq. 23.
        max_mass: 0: no bound [kg].
    """
    phi, bias = cp.Variable(10), cp.Variable(6)
    squares, constraints = _whitened_squares(rows, sensor, weighting, phi, bias)
    of_phi = np.stack([pseudo_inertia(e).ravel() for e in np.eye(10)], axis=1)
    pseudo = cp.reshape(of_phi @ phi, (4, 4), order="C")
    constraints.append(pseudo - epsilon * phi[0] * pseudo_inertia(unit_phi) >> 0)
    if shape is not None and support == "box":
        lower, upper = shape.bounds
        constraints += [lower * phi[0] <= phi[1:4], phi[1:4] <= upper * phi[0]]
    if shape is not None and support == "ellipsoid":
        constraints.append(cp.trace(pseudo @ shape.ellipsoid) >= 0)
    if max_mass > 0.0:
        constraints.append(phi[0] <= max_mass)
    problem = cp.Problem(cp.Minimize(cp.sum(cp.hstack(squares))), constraints)
    _solve(problem)
    return Answer(np.asarray(phi.value), np.asarray(bias.value), float(problem.value))


def entropic(rows: Rows, sensor: Data, weighting: str, prior_phi: Array, gamma: float) -> Answer:
    """Whitened least squares plus the entropic divergence from a body (Lee et al. 2020, eq. 19).

    ``gamma (-log det Z + tr Z)`` with ``Z = L^-1 J(phi) L^-T``, ``L L' = J(prior_phi)``: in
    other units solvers fail, as J has entries of 1 and of 1e-4.

    Args:
        prior_phi: (10,) body of the measured mass.
    """
    phi, bias = cp.Variable(10), cp.Variable(6)
    squares, constraints = _whitened_squares(rows, sensor, weighting, phi, bias)
    unit = np.linalg.inv(np.linalg.cholesky(pseudo_inertia(prior_phi)))
    whitened = sum(phi[k] * (unit @ pseudo_inertia(e) @ unit.T) for k, e in enumerate(np.eye(10)))
    divergence = cp.trace(whitened) - cp.log_det(whitened)
    problem = cp.Problem(cp.Minimize(cp.sum(cp.hstack(squares)) + gamma * divergence), constraints)
    _solve(problem)
    return Answer(np.asarray(phi.value), np.asarray(bias.value), float(problem.value))


def pmd(rows: Rows, sensor: Data, weighting: str, points: Array, regularization: float,
        whiten: bool = True, form: str = "norm") -> Answer:
    """Point masses, unsquared norms as published (Nadeau et al. 2022, eq. 8), or their squares.

    Args:
        points: (k, 3) positions of the point masses, sensor frame [m].
        regularization: lambda [N/kg] (``squared``: [N^2/kg^2]).
        whiten: divide every row by its noise and multiply it by the force noise.
    """
    masses, bias = cp.Variable(len(points), nonneg=True), cp.Variable(6)
    phi = point_columns(points) @ masses
    force_noise = float(np.mean(sensor.noise[:3]))
    unit = force_noise / sensor.noise if whiten else np.ones(6)
    constraints, prior = _bias_prior(bias, sensor)
    # The prior belongs to the full model, in its unit: one raw sample's noise is one unit.
    stacks = [[cp.multiply(unit * sensor.noise, prior)], []]
    for k, (a, b, y) in enumerate(residuals(rows, weighting)):
        scale = np.tile(unit, len(y) // 6)
        stacks[k].append((scale[:, None] * a) @ phi + (scale[:, None] * b) @ bias - scale * y)
    measure = cp.norm2 if form == "norm" else cp.sum_squares
    objective = sum(measure(cp.hstack(s)) for s in stacks if s) + regularization * measure(masses)
    problem = cp.Problem(cp.Minimize(objective), constraints)
    if form == "norm":
        _solve(problem)
    else:  # a quadratic program
        problem.solve(solver=cp.OSQP, eps_abs=1e-9, eps_rel=1e-9, max_iter=100_000, polishing=True)
    return Answer(np.asarray(phi.value), np.asarray(bias.value), float(problem.value))


def _bias_prior(bias: cp.Variable, sensor: Data) -> tuple[list, cp.Expression]:
    """Constraints and whitened residual (6,) of the bias prior."""
    if np.all(sensor.bias_sd > 0.0):
        return [], cp.multiply(1.0 / sensor.bias_sd, bias - sensor.bias_mean)
    return [bias == sensor.bias_mean], cp.Constant(np.zeros(6))


def _solve(problem: cp.Problem) -> None:
    """Solve a conic problem by Clarabel, to more digits than is usual."""
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-9, tol_gap_rel=1e-9, tol_feas=1e-9)
