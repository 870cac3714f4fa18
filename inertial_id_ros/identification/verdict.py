# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Which parameters to trust, and why: covariance, share of the data, verdict, sentences.

Thresholds are on two standard deviations (a 95 % interval) of a parameter:

==========  =====================================================
mass        5 % of the mass
com         5 mm, or 5 % of its distance from the sensor if larger
inertia     20 % of the mean principal moment (its lower 95 % bound)
==========  =====================================================

The moments satisfy the triangle inequality, so the mean principal moment is at least two thirds of
any one of them: after turning about one axis the moment about it can be judged by itself.

A parameter within its threshold is `identified` when at least half of its information comes from
the data, else `prior-dominated`; outside of it, it is `unobserved` by this motion.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ..estimate import (
    IDENTIFIED,
    PRIOR_DOMINATED,
    UNOBSERVED,
    VERDICT_WORDS,
    ParameterVerdict,
)
from ..estimators.base import Solution
from ..inertia import PARAMETER_NAMES, Array, report_from_phi, report_jacobian
from ..lapack import lapack
from ..linalg import inverse
from ..regression.problem import Marginal, vague_information

MASS_SHARE, COM_LENGTH, COM_SHARE, INERTIA_SHARE = 0.05, 0.005, 0.05, 0.20
DATA_SHARE = 0.5
_GROUPS = slice(0, 1), slice(1, 4), slice(4, 10)  # of the report
_DIAGONAL = np.array([4, 7, 9])  # of the tensor


class Verdict(NamedTuple):
    """How far each parameter of an estimate can be trusted.

    Attributes:
        phi_covariance: (10, 10) of phi.
        data_share: (10,) of each reported parameter, 0 to 1.
        verdict: (10,) UNOBSERVED, PRIOR_DOMINATED or IDENTIFIED.
        sentence: one for a person.
        condition_number: of the regressor with columns scaled to unit length.
    """

    phi_covariance: Array
    data_share: Array
    verdict: tuple[ParameterVerdict, ...]
    sentence: str
    condition_number: float


def judge(solution: Solution, marginal: Marginal, beyond: Array | float = 0.0) -> Verdict:
    """Compute the covariance of an estimator's answer and judge each parameter by it.

    Args:
        marginal: the noise-weighted full problem.
        beyond: (10, 10) covariance of errors that the problem does not hold.
    """
    phi = solution.phi
    prior = vague_information(phi[0]) + solution.prior_information
    covariance = solution.covariance
    if covariance is None:
        covariance = inverse(marginal.information + prior)
    before = inverse(prior) if solution.prior_covariance is None else solution.prior_covariance
    covariance = covariance + beyond
    covariance = 0.5 * (covariance + covariance.T)
    jacobian = report_jacobian(phi)
    posterior = np.maximum(_variances(jacobian, covariance), 0.0)
    share = 1.0 - posterior / _variances(jacobian, before)
    share = np.minimum(np.maximum(share, 0.0), 1.0)
    trace = jacobian[_DIAGONAL].sum(axis=0)
    trace_sd = math.sqrt(max(float(trace @ covariance @ trace), 0.0))
    sd = np.sqrt(posterior)
    within = 2.0 * sd <= _limits(report_from_phi(phi), sd, trace_sd)
    verdict = tuple(
        UNOBSERVED if not ok else IDENTIFIED if s >= DATA_SHARE else PRIOR_DOMINATED
        for ok, s in zip(within.tolist(), share.tolist(), strict=True))
    return Verdict(covariance, share, verdict, summarise_verdict(verdict),
                   _condition_number(marginal.matrix))


def name_limits(phi: Array, covariance: Array, causes: Mapping[str, Array]) -> tuple[str, ...]:
    """What makes most of the variance of mass, centre of mass and inertia (3,), in words; empty
    where noise and motion so far do, so that more motion helps.

    Args:
        covariance: (10, 10) of phi (10,); causes: part of it (10, 10) by the cause of an error that
            no motion takes away.
    """
    jacobian = report_jacobian(phi)
    variances = {cause: _variances(jacobian, part) for cause, part in causes.items()}
    rest = _variances(jacobian, covariance) - sum(variances.values())
    limits = []
    for group in _GROUPS:
        shares = {cause: float(variance[group].sum()) for cause, variance in variances.items()}
        worst = max(shares, key=lambda cause: shares[cause])
        limits.append(worst if shares[worst] > float(rest[group].sum()) else "")
    return tuple(limits)


def allowed_intervals(phi: Array, covariance: Array) -> Array:
    """Largest half widths (10,) of 95 % intervals with which the reported parameters count as
    known, for phi (10,) of this covariance (10, 10)."""
    jacobian = report_jacobian(phi)
    trace = jacobian[_DIAGONAL].sum(axis=0)
    sd = np.sqrt(np.maximum(_variances(jacobian, covariance), 0.0))
    return _limits(report_from_phi(phi), sd, math.sqrt(max(float(trace @ covariance @ trace), 0.0)))


def _variances(jacobian: Array, covariance: Array) -> Array:
    """Variances (n,) of what has this Jacobian J (n, k): the diagonal of ``J C J'``."""
    return ((jacobian @ covariance) * jacobian).sum(axis=1)


def _limits(report: Array, sd: Array, trace_sd: float) -> Array:
    """Largest allowed two-sigma interval (10,) of each reported parameter."""
    com = max(COM_LENGTH, COM_SHARE * math.hypot(*report[1:4].tolist()))
    from_trace = float(report[_DIAGONAL].sum() - 2.0 * trace_sd) / 3.0
    from_one = float((report - 2.0 * sd)[_DIAGONAL].max()) * 2.0 / 3.0
    moment = max(from_trace, from_one, 0.0)
    return np.array([MASS_SHARE * report[0], *3 * (com,), *6 * (INERTIA_SHARE * moment,)])


@lru_cache(maxsize=64)
def summarise_verdict(verdict: tuple[ParameterVerdict, ...]) -> str:
    """Sum up the verdict (10,) in one sentence: mass, centre of mass, inertia."""
    parts = []
    for name, members in (("mass", [0]), ("centre of mass", [1, 2, 3]),
                          ("inertia", [4, 5, 6, 7, 8, 9])):
        worst = min(verdict[k] for k in members)
        same = all(verdict[k] == worst for k in members)
        if worst == UNOBSERVED:
            which = [PARAMETER_NAMES[k] for k in members if verdict[k] == worst]
            some = "" if same else f" in {', '.join(which)}"
            parts.append(f"{name} is not identified by this motion{some}")
        else:
            parts.append(f"{name} is {VERDICT_WORDS[worst]}")
    return "; ".join(parts)


def _condition_number(matrix: Array) -> float:
    """Condition number of a matrix with its columns scaled to unit length; infinite if singular."""
    lengths = np.sqrt((matrix * matrix).sum(axis=0))
    if not lengths.min() > 0.0:
        return float("inf")
    values = lapack.dgesdd(matrix / lengths, compute_uv=0)[1]
    return float(values[0] / values[-1]) if values[-1] > 0.0 else float("inf")
