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

# As exact as rounding allows, and what is accepted where it does not allow that; OSQP polishes,
# that is, solves exactly for the constraints that it found active, and gives up after a while.
GAP, FEASIBLE, ACCEPTED = 1e-12, 1e-9, 1e-6
_OPTIONS = {
    cp.CLARABEL: {"max_threads": 1, "tol_gap_abs": GAP, "tol_gap_rel": GAP, "tol_feas": FEASIBLE,
                  "reduced_tol_gap_abs": ACCEPTED, "reduced_tol_gap_rel": ACCEPTED},
    cp.OSQP: {"eps_abs": ACCEPTED, "eps_rel": ACCEPTED, "polishing": True}}


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
