# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Identification of a robot from compressed joint torques, over all robots that can exist.

Two kinds of answer. `fit_feasible`: base parameters only, no prior needed (Sousa and Cortesao
2014, FBPE-OLS). `identify`: parameters of every body and joint, for which a prior says what joint
torques cannot tell (Wensing et al. 2017, eq. 25; Ayusawa and Nakamura 2010, eqs 29-32). The
parameters behind a base solution hold arbitrary values in between and are never returned.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...errors import InvalidData
from ...inertia import Array, is_consistent
from ..base_parameters import (
    BaseEstimate,
    BaseParameters,
    estimate_output_noise,
    fit_base_parameters,
)
from ..compression import Compressed
from ..model import BODY_SIZE
from ..reference_robot import Reference
from .constraints import Constraint
from .least_squares import Optimum, constrained_least_squares

EVERYWHERE, NULL_SPACE = "everywhere", "null_space"


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


@dataclass(frozen=True)
class Prior:
    """What is known of the robot before the data.

    Attributes:
        reference: the expected robot; its bodies are also the scale.
        weight: inverse variance, in units of the reference: 1 trusts it to 100 % of itself.
        acts: ``everywhere``: an ordinary prior; ``null_space``: only on what the data know to worse
            than `excited`, so that it does not pull on the rest.
        excited: standard deviation, in units of the reference, that tells the two apart.
        spread: (p,) factors on the units of the reference; None: 1.
    """

    reference: Reference
    weight: float = 1.0
    acts: str = EVERYWHERE
    excited: float = 1.0
    spread: Array | None = None

    def __post_init__(self) -> None:
        if self.acts not in (EVERYWHERE, NULL_SPACE):
            raise InvalidData(f"the prior acts '{self.acts}'; allowed: {EVERYWHERE}, {NULL_SPACE}")
        for name, value in (("weight", self.weight), ("excited", self.excited)):
            if not value > 0.0:
                raise InvalidData(f"{name} of the prior is {value:g}; it must be positive")

    @property
    def scale(self) -> Reference:
        """A robot of the size that the prior allows, for units: bodies are their reference times
        their spread."""
        ref = self.reference
        if self.spread is None:
            return ref
        return Reference(ref.phi * self.spread, ref.unit * self.spread,
                         ref.inverse / self.spread[:, None])

    def rows(self, matrix: Array) -> tuple[Array, Array]:
        """Rows (r, p) and target (r,) of the prior beside whitened data rows."""
        scale = self.scale
        scaled = matrix @ scale.unit
        directions = np.eye(matrix.shape[1])
        if self.acts == NULL_SPACE:
            values, right = np.linalg.svd(scaled, full_matrices=True)[1:]
            known = np.zeros(matrix.shape[1], dtype=bool)
            known[:len(values)] = values * self.excited > 1.0
            directions = right[~known]
        rows = np.sqrt(self.weight) * directions @ scale.inverse
        return rows, rows @ self.reference.phi


@dataclass(frozen=True)
class Identified:
    """An identified robot and how well it is known.

    Attributes:
        phi: (p,) parameters of all bodies and joints.
        sigma: (p,) their standard deviations, from data and prior, constraints not counted.
        data_share: (p,) part of each that the data know and the prior need not: 0 to 1.
        rms: (k,) root mean square residual of each output [N m].
        relative_residual: ``|omega - W phi| / |omega|``.
        noise: (k,) standard deviation of each output that weighted the data [N m].
        gap: see `FeasibleBase`.
    """

    phi: Array
    sigma: Array
    data_share: Array
    rms: Array
    relative_residual: float
    noise: Array
    gap: float

    def consistent(self, bodies: int) -> np.ndarray:
        """Whether each of the bodies is fully physically consistent (bodies,)."""
        parts = self.phi[:BODY_SIZE * bodies].reshape(bodies, BODY_SIZE)
        return np.array([is_consistent(part) for part in parts])


def identify(data: Compressed, base: BaseParameters, constraints: Sequence[Constraint],
             prior: Prior, noise: Array | None = None) -> Identified:
    """The robot that fits data and prior best, within the constraints.

    Args:
        noise: (k,) of each output [N m]; None: from the residual of least squares.

    Raises:
        NotEnoughData: no noise is given and least squares cannot find it.
        InfeasibleProblem, SolverFailure: see `constrained_least_squares`.
    """
    sd = estimate_output_noise(data, base) if noise is None else np.asarray(noise, dtype=float)
    factor = data.stack(sd)
    rows, target = factor[:, :-1], factor[:, -1]
    prior_rows, prior_target = prior.rows(rows)
    found = constrained_least_squares(np.concatenate([rows, prior_rows]),
                                      np.append(target, prior_target), constraints, prior.scale)
    return summarise(data, found, rows, prior_rows, prior, sd)


def summarise(data: Compressed, found: Optimum, rows: Array, prior_rows: Array, prior: Prior,
              noise: Array) -> Identified:
    """Standard deviations, shares of the data and residuals of a solution phi.

    Args:
        rows, prior_rows: whitened, of the data and of the prior.
    """
    unit = prior.scale.unit
    information = (rows @ unit).T @ (rows @ unit) + (prior_rows @ unit).T @ (prior_rows @ unit)
    spread = unit @ np.linalg.pinv(information, hermitian=True) @ unit.T
    before = unit @ unit.T / prior.weight
    share = 1.0 - np.clip(np.diag(spread) / np.diag(before), 0.0, 1.0)
    return Identified(found.phi, np.sqrt(np.maximum(np.diag(spread), 0.0)), share,
                      data.rms(found.phi), data.relative_error(found.phi), noise, found.gap)


def _residual_size(factor: Array, data: Compressed, base: BaseParameters) -> float:
    """Standard deviation of all residuals of least squares; a part of the torque if they vanish."""
    upper = np.asarray(np.linalg.qr(factor[:, [*base.independent, data.size]], mode="r"))
    rest = float(np.linalg.norm(upper[base.count:, -1]))
    total = float(np.linalg.norm(upper[:, -1]))
    freedom = np.sqrt(max(int(data.counts.sum()) - base.count, 1))
    return max(rest, 1e-6 * total, np.finfo(float).tiny) / freedom
