# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Whether what is carried explains the wrench of a swing, whatever frames and sign.

Before sign and frames are known, a weight that turns otherwise than the arm looks like a contact.
But while one joint swings by an angle a, any weight reads as ``c0 + c1 sin a + c2 (1 - cos a)`` in
each channel, its inertia as multiples of a'' and a'^2, and a filter of the sensor as one of a'.
These are learnt as the swing goes on, and foretell the next readings; what touches the payload does
not follow them.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from ...inertia import Array
from ...settings import ContactSettings, WrenchSettings

_PERIOD_NS = 20_000_000  # of the instants that are judged
_H = _PERIOD_NS * 1e-9  # s
_SPAN = 4  # instants to either side, of which a speed is taken
_UNLEARNT = 10  # instants before the one that is judged
_FAR = 3  # instants in a row that are not foretold
_HIDDEN = 7.0, 1.5  # N, N m: a contact that may not hide in what is not learnt yet
_WANDERS = 0.4  # of the wander of the zero, within a swing
_INEXACT = 0.03  # of how far the wrench has changed: hysteresis, samples that come late
# Standard deviations of c0, c1, c2 and the multiples of a', a'' and a'^2, before data: a weight of
# 3 kg half a metre away, and a filter of 0.05 s. N s^k and N m s^k.
_FORCE_SD = np.array([1e3, 30.0, 30.0, 1.5, 1.0, 1.0])
_TORQUE_SD = 0.5 * _FORCE_SD
_COLUMNS = len(_FORCE_SD)


class SwungLoad:
    """Follows one swing.

    Args:
        wrench: settings of the sensor.

    Attributes:
        explains: whether something that is carried explains all readings so far, and what touches
            it now would show before it pushes hard.
    """

    def __init__(self, wrench: WrenchSettings) -> None:
        self.explains, self._is_refuted = False, False
        # Channels, noise of a sample, wander of the zero, prior, and what may hide.
        self._groups = (
            (slice(0, 3), wrench.force_noise, _WANDERS * wrench.force_accuracy, _FORCE_SD**-2.0,
             _HIDDEN[0]),
            (slice(3, 6), wrench.torque_noise, _WANDERS * wrench.torque_accuracy,
             _TORQUE_SD**-2.0, _HIDDEN[1]))
        self._wrench: list[tuple[int, Array]] = []  # stamp [ns], and reading (6,)
        self._joints: list[tuple[int, Array]] = []  # stamp [ns], and positions [rad]
        self._next: int | None = None  # number of the instant that is judged next
        self._waiting: deque[tuple[Array, Array]] = deque()  # rows (6,) and readings (6,)
        self._products = np.zeros((_COLUMNS, _COLUMNS + 6))
        self._first: Array | None = None  # reading
        self._far = 0

    def take(self, wrench_stamps: np.ndarray, wrench: Array, joint_stamps: np.ndarray,
             positions: Array) -> None:
        """Take what has come since the last time, each in the order of the stamps [ns].

        Args:
            wrench: (n, 6) [N, N m]; positions: (m, joints) of all joints [rad].
        """
        if self._joints and positions.shape[1] != len(self._joints[0][1]):
            positions, joint_stamps = positions[:0], joint_stamps[:0]  # of other joints
        self._wrench += zip(wrench_stamps.tolist(), wrench, strict=True)
        self._joints += zip(joint_stamps.tolist(), positions, strict=True)
        if not self._wrench or not self._joints:
            return
        stamps = np.array([stamp for stamp, _ in self._wrench])
        at = np.array([stamp for stamp, _ in self._joints])
        q = np.array([row for _, row in self._joints])
        angle = (q - q[0])[:, int(np.argmax(np.ptp(q, axis=0)))]
        if self._next is None:
            self._next = int(max(stamps[0], at[0])) // _PERIOD_NS + _SPAN + 1
        end = int(min(stamps[-1], at[-1])) // _PERIOD_NS - _SPAN
        for number in range(self._next, end):
            middle = (number + np.arange(-_SPAN, _SPAN + 1) + 0.5) * _PERIOD_NS
            first, last = np.searchsorted(stamps, [number * _PERIOD_NS, (number + 1) * _PERIOD_NS])
            if last > first:
                readings = np.array([row for _, row in self._wrench[first:last]])
                self._judge(np.interp(middle, at, angle), readings)
        self._next = max(self._next, end)

    def _judge(self, angles: Array, readings: Array) -> None:
        """Judge an instant, and learn an earlier one.

        Args:
            angles: (2 s + 1,) about it [rad]; readings: (n, 6) in it.
        """
        before, now, after = angles[0], angles[_SPAN], angles[-1]
        rate = (after - before) / (2 * _SPAN * _H)
        row = np.array([1.0, np.sin(now), 1.0 - np.cos(now), rate,
                        (after - 2.0 * now + before) / (_SPAN * _H)**2, rate**2])
        reading = readings.mean(axis=0)
        self._first = reading if self._first is None else self._first
        far, certain = False, True
        for channels, noise, wander, prior, hidden in self._groups:
            variance = noise**2 / len(readings) + wander**2
            information = self._products[:, :_COLUMNS] / variance + np.diag(prior)
            solved = np.linalg.solve(information, np.column_stack([
                self._products[:, _COLUMNS:][:, channels] / variance, row]))
            left = reading[channels] - row @ solved[:, :-1]
            changed = reading[channels] - self._first[channels]
            shows = ContactSettings.enter**2 * (
                variance + row @ solved[:, -1] + _INEXACT**2 * changed @ changed)
            far = far or bool(left @ left > shows)
            certain = certain and bool(shows < hidden**2)
        self._far = self._far + 1 if far else 0
        self._is_refuted = self._is_refuted or self._far >= _FAR
        self.explains = certain and not self._is_refuted
        self._waiting.append((row, reading))
        if len(self._waiting) > _UNLEARNT:
            row, reading = self._waiting.popleft()
            self._products += np.outer(row, np.concatenate([row, reading]))
