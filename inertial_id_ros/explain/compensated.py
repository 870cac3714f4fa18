# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A payload whose weight the driver takes off, though nobody said so: mass and first moment."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..model.newton_euler import GRAVITY
from ..model.rows import Rows
from ..motion.motion import Array
from .setup_fit import weight_columns
from .term import Effect, Term, linear

_SD = (10.0, 1.0, 1.0, 1.0)  # kg, kg m


class CompensatedWeight(Term):
    """See the module."""

    name, place, strength, is_linear = "removed_payload", 8, np.inf, True

    def __init__(self) -> None:
        super().__init__(np.array(_SD))

    def effect(self, rows: Rows, phi: Array, values: Array, load: Array) -> Effect:
        return linear(-weight_columns(rows.level @ -GRAVITY), values)

    def describe(self, rows: Rows, phi: Array, values: Array) -> Mapping[str, float]:
        return {"mass": float(values[0])}
