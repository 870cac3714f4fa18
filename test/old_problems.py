# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The factors of all rows, for tests of `inertial_id_ros.regression`."""

from __future__ import annotations

import numpy as np
from problems import BIAS_SD, NOISE, Rows

from inertial_id_ros.inertia import Array
from inertial_id_ros.regression.problem import COLUMNS, Problem


def compress(rows: Rows, noise: Array = NOISE, bias_sd: Array | None = None,
             bias_mean: Array | None = None) -> Problem:
    """The factors that stand for all rows; bias_sd None: six bias states, zeros: known biases."""

    def factor(matrices: Array, weight: Array) -> Array:
        out = np.zeros((6 * COLUMNS, COLUMNS))
        for c in range(6):
            block = np.zeros((len(matrices), COLUMNS))
            block[:, :10], block[:, 10 + c], block[:, -1] = matrices[:, c], 1.0, rows.wrench[:, c]
            upper = np.linalg.qr(block * weight[:, None], mode="r")
            out[COLUMNS * c:COLUMNS * c + len(upper)] = upper
        return out

    one = np.ones(len(rows.full))
    return Problem(factor(rows.full, one), factor(rows.full, rows.weight),
                   factor(rows.static, 1.0 - rows.weight), noise,
                   BIAS_SD if bias_sd is None else bias_sd,
                   np.zeros(6) if bias_mean is None else bias_mean, len(one))
