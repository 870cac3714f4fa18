# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Bins of wrench samples against plain loops."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from synthetic import START

from inertial_id_ros.signals.bins import BIN_NS, bin_samples
from inertial_id_ros.signals.ring_buffer import SampleRing


def _ring(stamps: list[int], rng: np.random.Generator) -> SampleRing:
    ring = SampleRing(6, 1000)
    for stamp in stamps:
        ring.append(stamp, rng.normal(size=6))
    return ring


@settings(max_examples=50, deadline=None)
@given(st.sets(st.integers(0, 400_000_000), min_size=1, max_size=60))
def test_each_bin_is_the_mean_of_the_samples_of_its_ten_milliseconds(offsets: set[int]) -> None:
    ring = _ring([START + k for k in sorted(offsets)], np.random.default_rng(1))
    first = START // BIN_NS
    bins = bin_samples(ring, first, first + 100)
    stamps = ring.stamps.tolist()
    assert bins.number.tolist() == sorted({s // BIN_NS for s in stamps})
    for number, samples, stamp, wrench in zip(*bins, strict=True):
        members = [k for k, s in enumerate(stamps) if number * BIN_NS <= s < (number + 1) * BIN_NS]
        assert samples == len(members)
        np.testing.assert_allclose(wrench, ring.rows[members].mean(axis=0), atol=1e-12)
        exact = sum(stamps[k] for k in members) / len(members)
        assert abs(int(stamp) - round(exact)) <= 256  # a float has no finer grid at 2026


def test_bins_are_tied_to_the_clock_and_not_to_the_first_sample() -> None:
    rng = np.random.default_rng(1)
    bins = bin_samples(_ring([3 * BIN_NS - 1, 3 * BIN_NS, 4 * BIN_NS - 1], rng), 0, 10)
    assert bins.number.tolist() == [2, 3] and bins.samples.tolist() == [1, 2]


def test_only_the_bins_that_were_asked_for_come_and_none_twice() -> None:
    ring = _ring([k * BIN_NS + 1 for k in range(20)], np.random.default_rng(1))
    numbers = np.concatenate([bin_samples(ring, a, b).number for a, b in ((0, 7), (7, 8), (8, 20))])
    assert numbers.tolist() == list(range(20))


def test_no_samples_give_no_bins() -> None:
    bins = bin_samples(SampleRing(6, 10), 0, 10)
    assert len(bins.number) == 0 and bins.mean.shape == (0, 6)
