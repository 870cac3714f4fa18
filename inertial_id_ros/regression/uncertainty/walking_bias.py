# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A bias that walks: its strength and correlation time, from the residual.

White noise averages out, but drift, hysteresis and an arm that is not where its model says do
not: they are like a bias that walks, an Ornstein-Uhlenbeck process in each channel. How strong and
how slow it is shows in the spectrum of the residual: each pair on a grid is weighed by its
likelihood (Whittle, Estimation and information in stationary time series, 1953), with the level of
white noise that suits it best. What the fit takes from each frequency is made up for.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ...inertia import Array
from ...signals.bins import BIN_NS
from ...signals.low_pass import ZeroPhaseFilter
from ..regressor_window import WindowContent

FORCE, TORQUE = slice(0, 3), slice(3, 6)
_TIMES = np.array([1.5, 6.0, 24.0])  # s, correlation times
_STRENGTHS = 0.05 * 2.0 ** np.arange(12)  # of the walk, over the white noise of one sample
_SPREAD = 1.0  # of the logarithm of the strength, before the data
_SHEET_SAMPLES = 3.0  # strength of the data sheet, in independent residuals of force or torque
_SLOW_MODES = 12  # or those below 0.5 Hz: what noise without a walk is judged by
_FOLDS = np.arange(-2, 3)  # multiples of the slices' rate whose spectra fold into one


class Walk(NamedTuple):
    """An Ornstein-Uhlenbeck process.

    Attributes:
        variance: of the bias [N^2, N^2 m^2]; time: of its correlation [s].
    """

    variance: float
    time: float


NO_WALK = Walk(0.0, 1.0)


class Level(NamedTuple):
    """How strong the errors of the forces, or of the torques, are.

    Attributes:
        white: standard deviation of one sample [N, N m]; walk: of the bias.
    """

    white: float
    walk: Walk


Levels = tuple[Level, Level]  # of forces and torques


def data_sheet_levels(noise: Array) -> Levels:
    """Levels of white noise (6,) alone [N, N m]."""
    return Level(float(noise[0]), NO_WALK), Level(float(noise[3]), NO_WALK)


def white_noise(levels: Levels) -> Array:
    """White noise (6,) of one sample [N, N m]."""
    force, torque = levels[0].white, levels[1].white
    return np.array([force, force, force, torque, torque, torque])


def estimate_levels(means: Array, covariance: Array, solution: Array, window: WindowContent,
                    low_pass: ZeroPhaseFilter, now: Levels, sheet: Array, prior: Array) -> Levels:
    """Estimate white noise and walking bias of forces and torques.

    Args:
        means: (6, s, n) of linear rows ``[A | states | y]`` over the slices of the window.
        covariance: (n - 1, n - 1) of the fit; solution: (n,) such that ``rows @ solution`` is the
            residual; now: the levels by which it was weighed.
        low_pass: the filter of the rows.
        sheet: (6,) white noise of one sample by the data sheet.
        prior: (2,) standard deviation of the walks expected before the data; 0: there is none.
    """
    spectra = spectra_of(window, low_pass)
    columns = modes(means.transpose(1, 0, 2))  # (s - 1, 6, n)
    power = np.square(columns @ solution)
    taken = ((columns[..., :-1] @ covariance) * columns[..., :-1]).sum(axis=2)
    out = []
    for group, level, walk in zip((FORCE, TORQUE), now, prior.tolist(), strict=True):
        left = np.maximum(1.0 - taken[:, group] / spectra.variance(level)[:, None], 0.0)
        seen = np.where(left > 0.0, power[:, group], 0.0).sum(axis=1)
        out.append(_estimate_level(seen, left.sum(axis=1), spectra, float(sheet[group][0]), walk,
                                   window.duration))
    return out[0], out[1]


def modes(means: Array) -> Array:
    """Orthonormal cosine modes (s - 1, ...) of means over slices (s, ...), without the constant."""
    return np.tensordot(_cosines(len(means)), means, 1)


@lru_cache(maxsize=4)
def _cosines(slices: int) -> Array:
    """Orthonormal cosines (s - 1, s) over slices, those of the discrete cosine transform II."""
    k, middle = np.arange(1, slices)[:, None], np.arange(slices) + 0.5
    return np.asarray(np.sqrt(2.0 / slices) * np.cos(np.pi * k * middle / slices))


class Spectra(NamedTuple):
    """Variances of the modes of the residual.

    Attributes:
        white: (s - 1,) of white noise of variance 1 of each raw sample.
        walk: (t, s - 1) of a walk of variance 1, for each correlation time.
    """

    white: Array
    walk: Array

    def variance(self, level: Level) -> Array:
        """Variances (s - 1,) of the modes at that level of noise and walk."""
        walk = self.walk[int(np.argmin(np.abs(_TIMES - level.walk.time)))]
        return np.asarray(level.white**2 * self.white + level.walk.variance * walk)


def spectra_of(window: WindowContent, low_pass: ZeroPhaseFilter) -> Spectra:
    """The spectra of the modes of a window."""
    slices = window.slices
    samples = float(slices.samples.mean())
    gain, walk = _gains(len(slices.rows), max(round(float(slices.rows.mean())), 1),
                        window.slice_length, low_pass)
    return Spectra(gain / samples, walk)


@lru_cache(maxsize=16)
def _gains(slices: int, rows: int, length: float, low_pass: ZeroPhaseFilter) -> tuple[Array, Array]:
    """Variances of the modes (s - 1,) of white noise, times the samples in a slice, and (t, s - 1)
    of walks of variance 1.

    Args:
        rows: in a slice; length: of a slice [s].
    """
    taps = low_pass.mean_kernel(rows)
    frequency = np.arange(1, slices) / (2.0 * slices * length) + _FOLDS[:, None] / length
    phase = 2.0 * np.pi * BIN_NS * 1e-9 * np.arange(len(taps)) * frequency[..., None]
    gain = np.square(np.cos(phase) @ taps) + np.square(np.sin(phase) @ taps)  # (folds, s - 1)
    turn = 2.0 * np.pi * _TIMES[:, None, None] * frequency
    density = 2.0 * _TIMES[:, None, None] / (1.0 + turn**2)  # of a walk, per Hz
    return gain.sum(axis=0), (gain * density).sum(axis=1) / length


def _estimate_level(power: Array, count: Array, spectra: Spectra, sheet: float, prior: float,
                    duration: float) -> Level:
    """The level of three channels.

    Args:
        power: (s - 1,) of the modes of the residual; count: (s - 1,) of independent values in it.
        sheet: white noise by the data sheet; prior: standard deviation of the walk before the data.
        duration: of the window [s].
    """
    if prior == 0.0:  # what is not white must count all the same, so only slow modes are looked at
        slow = slice(max(_SLOW_MODES, round(duration)))
        level = ((_SHEET_SAMPLES * sheet**2 + (power[slow] / spectra.white[slow]).sum())
                 / (_SHEET_SAMPLES + count[slow].sum()))
        return Level(float(np.sqrt(level)), NO_WALK)
    total = _SHEET_SAMPLES + count.sum()
    shape = spectra.white + _STRENGTHS[:, None, None] ** 2 * spectra.walk  # (n, t, s - 1)
    white = (_SHEET_SAMPLES * sheet**2 + (power / shape).sum(axis=2)) / total  # (n, t)
    walk = _STRENGTHS[:, None] ** 2 * white
    log = -0.5 * (total * np.log(white) + np.log(shape) @ count
                  + (0.5 * np.log(walk / prior**2) / _SPREAD) ** 2)
    weight = np.exp(log - log.max())
    best = int(np.argmax(weight.sum(axis=0)))  # of the correlation times
    share = weight[:, best] / weight[:, best].sum()
    return Level(float(np.sqrt(share @ white[:, best])),
                 Walk(float(share @ walk[:, best]), float(_TIMES[best])))
