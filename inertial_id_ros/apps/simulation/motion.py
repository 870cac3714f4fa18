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
from .description import ArmDescription
from .settings import CobotSettings

STOPPING = 0.2  # s from the command to stop to rest
_MEMORY = 20  # trajectories that are remembered, for sensors that lag


# Nadeau, Giamou & Kelly 2022: start pose and sinusoids of the last three joints.
START_POSE = np.radians([0.0, -90.0, 60.0, -90.0, -90.0, 0.0])
AMPLITUDE = np.radians([0.0, 0.0, 0.0, 45.0, 45.0, 45.0])
FREQUENCY = np.array([0.0, 0.0, 0.0, 0.10, 0.13, 0.16])
COMMON_PERIOD = 100.0  # s, after which the three sinusoids repeat
# A point of the tool whose speed is limited, in the sensor frame.
TOOL_POINT = np.array([0.0, 0.0, 0.08])


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


class Progress(NamedTuple):
    """Progress (n,) and its first and second derivative."""

    value: Array
    rate: Array
    acceleration: Array


def minimum_jerk(x: Array) -> Progress:
    """The quintic from 0 to 1 of least squared jerk, at rest at both ends (Flash & Hogan 1985).

    ``10 x^3 - 15 x^4 + 6 x^5`` for x (n,) in [0, 1], held outside; derivatives in x.
    """
    x = np.clip(x, 0.0, 1.0)
    return Progress(x**3 * (10.0 - 15.0 * x + 6.0 * x * x), 30.0 * (x * (1.0 - x)) ** 2,
                    60.0 * x * (1.0 - x) * (1.0 - 2.0 * x))


@dataclass(frozen=True, eq=False)
class Sinusoid:
    """``q = start + amplitude sin(2 pi frequency s(t))``, where the rate of s rises from 0 to
    ``rate`` within ``ramp`` seconds, and then stays."""

    rate: float
    ramp: float = 1.0
    start: Array = field(default_factory=lambda: START_POSE)

    def __call__(self, t: ArrayLike) -> JointMotion:
        """Joint motion at times (n,) [s]."""
        x = np.maximum(np.atleast_1d(np.asarray(t, dtype=float)), 0.0)[:, None] / self.ramp
        begun, rise, w = np.minimum(x, 1.0), minimum_jerk(x), 2.0 * np.pi * FREQUENCY
        ramped = begun**4 * (2.5 - 3.0 * begun + begun * begun)  # integral of minimum_jerk
        angle = self.rate * self.ramp * (ramped + np.maximum(x - 1.0, 0.0)) * w
        speed, acceleration = self.rate * rise.value * w, self.rate / self.ramp * rise.rate * w
        return JointMotion(
            self.start + AMPLITUDE * np.sin(angle), AMPLITUDE * np.cos(angle) * speed,
            AMPLITUDE * (np.cos(angle) * acceleration - np.sin(angle) * speed**2))


class PointToPoint:
    """Minimum-jerk moves between random poses, with rests between them; goes on for ever.

    The duration of a move is the shortest that keeps the tool within both speeds and the joints
    within 3 rad/s. Poses are drawn one after the other from a generator of their own, so
    that the motion is the same whatever times are asked for, in whatever order.

    Args:
        arm: the chain, for the speeds of the tool.
        speed: peak angular speed of the tool [rad/s].
        tool_speed: peak linear speed of TOOL_POINT [m/s].
        rest: seconds at rest before every move.
        seed: seed of the poses.
    """

    _SPREAD = np.radians([45.0, 20.0, 30.0, 60.0, 60.0, 150.0])  # about the start
    _JOINT_SPEED = 3.0  # rad/s, peak of any joint
    _BATCH = 8  # moves planned at a time
    _NODES = np.linspace(0.0, 1.0, 65)  # where along a move its speed is checked
    _MARGIN = 1.01  # for a peak between two nodes
    _MIN_HEIGHT, _MIN_REACH = 0.25, 0.25  # m: keep clear of the table and of the base

    def __init__(self, arm: ArmDescription, speed: float, tool_speed: float = 0.25,
                 rest: float = 1.0, seed: int = 0) -> None:
        self._arm, self._rest = arm, rest
        self._limits = (tool_speed, speed, self._JOINT_SPEED)
        self._rng = np.random.default_rng(np.random.SeedSequence([seed, 2]))
        self._points = [(0.0, START_POSE)]  # at rest in each; stamps [s]

    def __call__(self, t: ArrayLike) -> JointMotion:
        """Joint motion at times (n,) [s]."""
        times = np.atleast_1d(np.asarray(t, dtype=float))
        while len(self._points) < 2 or self._points[-1][0] <= times.max(initial=0.0):
            for _ in range(self._BATCH):
                self._append_move()
        stamps, poses = (np.array(part) for part in zip(*self._points, strict=True))
        still = np.zeros_like(poses)
        return Trajectory(stamps, poses, still, still).sample(times)

    def _append_move(self) -> None:
        """Plan a rest, and one more move from where the last one ends."""
        end, begin = self._points[-1]
        goal, start = self._next_pose(begin), end + self._rest
        self._points += [(start, begin), (start + self._duration(begin, goal), goal)]

    def _next_pose(self, begin: Array) -> Array:
        """A random pose, the way to which keeps clear of the table and of the base."""
        while True:
            goal = START_POSE + self._SPREAD * self._rng.uniform(-1.0, 1.0, size=6)
            point = self._arm.tool_point(begin + self._NODES[:, None] * (goal - begin), TOOL_POINT)
            reach = np.hypot(point[:, 0], point[:, 1])
            if point[:, 2].min() > self._MIN_HEIGHT and reach.min() > self._MIN_REACH:
                return goal

    def _duration(self, begin: Array, goal: Array) -> float:
        """Shortest duration [s] within the limits; speeds are inversely proportional to it."""
        s = minimum_jerk(self._NODES)
        q = begin + s.value[:, None] * (goal - begin)
        dq = s.rate[:, None] * (goal - begin)
        linear, angular = self._arm.tool_velocity(q, dq, TOOL_POINT)
        peaks = (np.linalg.norm(linear, axis=1).max(), np.linalg.norm(angular, axis=1).max(),
                 np.abs(dq).max())
        return self._MARGIN * max(
            peak / limit for peak, limit in zip(peaks, self._limits, strict=True))


def sinusoid(arm: ArmDescription, speed: float, ramp: float = 1.0) -> Sinusoid:
    """The published sinusoids, sped up to a mean angular speed of the tool [rad/s].

    The rate of progress is then 1.31 times the wanted speed (1.28 in the paper, which averages over
    a shorter time).
    """
    q, dq, _ = Sinusoid(1.0, 1e-9)(np.arange(1.0, COMMON_PERIOD + 1.0, 0.05))
    mean = np.linalg.norm(arm.tool_velocity(q, dq, TOOL_POINT)[1], axis=1).mean()
    return Sinusoid(speed / float(mean), ramp)


def make_motion(arm: ArmDescription, settings: CobotSettings) -> Motion:
    """The motion that the settings name, but for a commanded one."""
    s = settings
    if s.motion == "sinusoid":
        return sinusoid(arm, s.speed, s.ramp)
    return PointToPoint(arm, s.speed, s.tool_speed, s.rest, s.seed)
