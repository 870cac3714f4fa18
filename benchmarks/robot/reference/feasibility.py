# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Base parameters that can belong to a robot (Sousa and Cortesao 2014, Sections 4.3.1 to 4.3.3).

The parameters behind them hold arbitrary values in between and identify no robot.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from inertial_id_ros.estimators.semidefinite import svec
from inertial_id_ros.inertia import Array
from inertial_id_ros.robot.base_parameters import (
    BaseEstimate,
    BaseParameters,
    fit_base_parameters,
)
from inertial_id_ros.robot.constrained_least_squares import (
    Scaled,
    constrained_least_squares,
    minimise,
    scale_constraints,
)
from inertial_id_ros.robot.constraints import (
    Cone,
    Constraint,
    Kind,
    Reference,
    Stacked,
    depth_in_cone,
    stack_constraints,
)
from inertial_id_ros.robot.recording import Compressed


@dataclass(frozen=True)
class Certificate:
    """Proof that no parameters with these base parameters satisfy the constraints.

    Multipliers z in the (self-dual) cones make one inequality ``<z, constraints(phi)> >= 0`` of all
    constraints; whatever null-space values phi has, the left side is `value` < 0.

    Attributes:
        multipliers: (rows,) z.
        value: ``<z, constraints(phi)>``.
        leak: largest change of that for a null-space change of the reference's size.
        depth: how far inside its cones z is (see `Stacked.margins`); 0 on the boundary.
    """

    multipliers: Array
    value: float
    leak: float
    depth: float


@dataclass(frozen=True)
class Feasibility:
    """Whether base parameters are feasible.

    Attributes:
        feasible: the answer.
        margin: how far inside the constraints the best of all robots with these base parameters
            is, the reference being at 1 (where the search ends); negative: none is inside.
        witness: (p,) that robot; its null-space values are arbitrary, it is no identified robot.
        certificate: proof, if infeasible.
    """

    feasible: bool
    margin: float
    witness: Array
    certificate: Certificate | None


def check_feasibility(base: BaseParameters, beta: Array, constraints: Sequence[Constraint],
                      ref: Reference) -> Feasibility:
    """Whether a robot within the constraints has the base parameters beta (nb,) (BPFT).

    The largest margin t is sought with ``constraints(phi) - t interior in K``, ``K phi = beta``,
    which always has a solution; multipliers of a negative optimum are the certificate.
    """
    stacked = stack_constraints(constraints, len(ref.phi))
    scaled = scale_constraints(stacked, ref.unit, ref.phi)
    start, null = _start_and_null_space(base, beta, ref)
    offset = scaled.offset + scaled.matrix @ start
    columns = np.concatenate([scaled.matrix @ null, -_interior(scaled)[:, None]], axis=1)
    linear = np.zeros(columns.shape[1])
    linear[-1] = -1.0
    columns = np.concatenate([columns, linear[None]])  # one more row: t <= 1
    size = float(np.abs(offset).max(initial=1.0))  # of an estimate that is far off
    found = minimise(np.zeros_like(linear), linear, np.append(offset, 1.0) / size, columns,
                     (*scaled.cones, Cone(Kind.LINEAR, 1)))
    margin = min(size * float(found.x[-1]), 1.0)
    witness = ref.unit @ (start + size * null @ found.x[:null.shape[1]])
    if margin >= 0.0:
        return Feasibility(True, margin, witness, None)
    z = found.z[:-1]
    values = scaled.offset + scaled.matrix @ start
    leak = float(np.abs(z @ columns[:-1, :-1]).max(initial=0.0))
    inside = min(depth_in_cone(z[rows], cone)
                 for rows, cone in zip(stacked.slices, stacked.cones, strict=True))
    certificate = Certificate(_multipliers(scaled, z), float(z @ values), leak, inside)
    return Feasibility(False, margin, witness, certificate)


def check_certificate(certificate: Certificate, base: BaseParameters, beta: Array,
                      constraints: Sequence[Constraint], phi: Array) -> float:
    """``<z, constraints(phi')>`` for phi' with the null-space values of phi (p,) and beta."""
    stacked: Stacked = stack_constraints(constraints, len(phi))
    moved = phi.copy()
    moved[base.independent] = beta - base.coupling @ phi[base.dependent]
    return float(certificate.multipliers @ (stacked.offset + stacked.matrix @ moved))


@dataclass(frozen=True)
class Correction:
    """The nearest feasible base parameters.

    Attributes:
        beta: (nb,).
        distance: Euclidean distance to those given, a measure of infeasibility.
        gap: how far its square may be above the least possible one.
        witness: (p,) a robot that has them; its null-space values are arbitrary.
    """

    beta: Array
    distance: float
    gap: float
    witness: Array


def correct_to_feasible(base: BaseParameters, beta: Array, constraints: Sequence[Constraint],
                        ref: Reference) -> Correction:
    """The feasible base parameters nearest to beta (nb,) (BPFC, paper eq. 52).

    The distance, and with it the answer, depends on how parameters are grouped and on their units.

    Raises:
        InfeasibleProblem, SolverFailure: see `constrained_least_squares`.
    """
    matrix = base.matrix
    found = constrained_least_squares(matrix, beta, constraints, ref)
    corrected = matrix @ found.phi
    return Correction(corrected, float(np.linalg.norm(corrected - beta)), found.gap,
                      found.phi)


def _interior(scaled: Scaled) -> Array:
    """A point (rows,) well inside every cone: 1 at the reference."""
    return np.concatenate([np.ones(cone.side) if cone.kind is Kind.LINEAR
                           else svec(np.eye(cone.side)) for cone in scaled.cones])


def _multipliers(scaled: Scaled, z: Array) -> Array:
    """Multipliers (rows,) of the constraints as given, from those of the scaled ones."""
    edges = np.cumsum([len(own) for own in scaled.maps])[:-1]
    return np.concatenate([own.T @ part for own, part in zip(
        scaled.maps, np.split(z, edges), strict=True)])


def _start_and_null_space(base: BaseParameters, beta: Array, ref: Reference) -> tuple[Array, Array]:
    """Scaled parameters near the reference with these base parameters, and the null space.

    Returns:
        u (p,) and an orthonormal basis (p, p - nb) of changes that keep beta.
    """
    matrix = base.matrix @ ref.unit
    u = ref.inverse @ ref.phi
    start = u + np.linalg.pinv(matrix) @ (beta - matrix @ u)
    null, _ = np.linalg.qr(ref.inverse @ base.null_space)
    return start, null


@dataclass(frozen=True)
class FeasibleBase:
    """Feasible base parameters of least residual.

    Attributes:
        beta: (nb,).
        free: the unconstrained estimate beside it.
        relative_residual: ``|omega - W beta| / |omega|``.
        gap: how far the sum of squares, over the noise, may be above the true optimum.
        binding: whether the constraints changed the estimate.
    """

    beta: Array
    free: BaseEstimate
    relative_residual: float
    gap: float
    binding: bool


def fit_feasible(data: Compressed, base: BaseParameters, constraints: Sequence[Constraint],
                 ref: Reference, noise: Array | None = None) -> FeasibleBase:
    """Base parameters of least residual that belong to a possible robot (FBPE-OLS, 2014, eq. 74).

    Raises:
        NotEnoughData: see `fit_base_parameters`.
        InfeasibleProblem, SolverFailure: see `constrained_least_squares`.
    """
    free = fit_base_parameters(data, base, noise)
    factor = data.stack(noise)
    whitening = _residual_size(factor, data, base)
    reduced = np.asarray(np.linalg.qr(factor[:, [*base.independent, data.size]], mode="r"))
    rows = reduced[:base.count]
    found = constrained_least_squares(rows[:, :-1] @ base.matrix / whitening,
                                      rows[:, -1] / whitening, constraints, ref)
    beta = base.matrix @ found.phi
    phi = np.zeros(data.size)
    phi[base.independent] = beta
    return FeasibleBase(beta, free, data.relative_error(phi), found.gap, found.active)


def _residual_size(factor: Array, data: Compressed, base: BaseParameters) -> float:
    """Standard deviation of all residuals of least squares; a part of the torque if they vanish."""
    upper = np.asarray(np.linalg.qr(factor[:, [*base.independent, data.size]], mode="r"))
    rest = float(np.linalg.norm(upper[base.count:, -1]))
    total = float(np.linalg.norm(upper[:, -1]))
    freedom = np.sqrt(max(int(data.counts.sum()) - base.count, 1))
    return max(rest, 1e-6 * total, np.finfo(float).tiny) / freedom
