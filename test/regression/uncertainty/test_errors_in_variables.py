# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Noise in the regressor: the compressed likelihood is that of all samples, its score is fair."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from old_problems import compress
from problems import NOISE, Rows, motion, random_phi

from inertial_id_ros.inertia import Array
from inertial_id_ros.regression.newton_euler import regressor, static_regressor
from inertial_id_ros.regression.problem import Marginal, Problem
from inertial_id_ros.regression.row_layout import PHI, STORED, WRENCH, EstimatedStates
from inertial_id_ros.regression.uncertainty.encoder_noise import remove_information
from inertial_id_ros.regression.uncertainty.errors_in_variables import (
    compress_across_channels,
    linearise,
    residual_covariance,
)
from inertial_id_ros.settings import Settings

ACCELERATION = np.repeat([0.1, 1.0], 3)
SAMPLES = 120
EXACT_SET_UP = EstimatedStates(Settings().replace({
    "alignment.rotation_sd": 0.0, "alignment.tilt_sd": 0.0, "alignment.delay_sd": 0.0,
    "alignment.position_sd": 0.0}))


class Case:
    """One motion and body; `measured` draws the noise of a recording."""

    def __init__(self, rng: np.random.Generator, speed: float = 1.0) -> None:
        self.phi = random_phi(rng)
        self.rng = rng
        self.a_g, self.omega, self.alpha, self.gravity = motion(rng, SAMPLES, 6.0, speed)
        self.exact = regressor(self.a_g, self.omega, self.alpha)
        self.covariance = residual_covariance(self.phi, NOISE, ACCELERATION)

    def measured(self) -> tuple[Array, Array]:
        """Regressor (n, 6, 10) and wrench (n, 6) of a noisy recording."""
        n = self.rng.normal(size=(SAMPLES, 6)) * ACCELERATION
        wrench = self.exact @ self.phi + NOISE * self.rng.normal(size=(SAMPLES, 6))
        return regressor(self.a_g + n[:, :3], self.omega, self.alpha + n[:, 3:]), wrench

    def problem(self, a: Array, wrench: Array, at: Array, energy: float = SAMPLES) -> Problem:
        """The problem linearised at `at` (10,), biases known."""
        rows = np.zeros((SAMPLES, 6, STORED))
        rows[..., PHI], rows[..., WRENCH] = a, wrench
        rows[..., 10:16] = np.eye(6)
        plain = Rows(a, static_regressor(self.gravity), wrench, np.ones(SAMPLES))
        problem = compress(plain, bias_sd=np.zeros(6))
        return linearise(problem, compress_across_channels(rows, ACCELERATION, energy, SAMPLES),
                          EXACT_SET_UP.linearise(at), np.r_[at, np.zeros(6)],
                          residual_covariance(at, NOISE, ACCELERATION))


@pytest.fixture
def case(rng: np.random.Generator) -> Case:
    return Case(rng)


def likelihood(phi: Array, a: Array, wrench: Array) -> float:
    """Half the sum of squares of all residuals, each under its covariance at phi."""
    r = wrench - a @ phi
    weight = np.linalg.inv(residual_covariance(phi, NOISE, ACCELERATION))
    return 0.5 * float(np.einsum("ni,ij,nj->", r, weight, r))


def central_differences(phi: Array, a: Array, wrench: Array) -> Array:
    step = 1e-5 * np.linalg.norm(phi) * np.eye(10)
    return np.array([likelihood(phi + h, a, wrench) - likelihood(phi - h, a, wrench)
                     for h in step]) / (2.0 * step[0, 0])


def gradient(marginal: Marginal, phi: Array) -> Array:
    return marginal.matrix.T @ (marginal.matrix @ phi - marginal.target)


def test_few_joint_rows_have_the_products_of_all_rows_across_channels(
        case: Case, rng: np.random.Generator) -> None:
    a, wrench = case.measured()
    rows = np.concatenate([a, wrench[..., None]], axis=2)
    few = compress_across_channels(rows, ACCELERATION, 1.0, 1.0).rows
    assert len(few) < 25 < SAMPLES  # as many as there are independent signals
    wanted = np.einsum("nia,njb->iajb", rows, rows)
    found = np.einsum("nia,njb->iajb", few, few)
    np.testing.assert_allclose(found, wanted, atol=1e-12 * np.abs(wanted).max())


def test_covariance_of_the_residual_is_that_of_samples(case: Case) -> None:
    residuals = []
    for _ in range(300):
        a, wrench = case.measured()
        residuals.append(wrench - a @ case.phi)
    seen = np.cov(np.concatenate(residuals).T)
    sd = np.sqrt(np.diag(case.covariance))
    np.testing.assert_allclose(seen / np.outer(sd, sd), case.covariance / np.outer(sd, sd),
                               atol=0.03)


def test_gradient_is_that_of_the_likelihood_of_all_samples(case: Case) -> None:
    """Away from the truth as well."""
    a, wrench = case.measured()
    for at in (case.phi, 1.1 * case.phi):
        wanted = central_differences(at, a, wrench)
        found = gradient(case.problem(a, wrench, at, 0.0).marginal("noise"), at)
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5 * np.abs(wanted).max())


@pytest.mark.slow
def test_score_vanishes_in_the_mean_and_that_of_least_squares_does_not(case: Case) -> None:
    scores, naive = [], []
    weight = np.linalg.inv(case.covariance)
    for _ in range(400):
        a, wrench = case.measured()
        scores.append(gradient(case.problem(a, wrench, case.phi, 0.0).marginal("noise"), case.phi))
        naive.append(-np.einsum("nik,ij,nj->k", a, weight, wrench - a @ case.phi))

    def z(values: list[Array]) -> Array:
        return np.mean(values, axis=0) / (np.std(values, axis=0) / np.sqrt(len(values)))

    assert np.abs(z(scores)).max() < 4.0
    assert np.abs(z(naive)).max() > 12.0


@pytest.mark.slow
@pytest.mark.parametrize("speed", [2.0, 3.0])
def test_the_optimum_varies_as_its_information_says(speed: float,
                                                    rng: np.random.Generator) -> None:
    """Slower motion, where noise is much of the regressor, and faster; a few rounds from an
    answer that is 10 % off."""
    case, gaps, covariances = Case(rng, speed), [], []
    for _ in range(120):
        a, wrench = case.measured()
        phi = 1.1 * case.phi
        for _ in range(5):
            marginal = case.problem(a, wrench, phi).marginal("noise")
            phi = np.linalg.solve(marginal.matrix, marginal.target)
        gaps.append(phi - case.phi)
        covariances.append(np.diag(np.linalg.inv(marginal.information)))
    sd = np.sqrt(np.median(covariances, axis=0))
    spread = 1.4826 * np.median(np.abs(gaps), axis=0)  # of a Gaussian
    np.testing.assert_allclose(spread / sd, 1.0, atol=0.25)


def test_exact_accelerations_leave_whitened_least_squares(case: Case) -> None:
    a, wrench = case.measured()
    plain = Rows(a, static_regressor(case.gravity), wrench, np.ones(SAMPLES))
    problem = compress(plain, bias_sd=np.zeros(6))
    rows = np.zeros((SAMPLES, 6, STORED))
    rows[..., PHI], rows[..., 10:16], rows[..., WRENCH] = a, np.eye(6), wrench
    joint = compress_across_channels(rows, np.zeros(6), SAMPLES, SAMPLES)
    noisy = linearise(problem, joint, EXACT_SET_UP.linearise(case.phi),
                       np.r_[case.phi, np.zeros(6)], np.diag(NOISE**2))
    found, wanted = (p.marginal("noise") for p in (noisy, replace(noisy, known_marginal=None)))
    np.testing.assert_allclose(found.information, wanted.information, rtol=1e-8, atol=1e-6)
    np.testing.assert_allclose(found.matrix.T @ found.target, wanted.matrix.T @ wanted.target,
                               rtol=1e-8, atol=1e-6)


def test_a_direction_that_is_nearly_all_noise_keeps_its_value_and_no_information(
        rng: np.random.Generator) -> None:
    upper = np.linalg.qr(rng.normal(size=(30, 11)), mode="r")
    marginal, phi = Marginal(upper, np.zeros((6, 17))), rng.normal(size=10)
    left = remove_information(marginal, 0.9 * marginal.information, phi, 0.8, 0.05)
    np.testing.assert_allclose(np.linalg.solve(left.matrix, left.target), phi, rtol=1e-9)
    np.testing.assert_allclose(left.information, 0.05**2 * marginal.information, atol=1e-9)


def test_taking_information_away_keeps_the_optimum_and_never_goes_below_zero(
        rng: np.random.Generator) -> None:
    """``H = S - M``: optimum ``phi - H^-1 gradient``, covariance ``H^-1 S H^-1``."""
    upper = np.linalg.qr(rng.normal(size=(30, 11)), mode="r")
    marginal, phi = Marginal(upper, np.zeros((6, 17))), rng.normal(size=10)
    root = rng.normal(size=(10, 10))
    small = 1e-2 * root @ root.T
    left = remove_information(marginal, small, phi, 0.8, 0.05)
    curvature = marginal.information - small
    inverse = np.linalg.inv(curvature)
    np.testing.assert_allclose(np.linalg.inv(left.information),
                               inverse @ marginal.information @ inverse, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(np.linalg.solve(left.matrix, left.target),
                               phi - inverse @ gradient(marginal, phi), rtol=1e-6, atol=1e-9)
    much = remove_information(marginal, 1e3 * small, phi, 0.8, 0.05)
    assert np.linalg.eigvalsh(much.information)[0] > 0.0


def test_directions_without_any_information_do_not_matter(rng: np.random.Generator) -> None:
    upper = np.zeros((11, 11))
    upper[:4, :] = np.linalg.qr(rng.normal(size=(30, 11)), mode="r")[:4]
    upper[:, 4:10] = 0.0
    of_noise = np.diag(np.r_[np.full(4, 1e-3), np.zeros(6)])
    left = remove_information(Marginal(upper, np.zeros((6, 17))), of_noise, np.zeros(10), 0.8, 0.05)
    assert np.isfinite(left.upper).all()
    np.testing.assert_allclose(left.information[:4, :4], (upper.T @ upper)[:4, :4]
                               - 2.0 * of_noise[:4, :4], atol=1e-5)
