# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What turns a wrongly described set-up into the one that was meant: motion and wrench anew."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from scipy.spatial.transform import Rotation

from ..motion.motion import BIN, Array, Motion
from .history import Window

_UP = np.array([0.0, 0.0, 1.0])
_SMOOTH = np.hanning(13)[1:-1] / np.hanning(13)[1:-1].sum()


@dataclass(frozen=True, eq=False)
class Correction:
    """What was described wrongly; by default nothing.

    Attributes:
        late: bins by which stamps of the wrench are late.
        up: (3,) unit vector against gravity in base axes.
        channels: (6,) factors of the readings; turn: (3, 3) from the axes of the wrench, after
            that, to those of the sensor.
        in_base: True if forces and torques are in base axes.
        quaternion: order in which poses are given: "" as stated, "wxyz", or "inverse" poses.
    """

    late: int = 0
    up: Array = field(default_factory=_UP.copy)
    channels: Array = field(default_factory=lambda: np.ones(6))
    turn: Array = field(default_factory=lambda: np.eye(3))
    in_base: bool = False
    quaternion: str = ""

    def wrench(self, wrench: Array, rotation: Array) -> Array:
        """Wrenches (n, 6) in sensor axes, which are turned by (n, 3, 3) to those of the base."""
        parts = (wrench * self.channels).reshape(-1, 2, 3)
        if self.in_base:
            parts = parts @ rotation
        return np.asarray((parts @ self.turn.T).reshape(-1, 6))

    def motion(self, motion: Motion) -> Motion:
        """The motion of bins that follow one another, in a base whose z axis points up."""
        if self.quaternion:
            motion = _with_rotations(motion, reordered(motion.rotation, self.quaternion))
        if self.up[2] == 1.0:
            return motion
        level = turn_between(self.up, _UP)
        n, twists = len(motion.number), motion.twists
        return motion._replace(
            rotation=level @ motion.rotation, position=motion.position @ level.T,
            joints=level @ motion.joints,
            twists=(twists.reshape(n, -1, 2, 3) @ level.T).reshape(twists.shape))

    def window(self, window: Window) -> Window:
        """The window as it should have been."""
        n = len(window.used)
        at = np.arange(n) + self.late
        inside, at = (at >= 0) & (at < n), at.clip(0, n - 1)
        return replace(window, motion=self.motion(window.motion),
                       used=window.used & inside & (window.count[at] > 0.0),
                       wrench=self.wrench(window.wrench[at], window.motion.rotation),
                       count=window.count[at])


def turn_between(a: Array, b: Array) -> Array:
    """The shortest rotation (3, 3) that turns unit vector a to b."""
    if a @ b < -1.0 + 1e-9:
        across = np.eye(3)[np.argmin(np.abs(a))]
        axis = np.cross(a, across)
        axis /= np.linalg.norm(axis)
        return np.asarray(2.0 * np.outer(axis, axis) - np.eye(3))
    k = np.cross(np.eye(3), np.cross(a, b))
    return np.asarray(np.eye(3) + k + k @ k / (1.0 + a @ b))


def reordered(rotation: Array, order: str) -> Array:
    """Rotations (n, 3, 3) as they were meant, whose quaternions were given with w first, or of the
    inverse poses."""
    if order == "inverse":
        return rotation.transpose(0, 2, 1)
    read = Rotation.from_matrix(rotation).as_quat()  # (w, x, y, z) taken for (x, y, z, w)
    return np.asarray(Rotation.from_quat(np.roll(read, -1, axis=1)).as_matrix())


def _with_rotations(motion: Motion, rotation: Array) -> Motion:
    """The motion of bins that follow one another, with other rotations (n, 3, 3)."""
    steps = rotation[:-1].transpose(0, 2, 1) @ rotation[1:]
    rate = np.pad(Rotation.from_matrix(steps).as_rotvec() / BIN, ((1, 1), (0, 0)), "edge")
    rate = np.pad(0.5 * (rate[1:] + rate[:-1]), ((5, 5), (0, 0)), "edge")
    omega = np.stack([np.convolve(column, _SMOOTH, "valid") for column in rate.T], 1)
    turn = rotation.transpose(0, 2, 1) @ motion.rotation
    return motion._replace(rotation=rotation, omega=omega, alpha=np.gradient(omega, BIN, axis=0),
                           acceleration=(turn @ motion.acceleration[..., None])[..., 0])
