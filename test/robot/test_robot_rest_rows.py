# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Rows in which a joint rests, creeps or turns back do not bias what the others say."""

from __future__ import annotations

import numpy as np
import pytest
from torque_arm import COULOMB, VISCOUS, identify_arm, simulate, wide_motion

from inertial_id_ros.apps.simulation.description import load_description
from inertial_id_ros.robot.model import JointTerms, RobotModel
from inertial_id_ros.robot.recording import filter_recording
from inertial_id_ros.robot.rest_rows import friction_weight, moving_weights, rest_weights
from inertial_id_ros.robot.robot_file import robot_model


def packaged_arm(fading: float) -> RobotModel:
    return robot_model(load_description().urdf, None, JointTerms(coulomb_velocity=fading))


def test_friction_of_either_sign_is_noise_of_that_variance(rng: np.random.Generator) -> None:
    """At rest friction is uniform from minus to plus: its variance adds to that of the noise."""
    friction, noise = 3.0, 0.5
    left = rng.uniform(-friction, friction, 200_000) + noise * rng.normal(size=200_000)
    assert friction_weight(np.zeros(1), friction / noise)[0] == pytest.approx(
        noise / np.std(left), rel=0.01)
    assert friction_weight(np.array([1.0, -1.0]), friction / noise) == pytest.approx([1.0, 1.0])


def test_only_the_joint_that_rests_loses_weight(rng: np.random.Generator) -> None:
    model = packaged_arm(0.01)
    q, dq, ddq = 0.5 * rng.normal(size=(3, 40, 6))
    dq += np.sign(dq)
    dq[:20, 2] = 1e-4
    y = model.regressor(q, dq, ddq)
    weights = rest_weights(model, y, np.full(6, 3.0), np.full(6, 0.1))
    assert weights[:20, 2].max() < 0.1
    assert weights[20:].min() > 0.99 and np.delete(weights[:20], 2, axis=1).min() > 0.99
    assert moving_weights(model, y)[:20, 2].max() < 0.1
    dq[:, 2] = 1e-4  # it never moves: one row is as good as another
    assert (moving_weights(model, model.regressor(q, dq, ddq)) == 1.0).all()


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "aligned"), [(0, False), (1, False), (2, False), (0, True)])
def test_motions_that_creep_at_their_ends_leave_friction_right(seed: int, aligned: bool) -> None:
    """MuJoCo's friction is a step; the model's fades below 0.01 rad/s. With full weight of all rows
    torques of another motion are wrong by 2 to 4 %, and with a tilt of the base by 20 %."""
    creeping = simulate(wide_motion(20.0, seed, 5, 0.4), 20.0, seed=seed)
    found = identify_arm(creeping, 0.01, aligned).fit
    terms = found.model.terms.names
    joints = found.phi[-6 * len(terms):].reshape(6, -1)
    np.testing.assert_allclose(joints[:, terms.index("coulomb")], COULOMB, rtol=0.05)
    np.testing.assert_allclose(joints[:, terms.index("viscous")], VISCOUS, rtol=0.25)
    other = filter_recording(packaged_arm(1e-4), simulate(wide_motion(20.0, 77), 20.0, noise=0.0
                                                          ).recording)
    error = other.effort - other.regressor @ found.phi
    assert np.linalg.norm(error) < 0.012 * np.linalg.norm(other.effort)

