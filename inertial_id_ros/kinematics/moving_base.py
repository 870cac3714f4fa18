# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The base of the robot where it moves itself (AGV, crane): an IMU that is fixed to it.

An IMU measures specific force: what moves it, less gravity. Less the gravity of a base at rest,
that is the acceleration of its place, which `moved_by_base` adds to the motion of the sensor.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..inertia import Array
from ..signals.ring_buffer import Arrival, SampleRing
from .polynomial import (
    FEW,
    Spacing,
    choose_window,
    fit_quartics,
    gather_samples,
    has_coverage,
    is_too_slow,
    measure_spacing,
)
from .transform_tree import Pose

_CAPACITY = 65_536  # readings kept: a window can be gone through again
_JUDGED = 1000  # newest readings whose mean must be gravity
_FARTHEST = 0.2  # from gravity, as a share of it
_LARGEST = 1e4  # m/s^2 or rad/s: no reading is larger, uninitialised memory is


class BaseMotion(NamedTuple):
    """Motion of the base at one time, or at n times, along the axes of the robot's root.

    Attributes:
        acceleration: of the IMU (..., 3), without gravity at rest [m/s^2]; omega: (..., 3)
            [rad/s]; alpha: (..., 3) [rad/s^2]; place: of the IMU (3,) [m].
    """

    acceleration: Array
    omega: Array
    alpha: Array
    place: Array

    @classmethod
    def of_reading(cls, reading: Array, rate: Array, pose: Pose, gravity: Array) -> BaseMotion:
        """The motion behind readings of specific force and angular velocity (..., 6), which change
        at a rate (..., 6) [1/s].

        Args:
            pose: of the IMU in the robot's root; gravity: (3,) specific force at rest there.
        """
        turn = pose.rotation.T
        return cls(reading[..., :3] @ turn - gravity, reading[..., 3:] @ turn,
                   rate[..., 3:] @ turn, pose.translation)


def moved_by_base(base: BaseMotion, rotation: Array, position: Array, velocity: Array,
                  omega: Array) -> tuple[Array, Array, Array]:
    """What a moving base adds to acceleration [m/s^2], angular velocity [rad/s] and angular
    acceleration [rad/s^2] of the sensor, each (..., 3) in its axes.

    Args:
        rotation: (..., 3, 3) from the sensor's axes to those of the robot's root.
        position: (..., 3) of the sensor along the latter [m]; velocity, omega: (..., 3) of the
            sensor against the base, in its own axes [m/s, rad/s].
    """
    def to_root(vector: Array) -> Array:
        return np.asarray((rotation @ vector[..., None])[..., 0])

    arm = position - base.place
    acceleration = (base.acceleration + np.cross(base.alpha, arm)
                    + np.cross(base.omega, np.cross(base.omega, arm) + 2.0 * to_root(velocity)))
    alpha = base.alpha + np.cross(base.omega, to_root(omega))
    return (*((vector[..., None, :] @ rotation)[..., 0, :]
              for vector in (acceleration, base.omega, alpha)),)  # type: ignore[return-value]


class BaseImu:
    """The readings of the IMU.

    Attributes:
        frame: of its axes; ring: specific force [m/s^2] and angular velocity [rad/s] (6,).
    """

    def __init__(self) -> None:
        self.frame = ""
        self.ring = SampleRing(6, _CAPACITY)

    def add(self, stamp_ns: int, frame: str, force: Sequence[float], omega: Sequence[float]
            ) -> Arrival | None:
        """Add a reading; says what became of it, None where it holds no usable numbers."""
        row = [*force, *omega]
        if not all(-_LARGEST < x < _LARGEST for x in row):  # NaN is not either
            return None
        self.frame = frame
        return self.ring.append(stamp_ns, row)

    def motion_at(self, stamps: np.ndarray, end_ns: int | None, window: float, pose: Pose,
                  gravity: Array) -> tuple[BaseMotion, np.ndarray]:
        """Motion at stamps (n,) [ns], and where it is known (n,).

        Args:
            end_ns: only readings before it are used, and none follow yet; None: all are.
            window: length of the quartics [s]; pose, gravity: as `BaseMotion.of_reading` has them.
        """
        window, ring = choose_window(self._spacing, window), self.ring
        reach = int(0.5e9 * window) + 1
        near = ring.between(int(stamps[0]) - reach,
                            int(stamps[-1]) + reach if end_ns is None else end_ns)
        if near.start == near.stop:
            nothing = np.zeros((len(stamps), 6))
            return (BaseMotion.of_reading(nothing, nothing, pose, gravity),
                    np.zeros(len(stamps), dtype=bool))
        index, u, weights = gather_samples(ring.stamps[near], stamps, window)
        good = has_coverage(u, weights, near.start == 0 and index[:, 0] == 0, end_ns is not None)
        reading, rate, _ = fit_quartics(u, weights, ring.rows[near][index], window)
        return BaseMotion.of_reading(reading, rate, pose, gravity), good

    def settled_until(self, window: float) -> int | None:
        """Newest time [ns] with half a window [s] of readings after it; None before any."""
        if len(self.ring) < FEW:
            return None
        return self.ring.newest - int(0.5e9 * choose_window(self._spacing, window))

    @property
    def _spacing(self) -> Spacing:
        """Of the newest readings."""
        return measure_spacing(self.ring.stamps)

    def what_is_wrong(self, window: float, pose: Pose, gravity: Array) -> str:
        """Why the readings cannot be used, in a clause; empty where they can.

        Args:
            window, pose, gravity: as `motion_at` has them.
        """
        if is_too_slow(self._spacing, choose_window(self._spacing, window)):
            return f"come at {1.0 / self._spacing.period:.2g} Hz; publish them at 50 Hz or more"
        mean = pose.rotation @ self.ring.rows[-_JUDGED:, :3].mean(axis=0)
        size = float(np.linalg.norm(gravity))
        if np.linalg.norm(mean - gravity) < _FARTHEST * size:
            return ""
        return (f"show a mean of ({', '.join(f'{x:.1f}' for x in mean)}) m/s^2 along the axes of "
                f"the robot's root, and not gravity, ({', '.join(f'{x:.1f}' for x in gravity)}): "
                "publish specific force in m/s^2, with gravity in it (+9.81 along the axis that "
                "points up), and the frame of its axes")
