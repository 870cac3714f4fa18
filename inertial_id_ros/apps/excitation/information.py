# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What a motion tells of a payload, measured by a wrist sensor.

A channel of the sensor reads ``A phi + bias + walk + noise``: its row of the regressor, a constant
bias, a bias that drifts, white noise, all low-passed. Rows of a motion are whitened, and the bias
is eliminated channel by channel, with what the data sheet says of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from ...estimators.reference_body import body_coordinates
from ...inertia import PARAMETERS, Array, phi_from_body, report_jacobian
from ...model.newton_euler import regressor
from ...model.rows import HALF
from ...motion.motion import BIN
from ...settings import Settings
from ..simulation.motion import Trajectory
from .arm import Arm

STEP = 0.06  # s between the instants at which rows are computed
REST = 0.2  # s before and after a motion, that its rows hold
PAUSE = 1.0  # s after a motion
RATE = 500.0  # Hz, of the samples for which motions are planned
WALK_TIME = 6.0  # s, correlation time of what the data sheet calls accuracy
# Of mass, each coordinate of its centre, each entry of the inertia: what takes six numbers must not
# count more than what takes one, since slow motions with a poor sensor never identify it.
WEIGHTS = np.repeat([1.0, 1.0 / 3.0, 1.0 / 6.0], [1, 3, 6])
ENOUGH = 0.8  # of the wanted standard deviation: beyond that nothing is gained


class Knowledge(NamedTuple):
    """What is known of a payload, as a Gaussian about phi, and standard deviations of the sensor
    for forces [N] and torques [N m]."""

    phi: Array  # (10,) most probable
    information: Array  # (10, 10)
    noise: tuple[float, ...]  # of a sample
    walk: tuple[float, ...]  # of the bias that drifts
    bias: tuple[float, ...]  # of the bias before any data

    @classmethod
    def usual(cls, settings: Settings, mass: float = 0.5) -> Knowledge:
        """A payload of which nothing is known: a ball of 0.1 m, its centre 0.1 m from the sensor,
        known to 100 % of itself. A light one [kg]: the first motion must identify such a one, too,
        and part of it a heavier one."""
        ball = phi_from_body(mass, [0.0, 0.0, 0.1], 2.0 * mass * 0.06**2 * np.eye(3))
        unit, wrench = np.linalg.inv(mass * body_coordinates(ball / mass).to_phi), settings.wrench
        return cls(ball, unit.T @ unit, wrench.noise, wrench.accuracy, wrench.bias_sd)

    def revised(self, phi: Array, covariance: Array) -> Knowledge:
        """What is known once an estimate phi (10,) with its covariance (10, 10) is there; it tells
        nothing where it is not determined."""
        if not np.isfinite(covariance).all() or np.linalg.eigvalsh(covariance)[0] <= 0.0:
            return self
        return self._replace(phi=phi, information=_inverse(covariance))

    def after(self, arm: Arm, motion: Trajectory) -> Knowledge:
        """What is known after a motion of all joints of an arm."""
        return self._replace(information=self.information + self._added(arm, [motion])[0])

    def sigma(self, information: Array) -> Array:
        """Standard deviations (..., 10) of mass, centre of mass, and inertia about it, by
        information (..., 10, 10)."""
        jacobian = report_jacobian(self.phi)
        covariance = jacobian @ _inverse(information) @ jacobian.T
        return np.sqrt(np.maximum(np.diagonal(covariance, axis1=-2, axis2=-1), 0.0))

    def gains(self, arm: Arm, motions: Sequence[Trajectory], wanted: Array) -> Array:
        """What each of b motions of all joints of an arm brings (b,): logarithms of the standard
        deviations of mass, centre of mass and inertia, weighted, a second [nats/s]; wanted: (10,)
        of them, infinite where nothing is: what is known well enough counts hardly any more."""
        asked = np.isfinite(wanted)

        def missing(information: Array) -> Array:
            share = self.sigma(information)[..., asked] / wanted[asked]
            return np.asarray((np.log(np.maximum(share, ENOUGH)) + 1e-3 * np.log(share))
                              @ WEIGHTS[asked])

        after = missing(self.information + self._added(arm, motions))
        return np.asarray((missing(self.information) - after)
                          / [motion.duration + PAUSE for motion in motions])

    def _added(self, arm: Arm, motions: Sequence[Trajectory]) -> Array:
        """Information (b, 10, 10) about phi that b motions bring, rests before and after included.
        """
        lengths = np.array([int(np.ceil((m.duration + 2.0 * REST) / STEP)) for m in motions])
        count, n = len(lengths), int(lengths.max())
        instants = (np.arange(n) + 0.5) * STEP - REST
        moved = arm.motion(*np.concatenate([motion.sample(instants[:length]) for motion, length in
                                            zip(motions, lengths, strict=True)], axis=1))
        which = (np.cumsum(lengths) - lengths)[:, None] + np.minimum(
            np.arange(n), lengths[:, None] - 1)  # the sensor rests after its motion
        A = regressor(moved.proper, moved.omega, moved.alpha)[which]
        counts = (np.arange(n) < lengths[:, None])[:, None, :, None]
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
