# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Accelerations of the base are told from contact, upward pulls, and a rigid body."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from inertial_id_ros.identification.wrench.base_watch import BaseMoves, find_base_motion
from inertial_id_ros.inertia import Array
from inertial_id_ros.regression.newton_euler import regressor

NOISE = np.repeat([0.045, 0.0022], 3)
PLACE = np.array([0.02, -0.01, 0.12])
MASS = 2.0
PHI = MASS * np.r_[1.0, PLACE, 0.02, 0.0, 0.0, 0.02, 0.0, 0.004]
T = np.arange(1200) / 100.0


def recorded(force: Array, place: Array = PLACE) -> BaseMoves | None:
    """What is found where a force (n, 3) along the axes of the room acts on the payload at a place
    in the sensor's axes, while the sensor turns about changing axes."""
    turns = Rotation.from_euler("xyz", np.column_stack([
        0.9 * np.sin(1.1 * T), 0.8 * np.sin(1.7 * T + 1.0), 1.2 * np.sin(0.8 * T + 2.0)]))
    omega = (turns[:-1].inv() * turns[1:]).as_rotvec()[
        np.minimum(np.arange(1200), 1198)] * 100.0
    alpha = np.gradient(omega, 0.01, axis=0)
    up = turns.inv().apply([0.0, 0.0, 9.81])
    columns = regressor(up, omega, alpha)
    own = turns.inv().apply(force)
    wrench = columns @ PHI + np.hstack([own, np.cross(np.broadcast_to(place, own.shape), own)])
    wrench += NOISE * np.random.default_rng(5).normal(size=wrench.shape)
    axes = turns.inv().as_matrix().transpose(0, 2, 1)
    return find_base_motion(np.concatenate([columns, wrench[..., None]], axis=2), axes, NOISE)


def drive(size: float) -> Array:
    """Force (n, 3) by accelerations of an AGV that drives off, brakes and stops [N]."""
    pace = size * (((T > 2.0) & (T < 3.5)) * 1.0 - ((T > 5.0) & (T < 6.5)))
    return MASS * np.column_stack([0.8 * pace, -0.6 * pace, 0.0 * pace])


def test_accelerations_of_the_base_are_named_with_about_their_size() -> None:
    found = recorded(drive(0.5))
    assert found is not None
    assert found.size == pytest.approx(0.5 * np.sqrt(3.0 / 12.0), rel=0.25)
    np.testing.assert_allclose(found.phi[:4], PHI[:4], atol=0.01)


@pytest.mark.parametrize(("force", "place"), [
    (0.0 * drive(1.0), PLACE),
    (drive(0.5), PLACE + [0.0, 0.0, 0.15]),  # contact at its end
    (drive(0.5)[:, [2, 2, 0]], PLACE),  # upwards
    (np.tile([3.0, 0.0, 2.0], (1200, 1)), PLACE)])  # a constant pull
def test_nothing_else_is_taken_for_a_base_that_moves(force: Array, place: Array) -> None:
    assert recorded(force, place) is None
