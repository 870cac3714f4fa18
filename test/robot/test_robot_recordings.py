# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Recordings: filtering keeps the truth, tilt and delay are found, real robots are predicted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.robot import recordings
from benchmarks.robot.reference.known_gains import payload_with_gains
from benchmarks.robot.robots import random_tree, ur10e, wam
from inertial_id_ros.errors import InvalidData, NotEnoughData
from inertial_id_ros.inertia import phi_from_body
from inertial_id_ros.robot.drive_gains import gains_from_payload
from inertial_id_ros.robot.joint_terms import NO_TERMS, JointTerms
from inertial_id_ros.robot.model import RobotModel
from inertial_id_ros.robot.recording import JointRecording, filter_recording
from inertial_id_ros.robot.tilt_and_delay import align_recording

RATE = 200  # Hz
DELAY = 0.012  # s


def moving(rng: np.random.Generator, joints: int, seconds: float
           ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Times with jitter and a sum of sines: t (n,), q, dq, ddq (n, joints)."""
    t = np.arange(0.0, seconds, 1.0 / RATE) + rng.uniform(0.0, 0.2 / RATE, int(seconds * RATE))
    w = rng.uniform(0.5, 4.0, (4, joints))
    phase, size = rng.uniform(0.0, 6.3, (2, 4, joints))
    angle = t[:, None, None] * w + phase
    scale = 0.1 * size
    return (t, np.sum(scale * np.sin(angle), axis=1), np.sum(scale * w * np.cos(angle), axis=1),
            -np.sum(scale * w**2 * np.sin(angle), axis=1))


def test_filtered_rows_still_satisfy_the_equations_of_motion(rng: np.random.Generator) -> None:
    model = RobotModel.from_urdf(random_tree(rng, 4), NO_TERMS)
    t, q, dq, ddq = moving(rng, 4, 8.0)
    torque = model.torque(model.nominal, q, dq, ddq)
    rows = filter_recording(model, JointRecording.from_seconds(1e6 + t, q, torque))
    error = rows.regressor @ model.nominal - rows.effort
    assert np.linalg.norm(error) < 1e-3 * np.linalg.norm(rows.effort)
    assert 1e6 <= rows.time.min() and rows.time.max() <= 1e6 + 8.0
    middle = slice(20, -20)
    slope = np.gradient(rows.effort, rows.time, axis=0)
    np.testing.assert_allclose(rows.effort_rate[middle], slope[middle],
                               atol=0.05 * np.abs(slope).max())


def test_rows_do_not_depend_on_how_many_bins_are_in_memory(
        rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also across a gap, and with the entries that no motion changes left out of the filter."""
    model = RobotModel.from_urdf(wam(rng))
    t = np.arange(0.0, 4.0, 0.004)
    t = t[(t < 1.3) | (t > 1.5)]
    q = np.sin(t[:, None] * rng.uniform(1.0, 3.0, model.nv))
    recording = JointRecording.from_seconds(t, q, rng.normal(size=q.shape))
    whole = filter_recording(model, recording)
    monkeypatch.setattr("inertial_id_ros.robot.recording.CHUNK", 37)
    parts = filter_recording(model, recording)
    for one, other in zip(vars(whole).values(), vars(parts).values(), strict=True):
        np.testing.assert_allclose(np.asarray(other), np.asarray(one), rtol=1e-10, atol=1e-10)


def test_factors_are_those_of_the_weighted_rows(rng: np.random.Generator) -> None:
    model = RobotModel.from_urdf(random_tree(rng, 3))
    t = np.arange(0.0, 20.0, 0.005)
    q = np.sin(t[:, None] * np.array([1.0, 1.3, 0.7]) + rng.normal(size=3))
    rows = filter_recording(model, JointRecording.from_seconds(t, q, rng.normal(size=q.shape)))
    weights = rng.uniform(0.5, 1.0, rows.effort.shape)
    stacked = rows.compress(weights).stack()
    dense = np.concatenate([rows.regressor, rows.effort[..., None]], axis=2)
    dense = (dense * weights[..., None]).reshape(-1, model.size + 1)
    np.testing.assert_allclose(stacked.T @ stacked, dense.T @ dense, rtol=1e-9, atol=1e-9)


def test_joined_recordings_give_the_rows_of_each(rng: np.random.Generator) -> None:
    model = RobotModel.from_urdf(random_tree(rng, 3))
    parts = []
    for seconds in (3.0, 2.0):
        t, q, _, _ = moving(rng, 3, seconds)
        parts.append(JointRecording.from_seconds(t, q, rng.normal(size=q.shape)))
    one, two = (filter_recording(model, part) for part in parts)
    rows = filter_recording(model, JointRecording.join(parts))
    for name in ("regressor", "effort", "effort_rate"):
        np.testing.assert_allclose(getattr(rows, name), np.concatenate(
            [getattr(one, name), getattr(two, name)]), rtol=1e-9, atol=1e-9)


def test_tilt_and_delay_are_found(rng: np.random.Generator) -> None:
    model = RobotModel.from_urdf(random_tree(rng, 4))
    tilt = np.array([0.02, -0.03])
    gravity = 9.81 * np.array([*np.sin(tilt), -np.sqrt(1.0 - np.sum(np.sin(tilt)**2))])
    t, q, dq, ddq = moving(rng, 4, 15.0)
    leaning = model.with_gravity(gravity)
    late = leaning.torque(model.nominal, q, dq, ddq)
    late += 0.02 * rng.normal(size=late.shape)
    stamped = np.stack([np.interp(t - DELAY, t, late[:, j]) for j in range(4)], axis=1)[10:]
    found = align_recording(model, JointRecording.from_seconds(t[10:], q[10:], stamped))
    assert found.delay == pytest.approx(DELAY, abs=0.3e-3)
    np.testing.assert_allclose(found.tilt, tilt, atol=2e-3)
    np.testing.assert_allclose(found.gravity, gravity, atol=0.02)


def test_gains_and_payload_are_found_from_currents(rng: np.random.Generator) -> None:
    model = RobotModel.from_urdf(ur10e(rng), JointTerms(drive_inertia=True))
    payload = phi_from_body(2.5, np.array([0.03, -0.02, 0.1]), 0.01 * np.eye(3))
    gain = np.array([11.0, 12.0, 10.0, 9.0, 10.5, 11.5])
    truth = model.nominal
    for j in range(6):
        for term, value in zip(model.terms.names, (3.0, 5.0, 0.2, 1.0), strict=True):
            truth[model.term_index(j, term)] = value
    pair = []
    for carried in (np.zeros(10), payload):
        t, q, dq, ddq = moving(rng, 6, 20.0)
        phi = truth.copy()
        phi[model.body_slice(5)] += carried
        current = model.torque(phi, q, dq, ddq) / gain + 0.02 * rng.normal(size=q.shape)
        pair.append(filter_recording(model, JointRecording.from_seconds(t, q, current)))
    found = gains_from_payload(model, pair[0], pair[1], 2.5)
    np.testing.assert_allclose(found.gain, gain, rtol=0.02)
    assert found.payload[0] == 2.5
    np.testing.assert_allclose(found.payload[1:4], payload[1:4], atol=0.01)
    blind = payload_with_gains(model, pair[0], pair[1], gain)
    assert blind.payload[0] == pytest.approx(2.5, rel=0.01)
    with pytest.raises(InvalidData, match="must be positive"):
        gains_from_payload(model, pair[0], pair[1], 0.0)


@pytest.mark.slow
def test_the_payload_is_within_its_interval_though_gains_and_friction_are_not_exact(
        rng: np.random.Generator) -> None:
    """Gains wrong as their standard deviations say, and friction that wanders for seconds: the
    spread of the masses found is what their standard deviations say."""
    model = RobotModel.from_urdf(ur10e(rng), JointTerms())
    payload = phi_from_body(2.5, np.array([0.03, -0.02, 0.1]), 0.01 * np.eye(3))
    gain, sigma = np.full(6, 10.0), np.full(6, 0.15)
    scaled = []
    for _ in range(16):
        pair = []
        for carried in (np.zeros(10), payload):
            t, q, dq, ddq = moving(rng, 6, 8.0)
            phi = model.nominal
            phi[model.body_slice(5)] += carried
            wander = np.repeat(rng.normal(size=(len(t) // 50 + 1, 6)), 50, axis=0)[:len(t)]
            current = model.torque(phi, q, dq, ddq) / gain + 0.1 * wander
            pair.append(filter_recording(model, JointRecording.from_seconds(t, q, current)))
        found = payload_with_gains(model, *pair, gain + sigma * rng.normal(size=6), sigma)
        scaled.append((found.payload[0] - 2.5) / found.payload_sigma[0])
    assert 0.6 < np.sqrt(np.mean(np.square(scaled))) < 1.5


def test_recordings_that_cannot_be_used_are_refused(rng: np.random.Generator) -> None:
    model = RobotModel.from_urdf(random_tree(rng, 2))
    t, zeros = np.arange(100) * 0.01, np.zeros((100, 2))
    with pytest.raises(InvalidData, match="stamps of the joint states do not increase"):
        JointRecording(np.array([2, 1]), np.zeros((2, 2)), np.zeros((2, 2)))
    with pytest.raises(InvalidData, match=r"effort has shape \(99, 2\)"):
        JointRecording((t * 1e9).astype(int), zeros, zeros[1:])
    with pytest.raises(InvalidData, match="the recording has 3 efforts, the model 2"):
        filter_recording(model, JointRecording.from_seconds(t, zeros, np.zeros((100, 3))))
    with pytest.raises(InvalidData, match="the recording has 3 positions"):
        filter_recording(model, JointRecording.from_seconds(t, np.zeros((100, 3)),
                                                            np.zeros((100, 3))))
    with pytest.raises(NotEnoughData, match="too sparse"):
        filter_recording(model, JointRecording.from_seconds(t * 100.0, zeros, zeros))
    with pytest.raises(InvalidData, match="along the root's z axis"):
        align_recording(model.with_gravity([9.81, 0.0, 0.0]),
                        JointRecording.from_seconds(t, zeros, zeros))


def test_the_torques_of_a_real_panda_are_predicted_by_links_that_exist(data_folder: Path) -> None:
    torques = recordings.load_panda(data_folder)
    result = recordings.panda_errors(torques, 0.2)
    free = result.errors[recordings.LEAST_SQUARES]
    assert result.consistent
    for method in ("BPFC", "FBPE-OLS", "FBPE, weighted", "mass points"):
        assert result.errors[method] < 0.013, method
    assert result.errors["FBPE-OLS"] < 1.05 * free
    weighted = result.errors["weighted least squares"]
    assert result.errors["FBPE, weighted"] < 1.05 * weighted


def test_motor_currents_of_a_real_ur10e_tell_gains_and_the_weighed_mass(
        data_folder: Path) -> None:
    currents = recordings.load_ur10e(data_folder)
    masses = recordings.ur10e_masses(currents)
    # The controller's own gains, which the pair was not told.
    np.testing.assert_allclose(masses.told.gain, currents.makers_gain, rtol=0.1)
    for found in (masses.makers, *masses.halves):
        assert found.payload[0] == pytest.approx(recordings.PAYLOAD, rel=0.02)
