# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What user, driver or a file said; frozen, replaced as a whole. Nothing is learnt into it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from ..geometry.shape import Shape
from ..motion.motion import Array
from ..regression.tool import Tool


class Tare(NamedTuple):
    """Mean and standard deviation (6,) of the zero [N, N m], sign of W."""

    mean: Array
    sd: Array


@dataclass(frozen=True)
class Beliefs:
    """What is said of what is carried.

    Attributes:
        tare: zero of the sensor; tool: known part of what is carried; shape: of the object.
        removed: phi (10,) that the driver compensates in the wrench.
    """

    tare: Tare | None = None
    tool: Tool | None = None
    shape: Shape | None = None
    removed: Array | None = None
