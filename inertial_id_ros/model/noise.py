# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Noise as a sum of spectra of known shape; their strengths maximise the restricted likelihood.

White noise of samples, noise of accelerations (encoders), and Ornstein-Uhlenbeck walks of three
correlation times (drift, what the data sheet calls accuracy). Forces and torques apart.
"""

import numpy as np

from ..motion.motion import BIN, Array
from .rows import STEP, Rows
from .setup import Sheet

TIMES = 6.0 * 4.0 ** np.arange(-1, 2)  # s, of the walks
SPREAD = (0.7, 2.0, *3 * (2.5,))  # of the logarithms of the strengths before the data
SHORT = 2.0  # s: so short a window tells nothing of the walks; a longer one more and more
_STEPS, _LONGEST, _SETTLED = 4, 2.0, 1e-2  # of Newton's method
_KNEE = 2.5  # Hz, where acceleration noise is stated


def spectra(rows: Rows, sheet: Sheet) -> Array:
    """Variances (k, c) of the modes for unit strengths."""
    f, step, count = rows.frequency, STEP * BIN, rows.window.count
    white = np.full(len(f), BIN / step / count[count > 0.0].mean())
    shapes = [white, white * (f / _KNEE) ** 4]
    if not sheet.is_ideal:
        shapes += [2.0 * time / (1.0 + (2.0 * np.pi * f * time) ** 2) / step for time in TIMES]
    return np.stack(shapes, 1) * rows.gain[:, None]


def variances(spectrum: Array, log: Array, channels: int) -> Array:
    """Variances (k, channels) of the modes at strengths (g, c) of equal groups of channels."""
    return np.repeat(spectrum @ np.exp(log).T, channels // len(log), 1)


def strengths_before(sheet: Sheet, rows: Rows) -> tuple[Array, Array, Array]:
    """Logarithms of the strengths before the data: means (2, c), deviations (c,), and those (2, c)
    below which an interval does not believe its own window: what errors the sensor may have does
    not show in a short one. A robot's are those that a long identification left."""
    noise, seconds = np.square(sheet.noise), rows.time[-1] - rows.time[0]
    walk = np.square(sheet.accuracy) + np.square(sheet.drift) * (seconds / 60.0) ** 2
    walks = [] if sheet.is_ideal else [walk / len(TIMES)] * len(TIMES)
    mean = np.log([noise, 0.1 * noise, *walks]).T
    shorter = len(walks) * [4.0 * np.log(SHORT / max(seconds, SHORT))]
    least = mean if rows.of_joints else mean + [-np.inf, -np.inf, *shorter]
    return mean, np.array(SPREAD[:mean.shape[1]]), least


def update(log: Array, spectrum: Array, power: Array, count: Array, mean: Array, spread: Array
           ) -> Array:
    """Logarithms (c,) of the strengths at the maximum of restricted likelihood and prior.

    Newton with Fisher's information on sum(count log v + power / v) / 2, v = spectrum exp(log).

    Args:
        power, count: (k,) sums of squared residuals, and of their degrees of freedom, by mode.
    """
    precision = spread**-2.0
    part, gap = spectrum * np.exp(log), log - mean
    v = part.sum(1)
    now = count @ np.log(v) + (power / v).sum() + gap @ (precision * gap)
    for _ in range(_STEPS):
        share = part / v[:, None]
        slope = share.T @ (count - power / v) + 2.0 * precision * gap
        curved = (share.T * count) @ share
        curved.flat[::len(log) + 1] += 2.0 * precision
        step = np.linalg.solve(curved, slope)
        longest = max(step.max(), -step.min())
        step *= min(1.0, _LONGEST / max(longest, 1e-12))
        while True:
            there = log - step
            part, gap = spectrum * np.exp(there), there - mean
            v = part.sum(1)
            new = count @ np.log(v) + (power / v).sum() + gap @ (precision * gap)
            if new <= now or longest < _SETTLED:
                break
            step, longest = 0.5 * step, 0.5 * longest
        if new > now:
            break
        log, now = there, new
    return log
