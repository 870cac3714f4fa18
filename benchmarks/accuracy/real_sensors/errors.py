# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What real sensors make of a wrench: each effect turns readings (n, 6) into other readings.

Models of typical errors by their size in data sheets, not measured hardware.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.signal import lfilter

from inertial_id_ros.inertia import Array

FULL_SCALE = np.repeat([130.0, 10.0], 3)  # N, N m
Effect = Callable[[Array, Array, np.random.Generator], Array]  # of readings and times (n,) [s]


def gain(sd: float) -> Effect:
    """Every channel times a constant of its own near one."""
    return lambda y, t, rng: y * (1.0 + rng.normal(0.0, sd, 6))


def cross_talk(sd: float) -> Effect:
    """Every channel sees a share of the others, both relative to full scale."""
    def effect(y: Array, t: Array, rng: np.random.Generator) -> Array:
        mixing = rng.normal(0.0, sd, (6, 6)) * (1.0 - np.eye(6))
        return y + FULL_SCALE * ((y / FULL_SCALE) @ mixing.T)
    return effect


def non_linearity(sd: float) -> Effect:
    """A square law, odd about zero."""
    def effect(y: Array, t: Array, rng: np.random.Generator) -> Array:
        return y + rng.normal(0.0, sd, 6) * FULL_SCALE * (y / FULL_SCALE) ** 2 * np.sign(y)
    return effect


def hysteresis(share: float) -> Effect:
    """A play of 0.3 of the run's range, mixed in so that it reaches a share of full scale."""
    def effect(y: Array, t: Array, rng: np.random.Generator) -> Array:
        half = 0.3 * np.maximum(np.ptp(y, axis=0), 1e-12)
        weight = np.minimum(share * FULL_SCALE / half, 0.5)
        return y + weight * (_play(y, half) - y)
    return effect


def _play(y: Array, half: Array) -> Array:
    """A follower that the readings (n, 6) push along from a distance `half` (6,)."""
    low, high = y - half, y + half
    at, out = y[0], np.empty_like(y)
    for k in range(len(y)):
        at = np.minimum(np.maximum(at, low[k]), high[k])
        out[k] = at
    return out


def drift(force: float, torque: float) -> Effect:
    """A zero that moves evenly, at rates of this standard deviation [N/s, N m/s]."""
    rates = np.repeat([force, torque], 3)
    return lambda y, t, rng: y + rates * rng.normal(size=6) * (t - t[0])[:, None]


def wandering(time: float, force: float, torque: float) -> Effect:
    """Ornstein-Uhlenbeck noise of this correlation time [s] and these deviations [N, N m]."""
    sd = np.repeat([force, torque], 3)

    def effect(y: Array, t: Array, rng: np.random.Generator) -> Array:
        keep = np.exp(-(t[1] - t[0]) / time)
        steps = rng.normal(size=y.shape) * np.sqrt(1.0 - keep**2)
        steps[0] = rng.normal(size=6)
        return y + sd * lfilter([1.0], [1.0, -keep], steps, axis=0)
    return effect


def low_pass(order: int, cutoff: float) -> Effect:
    """The sensor's own causal low-pass: equal first-order stages, at rest before the recording.

    Args:
        cutoff: of each stage [Hz].
    """
    def effect(y: Array, t: Array, rng: np.random.Generator) -> Array:
        keep = np.exp(-2.0 * np.pi * cutoff * (t[1] - t[0]))
        rest, y = y[0], y - y[0]
        for _ in range(order):
            y = lfilter([1.0 - keep], [1.0, -keep], y, axis=0)
        return rest + y
    return effect


def steps(force: float, torque: float) -> Effect:
    """Readings in whole steps [N, N m]."""
    size = np.repeat([force, torque], 3)
    return lambda y, t, rng: size * np.round(y / size)
