# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The regressor against Pinocchio's spatial algebra and against moving point masses."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from scipy.spatial.transform import Rotation
from synthetic import GRAVITY, PointMasses, Scene, payload

from inertial_id_ros.regression.newton_euler import regressor, rotation_columns, static_regressor


def _spatial_inertia(body: PointMasses) -> pin.Inertia:
    report = body.report
    xx, xy, xz, yy, yz, zz = report[4:]
    tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return pin.Inertia(report[0], report[1:4], tensor)


def _phi(inertia: pin.Inertia) -> np.ndarray:
    m, hx, hy, hz, xx, xy, yy, xz, yz, zz = inertia.toDynamicParameters()
    return np.array([m, hx, hy, hz, xx, xy, xz, yy, yz, zz])


def test_the_wrench_is_that_of_pinocchios_spatial_inertia(rng: np.random.Generator) -> None:
    for seed in range(5):
        inertia = _spatial_inertia(payload(seed))
        a_g, omega, alpha, velocity = rng.normal(size=(4, 3)) * 3.0
        twist = pin.Motion(velocity, omega)
        # Pinocchio's spatial acceleration differs from that of the point by omega x v.
        acceleration = pin.Motion(a_g - np.cross(omega, velocity), alpha)
        expected = (inertia * acceleration + twist.cross(inertia * twist)).vector
        wrench = regressor(a_g, omega, alpha) @ _phi(inertia)
        np.testing.assert_allclose(wrench, expected, rtol=1e-12, atol=1e-12)


def test_the_wrench_is_the_sum_over_point_masses_on_their_paths() -> None:
    scene, body = Scene(), payload()
    t = np.array([0.3, 1.1, 2.7])
    step = 1e-3
    turn, _ = scene.sensor_in_world(t)
    before, after = (scene.sensor_in_world(t + s)[0] for s in (-step, step))
    places = [scene.sensor_in_world(t + s)[1] for s in (-step, 0.0, step)]
    a_g = turn.inv().apply((places[0] - 2.0 * places[1] + places[2]) / step**2 - GRAVITY)
    forward, backward = ((turn.inv() * r).as_rotvec() for r in (after, before))
    omega, alpha = (forward - backward) / (2.0 * step), (forward + backward) / step**2
    phi = _phi(_spatial_inertia(body))
    np.testing.assert_allclose(regressor(a_g, omega, alpha) @ phi, scene.load(t, body), atol=2e-4)


def test_a_payload_at_rest_pulls_with_its_weight_at_its_centre_of_mass(
        rng: np.random.Generator) -> None:
    turn = Rotation.random(random_state=1)
    gravity = turn.inv().apply(GRAVITY)
    body = payload()
    mass, com = body.report[0], body.report[1:4]
    on_payload = static_regressor(gravity) @ _phi(_spatial_inertia(body))
    np.testing.assert_allclose(-on_payload[:3], mass * gravity, rtol=1e-12)
    np.testing.assert_allclose(-on_payload[3:], np.cross(com, mass * gravity), atol=1e-12)


def test_the_static_regressor_says_nothing_about_inertia() -> None:
    assert not static_regressor(GRAVITY)[..., 4:].any()


def test_rotation_columns_multiply_a_tensor_by_a_vector(rng: np.random.Generator) -> None:
    tensor = rng.normal(size=(3, 3))
    tensor = tensor + tensor.T
    vector = rng.normal(size=3)
    six = tensor[[0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]]
    np.testing.assert_allclose(rotation_columns(vector) @ six, tensor @ vector, atol=1e-14)


@pytest.mark.parametrize("shape", [(), (4,), (2, 3)])
def test_many_times_at_once_give_the_same_as_one_by_one(
        rng: np.random.Generator, shape: tuple[int, ...]) -> None:
    a_g, omega, alpha = rng.normal(size=(3, *shape, 3))
    together = regressor(a_g, omega, alpha)
    assert together.shape == (*shape, 6, 10)
    for k in np.ndindex(shape):
        np.testing.assert_array_equal(together[k], regressor(a_g[k], omega[k], alpha[k]))
