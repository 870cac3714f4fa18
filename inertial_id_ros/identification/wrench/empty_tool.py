# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Whether a known tool carries nothing: a result, though no body has no mass."""

from __future__ import annotations

import numpy as np

from ...estimators import Solution
from ...inertia import PARAMETERS, phi_from_body
from ...regression.problem import Problem
from ...regression.tool import Tool

# Half width of the interval of the mass beside the tool, over the mass of the tool and at least
# [kg], up to which the tool counts as empty; and share of that which always counts as nothing.
_SHARE, _LEAST, _TRIFLE = 0.05, 0.02, 0.1
_RADIUS = 0.01  # m; of the ball that stands for what is not there
_LIGHTEST = 0.1  # of the interval: mass of that ball at least


def answer_for_empty_tool(problem: Problem, tool: Tool | None, gain_error: float
                          ) -> Solution | None:
    """The answer where nothing is carried beside the tool: a ball at the sensor, as light as the
    data allow, with the covariance of the data. None where something is, or may be.

    Estimators cannot tell: each looks for a body, and a negative mass that is noise is none.

    Args:
        gain_error: standard deviation of the sensor's gain, as share.
    """
    if tool is None:
        return None
    marginal = problem.marginal("noise")
    fitted, covariance = marginal.unconstrained_fit
    most = max(_SHARE * tool.phi[0], _LEAST)
    covariance = covariance.copy()
    covariance[0, 0] += (0.5 * _TRIFLE * most) ** 2
    interval = 2.0 * float(np.hypot(np.sqrt(covariance[0, 0]), gain_error * tool.phi[0]))
    if not abs(fitted[0]) < interval < most:
        return None
    mass = max(float(fitted[0]), _LIGHTEST * interval)
    phi = phi_from_body(mass, np.zeros(3), 0.4 * mass * _RADIUS**2 * np.eye(3))
    return Solution(phi, np.zeros((PARAMETERS, PARAMETERS)), covariance,
                    1e6 * np.eye(PARAMETERS))
