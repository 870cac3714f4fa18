# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Least squares over robots within limits, stated with cvxpy for Clarabel.

``min |rows phi - target|  s.t.  limits(phi)``, the norm not squared, so that its size does not
matter. In singular coordinates of the data, scaled by a reference robot, well-known directions are
in units of their standard deviation, and directions that the data leave open stay of size 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InvalidData
from ..extras import optional_packages
from ..inertia import Array
from .constraints import Limits
from .least_squares import Reference

with optional_packages("identifying a robot"):
    import cvxpy as cp

    from ..estimators import convex_program

# The problems are scaled already. Coordinates that the data leave open have no Hessian, and under
# the usual regularisation the steps along them stall before the end; the second set is careful.
_OPTIONS: tuple[dict[str, Any], ...] = (
    {"tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10, "max_threads": 1,
     "presolve_enable": False, "chordal_decomposition_enable": False,
     "equilibrate_enable": False, "static_regularization_constant": 1e-10},
    {"tol_gap_abs": 1e-9, "tol_gap_rel": 1e-9, "tol_feas": 1e-9, "max_threads": 1,
     "max_iter": 500})


class InfeasibleProblem(InvalidData):
    """No point satisfies the constraints."""


class SolverFailure(InvalidData):
    """The solver found no accurate answer."""


class AffineRobot:
    """Parameters ``offset + matrix x`` (p,) of a robot for a variable x, indexed as an array is:
    an expression of a few rows holds only these rows."""

    def __init__(self, offset: Array, matrix: Array, x: cp.Variable) -> None:
        self._offset, self._matrix, self._x = offset, matrix, x

    def __getitem__(self, where: Any, /) -> cp.Expression:
        return self._offset[where] + self._matrix[where] @ self._x


def nearest_robot(rows: Array, target: Array, limits: Limits, reference: Reference) -> Array:
    """Parameters (p,) of the robot nearest to the data; directions that neither data nor limits
    bind are arbitrary.

    Args:
        rows: (r, p), target (r,): whitened, so that a residual of 1 is one standard deviation.

    Raises:
        InfeasibleProblem: the limits contradict each other.
        SolverFailure: the solver found no accurate answer.
    """
    size, start = len(reference.phi), reference.inverse @ reference.phi
    scaled = rows @ reference.unit
    left, values, right = np.linalg.svd(scaled, full_matrices=True)
    known = values > np.finfo(float).eps * size * values.max(initial=0.0)
    sigma, wanted = values[known], left[:, :len(values)].T[known] @ (target - scaled @ start)
    across = reference.unit @ right.T
    free = reference.phi + across[:, :len(sigma)] @ (wanted / sigma)
    if within(limits, free):
        return free
    # A coordinate known to worse than the reference's size starts near the reference.
    near, step = sigma * wanted / (sigma**2 + 1.0), np.maximum(sigma, 1.0)
    across[:, :len(sigma)] /= step
    center = reference.phi + across[:, :len(sigma)] @ (step * near)
    x = cp.Variable(size)
    residual = cp.multiply(sigma / step, x[:len(sigma)]) + (sigma * near - wanted)
    solve(cp.Minimize(cp.norm(residual)), limits(AffineRobot(center, across, x)))
    return np.asarray(center + across @ np.asarray(x.value))


def within(limits: Limits, phi: Array) -> bool:
    """True if parameters (p,) are inside all limits; limits with variables of their own: False."""
    expressions = limits(cp.Constant(phi))
    return not any(each.variables() for each in expressions) and all(
        depth(np.asarray(each.value)) > 0.0 for each in expressions)


def depth(value: Array) -> float:
    """Smallest eigenvalue of a matrix, or entry of a vector: negative outside its cone."""
    return float(np.linalg.eigvalsh(value)[0] if value.ndim == 2 else value.min())


def solve(objective: cp.Minimize, expressions: list[cp.Expression]) -> list[cp.Constraint]:
    """Minimise with all expressions in their cones; returns the constraints, for their duals.

    Raises:
        InfeasibleProblem, SolverFailure: see `nearest_robot`.
    """
    constraints = [each >> 0 if each.ndim == 2 else each >= 0 for each in expressions]
    problem = cp.Problem(objective, constraints)
    for options in _OPTIONS:
        if convex_program.solve(problem, options):
            return constraints
        if problem.status in (cp.INFEASIBLE, cp.INFEASIBLE_INACCURATE):
            raise InfeasibleProblem("no robot satisfies all the constraints; are masses and boxes "
                                    "as large as the links?")
    raise SolverFailure(f"the conic solver found no accurate answer ({problem.status})")
