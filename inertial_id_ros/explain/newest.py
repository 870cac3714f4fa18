# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Does a fit still hold in the newest second? A payload that begins to pour shows there first."""

from __future__ import annotations

import numpy as np

from ..motion.motion import Array
from .fit import Fit

SECOND, FEWEST, ENOUGH = 1.0, 6, 3  # s, of a slice; rows in one; slices to compare with
MISFIT = 3.5  # of a slice, over the root mean square of those before


def newest_misfit(fit: Fit) -> float:
    """Mean residual of the newest second over the root mean square of those of the seconds before:
    of forces or of torques, whichever is more; 0 where there are too few to compare with."""
    rows, solution = fit.rows, fit.solution
    modes = solution.residual.reshape(solution.variance.shape) * np.sqrt(solution.variance)
    left = rows.back(modes)
    number = ((rows.time[-1] - rows.time) / SECOND).astype(int)
    count = np.bincount(number)
    mean: Array = np.stack([np.bincount(number, column) for column in left.T], 1) / np.maximum(
        count, 1)[:, None]
    power = np.square(mean).reshape(len(count), -1, 3).sum(2)[count >= FEWEST]
    if len(power) <= ENOUGH or count[0] < FEWEST:
        return 0.0
    return float(np.sqrt((power[0] / np.maximum(power[1:].mean(0), 1e-12)).max()))
