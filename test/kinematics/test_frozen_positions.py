# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Positions that freeze in motion are told from those of an arm that found."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from inertial_id_ros.inertia import Array
from inertial_id_ros.kinematics.frozen_positions import FrozenPositions
from inertial_id_ros.signals.ring_buffer import SampleRing

START, STOP = 1_785_000_000_000_000_000, 2.0  # ns, s
Path = Callable[[Array], Array]


def _swing(t: Array) -> Array:
    """Two joints [rad] at up to 0.5 rad/s, at full speed at `STOP`."""
    return np.stack([0.5 * np.sin(t - STOP), 0.2 * np.cos(2.0 * (t - STOP) + 1.0)], axis=1)


def _frozen(path: Path, until: float = np.inf, joints: slice = slice(None)) -> Path:
    """The path, of which some joints repeat the last position from `STOP` on."""
    def change(t: Array) -> Array:
        q = path(t)
        held = (t >= STOP) & (t < until)
        q[held, joints] = q[np.argmax(t >= STOP), joints]
        return q
    return change


def _braked(deceleration: float) -> Path:
    """Joints at 0.5 rad/s that brake, and stand still to the last bit from `STOP` on."""
    def path(t: Array) -> Array:
        left = np.maximum(STOP - t, 0.0)
        braking = 0.5 / deceleration
        q = -np.where(left < braking, 0.5 * deceleration * left**2, 0.5 * (left - 0.5 * braking))
        return np.stack([q, 2.0 * q], axis=1)
    return path


def _judge(path: Path, rate: float, pieces: int = 1, noise: float = 0.0,
           resolution: float = 0.0, length: float = 4.0) -> FrozenPositions:
    """What is found in samples of a path."""
    t = np.arange(0.0, length, 1.0 / rate)
    rng = np.random.default_rng(3)
    if noise:
        clean = path
        shake = noise * rng.normal(size=(len(t), 2))
        def path(t: Array) -> Array:
            return np.asarray(clean(t) + shake)
        path = _frozen(path) if clean.__qualname__.startswith("_frozen") else path
    q = path(t)
    if resolution:
        q = resolution * np.round(q / resolution)
    ring, found = SampleRing(2, 100_000), FrozenPositions(2)
    for part in np.array_split(np.arange(len(t)), pieces):
        for k in part.tolist():
            ring.append(START + round(1e9 * t[k]), q[k])
        found.judge(ring)
    return found


@pytest.mark.parametrize("rate", [50.0, 125.0, 500.0, 1000.0])
@pytest.mark.parametrize("noise", [0.0, 1e-4])
@pytest.mark.parametrize("pieces", [1, 7, 200])
def test_what_freezes_in_motion_is_found(rate: float, noise: float, pieces: int) -> None:
    freeze = _judge(_frozen(_swing), rate, pieces, noise).lasting
    assert freeze is not None
    assert freeze.first == pytest.approx(START + 2e9, abs=1.01e9 / rate)
    assert freeze.last == pytest.approx(START + 4e9, abs=1.01e9 / rate)
    assert "it moved at" in freeze.why


@pytest.mark.parametrize("rate", [50.0, 125.0, 500.0])
def test_noise_that_ends_at_rest_is_found(rate: float) -> None:
    def rest(t: Array) -> Array:
        return np.stack([np.full(len(t), 0.3), np.full(len(t), -1.0)], axis=1)
    freeze = _judge(_frozen(rest), rate, 20, noise=1e-4).lasting
    assert freeze is not None and "it had noise of" in freeze.why
    assert _judge(rest, rate, 20, noise=1e-4).lasting is None
    assert _judge(rest, rate, 20, noise=1e-4, resolution=1e-4).lasting is None


def test_a_tenth_of_a_second_is_enough() -> None:
    assert _judge(_frozen(_swing), 500.0, length=STOP + 0.095).lasting is None
    assert _judge(_frozen(_swing), 500.0, length=STOP + 0.105).lasting is not None


def test_one_joint_alone_is_found_and_its_end_is_noted() -> None:
    found = _judge(_frozen(_swing, 3.0, slice(0, 1)), 500.0, pieces=9)
    assert found.lasting is None
    times = START + (1e9 * np.array([1.9, 2.0, 2.5, 2.99, 3.1])).astype(np.int64)
    assert found.mask(times, 50_000_000).tolist() == [False, True, True, True, False]


@pytest.mark.parametrize("rate", [50.0, 125.0, 500.0])
@pytest.mark.parametrize("deceleration", [0.5, 2.0, 10.0])
@pytest.mark.parametrize("resolution", [0.0, 1e-4, 1e-3])
def test_an_arm_that_brakes_is_not(rate: float, deceleration: float, resolution: float) -> None:
    assert _judge(_braked(deceleration), rate, resolution=resolution).lasting is None


def test_rest_and_slow_motion_of_coarse_encoders_are_not() -> None:
    def creep(t: Array) -> Array:
        return np.stack([0.004 * t, np.full(len(t), 0.3)], axis=1)
    found = _judge(creep, 500.0, pieces=30, resolution=1e-3)
    assert found.lasting is None
    assert not found.mask(np.array([START + 2_000_000_000]), 1_000_000_000).any()


def test_motion_that_goes_on_ends_it() -> None:
    found = _judge(_frozen(_swing, 3.0), 500.0, pieces=40)
    assert found.lasting is None
    assert found.still < 0.01
    assert _judge(_frozen(_swing), 500.0).still == pytest.approx(2.0, abs=0.01)
