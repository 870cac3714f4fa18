# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What is known of a payload, and what a motion would add to it.

A channel of the sensor reads ``A phi + bias + walk + noise``: its row of the regressor, a constant
bias, a bias that drifts, white noise, all low-passed. Rows of a motion are whitened, and the bias
is eliminated channel by channel, with what the data sheet says of it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from ...estimators.reference_body import body_coordinates
from ...inertia import PARAMETERS, Array, phi_from_body, report_jacobian
from ...model.newton_euler import regressor
from ...model.rows import HALF
from ...motion.motion import BIN
from ...settings import Settings
from .arm import FrameMotion

STEP = 0.06  # s between the instants at which the rows of a motion are computed
RATE = 500.0  # Hz, of the wrench for which motions are planned
WALK_TIME = 6.0  # s, correlation time of what the data sheet calls accuracy
# Of mass, each coordinate of its centre, each entry of the inertia: what takes six numbers must not
# count more than what takes one, since slow motions with a poor sensor never identify it.
WEIGHTS = np.repeat([1.0, 1.0 / 3.0, 1.0 / 6.0], [1, 3, 6])
ENOUGH = 0.8  # of the wanted standard deviation: beyond that nothing is gained


class Knowledge(NamedTuple):
    """What is known of a payload, as a Gaussian about phi.

    Attributes:
        phi: (10,) most probable; information: (10, 10) about it.
        noise, walk, bias: standard deviations of the sensor for forces [N] and torques [N m]: of a
            sample, of the bias that drifts, of the bias before any data.
    """

    phi: Array
    information: Array
    noise: tuple[float, ...]
    walk: tuple[float, ...]
    bias: tuple[float, ...]

    @classmethod
    def usual(cls, settings: Settings, mass: float = 0.5) -> Knowledge:
        """A payload of which nothing is known: a ball of 0.1 m, its centre 0.1 m from the sensor,
        known to 100 % of itself. A light one [kg]: the first motion must identify such a one, too,
        and part of it a heavier one."""
        ball = phi_from_body(mass, [0.0, 0.0, 0.1], 2.0 * mass * 0.06**2 * np.eye(3))
        unit, wrench = np.linalg.inv(mass * body_coordinates(ball / mass).to_phi), settings.wrench
        return cls(ball, unit.T @ unit, wrench.noise, wrench.accuracy, wrench.bias_sd)

    def after(self, motion: FrameMotion) -> Knowledge:
        """What is known after a motion of the sensor, at n instants `STEP` apart."""
        added = self.information_of(motion, np.array([len(motion.omega)]))[0]
        return self._replace(information=self.information + added)

    def revised(self, phi: Array, covariance: Array) -> Knowledge:
        """What is known once an estimate phi (10,) with its covariance (10, 10) is there."""
        return self._replace(phi=phi, information=_inverse(covariance))

    def sigma(self, added: Array | float = 0.0) -> Array:
        """Standard deviations (..., 10) of mass, centre of mass, and inertia about it, with
        information (..., 10, 10) that is added."""
        jacobian = report_jacobian(self.phi)
        covariance = jacobian @ _inverse(self.information + added) @ jacobian.T
        return np.sqrt(np.maximum(np.diagonal(covariance, axis1=-2, axis2=-1), 0.0))

    def missing(self, wanted: Array, added: Array | float = 0.0) -> Array:
        """How far standard deviations (...,) are from those that are wanted (10,), infinite where
        nothing is [nats]; where all are reached, how far they are from zero matters a little."""
        asked = np.isfinite(wanted)
        share = self.sigma(added)[..., asked] / wanted[asked]
        return np.asarray((np.log(np.maximum(share, ENOUGH)) + 1e-3 * np.log(share))
                          @ WEIGHTS[asked])

    def information_of(self, motion: FrameMotion, lengths: np.ndarray) -> Array:
        """Information (b, 10, 10) about phi that b motions bring.

        Args:
            motion: of the sensor, at n instants `STEP` apart, one motion after the other.
            lengths: (b,) of the n instants of each, so many count; the sensor rests at the others.
        """
        count = len(lengths)
        n = len(motion.omega) // count
        A = regressor(motion.proper, motion.omega, motion.alpha).reshape(count, n, 6, PARAMETERS)
        counts = (np.arange(n) < np.asarray(lengths)[:, None])[:, None, :, None]
        out = np.zeros((count, PARAMETERS, PARAMETERS))
        for k, channels in enumerate((slice(0, 3), slice(3, 6))):
            whiten = _whitening(n, self.noise[k], self.walk[k])
            rows = np.moveaxis(A[:, :, channels], 1, 0).reshape(n, -1)
            # A row is whitened by those before it, so that the last ones may be left out.
            white = (whiten @ rows).reshape(n, count, 3, PARAMETERS).transpose(1, 2, 0, 3) * counts
            one = whiten.sum(axis=1)[:, None] * counts  # (count, 1, n, 1), of the bias
            across = (one * white).sum(axis=2)
            own = np.square(one).sum(axis=2) + self.bias[k] ** -2.0
            out += (white.swapaxes(2, 3) @ white).sum(axis=1) - np.einsum(
                "bci,bcj->bij", across / own, across)
        return out


def _whitening(n: int, noise: float, walk: float) -> Array:
    """What makes the noise of a channel at n instants white, after the low-pass of the signal
    (n, n)."""
    apart = STEP * np.abs(np.arange(n)[:, None] - np.arange(n))
    covariance = (noise**2 / max(STEP * RATE, 1.0) * np.eye(n)
                  + walk**2 * np.exp(-apart / WALK_TIME))
    half = HALF * BIN
    hann = np.where(apart < half, np.cos(0.5 * np.pi * apart / half) ** 2, 0.0)
    hann /= hann.sum(axis=1, keepdims=True)
    return np.asarray(solve_triangular(np.linalg.cholesky(covariance), hann, lower=True))


def _inverse(matrix: Array) -> Array:
    """Inverse (..., k, k) of positive definite matrices whose entries differ by orders."""
    scale = 1.0 / np.sqrt(np.diagonal(matrix, axis1=-2, axis2=-1))
    scale = scale[..., :, None] * scale[..., None, :]
    return np.asarray(np.linalg.inv(matrix * scale + 1e-12 * np.eye(matrix.shape[-1])) * scale)
