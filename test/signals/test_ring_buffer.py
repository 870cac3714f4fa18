# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Sample rings against a sorted list, for any order of arrival."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inertial_id_ros.signals.ring_buffer import (
    CLOCK_JUMP_NS,
    HELD,
    JUMPED,
    LATE,
    REORDERED,
    REPEATED,
    STORED,
    SampleRing,
)

_MS = 1_000_000


def _ring(stamps: list[int], capacity: int = 100) -> SampleRing:
    ring = SampleRing(1, capacity)
    for stamp in stamps:
        ring.append(stamp, [float(stamp)])
    return ring


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(1, 900), max_size=120), st.integers(1, 40))
def test_a_ring_holds_the_newest_samples_sorted_and_each_stamp_once(
        milliseconds: list[int], capacity: int) -> None:
    ring, model = SampleRing(2, capacity), []
    for ms in milliseconds:
        stamp = ms * _MS
        result = ring.append(stamp, [float(stamp), -float(stamp)])
        expected = (REPEATED if stamp in model else
                    STORED if not model or stamp > model[-1] else REORDERED)
        model = sorted({*model, stamp})[-capacity:]
        assert result == expected
        assert ring.stamps.tolist() == model
    np.testing.assert_array_equal(ring.rows[:, 0], np.array(model, dtype=float))
    np.testing.assert_array_equal(ring.rows[:, 1], -np.array(model, dtype=float))
    assert len(ring) == len(model)


def test_a_long_stream_never_grows_and_keeps_its_newest_rows() -> None:
    ring = _ring([k * _MS for k in range(1, 1001)], capacity=64)
    np.testing.assert_array_equal(ring.stamps, np.arange(937, 1001) * _MS)
    np.testing.assert_array_equal(ring.rows[:, 0], ring.stamps)


def test_a_sample_for_a_time_already_used_is_late() -> None:
    ring = _ring([10 * _MS, 20 * _MS, 30 * _MS])
    ring.closed_until = 20 * _MS
    assert ring.append(15 * _MS, [0.0]) == LATE
    assert ring.append(20 * _MS, [0.0]) == LATE
    assert ring.append(25 * _MS, [0.0]) == REORDERED
    assert ring.append(30 * _MS, [0.0]) == REPEATED
    assert ring.stamps.tolist() == [k * _MS for k in (10, 20, 25, 30)]


def test_a_sample_that_hundreds_have_overtaken_is_late() -> None:
    ring = _ring([k * _MS for k in range(2, 602)], capacity=1000)
    assert ring.append(_MS, [0.0]) == LATE
    assert len(ring) == 600


def test_a_clock_that_jumps_back_starts_the_ring_anew() -> None:
    future = 10**12 + 2 * CLOCK_JUMP_NS
    ring = _ring([future, future + _MS])
    ring.closed_until = future
    assert ring.append(10**12 - 2 * _MS, [1.0]) == HELD
    assert ring.append(10**12 - _MS, [1.0]) == JUMPED
    assert ring.append(10**12, [1.0]) == STORED
    assert ring.stamps.tolist() == [10**12 - 2 * _MS, 10**12 - _MS, 10**12]
    assert ring.strays == 0


@pytest.mark.parametrize("off", [-10**10, 2 * CLOCK_JUMP_NS, 10**14])
def test_one_stamp_far_off_is_dropped_and_nothing_is_lost(off: int) -> None:
    ring = _ring([10**12, 10**12 + _MS])
    assert ring.append(10**12 + 2 * _MS + off, [9.0]) == HELD
    assert ring.append(10**12 + 2 * _MS, [2.0]) == STORED
    assert ring.stamps.tolist() == [10**12, 10**12 + _MS, 10**12 + 2 * _MS]
    assert ring.rows[-1, 0] == 2.0 and ring.strays == 1


def test_a_copy_of_a_stray_does_not_confirm_it() -> None:
    ring = _ring([10**12])
    assert ring.append(10**14, [9.0]) == HELD
    assert ring.append(10**14, [9.0]) == REPEATED
    assert ring.append(10**12 + _MS, [1.0]) == STORED
    assert ring.stamps.tolist() == [10**12, 10**12 + _MS] and ring.strays == 1


def test_two_clocks_on_one_topic_leave_the_first() -> None:
    ring = _ring([10**12])
    for k in range(1, 20):
        ring.append(10**15 + k * _MS, [0.0])
        assert ring.append(10**12 + k * _MS, [0.0]) == STORED
    assert len(ring) == 20 and ring.strays == 19


def test_after_a_pause_the_stream_goes_on() -> None:
    ring = _ring([10**12])
    ring.closed_until = 10**12
    later = 10**12 + 50 * CLOCK_JUMP_NS
    assert ring.append(later, [1.0]) == HELD
    assert ring.append(later + _MS, [2.0]) == STORED
    assert ring.stamps.tolist() == [10**12, later, later + _MS]


def test_a_topic_slower_than_the_jump_is_one_sample_behind() -> None:
    ring = _ring([10**12 + 2 * k * CLOCK_JUMP_NS for k in range(6)])
    assert len(ring) == 5 and ring.held is not None and ring.strays == 0


def test_a_step_back_of_less_than_the_jump_is_an_overtaken_sample() -> None:
    ring = _ring([5 * CLOCK_JUMP_NS])
    assert ring.append(4 * CLOCK_JUMP_NS, [0.0]) == REORDERED
    assert len(ring) == 2


def test_between_takes_the_first_stamp_and_leaves_the_end() -> None:
    ring = _ring([10, 20, 30, 40])
    assert ring.stamps[ring.between(20, 40)].tolist() == [20, 30]
    assert ring.stamps[ring.between(41, 99)].tolist() == []


def test_stamps_of_2026_keep_their_nanoseconds() -> None:
    start = 1_785_000_000_000_000_001
    assert _ring([start, start + 1]).stamps.tolist() == [start, start + 1]


def test_a_ring_of_another_size_keeps_its_newest_rows() -> None:
    ring = SampleRing(1, 100)
    for k in range(150):
        ring.append(k, [float(k)])
    ring.resize(10)
    assert ring.stamps.tolist() == list(range(140, 150)) == ring.rows[:, 0].astype(int).tolist()
    ring.resize(50)
    for k in range(150, 300):
        ring.append(k, [float(k)])
    assert ring.stamps.tolist() == list(range(250, 300)) and ring.newest == 299


def test_of_more_rows_than_a_ring_holds_the_newest_stay() -> None:
    ring = SampleRing(1, 10)
    stamps = np.arange(1, 31)
    ring.extend(stamps, stamps[:, None].astype(float))
    assert ring.stamps.tolist() == list(range(21, 31))
