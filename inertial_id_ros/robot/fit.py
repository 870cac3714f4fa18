# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""From filtered rows to a robot that can exist, by the methods of the papers.

A prior says what joint torques cannot tell (Wensing et al. 2017, eq. 25): a body is expected to be
as described, with a standard deviation of 100 % of itself. Where a gripper or friction is missing
there, it would pull on what the data know: it is made weaker until it costs hardly any residual.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import chi2

from ..inertia import Array
from . import base_parameters, convex, least_squares
from .base_parameters import BaseParameters
from .convex import Limits
from .least_squares import FreeFit, Reference
from .model import BODY_SIZE, RobotModel, body_slices
from .recording import Rows

# The pull of the description may cost this part of what the true robot would cost on average:
# one squared standard deviation for each base parameter.
_MOST_PULL = 0.5
_RARE = 1e-4  # chance at which a body as described is called another one
_EASED = tuple(0.1**k for k in range(7))  # weights of the prior to try; the last pulls at nothing
_CLOSE = 1e-6  # of what the description allows, to which link parameters are filled in
_USED, _EXCITED = 0.1, 0.01  # deviation of the description over that by the data
_HALF = 0.5  # of a parameter
_TINY = 1e-12  # N m


class Prediction(NamedTuple):
    """Torques of a recording against those of a robot [N m]."""

    torque: Array  # (joints,) root mean square of the measured torque
    error: Array  # (joints,) the same of measured less predicted
    time: Array  # (r,) [s]
    measured: Array  # (r, joints) low-passed
    residual: Array  # (r, joints)

    @property
    def relative(self) -> float:
        """``|measured - predicted| / |measured|`` over all joints."""
        return float(np.linalg.norm(self.error) / max(float(np.linalg.norm(self.torque)), _TINY))

    @property
    def shares(self) -> Array:
        """The same of each joint (joints,)."""
        return np.asarray(self.error / np.maximum(self.torque, _TINY))


class RobotFit(NamedTuple):
    """The robot of filtered rows."""

    model: RobotModel  # with the gravity that was found
    base: BaseParameters  # of the level robot
    phi: Array  # (p,)
    eased: float  # by how much the prior was made weaker, 1: it was not
    contradicted: np.ndarray  # (bodies,) True where the data contradict the description by far
    covariance: Array  # (p, p)
    data_share: Array  # (p,) part of each parameter that the data know
    free: FreeFit  # without constraints
    follow: Array  # see `Drives`
    excited: np.ndarray  # (nb,) True for base parameters that the motion excites

    def predict(self, rows: Rows) -> Prediction:
        """How well it predicts a recording; rows count less where a joint rests or creeps."""
        error = rows.effort - rows.regressor @ self.phi
        w = least_squares.friction_weight(
            rows.model.signs(rows.regressor), rows.model.coulomb(self.free.phi) / self.free.rms)
        torque, rms = (np.sqrt(np.sum((w * each)**2, axis=0) / np.sum(w**2, axis=0))
                       for each in (rows.effort, error))
        return Prediction(torque, rms, rows.time, rows.effort, error)


def fit_robot(rows: Rows, base: BaseParameters, method: str = "lmi",
              constraints: Mapping[str, Any] | None = None, gain_spread: Array | None = None
              ) -> RobotFit:
    """The robot that fits filtered rows. What joint torques do not tell is as near to the
    description as the base parameters and the limits allow.

    Args:
        base: base parameters of the model under gravity along an axis of its root.
        method, constraints: as of `RobotRequest`; standard deviations are those of data and
            description, whatever the method.
        gain_spread: `Drives.spread`; None: torques were measured.

    Raises:
        InvalidData: numbers beyond those of a robot, or limits that none satisfies.
    """
    model, free = rows.model, least_squares.fit_unconstrained(rows)
    design, bodies = least_squares.description_reference(model), len(model.bodies)
    rows, data = free.rows, free.rows.factor(free.noise)
    limits = convex.robot_limits(model.parameter_names, design, constraints)
    prior = design.scaled(np.append(np.ones(model.inertial), term_sizes(rows)))
    phi, eased = fit_described(*data, limits, prior, len(base.matrix))
    covariance, share = covariance_and_share(data[0], prior, eased)
    # A body cannot be as described, to 100 % of itself, by a chi-squared test of the difference.
    off = design.inverse @ (phi - design.phi)
    spread = np.eye(len(phi)) + design.inverse @ covariance @ design.inverse.T
    contradicted = np.array([off[k] @ np.linalg.solve(spread[k, k], off[k]) for k in body_slices(
        bodies)]) > chi2.isf(_RARE, BODY_SIZE)
    values, right = np.linalg.svd(data[0] @ prior.unit, full_matrices=True)[1:]
    used, seen = (right[:np.count_nonzero(values > least)] for least in (_USED, _EXCITED))
    across, tight = base.matrix @ prior.unit, prior.inverse / _CLOSE
    excited = np.square(across @ seen.T).sum(axis=1) > _HALF * np.square(across).sum(axis=1)
    if method == "mass-points":
        given = (constraints or {}).get("links") or {}
        boxes = [np.array(given[body]["box"], dtype=float)
                 if "box" in given.get(body, ()) else convex.uniform_box(design.phi[where])
                 for body, where in zip(model.bodies, body_slices(bodies), strict=True)]
        phi = convex.fit_mass_points(*data, limits, boxes, convex.box_reference(boxes, design))
    elif method != "lmi":
        phi = base_parameters.fit_feasible(rows, base, limits, design) if method == "fbpe" else (
            convex.nearest_robot(base.matrix, base_parameters.fit_base_parameters(rows, base),
                                 limits, design))
        # The robot nearest to the design with what the data tell of these base parameters.
        phi = identify(used @ tight, used @ tight @ phi, limits, design)
    follow = covariance @ np.einsum("rjp,rj->pj", rows.regressor, rows.effort
                                    * (rows.weights / free.noise)**2)
    if gain_spread is not None:
        covariance = covariance + follow @ gain_spread @ follow.T
    return RobotFit(model, base, phi, eased, contradicted, covariance, share, free, follow, excited)


def fit_described(rows: Array, target: Array, limits: Limits, prior: Reference, count: int
                  ) -> tuple[Array, float]:
    """The robot (p,) that fits whitened rows (r, p), target (r,) and a prior, one standard
    deviation a unit, best, and by how much the prior was eased: it trusts the description as far as
    the data do. count: of base parameters."""
    free = identify(rows, target, limits, prior.scaled(_EASED[-1]**-0.5))
    most = float(np.sum((target - rows @ free)**2)) + _MOST_PULL * count
    for eased in _EASED:
        phi = identify(rows, target, limits, prior.scaled(eased**-0.5))
        if np.sum((target - rows @ phi)**2) <= most:
            break
    return phi, eased


def identify(rows: Array, target: Array, limits: Limits, prior: Reference) -> Array:
    """The robot (p,) that fits whitened rows and a prior, one standard deviation a unit, best
    within the limits; errors as of `nearest_robot`."""
    return convex.nearest_robot(np.concatenate([rows, prior.inverse]),
                                np.append(target, prior.inverse @ prior.phi), limits, prior)


def covariance_and_share(rows: Array, prior: Reference, eased: float = 1.0) -> tuple[Array, Array]:
    """Covariance (p, p) of what whitened rows and an eased prior know, limits not counted; and the
    part (p,) of each parameter that the data know and the prior itself need not: 0 to 1."""
    scaled = rows @ prior.unit
    information = scaled.T @ scaled + eased * np.eye(rows.shape[1])
    spread = prior.unit @ np.linalg.inv(information) @ prior.unit.T
    before = np.sum(prior.unit**2, axis=1)
    return 0.5 * (spread + spread.T), 1.0 - np.clip(np.diag(spread) / before, 0.0, 1.0)


def term_sizes(rows: Rows) -> Array:
    """Standard deviations (terms,) of joint terms before any data: each may make up all of the
    torque of its joint. For joints that do not move: 1 in SI units."""
    terms, weights = rows.regressor[:, :, rows.model.inertial:], np.expand_dims(rows.weights, -1)
    own = np.linalg.norm(terms * weights, axis=(0, 1))  # each is zero but for its joint
    torque = np.repeat(np.linalg.norm(rows.effort * rows.weights, axis=0),
                       len(rows.model.terms.names))
    moves = own > 1e-3 * np.sqrt(len(rows.effort))
    return np.maximum(torque / np.where(moves, own, np.inf), 1.0)
