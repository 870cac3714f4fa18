# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""`wls`: whitened least squares, and `ols`: the same with N and N m as they are (Atkeson, An,
Hollerbach 1986). Nothing keeps the answer physical; see `reference_body` for what data leave open.
"""

from __future__ import annotations

import numpy as np

from ..errors import InvalidSetting, NotEnoughData
from ..geometry.shape import Shape
from ..model.problem import Problem
from ..settings import Settings
from . import Solution
from .reference_body import regularise


class Wls:
    """Least squares, every row by its noise."""

    name = "wls"
    needs_shape = needs_wrench = False

    def __init__(self, settings: Settings) -> None:
        if self.name == "ols" and settings.estimator.weighting != "noise":
            raise InvalidSetting("estimator.method 'ols' needs estimator.weighting 'noise'")

    def solve(self, problem: Problem, shape: Shape | None) -> Solution:
        """The unconstrained optimum; see `Estimator.solve`."""
        data = regularise(problem, shape, needs_mass=False)
        return data.solution(data.optimum, is_body=False)


class Ols(Wls):
    """Least squares, every row alike, with a free bias (or the known one)."""

    name = "ols"
    needs_wrench = True

    def solve(self, problem: Problem, shape: Shape | None) -> Solution:
        """The unconstrained optimum of all rows; its covariance is not that of noise."""
        if not problem.models:
            raise NotEnoughData("the estimator 'ols' needs the rows of the wrench")
        return super().solve(Problem.from_models(
            problem.models, np.ones(len(problem.noise)), 1e6 * problem.bias_sd), shape)
