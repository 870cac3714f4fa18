# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Errors of one channel: eliminated from compressed rows as dense least squares would do it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from inertial_id_ros.inertia import PARAMETERS, skew
from inertial_id_ros.regression.problem import eliminate
from inertial_id_ros.regression.regressor_window import RegressorWindow, Rows, WindowContent
from inertial_id_ros.regression.row_layout import ACCELERATION, BIASES, STORED, WRENCH
from inertial_id_ros.regression.uncertainty import channel_errors
from inertial_id_ros.regression.uncertainty.calibration import (
    calibration_covariance,
    calibration_scale,
    calibration_sd,
    common_gain_covariance,
)
from inertial_id_ros.regression.uncertainty.channel_errors import (
    channel_products,
    eliminate_calibration,
)
from inertial_id_ros.regression.uncertainty.sensor_errors import (
    ErrorStrengths,
    SensorErrors,
    unexpected_change,
)
from inertial_id_ros.regression.uncertainty.walking_bias import (
    NO_WALK,
    Level,
    Levels,
    Walk,
    white_noise,
)
from inertial_id_ros.settings import Settings
from inertial_id_ros.signals.low_pass import make_low_pass

START, KNOWN = 178_500_000_000, PARAMETERS + BIASES
WHITE = Level(0.1, NO_WALK), Level(0.005, NO_WALK)
WALKING = Level(0.1, Walk(0.04, 1.5)), Level(0.005, Walk(4e-4, 24.0))
PHI = np.array([2.0, 0.1, -0.06, 0.3, 0.05, 0.0, -0.01, 0.06, 0.01, 0.03])


def _rows(rng: np.random.Generator, count: int = 160) -> Rows:
    """Stored rows 50 ms apart, of which each channel uses a few columns; a gap in their middle."""
    number = START + 5 * np.arange(count) + 300 * (np.arange(count) > count // 2)
    full = np.zeros((count, 6, STORED))
    for channel in range(6):
        own = [*(range(4) if channel < 3 else range(1, 10)), PARAMETERS + channel, WRENCH]
        full[:, channel, own] = rng.normal(size=(count, len(own)))
        full[:, channel, PARAMETERS + channel] = 1.0
    full[:, :, ACCELERATION] = rng.normal(size=(count, 1, 3))
    return Rows(number, rng.integers(1, 9, count), full, full, np.ones(count))


def _content(rows: Rows) -> WindowContent:
    window = RegressorWindow(60.0, 0.25)
    window.add(rows)
    return window.content()


def _matrix() -> np.ndarray:
    """From stored columns to ``[A | B | y]``."""
    out = np.zeros((STORED, KNOWN + 1))
    out[:KNOWN, :KNOWN], out[WRENCH, -1] = np.eye(KNOWN), 1.0
    return out


def _dense(rows: Rows, window: WindowContent, level: Level, channel: int,
           extra: np.ndarray) -> np.ndarray:
    """Products of the rows of a channel, weighed by the inverse of the dense covariance of white
    noise, a bias constant in each slice, and extra columns of variance 1 (times the noise)."""
    linear = np.concatenate([rows.full[:, channel] @ _matrix(), extra], axis=1)
    slices = rows.number // 25
    member = (slices[:, None] == np.unique(slices)).astype(float)
    count = member.T @ rows.samples
    noise = level.white**2 / rows.samples
    mean = member @ (member * rows.samples[:, None] / count).T  # takes the mean over each slice
    within = 1.0 + level.walk.variance / level.white**2 * channel_errors._density_within(
        level.walk.time, window)
    apart = np.abs(np.subtract.outer(np.unique(slices), np.unique(slices))) * 0.25
    walk = level.walk.variance * np.exp(-apart / level.walk.time)
    rest = np.eye(len(rows.number)) - mean
    covariance = (rest @ np.diag(within * noise) @ rest.T + mean @ np.diag(noise) @ mean.T
                  + member @ walk @ member.T)
    return level.white**2 * linear.T @ np.linalg.solve(covariance, linear)


@pytest.mark.parametrize("levels", [WHITE, WALKING], ids=["white", "walking"])
def test_products_are_those_of_dense_generalised_least_squares(
        rng: np.random.Generator, levels: Levels) -> None:
    rows = _rows(rng)
    window = _content(rows)
    products = channel_products(window, _matrix(), levels)
    for channel in range(6):
        dense = _dense(rows, window, levels[channel // 3], channel,
                       rows.full[:, channel, ACCELERATION])
        found = np.block([[products.rows[channel], products.beside[channel]],
                          [products.beside[channel].T, products.accelerations[channel]]])
        scale = np.sqrt(np.maximum(dense.diagonal(), 1.0))
        np.testing.assert_allclose(found / np.outer(scale, scale), dense / np.outer(scale, scale),
                                   atol=1e-8)


def test_errors_of_the_calibration_are_eliminated_as_columns_with_a_prior_would_be(
        rng: np.random.Generator) -> None:
    rows = _rows(rng)
    window = _content(rows)
    covariance = calibration_covariance(calibration_sd(Settings().wrench), PHI)
    root = np.linalg.cholesky(covariance)
    products = channel_products(window, _matrix(), WALKING)
    linear = eliminate_calibration(products, white_noise(WALKING)**2, covariance
                                   ).rows.reshape(6, KNOWN + 1, -1)
    for channel in range(6):
        level = WALKING[channel // 3]
        extra = rows.full[:, channel, ACCELERATION] @ root[channel]
        dense = _dense(rows, window, level, channel, extra)
        dense[KNOWN + 1:, KNOWN + 1:] += level.white**2 * np.eye(3)
        a, b = dense[:KNOWN + 1, :KNOWN + 1], dense[:KNOWN + 1, KNOWN + 1:]
        expected = a - b @ np.linalg.solve(dense[KNOWN + 1:, KNOWN + 1:], b.T)
        scale = np.sqrt(np.maximum(a.diagonal(), 1.0))
        np.testing.assert_allclose(linear[channel].T @ linear[channel] / np.outer(scale, scale),
                                   expected / np.outer(scale, scale), atol=1e-8)


def test_errors_of_phi_beside_those_of_the_data_add_their_covariance(
        rng: np.random.Generator) -> None:
    marginal = eliminate(rng.normal(size=(40, KNOWN + 1)), np.empty((0, KNOWN + 1)))
    root = rng.normal(size=(PARAMETERS, 2))
    less = marginal.with_errors(root @ root.T)
    np.testing.assert_allclose(
        np.linalg.inv(less.information), np.linalg.inv(marginal.information) + root @ root.T,
        rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(np.linalg.solve(less.matrix, less.target),
                               np.linalg.solve(marginal.matrix, marginal.target), atol=1e-8)


def _changes(rng: np.random.Generator, rows: Rows, wrong: np.ndarray, errors: SensorErrors,
             count: int) -> np.ndarray:
    """Changes (count, 10) beyond chance by a constant bias, of readings with a walking bias, white
    noise, and something wrong (n, 6) besides."""
    slices, member = np.unique(rows.number // 25, return_inverse=True)
    apart = np.abs(np.subtract.outer(slices, slices)) * 0.25
    out = []
    for _ in range(count):
        y = rows.full[..., :PARAMETERS] @ PHI + wrong
        for channel in range(6):
            level = WALKING[channel // 3]
            walk = level.walk.variance * np.exp(-apart / level.walk.time)
            y[:, channel] += (np.linalg.cholesky(walk) @ rng.normal(size=len(slices)))[member]
            y[:, channel] += level.white / np.sqrt(rows.samples) * rng.normal(size=len(y))
        rows.full[..., WRENCH] = y
        window, prior = _content(rows), np.zeros((KNOWN + 1, KNOWN + 1))
        weighed = errors.weigh(window, _matrix(), PHI, ErrorStrengths(WALKING, 0.3))
        walking = weighed.marginal(np.zeros((1, KNOWN + 1))).unconstrained_fit
        found = unexpected_change(weighed, window, prior, walking)
        out.append(np.zeros(PARAMETERS) if found is None else found.phi)
    return np.array(out)


@pytest.mark.slow
def test_a_bias_that_walks_is_doubted_as_often_as_chance_has_it_and_one_that_follows_is(
        rng: np.random.Generator) -> None:
    """Readings that lag in slow motion, as behind a low-pass, are no walk."""
    rows = _rows(rng)
    t = np.arange(len(rows.number))[:, None, None]
    slow = np.sin(t / 20.0 + rng.uniform(0.0, 6.0, (1, 6, PARAMETERS)))
    rows.full[..., :PARAMETERS] *= 0.1
    rows.full[..., :PARAMETERS] += slow * (rows.full[:1, :, :PARAMETERS] != 0.0)
    errors = SensorErrors(Settings(), make_low_pass(0.4, 1))
    right = _changes(rng, rows, np.zeros((len(t), 6)), errors, 200)
    assert 0.0 < (right != 0.0).any(axis=1).mean() < 0.07  # a hundredth in each of three groups
    load = rows.full[..., :PARAMETERS] @ PHI
    wrong = _changes(rng, rows, 0.5 * (np.roll(load, 3, axis=0) - load), errors, 10)
    assert (wrong[:, 0] != 0.0).all()


def test_what_a_channel_reads_too_much_has_the_covariance_of_the_calibration(
        rng: np.random.Generator) -> None:
    sd = calibration_sd(Settings().replace({"wrench.range": (200.0, 8.0)}).wrench)
    assert sd[0, 4] == pytest.approx(Settings().wrench.cross_talk * 200.0 / 8.0)
    assert sd[4, 4] == Settings().wrench.gain_error
    covariance = calibration_covariance(sd, PHI)
    root = np.linalg.cholesky(covariance)
    wrench_per_acceleration = np.concatenate([PHI[0] * np.eye(3), skew(PHI[1:4])])
    drawn = np.array([(sd * rng.normal(size=(6, 6))) @ wrench_per_acceleration
                      for _ in range(20_000)])
    for channel in range(6):
        np.testing.assert_allclose(covariance[channel], np.cov(drawn[:, channel].T),
                                   atol=0.05 * np.abs(root[channel]).max() ** 2)


def _scale_for(rng: np.random.Generator, true_scale: float, spread: Sequence[float] = (1, 1, 1),
               misfit: float = 1.0) -> float:
    """Scale that the evidence gives for readings with calibration errors of a true scale.

    Args:
        spread: of the accelerations along three axes; misfit: noise, times what is declared.
    """
    rows = _rows(rng, 400)
    rows.full[:, :, ACCELERATION] *= spread
    covariance = calibration_covariance(calibration_sd(Settings().wrench), PHI)
    root = np.linalg.cholesky(covariance)
    wrench = rows.full[:, :, :PARAMETERS] @ PHI
    noise = misfit * np.repeat([0.1, 0.005], 3)[:, None] / np.sqrt(rows.samples)
    wrench += (noise * rng.normal(size=noise.shape)).T
    for channel in range(6):
        error = true_scale * root[channel] @ rng.normal(size=3)
        wrench[:, channel] += rows.full[:, channel, ACCELERATION] @ error
    rows.full[:, :, WRENCH] = wrench
    products = channel_products(_content(rows), _matrix(), WHITE)
    prior = np.diag(np.r_[np.full(KNOWN, 1e-4), 0.0])
    return calibration_scale(products, WHITE, prior, covariance)


@pytest.mark.parametrize("true_scale", [0.3, 1.0, 3.0])
def test_the_evidence_tells_the_scale_of_the_errors(
        rng: np.random.Generator, true_scale: float) -> None:
    found = [_scale_for(rng, true_scale) for _ in range(5)]
    assert np.mean(found) == pytest.approx(true_scale, rel=0.35)


def test_where_nothing_is_wrong_with_the_calibration_next_to_nothing_is_expected(
        rng: np.random.Generator) -> None:
    assert max(_scale_for(rng, 0.0) for _ in range(5)) < 0.1


def test_a_misfit_that_no_calibration_explains_is_not_taken_for_one(
        rng: np.random.Generator) -> None:
    spread = (1.0, 0.1, 0.01)  # as near rest, where gravity hardly turns
    assert max(_scale_for(rng, 0.0, spread, 8.0) for _ in range(5)) < 0.5
    assert min(_scale_for(rng, 1.0, spread) for _ in range(5)) > 0.5


def test_gains_in_common_scale_force_and_torque(rng: np.random.Generator) -> None:
    covariance = common_gain_covariance(PHI, 0.01)
    drawn = np.array([PHI * np.r_[force, np.full(9, torque)]
                      for force, torque in 0.01 * rng.normal(size=(40_000, 2))])
    np.testing.assert_allclose(covariance, np.cov(drawn.T), atol=0.03 * covariance.max())


def test_what_the_calibration_leaves_is_what_fits_of_drawn_errors_leave():
    """Least squares on the rows themselves, with 2000 calibrations drawn by the data sheet."""
    rng = np.random.default_rng(21)
    rows = _rows(rng)
    for channel in range(3):  # a mass explains the gain that all forces have in common
        rows.full[:, channel, 0] = rows.full[:, channel, ACCELERATION][:, channel]
    window, settings = _content(rows), Settings().replace({"wrench.sensor": "ati_gamma"})
    prior = np.diag(np.linspace(0.1, 2.0, KNOWN))
    seen = SensorErrors(settings, make_low_pass(0.4, 1)).calibration_variance(
        window, _matrix(), prior, PHI)
    noise = np.repeat([settings.wrench.force_noise, settings.wrench.torque_noise], 3)
    weight = np.sqrt(rows.samples)[:, None] / noise
    columns = (rows.full[:, :, :KNOWN] * weight[:, :, None]).reshape(-1, KNOWN)
    known = np.linalg.inv(columns.T @ columns + prior) @ columns.T
    wrench = rows.full[:, 0, ACCELERATION] @ np.vstack([PHI[0] * np.eye(3), skew(PHI[1:4])]).T
    squares = []
    for _ in range(2000):
        wrong = wrench @ (calibration_sd(settings.wrench) * rng.normal(size=(6, 6))).T * weight
        left = wrong - (columns @ (known @ wrong.ravel())).reshape(wrong.shape)
        squares.append((left * noise)**2)
    np.testing.assert_allclose(seen, np.mean(squares, axis=0).sum(axis=0) / window.samples,
                               rtol=0.1)
