"""From motion and wrench to the rows of the window, through the zero-phase filter.

The filter takes, for each bin, the columns A (60), axes of the gravity frame (9), wrench (6) and
dynamism weight (1); what it gives back is unpacked into stored rows (see `row_layout`).
"""

from __future__ import annotations

import numpy as np

from ..inertia import PARAMETERS, Array
from ..kinematics.motion import Motion
from ..signals.bins import Bins
from ..signals.low_pass import FilteredRows
from ..signals.precompensation import Removed
from .newton_euler import dynamism, full_model_weight, regressor, static_regressor
from .nuisance_state import RowSignals
from .regressor_window import Rows
from .row_layout import PHI, stored_rows

_A, _AXES, _Y, _W = slice(0, 60), slice(60, 69), slice(69, 75), 75
ROW_COLUMNS, RATE_COLUMNS = 76, 60  # columns to filter, and the first of them to differentiate


def pack_columns(motion: Motion, a: Array, wrench: Array, c1: float) -> Array:
    """Columns (k, 76) of bins for the low-pass: regressor, axes of gravity, wrench and weight.

    Args:
        a: regressor (k, 6, 10); wrench: ``y = A phi + bias`` (k, 6); c1: of the dynamism weight.
    """
    nu = dynamism(motion.acceleration, motion.alpha, motion.omega)
    weight = full_model_weight(nu, c1)
    return np.concatenate(
        [a.reshape(len(a), _A.stop), motion.axes.reshape(-1, 9), wrench, weight[:, None]], axis=1)


def make_bin_columns(bins: Bins, motion: Motion, removed: Removed, sign: float,
                     c1: float) -> tuple[Array, Array, Array]:
    """Compute regressor (k, 6, 10) and wrench ``y = A phi + bias`` (k, 6) of bins, and pack them
    into columns (k, 76) for the low-pass.

    Args:
        removed: payload that the driver takes out; sign: of the reading against ``A phi``.
    """
    a = regressor(motion.proper_acceleration, motion.omega, motion.alpha)
    taken_out = static_regressor(-motion.gravity * motion.axes[:, 2]) if removed.weight_only else a
    y = sign * bins.mean + taken_out @ removed.phi
    return a, y, pack_columns(motion, a, y, c1)


def unpack_rows(rows: FilteredRows, gravity: float) -> Rows:
    """Turn low-passed columns into rows for the window; gravity [m/s^2]."""
    r = len(rows.number)
    axes = rows.columns[:, _AXES].reshape(r, 3, 3)
    full = stored_rows(RowSignals(
        rows.number, rows.columns[:, _A].reshape(r, 6, PARAMETERS),
        rows.rates.reshape(r, 6, PARAMETERS), axes[:, 0], axes[:, 1], gravity, rows.columns[:, _Y]))
    static = full.copy()
    static[..., PHI] = static_regressor(-gravity * axes[:, 2])
    return Rows(rows.number, rows.samples, full, static, rows.columns[:, _W])
