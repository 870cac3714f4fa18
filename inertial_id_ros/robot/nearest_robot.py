# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Least squares over robots within limits, stated with cvxpy for Clarabel.

``min |rows phi - target|^2  s.t.  limits(phi)``. In singular coordinates of the data, scaled by a
reference robot, well-known directions have a unit Hessian around their optimum, and directions
that the data leave open stay of size 1. The objective is the excess over the unconstrained optimum,
in units of itself: where it is far from 1, the problem is stated again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ..errors import InvalidData
from ..extras import optional_packages
from ..inertia import Array
from .constraints import Limits
from .reference import Reference

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
_ATTEMPTS = 4
_SAME = 30.0  # factor of the excess up to which its unit was right


class InfeasibleProblem(InvalidData):
    """No point satisfies the constraints."""

    def __init__(self, text: str = "no parameters satisfy all the constraints") -> None:
        super().__init__(text)


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
    sigma, wanted = np.zeros(size), np.zeros(size)
    sigma[:len(values)] = values
    sigma[sigma < np.finfo(float).eps * size * sigma.max(initial=0.0)] = 0.0
    wanted[:len(values)] = left[:, :len(values)].T @ (target - scaled @ start)
    wanted[sigma == 0.0] = 0.0
    known = np.divide(wanted, sigma, out=np.zeros(size), where=sigma > 0.0)
    free = reference.unit @ (start + right.T @ known)
    if within(limits, free):
        return free
    # A coordinate known to worse than the reference's size starts near the reference.
    near, step = sigma * wanted / (sigma**2 + 1.0), np.maximum(sigma, 1.0)
    weight, rest = sigma / step, sigma * near - wanted
    center = reference.unit @ (start + right.T @ near)
    across = reference.unit @ right.T / step
    unit, phi = 1.0, None
    for attempt in range(2 * _ATTEMPTS):
        # Known coordinates in units of the excess; those without Hessian stay as they are.
        scale = 1.0 / np.sqrt((weight / unit)**2 + 1.0 - weight**2)
        x = cp.Variable(size)
        hessian = sparse.diags_array((weight * scale / unit)**2, format="csc")
        slope = weight * scale * rest / unit**2
        try:
            solve(cp.Minimize(cp.quad_form(x, hessian, assume_PSD=True) + 2.0 * slope @ x),
                  limits(AffineRobot(center, across * scale, x)))
        except (InfeasibleProblem, SolverFailure):
            if phi is not None:
                break
            if attempt + 1 == _ATTEMPTS:  # do the limits alone contradict each other?
                alone = AffineRobot(np.zeros(size), reference.unit, cp.Variable(size))
                solve(cp.Minimize(0.0), limits(alone))
                raise
            unit *= 100.0  # perhaps the limits are far from the data, in standard deviations
            continue
        steps = scale * np.asarray(x.value)
        excess = float(np.sum((weight * steps + rest)**2))
        phi = center + across @ steps
        before, unit = unit, max(float(np.sqrt(excess)), 1e-4)
        if 1.0 / _SAME < (unit / before)**2 < _SAME:
            break
    assert phi is not None
    return np.asarray(phi)


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
            raise InfeasibleProblem
    raise SolverFailure(f"the conic solver found no accurate answer ({problem.status})")
