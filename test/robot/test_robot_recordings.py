# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Recordings: filtering keeps the truth, tilt and delay are found, real robots are predicted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from robots import panda, random_tree, recording, ur10e

from inertial_id_ros.errors import InvalidData, NotEnoughData
from inertial_id_ros.inertia import phi_from_body
from inertial_id_ros.robot.alignment import Alignment, align_recording
from inertial_id_ros.robot.drive_gains import gains_from_payload
from inertial_id_ros.robot.fit import METHODS, Approach
from inertial_id_ros.robot.identify import Request, identify_described_robot
from inertial_id_ros.robot.model import NO_TERMS, JointTerms, RobotModel
from inertial_id_ros.robot.recording import (
    JointRecording,
    NamedRecording,
    RowFilter,
    filter_recording,
)

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
    torque = model.regressor(q, dq, ddq) @ model.nominal
    rows = filter_recording(model, recording(1e6 + t, q, torque))
    error = rows.regressor @ model.nominal - rows.effort
    assert np.linalg.norm(error) < 1e-3 * np.linalg.norm(rows.effort)
    assert 1e6 <= rows.time.min() and rows.time.max() <= 1e6 + 8.0
    middle = slice(20, -20)
    slope = np.gradient(rows.effort, rows.time, axis=0)
    rate = RowFilter(recording(1e6 + t, q, torque)).effort_rate
    np.testing.assert_allclose(rate[middle], slope[middle], atol=0.05 * np.abs(slope).max())


def test_factors_are_those_of_the_weighted_rows(rng: np.random.Generator) -> None:
    model = RobotModel.from_urdf(random_tree(rng, 3))
    t = np.arange(0.0, 20.0, 0.005)
    q = np.sin(t[:, None] * np.array([1.0, 1.3, 0.7]) + rng.normal(size=3))
    rows = filter_recording(model, recording(t, q, rng.normal(size=q.shape)))
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
        parts.append(recording(t, q, rng.normal(size=q.shape)))
    one, two = (filter_recording(model, part) for part in parts)
    rows = filter_recording(model, JointRecording.join(parts))
    for name in ("regressor", "effort"):
        joined = getattr(rows, name)  # between them rows of which part lies in the break
        for part, where in ((one, slice(0, len(one.time))), (two, slice(-len(two.time), None))):
            np.testing.assert_allclose(joined[where], getattr(part, name), rtol=1e-9, atol=1e-9)


def _aligned(model: RobotModel, recorded: JointRecording) -> Alignment:
    filtered = RowFilter(recorded)
    return align_recording(model, filtered, np.ones_like(filtered.effort))


def test_tilt_and_delay_are_found(rng: np.random.Generator) -> None:
    model = RobotModel.from_urdf(random_tree(rng, 4))
    tilt = np.array([0.02, -0.03])
    gravity = 9.81 * np.array([*np.sin(tilt), -np.sqrt(1.0 - np.sum(np.sin(tilt)**2))])
    t, q, dq, ddq = moving(rng, 4, 15.0)
    leaning = model.with_gravity(gravity)
    late = leaning.regressor(q, dq, ddq) @ model.nominal
    late += 0.02 * rng.normal(size=late.shape)
    stamped = np.stack([np.interp(t - DELAY, t, late[:, j]) for j in range(4)], axis=1)[10:]
    found = _aligned(model, recording(t[10:], q[10:], stamped))
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
        current = model.regressor(q, dq, ddq) @ phi / gain + 0.02 * rng.normal(size=q.shape)
        pair.append(filter_recording(model, recording(t, q, current)))
    found = gains_from_payload(model, pair[0], pair[1], 2.5)
    np.testing.assert_allclose(found.gain, gain, rtol=0.02)
    assert (np.abs(found.gain - gain) < 4.0 * np.sqrt(np.diag(found.covariance))).all()


def test_recordings_that_cannot_be_used_are_refused(rng: np.random.Generator) -> None:
    model = RobotModel.from_urdf(random_tree(rng, 2))
    t, zeros = np.arange(100) * 0.01, np.zeros((100, 2))
    with pytest.raises(NotEnoughData):
        filter_recording(model, recording(t * 100.0, zeros, zeros))
    with pytest.raises(InvalidData):
        _aligned(model.with_gravity([9.81, 0.0, 0.0]), recording(t, zeros, zeros))


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_the_torques_of_a_real_panda_are_predicted_by_links_that_exist(
        data_folder: Path, method: str) -> None:
    """Its description holds made-up bodies, for scale; the last 30 % are held back."""
    data = np.load(data_folder / "panda_joint_torque" / "excitation.npz")
    stamps = np.round(1e9 * data["t"]).astype(np.int64)
    result = identify_described_robot(
        panda(np.random.default_rng(0)), [NamedRecording((), stamps, data["q"], data["tau"])],
        Request(approach=Approach(method)))
    assert result.consistent.all() and result.validation is not None
    assert result.validation.relative < 0.0095
    assert result.alignment is not None and 0.001 < result.alignment.delay < 0.005


def test_motor_currents_of_a_real_ur10e_tell_the_gains_of_its_controller(data_folder: Path) -> None:
    """They come from the controller's target currents and torques, which the pair was not told."""
    folder = data_folder / "ur10e_motor_current"
    free, held = (np.load(folder / f"{name}.npz") for name in ("unloaded", "loaded_2.805kg"))
    model = RobotModel.from_urdf(ur10e(np.random.default_rng(0)), JointTerms(drive_inertia=True))
    found = gains_from_payload(model, *(filter_recording(model, recording(
        d["t"], d["q"], d["current"])) for d in (free, held)), 2.805)
    for j, gain in enumerate(found.gain):
        rows = np.column_stack([free["torque_target"][:, j], free["dq"][:, j],
                                np.sign(free["dq"][:, j]), np.ones(len(free["t"]))])
        makers = 1.0 / np.linalg.lstsq(rows, free["current_target"][:, j])[0][0]
        assert gain == pytest.approx(makers, rel=0.1)
