"""The squared form of the point-mass problem as a quadratic program, by OSQP called directly.

``min |z|^2 + mu |m|^2  s.t.  z = G m - t,  m >= 0``. OSQP is set up once for a number of points;
a new window replaces the data and starts from the last solution. Its first-order steps find the
masses that matter; the last digits come from the exact active-set step of `nonnegative`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...inertia import PARAMETERS, Array
from .nonnegative import nonnegative_least_squares

TOLERANCE = 1e-5
MAX_ITERATIONS = 2000

if TYPE_CHECKING:
    import osqp


class PointMassProgram:
    """The program for `count` point masses, kept between solves."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._solver: osqp.OSQP | None = None

    def solve(self, columns: Array, target: Array, mu: float) -> Array:
        """Masses (count,) for columns (10, count) and target (10,), mu > 0."""
        # Rows of unit size make OSQP's tolerances mean the same for every window.
        unit = float(np.linalg.norm(columns, 2))
        rough = self._rough(columns / unit, target / unit, mu / unit**2)
        start = target - columns @ np.maximum(rough, 0.0)
        return nonnegative_least_squares(columns, target, mu, start)[0]

    def _rough(self, columns: Array, target: Array, mu: float) -> Array:
        n = self._count
        hessian = np.r_[np.full(n, mu), np.ones(PARAMETERS)]
        lower = np.r_[target, np.zeros(n)]
        upper = np.r_[target, np.full(n, np.inf)]
        values = self._constraint_values(columns)
        if self._solver is None:
            import osqp  # loads slowly; other estimators do without
            from scipy import sparse

            self._solver = osqp.OSQP()
            self._solver.setup(sparse.diags(hessian, format="csc"), np.zeros(n + PARAMETERS),
                               sparse.csc_matrix((values, *self._pattern()),
                                                 shape=(n + PARAMETERS, n + PARAMETERS)),
                               lower, upper, verbose=False, eps_abs=TOLERANCE, eps_rel=TOLERANCE,
                               max_iter=MAX_ITERATIONS, warm_starting=True,
                               adaptive_rho_interval=50)  # by count, not by clock: repeatable
        else:
            self._solver.update(Px=hessian, Ax=values, l=lower, u=upper)
        found = np.asarray(self._solver.solve(raise_error=False).x)[:n]
        return found if np.isfinite(found).all() else np.zeros(n)

    def _constraint_values(self, columns: Array) -> Array:
        """Stored entries, column by column: for a mass its column of G and a 1, for z a -1."""
        masses = np.concatenate([columns, np.ones((1, self._count))]).T.ravel()
        return np.concatenate([masses, -np.ones(PARAMETERS)])

    def _pattern(self) -> tuple[Array, Array]:
        """Row indices and column starts of those entries."""
        n, k = self._count, PARAMETERS
        rows = np.concatenate([np.r_[np.arange(k), k + j] for j in range(n)] + [np.arange(k)])
        starts = np.r_[np.arange(n) * (k + 1), n * (k + 1) + np.arange(k + 1)]
        return rows, starts
