# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""How far the true payload may be from the estimate: ranges for domain randomisation."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..inertia import Array, phi_from_body, principal_moments, report_jacobian, six_from_tensor
from .payload import Payload

DEVIATIONS = 2.0  # standard deviations to either side: 95 %
DRAW = ("each number may be drawn from its range; draw again where one of the moments exceeds the "
        "sum of the others, which no body has")


class Ranges(NamedTuple):
    """Ranges of two standard deviations, low and high end in the first dimension.

    Attributes:
        mass: (2,) [kg]. com: (2, 3) [m], along the axes of the payload's parent.
        moments: (2, 3) [kg m^2] about the principal axes of the estimate, about which they are
            ascending. None of mass and moments goes below zero.
        covariance: (10, 10) of the parameters in the order of `PARAMETER_NAMES`.
    """

    mass: Array
    com: Array
    moments: Array
    covariance: Array


def ranges_of(payload: Payload) -> Ranges | None:
    """The ranges of a payload; None where its covariance is not known."""
    if payload.covariance is None:
        return None
    body = payload.body
    jacobian = report_jacobian(phi_from_body(*body))
    covariance = jacobian @ payload.covariance @ jacobian.T
    moments, axes = principal_moments(body.inertia_com)
    # a' I a of each axis a, by the six entries of I: those beside the diagonal count twice.
    rows = six_from_tensor(np.einsum("ik,jk->kij", axes, axes)) * [1.0, 2.0, 2.0, 1.0, 2.0, 1.0]
    about_axes = rows @ covariance[4:, 4:] @ rows.T
    spread = DEVIATIONS * np.sqrt(np.maximum(np.diag(covariance)[:4], 0.0))
    width = DEVIATIONS * np.sqrt(np.maximum(np.diag(about_axes), 0.0))
    return Ranges(np.maximum([body.mass - spread[0], body.mass + spread[0]], 0.0),
                  np.stack([body.com - spread[1:], body.com + spread[1:]]),
                  np.maximum([moments - width, moments + width], 0.0), covariance)
