# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What a motion may not exceed, as numbers that are at most 0 where it is allowed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ...errors import InvalidSetting
from ...inertia import Array
from .arm import Arm

COBOT_TOOL_SPEED = 0.25  # m/s, the reduced speed beside people (ISO 10218-1)
_LENGTH = 0.1  # m of missing distance that count like a limit exceeded by 100 %


@dataclass(frozen=True)
class Limits:
    """Limits of a motion.

    Attributes:
        tool_speed: of every tool point [m/s].
        tool_points: (k, 3) in the frame [m]; points: as tuples.
        link_speed: of every point of every link and of the payload's box [m/s].
        acceleration: of every joint [rad/s^2 or m/s^2].
        speed_share, torque_share: part of the description's limits of speed and effort.
        range: (2,) largest distance of a joint below and above the start [rad or m].
        clearance: least distance of links [m].
        floor: least height of the tool points, and of every link that rises and falls, above the
            root of the description [m].

    Raises:
        InvalidSetting: a number out of range.
    """

    tool_speed: float = COBOT_TOOL_SPEED
    tool_points: tuple[tuple[float, float, float], ...] = ((0.0, 0.0, 0.0),)
    link_speed: float = COBOT_TOOL_SPEED
    acceleration: float = 5.0
    speed_share: float = 0.8
    torque_share: float = 0.8
    range: float = np.inf
    clearance: float = 0.01
    floor: float = -np.inf

    def __post_init__(self) -> None:
        for name, unit in (("tool_speed", "m/s"), ("link_speed", "m/s"),
                           ("acceleration", "rad/s^2"), ("range", "rad")):
            if not getattr(self, name) > 0.0:
                raise InvalidSetting(f"{name} is {getattr(self, name):g} {unit}; it must be above "
                                     "zero")
        for name in ("speed_share", "torque_share"):
            if not 0.0 < getattr(self, name) <= 1.0:
                raise InvalidSetting(f"{name} is {getattr(self, name):g}; allowed: above 0 to 1")
        if not self.clearance >= 0.0:
            raise InvalidSetting(f"clearance is {self.clearance:g} m; it must not be negative")
        if not np.isfinite(self.tool_points).all() or np.shape(self.tool_points)[1:] != (3,):
            raise InvalidSetting("a tool point needs three finite numbers")


class Excess:
    """The limits of one robot: names of the rows, and by how much a motion exceeds each.

    Rows are relative to their limit (speeds, torques), in rad, or in 0.1 m (distances, heights).
    Distances are those of convex hulls; `find_contact` asks the shapes themselves.

    Args:
        start: (joints,) pose at time 0; active: indices of the joints that move; None: all.
    """

    def __init__(self, arm: Arm, limits: Limits, start: Array,
                 active: Iterable[int] | None = None) -> None:
        self._arm, self._limits = arm, limits
        self._shapes = arm.collision_shapes(start, active, limits.clearance)
        self._lower = np.maximum(arm.lower, start - limits.range)
        self._upper = np.minimum(arm.upper, start + limits.range)
        moves = np.zeros(len(start), dtype=bool)
        moves[:] = active is None
        moves[[] if active is None else list(active)] = True
        self._bounded = [np.flatnonzero(moves & np.isfinite(x)) for x in (self._lower, self._upper)]
        self._links = arm.links.moved_by(moves) if np.isfinite(
            (limits.link_speed, limits.floor)).any() else np.empty(0, dtype=int)
        self._rising = (self._links[arm.links.rises[self._links]] if np.isfinite(limits.floor)
                        else np.empty(0, dtype=int))
        self._fast = np.flatnonzero(np.isfinite(arm.speed))
        self._strong = np.flatnonzero(np.isfinite(arm.effort))
        names, points = np.array(arm.joint_names), range(len(limits.tool_points))
        self.names: tuple[str, ...] = (
            *(f"lower limit of {name}" for name in names[self._bounded[0]]),
            *(f"upper limit of {name}" for name in names[self._bounded[1]]),
            *(f"speed of {name}" for name in names[self._fast]),
            *(f"acceleration of {name}" for name in names),
            *(f"torque of {name}" for name in names[self._strong]),
            *(f"speed of tool point {k + 1}" for k in points),
            *(f"height of tool point {k + 1}" for k in points if np.isfinite(limits.floor)),
            *(f"speed of {arm.links.names[k]}" for k in self._links),
            *(f"height of {arm.links.names[k]}" for k in self._rising),
            *(f"distance of {a} and {b}" for a, b in self._shapes.pairs))

    def distance_rows(self, q: Array) -> Array:
        """Missing distance of each pair of links (n, pairs): last of `rows`, slow to compute."""
        return (self._limits.clearance - self._shapes.distances(q)) / _LENGTH

    def rows(self, q: Array, dq: Array, ddq: Array, distances: Array | None = None) -> Array:
        """Excess (n, names) of joint motion (n, joints).

        Args:
            distances: `distance_rows` of q, where they are known.
        """
        arm, limits = self._arm, self._limits
        below, above = self._bounded
        parts = [self._lower[below] - q[:, below], q[:, above] - self._upper[above],
                 np.abs(dq[:, self._fast]) / (limits.speed_share * arm.speed[self._fast]) - 1.0,
                 np.abs(ddq) / limits.acceleration - 1.0]
        if len(self._strong):
            torque = arm.torque(q, dq, ddq)[:, self._strong]
            parts.append(np.abs(torque) / (limits.torque_share * arm.effort[self._strong]) - 1.0)
        motion = arm.frame_motion(q, dq, ddq)
        points = np.array(limits.tool_points)
        parts.append(motion.point_speeds(points) / limits.tool_speed - 1.0)
        if np.isfinite(limits.floor):
            parts.append((limits.floor - motion.height[:, None] - motion.up @ points.T) / _LENGTH)
        if len(self._links):
            links = arm.links.links_at(q, dq)
            parts.append(links.speed[:, self._links] / limits.link_speed - 1.0)
            if len(self._rising):
                parts.append((limits.floor - links.height[:, self._rising]) / _LENGTH)
        parts.append(self.distance_rows(q) if distances is None else distances)
        return np.concatenate(parts, axis=1)

    def worst(self, q: Array, dq: Array, ddq: Array) -> tuple[float, str]:
        """Largest excess of a motion, and of what."""
        peaks = self.rows(q, dq, ddq).max(axis=0)
        k = int(np.argmax(peaks))
        return float(peaks[k]), self.names[k]

    def find_contact(self, q: Array) -> str:
        """The first pair of shapes, meshes as they are, that comes nearer than the clearance in
        poses (n, joints); empty if none does."""
        near = self._shapes.near(q).any(axis=0)
        if not near.any():
            return ""
        return "distance of {} and {}".format(*self._shapes.pairs[int(np.argmax(near))])
