# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""`entropic`: least squares with the log-determinant prior of Lee, Wensing, Park 2020 (their GEO).

``min |R phi - t|^2 + gamma (-log det J(phi) + tr(J0^-1 J(phi)))`` (entropic divergence, eq. 19),
with J0 the evenly filled shape of the measured mass. The barrier keeps ``J > 0``.

In the coordinates of the reference body and per measured mass, J0 is the identity. There
``exp(-gamma/2 (...))`` is a Wishart density with its mode at J0, in which an entry has a standard
deviation of about ``1 / sqrt(gamma)``: gamma = 4 says that the body resembles the evenly filled
shape to 50 % of itself. The density's constant is known, so that the data can choose the weight by
their evidence (Laplace's approximation): heavy where the shape is filled evenly, light where not.
Intervals do not follow it above a weight: little data agree with every one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import multigammaln

from ..errors import InvalidShape
from ..geometry.density_prior import shape_covariance
from ..geometry.shape import Shape
from ..inertia import Array
from ..model.problem import Problem
from ..settings import Settings
from . import Solution
from .barrier import NEAR, BarrierFit, Step
from .reference_body import SIDE, covariance_of, no_load, regularise, smat, svec

SMALLEST = 1e-9  # second moment added, in units of J0, so that rounding cannot spoil J > 0
GAMMAS = tuple(np.sqrt(10.0) ** np.arange(6, -3, -1))  # to choose from, strongest first
LARGEST = 8.0  # gamma with which the prior adds to what is known


class Entropic:
    """Least squares with a prior that the body resembles the evenly filled shape."""

    name = "entropic"
    needs_shape, needs_wrench = True, False

    def __init__(self, settings: Settings) -> None:
        self._shape_settings = settings.shape

    def solve(self, problem: Problem, shape: Shape | None) -> Solution:
        """The body of least sum of squares and divergence; see `Estimator.solve`.

        The prior's information is half the Hessian of the divergence term at the optimum, as that
        of the data is half the Hessian of the sum of squares; less as far as the shape may be
        wrong.
        """
        if shape is None:
            raise InvalidShape("the estimator 'entropic' needs a shape")
        data = regularise(problem, shape, needs_mass=False)
        body, mass = data.body, data.mass
        if not mass > 0.0:
            raise no_load(mass)
        modes = find_modes(smat(mass * problem.matrix @ body.to_phi), problem.target, GAMMAS)
        gamma, mode = max(zip(GAMMAS, modes, strict=True), key=lambda pair: log_evidence(*pair))
        pseudo = mode.factor @ mode.factor.T + SMALLEST * np.diag([1.0, 1.0, 1.0, 0.0])
        phi = body.make_consistent(mass * (body.to_phi @ svec(pseudo)))
        # Half the Hessian of -log det: D -> Z^-1 D Z^-1, by a factor of Z.
        inverse = np.linalg.inv(mode.factor)
        root = np.sqrt(0.5 * min(gamma, LARGEST)) * svec(
            inverse @ smat(body.from_phi.T / mass) @ inverse.T)
        error = shape_covariance(shape, phi, self._shape_settings)
        # Of a prior with this error added, neither of full rank: root (1 + root' C root)^-1 root'.
        larger, axes = np.linalg.eigh(np.eye(len(root)) + root.T @ error @ root)
        root = root @ axes / np.sqrt(np.maximum(larger, 1.0))  # 1, but for rounding
        return Solution(phi, covariance_of(np.concatenate([problem.matrix, root.T])))


def find_modes(tensor: Array, target: Array, gammas: Sequence[float]) -> list[Step]:
    """The optimum for each of several weights, which must fall.

    Args:
        tensor: (n, 4, 4) rows on pseudo-inertias in units of J0, as symmetric matrices;
            target: (n,).
    """
    fit = BarrierFit(tensor, target)
    factor: Array = np.eye(SIDE)
    for weight in fit.weights_down_to(gammas[0]):
        factor = fit.find_center(weight, factor, NEAR).factor
    modes = []
    for gamma in gammas:
        modes.append(fit.find_center(gamma, factor))
        factor = modes[-1].factor
    return modes


def log_evidence(gamma: float, mode: Step) -> float:
    """Log of the Wishart density at the mode, times the likelihood, times the width of their
    product (Laplace's approximation)."""
    logdet = 2.0 * float(np.linalg.slogdet(mode.factor)[1])
    a = 0.5 * gamma
    return float(-0.5 * (mode.residual @ mode.residual) + a * (logdet - np.sum(mode.factor**2))
                 - multigammaln(a + 2.5, SIDE) + SIDE * (a + 2.5) * np.log(a)
                 - np.log(np.abs(np.diag(mode.triangle))).sum() + 2.5 * logdet)
