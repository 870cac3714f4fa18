# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Convex programs stated with cvxpy, and solved again and again with other parameters.

cvxpy keeps the canonical form of a statement whose parameters appear linearly (its rules of
disciplined parametrised programming), so that a solve costs little more than the solver
itself. Every solve starts afresh: the answer depends on the parameters alone.
"""

import warnings
from collections.abc import Mapping
from typing import Any

import clarabel  # noqa: F401  cvxpy imports it only to solve, and then says less clearly why not
import cvxpy as cp

from .reference_body import NEGLIGIBLE

# OSQP polishes: it solves exactly for the constraints that it found active.
_OPTIONS: dict[str, dict[str, Any]] = {
    cp.CLARABEL: {"max_threads": 1, **dict.fromkeys(
        ("tol_gap_abs", "tol_gap_rel", "tol_feas"), NEGLIGIBLE)},
    cp.OSQP: {"polishing": True}}


def solve(problem: cp.Problem, options: Mapping[str, Any] | None = None,
          solver: str = cp.CLARABEL) -> bool:
    """Solve the problem; False where the solver does not find the optimum."""
    try:
        with warnings.catch_warnings():  # the status says it
            warnings.filterwarnings("ignore", message="Solution may be inaccurate")
            problem.solve(solver=solver, warm_start=False, **(options or _OPTIONS[solver]))
    except cp.error.SolverError:
        return False
    # A panic of the compiled solver has no type to import. What it writes to standard error stays
    # there: to point the file descriptor elsewhere would swallow what other threads write.
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        return False
    return problem.status == cp.OPTIMAL or (
        solver == cp.CLARABEL and problem.status == cp.OPTIMAL_INACCURATE)
