# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""`wls`: least squares whitened by the sensor noise, with six bias states; a reference row.

The biases have their prior (or are known) and are eliminated; nothing keeps the answer physical.
Directions that the data leave open are filled as `reference_body` says.
"""

from __future__ import annotations

from ..geometry.shape import Shape
from ..regression.problem import Problem
from ..settings import Settings
from .base import Solution
from .reference_body import ReferenceBodyCache, regularise


class Wls:
    """Whitened least squares with bias states."""

    name = "wls"
    needs_shape = False
    keeps_mass_inside = False
    needs_wrench = False
    needs_noise = "ratio of force to torque"
    guarantees_consistency = False

    def __init__(self, settings: Settings) -> None:
        self._weighting = settings.estimator.weighting
        self._bodies = ReferenceBodyCache()

    def solve(self, problem: Problem, shape: Shape | None) -> Solution:
        """Unconstrained optimum of the weighting asked for.

        Raises:
            NotEnoughData: no information about the mass.
        """
        marginal = problem.marginal(self._weighting)
        body = self._bodies.of(shape)
        data = regularise(marginal.matrix, marginal.target, body)
        phi = body.to_phi @ data.optimum
        return Solution(phi, marginal.bias(phi), data.prior_information(body))
