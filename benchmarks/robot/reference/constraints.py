# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Conditions of the papers that the package does without, to compare its fits with theirs.

Spatial inertia (Sousa and Cortesao 2014, eq. 17), mass and its sum (eq. 25), centre of mass in a
box (eq. 26) or an ellipsoid (Wensing et al. 2017, eq. 22), density realisable on an ellipsoid or a
union of them (Theorem 4, Corollary 2) or as point masses (Ayusawa and Nakamura 2010), distance to a
design. `Box`: points and prior of Ayusawa and Nakamura (Section IV). The weight of that prior is
the inverse of the variances that the box allows (the text of eq. 28 names the variances
themselves), and its projector on the null space works in units of these standard deviations, so
that kilograms and kg m^2 are not mixed.

The 6x6 form alone may have its optimum at infinitely heavy bodies, as null-space values are free;
a limit on the masses keeps it in reach.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from inertial_id_ros.errors import InvalidData
from inertial_id_ros.estimators.solvers.triangle_vector import svec
from inertial_id_ros.geometry.point_sets import ellipsoid_form
from inertial_id_ros.inertia import (
    Array,
    point_columns,
    pseudo_inertia,
    skew,
    tensor_from_six,
    transform_matrix,
)
from inertial_id_ros.robot.constraints import (
    MARGIN,
    Cone,
    Constraint,
    Kind,
    body_constraint,
    consistent_body,
    linear_constraint,
    nonnegative_terms,
    positive_matrix,
)
from inertial_id_ros.robot.model import BODY_SIZE, RobotModel
from inertial_id_ros.robot.reference_robot import Reference, description_reference

POINTS_PER_EDGE = 3


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


def spatial_body(size: int, where: slice, epsilon: float = 0.0,
                 like: ArrayLike | None = None) -> Constraint:
    """As `consistent_body`, by the 6x6 spatial inertia, which leaves the triangle inequalities of
    the principal moments open."""
    return positive_matrix(size, where, _SPATIAL, epsilon, like)


BODY_FORMS = {"pseudo": consistent_body, "spatial": spatial_body}


def robot_of_form(model: RobotModel, form: str) -> list[Constraint]:
    """As `consistent_robot`, with the bodies of a form of `BODY_FORMS`."""
    bodies = description_reference(model).phi
    slices = [model.body_slice(k) for k in range(len(model.bodies))]
    return [*(BODY_FORMS[form](model.size, where, MARGIN, bodies[where]) for where in slices),
            *nonnegative_terms(model)]


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
    return linear_constraint(
        np.array([row for row, _ in finite]), np.array([limit for _, limit in finite]),
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
    return body_constraint(size, where, rows, [Cone(Kind.LINEAR, 6)], "centre of mass in its box")


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
    return body_constraint(size, where, np.stack(blocks, axis=1), [Cone(Kind.SEMIDEFINITE, 4)],
                           "centre of mass in its ellipsoid")


def inside_ellipsoid(size: int, where: slice, ellipsoid: ArrayLike) -> Constraint:
    """The constraint that all mass lies in an ellipsoid: ``tr(J Q) >= 0`` (paper 2017, eq. 23).

    Args:
        ellipsoid: Q (4, 4), see `ellipsoid_matrix`.

    Together with `consistent_body` it implies the centre of mass in the ellipsoid.
    """
    row = svec(np.asarray(ellipsoid, dtype=float)) @ _PSEUDO
    return body_constraint(size, where, row[None], [Cone(Kind.LINEAR, 1)],
                           "mass within its ellipsoid")


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
    whole = body_constraint(size, where, np.concatenate(matrix), cones,
                            "mass within its ellipsoids")
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
    whole = body_constraint(size, where, rows, [Cone(Kind.ZERO, BODY_SIZE), Cone(Kind.LINEAR,
                            count)], "a body of point masses")
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
    return body_constraint(size, where, rows, [Cone(Kind.SECOND_ORDER, len(rows))],
                           "near its design", offset)



@dataclass(frozen=True)
class Box:
    """A link's bounding box along the axes of its frame, and what it may weigh.

    Attributes:
        lower, upper: corners [m]; mass, mass_error: expected mass and its error [kg].

    Raises:
        InvalidData: a box without volume, or a mass or error that is not positive.
    """

    lower: tuple[float, float, float]
    upper: tuple[float, float, float]
    mass: float
    mass_error: float

    def __post_init__(self) -> None:
        if not np.all(np.array(self.lower) < np.array(self.upper)):
            raise InvalidData(f"box from {self.lower} to {self.upper} m has no volume")
        if not (self.mass > 0.0 and self.mass_error > 0.0):
            raise InvalidData(f"mass of a box is {self.mass:g} +- {self.mass_error:g} kg; "
                              "both must be positive")

    @property
    def center(self) -> Array:
        """Centre of the box (3,) [m]."""
        return 0.5 * (np.array(self.lower) + np.array(self.upper))

    @property
    def half(self) -> Array:
        """Half lengths d (3,) [m]."""
        return 0.5 * (np.array(self.upper) - np.array(self.lower))

    def grid(self, per_edge: int = POINTS_PER_EDGE) -> Array:
        """Equally spaced points (per_edge^3, 3), from face to face [m]."""
        axes = [np.linspace(low, high, per_edge)
                for low, high in zip(self.lower, self.upper, strict=True)]
        return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)

    def expectation(self) -> tuple[Array, Array]:
        """phi (10,) about the box's centre in the middle of its bounds, and sigma (10,).

        Bounds (eqs 17-22) with the largest mass: first moments within ``m d``, moments of inertia
        between 0 and ``m (d_j^2 + d_k^2)``, products within ``m d_j d_k``.
        """
        most = self.mass + self.mass_error
        x, y, z = self.half
        second = most * np.array([y * y + z * z, 0.0, 0.0, x * x + z * z, 0.0, x * x + y * y])
        product = most * np.array([0.0, x * y, x * z, 0.0, y * z, 0.0])
        return (np.concatenate([[self.mass], np.zeros(3), 0.5 * second]),
                np.concatenate([[self.mass_error], most * self.half, 0.5 * second + product]))


def box_reference(model: RobotModel, boxes: Sequence[Box], term_size: float = 1.0) -> Reference:
    """Expected robot and its standard deviations from the boxes of its bodies, in their order.

    Raises:
        InvalidData: not one box for every body.
    """
    if len(boxes) != len(model.bodies):
        raise InvalidData(f"there are {len(boxes)} boxes for {len(model.bodies)} bodies")
    phi = np.zeros(model.size)
    unit, inverse = term_size * np.eye(model.size), np.eye(model.size) / term_size
    for k, box in enumerate(boxes):
        where = slice(BODY_SIZE * k, BODY_SIZE * (k + 1))
        to_link = transform_matrix(np.eye(3), box.center)
        mean, sigma = box.expectation()
        phi[where] = to_link @ mean
        unit[where, where] = to_link * sigma
        inverse[where, where] = np.linalg.inv(to_link) / sigma[:, None]
    return Reference(phi, unit, inverse)
