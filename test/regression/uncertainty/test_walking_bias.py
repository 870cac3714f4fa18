# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Noise and walking bias: found from the spectrum of the residual, whatever the data sheet says."""

from __future__ import annotations

import numpy as np
import pytest
from problems import NOISE

from inertial_id_ros.regression.regressor_window import RegressorWindow, Rows, WindowContent
from inertial_id_ros.regression.row_layout import STORED, WRENCH
from inertial_id_ros.regression.uncertainty import walking_bias
from inertial_id_ros.regression.uncertainty.walking_bias import (
    Level,
    Levels,
    data_sheet_levels,
    estimate_levels,
)
from inertial_id_ros.signals.low_pass import ZeroPhaseHannFilter

START, PER_BIN = 178_500_000_000, 5
ACCURACY = np.array([0.2, 0.01])


def _walk(rng: np.random.Generator, bins: int, time: float) -> np.ndarray:
    """An Ornstein-Uhlenbeck process (bins, 6) of variance 1, by its exact recursion."""
    keep = np.exp(-0.01 / time)
    out = rng.normal(size=(bins, 6))
    for k in range(1, bins):
        out[k] = keep * out[k - 1] + np.sqrt(1.0 - keep**2) * out[k]
    return out


def _window(errors: np.ndarray, slice_length: float = 0.25) -> WindowContent:
    """The content of a window for errors (bins, 6) that passed the filter."""
    filtering, bins = ZeroPhaseHannFilter(0.4, 6), len(errors)
    rows = filtering.push(np.arange(START, START + bins), np.full(bins, PER_BIN), errors)
    full = np.zeros((len(rows.number), 6, STORED))
    full[:, :, WRENCH] = rows.columns
    window = RegressorWindow(bins * 0.01 + 1.0, slice_length)
    window.add(Rows(rows.number, rows.samples, full, full, np.ones(len(rows.number))))
    return window.content()


def _estimate(window: WindowContent, prior: np.ndarray = ACCURACY,
              sheet: np.ndarray = NOISE) -> Levels:
    """Levels where the residual is all there is: no fit takes anything."""
    means = (window.slices.sums / window.slices.samples[:, None, None]).transpose(1, 0, 2)
    return estimate_levels(means, np.zeros((STORED - 1, STORED - 1)), -np.eye(STORED)[WRENCH],
                           window, ZeroPhaseHannFilter(0.4, 6), data_sheet_levels(sheet), sheet,
                           prior)


def _white(rng: np.random.Generator, bins: int, noise: np.ndarray) -> np.ndarray:
    return rng.normal(size=(bins, 6)) * noise / np.sqrt(PER_BIN)


def _strongest(levels: Levels) -> float:
    """Largest standard deviation of the two walks, in white noise of one sample."""
    return max(float(np.sqrt(level.walk.variance)) / level.white for level in levels)


@pytest.mark.parametrize("factor", [0.3, 1.0, 10.0])
def test_white_noise_is_found_whatever_the_data_sheet_says(
        rng: np.random.Generator, factor: float) -> None:
    for _ in range(3):
        levels = _estimate(_window(_white(rng, 3000, factor * NOISE)))
        for level, sheet in zip(levels, NOISE[::3], strict=True):
            assert level.white == pytest.approx(factor * sheet, rel=0.2)
        assert _strongest(levels) < 0.3


@pytest.mark.parametrize("time", [1.5, 6.0, 24.0])
def test_a_walk_and_the_white_noise_beside_it_are_told_apart(
        rng: np.random.Generator, time: float) -> None:
    """What matters of a slow walk in 30 s is how fast it moves: variance over correlation time."""
    speeds, whites = [], []
    for _ in range(6):
        errors = _white(rng, 3000, NOISE) + NOISE * _walk(rng, 3000, time)
        for level, sheet in zip(_estimate(_window(errors)), NOISE[::3], strict=True):
            whites.append(level.white / sheet)
            speeds.append(level.walk.variance / level.walk.time / (sheet**2 / time))
    for ratios in (speeds, whites):
        assert np.exp(np.mean(np.log(ratios))) == pytest.approx(1.0, rel=0.4)


def test_a_drift_is_taken_for_a_walk_and_makes_white_noise_no_stronger(
        rng: np.random.Generator) -> None:
    t = np.arange(3000)[:, None] * 0.01
    levels = _estimate(_window(_white(rng, 3000, NOISE) + 0.5 * NOISE * t))
    assert all(level.white < 1.2 * sheet for level, sheet in zip(levels, NOISE[::3], strict=True))
    assert _strongest(levels) > 1.0


def test_forces_and_torques_are_judged_apart(rng: np.random.Generator) -> None:
    errors = _white(rng, 3000, NOISE)
    errors[:, 3:] += 10.0 * NOISE[3:] * _walk(rng, 3000, 6.0)[:, 3:]
    force, torque = _estimate(_window(errors))
    assert np.sqrt(force.walk.variance) < 0.3 * force.white
    assert np.sqrt(torque.walk.variance) > 3.0 * torque.white


def test_without_a_walk_before_the_data_there_is_none_after(rng: np.random.Generator) -> None:
    """A sensor that is declared ideal; what is not white makes its noise stronger all the same."""
    errors = _white(rng, 3000, NOISE) + 5.0 * NOISE * _walk(rng, 3000, 6.0)
    levels = _estimate(_window(errors), prior=np.zeros(2))
    assert all(level.walk.variance == 0.0 for level in levels)
    assert all(level.white > 5.0 * sheet for level, sheet in zip(levels, NOISE[::3], strict=True))


def test_little_data_change_what_was_expected_little(rng: np.random.Generator) -> None:
    level, _ = _estimate(_window(_white(rng, 80, NOISE)))
    assert 0.5 < level.white / NOISE[0] < 2.0
    assert np.sqrt(level.walk.variance) < 5.0 * ACCURACY[0]


@pytest.mark.slow
def test_the_spectra_are_those_of_simulated_noise(rng: np.random.Generator) -> None:
    """Variances of the modes of many recordings, of white noise and of a walk."""
    white, walk = [], []
    for _ in range(60):
        for errors, seen in ((_white(rng, 1000, np.ones(6)), white),
                             (_walk(rng, 1000, 1.5), walk)):
            window = _window(errors)
            slices = window.slices
            full = slices.samples == np.median(slices.samples)
            assert full[1:-1].all()
            means = slices.sums[..., WRENCH] / slices.samples[:, None]
            seen.append(np.square(walking_bias.modes(means)))
    spectra = walking_bias.spectra_of(window, ZeroPhaseHannFilter(0.4, 6))
    low = slice(0, len(spectra.white) // 2)  # above, what the end slices lack shows
    for seen, expected in ((white, spectra.white), (walk, spectra.walk[0])):
        ratio = np.mean(seen, axis=(0, 2))[low] / expected[low]
        assert np.exp(np.mean(np.log(ratio))) == pytest.approx(1.0, abs=0.1)
        assert np.abs(np.log(ratio)).max() < 0.5


def test_levels_of_the_data_sheet_have_no_walk() -> None:
    assert data_sheet_levels(NOISE) == (Level(NOISE[0], walking_bias.NO_WALK),
                                        Level(NOISE[3], walking_bias.NO_WALK))
