# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""`lmi`: least squares over all physically consistent bodies (Wensing, Kim, Slotine 2017).

``min |R phi - t|^2  s.t.  J(phi) >= epsilon m J(reference body)``, Theorem 3, with the biases
eliminated beforehand. The margin is linear in phi, scales with the mass, and does not depend on the
axes. Optional: the centre of mass in the shape's bounding box, a density realisable on the shape's
bounding ellipsoid (eq. 23, which implies eq. 22 for the centre of mass), the largest mass.

In the variables ``z = R (x - x0)``, x0 the unconstrained optimum, the problem is the least
distance from the origin to a cone: the Hessian is 1 however badly conditioned the data are, and the
objective holds no large constant. When x0 is feasible it is the optimum and no solver is called;
else Newton's method on the dual (`dual_newton`) mostly ends it, and Clarabel where it does not or a
linear constraint holds.
"""

from __future__ import annotations

import numpy as np

from ..errors import InvalidShape, NotEnoughData
from ..geometry.shape import Shape
from ..inertia import Array, pseudo_inertia
from ..linalg import identity, solve_upper, symmetric_eigen
from ..regression.problem import Marginal, Problem
from ..settings import Settings
from .base import Solution
from .reference_body import (
    MASS,
    ReferenceBody,
    ReferenceBodyCache,
    RegularisedProblem,
    margin_matrix,
    regularise,
)
from .solvers.dual_newton import solve_by_dual
from .solvers.semidefinite import LeastDistance
from .solvers.triangle_vector import SVEC_SIZE, smat, svec

# A mass below this part of the problem's mass scale counts as no mass.
MASS_FLOOR = 1e-4
# Relative gap between the found point and the solver's lower bound at which a second, rescaled
# attempt is made.
ACCEPTED_GAP = 1e-6
PROVEN_GAP = 1e-9  # the same for Newton's method on the dual, without which the solver is asked
_SECOND = svec(np.diag([1.0, 1.0, 1.0, 0.0]))


class Lmi:
    """Least squares under the linear matrix inequality of physical consistency."""

    name = "lmi"
    needs_noise = "ratio of force to torque"
    guarantees_consistency = True

    def __init__(self, settings: Settings) -> None:
        self._weighting = settings.estimator.weighting
        self._max_mass = settings.estimator.max_mass
        self._support = settings.lmi.support
        self.needs_shape = self.keeps_mass_inside = self._support != "none"
        self._bodies = ReferenceBodyCache()
        linear = 1 + (self._max_mass > 0.0) + {"none": 0, "box": 6, "ellipsoid": 1}[self._support]
        self._solver = LeastDistance(linear)
        self._rows: tuple[ReferenceBody, Array, Array] | None = None  # cone, lengths of linear rows
        self._dual: Array | None = None  # factor of the dual of the last answer
        self._margin = margin_matrix(settings.lmi.epsilon)

    def solve(self, problem: Problem, shape: Shape | None) -> Solution:
        """The consistent body nearest to the data.

        Raises:
            NotEnoughData: no information about the mass, or no positive mass fits the data.
            InvalidShape: a support region is asked and no shape is there.
        """
        if self._support != "none" and shape is None:
            raise InvalidShape(f"lmi.support is '{self._support}', which needs a shape")
        marginal = problem.marginal(self._weighting)
        return self.solve_marginal(marginal, shape)

    def solve_marginal(self, marginal: Marginal, shape: Shape | None) -> Solution:
        """The consistent body nearest to data from which the biases are eliminated already."""
        body = self._bodies.of(shape)
        data = regularise(marginal.matrix, marginal.target, body)
        data.require_mass()
        cone, limits = self._cone(data, body, shape)
        x = self._solve_constrained(data, cone, limits)
        if x[MASS] <= 2.0 * limits[0]:  # at the floor
            raise NotEnoughData(
                "no body that is allowed fits the data (mass without constraints: "
                f"{data.optimum[MASS]:.4g} kg); does the shape lie where the load is?")
        # A margin in units of a very thin shape may be lost in rounding.
        phi = body.make_consistent(body.to_phi @ x)
        return Solution(phi, marginal.bias(phi), data.prior_information(body))

    def _cone(self, data: RegularisedProblem, body: ReferenceBody,
              shape: Shape | None) -> tuple[Array, Array]:
        """Rows g (k + 10, 10), of the linear constraints ``g @ x >= limit`` and of the margin, and
        the limits (k,)."""
        if self._rows is None or self._rows[0] is not body:
            rows, norms = self._normalised_rows(body, shape)
            self._rows = body, np.concatenate([rows, self._margin]), norms
        _, cone, norms = self._rows
        limits = np.zeros(len(norms))
        limits[0] = MASS_FLOOR * data.mass_scale
        if self._max_mass > 0.0:
            limits[0] = min(limits[0], 1e-3 * self._max_mass)
            limits[1] = -self._max_mass
        return cone, limits / norms

    def _normalised_rows(self, body: ReferenceBody, shape: Shape | None) -> tuple[Array, Array]:
        """The rows (k, 10), of length one, and their lengths (k,) before: a reference body belongs
        to one shape."""
        unit = np.eye(SVEC_SIZE)
        rows = [unit[MASS]]
        if self._max_mass > 0.0:
            rows.append(-unit[MASS])
        if shape is not None and self._support == "box":
            lower, upper = shape.bounds
            for k in range(3):
                rows.append(body.to_phi[1 + k] - lower[k] * body.to_phi[0])
                rows.append(upper[k] * body.to_phi[0] - body.to_phi[1 + k])
        if shape is not None and self._support == "ellipsoid":
            rows.append(_ellipsoid_row(shape) @ body.to_phi)
        matrix = np.array(rows)
        norms = np.linalg.norm(matrix, axis=1)
        return matrix / norms[:, None], norms

    def _solve_constrained(self, data: RegularisedProblem, cone: Array, limits: Array) -> Array:
        """Optimum (10,) in the coordinates x: unconstrained if it is feasible, else by a solver."""
        free = data.optimum
        linear, offset = cone[:len(limits)], cone @ free
        offset[:len(limits)] -= limits
        values, vectors = symmetric_eigen(smat(offset[len(limits):]))
        if values[0] > 0.0 and offset[:len(limits)].min() > 0.0:
            return free
        inverse = solve_upper(data.matrix, identity(SVEC_SIZE))
        matrix = cone @ inverse
        # Half-spaces that hold the cone; the farthest bounds the distance from below.
        across = svec(vectors[:, :1] * vectors[:, 0])
        levels = np.append(offset[:len(limits)], values[0])
        normals = np.concatenate([matrix[:len(limits)], (across @ matrix[len(limits):])[None]])
        unit = max(1.0, float(np.max(-levels / np.linalg.norm(normals, axis=1))))
        if values[0] < 0.0:
            x = self._solve_by_newton(data, offset[len(limits):], matrix[len(limits):], unit)
            if x is not None and np.all(linear @ x > limits):
                return x
        return self._solve_by_clarabel(data, offset, matrix, unit)

    def _solve_by_newton(self, data: RegularisedProblem, offset: Array, matrix: Array,
                         unit: float) -> Array | None:
        """Optimum (10,) with the margin as the only constraint; None where it was not found."""
        scale = unit / np.sqrt(data.mass_scale)  # of the dual's factor
        starts = [None] if self._dual is None else [self._dual * scale, None]
        self._dual = None
        for start in starts:
            found = solve_by_dual(offset / data.mass_scale, matrix * (unit / data.mass_scale),
                                  start)
            if found is None:
                continue
            x = self._repair(data.optimum + solve_upper(data.matrix, unit * found.nearest.z))
            square = float(np.sum((data.matrix @ x - data.target) ** 2))
            if square - unit**2 * found.nearest.lower_bound <= PROVEN_GAP * (1.0 + square):
                self._dual = found.factor / scale
                return x
        return None

    def _solve_by_clarabel(self, data: RegularisedProblem, offset: Array, matrix: Array,
                           unit: float) -> Array:
        """Optimum (10,) under all constraints."""
        best, smallest = None, np.inf
        for _ in range(2):
            found = self._solver.solve(offset / data.mass_scale,
                                       matrix * (unit / data.mass_scale))
            if found is not None:
                x = self._repair(data.optimum + solve_upper(data.matrix, unit * found.z))
                square = float(np.sum((data.matrix @ x - data.target) ** 2))
                if square < smallest:
                    best, smallest = x, square
                if square - unit**2 * found.lower_bound <= ACCEPTED_GAP * (1.0 + square):
                    break
                unit = max(1.0, unit * float(np.linalg.norm(found.z)))
            else:  # another scale takes the solver around the point where it broke down
                unit *= 3.0
        if best is None:
            raise NotEnoughData("the data are too badly conditioned to find a consistent body")
        return best

    def _repair(self, x: Array) -> Array:
        """x with the solver's tolerance taken out of the margin and of the largest mass.

        ``J >= epsilon m 1`` then holds exactly: second moments grow by as much as the Schur
        complement about the centre of mass lacks. The constraints of the shape hold as the solver
        left them.
        """
        if x[MASS] <= 0.0:
            return x
        if self._max_mass > 0.0:
            x = x * min(1.0, self._max_mass / x[MASS])
        margin = smat(self._margin @ x)
        central = margin[:3, :3] - margin[:3, 3, None] * margin[:3, 3] / margin[3, 3]
        lack = max(0.0, -float(np.linalg.eigvalsh(central)[0]))
        return x + lack * _SECOND


def _ellipsoid_row(shape: Shape) -> Array:
    """Row (10,) with ``row @ phi = tr(J(phi) Q)``."""
    return np.array([np.sum(pseudo_inertia(e) * shape.ellipsoid) for e in np.eye(10)])
