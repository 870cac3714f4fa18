# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Rows of the scan from joint torques instead of a wrench."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from ..model.history import History
from ..model.newton_euler import GRAVITY, weight_columns
from ..model.setup import Setup
from ..model.sheet import Sheet
from ..motion.motion import Array, Motion
from ..motion.robot import Chain
from ..robot.payload import TorqueLoad
from .row import ALL, HALF, STEP, Row, Rows, mean_wrench


class TorqueSheet(Sheet):
    """What is known of the joints of an identified robot, as `Sheet` has it of a sensor."""

    floor: ClassVar[tuple[float, ...]] = (0.0,)


def torque_sheet(load: TorqueLoad) -> TorqueSheet:
    """The sheet of a robot. Noise is that of its low-passed rows; what nothing explains is as
    large, and so is what offsets drift in a minute."""
    noise = tuple(load.robot.noise.tolist())
    return TorqueSheet(noise, noise, noise, 0.0, 0.0, (0.0, 0.0), np.zeros(load.joints),
                       load.typical + load.robot.noise, 0.0, 0.0, 0.0, 0.0, 0.0)


class TorqueRows(Rows):
    """Makes the rows of a history whose samples are rows of a `TorqueLoad`, one a bin."""

    def __init__(self, load: TorqueLoad, chain: Chain) -> None:
        super().__init__()
        self._load = load
        names = load.model.joint_names
        self._joints = [names.index(joint.name) for joint in chain.joints]

    def new(self, history: History, setup: Setup, end: int = ALL) -> Iterator[Row]:
        """As `Rows.new`; there is no set-up."""
        if self._next is None:
            if not history.end:
                return
            self._next = -(-(history.first + HALF) // STEP) * STEP
        ready = min(history.end, history.wrench_end, end) - HALF
        while self._next < ready:
            number = self._next
            self._next += STEP
            mean, motion = mean_wrench(history, number, 0.0), history.motion(number, number + 1)
            if mean is not None and len(motion.number):
                yield self._made(number, mean[0], motion)

    def _made(self, number: int, mean: Array, motion: Motion) -> Row:
        torque, _, sign, A, errors = (part[0] for part in self._load.columns(mean[None]))
        rotation, joints = motion.rotation[0], len(torque)
        pull, lever = -GRAVITY @ rotation, np.zeros((joints, 6))
        lever[self._joints] = _levers(motion)
        friction = np.maximum(1.0 - sign**2, 0.0) * self._load.friction**2 / 3.0
        columns = np.hstack([A, np.zeros((joints, 6)), lever @ weight_columns(pull),
                             np.eye(joints)])
        return Row(number, columns, np.zeros((joints, 6, 10)), np.zeros((joints, 10)), torque, 1.0,
                   -pull / GRAVITY[2], motion.acceleration[0] + pull, lever,
                   friction + np.square(errors).sum(1))


def _levers(motion: Motion) -> Array:
    """Torques (j, 6) of the joints by a wrench at the sensor, in its axes, in the first bin."""
    linear, angular = np.split(motion.twists[0], 2, axis=1)
    return np.hstack([linear + np.cross(angular, motion.position[0]), angular]) @ np.kron(
        np.eye(2), motion.rotation[0])
