# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Least squares over cones, by Clarabel called directly.

Parameters enter scaled by a reference robot of the right size: variables are of size 1, and every
matrix that must be positive semidefinite is seen from its value at the reference,
``L^-1 M L^-T`` with ``L L' = M(reference)``. The cone is the same, the numbers are not 1 and 1e-5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from ...errors import InvalidData
from ...estimators.solvers.triangle_vector import smat, svec
from ...extras import optional_packages
from ...inertia import Array
from .constraints import Cone, Kind, Stacked

with optional_packages("identifying a robot"):
    import clarabel

_CONES = {Kind.ZERO: clarabel.ZeroConeT, Kind.LINEAR: clarabel.NonnegativeConeT,
          Kind.SECOND_ORDER: clarabel.SecondOrderConeT,
          Kind.SEMIDEFINITE: clarabel.PSDTriangleConeT}
# The objective is the excess over the unconstrained optimum: far below what any digit of the data
# supports.
_TOLERANCE = 1e-9
_LARGE = 1000  # rows and columns of a problem from which factorisation by blocks pays
_ZERO = 1e-14  # entries of a matrix this much smaller than its largest are not stored


@dataclass(frozen=True)
class ConicSolution:
    """What the solver found.

    Attributes:
        x: (n,) optimum; z: (rows,) multipliers of the cones.
        lower_bound: dual objective, which bounds the optimum from below, but for `slack`.
        slack: by how much it may be too high, as the slope of the Lagrangian is not quite zero:
            for optima within ``2 + 2 |x|`` of x, each coordinate.
    """

    x: Array
    z: Array
    lower_bound: float
    slack: float


class InfeasibleProblem(InvalidData):
    """No point satisfies the constraints; `certificate` (rows,) proves it."""

    def __init__(self, certificate: Array) -> None:
        super().__init__("no parameters satisfy all the constraints")
        self.certificate = certificate


class SolverFailure(InvalidData):
    """The solver found no accurate answer."""


def minimise(weights: Array, linear: Array, offset: Array, matrix: Array,
             cones: Sequence[Cone]) -> ConicSolution:
    """``min 1/2 x' diag(weights) x + linear' x  s.t.  offset + matrix x in K``.

    Args:
        weights, linear: (n,); offset (m,), matrix (m, n): rows of the cones, one after another.

    Raises:
        InfeasibleProblem: the constraints contradict each other.
        SolverFailure: the solver found no accurate answer.
    """
    for careful in (False, True):
        solution = _solve(weights, linear, offset, matrix, cones, careful)
        status = "breakdown" if solution is None else str(solution.status)
        if solution is not None and status in ("Solved", "AlmostSolved"):
            x, z = np.asarray(solution.x), np.asarray(solution.z)
            slope = weights * x + linear - matrix.T @ z
            return ConicSolution(x, z, float(solution.obj_val_dual),
                                 2.0 * float(np.abs(slope) @ (1.0 + np.abs(x))))
        if solution is not None and status in ("PrimalInfeasible", "AlmostPrimalInfeasible"):
            raise InfeasibleProblem(np.asarray(solution.z))
    raise SolverFailure(f"the conic solver found no accurate answer ({status})")


def _solve(weights: Array, linear: Array, offset: Array, matrix: Array, cones: Sequence[Cone],
           careful: bool) -> clarabel.DefaultSolution | None:
    """One run of Clarabel; None where it breaks down. Careful: with its safeguards."""
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = _TOLERANCE
    settings.presolve_enable = settings.chordal_decomposition_enable = False
    if sum(matrix.shape) < _LARGE:  # else by blocks, as Clarabel chooses
        settings.direct_solve_method = "qdldl"
    if careful:
        settings.max_iter = 500
    else:
        # The problem is scaled already. Coordinates that the data leave open have no Hessian, and
        # under the usual regularisation the steps along them stall before the end.
        settings.equilibrate_enable = False
        settings.static_regularization_constant = 1e-10
    small = np.abs(matrix) < _ZERO * np.abs(matrix).max(initial=0.0)
    entries = sparse.csc_matrix(np.where(small, 0.0, -matrix))
    try:
        return clarabel.DefaultSolver(
            sparse.csc_matrix(np.diag(weights)), linear, entries, offset,
            [_CONES[cone.kind](cone.side) for cone in cones], settings).solve()
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # whose type cannot be imported
            raise
        return None


@dataclass(frozen=True)
class Scaled:
    """Constraints in scaled coordinates ``phi = unit u``.

    Attributes:
        matrix: (rows, p) on u; auxiliary: (rows, a) on scaled variables of the constraints.
        offset: (rows,).
        interior: (rows,) a point inside every cone: 1 at the reference.
        unit: (p, p); own_unit: (a,).
        back: maps multipliers of the scaled rows to those of the rows as given.
    """

    matrix: Array
    auxiliary: Array
    offset: Array
    interior: Array
    unit: Array
    own_unit: Array
    cones: tuple[Cone, ...]
    _to_scaled: tuple[Array, ...]

    def multipliers(self, z: Array) -> Array:
        """Multipliers (rows,) of the constraints as given, from those of the scaled ones."""
        out, row = np.empty_like(z), 0
        for scale in self._to_scaled:
            part = slice(row, row + len(scale))
            out[part] = scale.T @ z[part]
            row += len(scale)
        return out


def scale_constraints(stacked: Stacked, unit: Array, reference: Array) -> Scaled:
    """The constraints in coordinates ``phi = unit u``, cones scaled by a reference robot (p,)."""
    at_reference = stacked.offset + stacked.matrix @ reference
    # Auxiliary variables are bodies too: of the size of the reference.
    own_unit = np.ones(stacked.auxiliary.shape[1])
    maps = []
    for rows, cone in zip(stacked.slices, stacked.cones, strict=True):
        scaled_rows = np.hstack([stacked.matrix[rows] @ unit, stacked.auxiliary[rows]])
        maps.append(_row_scale(cone, at_reference[rows], scaled_rows))
    blocks = list(zip(stacked.slices, maps, strict=True))
    matrix = np.concatenate([np.zeros((0, len(unit))),
                             *(m @ stacked.matrix[rows] @ unit for rows, m in blocks)])
    auxiliary = np.concatenate([np.zeros((0, len(own_unit))),
                                *(m @ stacked.auxiliary[rows] for rows, m in blocks)])
    if auxiliary.shape[1]:
        own_unit = 1.0 / np.linalg.norm(auxiliary, axis=0)
    offset = np.concatenate([np.zeros(0), *(m @ stacked.offset[rows] for rows, m in blocks)])
    interior = np.concatenate([np.zeros(0), *(_interior_point(cone) for cone in stacked.cones)])
    return Scaled(matrix, auxiliary * own_unit, offset, interior, unit, own_unit, stacked.cones,
                  tuple(maps))


def _interior_point(cone: Cone) -> Array:
    """A point well inside a cone (rows,)."""
    if cone.kind is Kind.ZERO:
        return np.zeros(cone.side)
    if cone.kind is Kind.LINEAR:
        return np.ones(cone.side)
    if cone.kind is Kind.SECOND_ORDER:
        return np.eye(cone.side)[0]
    return svec(np.eye(cone.side))


def _row_scale(cone: Cone, at_reference: Array, rows: Array) -> Array:
    """Matrix that maps the rows of one cone to scaled rows in the same cone."""
    if cone.kind in (Kind.ZERO, Kind.LINEAR):
        size = np.maximum(np.abs(at_reference), np.linalg.norm(rows, axis=1))
        return np.diag(1.0 / np.where(size > 0.0, size, 1.0))
    if cone.kind is Kind.SECOND_ORDER:
        size = max(abs(float(at_reference[0])), float(np.linalg.norm(rows)))
        return np.eye(cone.side) / size
    middle = smat(at_reference)
    try:
        root = np.linalg.inv(np.linalg.cholesky(middle))
    except np.linalg.LinAlgError:  # the reference is outside, or the rows are not on phi
        size = max(float(np.linalg.norm(rows)), float(np.linalg.norm(at_reference)))
        root = np.eye(cone.side) / np.sqrt(size if size > 0.0 else 1.0)
    units = smat(np.eye(cone.rows))
    return svec(root @ units @ root.T).T
