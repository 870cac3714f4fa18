# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""`rtls`: total least squares (Kubus, Kroeger, Wahl 2008); a reference row.

Errors in the regressor count as well as errors in the wrench: the smallest change of ``[A | y]``
that makes ``A phi = y`` solvable (eq. 23). The paper updates a singular value decomposition with
every sample, hence "recursive". That recursion needs nothing of the data but the singular values
and right vectors of the stacked ``[A | y]``, and these are those of its triangular factor. So the
decomposition of the buffer's factor is the result of the recursion, and forgets as the buffer does.

Eq. 26 scales rows (D) and columns (T) before the decomposition; the paper gives no numbers. Here D
is one over the sensor noise of the channel, T one over the noise of the column: root mean square
over the six channels of the errors that noise in the accelerations puts into it. As that noise
goes to zero, the answer becomes that of least squares. Bias (and alignment) columns are exact and
are eliminated beforehand (mixed least squares and total least squares, Van Huffel and Vandewalle
1991).

Nothing keeps the answer physical, and directions that the motion hardly excites are amplified:
``phi = (A'A - s^2)^-1 A'y`` with s the smallest singular value of ``[A | y]``, all scaled.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from inertial_id_ros.errors import NotEnoughData
from inertial_id_ros.estimators.base import Solution
from inertial_id_ros.geometry.shape import Shape
from inertial_id_ros.inertia import PARAMETERS, Array
from inertial_id_ros.regression.newton_euler import regressor
from inertial_id_ros.regression.problem import Problem
from inertial_id_ros.settings import Settings

_RANK = 1e-9  # singular values below this part of the largest are zero
_EXACT = 1e-9  # m/s^2, rad/s^2; noise that stands for none


class Rtls:
    """Total least squares: errors in the regressor count as those in the wrench."""

    name = "rtls"
    needs_shape = False
    keeps_mass_inside = False
    needs_wrench = True
    needs_noise = "yes, and of accelerations"
    guarantees_consistency = False

    def __init__(self, settings: Settings) -> None:
        self._acceleration, self._angular, _ = settings.accelerations.noise

    def solve(self, problem: Problem, shape: Shape | None) -> Solution:
        """The full model's total least squares; the dynamism weighting does not apply.

        Raises:
            NotEnoughData: the motion does not excite all ten parameters.
        """
        # It has its own way with noise in the regressor.
        marginal = replace(problem, known_marginal=None).marginal("noise")
        noise = column_noise(self._acceleration, self._angular, problem.noise)
        phi = total_least_squares(marginal.upper, noise)
        return Solution(phi, marginal.bias(phi), np.zeros((PARAMETERS, PARAMETERS)))


def column_noise(acceleration: float, angular: float, noise: Array) -> Array:
    """Standard deviation (10,) of an entry of each column of the whitened regressor.

    Args:
        acceleration: of a component of linear acceleration [m/s^2]; angular: of angular
            acceleration [rad/s^2]; noise: (6,) of the wrench channels [N, N m].
    """
    axes, zero = np.eye(3), np.zeros((3, 3))
    variance = (max(acceleration, _EXACT)**2 * regressor(axes, zero, zero)**2
                + max(angular, _EXACT)**2 * regressor(zero, zero, axes)**2).sum(axis=0)
    return np.sqrt((variance / noise[:, None] ** 2).mean(axis=0))


def total_least_squares(rows: Array, noise: Array) -> Array:
    """phi (10,) of rows (n, 11) ``[A | y]`` whose columns of A have this noise (10,), y noise 1.

    Raises:
        NotEnoughData: A has not full rank, or the answer is at infinity.
    """
    scaled = rows / np.append(noise, 1.0)
    if not np.isfinite(scaled).all():
        raise NotEnoughData("the window holds numbers that are not finite")
    strengths = np.linalg.svd(scaled[:, :-1], compute_uv=False)
    if not strengths[-1] > _RANK * strengths[0]:
        raise NotEnoughData("total least squares needs a motion that excites all ten parameters; "
                            "turn about all axes, or choose another estimator")
    right = np.linalg.svd(scaled)[2][-1]
    if abs(right[-1]) <= _RANK:
        raise NotEnoughData("the wrench does not depend on the weakest direction of the motion, so "
                            "total least squares has no answer; move more")
    return -right[:-1] / right[-1] / noise
