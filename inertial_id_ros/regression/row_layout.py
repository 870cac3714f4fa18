# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Columns of the rows that the window keeps, and their linearisation at an estimate.

A stored row holds everything that the wrench depends on, as columns of one linear model::

    y = A phi + B bias + [y]x rotation + (T1 tilt_1 + T2 tilt_2) (m, h) + dA/dt phi delay
        + [f]x position

The products of a nuisance state with phi become plain columns once phi is put in. That is done
at solve time, on the small triangular factors, so that the whole window is always linearised at
the newest estimate.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..inertia import PARAMETERS, Array
from ..linalg import identity
from ..settings import Settings
from .alignment import CLOCK_OFFSET, GRAVITY_TILT, SENSOR_POSITION, SENSOR_ROTATION
from .nuisance_state import NuisanceState, RowSignals

BIASES = 6
_CLEARLY_LARGER = 3.0  # standard deviations of the settings
PHI, BIAS = slice(0, 10), slice(10, 16)
# In the order of their columns; `Estimate.alignment` holds their values in it, so append new ones.
NUISANCE_STATES: tuple[NuisanceState, ...] = (
    SENSOR_ROTATION, GRAVITY_TILT, CLOCK_OFFSET, SENSOR_POSITION)


def _place_states() -> tuple[int, int]:
    """Give each nuisance state its columns and values; returns how many there are in all.

    Returns:
        the first column after them, and the number of values.
    """
    column, value = BIAS.stop, 0
    for state in NUISANCE_STATES:
        state.place(column, value)
        column, value = state.columns.stop, state.values.stop
    return column, value


_end, NUISANCE_VALUES = _place_states()
# Acceleration less gravity, the same in the rows of all channels: what errors of the calibration
# multiply (see `calibration`).
ACCELERATION = slice(_end, _end + 3)
# For what pulls from a place of the room (see `cable`), in no factor: the upward axis in sensor
# axes, one component in the row of each force, and the position of the sensor, the same in all.
UPWARD = ACCELERATION.stop
POSITION = slice(UPWARD + 1, UPWARD + 4)
WRENCH = POSITION.stop
STORED = WRENCH + 1
NOTHING_REMOVED = np.zeros(NUISANCE_VALUES)  # no error of the set-up was removed from the samples


def channel_columns(torque: bool, states: Sequence[NuisanceState] | None) -> np.ndarray:
    """Stored columns (3, w) that may differ from zero in rows of the three forces or torques, with
    those of these nuisance states and the acceleration; None: without either."""
    own = range(1, 10) if torque else range(4)
    if states is None:
        states, acceleration = (), range(0)
    else:
        acceleration = range(ACCELERATION.start, ACCELERATION.stop)
    return np.array([
        [*own, BIAS.start + channel,
         *(state.columns.start + k for state in states for k in state.channel_columns(channel)),
         *acceleration, WRENCH]
        for channel in (range(3, 6) if torque else range(3))])


def stored_rows(signals: RowSignals) -> Array:
    """Stored rows (r, 6, 48) of the full model, from the signals of r rows."""
    rows = np.zeros((len(signals.a), 6, STORED))
    rows[..., PHI], rows[..., BIAS], rows[..., WRENCH] = signals.a, identity(6), signals.wrench
    rows[..., ACCELERATION] = signals.a[:, None, :3, 0]
    if signals.up is not None and signals.position is not None:
        rows[:, :3, UPWARD], rows[..., POSITION] = signals.up, signals.position[:, None]
    for state in NUISANCE_STATES:
        state.fill(signals, rows[..., state.columns])
    return rows


class EstimatedStates:
    """The nuisance states that the settings switch on, and the linear model with them.

    Attributes:
        members: these states.
        prior_sd: (q,) prior standard deviation of their values about zero.
    """

    def __init__(self, settings: Settings) -> None:
        sd = np.concatenate([state.prior_sd(settings) for state in NUISANCE_STATES])
        self.members = [state for state in NUISANCE_STATES if sd[state.values].any()]
        self._index = np.flatnonzero(sd)  # of their values among those of all states
        self.prior_sd = sd[self._index]
        # Where all values are within these, none widens a prior.
        single = np.concatenate([np.full(len(s.components), len(s.components) == 1)
                                 for s in NUISANCE_STATES])[self._index]
        self._expected = np.where(single, np.inf, _CLEARLY_LARGER * self.prior_sd)
        known = PARAMETERS + BIASES
        # [A | B | states | y] but for the columns of the states, which may depend on phi
        self._template = np.zeros((STORED, known + len(self._index) + 1))
        self._template[:known, :known] = np.eye(known)
        self._template[WRENCH, -1] = 1.0
        self._at_phi: list[tuple[NuisanceState, slice]] = []  # with their columns
        column = known
        for state in self.members:
            columns = slice(column, column + len(state.components))
            if type(state).linearise is NuisanceState.linearise:  # the same at any phi
                self._template[state.columns, columns] = state.linearise(np.zeros(PARAMETERS))
            else:
                self._at_phi.append((state, columns))
            column = columns.stop

    def __len__(self) -> int:
        """Number q of the values that are estimated."""
        return len(self._index)

    def place(self, state: NuisanceState) -> slice:
        """Where the values of a member are among those that are estimated."""
        first = int(np.searchsorted(self._index, state.values.start))
        return slice(first, first + len(state.components))

    def linearise(self, phi: Array) -> Array:
        """Matrix (48, 17 + q) from stored columns to ``[A | B | states (q) | y]`` at phi (10,)."""
        out = self._template.copy()
        for state, columns in self._at_phi:
            out[state.columns, columns] = state.linearise(phi)
        return out

    def expand(self, values: Array) -> Array:
        """The values (n,) of all nuisance states, zeros for those that are not estimated."""
        out = np.zeros(NUISANCE_VALUES)
        out[self._index] = values
        return out

    def widened_prior_sd(self, removed: Array, rest: Array) -> Array:
        """Prior standard deviation (q,) of what remains of errors of which (n,) were removed.

        Where errors are larger than the settings expect, they tell the scale themselves (empirical
        Bayes), as far as a mounting may be wrong: what remains about the other axes is as little
        known.

        Args:
            rest: (q,) what remained of them by the last estimate.
        """
        if not removed.any() and (np.abs(rest) <= self._expected).all():
            return self.prior_sd
        whole, scale = removed + self.expand(rest), np.zeros(NUISANCE_VALUES)
        for state in (s for s in self.members if len(s.components) > 1):
            values = whole[state.values]
            scale[state.values] = min(math.sqrt(values @ values / len(values)), state.too_large)
        seen = scale[self._index]
        # Less is chance, and little data would widen the prior more and more.
        return np.where(seen > _CLEARLY_LARGER * self.prior_sd, seen, self.prior_sd)


def join(removed: Array, rest: Array) -> Array:
    """Whole values (n,) of all nuisance states, of which a part was removed from the samples."""
    if not removed.any():
        return rest
    return np.concatenate([state.join(removed[state.values], rest[state.values])
                           for state in NUISANCE_STATES])


def correct_wrench(wrench: Array, values: Array) -> Array:
    """Wrenches (k, 6) without the errors that are proportional to them, at values (n,) of all
    nuisance states."""
    for state in NUISANCE_STATES:
        wrench = state.correct_wrench(wrench, values[state.values])
    return wrench


def correct_bias(bias: Array, values: Array) -> Array:
    """The bias (6,) as the sensor reads it, from that of corrected wrenches: the reverse."""
    for state in reversed(NUISANCE_STATES):
        bias = state.correct_bias(bias, values[state.values])
    return bias
