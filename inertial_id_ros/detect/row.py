# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Rows of the scan: motion and wrench, low-passed alike over .2 s, every 40 ms."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ..model.history import History
from ..model.newton_euler import GRAVITY, regressor, rotation, skew, weight_columns
from ..model.setup import Setup, low_pass
from ..motion.motion import BIN, BIN_NS, Array

HALF, STEP, APART = 10, 4, 12  # bins: half of the kernel, from row to row, of independent rows
SETTLING = 100  # bins, of the impulse response of a sensor's own filter
LONGEST_GAP = 50_000_000  # ns between samples that a row bridges
PHI, SETUP, PUSH, BIAS = slice(0, 10), slice(10, 16), slice(16, 20), slice(20, None)
ALL = 2**62  # later than any bin
CHANGED = np.cross(GRAVITY, np.eye(3)[:2])  # of the acceleration less gravity by a tilt, base axes


class Row(NamedTuple):
    """One row of c channels; what a payload phi exerts on them is `A @ phi`.

    Channels are those of the wrench that the sensor exerts on it, or torques of joints.

    Attributes:
        number: bin of its centre; columns: (c, 20 + c) slopes by phi, set-up, a push along gravity
        and bias; those by the set-up are `setup @ phi`, (c, 6): rotation (3), tilt (2), delay.
        rate: (c, 10) change of A [1/s]; y: (c,) what was measured; gain: variance of y over that of
        a sample; up: (3,) in sensor axes; felt: (3,) acceleration less gravity, in these.
        lever: (c, 6) of channels by a wrench at the sensor; extra: (c,) known part of y's variance.
    """

    number: int
    columns: Array
    setup: Array
    rate: Array
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
    """Makes the rows of a history, each once, from the bins that are new."""

    def __init__(self) -> None:
        self._next: int | None = None
        self._setup: Setup | None = None

    def new(self, history: History, setup: Setup, end: int = ALL) -> Iterator[Row]:
        """Rows whose bins and samples are all there, before a bin.

        A row is a function of the samples about it, whenever it is asked for.
        """
        if self._next is None:
            if not history.end:
                return
            self._next = -(-(history.first + HALF) // STEP) * STEP
        if self._setup is None or not _is_alike(setup, self._setup):
            self._setup, self._number = setup, np.empty(0, np.int64)
            self._A, self._rotation = np.empty((0, 60)), np.empty((0, 9))
            self._gravity = rotation(np.r_[setup.tilt, 0.0]) @ GRAVITY
        weights, pose = kernels(setup.filter)
        self._read(history, len(pose))
        newest = int((history.newest - round(1e9 * setup.delay) - BIN_NS // 2) // BIN_NS)
        ready = min(history.end, newest + 1, end) - HALF
        while self._next < ready:
            number = self._next
            self._next += STEP
            row = self._row(history, number, setup.delay, weights, pose)
            if row is not None:
                yield row

    def _read(self, history: History, length: int) -> None:
        """Compute the regressor of new bins, forget old ones."""
        assert self._next is not None
        oldest = self._next - length
        motion = history.motion(int(self._number[-1]) + 1 if len(self._number) else oldest, ALL)
        kept = slice(int(np.searchsorted(self._number, oldest)), None)
        back = motion.rotation.transpose(0, 2, 1)
        A = regressor(motion.acceleration - back @ self._gravity, motion.omega, motion.alpha)
        self._number = np.concatenate([self._number[kept], motion.number])
        self._A = np.concatenate([self._A[kept], A.reshape(-1, 60)])
        self._rotation = np.concatenate([self._rotation[kept], motion.rotation.reshape(-1, 9)])

    def _row(self, history: History, number: int, delay: float, weights: Array, pose: Array
             ) -> Row | None:
        end = int(np.searchsorted(self._number, number + HALF)) + 1
        part = slice(end - len(pose), end)
        if part.start < 0 or end > len(self._number) or (
                self._number[part][[0, -1]] != [number + HALF + 1 - len(pose),
                                                number + HALF]).any():
            return None
        wrench = mean_wrench(history, number, delay)
        if wrench is None:
            return None
        y, gain = wrench
        A, rate = (weights.T @ self._A[part]).reshape(2, 6, 10)
        turn = (pose @ self._rotation[part]).reshape(3, 3)
        pull = -self._gravity @ turn
        columns = np.hstack([A, np.zeros((6, 6)), weight_columns(pull), np.eye(6)])
        if history.weighed is not None:
            y = y + weight_columns(pull) @ history.weighed
        return Row(number, columns, _setup_slopes(A, rate, CHANGED @ turn), rate, y, gain,
                   -pull / GRAVITY[2], A[:3, 0])


def _is_alike(one: Setup, other: Setup) -> bool:
    """True if regressors at one are those at the other."""
    return one.filter == other.filter and bool((one.tilt == other.tilt).all())


def mean_wrench(history: History, number: int, delay: float) -> tuple[Array, float] | None:
    """Weighted mean (c,) of the samples about a bin, and the gain of their noise; None: a hole."""
    centre = number * BIN_NS + BIN_NS // 2 + round(1e9 * delay)
    reach = HALF * BIN_NS
    stamps, wrench = history.samples(centre - reach, centre + reach)
    since = stamps - centre
    if len(since) < 3 or np.diff(since, prepend=-reach, append=reach).max() > LONGEST_GAP:
        return None
    weight = np.cos((0.5 * np.pi / reach) * since) ** 2
    weight /= weight.sum()
    return weight @ wrench, float(weight @ weight)


def _setup_slopes(A: Array, rate: Array, turned: Array) -> Array:
    """Slopes (6, 6, 10) of the wrench by the set-up, linear in phi; turned: (2, 3) change of the
    acceleration less gravity per rad of tilt, sensor axes."""
    out = np.zeros((6, 6, 10))
    out[:3, :3] = -skew(A[:3].T).transpose(1, 2, 0)
    out[3:, :3] = -skew(A[3:].T).transpose(1, 2, 0)
    out[:3, 3:5, 0] = turned.T
    out[3:, 3:5, 1:4] = -skew(turned).transpose(1, 0, 2)
    out[:, 5] = -rate
    return out
