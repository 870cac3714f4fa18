# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Rows of the scan: motion and wrench, or torques of joints, low-passed alike over .2 s, every 40
ms."""

import sys
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ..model.history import History
from ..model.newton_euler import GRAVITY, regressor_of, rotation, skew, weight_columns
from ..model.rows import HALF
from ..model.setup import Setup, low_pass
from ..motion.motion import BIN, BIN_NS, Array
from ..motion.robot import Chain
from ..robot.robot_file import TorqueLoad

STEP = 4  # bins from row to row
APART = 3 * STEP  # bins, of independent rows
SETTLING = 100  # bins, of the impulse response of a sensor's own filter
PHI, SETUP = slice(0, 10), slice(10, 10 + 6)
PUSH = slice(SETUP.stop, SETUP.stop + 4)
BIAS = slice(PUSH.stop, None)
ALL = sys.maxsize  # later than any bin
CHANGED = np.cross(GRAVITY, np.eye(3)[:2])  # of the acceleration less gravity by a tilt, base axes


class Row(NamedTuple):
    """One row of c channels; what a payload phi exerts on them is `A @ phi`.

    Channels are those of the wrench that the sensor exerts on it, or torques of joints.

    Attributes:
        number: bin of its centre; columns: (c, 20 + c) slopes by phi, set-up, a push along gravity
        and bias; those by the set-up are `setup @ phi`, (c, 6): rotation (3), tilt (2), delay.
        y: (c,) what was measured; gain: variance of y over that of a sample; up: (3,) in sensor
        axes; felt: (3,) acceleration less gravity, in these.
        lever: (c, 6) of channels by a wrench at the sensor; extra: (c,) known part of y's variance.
    """

    number: int
    columns: Array
    setup: Array
    y: Array
    gain: float
    up: Array
    felt: Array
    lever: Array = np.eye(6)
    extra: Array = np.zeros(6)

    @property
    def A(self) -> Array:  # noqa: N802
        """Regressor (6, 10)."""
        return self.columns[:, PHI]

    @property
    def is_independent(self) -> bool:
        """True for every third row: it shares no sample with the one before of them."""
        return self.number % APART == 0


@lru_cache(maxsize=8)
def kernels(sensor: tuple[float, ...]) -> tuple[Array, Array]:
    """Weights (k, 2) of bins for a row's value and change, and (k,) for its pose.

    Args:
        sensor: `Setup.filter`, through which the wrench has passed.

    The last weight is that of the bin `HALF` after the centre.
    """
    taps = np.arange(1 - HALF, HALF)
    hann: Array = np.cos(0.5 * np.pi * taps / HALF) ** 2
    hann /= hann.sum()
    response: Array = np.ones(1)
    if sensor:
        impulse = np.zeros(SETTLING)
        impulse[1] = 1.0  # the filter begins settled at zero
        response = low_pass(impulse, sensor)[1:]
        response /= response.sum()
    value = np.convolve(hann, response[::-1])
    slope = np.convolve(value, [0.5 / BIN, 0.0, -0.5 / BIN][::-1])
    pose = np.zeros(len(value) + 2)
    pose[-2 * HALF:-1] = hann
    return np.c_[np.r_[0.0, value, 0.0], slope], pose


class Rows:
    """Makes the rows of a history, each once."""

    def __init__(self) -> None:
        self._next: int | None = None

    def new(self, history: History, setup: Setup, end: int = ALL) -> Iterator[Row]:
        """Rows whose bins and samples are all there, before a bin.

        A row is a function of the samples about it, whenever it is asked for.
        """
        if self._next is None:
            if not history.end:
                return
            self._next = -(-(history.first + HALF) // STEP) * STEP
        newest = int((history.newest - round(1e9 * setup.delay) - BIN_NS // 2) // BIN_NS)
        ready = min(history.end, newest + 1, end) - HALF
        while (number := -(-history.next(self._next) // STEP) * STEP) < ready:
            self._next = number + STEP
            mean = mean_wrench(history, number, setup.delay)
            row = None if mean is None else self._row(history, number, setup, *mean)
            if row is not None:
                yield row

    def _row(self, history: History, number: int, setup: Setup, y: Array, gain: float
             ) -> Row | None:
        """The row of a mean wrench (6,); None: motion is missing."""
        weights, pose = kernels(setup.filter)
        motion = history.motion(number + HALF + 1 - len(pose), number + HALF + 1)
        if len(motion.number) < len(pose):
            return None
        gravity = rotation(np.r_[setup.tilt, 0.0]) @ GRAVITY
        A, rate = np.tensordot(weights.T, regressor_of(motion, gravity), 1)
        turn = np.tensordot(pose, motion.rotation, 1)
        pull, tilted = -gravity @ turn, CHANGED @ turn
        columns = np.hstack([A, np.zeros((6, 6)), weight_columns(pull), np.eye(6)])
        if history.weighed is not None:
            y = y + weight_columns(pull) @ history.weighed
        slopes = np.zeros((6, 6, 10))
        slopes[:3, :3] = -skew(A[:3].T).transpose(1, 2, 0)
        slopes[3:, :3] = -skew(A[3:].T).transpose(1, 2, 0)
        slopes[:3, 3:5, 0] = tilted.T
        slopes[3:, 3:5, 1:4] = -skew(tilted).transpose(1, 0, 2)
        slopes[:, 5] = -rate
        return Row(number, columns, slopes, y, gain, -pull / GRAVITY[2], A[:3, 0])


class TorqueRows(Rows):
    """Makes the rows of a history whose samples are rows of a `TorqueLoad`, one a bin; there is no
    set-up."""

    def __init__(self, load: TorqueLoad, chain: Chain) -> None:
        super().__init__()
        self._load = load
        names = load.model.joint_names
        self._joints = [names.index(joint.name) for joint in chain.joints]

    def _row(self, history: History, number: int, setup: Setup, y: Array, gain: float
             ) -> Row | None:
        motion = history.motion(number, number + 1)
        if not len(motion.number):
            return None
        torque, _, sign, A, errors = (part[0] for part in self._load.columns(y[None]))
        turn, joints = motion.rotation[0], len(torque)
        linear, angular = np.split(motion.twists[0], 2, axis=1)
        pull, lever = -GRAVITY @ turn, np.zeros((joints, 6))
        lever[self._joints] = np.hstack([linear + np.cross(angular, motion.position[0]), angular]
                                        ) @ np.kron(np.eye(2), turn)
        friction = np.maximum(1.0 - sign**2, 0.0) * self._load.friction**2 / 3.0
        columns = np.hstack([A, np.zeros((joints, 6)), lever @ weight_columns(pull),
                             np.eye(joints)])
        return Row(number, columns, np.zeros((joints, 6, 10)), torque, 1.0, -pull / GRAVITY[2],
                   motion.acceleration[0] + pull, lever,
                   friction + np.square(errors).sum(1))


def mean_wrench(history: History, number: int, delay: float) -> tuple[Array, float] | None:
    """Weighted mean (c,) of the samples about a bin, and the gain of their noise; None: a hole
    of a quarter."""
    centre = number * BIN_NS + BIN_NS // 2 + round(1e9 * delay)
    reach = HALF * BIN_NS
    stamps, wrench = history.samples(centre - reach, centre + reach)
    since = stamps - centre
    if len(since) < 3 or np.diff(since, prepend=-reach, append=reach).max() > reach / 2:
        return None
    weight = np.cos((0.5 * np.pi / reach) * since) ** 2
    weight /= weight.sum()
    return weight @ wrench, float(weight @ weight)
