# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""`wls`: whitened least squares, and `ols`: the same with N and N m as they are (Atkeson, An,
Hollerbach 1986). Rows to compare with: nothing keeps the answer physical.

Directions that the data leave open are filled as `reference_body` says.
"""

from __future__ import annotations

import numpy as np

from ..errors import InvalidSetting, NotEnoughData
from ..geometry.shape import Shape
from ..model.problem import Problem
from ..settings import Settings
from .base import Solution
from .reference_body import reference_body, regularise


class Wls:
    """Least squares, every row by its noise."""

    name = "wls"
    needs_shape = needs_wrench = False

    def __init__(self, settings: Settings) -> None:
        """There is nothing to set."""

    def solve(self, problem: Problem, shape: Shape | None) -> Solution:
        """The unconstrained optimum.

        Raises:
            NotEnoughData: no information about the mass.
        """
        body = reference_body(shape)
        data = regularise(problem.matrix, problem.target, body)
        return Solution(body.to_phi @ data.optimum, data.prior_information(body))


class Ols(Wls):
    """Least squares, every row alike, with a free bias (or the known one)."""

    name = "ols"
    needs_wrench = True

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        if settings.estimator.weighting != "noise":
            raise InvalidSetting("estimator.method 'ols' needs estimator.weighting 'noise'")

    def solve(self, problem: Problem, shape: Shape | None) -> Solution:
        """The unconstrained optimum of all rows; what is made of `Solution` as its interval is that
        of `wls`, and too narrow.

        Raises:
            NotEnoughData: no rows, or no information about the mass.
        """
        if not problem.models:
            raise NotEnoughData("the estimator 'ols' needs the rows of the wrench")
        unweighted = Problem.from_models(problem.models, np.ones(len(problem.noise)),
                                         1e6 * problem.bias_sd)
        return super().solve(unweighted, shape)
