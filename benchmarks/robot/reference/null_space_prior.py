# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A prior on what the data do not know, and on nothing else (Ayusawa, Nakamura 2010, eqs 29-32)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from inertial_id_ros.inertia import Array
from inertial_id_ros.robot.consistent_fit import Prior


@dataclass(frozen=True)
class NullSpacePrior(Prior):
    """It acts only on what the data know to worse than `excited`, and does not pull on the rest.

    Attributes:
        excited: standard deviation, in units of the reference, that tells the two apart.
    """

    excited: float = 1.0

    def rows(self, matrix: Array) -> tuple[Array, Array]:
        """Rows (r, p) and target (r,) of the prior beside whitened data rows."""
        scale = self.scale
        values, right = np.linalg.svd(matrix @ scale.unit, full_matrices=True)[1:]
        known = np.zeros(matrix.shape[1], dtype=bool)
        known[:len(values)] = values * self.excited > 1.0
        rows = np.sqrt(self.weight) * right[~known] @ scale.inverse
        return rows, rows @ self.reference.phi
