# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Recordings of accelerations: the body comes out, with honest intervals, and misuse is told."""

from __future__ import annotations

import numpy as np
import pytest
from problems import box
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

from benchmarks.accuracy.product import Answers, Data
from inertial_id_ros.errors import InvalidData, NotEnoughData
from inertial_id_ros.identification.accelerations import Recording, compress_recording, identify
from inertial_id_ros.inertia import Array
from inertial_id_ros.regression.newton_euler import regressor
from inertial_id_ros.regression.row_layout import PHI, WRENCH
from inertial_id_ros.regression.uncertainty.errors_in_variables import residual_covariance
from inertial_id_ros.settings import Settings

SHAPE = box()
PHI_TRUE = SHAPE.uniform(1.2)
NOISE = np.repeat([0.1, 0.005], 3)
ACCELERATION = np.repeat([0.05, 0.5], 3)
KNOWN = Settings().replace({
    "wrench.sensor": "ideal", "alignment.orientation_sd": 0.0, "alignment.position_sd": 0.0,
    "estimator.method": "wls", "estimator.estimate_bias": False, "alignment.rotation_sd": 0.0,
    "alignment.tilt_sd": 0.0, "alignment.delay_sd": 0.0})

EXACT = KNOWN.replace({"accelerations.noise": (0.0, 0.0, 0.005)})


def moving(rng: np.random.Generator, seconds: float = 6.0, rate: float = 100.0,
           speed: float = 2.0) -> Recording:
    """An exact recording of a smooth motion, in the convention on_sensor."""
    t = np.arange(round(seconds * rate)) / rate
    frequency, phase = rng.uniform(1.0, 4.0, 6), rng.uniform(0.0, 2.0 * np.pi, 6)

    def rotation(s: Array) -> Rotation:
        return Rotation.from_euler("xyz", speed / frequency[:3]
                                   * np.sin(frequency[:3] * s[:, None] + phase[:3]))

    def omega_at(s: Array) -> Array:
        return (rotation(s - 1e-4).inv() * rotation(s + 1e-4)).as_rotvec() / 2e-4

    axes = rotation(t).as_matrix()  # rows: axes of the frame at rest in sensor axes
    omega, alpha = omega_at(t), (omega_at(t + 1e-3) - omega_at(t - 1e-3)) / 2e-3
    acceleration = np.sin(frequency[3:] * t[:, None] + phase[3:])
    a = regressor(acceleration + 9.81 * axes[:, 2], omega, alpha)
    return Recording(t, axes, acceleration, omega, -a @ PHI_TRUE, alpha)


def noisy(rng: np.random.Generator, exact: Recording) -> Recording:
    n = rng.normal(size=(len(exact.time), 12))
    assert exact.alpha is not None
    return exact._replace(
        acceleration=exact.acceleration + ACCELERATION[:3] * n[:, :3],
        alpha=exact.alpha + ACCELERATION[3:] * n[:, 3:6], wrench=exact.wrench + NOISE * n[:, 6:])


def test_an_exact_recording_gives_the_body(rng: np.random.Generator) -> None:
    """Whatever the sign convention, and with angular acceleration measured or derived."""
    recording = moving(rng)
    other = KNOWN.replace({"wrench.convention": "on_environment"})
    opposite = recording._replace(wrench=-recording.wrench)
    for settings, made in ((KNOWN, recording), (other, opposite),
                           (KNOWN, recording._replace(alpha=None))):
        estimate = identify(made, settings)
        np.testing.assert_allclose(estimate.phi, PHI_TRUE, rtol=2e-3, atol=2e-5)
    assert estimate.samples == pytest.approx(len(recording.time), abs=40)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["wls", "lmi", "density"])
def test_intervals_hold_the_truth_and_are_narrower_than_those_without_covariance_of_channels(
        method: str, rng: np.random.Generator) -> None:
    """95 % intervals, and the error against accelerations taken as exact."""
    settings, exact = (s.replace({"estimator.method": method}) for s in (KNOWN, EXACT))
    recording, inside, errors = moving(rng), [], []
    for _ in range(12):
        made = noisy(rng, recording)
        found, naive = identify(made, settings, SHAPE), identify(made, exact, SHAPE)
        sd = np.sqrt(np.diag(found.phi_covariance))
        inside.append(np.abs(found.phi - PHI_TRUE) < 1.96 * sd)
        errors.append([np.linalg.norm(e.phi[4:] - PHI_TRUE[4:]) for e in (found, naive)])
    assert np.mean(inside) > 0.9
    ours, naive_error = np.mean(errors, axis=0)
    assert ours < 0.85 * naive_error


def test_least_squares_reaches_the_optimum_of_the_likelihood_of_all_filtered_rows(
        rng: np.random.Generator) -> None:
    settings = KNOWN.replace({"estimator.estimate_noise": False})
    made = noisy(rng, moving(rng))
    found = identify(made, settings)
    window, _ = compress_recording(made, settings)
    assert window.cross_channel is not None
    rows = window.cross_channel.rows
    sd = np.sqrt(np.diag(found.phi_covariance))

    def likelihood(x: Array) -> float:
        phi = found.phi + sd * x
        r = rows[..., WRENCH] - rows[..., PHI] @ phi
        weight = np.linalg.inv(residual_covariance(phi, NOISE, ACCELERATION))
        return 0.5 * float(np.einsum("ni,ij,nj->", r, weight, r))

    assert np.linalg.norm(minimize(likelihood, np.zeros(10)).x) < 0.1


def test_noise_of_a_derivative_after_the_low_pass_is_as_stated(rng: np.random.Generator) -> None:
    """White noise in the angular velocity, at rest, against the white noise it is taken for."""
    n, sd = 15_000, 0.01
    rest = Recording(np.arange(n) / 100.0, np.tile(np.eye(3), (n, 1, 1)), np.zeros((n, 3)),
                     sd * rng.normal(size=(n, 3)), np.zeros((n, 6)))
    window, filtering = compress_recording(rest, KNOWN.replace({
        "accelerations.noise": (0.0, 0.0, sd), "buffer.window": 600.0}))
    assert window.cross_channel is not None
    stated = window.cross_channel.acceleration_noise[3:]
    # Column Ixx of the torque about x is the angular acceleration about x.
    seen = np.sum(window.cross_channel.rows[:, 3, 4] ** 2) / window.cross_channel.energy
    np.testing.assert_allclose(np.sqrt(seen), stated, rtol=0.05)


def test_faster_samples_are_worth_as_much_as_they_are_many(rng: np.random.Generator) -> None:
    """Five samples in a bin: the covariance shrinks fivefold."""
    traces = []
    for rate in (100.0, 500.0):
        made = noisy(rng, moving(np.random.default_rng(1), rate=rate))
        settings = KNOWN.replace({"estimator.estimate_noise": False})
        traces.append(np.diag(identify(made, settings).phi_covariance))
    np.testing.assert_allclose(traces[0] / traces[1], 5.0, rtol=0.15)


def test_at_rest_noise_is_not_taken_for_motion(rng: np.random.Generator) -> None:
    """Mass and centre of a body in a few poses are found, while the information about its inertia
    that noise seems to bring is not claimed."""
    n, zero, ratios = 1000, np.zeros((1000, 3)), []
    settings = KNOWN.replace({"estimator.method": "lmi", "estimator.estimate_noise": False})
    for _ in range(8):
        axes = Rotation.random(5, random_state=rng).as_matrix()[np.arange(n) // (n // 5)]
        a = regressor(9.81 * axes[:, 2], zero, zero)
        made = noisy(rng, Recording(np.arange(n) / 100.0, axes, zero, zero, -a @ PHI_TRUE, zero))
        found = identify(made, settings)
        np.testing.assert_allclose(found.phi[:4], PHI_TRUE[:4], atol=0.01)
        joint = compress_recording(made, settings)[0].cross_channel
        assert joint is not None
        weight = np.linalg.inv(residual_covariance(found.phi, NOISE, ACCELERATION))
        seeming = np.einsum("nik,ij,njl->kl", joint.rows[..., 4:10], weight, joint.rows[..., 4:10])
        ratios.append(np.diag(found.phi_covariance)[4:] / np.diag(np.linalg.inv(seeming)))
    assert np.sqrt(np.median(ratios)) > 3.0


def test_the_benchmark_answers_as_the_product_does(rng: np.random.Generator) -> None:
    made, settings = noisy(rng, moving(rng)), KNOWN.replace({"estimator.method": "density"})
    wanted = identify(made, settings, SHAPE)
    answer = Answers().solve(Data(*compress_recording(made, settings)), SHAPE, settings,
                             ["density"])["density"]
    np.testing.assert_allclose(answer.phi, wanted.phi, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(answer.covariance, wanted.phi_covariance, rtol=1e-9, atol=1e-14)


def test_biases_and_alignment_are_estimated_too(rng: np.random.Generator) -> None:
    """A wrench bias, a turned sensor: found within three standard deviations."""
    bias = np.array([0.5, -0.3, 0.2, 0.02, -0.01, 0.03])
    turn = Rotation.from_rotvec(np.deg2rad([0.6, -0.4, 0.5]))
    exact = moving(rng, 10.0)
    read = np.hstack([turn.apply(exact.wrench[:, :3]), turn.apply(exact.wrench[:, 3:])])
    made = noisy(rng, exact._replace(wrench=read + bias))
    settings = Settings().replace({"estimator.method": "density", "alignment.delay_sd": 0.0,
                                   "alignment.tilt_sd": 0.0})
    found = identify(made, settings, SHAPE)
    z = (found.phi - PHI_TRUE) / np.sqrt(np.diag(found.phi_covariance))
    assert np.abs(z).max() < 3.0
    np.testing.assert_allclose(found.bias, bias, atol=0.1)
    rotation = np.abs(found.alignment[:3]) - np.deg2rad([0.6, 0.4, 0.5])
    assert np.all(np.abs(rotation) < 3.0 * found.alignment_sigma[:3])


@pytest.mark.parametrize(("field", "value", "text"), [
    ("omega", np.zeros((10, 3)), "omega has shape"),
    ("wrench", np.full((600, 6), np.nan), "not finite"),
    ("time", np.zeros(600), "time does not rise")])
def test_arrays_that_cannot_be_are_named(field: str, value: Array, text: str,
                                         rng: np.random.Generator) -> None:
    with pytest.raises(InvalidData, match=text):
        identify(moving(rng)._replace(**{field: value}), KNOWN)


def test_too_short_a_recording_is_refused(rng: np.random.Generator) -> None:
    for seconds in (0.01, 0.05):
        with pytest.raises(NotEnoughData):
            identify(moving(rng, seconds), KNOWN)


def test_time_of_the_estimate_is_that_of_the_recording(rng: np.random.Generator) -> None:
    recording = moving(rng)
    estimate = identify(recording._replace(time=recording.time + 1.7e9), KNOWN)
    assert estimate.stamp_ns * 1e-9 == pytest.approx(1.7e9 + recording.time[-1], abs=0.3)
