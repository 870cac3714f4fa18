"""`density`: maximum a posteriori over positive densities in the shape."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..density_prior import MASS_SD, DensityPrior, density_prior
from ..errors import InvalidShape
from ..inertia import Array, is_consistent
from ..settings import Settings
from ..shape import Shape
from .base import PARAMETERS, Problem, Solution, register
from .reference_body import ReferenceBodies
from .weak_prior import regularise

_LARGEST_STEP = 8.0  # of the log-density in one Newton step
_TOLERANCE, _STEPS = 1e-3, 40


class Mode(NamedTuple):
    """Most probable density of one width: phi (10,), its covariance (10, 10), log evidence."""

    phi: Array
    covariance: Array
    evidence: float


@register("density")
class Density:
    """Log-density Gaussian process over the shape, four widths weighted by evidence.

    Needs a shape (mesh or bounding primitive); guarantees a physically consistent body.
    """

    name = "density"
    needs_shape = True
    guarantees_consistency = True

    def __init__(self, settings: Settings) -> None:
        self._settings = settings.shape
        self._bodies = ReferenceBodies()

    def solve(self, problem: Problem, shape: Shape | None) -> Solution:
        """See `Estimator.solve`."""
        if shape is None:
            raise InvalidShape("estimator 'density' needs a shape; set shape.type")
        prior = replace(density_prior(shape), pose=shape.pose_states(self._settings))
        marginal = problem.marginal("noise")
        regularise(marginal.matrix, marginal.target, self._bodies.of(shape)).require_mass()
        phi, covariance = posterior(marginal.information, marginal.matrix.T @ marginal.target,
                                    prior)
        prior_information = np.linalg.inv(covariance) - marginal.information
        return Solution(phi, marginal.bias(phi), _positive(prior_information))


def posterior(information: Array, vector: Array, prior: DensityPrior) -> tuple[Array, Array]:
    """phi (10,) and its covariance (10, 10) from the information matrix and vector of the data."""
    mass = max(vector[0] / information[0, 0], 1e-3)
    slack = Slack(mass**2 * prior.slack, information, vector)
    bare = [most_probable(slack.information, slack.vector, prior, w, mass) for w in prior.widths]
    evidence = np.array([m.evidence - prior.width_penalty * np.log(w)
                         for m, w in zip(bare, prior.widths, strict=True)])
    weights = np.exp(evidence - evidence.max())
    weights /= weights.sum()
    phi = sum(w * slack.added(m).phi for w, m in zip(weights, bare, strict=True))
    if not is_consistent(phi):  # the slack went too far; densities themselves are positive
        phi = sum(w * m.phi for w, m in zip(weights, bare, strict=True))
    # Intervals always come from the widest prior: that is what calibrates them.
    wide = Slack(mass**2 * prior.wide_slack, information, vector)
    widest = wide.added(most_probable(wide.information, wide.vector, prior, prior.widths[0], mass))
    gap = widest.phi - phi
    covariance = widest.covariance + np.outer(gap, gap)
    return phi, 0.5 * (covariance + covariance.T)


class Slack:
    """Data as densities see them, when phi is that of a density plus an error.

    Args:
        covariance: (10, 10) of the error; information (10, 10), vector (10,): of the data.
    """

    def __init__(self, covariance: Array, information: Array, vector: Array) -> None:
        self._covariance, self._information, self._vector = covariance, information, vector
        self._shrink = np.linalg.inv(np.eye(PARAMETERS) + information @ covariance)
        seen = self._shrink @ information
        self.information = 0.5 * (seen + seen.T)
        self.vector = self._shrink @ vector

    def added(self, mode: Mode) -> Mode:
        """A mode of densities with the most probable error added."""
        shrink, covariance = self._shrink, self._covariance
        phi = mode.phi + covariance @ (shrink @ (self._vector - self._information @ mode.phi))
        spread = shrink.T @ mode.covariance @ shrink + shrink.T @ covariance
        return mode._replace(phi=phi, covariance=spread)


def most_probable(information: Array, vector: Array, prior: DensityPrior, width: float,
                  mass: float) -> Mode:
    """Newton's method on ``phi'H phi/2 - g'phi + w'w/2`` with ``phi = T M (v exp(log m0 + F w))``,
    where T moves the body by the last states of w, if the pose is uncertain."""
    modes = np.column_stack([width * prior.modes, np.full(len(prior.volumes), MASS_SD)])
    unit, densities = prior.columns * prior.volumes, modes.shape[1]
    w = np.zeros(densities + prior.pose.count)
    log_density = np.full(len(prior.volumes), np.log(mass))

    def value(log_density: Array, w: Array) -> tuple[Array, float]:
        phi = prior.pose.transform(w[densities:]) @ (unit @ np.exp(log_density))
        return phi, float(0.5 * phi @ information @ phi - vector @ phi + 0.5 * w @ w)

    def slope_at(log_density: Array, w: Array, phi: Array) -> Array:
        still = (unit * np.exp(log_density)) @ modes
        return np.hstack([prior.pose.transform(w[densities:]) @ still, prior.pose.slope(phi)])

    phi, objective = value(log_density, w)
    for _ in range(_STEPS):
        slope = slope_at(log_density, w, phi)
        gain = np.linalg.solve(np.eye(PARAMETERS) + information @ (slope @ slope.T),
                               vector - information @ (phi - slope @ w))
        step = slope.T @ gain - w
        change = modes @ step[:densities]
        t = min(1.0, _LARGEST_STEP / max(float(np.abs(change).max()), 1e-9))
        while t > 1e-3:
            new_phi, new_objective = value(log_density + t * change, w + t * step)
            if new_objective < objective:
                break
            t *= 0.5
        else:
            break
        w, log_density = w + t * step, log_density + t * change
        improvement = objective - new_objective
        phi, objective = new_phi, new_objective
        if improvement < _TOLERANCE:
            break
    slope = slope_at(log_density, w, phi)
    factor = np.linalg.cholesky(np.eye(len(w)) + slope.T @ information @ slope)
    root = np.linalg.solve(factor, slope.T)
    return Mode(phi, root.T @ root, -objective - float(np.log(np.diag(factor)).sum()))


def _positive(matrix: Array) -> Array:
    """The nearest positive semidefinite matrix."""
    values, vectors = np.linalg.eigh(0.5 * (matrix + matrix.T))
    return vectors * np.maximum(values, 0.0) @ vectors.T
