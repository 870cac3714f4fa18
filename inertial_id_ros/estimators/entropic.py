# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""`entropic`: least squares with the log-determinant prior of Lee, Wensing, Park 2020 (their GEO).

``min |R phi - t|^2 + gamma (-log det J(phi) + tr(J0^-1 J(phi)))`` (entropic divergence, eq. 19),
with J0 the evenly filled shape of the measured mass. The barrier keeps ``J > 0``.

In the coordinates of the reference body and per measured mass, J0 is the identity. There
``exp(-gamma/2 (...))`` is a Wishart density with its mode at J0, in which an entry has a standard
deviation of about ``1 / sqrt(gamma)``: gamma = 4 says that the body resembles the evenly filled
shape to 50 % of itself. The density's constant is known, so that the data can choose the weight by
their evidence (Laplace's approximation): heavy where the shape is filled evenly, light where not.
Intervals do not follow it above the weight of the settings: little data agree with every weight.
"""

from __future__ import annotations

import numpy as np

from ..errors import InvalidShape
from ..geometry.shape import Shape
from ..regression.problem import Problem
from ..settings import Settings
from .base import Solution
from .reference_body import ReferenceBodyCache, measure_mass, weaken_prior
from .solvers.interior_point import LogDetFit, curvature, smat, svec

SMALLEST = 1e-9  # second moment added, in units of J0, so that rounding cannot spoil J > 0


class Entropic:
    """Least squares with a prior that the body resembles the evenly filled shape."""

    name = "entropic"
    needs_shape = True
    keeps_mass_inside = False
    needs_wrench = False
    needs_noise = "yes"
    guarantees_consistency = True

    def __init__(self, settings: Settings) -> None:
        self._weighting = settings.estimator.weighting
        self._gamma, self._largest = settings.entropic.gamma, settings.entropic.largest_gamma
        self._shape_settings = settings.shape
        self._bodies = ReferenceBodyCache()

    def solve(self, problem: Problem, shape: Shape | None) -> Solution:
        """The body of least sum of squares and divergence.

        ``prior_information`` is half the Hessian of the divergence term at the optimum (of weight
        ``largest_gamma`` at most where the data choose it), as that of the data is half the Hessian
        of the sum of squares; less as far as the shape may be wrong.

        Raises:
            InvalidShape: no shape.
            NotEnoughData: no information about the mass, or no positive mass fits.
        """
        if shape is None:
            raise InvalidShape("the estimator 'entropic' needs a shape")
        marginal = problem.marginal(self._weighting)
        body = self._bodies.of(shape)
        rows = marginal.matrix @ body.to_phi
        mass = measure_mass(rows, marginal.target)
        fit = LogDetFit(smat(mass * rows), marginal.target)
        mode = fit.find_mode(self._gamma) if self._gamma else fit.best_mode()
        pseudo = mode.factor @ mode.factor.T + SMALLEST * np.diag([1.0, 1.0, 1.0, 0.0])
        phi = body.make_consistent(mass * (body.to_phi @ svec(pseudo)))
        to_unit = body.from_phi / mass
        information = to_unit.T @ curvature(mode.factor) @ to_unit
        claimed = self._gamma or min(mode.gamma, self._largest)
        wrong = shape.error(self._shape_settings).covariance(phi)
        return Solution(phi, marginal.bias(phi), weaken_prior(0.5 * claimed * information, wrong))
