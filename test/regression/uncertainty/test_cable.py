# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The law of a cable: its wrench in closed form, its slopes, and the same cable seen elsewhere."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from inertial_id_ros.inertia import phi_from_body
from inertial_id_ros.regression.uncertainty.cable import (
    Places,
    linearise_pull,
    pull,
    sideways_covariance,
)

LAW = np.array([0.2, -0.3, 0.6, 2.5, 4.0, 0.01, 0.03, -0.02])


def _places(rng: np.random.Generator, count: int = 20) -> tuple[Places, Rotation, np.ndarray]:
    turn = Rotation.random(count, random_state=3)  # from sensor to room
    position = 0.2 * rng.normal(size=(count, 3)) + [0.5, 0.1, 0.7]
    mean = position.mean(axis=0)
    return Places(turn.as_matrix(), position - mean, mean), turn, position


def test_the_pull_is_a_spring_towards_one_point(rng: np.random.Generator) -> None:
    places, turn, position = _places(rng)
    point, lever = LAW[:3] + position.mean(axis=0), LAW[5:]
    for k, wrench in enumerate(pull(LAW[None], places)[0]):
        line = point - (position[k] + turn[k].apply(lever))
        length = np.linalg.norm(line)
        tension = LAW[3] + LAW[4] * (length - np.linalg.norm(LAW[:3]))
        force = turn[k].inv().apply(tension * line / length)
        expected = -np.r_[force, np.cross(lever, force)]
        np.testing.assert_allclose(wrench, expected, rtol=1e-12, atol=1e-12)


def test_slopes_tell_what_a_small_change_of_the_law_does(rng: np.random.Generator) -> None:
    places, _, _ = _places(rng)
    wrench, slopes = linearise_pull(LAW, places)
    change = 1e-3 * rng.normal(size=8) * [1.0, 1.0, 1.0, 1.0, 1.0, 0.1, 0.1, 0.1]
    middle = (pull((LAW + change)[None], places) - pull((LAW - change)[None], places))[0] / 2.0
    np.testing.assert_allclose(slopes @ change, middle, rtol=2e-3, atol=2e-6)
    np.testing.assert_array_equal(wrench, pull(LAW[None], places)[0])


@pytest.mark.parametrize("shift", [0.0, 0.15])
def test_a_cable_is_the_same_from_another_mean_position(
        shift: float, rng: np.random.Generator) -> None:
    from inertial_id_ros.regression.uncertainty.cable import Cable

    places, _, _ = _places(rng)
    nothing = np.zeros((10, 10))
    cable = Cable(LAW, places, pull(LAW[None], places)[0], nothing, *nothing[:3], 99.0)
    moved = places._replace(position=places.position - shift, mean=places.mean + shift)
    np.testing.assert_allclose(cable.seen_from(moved).wrench, cable.wrench, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("tilt", [(0.0, 0.0), (0.01, 0.02), (0.1, 0.0), (0.1, -0.1)])
def test_what_a_tilt_may_be_instead_is_in_the_covariance(tilt: tuple[float, float]) -> None:
    """In closed form: weight and sideways pull together, and half of what is beyond a tilt."""
    phi = phi_from_body(2.0, np.array([0.05, 0.0, 0.1]), 0.01 * np.eye(3))
    angle = np.hypot(*tilt)
    for expected in (0.004, 0.02, 0.1):
        covariance = sideways_covariance(phi, np.array(tilt), expected)
        beyond = np.sin(max(angle - max(np.deg2rad(2.0), 4.0 * expected), 0.0))
        share = 1.0 - np.cos(angle) + 0.5 * beyond
        assert np.sqrt(covariance[0, 0]) == pytest.approx(2.0 * share, rel=1e-9, abs=1e-15)
        np.testing.assert_allclose(np.sqrt(np.diag(covariance)[1:4]), share * np.abs(phi[1:4]),
                                   rtol=1e-9, atol=1e-15)
        mean = phi[[4, 7, 9]].mean()
        np.testing.assert_allclose(np.diag(covariance)[4:],
                                   (share * phi[4:]) ** 2 + (beyond * mean) ** 2, atol=1e-15)
