# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The problem of a window as estimators see it."""

from __future__ import annotations

import numpy as np

from ..estimators import Estimator, Solution
from ..geometry.shape import Shape
from ..inertia import PARAMETERS, Array
from ..model.problem import CHANNELS
from ..model.problem import Problem as EstimatorProblem
from ..regression.problem import Problem


def solve_for(estimator: Estimator, problem: Problem, weighting: str,
              shape: Shape | None) -> Solution:
    """The estimator's answer to the problem of a window (raises as `Estimator.solve`)."""
    return estimator.solve(estimator_problem(problem, weighting, estimator.needs_wrench), shape)


def estimator_problem(problem: Problem, weighting: str, with_rows: bool) -> EstimatorProblem:
    """The marginal in phi of that weighting; with the rows of its models, if they are asked for."""
    upper = problem.marginal(weighting).upper
    models: tuple[Array, ...] = ()
    if with_rows:
        parts = (problem.full,) if weighting == "noise" else (problem.dynamic, problem.static)
        models = tuple(_by_channel(part, problem.bias_mean) for part in parts)
    return EstimatorProblem(upper[:-1, :-1], upper[:-1, -1], float(abs(upper[-1, -1])), models,
                            problem.noise, problem.bias_sd)


def _by_channel(factor: Array, bias_mean: Array) -> Array:
    """Rows (6, k, 12) ``[1 | A | y]`` of a factor (6 k, 17) ``[A | B | y]``, y without the bias."""
    rows = factor.reshape(CHANNELS, -1, factor.shape[1])
    own = np.arange(CHANNELS)
    one = rows[own, :, PARAMETERS + own]
    y = rows[..., -1] - one * bias_mean[:, None]
    return np.concatenate([one[..., None], rows[..., :PARAMETERS], y[..., None]], axis=2)
