# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Rows and filters of the scan, against the payload behind the wrench and dense least squares."""

from dataclasses import replace

import numpy as np
import pytest
from problems import motion_from_arrays
from scenes import BODY, record

from inertial_id_ros.detect.predictor import Predictor
from inertial_id_ros.detect.row import APART, BIAS, PHI, SETUP, Row, Rows
from inertial_id_ros.io.inputs import JointStates, Wrenches
from inertial_id_ros.model.history import History
from inertial_id_ros.model.setup import Setup, low_pass, sheet_of
from inertial_id_ros.motion.motion import BIN_NS, Array, IntArray, Motion
from inertial_id_ros.settings import Settings

SECONDS, RATE = 20.0, 250.0


def measured(noise: float) -> tuple[Motion, IntArray, Array]:
    """Motion in bins, stamps and wrenches on the payload."""
    ((_, blocks),) = record(SECONDS, seed=3, rate=RATE, noise=noise)
    joints, wrenches = blocks
    assert isinstance(joints, JointStates) and isinstance(wrenches, Wrenches)
    motion = motion_from_arrays(joints.stamps, joints.positions)
    return motion, wrenches.stamps, -wrenches.rows


def rows_of(motion: Motion, stamps: IntArray, y: Array, setup: Setup | None = None) -> list[Row]:
    history = History()
    history.append(motion, stamps, y)
    return list(Rows().new(history, setup or Setup()))


def residuals(rows: list[Row]) -> Array:
    """Standard deviations (6,) of what the true load leaves of rows."""
    return np.asarray(np.std([row.y - row.A @ BODY.phi() for row in rows[60:]], axis=0))


def test_a_row_is_what_the_load_exerts() -> None:
    motion, stamps, clean = measured(0.0)
    rows = rows_of(motion, stamps, clean)
    assert len(rows) == pytest.approx(SECONDS / 0.04, rel=0.02)
    assert (residuals(rows) < np.repeat([0.05, 0.005], 3)).all()
    assert rows[0].gain == pytest.approx(1.5 / 50.0, rel=0.05)  # Hann, .2 s


def test_rows_follow_delay_and_filter_of_the_sensor() -> None:
    motion, stamps, clean = measured(0.0)
    sensor, plain = (0.03, 0.7), rows_of(motion, stamps, clean)
    moved = rows_of(motion, stamps + 12_000_000, clean, Setup(delay=0.012))
    shared = {row.number: row.y for row in moved}
    for row in plain[5:-5]:
        np.testing.assert_allclose(shared[row.number], row.y, atol=1e-9)
    filtered = low_pass(clean, sensor, 1.0 / RATE)
    known = residuals(rows_of(motion, stamps, filtered, Setup(filter=sensor)))
    assert known.max() < 0.1
    assert residuals(rows_of(motion, stamps, filtered)).max() > 4.0 * known.max()


def test_slopes_of_the_set_up_are_differences() -> None:
    motion, stamps, y = measured(1.0)
    phi, step = BODY.phi(), 1e-5
    rows = rows_of(motion, stamps, y)[100:110]
    tilted = {row.number: row for row in rows_of(motion, stamps, y, Setup(
        tilt=np.array([0.0, step])))}
    for row in rows:
        slopes = row.setup @ phi
        change = (tilted[row.number].A - row.A) @ phi / step
        np.testing.assert_allclose(slopes[:, 4], change, atol=1e-3 * np.abs(slopes).max())
        force, torque = (row.A @ phi)[:3], (row.A @ phi)[3:]
        turned = np.r_[np.cross([1.0, 0.0, 0.0], force), np.cross([1.0, 0.0, 0.0], torque)]
        np.testing.assert_allclose(slopes[:, 0], turned, atol=1e-9)


def test_no_row_spans_a_hole() -> None:
    motion, stamps, y = measured(1.0)
    since = (stamps - stamps[0]) * 1e-9
    kept = (since < 4.0) | (since > 4.3)
    gone = (motion.number * BIN_NS - stamps[0] > 6e9) & (motion.number * BIN_NS - stamps[0] < 6.5e9)
    rows = rows_of(motion.part(~gone), stamps[kept], y[kept])
    at = np.array([row.number * BIN_NS - stamps[0] for row in rows]) * 1e-9
    assert not ((at > 3.97) & (at < 4.33)).any()
    assert not ((at > 5.95) & (at < 6.55)).any()
    assert (at > 6.7).any()


def test_the_zero_moves_by_a_share_of_each_change_of_the_load() -> None:
    one, *_, other = rows_of(*measured(1.0))[100:150]
    made = Predictor(replace(sheet_of(Settings()), drift=(0.0, 0.0), gain=0.02))
    made.mean[:, PHI] = BODY.phi()
    made.learn(one)
    change = ((other.A - one.A) @ made.mean[0, PHI]).reshape(2, 3)
    grown = np.diag(made.predict(other, made.noise(other)).before[0] - made.covariance[0])[BIAS]
    np.testing.assert_allclose(grown, np.repeat(0.02**2 * (change**2).sum(1), 3), rtol=1e-6)


def test_a_filter_is_least_squares() -> None:
    motion, stamps, y = measured(1.0)
    made = Predictor(replace(sheet_of(Settings()), drift=(0.0, 0.0), gain=0.0))
    prior_mean, prior = made.mean[0].copy(), made.covariance[0].copy()
    rows = [row for row in rows_of(motion, stamps, y)[:150] if row.number % APART == 0]
    noise = np.repeat([0.01, 1e-4], 3)
    keep = np.r_[PHI, 20:26]  # those by the set-up are linear about a payload that changes
    made.covariance[:, SETUP, SETUP] = 0.0
    for row in rows:
        made.learn(row, noise)
    H = np.concatenate([row.columns[:, keep] for row in rows]) / np.tile(
        np.sqrt(noise), len(rows))[:, None]
    z = np.concatenate([row.y for row in rows]) / np.tile(np.sqrt(noise), len(rows))
    information = np.linalg.inv(prior[np.ix_(keep, keep)])
    covariance = np.linalg.inv(H.T @ H + information)
    mean = covariance @ (H.T @ z + information @ prior_mean[keep])
    sd = np.sqrt(np.diag(covariance))
    np.testing.assert_allclose((made.mean[0, keep] - mean) / sd, 0.0, atol=1e-4)
    np.testing.assert_allclose(np.sqrt(np.diag(made.covariance[0]))[keep], sd, rtol=1e-4)
