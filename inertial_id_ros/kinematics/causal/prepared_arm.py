# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Forward kinematics of one configuration at a time, with nothing allocated."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from ...inertia import Array
from ..joint_motion import RobotFrame
from .features import ACCELERATION, ALPHA, AXES, FEATURES, TERMS, write_products


class PreparedArm:
    """The sensor frame of a robot, for one thread.

    Args:
        robot: shared with other threads, none of which changes it.
        terms: of `features.TERMS`; later ones are left out.
    """

    def __init__(self, robot: RobotFrame, terms: str) -> None:
        self._model, self._frame = robot.model, robot.frame
        self._data = robot.model.createData()
        self._axes = robot.gravity * robot.gravity_axes
        self._terms = TERMS.index(terms)
        self._wraps = robot.circular.tolist() if robot.circular.any() else []
        self._still = np.zeros(self._model.nv)
        self._out = np.zeros(FEATURES)

    def features(self, motion: Array) -> Array:
        """Features (21,) of joint positions, velocities and accelerations (3 or more, joints); the
        next call overwrites them."""
        q = self._configuration(motion[0]) if self._wraps else motion[0]
        model, data, frame, out = self._model, self._data, self._frame, self._out
        if self._terms == 0:
            pin.forwardKinematics(model, data, q)
        else:
            pin.forwardKinematics(model, data, q, motion[1],
                                  motion[2] if self._terms == 2 else self._still)
        out[AXES] = (self._axes @ pin.updateFramePlacement(model, data, frame).rotation).ravel()
        if self._terms:
            change = pin.getFrameClassicalAcceleration(model, data, frame, pin.LOCAL)
            out[ACCELERATION], out[ALPHA] = change.linear, change.angular
            write_products(pin.getFrameVelocity(model, data, frame, pin.LOCAL).angular, out)
        return out

    def _configuration(self, positions: Array) -> Array:
        """Pinocchio's q: continuous joints as cosine and sine."""
        out: list[float] = []
        for x, wraps in zip(positions.tolist(), self._wraps, strict=True):
            out += [np.cos(x), np.sin(x)] if wraps else [x]
        return np.array(out)
