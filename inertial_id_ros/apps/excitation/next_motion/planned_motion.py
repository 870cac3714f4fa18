# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A planned motion: points of a trajectory, at rest at its beginning and end, and what it tells.

With the limits that it keeps, and in words, for a person who moves the arm by hand. It is made of
moves from rest to rest through poses, as quick as the limits allow, for many candidates at once.
Between two poses the path is straight in joint space. The speed on it rises in a ramp, stays, and
falls: where a zero that wanders hides what turning shows, information grows with the square of the
speed, and a move that reaches the allowed speed only for an instant takes twice as long. No ramp is
shorter than the low-pass of the pipeline, which would take away what quicker swings tell.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from typing import NamedTuple

import numpy as np

from ....errors import InvalidSetting
from ....inertia import Array
from ...simulation.motion import JointMotion, Progress, Trajectory
from ..arm import Arm
from ..limits import COBOT_TOOL_SPEED

_MAY_BE_ZERO = ("clearance",)
_MAY_BE_INFINITE = ("range",)


@dataclass(frozen=True)
class MotionLimits:
    """Limits of a motion, beside those of the robot description.

    Attributes:
        link_speed: of every point of every link and of the payload [m/s].
        joint_speed, joint_acceleration, joint_jerk: of every joint [rad/s, rad/s^2, rad/s^3, or m].
        share: part of the description's limits of speed and effort that may be used.
        range: largest distance of a joint from where the motion starts [rad or m].
        clearance: least distance between shapes [m].
        floor: least height of every link that rises and falls, and of the payload, above the
            description's root, against gravity [m]; minus infinity: none.

    Raises:
        InvalidSetting: a number out of range.
    """

    link_speed: float = COBOT_TOOL_SPEED
    joint_speed: float = 2.0
    joint_acceleration: float = 5.0
    joint_jerk: float = 60.0
    share: float = 0.8
    range: float = 1.5
    clearance: float = 0.01
    floor: float = -math.inf

    def __post_init__(self) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            if item.name == "floor":
                allowed = value < math.inf
            else:
                allowed = (value > 0.0 or item.name in _MAY_BE_ZERO and value == 0.0) and (
                    math.isfinite(value) or item.name in _MAY_BE_INFINITE and value > 0.0)
            if not allowed:
                raise InvalidSetting(f"{item.name} of a motion is {value:g}; it must be above zero "
                                     "and finite")
        if self.share > 1.0:
            raise InvalidSetting(f"share of a motion is {self.share:g}; allowed: above 0 to 1")


@dataclass(frozen=True, eq=False)
class PlannedMotion:
    """Points of a joint trajectory, as a trajectory controller takes them.

    Attributes:
        joint_names: of the k joints; all others stay where they are.
        stamps: (n,) from the start, 0 first [s].
        positions, velocities, accelerations: (n, k) [rad, rad/s, rad/s^2, or m for sliding joints];
            at rest at the first and the last point.
        expected_sigma: (10,) standard deviations of mass [kg], centre of mass [m] and inertia about
            it [kg m^2] that are expected afterwards; empty where nobody computed them.
        words: what to do, for a person who moves the arm.
    """

    joint_names: tuple[str, ...]
    stamps: Array
    positions: Array
    velocities: Array
    accelerations: Array
    expected_sigma: Array = field(default_factory=lambda: np.empty(0))
    words: str = ""

    @property
    def duration(self) -> float:
        """Time from the first to the last point [s]."""
        return float(self.stamps[-1])

    def sample(self, times: Array) -> JointMotion:
        """Joint motion (m, k) at times (m,) [s]; at rest before the first and after the last."""
        return Trajectory(self.stamps, self.positions, self.velocities,
                          self.accelerations).sample(times)


_LEAST = np.radians(0.5)  # a joint that turns by less is not worth a word


def describe_motion(names: tuple[str, ...], poses: Array) -> str:
    """What to turn, move after move.

    Args:
        names: of the k joints; poses: (m, k) at which the arm rests [rad].

    Examples:
        >>> describe_motion(("wrist_1_joint", "wrist_2_joint"), np.radians([[0, 0], [25, -40]]))
        'turn wrist_1_joint by +25° and wrist_2_joint by -40°'
    """
    parts = []
    for step in np.diff(poses, axis=0):
        turns = [f"{name} by {np.degrees(angle):+.0f}°"
                 for name, angle in zip(names, step, strict=True) if abs(angle) >= _LEAST]
        if turns:
            parts.append("turn " + " and ".join(turns))
    if len(poses) > 2 and np.allclose(poses[0], poses[-1], atol=_LEAST):
        parts[-1] += ", back to where it was"
    return "; then ".join(parts)


_NODES = np.linspace(0.0, 1.0, 21)  # along a move, where its speed is found
_MARGIN = 1.02  # for a peak between two nodes
RAMP = 0.4  # s, at least
# Peaks of the ramp 3 x^2 - 2 x^3 of duration and height 1.
ACCELERATION, _JERK = 1.5, 6.0


class Pace(NamedTuple):
    """Durations (...,) of moves and of the ramps at both of their ends [s]."""

    durations: Array
    ramps: Array


@dataclass(frozen=True, eq=False)
class RestToRest:
    """Poses with moves between them.

    Attributes:
        poses: (k + 1, joints) [rad or m]; pace: of the k moves.
    """

    poses: Array
    pace: Pace

    @property
    def duration(self) -> float:
        """Time from the first to the last pose [s]."""
        return float(self.pace.durations.sum())

    def begin(self, longest: float) -> RestToRest:
        """The first moves, as many as end within a time [s], and one at least."""
        ends = np.cumsum(self.pace.durations)
        count = max(1, int(np.searchsorted(ends, longest, side="right")))
        return RestToRest(self.poses[:count + 1], Pace(*(part[:count] for part in self.pace)))

    def __call__(self, t: Array) -> JointMotion:
        """Joint motion (n, joints) at times (n,) [s]; at rest before and after."""
        durations, ramps = self.pace
        begins = np.concatenate([[0.0], np.cumsum(durations)])
        k = np.clip(np.searchsorted(begins, t, side="right") - 1, 0, len(durations) - 1)
        s = ramped_progress((np.asarray(t) - begins[k])[:, None], durations[k][:, None],
                            ramps[k][:, None])
        step = self.poses[k + 1] - self.poses[k]
        return JointMotion(self.poses[k] + step * s.value, step * s.rate, step * s.acceleration)


def shortest_moves(arm: Arm, limits: MotionLimits, begins: Array, ends: Array) -> Pace:
    """Pace of moves from begins to ends (m, joints) within all limits of speed, acceleration and
    jerk."""
    step = ends - begins
    q = begins[:, None] + _NODES[:, None] * step[:, None]
    joints = step.shape[1]
    reach = arm.links.links_at(q.reshape(-1, joints), np.repeat(step, len(_NODES), axis=0)).speed
    length = np.abs(step)
    allowed = np.minimum(limits.joint_speed, limits.share * arm.speed)
    at_full_speed = np.maximum(  # s, of the whole way
        _MARGIN * reach.reshape(len(step), -1).max(axis=1) / limits.link_speed,
        (length / allowed).max(axis=1))
    forced = ACCELERATION * (length / limits.joint_acceleration).max(axis=1)  # s^2
    jerked = _JERK * (length / limits.joint_jerk).max(axis=1)  # s^3
    full = np.maximum(at_full_speed, 1e-9)
    ramps = np.maximum(RAMP, np.maximum(forced / full, np.sqrt(jerked / full)))
    too_short = ramps > full  # to reach the full speed: one ramp up, one down
    ramps = np.where(too_short, np.maximum(RAMP, np.maximum(np.sqrt(forced), np.cbrt(jerked))),
                     ramps)
    return Pace(ramps + np.maximum(full, ramps), ramps)


def ramped_progress(t: Array, duration: Array | float, ramp: Array | float) -> Progress:
    """Progress from 0 to 1, held outside of [0, duration] [s]; derivatives in time."""
    up, down = _ramp(t / ramp), _ramp((t - duration + ramp) / ramp)
    speed = 1.0 / (duration - ramp)
    return Progress(speed * ramp * (up.value - down.value), speed * (up.rate - down.rate),
                    speed / ramp * (up.acceleration - down.acceleration))


def _ramp(t: Array) -> Progress:
    """Progress whose rate rises from 0 to 1 between the times 0 and 1."""
    x = np.clip(t, 0.0, 1.0)
    return Progress(x**3 * (1.0 - 0.5 * x) + np.maximum(t - 1.0, 0.0), x * x * (3.0 - 2.0 * x),
                    6.0 * x * (1.0 - x))
