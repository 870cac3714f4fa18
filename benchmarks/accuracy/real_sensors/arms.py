# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The arms: published kinematics as data, URDF text, and exact motion of the sensor by recursion.

Nothing of the identification is used on the way; a test compares with Pinocchio.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from benchmarks.robot.robots import (
    HALF,
    PANDA_A,
    PANDA_ALPHA,
    PANDA_D,
    Joint,
    Pose,
    modified_dh,
    standard_dh,
    urdf,
)
from inertial_id_ros.inertia import Array

from ..motions import GRAVITY

SENSOR_FRAME = "tool0"  # link of the sensor in the robot description
SENSOR_HEIGHT = 0.04  # m, of the sensor's origin above the flange
# Universal Robots CB3: the manufacturer's standard Denavit-Hartenberg parameters.
UR_ALPHA = (HALF, 0.0, 0.0, HALF, -HALF, 0.0)
UR_LENGTHS = {  # a [m], d [m]
    "ur3": ((0.0, -0.24365, -0.21325, 0.0, 0.0, 0.0),
            (0.1519, 0.0, 0.0, 0.11235, 0.08535, 0.0819)),
    "ur5": ((0.0, -0.425, -0.39225, 0.0, 0.0, 0.0),
            (0.089159, 0.0, 0.0, 0.10915, 0.09465, 0.0823)),
    "ur10": ((0.0, -0.612, -0.5723, 0.0, 0.0, 0.0),
             (0.1273, 0.0, 0.0, 0.163941, 0.1157, 0.0922))}
# UFACTORY xArm7: modified parameters of the manufacturer's robot description.
XARM7_ALPHA = (0.0, -HALF, HALF, HALF, HALF, HALF, -HALF)
XARM7_A = (0.0, 0.0, 0.0, 0.0525, 0.0775, 0.0, 0.076)
XARM7_D = (0.267, 0.0, 0.293, 0.0, 0.3425, 0.0, 0.097)
PANDA_FLANGE = 0.107  # m


class SensorMotion(NamedTuple):
    """Exact motion of the sensor at n times, in sensor axes.

    Attributes:
        axes: (n, 3, 3) from base axes to sensor axes; position: (n, 3) in base axes [m];
        proper: (n, 3) acceleration minus gravity; omega, alpha: (n, 3).
    """

    axes: Array
    position: Array
    proper: Array
    omega: Array
    alpha: Array

    def proper_acceleration(self) -> Array:
        """Acceleration minus gravity (n, 3), for the bounds."""
        return self.proper


@dataclass(frozen=True, eq=False)
class Arm:
    """A serial arm of revolute joints about z.

    Attributes:
        places: of each joint in the one before it; sensor: of the sensor behind the last joint.
        middle: (k,) pose about which the motions are drawn [rad].
    """

    name: str
    places: tuple[Pose, ...]
    sensor: Pose
    middle: Array

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints in the URDF."""
        return tuple(f"joint{k + 1}" for k in range(len(self.places)))

    @property
    def urdf(self) -> str:
        """Robot description."""
        joints = [Joint(k - 1, place) for k, place in enumerate(self.places)]
        joints.append(Joint(len(joints) - 1, self.sensor, "fixed"))
        return urdf(joints, [None] * len(joints)).replace(f'"link{len(joints)}"',
                                                          f'"{SENSOR_FRAME}"')

    def disturbed(self, rng: np.random.Generator, angle: float, distance: float) -> Arm:
        """The arm with every joint's place turned [deg] and moved [m] by random errors."""
        def moved(place: Pose) -> Pose:
            turn = Rotation.from_rotvec(rng.normal(0.0, angle, 3), degrees=True)
            return Pose(place.translation + rng.normal(0.0, distance, 3), place.rotation * turn)
        return replace(self, places=tuple(moved(place) for place in self.places))

    def motion(self, q: Array, dq: Array, ddq: Array, base: Array | None = None) -> SensorMotion:
        """Motion of the sensor from that of the joints (n, k) [rad, s].

        Args:
            base: (n, 3) acceleration of the base in its own axes [m/s^2]; None: it stands still.
        """
        n = len(q)
        axes, position = np.broadcast_to(np.eye(3), (n, 3, 3)), np.zeros((n, 3))
        omega, alpha = np.zeros((n, 3)), np.zeros((n, 3))
        proper = np.tile([0.0, 0.0, GRAVITY], (n, 1)) + (0.0 if base is None else base)
        spin = np.zeros((n, 3))
        for k, place in enumerate((*self.places, self.sensor)):
            step = place.translation
            position = position + axes.transpose(0, 2, 1) @ step
            proper = proper + np.cross(alpha, step) + np.cross(omega, np.cross(omega, step))
            turn = np.broadcast_to(place.rotation.as_matrix().T, (n, 3, 3))
            if k < len(self.places):
                turn = _about_z(q[:, k]) @ turn
                spin = np.zeros((n, 3))
                spin[:, 2] = dq[:, k]
            axes, omega, alpha, proper = (turn @ axes, _apply(turn, omega), _apply(turn, alpha),
                                          _apply(turn, proper))
            if k < len(self.places):
                alpha = alpha + np.cross(omega, spin)
                alpha[:, 2] += ddq[:, k]
                omega = omega + spin
        return SensorMotion(axes, position, proper, omega, alpha)

    def weight_torques(self, q: Array, mass: float, com: Array) -> Array:
        """Torques (n, k) [N m] by which the weight of a payload pulls at the joints.

        Args:
            mass, com: of the payload [kg], (3,) [m] in the sensor frame.
        """
        n = len(q)
        axes, position = np.broadcast_to(np.eye(3), (n, 3, 3)), np.zeros((n, 3))
        at, along = [], []
        for k, place in enumerate((*self.places, self.sensor)):
            position = position + axes.transpose(0, 2, 1) @ place.translation
            axes = place.rotation.as_matrix().T @ axes
            if k < len(self.places):
                axes = _about_z(q[:, k]) @ axes
                at.append(position)
                along.append(axes[:, 2])
        weight = np.array([0.0, 0.0, -mass * GRAVITY])
        centre = position + axes.transpose(0, 2, 1) @ com
        return np.stack([np.einsum("ni,ni->n", z, np.cross(centre - p, weight))
                         for p, z in zip(at, along, strict=True)], axis=1)


def _apply(turn: Array, vector: Array) -> Array:
    return np.einsum("nij,nj->ni", turn, vector)


def _about_z(angle: Array) -> Array:
    """Rotations (n, 3, 3) from axes before a joint to those behind it, turned by (n,) [rad]."""
    c, s = np.cos(angle), np.sin(angle)
    out = np.zeros((len(angle), 3, 3))
    out[:, 0, 0], out[:, 0, 1], out[:, 1, 0], out[:, 1, 1], out[:, 2, 2] = c, s, -s, c, 1.0
    return out


def _ur(name: str) -> Arm:
    joints, ends = standard_dh(UR_ALPHA, *UR_LENGTHS[name])
    flange = ends[-1]
    middle = np.array([0.0, -1.3, 1.5, -1.2, -1.5, 0.0])
    return Arm(name, tuple(j.pose for j in joints), _raised(flange, SENSOR_HEIGHT), middle)


def _from_modified(name: str, joints: list[Joint], flange: float, middle: Sequence[float]) -> Arm:
    return Arm(name, tuple(j.pose for j in joints), _raised(Pose(), flange + SENSOR_HEIGHT),
               np.array(middle))


def _raised(pose: Pose, height: float) -> Pose:
    return pose @ Pose(np.array([0.0, 0.0, height]))


ARMS = {arm.name: arm for arm in (
    *(_ur(name) for name in UR_LENGTHS),
    _from_modified("xarm7", modified_dh(XARM7_ALPHA, XARM7_A, XARM7_D), 0.0,
                   (0.0, -0.4, 0.0, 0.9, 0.0, 1.2, 0.0)),
    _from_modified("panda", modified_dh(PANDA_ALPHA, PANDA_A, PANDA_D), PANDA_FLANGE,
                   (0.0, -0.4, 0.0, -2.0, 0.0, 1.7, 0.8)))}
