# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Errors that leave no residual are in the intervals all the same."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation
from synthetic import BODY, identifier, recording

from inertial_id_ros.estimate import Estimate
from inertial_id_ros.identification.wrench.wrench_model import orientation_covariance
from inertial_id_ros.inertia import transform_phi

PHI = np.array([2.0, 0.1, -0.06, 0.3, 0.05, 0.0, -0.01, 0.06, 0.01, 0.03])


def test_axes_that_are_not_known_exactly_give_the_spread_of_turned_bodies(
        rng: np.random.Generator) -> None:
    turns = Rotation.from_rotvec(0.01 * rng.normal(size=(4000, 3))).as_matrix()
    spread = np.cov(np.array([transform_phi(PHI, turn, np.zeros(3)) for turn in turns]).T)
    found = orientation_covariance(PHI, 0.01)
    np.testing.assert_allclose(found, spread, atol=0.06 * spread.max())
    assert found[0, 0] == 0.0
    assert not orientation_covariance(PHI, 0.0).any()


def test_the_interval_of_the_centre_of_mass_holds_the_calibration_of_the_arm() -> None:
    samples, sigma = recording(6.0), []
    for sd in (0.0, 2.0):
        made = identifier(alignment__orientation_sd=sd)
        samples.feed(made)
        outcome = made.solve()
        assert isinstance(outcome, Estimate)
        sigma.append(outcome.sigma)
    reach = float(np.linalg.norm(BODY.report[1:4]))
    assert sigma[0][0] == sigma[1][0]  # the mass is the same in all axes
    assert np.linalg.norm(sigma[1][1:4]) > np.sqrt(2.0) * np.deg2rad(2.0) * reach
