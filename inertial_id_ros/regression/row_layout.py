"""Columns of the rows that the window keeps, and their linearisation at an estimate.

A stored row holds everything that the wrench depends on, as columns of one linear model::

    y = A phi + B bias + [y]x rotation + (T1 tilt_1 + T2 tilt_2) (m, h) + dA/dt phi delay

The products of a nuisance state with phi become plain columns once phi is put in. That is done
at solve time, on the small triangular factors, so that the whole window is always linearised at
the newest estimate.
"""

from __future__ import annotations

import numpy as np

from ..inertia import PARAMETERS, Array
from ..settings import Settings
from .alignment import CLOCK_OFFSET, GRAVITY_TILT, SENSOR_ROTATION
from .nuisance_state import NuisanceState, RowSignals

BIASES = 6
PHI, BIAS = slice(0, 10), slice(10, 16)
# In the order of their columns; `Estimate.alignment` holds their values in it, so append new ones.
NUISANCE_STATES: tuple[NuisanceState, ...] = (SENSOR_ROTATION, GRAVITY_TILT, CLOCK_OFFSET)


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


WRENCH, NUISANCE_VALUES = _place_states()
STORED = WRENCH + 1


def channel_columns(torque: bool, with_states: bool) -> np.ndarray:
    """Stored columns (3, w) that may differ from zero in rows of the three forces or torques, with
    or without those of the nuisance states."""
    own = range(1, 10) if torque else range(4)
    states = NUISANCE_STATES if with_states else ()
    return np.array([
        [*own, BIAS.start + channel,
         *(state.columns.start + k for state in states for k in state.channel_columns(channel)),
         WRENCH]
        for channel in (range(3, 6) if torque else range(3))])


def stored_rows(signals: RowSignals) -> Array:
    """Stored rows (r, 6, 38) of the full model, from the signals of r rows."""
    rows = np.zeros((len(signals.a), 6, STORED))
    rows[..., PHI], rows[..., BIAS], rows[..., WRENCH] = signals.a, np.eye(6), signals.wrench
    for state in NUISANCE_STATES:
        state.fill(signals, rows[..., state.columns])
    return rows


class EstimatedStates:
    """The nuisance states that the settings switch on, and the linear model with them.

    Attributes:
        prior_sd: (q,) prior standard deviation of their values about zero.
    """

    def __init__(self, settings: Settings) -> None:
        sd = np.concatenate([state.prior_sd(settings) for state in NUISANCE_STATES])
        self._members = [state for state in NUISANCE_STATES if sd[state.values].any()]
        self._index = np.flatnonzero(sd)  # of their values among those of all states
        self.prior_sd = sd[self._index]
        known = PARAMETERS + BIASES
        # [A | B | states | y] but for the columns of the states, which may depend on phi
        self._template = np.zeros((STORED, known + len(self._index) + 1))
        self._template[:known, :known] = np.eye(known)
        self._template[WRENCH, -1] = 1.0

    def __len__(self) -> int:
        """Number q of the values that are estimated."""
        return len(self._index)

    def linearise(self, phi: Array) -> Array:
        """Matrix (38, 17 + q) from stored columns to ``[A | B | states (q) | y]`` at phi (10,)."""
        out = self._template.copy()
        column = PARAMETERS + BIASES
        for state in self._members:
            end = column + len(state.components)
            out[state.columns, column:end] = state.linearise(phi)
            column = end
        return out

    def expand(self, values: Array) -> Array:
        """The values (n,) of all nuisance states, zeros for those that are not estimated."""
        out = np.zeros(NUISANCE_VALUES)
        out[self._index] = values
        return out
