# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""`lmi`: least squares over all physically consistent bodies (Wensing, Kim, Slotine 2017).

``min |R phi - t|^2  s.t.  J(phi) >= epsilon m J(reference body)``, Theorem 3; the margin is linear
in phi. Optional: the centre of mass in the shape's bounding box; a density realisable on its
bounding ellipsoid (eq. 23), or on the union of those of its primitives (Corollary 2).

`_Statement` is that in cvxpy, for Clarabel, with ``phi = phi0 + R^-1 z`` and phi0 the unconstrained
optimum: the Hessian is 1 however badly conditioned the data are. A feasible phi0 needs no solver.
"""

from functools import lru_cache

import numpy as np
from scipy.linalg import solve_triangular

from ..errors import NotEnoughData
from ..extras import optional_packages
from ..geometry.shape import Shape
from ..inertia import PARAMETERS, SIDE, Array, pseudo_inertia
from ..model.problem import Problem
from ..settings import Settings
from . import Estimator, Solution
from .reference_body import EPSILON, MARGIN, MASS, UNIT, reference_body, regularise, smat

with optional_packages("the estimator 'lmi'"):
    import cvxpy as cp

    from .convex_program import solve

_SCALES = 10.0 ** np.array([0, -1, 1, -2, 2])  # one leads past where another breaks down
_EYE = np.eye(PARAMETERS)
_AS_MATRIX = smat(_EYE).reshape(PARAMETERS, -1).T  # (16, 10), of a triangle vector


class _Statement:
    """``min |z|^2  s.t.  smat(offset + matrix @ z) >= 0,  level + normals @ z >= 0``.

    With a union, the matrix is a sum of matrices ``>= 0``, each with a product ``>= 0`` with the
    row of its ellipsoid.

    Args:
        rows: (k, 10) of linear constraints; union: rows (m, 10) of ellipsoids, or none.
    """

    def __init__(self, rows: Array, union: list[Array]) -> None:
        self.rows, self.is_union, self.z = rows, bool(union), cp.Variable(PARAMETERS)
        self._given = [cp.Parameter(shape) for shape in (
            PARAMETERS, _EYE.shape, len(rows), rows.shape)]
        offset, matrix, level, normals = self._given
        whole = offset + matrix @ self.z
        parts = [cp.Variable(PARAMETERS) for _ in union]
        limits = [level + normals @ self.z >= 0, *([sum(parts) == whole] if union else []),
                  *(row @ part >= 0 for row, part in zip(union, parts, strict=True)),
                  *(cp.reshape(_AS_MATRIX @ part, (SIDE, SIDE), order="C") >> 0
                    for part in parts or [whole])]
        self._problem = cp.Problem(cp.Minimize(cp.sum_squares(self.z)), limits)

    def solve(self, *given: Array) -> bool:
        """Solve for offset (10,), matrix (10, 10), level (k,) and normals (k, 10); False where the
        optimum was not found."""
        for parameter, value in zip(self._given, given, strict=True):
            parameter.value = value
        return solve(self._problem)


class Lmi(Estimator):
    """Least squares under the linear matrix inequality of physical consistency."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self._support = settings.lmi.support
        self.needs_shape = self._support != "none"
        self._statement = lru_cache(maxsize=1)(self._stated)  # of the shape in use

    def _stated(self, shape: Shape | None) -> _Statement:
        """What holds in a shape, in the coordinates x of its reference body; the first row is that
        of the mass."""
        to_phi = reference_body(shape).to_phi
        rows, union, pseudo = _EYE[[MASS]], np.empty((0, PARAMETERS)), pseudo_inertia(to_phi.T)
        if shape is not None and self._support == "box":
            low, high = (to_phi[1:4] - np.outer(bound, to_phi[0]) for bound in shape.bounds)
            rows = np.concatenate([rows, low, -high])
        elif shape is not None and self._support == "ellipsoid":  # tr(J(to_phi x) Q)
            rows = np.stack([*rows, np.tensordot(pseudo, shape.ellipsoid)])
        elif shape is not None and self._support == "ellipsoids":
            union = np.stack([np.tensordot(pseudo, form) for form in shape.ellipsoids])
        rows, union = (a / np.linalg.norm(a, axis=1, keepdims=True) for a in (rows, union))
        return _Statement(rows, list(union))

    def solve(self, problem: Problem, shape: Shape | None) -> Solution:
        """The consistent body nearest to the data: unconstrained if it is feasible, else by a
        solver; see `Estimator.solve`."""
        self.check(shape)
        data, statement = regularise(problem, shape), self._statement(shape)
        free, unit, rows = data.optimum, data.mass_scale, statement.rows
        x, limits = free, np.r_[EPSILON * unit, np.zeros(len(rows) - 1)]
        if statement.is_union or not (np.linalg.eigvalsh(smat(MARGIN @ free))[0] > 0.0
                                      and (rows @ free > limits).all()):
            root = solve_triangular(data.matrix, _EYE)  # x = free + root @ z
            # A union is without the margin: both at once are too much for the solver.
            form = _EYE if statement.is_union else MARGIN
            scale = next((scale for scale in _SCALES if statement.solve(
                form @ free / unit, form @ root * (scale / unit), (rows @ free - limits) / unit,
                rows @ root * (scale / unit))), None)
            if scale is None:
                raise NotEnoughData("the data are too badly conditioned to find a consistent body")
            x = _repaired(free + root @ (scale * statement.z.value), rows, limits)
        if x[MASS] <= 2.0 * limits[0]:
            raise NotEnoughData(
                "no body that is allowed fits the data (mass without constraints: "
                f"{data.optimum[MASS]:.4g} kg); does the shape lie where the load is?")
        return data.solution(x)  # a margin in units of a very thin shape may be lost in rounding


def _repaired(x: Array, rows: Array, limits: Array) -> Array:
    """x with the solver's tolerance taken out of all constraints: as little of the mass as suffices
    goes to the reference body, which lies well within the shape."""
    within = x[MASS] * UNIT
    slack, room = (np.r_[rows @ body - limits, np.linalg.eigvalsh(smat(MARGIN @ body))[0]]
                   for body in (x, within))
    outside = (slack < 0.0) & (room > 0.0)
    share = float(np.max(slack[outside] / (slack - room)[outside], initial=0.0))
    return (1.0 - share) * x + share * within
