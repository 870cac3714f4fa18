# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""`lmi`: least squares over all physically consistent bodies (Wensing, Kim, Slotine 2017).

``min |R phi - t|^2  s.t.  J(phi) >= epsilon m J(reference body)``, Theorem 3; the margin is linear
in phi. Optional: the centre of mass in the shape's bounding box; a density realisable on its
bounding ellipsoid (eq. 23), or on the union of those of its primitives (Corollary 2).

`_Statement` is that in cvxpy, for Clarabel, with ``phi = phi0 + R^-1 z`` and phi0 the unconstrained
optimum: the Hessian is 1 however badly conditioned the data are. The margin is seen along its own
axes at phi0, each in its unit, which changes no sign. A feasible phi0 needs no solver.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_triangular

from ..errors import InvalidShape, NotEnoughData
from ..extras import optional_packages
from ..geometry.shape import Shape
from ..inertia import Array, pseudo_inertia
from ..model.problem import Problem
from ..settings import Settings
from . import Estimator, Solution
from .reference_body import (
    MARGIN,
    MASS,
    MASS_FLOOR,
    SIDE,
    UNIT,
    RegularisedProblem,
    regularise,
    smat,
    svec,
)

with optional_packages("the estimator 'lmi'"):
    import cvxpy as cp

    from .convex_program import solve

_SCALES = np.array([1.0, 0.1, 10.0, 0.01, 100.0])  # one leads past where another breaks down
# Part of the mass that goes to the evenly filled shape, which lies well within its ellipsoids: more
# than the tolerance of the solver.
_INWARDS = 1e-7
_SIZE = len(UNIT)
_SECOND = svec(np.diag([1.0, 1.0, 1.0, 0.0]))
_AS_MATRIX = smat(np.eye(_SIZE)).reshape(_SIZE, -1).T  # (16, 10), of a triangle vector


class _Statement:
    """``min |z|^2  s.t.  smat(offset + matrix @ z) >= 0,  level + normals @ z >= 0``.

    With a union, in place of the first, ``smat(place + reach @ z)`` is a sum of matrices ``>= 0``,
    each with a product ``>= 0`` with the row of its ellipsoid: that implies it but for the margin,
    and both at once are too much for the solver.

    Args:
        linear: number of linear constraints; union: rows (k, 10) of ellipsoids, or none.
    """

    def __init__(self, linear: int, union: Array) -> None:
        self.z, square = cp.Variable(_SIZE), (_SIZE, _SIZE)
        self._given = [cp.Parameter(shape) for shape in (
            _SIZE, square, linear, (linear, _SIZE), _SIZE, square)]
        offset, matrix, level, normals, place, reach = self._given
        limits = [level + normals @ self.z >= 0]
        if len(union):
            parts = cp.Variable((len(union), _SIZE))
            limits.append(cp.sum(parts, axis=0) == place + reach @ self.z)
            for k, row in enumerate(union):
                limits += [_symmetric(parts[k]) >> 0, row @ parts[k] >= 0]
        else:
            limits.append(_symmetric(offset + matrix @ self.z) >> 0)
        self._problem = cp.Problem(cp.Minimize(cp.sum_squares(self.z)), limits)

    def solve(self, *given: Array) -> bool:
        """Solve for offset (10,), matrix (10, 10), level (k,), normals (k, 10), place (10,) and
        reach (10, 10); False where the optimum was not found."""
        for parameter, value in zip(self._given, given, strict=True):
            parameter.value = value
        return solve(self._problem)


def _symmetric(vector: cp.Expression) -> cp.Expression:
    """The matrix (4, 4) of a triangle vector (10,)."""
    return cp.reshape(_AS_MATRIX @ vector, (SIDE, SIDE), order="C")


class Lmi(Estimator):
    """Least squares under the linear matrix inequality of physical consistency."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self._support = settings.lmi.support
        self.needs_shape = self._support != "none"
        self._statement: tuple[Shape | None, _Statement] | None = None

    def solve(self, problem: Problem, shape: Shape | None) -> Solution:
        """The consistent body nearest to the data; see `Estimator.solve`."""
        if self.needs_shape and shape is None:
            raise InvalidShape(f"lmi.support is '{self._support}', which needs a shape")
        data = regularise(problem, shape)
        to_phi, floor = data.body.to_phi, MASS_FLOOR * data.mass_scale
        rows, union, pseudo = np.eye(_SIZE)[[MASS]], np.empty((0, _SIZE)), pseudo_inertia(to_phi.T)
        if shape is not None and self._support == "box":
            low, high = (to_phi[1:4] - np.outer(bound, to_phi[0]) for bound in shape.bounds)
            rows = np.concatenate([rows, low, -high])
        elif shape is not None and self._support == "ellipsoid":  # tr(J(to_phi x) Q)
            rows = np.stack([*rows, np.tensordot(pseudo, shape.ellipsoid)])
        elif shape is not None and self._support == "ellipsoids":
            union = np.stack([np.tensordot(pseudo, form) for form in shape.ellipsoids])
        rows, union = (a / np.linalg.norm(a, axis=1, keepdims=True) for a in (rows, union))
        x = self._nearest(data, rows, np.r_[floor, np.zeros(len(rows) - 1)], union, shape)
        if x[MASS] <= 2.0 * floor:
            raise NotEnoughData(
                "no body that is allowed fits the data (mass without constraints: "
                f"{data.optimum[MASS]:.4g} kg); does the shape lie where the load is?")
        return data.solution(x)  # a margin in units of a very thin shape may be lost in rounding

    def _nearest(self, data: RegularisedProblem, rows: Array, limits: Array, union: Array,
                 shape: Shape | None) -> Array:
        """Optimum (10,) in the coordinates x: unconstrained if it is feasible, else by a solver.

        Args:
            rows, limits: (k, 10), (k,) of ``rows @ x >= limits``; union: see `_Statement`.
        """
        free, unit_mass = data.optimum, data.mass_scale
        values, axes = np.linalg.eigh(smat(MARGIN @ free))
        slack = rows @ free - limits
        if not len(union) and values[0] > 0.0 and slack.min() > 0.0:
            return free
        if self._statement is None or (len(union) and self._statement[0] is not shape):
            self._statement = shape, _Statement(len(rows), union)
        root = solve_triangular(data.matrix, np.eye(_SIZE))  # x = free + root @ z
        changes = axes.T @ smat((MARGIN @ root).T) @ axes
        normals = rows @ root
        # Half-spaces that hold the cone: the farthest bounds |z| from below, and gives its unit.
        spread = np.linalg.norm(np.diagonal(changes, axis1=1, axis2=2), axis=0)
        unit = max(1.0, float(np.max(-values / spread)),
                   float(np.max(-slack / np.linalg.norm(normals, axis=1))))
        # The margin along each axis is seen in units of its size, or of what data may change in it.
        size = np.minimum(np.maximum(np.abs(values), unit * spread), unit_mass)
        matrix, statement = svec(changes / np.sqrt(np.outer(size, size))).T, self._statement[1]
        for scale in unit * _SCALES:
            if statement.solve(
                    svec(np.diag(values / size)), matrix * scale, slack / unit_mass,
                    normals * scale / unit_mass, free / unit_mass, root * scale / unit_mass):
                x = _repair(free + root @ (scale * statement.z.value), rows, limits)
                return (1.0 - _INWARDS) * x + _INWARDS * x[MASS] * UNIT if len(union) else x
        raise NotEnoughData("the data are too badly conditioned to find a consistent body")


def _repair(x: Array, rows: Array, limits: Array) -> Array:
    """x with the solver's tolerance taken out of all constraints.

    Second moments grow by as much as the Schur complement of the margin lacks. As little of the
    mass as suffices goes to the reference body, which lies well within the shape.
    """
    if x[MASS] <= 0.0:
        return x
    margin = smat(MARGIN @ x)
    central = margin[:3, :3] - margin[:3, 3, None] * margin[:3, 3] / margin[3, 3]
    x = x + max(0.0, -float(np.linalg.eigvalsh(central)[0])) * _SECOND
    within = x[MASS] * UNIT
    slack, room = rows @ x - limits, rows @ within - limits
    outside = (slack < 0.0) & (room > 0.0)
    share = float(np.max(slack[outside] / (slack - room)[outside], initial=0.0))
    return (1.0 - share) * x + share * within
