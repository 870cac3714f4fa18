# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Rows in time of payload and bias alone, for estimators that weigh rows themselves.

From each reading is taken what the best fit says of all else. Rows are those of the fit's modes,
brought back to time; their noise is the mean of that of the modes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..model.newton_euler import GRAVITY, rotation, weight_columns
from ..model.problem import dynamism_weight
from ..motion.motion import Array
from .fit import Fit


class PlainRows(NamedTuple):
    """Rows ``[A | y]`` of c channels, y without the mean of the bias before the data.

    Attributes:
        full, static: (n, c, 11) of the full model, and of the gravity-only model.
        weight: (n,) of the full model in a blend, by the dynamism.
        noise: (c,) deviation of a row; bias_sd: (c,) of the bias before the data, 0: it is known.
        residual: norm of the whitened residual that no payload explains.
    """

    full: Array
    static: Array
    weight: Array
    noise: Array
    bias_sd: Array
    residual: float

    def without(self, phi: Array) -> PlainRows:
        """The same without a known part (10,) of the payload."""
        full, static = self.full.copy(), self.static.copy()
        for rows in (full, static):
            rows[..., 10] -= self.full[..., :10] @ phi
        return self._replace(full=full, static=static)


def plain_rows(fit: Fit, c1: float) -> PlainRows:
    """The rows of a fit; c1: dynamism from which on the full model has 99.5 % of the weight."""
    rows, solution = fit.rows, fit.solution
    bias = next(term for term in fit.terms if term.name == "bias")
    y = rows.A @ fit.phi + np.outer(rows.constant, fit.values["bias"] - bias.mean) + solution.left
    pull = -rows.level @ (rotation(np.r_[rows.setup.tilt, 0.0]) @ GRAVITY)
    static = np.zeros_like(rows.A)
    static[..., :4] = weight_columns(pull)
    full, gravity = (rows.back(np.concatenate([A, y[..., None]], axis=2))
                     for A in (rows.A, static))
    motion = rows.window.motion
    weight = dynamism_weight(rows.smooth(motion.acceleration), rows.smooth(motion.omega),
                             rows.smooth(motion.alpha), c1)
    return PlainRows(full, gravity, weight, np.sqrt(solution.variance.mean(0)), bias.sd,
                     float(np.linalg.norm(solution.residual)))
