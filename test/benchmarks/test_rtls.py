# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""`rtls`: total least squares of the stacked data, from the compressed factor alone."""

from __future__ import annotations

import numpy as np
import pytest
from inertial_id_baselines.rtls import column_noise, total_least_squares
from problems import NOISE, Rows, compress, make_rows, motion, poses, random_phi

from inertial_id_ros.errors import NotEnoughData
from inertial_id_ros.estimators import create
from inertial_id_ros.inertia import Array
from inertial_id_ros.regression.newton_euler import regressor, static_regressor
from inertial_id_ros.settings import Settings


def recursive(stack: Array, noise: Array) -> Array:
    """The recursion as published: a decomposition updated with every row, nothing else kept."""
    values, right = np.zeros(stack.shape[1]), np.eye(stack.shape[1])
    for row in stack / np.append(noise, 1.0):
        _, values, right = np.linalg.svd(np.vstack([values[:, None] * right, row]),
                                         full_matrices=False)
    return -right[-1, :-1] / right[-1, -1] / noise


def noisy_rows(rng: np.random.Generator, phi: Array, acceleration: float, angular: float,
               samples: int = 500, speed: float = 1.0) -> Rows:
    """A recording whose regressor is made from noisy accelerations."""
    a_g, omega, alpha, gravity = motion(rng, samples, 5.0, speed)
    wrench = regressor(a_g, omega, alpha) @ phi + rng.normal(size=(samples, 6)) * NOISE
    seen = regressor(a_g + acceleration * rng.normal(size=a_g.shape), omega,
                     alpha + angular * rng.normal(size=alpha.shape))
    return Rows(seen, static_regressor(gravity), wrench, np.ones(samples))


def test_is_the_recursion_over_all_rows(rng: np.random.Generator) -> None:
    """Updating the decomposition row by row gives the answer of the compressed factor."""
    rows = make_rows(rng, random_phi(rng), motion(rng, 150, speed=2.0), noise=0.1 * NOISE)
    problem = compress(rows, bias_sd=np.zeros(6))
    noise = column_noise(0.05, 0.5, NOISE)
    stack = np.concatenate([rows.full, rows.wrench[..., None]], axis=2) / NOISE[None, :, None]
    wanted = recursive(stack.reshape(-1, 11), noise)
    found = create(Settings(), "rtls").solve(problem, None).phi
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-7)


def test_closed_form_of_total_least_squares(rng: np.random.Generator) -> None:
    """``(A'A - s^2) phi = A'y``, s the smallest singular value of ``[A | y]`` (noise all one)."""
    rows = rng.normal(size=(40, 11))
    a, y = rows[:, :10], rows[:, 10]
    s = np.linalg.svd(rows, compute_uv=False)[-1]
    wanted = np.linalg.solve(a.T @ a - s**2 * np.eye(10), a.T @ y)
    np.testing.assert_allclose(total_least_squares(rows, np.ones(10)), wanted, rtol=1e-8)


def test_the_units_of_a_column_do_not_matter(rng: np.random.Generator) -> None:
    """A column in other units, with its noise in these units, changes the parameter's unit only."""
    rows, units = rng.normal(size=(40, 11)), 10.0 ** rng.uniform(-3.0, 3.0, 10)
    scaled = rows * np.append(units, 1.0)
    np.testing.assert_allclose(total_least_squares(scaled, units) * units,
                               total_least_squares(rows, np.ones(10)), rtol=1e-6)


def test_becomes_wls_as_the_regressor_becomes_exact(rng: np.random.Generator) -> None:
    """Without noise in the accelerations total least squares is least squares, biases included."""
    settings = Settings().replace({"accelerations.noise": (0.0, 0.0, 0.0)})
    bias = rng.normal(size=6) * np.repeat([0.5, 0.05], 3)
    problem = compress(make_rows(rng, random_phi(rng), motion(rng, speed=2.0), bias=bias))
    rtls, wls = (create(settings, name).solve(problem, None) for name in ("rtls", "wls"))
    np.testing.assert_allclose(rtls.phi, wls.phi, rtol=1e-4, atol=1e-8)
    np.testing.assert_allclose(rtls.bias, wls.bias, rtol=1e-4, atol=1e-7)


def test_column_noise_is_that_of_sampled_regressors(rng: np.random.Generator) -> None:
    """The spread of whitened columns under noisy accelerations, root mean square over channels."""
    a_g = np.array([0.3, -9.7, 1.0]) + 0.04 * rng.normal(size=(40000, 3))
    alpha = np.array([1.0, 0.5, -2.0]) + 0.6 * rng.normal(size=(40000, 3))
    columns = regressor(a_g, np.tile([0.1, 0.2, 0.3], (40000, 1)), alpha) / NOISE[:, None]
    wanted = np.sqrt(columns.var(axis=0).mean(axis=0))
    np.testing.assert_allclose(column_noise(0.04, 0.6, NOISE), wanted, rtol=0.02)


def test_noise_in_the_regressor_biases_it_less_than_least_squares(rng: np.random.Generator) -> None:
    """With noisy accelerations the inertia of `wls` shrinks; that of `rtls` is nearer the truth."""
    errors: dict[str, list[float]] = {"wls": [], "rtls": []}
    for _ in range(20):
        phi = random_phi(rng)
        problem = compress(noisy_rows(rng, phi, 0.05, 0.5))
        for name, list_ in errors.items():
            found = create(Settings(), name).solve(problem, None).phi
            list_.append(float(np.linalg.norm(found[4:] - phi[4:]) / np.linalg.norm(phi[4:])))
    assert np.median(errors["rtls"]) < 0.5 * np.median(errors["wls"])


def test_promises_no_consistency(rng: np.random.Generator) -> None:
    """It is a reference row: it says so, and it has no prior."""
    rtls = create(Settings(), "rtls")
    assert not rtls.guarantees_consistency
    problem = compress(make_rows(rng, random_phi(rng), motion(rng)))
    assert not rtls.solve(problem, None).prior_information.any()


def test_says_when_the_motion_leaves_parameters_open(rng: np.random.Generator) -> None:
    """At rest the inertia does not show: no answer, rather than an arbitrary one."""
    problem = compress(make_rows(rng, random_phi(rng), poses(rng, 6)))
    with pytest.raises(NotEnoughData, match="excites all ten"):
        create(Settings(), "rtls").solve(problem, None)
