# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Joint motions given in closed form: position, velocity and acceleration at any time.

Every motion is at rest in its start pose at time 0 and before, and has continuous accelerations."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.polynomial import polynomial
from numpy.typing import ArrayLike

from ...inertia import Array

STOPPING = 0.2  # s from the command to stop to rest
# Nadeau, Giamou & Kelly 2022: start pose and sinusoids of the last three joints.
START_POSE = np.radians([0.0, -90.0, 60.0, -90.0, -90.0, 0.0])
AMPLITUDE = np.radians([0.0, 0.0, 0.0, 45.0, 45.0, 45.0])
FREQUENCY = np.array([0.0, 0.0, 0.0, 0.10, 0.13, 0.16])
MEAN_SPEED = 0.7645023  # rad/s, of the sensor over the 100 s after which they repeat
# Coefficients of a quintic on [0, 1] by value, slope and curvature at 0 and at 1.
QUINTIC = np.linalg.inv([[1, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0], [0, 0, 2, 0, 0, 0],
                         [1, 1, 1, 1, 1, 1], [0, 1, 2, 3, 4, 5], [0, 0, 2, 6, 12, 20]])


class JointMotion(NamedTuple):
    """Joint positions, velocities, accelerations (n, k) [rad, rad/s, rad/s^2]."""

    q: Array
    dq: Array
    ddq: Array


Motion = Callable[[ArrayLike], JointMotion]  # of times (n,) [s]


class Trajectory(NamedTuple):
    """Points of joint motion, with quintics between them, as joint_trajectory_controller has it."""

    stamps: Array  # (n,) from 0 [s]
    positions: Array  # (n, k) [rad, or m for sliding joints]; their derivatives
    velocities: Array
    accelerations: Array
    joint_names: tuple[str, ...] = ()  # of the k joints, where others are told them
    words: str = ""  # what turns

    @property
    def duration(self) -> float:
        """Time from the first to the last point [s]."""
        return float(self.stamps[-1])

    def sample(self, times: ArrayLike) -> JointMotion:
        """Joint motion (m, k) at times (m,) [s]; the ends before the first and after the last."""
        t = np.clip(np.asarray(times, dtype=float), self.stamps[0], self.stamps[-1])
        i = np.clip(np.searchsorted(self.stamps, t, side="right") - 1, 0, len(self.stamps) - 2)
        step = np.diff(self.stamps)[i][:, None]
        parts = self.positions, self.velocities, self.accelerations
        ends = [part[i + k] * step**order for k in (0, 1) for order, part in enumerate(parts)]
        c, x = np.tensordot(QUINTIC, ends, 1), (t - self.stamps[i])[:, None] / step
        out = JointMotion(*(polynomial.polyval(x, polynomial.polyder(c, order), tensor=False)
                            / step**order for order in range(3)))
        for values, part in zip(out, parts, strict=True):
            values[t == self.stamps[-1]] = part[-1]  # without rounding: the end may be rest
        return out


class CommandedMotion:
    """A motion that rests in a pose (k,) [rad] until it is told to follow a trajectory, or to stop.

    What it is told holds from the newest time on that it was asked for: what a sensor has seen does
    not change any more. Calls from several threads are safe.
    """

    def __init__(self, pose: ArrayLike) -> None:
        self._lock = threading.RLock()
        self.newest = 0.0  # time that it was asked for [s]
        poses = np.tile(np.asarray(pose, dtype=float), (2, 1))
        self._parts = [(0.0, Trajectory(np.array([0.0, 1.0]), poses, 0.0 * poses, 0.0 * poses))]

    def __call__(self, t: ArrayLike) -> JointMotion:
        """Joint motion (n, k) at times (n,) [s]."""
        times = np.atleast_1d(np.asarray(t, dtype=float))
        with self._lock:
            self.newest = max(self.newest, float(times.max(initial=0.0)))
            parts = self._parts
        # A part holds after its begin: what was asked for at that time belongs to the one before.
        which = np.searchsorted([begin for begin, _ in parts], times, side="left") - 1
        out = np.empty((3, len(times), parts[0][1].positions.shape[1]))
        for k in np.unique(which := np.maximum(which, 0)):
            begin, trajectory = parts[k]
            out[:, which == k] = trajectory.sample(times[which == k] - begin)
        return JointMotion(*out)

    def follow(self, trajectory: Trajectory) -> float:
        """Follow a trajectory from now on; returns the time at which it begins [s]."""
        with self._lock:
            self._parts = [*self._parts, (self.newest, trajectory)]
            return self.newest

    def stop(self) -> float:
        """Come to rest from now on, within `STOPPING`; returns the time of rest [s]."""
        with self._lock:
            now, v, a = (part[0] for part in self(self.newest))
            return STOPPING + self.follow(Trajectory(
                np.array([0.0, STOPPING]), np.stack([now, now + 0.5 * v * STOPPING]),
                np.stack([v, 0.0 * v]), np.stack([a, 0.0 * a])))


@dataclass(frozen=True, eq=False)
class Sinusoid:
    """The published sinusoids at a mean angular speed of the sensor [rad/s]: ``q = start +
    amplitude sin(2 pi frequency s(t))``, where the rate of s rises within ``ramp`` seconds by the
    quintic of least squared jerk (Flash & Hogan 1985), to 1.31 times the speed (1.28 in the paper,
    which averages over a shorter time)."""

    speed: float
    ramp: float = 1.0
    start: Array = field(default_factory=lambda: START_POSE)

    def __call__(self, t: ArrayLike) -> JointMotion:
        """Joint motion at times (n,) [s]."""
        t = np.maximum(np.atleast_1d(np.asarray(t, dtype=float)), 0.0)[:, None] / self.ramp
        x = np.minimum(t, 1.0)
        way = x**4 * (2.5 - 3.0 * x + x * x) + t - x  # integral of the speed
        speed = x**3 * (10.0 - 15.0 * x + 6.0 * x * x)
        slope = 30.0 * (x * (1.0 - x)) ** 2
        w = 2.0 * np.pi * FREQUENCY * self.speed / MEAN_SPEED
        sine, cosine = np.sin(self.ramp * way * w), np.cos(self.ramp * way * w)
        return JointMotion(
            self.start + AMPLITUDE * sine, AMPLITUDE * cosine * speed * w,
            AMPLITUDE * (cosine * slope / self.ramp * w - sine * (speed * w)**2))
