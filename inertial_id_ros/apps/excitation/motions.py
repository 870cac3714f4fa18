# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Planned motions: points of a trajectory, at rest at both ends, made of moves from rest to rest.

Between two poses the path is straight in joint space. The speed on it rises in a ramp, stays, and
falls: information grows with the square of the speed, and a move that reaches the allowed speed
only for an instant takes twice as long. No ramp is shorter than the low-pass of the pipeline, which
would remove what faster swings identify.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...inertia import Array
from ..simulation.motion import JointMotion, Trajectory
from .arm import Arm

COBOT_SPEED = 0.25  # m/s, the reduced speed beside people (ISO 10218-1)
POINTS = 0.02  # s between points of a trajectory
NODES = np.linspace(0.0, 1.0, 21)  # along a move, where its speed is found
PEAK = 1.02  # for a peak between two nodes
RAMP = 0.4  # s, at least
ACCELERATION, JERK = 1.5, 6.0  # peaks of the ramp 3 x^2 - 2 x^3 of duration and height 1
SMALLEST = np.radians(0.5)  # a joint that turns by less is left out of the words


class MotionLimits(NamedTuple):
    """Limits of a motion, beside those of the robot description.

    Attributes:
        link_speed: of every point of every link and of the payload [m/s].
        joint_speed, joint_acceleration, joint_jerk: of every joint [rad/s, rad/s^2, rad/s^3, or m].
        share: part of the description's limits of speed and effort that may be used.
        range: largest distance of a joint from where the motion starts [rad or m].
        clearance: least distance between shapes [m].
        floor: least height of every link that rises and falls, and of the payload, above the
            description's root, against gravity [m]; minus infinity: none.
    """

    link_speed: float = COBOT_SPEED
    joint_speed: float = 2.0
    joint_acceleration: float = 5.0
    joint_jerk: float = 60.0
    share: float = 0.8
    range: float = 1.5
    clearance: float = 0.01
    floor: float = -math.inf


@dataclass(frozen=True, eq=False)
class PlannedMotion:
    """Points of a joint trajectory, as a trajectory controller takes them.

    Attributes:
        joint_names: of the k joints; all others stay where they are.
        stamps: (n,) from the start, 0 first [s].
        positions, velocities, accelerations: (n, k) [rad, rad/s, rad/s^2, or m for sliding joints];
            at rest at the first and the last point.
        words: what turns, in words.
    """

    joint_names: tuple[str, ...]
    stamps: Array
    positions: Array
    velocities: Array
    accelerations: Array
    words: str = ""

    @property
    def duration(self) -> float:
        """Time from the first to the last point [s]."""
        return float(self.stamps[-1])

    @property
    def trajectory(self) -> Trajectory:
        """Its points."""
        return Trajectory(self.stamps, self.positions, self.velocities, self.accelerations)

    def of_all(self, arm: Arm, start: Array, times: Array) -> JointMotion:
        """Motion (m, joints) of all joints of an arm that starts in a pose (joints,); at rest
        before and after."""
        out = np.zeros((3, len(times), len(start)))
        out[0] = start
        out[:, :, arm.index(self.joint_names)] = self.trajectory.sample(times)
        return JointMotion(*out)


class RestToRest(NamedTuple):
    """Poses (k + 1, joints) [rad or m] with moves between them.

    Attributes:
        durations: (k,) of the moves [s]; ramps: (k,) of the ramps at both of their ends [s].
    """

    poses: Array
    durations: Array
    ramps: Array

    @property
    def duration(self) -> float:
        """Time from the first to the last pose [s]."""
        return float(self.durations.sum())

    def begin(self, longest: float) -> RestToRest:
        """The first moves, as many as end within a time [s], and one at least."""
        count = max(1, int(np.searchsorted(np.cumsum(self.durations), longest, side="right")))
        return RestToRest(self.poses[:count + 1], self.durations[:count], self.ramps[:count])

    def at(self, t: Array) -> JointMotion:
        """Joint motion (n, joints) at times (n,) [s]; at rest before and after."""
        begins = np.concatenate([[0.0], np.cumsum(self.durations)])
        k = np.clip(np.searchsorted(begins, t, side="right") - 1, 0, len(self.durations) - 1)
        duration, ramp = self.durations[k][:, None], self.ramps[k][:, None]
        after = (np.asarray(t) - begins[k])[:, None]
        up, down = _ramp(after / ramp), _ramp((after - duration + ramp) / ramp)
        value, rate, acceleration = (a - b for a, b in zip(up, down, strict=True))
        step = (self.poses[k + 1] - self.poses[k]) / (duration - ramp)
        return JointMotion(self.poses[k] + step * ramp * value, step * rate,
                           step / ramp * acceleration)

    def as_planned(self, arm: Arm) -> PlannedMotion:
        """Points of all joints that move the frame: controllers want them all."""
        ends = np.concatenate([[0.0], np.cumsum(self.durations)])
        parts = [np.linspace(a, b, max(int(np.ceil((b - a) / POINTS)), 2) + 1)[1:]
                 for a, b in zip(ends[:-1], ends[1:], strict=True)]
        stamps, chain = np.concatenate([[0.0], *parts]), arm.index(arm.chain)
        q, dq, ddq = (part[:, chain] for part in self.at(stamps))
        dq[[0, -1]] = ddq[[0, -1]] = 0.0  # what remains there is rounding
        return PlannedMotion(arm.chain, stamps, q, dq, ddq,
                             describe(arm.chain, self.poses[:, chain]))


def joined(motions: Sequence[RestToRest]) -> RestToRest:
    """Motions that follow one another."""
    poses, durations, ramps = zip(*motions, strict=True)
    return RestToRest(np.concatenate([poses[0], *(more[1:] for more in poses[1:])]),
                      np.concatenate(durations), np.concatenate(ramps))


def through(arm: Arm, limits: MotionLimits, poses: Array, slowest: float = 0.0) -> RestToRest:
    """The quickest moves through poses (k + 1, joints) within the limits, each of so many seconds
    at least."""
    durations, ramps = shortest_moves(arm, limits, poses[:-1], poses[1:])
    slower = np.maximum(slowest / durations, 1.0)
    return RestToRest(poses, slower * durations, slower * ramps)


def shortest_moves(arm: Arm, limits: MotionLimits, begins: Array, ends: Array
                   ) -> tuple[Array, Array]:
    """Durations (m,) of moves from begins to ends (m, joints) and of their ramps [s], within all
    limits of speed, acceleration and jerk."""
    step = ends - begins
    q = begins[:, None] + NODES[:, None] * step[:, None]
    reach = arm.links(q.reshape(-1, step.shape[1]), np.repeat(step, len(NODES), axis=0)).speed
    length = np.abs(step)
    allowed = np.minimum(limits.joint_speed, limits.share * arm.speed)
    full = np.maximum(  # s, of the whole way at full speed
        PEAK * reach.reshape(len(step), -1).max(axis=1) / limits.link_speed,
        np.maximum((length / allowed).max(axis=1), 1e-9))
    forced = ACCELERATION * (length / limits.joint_acceleration).max(axis=1)  # s^2
    jerked = JERK * (length / limits.joint_jerk).max(axis=1)  # s^3
    ramps = np.maximum(RAMP, np.maximum(forced / full, np.sqrt(jerked / full)))
    ramps = np.where(  # too short to reach the full speed: one ramp up, one down
        ramps > full, np.maximum(RAMP, np.maximum(np.sqrt(forced), np.cbrt(jerked))), ramps)
    return ramps + np.maximum(full, ramps), ramps


def describe(names: tuple[str, ...], poses: Array) -> str:
    """What turns, move after move.

    Args:
        names: of the k joints; poses: (m, k) at which the arm rests [rad].

    Examples:
        >>> describe(("wrist_1_joint", "wrist_2_joint"), np.radians([[0, 0], [25, -40]]))
        'turn wrist_1_joint by +25° and wrist_2_joint by -40°'
    """
    moves = [" and ".join(f"{name} by {np.degrees(angle):+.0f}°"
                          for name, angle in zip(names, step, strict=True)
                          if abs(angle) >= SMALLEST) for step in np.diff(poses, axis=0)]
    return "; then ".join(f"turn {move}" for move in moves if move)


def _ramp(t: Array) -> tuple[Array, Array, Array]:
    """Progress whose rate rises from 0 to 1 between the times 0 and 1, and its derivatives."""
    x = np.clip(t, 0.0, 1.0)
    return (x**3 * (1.0 - 0.5 * x) + np.maximum(t - 1.0, 0.0), x * x * (3.0 - 2.0 * x),
            6.0 * x * (1.0 - x))
