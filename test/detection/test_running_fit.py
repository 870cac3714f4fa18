# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The running fit against least squares of all rows, and its spread against drawn states."""

from __future__ import annotations

import numpy as np
import pytest

from inertial_id_ros.detection import running_fit as module
from inertial_id_ros.detection.running_fit import RunningFit
from inertial_id_ros.identification.wrench.wrench_model import WrenchModel
from inertial_id_ros.inertia import Array
from inertial_id_ros.regression.newton_euler import regressor
from inertial_id_ros.regression.nuisance_state import RowSignals
from inertial_id_ros.regression.row_layout import UPWARD, stored_rows
from inertial_id_ros.settings import Settings

NOISE = np.repeat([0.1, 0.005], 3)
BIAS_SD = np.repeat([5.0, 0.5], 3)
PHI = np.array([1.4, 0.06, -0.1, 0.15, 0.03, 0.002, -0.004, 0.028, 0.006, 0.02])
BIAS = np.array([1.0, -2.0, 0.5, 0.05, 0.1, -0.2])
PERIOD = 0.02


def _running_fit(alignment: float = 0.0) -> RunningFit:
    return RunningFit(_model(alignment=alignment), 1.0, PERIOD)


def _model(noise: float = 1.0, bias_sd: float = 1.0, alignment: float = 0.0) -> WrenchModel:
    """With so many times NOISE and BIAS_SD, and this prior of all nuisance states [rad, s]."""
    angle = float(np.rad2deg(alignment))
    return WrenchModel(Settings().replace({
        "wrench.noise": (noise * NOISE[0], noise * NOISE[3]),
        "wrench.bias_sd": (bias_sd * BIAS_SD[0], bias_sd * BIAS_SD[3]),
        "wrench.accuracy": (0.0, 0.0), "wrench.gain_error": 0.0,
        "wrench.cross_talk": 0.0, "wrench.drift": (0.0, 0.0),
        "gravity.acceleration": 9.81, "alignment.rotation_sd": angle, "alignment.tilt_sd": angle,
        "alignment.delay_sd": alignment}))


def _rows(n: int, rng: np.random.Generator, noise: float = 1.0) -> tuple[Array, Array]:
    """Stored rows (n, 6, 38) of random motion with white noise, and their regressor (n, 6, 10)."""
    up = rng.normal(size=(n, 3))
    up /= np.linalg.norm(up, axis=1, keepdims=True)
    side = np.cross(up, rng.normal(size=(n, 3)))
    side /= np.linalg.norm(side, axis=1, keepdims=True)
    a = regressor(9.81 * up + rng.normal(size=(n, 3)), rng.normal(size=(n, 3)),
                  3.0 * rng.normal(size=(n, 3)))
    y = a @ PHI + BIAS + noise * rng.normal(size=(n, 6)) * NOISE
    return stored_rows(
        RowSignals(np.arange(n), a, np.zeros_like(a), side, np.cross(up, side), 9.81, y)), a


def _learn(running_fit: RunningFit, rows: Array, size: int = 12) -> None:
    for k in range(0, len(rows), size):
        part = rows[k:k + size]
        running_fit.learn(part, np.ones(len(part)), False)


def test_the_fit_is_least_squares_of_all_rows_with_fading_weights(
        rng: np.random.Generator) -> None:
    rows, a = _rows(240, rng)
    running_fit = _running_fit()
    _learn(running_fit, rows)
    age = PERIOD * (239 - np.arange(240) // 12 * 12 - 11)  # rows fade a block at a time
    weight = np.exp(-0.5 * age / 15.0)[:, None] / NOISE
    columns = np.concatenate([a, np.broadcast_to(np.eye(6), (240, 6, 6))], axis=2)
    expected, *_ = np.linalg.lstsq((columns * weight[..., None]).reshape(-1, 16),
                                   (rows[..., -1] * weight).ravel())
    np.testing.assert_allclose(running_fit.phi, expected[:10], rtol=2e-3, atol=2e-4)


def test_what_is_expected_of_poses_never_seen_is_as_uncertain_as_the_truth_is_far(
        rng: np.random.Generator) -> None:
    """The spread covers the residual in as many cases as a normal distribution does."""
    lengths, residuals = [], []
    for _ in range(40):
        running_fit = _running_fit()
        few, _ = _rows(1, rng)
        _learn(running_fit, np.repeat(few, 24, axis=0) + 0.0)
        new, _ = _rows(5, rng, noise=0.0)
        forecast = running_fit.expect(new, np.ones(5), False)
        residuals.append(forecast.residual[:, :3])
        lengths.append(forecast.distance)
    assert np.std(residuals) > 5.0 * NOISE[0]  # for want of motion
    assert np.mean(np.concatenate(lengths) ** 2) < 6.0


def test_a_row_that_does_not_fit_is_far_off_and_one_that_does_is_not(
        rng: np.random.Generator) -> None:
    running_fit = _running_fit(0.01)
    _learn(running_fit, _rows(240, rng)[0])
    new, _ = _rows(20, rng)
    assert running_fit.expect(new, np.ones(20), False).distance.max() < 4.0
    new[..., -1] += [3.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    assert running_fit.expect(new, np.ones(20), False).distance.min() > 6.0


def test_an_error_of_the_sensor_may_differ_where_the_sensor_has_turned(
        rng: np.random.Generator) -> None:
    """As far as the accuracy of the sensor says, beside what time alone does."""
    model = WrenchModel(Settings().replace({"wrench.accuracy": (0.1, 0.01)}))
    running_fit = RunningFit(model, 1.0, PERIOD)
    rows, _ = _rows(240, rng)
    _learn(running_fit, rows)
    here = np.repeat(rows[-12:].mean(axis=0)[None], 2, axis=0)
    turned = here.copy()
    turned[1, :3, UPWARD] += [0.3, -0.4, 0.0]  # half a radian
    stays, moves = np.einsum("nii->ni", running_fit.expect(turned, np.ones(2), False).spread)
    np.testing.assert_allclose((moves - stays)[:3], (3.0 * 0.1 * 0.5) ** 2, rtol=1e-9)
    np.testing.assert_allclose((moves - stays)[3:], (3.0 * 0.01 * 0.5) ** 2, rtol=1e-9)


@pytest.mark.parametrize("noise", [1.0, 10.0])
def test_the_noise_is_that_of_the_residual(noise: float, rng: np.random.Generator) -> None:
    running_fit = _running_fit()
    _learn(running_fit, _rows(480, rng, noise)[0])
    forecast = running_fit.expect(_rows(1, rng)[0], np.ones(1), False)
    # One data-sheet sigma is added for what no filter averages out.
    np.testing.assert_allclose(np.sqrt(forecast.noise[0]) / NOISE, np.sqrt(noise**2 + 1.0),
                               rtol=0.15)


@pytest.mark.parametrize("noise", [0.3, 3.0])
@pytest.mark.parametrize("bias_sd", [0.1, 10.0])
def test_another_noise_or_prior_counts_as_if_it_had_been_known_from_the_start(
        noise: float, bias_sd: float, rng: np.random.Generator) -> None:
    model = _model(noise, bias_sd)
    changed, known = _running_fit(), RunningFit(model, 1.0, PERIOD)
    rows, _ = _rows(480, rng)
    for fit in (changed, known):
        _learn(fit, rows)
    before = _off(changed, known, rng)
    changed.use_model(model)
    assert _off(changed, known, rng) < min(0.05, 0.3 * before)
    changed, known = (RunningFit(fit.model, 1.0, PERIOD, fit) for fit in (changed, known))
    changed.use_model(model)
    np.testing.assert_allclose(changed.covariance, known.covariance)


def _off(one: RunningFit, other: RunningFit, rng: np.random.Generator) -> float:
    """Largest relative difference of what two fits expect of new rows."""
    rows, _ = _rows(20, rng)
    first, second = (fit.expect(rows, np.ones(20), False) for fit in (one, other))
    variances = [np.einsum("nii->ni", f.spread) + f.noise + f.doubt for f in (first, second)]
    return float(np.abs(variances[0] / variances[1] - 1.0).max())


def test_a_model_that_does_not_fit_is_not_confirmed(rng: np.random.Generator) -> None:
    right, wrong = _running_fit(), _running_fit()
    rows, _ = _rows(240, rng)
    _learn(right, rows)
    turned = rows.copy()
    turned[..., -1] = rows[:, [1, 2, 0, 4, 5, 3], -1]
    _learn(wrong, turned)
    assert right.is_confirmed and not wrong.is_confirmed


def test_an_unknown_centre_of_turning_is_part_of_the_spread(rng: np.random.Generator) -> None:
    """Against wrenches of levers drawn at random."""
    running_fit = _running_fit()
    _learn(running_fit, _rows(480, rng)[0])
    omega, alpha = np.array([0.3, -0.9, 0.5]), np.array([1.0, 2.0, -1.5])
    a = regressor(np.array([0.0, 0.0, 9.81]), omega, alpha)[None]
    row = stored_rows(RowSignals(np.arange(1), a, np.zeros_like(a), np.eye(3)[:1],
                                 np.eye(3)[1:2], 9.81, a @ PHI))
    known, unknown = (running_fit.expect(row, np.ones(1), flag).spread[0] for flag in (False, True))
    drawn = []
    for lever in 0.3 * rng.normal(size=(4000, 3)):
        extra = np.cross(alpha, lever) + np.cross(omega, np.cross(omega, lever))
        drawn.append((regressor(extra + [0.0, 0.0, 9.81], omega, alpha) - a[0]) @ PHI)
    expected = np.cov(np.array(drawn).T)
    np.testing.assert_allclose(unknown - known, expected, atol=0.08 * expected.max())


def _near_rest(n: int, turned: float, noise: float, rng: np.random.Generator) -> Array:
    """Stored rows (n, 6, 38) of an arm at rest, turned by an angle [rad] about x from where it
    was, whose encoders make the acceleration noisy."""
    up = np.tile([0.0, np.sin(turned), np.cos(turned)], (n, 1))
    side = np.tile([1.0, 0.0, 0.0], (n, 1))
    still = np.zeros((n, 3))
    true = regressor(9.81 * up, still, still)
    a = regressor(9.81 * up + noise * rng.normal(size=(n, 3)), still, still)
    y = true @ PHI + BIAS + 0.1 * NOISE * rng.normal(size=(n, 6))
    return stored_rows(
        RowSignals(np.arange(n), a, np.zeros_like(a), side, np.cross(up, side), 9.81, y))


def test_the_first_move_after_a_rest_is_as_expected_as_it_can_be(
        rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    """The noise of the motion at rest has made the fit sure of a mass next to nothing."""
    running_fit = _running_fit()
    _learn(running_fit, _near_rest(1000, 0.0, 0.05, rng))
    mass, sd = running_fit.mass
    assert mass + 5.0 * sd < PHI[0]
    moved = _near_rest(3, 0.1, 0.0, rng)
    assert running_fit.expect(moved, np.ones(3), False).distance.max() < 4.0
    monkeypatch.setattr(module, "_ACCELERATION_NOISE", 0.0)
    assert running_fit.expect(moved, np.ones(3), False).distance.min() > 4.0


def test_after_real_motion_the_noise_of_the_motion_excuses_nothing(
        rng: np.random.Generator) -> None:
    running_fit = _running_fit()
    rows, _ = _rows(480, rng)
    _learn(running_fit, rows)
    pushed, _ = _rows(5, rng)
    pushed[:, 0, -1] += 2.0  # N
    assert running_fit.expect(pushed, np.ones(5), False).distance.min() > 6.0


# ---- noise of the motion -------------------------------------------------------------------------

SHAKING = np.repeat([0.3, 1.0], 3)  # m/s^2, rad/s^2
LINEAR = np.repeat([1.0, 0.0], 3)


def _shaken_rows(n: int, moved: float, covariance_sd: Array, rng: np.random.Generator) -> Array:
    """Stored rows (n, 6, 38) of poses and accelerations about one pose, `moved` apart, whose
    accelerations are noisy (6,)."""
    push = 9.81 * np.array([0.0, 0.6, 0.8]) + moved * rng.normal(size=(n, 3))
    alpha, still = moved * rng.normal(size=(n, 3)), np.zeros((n, 3))
    side = np.tile([1.0, 0.0, 0.0], (n, 1))
    up = push / np.linalg.norm(push, axis=1, keepdims=True)
    y = regressor(push, still, alpha) @ PHI + BIAS + NOISE * rng.normal(size=(n, 6))
    a = regressor(push + covariance_sd[:3] * rng.normal(size=(n, 3)), still,
                  alpha + covariance_sd[3:] * rng.normal(size=(n, 3)))
    return stored_rows(
        RowSignals(np.arange(n), a, np.zeros_like(a), side, np.cross(up, side), 9.81, y))


def test_channels_that_the_noise_of_the_motion_ties_together_do_not_count_twice(
        rng: np.random.Generator) -> None:
    """A length of six channels is beyond 4.74 in one of a thousand rows (chi squared)."""
    rows = _shaken_rows(600, 3.0, LINEAR, rng)
    new = _shaken_rows(4000, 3.0, LINEAR, rng)
    beyond = []
    for covariance_sd in (LINEAR, np.zeros(6)):
        running_fit = _running_fit()
        running_fit.acceleration_covariance = np.diag(covariance_sd**2)
        _learn(running_fit, rows)
        beyond.append(np.mean(running_fit.expect(new, np.ones(4000), False).distance > 4.74))
    assert beyond[0] < 0.001 < beyond[1], beyond


@pytest.mark.parametrize("moved", [0.0, 0.1, 1.0])
def test_however_long_a_rest_it_makes_the_fit_sure_of_nothing_that_is_not_so(
        moved: float, rng: np.random.Generator) -> None:
    rows = _shaken_rows(1500, moved, SHAKING, rng)
    off = []
    for covariance_sd in (SHAKING, np.zeros(6)):
        running_fit = _running_fit()
        running_fit.acceleration_covariance = np.diag(covariance_sd**2)
        _learn(running_fit, rows)
        sd = np.sqrt(np.diag(running_fit.covariance))[:10]
        off.append(np.abs((running_fit.phi - PHI) / sd).max())
    assert off[0] < 4.0 and off[1] > 4.0, off


def test_the_fit_to_a_payload_that_walks_is_of_that_of_now(rng: np.random.Generator) -> None:
    rows, a = _rows(480, rng)
    change = np.r_[-0.4, -0.4 * PHI[1:4] / PHI[0], np.zeros(6)]
    now = rows.copy()
    now[..., -1] += a @ change
    running_fit = _running_fit()
    _learn(running_fit, rows[:240])
    running_fit.follow(np.diag(np.r_[1e-4, np.zeros(9)]))
    seen = running_fit.expect(now[240:], np.ones(240), False).residual
    assert seen[:, :3].std() > 1.0  # N; it lags behind
    running_fit.follow(np.diag(np.r_[1e-4, np.zeros(9)]), running_fit.phi + change)
    seen = running_fit.expect(now[240:], np.ones(240), False).residual
    assert (seen.std(axis=0) < 1.5 * NOISE).all()
    _learn(running_fit, now[240:])  # the old rows are now as those of the new payload
    np.testing.assert_allclose(running_fit.phi[:4], (PHI + change)[:4], atol=0.02)
