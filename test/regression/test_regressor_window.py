# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The rolling buffer against dense least squares on exactly the rows of its window."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inertial_id_ros.regression.regressor_window import (
    DYNAMIC,
    FULL,
    STATIC,
    RegressorWindow,
    Rows,
    WindowContent,
)
from inertial_id_ros.regression.row_layout import NUISANCE_STATES, STORED, channel_columns

START = 178_500_000_000  # bin number of July 2026
STEP = 5  # bins between rows


def _used(aligned: bool) -> np.ndarray:
    """Which stored columns (6, 41) each channel uses."""
    used = np.zeros((6, STORED), dtype=bool)
    for channel in range(6):
        used[channel, channel_columns(
            channel >= 3, NUISANCE_STATES if aligned else None)[channel % 3]] = True
    return used


def _rows(rng: np.random.Generator, number: np.ndarray, scale: float = 1.0) -> Rows:
    n = len(number)
    full, static = rng.normal(size=(2, n, 6, STORED)) * scale * _used(aligned=True)
    return Rows(number, rng.integers(1, 50, n), full, static, rng.random(n))


def _part(rows: Rows, keep: np.ndarray | slice) -> Rows:
    return Rows(*(field[keep] for field in rows))


def _joined(parts: list[Rows]) -> Rows:
    return Rows(*(np.concatenate(f) for f in zip(*parts, strict=True)))


def _in_window(rows: Rows, window: float, slice_length: float) -> Rows:
    """Rows of the last slices, as many as make up the window."""
    per_slice, slices = round(slice_length * 100), int(np.ceil(window / slice_length - 1e-9))
    number = rows.number // per_slice
    return _part(rows, number > number[-1] - slices)


def _assert_equal_to_dense(content: WindowContent, rows: Rows, slice_length: float = 0.25) -> None:
    root = np.sqrt(rows.samples)[:, None]
    for model, matrix, weight in ((FULL, rows.full, 1.0), (DYNAMIC, rows.full, rows.weight),
                                  (STATIC, rows.static, 1.0 - rows.weight)):
        used = _used(aligned=model == FULL)
        for channel in range(6):
            dense = matrix[:, channel] * root * np.reshape(weight, (-1, 1)) * used[channel]
            factor = content.factors[model][channel]
            states = NUISANCE_STATES if model == FULL else None
            own = channel_columns(channel >= 3, states)[channel % 3]
            assert not np.tril(factor[:, own], -1).any()
            scale = np.linalg.norm(dense, axis=0)
            scale[scale == 0.0] = 1.0
            np.testing.assert_allclose(factor.T @ factor / np.outer(scale, scale),
                                       dense.T @ dense / np.outer(scale, scale), atol=1e-9)
    assert content.samples == rows.samples.sum()
    assert (content.first, content.last) == (rows.number[0], rows.number[-1])
    assert content.rows == len(rows.number)
    _assert_slices(content, rows, slice_length)


def _assert_slices(content: WindowContent, rows: Rows, slice_length: float) -> None:
    """Sums over slices with rows, or over groups of them where there are more than 64."""
    bins = round(slice_length * 100)
    slices = np.unique(rows.number // bins)
    size = -(-len(slices) // 64)
    found = content.slices
    assert content.slice_length == pytest.approx(size * slice_length)
    assert len(found.sums) == len(found.rows) == -(-len(slices) // size) <= 64
    for k, (sums, count, samples, number) in enumerate(zip(*found, strict=True)):
        group = slices[k * size:(k + 1) * size]
        inside = np.isin(rows.number // bins, group)
        assert count == inside.sum() and samples == rows.samples[inside].sum()
        assert number * size == pytest.approx(group.mean())
        weighted = rows.samples[inside][:, None, None] * rows.full[inside]
        np.testing.assert_allclose(sums, weighted.sum(axis=0), rtol=1e-9,
                                   atol=1e-9 * np.abs(weighted).sum())


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), window=st.sampled_from([0.5, 1.0, 1.6, 3.0]),
       slice_length=st.sampled_from([0.05, 0.1, 0.25, 0.7]),
       gaps=st.lists(st.integers(0, 500), max_size=4), count=st.integers(1, 150))
def test_the_factors_are_those_of_the_rows_in_the_window(
        seed: int, window: float, slice_length: float, gaps: list[int], count: int) -> None:
    rng = np.random.default_rng(seed)
    number = START + STEP * np.arange(count)
    for gap in gaps:
        number[rng.integers(count):] += gap
    rows = _rows(rng, number)
    buffer = RegressorWindow(window, slice_length, blend=True)
    cuts = np.sort(rng.integers(0, count + 1, rng.integers(0, 8)))
    for low, high in zip([0, *cuts], [*cuts, count], strict=True):
        buffer.add(_part(rows, slice(low, high)))
        if buffer and rng.random() < 0.3:
            buffer.content()  # reading must not change anything
    _assert_equal_to_dense(buffer.content(), _in_window(rows, window, slice_length),
                           slice_length)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), slices=st.sampled_from([2, 4, 6, 8]),
       ahead=st.lists(st.integers(0, 60), min_size=1, max_size=12))
def test_forgetting_ahead_of_the_rows_counts_none_twice(
        seed: int, slices: int, ahead: list[int]) -> None:
    """The window may end in bins whose rows are still to come."""
    rng, bins = np.random.default_rng(seed), 10
    buffer = RegressorWindow(0.1 * slices, 0.1, blend=True)
    left = _rows(rng, np.empty(0, dtype=int))
    for k, further in enumerate(ahead):
        new = _rows(rng, START + STEP * np.arange(15 * k, 15 * (k + 1)))
        buffer.add(new)
        end = int(new.number[-1]) + further
        buffer.expire(end)
        left = _joined([left, new])
        left = _part(left, left.number // bins > end // bins - slices)
        assert bool(buffer) is bool(len(left.number))
        if buffer:
            _assert_equal_to_dense(buffer.content(), left, 0.1)


@pytest.mark.slow
def test_forgetting_stays_exact_after_hundreds_of_windows(rng: np.random.Generator) -> None:
    buffer = RegressorWindow(1.0, 0.1, blend=True)
    kept = []
    for k in range(400):  # 200 s through a window of 1 s
        kept.append(_rows(rng, START + STEP * np.arange(10 * k, 10 * k + 10)))
        buffer.add(kept[-1])
        if k % 50 == 49:
            _assert_equal_to_dense(buffer.content(), _in_window(_joined(kept), 1.0, 0.1), 0.1)


def test_huge_rows_leave_no_trace_once_forgotten(rng: np.random.Generator) -> None:
    buffer = RegressorWindow(1.0, 0.25, blend=True)
    buffer.add(_rows(rng, START + STEP * np.arange(40), scale=1e9))
    after = _rows(rng, START + STEP * np.arange(40, 100), scale=1e-3)
    buffer.add(after)
    _assert_equal_to_dense(buffer.content(), _in_window(after, 1.0, 0.25))


def test_the_solution_is_the_dense_least_squares_solution(rng: np.random.Generator) -> None:
    rows = _rows(rng, START + STEP * np.arange(300))
    buffer = RegressorWindow(2.0, 0.25, blend=True)
    buffer.add(rows)
    window = _in_window(rows, 2.0, 0.25)
    dense = (window.full * np.sqrt(window.samples)[:, None, None]).reshape(-1, STORED)
    factor = buffer.content().factors[FULL].reshape(-1, STORED)
    expected = np.linalg.lstsq(dense[:, :-1], dense[:, -1], rcond=None)[0]
    found = np.linalg.lstsq(factor[:, :-1], factor[:, -1], rcond=None)[0]
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_a_gap_longer_than_the_window_leaves_only_what_came_after(
        rng: np.random.Generator) -> None:
    buffer = RegressorWindow(2.0, 0.25, blend=True)
    buffer.add(_rows(rng, START + STEP * np.arange(40)))
    after = _rows(rng, START + 5000 + STEP * np.arange(3))
    buffer.add(after)
    _assert_equal_to_dense(buffer.content(), after)
    assert buffer.content().duration == pytest.approx(0.11)


@pytest.mark.slow
@pytest.mark.parametrize("window, slice_length", [(1.7, 0.1), (16.0, 0.25), (8.0, 0.05)])
def test_sums_of_slices_are_those_of_the_rows_however_often_they_are_asked_for(
        rng: np.random.Generator, window: float, slice_length: float) -> None:
    """Of one slice and of several; the newest slices wrap around to low leaf numbers."""
    buffer, kept = RegressorWindow(window, slice_length), []
    for k in range(60):
        # Rows 50 ms apart, and a hole after each second of them.
        kept.append(_rows(rng, START + 100 * k + STEP * np.arange(10 + 10 * (k % 3 == 0))))
        buffer.add(kept[-1])
        rows = _in_window(_joined(kept), window, slice_length)
        _assert_slices(buffer.content(), rows, slice_length)
        # Rows that are asked about only: in the slice that grows, and in those after it.
        later = _rows(rng, kept[-1].number[-1] + STEP * np.arange(1, 13))
        found = buffer.content(later)
        assert (found.last, found.rows) == (later.number[-1], len(rows.number) + 12)
        _assert_slices(found, _joined([rows, later]), slice_length)


def test_an_empty_buffer_says_so(rng: np.random.Generator) -> None:
    buffer = RegressorWindow(1.0, 0.1, blend=True)
    assert not buffer
    buffer.add(_rows(rng, np.empty(0, np.int64)))
    assert not buffer
    buffer.add(_rows(rng, START + np.arange(1)))
    assert buffer and buffer.content().duration == pytest.approx(0.01)


def test_one_slice_for_the_whole_window_works(rng: np.random.Generator) -> None:
    buffer = RegressorWindow(0.5, 0.5, blend=True)
    rows = _rows(rng, START + STEP * np.arange(57))
    buffer.add(rows)
    _assert_equal_to_dense(buffer.content(), _in_window(rows, 0.5, 0.5), 0.5)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10_000), count=st.integers(0, 40), more=st.integers(1, 12),
       slice_length=st.sampled_from([0.05, 0.25]))
def test_rows_of_one_content_alone_count_there_and_leave_no_trace(
        seed: int, count: int, more: int, slice_length: float) -> None:
    rng = np.random.default_rng(seed)
    rows = _rows(rng, START + STEP * np.arange(count + more))
    buffer = RegressorWindow(6.0, slice_length, blend=True)
    buffer.add(_part(rows, slice(count)))
    content = buffer.content(_part(rows, slice(count, None)))
    _assert_equal_to_dense(content, rows, slice_length)
    assert bool(buffer) == (count > 0)
    if count:
        _assert_equal_to_dense(buffer.content(), _part(rows, slice(count)), slice_length)
    buffer.add(_part(rows, slice(count, None)))
    _assert_equal_to_dense(buffer.content(), rows, slice_length)
