# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Joint motions given in closed form: position, velocity and acceleration at any time.

Every motion is at rest in its start pose at time 0 and before, and has continuous accelerations.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ...inertia import Array
from .description import ArmDescription
from .settings import CobotSettings
from .timing import SmoothStart, StopAndGo, Timing, minimum_jerk

# Nadeau, Giamou & Kelly 2022: start pose and sinusoids of the last three joints.
START_POSE = np.radians([0.0, -90.0, 60.0, -90.0, -90.0, 0.0])
AMPLITUDE = np.radians([0.0, 0.0, 0.0, 45.0, 45.0, 45.0])
FREQUENCY = np.array([0.0, 0.0, 0.0, 0.10, 0.13, 0.16])
COMMON_PERIOD = 100.0  # s, after which the three sinusoids repeat
# A point of the tool whose speed is limited, in the sensor frame.
TOOL_POINT = np.array([0.0, 0.0, 0.08])
MOVING_TIME = 3.0  # s of motion between two rests of stop-and-go


class JointMotion(NamedTuple):
    """Joint positions, velocities, accelerations (n, 6) [rad, rad/s, rad/s^2]."""

    q: Array
    dq: Array
    ddq: Array


Motion = Callable[[ArrayLike], JointMotion]  # of times (n,) [s]


@dataclass(frozen=True, eq=False)
class Sinusoid:
    """``q = start + amplitude sin(2 pi frequency s(t))``, where the timing s starts from rest."""

    timing: Timing
    start: Array = field(default_factory=lambda: START_POSE)
    amplitude: Array = field(default_factory=lambda: AMPLITUDE)
    frequency: Array = field(default_factory=lambda: FREQUENCY)

    def __call__(self, t: ArrayLike) -> JointMotion:
        """Joint motion at times (n,) [s]."""
        s = self.timing(np.atleast_1d(np.asarray(t, dtype=float)))
        w = 2.0 * np.pi * self.frequency
        sine = np.sin(s.value[:, None] * w)
        slope = np.cos(s.value[:, None] * w) * w
        return JointMotion(
            self.start + self.amplitude * sine,
            self.amplitude * slope * s.rate[:, None],
            self.amplitude * (
                slope * s.acceleration[:, None] - sine * w**2 * s.rate[:, None] ** 2))


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
        self._poses = START_POSE[None]
        self._starts = np.empty(0)
        self._durations = np.empty(0)

    def __call__(self, t: ArrayLike) -> JointMotion:
        """Joint motion at times (n,) [s]."""
        times = np.atleast_1d(np.asarray(t, dtype=float))
        self._plan_until(float(times.max(initial=0.0)))
        k = np.clip(np.searchsorted(self._starts, times, side="right") - 1, 0, None)
        duration = self._durations[k][:, None]
        s = minimum_jerk((times - self._starts[k])[:, None] / duration)
        step = self._poses[k + 1] - self._poses[k]
        return JointMotion(self._poses[k] + step * s.value, step * s.rate / duration,
                           step * s.acceleration / duration**2)

    def _plan_until(self, end: float) -> None:
        while len(self._starts) == 0 or self._starts[-1] + self._durations[-1] < end:
            for _ in range(self._BATCH):
                self._append_move()

    def _append_move(self) -> None:
        """Plan one more move from where the last one ends."""
        begin = self._poses[-1]
        free = self._starts[-1] + self._durations[-1] if len(self._starts) else 0.0
        goal = self._next_pose(begin)
        self._poses = np.vstack([self._poses, goal])
        self._starts = np.append(self._starts, free + self._rest)
        self._durations = np.append(self._durations, self._duration(begin, goal))

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
        tool = self._arm.tool_velocity(q, dq, TOOL_POINT)
        peaks = (np.linalg.norm(tool.linear, axis=1).max(),
                 np.linalg.norm(tool.angular, axis=1).max(), np.abs(dq).max())
        return self._MARGIN * max(
            peak / limit for peak, limit in zip(peaks, self._limits, strict=True))


def mean_angular_speed(arm: ArmDescription) -> float:
    """Mean angular speed of the tool [rad/s] in the published sinusoids at their own pace."""
    steady = Sinusoid(SmoothStart(1.0, 1e-9))
    q, dq, _ = steady(np.arange(1.0, COMMON_PERIOD + 1.0, 0.05))
    return float(np.linalg.norm(arm.tool_velocity(q, dq, TOOL_POINT).angular, axis=1).mean())


def sinusoid(arm: ArmDescription, speed: float, ramp: float = 1.0) -> Sinusoid:
    """The published sinusoids, sped up to a mean angular speed of the tool [rad/s].

    The rate of progress is then 1.31 times the wanted speed (1.28 in the paper, which averages over
    a shorter time).
    """
    return Sinusoid(SmoothStart(speed / mean_angular_speed(arm), ramp))


def stop_and_go(arm: ArmDescription, speed: float, rest: float = 1.0, ramp: float = 1.0,
                moving: float = MOVING_TIME) -> Sinusoid:
    """The sinusoids in stretches with rests between them; ``speed`` is the mean at full rate."""
    rate = speed / mean_angular_speed(arm)
    return Sinusoid(StopAndGo(rate, max(moving, 2.0 * ramp), rest, ramp))


def make_motion(arm: ArmDescription, settings: CobotSettings) -> Motion:
    """The motion that the settings name, but for a commanded one."""
    s = settings
    if s.motion == "sinusoid":
        return sinusoid(arm, s.speed, s.ramp)
    if s.motion == "stop_and_go":
        return stop_and_go(arm, s.speed, s.rest, s.ramp)
    return PointToPoint(arm, s.speed, s.tool_speed, s.rest, s.seed)

