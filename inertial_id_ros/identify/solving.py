# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""From what explains the samples to the problem of an estimator, and its answer."""

from dataclasses import replace

import numpy as np

from ..errors import NotEnoughData
from ..explain.contradictions import SIGNIFICANT, Reason
from ..explain.explain import Explanation
from ..explain.fit import Fit
from ..inertia import PARAMETERS
from ..model.newton_euler import GRAVITY, rotation, weight_columns
from ..model.problem import Problem, channel_triangles, dynamism_weight
from ..model.tool import nothing_beside
from ..motion.motion import Array
from .beliefs import Basis

# Squared distance, in deviations, from data to a body that a right shape never exceeds.
FAR = PARAMETERS + SIGNIFICANT * np.sqrt(2.0 * PARAMETERS)
DYNAMIC = 300.0  # dynamism from which on the full model has 99.5 % of the weight in a blend


def plain_rows(fit: Fit, apart: Array) -> tuple[Array, ...]:
    """Rows ``[A | y]`` of payload and bias alone, for estimators that weigh rows themselves: a
    fit's modes brought back to time, y less what it says of all else, and of a known part of the
    payload, phi (10,).

    Returns:
        Rows (n, 6, 11) of the full and of the gravity-only model, y without the mean of the bias
        before the data; weight (n,) of the full model in a blend; deviations (6,) of a row, and of
        the bias before the data.
    """
    rows, solution = fit.rows, fit.solution
    bias = next(term for term in fit.terms if term.name == "bias")
    y = rows.A @ (fit.phi - apart) + solution.left + np.outer(
        rows.constant, fit.values["bias"] - bias.mean)
    static, motion = np.zeros_like(rows.A), rows.window.motion
    weight: Array = np.ones(rows.n)
    if not rows.of_joints:  # for these no two models are blended
        static[..., :4] = weight_columns(
            -rows.level @ (rotation(np.r_[rows.setup.tilt, 0.0]) @ GRAVITY))
        weight = dynamism_weight(rows.smooth(motion.acceleration), rows.smooth(motion.omega),
                                 rows.smooth(motion.alpha), DYNAMIC)
    full, gravity = (rows.back(np.concatenate([A, y[..., None]], axis=2)) for A in (rows.A, static))
    return full, gravity, weight, np.sqrt(solution.variance.mean(0)), bias.sd


def solve(explained: Explanation, basis: Basis) -> tuple[Array | None, Array, tuple[Reason, ...]]:
    """phi (10,) of the payload by the configured estimator, with noise as the data tell it; None
    where there is none. The tool, and what the driver compensates, are taken out before. And its
    covariance (10, 10) with noise as of the data sheet, widened by what the two answers differ; and
    why the shape cannot be true, which widens it, too."""
    beliefs, estimator, settings = basis.beliefs, basis.estimator, basis.settings
    more: Array = np.zeros((10, 10))
    is_whole = settings.precompensated.terms == "weight" or (  # alone: the inertia is measured
        explained.error.kind == "removed_payload")
    apart: Array = np.zeros(10) if is_whole else -beliefs.compensated
    if beliefs.tool is not None:
        apart, more = apart + beliefs.tool.phi, beliefs.tool.covariance
        nothing = nothing_beside(beliefs.tool, explained.wide_phi - apart,
                                 explained.wide_covariance + more, settings.wrench.gain_error)
        if nothing is not None:
            return *nothing, ()
    own = Problem.from_estimate(explained.phi - apart, explained.covariance + more)
    wide = Problem.from_estimate(explained.wide_phi - apart, explained.wide_covariance + more)
    try:
        answer = estimator.solve(_with_rows(own, explained, basis, apart), beliefs.shape)
        if settings.estimator.method == "ols":  # which has no interval of its own
            return answer.phi, np.linalg.inv(wide.matrix.T @ wide.matrix), ()
        widest = estimator.solve(replace(wide, noise=own.noise, near=answer.found), beliefs.shape)
    except NotEnoughData:
        return None, more, ()
    gap, off = widest.phi - answer.phi, wide.matrix @ widest.phi - wide.target
    covariance = widest.covariance + np.outer(gap, gap)
    if beliefs.shape is None or off @ off < FAR:
        return answer.phi, covariance, ()
    away = answer.phi + apart - explained.wide_phi
    return answer.phi, covariance + np.outer(away, away), ((
        "shape_contradicted", {"deviations": float(np.linalg.norm(off))}),)


def _with_rows(problem: Problem, explained: Explanation, basis: Basis, apart: Array) -> Problem:
    """The problem, with rows or of rows where the estimator or its weighting needs them."""
    is_blend = basis.settings.estimator.weighting == "dynamism"
    if not is_blend and not basis.estimator.needs_wrench:
        return problem
    full, static, weight, noise, bias_sd = plain_rows(explained.best, apart)
    residual = float(np.linalg.norm(explained.best.solution.residual))
    if is_blend:  # with the same bias (Nadeau, Giamou, Kelly 2022, eq. 8)
        return Problem.from_models((channel_triangles(full, weight),
                                    channel_triangles(static, 1.0 - weight)), noise, bias_sd)
    return replace(problem, residual=residual, noise=noise, bias_sd=bias_sd,
                   models=(channel_triangles(full, np.ones(len(full))),))
