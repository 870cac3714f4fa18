# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Which parameters to trust: intervals against limits, and the share of the data.

A parameter whose 95 % interval (two standard deviations) is within its limit is `identified` where
at least half of its information comes from the data, else `prior-dominated`; outside of the limit
it is `unobserved` by this motion. Limits: mass 5 %; centre of mass 5 mm, or 5 % of its distance if
that is larger; inertia 20 % of the mean principal moment.
"""

from __future__ import annotations

import numpy as np

from ..estimate import IDENTIFIED, PRIOR_DOMINATED, UNOBSERVED, ParameterVerdict
from ..inertia import report_from_phi, report_jacobian
from ..motion.motion import Array

MASS_SHARE, COM_LENGTH, COM_SHARE, INERTIA_SHARE, DATA_SHARE = 0.05, 0.005, 0.05, 0.2, 0.5
REACH, MASS_SD = 1.0, 100.0  # m, kg: how vague a payload is known before the data
_DIAGONAL = [4, 7, 9]  # of the report: moments about the axes


def limits(report: Array, sd: Array) -> Array:
    """Largest half widths (10,) of intervals with which parameters count as known.

    Args:
        report, sd: (10,) mass, centre of mass, inertia about it.
    """
    com = max(COM_LENGTH, COM_SHARE * float(np.linalg.norm(report[1:4])))
    moments, widths = report[_DIAGONAL], sd[_DIAGONAL]
    from_one = float((moments - 2.0 * widths).max()) * 2.0 / 3.0  # of the triangle inequality
    from_all = float(moments.sum() - 2.0 * np.linalg.norm(widths)) / 3.0
    moment = max(from_all, from_one, 0.0)
    return np.array([MASS_SHARE * report[0], *3 * (com,), *6 * (INERTIA_SHARE * moment,)])


def judge(phi: Array, covariance: Array, prior: Array
          ) -> tuple[Array, tuple[ParameterVerdict, ...]]:
    """Share (10,) of each reported parameter that comes from the data, 0 to 1; its verdict.

    Args:
        phi, covariance: (10,), (10, 10) of the answer; prior: (10, 10) covariance before the data.
    """
    report, jacobian = report_from_phi(phi), report_jacobian(phi)
    variance = np.maximum(np.einsum("ij,jk,ik->i", jacobian, covariance, jacobian), 0.0)
    before = np.einsum("ij,jk,ik->i", jacobian, prior, jacobian)
    share, sd = np.clip(1.0 - variance / before, 0.0, 1.0), np.sqrt(variance)
    known = 2.0 * sd <= limits(report, sd)
    return share, tuple(
        UNOBSERVED if not ok else IDENTIFIED if s >= DATA_SHARE else PRIOR_DOMINATED
        for ok, s in zip(known.tolist(), share.tolist(), strict=True))


def vague(mass: float) -> Array:
    """Covariance (10, 10) of phi before data and shape, for a payload of about that mass [kg]."""
    mass = max(mass, 0.1)
    return np.diag(np.r_[MASS_SD, 3 * [REACH * mass], 6 * [REACH**2 * mass]] ** 2)
