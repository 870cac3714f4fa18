# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What the data tell of each parameter, and which further motion would tell more.

A motion is judged by the information that its samples would add to that of an estimate: regressor
of the motion, noise of the sensor, a bias that is not known. What a cable, the gain of the sensor
or its place in the frame leave uncertain, no motion takes away; the numbers are therefore the best
that can be hoped for.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...estimate import IDENTIFIED, Estimate
from ...identification.verdict import allowed_intervals
from ...inertia import Array, report_jacobian
from ...linalg import inverse
from ...regression.newton_euler import regressor
from ...regression.uncertainty.noise import datasheet_noise
from ...settings import Settings
from ...signals.bins import BIN_NS
from .wording import CONFIDENCE_95

_SECONDS = 4.0


class Candidate(NamedTuple):
    """A motion: to and fro about an axis of the sensor, which begins upright.

    Attributes:
        axis: 0, 1, 2; angle: to both sides [rad]; period: of to and fro [s].
    """

    axis: int
    angle: float
    period: float

    @property
    def text(self) -> str:
        """The motion in words."""
        way = "tilt slowly" if self.period >= _SECONDS else "turn briskly"
        return (f"{way} to and fro about {'xyz'[self.axis]} of the sensor, "
                f"{np.rad2deg(self.angle):.0f}\u00b0 to both sides, {self.period:g} s each")


CANDIDATES = (*(Candidate(axis, np.deg2rad(30.0), _SECONDS) for axis in range(2)),
              *(Candidate(axis, np.deg2rad(40.0), 1.5) for axis in range(3)))


class Known(NamedTuple):
    """What is known of one reported parameter.

    Attributes:
        share: of its information that comes from the data, 0 to 1.
        half_width: of its 95 % interval; allowed: with which it counts as known.
        motion: that would tell most of it; None: it is known already.
        after: half width after that motion, at best.
    """

    share: float
    half_width: float
    allowed: float
    motion: Candidate | None
    after: float


def information(estimate: Estimate, settings: Settings) -> list[Known]:
    """What is known of each of the ten reported parameters, in their units."""
    width = CONFIDENCE_95 * estimate.sigma
    # The verdict compares two standard deviations.
    allowed = 0.5 * CONFIDENCE_95 * allowed_intervals(estimate.phi, estimate.phi_covariance)
    noise = np.maximum(datasheet_noise(settings.wrench), estimate.residual_rms)
    after = np.array([CONFIDENCE_95 * sigma_after(estimate, motion, noise,
                                                  settings.gravity.acceleration)
                      for motion in CANDIDATES])
    out = []
    for k, verdict in enumerate(estimate.verdict):
        best = int(np.argmin(after[:, k]))
        motion = None if verdict == IDENTIFIED else CANDIDATES[best]
        out.append(Known(float(estimate.data_share[k]), float(width[k]), float(allowed[k]),
                         motion, float(width[k] if motion is None else after[best, k])))
    return out


def sigma_after(estimate: Estimate, motion: Candidate, noise: Array, gravity: float) -> Array:
    """Standard deviations (10,) of the reported parameters after a motion.

    Args:
        noise: (6,) of a mean over 10 ms [N, N m]; gravity: [m/s^2].
    """
    rows = regressor(*motion_of(motion, gravity))
    rows = (rows - rows.mean(axis=0)) / noise[:, None]  # a bias is not known
    rows = rows.reshape(-1, rows.shape[-1])
    covariance = inverse(inverse(estimate.phi_covariance) + rows.T @ rows)
    jacobian = report_jacobian(estimate.phi)
    return np.sqrt(np.maximum(np.diag(jacobian @ covariance @ jacobian.T), 0.0))


def motion_of(motion: Candidate, gravity: float) -> tuple[Array, Array, Array]:
    """Proper acceleration, angular velocity and acceleration (n, 3) of the sensor, in its axes."""
    rate = 2.0 * np.pi / motion.period
    phase = rate * np.arange(0.0, _SECONDS, BIN_NS * 1e-9)
    angle, axis = motion.angle * np.sin(phase), np.eye(3)[motion.axis]
    # Up in axes that are turned by an angle about one of them.
    up = np.array([0.0, 0.0, 1.0])
    across = np.cross(axis, up)
    turned = (np.outer(np.cos(angle), up) - np.outer(np.sin(angle), across)
              + np.outer(1.0 - np.cos(angle), axis * (axis @ up)))
    return (gravity * turned, np.outer(rate * motion.angle * np.cos(phase), axis),
            np.outer(-rate**2 * angle, axis))
