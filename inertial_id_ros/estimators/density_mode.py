# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The most probable density in a region: Newton's method on its optimality conditions.

    min  phi'H phi/2 - g'phi + w'w/2,    phi = T M (v exp(log m0 + D w))

Rich data fix phi almost exactly, and phi is a curved function of w, so that the objective is a
curved, narrow valley. The exact Hessian along the way is of little use there: it holds the misfit
``H phi - g``, huge at every point that is not quite at the bottom. Optimality asks for a
multiplier ``y = H phi - g`` and ``w = -slope' y``; Newton steps on these two equations, with y
unknown of its own, have the Hessian ``1 + slope'H slope + curvature(y)`` with the smooth multiplier
of the step before (as in sequential quadratic programming: Nocedal, Wright 2006, *Numerical
Optimization*, chapter 18; the correction of refused steps is their second-order correction).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from ..geometry.density_prior import DensityPrior
from ..geometry.shape_error import map_phi
from ..inertia import Array
from ..lapack import lapack
from ..linalg import identity, solve_upper, triangular_factor

_LARGEST_STEP = 8.0  # of the log-density in one step
_STEPS = 40
# Squared Newton decrements, that is squared distances from the optimum in standard deviations: to
# stop at; to stop behind, after a step that converges quadratically; and left behind a step that
# contracts as the one before did.
_SETTLED, _LAST_STEP, _LEFT = 1e-7, 1e-6, 3e-9
# Of the squared decrement in a step; above, the curvature is computed anew. Bare steps are cheap.
_CONTRACTION, _BARE_CONTRACTION = 0.03, 0.25
_DESCENT = 1e-4  # of what the slope promises
# Parts of a step to try down to, with the curvature of another point, of this one, and with none.
_SHORTEST_STALE, _SHORTEST, _SHORTEST_BARE = 0.9, 1e-2, 1e-6


class Mode(NamedTuple):
    """Most probable density of one width, and what the next search near it may begin with.

    Attributes:
        phi: (10,); covariance: (10, 10) of it; evidence: its logarithm.
        states: (r,) that make the density; multiplier: (10,); curvature: (r, r).
    """

    phi: Array
    covariance: Array
    evidence: float
    states: Array
    multiplier: Array
    curvature: Array | None


class _Point(NamedTuple):
    """States w, the density (n,) they make, and its phi (10,); where the shape may be wrong, the
    map (4, 4) of points and (10, 10) of phi that the last states make."""

    states: Array
    density: Array
    phi: Array
    points_map: Array = identity(4)
    phi_map: Array = identity(10)


class _Step(NamedTuple):
    """Newton step (r,), multiplier (10,) behind it, and squared decrement; and the change (r,) of
    the states that a pull (10,) on phi makes."""

    change: Array
    multiplier: Array
    decrement: float
    pulled: Callable[[Array], Array]


class _Search:
    """The objective of one width."""

    def __init__(self, information: Array, vector: Array, prior: DensityPrior, width: float,
                 mass: float) -> None:
        self.information, self.vector, self._prior = information, vector, prior
        self._modes, self._unit = prior.directions(width), prior.moments
        self._densities, self._level = self._modes.shape[1], float(np.log(mass))
        self._moves = prior.error.count > 0
        self.size = self._densities + prior.error.count

    def point_at(self, states: Array) -> _Point:
        """The density and phi of states (r,)."""
        density = np.exp(self._level + self._modes @ states[:self._densities])
        still = self._unit @ density
        if not self._moves:
            return _Point(states, density, still)
        points_map = self._prior.error.map_points(states[self._densities:])
        phi_map = map_phi(points_map)
        return _Point(states, density, phi_map @ still, points_map, phi_map)

    def objective(self, point: _Point) -> float:
        """Minus the log posterior at a point, up to a constant."""
        phi, w = point.phi, point.states
        return float(phi @ (0.5 * (self.information @ phi) - self.vector) + 0.5 * (w @ w))

    def even_objective(self) -> float:
        """The objective where all states are zero."""
        phi = np.exp(self._level) * self._prior.even
        return float(phi @ (0.5 * (self.information @ phi) - self.vector))

    def decrease(self, before: _Point, pull: Array, after: _Point) -> float:
        """Decrease of the objective between two points, from differences: both values are huge.

        Args:
            pull: (10,) gradient of the data's part in phi at the first point.
        """
        change = after.phi - before.phi
        moved = after.states - before.states
        return -float(change @ (pull + 0.5 * (self.information @ change))
                      + 0.5 * (moved @ (after.states + before.states)))

    def slope(self, point: _Point) -> Array:
        """Derivative (10, r) of phi in the states."""
        still = (self._unit * point.density) @ self._modes
        if not self._moves:
            return still
        moved = self._prior.error.slopes(point.points_map) @ (self._unit @ point.density)
        return np.hstack([point.phi_map @ still, moved.T])

    def curvature(self, point: _Point, multiplier: Array) -> Array:
        """(r, r) second derivative of ``multiplier' phi``."""
        if not self._moves:
            return self._density_curvature(point, multiplier)
        error, n = self._prior.error, self._densities
        out = np.empty((self.size, self.size))
        out[:n, :n] = self._density_curvature(point, multiplier @ point.phi_map)
        pulled = multiplier @ error.slopes(point.points_map)
        out[n:, :n] = ((pulled @ self._unit) * point.density) @ self._modes
        out[:n, n:] = out[n:, :n].T
        out[n:, n:] = (multiplier @ error.curvature) @ (self._unit @ point.density)
        return out

    def _density_curvature(self, point: _Point, multiplier: Array) -> Array:
        """Second derivative of ``multiplier' phi`` in the states of the density."""
        weights = point.density * (multiplier @ self._unit)
        return (self._modes.T * weights) @ self._modes

    def curvatures(self, point: _Point, present: Array | None, multiplier: Array | None
                   ) -> Iterator[tuple[Array | None, bool, float]]:
        """Second derivatives of the penalty to try in a Newton step, cheap ones first: that of an
        earlier point, that of this one, and none at all, which leaves Gauss and Newton's.

        Args:
            present: of the earlier point; multiplier: with which that of this point is made; None:
                it is left out.

        Yields:
            the curvature (None: none), whether it holds for this point (that of an earlier one may
            not), and the shortest part of the step to try before the next one.
        """
        yield present, False, _SHORTEST_STALE
        if multiplier is not None:
            yield self.curvature(point, multiplier), True, _SHORTEST
        yield None, True, _SHORTEST_BARE

    def step(self, slope: Array, pull: Array, states: Array, curvature: Array | None
             ) -> _Step | None:
        """The step with this curvature; None if that is no descent."""
        seen, gradient = self.information @ slope, slope.T @ pull + states
        if curvature is None:
            return _step_without_curvature(slope, seen, pull, states, gradient)
        hessian = slope.T @ seen
        hessian += curvature
        hessian.flat[::self.size + 1] += 1.0
        # Transposed it is in the order of LAPACK.
        factor, info = lapack.dpotrf(hessian.T, lower=1, clean=0, overwrite_a=1)
        if info != 0:
            return None
        change = -lapack.dpotrs(factor, gradient, lower=1)[0]
        return _Step(change, pull + seen @ change, -float(gradient @ change),
                     lambda v: lapack.dpotrs(factor, slope.T @ v, lower=1)[0])

    def take_step(self, point: _Point, slope: Array, pull: Array, step: _Step, shortest: float
                  ) -> tuple[_Point, float] | None:
        """The next point and the part of the step taken; None if no part descends."""
        largest = float(np.abs(self._modes @ step.change[:self._densities]).max())
        part = min(1.0, _LARGEST_STEP / max(largest, 1e-9))
        promised = slope @ step.change
        while part > shortest:
            new = self.point_at(point.states + part * step.change)
            wanted = _DESCENT * part * step.decrement
            if self.decrease(point, pull, new) > wanted:
                return new, part
            # Along the valley: take back what phi moved beyond its linear change.
            beyond = self.information @ (new.phi - point.phi - part * promised)
            back = step.pulled(beyond)
            if np.abs(self._modes @ back[:self._densities]).max() < _LARGEST_STEP:
                new = self.point_at(new.states - back)
                if self.decrease(point, pull, new) > wanted:
                    return new, part
            part *= 0.5
        return None

    def mode(self, point: _Point, slope: Array, multiplier: Array, curvature: Array | None) -> Mode:
        """The mode at a point, with Laplace's covariance and evidence, curvature left out."""
        # (1 + F'HF)^-1 between slopes F, by the triangle of F' (r, 10): ten unknowns, not r.
        upper = triangular_factor(slope.T)
        factor = np.linalg.cholesky(identity(len(upper)) + upper @ self.information @ upper.T)
        root = solve_upper(factor.T, upper, transposed=True)
        evidence = -self.objective(point) - float(np.log(factor.diagonal()).sum())
        return Mode(point.phi, root.T @ root, evidence, point.states, multiplier, curvature)


def _step_without_curvature(slope: Array, seen: Array, pull: Array, states: Array,
                            gradient: Array) -> _Step:
    """The step without curvature, by the ten unknowns of the multiplier."""
    system = seen @ slope.T
    system.flat[::len(system) + 1] += 1.0
    factor, pivots, info = lapack.dgetrf(system)
    if info != 0:
        raise np.linalg.LinAlgError("Singular matrix")
    multiplier = lapack.dgetrs(factor, pivots, pull - seen @ states)[0]
    change = -(slope.T @ multiplier) - states
    return _Step(change, multiplier, -float(gradient @ change),
                 lambda v: slope.T @ lapack.dgetrs(factor, pivots, v)[0])


def find_mode(information: Array, vector: Array, prior: DensityPrior, width: float,
              mass: float, start: Mode | None = None, least: float = -np.inf) -> Mode:
    """Find the most probable density of one width, to 1e-3 standard deviations.

    Args:
        information, vector: (10, 10) and (10,) of the data; mass: [kg] a first guess.
        start: of other data to begin with, if that is better than an even density.
        least: evidence below which the mode does not matter, and need not be exact.
    """
    search = _Search(information, vector, prior, width, mass)
    point, multiplier, curvature, before = None, None, None, 0.0
    if start is not None:
        warm = search.point_at(start.states)
        if search.objective(warm) < search.even_objective():
            point, before = warm, np.inf
            multiplier, curvature = start.multiplier, start.curvature
    if point is None:
        point = search.point_at(np.zeros(search.size))
    slope = search.slope(point)
    for _ in range(_STEPS):
        pull = information @ point.phi - vector
        found = None
        for trial, fresh, shortest in search.curvatures(point, curvature, multiplier):
            curvature = trial
            step = search.step(slope, pull, point.states, curvature)
            enough = _BARE_CONTRACTION if trial is None else _CONTRACTION
            if step is None or not (fresh or step.decrement < enough * before):
                continue
            if step.decrement < _SETTLED:
                return search.mode(point, slope, step.multiplier, curvature)
            found = search.take_step(point, slope, pull, step, shortest)
            if found is not None:
                break
        if found is None or step is None:
            break
        point, part = found
        multiplier = (step.multiplier if multiplier is None
                      else multiplier + part * (step.multiplier - multiplier))
        slope = search.slope(point)
        if part == 1.0 and (fresh and step.decrement < _LAST_STEP
                            or step.decrement**2 < _LEFT * before < np.inf):
            break
        # What is left of the valley is less than the step that has just been taken promised.
        if (part == 1.0 and step.decrement < _CONTRACTION * before
                and step.decrement - search.objective(point) < least):
            break
        before = step.decrement
    return search.mode(point, slope, pull if multiplier is None else multiplier, curvature)
