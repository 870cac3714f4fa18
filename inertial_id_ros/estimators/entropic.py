# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""`entropic`: least squares with the log-determinant prior of Lee, Wensing, Park 2020 (their GEO).

``min |R phi - t|^2 + gamma (-log det J(phi) + tr(J0^-1 J(phi)))`` (entropic divergence, eq. 19),
with J0 the evenly filled shape of the measured mass; the barrier keeps ``J > 0``. In coordinates in
which J0 is one, ``exp(-gamma/2 (...))`` is a Wishart density with its mode at J0: gamma = 4
says that the body resembles the evenly filled shape to 50 % of itself. Its constant is known, so
that the evidence of the data chooses gamma (Laplace). Intervals do not follow gamma above a weight:
little data agree with every one.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.special import multigammaln

from ..geometry.density_prior import shape_covariance
from ..geometry.shape import Shape
from ..inertia import SIDE, Array
from ..model.problem import Problem, covariance_of, triangle
from . import Estimator, Solution
from .reference_body import MAX_STEPS, NEGLIGIBLE, UNIT, no_load, regularise, smat, svec

STAGE = np.sqrt(0.1)  # factor from one weight to the next
GAMMAS = tuple(STAGE ** np.arange(-6, 3))  # to choose from, strongest first
LARGEST = 8.0  # gamma with which the prior adds to what is known


class Step(NamedTuple):
    """A Newton step.

    Attributes:
        factor: P (4, 4) it starts from; residual: (n,) ``A svec(Z) - t`` there.
        change: (4, 4) from the identity, of the length that lowers the objective most.
        triangle: (10, 10) upper factor of half the Hessian at the start.
        decrement: squared Newton decrement over w, twice what the full step promises.
    """

    factor: Array
    residual: Array
    change: Array
    triangle: Array
    decrement: float


def newton(tensor: Array, target: Array, weight: float, factor: Array) -> Step:
    """The Newton step from ``Z = P P'`` to ``min |A svec(Z) - t|^2 + w (tr Z - log det Z)`` in the
    frame of P, where the Hessian of the barrier is the identity.

    Over w the function is self-concordant, so that damped steps converge from anywhere (Boyd,
    Vandenberghe 2004, section 9.6); few are needed where w falls in stages.

    Args:
        tensor: (n, 4, 4) rows of A as symmetric matrices; target: t (n,); factor: P (4, 4).
    """
    matrix, pull = svec(factor.T @ tensor @ factor), factor.T @ factor
    residual, root = matrix @ UNIT - target, np.sqrt(0.5 * weight)
    upper = triangle(np.block([
        [matrix, -residual[:, None]],
        [root * np.eye(len(UNIT)), root * (UNIT - svec(pull))[:, None]]]))
    side = upper[:-1, -1]
    decrement = 2.0 * float(side @ side) / weight
    change = smat(np.linalg.solve(upper[:-1, :-1], side)) / (1.0 + np.sqrt(decrement))
    return Step(factor, residual, change, upper[:-1, :-1], decrement)


def stages(tensor: Array, target: Array, last: float = NEGLIGIBLE) -> Iterator[float]:
    """Weights from where ``Z = 1`` is almost the optimum down to the last one."""
    matrix = svec(tensor)
    weight = float(np.linalg.norm(2.0 * matrix.T @ (matrix @ UNIT - target)))
    while weight > last:
        yield weight
        weight *= STAGE
    yield last


def find_mode(tensor: Array, target: Array, weight: float, factor: Array) -> Step:
    """The step at the optimum of one weight; see `newton`."""
    for _ in range(MAX_STEPS):
        step = newton(tensor, target, weight, factor)
        if step.decrement <= NEGLIGIBLE:
            break
        factor = factor @ np.linalg.cholesky(np.eye(SIDE) + step.change)
    return step


class Entropic(Estimator):
    """Least squares with a prior that the body resembles the evenly filled shape."""

    needs_shape = True

    def solve(self, problem: Problem, shape: Shape | None) -> Solution:
        """The body of least sum of squares and divergence; see `Estimator.solve`.

        The prior's information is half the Hessian of the divergence term at the optimum, as that
        of the data is half the Hessian of the sum of squares; less as far as the shape may be
        wrong.
        """
        self.check(shape)
        assert shape is not None
        data = regularise(problem, shape, needs_mass=False)
        body, mass = data.body, data.mass
        if not mass > 0.0:
            raise no_load(mass)
        tensor, target = smat(mass * problem.matrix @ body.to_phi), problem.target
        factor: Array = np.eye(SIDE)
        for weight in stages(tensor, target, GAMMAS[0]):
            factor = find_mode(tensor, target, weight, factor).factor
        modes = list[Step]()
        for gamma in GAMMAS:
            modes.append(find_mode(tensor, target, gamma, factor))
            factor = modes[-1].factor
        gamma, mode = max(zip(GAMMAS, modes, strict=True), key=lambda pair: log_evidence(*pair))
        phi = body.make_consistent(mass * (body.to_phi @ svec(mode.factor @ mode.factor.T)))
        # Half the Hessian of -log det: D -> Z^-1 D Z^-1, by a factor of Z.
        inverse = np.linalg.inv(mode.factor)
        root = np.sqrt(0.5 * min(gamma, LARGEST)) * svec(
            inverse @ smat(body.from_phi.T / mass) @ inverse.T)
        error = shape_covariance(shape, phi, self.settings.shape)
        # Of a prior with this error added, neither of full rank: root (1 + root' C root)^-1 root'.
        larger, axes = np.linalg.eigh(np.eye(len(root)) + root.T @ error @ root)
        root = root @ axes / np.sqrt(np.maximum(larger, 1.0))  # 1, but for rounding
        return Solution(phi, covariance_of(np.concatenate([problem.matrix, root.T])))


def log_evidence(gamma: float, mode: Step) -> float:
    """Log of the Wishart density at the mode, times the likelihood, times the width of their
    product (Laplace's approximation)."""
    logdet = 2.0 * float(np.linalg.slogdet(mode.factor)[1])
    a = 0.5 * gamma
    return float(-0.5 * (mode.residual @ mode.residual) + a * (logdet - np.sum(mode.factor**2))
                 - multigammaln(a + 2.5, SIDE) + SIDE * (a + 2.5) * np.log(a)
                 - np.log(np.abs(np.diag(mode.triangle))).sum() + 2.5 * logdet)
