# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""From filtered rows to a robot that can exist, by the methods of the papers.

A prior says what joint torques cannot tell (Wensing et al. 2017, eq. 25): a body is expected to be
as described, with a standard deviation of 100 % of itself. A gripper that the description lacks is
many times the described wrist, and friction that the model lacks moves bodies, too: such a prior
would pull on what the data know. It is made weaker until it costs hardly any residual.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import chi2

from ..extras import optional_packages
from ..inertia import Array, is_consistent
from .base_parameters import BaseParameters, fit_base_parameters
from .bounds import Bounds
from .constraints import Limits, consistent_robot
from .feasibility import correct_to_feasible, fit_feasible
from .least_squares import Compressed, FreeFit, Reference, description_reference, fit_unconstrained
from .mass_points import box_reference, fit_mass_points
from .model import BODY_SIZE, RobotModel
from .nearest_robot import nearest_robot
from .recording import Rows

with optional_packages("identifying a robot"):
    import cvxpy as cp

METHODS = ("lmi", "fbpe", "ols+bpfc", "mass-points")
# The pull of the description may cost this part of what the true robot would cost on average:
# one squared standard deviation for each base parameter. Of simulated arms it costs 0.1 to 0.4.
_MOST_PULL = 0.5
_RARE = 1e-4  # chance at which a body as described is called another one
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
        time: (r,) [s]; measured: (r, joints) low-passed; residual: (r, joints).
    """

    torque: Array
    error: Array
    time: Array
    measured: Array
    residual: Array

    @property
    def relative(self) -> float:
        """``|measured - predicted| / |measured|`` over all joints."""
        return float(np.linalg.norm(self.error) / max(float(np.linalg.norm(self.torque)), _TINY))

    @property
    def shares(self) -> Array:
        """The same of each joint (joints,)."""
        return np.asarray(self.error / np.maximum(self.torque, _TINY))


@dataclass(frozen=True)
class RobotFit:
    """The robot of filtered rows.

    Attributes:
        model: its regressor; base: the base parameters of the level robot; phi: (p,).
        eased: by how much the prior was made weaker, 1: it was not.
        contradicted: (bodies,) True where the data contradict the description by far.
        covariance: (p, p); data_share: (p,) part of each parameter that the data know.
        free: the fit without constraints; noise: (joints,) of independent rows [N m].
        follow: (p, joints) growth of the parameters with the torques of each joint, relative.
    """

    model: RobotModel
    base: BaseParameters
    phi: Array
    eased: float
    contradicted: np.ndarray
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
        torque, rms = (np.sqrt(np.sum((w * each)**2, axis=0) / np.sum(w**2, axis=0))
                        for each in (rows.effort, error))
        return Prediction(torque, rms, rows.time, rows.effort, error)


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

    phi, prior, eased = fit_described(data, limits, design, model.inertial, noise, base.count,
                                      approach.weight)
    covariance, share = covariance_and_share(data, noise, prior, eased)
    contradicted = _contradicted(phi, covariance, design, len(model.bodies))
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
    follow = covariance @ np.stack([factor[:, :-1].T @ factor[:, -1] / sd**2 for factor, sd in
                                    zip(data.factors, noise, strict=True)], axis=1)
    if gain_spread is not None:
        covariance = covariance + follow @ gain_spread @ follow.T
    return RobotFit(model, base, phi, eased, contradicted, covariance, share, free, noise, follow)


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


def covariance_and_share(data: Compressed, noise: Array, prior: Reference, eased: float = 1.0
                         ) -> tuple[Array, Array]:
    """Covariance (p, p) of what data and prior know, limits not counted; and the part (p,) of each
    parameter that the data know and a prior that was not eased need not: 0 to 1."""
    rows = data.stack(noise)[:, :-1] @ prior.unit
    information = rows.T @ rows + np.eye(data.size)
    spread = prior.unit @ np.linalg.inv(information) @ prior.unit.T
    before = eased * np.sum(prior.unit**2, axis=1)
    return 0.5 * (spread + spread.T), 1.0 - np.clip(np.diag(spread) / before, 0.0, 1.0)


def fit_described(data: Compressed, limits: Limits, reference: Reference, inertial: int,
                  noise: Array, count: int, weight: float = 1.0) -> tuple[Array, Reference, float]:
    """Identify, with a prior that trusts the description as far as the data do.

    Args:
        inertial: number of parameters of bodies, which phi begins with; noise: (k,) of each output
            [N m]; count: of base parameters.
        weight: inverse variance of a body, in units of itself.

    Returns:
        The robot (p,), the prior, one standard deviation a unit, and by how much it was eased.

    Raises:
        InfeasibleProblem, SolverFailure: see `nearest_robot`.
    """
    spread = np.append(np.full(inertial, weight**-0.5), term_sizes(data, inertial))

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
    return phi, prior, eased


def _contradicted(phi: Array, covariance: Array, design: Reference, bodies: int) -> np.ndarray:
    """True (bodies,) for bodies that cannot be as described, to 100 % of themselves: chi-squared
    test of their differences, in units of the description."""
    out = []
    for where in (slice(k, k + BODY_SIZE) for k in range(0, BODY_SIZE * bodies, BODY_SIZE)):
        own = design.inverse[where, where]
        off = own @ (phi - design.phi)[where]
        spread = np.eye(BODY_SIZE) + own @ covariance[where, where] @ own.T
        out.append(off @ np.linalg.solve(spread, off) > chi2.isf(_RARE, BODY_SIZE))
    return np.array(out)


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
