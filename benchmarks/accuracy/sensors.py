# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What sensors make of the truth: wrench of a body by its own equations, noise, bias, errors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from inertial_id_ros.inertia import Array, body_from_phi

from .motions import SensorMotion


@dataclass(frozen=True)
class Noise:
    """Standard deviations of one sample: angular [rad/s^2] and linear [m/s^2] acceleration, force
    [N], torque [N m] (Nadeau et al. 2022, Table II)."""

    angular: float
    linear: float
    force: float
    torque: float

    @property
    def wrench(self) -> Array:
        """(6,) [N, N m]."""
        return np.repeat([self.force, self.torque], 3)


LOW = Noise(0.25, 0.025, 0.05, 0.0025)
MODERATE = Noise(0.5, 0.05, 0.1, 0.005)
HIGH = Noise(1.0, 0.1, 0.33, 0.0067)
NOISE = {"low": LOW, "moderate": MODERATE, "high": HIGH,
         # The workshop tools were published with a quieter wrench at the high level.
         "high_tools": Noise(1.0, 0.1, 0.2, 0.01)}
ENCODER_NOISE = 1e-4  # rad
GYROSCOPE_NOISE = 1e-3  # rad/s
BIAS_SD = np.repeat([0.5, 0.02], 3)  # N, N m


@dataclass(frozen=True)
class SetUpErrors:
    """Errors of the set-up that the identification does not know.

    Attributes:
        clock_offset: a wrench stamped t was measured at t minus this [s].
        rotation: angle of the sensor against its frame, about a random axis [deg].
        tilt: angle of gravity against the frame's vertical, about a random horizontal axis [deg].
        shape_shift, shape_turn: error of the pose of the shape, in a random direction [m], [deg].
        bias: whether the wrench has a random bias.
    """

    clock_offset: float = 0.0
    rotation: float = 0.0
    tilt: float = 0.0
    shape_shift: float = 0.0
    shape_turn: float = 0.0
    bias: bool = False


def rigid_body_wrench(phi: Array, motion: SensorMotion, up: Array | None = None) -> Array:
    """Wrench (n, 6) of the sensor on a body in this motion."""
    return newton_euler(phi, motion.proper_acceleration(up), motion.omega, motion.alpha)


def newton_euler(phi: Array, proper: Array, omega: Array, alpha: Array) -> Array:
    """Wrench (n, 6) of the sensor on a body, by Newton's and Euler's laws about its mass centre.

    Written without the regressor of the package, which is what it has to agree with.

    Args:
        proper: (n, 3) acceleration of the sensor minus gravity, omega, alpha: (n, 3), sensor axes.
    """
    mass, com, inertia = body_from_phi(phi)
    force = mass * (proper + np.cross(alpha, com) + np.cross(omega, np.cross(omega, com)))
    spin = alpha @ inertia.T + np.cross(omega, omega @ inertia.T)
    return np.hstack([force, spin + np.cross(com, force)])


def direction(rng: np.random.Generator, horizontal: bool = False) -> Array:
    """A random unit vector (3,)."""
    v = rng.normal(size=3) * ([1.0, 1.0, 0.0] if horizontal else 1.0)
    return v / np.linalg.norm(v)


def tilted_up(angle: float, rng: np.random.Generator) -> Array:
    """The vertical (3,) in base axes, tilted by an angle [deg] in a random direction."""
    axis = direction(rng, horizontal=True)
    return Rotation.from_rotvec(axis * angle, degrees=True).apply([0.0, 0.0, 1.0])


def turned(wrench: Array, angle: float, rng: np.random.Generator) -> Array:
    """Wrench (n, 6) as read by a sensor that is turned by an angle [deg] about a random axis."""
    back = Rotation.from_rotvec(direction(rng) * angle, degrees=True).as_matrix()
    return (wrench.reshape(-1, 2, 3) @ back).reshape(-1, 6)


def random_bias(rng: np.random.Generator) -> Array:
    """A wrench bias (6,) [N, N m]."""
    return BIAS_SD * rng.normal(size=6)
