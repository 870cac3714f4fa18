# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Least squares over robots that can exist.

``min |matrix phi - target|^2  s.t.  constraints``. In singular coordinates of the data, scaled by a
reference robot, well-known directions have a unit Hessian around their optimum, and directions
that the data leave open stay of size 1 (the same idea as in `estimators.lmi`, for many bodies and
incomplete data). The objective then holds the excess over the unconstrained optimum only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...inertia import Array
from ..reference_robot import Reference
from .conic import Scaled, SolverFailure, minimise, scale_constraints
from .constraints import Constraint, Stacked, stack_constraints

# Gap between point and lower bound, relative to the excess, at which the problem is scaled anew.
ACCEPTED_GAP = 1e-7
SMALLEST_GAP = 1e-10  # squared standard deviations: no data support that digit
SMALLEST_UNIT = 1e-4
_ATTEMPTS = 4


@dataclass(frozen=True)
class Optimum:
    """Parameters of least residual within the constraints.

    Attributes:
        phi: (p,); directions that neither data nor constraints bind are arbitrary.
        auxiliary: (a,) variables of the constraints' own.
        excess: sum of squares above the unconstrained optimum.
        gap: how far above the true optimum that may be, the solver's errors included.
        active: whether the constraints bind.
    """

    phi: Array
    auxiliary: Array
    excess: float
    gap: float
    active: bool


def constrained_least_squares(matrix: Array, target: Array, constraints: Sequence[Constraint],
                              ref: Reference) -> Optimum:
    """The robot nearest to the data.

    Args:
        matrix: (r, p), target (r,): whitened, so that a residual of 1 is one standard deviation.

    Raises:
        InfeasibleProblem: the constraints contradict each other.
        SolverFailure: the solver found no accurate answer.
    """
    stacked = stack_constraints(constraints, len(ref.phi))
    singular = _SingularCoordinates(matrix, target, ref)
    if stacked.auxiliary.shape[1] == 0:
        free = ref.unit @ singular.free
        if stacked.margins(free).min(initial=np.inf) > 0.0:
            return Optimum(free, np.zeros(0), 0.0, 0.0, False)
    return _solve_rescaled(singular, stacked, scale_constraints(stacked, ref.unit, ref.phi))


class _SingularCoordinates:
    """Data in singular coordinates: ``|sigma * (v - v_ref) - r|^2``, ``u = axes v``.

    Attributes:
        axes: (p, p) orthogonal; sigma: (p,) singular values, zeros at the end.
        step: (p,) scale of each coordinate; center: (p,) u around which the problem is stated.
        weights, linear: (p,) of the objective ``1/2 d' diag(weights) d + linear' d`` on steps d.
    """

    def __init__(self, matrix: Array, target: Array, ref: Reference) -> None:
        size = len(ref.phi)
        start = ref.inverse @ ref.phi
        scaled = matrix @ ref.unit
        left, values, right = np.linalg.svd(scaled, full_matrices=True)
        self.sigma = np.zeros(size)
        self.sigma[:len(values)] = values
        self.sigma[self.sigma < np.finfo(float).eps * size * self.sigma.max(initial=0.0)] = 0.0
        self.axes = right.T
        wanted = np.zeros(size)
        wanted[:len(values)] = (left[:, :len(values)].T @ (target - scaled @ start))
        wanted[self.sigma == 0.0] = 0.0
        known = np.divide(wanted, self.sigma, out=np.zeros(size), where=self.sigma > 0.0)
        self.free = start + self.axes @ known
        # A coordinate known to worse than the reference's size starts near the reference.
        near = self.sigma * wanted / (self.sigma**2 + 1.0)
        self.center = start + self.axes @ near
        self.step = np.maximum(self.sigma, 1.0)
        self.weights = (self.sigma / self.step)**2
        self.linear = self.sigma / self.step * (self.sigma * near - wanted)
        self.constant = float(np.sum((self.sigma * near - wanted)**2))

    def excess(self, d: Array) -> float:
        """Sum of squares above the unconstrained optimum at steps d (p,)."""
        return float(d @ (self.weights * d) + 2.0 * self.linear @ d) + self.constant


def _solve_rescaled(singular: _SingularCoordinates, stacked: Stacked, scaled: Scaled) -> Optimum:
    """The optimum, with steps scaled again until the gap is small beside the excess."""
    size, own = len(singular.sigma), scaled.auxiliary.shape[1]
    across = scaled.matrix @ singular.axes / singular.step
    offset = scaled.offset + scaled.matrix @ singular.center
    unit, failures = 1.0, 0
    best: Optimum | None = None
    nearest = np.inf
    for _ in range(2 * _ATTEMPTS):
        # Known coordinates in units of the excess; those without Hessian stay as they are.
        units = 1.0 / np.sqrt(singular.weights / unit**2 + 1.0 - singular.weights)
        weights = np.concatenate([singular.weights * (units / unit)**2, np.zeros(own)])
        linear = np.concatenate([singular.linear * units / unit**2, np.zeros(own)])
        columns = np.concatenate([across * units, scaled.auxiliary], axis=1)
        try:
            found = minimise(weights, linear, offset, columns, scaled.cones)
        except SolverFailure:
            if best is not None:
                break
            # Perhaps the constraints are far from the data, in standard deviations.
            unit *= 100.0
            failures += 1
            if failures == _ATTEMPTS:
                raise
            continue
        d = units * found.x[:size]
        excess = singular.excess(d)
        gap = excess - singular.constant - 2.0 * unit**2 * found.lower_bound
        if abs(gap) < nearest:
            u = singular.center + singular.axes @ (d / singular.step)
            nearest = abs(gap)
            best = Optimum(scaled.unit @ u, scaled.own_unit * found.x[size:], excess,
                           nearest + 2.0 * unit**2 * found.slack, True)
        if abs(gap) <= max(ACCEPTED_GAP * excess, SMALLEST_GAP):
            break
        unit = max(float(np.sqrt(max(excess, 0.0))), SMALLEST_UNIT)
    assert best is not None
    return best
