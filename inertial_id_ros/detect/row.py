# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Rows of the scan: motion and wrench, low-passed alike over .2 s, every 40 ms."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..model.history import History, Window
from ..model.newton_euler import GRAVITY, regressor, skew, static_wrench
from ..model.setup import Setup, low_pass
from ..motion.motion import BIN, Array

HALF, STEP, APART = 10, 4, 12  # bins: half of the kernel, from row to row, of independent rows
CONTEXT = 50  # bins before a row, from which stamps are evened and a filter settles
_TAPS = np.arange(-HALF, HALF + 1)
KERNEL = np.cos(0.5 * np.pi * _TAPS / HALF) ** 2
KERNEL /= KERNEL.sum()
GAIN = float(KERNEL @ KERNEL)  # variance of a row over that of a bin
CHANGED = np.cross(GRAVITY, np.eye(3)[:2])  # of gravity by a tilt


class Row(NamedTuple):
    """One row; the wrench that the sensor exerts on a payload phi is `A @ phi`.

    Attributes:
        number: bin of its centre; A, rate: (6, 10) and its change [1/s]; turned: (2, 3) change of
        the acceleration less gravity per rad of tilt; y: (6,) W and bias; samples: in a bin;
        up: (3,) in sensor axes.
    """

    number: int
    A: Array
    rate: Array
    turned: Array
    y: Array
    samples: float
    up: Array

    @property
    def is_independent(self) -> bool:
        """True for every third row: it shares no sample with the one before of them."""
        return self.number % APART == 0

    def setup_columns(self, phi: Array) -> Array:
        """Slopes (6, 6) of the wrench by rotation of the sensor (3), tilt (2) and delay."""
        load, out = self.A @ phi, np.empty((6, 6))
        out[:3, :3], out[3:, :3] = -skew(load[:3]), -skew(load[3:])
        out[:, 3:5] = static_wrench(phi, self.turned).T
        out[:, 5] = -self.rate @ phi
        return out

    def push_columns(self) -> Array:
        """Slopes (6, 4) by mass and first moment of what has weight, but no inertia."""
        out, pull = np.zeros((6, 4)), -GRAVITY[2] * self.up
        out[:3, 0], out[3:, 1:] = pull, -skew(pull)
        return out


def make_row(history: History, number: int, setup: Setup) -> Row | None:
    """The row about a bin; None where motion or wrench are not known all over it.

    A function of the history up to `HALF` bins after it, whenever it is asked for.
    """
    late = round(setup.delay / BIN)
    end = number + HALF + 1 + max(late, 0)
    window = history.window(end, (end - number + HALF + CONTEXT - min(late, 0)) * BIN, marked=False)
    centre = len(window.used) - (end - number)
    if centre < HALF or not window.used[centre - HALF:centre + HALF + 1].all():
        return None
    return _row(window, centre, late, number, setup)


def _row(window: Window, centre: int, late: int, number: int, setup: Setup) -> Row | None:
    first = 0 if setup.filter else centre - HALF - 1
    part = slice(max(first, 0), centre + HALF + 2)
    motion, at = window.motion.part(part), centre - max(first, 0)
    back = motion.rotation.transpose(0, 2, 1)
    A = regressor(motion.acceleration - back @ GRAVITY, motion.omega, motion.alpha)
    A = low_pass(A, setup.filter)
    rate = np.gradient(A, BIN, axis=0)
    near = slice(at - HALF, at + HALF + 1)
    if len(A[near]) < len(KERNEL):
        return None
    of_wrench = slice(centre - HALF + late, centre + HALF + 1 + late)
    if of_wrench.start < 0 or not (window.count[of_wrench] > 0.0).all():
        return None
    A, rate, up, y = (np.tensordot(KERNEL, x, 1) for x in (
        A[near], rate[near], motion.rotation[near], window.wrench[of_wrench]))
    return Row(number, A, rate, CHANGED @ up, y, window.samples, up[2])
