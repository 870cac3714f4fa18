# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""`manifold`: physically consistent least squares on R x R3 x SO(3) x R3 (Traversaro et al. 2016).

The body is (m, c, Q, L): mass, centre of mass, principal axes, second moments of mass along them
(eqs 15, 22); ``m > 0, L >= 0`` is all that full physical consistency asks (Theorem 1). Problem
(24)-(25) is solved by sequential quadratic programming (`solvers.body_manifold`). Every iterate is
a physical body, also the one at which the steps run out. The optimum is that of `lmi`: the
same data, weak prior and margin ``J >= epsilon m J(reference body)``, all in the coordinates of the
reference body.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..errors import NotEnoughData
from ..geometry.shape import Shape
from ..regression.problem import Marginal, Problem
from ..settings import Settings
from .base import Solution
from .lmi import MASS_FLOOR
from .reference_body import (
    MASS,
    ReferenceBodyCache,
    RegularisedProblem,
    margin_matrix,
    no_load,
    regularise,
)
from .solvers.body_manifold import Budget, LeastSquares, Point, minimise
from .solvers.interior_point import smat, svec

MAX_STEPS = 100  # after which the best body so far is the answer


class Manifold:
    """Least squares over bodies by mass, centre, principal axes and second moments."""

    name = "manifold"
    needs_shape = False
    keeps_mass_inside = False
    needs_wrench = False
    needs_noise = "ratio of force to torque"
    guarantees_consistency = True

    def __init__(self, settings: Settings) -> None:
        self._weighting = settings.estimator.weighting
        self._max_mass = settings.estimator.max_mass
        self._bodies = ReferenceBodyCache()
        self._margin = margin_matrix(settings.lmi.epsilon)
        self._from_margin = np.linalg.inv(self._margin)

    def solve(self, problem: Problem, shape: Shape | None) -> Solution:
        """The consistent body nearest to the data, or the best one after `MAX_STEPS`.

        Raises:
            NotEnoughData: no information about the mass, or no positive mass fits the data.
        """
        return self.solve_marginal(problem.marginal(self._weighting), shape)

    def solve_marginal(self, marginal: Marginal, shape: Shape | None) -> Solution:
        """The consistent body nearest to data from which the biases are eliminated already."""
        body = self._bodies.of(shape)
        data = regularise(marginal.matrix, marginal.target, body)
        data.require_mass()
        fit, start = self._fit(data)
        found = fit.unconstrained_optimum() or minimise(fit, start, Budget(MAX_STEPS))
        if found.mass <= 2.0 * fit.mass_low:
            raise NotEnoughData(no_load(float(data.optimum[MASS])))
        x = data.mass_scale * (self._from_margin @ svec(found.pseudo))
        phi = body.make_consistent(body.to_phi @ x)
        return Solution(phi, marginal.bias(phi), data.prior_information(body))

    def _fit(self, data: RegularisedProblem) -> tuple[LeastSquares, Point]:
        """The problem in the margin's coordinates, per mass scale, and a body to start from."""
        scale = data.mass_scale
        low, high, start = MASS_FLOOR, np.inf, self._margin @ data.compact / scale
        kept = self._margin[MASS, MASS]
        if self._max_mass > 0.0:
            high = kept * self._max_mass / scale
            low = min(low, 1e-3 * high)
            start = start * min(1.0, high / start[MASS])
        point = Point.of(smat(start))
        # A margin wider than the body (far from the reference body) needs more extent.
        point = replace(point, moments=np.maximum(point.moments, 0.1 * point.mass), zeros=0)
        matrix = data.matrix @ self._from_margin * scale
        return LeastSquares(smat(matrix), data.target, low, high), point
