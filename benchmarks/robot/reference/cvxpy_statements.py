# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Robot identification stated with cvxpy on all rows: readable, slow, what the solvers reach."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import cvxpy as cp
import numpy as np

from inertial_id_ros.inertia import Array
from inertial_id_ros.robot.constraints import Constraint, Kind, Reference


def cone_constraints(constraints: Sequence[Constraint], phi: cp.Expression) -> list[cp.Constraint]:
    """The constraints on an expression phi (p,)."""
    out: list[cp.Constraint] = []
    for constraint in constraints:
        value = constraint.offset + constraint.matrix @ phi
        row = 0
        for cone in constraint.cones:
            part = value[row:row + cone.rows]
            row += cone.rows
            out.append(part >= 0 if cone.kind is Kind.LINEAR else _matrix(part, cone.side) >> 0)
    return out


def least_squares(rows: Array, target: Array, constraints: Sequence[Constraint],
                  ref: Reference) -> tuple[Array, float]:
    """Minimiser phi (p,) and minimum of ``|rows phi - target|^2`` within the constraints.

    Args:
        rows: (n, p), target: (n,): all samples, and the prior if any.
    """
    u = cp.Variable(len(ref.phi))  # scaled: in SI units solvers stop early
    problem = cp.Problem(cp.Minimize(cp.sum_squares((rows @ ref.unit) @ u - target)),
                         cone_constraints(constraints, ref.unit @ u))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it calls a solution inaccurate that is good to 1e-7
        problem.solve(solver="CLARABEL")
    phi = ref.unit @ np.asarray(u.value)
    return phi, float(np.sum((rows @ phi - target)**2))


def _matrix(vector: cp.Expression, side: int) -> cp.Expression:
    """Symmetric matrix of a triangle vector."""
    cols, rows = np.tril_indices(side)
    spread = np.zeros((side * side, len(rows)))
    for k, (i, j) in enumerate(zip(rows, cols, strict=True)):
        spread[[i * side + j, j * side + i], k] = 1.0 if i == j else np.sqrt(0.5)
    return cp.reshape(spread @ vector, (side, side), order="C")
