# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What a motion identifies: of a payload by a wrist sensor, of a robot by its joint torques.

A channel of the sensor reads ``A phi + bias + walk + noise``: its row of the regressor, a constant
bias, a bias that drifts, white noise, all low-passed. Rows of a motion are whitened, and the bias
is eliminated channel by channel, with what the data sheet says of it.
"""

from __future__ import annotations

from collections.abc import Callable
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
from .arm import Arm, FrameMotion

STEP, SPARSE = 0.06, 0.1  # s between the instants at which rows of a payload, a robot are computed
REST = 0.2  # s before and after a motion, that its rows hold
PAUSE = 1.0  # s after a motion
RATE = 500.0  # Hz, of the samples for which motions are planned
WALK_TIME = 6.0  # s, correlation time of what the data sheet calls accuracy
# Of mass, each coordinate of its centre, each entry of the inertia: what takes six numbers must not
# count more than what takes one, since slow motions with a poor sensor never identify it.
WEIGHTS = np.repeat([1.0, 1.0 / 3.0, 1.0 / 6.0], [1, 3, 6])
ENOUGH = 0.8  # of the wanted standard deviation: beyond that nothing is gained
WRIST = 3  # joints before the frame that move first
TORQUE_NOISE = 0.5  # N m, of one sample of a joint torque


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

    def revised(self, phi: Array, covariance: Array) -> Knowledge:
        """What is known once an estimate phi (10,) with its covariance (10, 10) is there."""
        return self._replace(phi=phi, information=_inverse(covariance))

    def sigma(self, information: Array) -> Array:
        """Standard deviations (..., 10) of mass, centre of mass, and inertia about it, by
        information (..., 10, 10)."""
        jacobian = report_jacobian(self.phi)
        covariance = jacobian @ _inverse(information) @ jacobian.T
        return np.sqrt(np.maximum(np.diagonal(covariance, axis1=-2, axis2=-1), 0.0))

    def information_of(self, motion: FrameMotion, lengths: np.ndarray) -> Array:
        """Information (b, 10, 10) about phi that b motions bring.

        Args:
            motion: of the sensor, at instants `STEP` apart, one motion after the other, each of
                which ends at rest; lengths: (b,) numbers of their instants.
        """
        count, n = len(lengths), int(lengths.max())
        which = (np.cumsum(lengths) - lengths)[:, None] + np.minimum(
            np.arange(n), lengths[:, None] - 1)  # the sensor rests after its motion
        A = regressor(motion.proper, motion.omega, motion.alpha)[which]
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


class Goal(NamedTuple):
    """What motions are planned for.

    Attributes:
        information: (p, p) about p parameters, before a motion.
        joints: indices of the joints that move, each further set where those before gain little.
        added: information (b, p, p) of b motions of all joints.
        missing: how uncertain the parameters are (...,) with information (..., p, p) [nats]: the
            logarithms of the standard deviations of so many (`kinds`) of them.
    """

    information: Array
    joints: tuple[np.ndarray, ...]
    added: Callable[[list[Trajectory]], Array]
    missing: Callable[[Array], Array]
    kinds: float

    def gains(self, motions: list[Trajectory]) -> Array:
        """What each of b motions brings (b,) [nats/s]."""
        after = self.missing(self.information + self.added(motions))
        return np.asarray((self.missing(self.information) - after)
                          / [motion.duration + PAUSE for motion in motions])

    def after(self, motion: Trajectory) -> Goal:
        """The same after a motion."""
        return self._replace(information=self.information + self.added([motion])[0])


def payload_goal(arm: Arm, known: Knowledge, wanted: Array) -> Goal:
    """A payload, to be known to standard deviations (10,) of mass, centre of mass and inertia about
    it, infinite where nothing is wanted; what is known well enough counts hardly any more."""
    chain, asked = arm.index(arm.chain), np.isfinite(wanted)

    def added(motions: list[Trajectory]) -> Array:
        instants = [_instants(motion.duration) for motion in motions]
        states = [motion.sample(t) for motion, t in zip(motions, instants, strict=True)]
        return known.information_of(arm.motion(*np.concatenate(states, axis=1)),
                                    np.array([len(t) for t in instants]))

    def missing(information: Array) -> Array:
        share = known.sigma(information)[..., asked] / wanted[asked]
        return np.asarray((np.log(np.maximum(share, ENOUGH)) + 1e-3 * np.log(share))
                          @ WEIGHTS[asked])

    return Goal(known.information, (chain[-WRIST:], chain), added, missing,
                float(WEIGHTS[asked].sum()))


def robot_goal(arm: Arm) -> Goal:
    """The base parameters of a robot, from the torques of the joints that move the frame; what is
    known before is the description's order of magnitude."""
    from ...robot.base_parameters import structural_base_parameters
    from ...robot.least_squares import description_reference
    from ...robot.model import NO_TERMS, RobotModel

    model, chain = RobotModel.from_urdf(arm.urdf, NO_TERMS), arm.index(arm.chain)
    base = structural_base_parameters(model)
    across = base.matrix @ description_reference(model).unit
    root = np.asarray(np.linalg.qr(across.T, mode="r")).T / TORQUE_NOISE

    def added(motions: list[Trajectory]) -> Array:
        rows = (np.concatenate(model.regressor(*motion.sample(
            np.arange(0.5 * SPARSE, motion.duration, SPARSE)))[:, chain][:, :, base.independent])
            @ root for motion in motions)
        return RATE * SPARSE * np.stack([r.T @ r for r in rows])

    return Goal(np.eye(root.shape[1]), (chain,), added,
                lambda information: -0.5 * np.linalg.slogdet(information)[1], root.shape[1])


def _instants(duration: float) -> Array:
    """Times (n,) [s] at which the rows of a motion are computed, rests before and after included.
    """
    count = int(np.ceil((duration + 2.0 * REST) / STEP))
    return (np.arange(count) + 0.5) * STEP - REST


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
