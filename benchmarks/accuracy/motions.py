# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Motions of the arm, and the exact motion of the sensor frame that follows from them.

Positions, velocities and accelerations of the joints are closed forms; MuJoCo evaluates the motion
of the sensor frame. Nothing of the identification is used on the way.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from inertial_id_ros.apps.simulation.cobot import ArmEngine
from inertial_id_ros.apps.simulation.description import SENSOR_FRAME, load_description
from inertial_id_ros.apps.simulation.motion import (
    COMMON_PERIOD,
    START_POSE,
    JointMotion,
    Sinusoid,
    SmoothStart,
    StopAndGo,
    minimum_jerk,
)
from inertial_id_ros.apps.simulation.payload import PAYLOADS
from inertial_id_ros.inertia import Array

GRAVITY = 9.81
FRAME = "payload_sensor"  # the sensor of the benchmark, fixed to the arm's own sensor frame
OFFSET = np.array([0.0, 0.0, 0.08])  # of it there: 0.12 m from the flange
SPEED_FACTOR = 1.28  # pace of the published sinusoids for a mean angular speed of 1 rad/s
MotionLaw = Callable[[Array], JointMotion]


class SensorMotion(NamedTuple):
    """Exact motion of the sensor frame at n times.

    Attributes:
        q: (n, 6) joint positions [rad]; axes: (n, 3, 3), rows are the axes of the base in sensor
        axes; acceleration (without gravity), omega, alpha: (n, 3) in sensor axes.
    """

    q: Array
    axes: Array
    acceleration: Array
    omega: Array
    alpha: Array

    def proper_acceleration(self, up: Array | None = None) -> Array:
        """``R'(pddot - g)`` (n, 3) for gravity against `up` (3,) in base axes (default: z)."""
        direction = np.array([0.0, 0.0, 1.0]) if up is None else up
        return self.acceleration + GRAVITY * np.einsum("nij,i->nj", self.axes, direction)


def sinusoid(speed: float, rng: np.random.Generator) -> MotionLaw:
    """The sinusoids of Nadeau et al. (2022) at a random phase; speed: mean angular [rad/s]."""
    law = Sinusoid(SmoothStart(SPEED_FACTOR * speed, 1e-9))
    start = 1.0 + rng.uniform(0.0, COMMON_PERIOD) / (SPEED_FACTOR * speed)
    return lambda t: law(t + start)


def stop_and_go(speed: float, rng: np.random.Generator) -> MotionLaw:
    """The same path in stretches of 2 s with rests of 1 s between them."""
    law = Sinusoid(StopAndGo(SPEED_FACTOR * speed, 2.0, 1.0, 0.5))
    start = rng.uniform(0.0, COMMON_PERIOD)
    return lambda t: law(t + start)


def point_to_point(duration: float, rng: np.random.Generator) -> MotionLaw:
    """Minimum-jerk moves of the last three joints between random poses (Traversaro et al. 2016).

    Args:
        duration: of each move [s]; there is no rest between moves.
    """
    poses = np.tile(START_POSE, (int(120.0 / duration) + 3, 1))
    poses[:, 3:] += np.deg2rad(45.0) * rng.uniform(-1.0, 1.0, (len(poses), 3))

    def law(t: Array) -> JointMotion:
        k = np.clip((np.asarray(t) / duration).astype(int), 0, len(poses) - 2)
        s = minimum_jerk((t - k * duration)[:, None] / duration)
        step = poses[k + 1] - poses[k]
        return JointMotion(poses[k] + step * s.value, step * s.rate / duration,
                           step * s.acceleration / duration**2)

    return law


LAWS: dict[str, Callable[[float, np.random.Generator], MotionLaw]] = {
    "sinusoid": sinusoid, "stop_and_go": stop_and_go, "point_to_point": point_to_point}


@lru_cache(maxsize=1)
def _engine() -> ArmEngine:
    return ArmEngine(load_description().urdf, PAYLOADS["cylinder"], np.array([0.0, 0.0, -GRAVITY]))


@lru_cache(maxsize=1)
def arm_urdf() -> str:
    """Robot description of the arm."""
    return load_description().urdf


def joint_names() -> tuple[str, ...]:
    """Names of the joints in the order of every array."""
    return load_description().joint_names


def mounting() -> tuple[str, str, Array, Array]:
    """Fixed transform of the sensor: parent, child, translation (3,), quaternion x, y, z, w."""
    return SENSOR_FRAME, FRAME, OFFSET, np.array([0.0, 0.0, 0.0, 1.0])


def sensor_motion(joints: JointMotion) -> SensorMotion:
    """Motion of the sensor frame for a motion of the joints."""
    at = _engine().evaluate(*joints)
    acceleration = at.a_g - GRAVITY * at.rotation[:, 2]
    acceleration = (acceleration + np.cross(at.alpha, OFFSET)
                    + np.cross(at.omega, np.cross(at.omega, OFFSET)))
    return SensorMotion(joints.q, at.rotation, acceleration, at.omega, at.alpha)
