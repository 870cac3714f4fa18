# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Joint motion that is given by points, and a motion that follows such points when told to.

Between two points every joint follows the quintic that has their positions, velocities and
accelerations, as joint_trajectory_controller does.
"""

from __future__ import annotations

import threading
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ...inertia import Array
from .motion import JointMotion

STOPPING = 0.2  # s from the command to stop to rest
_MEMORY = 20  # trajectories that are remembered, for sensors that lag


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
        step = np.diff(self.stamps)[i]
        begin, end = (JointMotion(self.positions[k], self.velocities[k], self.accelerations[k])
                      for k in (i, i + 1))
        return _quintic(begin, end, step[:, None], (t - self.stamps[i])[:, None])


def _quintic(begin: JointMotion, end: JointMotion, step: Array, t: Array) -> JointMotion:
    """The quintics (m, k) with given ends, of durations (m, 1), at times (m, 1) since their begin.
    """
    (p0, v0, a0), (p1, v1, a1) = begin, end
    # What the motion lacks at its end if it goes on with the acceleration of its begin.
    p = (p1 - p0 - v0 * step - 0.5 * a0 * step**2) / step**3
    v = (v1 - v0 - a0 * step) / step**2
    a = (a1 - a0) / step
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
        self._parts: list[tuple[float, Trajectory]] = [(0.0, _rest(np.asarray(pose, dtype=float)))]

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
            zero = np.zeros_like(now)
            self._add(Trajectory(np.array([0.0, STOPPING]), np.stack([now, end]),
                                 np.stack([v, zero]), np.stack([a, zero])))
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


def _rest(pose: Array) -> Trajectory:
    """A trajectory that stays in a pose (k,)."""
    still = np.zeros((2, len(pose)))
    return Trajectory(np.array([0.0, 1.0]), np.tile(pose, (2, 1)), still, still)
