# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What the noise of a sensor lets anybody know: the least standard deviation of the mass.

Cramér-Rao bound of an estimator that knows the motion and the noise, white and wandering, exactly,
and nothing else is wrong; no prior but that of the biases.
"""

from __future__ import annotations

import numpy as np

from inertial_id_ros.inertia import Array
from inertial_id_ros.regression.newton_euler import regressor

from ..bounds import BIAS_PRIOR
from .recordings import Recording

PERIOD = 0.05  # s, of the means that stand for the samples; the motion hardly changes meanwhile
_PARAMETERS = 10


def least_mass_sd(recording: Recording) -> float:
    """Standard deviation of the mass [kg] that no unbiased estimate falls below."""
    source, motion = recording.source, recording.exact
    count = round(PERIOD * source.rate)
    n = len(motion.omega) // count
    a = regressor(motion.proper, motion.omega, motion.alpha)
    a = a[:n * count].reshape(n, count, 6, _PARAMETERS).mean(axis=1)
    information = np.zeros((_PARAMETERS + 6,) * 2)
    information[_PARAMETERS:, _PARAMETERS:] = np.diag(BIAS_PRIOR**-2.0)
    for channel in range(6):
        columns = np.zeros((n, _PARAMETERS + 6))
        columns[:, :_PARAMETERS], columns[:, _PARAMETERS + channel] = a[:, channel], 1.0
        white = np.linalg.solve(np.linalg.cholesky(_covariance(recording, channel, n, count)),
                                columns)
        information += white.T @ white
    scale = np.sqrt(np.diag(information))
    scaled = information / np.outer(scale, scale) + 1e-14 * np.eye(len(scale))
    return float(np.sqrt(np.linalg.inv(scaled)[0, 0]) / scale[0])


def _covariance(recording: Recording, channel: int, n: int, count: int) -> Array:
    """Covariance (n, n) of the means of a channel."""
    kind, source = channel // 3, recording.source
    covariance = source.white[kind] ** 2 / count * np.eye(n)
    if source.wandering is not None:
        time = source.wandering.time
        lag = np.abs(np.subtract.outer(np.arange(n), np.arange(n))) * PERIOD
        # Of means of Ornstein-Uhlenbeck noise over PERIOD, exactly.
        x = PERIOD / time
        same, apart = 2.0 * (x - 1.0 + np.exp(-x)) / x**2, 2.0 * (np.cosh(x) - 1.0) / x**2
        covariance += source.wandering[1 + kind] ** 2 * np.where(
            lag > 0.0, apart * np.exp(-lag / time), same)
    return covariance
