# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A robot of about the right size: the scale of every problem and, where asked, its prior.

In coordinates u with ``phi = unit u`` the bodies of the reference are unit matrices
(`estimators.reference_body`, one body after the other, in units of its mass) and joint terms are in
SI units. A standard deviation of 1 in u means: a body like the reference, to 100 % of
it, whatever axes and units.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..estimators.reference_body import body_coordinates
from ..inertia import Array, is_consistent, phi_from_body
from .model import BODY_SIZE, RobotModel

DEFAULT_MASS = 1.0  # kg, of a body the description says nothing about
DEFAULT_RADIUS = 0.05  # m, root mean square along each axis


@dataclass(frozen=True)
class Reference:
    """Parameters of a consistent robot of about the right size.

    Attributes:
        phi: (p,).
        unit: (p, p), ``phi = unit u``; block diagonal.
        inverse: its inverse.
    """

    phi: Array
    unit: Array
    inverse: Array

    def scaled(self, spread: Array) -> Reference:
        """The same robot with units times spread (p,): what a prior on it allows."""
        return Reference(self.phi, self.unit * spread, self.inverse / spread[:, None])


def make_reference(phi: ArrayLike, bodies: int) -> Reference:
    """The reference of given parameters (p,): `bodies` times ten of consistent bodies, then joint
    terms, of size 1."""
    p = np.array(phi, dtype=float)
    unit, inverse = np.eye(len(p)), np.eye(len(p))
    for k in range(bodies):
        where = slice(BODY_SIZE * k, BODY_SIZE * (k + 1))
        mass = p[where][0]
        body = body_coordinates(p[where] / mass)
        unit[where, where] = mass * body.to_phi
        inverse[where, where] = body.from_phi / mass
    return Reference(p, unit, inverse)


def description_reference(model: RobotModel) -> Reference:
    """The description as a reference, as `make_reference` makes one; a body that is not consistent
    there is a ball of its mass about its centre, of 0.05 m along each axis (rms), and of 1 kg at
    its joint where it has no mass."""
    phi = model.nominal
    for k in range(len(model.bodies)):
        own = phi[model.body_slice(k)]
        if not is_consistent(own):
            mass, centre = (own[0], own[1:4] / own[0]) if own[0] > 0.0 else (
                DEFAULT_MASS, np.zeros(3))
            phi[model.body_slice(k)] = phi_from_body(
                mass, centre, 2.0 * mass * DEFAULT_RADIUS**2 * np.eye(3))
    return make_reference(phi, len(model.bodies))
