# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Noise of the motion: measured as it is, and taken out of the information that it feigns."""

from __future__ import annotations

import numpy as np
import pytest

from inertial_id_ros.inertia import Array
from inertial_id_ros.kinematics.polynomial import (
    acceleration_gain,
    fit_quartics,
    gather_samples,
    has_coverage,
    sample_variance,
)
from inertial_id_ros.regression.newton_euler import regressor
from inertial_id_ros.regression.problem import Marginal, eliminate
from inertial_id_ros.regression.uncertainty.encoder_noise import (
    noise_information,
    remove_noise_information,
)
from inertial_id_ros.regression.uncertainty.errors_in_variables import residual_covariance
from inertial_id_ros.signals.bins import BIN_NS
from inertial_id_ros.signals.low_pass import ZeroPhaseHannFilter

NOISE = np.repeat([0.1, 0.005], 3)
PHI = np.array([1.4, 0.06, -0.1, 0.15, 0.03, 0.002, -0.004, 0.028, 0.006, 0.02])


@pytest.mark.parametrize(("period", "window"), [(0.002, 0.15), (0.008, 0.15), (1.0 / 30.0, 0.366)])
def test_the_noise_of_samples_shows_in_what_quartics_leave(period: float, window: float) -> None:
    rng = np.random.default_rng(1)
    stamps = (np.arange(0.0, 20.0, period) * 1e9).astype(np.int64)
    wanted = np.arange(1.0, 19.0, 0.08) * 1e9
    values = np.sin(stamps[:, None] * 1e-9 * [1.0, 2.0]) + rng.normal(size=(len(stamps), 2)) * [
        1e-3, 3e-4]
    index, u, weights = gather_samples(stamps, wanted.astype(np.int64), window)
    np.testing.assert_allclose(np.sqrt(sample_variance(u, weights, values[index])), [1e-3, 3e-4],
                               rtol=0.1)


@pytest.mark.parametrize(("period", "window"), [(0.002, 0.15), (0.008, 0.15), (1.0 / 30.0, 0.366)])
def test_the_gain_is_that_of_drawn_noise(period: float, window: float) -> None:
    rng = np.random.default_rng(2)
    kernel = np.hanning(43)[1:-1]
    stamps = (np.arange(0.0, 40.0, period) * 1e9).astype(np.int64)
    wanted = np.arange(1.0, 39.0, BIN_NS * 1e-9) * 1e9
    index, u, weights = gather_samples(stamps, wanted.astype(np.int64), window)
    noise = rng.normal(size=(len(stamps), 4))
    _, _, change = fit_quartics(u, weights, noise[index], window)
    seen = np.stack([np.convolve(c, kernel / kernel.sum(), "valid") for c in change.T]).std()
    gain = acceleration_gain(period, window, tuple(kernel.tolist()), BIN_NS * 1e-9)
    assert seen == pytest.approx(gain, rel=0.15)


@pytest.mark.parametrize("period", [0.002, 0.008])
def test_rates_are_not_much_noisier_where_a_stream_begins(period: float) -> None:
    """Of rows of accelerations, by their weights of the samples; they were 42 times as noisy."""
    window = 0.15
    stamps = (np.arange(0.0, 1.2, period) * 1e9).astype(np.int64)
    wanted = (np.arange(100) * BIN_NS + BIN_NS // 2).astype(np.int64)
    index, u, weights = gather_samples(stamps, wanted, window)
    good = has_coverage(u, weights, index[:, 0] == 0)
    _, _, change = fit_quartics(u, weights, np.eye(len(stamps))[index], window)
    low_pass = ZeroPhaseHannFilter(0.4, len(stamps), rates=len(stamps))
    rows = low_pass.push(np.flatnonzero(good), np.ones(good.sum()), change[good])
    noise = np.linalg.norm(rows.rates, axis=1)
    assert rows.number[0] <= 15
    assert noise[0] < 8.0 * noise[-1]


def _residual(noise_sd: Array) -> Array:
    """Noise (6,) of the residual, which shows that of the motion as well."""
    return np.sqrt(np.diag(residual_covariance(PHI, NOISE, noise_sd)))


def _corrected(marginal: Marginal, noise_sd: Array) -> Marginal:
    """Of noise (6,) of accelerations that do not depend on one another."""
    return _without(marginal, np.diag(noise_sd**2), noise_sd)


def _without(marginal: Marginal, covariance: Array, noise_sd: Array) -> Marginal:
    """The marginal without the information of noise of this covariance (6, 6)."""
    return remove_noise_information(
        marginal, noise_information(covariance, _residual(noise_sd), 3000))


def _rows(excitation: float, noise_sd: Array, rng: np.random.Generator,
          lever: float = 0.0) -> Array:
    """Whitened rows ``[A | bias | y]`` (6 n, 17) of poses near one another, with a noisy A; lever
    [m]: from the joints, whose noise turns the sensor, to where that moves it along x."""
    n = 3000
    push = 9.81 * np.array([0.0, 0.6, 0.8]) + excitation * rng.normal(size=(n, 3))
    alpha = excitation * rng.normal(size=(n, 3))
    y = regressor(push, np.zeros((n, 3)), alpha) @ PHI + NOISE * rng.normal(size=(n, 6))
    linear, angular = rng.normal(size=(2, n, 3)) * noise_sd.reshape(2, 1, 3)
    linear[:, 0] += lever * angular[:, 1]
    a = regressor(push + linear, np.zeros((n, 3)), alpha + angular)
    bias = np.broadcast_to(np.eye(6), (n, 6, 6))
    rows = np.concatenate([a, bias, y[..., None]], axis=2) / _residual(noise_sd)[:, None]
    prior = np.zeros((6, 17))
    prior[:, 10:16] = np.eye(6) / 5.0
    return np.concatenate([rows.reshape(-1, 17), prior])


@pytest.mark.slow
def test_noise_that_was_eliminated_brings_no_information() -> None:
    """Against drawn noise: errors of the calibration take multiples of the linear acceleration from
    the regressor of each channel, and its noise with them."""
    rng = np.random.default_rng(9)
    mixing = 0.1 * rng.normal(size=(6, 6))
    noise = rng.normal(size=(200_000, 6)) @ mixing.T
    eliminated = rng.normal(size=(6, 3, 10))
    seen = (regressor(noise[:, :3], np.zeros((len(noise), 3)), noise[:, 3:])
            - np.einsum("na,cai->nci", noise[:, :3], eliminated)) / NOISE[:, None]
    drawn = np.einsum("nci,ncj->ij", seen, seen)
    found = noise_information(mixing @ mixing.T, NOISE, len(noise), eliminated)
    np.testing.assert_allclose(found, drawn, atol=0.02 * np.sqrt(
        np.multiply.outer(drawn.diagonal(), drawn.diagonal())).max())
    whole = np.zeros((6, 3, 10))  # all that the linear acceleration brings
    whole[:, :] = regressor(np.eye(3), np.zeros((3, 3)), np.zeros((3, 3))).transpose(1, 0, 2)
    linear = np.diag([0.1, 0.2, 0.3, 0.0, 0.0, 0.0])
    assert not noise_information(linear, NOISE, 100, whole).any()


def test_an_arm_at_rest_is_not_sure_to_carry_nothing() -> None:
    noise_sd = np.full(6, 0.1)
    marginal = eliminate(_rows(0.0, noise_sd, np.random.default_rng(3)))
    phi, covariance = marginal.unconstrained_fit
    assert phi[0] < 0.2 and np.sqrt(covariance[0, 0]) < 0.05  # which it would be
    phi, covariance = _corrected(marginal, noise_sd).unconstrained_fit
    assert abs(phi[0] - PHI[0]) < 3.0 * np.sqrt(covariance[0, 0])


def test_the_fit_is_not_pulled_to_zero_and_its_intervals_hold() -> None:
    """Where noise holds a fifth of the information."""
    noise_sd, scores, pulled = np.full(6, 0.1), [], []
    for seed in range(40):
        marginal = eliminate(_rows(0.2, noise_sd, np.random.default_rng(seed)))
        pulled.append(marginal.unconstrained_fit[0][0])
        phi, covariance = _corrected(marginal, noise_sd).unconstrained_fit
        scores.append((phi - PHI) / np.sqrt(np.diag(covariance)))
    assert np.mean(pulled) < 0.85 * PHI[0]
    assert np.abs(np.mean(scores, axis=0)).max() < 1.0
    assert np.mean(np.abs(scores) < 1.96) > 0.85


def test_noise_that_moves_and_turns_the_sensor_at_once_is_taken_out_as_such() -> None:
    """A fifth of the information; taken for two noises it would leave a wrong centre of mass."""
    noise_sd, lever = np.repeat([0.02, 0.1], 3), 0.8
    root = np.diag(noise_sd)
    root[0, 4] = lever * noise_sd[4]
    full = root @ root.T
    scores = []
    for seed in range(20):
        marginal = eliminate(_rows(0.2, noise_sd, np.random.default_rng(seed), lever))
        for known in (full, np.diag(np.diag(full))):
            phi, covariance = _without(marginal, known, noise_sd).unconstrained_fit
            scores.append((phi - PHI) / np.sqrt(np.diag(covariance)))
    right, wrong = np.mean(scores[::2], axis=0), np.mean(scores[1::2], axis=0)
    assert np.abs(right).max() < 1.0 < np.abs(wrong).max(), (right, wrong)


def test_motion_far_above_the_noise_is_left_as_it_is() -> None:
    noise_sd = np.full(6, 1e-3)
    marginal = eliminate(_rows(1.0, noise_sd, np.random.default_rng(4)))
    assert _corrected(marginal, noise_sd) is marginal
