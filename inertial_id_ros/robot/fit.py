# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""From filtered rows to a robot that can exist, by the methods of the papers.

A prior says what joint torques cannot tell (Wensing et al. 2017, eq. 25): a body is expected to be
as described, with a standard deviation of 100 % of itself. A gripper that the description lacks is
many times the described wrist, and such a prior would pull on what the data know. Each body
therefore has a factor on its standard deviation, and the factors are those under which the data are
most likely (evidence; Tipping 2001, one factor for the ten parameters of a body): with
``b = A d + e``, ``d ~ N(0, S)`` and ``e ~ N(0, 1)``,

    log p(b) = -1/2 (log det C + b' C^-1 b) + const,   C = 1 + A S A'.

Where the data know nothing, or agree with the description, the factor stays 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..extras import optional_packages
from ..inertia import Array, is_consistent
from .base_parameters import BaseParameters, fit_base_parameters
from .bounds import Bounds
from .constraints import Limits, consistent_robot
from .feasibility import correct_to_feasible, fit_feasible
from .least_squares import Compressed, FreeFit, fit_unconstrained
from .mass_points import box_reference, fit_mass_points
from .model import BODY_SIZE, RobotModel
from .nearest_robot import nearest_robot
from .recording import Rows
from .reference import Reference, description_reference

with optional_packages("identifying a robot"):
    import cvxpy as cp

METHODS = ("lmi", "fbpe", "ols+bpfc", "mass-points")
FACTORS = 2.0 ** np.arange(13)  # that are tried
_DOUBT_COST = 1.0  # nats by which a factor other than 1 must be better
_LEAST_GAIN = 0.1  # nats below which the search ends
_EPS = float(np.finfo(float).eps)
# The pull of the description may cost this part of what the true robot would cost on average:
# one squared standard deviation for each base parameter. Of simulated arms it costs 0.1 to 0.4.
_MOST_PULL = 0.5
_EASE, _NONE = 0.1, 1e-6  # of the prior's weight, from try to try; of one that does not pull
_SHARES = (0.0, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5)  # of a design, to leave the solver's tolerance
_CLOSE = 1e-6  # of base parameters in SI units, to which link parameters are filled in
_TINY = 1e-12  # N m


class Approach(NamedTuple):
    """How a robot is identified: one of `METHODS`, bounds of its bodies, and the weight of the
    description, of which 1 trusts each body to 100 % of itself."""

    method: str = "lmi"
    bounds: Bounds = Bounds()
    weight: float = 1.0


@dataclass(frozen=True)
class Prediction:
    """Torques of a recording against those of a robot, per joint (joints,) [N m].

    Attributes:
        torque: root mean square of the measured torque; error: of measured less predicted.
        time: (r,) [s]; measured: (r, joints) low-passed; left: (r, joints) measured less predicted.
    """

    torque: Array
    error: Array
    time: Array
    measured: Array
    left: Array

    @property
    def relative(self) -> float:
        """``|measured - predicted| / |measured|`` over all joints."""
        return float(np.linalg.norm(self.error) / max(float(np.linalg.norm(self.torque)), _TINY))

    @property
    def shares(self) -> Array:
        """The same of each joint (joints,)."""
        return np.asarray(self.error / np.maximum(self.torque, _TINY))


class Described(NamedTuple):
    """An identified robot and what became of its description.

    Attributes:
        phi: (p,) the robot; prior: that it was found with, one standard deviation a unit.
        factors: (bodies,) standard deviation of each described body, in units of itself; above 1:
            the data contradict it.
        eased: by how much the prior was made weaker, 1: it was not.
    """

    phi: Array
    prior: Reference
    factors: Array
    eased: float


@dataclass(frozen=True)
class RobotFit:
    """The robot of filtered rows.

    Attributes:
        model: its regressor; base: the base parameters of the level robot; phi: (p,).
        described: what the data say of the description.
        covariance: (p, p); data_share: (p,) part of each parameter that the data know.
        free: the fit without constraints; noise: (joints,) of independent rows [N m].
        follow: (p, joints) growth of the parameters with the torques of each joint, relative.
    """

    model: RobotModel
    base: BaseParameters
    phi: Array
    described: Described
    covariance: Array
    data_share: Array
    free: FreeFit
    noise: Array
    follow: Array

    def predict(self, rows: Rows) -> Prediction:
        """How well the robot predicts a recording, with less weight of rows where a joint rests,
        creeps or turns back."""
        error = rows.effort - rows.regressor @ self.phi
        w = self.free.rest_weights(rows)
        torque, left = (np.sqrt(np.sum((w * each)**2, axis=0) / np.sum(w**2, axis=0))
                        for each in (rows.effort, error))
        return Prediction(torque, left, rows.time, rows.effort, error)


def fit_robot(model: RobotModel, rows: Rows, base: BaseParameters, approach: Approach,
              gain_spread: Array | None = None) -> RobotFit:
    """The robot that fits filtered rows. What joint torques do not tell is as near to the
    description as the base parameters and the limits allow.

    Args:
        base: base parameters of the model under gravity along an axis of its root.
        approach: method, weight of the description, and bounds. Standard deviations are those of
            data and description, whatever the method.
        gain_spread: (joints, joints) covariance of the relative errors of the drives' gains, with
            which torques were computed from currents; None: torques were measured.

    Raises:
        InvalidData: numbers beyond those of a robot. InfeasibleProblem: no robot can have them.
        NotEnoughData, SolverFailure: see `feasibility`.
    """
    design, free = description_reference(model), fit_unconstrained(model, rows)
    data, noise = free.data, free.noise * free.used
    exists = consistent_robot(model, design, approach.bounds.form)
    more = approach.bounds.limits(model.bodies, design.phi)

    def limits(phi: Any) -> list[cp.Expression]:
        return [*exists(phi), *more(phi)]

    described = fit_described(data, limits, design, len(model.bodies), noise, base.count,
                              approach.weight)
    phi = described.phi
    if approach.method == "mass-points":
        boxes, factor = approach.bounds.boxes(model.bodies, design.phi), data.stack(noise)
        phi = fit_mass_points(factor[:, :-1], factor[:, -1], limits, boxes,
                              box_reference(boxes, design))
    elif approach.method == "fbpe":
        phi = _fill_in(fit_feasible(data, base, limits, design), base, limits, design)
    elif approach.method == "ols+bpfc":
        beta = fit_base_parameters(data, base)
        phi = _fill_in(correct_to_feasible(base, beta, limits, design), base, limits, design)
    if approach.method != "lmi":
        phi = _without_tolerance(phi, design, len(model.bodies))
    covariance, share = covariance_and_share(data, noise, described.prior)
    follow = covariance @ np.stack([factor[:, :-1].T @ factor[:, -1] / sd**2 for factor, sd in
                                    zip(data.factors, noise, strict=True)], axis=1)
    if gain_spread is not None:
        covariance = covariance + follow @ gain_spread @ follow.T
    return RobotFit(model, base, phi, described, covariance, share, free, noise, follow)


def _fill_in(phi: Array, base: BaseParameters, limits: Limits, design: Reference) -> Array:
    """The robot (p,) nearest to the design with the base parameters of phi (p,)."""
    rows = np.concatenate([base.matrix / _CLOSE, design.inverse])
    target = np.concatenate([base.matrix @ phi / _CLOSE, design.inverse @ design.phi])
    return nearest_robot(rows, target, limits, design)


def _without_tolerance(phi: Array, design: Reference, bodies: int) -> Array:
    """Parameters (p,) whose bodies exist: a link that the data leave no mass may lie outside by the
    solver's tolerance, and gets as little of its design as suffices."""
    out = phi.copy()
    for k in range(0, BODY_SIZE * bodies, BODY_SIZE):
        where = slice(k, k + BODY_SIZE)
        for share in _SHARES:
            out[where] = phi[where] + share * design.phi[where]
            if is_consistent(out[where]):
                break
    return out


def identify(data: Compressed, noise: Array, limits: Limits, prior: Reference) -> Array:
    """The robot (p,) that fits data and prior best, within the limits.

    Args:
        noise: (k,) of each output [N m]; prior: one standard deviation a unit.

    Raises:
        InfeasibleProblem, SolverFailure: see `nearest_robot`.
    """
    factor = data.stack(noise)
    return nearest_robot(np.concatenate([factor[:, :-1], prior.inverse]),
                         np.append(factor[:, -1], prior.inverse @ prior.phi), limits, prior)


def covariance_and_share(data: Compressed, noise: Array, prior: Reference) -> tuple[Array, Array]:
    """Covariance (p, p) of what data and prior know, limits not counted; and the part (p,) of each
    parameter that the data know and the prior need not: 0 to 1."""
    rows = data.stack(noise)[:, :-1] @ prior.unit
    information = rows.T @ rows + np.eye(data.size)
    spread = prior.unit @ np.linalg.inv(information) @ prior.unit.T
    before = np.sum(prior.unit**2, axis=1)
    return 0.5 * (spread + spread.T), 1.0 - np.clip(np.diag(spread) / before, 0.0, 1.0)


def fit_described(data: Compressed, limits: Limits, reference: Reference, bodies: int,
                  noise: Array, count: int, weight: float = 1.0) -> Described:
    """Identify, with a prior that trusts each body of the description as far as the data do.

    Where the model lacks something that moves the robot (friction that it does not know), even that
    prior may pull. It is made weaker until the fit is nearly the best possible one.

    Args:
        bodies: that phi begins with; noise: (k,) of each output [N m]; count: of base parameters.
        weight: inverse variance of a body that the data do not contradict, in units of itself.

    Raises:
        InfeasibleProblem, SolverFailure: see `nearest_robot`.
    """
    first = BODY_SIZE * bodies
    spread = np.append(np.full(first, weight**-0.5), term_sizes(data, first))
    factors = description_factors(data.stack(noise), reference, spread, bodies)
    spread[:first] *= np.repeat(factors, BODY_SIZE)

    def squares(phi: Array) -> float:
        return float(np.sum(data.squares(phi) / noise**2))

    prior, eased, most = reference.scaled(spread), 1.0, _MOST_PULL * count
    phi, none = identify(data, noise, limits, prior), reference.scaled(spread * _NONE**-0.5)
    # Without limits, the best possible fit takes no solver, and is at least as good as with them.
    if squares(phi) > squares(identify(data, noise, lambda _: [], none)) + most:
        limit = squares(identify(data, noise, limits, none)) + most
        while squares(phi) > limit and eased > _NONE:
            eased *= _EASE
            prior = reference.scaled(spread * eased**-0.5)
            phi = identify(data, noise, limits, prior)
    return Described(phi, prior, factors, eased)


def term_sizes(data: Compressed, first: int) -> Array:
    """Standard deviations (terms,) of joint terms before any data: each may make up all of the
    torque of its joint. For joints that do not move: 1 in SI units.

    Args:
        first: index of the first joint term in phi.
    """
    lengths = np.linalg.norm(data.factors[:, :, first:], axis=1)
    columns, torque = lengths[:, :-1], lengths[:, -1]
    joint = columns.argmax(axis=0)
    own = columns[joint, np.arange(columns.shape[1])]
    moves = own > 1e-3 * np.sqrt(data.count)
    return np.maximum(torque[joint] / np.where(moves, own, np.inf), 1.0)


def description_factors(whitened: Array, reference: Reference, spread: Array, bodies: int) -> Array:
    """The factors (bodies,) under which whitened rows and targets (r, p + 1), r > p, are likeliest.

    One after another is set to the value of `FACTORS` that raises the evidence most.

    Args:
        spread: (p,) standard deviations in units of the reference, without factors.
    """
    rows, inertial = whitened[:, :-1], BODY_SIZE * bodies
    scaled = rows @ reference.unit * spread
    rest = whitened[:, -1] - rows @ reference.phi
    factors = np.ones(bodies)
    for _ in range(4 * bodies):
        sizes = np.append(np.repeat(factors, BODY_SIZE), np.ones(len(spread) - inertial))
        left, s, right = np.linalg.svd(scaled * sizes, full_matrices=False)
        mean = (right.T @ (s / (1.0 + s**2) * (left.T @ rest)))[:inertial]
        axes = (right[:, :inertial] / np.sqrt(1.0 + s**2)[:, None]).reshape(
            len(s), bodies, BODY_SIZE).transpose(1, 2, 0)
        # Of each body, in units of its standard deviation before: variances along the axes of its
        # covariance, 1 where the data know nothing, and squared differences from the description.
        values, vectors = np.linalg.eigh(axes @ axes.transpose(0, 2, 1))
        squares = (vectors.transpose(0, 2, 1) @ mean.reshape(bodies, BODY_SIZE, 1))[..., 0]**2
        gains = _gains(np.clip(values, _EPS, 1.0), squares, factors)
        k, best = np.unravel_index(np.argmax(gains), gains.shape)
        if gains[k, best] < _LEAST_GAIN:
            break
        factors[k] = FACTORS[best]
    return factors


def _gains(values: Array, squares: Array, factors: Array) -> Array:
    """Gain of evidence (bodies, factors) by each other factor of each body [nats].

    With the ratio r of variances, ``C + (r - 1) B B'`` has the determinant and the quadratic form
    of C but for ``q = r - (r - 1) values`` along each eigenvector.
    """
    ratio = (FACTORS / factors[:, None])[..., None]**2
    inner = ratio + (1.0 - ratio) * values[:, None]
    gains = 0.5 * np.sum((ratio - 1.0) * squares[:, None] / inner - np.log(inner), axis=2)
    gains -= _DOUBT_COST * ((FACTORS > 1.0).astype(float) - (factors[:, None] > 1.0))
    return np.where(factors[:, None] == FACTORS, 0.0, gains)
