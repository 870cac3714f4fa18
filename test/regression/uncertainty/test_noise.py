# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Noise from the residual: found where the data sheet is wrong, and where it drifts."""

from __future__ import annotations

import numpy as np
import pytest
from problems import NOISE

from inertial_id_ros.regression.regressor_window import RegressorWindow, Rows, WindowContent
from inertial_id_ros.regression.row_layout import STORED, WRENCH
from inertial_id_ros.regression.uncertainty.noise import correct_noise, degrees_of_freedom
from inertial_id_ros.signals.low_pass import ZeroPhaseHannFilter

START = 178_500_000_000
SLICE = 0.25
SOLUTION = -np.eye(STORED)[WRENCH]  # residual = -wrench: the true payload is none


def _window(wrench: np.ndarray, per_bin: int = 5) -> WindowContent:
    """The buffer's content for noise (bins, 6) that passed the filter."""
    filtering = ZeroPhaseHannFilter(0.4, 6)
    bins = len(wrench)
    rows = filtering.push(np.arange(START, START + bins), np.full(bins, per_bin), wrench)
    full = np.zeros((len(rows.number), 6, STORED))
    full[:, :, -1] = rows.columns
    buffer = RegressorWindow(bins * 0.01 + 1.0, SLICE)
    buffer.add(Rows(rows.number, rows.samples, full, full, np.ones(len(rows.number))))
    return buffer.content()


def _corrected(window: WindowContent, parameters: float = 0.0,
               sheet: np.ndarray = NOISE) -> np.ndarray:
    """Noise after a fit that took `parameters` degrees of freedom from each channel."""
    used = np.full(2, 3.0 * parameters)
    return correct_noise(sheet, window, SOLUTION, ZeroPhaseHannFilter(0.4, 6), used)


def _white(rng: np.random.Generator, bins: int, noise: np.ndarray, per_bin: int = 5) -> np.ndarray:
    return rng.normal(size=(bins, 6)) * noise / np.sqrt(per_bin)


@pytest.mark.parametrize("factor", [1.0 / 3.0, 1.0, 3.0])
def test_white_noise_is_found_whatever_the_data_sheet_says(
        rng: np.random.Generator, factor: float) -> None:
    found = np.mean([_corrected(_window(_white(rng, 6000, NOISE * factor))) for _ in range(4)],
                    axis=0)
    np.testing.assert_allclose(found, NOISE * factor, rtol=0.12)


def test_force_and_torque_are_judged_apart(rng: np.random.Generator) -> None:
    factor = np.repeat([3.0, 1.0 / 3.0], 3)
    found = _corrected(_window(_white(rng, 6000, NOISE * factor)))
    np.testing.assert_allclose(found, NOISE * factor, rtol=0.2)


def test_the_number_of_samples_in_a_bin_does_not_change_the_noise_of_one(
        rng: np.random.Generator) -> None:
    for per_bin in (1, 10):
        window = _window(_white(rng, 6000, 2.0 * NOISE, per_bin), per_bin)
        np.testing.assert_allclose(_corrected(window), 2.0 * NOISE, rtol=0.2)


def test_a_drift_counts_far_more_than_white_noise_of_the_same_size(
        rng: np.random.Generator) -> None:
    bins, t = 3000, np.arange(3000)[:, None] * 0.01
    white = _window(_white(rng, bins, NOISE))
    drift = _window(_white(rng, bins, NOISE) + NOISE * np.sin(2.0 * np.pi * t / 8.0))
    assert (_corrected(drift) > 4.0 * _corrected(white)).all()


def test_vibration_that_averages_out_hardly_counts(rng: np.random.Generator) -> None:
    t = np.arange(3000)[:, None] * 0.01
    calm = _white(rng, 3000, NOISE)
    shaken = calm + 20.0 * NOISE * np.sin(2.0 * np.pi * 25.0 * t)
    np.testing.assert_allclose(_corrected(_window(shaken)), _corrected(_window(calm)), rtol=0.3)


def test_little_data_change_the_data_sheet_little(rng: np.random.Generator) -> None:
    """With as many parameters as blocks there is nothing left to learn from."""
    window = _window(_white(rng, 100, 3.0 * NOISE))
    blocks = len(window.slices.rows)
    np.testing.assert_array_equal(_corrected(window, parameters=float(blocks)), NOISE)
    found = np.mean([_corrected(_window(_white(rng, 100, 3.0 * NOISE))) for _ in range(50)], axis=0)
    assert (found > NOISE).all() and (found < 3.0 * NOISE).all()


def test_parameters_taken_from_the_residual_are_made_up_for(rng: np.random.Generator) -> None:
    """Fitting a mean to each channel costs one degree of freedom, which is given back."""
    ratios = []
    for _ in range(30):
        window = _window(_white(rng, 200, NOISE))
        sums, _, samples, _ = window.slices
        mean = sums[:, :, -1].sum(axis=0) / samples.sum()
        sums[:, :, -1] -= mean * samples[:, None]
        ratios.append(_corrected(window, parameters=1.0) / NOISE)
    assert np.mean(np.square(ratios)) == pytest.approx(1.0, abs=0.12)


def test_degrees_of_freedom_taken_from_one_kind_do_not_change_the_other(
        rng: np.random.Generator) -> None:
    window = _window(_white(rng, 1000, NOISE))
    filtering = ZeroPhaseHannFilter(0.4, 6)
    plain, force = (correct_noise(NOISE, window, SOLUTION, filtering, np.array([used, 0.0]))
                    for used in (0.0, 6.0))
    assert (force[:3] > plain[:3]).all()
    np.testing.assert_array_equal(force[3:], plain[3:])


def test_degrees_of_freedom_are_the_leverages_of_the_rows(rng: np.random.Generator) -> None:
    rows, prior = rng.normal(size=(60, 7)), np.diag(rng.uniform(0.0, 30.0, 7))
    rows[:30, 4:] = 0.0  # states that only the torque sees
    leverage = np.diag(rows @ np.linalg.inv(rows.T @ rows + prior) @ rows.T)
    np.testing.assert_allclose(degrees_of_freedom(rows, prior),
                               [leverage[:30].sum(), leverage[30:].sum()])
    assert degrees_of_freedom(rows, 1e-9 * np.eye(7)).sum() == pytest.approx(7.0)


def test_states_count_as_far_as_the_data_determine_them() -> None:
    sharp, blunt = np.zeros((6, 3)), 1e-9 * np.eye(3)
    sharp[0, 0], sharp[1, 1], sharp[5, 2] = 1e3, 1e-3, 1e3
    found = degrees_of_freedom(sharp, np.eye(3) + blunt)
    np.testing.assert_allclose(found, [1.0, 1.0], atol=1e-4)
