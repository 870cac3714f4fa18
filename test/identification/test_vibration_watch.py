# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A wrench that swings at one frequency is named, with its size; what an arm does is not."""

from __future__ import annotations

import numpy as np
import pytest

from inertial_id_ros.findings import FindingLog
from inertial_id_ros.identification.wrench.vibration_watch import VibrationWatch

RATE = 100.0  # bins a second


def texts(wrench: np.ndarray, step: int = 37) -> dict[str, str]:
    """Findings of a watch that is given a wrench (n, 6) in portions."""
    log = FindingLog()
    watch = VibrationWatch(log)
    for begin in range(0, len(wrench), step):
        part = wrench[begin:begin + step]
        watch.add(np.arange(begin, begin + len(part)), part)
    return {f.name: f.text for f in log.all()}


def motion(seconds: float, rng: np.random.Generator) -> np.ndarray:
    """Weight that turns with a wrist, ramps of its acceleration, and white noise."""
    t = np.arange(0.0, seconds, 1.0 / RATE)
    slow = sum(rng.normal(0.0, 10.0 / k, (6, 1)) * np.sin(2.0 * np.pi * k * 0.3 * t + k)
               for k in (1.0, 2.3, 4.1))
    steps = np.repeat(rng.normal(0.0, 2.0, (6, 200)), 80, axis=1)
    ramps = np.array([np.convolve(row, np.hanning(40) / 20.0, "same") for row in steps])
    wrench = (slow + ramps[:, :len(t)]).T + rng.normal(0.0, 0.05, (len(t), 6))
    return wrench * [1.0, 1.0, 1.0, 0.1, 0.1, 0.1]


@pytest.mark.parametrize("frequency", [4.5, 7.3, 12.0, 19.0])
def test_a_swing_is_named_with_frequency_and_size(frequency: float) -> None:
    rng = np.random.default_rng(5)
    wrench = motion(15.0, rng)
    t = np.arange(len(wrench)) / RATE
    wrench[:, :3] += np.sqrt(2.0) * np.array([0.6, 0.0, 0.8]) * np.sin(
        2.0 * np.pi * frequency * t)[:, None] * 2.0  # rms 2 N
    wrench[:, 3:] += 0.3 * np.sin(2.0 * np.pi * frequency * t + 1.0)[:, None]
    said = texts(wrench)["soft_mount"].split()
    assert float(said[said.index("at") + 1]) == pytest.approx(frequency, abs=0.25)
    assert float(said[said.index("by") + 1]) == pytest.approx(2.0, rel=0.1)
    assert float(said[said.index("and") + 1]) == pytest.approx(0.3 * np.sqrt(1.5), rel=0.1)


@pytest.mark.parametrize("seed", range(10))
def test_the_motion_of_an_arm_is_no_swing(seed: int) -> None:
    assert texts(motion(40.0, np.random.default_rng(seed))) == {}


def test_a_swing_that_has_ended_is_no_longer_named() -> None:
    rng = np.random.default_rng(1)
    wrench = motion(60.0, rng)
    t = np.arange(len(wrench)) / RATE
    wrench += np.where(t < 15.0, np.sin(2.0 * np.pi * 8.0 * t), 0.0)[:, None]
    assert "soft_mount" in texts(wrench[:1500])
    assert texts(wrench) == {}


def test_spectra_do_not_reach_across_gaps() -> None:
    """Of half a second of data each second, no spectrum can be made."""
    log = FindingLog()
    watch = VibrationWatch(log)
    swing = 5.0 * np.sin(2.0 * np.pi * 9.0 * np.arange(50) / RATE)[:, None] * np.ones(6)
    for begin in range(0, 6000, 100):
        watch.add(np.arange(begin, begin + 50), swing)
    whole = np.concatenate([np.arange(begin, begin + 50) for begin in range(6000, 12000, 100)])
    watch.add(whole, np.tile(swing, (60, 1)))
    assert not log.all()


def test_portions_do_not_matter() -> None:
    wrench = motion(20.0, np.random.default_rng(3))
    wrench += np.sin(2.0 * np.pi * 9.0 * np.arange(len(wrench)) / RATE)[:, None]
    assert texts(wrench, 1) == texts(wrench, 37) == texts(wrench, 2000)
