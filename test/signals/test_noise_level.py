# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The noise of a sensor is measured from its samples, at rest, in motion and under vibration."""

from __future__ import annotations

import numpy as np
import pytest

from inertial_id_ros.findings import FindingLog
from inertial_id_ros.signals.bins import BIN_NS, average_bins
from inertial_id_ros.signals.noise_level import NoiseLevel

DECLARED = np.array([0.1, 0.005])


def _bins(rate: float, signal: np.ndarray, noise: np.ndarray, rng: np.random.Generator):
    """Bins of 5 s of wrenches: a signal (n, 6) and white noise (6,)."""
    stamps = 10**18 + np.round(np.arange(len(signal)) * 1e9 / rate).astype(np.int64)
    return average_bins(stamps, signal + noise * rng.normal(size=signal.shape))


def _swing(rate: float) -> np.ndarray:
    """A load of 50 N and 5 N m that swings at 0.4 Hz, and 3 N of vibration at 12 Hz."""
    t = np.arange(round(5.0 * rate)) / rate
    phase = np.arange(6.0)
    return np.repeat([50.0, 5.0], 3) * np.sin(2.5 * t[:, None] + phase) + np.repeat(
        [3.0, 0.1], 3) * np.sin(75.0 * t[:, None] + phase)


@pytest.mark.parametrize("rate", [100.0, 500.0, 1000.0])
@pytest.mark.parametrize("times", [10.0, 30.0])
def test_white_noise_is_measured_in_motion_at_any_rate(
        rate: float, times: float, rng: np.random.Generator) -> None:
    level = NoiseLevel(DECLARED)
    list(level.follow(_bins(rate, _swing(rate), np.repeat(times * DECLARED, 3), rng)))
    np.testing.assert_allclose(level.used, times * DECLARED, rtol=0.25)


def test_a_sensor_as_good_as_declared_keeps_the_declared_noise(rng: np.random.Generator) -> None:
    for noise in (0.3, 1.0, 1.2):
        level = NoiseLevel(DECLARED)
        assert not list(level.follow(_bins(500.0, _swing(500.0), np.repeat(noise * DECLARED, 3),
                                           rng)))
        assert (level.used == DECLARED).all()


def test_blows_do_not_count(rng: np.random.Generator) -> None:
    """A fifth of the time something hammers on the payload."""
    signal = _swing(500.0)
    signal[500:1000] += 100.0 * rng.normal(size=(500, 6))
    level = NoiseLevel(DECLARED)
    list(level.follow(_bins(500.0, signal, np.repeat(10.0 * DECLARED, 3), rng)))
    np.testing.assert_allclose(level.used, 10.0 * DECLARED, rtol=0.25)


def test_the_level_is_the_same_however_bins_arrive(rng: np.random.Generator) -> None:
    bins = _bins(500.0, _swing(500.0), np.repeat(20.0 * DECLARED, 3), rng)
    whole, pieces = NoiseLevel(DECLARED), NoiseLevel(DECLARED)
    changes = [(at, tuple(whole.used)) for at in whole.follow(bins)]
    found = []
    for k in range(0, len(bins.number), 7):
        part = type(bins)(*(field[k:k + 7] for field in bins))
        found += [(at, tuple(pieces.used)) for at in pieces.follow(part)]
        found += [(at, tuple(pieces.used)) for at in pieces.follow(part)]  # seen before
    assert changes and found == changes
    assert changes[0][0] < bins.number[0] + round(0.3e9 / BIN_NS)


def test_a_measured_level_is_named_with_its_value_and_the_setting(
        rng: np.random.Generator) -> None:
    level, log = NoiseLevel(DECLARED), FindingLog()
    list(level.follow(_bins(500.0, _swing(500.0), np.repeat(20.0 * DECLARED, 3), rng)))
    level.report(log)
    text = log.all()[0].text
    assert f"{level.used[0]:.2g} N" in text and "wrench.noise is 0.1 N" in text
    level.declare(2.0 * level.used)
    level.report(log)
    assert not log.all()
