# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Triangular factors of stacks of matrices."""

from __future__ import annotations

import numpy as np

from .inertia import Array


def triangle(rows: Array) -> Array:
    """Square upper triangular factors (..., k, k) of rows (..., n, k), filled with zeros where n is
    less than k."""
    missing = max(rows.shape[-1] - rows.shape[-2], 0)
    padding = [(0, 0)] * (rows.ndim - 2) + [(0, missing), (0, 0)]
    return np.asarray(np.linalg.qr(np.pad(rows, padding), mode="r"))
