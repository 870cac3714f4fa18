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

from dataclasses import replace
from itertools import zip_longest
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh
from scipy.linalg.lapack import dposv, dpotrs

from ..geometry.density_prior import MASS_SD, DensityPrior, balls, density_prior, shape_covariance
from ..geometry.shape import Shape
from ..inertia import PARAMETERS, Array, body_from_phi, is_consistent, phi_from_body, pseudo_inertia
from ..model.problem import Problem, triangle
from ..settings import Settings
from . import Estimator, Solution
from .reference_body import EPSILON, MASS, MAX_STEPS, regularise

# Standard deviations of the log-density, widest first, in what only bounds an object or may be its
# own outline; so many times as wide, but for the narrowest, in what it fills, and for intervals.
WIDTHS, WIDER = 2.0 * 10.0 ** (-np.arange(5) / 2.0), 1.5
UNKNOWN_WIDTH = 5.0  # of an object of unknown shape, whose sizes are weighted by evidence
EVEN = 2.0  # what fills its shape is rather even: evidence is multiplied by width**-EVEN
LOG_ODDS = np.log(10.0)  # of the shape being as given, before the data
_LARGEST_STEP = np.log(np.finfo(float).max) / 3.0  # of the log-density: no square overflows
_EYE = np.eye(PARAMETERS)


class Mode(NamedTuple):
    """Most probable density of one prior and width.

    Attributes:
        phi: (10,), slack included; inside: (10,) of the density alone, always consistent.
        covariance: (10, 10) of phi; evidence: its logarithm.
        found: (r,) states of its search, those of the density times the width.
    """

    phi: Array
    inside: Array
    covariance: Array
    evidence: float
    found: Array


class Density(Estimator):
    """Log-density Gaussian process over the shape, several widths weighted by evidence.

    Without a shape: over balls about the sensor. Guarantees a physically consistent body.
    """

    needs_noise = True  # its evidence needs every sample at its own noise

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        balls(settings.shape.max_reach)  # made once in a process, and now: no estimate waits

    def solve(self, problem: Problem, shape: Shape | None) -> Solution:
        """The body of the most probable densities, averaged over widths or sizes by evidence; see
        `Estimator.solve`.

        Without a shape the covariance is that of the mixture, within each size and between them. A
        centre of mass beyond the longest reach is believed: it is doubled until it holds it.
        """
        data = regularise(problem, shape)
        information, vector = problem.matrix.T @ problem.matrix, problem.matrix.T @ problem.target
        pilot = data.body.to_phi @ (data.compact / data.compact[MASS])
        if shape is None:
            reach, far = self.settings.shape.max_reach, float(np.linalg.norm(pilot[1:4]))
            while reach < far:
                reach *= 2.0
            modes = [find_mode(information, vector, prior, UNKNOWN_WIDTH, near=near)
                     for (radius, prior), near in zip_longest(balls(reach), problem.near)
                     if radius >= far]
            phi, weights = average_modes(modes)
            gaps = np.array([mode.phi for mode in modes]) - phi
            covariance = np.tensordot(weights, [mode.covariance for mode in modes], 1)
            covariance = _symmetric(covariance + gaps.T * weights @ gaps)
            return Solution(phi, covariance, tuple(mode.found for mode in modes))
        prior = density_prior(shape)
        loose = replace(prior, slack=prior.wide_slack + shape_covariance(
            shape, pilot, self.settings.shape))
        even, widths = (0.0, WIDTHS) if shape.bounding else (EVEN, WIDER * WIDTHS[:-1])
        modes = [find_mode(information, vector, loose, WIDER * WIDTHS[0], -LOG_ODDS)]
        for width in widths:
            modes.append(find_mode(information, vector, prior, width, -even * np.log(width),
                                   modes[-1].found))
        phi, _ = average_modes(modes)
        gap = modes[0].phi - phi
        return Solution(phi, _symmetric(modes[0].covariance + np.outer(gap, gap)))


def find_mode(information: Array, vector: Array, prior: DensityPrior, width: float,
              odds: float = 0.0, near: Array | None = None) -> Mode:
    """The most probable density of one width, to 1e-2 standard deviations, and its slack.

    phi is that of the density plus an error e of covariance ``S = m0^2 slack``: the density sees
    the information ``(1 + H S)^-1 H``.

    Args:
        information, vector: (10, 10) and (10,) of the data.
        odds: logarithm of the odds of this prior before the data.
        near: what was found with another width, from which to search; None: an even density.
    """
    mass = max(float(vector[0] / information[0, 0]), 1e-3)  # [kg] by the force alone
    slack = mass**2 * prior.slack
    shrink = np.linalg.inv(_EYE + information @ slack)
    seen, seen_vector = _symmetric(shrink @ information), shrink @ vector
    # The same for all widths, not for all shapes.
    beside = 0.5 * float(vector @ slack @ seen_vector + np.linalg.slogdet(shrink)[1])
    search = _Search(seen, seen_vector, prior, width, mass, near)
    for _ in range(MAX_STEPS):
        if search.step() < EPSILON:  # squared distance in standard deviations
            break
    # (1 + G'HG)^-1 between slopes G, by the triangle of G' (r, 10): ten unknowns, not r.
    upper = triangle(search.slope.T)
    root = np.linalg.cholesky(_EYE + upper @ seen @ upper.T)
    half = np.linalg.solve(root, upper) @ shrink
    error = slack @ (shrink @ (vector - information @ search.phi))
    return Mode(search.phi + error, search.phi, half.T @ half + shrink.T @ slack,
                odds + beside - search.value - float(np.log(root.diagonal()).sum()),
                np.r_[width * search.states[:-1], search.states[-1]])


def average_modes(modes: list[Mode]) -> tuple[Array, Array]:
    """Mean phi (10,) of the modes by evidence, physically consistent, and their weights (n,)."""
    evidence = np.array([m.evidence for m in modes])
    weights = np.exp(evidence - evidence.max())
    weights /= weights.sum()
    phi = weights @ np.array([m.phi for m in modes])
    if not is_consistent(phi):  # as far from the densities towards the mean as a body goes
        inside = body_from_phi(weights @ np.array([m.inside for m in modes])).inertia_com
        body = phi_from_body(float(phi[0]), phi[1:4] / phi[0], inside)
        least = eigh(pseudo_inertia(phi - body), pseudo_inertia(body), eigvals_only=True)[0]
        phi = body + 0.99 / max(-least, 1.0) * (phi - body)
    return phi, weights


class _Search:
    """The objective of one width in the states w (r,): modes of the density, and the mass.

    Attributes:
        phi: (10,) of the states, slope: (10, r) of phi, value: minus the log posterior, up to a
            constant.
    """

    def __init__(self, information: Array, vector: Array, prior: DensityPrior, width: float,
                 mass: float, near: Array | None) -> None:
        self._information, self._vector = information, vector
        self._modes = np.column_stack([width * prior.modes, np.full(len(prior.volumes), MASS_SD)])
        self._moments = mass * prior.columns * prior.volumes  # of an even density at each node
        self._move_to(np.zeros(self._modes.shape[1]) if near is None else np.r_[
            near[:-1] / width, near[-1]])

    def _move_to(self, states: Array) -> None:
        self.states, density = states, np.exp(self._modes @ states)
        self.phi, self._columns = self._moments @ density, self._moments * density
        self.slope = self._columns @ self._modes
        self._pull = self._information @ self.phi - self._vector
        self.value = float(0.5 * (self.phi @ (self._pull - self._vector) + states @ states))

    def step(self) -> float:
        """Move to a better point by a damped Newton step, see the module; the squared decrement of
        Gauss-Newton, 0 where there is none."""
        seen = self._information @ self.slope
        gradient = self.slope.T @ self._pull + self.states
        hessian = self.slope.T @ seen + np.eye(len(gradient))
        factor, change, is_rounded = dposv(hessian, -gradient)
        if is_rounded:  # to what is not positive definite
            change = -np.linalg.solve(hessian, gradient)
        weights = (self._pull + seen @ change) @ self._columns
        curved = hessian + (self._modes.T * weights) @ self._modes
        root, ahead, is_indefinite = dposv(curved, -gradient)
        if is_indefinite:
            root, ahead = factor, change.copy()
        ahead *= min(1.0, _LARGEST_STEP / np.abs(self._modes @ ahead).max())
        while np.abs(ahead).max() > EPSILON:
            if self._accept(ahead) or self._accept(ahead - dpotrs(
                    root, seen.T @ (self._moved - self.slope @ ahead))[0]):
                return -float(gradient @ change)
            ahead *= 0.5
        return 0.0

    def _accept(self, change: Array) -> bool:
        """Move by a change of the states, if it is no leap and descends."""
        growth = self._modes @ change  # of the log-density
        if np.abs(growth).max() > 1.01 * _LARGEST_STEP:
            return False
        self._moved = moved = self._columns @ np.expm1(growth)
        # From differences: both values are huge.
        decrease = -float(moved @ (self._pull + 0.5 * (self._information @ moved))
                          + change @ (self.states + 0.5 * change))
        if decrease > 0.0:
            self._move_to(self.states + change)
        return decrease > 0.0


def _symmetric(matrix: Array) -> Array:
    """The symmetric part of a matrix (n, n)."""
    return 0.5 * (matrix + matrix.T)
