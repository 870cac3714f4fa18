# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Motions of the joints: sines of the wrist or of all joints, moves with rests, slow teaching.

Each is a law of time in closed form, stretched in time (sines, teaching) or in size (moves) to a
mean angular speed of the sensor.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from inertial_id_ros.apps.simulation.motion import minimum_jerk
from inertial_id_ros.inertia import Array

from .arms import Arm

SPEEDS = (0.3, 2.5)  # rad/s
TEACHING_SPEEDS = (0.15, 0.5)  # rad/s
LENGTHS = (4.0, 8.0, 15.0)  # s


class JointPath(NamedTuple):
    """Positions, velocities and accelerations (n, k) of the joints [rad, s]."""

    q: Array
    dq: Array
    ddq: Array


PathLaw = Callable[[Array], JointPath]


def random_path(arm: Arm, kind: str, speed: float, seconds: float,
                rng: np.random.Generator) -> PathLaw:
    """A random motion of this kind ('wrist', 'joints', 'stop-and-go', 'teach')."""
    middle = arm.middle + rng.uniform(-0.3, 0.3, len(arm.middle))
    middle[[0, -1]] = rng.uniform(-np.pi, np.pi, 2)
    if kind == "stop-and-go":
        return _moves(arm, middle, speed, seconds, rng)
    if kind == "wrist":
        moving, size, count = slice(-3, None), 0.8, (2, 5)
    elif kind == "joints":
        moving, size, count = slice(None), 0.4, (2, 5)
    elif kind == "teach":
        moving, size, count = slice(None), 0.4, (4, 7)
    else:
        raise ValueError(f"no motion '{kind}'; known: {', '.join(KINDS)}")
    law = _sines(middle, moving, size, int(rng.integers(*count)), rng)
    t = np.linspace(0.0, 60.0, 1500)
    pace = speed / _mean_speed(arm, law(t))
    return lambda t: JointPath(*(part * pace**k for k, part in enumerate(law(t * pace))))


KINDS = ("wrist", "joints", "stop-and-go", "teach")


def random_speed(kind: str, limits: tuple[float, float] | None,
                 rng: np.random.Generator) -> float:
    """A mean angular speed, even in the logarithm, within limits [rad/s] (None: the kind's own)."""
    low, high = limits or (TEACHING_SPEEDS if kind == "teach" else SPEEDS)
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def _mean_speed(arm: Arm, path: JointPath) -> float:
    return float(np.linalg.norm(arm.motion(*path).omega, axis=1).mean())


def _sines(middle: Array, moving: slice, size: float, count: int,
           rng: np.random.Generator) -> PathLaw:
    """Sums of sines of random size, frequency and phase in each of the moving joints."""
    shape = (count, len(middle))
    amplitude = np.zeros(shape)
    amplitude[:, moving] = size / np.sqrt(count) * rng.uniform(0.4, 1.2, shape)[:, moving]
    rate = 2.0 * np.pi * rng.uniform(0.15, 0.6, shape)
    phase = rng.uniform(0.0, 2.0 * np.pi, shape)

    def law(t: Array) -> JointPath:
        angle = t[:, None, None] * rate + phase
        sine, cosine = amplitude * np.sin(angle), amplitude * np.cos(angle)
        return JointPath(middle + sine.sum(axis=1), (rate * cosine).sum(axis=1),
                         -(rate**2 * sine).sum(axis=1))

    return law


def _moves(arm: Arm, middle: Array, speed: float, seconds: float,
           rng: np.random.Generator) -> PathLaw:
    """Minimum-jerk moves of 0.8 to 1.6 s between random poses, with rests of 0.3 to 1 s."""
    count = int(seconds / 1.1) + 3
    moves, rests = rng.uniform(0.8, 1.6, count), rng.uniform(0.3, 1.0, count)
    starts = np.concatenate([[0.0], np.cumsum(moves + rests)[:-1]]) - rng.uniform(0.0, 1.0)
    reach = np.full(len(middle), 0.4)
    reach[-3:] = 1.0
    offsets = reach * rng.uniform(-1.0, 1.0, (count + 1, len(middle)))

    def law(t: Array, size: float) -> JointPath:
        k = np.clip(np.searchsorted(starts, t, side="right") - 1, 0, count - 1)
        s = minimum_jerk(np.clip((t - starts[k]) / moves[k], 0.0, 1.0)[:, None])
        step, time = size * (offsets[k + 1] - offsets[k]), moves[k][:, None]
        return JointPath(middle + size * offsets[k] + step * s.value, step * s.rate / time,
                         step * s.acceleration / time**2)

    t = np.linspace(0.0, starts[-1], 1000)
    size = min(speed / _mean_speed(arm, law(t, 1.0)), 1.6)  # a wrist turns no farther
    return lambda t: law(t, size)
