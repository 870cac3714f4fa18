# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What a disturbance has done before it was found out is taken back."""

from __future__ import annotations

import numpy as np
import pytest
from disturbed import assert_truth, between, clean, identify, pushed
from synthetic import BODY

from inertial_id_ros.estimate import Estimate
from inertial_id_ros.identification.wrench.identifier import Identifier


def _after_a_step(force: list[float], seconds: float = 5.2) -> Estimate:
    made = identify()
    pushed(clean(seconds), between(4.5, 9.0, [*force, 0.0, 0.0, 0.0])).feed(made, 0.1)
    return assert_truth(made, BODY, mass=1e-3, com=5e-4)


@pytest.mark.slow
def test_nothing_of_a_blow_is_in_the_estimate() -> None:
    """Wherever it pushes, the estimate is that of the samples before it, and as sure."""
    one, other = _after_a_step([30.0, 0.0, 0.0]), _after_a_step([0.0, 20.0, -25.0])
    np.testing.assert_array_equal(one.phi, other.phi)
    before = identify()
    clean(4.4).feed(before, 0.1)
    before.finish()
    assert one.sigma[0] < 1.2 * assert_truth(before, BODY).sigma[0]


@pytest.mark.parametrize("length", [1.3, 3.37, 6.0])
def test_while_all_is_calm_the_estimate_is_no_older_and_misses_no_sample(length: float) -> None:
    """Beside one without a detector, but for the last row, which the detector has not seen yet."""
    outcomes = []
    for detect in (True, False):
        made = identify(contact__detect=detect, change__detect=detect)
        clean(length).feed(made, 0.1)
        outcomes.append(assert_truth(made, BODY, mass=0.02, com=4e-3))
    with_detector, without = outcomes
    assert without.stamp_ns - with_detector.stamp_ns <= 50_000_000
    assert without.samples - with_detector.samples <= 10  # of 200 a second


def _window(made: Identifier) -> float:
    outcome = made.solve()
    assert isinstance(outcome, Estimate)
    return outcome.window


def test_the_window_is_no_longer_than_it_is_set_to_be() -> None:
    made = identify(buffer__window=2.0)
    clean(6.0).feed(made, 0.1)
    assert 1.5 < _window(made) <= 2.0
