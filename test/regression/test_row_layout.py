"""Stored rows against wrenches of point masses: turned sensor, tilted gravity, offset clock."""

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
    NUISANCE_STATES,
    PHI,
    STORED,
    WRENCH,
    EstimatedStates,
    channel_columns,
    stored_rows,
)
from inertial_id_ros.settings import Settings

TRUTH = phi_from_points(BODY.points, BODY.masses)
TIMES = np.linspace(0.5, 6.0, 40)
BIASES = np.array([2.0, -3.0, 1.0, 0.1, -0.2, 0.15])
ERRORS = np.r_[np.deg2rad([1.0, -0.7, 0.8, 0.5, -0.6]), 0.01]  # rad, rad, s
NAMES = [f"{state.name}.{part}" for state in NUISANCE_STATES[:3] for part in state.components]


def _states(**sd: float) -> EstimatedStates:
    """Those of these standard deviations; the others are switched off."""
    off = {"rotation_sd": 0.0, "tilt_sd": 0.0, "delay_sd": 0.0}
    return EstimatedStates(Settings().replace(
        {f"alignment.{name}": value for name, value in (off | sd).items()}))


ALL, NONE = _states(rotation_sd=1.0, tilt_sd=1.0, delay_sd=0.1), _states()


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
    scene = Scene(mount=Placement(turn), gravity=tuple(gravity))
    body = PointMasses(turn.inv().apply(BODY.points), BODY.masses)
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
    bias = np.r_[turned.apply(BIASES[:3]), turned.apply(BIASES[3:])]
    values = np.r_[TRUTH, bias, errors if len(states) else [], -1.0]
    return (_rows(errors) @ matrix @ values) / np.repeat([10.0, 1.0], 3)


@pytest.mark.parametrize("which", [*range(6), slice(0, 6)], ids=[*NAMES, "all"])
def test_rows_linearised_at_the_truth_are_exact_to_second_order(which: int | slice) -> None:
    """Half the errors leave a quarter of the residual, and little beside what they change."""
    errors = np.zeros(6)
    errors[which] = ERRORS[which]
    whole, half = (_residual(k * errors, ALL) for k in (1.0, 0.5))
    without = _residual(errors, NONE)
    assert np.abs(whole).max() < 0.1 * np.abs(without).max()
    ratio = np.linalg.norm(whole) / np.linalg.norm(half)
    assert 3.5 < ratio < 4.5


def test_without_errors_nothing_is_left() -> None:
    assert np.abs(_residual(np.zeros(6), ALL)).max() < 1e-4


def test_states_that_are_left_out_have_no_columns() -> None:
    full = ALL.linearise(TRUTH)
    some = _states(rotation_sd=1.0, delay_sd=0.1).linearise(TRUTH)
    assert full.shape == (STORED, 23) and some.shape == (STORED, 21)
    np.testing.assert_array_equal(some[:, 16:20], full[:, [16, 17, 18, 21]])
    np.testing.assert_array_equal(some[:, [*range(16), 20]], full[:, [*range(16), 22]])


def test_values_of_states_that_are_left_out_are_zero() -> None:
    some = _states(rotation_sd=1.0, delay_sd=0.1)
    np.testing.assert_array_equal(some.expand(np.arange(1.0, 5.0)), [1.0, 2.0, 3.0, 0.0, 0.0, 4.0])


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
    for k, columns in enumerate(channel_columns(torque, aligned)):
        assert len(set(columns)) == len(columns)
        others = np.setdiff1d(np.arange(STORED), columns)
        assert not rows[:, 3 * torque + k][:, others].any()
