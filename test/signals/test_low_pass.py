# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The two-sided filter: exact linearity, any chunks, gaps, and its noise gain."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inertial_id_ros.signals.low_pass import FilteredRows, ZeroPhaseHannFilter

START = 178_500_000_000  # bin number of July 2026


def _push(filtering: ZeroPhaseHannFilter, number: np.ndarray, samples: np.ndarray,
          columns: np.ndarray, cuts: list[int]) -> FilteredRows:
    edges = [0, *sorted(cuts), len(number)]
    parts = [filtering.push(number[a:b], samples[a:b], columns[a:b])
             for a, b in zip(edges[:-1], edges[1:], strict=True)]
    return _joined([*parts, filtering.last_rows()])


def _joined(parts: list[FilteredRows]) -> FilteredRows:
    return FilteredRows(*(np.concatenate(p) for p in zip(*parts, strict=True)))


def _stream(rng: np.random.Generator, bins: int, keep: float = 1.0, width: int = 3,
            ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    number = START + np.flatnonzero(rng.random(bins) < keep)
    return number, rng.integers(1, 9, len(number)), rng.normal(size=(len(number), width))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([0.04, 0.2, 0.4, 1.0]), st.floats(0.3, 1.0))
def test_a_wrench_linear_in_the_parameters_stays_so_exactly(
        seed: int, length: float, keep: float) -> None:
    rng = np.random.default_rng(seed)
    number, samples, a = _stream(rng, 400, keep, width=60)
    phi = rng.normal(size=10)
    wrench = a.reshape(-1, 6, 10) @ phi
    filtering = ZeroPhaseHannFilter(length, 66)
    rows = filtering.push(number, samples, np.concatenate([a, wrench], axis=1))
    assert len(rows.number)
    filtered = rows.columns[:, :60].reshape(-1, 6, 10) @ phi
    np.testing.assert_allclose(rows.columns[:, 60:], filtered, atol=1e-12)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.lists(st.integers(0, 200), max_size=12), st.floats(0.4, 1.0))
def test_rows_do_not_depend_on_how_the_stream_is_cut(
        seed: int, cuts: list[int], keep: float) -> None:
    rng = np.random.default_rng(seed)
    stream = _stream(rng, 300, keep)
    cuts = [c for c in cuts if c <= len(stream[0])]
    whole = _push(ZeroPhaseHannFilter(0.4, 3, rates=2), *stream, [])
    pieces = _push(ZeroPhaseHannFilter(0.4, 3, rates=2), *stream, cuts)
    np.testing.assert_array_equal(pieces.number, whole.number)
    np.testing.assert_array_equal(pieces.samples, whole.samples)
    np.testing.assert_allclose(pieces.columns, whole.columns, atol=1e-12)
    np.testing.assert_allclose(pieces.rates, whole.rates, atol=1e-10)


def test_each_row_is_the_hann_mean_of_the_samples_around_it(rng: np.random.Generator) -> None:
    number, samples, columns = _stream(rng, 200, 0.9)
    filtering = ZeroPhaseHannFilter(0.4, 3)
    rows = filtering.push(number, samples, columns)
    rows = _joined([rows, filtering.last_rows()])
    assert (rows.number < number[0] + 20).any() and (rows.number > number[-1] - 20).any()
    for k, middle in enumerate(rows.number):
        reach = min(20, middle - number[0], number[-1] - middle)  # narrower at the ends
        away = (number - middle) / (reach + 1)
        hann = np.where(np.abs(away) < 1.0, 0.5 + 0.5 * np.cos(np.pi * away), 0.0) * samples
        np.testing.assert_allclose(rows.columns[k], hann @ columns / hann.sum(), atol=1e-12)


def test_every_sample_is_counted_once(rng: np.random.Generator) -> None:
    number, samples, columns = _stream(rng, 1000)
    rows = ZeroPhaseHannFilter(0.4, 3).push(number, samples, columns)
    low, high = rows.number[0] - 2, rows.number[-1] + 2
    inside = (number >= low) & (number <= high)
    assert rows.samples.sum() == samples[inside].sum()
    assert np.diff(rows.number).tolist() == [5] * (len(rows.number) - 1)


def test_the_middles_of_rows_are_tied_to_the_clock() -> None:
    numbers = [ZeroPhaseHannFilter(0.4, 1).push(np.arange(START + k, START + 200), np.ones(200 - k),
                                                np.ones((200 - k, 1))).number for k in range(7)]
    assert all(n[-1] == numbers[0][-1] for n in numbers)
    assert all(n[0] - n[0] % 5 == n[0] for n in numbers)


def test_a_row_waits_for_the_bin_after_the_last_that_its_kernel_reaches() -> None:
    """That bin gives the last one of the kernel its rate."""
    number = np.arange(START, START + 200)
    rows = ZeroPhaseHannFilter(0.4, 1).push(number, np.ones(200), np.ones((200, 1)))
    assert rows.number[-1] + 21 <= number[-1] < rows.number[-1] + 26


def test_rows_go_on_to_half_a_kernel_from_both_ends_of_a_segment() -> None:
    number = np.arange(START, START + 200)
    filtering = ZeroPhaseHannFilter(0.4, 1)
    rows = _push(filtering, number, np.ones(200), np.ones((200, 1)), [])
    assert number[0] + 10 <= rows.number[0] < number[0] + 15
    assert number[-1] - 15 < rows.number[-1] <= number[-1] - 10
    assert (np.diff(rows.number) == 5).all()
    assert len(filtering.for_next_segment().last_rows().number) == 0


def test_a_segment_shorter_than_half_a_kernel_has_no_rows() -> None:
    number = np.arange(START, START + 9)
    rows = _push(ZeroPhaseHannFilter(0.4, 1), number, np.ones(9), np.ones((9, 1)), [])
    assert len(rows.number) == 0


def test_kernels_at_the_ends_of_a_segment_cancel_fast_noise_as_well() -> None:
    """Cut off instead of narrowed, they would let through ten times as much."""
    number = np.arange(START, START + 200)
    fast = np.where(np.arange(200) % 2, 1.0, -1.0)[:, None]
    rows = _push(ZeroPhaseHannFilter(0.4, 1), number, np.ones(200), fast, [])
    assert np.abs(rows.columns).max() < 2e-3


def test_rates_are_the_same_means_of_the_time_derivative() -> None:
    number = np.arange(START, START + 300)
    t = (number - START)[:, None] * 0.01
    both = np.concatenate([np.sin(3.0 * t), 3.0 * np.cos(3.0 * t)], axis=1)
    rows = _push(ZeroPhaseHannFilter(0.4, 2, rates=1), number, np.full(300, 5), both, [])
    inner = (rows.number > START + 25) & (rows.number < START + 275)
    np.testing.assert_allclose(rows.rates[inner, 0], rows.columns[inner, 1], atol=1e-3)
    assert np.abs(rows.columns[:, 1]).max() > 2.5


def test_a_line_passes_without_lag() -> None:
    number = np.arange(START, START + 300)
    line = (number - START)[:, None] * 0.1
    rows = ZeroPhaseHannFilter(0.4, 1).push(number, np.full(300, 5), line)
    np.testing.assert_allclose(rows.columns[:, 0], (rows.number - START) * 0.1, atol=1e-9)


def test_a_hole_in_the_data_leaves_out_the_rows_in_it() -> None:
    number = np.r_[START:START + 100, START + 140:START + 240]
    rows = ZeroPhaseHannFilter(0.4, 1).push(number, np.ones(200), np.ones((200, 1)))
    in_hole = (rows.number > START + 105) & (rows.number < START + 135)
    assert not in_hole.any()
    assert (rows.number < START + 95).any() and (rows.number > START + 145).any()
    np.testing.assert_allclose(rows.columns, 1.0)


@pytest.mark.parametrize("every", [1, 2, 3, 5, 8])
def test_a_slow_wrench_topic_has_rows_as_well(every: int) -> None:
    number = np.arange(START, START + 400, every)
    n = len(number)
    rows = ZeroPhaseHannFilter(0.4, 1).push(number, np.ones(n), (number - START)[:, None] * 0.1)
    assert rows.samples.sum() >= 0.7 * n
    np.testing.assert_allclose(rows.columns[:, 0], (rows.number - START) * 0.1, atol=0.1)


def test_rows_never_mix_samples_from_before_and_after_a_restart() -> None:
    filtering = ZeroPhaseHannFilter(0.4, 1)
    first = filtering.push(np.arange(START, START + 90), np.ones(90), np.zeros((90, 1)))
    filtering = filtering.for_next_segment()
    second = filtering.push(np.arange(START + 90, START + 200), np.ones(110), np.ones((110, 1)))
    assert len(first.columns) and (first.columns == 0.0).all()
    np.testing.assert_allclose(second.columns, 1.0, atol=1e-12)
    assert second.number[0] - 10 >= START + 90


def test_nothing_in_nothing_out() -> None:
    filtering = ZeroPhaseHannFilter(0.4, 2)
    rows = filtering.push(np.empty(0, np.int64), np.empty(0), np.empty((0, 2)))
    assert len(rows.number) == 0 and rows.columns.shape == (0, 2)


@pytest.mark.parametrize("rows", [1, 4, 12])
@pytest.mark.parametrize("every", [1, 5])
def test_block_gain_is_what_white_noise_shows(rows: int, every: int) -> None:
    rng = np.random.default_rng(5)
    trials, per_bin = 4000, 4 if every == 1 else 1
    filtering = ZeroPhaseHannFilter(0.4, trials)
    number = np.arange(START, START + 45 + 5 * rows, every)
    noise = rng.normal(size=(len(number), trials)) / np.sqrt(per_bin)
    out = filtering.push(number, np.full(len(number), per_bin), noise)
    inner = np.flatnonzero(out.number >= START + 20)[:rows]  # those with the whole kernel
    mean, stands_for = out.columns[inner].mean(axis=0), out.samples[inner].sum()
    assert len(inner) == rows
    assert mean.var() * stands_for == pytest.approx(filtering.block_gain(rows), rel=0.1)


def test_long_blocks_have_a_gain_near_one() -> None:
    filtering = ZeroPhaseHannFilter(0.4, 1)
    gains = [filtering.block_gain(n) for n in (1, 10, 100, 1000)]
    assert (np.diff(gains) > 0.0).all() and gains[-1] == pytest.approx(1.0, abs=0.01)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 300), st.floats(0.4, 1.0))
def test_a_preview_is_what_the_end_of_the_data_would_give_and_changes_nothing(
        seed: int, cut: int, keep: float) -> None:
    number, samples, columns = _stream(np.random.default_rng(seed), 300, keep)
    before, after = ((number[p], samples[p], columns[p]) for p in (slice(cut), slice(cut, None)))
    seen, other = ZeroPhaseHannFilter(0.4, 3, rates=2), ZeroPhaseHannFilter(0.4, 3, rates=2)
    seen.push(*before)
    other.push(*before)
    previews = seen.preview(*after), seen.preview(*after, whole=True)
    pushed = other.push(*after)
    for preview, rows in zip(previews, (_joined([pushed, other.last_rows()]), pushed), strict=True):
        np.testing.assert_array_equal(preview.number, rows.number)
        np.testing.assert_array_equal(preview.samples, rows.samples)
        np.testing.assert_allclose(preview.columns, rows.columns, atol=1e-12)
        np.testing.assert_allclose(preview.rates, rows.rates, atol=1e-10)
    later = seen.push(*after)
    np.testing.assert_array_equal(later.number, pushed.number)
    np.testing.assert_array_equal(later.columns, pushed.columns)
