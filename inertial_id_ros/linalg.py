# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Triangular factors of stacks of matrices."""

from __future__ import annotations

import numpy as np

from .inertia import Array


def triangular_factors(rows: Array) -> Array:
    """Square triangular factors (..., w, w) of rows (..., n, w)."""
    n, width = rows.shape[-2:]
    upper = np.asarray(np.linalg.qr(rows, mode="r"))
    if n >= width:
        return upper
    padded = np.zeros((*rows.shape[:-2], width, width))
    padded[..., :n, :] = upper
    return padded
