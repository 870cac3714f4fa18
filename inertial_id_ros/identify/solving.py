# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""From what explains the samples to the problem of an estimator, and its answer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..errors import NotEnoughData
from ..estimators.base import Solution
from ..explain.explain import Explanation
from ..explain.plain_rows import PlainRows
from ..model.problem import Problem, blend, channel_triangles
from ..model.tool import nothing_beside
from ..motion.motion import Array
from .beliefs import is_weight_alone
from .conclusion import Basis, Explained


def solve(explained: Explained, basis: Basis) -> tuple[Array | None, Array]:
    """The payload of the estimator: answer (10,) at the scales that the data tell, None where there
    is none, and covariance (10, 10) at the data sheet's."""
    beliefs, estimator = basis.beliefs, basis.estimator
    apart: Array = np.zeros(10)
    more: Array = np.zeros((10, 10))
    if beliefs.compensated is not None and not _has_whole_load(explained, basis):
        apart = apart - beliefs.compensated
    if beliefs.tool is not None:
        apart, more = apart + beliefs.tool.phi, beliefs.tool.covariance
        nothing = nothing_beside(beliefs.tool, explained.wide_phi - apart,
                                 explained.wide_covariance + more,
                                 basis.settings.wrench.gain_error)
        if nothing is not None:
            return nothing
    own = Problem.from_estimate(explained.phi - apart, explained.covariance + more)
    wide = Problem.from_estimate(explained.wide_phi - apart, explained.wide_covariance + more)
    try:
        answer = estimator.solve(_with_rows(own, explained, basis, apart), beliefs.shape)
        if basis.settings.estimator.method == "ols":  # which has no interval of its own
            return answer.phi, np.linalg.inv(wide.information)
        widest = estimator.solve(replace(wide, noise=own.noise), beliefs.shape)
    except NotEnoughData:
        return None, more
    gap = widest.phi - answer.phi
    return answer.phi, _covariance(widest, wide) + np.outer(gap, gap)


def _has_whole_load(explained: Explained, basis: Basis) -> bool:
    """True if what the driver compensates is in the explained payload already: its weight alone."""
    error = explained.error if isinstance(explained, Explanation) else None
    return is_weight_alone(basis.settings) or (
        error is not None and error.kind == "removed_payload")


def _with_rows(problem: Problem, explained: Explained, basis: Basis, apart: Array) -> Problem:
    """The problem, with rows or of rows where the estimator or its weighting needs them."""
    settings = basis.settings.estimator
    if settings.weighting != "dynamism" and not basis.estimator.needs_wrench:
        return problem
    rows = explained.plain_rows(settings.dynamism_c1).without(apart)
    if settings.weighting == "dynamism":
        return blend(rows.full, rows.static, rows.weight, rows.noise, rows.bias_sd)
    return _of_full_model(problem, rows)


def _of_full_model(problem: Problem, rows: PlainRows) -> Problem:
    """The problem with the rows of the full model, for who weighs them anew."""
    models = (channel_triangles(rows.full, np.ones(len(rows.full))),)
    return replace(problem, residual=rows.residual, models=models, noise=rows.noise,
                   bias_sd=rows.bias_sd)


def _covariance(solution: Solution, problem: Problem) -> Array:
    if solution.covariance is not None:
        return solution.covariance
    return np.asarray(np.linalg.inv(problem.information + solution.prior_information))
