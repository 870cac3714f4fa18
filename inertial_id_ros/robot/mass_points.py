# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Robots of mass points in the boxes of their links (Ayusawa and Nakamura 2010).

``min |F P rho - t|^2 + |N (P rho - phi_ref)|^2 + lambda |rho - rho_ref|^2, rho >= 0`` (eq. 29):
points hold the bodies in their boxes, and the prior acts only on what the data do not know, the
null space of the composition matrix. That is taken from the data (Z^num, Section IV-C), in units of
the standard deviations that the boxes allow, so that kilograms and kg m^2 are not mixed. The weight
of the prior is the inverse of these variances (the text of eq. 28 names the variances themselves).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..extras import optional_packages
from ..inertia import Array, point_columns, pseudo_inertia, transform_matrix
from .constraints import MARGIN, Limits
from .least_squares import Reference
from .model import BODY_SIZE
from .nearest_robot import AffineRobot, solve

with optional_packages("identifying a robot"):
    import cvxpy as cp

POINTS_PER_EDGE = 3
MASS_ERROR = 0.5  # of the expected mass of a link, relative
STABILITY = 1e-3  # lambda, for point masses in units of their mean
_KNOWN = 1.0  # standard deviation, in units of the prior's, up to which the data know a direction


@dataclass(frozen=True)
class Box:
    """A link's bounding box along the axes of its frame.

    Attributes:
        lower, upper: corners (3,) [m], the first below the second.
    """

    lower: Array
    upper: Array

    def points(self) -> Array:
        """Equally spaced points (27, 3) from face to face [m]."""
        axes = np.linspace(self.lower, self.upper, POINTS_PER_EDGE).T
        return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)

    def prior(self, phi: Array) -> Array:
        """Columns (10, 10): standard deviations of a body expected to be phi (10,) (eqs 17-22),
        along the parameters about the middle of the box, brought to the link's frame (eq. 27)."""
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
    unit, inverse = reference.unit.copy(), reference.inverse.copy()
    for k, box in enumerate(boxes):
        where = slice(BODY_SIZE * k, BODY_SIZE * (k + 1))
        unit[where, where] = box.prior(reference.phi[where])
        inverse[where, where] = np.linalg.inv(unit[where, where])
    return Reference(reference.phi, unit, inverse)


def null_space_prior(rows: Array, scale: Reference) -> tuple[Array, Array]:
    """Rows (r, p) and target (r,) of a prior on what whitened data rows do not know (eqs 24-25).

    Args:
        scale: expected robot and its standard deviations.
    """
    values, right = np.linalg.svd(rows @ scale.unit, full_matrices=True)[1:]
    known = np.zeros(len(right), dtype=bool)
    known[:len(values)] = values * _KNOWN > 1.0
    prior = right[~known] @ scale.inverse
    return prior, prior @ scale.phi


def fit_mass_points(rows: Array, target: Array, limits: Limits, boxes: Sequence[Box],
                    scale: Reference) -> Array:
    """Parameters (p,) of the robot of mass points that fits best (eq. 29).

    Args:
        rows: (r, p), target (r,): whitened, so that a residual of 1 is one standard deviation.
        limits: beside those of the points, such as `consistent_robot`.
        boxes: of the bodies; scale: expected robot, see `box_reference`.

    Raises:
        InfeasibleProblem, SolverFailure: see `nearest_robot`.
    """
    count, size = len(boxes), len(scale.phi)
    columns = [point_columns(box.points()) for box in boxes]
    each, first = int(columns[0].shape[1]), BODY_SIZE * count
    compose = np.zeros((size, each * count + size - first))  # P, and joint terms as they are
    compose[first:, each * count:] = scale.unit[first:, first:]
    expected = np.zeros(compose.shape[1])
    for k, own in enumerate(columns):
        where, points = slice(BODY_SIZE * k, BODY_SIZE * (k + 1)), slice(each * k, each * (k + 1))
        compose[where, points] = own * (scale.phi[where][0] / each)
        expected[points] = np.linalg.pinv(compose[where, points]) @ scale.phi[where]  # eq. 23
    prior, wanted = null_space_prior(rows, scale)
    stacked = np.concatenate([np.concatenate([rows, prior]) @ compose,
                              np.sqrt(STABILITY) * np.eye(compose.shape[1])[:each * count]])
    goal = np.concatenate([target, wanted, np.sqrt(STABILITY) * expected[:each * count]])
    upper = np.asarray(np.linalg.qr(np.column_stack([stacked, goal]), mode="r"))
    x = cp.Variable(compose.shape[1])
    # Every point holds a little: a body in a plane would not exist.
    share = np.kron(np.eye(count), np.full((each, each), MARGIN / each))
    solve(cp.Minimize(cp.sum_squares(upper[:-1, :-1] @ x - upper[:-1, -1])),
          [x[:each * count] - share @ x[:each * count],
           *limits(AffineRobot(np.zeros(size), compose, x))])
    return np.asarray(compose @ np.asarray(x.value))
