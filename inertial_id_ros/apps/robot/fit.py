# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""From filtered rows to a robot: weights near rest, noise, the fit, and how it predicts others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...errors import InvalidData
from ...inertia import Array
from ...robot.base_parameters import BaseParameters
from ...robot.consistent_fit import Described, covariance_and_share
from ...robot.factors import Compressed, equivalent_white_noise
from ...robot.model import RobotModel
from ...robot.recording import FilteredRecording
from ...robot.reference import Reference, description_reference
from ...robot.rest_rows import friction_in_doubt, moving_weights, rest_weights
from .methods import Approach

_SMALLEST = 1e-6  # of a joint's torque: what the model leaves at least
_LEAST_FREE = 0.1  # part of the rows of a joint that a fit leaves free at least
_TINY = 1e-12  # N m


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


@dataclass(frozen=True)
class FreeFit:
    """Least squares without constraints.

    Attributes:
        phi: (p,); weights: (r, joints) of the rows; data: the factors of the rows times these.
        noise: (joints,) of independent rows that say as much; rms: (joints,) of the weighted
        residual; doubt: (joints,) friction that may act either way in rows near rest [N m].
    """

    phi: Array
    rms: Array
    weights: Array
    data: Compressed
    noise: Array
    doubt: Array


@dataclass(frozen=True)
class RobotFit:
    """The robot of filtered rows.

    Attributes:
        model: its regressor; base: the base parameters of the level robot.
        described: bodies and joint terms, and what the data say of the description.
        covariance: (p, p); data_share: (p,) part of each parameter that the data know.
        free: the fit without constraints; noise: (joints,) of independent rows [N m].
        follow: (p, joints) growth of the parameters with the torques of each joint, relative.
    """

    model: RobotModel
    base: BaseParameters
    described: Described
    covariance: Array
    data_share: Array
    free: FreeFit
    noise: Array
    follow: Array

    @property
    def phi(self) -> Array:
        """Parameters (p,)."""
        return self.described.phi

    def predict(self, rows: FilteredRecording) -> Prediction:
        """How well the robot predicts a recording, with less weight of rows where a joint rests,
        creeps or turns back."""
        error = rows.effort - rows.regressor @ self.phi
        w = rest_weights(self.model, rows.regressor, self.free.doubt, self.free.rms)
        total = np.sum(w**2, axis=0)
        return Prediction(np.sqrt(np.sum((w * rows.effort)**2, axis=0) / total),
                          np.sqrt(np.sum((w * error)**2, axis=0) / total), rows.time, rows.effort,
                          error)


def fit_robot(model: RobotModel, rows: FilteredRecording, base: BaseParameters,
              approach: Approach, gain_spread: Array | None = None) -> RobotFit:
    """The robot that fits filtered rows.

    Args:
        base: base parameters of the model under gravity along an axis of its root.
        approach: method, weight of the description, and limits. Standard deviations are those of
            data and description, whatever the method.
        gain_spread: (joints, joints) covariance of the relative errors of the drives' gains, with
            which torques were computed from currents; None: torques were measured.

    Raises:
        InvalidData: numbers beyond those of a robot. InfeasibleProblem: no robot can have them.
    """
    design, free = description_reference(model), fit_unconstrained(model, rows)
    noise = free.noise * _undo_fit(free, design)
    found = approach.fit(model, free.data, base, design, noise)
    covariance, share = covariance_and_share(free.data, noise, found.prior)
    follow = covariance @ np.stack([factor[:, :-1].T @ factor[:, -1] / sd**2 for factor, sd in
                                    zip(free.data.factors, noise, strict=True)], axis=1)
    if gain_spread is not None:
        covariance = covariance + follow @ gain_spread @ follow.T
    return RobotFit(model, base, found, covariance, share, free, noise, follow)


def fit_unconstrained(model: RobotModel, rows: FilteredRecording) -> FreeFit:
    """Least squares, rows near rest weighted by the friction of a first fit, which leaves them out.

    Raises:
        InvalidData: numbers beyond those of a robot.
    """
    scale = description_reference(model)
    least = np.maximum(_SMALLEST * np.sqrt(np.mean(rows.effort**2, axis=0)), 1e-9)
    noise = np.maximum(np.std(rows.effort, axis=0), least)
    weights = moving_weights(model, rows.regressor)
    doubt: Array = np.zeros(model.nv)
    for last in (False, True):
        data = rows.compress(weights)
        for _ in range(2):
            phi = _least_squares(data, noise, scale)
            error = rows.effort - rows.regressor @ phi
            noise = equivalent_white_noise(weights * error, least)
        if not last:
            rms = np.maximum(np.sqrt(np.mean((weights * error)**2, axis=0)
                                     / np.mean(weights**2, axis=0)), least)
            doubt = friction_in_doubt(model, rows.regressor, phi, error, rms)
            weights = rest_weights(model, rows.regressor, doubt, rms)
    rms = np.maximum(np.sqrt(np.mean((weights * error)**2, axis=0)), least)
    return FreeFit(phi, rms, weights, data, noise, doubt)


def _least_squares(data: Compressed, noise: Array, scale: Reference) -> Array:
    """Least squares without constraints (p,); like the reference where data say nothing."""
    factor = data.stack(noise)
    rows = factor[:, :-1] @ scale.unit
    start = scale.inverse @ scale.phi
    try:
        step = np.linalg.lstsq(rows, factor[:, -1] - rows @ start, rcond=1e-9)[0]
    except np.linalg.LinAlgError:
        raise InvalidData("no robot can be fitted to these numbers: positions or torques are far "
                          "beyond those of a robot") from None
    return scale.unit @ (start + step)


def _undo_fit(free: FreeFit, scale: Reference) -> Array:
    """Factors (joints,) by which the noise is larger than a least-squares fit leaves it.

    Of the N independent rows that stand for a joint's, the fit used up the trace of its part of the
    hat matrix.
    """
    data, noise = free.data, free.noise
    s, right = np.linalg.svd(data.stack(noise)[:, :-1] @ scale.unit)[1:]
    known = s > 1e-9 * s.max(initial=0.0)
    across = scale.unit @ right[known].T / s[known]
    used = np.array([np.sum((factor[:, :-1] @ across)**2) for factor in data.factors]) / noise**2
    independent = data.count * (free.rms / noise)**2
    return np.sqrt(1.0 / np.maximum(1.0 - used / np.maximum(independent, 1.0), _LEAST_FREE))
