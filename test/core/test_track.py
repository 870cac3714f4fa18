# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A signal in bins: its derivatives against closed forms, and faults in it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from inertial_id_ros.motion.faults import Fault
from inertial_id_ros.motion.motion import BIN_NS
from inertial_id_ros.motion.track import Signal, Track, joined_signals
from inertial_id_ros.samples.ring import Ring

START = 10**15
RATES = np.array([0.7, 1.1, 1.6])  # rad/s
NOISE = 1e-6


def truth(stamps: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Positions, velocities and accelerations (m, 3) [rad] at stamps [ns]."""
    angle = 1e-9 * (stamps - START)[:, None] * RATES + np.arange(3.0)
    return np.sin(angle), RATES * np.cos(angle), -RATES**2 * np.sin(angle)


def samples(rate: float, seconds: float = 8.0) -> tuple[np.ndarray, np.ndarray]:
    """Stamps and noisy positions (m, 3)."""
    stamps = START + np.round(1e9 * np.arange(round(seconds * rate)) / rate).astype(np.int64)
    noise = np.random.default_rng(0).normal(0.0, NOISE, (len(stamps), 3))
    return stamps, truth(stamps)[0] + noise


def tracked(stamps: np.ndarray, rows: np.ndarray, block: int = 10**6
            ) -> tuple[Signal, list[Fault]]:
    """Bins and faults of samples that come in blocks."""
    track, parts, faults = Track(Ring(3), np.ones(3, bool)), [], []
    for k in range(0, len(stamps), block):
        track.ring.push(stamps[k:k + block], rows[k:k + block])
        parts.append(track.advance())
        faults += track.faults
        track.faults = []
    parts.append(track.advance(finished=True))
    return joined_signals(parts), sorted(faults + track.faults, key=lambda f: f.known)


def jittery(stamps: np.ndarray) -> np.ndarray:
    """Stamps of samples that arrive late by different times."""
    late = np.random.default_rng(1).exponential(3e6, len(stamps)).astype(np.int64)
    return np.maximum.accumulate(stamps + late) + np.arange(len(stamps))


@pytest.mark.parametrize(("rate", "off"), [(1000.0, 0.01), (125.0, 0.02), (20.0, 0.1)])
def test_derivatives_of_regular_samples(rate: float, off: float) -> None:
    signal, faults = tracked(*samples(rate))
    q, dq, ddq = truth(signal.number * BIN_NS + BIN_NS // 2)
    assert len(signal.number) > 740
    assert np.abs(signal.value - q).max() < 1e-3
    assert np.abs(signal.rate - dq).max() < 0.1 * off + 1e-3
    inner = slice(20, -20)  # with samples on both sides
    assert np.abs(signal.acceleration - ddq)[inner].max() < off
    assert not faults


def test_stamps_that_jitter_are_evened_out_and_lost_samples_are_no_jitter() -> None:
    stamps, rows = samples(500.0)
    signal, _ = tracked(jittery(stamps), rows)
    late = 3_000_000  # in the mean; it cannot be told from another clock
    ddq = truth(signal.number * BIN_NS + BIN_NS // 2 - late)[2]
    assert np.std((signal.acceleration - ddq)[100:-100]) < 0.03
    lost = np.delete(np.arange(len(stamps)), np.random.default_rng(2).integers(0, 4000, 300))
    signal, faults = tracked(stamps[lost], rows[lost])
    ddq = truth(signal.number * BIN_NS + BIN_NS // 2)[2]
    assert np.abs(signal.acceleration - ddq)[20:-20].max() < 0.03
    assert not faults


def test_whole_turns_and_pauses() -> None:
    stamps, rows = samples(200.0)
    wrapped = (rows * 4.0 + np.pi) % (2.0 * np.pi) - np.pi
    kept = (stamps < START + 3_000_000_000) | (stamps > START + 5_000_000_000)
    signal, faults = tracked(stamps[kept], wrapped[kept])
    ddq = 4.0 * truth(signal.number * BIN_NS + BIN_NS // 2)[2]
    t = 1e-2 * signal.number - 1e-9 * START
    assert not ((t > 3.05) & (t < 4.95)).any()
    assert len(t) > 580
    near = (np.abs(t - 4.0) > 1.2) & (t > 0.2) & (t < 7.8)
    assert np.abs(signal.acceleration - ddq)[near].max() < 0.1
    assert not faults


def frozen(rows: np.ndarray, column: slice) -> np.ndarray:
    rows[600:900, column] = rows[600, column]
    return rows


def swapped(rows: np.ndarray, column: slice) -> np.ndarray:
    rows[600:900:2] = 1.0 - rows[600:900:2]
    return rows


@pytest.mark.parametrize(("change", "kind", "column"), [
    (frozen, "frozen", slice(None)), (frozen, "frozen", slice(1, 2)),
    (swapped, "mixed", slice(None))])
def test_wrong_positions_are_left_out(change: Callable[..., np.ndarray], kind: str, column: slice
                                      ) -> None:
    stamps, rows = samples(200.0)
    signal, faults = tracked(stamps, change(rows.copy(), column))
    t = 1e-2 * signal.number - 1e-9 * START
    assert not ((t > 3.02) & (t < 4.45)).any()
    assert ((t > 2.0) & (t < 2.9)).sum() > 85
    assert ((t > 4.6) & (t < 5.0)).sum() > 35
    assert kind in {fault.kind for fault in faults}
    assert min(f.first for f in faults if f.kind == kind) < START + 3_100_000_000


def test_an_arm_at_rest_without_noise_is_not_frozen() -> None:
    stamps = samples(200.0)[0]
    x = np.clip(1e-9 * (stamps - START) / 2.0, 0.0, 1.0)[:, None]
    rows = x**3 * (10.0 - 15.0 * x + 6.0 * x * x) * np.ones(3)
    signal, faults = tracked(stamps, rows)
    assert not faults
    assert len(signal.number) > 740


@pytest.mark.parametrize("change", ["none", "frozen", "still", "jitter", "slow", "back"])
def test_the_same_whatever_the_blocks(change: str) -> None:
    stamps, rows = samples(30.0 if change == "slow" else 200.0)
    if change == "frozen":
        rows = frozen(rows, slice(0, 1))
    elif change == "still":
        rows[700:1100] = rows[700]
        rows[700:1100, 1] += np.repeat([0.0, 1e-5], 200)
    elif change == "jitter":
        stamps = jittery(stamps)
    elif change == "back":
        stamps[900:] -= 10**9 // 4
    answers = [tracked(stamps, rows, block) for block in (1, 7, 100, 10**6)]
    for signal, faults in answers[1:]:
        for a, b in zip(signal, answers[0][0], strict=True):
            np.testing.assert_allclose(a, b, rtol=0.0, atol=1e-10)
        assert sorted(faults) == sorted(answers[0][1])
