# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What is known of a payload, and what a motion would add to it.

A channel of the sensor reads ``A phi + bias + e a + walk + noise``: its row of the regressor, a
constant zero, errors e of the calibration that multiply the acceleration less gravity, a zero that
wanders, white noise. The pipeline low-passes both sides, so that what is quicker than its filter
tells little. Zero and errors of the calibration belong to one channel, so that what
motions tell is kept as products of whitened rows ``[A | 1 | a]`` of each channel, and both are
eliminated channel by channel, with what the data sheet says of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import solve_triangular

from ....estimators.reference_body import body_coordinates
from ....identification.accuracy_goal import AccuracyGoal
from ....identification.wrench.wrench_model import orientation_covariance, position_covariance
from ....inertia import PARAMETERS, Array, phi_from_body, report_from_phi, report_jacobian
from ....regression.newton_euler import regressor
from ....regression.uncertainty.calibration import (
    calibration_covariance,
    calibration_sd,
    common_gain_covariance,
)
from ....settings import Settings
from ..arm import FrameMotion

STEP = 0.06  # s between the instants at which the rows of a motion are computed
_CHANNELS = 6
_WALK_TIME = 6.0  # s, correlation time of what the data sheet calls accuracy
_NUISANCES = 4  # of a channel: its zero, and three errors per acceleration
_WIDTH = PARAMETERS + _NUISANCES
_LEAST_LEFT = 0.05  # of a variance, where errors that no motion shows make up all of it
_LEAST_TO_SHOW = 0.3  # of what is wanted, where what no motion shows is more than that
_ROUNDING = 1e-12  # of the information about a parameter
_USUAL_MASS_SHARE, _USUAL_COM = 0.05, 0.005  # m; half widths that the verdict asks for


@dataclass(frozen=True)
class SensorModel:
    """The errors of a wrench sensor.

    Attributes:
        noise: (6,) standard deviation of one sample; walk: (6,) of the wandering zero [N, N m].
        bias: (6,) of the zero before any data [N, N m]; calibration: (6, 6) of its errors.
        rate: samples a second; filter_window: length of the low-pass [s].
        gain_error: that all channels have in common; position, orientation: standard deviations of
            its place [m, rad]. No motion shows these.
    """

    noise: Array
    walk: Array
    bias: Array
    calibration: Array
    rate: float
    filter_window: float
    gain_error: float
    position: float
    orientation: float

    @classmethod
    def from_settings(cls, settings: Settings, rate: float = 500.0) -> SensorModel:
        """The sensor that the settings of a node describe, with the filter of its readings."""
        wrench = settings.wrench
        return cls(np.repeat([wrench.force_noise, wrench.torque_noise], 3),
                   np.repeat([wrench.force_accuracy, wrench.torque_accuracy], 3),
                   np.repeat([wrench.force_bias_sd, wrench.torque_bias_sd], 3),
                   calibration_sd(wrench), rate, settings.kinematics.filter_window,
                   wrench.gain_error, settings.alignment.position_sd,
                   np.deg2rad(settings.alignment.orientation_sd))

    def unseen_covariance(self, phi: Array) -> Array:
        """Covariance (10, 10) of phi (10,) by errors that no motion shows."""
        return (common_gain_covariance(phi, self.gain_error)
                + position_covariance(phi, self.position)
                + orientation_covariance(phi, self.orientation))


@dataclass(frozen=True)
class Knowledge:
    """What motions tell of a payload, as a Gaussian about phi.

    Errors that no motion shows (`SensorModel.unseen_covariance`) come on top.

    Attributes:
        phi: (10,) most probable.
        elsewhere: (10, 10) information about phi that comes from no motion that is counted here.
        products: (6, 14, 14) of whitened rows ``[A | 1 | a]`` of each channel, of these motions.
        sensor: its errors.
    """

    phi: Array
    elsewhere: Array
    products: Array
    sensor: SensorModel

    @classmethod
    def before_data(cls, phi: ArrayLike, sensor: SensorModel) -> Knowledge:
        """An expected payload phi (10,), known to 100 % of itself."""
        expected = np.asarray(phi, dtype=float)
        unit = np.linalg.inv(expected[0] * body_coordinates(expected / expected[0]).to_phi)
        return cls(expected, unit.T @ unit, np.zeros((_CHANNELS, _WIDTH, _WIDTH)), sensor)

    @classmethod
    def usual(cls, sensor: SensorModel, mass: float = 0.5) -> Knowledge:
        """A payload of which nothing is known: a ball of 0.1 m, its centre 0.1 m from the sensor,
        of some mass [kg]. A light one: the first motion must tell such a one, too, and a heavier
        one is told by part of it."""
        ball = phi_from_body(mass, [0.0, 0.0, 0.1], 2.0 * mass * 0.06**2 * np.eye(3))
        return cls.before_data(ball, sensor)

    def after(self, motion: FrameMotion) -> Knowledge:
        """What is known after a motion of the sensor, at n instants `STEP` apart."""
        n = len(motion.omega)
        return replace(self, products=self.products + motion_products(
            motion, np.array([n]), self.sensor)[0])

    def revised(self, phi: ArrayLike, covariance: ArrayLike) -> Knowledge:
        """What is known once an estimate phi (10,) with its covariance (10, 10) is there.

        What the sensor's zero and calibration would be, were phi known, stays as the motions told;
        so does what they told of phi, where the estimate doubts it for other reasons.
        """
        told = replace(self, phi=np.asarray(phi, dtype=float),
                       elsewhere=np.zeros((PARAMETERS, PARAMETERS)))
        seen = _without(np.asarray(covariance, dtype=float),
                        self.sensor.unseen_covariance(told.phi))
        return replace(told, elsewhere=_beyond(_inverse(seen), told.information()))

    def information(self, added: Array | None = None) -> Array:
        """Information (..., 10, 10) about phi, all else eliminated.

        Args:
            added: (..., 6, 14, 14) products of further motions.
        """
        products = self.products if added is None else self.products + added
        errors = calibration_covariance(self.sensor.calibration, self.phi)
        own = products[..., PARAMETERS:, PARAMETERS:].copy()
        own[..., 0, 0] += self.sensor.bias**-2.0
        own[..., 1:, 1:] += np.linalg.inv(errors)
        beside = products[..., PARAMETERS:, :PARAMETERS]
        left = products[..., :PARAMETERS, :PARAMETERS] - beside.swapaxes(
            -1, -2) @ np.linalg.solve(own, beside)
        return np.asarray(left.sum(axis=-3) + self.elsewhere)

    def sigma(self, added: Array | None = None) -> Array:
        """Standard deviations (..., 10) of mass, centre of mass, and inertia about it, by what a
        motion can show."""
        jacobian = report_jacobian(self.phi)
        covariance = jacobian @ _inverse(self.information(added)) @ jacobian.T
        return np.sqrt(np.maximum(np.diagonal(covariance, axis1=-2, axis2=-1), 0.0))

    def unseen_sigma(self) -> Array:
        """The same standard deviations (10,) by what no motion shows."""
        jacobian = report_jacobian(self.phi)
        unseen = jacobian @ self.sensor.unseen_covariance(self.phi) @ jacobian.T
        return np.sqrt(np.maximum(np.diag(unseen), 0.0))

    def total_sigma(self) -> Array:
        """Both together (10,)."""
        return np.hypot(self.sigma(), self.unseen_sigma())

    def still_to_show(self, goal: AccuracyGoal) -> Array:
        """Standard deviations (10,) to which motions must bring what they show, so that a goal is
        reached with what none shows; infinite for what it does not ask."""
        wanted = wanted_sigma(goal, self.phi)
        left = np.square(wanted) - np.square(self.unseen_sigma())
        return np.sqrt(np.maximum(left, np.square(_LEAST_TO_SHOW * wanted)))


def motion_products(motion: FrameMotion, lengths: np.ndarray, sensor: SensorModel) -> Array:
    """Products (b, 6, 14, 14) of whitened rows of b motions.

    Args:
        motion: of the sensor, at n instants `STEP` apart, one motion after the other.
        lengths: (b,) of the n instants of each, so many count; the sensor rests at the others.
    """
    count = len(lengths)
    n = len(motion.omega) // count
    rows = regressor(motion.proper_acceleration, motion.omega, motion.alpha)
    wide = np.empty((count, n, _CHANNELS, _WIDTH))
    wide[..., :PARAMETERS] = rows.reshape(count, n, _CHANNELS, PARAMETERS)
    wide[..., PARAMETERS] = 1.0
    wide[..., PARAMETERS + 1:] = motion.proper_acceleration.reshape(count, n, 1, 3)
    counts = np.arange(n) < np.asarray(lengths)[:, None]
    out = np.empty((count, _CHANNELS, _WIDTH, _WIDTH))
    for group in (slice(0, 3), slice(3, 6)):
        whiten = _whitening(n, sensor.noise[group.start], sensor.walk[group.start], sensor)
        own = np.moveaxis(wide[:, :, group], 1, 0).reshape(n, -1)
        white = (whiten @ own).reshape(n, count, 3, _WIDTH).transpose(1, 2, 0, 3)
        # A row is whitened by those before it, so that the last ones may be left out.
        white = white * counts[:, None, :, None]
        out[:, group] = white.swapaxes(2, 3) @ white
    return out


def wanted_sigma(goal: AccuracyGoal, phi: Array) -> Array:
    """Standard deviations (10,) at which a goal is reached; infinite for what it does not ask."""
    body = report_from_phi(phi)
    mass = goal.mass or _USUAL_MASS_SHARE * abs(body[0])
    moment = abs(body[[4, 7, 9]].sum()) / 3.0
    inertia = goal.inertia * moment if goal.inertia else np.inf
    return 0.5 * np.repeat([mass, goal.com or _USUAL_COM, inertia], [1, 3, 6])


def _whitening(n: int, noise: float, walk: float, sensor: SensorModel) -> Array:
    """What makes the noise of a channel at n instants white, after the low-pass of the signal
    (n, n)."""
    apart = STEP * np.abs(np.arange(n)[:, None] - np.arange(n))
    covariance = (noise**2 / max(STEP * sensor.rate, 1.0) * np.eye(n)
                  + walk**2 * np.exp(-apart / _WALK_TIME))
    half = 0.5 * sensor.filter_window
    hann = np.where(apart < half, np.cos(0.5 * np.pi * apart / half) ** 2, 0.0)
    hann /= hann.sum(axis=1, keepdims=True)
    return np.asarray(solve_triangular(np.linalg.cholesky(covariance), hann, lower=True))


def _without(covariance: Array, part: Array) -> Array:
    """A covariance (k, k) less a part of it; of every direction a little is left."""
    scale = np.sqrt(np.diag(covariance))
    root = np.linalg.cholesky(covariance / scale / scale[:, None] + _ROUNDING * np.eye(len(scale)))
    half = np.linalg.solve(root, part / scale / scale[:, None])
    values, vectors = np.linalg.eigh(np.linalg.solve(root, half.T))
    left = root @ (vectors * np.sqrt(np.maximum(1.0 - values, _LEAST_LEFT)))
    return np.asarray((left @ left.T) * scale * scale[:, None])


def _beyond(known: Array, told: Array) -> Array:
    """What is known (k, k) beyond what motions told, in each direction; nothing where it is less,
    as by hysteresis that may be there: small motions would seem to tell much again and again."""
    root = np.linalg.cholesky(known)
    half = np.linalg.solve(root, told)
    values, vectors = np.linalg.eigh(np.linalg.solve(root, half.T))
    left = root @ (vectors * np.sqrt(np.maximum(1.0 - values, 0.0)))
    return np.asarray(left @ left.T)


def _inverse(matrix: Array) -> Array:
    """Inverse (..., k, k) of positive definite matrices whose entries differ by orders."""
    scale = 1.0 / np.sqrt(np.maximum(np.diagonal(matrix, axis1=-2, axis2=-1), 1e-300))
    scaled = matrix * scale[..., :, None] * scale[..., None, :]
    scaled = scaled + _ROUNDING * np.eye(matrix.shape[-1])
    return np.asarray(np.linalg.inv(scaled) * scale[..., :, None] * scale[..., None, :])
