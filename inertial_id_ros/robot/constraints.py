# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What the parameters of a robot can be, as cones: ``offset + matrix phi in K``.

A reference robot is the scale of every problem and, where asked, its prior.

A `Constraint` is one condition that is convex in phi: consistency of a body (Wensing et al. 2017,
Theorem 3), friction and drives without negative terms (Sousa and Cortesao 2014, eq. 28). The other
conditions of these papers are in `benchmarks/robot/reference`, where the fits are compared with
them. `size` is the number p of the robot's parameters, and `where` the slice of the ten that are
the body's (`RobotModel.body_slice`).

In coordinates u with ``phi = unit u`` the bodies of the reference are unit matrices
(`estimators.reference_body`, one body after the other, in units of its mass) and joint terms are in
units of `term_size`. A standard deviation of 1 in u means: a body like the reference, to 100 % of
it, whatever axes and units.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InvalidData
from ..estimators.reference_body import body_coordinates
from ..estimators.semidefinite import smat, svec
from ..inertia import Array, is_consistent, phi_from_body, pseudo_inertia
from .joint_terms import COULOMB, DRIVE, VISCOUS
from .model import BODY_SIZE, RobotModel

DEFAULT_MASS = 1.0  # kg, of a body the description says nothing about
DEFAULT_RADIUS = 0.05  # m, root mean square along each axis


@dataclass(frozen=True)
class Reference:
    """Parameters of a consistent robot of about the right size.

    Attributes:
        phi: (p,).
        unit: (p, p), ``phi = unit u``; block diagonal.
        inverse: its inverse.
    """

    phi: Array
    unit: Array
    inverse: Array


def make_reference(phi: ArrayLike, bodies: int, term_size: float = 1.0) -> Reference:
    """The reference of given parameters (p,): `bodies` times ten, then joint terms.

    Args:
        term_size: size of friction, offset and drive inertia [N m, N m s/rad, kg m^2].

    Raises:
        InvalidData: a body is not consistent.
    """
    p = np.array(phi, dtype=float)
    unit = term_size * np.eye(len(p))
    inverse = np.eye(len(p)) / term_size
    for k in range(bodies):
        where = slice(BODY_SIZE * k, BODY_SIZE * (k + 1))
        if not is_consistent(p[where]):
            raise InvalidData(f"body {k + 1} of the reference robot is not consistent: "
                              f"{p[where].tolist()}")
        mass = p[where][0]
        body = body_coordinates(p[where] / mass)
        unit[where, where] = mass * body.to_phi
        inverse[where, where] = body.from_phi / mass
    return Reference(p, unit, inverse)


def description_reference(model: RobotModel, term_size: float = 1.0) -> Reference:
    """The description as a reference, as `make_reference` makes one; a body that is not consistent
    there is a ball of 1 kg at its joint, of 0.05 m along each axis (rms).

    Args:
        term_size: of friction, offset and drive inertia, see `make_reference`.
    """
    ball = phi_from_body(DEFAULT_MASS, np.zeros(3),
                         2.0 * DEFAULT_MASS * DEFAULT_RADIUS**2 * np.eye(3))
    phi = model.nominal
    for k in range(len(model.bodies)):
        if not is_consistent(phi[model.body_slice(k)]):
            phi[model.body_slice(k)] = ball
    return make_reference(phi, len(model.bodies), term_size)


# Margin of consistency, relative to a reference body: above the solver's tolerance, below any data.
MARGIN = 1e-6


class Kind(Enum):
    """Kinds of cones: x >= 0; a matrix >= 0 as its triangle vector."""

    LINEAR = "linear"
    SEMIDEFINITE = "semidefinite"


@dataclass(frozen=True)
class Cone:
    """One cone; `side` is the side of the matrix, or the number of rows of the other kinds."""

    kind: Kind
    side: int

    @property
    def rows(self) -> int:
        """Number of rows."""
        if self.kind is Kind.SEMIDEFINITE:
            return self.side * (self.side + 1) // 2
        return self.side


@dataclass(frozen=True)
class Constraint:
    """Cones that a constraint fills, row after row.

    Attributes:
        matrix: (rows, p) on phi.
        offset: (rows,).
        cones: they cover the rows, in order.
        text: what it says, for messages.
    """

    matrix: Array
    offset: Array
    cones: tuple[Cone, ...]
    text: str


_UNITS = np.eye(BODY_SIZE)
_PSEUDO = np.stack([svec(pseudo_inertia(e)) for e in _UNITS], axis=1)


def consistent_body(size: int, where: slice, epsilon: float = 0.0,
                    like: ArrayLike | None = None) -> Constraint:
    """The constraint that a body is consistent: ``J(phi) >= epsilon (m / m_like) J(like)``.

    Args:
        epsilon: margin: ``J(phi) >= epsilon 1`` in SI units (paper 2014, eq. 21) or, better, in
            units of a body `like` it (10,), which means the same for thick and thin bodies.
    """
    return positive_matrix(size, where, _PSEUDO, epsilon, like)


def positive_matrix(size: int, where: slice, columns: Array, epsilon: float,
                    like: ArrayLike | None) -> Constraint:
    """As `consistent_body`, for any symmetric matrix that is linear in the body's parameters.

    Args:
        columns: (rows, 10) triangle vector of the matrix for a unit of each parameter.
    """
    side = int(np.sqrt(2 * len(columns)))
    cones, text = [Cone(Kind.SEMIDEFINITE, side)], "a consistent body"
    if like is None:
        return body_constraint(size, where, columns, cones, text, -epsilon * svec(np.eye(side)))
    body = np.asarray(like, dtype=float)
    margin = epsilon * np.outer(columns @ body / body[0], _UNITS[0])
    return body_constraint(size, where, columns - margin, cones, text)


def nonnegative_terms(model: RobotModel) -> list[Constraint]:
    """The constraint that friction and drive inertia of every joint are not negative (eq. 28)."""
    signed = [model.term_index(j, term) for j in range(len(model.joint_names))
              for term in model.terms.names if term in (VISCOUS, COULOMB, DRIVE)]
    if not signed:
        return []
    return [linear_constraint(np.eye(model.size)[signed], np.zeros(len(signed)),
                              "friction and drive inertia not negative")]


def consistent_robot(model: RobotModel, like: Reference | None = None) -> list[Constraint]:
    """Constraints that every robot meets: consistent bodies, no negative friction or drive inertia.

    Args:
        like: robot to whose bodies the margin of consistency is relative; None: the one of
            `description_reference`.
    """
    bodies = (like if like is not None else description_reference(model)).phi
    slices = [model.body_slice(k) for k in range(len(model.bodies))]
    return [*(consistent_body(model.size, where, MARGIN, bodies[where]) for where in slices),
            *nonnegative_terms(model)]


@dataclass(frozen=True)
class Stacked:
    """All constraints in one: ``offset + matrix phi`` in the product of cones.

    Attributes as in `Constraint`.
    """

    matrix: Array
    offset: Array
    cones: tuple[Cone, ...]

    @property
    def slices(self) -> list[slice]:
        """Rows of every cone."""
        ends = np.cumsum([cone.rows for cone in self.cones])
        return [slice(int(end) - cone.rows, int(end))
                for end, cone in zip(ends, self.cones, strict=True)]

    def margins(self, phi: Array) -> Array:
        """How far inside (>= 0) or outside (< 0) each cone the parameters are (cones,).

        Smallest entry or eigenvalue, in the units of the constraint.
        """
        values = self.offset + self.matrix @ phi
        return np.array([depth_in_cone(values[rows], cone)
                         for rows, cone in zip(self.slices, self.cones, strict=True)])


def depth_in_cone(values: Array, cone: Cone) -> float:
    """How far inside (>= 0) or outside (< 0) a cone its rows are, in their units."""
    if cone.kind is Kind.LINEAR:
        return float(values.min())
    return float(np.linalg.eigvalsh(smat(values))[0])


def stack_constraints(constraints: Sequence[Constraint], size: int) -> Stacked:
    """Constraints one below the other, on parameters (size,)."""
    return Stacked(np.concatenate([np.zeros((0, size)), *(c.matrix for c in constraints)]),
                   np.concatenate([np.zeros(0), *(c.offset for c in constraints)]),
                   tuple(cone for c in constraints for cone in c.cones))


def body_constraint(size: int, where: slice, rows: Array, cones: Sequence[Cone], text: str,
                    offset: Array | None = None) -> Constraint:
    """A constraint whose rows (r, 10) act on the parameters of one body."""
    matrix = np.zeros((len(rows), size))
    matrix[:, where] = rows
    return Constraint(matrix, np.zeros(len(rows)) if offset is None else offset, tuple(cones),
                      text)


def linear_constraint(rows: Array, offset: Array, text: str) -> Constraint:
    """The constraint ``offset + rows phi >= 0``."""
    return Constraint(rows, offset, (Cone(Kind.LINEAR, len(rows)),), text)
