# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""From what explains the samples to the problem of an estimator, and its answer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..errors import NotEnoughData
from ..explain.explain import Explanation
from ..explain.plain_rows import plain_rows
from ..model.problem import Problem, blend, channel_triangles
from ..model.tool import nothing_beside
from ..motion.motion import Array
from .conclusion import Basis, Explained


def solve(explained: Explained, basis: Basis) -> tuple[Array | None, Array]:
    """The payload of the estimator: answer (10,) at the scales that the data tell, None where there
    is none, and covariance (10, 10) at the data sheet's."""
    beliefs, estimator, settings = basis.beliefs, basis.estimator, basis.settings
    apart: Array = np.zeros(10)
    more: Array = np.zeros((10, 10))
    error = explained.error if isinstance(explained, Explanation) else None
    is_whole = settings.precompensated.terms == "weight" or (  # alone: the inertia is measured
        error is not None and error.kind == "removed_payload")
    if beliefs.compensated is not None and not is_whole:
        apart = apart - beliefs.compensated
    if beliefs.tool is not None:
        apart, more = apart + beliefs.tool.phi, beliefs.tool.covariance
        nothing = nothing_beside(beliefs.tool, explained.wide_phi - apart,
                                 explained.wide_covariance + more, settings.wrench.gain_error)
        if nothing is not None:
            return nothing
    own = Problem.from_estimate(explained.phi - apart, explained.covariance + more)
    wide = Problem.from_estimate(explained.wide_phi - apart, explained.wide_covariance + more)
    try:
        answer = estimator.solve(_with_rows(own, explained, basis, apart), beliefs.shape)
        if settings.estimator.method == "ols":  # which has no interval of its own
            return answer.phi, np.linalg.inv(wide.information)
        widest = estimator.solve(replace(wide, noise=own.noise), beliefs.shape)
    except NotEnoughData:
        return None, more
    gap, covariance = widest.phi - answer.phi, widest.covariance
    if covariance is None:
        covariance = np.linalg.inv(wide.information + widest.prior_information)
    return answer.phi, covariance + np.outer(gap, gap)


def _with_rows(problem: Problem, explained: Explained, basis: Basis, apart: Array) -> Problem:
    """The problem, with rows or of rows where the estimator or its weighting needs them."""
    settings = basis.settings.estimator
    if settings.weighting != "dynamism" and not basis.estimator.needs_wrench:
        return problem
    rows = (plain_rows(explained.best, settings.dynamism_c1) if isinstance(explained, Explanation)
            else explained.plain_rows()).without(apart)
    if settings.weighting == "dynamism":
        return blend(rows.full, rows.static, rows.weight, rows.noise, rows.bias_sd)
    models = (channel_triangles(rows.full, np.ones(len(rows.full))),)
    return replace(problem, residual=rows.residual, models=models, noise=rows.noise,
                   bias_sd=rows.bias_sd)
