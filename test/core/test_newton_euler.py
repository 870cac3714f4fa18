# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The regressor against Pinocchio's spatial algebra and against moving point masses."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from synthetic import GRAVITY, PointMasses, Scene, payload

from inertial_id_ros.inertia import phi_from_body
from inertial_id_ros.model.newton_euler import regressor, static_wrench


def body_of(points: PointMasses) -> pin.Inertia:
    xx, xy, xz, yy, yz, zz = points.report[4:]
    return pin.Inertia(points.report[0], points.report[1:4],
                       np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))


def phi_of(body: pin.Inertia) -> np.ndarray:
    return phi_from_body(body.mass, body.lever, body.inertia)


def test_the_wrench_is_that_of_pinocchio(rng: np.random.Generator) -> None:
    for seed in range(5):
        body = body_of(payload(seed))
        proper, omega, alpha, velocity = rng.normal(size=(4, 1, 3)) * 3.0
        twist = pin.Motion(velocity[0], omega[0])
        # Pinocchio's spatial acceleration differs from that of the point by omega x v.
        acceleration = pin.Motion(proper[0] - np.cross(omega[0], velocity[0]), alpha[0])
        expected = (body * acceleration + twist.cross(body * twist)).vector
        np.testing.assert_allclose(regressor(proper, omega, alpha)[0] @ phi_of(body), expected,
                                   rtol=1e-12, atol=1e-12)


def test_the_wrench_is_the_sum_over_points_on_their_paths() -> None:
    scene, points, step = Scene(), payload(), 1e-3
    t = np.array([0.3, 1.1, 2.7])
    before, (turn, place), after = (scene.sensor_in_world(t + s) for s in (-step, 0.0, step))
    acceleration = (before[1] - 2.0 * place + after[1]) / step**2
    forward, backward = ((turn.inv() * other[0]).as_rotvec() for other in (after, before))
    a = regressor(turn.inv().apply(acceleration - GRAVITY), (forward - backward) / (2.0 * step),
                  (forward + backward) / step**2)
    np.testing.assert_allclose(a @ phi_of(body_of(points)), scene.load(t, points), atol=2e-4)


def test_at_rest_a_payload_pulls_at_its_centre_of_mass() -> None:
    points = payload()
    gravity = np.array([1.0, -9.0, 3.0])
    exerted = static_wrench(phi_of(body_of(points)), -gravity)
    weight = points.report[0] * gravity
    np.testing.assert_allclose(-exerted, [*weight, *np.cross(points.report[1:4], weight)])
