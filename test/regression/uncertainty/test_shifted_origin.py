# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What data tell of a shifted origin, against dense least squares."""

from __future__ import annotations

import numpy as np
import pytest

from inertial_id_ros.regression.uncertainty.shifted_origin import Origin, look_for_shift

N, PLACE, EXPECTED = 13, slice(10, 13), 0.002  # phi and the position; m


def _fit(rows: np.ndarray, y: np.ndarray, sd: float) -> tuple[np.ndarray, np.ndarray]:
    """Covariance and solution of least squares with this prior of the position [m]."""
    prior = np.zeros((3, N))
    prior[:, PLACE] = np.eye(3) / sd
    all_rows = np.vstack([rows, prior])
    solution = np.linalg.lstsq(all_rows, np.r_[y, np.zeros(3)], rcond=None)[0]
    return np.linalg.inv(all_rows.T @ all_rows), solution


def _look(shift: float, told: float, now: float, seed: int = 0) -> tuple[Origin, np.ndarray,
                                                                         np.ndarray]:
    """What is told with data of a shift along x [m] that is seen to `told` [m]; rows and data."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(200, N))
    rows[:, PLACE] = 2.0 * rows[:, 1:4]  # seen together with the first moment alone ...
    rows[100:, PLACE] += rng.normal(size=(100, 3)) / (told * 10.0)  # ... but for this
    truth = np.r_[rng.normal(size=10), shift, 0.0, 0.0]
    y = rows @ truth + rng.normal(size=200)
    covariance, solution = _fit(rows, y, now)
    return look_for_shift(covariance, solution[PLACE], PLACE, EXPECTED, now), rows, y


@pytest.mark.parametrize("shift", [0.0, 0.004])
@pytest.mark.parametrize("told", [1e-4, 2e-3, 1.0])
def test_the_covariance_holds_the_expected_shift_wherever_it_was_left_out(
        shift: float, told: float) -> None:
    now = 0.1 * EXPECTED
    origin, rows, y = _look(shift, told, now)
    narrow, at_narrow = _fit(rows, y, now)
    wide, at_wide = _fit(rows, y, EXPECTED * max(origin.scale, 1.0))
    gap = (at_wide - at_narrow)[:10]
    expected = wide[:10, :10] + np.outer(gap, gap)
    np.testing.assert_allclose(narrow[:10, :10] + origin.unseen, expected, rtol=1e-6, atol=1e-9)


def test_a_shift_that_shows_is_estimated_and_one_that_is_not_there_is_not() -> None:
    assert _look(0.006, 2e-4, EXPECTED)[0].scale > 1.0
    assert _look(0.0, 2e-4, EXPECTED)[0].scale < 0.2


def test_without_evidence_the_scale_is_what_it_was_before() -> None:
    assert _look(0.0, 1.0, EXPECTED)[0].scale == pytest.approx(
        _look(0.01, 1.0, EXPECTED, seed=1)[0].scale, rel=0.01)


def test_nothing_is_unseen_where_the_whole_prior_is_in_the_fit() -> None:
    origin, *_ = _look(0.0, 2e-3, EXPECTED)
    np.testing.assert_allclose(origin.unseen, 0.0, atol=1e-12)
