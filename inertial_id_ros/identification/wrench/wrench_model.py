# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The load as a wrist sensor measures it: three forces and three torques."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...detection.load_model import DisturbanceTexts, LoadModel
from ...inertia import PARAMETERS, Array, skew, transform_matrix
from ...regression.problem import vague_information
from ...regression.regressor_window import Rows
from ...regression.row_layout import BIAS, POSITION, UPWARD, EstimatedStates
from ...regression.rows import RATE_COLUMNS, ROW_COLUMNS, unpack_rows
from ...regression.uncertainty.calibration import calibration_sd
from ...regression.uncertainty.encoder_noise import motion_noise_covariance
from ...regression.uncertainty.noise import datasheet_noise
from ...settings import Settings
from ...signals.bins import BIN_NS
from ...signals.low_pass import FilteredRows, ZeroPhaseFilter, make_low_pass
from .sensor_bias import prior_bias_sd

FORCE, TORQUE = slice(0, 3), slice(3, 6)
_LEVER = 0.3  # m; from the sensor to the centre it turns about, where that is not known
_ZERO_SD = np.repeat([200.0, 20.0], 3)  # N, N m: anything
_SUDDEN = 0.5  # share of its accuracy by which a sensor may be wrong from one moment to the next
_ROUGH = 1.0  # the same over the noise of a sample
# Times its accuracy, and at most [N, N m], by which the error of a sensor and of what is fastened
# to it (cross-talk, hysteresis, a cable) differs a radian or so far [m] away: contact is stronger.
_SWING, _LARGEST_SWING, _FAR = 3.0, np.repeat([0.6, 0.03], 3), 0.5
_CHANGING = 1.0  # s; in which the error of a moving sensor changes by its accuracy
_SHORTEST_ZERO = round(1e9 / BIN_NS)  # bins; few pushes turn with the sensor for so long
_LARGE_ANGLES = 2.0  # times those that the settings expect
_TEXTS = DisturbanceTexts(
    contact="contact: the wrench does not fit the estimate and is left out; a payload gripped at "
    "rest looks the same until the arm moves",
    doubted="no payload explains the wrench while the sensor turns: contact that lasts, or a wrong "
    "sensor or gravity frame, whose rotation may be transposed",
    zeroed="the sensor was zeroed, or its driver restarted",
    lost="the wrench did not fit the estimate for",
    another_setup="the wrench follows the motion in another way than before, which neither "
    "another payload nor another zero explains alone (both at once, or the gain or mounting of the "
    "sensor): identification starts again",
    gap="gaps in wrench or motion of more than",
    zeroed_name="zero_moved.wrench", gap_name="samples_missing.wrench",
    doubted_name="load_unexplained.wrench",
    offset="the reading has changed by the same force and torque in the sensor's axes, however the "
    "sensor turns: contact that turns with it, or another zero")


class WrenchModel(LoadModel):
    """The `LoadModel` of a wrist sensor: six channels, with biases and nuisance states."""

    texts, detector_kernel = _TEXTS, 0.2
    groups: tuple[slice, ...] = (FORCE, TORQUE)
    weight_channels = FORCE
    zero_columns, zero_states, zero_sd = BIAS, BIAS, _ZERO_SD
    shortest_zero, zeroed_under_load = _SHORTEST_ZERO, True

    def __init__(self, settings: Settings) -> None:
        self.noise, self.bias_sd = datasheet_noise(settings.wrench), prior_bias_sd(settings.wrench)
        sensor = settings.wrench
        accuracy = np.repeat([sensor.force_accuracy, sensor.torque_accuracy], 3)
        drift = np.repeat([sensor.force_drift, sensor.torque_drift], 3)
        self.floor: Array = np.maximum(_SUDDEN * accuracy, _ROUGH * self.noise)
        self.walk = accuracy**2 / _CHANGING + drift**2 / 60.0
        self.swing = np.minimum(_SWING * accuracy, _LARGEST_SWING)
        self.gain_error = float(np.hypot(sensor.gain_error, sensor.cross_talk))
        self.cross_talk = calibration_sd(sensor) ** 2
        for group in self.groups:
            self.cross_talk[group, group] = 0.0  # in `gain_error`
        self._gravity = settings.gravity.acceleration
        self._states = EstimatedStates(_with_large_angles(settings))
        sd = np.concatenate([self.bias_sd, self._states.prior_sd])
        self.prior: Array = np.diag(np.concatenate([np.zeros(PARAMETERS), sd**-2.0]))
        self.prior[:PARAMETERS, :PARAMETERS] = vague_information(1.0)

    def make_filter(self, length: float) -> ZeroPhaseFilter:
        """The low-pass for the columns of wrench and motion; length of its kernel [s]."""
        return make_low_pass(length, ROW_COLUMNS, RATE_COLUMNS)

    def make_rows(self, filtered: FilteredRows) -> Rows:
        """Unpack low-passed columns into rows for the window."""
        return unpack_rows(filtered, self._gravity)

    def make_detector_rows(self, filtered: FilteredRows, step: int) -> Rows:
        """Unpack low-passed columns into rows for the detector, which asks for no static ones."""
        return unpack_rows(filtered, self._gravity, with_static=False)

    def linearise(self, phi: Array) -> Array:
        """Matrix (48, 17 + q) from stored columns to ``[A | B | states (q) | y]`` at phi (10,)."""
        return self._states.linearise(phi)

    def proper_acceleration(self, rows: Array) -> Array:
        """Acceleration less gravity (n, 3) [m/s^2], which is the column of the mass in forces."""
        return rows[:, FORCE, 0]

    def place(self, rows: Array) -> Array:
        """The upward axis in sensor axes, and the position of the sensor over `_FAR` (n, 6)."""
        return np.concatenate([rows[:, FORCE, UPWARD], rows[:, 0, POSITION] / _FAR], axis=1)

    def motion_noise_covariance(self, phi: Array, acceleration_covariance: Array) -> Array:
        """Covariance (6, 6) of the wrench residual due to noise of the motion, at phi (10,)."""
        return motion_noise_covariance(phi, acceleration_covariance)

    def unknown_motion_covariance(self, rows: Array, phi: Array) -> Array:
        """Covariance (n, 6, 6) of the wrench where the sensor turns about an unknown centre."""
        turn = rows[:, FORCE, 1:4]  # [alpha]x + [omega]x^2
        lever = np.concatenate([phi[0] * np.eye(3), skew(phi[1:4])])
        force = lever @ turn
        return np.asarray(_LEVER**2 * force @ force.transpose(0, 2, 1))


def _with_large_angles(settings: Settings) -> Settings:
    """Settings that expect the large angles of a set-up from which no estimate removed them yet."""
    known = settings.alignment
    return replace(settings, alignment=replace(
        known, rotation_sd=min(_LARGE_ANGLES * known.rotation_sd, 10.0),
        tilt_sd=min(_LARGE_ANGLES * known.tilt_sd, 10.0),
        estimate_position=False))  # a few millimetres never look like contact


def unknown_acceleration_covariance(phi: Array, turning: float, gravity: float) -> Array:
    """Covariance (10, 10) of phi (10,) where the motion tells rotation only.

    The sensor then turns about a centre it does not know, and an acceleration of lever times
    `turning` is taken for gravity; the inertia is off by the first moment times that lever.

    Args:
        turning: root mean square of ``(|alpha|^2 + |omega|^4)^(1/2)`` [rad/s^2]; 0 where the
            acceleration is known; gravity: [m/s^2].
    """
    if turning == 0.0:
        return np.zeros((10, 10))
    share = _LEVER * turning / gravity
    first_moment = float(np.linalg.norm(phi[1:4]))
    sd = np.r_[share * phi[0], np.full(3, share * first_moment), np.full(6, _LEVER * first_moment)]
    return np.diag(sd**2)


def orientation_covariance(phi: Array, sd: float) -> Array:
    """Covariance (10, 10) of phi (10,) where the axes in which it is given are not known exactly.

    Args:
        sd: standard deviation of their rotation about each of them [rad].
    """
    changes = sd * (_TURNS @ phi)
    return np.asarray(changes.T @ changes)


def position_covariance(phi: Array, sd: float) -> Array:
    """Covariance (10, 10) of phi (10,) where the origin of its frame is not known exactly.

    Args:
        sd: standard deviation of its position along each axis [m].
    """
    changes = sd * (_SHIFTS @ phi)
    return np.asarray(changes.T @ changes)


def _shift(axis: Array) -> Array:
    """Matrix (10, 10) from phi to its change per distance, moved along an axis (3,)."""
    ahead, back = (transform_matrix(np.eye(3), sign * axis) for sign in (1.0, -1.0))
    return 0.5 * (ahead - back)  # what is quadratic is in neither


def _turn(axis: Array) -> Array:
    """Matrix (10, 10) from phi to its change per angle, turned about an axis (3,)."""
    ahead, back = (transform_matrix(np.eye(3) + sign * skew(axis), np.zeros(3))
                   for sign in (1.0, -1.0))
    return 0.5 * (ahead - back)  # what is quadratic is in neither


_TURNS = np.stack([_turn(axis) for axis in np.eye(3)])
_SHIFTS = np.stack([_shift(axis) for axis in np.eye(3)])
