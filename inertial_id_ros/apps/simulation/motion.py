# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Joint motions given in closed form: position, velocity and acceleration at any time.

Every motion is at rest in its start pose at time 0 and before, and has continuous accelerations.
Between two points of a trajectory every joint follows the quintic that has their positions,
velocities and accelerations, as joint_trajectory_controller does."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ...inertia import Array

STOPPING = 0.2  # s from the command to stop to rest
_MEMORY = 20  # trajectories that are remembered, for sensors that lag
# Nadeau, Giamou & Kelly 2022: start pose and sinusoids of the last three joints.
START_POSE = np.radians([0.0, -90.0, 60.0, -90.0, -90.0, 0.0])
AMPLITUDE = np.radians([0.0, 0.0, 0.0, 45.0, 45.0, 45.0])
FREQUENCY = np.array([0.0, 0.0, 0.0, 0.10, 0.13, 0.16])
MEAN_SPEED = 0.7645023  # rad/s, of the sensor over the 100 s after which they repeat


class JointMotion(NamedTuple):
    """Joint positions, velocities, accelerations (n, 6) [rad, rad/s, rad/s^2]."""

    q: Array
    dq: Array
    ddq: Array


Motion = Callable[[ArrayLike], JointMotion]  # of times (n,) [s]


class Trajectory(NamedTuple):
    """Points of joint motion: stamps (n,) from 0 [s]; positions, velocities, accelerations (n, k)
    [rad, rad/s, rad/s^2]."""

    stamps: Array
    positions: Array
    velocities: Array
    accelerations: Array

    @property
    def duration(self) -> float:
        """Time from the first to the last point [s]."""
        return float(self.stamps[-1])

    def sample(self, times: ArrayLike) -> JointMotion:
        """Joint motion (m, k) at times (m,) [s]; the ends before the first and after the last."""
        t = np.clip(np.asarray(times, dtype=float), self.stamps[0], self.stamps[-1])
        i = np.clip(np.searchsorted(self.stamps, t, side="right") - 1, 0, len(self.stamps) - 2)
        step = np.diff(self.stamps)[i][:, None]
        t = (t - self.stamps[i])[:, None]
        p0, v0, a0 = self.positions[i], self.velocities[i], self.accelerations[i]
        # What the motion lacks at its end if it goes on with the acceleration of its begin.
        p = (self.positions[i + 1] - p0 - v0 * step - 0.5 * a0 * step**2) / step**3
        v = (self.velocities[i + 1] - v0 - a0 * step) / step**2
        a = (self.accelerations[i + 1] - a0) / step
        c3 = 10.0 * p - 4.0 * v + 0.5 * a
        c4 = (-15.0 * p + 7.0 * v - a) / step
        c5 = (6.0 * p - 3.0 * v + 0.5 * a) / step**2
        return JointMotion(
            p0 + t * (v0 + t * (0.5 * a0 + t * (c3 + t * (c4 + t * c5)))),
            v0 + t * (a0 + t * (3.0 * c3 + t * (4.0 * c4 + t * 5.0 * c5))),
            a0 + t * (6.0 * c3 + t * (12.0 * c4 + t * 20.0 * c5)))


class CommandedMotion:
    """A motion that rests until it is told to follow a trajectory, or to stop.

    What it is told holds from the newest time on that it was asked for: what a sensor has seen does
    not change any more. Calls from several threads are safe.

    Args:
        pose: (k,) where it rests at first [rad].
    """

    def __init__(self, pose: ArrayLike) -> None:
        self._lock = threading.Lock()
        self._newest = 0.0
        poses = np.tile(np.asarray(pose, dtype=float), (2, 1))
        rest = Trajectory(np.array([0.0, 1.0]), poses, 0.0 * poses, 0.0 * poses)
        self._parts = [(0.0, rest)]

    def __call__(self, t: ArrayLike) -> JointMotion:
        """Joint motion (n, k) at times (n,) [s]."""
        times = np.atleast_1d(np.asarray(t, dtype=float))
        with self._lock:
            self._newest = max(self._newest, float(times.max(initial=0.0)))
            return self._at(times)

    def follow(self, trajectory: Trajectory) -> float:
        """Follow a trajectory from now on; returns the time at which it begins [s]."""
        with self._lock:
            self._add(trajectory)
            return self._newest

    def stop(self) -> float:
        """Come to rest from now on, within `STOPPING`; returns the time of rest [s]."""
        with self._lock:
            now, v, a = (part[0] for part in self._at(np.array([self._newest])))
            end = now + 0.5 * v * STOPPING
            self._add(Trajectory(np.array([0.0, STOPPING]), np.stack([now, end]),
                                 np.stack([v, 0.0 * v]), np.stack([a, 0.0 * a])))
            return self._newest + STOPPING

    @property
    def newest(self) -> float:
        """The newest time that it was asked for [s]."""
        with self._lock:
            return self._newest

    def _add(self, trajectory: Trajectory) -> None:
        self._parts = [*self._parts[-_MEMORY:], (self._newest, trajectory)]

    def _at(self, times: Array) -> JointMotion:
        begins = np.array([begin for begin, _ in self._parts])
        # A part holds after its begin: what was asked for at that time belongs to the one before.
        which = np.maximum(np.searchsorted(begins, times, side="left") - 1, 0)
        out = np.empty((3, len(times), self._parts[0][1].positions.shape[1]))
        for k in np.unique(which):
            begin, trajectory = self._parts[k]
            out[:, which == k] = trajectory.sample(times[which == k] - begin)
        return JointMotion(*out)


@dataclass(frozen=True, eq=False)
class Sinusoid:
    """``q = start + amplitude sin(2 pi frequency s(t))``, where the rate of s rises from 0 to
    ``rate`` within ``ramp`` seconds by the quintic of least squared jerk (Flash & Hogan 1985)."""

    rate: float
    ramp: float = 1.0
    start: Array = field(default_factory=lambda: START_POSE)

    def __call__(self, t: ArrayLike) -> JointMotion:
        """Joint motion at times (n,) [s]."""
        t = np.maximum(np.atleast_1d(np.asarray(t, dtype=float)), 0.0)[:, None] / self.ramp
        x = np.minimum(t, 1.0)
        way = x**4 * (2.5 - 3.0 * x + x * x) + t - x  # integral of the speed
        speed = x**3 * (10.0 - 15.0 * x + 6.0 * x * x)
        slope = 30.0 * (x * (1.0 - x)) ** 2
        w = 2.0 * np.pi * FREQUENCY * self.rate
        sine, cosine = np.sin(self.ramp * way * w), np.cos(self.ramp * way * w)
        return JointMotion(
            self.start + AMPLITUDE * sine, AMPLITUDE * cosine * speed * w,
            AMPLITUDE * (cosine * slope / self.ramp * w - sine * (speed * w)**2))


def sinusoid(speed: float) -> Sinusoid:
    """The published sinusoids, sped up to a mean angular speed of the sensor [rad/s].

    The rate of progress is then 1.31 times the wanted speed (1.28 in the paper, which averages over
    a shorter time).
    """
    return Sinusoid(speed / MEAN_SPEED)
