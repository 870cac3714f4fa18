# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What the parameters of a robot can be, as cones: ``offset + matrix phi + auxiliary s in K``.

Every function returns a `Constraint`: one condition of the papers on the parameters of one body,
convex in phi: consistency (Sousa and Cortesao 2014, eq. 17; Wensing et al. 2017, Theorem 3), mass
and its sum (2014, eq. 25), centre of mass in a box (eq. 26) or an ellipsoid (2017, eq. 22), density
realisable on an ellipsoid or a union of them (Theorem 4, Corollary 2) or as point masses (Ayusawa
and Nakamura 2010), friction and drives without negative terms (2014, eq. 28), distance to a design.
In all of them `size` is the number p of the robot's parameters, and `where` the slice of the ten
that are the body's (`RobotModel.body_slice`).

The 6x6 form alone may have its optimum at infinitely heavy bodies, as null-space values are free;
a limit on the masses keeps it in reach.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import ArrayLike

from ...errors import InvalidData
from ...estimators.solvers.triangle_vector import smat, svec
from ...geometry.point_sets import ellipsoid_form
from ...inertia import Array, point_columns, pseudo_inertia, skew, tensor_from_six
from ..joint_terms import COULOMB, DRIVE, VISCOUS
from ..model import BODY_SIZE, RobotModel
from ..reference_robot import Reference, description_reference

# Margin of consistency, relative to a reference body: above the solver's tolerance, below any data.
MARGIN = 1e-6


class Kind(Enum):
    """Kinds of cones: x = 0; x >= 0; x0 >= |x1...|; a matrix >= 0 as its triangle vector."""

    ZERO = "zero"
    LINEAR = "linear"
    SECOND_ORDER = "second order"
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
        auxiliary: (rows, a) on variables of the constraint's own.
        cones: they cover the rows, in order.
        text: what it says, for messages.
    """

    matrix: Array
    offset: Array
    auxiliary: Array
    cones: tuple[Cone, ...]
    text: str


def spatial_inertia(phi: ArrayLike) -> Array:
    """``[[I, S(h)], [S(h)', m 1]]`` (6, 6) (Sousa and Cortesao 2014, eq. 17)."""
    p = np.asarray(phi, dtype=float)
    out = np.zeros((6, 6))
    out[:3, :3] = tensor_from_six(p[4:])
    out[:3, 3:], out[3:, :3] = skew(p[1:4]), skew(p[1:4]).T
    out[3:, 3:] = p[0] * np.eye(3)
    return out


_UNITS = np.eye(BODY_SIZE)
_PSEUDO = np.stack([svec(pseudo_inertia(e)) for e in _UNITS], axis=1)
_SPATIAL = np.stack([svec(spatial_inertia(e)) for e in _UNITS], axis=1)


def consistent_body(size: int, where: slice, form: str = "pseudo", epsilon: float = 0.0,
                    like: ArrayLike | None = None) -> Constraint:
    """The constraint that a body is consistent: ``J(phi) >= epsilon (m / m_like) J(like)``.

    Args:
        form: ``pseudo``: 4x4 pseudo-inertia, full consistency; ``spatial``: 6x6 spatial inertia,
            which leaves the triangle inequalities of the principal moments open.
        epsilon: margin: ``J(phi) >= epsilon 1`` in SI units (paper 2014, eq. 21) or, better, in
            units of a body `like` it (10,), which means the same for thick and thin bodies.

    Raises:
        InvalidData: another form.
    """
    if form not in ("pseudo", "spatial"):
        raise InvalidData(f"form of consistency is '{form}'; allowed: pseudo, spatial")
    rows, side = (_PSEUDO, 4) if form == "pseudo" else (_SPATIAL, 6)
    cones, text = [Cone(Kind.SEMIDEFINITE, side)], "a consistent body"
    if like is None:
        return _of_body(size, where, rows, cones, text, -epsilon * svec(np.eye(side)))
    body = np.asarray(like, dtype=float)
    margin = epsilon * np.outer(rows @ body / body[0], _UNITS[0])
    return _of_body(size, where, rows - margin, cones, text)


def mass_bounds(size: int, where: slice, lower: float = 0.0, upper: float = np.inf) -> Constraint:
    """The constraint ``lower <= m <= upper`` [kg] (raises InvalidData if lower > upper)."""
    return mass_sum(size, [where], lower, upper)


def mass_sum(size: int, where: Sequence[slice], lower: float = 0.0,
             upper: float = np.inf) -> Constraint:
    """The constraint ``lower <= sum of masses <= upper`` [kg] (raises InvalidData)."""
    if not lower <= upper:
        raise InvalidData(f"mass is bounded by {lower:g} kg from below and {upper:g} kg from above")
    total = np.zeros(size)
    total[[part.start for part in where]] = 1.0
    bounds = [(total, -lower), (-total, upper)]
    finite = [(row, limit) for row, limit in bounds if np.isfinite(limit)]
    return _linear(np.array([row for row, _ in finite]), np.array([limit for _, limit in finite]),
                   f"mass between {lower:g} and {upper:g} kg")


def com_box(size: int, where: slice, lower: ArrayLike, upper: ArrayLike) -> Constraint:
    """The constraint that the centre of mass lies between two corners (3,) [m] of a box.

    Raises:
        InvalidData: the first corner is not below the second.
    """
    low, high = np.asarray(lower, dtype=float), np.asarray(upper, dtype=float)
    if not np.all(low <= high):
        raise InvalidData(f"box of the centre of mass has corners {low.tolist()} and "
                          f"{high.tolist()}; the first must be below the second")
    rows = np.concatenate([_UNITS[1:4] - np.outer(low, _UNITS[0]),
                           np.outer(high, _UNITS[0]) - _UNITS[1:4]])
    return _of_body(size, where, rows, [Cone(Kind.LINEAR, 6)], "centre of mass in its box")


def ellipsoid_matrix(center: ArrayLike, shape: ArrayLike) -> Array:
    """Q (4, 4) with ``[x; 1]' Q [x; 1] >= 0`` where ``(x - c)' shape^-1 (x - c) <= 1``.

    Args:
        center: (3,) [m]; shape: (3, 3) [m^2], positive definite.
    """
    return ellipsoid_form(np.asarray(center, dtype=float),
                          np.linalg.inv(np.asarray(shape, dtype=float)))


def com_ellipsoid(size: int, where: slice, center: ArrayLike, shape: ArrayLike) -> Constraint:
    """The constraint ``(x - c)' shape^-1 (x - c) <= 1`` on the centre of mass (2017, eq. 22)."""
    c, q = np.asarray(center, dtype=float), np.asarray(shape, dtype=float)
    blocks = []
    for e in _UNITS:
        block = np.zeros((4, 4))
        block[0, 0] = e[0]
        block[0, 1:] = block[1:, 0] = e[1:4] - e[0] * c
        block[1:, 1:] = e[0] * q
        blocks.append(svec(block))
    return _of_body(size, where, np.stack(blocks, axis=1), [Cone(Kind.SEMIDEFINITE, 4)],
                    "centre of mass in its ellipsoid")


def inside_ellipsoid(size: int, where: slice, ellipsoid: ArrayLike) -> Constraint:
    """The constraint that all mass lies in an ellipsoid: ``tr(J Q) >= 0`` (paper 2017, eq. 23).

    Args:
        ellipsoid: Q (4, 4), see `ellipsoid_matrix`.

    Together with `consistent_body` it implies the centre of mass in the ellipsoid.
    """
    row = svec(np.asarray(ellipsoid, dtype=float)) @ _PSEUDO
    return _of_body(size, where, row[None], [Cone(Kind.LINEAR, 1)], "mass within its ellipsoid")


def inside_union(size: int, where: slice, ellipsoids: Sequence[ArrayLike]) -> Constraint:
    """The constraint that all mass lies in a union of ellipsoids (paper 2017, Corollary 2).

    The body is a sum of bodies, one in each ellipsoid; those after the first are variables of the
    constraint's own. It implies `consistent_body`.

    Raises:
        InvalidData: no ellipsoid.
    """
    if len(ellipsoids) == 0:
        raise InvalidData("a union of ellipsoids needs at least one")
    parts = len(ellipsoids)
    matrix, auxiliary, cones = [], [], []
    for k, ellipsoid in enumerate(ellipsoids):
        row = svec(np.asarray(ellipsoid, dtype=float)) @ _PSEUDO
        local = np.concatenate([row[None], _PSEUDO])
        own = np.zeros((len(local), BODY_SIZE * (parts - 1)))
        if k == 0:
            own[:] = -np.tile(local, parts - 1)
        else:
            own[:, BODY_SIZE * (k - 1):BODY_SIZE * k] = local
        matrix.append(local if k == 0 else np.zeros_like(local))
        auxiliary.append(own)
        cones += [Cone(Kind.LINEAR, 1), Cone(Kind.SEMIDEFINITE, 4)]
    whole = _of_body(size, where, np.concatenate(matrix), cones, "mass within its ellipsoids")
    return Constraint(whole.matrix, whole.offset, np.concatenate(auxiliary), whole.cones,
                      whole.text)


def point_masses(size: int, where: slice, points: ArrayLike,
                 epsilon: float = MARGIN) -> Constraint:
    """The constraint that a body is point masses at points (n, 3) [m] (Ayusawa 2010, eq. 15).

    A polyhedral cone within that of consistent bodies; the masses are variables of the constraint's
    own. Every point holds at least a part `epsilon` of its share of the mass: a body in a plane
    would not exist.
    """
    columns = point_columns(points)
    count = columns.shape[1]
    least = np.tile(-epsilon / count * _UNITS[0], (count, 1))
    rows = np.concatenate([_UNITS, least])
    whole = _of_body(size, where, rows, [Cone(Kind.ZERO, BODY_SIZE), Cone(Kind.LINEAR, count)],
                     "a body of point masses")
    return Constraint(whole.matrix, whole.offset, np.concatenate([-columns, np.eye(count)]),
                      whole.cones, whole.text)


def near_design(size: int, where: slice, phi: ArrayLike, radius: float,
                metric: ArrayLike | None = None) -> Constraint:
    """The constraint ``|metric (phi_body - phi)| <= radius``: a body near its design.

    Args:
        phi: (10,) of the design; metric: (k, 10), None: the identity, in SI units.

    Raises:
        InvalidData: the radius is not positive.
    """
    if not radius > 0.0:
        raise InvalidData(f"distance to the design is {radius:g}; it must be positive")
    weights = np.eye(BODY_SIZE) if metric is None else np.asarray(metric, dtype=float)
    rows = np.concatenate([np.zeros((1, BODY_SIZE)), weights])
    offset = np.append(radius, -weights @ np.asarray(phi, dtype=float))
    return _of_body(size, where, rows, [Cone(Kind.SECOND_ORDER, len(rows))], "near its design",
                    offset)


def nonnegative_terms(model: RobotModel) -> list[Constraint]:
    """The constraint that friction and drive inertia of every joint are not negative (eq. 28)."""
    signed = [model.term_index(j, term) for j in range(len(model.joint_names))
              for term in model.terms.names if term in (VISCOUS, COULOMB, DRIVE)]
    if not signed:
        return []
    return [_linear(np.eye(model.size)[signed], np.zeros(len(signed)),
                    "friction and drive inertia not negative")]


def consistent_robot(model: RobotModel, form: str = "pseudo", epsilon: float = MARGIN,
                     like: Reference | None = None) -> list[Constraint]:
    """Constraints that every robot meets: consistent bodies, no negative friction or drive inertia.

    Args:
        epsilon, like: margin of every body, relative to the bodies of a reference robot (None:
            those of `description_reference`).
    """
    bodies = (like if like is not None else description_reference(model)).phi
    return [*(consistent_body(model.size, model.body_slice(k), form, epsilon,
                              bodies[model.body_slice(k)])
              for k in range(len(model.bodies))), *nonnegative_terms(model)]


@dataclass(frozen=True)
class Stacked:
    """All constraints in one: ``offset + matrix phi + auxiliary s`` in the product of cones.

    Attributes as in `Constraint`.
    """

    matrix: Array
    offset: Array
    auxiliary: Array
    cones: tuple[Cone, ...]

    @property
    def slices(self) -> list[slice]:
        """Rows of every cone."""
        ends = np.cumsum([cone.rows for cone in self.cones])
        return [slice(int(end) - cone.rows, int(end))
                for end, cone in zip(ends, self.cones, strict=True)]

    def margins(self, phi: Array, s: Array | None = None) -> Array:
        """How far inside (>= 0) or outside (< 0) each cone the parameters are (cones,).

        Minus the largest entry, smallest entry, ``x0 - |x1...|``, or smallest eigenvalue; in the
        units of the constraint.
        """
        own = np.zeros(self.auxiliary.shape[1]) if s is None else s
        values = self.offset + self.matrix @ phi + self.auxiliary @ own
        return np.array([depth_in_cone(values[rows], cone)
                         for rows, cone in zip(self.slices, self.cones, strict=True)])


def depth_in_cone(values: Array, cone: Cone) -> float:
    """How far inside (>= 0) or outside (< 0) a cone its rows are, in their units."""
    if cone.kind is Kind.ZERO:
        return -float(np.abs(values).max())
    if cone.kind is Kind.LINEAR:
        return float(values.min())
    if cone.kind is Kind.SECOND_ORDER:
        return float(values[0] - np.linalg.norm(values[1:]))
    return float(np.linalg.eigvalsh(smat(values))[0])


def stack_constraints(constraints: Sequence[Constraint], size: int) -> Stacked:
    """Constraints one below the other, each with its own auxiliary variables."""
    width = sum(c.auxiliary.shape[1] for c in constraints)
    rows = sum(len(c.offset) for c in constraints)
    auxiliary = np.zeros((rows, width))
    row = column = 0
    for c in constraints:
        auxiliary[row:row + len(c.offset), column:column + c.auxiliary.shape[1]] = c.auxiliary
        row, column = row + len(c.offset), column + c.auxiliary.shape[1]
    return Stacked(np.concatenate([np.zeros((0, size)), *(c.matrix for c in constraints)]),
                   np.concatenate([np.zeros(0), *(c.offset for c in constraints)]), auxiliary,
                   tuple(cone for c in constraints for cone in c.cones))


def _of_body(size: int, where: slice, rows: Array, cones: Sequence[Cone], text: str,
             offset: Array | None = None) -> Constraint:
    """A constraint whose rows (r, 10) act on the parameters of one body."""
    matrix = np.zeros((len(rows), size))
    matrix[:, where] = rows
    return Constraint(matrix, np.zeros(len(rows)) if offset is None else offset,
                      np.zeros((len(rows), 0)), tuple(cones), text)


def _linear(rows: Array, offset: Array, text: str) -> Constraint:
    """The constraint ``offset + rows phi >= 0``."""
    return Constraint(rows, offset, np.zeros((len(rows), 0)),
                      (Cone(Kind.LINEAR, len(rows)),), text)
