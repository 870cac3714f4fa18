# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The local quartic on polynomials, which it must reproduce, and its choice of window."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from synthetic import START

from inertial_id_ros.kinematics.polynomial import (
    LONGEST_WINDOW,
    SAMPLES_NEEDED,
    SAMPLES_WANTED,
    SMOOTHED,
    Spacing,
    acceleration_gain,
    choose_window,
    fit_quartics,
    gather_samples,
    has_coverage,
    measure_spacing,
    parts_in_memory,
    sample_variance,
)

WINDOW = 0.15


def _fit(t: np.ndarray, values: np.ndarray, wanted: np.ndarray,
         window: float = WINDOW) -> tuple[np.ndarray, ...]:
    stamps, at = (START + np.round(x * 1e9).astype(np.int64) for x in (t, wanted))
    index, u, weights = gather_samples(stamps, at, window)
    return (*fit_quartics(u, weights, values[index], window), has_coverage(u, weights))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.floats(100.0, 1000.0), st.floats(0.0, 0.9))
def test_a_quartic_is_reproduced_at_any_times_whatever_the_jitter(
        seed: int, rate: float, jitter: float) -> None:
    rng = np.random.default_rng(seed)
    period = 1.0 / rate
    t = np.arange(0.0, 1.0, period)
    t = np.round((t + rng.uniform(-0.5, 0.5, len(t)) * jitter * period) * 1e9) * 1e-9
    wanted = np.round(rng.uniform(0.2, 0.8, 7) * 1e9) * 1e-9
    coefficients = rng.normal(size=(2, 5))
    curves = [np.polynomial.Polynomial(c) for c in coefficients]
    value, rate_, curvature, valid = _fit(t, np.stack([c(t) for c in curves], axis=1), wanted)
    assert valid.all()
    for k, c in enumerate(curves):
        np.testing.assert_allclose(value[:, k], c(wanted), atol=1e-8)
        np.testing.assert_allclose(rate_[:, k], c.deriv()(wanted), atol=1e-6)
        np.testing.assert_allclose(curvature[:, k], c.deriv(2)(wanted), atol=1e-4)


def test_a_sine_of_one_hertz_loses_less_than_a_thousandth_of_its_acceleration() -> None:
    t, wanted = np.arange(0.0, 3.0, 0.002), np.linspace(0.5, 2.5, 50)
    w = 2.0 * np.pi
    value, rate, curvature, _ = _fit(t, np.sin(w * t)[:, None], wanted)
    np.testing.assert_allclose(value[:, 0], np.sin(w * wanted), atol=1e-6)
    np.testing.assert_allclose(rate[:, 0], w * np.cos(w * wanted), atol=1e-3 * w)
    np.testing.assert_allclose(curvature[:, 0], -w**2 * np.sin(w * wanted), atol=5e-3 * w**2)


def test_the_fit_has_no_phase(rng: np.random.Generator) -> None:
    """Reversed time gives the reversed velocity and the same acceleration."""
    t = np.arange(-50, 51) * 0.004
    x = rng.normal(size=(101, 1))
    forward = _fit(t + 1.0, x, np.array([1.0]))
    backward = _fit(t + 1.0, x[::-1], np.array([1.0]))
    np.testing.assert_allclose(forward[0], backward[0], atol=1e-9)
    np.testing.assert_allclose(forward[1], -backward[1], atol=1e-7)
    np.testing.assert_allclose(forward[2], backward[2], rtol=1e-7)


def test_samples_beyond_half_a_window_do_not_matter(rng: np.random.Generator) -> None:
    t = np.arange(0.0, 1.0, 0.005)
    x, wanted = rng.normal(size=(len(t), 1)), np.array([0.5])
    far = np.abs(t - 0.5) > 0.5 * WINDOW + 1e-6
    y = np.where(far[:, None], 1e6, x)
    for a, b in zip(_fit(t, x, wanted), _fit(t, y, wanted), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(("low", "high", "good"), [
    (0.0, 1.0, True),     # samples all around
    (0.5, 1.0, False),    # none before
    (0.0, 0.5, False),    # none after
    (0.47, 0.53, False),  # too short
])
def test_an_answer_needs_samples_on_both_sides(low: float, high: float, good: bool) -> None:
    t = np.arange(low, high, 0.005)
    assert bool(_fit(t, t[:, None], np.array([0.5]))[3][0]) is good


def test_a_hole_in_the_samples_is_no_answer() -> None:
    t = np.arange(0.0, 1.0, 0.005)
    t = t[(t < 0.49) | (t > 0.54)]
    assert _fit(t, t[:, None], np.array([0.3, 0.5, 0.8]))[3].tolist() == [True, False, True]


def test_too_few_samples_are_no_answer() -> None:
    t = np.arange(0.0, 1.0, 0.03)
    assert not _fit(t, t[:, None], np.array([0.5]))[3].any()


def _regular(period: float) -> Spacing:
    return Spacing(period, period)


def test_fast_topics_keep_the_wished_window() -> None:
    for rate in (125.0, 250.0, 500.0, 1000.0):
        assert choose_window(_regular(1.0 / rate), WINDOW) == WINDOW
    assert choose_window(_regular(float("inf")), WINDOW) == WINDOW


@pytest.mark.parametrize("rate", [12.0, 30.0, 45.0, 50.0, 60.0, 100.0])
def test_slow_topics_get_a_window_with_enough_samples(rate: float) -> None:
    window = choose_window(_regular(1.0 / rate), WINDOW)
    assert SAMPLES_NEEDED / rate <= window <= LONGEST_WINDOW
    assert window <= max(1.25 * SAMPLES_NEEDED / rate, SMOOTHED)
    assert window <= 1.25 * SAMPLES_WANTED / rate


def test_a_jittering_period_does_not_change_the_window() -> None:
    rng = np.random.default_rng(1)
    for rate in (30.0, 50.0, 125.0):
        seen = {choose_window(_regular(1.0 / rate * (1.0 + e)), WINDOW)
                for e in rng.uniform(-0.01, 0.01, 50)}
        assert len(seen) == 1, rate


def test_the_window_never_exceeds_its_limit_unless_the_user_wishes_more() -> None:
    assert choose_window(_regular(1.0), WINDOW) == LONGEST_WINDOW
    assert choose_window(_regular(1.0), 1.5) == 1.5


# ---- stamps on arrival --------------------------------------------------------------------------

def _in_bursts(t: np.ndarray, count: int, apart: float) -> np.ndarray:
    """Times at which samples of times t (n,) arrive `count` at once, `apart` [s] from each other,
    the last of them without delay."""
    last = np.minimum((np.arange(len(t)) // count + 1) * count, len(t)) - 1
    return t[last] + (np.arange(len(t)) - last) * apart


def _delayed(t: np.ndarray, delay: float, seed: int = 0) -> np.ndarray:
    """Times at which samples of times t (n,) arrive after random delays [s], kept in order with a
    nanosecond between them."""
    late = t + np.random.default_rng(seed).exponential(delay, len(t))
    ns = np.arange(len(t))
    return np.maximum.accumulate(np.round(late * 1e9).astype(np.int64) - ns) * 1e-9 + ns * 1e-9


def _arrivals(name: str, t: np.ndarray) -> np.ndarray:
    """Arrival times (n,) of samples of times t (n,)."""
    return {"regular": lambda: t, "bursts of 4": lambda: _in_bursts(t, 4, 1e-4),
            "bursts of 8": lambda: _in_bursts(t, 8, 5e-5),
            "jitter": lambda: _delayed(t, 0.003),
            "duplicates": lambda: np.unique(np.floor(t / 0.004) * 0.004)}[name]()


def _stamps(t: np.ndarray) -> np.ndarray:
    return START + np.round(t * 1e9).astype(np.int64)


@pytest.mark.parametrize(("name", "period", "gap"), [
    ("regular", 0.002, 0.002), ("bursts of 4", 0.002, 0.0077), ("bursts of 8", 0.002, 0.01565),
    ("duplicates", 0.004, 0.004)])
@pytest.mark.parametrize("count", [60, 5000])
def test_bursts_do_not_hide_the_mean_period(name: str, period: float, gap: float, count: int
                                            ) -> None:
    spacing = measure_spacing(_stamps(_arrivals(name, np.arange(count) * 0.002)))
    assert spacing.period == pytest.approx(period, rel=0.15 if count == 60 else 0.01)
    assert spacing.gap == pytest.approx(gap, rel=1e-6)


@pytest.mark.parametrize("seed", range(20))
def test_a_jittering_arrival_does_not_hide_the_mean_period(seed: int) -> None:
    """Half of the stamps follow the one before after a nanosecond in some of these."""
    spacing = measure_spacing(_stamps(_delayed(np.arange(50) * 0.002, 0.003, seed)))
    assert 0.6 * 0.002 < spacing.period < 1.6 * 0.002
    assert choose_window(spacing, WINDOW) == WINDOW


def test_a_few_pauses_do_not_lengthen_the_period() -> None:
    steps = [0.008] * 30 + [0.5] * 2 + [0.008] * 30
    assert measure_spacing(_stamps(np.cumsum(steps))) == pytest.approx((0.008, 0.008))
    assert measure_spacing(_stamps(np.array([1.0]))) == (float("inf"), float("inf"))
    assert measure_spacing(_stamps(np.array([1.0, 1.5]))) == pytest.approx((0.5, 0.5))


def test_two_or_three_bursts_are_no_answer_however_many_samples_they_hold() -> None:
    t = _in_bursts(np.arange(0.0, 4.0, 0.002), 16, 2e-5)
    assert not _fit(t, t[:, None], np.arange(1.0, 3.0, 0.01), WINDOW)[3].any()
    window = choose_window(measure_spacing(_stamps(t[:50])), WINDOW)
    assert _fit(t, t[:, None], np.arange(1.0, 3.0, 0.01), window)[3].all()


def test_the_window_holds_enough_bursts_for_an_answer() -> None:
    """Of 8 samples at 125 Hz, 64 ms from each other; 0.15 s would hold two or three of them."""
    t = _in_bursts(np.arange(0.0, 4.0, 0.008), 8, 5e-5)
    window = choose_window(measure_spacing(_stamps(t)), WINDOW)
    wanted = np.arange(1.0, 3.0, 0.01)
    assert _fit(t, t[:, None], wanted, window)[3].all()
    assert not _fit(t, t[:, None], wanted, WINDOW)[3].all()


@pytest.mark.parametrize("name", ["bursts of 4", "bursts of 8"])
def test_accelerations_from_bursts_are_as_good_as_from_regular_stamps(name: str) -> None:
    """Low-passed, of a known motion with noise of 1e-4 rad, and the noise is told rightly."""
    rng = np.random.default_rng(3)
    t, wanted = np.arange(0.0, 12.0, 0.002), np.arange(1.0, 11.0, 0.01)
    kernel = np.hanning(41)[1:-1]
    values = (0.5 * np.sin(np.pi * t) + rng.normal(0.0, 1e-4, len(t)))[:, None]
    errors = {}
    for which in ("regular", name):
        arrival = _arrivals(which, t)
        late = float((arrival - t).mean())
        stamps, at = _stamps(arrival), _stamps(wanted)
        index, u, weights = gather_samples(stamps, at, WINDOW)
        change = fit_quartics(u, weights, values[index], WINDOW)[2][:, 0]
        error = change + 0.5 * np.pi**2 * np.sin(np.pi * (wanted - late))
        errors[which] = np.convolve(error, kernel / kernel.sum(), "valid").std()
        spacing = measure_spacing(stamps)
        noise = np.sqrt(sample_variance(u, weights, values[index], spacing.block))
        assert noise == pytest.approx([1e-4], rel=0.15)
        gain = acceleration_gain(spacing.period, WINDOW, tuple(kernel.tolist()), 0.01)
        assert errors[which] == pytest.approx(gain * noise[0], rel=0.35)
    assert errors[name] < 1.25 * errors["regular"]


def test_the_gain_is_that_of_the_low_passed_fit_of_every_sample_alone() -> None:
    kernel = np.hanning(23)[1:-1]
    stamps = np.arange(-80, 120) * 5_000_000
    index, u, weights = gather_samples(stamps, np.arange(21) * 10_000_000, 0.3)
    change = fit_quartics(u, weights, np.eye(len(stamps))[index], 0.3)[2]
    expected = np.linalg.norm(kernel / kernel.sum() @ change)
    gain = acceleration_gain(0.005, 0.3, tuple(kernel.tolist()), 0.01)
    assert gain == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("period", [1e-9, 1e-6, 5e-5, 1e-4, 2e-3])
def test_the_gain_takes_little_memory_whatever_the_period(period: float) -> None:
    tracemalloc.start()
    try:
        gain = acceleration_gain(period, WINDOW, tuple(np.hanning(43)[1:-1].tolist()), 0.01)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 20e6
    # White noise: its variance goes with the period.
    fine = acceleration_gain(3e-4, WINDOW, tuple(np.hanning(43)[1:-1].tolist()), 0.01)
    assert gain == pytest.approx(fine * np.sqrt(period / 3e-4), rel=0.03)


@pytest.mark.parametrize("name", ["regular", "bursts of 4", "bursts of 8", "jitter", "duplicates"])
def test_windows_are_fitted_in_parts_of_bounded_size_that_hold_every_time_once(name: str) -> None:
    t = _arrivals(name, np.arange(0.0, 40.0, 0.002))
    crowd = np.concatenate([t[t < 20.0], 20.0 + np.arange(30_000) * 1e-6, t[t >= 20.03]])
    wanted = _stamps(np.arange(1.0, 39.0, 0.01))
    for stamps in (_stamps(t), _stamps(crowd)):
        parts = list(parts_in_memory(stamps, wanted, WINDOW))
        assert [k for p in parts for k in range(p.start, p.stop)] == list(range(len(wanted)))
        for part in parts:
            index, _, _ = gather_samples(stamps, wanted[part], WINDOW)
            assert index.size <= 200_000


@pytest.mark.parametrize(("wanted", "good"), [(0.315, True), (0.33, True), (0.305, False),
                                              (0.295, False)])
def test_where_the_stream_begins_most_of_the_past_half_may_be_missing(
        wanted: float, good: bool) -> None:
    t = np.arange(0.3, 1.0, 0.005)
    curve = np.polynomial.Polynomial([0.3, -1.0, 2.0, 0.5, -1.5])
    stamps, at = (START + np.round(x * 1e9).astype(np.int64) for x in (t, np.array([wanted])))
    index, u, weights = gather_samples(stamps, at, WINDOW)
    assert not has_coverage(u, weights)[0]
    assert has_coverage(u, weights, index[:, 0] == 0)[0] == good
    if good:
        value, rate, curvature = fit_quartics(u, weights, curve(t)[index][..., None], WINDOW)
        assert value[0, 0] == pytest.approx(curve(wanted), abs=1e-8)
        assert rate[0, 0] == pytest.approx(curve.deriv()(wanted), abs=1e-6)
        assert curvature[0, 0] == pytest.approx(curve.deriv(2)(wanted), abs=1e-4)


@pytest.mark.parametrize(("wanted", "good"), [(0.98, True), (0.96, True), (0.99, False),
                                              (0.999, False)])
def test_where_the_stream_ends_most_of_the_future_half_may_be_missing(
        wanted: float, good: bool) -> None:
    t = np.arange(200) / 200.0
    curve = np.polynomial.Polynomial([0.3, -1.0, 2.0, 0.5, -1.5])
    stamps, at = (START + np.round(x * 1e9).astype(np.int64) for x in (t, np.array([wanted])))
    index, u, weights = gather_samples(stamps, at, WINDOW)
    assert not has_coverage(u, weights)[0]
    assert has_coverage(u, weights, ends=True)[0] == good
    if good:
        _, _, curvature = fit_quartics(u, weights, curve(t)[index][..., None], WINDOW)
        assert curvature[0, 0] == pytest.approx(curve.deriv(2)(wanted), abs=1e-4)


def test_several_times_near_the_end_are_covered_as_each_alone() -> None:
    """Those that have fewer samples are padded."""
    stamps = START + np.arange(200, dtype=np.int64) * 5_000_000
    wanted = stamps[[150, 192, 194, 196]]
    _, u, weights = gather_samples(stamps, wanted, WINDOW)
    np.testing.assert_array_equal(has_coverage(u, weights), [True, False, False, False])
    assert has_coverage(u, weights, ends=True).all()
