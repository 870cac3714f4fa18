"""`manifold`: physically consistent least squares on R x R3 x SO(3) x R3 (Traversaro et al. 2016).

The body is (m, c, Q, L): mass, centre of mass, principal axes, second moments of mass along them
(eqs 15, 22); ``m > 0, L >= 0`` is all that full physical consistency asks (Theorem 1). Problem
(24)-(25) is solved by sequential quadratic programming; every iterate is a physical body, so that a
deadline may end the solve at any time. The optimum is that of `lmi`: the same data, weak prior and
margin ``J >= epsilon m J(reference body)``, all in the coordinates of the reference body.

A step moves, in the frame of the body, its mass (dm), centre (m dc), axes ((L_j - L_i) dw_k) and
moments (dL): the chart of eq. 26, scaled so that coinciding moments are no special case. While
moments are zero, the plane or line that the body occupies turns, which is where the curvature of
the chart counts; a moment that reaches zero stays there until the gradient asks for it.

The problem is convex in phi, which gives a certificate: with S the part of the gradient that zero
moments hold, made positive, ``f - optimum <= |A^-T (gradient - S)|^2 / 4``. Where steps end or
tarry without it, the iterate is left along an interior path (`interior_point`).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ..errors import NotEnoughData
from ..geometry.shape import Shape
from ..regression.problem import Marginal, Problem
from ..settings import Settings
from .base import Solution
from .lmi import MASS_FLOOR
from .manifold_step import Fit, Point, expand, next_body, seen_from
from .reference_body import MASS, ReferenceBodies
from .solvers.interior_point import InteriorPath
from .solvers.triangle_vector import DIAGONAL, SIDE, SVEC_SIZE, smat, svec
from .weak_prior import Regularised, regularise

TOLERANCE = 1e-9  # proven distance from the optimum, relative to 1 + objective
PATIENCE = 20  # steps without proof before the interior path
INTERIOR_GAPS = (1e-3, 1e-6, 1e-9)  # how far to follow it, relative to 1 + objective
INTERIOR_STEPS = 25


class Manifold:
    """Least squares over bodies (m, c, Q, L); see the module's text."""

    name = "manifold"
    needs_shape = False
    needs_noise = "ratio of force to torque"
    guarantees_consistency = True

    def __init__(self, settings: Settings) -> None:
        self._weighting = settings.estimator.weighting
        self._max_mass = settings.estimator.max_mass
        self._limit = settings.manifold.max_iterations
        self._deadline = settings.manifold.deadline
        self._bodies = ReferenceBodies()
        # x -> svec of J - epsilon m 1, in the coordinates of the reference body
        margin = np.eye(SVEC_SIZE)
        margin[:, MASS] -= settings.lmi.epsilon * svec(np.eye(SIDE))
        self._margin, self._from_margin = margin, np.linalg.inv(margin)

    def solve(self, problem: Problem, shape: Shape | None) -> Solution:
        """The consistent body nearest to the data, or the best one found before the deadline.

        Raises:
            NotEnoughData: no information about the mass, or no positive mass fits the data.
        """
        return self.solve_marginal(problem.marginal(self._weighting), shape)

    def solve_marginal(self, marginal: Marginal, shape: Shape | None) -> Solution:
        """As `solve`, for a problem whose biases are already eliminated."""
        began = time.perf_counter()
        body = self._bodies.of(shape)
        data = regularise(marginal.matrix, marginal.target, body)
        data.require_mass()
        fit, start = self._fit(data)
        budget = Budget(self._limit, began + self._deadline if self._deadline > 0.0 else np.inf)
        found = fit.free_optimum() or minimise(fit, start, budget)
        if found.mass <= 2.0 * fit.mass_low:
            raise NotEnoughData(
                f"no positive mass fits the data (unconstrained: {data.optimum[MASS]:.4g} kg); "
                "is anything carried, and has what measures it the right sign?")
        x = data.mass_scale * (self._from_margin @ svec(found.pseudo))
        phi = body.with_extent(body.to_phi @ x)
        return Solution(phi, marginal.bias(phi), data.prior_information(body))

    def _fit(self, data: Regularised) -> tuple[Fit, Point]:
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
        return Fit(smat(matrix), data.target, low, high), point


class Budget:
    """What is left of iterations and time."""

    def __init__(self, iterations: int, until: float) -> None:
        self.left, self._until = iterations, until

    def spend(self) -> bool:
        """Take one iteration; False when none is left."""
        self.left = self.left - 1 if time.perf_counter() < self._until else -1
        return self.left >= 0


def minimise(fit: Fit, start: Point, budget: Budget,
             watch: Callable[[Point], None] = lambda point: None) -> Point:
    """The best body found within the budget; proven optimal unless that ran out.

    Args:
        watch: called with every iterate.
    """
    best, proven = _descend(fit, start, budget, watch)
    if proven or budget.left < 0:
        return best
    lowest = fit.objective(best)
    path = _interior(fit, start, best)
    for wanted in INTERIOR_GAPS:
        for _ in range(INTERIOR_STEPS):
            near = path.gap <= wanted * (1.0 + lowest)
            if near or not budget.spend() or not path.advance():
                break
        found, proven = _descend(fit, _flattened(fit, path), budget, watch)
        value = fit.objective(found)
        if value < lowest:
            best, lowest = found, value
        if proven or budget.left < 0:
            break
    return best


def _descend(fit: Fit, point: Point, budget: Budget,
             watch: Callable[[Point], None]) -> tuple[Point, bool]:
    """Steps from a body while they lead on; the last body, and whether it is proven optimal."""
    for _ in range(PATIENCE):
        watch(point)
        local = seen_from(fit, point)
        if local.gap <= TOLERANCE * (1.0 + local.objective):
            return local.point, True
        following = next_body(fit, local) if budget.spend() else None
        if following is None:
            return local.point, False
        point = following
    return point, False


def _interior(fit: Fit, start: Point, best: Point) -> InteriorPath:
    """An interior path from the first body; a mass that rests on its upper limit is kept there."""
    tensor, target = fit.tensor, fit.target
    if best.mass >= fit.mass_high:
        row = np.zeros((1, SIDE, SIDE))
        row[0, 3, 3] = 1e3 * np.linalg.norm(tensor[:, 3, 3])
        tensor = np.concatenate([tensor, row])
        target = np.append(target, row[0, 3, 3] * fit.mass_high)
    return InteriorPath(tensor, target, start.pseudo)


def _flattened(fit: Fit, path: InteriorPath) -> Point:
    """The path's present body, without the moments that it can lose for no more than its gap."""
    point = Point.of(path.point)
    mass = min(max(point.mass, fit.mass_low), fit.mass_high)
    matrix, _, gradient = expand(fit, point)
    size = np.sum(matrix[:, DIAGONAL[:3]] ** 2, axis=0)
    moments = point.moments
    rise = size * moments**2 - gradient.diagonal()[:3] * moments
    flat = rise <= path.gap
    order = np.argsort(~flat, kind="stable")
    return Point(mass, point.center, point.axes[:, order],
                 np.where(flat, 0.0, moments)[order], int(flat.sum()))
