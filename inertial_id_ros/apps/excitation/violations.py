# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What a trajectory violates: the one check of planner, guide and execution.

It samples the points that a controller is sent, takes speeds, accelerations and jerks from
differences of positions, and compares the collision shapes themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from ...errors import InvalidData
from ...inertia import Array
from .arm import Arm
from .motions import MotionLimits, PlannedMotion

STEP = 0.005  # s between samples
SPARSE = 2  # of them between those at which shapes are compared
ROUNDING = 1.01  # of a limit: differences of samples, and rounding of a message
REST = 1e-6  # rad/s, rad/s^2
START = 0.02  # rad, between where a trajectory starts and where the arm is


def violations(arm: Arm, motion: PlannedMotion, pose: Array, limits: MotionLimits
               ) -> tuple[str, ...]:
    """What is wrong with a motion, a sentence each; empty where nothing is.

    Args:
        pose: (joints,) where every joint of the description is now [rad or m].
    """
    if problem := _of_points(arm, motion, pose):
        return (problem,)
    t = np.linspace(0.0, motion.duration, int(np.ceil(motion.duration / STEP)) + 1)
    q, dq, ddq = motion.of_all(arm, pose, t)
    links, names, many = arm.links(q, dq), arm.joint_names, len(arm.joint_names)
    speed, acceleration, jerk = (np.diff(q, k, axis=0) / t[1] ** k for k in (1, 2, 3))
    found = [f"{what} {name} would be {value:.3g} {unit}, and may be {limit:.3g}"
             for what, unit, values, allowed in (
                 ("speed of", "rad/s", speed, np.minimum(limits.share * arm.speed,
                                                         limits.joint_speed)),
                 ("acceleration of", "rad/s^2", acceleration, [limits.joint_acceleration] * many),
                 ("jerk of", "rad/s^3", jerk, [limits.joint_jerk] * many),
                 ("torque of", "N m", arm.torque(q, dq, ddq), limits.share * arm.effort),
                 ("speed of what moves with", "m/s", links.speed, [limits.link_speed] * many))
             for name, value, limit in zip(names, np.abs(values).max(axis=0), allowed, strict=True)
             if value > ROUNDING * limit]
    lowest = np.where(arm.rises, links.height.min(axis=0), np.inf)
    for k, name in enumerate(names):
        if (q[:, k] < arm.lower[k]).any() or (q[:, k] > arm.upper[k]).any():
            found.append(f"{name} would leave its range of {arm.lower[k]:.3f} to "
                         f"{arm.upper[k]:.3f} rad")
        if lowest[k] < limits.floor:
            found.append(f"what {name} moves would be {limits.floor - lowest[k]:.3f} m below the "
                         "floor")
    return tuple(found or _of_shapes(arm, q[::SPARSE], limits))


def positions_of(arm: Arm, pose: Mapping[str, float]) -> Array:
    """Positions (joints,) in the order of the description (raises InvalidData: one is not known).
    """
    for name in arm.joint_names:
        if name not in pose:
            raise InvalidData(f"it is not known where joint '{name}' is")
    return np.array([pose[name] for name in arm.joint_names])


def _of_points(arm: Arm, motion: PlannedMotion, pose: Array) -> str:
    """Why the points are no trajectory of this robot from where it is, from rest to rest."""
    if not all(np.isfinite(part).all() for part in motion.trajectory):
        return "the trajectory holds numbers that are not finite"
    if max(np.abs(part[[0, -1]]).max() for part in motion.trajectory[2:]) > REST:
        return "the trajectory does not begin and end at rest"
    away = np.abs(motion.positions[0] - pose[arm.index(motion.joint_names)])
    k = int(np.argmax(away))
    return (f"the trajectory starts {away[k]:.3f} rad from where {motion.joint_names[k]} is"
            if away[k] > START else "")


def _of_shapes(arm: Arm, q: Array, limits: MotionLimits) -> Iterator[str]:
    """Shapes that come nearer than the clearance. Between two samples each moves by no more than
    its speed times half the time, by which the clearance is larger."""
    if arm.shapes is None:
        return
    margin = limits.clearance + limits.link_speed * SPARSE * STEP
    near = arm.shapes.near(arm.configurations(q), margin).any(axis=0)
    for k in np.flatnonzero(near).tolist():
        first, second = arm.shapes.pairs[k]
        yield f"{first} would come within {1e3 * margin:.1f} mm of {second}"
