# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Friction, offset and drive inertia of joints, linear in their parameters.

``tau_k = fv_k dq_k + fc_k sgn(dq_k) + fo_k + Ia_k ddq_k`` (Sousa and Cortesao 2014, eq. 27, and
its text on drive chains; ``Ia`` is seen from the joint: gear ratio squared times the rotor's).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import InvalidModel
from ..inertia import Array

VISCOUS, COULOMB, OFFSET, DRIVE = "viscous", "coulomb", "offset", "drive_inertia"


@dataclass(frozen=True)
class JointTerms:
    """Which terms the torque of every joint has besides rigid bodies.

    Attributes:
        viscous: viscous friction [N m s/rad].
        coulomb: Coulomb friction [N m].
        offset: offset of friction, or of the torque sensor [N m].
        drive_inertia: inertia of motor and gear, seen from the joint [kg m^2].
        coulomb_velocity: speed [rad/s] below which Coulomb friction fades, as tanh(dq / speed);
            0: a step, which the noise of dq throws from side to side around rest.

    Raises:
        InvalidModel: a negative speed.
    """

    viscous: bool = True
    coulomb: bool = True
    offset: bool = True
    drive_inertia: bool = False
    coulomb_velocity: float = 0.0

    def __post_init__(self) -> None:
        if not (np.isfinite(self.coulomb_velocity) and self.coulomb_velocity >= 0.0):
            raise InvalidModel(f"coulomb_velocity is {self.coulomb_velocity:g} rad/s; "
                               "it must be zero or positive")

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the terms of one joint, in the order of the columns."""
        wanted = {VISCOUS: self.viscous, COULOMB: self.coulomb, OFFSET: self.offset,
                  DRIVE: self.drive_inertia}
        return tuple(name for name, there in wanted.items() if there)

    def columns(self, dq: Array, ddq: Array) -> Array:
        """Columns (n, joints, terms) of each joint's own terms.

        Args:
            dq, ddq: (n, joints) [rad/s], [rad/s^2].
        """
        sign = (np.sign(dq) if self.coulomb_velocity == 0.0
                else np.tanh(dq / self.coulomb_velocity))
        every = {VISCOUS: dq, COULOMB: sign, OFFSET: np.ones_like(dq), DRIVE: ddq}
        out = np.empty((*dq.shape, len(self.names)))
        for k, name in enumerate(self.names):
            out[..., k] = every[name]
        return out


NO_TERMS = JointTerms(viscous=False, coulomb=False, offset=False)
