# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Names a wrench that swings at one frequency, as on a soft mount of the sensor or of the robot.

The spectrum of an arm's motion falls off smoothly; a lightly damped mode, or a machine nearby,
stands out of it as a narrow peak. The low-pass takes such frequencies out of the estimate, so that
the finding is there for who can stiffen the mount, and nothing is widened.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from ...findings import FindingLog
from ...inertia import Array
from ...signals.bins import BIN_NS

_SEGMENT = 256  # bins of a spectrum
_STEP = _SEGMENT // 2  # new bins from one spectrum to the next
_KEPT = 8  # newest spectra that are averaged, 10 s
_FEWEST = 3  # spectra before anything is said
_LOW, _HIGH = 4.0, 20.0  # Hz
_NEAR, _FAR = 1.2, 4.0  # Hz from a peak to the frequencies that it is compared with
# Times that a peak stands above those, in the median of the channels. 96 simulated runs of eight
# kinds without vibration reach 3; of 12 runs with .5 m/s^2 at 12 Hz the least reaches 13.
_CLEAR = 8.0
_LONGEST_GAP = 3  # bins

_WINDOW = np.hanning(_SEGMENT)[:, None]
_FREQUENCIES = np.fft.rfftfreq(_SEGMENT, 1e-9 * BIN_NS)
_DRIFT = np.linalg.qr(np.vander(np.linspace(-1.0, 1.0, _SEGMENT), 4))[0]
_PEAKS = np.flatnonzero((_FREQUENCIES >= _LOW) & (_FREQUENCIES <= _HIGH))


def _around(side: int) -> np.ndarray:
    """For each peak (p,) the frequencies (p, f) beside it, below (-1) or above (1)."""
    apart = side * (_FREQUENCIES[None] - _FREQUENCIES[_PEAKS][:, None])
    return np.array([np.flatnonzero((row > _NEAR) & (row < _FAR)) for row in apart])


_BELOW, _ABOVE = _around(-1), _around(1)


class VibrationWatch:
    """Follows the spectrum of the wrench.

    Args:
        log: of findings; `soft_mount` names frequency and size.
    """

    def __init__(self, log: FindingLog) -> None:
        self._log = log
        self._waiting: list[Array] = []
        self._spectra: deque[Array] = deque(maxlen=_KEPT)
        self._last = -1

    def add(self, number: Array, wrench: Array) -> None:
        """Take bins, by number (n,) and wrench (n, 6) [N, N m], as they follow each other."""
        if len(number) == 0:
            return
        before = self._last if self._last >= 0 else int(number[0])
        breaks = np.flatnonzero(np.diff(number, prepend=before) > _LONGEST_GAP)
        self._last = int(number[-1])
        if len(breaks):
            self._waiting = []
            wrench = wrench[breaks[-1]:]
        self._waiting.append(wrench)
        if sum(map(len, self._waiting)) < _SEGMENT:
            return
        rows = np.concatenate(self._waiting)
        while len(rows) >= _SEGMENT:
            self._add_spectrum(rows[:_SEGMENT])
            rows = rows[_STEP:]
        self._waiting = [rows]

    def _add_spectrum(self, rows: Array) -> None:
        """Add the spectrum of a segment, and judge the mean of the newest."""
        smooth = rows - _DRIFT @ (_DRIFT.T @ rows)
        self._spectra.append(np.abs(np.fft.rfft(smooth * _WINDOW, axis=0)) ** 2)
        if len(self._spectra) >= _FEWEST:
            self._judge(np.mean(self._spectra, axis=0))

    def _judge(self, power: Array) -> None:
        """Say where one frequency stands out."""
        beside = np.maximum(np.median(power[_BELOW], axis=1), np.median(power[_ABOVE], axis=1))
        height = np.median(power[_PEAKS] / np.maximum(beside, 1e-300), axis=1)
        best = int(np.argmax(height))
        if height[best] < _CLEAR:
            self._log.clear("soft_mount")
            return
        near = np.abs(_FREQUENCIES - _FREQUENCIES[_PEAKS[best]]) <= _NEAR
        rms = np.sqrt(2.0 * power[near].sum(axis=0) / (_SEGMENT * float((_WINDOW ** 2).sum())))
        force, torque = (float(np.linalg.norm(rms[part])) for part in (slice(3), slice(3, 6)))
        self._log.set(
            "soft_mount", "info", f"the wrench swings at {_FREQUENCIES[_PEAKS[best]]:.1f} Hz by "
            f"{force:.2g} N and {torque:.2g} N m (rms): a mount of the sensor, the tool or the "
            "robot is soft, or a machine vibrates; the filter keeps it out of the estimate")
