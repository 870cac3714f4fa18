# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Samples in order, whatever arrives; a signal in bins: its derivatives against closed forms, and
faults in it."""

import numpy as np
import pytest

from inertial_id_ros.motion.motion import BIN_NS
from inertial_id_ros.motion.track import Fault, Signal, Track, joined_signals
from inertial_id_ros.samples.ring import JUMP_NS, REORDER_NS, Ring, evened, spacing_of
from inertial_id_ros.samples.wrenches import CHUNK, Wrenches

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
        faults += track.faults.new
        track.faults.new = []
    parts.append(track.advance(finished=True))
    return joined_signals(parts), sorted(faults + track.faults.new, key=lambda f: f.known)


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


def test_an_arm_at_rest_without_noise_is_not_frozen() -> None:
    stamps = samples(200.0)[0]
    x = np.clip(1e-9 * (stamps - START) / 2.0, 0.0, 1.0)[:, None]
    rows = x**3 * (10.0 - 15.0 * x + 6.0 * x * x) * np.ones(3)
    signal, faults = tracked(stamps, rows)
    assert not faults
    assert len(signal.number) > 740


@pytest.mark.parametrize("change", ["still", "jitter", "slow"])
def test_the_same_whatever_the_blocks(change: str) -> None:
    stamps, rows = samples(30.0 if change == "slow" else 200.0)
    if change == "still":
        rows[700:1100] = rows[700]
        rows[700:1100, 1] += np.repeat([0.0, 1e-5], 200)
    elif change == "jitter":
        stamps = jittery(stamps)
    once, faults = tracked(stamps, rows)
    for block in (1, 7, 100):
        signal, others = tracked(stamps, rows, block)
        for a, b in zip(signal, once, strict=True):
            np.testing.assert_allclose(a, b, rtol=0.0, atol=1e-10)
        assert sorted(others) == sorted(faults)


STEP = 2_000_000


def filled(stamps: np.ndarray) -> Ring:
    """A ring of samples that tell their own number."""
    ring = Ring(1)
    ring.push(stamps, np.arange(float(len(stamps)))[:, None])
    return ring


def test_copies_and_late_samples_are_dropped() -> None:
    late = START + 500 * STEP - REORDER_NS - 3 * STEP + 1
    ring = filled(np.r_[START + STEP * np.arange(500), START + 499 * STEP, late])
    assert len(ring) == 500
    assert ring.counts == {"repeated": 1, "late": 1}


@pytest.mark.parametrize(("by", "kept"), [(30, 110), (-30, 10)])
def test_a_clock_that_jumps_is_followed_after_ten_samples(by: int, kept: int) -> None:
    stamps = START + STEP * np.arange(110)
    stamps[100:] += by * JUMP_NS
    assert len(filled(stamps[:-1])) == 100 and len(filled(stamps)) == kept


def test_spacing_of_bursts_pauses_and_lost_samples() -> None:
    even = START + STEP * np.arange(1000)
    assert spacing_of(even) == 0.002
    lost = np.delete(even, np.random.default_rng(0).integers(0, 1000, 100))
    np.testing.assert_array_equal(evened(lost, 500), lost[500:])
    bursts = np.sort(np.concatenate([even[::5] + 100_000 * k for k in range(5)]))
    assert spacing_of(bursts) == pytest.approx(0.0096, rel=0.01)
    np.testing.assert_allclose(np.diff(evened(bursts, 500)), STEP, rtol=0.01)


def readings(n: int) -> np.ndarray:
    """Noise of a wrench."""
    return np.random.default_rng(0).normal(0.0, 0.1, (n, 6))


def taken(rows: np.ndarray, limit: float = 0.0, step: int = STEP) -> tuple[int, Wrenches]:
    """How many of some readings are taken."""
    wrenches = Wrenches(np.full(6, 0.1), np.full(6, limit))
    wrenches.ring.push(START + step * np.arange(len(rows)), rows)
    return sum(len(wrenches.take(finished)[0]) for finished in (False, True)), wrenches


def test_readings_that_stand_still_are_noticed() -> None:
    rows = readings(640)
    rows[160:320] = rows[160]
    rows[480:560] = 0.0
    count, wrenches = taken(rows)
    assert count == 560  # one value may be that of an arm at rest
    first, last = np.array(wrenches.stuck).T
    np.testing.assert_array_equal(first, START + STEP * np.arange(160, 320, CHUNK))
    np.testing.assert_array_equal(last, first + (CHUNK - 1) * STEP)


def test_a_dead_channel_is_named() -> None:
    rows = np.random.default_rng(2).normal(size=(400, 6)) * 5.0
    assert not dead(rows)
    rows[:, 4] = 0.3
    assert dead(rows) == ["channel_dead.ty"]
    rows[:, 3:] = 0.3  # at rest in steps of the sensor nothing changes
    assert not dead(rows)


def dead(rows: np.ndarray) -> list[str]:
    return [name for name, _ in taken(rows, step=10 * STEP)[1].findings()]


def test_what_is_no_reading_is_left_out() -> None:
    rows = readings(320)
    rows[100, 2], rows[200, 1] = np.nan, 150.0
    count, wrenches = taken(rows, 150.0)
    assert (count, wrenches.ring.counts["invalid"], wrenches.counts["saturated"]) == (318, 1, 1)
    assert [name for name, _ in wrenches.findings()] == ["samples_saturated.wrench"]


@pytest.mark.parametrize("seed", range(3))
def test_times_of_readings_never_go_back(seed: int) -> None:
    rng, n, out = np.random.default_rng(seed), 2000, []
    late = START + STEP * np.arange(n) + np.round(1e9 * rng.exponential(0.004, n)).astype(np.int64)
    stamps, wrenches = np.maximum.accumulate(late) + np.arange(n), Wrenches(
        np.full(6, 0.1), np.zeros(6))
    for k in range(0, n, 50):
        wrenches.ring.push(stamps[k:k + 50], rng.normal(size=(50, 6)))
        out.append(wrenches.take(k + 50 == n)[0])
    assert len(np.concatenate(out)) == n and (np.diff(np.concatenate(out)) >= 0).all()


def test_after_two_publishers_nothing_of_the_other_is_left() -> None:
    for begin in range(20 * CHUNK, 21 * CHUNK):  # readings that two published
        stamps, rows = START + STEP * np.arange(100 * CHUNK), readings(100 * CHUNK) + 20.0
        other = slice(1, begin, 2)
        stamps[other] -= STEP * 3 // 4
        rows[other] = 0.0
        wrenches = Wrenches(np.full(6, 0.1), np.zeros(6))
        wrenches.ring.push(stamps, rows)
        got, values = wrenches.take(True)
        assert values.min() > 10.0 and len(got) > 75 * CHUNK
        assert np.isin(got, stamps).all()  # the times are not evened with those of the other
