# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""`density`: maximum a posteriori over positive densities in the shape,

    max  log p(t | phi(rho)) + log p(log rho),

with a Gaussian process as the prior of log rho (`geometry/density_prior.py`), for each of several
widths ``min  phi'H phi/2 - g'phi + w'w/2,  phi = M (v exp(log m0 + D w))``, by Newton steps.
Rich data fix phi almost exactly, and phi is a curved function of w: its curvature is weighted by
what pulls at phi after a Gauss-Newton step, and a step that the objective refuses is first taken
back along the valley (second-order correction: Nocedal, Wright 2006, section 18.3), then halved.

Widths, and the shape as given against one that is wrong as far as the settings admit, are averaged
by their evidence (Laplace); without a shape, balls of several sizes. Errors of the shape are a
Gaussian slack beside the density. Intervals are those of the widest prior.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh, solve_triangular

from ..errors import InvalidSetting
from ..geometry.density_prior import MASS_SD, DensityPrior, balls, density_prior, shape_covariance
from ..geometry.shape import Shape
from ..inertia import PARAMETERS, Array, body_from_phi, is_consistent, phi_from_body, pseudo_inertia
from ..model.problem import Problem, triangle
from ..settings import Settings
from . import Estimator, Solution
from .reference_body import regularise

UNKNOWN_WIDTH = 5.0  # of an object of unknown shape, whose sizes are weighted by evidence
LOOSE_WIDTH = 3.0  # of an object in a shape that may be wrong
LOG_ODDS = np.log(10.0)  # of the shape being as given, before the data
_OUTSIDE = 4.0  # standard deviations of a centre of mass that a ball cannot hold
_LARGEST_STEP = 8.0  # of the log-density in one step
_STEPS, _SHORTEST = 60, 1e-6  # of a search; part of a step
_SETTLED = 1e-4  # squared Newton decrement: squared distance in standard deviations
_DESCENT = 1e-4  # of what the slope promises
_WEIGHTLESS = 18.0  # by which a log evidence is too small to matter
_EYE = np.eye(PARAMETERS)


class Mode(NamedTuple):
    """Most probable density of one width.

    Attributes:
        phi: (10,), slack included; inside: (10,) of the density alone, always consistent.
        covariance: (10, 10) of phi; evidence: its logarithm.
    """

    phi: Array
    inside: Array
    covariance: Array
    evidence: float


class Density(Estimator):
    """Log-density Gaussian process over the shape, four widths weighted by evidence.

    Without a shape: over balls about the sensor. Guarantees a physically consistent body.
    """

    def __init__(self, settings: Settings) -> None:
        if settings.estimator.weighting != "noise":
            raise InvalidSetting(
                f"estimator.weighting is '{settings.estimator.weighting}'; with estimator.method "
                "'density' it must be 'noise' (its evidence needs every sample at its own noise)")
        super().__init__(settings)
        balls(settings.shape.max_reach)  # made once in a process, and now: no estimate waits

    def solve(self, problem: Problem, shape: Shape | None) -> Solution:
        """The body of the most probable densities, averaged over widths or sizes by evidence; see
        `Estimator.solve`."""
        regularise(problem, shape)  # raises NotEnoughData
        information, vector = problem.information, problem.matrix.T @ problem.target
        if shape is None:
            return posterior_over_sizes(information, vector, self.settings.shape.max_reach)
        prior, even = density_prior(shape), shape.unit_phi
        error = shape_covariance(shape, even, self.settings.shape)
        # Linearised about the even body in the middle of the shape, then where the data have it:
        # pilot is the even body with its most probable error.
        phi = _rough_mass(information, vector) * even
        covariance = phi[0]**2 * (prior.wide_slack + error)
        pilot = phi + covariance @ np.linalg.solve(_EYE + information @ covariance,
                                                   vector - information @ phi)
        error = shape_covariance(shape, _at_center_of(pilot / pilot[0], even), self.settings.shape)
        loose = replace(prior, slack=prior.wide_slack + error, widths=(LOOSE_WIDTH,))
        wide = find_modes(information, vector, loose)[0]
        wide = wide._replace(evidence=wide.evidence - LOG_ODDS)
        phi, _ = average_modes([wide, *find_modes(information, vector, prior, wide.evidence)])
        gap = wide.phi - phi
        return Solution(phi, _symmetric(wide.covariance + np.outer(gap, gap)))


def posterior_over_sizes(information: Array, vector: Array, reach: float) -> Solution:
    """phi and its covariance of an object of unknown shape within this reach [m].

    The covariance is that of the mixture: within each size, and between them. A centre of mass
    beyond the reach is believed: the region is doubled until it holds it.
    """
    smallest, modes = _least_radius(information, vector), list[Mode]()
    while reach < smallest:
        reach *= 2.0
    for prior in (prior for radius, prior in balls(reach) if radius >= smallest):
        best = max((mode.evidence for mode in modes), default=-np.inf)
        modes += find_modes(information, vector, replace(prior, widths=(UNKNOWN_WIDTH,)), best)
    phi, weights = average_modes(modes)
    gaps = np.array([mode.phi for mode in modes]) - phi
    covariance = np.tensordot(weights, [mode.covariance for mode in modes], 1)
    return Solution(phi, _symmetric(covariance + gaps.T * weights @ gaps))


def _least_radius(information: Array, vector: Array) -> float:
    """Radius [m] about the sensor below which no ball can hold the measured centre of mass."""
    covariance = np.linalg.inv(information + np.diag([1e-4, *9 * (1.0,)]))  # it is light and near
    phi = covariance @ vector
    if not phi[0] > 0.0:
        return 0.0
    com = phi[1:4] / phi[0]
    jacobian = np.column_stack([-com, np.eye(3)]) / phi[0]
    spread = jacobian @ covariance[:4, :4] @ jacobian.T
    return float(np.linalg.norm(com) - _OUTSIDE * np.sqrt(np.linalg.eigvalsh(spread)[-1]))


def _rough_mass(information: Array, vector: Array) -> float:
    """Mass [kg] by the force alone; positive."""
    return max(float(vector[0] / information[0, 0]), 1e-3)


def find_modes(information: Array, vector: Array, prior: DensityPrior,
               best: float = -np.inf) -> list[Mode]:
    """The most probable density of each width of the prior, with the slack that goes with it.

    Args:
        best: log evidence of another mode: what is far below need not be exact.

    phi is that of the density plus an error e of covariance ``S = m0^2 slack``: the density sees
    the information ``(1 + H S)^-1 H``.
    """
    mass = _rough_mass(information, vector)
    slack = mass**2 * prior.slack
    shrink = np.linalg.inv(_EYE + information @ slack)
    seen, seen_vector = _symmetric(shrink @ information), shrink @ vector
    # The same for all widths, not for all shapes.
    beside = 0.5 * float(vector @ slack @ seen_vector + np.linalg.slogdet(shrink)[1])
    out = []
    for width in prior.widths:
        share = beside - prior.width_penalty * np.log(width)
        mode = find_mode(seen, seen_vector, prior, width, mass, best - _WEIGHTLESS - share)
        best = max(best, mode.evidence + share)
        error = slack @ (shrink @ (vector - information @ mode.phi))
        out.append(Mode(mode.phi + error, mode.phi,
                        shrink.T @ mode.covariance @ shrink + shrink.T @ slack,
                        mode.evidence + share))
    return out


def average_modes(modes: list[Mode]) -> tuple[Array, Array]:
    """Mean phi (10,) of the modes by evidence, physically consistent, and their weights (n,)."""
    evidence = np.array([m.evidence for m in modes])
    weights = np.exp(evidence - evidence.max())
    weights /= weights.sum()
    phi = weights @ np.array([m.phi for m in modes])
    if not is_consistent(phi):  # as far from the densities towards the mean as a body goes
        inside = _at_center_of(phi, weights @ np.array([m.inside for m in modes]))
        least = eigh(pseudo_inertia(phi - inside), pseudo_inertia(inside), eigvals_only=True)[0]
        phi = inside + 0.99 / max(-least, 1.0) * (phi - inside)
    return phi, weights


def _at_center_of(phi: Array, body: Array) -> Array:
    """A body (10,) with the mass and the centre of mass of phi (10,), as far as that is positive,
    and the inertia of another body (10,), scaled."""
    if not phi[0] > 0.0:
        return body
    mass, _, inertia = body_from_phi(body)
    return phi_from_body(float(phi[0]), phi[1:4] / phi[0], phi[0] / mass * inertia)


class _Search:
    """The objective of one width in the states w (r,): modes of the density, and the mass.

    Attributes:
        phi: (10,) of the states, slope: (10, r) of phi, value: minus the log posterior, up to a
            constant.
    """

    def __init__(self, information: Array, vector: Array, prior: DensityPrior, width: float,
                 mass: float) -> None:
        self._information, self._vector = information, vector
        self._modes = np.column_stack([width * prior.modes,
                                       np.full(len(prior.volumes), MASS_SD)])
        self._moments = mass * prior.moments
        self._move_to(np.zeros(self._modes.shape[1]))

    def _move_to(self, states: Array) -> None:
        self._states, density = states, np.exp(self._modes @ states)
        self.phi, self._columns = self._moments @ density, self._moments * density
        self.slope = self._columns @ self._modes
        self._pull = self._information @ self.phi - self._vector
        self.value = float(0.5 * (self.phi @ (self._pull - self._vector) + states @ states))

    def step(self) -> float:
        """Move to a better point by a damped Newton step; the squared decrement of Gauss-Newton, 0
        where there is none.

        The curvature of phi is weighted by what pulls at phi after a Gauss-Newton step (a Lagrange
        multiplier). A step that the objective refuses is taken back by what phi moved beyond its
        linear change (second-order correction: Nocedal, Wright 2006, section 18.3), then halved.
        """
        seen = self._information @ self.slope
        gradient = self.slope.T @ self._pull + self._states
        hessian = self.slope.T @ seen + np.eye(len(gradient))
        factors = [cho_factor(hessian, check_finite=False)]
        change = -cho_solve(factors[0], gradient, check_finite=False)
        decrement = -float(gradient @ change)
        weights = (self._pull + seen @ change) @ self._columns
        try:
            factors.insert(0, cho_factor(hessian + (self._modes.T * weights) @ self._modes,
                                         check_finite=False))
        except np.linalg.LinAlgError:
            pass  # indefinite
        part = 1.0
        while part > _SHORTEST:
            for factor in factors:
                ahead = -cho_solve(factor, gradient, check_finite=False)
                ahead *= part * min(1.0, _LARGEST_STEP / np.abs(self._modes @ ahead).max())
                if self._accept(ahead, gradient):
                    return decrement
                bent = self._columns @ np.expm1(self._modes @ ahead) - self.slope @ ahead
                back = cho_solve(factor, self.slope.T @ (self._information @ bent),
                                 check_finite=False)
                if self._accept(ahead - back, gradient):
                    return decrement
            part *= 0.5
        return 0.0

    def _accept(self, change: Array, gradient: Array) -> bool:
        """Move by a change of the states, if it is no leap and descends."""
        growth = self._modes @ change  # of the log-density
        if np.abs(growth).max() > 1.01 * _LARGEST_STEP:
            return False
        moved = self._columns @ np.expm1(growth)
        # From differences: both values are huge.
        decrease = -float(moved @ (self._pull + 0.5 * (self._information @ moved))
                          + change @ (self._states + 0.5 * change))
        if not decrease > -_DESCENT * float(gradient @ change):
            return False
        self._move_to(self._states + change)
        return True


def find_mode(information: Array, vector: Array, prior: DensityPrior, width: float,
              mass: float, least: float = -np.inf) -> Mode:
    """The most probable density of one width, to 1e-2 standard deviations.

    Args:
        information, vector: (10, 10) and (10,) of the data; mass: [kg] of an even density.
        least: evidence below which the mode does not matter, and need not be exact.
    """
    search = _Search(information, vector, prior, width, mass)
    for _ in range(_STEPS):
        decrement = search.step()
        if decrement < _SETTLED or decrement - search.value < least:
            break
    # (1 + G'HG)^-1 between slopes G, by the triangle of G' (r, 10): ten unknowns, not r.
    upper = triangle(search.slope.T)
    root = np.linalg.cholesky(_EYE + upper @ information @ upper.T)
    half = solve_triangular(root, upper, lower=True, check_finite=False)
    evidence = -search.value - float(np.log(root.diagonal()).sum())
    return Mode(search.phi, search.phi, half.T @ half, evidence)


def _symmetric(matrix: Array) -> Array:
    """The symmetric part of a matrix (n, n)."""
    return 0.5 * (matrix + matrix.T)
