# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""How accurate a payload will be known after some seconds of motion, before any is planned.

A zero that wanders is beaten by turning gravity in the sensor quickly, which the speed limit of the
payload's farthest corner bounds; an inertia by the accelerations at both ends of a swing. So the
sensor is taken to swing about its axes, from where they lie level, as quick as limits allow.
"""

from __future__ import annotations

import numpy as np

from ....identification.accuracy_goal import AccuracyGoal
from ....inertia import Array
from ..arm import FrameMotion
from .knowledge import STEP, Knowledge, motion_products, wanted_sigma
from .planned_motion import MotionLimits
from .rest_to_rest import ACCELERATION, RAMP, ramped_progress

_GRAVITY = 9.81  # m/s^2
_SWING = np.radians(120.0)  # from one end to the other
_SHARE = 0.8  # of the speed that the payload alone could have: links move too, and there are rests
_TIME_ABOUT = (0.2, 0.2, 0.6)  # each axis: about the last, that of the flange, the payload is near
_SLACK = 1.15  # of what is expected of motions: these poses may allow less
_TELLS = 0.5  # of the mean moment: an interval of the inertia that is wider tells nothing


def attainable(goal: AccuracyGoal, knowledge: Knowledge, box: Array, limits: MotionLimits,
               seconds: float) -> AccuracyGoal:
    """A goal, each part of it no narrower than what so many seconds of motion can tell; without the
    inertia where they tell nothing of it.

    Args:
        knowledge: of the payload; only its most probable one and the sensor count.
        box: corners (2, 3) around the payload, in the frame of the sensor [m].
    """
    phi = knowledge.phi
    least = 2.0 * sigma_after(seconds, knowledge, box, limits)
    asked = 2.0 * wanted_sigma(goal, phi)
    mean_moment = 2.0 * wanted_sigma(AccuracyGoal(inertia=1.0), phi)[4]
    inertia = max(goal.inertia, float(least[4:].max() / mean_moment)) if goal.inertia else 0.0
    return AccuracyGoal(float(max(asked[0], least[0])), float(max(asked[1], least[1:4].max())),
                        inertia if inertia <= _TELLS else 0.0)


def sigma_after(seconds: float, knowledge: Knowledge, box: Array, limits: MotionLimits) -> Array:
    """Standard deviations (10,) of mass, centre of mass and inertia about it that are to be
    expected after so many seconds of motion, with what no motion shows."""
    fresh = Knowledge.before_data(knowledge.phi, knowledge.sensor)
    corner = np.abs(box).max(axis=0)
    told = np.zeros_like(fresh.products)
    for axis, share in enumerate(_TIME_ABOUT):
        reach = float(np.linalg.norm(np.delete(corner, axis)))
        rate = _SHARE * min(limits.joint_speed, limits.link_speed / reach)
        ramp = max(RAMP, ACCELERATION * rate / limits.joint_acceleration)
        duration = max(_SWING / rate, ramp) + ramp
        told += share * seconds / duration * _told_by_swing(axis, duration, ramp, fresh)
    return np.hypot(_SLACK * fresh.sigma(told), knowledge.unseen_sigma())


def _told_by_swing(axis: int, duration: float, ramp: float, knowledge: Knowledge) -> Array:
    """Products (6, 14, 14) of a swing about a level axis, with duration and ramps [s]."""
    count = int(np.ceil(duration / STEP))
    turn = ramped_progress((np.arange(count) + 0.5) * STEP, duration, ramp)
    angle = _SWING * (turn.value - 0.5)
    zero = np.zeros((count, 3))
    up, omega, alpha = zero.copy(), zero.copy(), zero.copy()
    up[:, axis - 2], up[:, axis - 1] = np.sin(angle), np.cos(angle)
    omega[:, axis], alpha[:, axis] = -_SWING * turn.rate, -_SWING * turn.acceleration
    motion = FrameMotion(_GRAVITY * up, zero, omega, alpha, up, zero[:, 0])
    return np.asarray(motion_products(motion, np.array([count]), knowledge.sensor)[0])
