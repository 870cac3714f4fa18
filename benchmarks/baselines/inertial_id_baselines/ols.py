# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""`ols`: ordinary least squares (Atkeson, An, Hollerbach 1986), a reference row.

Force and torque rows count alike, in N and N m; the biases are known (zero, or a tare); nothing
keeps the answer physical. Directions that the data leave open are filled as `reference_body` says.
"""

from __future__ import annotations

import numpy as np

from inertial_id_ros.estimators.base import Solution
from inertial_id_ros.estimators.reference_body import ReferenceBodyCache, regularise
from inertial_id_ros.geometry.shape import Shape
from inertial_id_ros.inertia import PARAMETERS
from inertial_id_ros.regression.problem import Problem
from inertial_id_ros.regression.row_layout import BIASES
from inertial_id_ros.settings import Settings


class Ols:
    """Unweighted least squares without bias states."""

    name = "ols"
    needs_shape = False
    keeps_mass_inside = False
    needs_wrench = True
    needs_noise = "no"
    guarantees_consistency = False

    def __init__(self, settings: Settings) -> None:
        self._bodies = ReferenceBodyCache()

    def solve(self, problem: Problem, shape: Shape | None) -> Solution:
        """The full model's least squares; the dynamism weighting does not apply.

        Raises:
            NotEnoughData: no information about the mass.
        """
        body = self._bodies.of(shape)
        # One unit for all rows, so that the weak prior has a scale to be weak against.
        rows = problem.full / np.mean(problem.noise[:BIASES // 2])
        target = rows[:, -1] - rows[:, PARAMETERS:-1] @ problem.bias_mean
        data = regularise(rows[:, :PARAMETERS], target, body)
        return Solution(body.to_phi @ data.optimum, problem.bias_mean.copy(),
                        data.prior_information(body))
