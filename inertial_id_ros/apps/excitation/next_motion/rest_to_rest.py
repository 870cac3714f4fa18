# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Moves from rest to rest through poses, as quick as the limits allow, for many candidates at once.

Between two poses the path is straight in joint space. The speed on it rises in a ramp, stays, and
falls: where a zero that wanders hides what turning shows, information grows with the square of the
speed, and a move that reaches the allowed speed only for an instant takes twice as long. No ramp is
shorter than the low-pass of the pipeline, which would take away what quicker swings tell.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ....inertia import Array
from ...simulation.motion import JointMotion, Progress
from ..arm import Arm
from .planned_motion import MotionLimits

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
