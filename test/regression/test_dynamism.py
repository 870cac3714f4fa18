# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The dynamism weight against the formula of the paper and its limits."""

from __future__ import annotations

import math

import numpy as np
import pytest

from inertial_id_ros.regression.newton_euler import dynamism, full_model_weight


def test_dynamism_is_the_sum_of_squares_over_the_papers_units() -> None:
    a, alpha, omega = [3.0, 0.0, 4.0], [0.0, 2.0, 0.0], [0.0, 0.0, 1.5]
    assert dynamism(a, alpha, omega) == pytest.approx(25.0 + 4.0 + (1.5 / 0.5) ** 2)


def test_dynamism_does_not_depend_on_the_axes(rng: np.random.Generator) -> None:
    vectors = rng.normal(size=(3, 20, 3))
    orthogonal = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    np.testing.assert_allclose(dynamism(*vectors), dynamism(*(vectors @ orthogonal)), rtol=1e-12)


def test_a_resting_payload_leaves_all_weight_to_the_reduced_model() -> None:
    assert full_model_weight(dynamism(np.zeros(3), np.zeros(3), np.zeros(3)), 300.0) == 0.0


def test_the_weight_is_the_papers_hyperbolic_tangent_and_grows_to_one() -> None:
    assert full_model_weight(50.0, 300.0) == pytest.approx(math.tanh(0.5))
    assert full_model_weight(300.0, 300.0) == pytest.approx(0.995, abs=1e-3)
    weights = full_model_weight(np.linspace(0.0, 3000.0, 50), 300.0)
    assert (np.diff(weights) >= 0.0).all() and weights[-1] == pytest.approx(1.0, abs=1e-12)
