# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Stored rows against wrenches of point masses: sensor turned and displaced, tilted gravity, offset
clock."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from synthetic import BODY, GRAVITY, Placement, PointMasses, Scene

from inertial_id_ros.inertia import phi_from_points
from inertial_id_ros.regression.newton_euler import regressor
from inertial_id_ros.regression.nuisance_state import RowSignals
from inertial_id_ros.regression.row_layout import (
    BIAS,
    NOTHING_REMOVED,
    NUISANCE_STATES,
    PHI,
    STORED,
    WRENCH,
    EstimatedStates,
    channel_columns,
    correct_bias,
    correct_wrench,
    join,
    stored_rows,
)
from inertial_id_ros.settings import Settings

TRUTH = phi_from_points(BODY.points, BODY.masses)
TIMES = np.linspace(0.5, 6.0, 40)
BIASES = np.array([2.0, -3.0, 1.0, 0.1, -0.2, 0.15])
ERRORS = np.r_[np.deg2rad([1.0, -0.7, 0.8, 0.5, -0.6]), 0.01, 0.004, -0.003, 0.005]  # rad, s, m
NAMES = [f"{state.name}.{part}" for state in NUISANCE_STATES for part in state.components]


def _states(**sd: float | bool) -> EstimatedStates:
    """Those of these standard deviations; the others are switched off."""
    off = {"rotation_sd": 0.0, "tilt_sd": 0.0, "delay_sd": 0.0, "position_sd": 0.0}
    return EstimatedStates(Settings().replace(
        {f"alignment.{name}": value for name, value in (off | sd).items()}))


ALL, NONE = _states(rotation_sd=1.0, tilt_sd=1.0, delay_sd=0.1, position_sd=0.01,
                    estimate_position=True), _states()


def _nominal(t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Regressor (n, 6, 10) and axes of the world in sensor axes (n, 3, 3), by differences."""
    h = 1e-3
    (before, p0), (now, p1), (after, p2) = (Scene().sensor_in_world(t + k * h) for k in (-1, 0, 1))
    back = now.inv()
    last, following = (back * before).as_rotvec(), (back * after).as_rotvec()
    a_g = back.apply((p0 - 2.0 * p1 + p2) / h**2 - GRAVITY)
    a = regressor(a_g, (following - last) / (2.0 * h), (following + last) / h**2)
    return a, back.as_matrix().transpose(0, 2, 1)


def _measured(errors: np.ndarray) -> np.ndarray:
    """Wrenches (n, 6) that a sensor with these errors stamps with TIMES.

    The payload stays where it is in the frame, so it turns back in the axes of the turned sensor.
    """
    gravity = Rotation.from_rotvec([*errors[3:5], 0.0]).apply(GRAVITY)
    turn = Rotation.from_rotvec(errors[:3])
    x, y, z = errors[6:]
    scene = Scene(mount=Placement(turn, (x, y, z)), gravity=tuple(gravity))
    body = PointMasses(turn.inv().apply(BODY.points - errors[6:]), BODY.masses)
    return scene.load(TIMES + errors[5], body) + BIASES


def _rows(errors: np.ndarray) -> np.ndarray:
    h = 1e-3
    a, axes = _nominal(TIMES)
    rate = (_nominal(TIMES + h)[0] - _nominal(TIMES - h)[0]) / (2.0 * h)
    return stored_rows(RowSignals(np.arange(len(a)), a, rate, axes[:, 0], axes[:, 1], 9.81,
                                  _measured(errors)))


def _residual(errors: np.ndarray, states: EstimatedStates) -> np.ndarray:
    """What the linear model at the truth leaves of the wrench, in standard scales (n, 6)."""
    matrix = states.linearise(TRUTH)
    turned = Rotation.from_rotvec(errors[:3])  # the columns hold the wrench with its bias
    force = turned.apply(BIASES[:3])
    bias = np.r_[force, turned.apply(BIASES[3:]) + np.cross(errors[6:], force)]
    values = np.r_[TRUTH, bias, errors if len(states) else [], -1.0]
    return (_rows(errors) @ matrix @ values) / np.repeat([10.0, 1.0], 3)


@pytest.mark.parametrize("which", [*range(9), slice(0, 9)], ids=[*NAMES, "all"])
def test_rows_linearised_at_the_truth_are_exact_to_second_order(which: int | slice) -> None:
    """Half the errors leave a quarter of the residual, and little beside what they change.

    The model is exact in the position of the sensor.
    """
    errors = np.zeros(9)
    errors[which] = ERRORS[which]
    whole, half = (_residual(k * errors, ALL) for k in (1.0, 0.5))
    without = _residual(errors, NONE)
    assert np.abs(whole).max() < 0.1 * np.abs(without).max()
    if which in (6, 7, 8):
        assert np.abs(whole).max() < 1e-4
    else:
        assert 3.5 < np.linalg.norm(whole) / np.linalg.norm(half) < 4.5


def test_without_errors_nothing_is_left() -> None:
    assert np.abs(_residual(np.zeros(9), ALL)).max() < 1e-4


def test_states_that_are_left_out_have_no_columns() -> None:
    full = ALL.linearise(TRUTH)
    some = _states(rotation_sd=1.0, delay_sd=0.1).linearise(TRUTH)
    assert full.shape == (STORED, 26) and some.shape == (STORED, 21)
    np.testing.assert_array_equal(some[:, 16:20], full[:, [16, 17, 18, 21]])
    np.testing.assert_array_equal(some[:, [*range(16), 20]], full[:, [*range(16), 25]])


def test_values_of_states_that_are_left_out_are_zero() -> None:
    some = _states(rotation_sd=1.0, delay_sd=0.1)
    np.testing.assert_array_equal(some.expand(np.arange(1.0, 5.0)),
                                  [1.0, 2.0, 3.0, 0.0, 0.0, 4.0, 0.0, 0.0, 0.0])


def test_columns_of_parameters_biases_and_wrench_pass_unchanged() -> None:
    rows = _rows(ERRORS)
    plain = rows @ NONE.linearise(TRUTH)
    np.testing.assert_array_equal(plain, rows[..., [*range(16), WRENCH]])
    np.testing.assert_array_equal(rows[..., PHI], _nominal(TIMES)[0])
    np.testing.assert_array_equal(rows[..., BIAS], np.tile(np.eye(6), (len(rows), 1, 1)))


@pytest.mark.parametrize(("torque", "aligned"), list(product([False, True], repeat=2)))
def test_columns_outside_those_of_a_channel_are_always_zero(torque: bool, aligned: bool) -> None:
    """The buffer keeps only the columns of a channel: the others must not be missed."""
    rows = _rows(ERRORS)
    if not aligned:
        rows[..., 16:WRENCH] = 0.0
    for k, columns in enumerate(channel_columns(torque, NUISANCE_STATES if aligned else ())):
        assert len(set(columns)) == len(columns)
        others = np.setdiff1d(np.arange(STORED), columns)
        assert not rows[:, 3 * torque + k][:, others].any()


def test_errors_larger_than_the_settings_expect_widen_the_prior_of_their_kind() -> None:
    rest = np.zeros(9)
    np.testing.assert_array_equal(ALL.widened_prior_sd(NOTHING_REMOVED, rest), ALL.prior_sd)
    removed = NOTHING_REMOVED.copy()
    removed[1] = np.deg2rad(6.0)
    widened = ALL.widened_prior_sd(removed, rest)
    np.testing.assert_allclose(np.rad2deg(widened[:3]), 6.0 / np.sqrt(3.0))
    np.testing.assert_array_equal(widened[3:], ALL.prior_sd[3:])
    rest[4] = np.deg2rad(4.0)  # of which two standard deviations would be chance
    assert np.rad2deg(ALL.prior_sd[4]) == 1.0
    assert ALL.widened_prior_sd(removed, rest)[4] == ALL.prior_sd[4]
    rest[4] = np.deg2rad(6.0)
    assert np.rad2deg(ALL.widened_prior_sd(removed, rest)[4]) == pytest.approx(6.0 / np.sqrt(2.0))


def test_correcting_a_bias_is_the_reverse_of_correcting_a_wrench() -> None:
    errors = np.r_[np.deg2rad([9.0, -6.0, 4.0, 3.0, 1.0]), 0.02, 0.004, -0.003, 0.005]
    corrected = correct_wrench(BIASES[None], errors)[0]
    turned = Rotation.from_rotvec(errors[:3])
    force = turned.apply(BIASES[:3])
    torque = turned.apply(BIASES[3:]) + np.cross(errors[6:], force)
    np.testing.assert_allclose(corrected, np.r_[force, torque], atol=1e-12)
    np.testing.assert_allclose(correct_bias(corrected, errors), BIASES, atol=1e-12)


def test_a_removed_error_and_a_rest_are_one_rotation() -> None:
    """The rest is about the axes that the removed rotation of the sensor, or tilt, leads to."""
    removed, rest = np.zeros(9), np.zeros(9)
    removed[:6] = 0.1, -0.05, 0.08, 0.06, -0.03, 0.02
    rest[:6] = 0.01, 0.02, -0.03, 0.01, 0.02, 0.003
    whole = join(removed, rest)
    w = BIASES[:3]
    np.testing.assert_allclose(
        Rotation.from_rotvec(whole[:3]).apply(w),
        Rotation.from_rotvec(rest[:3]).apply(Rotation.from_rotvec(removed[:3]).apply(w)))
    up = Rotation.from_rotvec([*removed[3:5], 0.0]).apply(
        Rotation.from_rotvec([*rest[3:5], 0.0]).apply([0.0, 0.0, 1.0]))
    np.testing.assert_allclose(Rotation.from_rotvec([*whole[3:5], 0.0]).apply([0.0, 0.0, 1.0]), up,
                               atol=1e-12)
    assert whole[5] == 0.023 and not whole[6:].any()
