# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What is known of a payload, and what a motion would add to it.

A channel of the sensor reads ``A phi + bias + e a + walk + noise``: its row of the regressor, a
constant bias, errors e of the calibration that multiply the acceleration less gravity, a bias that
drifts, white noise, all low-passed. Bias and errors belong to one channel, so that the information
of motions is kept as products of whitened rows ``[A | 1 | a]`` of each channel, and both are
eliminated channel by channel, with what the data sheet says of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import solve_triangular

from ...estimators.reference_body import body_coordinates
from ...inertia import PARAMETERS, Array, phi_from_body, report_jacobian, skew, transform_matrix
from ...model.newton_euler import regressor, rotation
from ...model.rows import HALF
from ...motion.motion import BIN
from ...settings import Settings
from .arm import FrameMotion

STEP = 0.06  # s between the instants at which the rows of a motion are computed
CHANNELS = 6
WALK_TIME = 6.0  # s, correlation time of what the data sheet calls accuracy
WIDTH = PARAMETERS + 4  # with the bias, and three errors per acceleration
RANGES = (130.0, 10.0)  # N, N m; of a sensor whose ranges are not known
LEAST = 0.05  # of a variance, where errors that no motion shows make up all of it
LEAST_TO_SHOW = 0.3  # of what is wanted, where what no motion shows is more than that
ROUNDING = 1e-12  # of the information about a parameter
_UNIT = np.eye(3)
_SHIFTS = np.stack([0.5 * (transform_matrix(_UNIT, axis) - transform_matrix(_UNIT, -axis))
                    for axis in _UNIT])  # (3, 10, 10), change of phi per distance
_TURNS = np.stack([5e3 * (transform_matrix(rotation(1e-4 * axis), np.zeros(3))
                          - transform_matrix(rotation(-1e-4 * axis), np.zeros(3)))
                   for axis in _UNIT])  # and per angle


@dataclass(frozen=True)
class SensorModel:
    """The errors of a wrench sensor.

    Attributes:
        noise: (6,) standard deviation of one sample; walk: (6,) of the bias that drifts [N, N m].
        bias: (6,) before any data [N, N m]; calibration: (6, 6) of its errors.
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
        wrench, alignment = settings.wrench, settings.alignment
        ranges = np.repeat(wrench.range if all(wrench.range) else RANGES, 3)
        calibration = wrench.cross_talk * ranges[:, None] / ranges
        np.fill_diagonal(calibration, wrench.gain_error)
        return cls(np.repeat(wrench.noise, 3), np.repeat(wrench.accuracy, 3),
                   np.repeat(wrench.bias_sd, 3), calibration, rate,
                   2.0 * HALF * BIN, wrench.gain_error, alignment.position_sd,
                   np.deg2rad(alignment.orientation_sd))

    def unseen_covariance(self, phi: Array) -> Array:
        """Covariance (10, 10) of phi (10,) by errors that no motion shows: gains that all forces,
        or all torques, have in common; origin and axes of the sensor."""
        gains = np.zeros((2, PARAMETERS))
        gains[0, 0], gains[1, 1:] = phi[0], phi[1:]
        changes = np.vstack([self.gain_error * gains, self.position * (_SHIFTS @ phi),
                             self.orientation * (_TURNS @ phi)])
        return np.asarray(changes.T @ changes)

    def calibration_covariance(self, phi: Array) -> Array:
        """Covariance (6, 3, 3) of what each channel reads per acceleration too much."""
        wrench = np.concatenate([phi[0] * _UNIT, skew(phi[1:4])])
        out = np.einsum("ij,jk,jl->ikl", self.calibration**2, wrench, wrench)
        trace = np.trace(out, axis1=1, axis2=2)
        return np.asarray(out + (1e-6 * trace + 1e-30)[:, None, None] * _UNIT)


@dataclass(frozen=True)
class Knowledge:
    """What motions identify of a payload, as a Gaussian about phi.

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
    def usual(cls, sensor: SensorModel, mass: float = 0.5) -> Knowledge:
        """A payload of which nothing is known: a ball of 0.1 m, its centre 0.1 m from the sensor,
        known to 100 % of itself. A light one [kg]: the first motion must identify such a one, too,
        and part of it a heavier one."""
        ball = phi_from_body(mass, [0.0, 0.0, 0.1], 2.0 * mass * 0.06**2 * np.eye(3))
        unit = np.linalg.inv(mass * body_coordinates(ball / mass).to_phi)
        return cls(ball, unit.T @ unit, np.zeros((CHANNELS, WIDTH, WIDTH)), sensor)

    def after(self, motion: FrameMotion) -> Knowledge:
        """What is known after a motion of the sensor, at n instants `STEP` apart."""
        return replace(self, products=self.products + motion_products(
            motion, np.array([len(motion.omega)]), self.sensor)[0])

    def revised(self, phi: ArrayLike, covariance: ArrayLike) -> Knowledge:
        """What is known once an estimate phi (10,) with its covariance (10, 10) is there.

        What bias and calibration would be, were phi known, stays as the motions say; so does their
        information about phi, where the estimate doubts it for other reasons.
        """
        told = replace(self, phi=np.asarray(phi, dtype=float),
                       elsewhere=np.zeros((PARAMETERS, PARAMETERS)))
        seen = _less(np.asarray(covariance, dtype=float),
                     self.sensor.unseen_covariance(told.phi), LEAST)
        return replace(told, elsewhere=_less(_inverse(seen), told.information(), 0.0))

    def information(self, added: Array | None = None) -> Array:
        """Information (..., 10, 10) about phi, all else eliminated.

        Args:
            added: (..., 6, 14, 14) products of further motions.
        """
        products = self.products if added is None else self.products + added
        own = products[..., PARAMETERS:, PARAMETERS:].copy()
        own[..., 0, 0] += self.sensor.bias**-2.0
        own[..., 1:, 1:] += np.linalg.inv(self.sensor.calibration_covariance(self.phi))
        beside = products[..., PARAMETERS:, :PARAMETERS]
        left = products[..., :PARAMETERS, :PARAMETERS] - beside.swapaxes(
            -1, -2) @ np.linalg.solve(own, beside)
        return np.asarray(left.sum(axis=-3) + self.elsewhere)

    def sigma(self, added: Array | None = None) -> Array:
        """Standard deviations (..., 10) of mass, centre of mass, and inertia about it, by what a
        motion can show."""
        return self._deviations(_inverse(self.information(added)))

    def still_to_show(self, wanted: Array) -> Array:
        """Standard deviations (10,) to which motions must bring what they show, so that those which
        are wanted are reached with what no motion shows."""
        unseen = self._deviations(self.sensor.unseen_covariance(self.phi))
        left = np.square(wanted) - np.square(unseen)
        return np.sqrt(np.maximum(left, np.square(LEAST_TO_SHOW * wanted)))

    def _deviations(self, of_phi: Array) -> Array:
        jacobian = report_jacobian(self.phi)
        covariance = jacobian @ of_phi @ jacobian.T
        return np.sqrt(np.maximum(np.diagonal(covariance, axis1=-2, axis2=-1), 0.0))


def motion_products(motion: FrameMotion, lengths: np.ndarray, sensor: SensorModel) -> Array:
    """Products (b, 6, 14, 14) of whitened rows of b motions.

    Args:
        motion: of the sensor, at n instants `STEP` apart, one motion after the other.
        lengths: (b,) of the n instants of each, so many count; the sensor rests at the others.
    """
    count = len(lengths)
    n = len(motion.omega) // count
    proper = motion.proper
    wide = np.empty((count, n, CHANNELS, WIDTH))
    wide[..., :PARAMETERS] = regressor(proper, motion.omega, motion.alpha).reshape(
        count, n, CHANNELS, PARAMETERS)
    wide[..., PARAMETERS] = 1.0
    wide[..., PARAMETERS + 1:] = proper.reshape(count, n, 1, 3)
    counts = np.arange(n) < np.asarray(lengths)[:, None]
    out = np.empty((count, CHANNELS, WIDTH, WIDTH))
    for group in (slice(0, 3), slice(3, 6)):
        whiten = _whitening(n, sensor.noise[group.start], sensor.walk[group.start], sensor)
        own = np.moveaxis(wide[:, :, group], 1, 0).reshape(n, -1)
        white = (whiten @ own).reshape(n, count, 3, WIDTH).transpose(1, 2, 0, 3)
        # A row is whitened by those before it, so that the last ones may be left out.
        white = white * counts[:, None, :, None]
        out[:, group] = white.swapaxes(2, 3) @ white
    return out


def _whitening(n: int, noise: float, walk: float, sensor: SensorModel) -> Array:
    """What makes the noise of a channel at n instants white, after the low-pass of the signal
    (n, n)."""
    apart = STEP * np.abs(np.arange(n)[:, None] - np.arange(n))
    covariance = (noise**2 / max(STEP * sensor.rate, 1.0) * np.eye(n)
                  + walk**2 * np.exp(-apart / WALK_TIME))
    half = 0.5 * sensor.filter_window
    hann = np.where(apart < half, np.cos(0.5 * np.pi * apart / half) ** 2, 0.0)
    hann /= hann.sum(axis=1, keepdims=True)
    return np.asarray(solve_triangular(np.linalg.cholesky(covariance), hann, lower=True))


def _less(matrix: Array, part: Array, least: float) -> Array:
    """A positive definite matrix (k, k) less a part of it, in each direction; of it a share is left
    at least."""
    scale = np.sqrt(np.diag(matrix))
    root = np.linalg.cholesky(matrix / scale / scale[:, None] + ROUNDING * np.eye(len(scale)))
    half = np.linalg.solve(root, part / scale / scale[:, None])
    values, vectors = np.linalg.eigh(np.linalg.solve(root, half.T))
    left = root @ (vectors * np.sqrt(np.maximum(1.0 - values, least)))
    return np.asarray((left @ left.T) * scale * scale[:, None])


def _inverse(matrix: Array) -> Array:
    """Inverse (..., k, k) of positive definite matrices whose entries differ by orders."""
    scale = 1.0 / np.sqrt(np.maximum(np.diagonal(matrix, axis1=-2, axis2=-1), 1e-300))
    scaled = matrix * scale[..., :, None] * scale[..., None, :]
    scaled = scaled + ROUNDING * np.eye(matrix.shape[-1])
    return np.asarray(np.linalg.inv(scaled) * scale[..., :, None] * scale[..., None, :])
