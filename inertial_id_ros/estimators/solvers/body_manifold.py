# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Least squares over bodies (m, c, Q, L), by sequential quadratic programming on their manifold.

The manifold is R x R3 x SO(3) x R3 of Traversaro et al. 2016: mass, centre of mass, principal axes,
second moments of mass along them; the objective is least squares in the pseudo-inertia.

A step moves, in the frame of the body, its mass (dm), centre (m dc), axes ((L_j - L_i) dw_k) and
moments (dL): the chart of eq. 26, scaled so that coinciding moments are no special case. While
moments are zero, the plane or line that the body occupies turns, which is where the curvature of
the chart counts; a moment that reaches zero stays there until the gradient asks for it.

The problem is convex in phi, which gives a certificate: with S the part of the gradient that zero
moments hold, made positive, ``f - optimum <= |A^-T (gradient - S)|^2 / 4``. Where steps end or
tarry without it, the iterate is left along an interior path (`interior_point`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum, auto

import numpy as np

from ...inertia import Array
from .interior_point import COLS, DIAGONAL, ROWS, SIDE, SVEC_SIZE, InteriorPath, smat, svec

TOLERANCE = 1e-9  # proven distance from the optimum, relative to 1 + objective
PATIENCE = 20  # steps without proof before the interior path
INTERIOR_GAPS = (1e-3, 1e-6, 1e-9)  # how far to follow it, relative to 1 + objective
INTERIOR_STEPS = 25
_SMALLEST = 1e-14  # part of the largest moment that counts as zero
_RELEASE = 0.3  # share of a step's promise at which freeing a moment comes first


@dataclass(frozen=True)
class Point:
    """A body: mass, centre (3,), axes Q (3, 3) in columns, moments L (3,), ascending.

    The first ``zeros`` moments are exactly zero, the others positive. An axis and its opposite are
    the same axis, so the handedness of Q is left open.
    """

    mass: float
    center: Array
    axes: Array
    moments: Array
    zeros: int = 0

    @classmethod
    def of(cls, pseudo: Array, zeros: int = 0) -> Point:
        """The body of a pseudo-inertia (4, 4) whose central part has rank 3 - zeros."""
        return cls(1.0, np.zeros(3), np.eye(3), np.ones(3)).from_local_pseudo(pseudo, zeros)

    def from_local_pseudo(self, pseudo: Array, zeros: int) -> Point:
        """The body that a pseudo-inertia (4, 4) describes in the frame of this one."""
        mass = float(pseudo[3, 3])
        shift = pseudo[:3, 3] / mass
        moments, turn = np.linalg.eigh(pseudo[:3, :3] - mass * np.outer(shift, shift))
        while zeros < 3 and moments[zeros] <= _SMALLEST * max(moments[2], _SMALLEST * mass):
            zeros += 1
        moments[:zeros] = 0.0
        return Point(mass, self.center + self.axes @ shift, self.axes @ turn, moments, zeros)

    @property
    def frame(self) -> Array:
        """V (4, 4), from homogeneous coordinates in the body's frame."""
        frame = np.zeros((SIDE, SIDE))
        frame[:3, :3], frame[:3, 3], frame[3, 3] = self.axes, self.center, 1.0
        return frame

    @property
    def levels(self) -> Array:
        """L and m (4,): the pseudo-inertia in the body's frame is diagonal."""
        return np.append(self.moments, self.mass)

    @property
    def pseudo(self) -> Array:
        """Pseudo-inertia (4, 4) ``V diag(L, m) V'``."""
        frame = self.frame
        return frame * self.levels @ frame.T


@dataclass(frozen=True)
class LeastSquares:
    """``f(Y) = |A svec(Y) - t|^2`` over ``Y >= 0`` with a mass in [mass_low, mass_high].

    Attributes:
        tensor: (10, 4, 4) rows of A as symmetric matrices; target: t (10,).
    """

    tensor: Array
    target: Array
    mass_low: float
    mass_high: float

    def unconstrained_optimum(self) -> Point | None:
        """The unconstrained optimum if it is a body."""
        matrix = svec(self.tensor)
        pseudo = smat(np.linalg.solve(matrix, self.target))
        if not self.mass_low < pseudo[3, 3] <= self.mass_high:
            return None
        point = Point.of(pseudo)
        return point if point.zeros == 0 else None

    def objective(self, point: Point) -> float:
        """Sum of squares of the residual at a body; limits of the mass are not looked at."""
        residual = np.einsum("kij,ij->k", self.tensor, point.pseudo) - self.target
        return float(residual @ residual)


@dataclass(frozen=True)
class LocalProblem:
    """The problem seen from a body: ``r + matrix z`` for a change ``svec^-1(z)`` in its frame.

    Attributes:
        gradient: of f, (4, 4); diagonal among the zero moments.
        held: the mass is at a limit and the gradient holds it there.
        gap: proven bound of f - optimum.
    """

    point: Point
    matrix: Array
    residual: Array
    objective: float
    gradient: Array
    held: bool
    gap: float


def expand_at(fit: LeastSquares, point: Point) -> LocalProblem:
    """Expand the problem about a body, its axes of zero moments turned to diagonalise the gradient.
    """
    n = point.zeros
    matrix, residual, gradient = derivatives(fit, point)
    if n > 1:
        _, turn = np.linalg.eigh(gradient[:n, :n])
        axes = point.axes.copy()
        axes[:, :n] = axes[:, :n] @ turn
        point = replace(point, axes=axes)
        matrix, residual, gradient = derivatives(fit, point)
    held = bool(point.mass <= fit.mass_low and gradient[3, 3] > 0.0
                or point.mass >= fit.mass_high and gradient[3, 3] < 0.0)
    open_part = gradient.copy()
    open_part[:n, :n] = np.diag(np.minimum(gradient.diagonal()[:n], 0.0))
    if held:
        open_part[3, 3] = 0.0
    distance = np.linalg.solve(matrix.T, svec(open_part))
    return LocalProblem(point, matrix, residual, float(residual @ residual), gradient, held,
                        0.25 * float(distance @ distance))


def derivatives(fit: LeastSquares, point: Point) -> tuple[Array, Array, Array]:
    """Matrix (10, 10), residual (10,) and gradient (4, 4) in the frame of a body."""
    frame = point.frame
    matrix = svec(frame.T @ fit.tensor @ frame)
    residual = matrix[:, DIAGONAL] @ point.levels - fit.target
    return matrix, residual, smat(2.0 * (matrix.T @ residual))


class StepLimit(Enum):
    """What ends a step before its full length."""

    NONE = auto()
    MOMENT = auto()  # a moment becomes zero
    MASS = auto()  # the mass reaches a bound


def take_step(fit: LeastSquares, local: LocalProblem) -> Point | None:
    """The next body, lower than this one; None where no step leads down."""
    point, held = local.point, local.held
    change, promise = _quadratic_program(local, held)
    released = _free_moment(local, promise)
    if released is not None:
        return released
    outward = (point.mass <= fit.mass_low and change[3, 3] < 0.0
               or point.mass >= fit.mass_high and change[3, 3] > 0.0)
    if outward and not held:
        change, promise = _quadratic_program(local, True)
    step, limit = _longest_step(fit, point, change)
    while step > 1e-9:
        moved = _retract(point, change, step)
        residual = local.matrix @ svec(moved) - fit.target
        gain = local.objective - float(residual @ residual)
        if gain > 1e-4 * promise * step * (2.0 - step):
            if limit is StepLimit.MASS:
                moved[3, 3] = fit.mass_low if change[3, 3] < 0.0 else fit.mass_high
            return point.from_local_pseudo(moved, point.zeros + (limit is StepLimit.MOMENT))
        step, limit = 0.5 * step, StepLimit.NONE
    return None


def _quadratic_program(local: LocalProblem, held: bool) -> tuple[Array, float]:
    """Best change (4, 4) of the quadratic model, zero moments kept, and the descent it promises.

    The change z_np between a zero moment n and a level p turns the body by z_np / p, which adds
    z_np^2 / p to the moment n: the curvature of the chart, times the gradient there. Its modulus is
    taken, so that a gradient that pulls the moment away from zero does not make the turn unbounded.
    """
    point = local.point
    n = point.zeros
    free = np.flatnonzero(COLS >= n)[:-1 if held else None]
    turning = np.flatnonzero(ROWS[free] < n)
    rows = np.zeros((SVEC_SIZE + len(turning), len(free) + 1))
    rows[:SVEC_SIZE, :-1], rows[:SVEC_SIZE, -1] = local.matrix[:, free], -local.residual
    pull = np.abs(local.gradient.diagonal())[ROWS[free[turning]]]
    rows[SVEC_SIZE + np.arange(len(turning)), turning] = np.sqrt(
        0.5 * pull / point.levels[COLS[free[turning]]])
    upper = np.asarray(np.linalg.qr(rows, mode="r"))
    size = len(free)
    z = np.zeros(SVEC_SIZE)
    z[free] = np.linalg.solve(upper[:size, :size], upper[:size, size])
    return smat(z), float(upper[:size, size] @ upper[:size, size])


def _free_moment(local: LocalProblem, promise: float) -> Point | None:
    """The body with one zero moment made positive, if that lowers the objective enough; or None.

    Adding t along an axis n lowers f by ``-g t - a^2 t^2`` at most at ``t = -g / (2 a^2)``.
    """
    point = local.point
    if point.zeros == 0:
        return None
    pull = local.gradient.diagonal()[:point.zeros]
    k = int(pull.argmin())
    strength = float(np.sum(local.matrix[:, DIAGONAL[k]] ** 2))
    if pull[k] >= 0.0 or pull[k] ** 2 < 4.0 * strength * _RELEASE * promise:
        return None
    moments = point.moments.copy()
    moments[k] = -0.5 * pull[k] / strength
    order = np.argsort(moments)
    return replace(point, axes=point.axes[:, order], moments=moments[order],
                   zeros=point.zeros - 1)


def _longest_step(fit: LeastSquares, point: Point, change: Array) -> tuple[float, StepLimit]:
    """The step at most 1 that stays inside, and what ends it."""
    n = point.zeros
    root = 1.0 / np.sqrt(point.levels[n:])
    smallest = float(np.linalg.eigvalsh(change[n:, n:] * root[:, None] * root)[0])
    step, limit = ((-1.0 / smallest, StepLimit.MOMENT) if smallest < -1.0
                   else (1.0, StepLimit.NONE))
    mass = point.mass + step * change[3, 3]
    if mass < fit.mass_low:
        return (fit.mass_low - point.mass) / change[3, 3], StepLimit.MASS
    if mass > fit.mass_high:
        return (fit.mass_high - point.mass) / change[3, 3], StepLimit.MASS
    return step, limit


def _retract(point: Point, change: Array, step: float) -> Array:
    """Pseudo-inertia (4, 4), in the body's frame, after a step: ``[K; 1] B [K' 1]``.

    B is the block of positive levels, changed linearly; K turns the plane or line it occupies.
    """
    n = point.zeros
    block = np.diag(point.levels[n:]) + step * change[n:, n:]
    turn = step * change[:n, n:] / point.levels[n:]
    out = np.empty((SIDE, SIDE))
    across = block @ turn.T
    out[n:, n:], out[n:, :n], out[:n, n:] = block, across, across.T
    out[:n, :n] = turn @ across
    return out


class Budget:
    """What is left of iterations."""

    def __init__(self, iterations: int) -> None:
        self.left = iterations

    def spend(self) -> bool:
        """Take one iteration; False when none is left."""
        self.left -= 1
        return self.left >= 0


def minimise(fit: LeastSquares, start: Point, budget: Budget) -> Point:
    """The best body found within the budget; proven optimal unless that ran out."""
    best, proven = _descend(fit, start, budget)
    if proven or budget.left < 0:
        return best
    lowest = fit.objective(best)
    path = _start_interior_path(fit, start, best)
    for wanted in INTERIOR_GAPS:
        for _ in range(INTERIOR_STEPS):
            near = path.gap <= wanted * (1.0 + lowest)
            if near or not budget.spend() or not path.advance():
                break
        found, proven = _descend(fit, _drop_moments(fit, path), budget)
        value = fit.objective(found)
        if value < lowest:
            best, lowest = found, value
        if proven or budget.left < 0:
            break
    return best


def _descend(fit: LeastSquares, point: Point, budget: Budget) -> tuple[Point, bool]:
    """Take steps from a body while they improve it; the last body, and whether it is optimal."""
    for _ in range(PATIENCE):
        local = expand_at(fit, point)
        if local.gap <= TOLERANCE * (1.0 + local.objective):
            return local.point, True
        following = take_step(fit, local) if budget.spend() else None
        if following is None:
            return local.point, False
        point = following
    return point, False


def _start_interior_path(fit: LeastSquares, start: Point, best: Point) -> InteriorPath:
    """An interior path from the first body; a mass that rests on its upper limit is kept there."""
    tensor, target = fit.tensor, fit.target
    if best.mass >= fit.mass_high:
        row = np.zeros((1, SIDE, SIDE))
        row[0, 3, 3] = 1e3 * np.linalg.norm(tensor[:, 3, 3])
        tensor = np.concatenate([tensor, row])
        target = np.append(target, row[0, 3, 3] * fit.mass_high)
    return InteriorPath(tensor, target, start.pseudo)


def _drop_moments(fit: LeastSquares, path: InteriorPath) -> Point:
    """The path's present body, without the moments that it can lose for no more than its gap."""
    point = Point.of(path.point)
    mass = min(max(point.mass, fit.mass_low), fit.mass_high)
    matrix, _, gradient = derivatives(fit, point)
    size = np.sum(matrix[:, DIAGONAL[:3]] ** 2, axis=0)
    moments = point.moments
    rise = size * moments**2 - gradient.diagonal()[:3] * moments
    flat = rise <= path.gap
    order = np.argsort(~flat, kind="stable")
    return Point(mass, point.center, point.axes[:, order],
                 np.where(flat, 0.0, moments)[order], int(flat.sum()))
