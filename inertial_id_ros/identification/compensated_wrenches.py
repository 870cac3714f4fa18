# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What is left of wrenches without the bias and the load of the payload."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..inertia import Array


class CompensatedWrenches(NamedTuple):
    """Wrenches with bias, weight and inertia of the payload removed.

    Attributes:
        stamps_ns: (k,); wrench: (k, 6) [N, N m], sign of the incoming topic; frame_id.
    """

    stamps_ns: np.ndarray
    wrench: Array
    frame_id: str


def no_wrenches(frame_id: str) -> CompensatedWrenches:
    """Compensated wrenches without any sample."""
    return CompensatedWrenches(np.empty(0, np.int64), np.empty((0, 6)), frame_id)


def join_wrenches(parts: Sequence[CompensatedWrenches], frame_id: str) -> CompensatedWrenches:
    """Successive compensated wrenches as one."""
    return CompensatedWrenches(np.concatenate([p.stamps_ns for p in parts]),
                               np.concatenate([p.wrench for p in parts]), frame_id)
