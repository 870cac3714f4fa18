# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Least squares over robots that can exist, as a conic program that Clarabel solves.

Parameters enter scaled by a reference robot of the right size: variables are of size 1, and every
matrix that must be positive semidefinite is seen from its value at the reference,
``L^-1 M L^-T`` with ``L L' = M(reference)``. The cone is the same, the numbers are not 1 and 1e-5.

``min |matrix phi - target|^2  s.t.  constraints``. In singular coordinates of the data, scaled by a
reference robot, well-known directions have a unit Hessian around their optimum, and directions
that the data leave open stay of size 1 (the same idea as in `estimators.lmi`, for many bodies and
incomplete data). The objective then holds the excess over the unconstrained optimum only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from ..errors import InvalidData
from ..estimators.semidefinite import smat, svec
from ..extras import optional_packages
from ..inertia import Array
from .constraints import Cone, Constraint, Kind, Reference, Stacked, stack_constraints

with optional_packages("identifying a robot"):
    import clarabel

_CONES = {Kind.LINEAR: clarabel.NonnegativeConeT,
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
        matrix: (rows, p) on u; offset: (rows,).
        unit: (p, p); maps: of the rows of each cone to scaled ones.
    """

    matrix: Array
    offset: Array
    unit: Array
    cones: tuple[Cone, ...]
    maps: tuple[Array, ...]


def scale_constraints(stacked: Stacked, unit: Array, reference: Array) -> Scaled:
    """The constraints in coordinates ``phi = unit u``, cones scaled by a reference robot (p,)."""
    at_reference = stacked.offset + stacked.matrix @ reference
    maps = [_row_scale(cone, at_reference[rows], stacked.matrix[rows] @ unit)
            for rows, cone in zip(stacked.slices, stacked.cones, strict=True)]
    blocks = list(zip(stacked.slices, maps, strict=True))
    matrix = np.concatenate([np.zeros((0, len(unit))),
                             *(m @ stacked.matrix[rows] @ unit for rows, m in blocks)])
    offset = np.concatenate([np.zeros(0), *(m @ stacked.offset[rows] for rows, m in blocks)])
    return Scaled(matrix, offset, unit, stacked.cones, tuple(maps))


def _row_scale(cone: Cone, at_reference: Array, rows: Array) -> Array:
    """Matrix that maps the rows of one cone to scaled rows in the same cone."""
    if cone.kind is Kind.LINEAR:
        size = np.maximum(np.abs(at_reference), np.linalg.norm(rows, axis=1))
        return np.diag(1.0 / np.where(size > 0.0, size, 1.0))
    middle = smat(at_reference)
    try:
        root = np.linalg.inv(np.linalg.cholesky(middle))
    except np.linalg.LinAlgError:  # the reference is outside, or the rows are not on phi
        size = max(float(np.linalg.norm(rows)), float(np.linalg.norm(at_reference)))
        root = np.eye(cone.side) / np.sqrt(size if size > 0.0 else 1.0)
    units = smat(np.eye(cone.rows))
    return svec(root @ units @ root.T).T


# Gap between point and lower bound, relative to the excess, at which the problem is scaled anew.
ACCEPTED_GAP = 1e-7
SMALLEST_GAP = 1e-10  # squared standard deviations: no data support that digit
SMALLEST_UNIT = 1e-4
_ATTEMPTS = 4
_SAME = 0.9  # ratio of units from which on the same problem would be solved again


@dataclass(frozen=True)
class RobotOptimum:
    """Parameters of least residual within the constraints.

    Attributes:
        phi: (p,); directions that neither data nor constraints bind are arbitrary.
        excess: sum of squares above the unconstrained optimum.
        gap: how far above the true optimum that may be, the solver's errors included.
        active: whether the constraints bind.
    """

    phi: Array
    excess: float
    gap: float
    active: bool


def constrained_least_squares(matrix: Array, target: Array, constraints: Sequence[Constraint],
                              ref: Reference) -> RobotOptimum:
    """The robot nearest to the data.

    Args:
        matrix: (r, p), target (r,): whitened, so that a residual of 1 is one standard deviation.

    Raises:
        InfeasibleProblem: the constraints contradict each other.
        SolverFailure: the solver found no accurate answer.
    """
    stacked = stack_constraints(constraints, len(ref.phi))
    singular = _SingularCoordinates(matrix, target, ref)
    free = ref.unit @ singular.free
    if stacked.margins(free).min(initial=np.inf) > 0.0:
        return RobotOptimum(free, 0.0, 0.0, False)
    return _solve_rescaled(singular, stacked, scale_constraints(stacked, ref.unit, ref.phi))


class _SingularCoordinates:
    """Data in singular coordinates: ``|sigma * (v - v_ref) - r|^2``, ``u = axes v``.

    Attributes:
        axes: (p, p) orthogonal; sigma: (p,) singular values, zeros at the end.
        step: (p,) scale of each coordinate; center: (p,) u around which the problem is stated.
        weights, linear: (p,) of the objective ``1/2 d' diag(weights) d + linear' d`` on steps d.
    """

    def __init__(self, matrix: Array, target: Array, ref: Reference) -> None:
        size = len(ref.phi)
        start = ref.inverse @ ref.phi
        scaled = matrix @ ref.unit
        left, values, right = np.linalg.svd(scaled, full_matrices=True)
        self.sigma = np.zeros(size)
        self.sigma[:len(values)] = values
        self.sigma[self.sigma < np.finfo(float).eps * size * self.sigma.max(initial=0.0)] = 0.0
        self.axes = right.T
        wanted = np.zeros(size)
        wanted[:len(values)] = (left[:, :len(values)].T @ (target - scaled @ start))
        wanted[self.sigma == 0.0] = 0.0
        known = np.divide(wanted, self.sigma, out=np.zeros(size), where=self.sigma > 0.0)
        self.free = start + self.axes @ known
        # A coordinate known to worse than the reference's size starts near the reference.
        near = self.sigma * wanted / (self.sigma**2 + 1.0)
        self.center = start + self.axes @ near
        self.step = np.maximum(self.sigma, 1.0)
        self.weights = (self.sigma / self.step)**2
        self.linear = self.sigma / self.step * (self.sigma * near - wanted)
        self.constant = float(np.sum((self.sigma * near - wanted)**2))

    def excess(self, d: Array) -> float:
        """Sum of squares above the unconstrained optimum at steps d (p,)."""
        return float(d @ (self.weights * d) + 2.0 * self.linear @ d) + self.constant


def _solve_rescaled(singular: _SingularCoordinates, stacked: Stacked,
                    scaled: Scaled) -> RobotOptimum:
    """The optimum, with steps scaled again until the gap is small beside the excess."""
    across = scaled.matrix @ singular.axes / singular.step
    offset = scaled.offset + scaled.matrix @ singular.center
    unit, failures = 1.0, 0
    best: RobotOptimum | None = None
    nearest = np.inf
    for _ in range(2 * _ATTEMPTS):
        # Known coordinates in units of the excess; those without Hessian stay as they are.
        units = 1.0 / np.sqrt(singular.weights / unit**2 + 1.0 - singular.weights)
        weights = singular.weights * (units / unit)**2
        linear = singular.linear * units / unit**2
        try:
            found = minimise(weights, linear, offset, across * units, scaled.cones)
        except SolverFailure:
            if best is not None:
                break
            # Perhaps the constraints are far from the data, in standard deviations.
            unit *= 100.0
            failures += 1
            if failures == _ATTEMPTS:
                raise
            continue
        d = units * found.x
        excess = singular.excess(d)
        gap = excess - singular.constant - 2.0 * unit**2 * found.lower_bound
        if abs(gap) < nearest:
            u = singular.center + singular.axes @ (d / singular.step)
            nearest = abs(gap)
            best = RobotOptimum(scaled.unit @ u, excess,
                                nearest + 2.0 * unit**2 * found.slack, True)
        before, unit = unit, max(float(np.sqrt(max(excess, 0.0))), SMALLEST_UNIT)
        if (abs(gap) <= max(ACCEPTED_GAP * excess, SMALLEST_GAP)
                or _SAME < unit / before < 1.0 / _SAME):
            break
    assert best is not None
    return best
