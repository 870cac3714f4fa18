# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Conventions of the inertial parameters, against Pinocchio, MuJoCo and finite differences."""

import numpy as np
import pinocchio as pin
from problems import random_phi
from scenes import GRAVITY, body, in_sensor, moved
from scipy.spatial.transform import Rotation

from inertial_id_ros import inertia
from inertial_id_ros.model.newton_euler import regressor


def test_phi_and_its_moves_to_other_frames_are_those_of_pinocchio():
    rng = np.random.default_rng(1)
    for _ in range(20):
        body, there = inertia.body_from_phi(random_phi(rng)), pin.SE3.Random()
        phi, expected = inertia.phi_from_body(*body), pin.Inertia(*body)
        np.testing.assert_allclose(inertia.phi_to_pinocchio(phi), expected.toDynamicParameters(),
                                   rtol=1e-12, atol=1e-15)
        np.testing.assert_array_equal(
            inertia.phi_from_pinocchio(inertia.phi_to_pinocchio(phi)), phi)
        np.testing.assert_array_equal(
            inertia.tensor_from_six(inertia.six_from_tensor(body.inertia_com)), body.inertia_com)
        moved = inertia.transform_phi(phi, there.rotation, there.translation)
        np.testing.assert_allclose(
            inertia.phi_to_pinocchio(moved), there.act(expected).toDynamicParameters(),
            rtol=1e-10, atol=1e-13)
        matrix = inertia.transform_matrix(there.rotation, there.translation)
        np.testing.assert_allclose(matrix @ phi, moved, rtol=1e-12, atol=1e-14)


def test_consistency_is_positive_mass_and_the_triangle_inequalities():
    rng = np.random.default_rng(5)
    seen = set()
    for _ in range(300):
        moments = rng.uniform(0.1, 1.0, 3) * 1e-3
        axes = Rotation.random(random_state=rng).as_matrix()
        mass, com = rng.uniform(0.1, 3.0), rng.normal(size=3) * 0.2
        physical = bool(2.0 * moments.max() < moments.sum())
        seen.add(physical)
        phi = inertia.phi_from_body(mass, com, axes @ np.diag(moments) @ axes.T)
        assert inertia.is_consistent(phi) is physical
        assert (inertia.min_eigenvalue(phi) > 0.0) is physical
        assert not inertia.is_consistent(-phi)
    assert seen == {True, False}


def test_report_jacobian_agrees_with_finite_differences():
    rng = np.random.default_rng(8)
    phi = random_phi(rng)
    report, step = inertia.report_from_phi, 1e-6
    want = np.stack([(report(phi + step * e) - report(phi - step * e)) / (2.0 * step)
                     for e in np.eye(10)], axis=1)
    np.testing.assert_allclose(inertia.report_jacobian(phi), want, atol=1e-7)


def test_the_wrench_is_the_sum_over_points_on_their_paths() -> None:
    """Second differences of where MuJoCo has the points, each with its mass."""
    motion, points, rate = moved(1, 8.0, 500.0), body(), 500.0
    paths = motion.position[:, None] + np.einsum("nij,pj->npi", motion.rotation, points.places)
    force = points.masses[:, None] * (rate**2 * np.diff(paths, 2, axis=0) - GRAVITY)
    inner = type(motion)(*(column[1:-1] for column in motion))
    force = np.stack([in_sensor(inner, force[:, k]) for k in range(12)], axis=1)
    want = np.concatenate([force.sum(1), np.cross(points.places, force).sum(1)], axis=1)
    got = regressor(inner.a_g, inner.omega, inner.alpha) @ points.phi()
    np.testing.assert_allclose(points.wrench(inner), want, atol=1e-3)
    np.testing.assert_allclose(got, points.wrench(inner), atol=1e-12)
