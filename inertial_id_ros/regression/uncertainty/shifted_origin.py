# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A sensor whose origin does not lie where its frame says: how far, by the evidence in the data.

Gravity tells where the centre of mass is seen from the sensor, and accelerations where it is seen
from the frame; only a motion that tells both tells the two apart. To estimate the shift where there
is none costs accuracy, and to ignore it where there is one costs more; the evidence decides by how
much the shift that the settings expect is scaled. Whether or not it is estimated, the intervals
hold what the settings expect, as far as the data do not exclude it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...inertia import PARAMETERS, Array
from ...linalg import identity, inverse

_SCALES = np.r_[0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0]  # of the shift expected
_USUAL, _SPREAD = 0.1, 1.5  # scale before the data, and spread of its logarithm


class Origin(NamedTuple):
    """What the data tell of a shifted origin.

    Attributes:
        scale: of the standard deviation that the settings expect.
        unseen: (10, 10) covariance of phi by what the estimate leaves out of the shift.
    """

    scale: float
    unseen: Array


BEFORE_DATA = Origin(_USUAL, np.zeros((PARAMETERS, PARAMETERS)))


def look_for_shift(covariance: Array, position: Array, place: slice, expected: float,
                   now: float) -> Origin:
    """What a fit tells of the shift.

    Args:
        covariance: (n, n) of parameters and states; position: (3,) of the origin [m]; place: of
            that among parameters and states.
        expected: standard deviation by the settings [m]; now: the one that the fit was made with.
    """
    own = covariance[place, place]
    precision = inverse(own)
    told = precision - now**-2.0 * identity(3)  # by the data alone
    pull = precision @ position
    values, vectors = np.linalg.eigh(0.5 * (told + told.T))
    values = np.maximum(values, 0.0)
    along = (vectors.T @ pull) ** 2
    variance = (_SCALES[:, None] * expected) ** 2
    log = 0.5 * (along * variance / (1.0 + variance * values)
                 - np.log(1.0 + variance * values)).sum(axis=1)
    log -= 0.5 * (np.log(_SCALES / _USUAL) / _SPREAD) ** 2
    weight = np.exp(log - log.max())
    scale = float(np.sqrt(weight @ _SCALES**2 / weight.sum()))
    widest = max(expected * max(scale, 1.0), now)
    wide = (vectors / (values + widest**-2.0)) @ vectors.T
    gap = wide @ pull - position
    slope = covariance[:PARAMETERS, place] @ precision
    return Origin(scale, np.asarray(slope @ (wide - own + np.outer(gap, gap)) @ slope.T))
