# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Least squares over robots within limits and over mass points, stated with cvxpy for Clarabel.

``min |rows phi - target|  s.t.  limits(phi)``, the norm not squared, so that its size does not
matter. In singular coordinates of the data, scaled by a reference robot, well-known directions are
in units of their standard deviation, and directions that the data leave open stay of size 1.

Mass points in the boxes of links (Ayusawa and Nakamura 2010, eq. 29): ``min |F P rho - t|^2
+ |N (P rho - phi_ref)|^2 + lambda |rho - rho_ref|^2, rho >= 0``. The prior acts only on the null
space of the data (Z^num, Section IV-C), in units of the standard deviations that the boxes allow;
its weight is the inverse of these variances (the text of eq. 28 names the variances themselves).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import block_diag

from ..errors import InvalidData
from ..extras import optional_packages
from ..inertia import Array, point_columns, pseudo_inertia, transform_matrix
from ..model.problem import triangle
from .constraints import MARGIN, Limits
from .least_squares import Reference
from .model import BODY_SIZE, body_slices

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
POINTS_PER_EDGE = 3
MASS_ERROR = 0.5  # of the expected mass of a link, relative
STABILITY = 1e-3  # lambda, for point masses in units of their mean


class InfeasibleProblem(InvalidData):
    """No robot satisfies the constraints."""


@dataclass(frozen=True)
class AffineRobot:
    """Parameters ``offset + matrix x`` (p,) of a robot for a variable x, indexed as an array is:
    an expression of a few rows holds only these rows."""

    offset: Array
    matrix: Array
    x: cp.Variable

    def __getitem__(self, where: Any, /) -> cp.Expression:
        return self.offset[where] + self.matrix[where] @ self.x


def nearest_robot(rows: Array, target: Array, limits: Limits, reference: Reference) -> Array:
    """Parameters (p,) of the robot nearest to the data; directions that neither data nor limits
    bind are arbitrary.

    Args:
        rows: (r, p), target (r,): whitened, so that a residual of 1 is one standard deviation.

    Raises:
        InfeasibleProblem: the limits contradict each other.
        InvalidData: the solver found no accurate answer.
    """
    size = len(reference.phi)
    scaled = rows @ reference.unit
    left, values, right = np.linalg.svd(scaled, full_matrices=True)
    known = values > np.finfo(float).eps * size * values.max(initial=0.0)
    sigma, wanted = values[known], left[:, :len(values)].T[known] @ (
        target - rows @ reference.phi)
    across = reference.unit @ right.T
    free = reference.phi + across[:, :len(sigma)] @ (wanted / sigma)
    expressions = limits(cp.Constant(free))
    if not any(each.variables() for each in expressions) and all(
            depth(np.asarray(each.value)) > 0.0 for each in expressions):
        return free
    # A coordinate known to worse than the reference's size starts near the reference.
    near, step = sigma * wanted / (sigma**2 + 1.0), np.maximum(sigma, 1.0)
    across[:, :len(sigma)] /= step
    center = reference.phi + across[:, :len(sigma)] @ (step * near)
    x = cp.Variable(size)
    residual = cp.multiply(sigma / step, x[:len(sigma)]) + (sigma * near - wanted)
    solve(cp.Minimize(cp.norm(residual)), limits(AffineRobot(center, across, x)))
    return np.asarray(center + across @ np.asarray(x.value))


def depth(value: Array) -> float:
    """Smallest eigenvalue of a matrix, or entry of a vector: negative outside its cone."""
    return float(np.linalg.eigvalsh(value)[0] if value.ndim == 2 else value.min())


def solve(objective: cp.Minimize, expressions: list[cp.Expression]) -> list[cp.Constraint]:
    """Minimise with all expressions in their cones; returns the constraints, for their duals.
    Errors as of `nearest_robot`."""
    constraints = [each >> 0 if each.ndim == 2 else each >= 0 for each in expressions]
    problem = cp.Problem(objective, constraints)
    for options in _OPTIONS:
        if convex_program.solve(problem, options):
            return constraints
        if problem.status in (cp.INFEASIBLE, cp.INFEASIBLE_INACCURATE):
            raise InfeasibleProblem("no robot satisfies all the constraints; are masses and boxes "
                                    "as large as the links?")
    raise InvalidData(f"the conic solver found no accurate answer ({problem.status})")


class Box(NamedTuple):
    """A link's bounding box along the axes of its frame, by two corners (3,) [m]."""

    lower: Array
    upper: Array

    def points(self) -> Array:
        """Equally spaced points (27, 3) from face to face [m]."""
        axes = np.linspace(self.lower, self.upper, POINTS_PER_EDGE).T
        return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)

    def prior(self, phi: Array) -> Array:
        """Columns (10, 10): standard deviations of a body expected to be phi (10,) (eqs 17-22),
        along the parameters about the middle of the box, in the link's frame (eq. 27)."""
        half = x, y, z = 0.5 * (self.upper - self.lower)
        to_link = transform_matrix(np.eye(3), 0.5 * (self.lower + self.upper))
        most = (1.0 + MASS_ERROR) * phi[0]
        moments = np.array([y * y + z * z, 0, 0, x * x + z * z, 0, x * x + y * y])
        products = np.array([0, x * y, x * z, 0, y * z, 0])
        high = most * np.concatenate([[1.0], half, moments + products])
        low = -most * np.concatenate([[0.0], half, products])
        low[0] = (1.0 - MASS_ERROR) * phi[0]
        expected = np.linalg.solve(to_link, phi)
        return np.asarray(to_link * np.maximum(high - expected, expected - low))


def uniform_box(phi: Array) -> Box:
    """The box about a body (10,), along its frame, that is twice as large as one of uniform density
    with its second moments."""
    pseudo = pseudo_inertia(phi) / phi[0]
    com = pseudo[:3, 3]
    half = 2.0 * np.sqrt(3.0 * (np.diag(pseudo)[:3] - com**2))
    return Box(com - half, com + half)


def box_reference(boxes: Sequence[Box], reference: Reference) -> Reference:
    """A reference robot with the standard deviations that the boxes of its bodies allow."""
    first = BODY_SIZE * len(boxes)
    units = [box.prior(reference.phi[where])
             for box, where in zip(boxes, body_slices(len(boxes)), strict=True)]
    return Reference(reference.phi, block_diag(*units, reference.unit[first:, first:]))


def null_space_prior(rows: Array, scale: Reference) -> tuple[Array, Array]:
    """Rows (r, p) and target (r,) of a prior on what whitened data rows know to less than a
    standard deviation of the expected robot `scale` (eqs 24-25)."""
    values, right = np.linalg.svd(rows @ scale.unit, full_matrices=True)[1:]
    prior = right[np.count_nonzero(values > 1.0):] @ scale.inverse
    return prior, prior @ scale.phi


def fit_mass_points(rows: Array, target: Array, limits: Limits, boxes: Sequence[Box],
                    scale: Reference) -> Array:
    """Parameters (p,) of the robot of mass points in the boxes of the bodies that fits best (eq.
    29); rows, target, limits: as of `nearest_robot`; scale: expected robot, see `box_reference`."""
    each, first = POINTS_PER_EDGE**3, BODY_SIZE * len(boxes)
    count, bodies = each * len(boxes), scale.phi[:first].reshape(-1, BODY_SIZE)
    columns = [point_columns(box.points()) * (body[0] / each)
               for box, body in zip(boxes, bodies, strict=True)]
    compose = block_diag(*columns, scale.unit[first:, first:])  # P, and joint terms as they are
    expected = np.concatenate([np.linalg.pinv(own) @ body  # eq. 23
                               for own, body in zip(columns, bodies, strict=True)])
    prior, wanted = null_space_prior(rows, scale)
    weak = np.sqrt(STABILITY) * np.eye(compose.shape[1])[:count]
    upper = triangle(np.column_stack([
        np.concatenate([rows @ compose, prior @ compose, weak]),
        np.concatenate([target, wanted, np.sqrt(STABILITY) * expected])]))
    x = cp.Variable(compose.shape[1])
    # Every point holds a little: a body in a plane would not exist.
    share = np.kron(np.eye(len(boxes)), np.full((each, each), MARGIN / each))
    solve(cp.Minimize(cp.sum_squares(upper[:-1, :-1] @ x - upper[:-1, -1])),
          [x[:count] - share @ x[:count], *limits(AffineRobot(np.zeros(len(compose)), compose, x))])
    return np.asarray(compose @ np.asarray(x.value))
