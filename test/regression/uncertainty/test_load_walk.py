# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What a walk says of itself: rates, size, words, and the window that it brings to now."""

from __future__ import annotations

import numpy as np
import pytest

from inertial_id_ros.regression.regressor_window import FULL, Slices, WindowContent
from inertial_id_ros.regression.row_layout import STORED, WRENCH
from inertial_id_ros.regression.uncertainty.load_walk import LoadWalk

PHI = np.r_[2.0, 2.0 * np.array([0.0, 0.01, 0.1]), 0.02, 0.0, 0.0, 0.02, 0.0, 0.004]


def walk(increments: np.ndarray, sd: float = 1e-4, stopped: float = 0.0) -> LoadWalk:
    """A walk with these increments (j, 10), of that standard deviation, which stopped so long
    ago [s]."""
    ages = stopped + 2.5 * np.arange(len(increments) + 1)
    return LoadWalk((0.03, 0.006), (-1, 1000), ages, increments, sd**2 * np.eye(increments.size),
                    PHI, np.zeros((10, 10)), np.zeros(10), np.zeros(6), 50.0)


def test_a_payload_that_pours_out_says_how_fast() -> None:
    pours = walk(np.tile(-0.1 * PHI / PHI[0], (4, 1)))  # 0.1 kg in 2.5 s
    assert pours.rate[0] == pytest.approx(-0.04)
    assert pours.speed[0] == pytest.approx(0.0, abs=1e-12)
    assert pours.describe() == "the payload loses 40 g/s" and pours.is_relevant


def test_a_payload_that_slides_says_how_fast() -> None:
    increments = np.zeros((4, 10))
    increments[0, 1] = 2.0 * 0.01  # 1 cm in 2.5 s
    slides = walk(increments)
    assert slides.speed[0] == pytest.approx(0.004)
    assert slides.describe() == "its centre of mass moves at 4 mm/s" and slides.is_relevant


def test_a_payload_that_has_stopped_pouring_has_no_rate_but_was_another_one_before() -> None:
    poured = walk(np.tile(-0.1 * PHI / PHI[0], (4, 1)), stopped=2.0)
    assert poured.rate == poured.speed == (0.0, 0.0) and poured.describe() == ""
    assert poured.is_relevant and poured.squared_rate[0, 0] < 1e-8


def test_what_is_within_its_uncertainty_is_not_said() -> None:
    assert walk(np.full((4, 10), 1e-4), sd=1e-2).describe() == ""
    assert not walk(np.full((4, 10), 1e-4)).is_relevant


def test_the_window_is_as_the_load_of_now_would_have_made_it(rng: np.random.Generator) -> None:
    count, length = 40, 0.25
    sums = rng.normal(size=(count, 6, STORED))
    middle = (np.arange(count) + 0.5) * length
    now = count * length
    rate = -0.04 * PHI / PHI[0]
    load = PHI + (middle - now)[:, None] * rate
    sums[..., WRENCH] = np.einsum("sck,sk->sc", sums[..., :10], load)
    window = WindowContent({FULL: sums.transpose(1, 0, 2)}, Slices(
        sums, np.full(count, 25), np.ones(count), np.arange(count)),
        count, 0, round(now * 100) - 1, 25 * count, length)
    out = walk(np.tile(2.5 * rate, (4, 1))).removed_from(window).slices.sums
    np.testing.assert_allclose(out[..., WRENCH], sums[..., :10] @ PHI, atol=1e-12)


def test_a_walk_that_is_only_possible_widens_the_interval_by_what_it_would_change() -> None:
    change = np.r_[-0.2, np.zeros(9)]
    likely = walk(np.zeros((4, 10)))._replace(change=change)
    sd = np.sqrt(likely._replace(evidence=20.0).covariance_of_constant[0, 0])
    assert sd == pytest.approx(0.2, rel=1e-3)
    assert likely._replace(evidence=-10.0).covariance_of_constant[0, 0] < 1e-3 * sd**2
