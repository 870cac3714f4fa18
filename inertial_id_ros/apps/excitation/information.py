# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What a motion tells of a payload, measured by a wrist sensor.

A channel of the sensor reads ``A phi + bias + walk + noise``: its row of the regressor, a constant
bias, a bias that drifts, white noise: by its data sheet, the covariance of a motion's readings.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ...estimators.reference_body import body_coordinates
from ...inertia import PARAMETERS, Array, phi_from_body, report_jacobian
from ...model.newton_euler import regressor
from ...settings import Settings
from ...settings.groups import WrenchSettings
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
    """What is known of a payload, as a Gaussian about phi, and the sensor that measures it.

    It is that of motions alone: an estimate corrects phi, and what it doubts for other reasons
    (a cable that may be there) is not to be learnt from small motions, one after the other.
    """

    phi: Array  # (10,) most probable
    information: Array  # (10, 10)
    sensor: WrenchSettings

    @classmethod
    def usual(cls, settings: Settings, mass: float = 0.5) -> "Knowledge":
        """A payload of which nothing is known: a ball of 0.1 m, its centre 0.1 m from the sensor,
        known to 100 % of itself. A light one [kg]: the first motion must identify such a one, too,
        and part of it a heavier one."""
        ball = phi_from_body(mass, [0.0, 0.0, 0.1], 2.0 * mass * 0.06**2 * np.eye(3))
        unit = np.linalg.inv(mass * body_coordinates(ball / mass).to_phi)
        return cls(ball, unit.T @ unit, settings.wrench)

    def sigma(self) -> Array:
        """Standard deviations (10,) of mass, centre of mass, and inertia about it."""
        jacobian = report_jacobian(self.phi)
        return np.sqrt(np.diag(jacobian @ np.linalg.inv(self.information) @ jacobian.T))

    def gain(self, arm: Arm, motion: Trajectory, wanted: Array) -> float:
        """What a motion of all joints of an arm brings: logarithms of the standard deviations of
        mass, centre of mass and inertia, weighted, a second [nats/s]; wanted: (10,) of them,
        infinite where nothing is: what is known well enough counts hardly any more."""
        asked = np.isfinite(wanted)
        before, after = ((np.log(np.maximum(share, ENOUGH)) + 1e-3 * np.log(share)) @ WEIGHTS[asked]
                         for share in (known.sigma()[asked] / wanted[asked]
                                       for known in (self, self.after(arm, motion))))
        return float(before - after) / (motion.duration + PAUSE)

    def after(self, arm: Arm, motion: Trajectory) -> "Knowledge":
        """What is known after a motion of all joints of an arm, with rests before and after it."""
        instants = np.arange(0.5 * STEP - REST, motion.duration + REST, STEP)
        A = regressor(*arm.motion(*motion.sample(instants)))
        information, sensor = self.information.copy(), self.sensor
        for k, channels in enumerate((slice(0, 3), slice(3, 6))):
            weights = _weights(len(A), sensor.noise[k], sensor.accuracy[k], sensor.bias_sd[k])
            rows = A[:, channels].reshape(len(A), -1)  # (n, 3 * 10)
            information += rows.reshape(-1, PARAMETERS).T @ (weights @ rows).reshape(-1, PARAMETERS)
        return self._replace(information=information)


@lru_cache(256)
def _weights(n: int, noise: float, walk: float, bias: float) -> Array:
    """Inverse covariance (n, n) of a channel's errors at n instants."""
    apart = STEP * np.abs(np.arange(n)[:, None] - np.arange(n))
    return np.linalg.inv(noise**2 / max(STEP * RATE, 1.0) * np.eye(n)
                         + walk**2 * np.exp(-apart / WALK_TIME) + bias**2)
