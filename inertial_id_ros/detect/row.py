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
from ..model.rows import STEP as BINS  # of a row whose noise a robot has
from ..model.setup import Setup, low_pass
from ..motion.motion import BIN, BIN_NS, Array
from ..robot.robot_file import TorqueLoad

STEP = 4  # bins from row to row
APART = 3 * STEP  # bins, of independent rows: at its multiples they share no sample
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


@lru_cache(maxsize=8)
def kernels(sensor: tuple[float, ...]) -> tuple[Array, Array]:
    """Weights (k, 2) of bins for a row's value and change, and (k,) for its pose.

    Args:
        sensor: `Setup.filter`, through which the wrench has passed.

    The last weight is that of the bin `HALF` after the centre.
    """
    hann = np.hanning(2 * HALF + 1)[1:-1] / HALF
    response: Array = np.ones(1)
    if sensor:
        response = low_pass(np.eye(SETTLING)[1], sensor)[1:]  # it begins settled at zero
        response /= response.sum()
    value = np.convolve(hann, response[::-1])
    slope = np.convolve(value, [-0.5 / BIN, 0.0, 0.5 / BIN])
    return np.c_[np.pad(value, 1), slope], np.pad(hann, (len(response), 1))


class Rows:
    """Makes the rows of a history, each once, those of a bin and later ones."""

    def __init__(self, first: int | None = None) -> None:
        self._next = first

    def new(self, history: History, setup: Setup, end: int = ALL) -> Iterator[Row]:
        """Rows whose bins and samples are all there, before a bin.

        A row is a function of the samples about it, whenever it is asked for.
        """
        if self._next is None:
            if not history.end:
                return iter(())
            self._next = -(-(history.first + HALF) // STEP) * STEP
        newest = int((history.newest - round(1e9 * setup.delay) - BIN_NS // 2) // BIN_NS)
        ready, means = min(history.end, newest + 1, end) - HALF, []
        while (number := -(-history.next(self._next) // STEP) * STEP) < ready:
            self._next = number + STEP
            if (mean := mean_wrench(history, number, setup.delay)) is not None:
                means.append((number, *mean))
        return self._rows(history, setup, means)

    def _rows(self, history: History, setup: Setup, means: list[tuple[int, Array, float]]
              ) -> Iterator[Row]:
        """The rows of bins with mean wrenches (c,) and the gains of their noise, where their motion
        is there."""
        weights, pose = kernels(setup.filter)
        after, n = HALF + 1, len(pose)
        means = [mean for mean in means if len(history.motion(
            mean[0] + after - n, mean[0] + after).number) == n]
        if not means:
            return
        ends = np.array([number for number, *_ in means]) + after
        motion = history.motion(int(ends[0]) - n, int(ends[-1]))
        index = np.searchsorted(motion.number, ends)[:, None] + np.arange(-n, 0)
        gravity = rotation(np.r_[setup.tilt, 0.0]) @ GRAVITY
        A, rate = np.tensordot(weights, regressor_of(motion, gravity)[index], (0, 1))
        turn = np.tensordot(motion.rotation[index], pose, (1, 0))
        pull, tilted = -gravity @ turn, CHANGED @ turn
        columns = np.zeros((len(index), 6, BIAS.start + 6))
        columns[..., PHI], columns[..., PUSH] = A, weight_columns(pull)
        columns[..., BIAS] = np.eye(6)
        halves = np.zeros((len(index), 2, 3, 6, 10))
        halves[..., :3, :] = -skew(A.reshape(-1, 2, 3, 10).swapaxes(2, 3)).transpose(0, 1, 3, 4, 2)
        halves[:, 0, :, 3:5, 0] = tilted.swapaxes(1, 2)
        halves[:, 1, :, 3:5, 1:4] = -skew(tilted).swapaxes(1, 2)
        slopes = halves.reshape(-1, 6, 6, 10)
        slopes[:, :, 5] = -rate
        for k, (number, y, gain) in enumerate(means):
            if history.weighed is not None:
                y = y + columns[k, :, PUSH] @ history.weighed[:4]
            yield Row(number, columns[k], slopes[k], y, gain, -pull[k] / GRAVITY[2], A[k, :3, 0])


class TorqueRows(Rows):
    """Makes the rows of a history whose samples are rows of a `TorqueLoad`, one a bin; there is no
    set-up."""

    def __init__(self, load: TorqueLoad) -> None:
        super().__init__()
        self._load = load
        self._joints = [load.model.joint_names.index(joint.name) for joint in load.chain.joints]

    def _rows(self, history: History, setup: Setup, means: list[tuple[int, Array, float]]
              ) -> Iterator[Row]:
        for number, y, _ in means:
            motion = history.motion(number, number + 1)
            if not len(motion.number):
                continue
            torque, _, sign, A, errors = (part[0] for part in self._load.columns(y[None]))
            turn, joints = motion.rotation[0], len(torque)
            linear, angular = np.split(motion.twists[0], 2, axis=1)
            pull, lever = -GRAVITY @ turn, np.zeros((joints, 6))
            lever[self._joints] = np.hstack([linear + np.cross(angular, motion.position[0]), angular
                                             ]) @ np.kron(np.eye(2), turn)
            friction = np.maximum(1.0 - sign**2, 0.0) * self._load.friction**2 / 3.0
            columns = np.hstack([A, np.zeros((joints, 6)), lever @ weight_columns(pull),
                                 np.eye(joints)])
            yield Row(number, columns, np.zeros((joints, 6, 10)), torque, 1.0 / BINS,
                      -pull / GRAVITY[2], motion.acceleration[0] + pull, lever,
                      friction + np.square(errors).sum(1))


def mean_wrench(history: History, number: int, delay: float) -> tuple[Array, float] | None:
    """Weighted mean (c,) of the samples about a bin, and the gain of their noise; None: a hole
    of a quarter."""
    centre = number * BIN_NS + BIN_NS // 2 + round(1e9 * delay)
    reach = HALF * BIN_NS
    stamps, wrench = history.samples(centre - reach, centre + reach)
    since = stamps - centre
    if len(since) < 3 or max(since[0] + reach, reach - since[-1], np.diff(since).max()) > reach / 2:
        return None
    weight = np.cos((0.5 * np.pi / reach) * since) ** 2
    weight /= weight.sum()
    return weight @ wrench, float(weight @ weight)
