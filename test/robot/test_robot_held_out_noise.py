# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Noise of joints from motion that was held out."""

from __future__ import annotations

import numpy as np

from benchmarks.robot.robots import random_tree
from inertial_id_ros.robot.correlated_noise import equivalent_white_noise
from inertial_id_ros.robot.fitting.held_out_noise import held_out_noise
from inertial_id_ros.robot.model import RobotModel
from inertial_id_ros.robot.recording import FilteredRecording, StoredRows
from inertial_id_ros.robot.reference_robot import description_reference


def test_noise_is_what_each_sixth_leaves_that_the_others_predict(rng: np.random.Generator) -> None:
    """Beside least squares with the prior as further rows, part by part."""
    model = RobotModel.from_urdf(random_tree(rng, 3))
    reference, n = description_reference(model), 240
    regressor = model.regressor(*rng.normal(size=(3, n, model.nv)))
    noise, weights = np.array([0.1, 0.3, 0.2]), rng.uniform(0.2, 1.0, (n, 3))
    effort = regressor @ reference.phi + noise * rng.normal(size=(n, 3))
    stored = StoredRows(np.ones(regressor.shape[1:], dtype=bool))
    stored.append(regressor.reshape(n, -1))
    rows = FilteredRecording(np.arange(float(n)), stored, effort, np.zeros((n, 3)))
    spread = rng.uniform(0.5, 2.0, model.size)
    found = held_out_noise(rows, weights, noise, reference, spread, len(model.bodies),
                           rows.compress(weights).stack(noise))
    left = np.empty((n, 3))
    for part in np.split(np.arange(n), 6):
        used = np.setdiff1d(np.arange(n), part)
        w = (weights / noise)[used]
        matrix = (regressor[used] * w[..., None]).reshape(-1, model.size)
        prior = np.linalg.inv(reference.unit * spread)
        phi = np.linalg.lstsq(
            np.concatenate([matrix, prior]),
            np.concatenate([(effort[used] * w).ravel(), prior @ reference.phi]), rcond=None)[0]
        left[part] = weights[part] * (effort[part] - regressor[part] @ phi)
    np.testing.assert_allclose(found, equivalent_white_noise(left, np.zeros(3)), rtol=1e-6)
