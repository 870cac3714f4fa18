# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""`lmi` with ``lmi.support: ellipsoids``: all mass in a union of ellipsoids (Wensing et al. 2017,
Corollary 2), against point masses that fill it."""

from __future__ import annotations

import numpy as np
import pytest
from estimator_cases import estimator
from problems import compress, make_rows, motion
from scipy.optimize import nnls

from inertial_id_ros.errors import InvalidShape
from inertial_id_ros.geometry.shape import (
    Shape,
    join_shapes,
    shape_from_primitive,
    shape_from_settings,
)
from inertial_id_ros.inertia import Array, is_consistent, phi_from_points, point_columns
from inertial_id_ros.settings import Settings

PARTS = {"sphere": ([0.05], [-0.1, 0.0, 0.1]), "box": ([0.04, 0.1, 0.06], [0.08, 0.02, 0.1])}


def at(center: list[float]) -> Array:
    """The transform (4, 4) to a place without turning."""
    pose = np.eye(4)
    pose[:3, 3] = center
    return pose


def parts() -> list[Shape]:
    return [shape_from_primitive(kind, size, at(center))
            for kind, (size, center) in PARTS.items()]


def points_of(form: Array, count: int, rng: np.random.Generator) -> Array:
    """Points (2 count, 3) on and in an ellipsoid ``[x; 1]' Q [x; 1] >= 0``."""
    center = np.linalg.solve(-form[:3, :3], form[:3, 3])
    size = form[3, 3] - center @ form[:3, :3] @ center
    root = np.linalg.cholesky(np.linalg.inv(-form[:3, :3]) * size)
    ball = rng.normal(size=(count, 3))
    ball /= np.linalg.norm(ball, axis=1)[:, None]
    return np.concatenate([ball @ root.T, 0.5 * ball @ root.T]) + center


def bodies(count: int) -> list[tuple[np.random.Generator, Array]]:
    """Three point masses, part of them outside of both ellipsoids, and the generator of each."""
    out = []
    for seed in range(count):
        rng = np.random.default_rng(seed)
        place = rng.uniform(-0.15, 0.15, (3, 3)) + [0.0, 0.0, 0.1]
        out.append((rng, phi_from_points(place, np.full(3, 0.4))))
    return out


@pytest.mark.slow
def test_the_optimum_is_that_of_point_masses_that_fill_the_union() -> None:
    """From inside: point masses never fit better, and the more they are the nearer they come. One
    ellipsoid alone fits worse."""
    shape = join_shapes(parts())
    for rng, phi in bodies(6):
        marginal = (problem := compress(make_rows(rng, phi, motion(rng, 300)))).problems["noise"]

        def misfit(found: Array, marginal=marginal) -> float:
            return float(np.linalg.norm(marginal.matrix @ found - marginal.target))

        found = estimator("lmi", lmi__support="ellipsoids").solve(problem, shape).phi
        assert is_consistent(found)
        excess = []
        for count in (50, 500, 5000):
            columns = point_columns(np.concatenate([points_of(form, count, rng)
                                                    for form in shape.ellipsoids]))
            best = nnls(marginal.matrix @ columns, marginal.target, maxiter=20_000)[1]
            excess.append(best / misfit(found) - 1.0)
        assert -1e-4 < excess[2] < 5e-3 and excess[2] < excess[0]
        for one in parts():
            alone = estimator("lmi", lmi__support="ellipsoids").solve(problem, one).phi
            assert misfit(alone) >= misfit(found) * (1.0 - 1e-6)


def test_of_one_primitive_it_is_the_ellipsoid() -> None:
    box = parts()[1]
    for rng, phi in bodies(3):
        problem = compress(make_rows(rng, phi, motion(rng, 300)))
        union = estimator("lmi", lmi__support="ellipsoids").solve(problem, box).phi
        single = estimator("lmi", lmi__support="ellipsoid").solve(problem, box).phi
        np.testing.assert_allclose(union, single, rtol=1e-4, atol=1e-6)


def test_several_primitives_of_the_settings_are_one_shape() -> None:
    """Two boxes that overlap fill what a longer one fills."""
    both = shape_from_settings(Settings().replace({
        "shape.type": "box", "shape.size": (0.2, 0.1, 0.1, 0.2, 0.1, 0.1),
        "shape.center": (0.0, 0.0, 0.1, 0.1, 0.0, 0.1)}).shape)
    whole = shape_from_primitive("box", [0.3, 0.1, 0.1], at([0.05, 0.0, 0.1]))
    assert both is not None and len(both.ellipsoids) == 2
    assert both.volume == pytest.approx(whole.volume, rel=0.03)
    np.testing.assert_allclose(both.unit_phi, whole.unit_phi, atol=1e-3)
    for form in both.place(at([0.0, 0.3, 0.0])).ellipsoids:
        assert form.shape == (4, 4)


@pytest.mark.parametrize("wrong", [
    {"shape.size": (0.1, 0.1, 0.1, 0.2)}, {"shape.size": ()}, {"shape.rpy": (0.1,) * 6},
    {"shape.size": (0.1,) * 6},  # without a centre of each
    {"shape.size": (0.1,) * 6, "shape.center": (0.0, 0.0, 0.1)}])
def test_numbers_that_do_not_fit_are_refused(wrong: dict[str, tuple[float, ...]]) -> None:
    settings = Settings().replace({"shape.type": "box", "shape.size": (0.1, 0.1, 0.1), **wrong})
    with pytest.raises(InvalidShape):
        shape_from_settings(settings.shape)
