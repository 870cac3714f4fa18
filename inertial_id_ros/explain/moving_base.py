# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A base that is accelerated along the floor: an AGV that drives, a crane that sways.

The payload is accelerated as a whole: m a in the centre of mass, which a contact or a cable does
not do. Values (2 K): cosine modes of a(t) along the base's x and y [m/s^2].
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..model.newton_euler import static_wrench
from ..model.rows import STEP, Rows
from ..motion.motion import BIN, Array
from .coarse import is_explained
from .fit import Fit
from .swing import Swing
from .term import Effect, Term, Values, linear

BAND = 2.0  # Hz
_SD = 0.1  # m/s^2
_NAMED = 0.06  # m/s^2, root mean square
_SHARE, _SWINGS = 0.6, 30.0  # of the residual; evidence for a swing, with which it is none


class MovingBase(Term):
    """See the module. Args: rows: of the window."""

    name, place, is_linear, strength, odds = "base_moves", -2, True, 3.0, -6.0

    def __init__(self, rows: int) -> None:
        self.count = max(int(2.0 * BAND * BIN * STEP * rows), 3)
        super().__init__(np.full(2 * self.count, _SD))

    def on(self, rows: Rows) -> MovingBase:
        return MovingBase(rows.n)

    def starts(self, fit: Fit) -> list[Values]:
        """It is worth a try where accelerations, any in each row, explain most of the residual, and
        no part that swings by the arm's own motion does."""
        if "not_rigid" in fit.names or is_explained(fit):
            return []
        rows, solution = fit.rows, fit.solution
        left = rows.back(solution.residual.reshape(rows.y.shape))
        weight = np.sqrt(np.repeat(solution.variance.reshape(-1, 2, 3).mean((0, 2)), 3))
        pulls = static_wrench(fit.phi, rows.rotation[:, :2]).transpose(0, 2, 1) / weight[:, None]
        basis, _ = np.linalg.qr(pulls)
        part = basis.transpose(0, 2, 1) @ left[..., None]
        share = float((part**2).sum() / max(float((left**2).sum()), 1e-300))
        is_likely = share > _SHARE and not Swing().starts(fit, _SWINGS)
        return [{self.name: self.mean}] if is_likely else []

    def effect(self, rows: Rows, phi: Array, values: Array, load: Array) -> Effect:
        at = np.outer(np.arange(rows.n) + 0.5, np.arange(self.count)) / rows.n
        across = rows.rotation[:, :2]  # (n, 2, 3) axes of the base in sensor axes
        pulls = static_wrench(phi, across).transpose(0, 2, 1)  # (n, 6, 2)
        slopes = pulls[..., None] * np.cos(np.pi * at)[:, None, None]
        return linear(rows.modes(slopes.reshape(rows.n, 6, -1)), values)

    def describe(self, rows: Rows, phi: Array, values: Array) -> Mapping[str, float]:
        x, y = values.reshape(2, -1)[:, 1:]
        size = float(np.sqrt(0.5 * (x @ x + y @ y)))
        return {"acceleration": size} if size > _NAMED else {}
