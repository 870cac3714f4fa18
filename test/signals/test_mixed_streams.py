# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Two levels between which the samples of a wrench jump are found, and nothing else is."""

from __future__ import annotations

import numpy as np
import pytest

from inertial_id_ros.signals.bins import BIN_NS
from inertial_id_ros.signals.mixed_streams import MixedStreams, level_step
from inertial_id_ros.signals.ring_buffer import SampleRing

LEAST = 1.2  # N
START = 1_785_000_000 * 10**9


def load(t: np.ndarray) -> np.ndarray:
    """Force (n, 3) of a payload that an arm turns [N]."""
    return 14.0 * np.stack([np.sin(2.0 * t), np.cos(2.0 * t), 0.3 * np.sin(t)], axis=1)


@pytest.mark.parametrize("rate", [100.0, 500.0, 2000.0])
@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
@pytest.mark.parametrize("order", ["regular", "random"])
def test_samples_of_two_publishers_lie_on_two_levels(rate: float, share: float, order: str,
                                                     rng: np.random.Generator) -> None:
    t = np.arange(0.0, 0.25, 0.5 / rate)
    other = (rng.random(len(t)) < share if order == "random"
             else np.floor(np.arange(1, len(t) + 1) * share) > np.floor(np.arange(len(t)) * share))
    rows = np.where(other[:, None], [1.0, -2.0, 0.5], load(t)) + 0.2 * rng.normal(size=(len(t), 3))
    assert level_step(rows, LEAST) == pytest.approx(
        np.linalg.norm(load(np.array([0.12]))[0] - [1.0, -2.0, 0.5]), rel=0.3)


@pytest.mark.parametrize("seed", range(20))
def test_noise_vibration_blows_and_steps_of_the_converter_are_no_two_publishers(seed: int) -> None:
    rng = np.random.default_rng(seed)
    t = np.arange(0.0, 0.25, 0.002)
    wave = np.sin(2.0 * np.pi * rng.uniform(5.0, 240.0) * t + rng.uniform(0.0, 6.0))[:, None]
    noise = rng.normal(size=(len(t), 3))
    blow = 80.0 * np.exp(-0.5 * ((t - 0.1) / rng.uniform(0.0005, 0.02)) ** 2)[:, None]
    for rows in (load(t) + 5.0 * noise, load(t) + 10.0 * wave + 0.1 * noise,
                 load(t) + blow + 0.1 * noise, np.cumsum(3.0 * noise, axis=0),
                 load(t) + 5.0 * rng.standard_t(2, noise.shape),
                 np.round((load(t) + 0.1 * noise) / 0.5) * 0.5):
        assert level_step(rows, LEAST) == 0.0


def test_they_are_said_within_half_a_second_and_again_when_one_is_gone() -> None:
    """The same, however many bins are judged at once."""
    t = np.arange(0.0, 10.0, 0.001)
    second = (np.arange(len(t)) % 2 == 1) & (t >= 3.0) & (t < 6.0)
    rows = np.concatenate([load(t), np.zeros_like(load(t))], axis=1)
    rows[second] = 0.0
    results = []
    for at_once in (1, 40, 1000):
        ring, made = SampleRing(6, 20_000), MixedStreams(np.array([0.1, 0.005]))
        ring.extend(START + np.round(t * 1e9).astype(np.int64), rows)
        ends = range(START // BIN_NS, START // BIN_NS + 1000 + at_once, at_once)
        results.append([change for end in ends
                        for change in made.judge(ring, min(end, START // BIN_NS + 1000))])
    assert results[0] == results[1] == results[2]
    (begin, text), (end, nothing) = results[0]
    assert "two levels 14 N apart" in (text or "")
    assert 0.0 < begin * 0.01 - START * 1e-9 - 3.0 <= 0.75
    assert 0.9 < end * 0.01 - START * 1e-9 - 6.0 <= 1.5 and nothing is None
