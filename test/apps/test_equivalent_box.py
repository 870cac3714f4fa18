# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The equivalent box, its interval and its edges, against boxes and against random bodies."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from inertial_id_ros.apps.report.equivalent_box import box_edges, box_interval, equivalent_box
from inertial_id_ros.inertia import Body

TURN = Rotation.from_rotvec([0.3, -0.5, 0.8]).as_matrix()


def body_of_box(lengths, mass=2.0):
    moments = mass / 12.0 * (np.sum(np.square(lengths)) - np.square(lengths))
    return Body(mass, np.zeros(3), TURN @ np.diag(moments) @ TURN.T)


def test_the_equivalent_box_of_a_box_is_that_box():
    lengths = np.array([0.3, 0.2, 0.1])
    found, axes = equivalent_box(body_of_box(lengths))
    assert np.allclose(found, lengths) or np.allclose(np.sort(found), np.sort(lengths))
    spanned = sum(length**2 * np.outer(a, a) for length, a in zip(found, axes.T, strict=True))
    assert np.allclose(spanned, TURN @ np.diag(lengths**2) @ TURN.T)


@pytest.mark.parametrize("lengths", [(0.3, 0.2, 0.1), (0.4, 0.3, 0.02)])
def test_the_interval_is_as_wide_as_the_spread_over_random_bodies(lengths):
    """Bodies drawn from the covariance, all of them solved anew, in place of derivatives."""
    body, rng = body_of_box(lengths), np.random.default_rng(3)
    scale = np.r_[0.01, np.zeros(3), np.full(6, 2e-5)]
    mixed = np.diag(scale) @ (np.eye(10) + 0.2 * rng.normal(size=(10, 10)))
    covariance = mixed @ mixed.T
    drawn = rng.multivariate_normal(np.zeros(10), covariance, 20_000)
    tensors = body.inertia_com + drawn[:, [4, 5, 6, 5, 7, 8, 6, 8, 9]].reshape(-1, 3, 3)
    moments = np.linalg.eigvalsh(tensors)
    squares = 6.0 / (body.mass + drawn[:, :1]) * (moments.sum(1, keepdims=True) - 2.0 * moments)
    least, most = box_interval(body, covariance, 1.0)
    inner = least > 0.0
    np.testing.assert_allclose((most**2 - least**2)[inner] / 2.0, squares.std(0)[inner], rtol=0.05)
    middle, _ = equivalent_box(body)
    assert np.all(least <= middle) and np.all(middle <= most)


def test_a_flat_body_has_an_interval_that_begins_at_zero():
    least, most = box_interval(body_of_box([0.3, 0.2, 0.0]), 1e-8 * np.eye(10), 2.0)
    assert least.min() == 0.0 and np.isfinite(most).all() and most.min() > 0.0


def test_a_box_has_twelve_edges_of_its_lengths():
    lengths, centre = np.array([0.3, 0.2, 0.1]), np.array([1.0, 2.0, 3.0])
    edges = box_edges(centre, lengths, TURN)
    found = np.linalg.norm(edges[:, 1] - edges[:, 0], axis=1)
    np.testing.assert_allclose(np.sort(found), np.repeat(np.sort(lengths), 4))
    np.testing.assert_allclose(edges.mean((0, 1)), centre)
