# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""From motion and wrench to the rows of the window, through the zero-phase filter.

The filter takes, for each bin, the columns A (60), axes of the gravity frame (9), wrench (6),
dynamism weight (1) and position of the sensor (3); what it gives back is unpacked into stored rows
(see `row_layout`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..inertia import PARAMETERS, Array
from ..kinematics.motion import Motion
from ..signals.bins import Bins
from ..signals.low_pass import NO_FILTER, Beginning, FilteredRows, Lag, SensorFilter, lag
from ..signals.precompensation import Removed
from .alignment import CLOCK_OFFSET, GRAVITY_TILT, SENSOR_ROTATION, gravity_turn
from .newton_euler import dynamism, full_model_weight, regressor, static_regressor
from .nuisance_state import RowSignals
from .regressor_window import Rows
from .row_layout import NUISANCE_STATES, NUISANCE_VALUES, PHI, stored_rows

_A, _AXES, _Y, _W, _PLACE = slice(0, 60), slice(60, 69), slice(69, 75), 75, slice(76, 79)
ROW_COLUMNS, RATE_COLUMNS = 79, 60  # columns to filter, and the first of them to differentiate
_MOST_REPLAYS = 5  # of a window
_SIGNIFICANT = 5.0  # standard deviations
_RESTS = 0.02  # rad/s; a sensor that turns more slowly has shown the same wrench for long
_NEAR = 3  # bins between two beginnings that are one
_LARGE = np.concatenate([np.full(len(s.components), s.large) for s in NUISANCE_STATES])


def pack_columns(motion: Motion, a: Array, wrench: Array, c1: float) -> Array:
    """Columns (k, 79) of bins for the low-pass: regressor, axes, wrench, dynamism
    weight and position (zeros where it is not known).

    Args:
        a: regressor (k, 6, 10); wrench: ``y = A phi + bias`` (k, 6); c1: of the dynamism weight.
    """
    nu = dynamism(motion.acceleration, motion.alpha, motion.omega)
    weight = full_model_weight(nu, c1)
    place = np.zeros((len(a), 3)) if motion.position is None else motion.position
    return np.concatenate([a.reshape(len(a), _A.stop), motion.axes.reshape(-1, 9), wrench,
                           weight[:, None], place], axis=1)


class RemovedErrors:
    """The large errors of the set-up, which are removed from the samples.

    A nuisance state is linear in the error. What is quadratic in it would bias the parameters, so a
    large error is removed, and the window replayed without it.

    Args:
        sensor: the low-pass of the sensor, as far as the settings tell it.

    Attributes:
        values: (n,) of all nuisance states, zeros where nothing is removed.
        sensor: by which the motion is filtered as the wrench is.
        beginning: what that filter held when the data begin, where that is known.
        filter_covariance: (10, 10) of phi by what is not known of the filter.
    """

    def __init__(self, sensor: SensorFilter = NO_FILTER) -> None:
        self.values: Array = np.zeros(NUISANCE_VALUES)
        self.sensor = sensor
        self.beginning: Beginning | None = None
        self.filter_covariance: Array = np.zeros((PARAMETERS, PARAMETERS))
        self._times = 0

    @property
    def early_ns(self) -> int:
        """By how much the stamps of the wrench are early, as far as known; it is added to them
        [ns]."""
        return round(float(self.values[CLOCK_OFFSET.values][0]) * 1e9)

    def remove(self, values: Array, sigma: Array) -> bool:
        """Remove errors as they are estimated, as a whole and with their standard deviations (n,),
        if that is worth a replay; says whether it was."""
        rest = np.abs(values - self.values)
        clear = (rest > np.maximum(_LARGE, _SIGNIFICANT * sigma)) & (sigma > 0.0)
        for state in NUISANCE_STATES:
            if state.is_too_large(values[state.values]):
                clear[state.values] = False
        if self._times == _MOST_REPLAYS or not clear.any():
            return False
        self._times += 1
        self.values = np.where(clear, values, self.values)
        return True

    def replace_offset(self, early_ns: int) -> None:
        """Remove another clock offset [ns], found without an estimate."""
        self.values[CLOCK_OFFSET.values], self._times = early_ns * 1e-9, 0

    def correct_wrench(self, wrench: Array) -> Array:
        """Wrenches (k, 6) as a sensor would have measured them that is mounted as it should be."""
        rotation = self.values[SENSOR_ROTATION.values]
        return SENSOR_ROTATION.correct_wrench(wrench, rotation) if rotation.any() else wrench


def tilt_gravity(motion: Motion, values: Array) -> Motion:
    """The motion against gravity as it is, at values (n,) of the nuisance states."""
    tilt = values[GRAVITY_TILT.values]
    if not tilt.any():
        return motion
    return motion._replace(axes=gravity_turn(tilt).T @ motion.axes)


def regressor_of(motion: Motion) -> Array:
    """Regressor (k, 6, 10) of a motion."""
    if motion.spin is None:
        return regressor(motion.proper_acceleration, motion.omega, motion.alpha)
    return motion.spin + regressor(motion.proper_acceleration, np.zeros_like(motion.omega),
                                   motion.alpha)


def make_bin_columns(bins: Bins, motion: Motion, removed: Removed, errors: RemovedErrors,
                     sign: float, c1: float) -> tuple[Array, Array]:
    """Compute the wrench ``y = A phi + bias`` (k, 6) of bins as it was measured, and the columns
    (k, 79) for the low-pass, without the removed errors.

    Args:
        removed: payload that the driver takes out; sign: of the reading against ``A phi``.
    """
    a = regressor_of(motion)
    taken_out = static_regressor(-motion.gravity * motion.axes[:, 2]) if removed.weight_only else a
    y = sign * bins.mean + taken_out @ removed.phi
    if errors.beginning is not None:
        y = y - errors.beginning.shown(errors.sensor, bins.number)
    corrected = tilt_gravity(motion, errors.values)
    if corrected is not motion:
        a = regressor_of(corrected)
    return y, pack_columns(corrected, a, errors.correct_wrench(y), c1)


class ShownBins(NamedTuple):
    """Bins as the filters take them.

    Attributes:
        columns: (k, 79) for the filters.
        motion: as the sensor shows it, which is valid where the sensor's low-pass has settled.
        lag: where that low-pass has come to.
    """

    columns: Array
    motion: Motion
    lag: Lag | None


def lag_behind(number: np.ndarray, columns: Array, motion: Motion, errors: RemovedErrors,
               before: Lag | None) -> ShownBins:
    """Filter the motion of bins (k,) as the sensor filters its readings.

    Args:
        number: (k,) of the bins; columns: of `make_bin_columns`; before: where the filter had
            come to.
    """
    if not errors.sensor.order:
        return ShownBins(columns, motion, None)
    valid = motion.valid
    shown = [columns[:, :_AXES.stop], motion.axes.reshape(-1, 9), motion.acceleration, motion.omega,
             motion.alpha]
    values = np.concatenate(shown, axis=1)[valid]
    rests = np.linalg.norm(motion.omega[valid], axis=1) < _RESTS
    if errors.beginning is not None:
        rests |= np.abs(number[valid] - errors.beginning.number) <= _NEAR
    filtered, settled, after = lag(errors.sensor, number[valid], values, rests, before)
    columns, valid = columns.copy(), valid.copy()
    columns[valid, :_AXES.stop] = filtered[:, :_AXES.stop]
    axes, acceleration, omega, alpha = (
        _replaced(old, valid, new) for old, new in zip(
            shown[1:], np.split(filtered[:, _AXES.stop:], (9, 12, 15), axis=1), strict=True))
    whole = valid.copy()
    whole[valid] = settled
    shown_motion = motion._replace(
        axes=axes.reshape(-1, 3, 3), acceleration=acceleration, omega=omega, alpha=alpha,
        valid=whole, spin=np.zeros((len(number), 6, PARAMETERS)))
    spin = unpack_bins(columns)[0] - regressor_of(tilt_gravity(shown_motion, errors.values))
    return ShownBins(columns, shown_motion._replace(spin=spin), after)


def _replaced(values: Array, where: np.ndarray, new: Array) -> Array:
    """A copy of values (k, n) with others at some places (k,)."""
    out = values.copy()
    out[where] = new
    return out


def unpack_bins(columns: Array) -> tuple[Array, Array]:
    """Regressor (k, 6, 10) and wrench (k, 6) in columns (k, 79); views."""
    return columns[:, _A].reshape(len(columns), 6, PARAMETERS), columns[:, _Y]


def unpack_rows(rows: FilteredRows, gravity: float, with_static: bool = True) -> Rows:
    """Turn low-passed columns into rows for the window; gravity [m/s^2].

    Args:
        with_static: whether anybody asks for the rows of the gravity-only model; else they are the
            full ones.
    """
    r = len(rows.number)
    axes = rows.columns[:, _AXES].reshape(r, 3, 3)
    a, y = unpack_bins(rows.columns)
    full = stored_rows(RowSignals(
        rows.number, a, rows.rates.reshape(r, 6, PARAMETERS), axes[:, 0], axes[:, 1], gravity, y,
        axes[:, 2], rows.columns[:, _PLACE]))
    static = full
    if with_static:
        static = full.copy()
        static[..., PHI] = static_regressor(-gravity * axes[:, 2])
    return Rows(rows.number, rows.samples, full, static, rows.columns[:, _W])
