# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""`density`: maximum a posteriori over positive densities in the shape,

    max  log p(t | phi(rho)) + log p(log rho),

with a Gaussian process as the prior of log rho (`geometry/density_prior.py`). Where no shape is
given, estimates for balls of several sizes are averaged by their evidence.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..errors import InvalidSetting
from ..geometry.density_prior import DensityPrior, balls, density_prior
from ..geometry.shape import Shape
from ..geometry.shape_error import ShapeError
from ..inertia import PARAMETERS, Array, is_consistent
from ..linalg import identity, inverse
from ..regression.problem import Problem, center_of_mass, unconstrained_fit
from ..settings import Settings
from .base import Solution
from .density_mode import Mode, find_mode
from .reference_body import ReferenceBodyCache, regularise

UNKNOWN_WIDTH = 5.0  # of an object of unknown shape, whose sizes are weighted by evidence
LOOSE_WIDTH = 3.0  # of an object in a shape that may be wrong
LOG_ODDS = np.log(10.0)  # of the shape being as told, before the data
_WEIGHTLESS = 18.0  # by which a log evidence is too small to matter
_OUTSIDE = 4.0  # standard deviations of a centre of mass that a ball cannot hold
_BISECTIONS, _MARGIN = 10, 0.99
_BOUND_INFORMATION = 1e4  # of the largest mass, over that of the data


# Modes of the last answer, by prior and width.
Memory = dict[tuple[bytes, float], Mode]  # by the prior's fingerprint and the width


class Density:
    """Log-density Gaussian process over the shape, four widths weighted by evidence.

    Without a shape: over balls about the sensor, weighted by evidence. Guarantees a physically
    consistent body.
    """

    name = "density"
    needs_shape = False
    keeps_mass_inside = False
    needs_wrench = False
    needs_noise = "yes"
    guarantees_consistency = True

    def __init__(self, settings: Settings) -> None:
        if settings.estimator.weighting != "noise":
            raise InvalidSetting(
                f"estimator.weighting is '{settings.estimator.weighting}'; with estimator.method "
                "'density' it must be 'noise' (its evidence needs every sample at its own noise)")
        self._max_mass = settings.estimator.max_mass
        self._settings = settings.shape
        balls(self._settings.max_reach)  # made once in a process, and now: no estimate waits
        self._bodies = ReferenceBodyCache()
        self._prior: tuple[Shape, DensityPrior, DensityPrior] | None = None
        self._memory: Memory = {}
        self._sizes: Memory = {}

    def solve(self, problem: Problem, shape: Shape | None) -> Solution:
        """The body of the most probable densities, averaged over widths or sizes by evidence."""
        marginal = problem.marginal("noise")
        regularise(marginal.matrix, marginal.target, self._bodies.of(shape)).require_mass()
        information, vector = marginal.information, marginal.matrix.T @ marginal.target
        phi, covariance = self._posterior(information, vector, shape)
        if 0.0 < self._max_mass < phi[0]:
            phi = self._solve_at_largest_mass(information, vector, shape, covariance)
        prior_information = inverse(covariance) - information
        return Solution(phi, marginal.bias(phi), _nearest_semidefinite(prior_information),
                        covariance)

    def _posterior(self, information: Array, vector: Array,
                   shape: Shape | None) -> tuple[Array, Array]:
        """phi (10,) and its covariance (10, 10) for the shape, or for one that is not known."""
        if shape is None:
            return posterior_over_sizes(information, vector, self._settings.max_reach, self._sizes)
        if self._prior is None or self._prior[0] is not shape:
            prior = density_prior(shape)
            loose = loose_prior(prior, shape.error(self._settings))
            self._prior, self._memory = (shape, prior, loose), {}
        return posterior(information, vector, *self._prior[1:], self._memory)

    def _solve_at_largest_mass(self, information: Array, vector: Array, shape: Shape | None,
                               covariance: Array) -> Array:
        """phi (10,) at the largest allowed mass.

        Args:
            covariance: (10, 10) of the answer without that bound.
        """
        at_bound = np.zeros((PARAMETERS, PARAMETERS))
        at_bound[0, 0] = _BOUND_INFORMATION / covariance[0, 0]
        phi, _ = self._posterior(information + at_bound,
                                 vector + at_bound[:, 0] * self._max_mass, shape)
        return phi * min(self._max_mass / phi[0], 1.0)


def loose_prior(prior: DensityPrior, error: ShapeError) -> DensityPrior:
    """The prior of a shape that may be wrong, from which intervals are computed as well.

    With the width that explains the data best, or the shape as told, intervals would be too narrow.
    """
    return replace(prior, slack=prior.wide_slack, widths=(LOOSE_WIDTH,), error=error)


def posterior(information: Array, vector: Array, prior: DensityPrior, loose: DensityPrior,
              memory: Memory | None = None) -> tuple[Array, Array]:
    """phi (10,) and its covariance (10, 10) from the information matrix and vector of the data.

    The shape as told and the loose one are weighed by evidence.

    Args:
        loose: `loose_prior` of this prior, kept by who keeps a memory; memory: modes of the same
        priors for the data before.
    """
    modes, bare = find_modes(information, vector, loose, loose.widths, memory)
    wrong = modes[0]._replace(evidence=modes[0].evidence - LOG_ODDS)
    told, inside = find_modes(information, vector, prior, prior.widths, memory, wrong.evidence)
    phi, _ = average_modes([wrong, *told], [*bare, *inside])
    gap = wrong.phi - phi
    covariance = wrong.covariance + np.outer(gap, gap)
    return phi, 0.5 * (covariance + covariance.T)


def posterior_over_sizes(information: Array, vector: Array, reach: float,
                         memory: Memory | None = None) -> tuple[Array, Array]:
    """phi (10,) and its covariance of an object of unknown shape within this reach [m].

    The covariance is that of the mixture: within each size, and between them. A centre of mass
    beyond the reach is believed: the region is doubled until it holds it.
    """
    memory = {} if memory is None else memory
    smallest = _least_radius(information, vector)
    while reach < smallest:
        reach *= 2.0
    priors = [prior for radius, prior in balls(reach) if radius >= smallest]
    modes: list[Mode] = []
    bare: list[Array] = []
    # The best of the last answer first: next to it others soon turn out not to matter.
    for prior in sorted(priors, key=lambda p: _last_evidence(memory, p), reverse=True):
        best = max((mode.evidence for mode in modes), default=-np.inf)
        found, plain = find_modes(information, vector, prior, (UNKNOWN_WIDTH,), memory, best)
        modes, bare = modes + found, bare + plain
    phi, weights = average_modes(modes, bare)
    covariance = sum(w * (m.covariance + np.outer(m.phi - phi, m.phi - phi))
                     for w, m in zip(weights, modes, strict=True))
    return phi, 0.5 * (covariance + covariance.T)


def _last_evidence(memory: Memory, prior: DensityPrior) -> float:
    """Log evidence of a size at the last answer; minus infinity if it was not tried."""
    mode = memory.get((prior.fingerprint, UNKNOWN_WIDTH))
    return -np.inf if mode is None else mode.evidence


def _least_radius(information: Array, vector: Array) -> float:
    """Radius [m] about the sensor below which no ball can hold the measured centre of mass."""
    phi, covariance = unconstrained_fit(information, vector)
    if not phi[0] > 0.0:
        return 0.0
    com, spread = center_of_mass(phi, covariance)
    return float(np.linalg.norm(com) - _OUTSIDE * np.sqrt(np.linalg.eigvalsh(spread)[-1]))


def find_modes(information: Array, vector: Array, prior: DensityPrior,
               widths: tuple[float, ...], memory: Memory | None = None, best: float = -np.inf
               ) -> tuple[list[Mode], list[Array]]:
    """Find the most probable density of each width: modes with slack, and phi (10,) without.

    Args:
        memory: modes of the same priors for the data before; renewed.
        best: log evidence of a mode beside which these are weighed.
    """
    memory = {} if memory is None else memory
    mass = max(vector[0] / information[0, 0], 1e-3)
    slack = Slack(mass**2 * prior.slack, information, vector)
    modes, bare = [], []
    for width in widths:
        beside = slack.evidence - prior.width_penalty * np.log(width)
        mode = find_mode(slack.information, slack.vector, prior, width, mass,
                         memory.get((prior.fingerprint, width)), best - _WEIGHTLESS - beside)
        added = slack.add_to(mode)
        added = added._replace(evidence=added.evidence + beside)
        best = max(best, added.evidence)
        memory[prior.fingerprint, width] = added
        modes.append(added)
        bare.append(mode.phi)
    return modes, bare


def average_modes(modes: list[Mode], bare: list[Array]) -> tuple[Array, Array]:
    """Mean phi (10,) of the modes by evidence, physically consistent, and their weights."""
    evidence = np.array([m.evidence for m in modes])
    weights = np.exp(evidence - evidence.max())
    weights /= weights.sum()
    phi = sum(w * m.phi for w, m in zip(weights, modes, strict=True))
    inside = sum(w * p for w, p in zip(weights, bare, strict=True))
    return _make_consistent(inside, phi), weights


def _make_consistent(inside: Array, phi: Array) -> Array:
    """phi (10,), drawn towards `inside` until it is physically consistent.

    Args:
        inside: (10,) of the densities alone, without slack; always consistent.
    """
    if is_consistent(phi):
        return phi
    low, high = 0.0, 1.0
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if is_consistent(inside + middle * (phi - inside)) else (
            low, middle)
    return inside + _MARGIN * low * (phi - inside)


class Slack:
    """The information of data about a density, when phi is that of the density plus an error.

    Args:
        covariance: (10, 10) of the error; information (10, 10), vector (10,): of the data.
    """

    def __init__(self, covariance: Array, information: Array, vector: Array) -> None:
        self._covariance, self._information, self._vector = covariance, information, vector
        self._shrink = np.linalg.inv(identity(PARAMETERS) + information @ covariance)
        seen = self._shrink @ information
        self.information = 0.5 * (seen + seen.T)
        self.vector = self._shrink @ vector
        # The same for all widths, not for all shapes.
        self.evidence = 0.5 * float(vector @ covariance @ self.vector
                                    + np.linalg.slogdet(self._shrink)[1])

    def add_to(self, mode: Mode) -> Mode:
        """The mode with the most probable error added to its phi and covariance."""
        shrink, covariance = self._shrink, self._covariance
        phi = mode.phi + covariance @ (shrink @ (self._vector - self._information @ mode.phi))
        spread = shrink.T @ mode.covariance @ shrink + shrink.T @ covariance
        return mode._replace(phi=phi, covariance=spread)


def _nearest_semidefinite(matrix: Array) -> Array:
    """The nearest positive semidefinite matrix."""
    values, vectors = np.linalg.eigh(0.5 * (matrix + matrix.T))
    return vectors * np.maximum(values, 0.0) @ vectors.T
