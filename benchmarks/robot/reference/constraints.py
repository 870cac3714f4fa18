# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Conditions of Sousa and Cortesao 2014 that the package does without: spatial inertia (eq. 17),
the sum of masses (eq. 25).

The 6x6 form alone may have its optimum at infinitely heavy bodies, as null-space values are free;
a limit on the masses keeps it in reach.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from inertial_id_ros.errors import InvalidData
from inertial_id_ros.estimators.semidefinite import svec
from inertial_id_ros.inertia import (
    Array,
    skew,
    tensor_from_six,
)
from inertial_id_ros.robot.constraints import (
    MARGIN,
    Constraint,
    consistent_body,
    description_reference,
    linear_constraint,
    nonnegative_terms,
    positive_matrix,
)
from inertial_id_ros.robot.model import BODY_SIZE, RobotModel


def spatial_inertia(phi: ArrayLike) -> Array:
    """``[[I, S(h)], [S(h)', m 1]]`` (6, 6) (Sousa and Cortesao 2014, eq. 17)."""
    p = np.asarray(phi, dtype=float)
    out = np.zeros((6, 6))
    out[:3, :3] = tensor_from_six(p[4:])
    out[:3, 3:], out[3:, :3] = skew(p[1:4]), skew(p[1:4]).T
    out[3:, 3:] = p[0] * np.eye(3)
    return out


_UNITS = np.eye(BODY_SIZE)
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
