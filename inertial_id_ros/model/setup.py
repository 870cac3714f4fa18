# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Sensor and set-up: what is known of them before the data (data sheet, mounting), and the errors
that are applied exactly, found anew in each estimate."""

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
import pinocchio as pin
from scipy.linalg.lapack import dtbtrs
from scipy.spatial.transform import Rotation

from ..motion.motion import BIN, Array, Motion
from ..settings import SENSORS, Settings
from .history import Window

RANGE = SENSORS["ati_gamma"].range  # where it is not known
LEVER = 0.001  # m: no motion tells the centre of mass better
_UP = np.array([0.0, 0.0, 1.0])
# By powers of 1/z, (1 + 1/z)^n and this times s, and s^2, n = 1 or 2, for steps of 2 s.
_BILINEAR = {2: np.array([[1, 1], [1, -1]]), 3: np.array([[1, 2, 1], [1, 0, -1], [1, -2, 1]])}


@dataclass(frozen=True, eq=False)
class Sheet:
    """Standard deviations; pairs are of a force and of a torque channel.

    Attributes:
        noise: of a sample; accuracy: what nothing else explains; drift: in a minute [N, N m].
        gain: of each channel; cross_talk: of each on each other, relative to `scale` [N, N m].
        bias_mean, bias_sd: (6,) of the zero [N, N m], sign of W.
        rotation, tilt, arm: of the sensor, of gravity, of each joint's axes [rad].
        origin: of the sensor's origin [m]; delay: of the stamps of the wrench [s]; floor: [N, N m],
            no row of the scan is better.
    """

    noise: tuple[float, ...]
    accuracy: tuple[float, ...]
    drift: tuple[float, ...]
    gain: float
    cross_talk: float
    scale: tuple[float, float]
    bias_mean: Array
    bias_sd: Array
    rotation: float
    tilt: float
    arm: float
    origin: float
    delay: float
    floor: tuple[float, ...] = (0.03, 0.0015)

    flex: ClassVar[float] = 1e-4  # rad/(N m), of each joint

    @property
    def is_ideal(self) -> bool:
        """True if there is nothing but white noise and a constant bias."""
        return not any(self.accuracy)


def sheet_of(settings: Settings, bias: tuple[Array, Array] | None = None) -> Sheet:
    """The sheet that settings state; bias: mean and standard deviation (6,) of a tare."""
    wrench, alignment = settings.wrench, settings.alignment
    mean, sd = bias or (np.zeros(6), np.repeat(wrench.bias_sd, 3))
    force, torque = (own or usual for own, usual in zip(wrench.range, RANGE, strict=True))
    rotation, tilt, arm = np.deg2rad([alignment.rotation_sd, alignment.tilt_sd,
                                      alignment.orientation_sd]).tolist()
    return Sheet(tuple(wrench.noise), tuple(wrench.accuracy), tuple(wrench.drift),
                 wrench.gain_error, wrench.cross_talk, (force, torque), mean, sd, rotation, tilt,
                 arm, alignment.position_sd, alignment.delay_sd)


@dataclass(frozen=True, eq=False)
class Setup:
    """What is not as it was said.

    Attributes:
        tilt: (2,) of gravity about the base's x and y [rad].
        delay: by which stamps of the wrench are late [s].
        filter: the sensor's own low-pass: () none, (time constant [s],) of first order,
            (time constant [s], damping) of second order.
    """

    tilt: Array = field(default_factory=lambda: np.zeros(2))
    delay: float = 0.0
    filter: tuple[float, ...] = ()


def low_pass(values: Array, filter: tuple[float, ...], step: float = BIN) -> Array:
    """Causal low-pass of values (n, ...) at equal steps [s], settled at the first one."""
    if not filter:
        return values
    time, *damping = filter
    over = [1.0, *(2.0 * d * time for d in damping), time ** (1 + len(damping))]
    return values[:1] + filtered(values - values[:1], np.eye(len(over))[0], np.array(over), step)


def filtered(values: Array, by: Array, over: Array, step: float = BIN) -> Array:
    """Values (n, ...) at equal steps [s] through by(s) / over(s), both (k,), of which the lowest
    power of s is first, from rest (bilinear transform); `scipy.signal` would load half of scipy."""
    b, a = ((part * (2.0 / step) ** np.arange(len(part))) @ _BILINEAR[len(part)]
            for part in (by, over))
    flat = values.reshape(len(values), -1).T
    driven = b[0] * flat
    for k, weight in enumerate(b[1:len(values)], 1):
        driven[:, k:] += weight * flat[:, :-k]
    bands = np.tile(a, (len(values), 1)).T
    return np.asarray(dtbtrs(bands, driven.T, uplo="L", overwrite_b=True)[0]).reshape(values.shape)


@dataclass(frozen=True, eq=False)
class SetupError:
    """What was described wrongly, and how it is turned right; by default nothing.

    Attributes:
        kind: of its finding; empty: the set-up is as stated; units: of the readings.
        late: bins by which stamps of the wrench are late.
        up: (3,) unit vector against gravity in base axes.
        channels: (6,) factors of the readings; turn: (3, 3) from the axes of the wrench, after
            that, to those of the sensor.
        in_base: True if forces and torques are in base axes.
        order: of the orientations of poses: "" as stated, "wxyz", or "inverse" ones.
    """

    kind: str = ""
    late: int = 0
    up: Array = field(default_factory=_UP.copy)
    channels: Array = field(default_factory=lambda: np.ones(6))
    turn: Array = field(default_factory=lambda: np.eye(3))
    in_base: bool = False
    order: str = ""
    units: str = ""

    def wrench(self, wrench: Array, rotation: Array) -> Array:
        """Wrenches (n, 6) in sensor axes, which are turned by (n, 3, 3) to those of the base."""
        parts = (wrench * self.channels).reshape(-1, 2, 3)
        if self.in_base:
            parts = parts @ rotation
        return np.asarray((parts @ self.turn.T).reshape(-1, 6))

    def motion(self, motion: Motion) -> Motion:
        """The motion of bins that follow one another, in a base whose z axis points up."""
        if self.order:  # poses of which the inverse was given, or quaternions with w first
            turns = Rotation.from_matrix(motion.rotation).inv()
            if self.order == "wxyz":  # (w, x, y, z) was taken for (x, y, z, w)
                turns = Rotation.from_quat(np.roll(turns.inv().as_quat(), -1, axis=1))
            steps = (turns[:-2].inv() * turns[2:]).as_rotvec() / (2.0 * BIN)
            omega, rotation = np.pad(steps, ((1, 1), (0, 0)), "edge"), turns.as_matrix()
            across = rotation.transpose(0, 2, 1) @ motion.rotation
            motion = motion._replace(
                rotation=rotation, omega=omega, alpha=np.gradient(omega, BIN, axis=0),
                acceleration=(across @ motion.acceleration[..., None])[..., 0])
        if self.up[2] == 1.0:
            return motion
        level = pin.Quaternion.FromTwoVectors(self.up, _UP).toRotationMatrix()
        n, twists = len(motion.number), motion.twists
        return motion._replace(
            rotation=level @ motion.rotation, position=motion.position @ level.T,
            joints=level @ motion.joints,
            twists=(twists.reshape(n, -1, 2, 3) @ level.T).reshape(twists.shape))

    def window(self, window: Window) -> Window:
        """The window as it should have been."""
        at = np.arange(len(window.used)) + self.late
        inside, at = (at >= 0) & (at < len(at)), at.clip(0, len(at) - 1)
        return replace(window, motion=self.motion(window.motion),
                       used=window.used & inside & window.used[at],
                       wrench=self.wrench(window.wrench[at], window.motion.rotation),
                       count=window.count[at])
