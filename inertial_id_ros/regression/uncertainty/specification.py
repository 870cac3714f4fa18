# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Whether a bias that walks is the right model of what noise leaves over.

A fit that lets the bias walk is the best one if it does, and may be far off if something else is
wrong, which then counts as bias. One with a constant bias is right under both, but for its
variance. If the model holds, the two differ by no more than the difference of their covariances
allows (Hausman, Specification tests in econometrics, 1978).
"""

from __future__ import annotations

import numpy as np

from ...inertia import PARAMETERS, Array
from ...linalg import inverse, solve
from ..problem import Change
from ..regressor_window import WindowContent
from .channel_errors import eliminate_calibration, walk_covariance
from .sensor_errors import WeighedRows

# Groups of parameters: mass, first moments, inertia; and the squares of standard deviations that
# their change exceeds in one of a hundred windows.
_GROUPS = (slice(0, 1), slice(1, 4), slice(4, PARAMETERS))
_ALLOWED = np.array([6.63, 11.34, 16.81])
_TRIFLE = 0.05  # of a variance: a change whose square is smaller is not judged


def unexpected_change(weighed: WeighedRows, window: WindowContent, prior: Array,
                      walking: tuple[Array, Array]) -> Change | None:
    """What is beyond chance of the change of phi if the bias is constant; None: nothing.

    Args:
        weighed: rows of the window with a walking bias; prior: (n, n) products of whitened rows
            that are known before the data.
        walking: the fit of these rows, phi (10,) and its covariance (10, 10).
    """
    if not any(level.walk.variance for level in weighed.strengths.levels):
        return None
    constant = _ConstantBias(weighed, prior)
    change = constant.phi - walking[0]
    if (change**2 < _TRIFLE * walking[1].diagonal()).all():
        return None
    out, covariance = np.zeros(PARAMETERS), constant.covariance(weighed, window)
    expected = covariance - walking[1]
    for group, allowed in zip(_GROUPS, _ALLOWED, strict=True):
        own = change[group]
        seen = float(own @ solve(expected[group, group], own))
        if seen > allowed:
            out[group] = np.sqrt(1.0 - allowed / seen) * own
    return Change(out, covariance) if out.any() else None


class _ConstantBias:
    """The fit with a constant bias, and all else as `unexpected_change` has it.

    Attributes:
        phi: (10,) of it.
    """

    def __init__(self, weighed: WeighedRows, prior: Array) -> None:
        products, strengths = weighed.products, weighed.strengths
        self._variance = strengths.noise**2 * products.within
        self._rows = eliminate_calibration(products.with_constant_bias(), self._variance,
                                           strengths.calibration**2 * weighed.calibration)
        information = self._rows.whitened_products(np.sqrt(self._variance)) + prior
        self._own = inverse(information[:-1, :-1])
        self.phi = self._own[:PARAMETERS] @ information[:-1, -1]

    def covariance(self, weighed: WeighedRows, window: WindowContent) -> Array:
        """Covariance (10, 10) of phi, if the bias walks."""
        sums = self._rows.sums(weighed.products)[:, :-1] / self._variance[:, None, None]
        walks = [walk_covariance(level.walk, window) for level in weighed.strengths.levels]
        hidden = ((sums @ np.repeat(walks, 3, axis=0)) @ sums.transpose(0, 2, 1)).sum(axis=0)
        own = self._own[:PARAMETERS]
        return np.asarray(own[:, :PARAMETERS] + own @ hidden @ own.T)
