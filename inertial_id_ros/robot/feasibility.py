# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Base parameters that can belong to a robot: BPFT, BPFC and FBPE-OLS (Sousa, Cortesao 2014).

A base vector beta is feasible if parameters phi within the limits have it, ``K phi = beta``
(eq. 41). Their null-space values are arbitrary: a `witness` shows that such a robot exists, and
identifies none.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..extras import optional_packages
from ..inertia import Array
from .base_parameters import BaseParameters
from .constraints import Limits
from .least_squares import Compressed, Reference
from .nearest_robot import AffineRobot, depth, nearest_robot, solve

with optional_packages("identifying a robot"):
    import cvxpy as cp


@dataclass(frozen=True)
class Certificate:
    """Proof that no parameters with these base parameters are within the limits.

    With multipliers Z in the cones of the limits, the sum of ``<Z, limit(phi)>`` cannot be negative
    within the limits; but it is `value` < 0 whatever the null-space values of phi.

    Attributes:
        multipliers: one for each expression of the limits, of its shape.
        value: that sum.
        leak: largest change of it for a null-space change of the reference's size: rounding.
        depth: smallest eigenvalue or entry of the multipliers; 0 on the boundary.
    """

    multipliers: tuple[Array, ...]
    value: float
    leak: float
    depth: float


@dataclass(frozen=True)
class Feasibility:
    """The answer of BPFT.

    Attributes:
        feasible: True if a robot within the limits has the base parameters.
        margin: how far inside the limits the best such robot is, the reference being at 1 (where
            the search ends); negative: none is inside.
        witness: (p,) that robot; certificate: proof, if infeasible.
    """

    feasible: bool
    margin: float
    witness: Array
    certificate: Certificate | None


def check_feasibility(base: BaseParameters, beta: Array, limits: Limits, ref: Reference
                      ) -> Feasibility:
    """BPFT: true if a robot within the limits has the base parameters beta (nb,) (eq. 51).

    The largest t is sought with ``limits(phi) - t 1`` in their cones, ``K phi = beta``: a problem
    that always has a solution. The multipliers of a negative optimum are the certificate.

    Raises:
        SolverFailure: the solver found no accurate answer.
    """
    matrix, u = base.matrix @ ref.unit, ref.inverse @ ref.phi
    start = ref.unit @ (u + np.linalg.pinv(matrix) @ (beta - matrix @ u))
    null = ref.unit @ np.linalg.qr(ref.inverse @ base.null_space)[0]
    size = max(float(np.abs(ref.inverse @ start).max()), 1.0)  # of an estimate that is far off
    x, t = cp.Variable(null.shape[1]), cp.Variable()
    expressions = limits(AffineRobot(start, size * null, x))
    shifted = [(each - size * t * (np.eye(each.shape[0]) if each.ndim == 2 else 1.0)) / size
               for each in expressions]
    constraints = solve(cp.Minimize(-t), [*shifted, cp.reshape(1.0 / size - t, (1,), order="C")])
    margin = min(size * float(np.asarray(t.value)), 1.0)
    witness = start + size * null @ np.asarray(x.value)
    if margin >= 0.0:
        return Feasibility(True, margin, witness, None)
    multipliers = [np.asarray(each.dual_value) for each in constraints[:-1]]
    total = sum((cp.sum(cp.multiply(z, each))
                 for z, each in zip(multipliers, expressions, strict=True)), cp.Constant(0.0))
    slopes = [np.abs(slope.toarray()).max(initial=0.0) for slope in total.grad.values()]
    leak = float(max(slopes, default=0.0)) / size
    return Feasibility(False, margin, witness, Certificate(
        tuple(multipliers), float(total.value), leak, min(depth(z) for z in multipliers)))


def correct_to_feasible(base: BaseParameters, beta: Array, limits: Limits, ref: Reference
                        ) -> Array:
    """BPFC: a robot (p,) with the feasible base parameters nearest to beta (nb,) (eqs 52-56).

    The distance, and with it the answer, depends on how parameters are grouped and on their units
    (Section 4.5).

    Raises:
        InfeasibleProblem, SolverFailure: see `nearest_robot`.
    """
    return nearest_robot(base.matrix, beta, limits, ref)


def fit_feasible(data: Compressed, base: BaseParameters, limits: Limits, ref: Reference) -> Array:
    """FBPE-OLS: a robot (p,) whose base parameters have the least residual (eq. 74).

    Raises:
        InfeasibleProblem, SolverFailure: see `nearest_robot`.
    """
    # Only R1 and rho1 of the triangular factor depend on beta (eqs 64-71).
    upper = np.asarray(np.linalg.qr(data.stack()[:, [*base.independent, data.size]], mode="r"))
    triangle, target = upper[:base.count, :-1], upper[:base.count, -1]
    freedom = max(data.count * len(data.factors) - base.count, 1)
    rest = max(float(np.linalg.norm(upper[base.count:, -1])),
               1e-6 * float(np.linalg.norm(upper[:, -1])), np.finfo(float).tiny)
    size = rest / np.sqrt(freedom)  # standard deviation of the residuals
    return nearest_robot(triangle @ base.matrix / size, target / size, limits, ref)
