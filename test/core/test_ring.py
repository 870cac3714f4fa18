# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Samples in order: whatever arrives, and in blocks of whatever size."""

from __future__ import annotations

import numpy as np
import pytest

from inertial_id_ros.samples.ring import CONFIRMED, JUMP_NS, REORDER_NS, Ring, spacing_of
from inertial_id_ros.samples.wrenches import CHUNK, Wrenches

START, STEP = 10**15, 2_000_000


def filled(stamps: np.ndarray, block: int = 10**6) -> Ring:
    """A ring of samples that tell their own number."""
    ring, rows = Ring(1), np.arange(float(len(stamps)))[:, None]
    for k in range(0, len(stamps), block):
        ring.push(stamps[k:k + block], rows[k:k + block])
    return ring


@pytest.mark.parametrize("block", [1, 7, 10**6])
def test_the_same_whatever_the_blocks(block: int) -> None:
    rng = np.random.default_rng(0)
    stamps = START + STEP * np.arange(3000)
    stamps += rng.integers(0, 8 * STEP, 3000) * (rng.random(3000) < 0.1)  # out of order, and late
    stamps[rng.integers(0, 3000, 20)] += rng.choice([-1, 1], 20) * 100 * JUMP_NS
    stamps[2000:] -= 30 * JUMP_NS
    whole, other = filled(stamps), filled(stamps, block)
    np.testing.assert_array_equal(whole.stamps, other.stamps)
    np.testing.assert_array_equal(whole.rows, other.rows)
    assert whole.counts == other.counts
    assert (np.diff(whole.stamps) > 0).all()
    assert whole.counts["restarted"] == 1
    assert whole.counts["stray"] > 10


def test_copies_and_late_samples_are_dropped() -> None:
    late = START + 500 * STEP - REORDER_NS - 3 * STEP + 1
    ring = filled(np.r_[START + STEP * np.arange(500), START + 499 * STEP, late])
    assert len(ring) == 500
    assert ring.counts == {"repeated": 1, "late": 1}
    assert ring.late[-1][0] == late


@pytest.mark.parametrize(("by", "kept"), [(30, 200), (-30, 100)])
def test_a_clock_that_jumps_is_followed(by: int, kept: int) -> None:
    stamps = START + STEP * np.arange(200)
    stamps[100:] += by * JUMP_NS
    ring = filled(stamps[:100 + CONFIRMED - 1])
    assert len(ring) == 100
    ring = filled(stamps)
    assert len(ring) == kept
    assert ring.counts["restarted"] == (by < 0)


def test_spacing_of_bursts_pauses_and_lost_samples() -> None:
    even = START + STEP * np.arange(1000)
    assert spacing_of(even) == (0.002, 0.002, True)
    lost = np.delete(even, np.random.default_rng(0).integers(0, 1000, 100))
    assert spacing_of(lost).even
    bursts = np.sort(np.concatenate([even[::5] + 100_000 * k for k in range(5)]))
    spacing = spacing_of(bursts)
    assert not spacing.even
    assert spacing.period == pytest.approx(0.002, rel=0.01)
    assert spacing.gap == pytest.approx(0.0096, rel=0.01)


def readings(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Stamps and noise of a wrench."""
    return START + STEP * np.arange(n), np.random.default_rng(seed).normal(0.0, 0.1, (n, 6))


def test_what_is_no_reading_is_left_out() -> None:
    stamps, rows = readings(320)
    rows[100, 2], rows[200, 1] = np.nan, 150.0
    wrenches = Wrenches(np.full(6, 0.1), np.full(6, 150.0))
    wrenches.push(stamps, rows)
    taken = [wrenches.take(), wrenches.take(finished=True)]
    assert sum(len(part[0]) for part in taken) == 318
    assert (wrenches.counts["invalid"], wrenches.counts["saturated"]) == (1, 1)
    assert not wrenches.are_of_other_units


@pytest.mark.parametrize("other", [0.0, 5.0])
def test_two_publishers_are_noticed(other: float) -> None:
    stamps, rows = readings(32 * CHUNK)
    rows += 20.0
    rows[1::2] = other
    wrenches = Wrenches(np.full(6, 0.1), np.zeros(6))
    wrenches.push(stamps, rows)
    assert not len(wrenches.take()[0])
    assert wrenches.counts["mixed"] > 20 * CHUNK


def test_readings_that_stand_still_are_noticed() -> None:
    stamps, rows = readings(640)
    rows[160:320] = rows[160]
    rows[480:560] = 0.0
    wrenches = Wrenches(np.full(6, 0.1), np.zeros(6))
    wrenches.push(stamps, rows)
    assert len(wrenches.take(finished=True)[0]) == 560  # one value may be that of an arm at rest
    assert wrenches.stuck == [(stamps[160], stamps[319])]
