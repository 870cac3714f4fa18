"""Noise in the regressor: the compressed likelihood is that of all samples, and its score is fair."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from problems import NOISE, compress, motion, random_phi

from inertial_id_ros.estimators import Marginal, Problem
from inertial_id_ros.estimators.reference import Rows
from inertial_id_ros.inertia import Array
from inertial_id_ros.newton_euler import regressor, static_regressor
from inertial_id_ros.regressor_noise import joint_rows, linearised, residual_covariance, without
from inertial_id_ros.row_layout import PHI, STORED, WRENCH, linearisation

ACCELERATION = np.repeat([0.1, 1.0], 3)
SAMPLES = 120
ALONE = np.empty(0, dtype=int)  # no alignment states


class Case:
    """One motion and body; `measured` draws the noise of a recording."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.phi = random_phi(rng)
        self.rng = rng
        self.a_g, self.omega, self.alpha, self.gravity = motion(rng, SAMPLES, 6.0, 1.0)
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
        return linearised(problem, joint_rows(rows, ACCELERATION, energy),
                          linearisation(at, ALONE), np.r_[at, np.zeros(6)],
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
    few = joint_rows(rows, ACCELERATION, 1.0).rows
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
    """Away from the truth as well, and whatever information is taken away."""
    a, wrench = case.measured()
    for at in (case.phi, 1.1 * case.phi):
        wanted = central_differences(at, a, wrench)
        for energy in (0.0, float(SAMPLES)):
            found = gradient(case.problem(a, wrench, at, energy).marginal("noise"), at)
            np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5 * np.abs(wanted).max())


def test_score_vanishes_in_the_mean_and_that_of_least_squares_does_not(case: Case) -> None:
    scores, naive = [], []
    weight = np.linalg.inv(case.covariance)
    for _ in range(400):
        a, wrench = case.measured()
        scores.append(gradient(case.problem(a, wrench, case.phi).marginal("noise"), case.phi))
        naive.append(-np.einsum("nik,ij,nj->k", a, weight, wrench - a @ case.phi))

    def z(values: list[Array]) -> Array:
        return np.mean(values, axis=0) / (np.std(values, axis=0) / np.sqrt(len(values)))

    assert np.abs(z(scores)).max() < 4.0
    assert np.abs(z(naive)).max() > 12.0


def test_information_is_that_of_the_true_accelerations_in_the_mean(case: Case) -> None:
    weight = np.linalg.inv(case.covariance)
    wanted = np.einsum("nik,ij,njl->kl", case.exact, weight, case.exact)
    found, kept = np.zeros((2, 10, 10))
    for _ in range(100):
        a, wrench = case.measured()
        found += case.problem(a, wrench, case.phi).marginal("noise").information / 100.0
        kept += case.problem(a, wrench, case.phi, 0.0).marginal("noise").information / 100.0
    ratio = np.diag(found) / np.diag(wanted)
    np.testing.assert_allclose(ratio, 1.0, atol=0.1)
    assert (np.diag(kept) / np.diag(wanted))[4:].max() > 1.3


def test_exact_accelerations_leave_whitened_least_squares(case: Case) -> None:
    a, wrench = case.measured()
    plain = Rows(a, static_regressor(case.gravity), wrench, np.ones(SAMPLES))
    problem = compress(plain, bias_sd=np.zeros(6))
    rows = np.zeros((SAMPLES, 6, STORED))
    rows[..., PHI], rows[..., 10:16], rows[..., WRENCH] = a, np.eye(6), wrench
    joint = joint_rows(rows, np.zeros(6), SAMPLES)
    noisy = linearised(problem, joint, linearisation(case.phi, ALONE),
                       np.r_[case.phi, np.zeros(6)], np.diag(NOISE**2))
    found, wanted = (p.marginal("noise") for p in (noisy, replace(noisy, noisy=None)))
    np.testing.assert_allclose(found.information, wanted.information, rtol=1e-8, atol=1e-6)
    np.testing.assert_allclose(found.matrix.T @ found.target, wanted.matrix.T @ wanted.target,
                               rtol=1e-8, atol=1e-6)


def test_taking_information_away_keeps_the_gradient_and_never_goes_below_zero(
        rng: np.random.Generator) -> None:
    upper = np.linalg.qr(rng.normal(size=(30, 11)), mode="r")
    marginal, phi = Marginal(upper, np.zeros((6, 17))), rng.normal(size=10)
    root = rng.normal(size=(10, 10))
    small = 1e-3 * root @ root.T
    left = without(marginal, small, phi)
    np.testing.assert_allclose(left.information, marginal.information - small, atol=1e-7)
    for spurious in (small, 1e3 * small):
        left = without(marginal, spurious, phi)
        assert np.linalg.eigvalsh(left.information)[0] > 0.0
        np.testing.assert_allclose(gradient(left, phi), gradient(marginal, phi), atol=1e-6)


def test_directions_without_any_information_do_not_matter(rng: np.random.Generator) -> None:
    upper = np.zeros((11, 11))
    upper[:4, :] = np.linalg.qr(rng.normal(size=(30, 11)), mode="r")[:4]
    upper[:, 4:10] = 0.0
    spurious = np.diag(np.r_[np.full(4, 1e-3), np.zeros(6)])
    left = without(Marginal(upper, np.zeros((6, 17))), spurious, np.zeros(10))
    assert np.isfinite(left.upper).all()
    np.testing.assert_allclose(left.information[:4, :4], (upper.T @ upper)[:4, :4]
                               - spurious[:4, :4], atol=1e-6)
