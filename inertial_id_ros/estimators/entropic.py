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

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..errors import InvalidShape, NotEnoughData
from ..geometry.shape import Shape
from ..inertia import Array
from ..regression.problem import Problem
from ..settings import Settings
from .base import Solution
from .reference_body import FIRST, ReferenceBodies, weakened
from .solvers.interior_point import InteriorPath
from .solvers.triangle_vector import DIAGONAL, SIDE, SVEC_SIZE, smat, svec

# Weights among which the evidence chooses, strongest first.
EVIDENCE_GAMMAS = tuple(10.0 ** np.arange(3.0, -1.1, -0.5))
_STEPS = 50
_DECREMENT = 1e-8  # squared Newton decrement, per gamma, at which the optimum is reached
SMALLEST = 1e-9  # second moment added, in units of J0, so that rounding cannot spoil J > 0
_UNIT = svec(np.eye(SIDE))


class Entropic:
    """Least squares with an entropic prior; see the module's text."""

    name = "entropic"
    needs_shape = True
    needs_noise = "yes"
    guarantees_consistency = True

    def __init__(self, settings: Settings) -> None:
        self._weighting = settings.estimator.weighting
        self._gamma = settings.entropic.gamma
        self._by_evidence = settings.entropic.selection == "evidence"
        self._shape_settings = settings.shape
        self._bodies = ReferenceBodies()

    def solve(self, problem: Problem, shape: Shape | None) -> Solution:
        """The body of least sum of squares and divergence.

        ``prior_information`` is half the Hessian of the divergence term at the optimum (of weight
        ``entropic.gamma`` at most), as that of the data is half the Hessian of the sum of squares;
        less where the pose of the shape is uncertain.

        Raises:
            InvalidShape: no shape.
            NotEnoughData: no information about the mass, or no positive mass fits.
        """
        if shape is None:
            raise InvalidShape("the estimator 'entropic' needs a shape")
        marginal = problem.marginal(self._weighting)
        body = self._bodies.of(shape)
        rows = marginal.matrix @ body.to_phi
        mass = measured_mass(rows, marginal.target)
        fit = Fit(smat(mass * rows), marginal.target)
        mode = fit.by_evidence() if self._by_evidence else fit.mode(self._gamma)
        pseudo = mode.factor @ mode.factor.T + SMALLEST * np.diag([1.0, 1.0, 1.0, 0.0])
        phi = body.with_extent(mass * (body.to_phi @ svec(pseudo)))
        to_unit = body.from_phi / mass
        information = to_unit.T @ _curvature(mode.factor) @ to_unit
        claimed = min(mode.gamma, self._gamma)
        pose = shape.pose_states(self._shape_settings).covariance(phi)
        return Solution(phi, marginal.bias(phi), weakened(0.5 * claimed * information, pose))


def measured_mass(rows: Array, target: Array) -> float:
    """Mass [kg] of the evenly filled shape with a free centre that fits best.

    Args:
        rows: (n, 10) on the coordinates of the reference body; target: (n,).

    Raises:
        NotEnoughData: no information, numbers that are not finite, or no positive mass.
    """
    columns = np.stack([rows @ _UNIT, *rows[:, FIRST].T], axis=1)
    if not np.isfinite(columns).all() or not np.isfinite(target).all() or not columns[:, 0].any():
        raise NotEnoughData("the window holds no usable sample of the wrench under gravity")
    mass = float(np.linalg.lstsq(columns, target)[0][0])
    if not mass > 0.0:
        raise NotEnoughData(f"no positive mass fits the data (best: {mass:.4g} kg); "
                            "is anything carried, and has what measures it the right sign?")
    return mass


class Mode(NamedTuple):
    """Factor P (4, 4) of the optimum ``Z = P P'`` in units of J0, its weight, its log evidence."""

    factor: Array
    gamma: float
    evidence: float


class Fit:
    """``|A svec(Z) - t|^2 + gamma (tr Z - log det Z)`` over ``Z > 0``.

    Args:
        tensor: (n, 4, 4) rows of A as symmetric matrices; target: t (n,).
    """

    def __init__(self, tensor: Array, target: Array) -> None:
        self._tensor, self._target = tensor, target

    def mode(self, gamma: float) -> Mode:
        """The optimum of one weight."""
        return self.modes((gamma,))[0]

    def modes(self, gammas: Sequence[float]) -> list[Mode]:
        """The optima of falling weights.

        Newton's method from far off would come to rest at the wall of the cone; primal-dual steps
        lead near each optimum first, and from one to the next.
        """
        path = InteriorPath(self._tensor, self._target, np.eye(SIDE), gammas[0])
        out = []
        for gamma in gammas:
            path.weight = gamma
            for _ in range(_STEPS):
                if not path.advance() or path.arrived:
                    break
            out.append(self._newton(gamma, path.factor))
        return out

    def _newton(self, gamma: float, factor: Array) -> Mode:
        """The optimum, by damped Newton steps from ``Z = factor factor'`` near it.

        A step is taken in the frame of the factor, where the barrier's Hessian is the identity.
        """
        weight = np.sqrt(0.5 * gamma)
        for _ in range(_STEPS):
            matrix = svec(factor.T @ self._tensor @ factor)
            residual = matrix[:, DIAGONAL].sum(axis=1) - self._target
            pull = factor.T @ factor
            system = np.zeros((len(matrix) + SVEC_SIZE, SVEC_SIZE + 1))
            system[:len(matrix), :-1], system[:len(matrix), -1] = matrix, -residual
            system[len(matrix):, :-1] = weight * np.eye(SVEC_SIZE)
            system[len(matrix):, -1] = weight * (_UNIT - svec(pull))
            upper = np.asarray(np.linalg.qr(system, mode="r"))[:SVEC_SIZE]
            z = np.linalg.solve(upper[:, :-1], upper[:, -1])
            change = smat(z)
            values, vectors = np.linalg.eigh(change)
            across = matrix @ z
            linear = 2.0 * float(residual @ across) + gamma * float(np.sum(pull * change))
            square = float(across @ across)
            decrement = 2.0 * float(upper[:, -1] @ upper[:, -1])
            if decrement <= _DECREMENT * gamma:
                break
            step = line_search(linear, square, gamma, values)
            factor = factor @ (vectors * np.sqrt(1.0 + step * values))
        from scipy.special import multigammaln  # loads slowly; other estimators do without

        logdet = 2.0 * float(np.linalg.slogdet(factor)[1])
        a = 0.5 * gamma
        # Wishart density at the mode, times the likelihood, times the width of their product.
        evidence = (-0.5 * float(residual @ residual) + a * (logdet - float(np.sum(factor**2)))
                    - multigammaln(a + 2.5, SIDE) + SIDE * (a + 2.5) * np.log(a)
                    - float(np.log(np.abs(np.diag(upper[:, :-1]))).sum()) + 2.5 * logdet)
        return Mode(factor, gamma, evidence)

    def by_evidence(self) -> Mode:
        """The optimum of the weight with the largest evidence (Laplace's approximation)."""
        return max(self.modes(EVIDENCE_GAMMAS), key=lambda mode: mode.evidence)


def line_search(linear: float, square: float, gamma: float, values: Array) -> float:
    """Step t that lowers ``linear t + square t^2 - gamma sum log(1 + t values)``.

    One Newton iteration in t costs nothing, so the minimum is found, not just a decrease.
    """
    smallest = float(values.min())
    top = 1.0 / -smallest if smallest < 0.0 else np.inf
    low, high = 0.0, min(top, 1e3)
    t = min(1.0, 0.5 * high)
    for _ in range(40):
        scaled = values / (1.0 + t * values)
        slope = linear + 2.0 * square * t - gamma * float(scaled.sum())
        low, high = (low, t) if slope > 0.0 else (t, high)
        t_new = t - slope / (2.0 * square + gamma * float(scaled @ scaled))
        if not low < t_new < high:
            t_new = 0.5 * (low + high)
        if abs(t_new - t) <= 1e-3 * t:
            break
        t = t_new
    return t


def _curvature(factor: Array) -> Array:
    """Hessian (10, 10) of ``-log det`` at ``Z = factor factor'``: ``D -> Z^-1 D Z^-1``."""
    root = np.linalg.inv(factor)
    map_ = svec(root @ smat(np.eye(SVEC_SIZE)) @ root.T)
    return map_ @ map_.T
