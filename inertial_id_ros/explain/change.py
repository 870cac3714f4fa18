# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Mass and first moment that change evenly over the window: something pours or slides."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..model.rows import Rows
from ..motion.motion import Array
from .term import Effect, Term, linear

_SD, _FIRST = 0.2, 0.1  # of the mass; m, of the first moment per mass
_NAMED = 0.02  # of the mass


class Change(Term):
    """See the module; values (4) are relative to the mass."""

    name, strength, is_linear, odds = "payload_walks", np.inf, True, -4.0

    def __init__(self) -> None:
        super().__init__([_SD] * 4)

    def effect(self, rows: Rows, phi: Array, values: Array, load: Array) -> Effect:
        scale = max(phi[0], 0.0) * np.r_[1.0, _FIRST, _FIRST, _FIRST]
        return linear(rows.modes(rows.t[:, None, None] * rows.steady[..., :4]) * scale, values)

    def describe(self, rows: Rows, phi: Array, values: Array) -> Mapping[str, float]:
        return {"share": float(values[0])} if np.abs(values).max() > _NAMED else {}
