# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What a fault is: how it changes a stream, and which finding must name it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .stream import Stream

Inject = Callable[[Stream, float, np.random.Generator], Stream]


@dataclass(frozen=True)
class Fault:
    """A fault.

    Attributes:
        name: for the table; finding: that names it.
        inject: changes a stream from a second on; `lasts`: for how long [s], infinite if for good.
        on: methods that the stream must hold.
        changes: of the settings.
    """

    name: str
    finding: str
    inject: Inject
    lasts: float = 1.0
    on: tuple[str, ...] = ()
    changes: tuple[tuple[str, object], ...] = ()
