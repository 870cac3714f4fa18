# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Least distance to a cone with one positive semidefinite block, by Clarabel called directly."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...extras import optional_packages
from ...inertia import Array
from .triangle_vector import SIDE, SVEC_SIZE

if TYPE_CHECKING:
    import clarabel

# The objective is the excess over the unconstrained optimum, not the whole sum of squares, so this
# is far below what any digit of the data supports.
TOLERANCE = 1e-9


class Nearest(NamedTuple):
    """The nearest point z (10,) and a lower bound of ``|z|^2`` from the dual."""

    z: Array
    lower_bound: float


class LeastDistance:
    """Solves ``min |z|^2`` s.t. ``offset + matrix @ z`` in K, again and again with new data.

    K: the first ``linear`` rows nonnegative, the next ten the triangle vector of a matrix >= 0.
    The solver is built once and its data are replaced, which halves the time of a solve. The unit
    Hessian needs no equilibration, which would stay that of the first problem.

    Args:
        linear: number of linear rows.
    """

    def __init__(self, linear: int) -> None:
        self._rows = linear + SVEC_SIZE
        with optional_packages("the estimator 'lmi'"):  # it loads slowly; others do without
            import clarabel

        cones = [clarabel.NonnegativeConeT(linear)] if linear else []
        self._cones = [*cones, clarabel.PSDTriangleConeT(SIDE)]
        self._solver: clarabel.DefaultSolver | None = None

    def solve(self, offset: Array, matrix: Array) -> Nearest | None:
        """The nearest point for offset (rows,), matrix (rows, 10); None if the solver gave up."""
        found = self._run(offset, matrix)
        if found is None:
            return None
        z = np.asarray(found.x)
        if not np.isfinite(z).all() or not np.isfinite(found.obj_val_dual):
            return None
        return Nearest(z, max(0.0, 2.0 * found.obj_val_dual))

    def _run(self, offset: Array, matrix: Array) -> clarabel.DefaultSolution | None:
        """What the solver finds; a breakdown gets a second try with all its safeguards."""
        for careful in (False, True):
            try:
                if careful:
                    return self._build(offset, matrix, _settings(careful)).solve()
                if self._solver is None:
                    self._solver = self._build(offset, matrix, _settings(careful))
                else:
                    self._solver.update(A=np.ascontiguousarray(-matrix.T).ravel(), b=offset)
                return self._solver.solve()
            # A panic of the compiled solver has no type to import. What it writes to standard error
            # stays there: it bypasses Python, and to point the file descriptor elsewhere for a
            # moment would swallow what other threads write.
            except BaseException as error:
                if type(error).__name__ != "PanicException":
                    raise
                self._solver = None
        return None

    def _build(self, offset: Array, matrix: Array,
               settings: clarabel.DefaultSettings) -> clarabel.DefaultSolver:
        """A new Clarabel solver for these data."""
        import clarabel
        from scipy import sparse

        rows, n = self._rows, SVEC_SIZE
        # All entries are stored, zeros too: the pattern must fit every later problem.
        dense = sparse.csc_matrix((np.ascontiguousarray(-matrix.T).ravel(),
                                   np.tile(np.arange(rows), n), np.arange(n + 1) * rows),
                                  shape=(rows, n))
        return clarabel.DefaultSolver(sparse.csc_matrix(np.eye(n)), np.zeros(n), dense, offset,
                                      self._cones, settings)


def _settings(careful: bool) -> clarabel.DefaultSettings:
    """Fast settings of Clarabel for a problem that is scaled well; careful: with its safeguards."""
    import clarabel

    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = TOLERANCE
    settings.equilibrate_enable = careful
    # With a unit Hessian a step is accurate as it is; refining each costs a sixth of the time.
    settings.iterative_refinement_enable = careful
    # Data updates need the problem as it was given.
    settings.presolve_enable = settings.chordal_decomposition_enable = False
    return settings
