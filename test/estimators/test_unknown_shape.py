# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""`density` without a shape: what it claims, on bodies of every size and place."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from estimator_cases import create
from problems import Data, box, compress, make_rows, motion
from scipy.stats import multivariate_normal

from inertial_id_ros.estimate import UNOBSERVED
from inertial_id_ros.estimators.density import find_modes
from inertial_id_ros.geometry.density_prior import MASS_SD, SIZES, balls, unit_ball
from inertial_id_ros.identify.verdict import judge, vague
from inertial_id_ros.inertia import (
    Array,
    is_consistent,
    phi_from_body,
    report_from_phi,
    report_jacobian,
)
from inertial_id_ros.settings import Settings

Answers = list[tuple[float, Array, Array, Array, Array, tuple[int, ...]]]


def _body(rng: np.random.Generator, reach: float = 0.3) -> Array:
    """phi (10,) of a filled box of random mass, size and place, within a reach of the sensor."""
    size = np.exp(rng.uniform(np.log(0.02), np.log(0.25), 3))
    center = rng.normal(size=3) * 0.1
    center *= min(1.0, (reach - 0.5 * np.linalg.norm(size)) / np.linalg.norm(center))
    mass = np.exp(rng.uniform(np.log(0.2), np.log(4.0)))
    own = mass / 12.0 * np.diag(size @ size - size**2)
    return phi_from_body(mass, center, own)


def _problem(rng: np.random.Generator, phi: Array, seconds: float, speed: float) -> Data:
    samples = int(100 * seconds)
    bias = rng.normal(size=6) * np.repeat([0.5, 0.02], 3)
    return compress(make_rows(rng, phi, motion(rng, samples, seconds, speed), bias=bias))


def test_the_even_ball_has_the_moments_of_the_closed_form() -> None:
    shape = unit_ball()
    assert shape.volume == pytest.approx(4.0 / 3.0 * np.pi)
    for radius, prior in balls(0.4):
        even = prior.columns @ prior.volumes
        want = np.r_[1.0, 0.0, 0.0, 0.0, 0.4 * radius**2 * np.array([1.0, 0, 0, 1.0, 0, 1.0])]
        np.testing.assert_allclose(even[1:4], 0.0, atol=1e-4 * radius)
        np.testing.assert_allclose(even[4:], want[4:], atol=1e-4 * radius**2)
    assert [r for r, _ in balls(0.4)] == [0.4, 0.2, 0.1, 0.05] and len(balls(0.4)) == SIZES


def test_the_evidence_compares_sizes_as_an_integral_over_mass_and_slack_does() -> None:
    """With the density held even, the posterior of mass and slack can be integrated outright."""
    rng = np.random.default_rng(1)
    phi = phi_from_body(1.2, np.array([0.01, 0.0, 0.02]), 0.004 * np.eye(3))
    problem = _problem(rng, phi, 2.0, 1.0)
    marginal = problem.problems["noise"]
    information, vector = marginal.information, marginal.matrix.T @ marginal.target
    mass = vector[0] / information[0, 0]
    got, want = [], []
    for _, prior in balls(0.3)[:3]:
        slack = 30.0 * prior.slack + 1e-5 * np.diag([0, 1, 1, 1, 0, 0, 0, 0, 0, 0])
        even = replace(prior, modes=np.zeros((len(prior.volumes), 1)), slack=slack)
        got.append(find_modes(information, vector, replace(even, widths=(1.0,)))[0].evidence)
        spread = np.eye(10) + mass**2 * marginal.matrix @ slack @ marginal.matrix.T
        log_mass = np.linspace(np.log(mass) - 0.5, np.log(mass) + 0.5, 4001)
        means = np.exp(log_mass)[:, None] * (marginal.matrix @ (even.columns @ even.volumes))
        log_density = multivariate_normal(cov=spread).logpdf(marginal.target - means)
        log_density -= 0.5 * ((log_mass - np.log(mass)) / MASS_SD) ** 2
        want.append(np.logaddexp.reduce(log_density))
    np.testing.assert_allclose(np.diff(got), np.diff(want), atol=0.02)
    assert np.ptp(want) > 1.0


@pytest.fixture(scope="module")
def answers() -> Answers:
    """Seconds, truth, phi of `density` and of `wls`, deviations, verdict; 120 bodies."""
    out = []
    estimator, other = create(Settings()), create(Settings(), "wls")
    for seed in range(120):
        rng = np.random.default_rng(seed)
        phi, seconds = _body(rng), (1.0, 3.0, 10.0)[seed % 3]
        problem = _problem(rng, phi, seconds, rng.uniform(0.3, 1.0))
        solution = estimator.solve(problem, None)
        verdict = judge(solution.phi, solution.covariance, vague(solution.phi[0]))
        jacobian = report_jacobian(solution.phi)
        sd = np.sqrt(np.diag(jacobian @ solution.covariance @ jacobian.T))
        z = (report_from_phi(solution.phi) - report_from_phi(phi)) / sd
        out.append((seconds, phi, solution.phi, other.solve(problem, None).phi, z,
                    verdict[1]))
    return out


@pytest.mark.slow
def test_intervals_hold_the_truth(answers: Answers) -> None:
    inside = np.array([np.abs(z) < 1.96 for *_, z, _ in answers])
    assert inside[:, 0].mean() > 0.9 and inside[:, 1:4].mean() > 0.9 and inside[:, 4:].mean() > 0.9
    assert all(is_consistent(phi) for _, _, phi, _, _, _ in answers)


def test_no_inertia_is_called_known_that_is_far_off(answers: Answers) -> None:
    claimed = 0
    for _, truth, phi, _, _, verdict in answers:
        want, got = report_from_phi(truth), report_from_phi(phi)
        known = np.array(verdict[4:]) != UNOBSERVED
        claimed += known.sum()
        assert (np.abs(got - want)[4:][known] < 0.3 * want[[4, 7, 9]].mean()).all()
    assert claimed > 20
    slow = [verdict for seconds, *_, verdict in answers if seconds == 1.0]
    assert all(verdict[k] == UNOBSERVED for verdict in slow for k in (4, 7, 9))


def test_a_centre_of_mass_beyond_the_reach_is_believed() -> None:
    phi = phi_from_body(0.8, np.array([0.1, 0.0, 0.55]), 1e-3 * np.eye(3))
    settings = Settings().replace({"shape.max_reach": 0.2})
    problem = _problem(np.random.default_rng(5), phi, 5.0, 1.0)
    solution = create(settings).solve(problem, None)
    np.testing.assert_allclose(report_from_phi(solution.phi)[:4], [0.8, 0.1, 0.0, 0.55], atol=0.01)


def test_the_largest_mass_bounds_the_answer() -> None:
    rng = np.random.default_rng(2)
    problem = _problem(rng, _body(rng), 3.0, 1.0)
    for shape in (None, box()):
        free = create(Settings()).solve(problem, shape)
        bound = 0.8 * free.phi[0]
        bounded = create(Settings().replace({"estimator.max_mass": bound})).solve(problem, shape)
        assert bound * 0.999 < bounded.phi[0] <= bound * (1.0 + 1e-12)
        assert is_consistent(bounded.phi)
        sd = [np.sqrt(s.covariance[0, 0]) for s in (free, bounded)]
        assert sd[1] == pytest.approx(sd[0], rel=1e-6)
        loose = create(Settings().replace({"estimator.max_mass": 2.0 * free.phi[0]}))
        np.testing.assert_array_equal(loose.solve(problem, shape).phi, free.phi)
