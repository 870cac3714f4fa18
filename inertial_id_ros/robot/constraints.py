# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Convex limits of the parameters of a body, as cvxpy expressions that must not be negative.

Every function takes the ten parameters of a body as a cvxpy expression (10,) and returns affine
expressions: a square matrix must be positive semidefinite, a vector not negative. The equations are
those of Sousa and Cortesao 2014 ("004") and of Wensing, Kim, Slotine 2017 ("003").

The spatial form alone leaves the triangle inequalities of the principal moments open, and its
optimum may lie at infinitely heavy bodies, as null-space values are free.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InvalidData
from ..estimators.reference_body import body_coordinates
from ..extras import optional_packages
from ..inertia import Array, phi_from_pseudo_inertia, pseudo_inertia, skew, tensor_from_six
from .least_squares import Reference
from .model import BODY_SIZE, NOT_NEGATIVE, RobotModel

with optional_packages("identifying a robot"):
    import cvxpy as cp

# Of the parameters (p,) of a robot, indexed as an array is: an expression, or `AffineRobot`.
Limits = Callable[[Any], list[cp.Expression]]

# Margin of consistency, relative to a reference body: above the solver's tolerance, below any data.
MARGIN = 1e-6
_UNITS = np.eye(BODY_SIZE)


def spatial_inertia(phi: ArrayLike) -> Array:
    """``[[I, S(h)], [S(h)', m 1]]`` (6, 6) of parameters (10,) (004 eq. 17; 003 eq. 3)."""
    p = np.asarray(phi, dtype=float)
    return np.block([[tensor_from_six(p[4:]), skew(p[1:4])], [skew(p[1:4]).T, p[0] * np.eye(3)]])


def _columns(matrix_of: Callable[[Array], Array]) -> Array:
    """Columns (side^2, 10): the matrix, row by row, of a unit of each parameter."""
    return np.stack([matrix_of(unit).ravel() for unit in _UNITS], axis=1)


# Matrices that are positive definite for a body: "pseudo" (4, 4) is full physical consistency
# (003 Theorem 3), "spatial" (6, 6) positive kinetic energy (004 eq. 18).
FORMS = {"pseudo": _columns(pseudo_inertia), "spatial": _columns(spatial_inertia)}


def consistent(body: cp.Expression, like: Array, form: str = "pseudo", margin: float = MARGIN
               ) -> cp.Expression:
    """``M(body) - margin (m / m_like) M(like)`` for M of `FORMS`, seen from a body `like` it (10,),
    where ``M(like)`` is the unit matrix: the margin means the same for thick and thin bodies."""
    columns = FORMS[form]
    side = int(np.sqrt(len(columns)))
    root = np.linalg.inv(np.linalg.cholesky((columns @ like).reshape(side, side)))
    least = margin * np.outer(columns @ like / like[0], _UNITS[0])
    return cp.reshape(np.kron(root, root) @ (columns - least) @ body, (side, side), order="C")


def mass_between(masses: cp.Expression, lower: float = 0.0, upper: float = np.inf
                 ) -> cp.Expression:
    """``lower <= sum of masses (k,) <= upper`` [kg] (004 eq. 25).

    Raises:
        InvalidData: the bounds are not in order.
    """
    if not 0.0 <= lower <= upper:
        raise InvalidData(f"mass is bounded by {lower:g} kg from below and {upper:g} kg from "
                          "above; the first must not be negative, nor above the second")
    total = cp.sum(masses)
    above = total - lower
    return cp.hstack([above] if np.isinf(upper) else [above, upper - total])


def com_in_box(body: cp.Expression, lower: ArrayLike, upper: ArrayLike) -> cp.Expression:
    """The centre of mass between two corners (3,) [m] of a box (004 eq. 26), in kg.

    Raises:
        InvalidData: the first corner is not below the second.
    """
    low, high = np.asarray(lower, dtype=float), np.asarray(upper, dtype=float)
    if not (low.shape == high.shape == (3,) and np.all(low < high)):
        raise InvalidData(f"box has corners {low.tolist()} and {high.tolist()} m; both need three "
                          "numbers, and the first must be below the second")
    rows = np.concatenate([_UNITS[1:4] - np.outer(low, _UNITS[0]),
                           np.outer(high, _UNITS[0]) - _UNITS[1:4]])
    return (rows / np.tile(high - low, 2)[:, None]) @ body


@dataclass(frozen=True)
class Ellipsoid:
    """``(x - center)' shape^-1 (x - center) <= 1`` (003 eq. 21).

    Attributes:
        center: (3,) [m]; shape: (3, 3) [m^2].

    Raises:
        InvalidData: the shape is not positive definite.
    """

    center: Array
    shape: Array

    def __post_init__(self) -> None:
        if not np.linalg.eigvalsh(self.shape)[0] > 0.0:
            raise InvalidData(f"ellipsoid has the shape {self.shape.tolist()} m^2; it must be "
                              "positive definite")

    @property
    def quadric(self) -> Array:
        """Q (4, 4) with ``[x; 1]' Q [x; 1] >= 0`` inside (003 Theorem 4)."""
        inverse = np.linalg.inv(self.shape)
        across = inverse @ self.center
        return np.block([[-inverse, across[:, None]],
                         [across[None], np.array([[1.0 - self.center @ across]])]])

    @property
    def uniform(self) -> Array:
        """Parameters (10,) of 1 kg spread evenly."""
        place = np.append(self.center, 1.0)
        return phi_from_pseudo_inertia(np.outer(place, place) + np.block(
            [[self.shape / 5.0, np.zeros((3, 1))], [np.zeros((1, 4))]]))


def com_in_ellipsoid(body: cp.Expression, ellipsoid: Ellipsoid) -> cp.Expression:
    """The centre of mass in an ellipsoid (003 eq. 22), seen where it is the unit ball, in kg."""
    turn = np.linalg.inv(np.linalg.cholesky(ellipsoid.shape))
    rows = turn @ (_UNITS[1:4] - np.outer(ellipsoid.center, _UNITS[0]))
    mass, off = cp.reshape(body[:1], (1, 1), order="C"), cp.reshape(rows @ body, (3, 1), order="C")
    return cp.bmat([[mass, off.T], [off, body[0] * np.eye(3)]])


def density_in_ellipsoid(body: cp.Expression, ellipsoid: Ellipsoid) -> cp.Expression:
    """``tr(J Q) >= 0`` (003 eq. 23), in kg: with `consistent`, all mass can lie in it."""
    row = ellipsoid.quadric.ravel() @ FORMS["pseudo"]
    return cp.reshape(row @ body, (1,), order="C")


def density_in_union(body: cp.Expression, ellipsoids: Sequence[Ellipsoid]) -> list[cp.Expression]:
    """All mass in a union of ellipsoids (003 Corollary 2): a sum of bodies, one in each ellipsoid.

    Those after the first are variables of their own. It implies `consistent` without its margin.
    """
    scales = [body_coordinates(each.uniform).to_phi for each in ellipsoids[1:]]
    others = [scale @ cp.Variable(BODY_SIZE) for scale in scales]
    parts = [body - sum(others[1:], others[0]) if others else body, *others]
    pairs = list(zip(parts, ellipsoids, strict=True))
    return [*(consistent(part, each.uniform, margin=0.0) for part, each in pairs),
            *(density_in_ellipsoid(part, each) for part, each in pairs)]


def near_design(body: cp.Expression, design: Array, distance: float) -> cp.Expression:
    """A body within a distance of its design (10,), in units of the design: 1 is 100 % of itself.

    The Schur complement of ``|difference| <= distance`` (as 004 eq. 54).

    Raises:
        InvalidData: the distance is not positive.
    """
    if not distance > 0.0:
        raise InvalidData(f"distance to the design is {distance:g}; it must be positive")
    to_units = body_coordinates(design / design[0]).from_phi / (design[0] * distance)
    off = cp.reshape(to_units @ (body - design), (BODY_SIZE, 1), order="C")
    return cp.bmat([[np.eye(1), off.T], [off, np.eye(BODY_SIZE)]])


def consistent_robot(model: RobotModel, like: Reference, form: str = "pseudo") -> Limits:
    """The limits of every robot: consistent bodies, friction and drive inertia >= 0 (004 eq. 28).

    Args:
        like: robot to whose bodies the margin of consistency is relative.
    """
    bodies = [model.body_slice(k) for k in range(len(model.bodies))]
    signed = [model.term_index(j, term) for j in range(len(model.joint_names))
              for term in model.terms.names if term in NOT_NEGATIVE]

    def limits(phi: Any) -> list[cp.Expression]:
        return [*(consistent(phi[where], like.phi[where], form) for where in bodies),
                *([phi[signed]] if signed else [])]

    return limits

