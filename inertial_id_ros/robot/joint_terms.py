# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Friction, offset and drive inertia of joints, linear in their parameters.

``tau_k = fv_k dq_k + fc_k sgn(dq_k) + fo_k + Ia_k ddq_k`` (Sousa and Cortesao 2014, eq. 27, and
its text on drive chains; ``Ia`` is seen from the joint: gear ratio squared times the rotor's), and
friction of gears under load, ``fl_k sgn(dq_k) |tau_b|`` with the torque tau_b of the bodies. The
offset makes Coulomb friction differ between the directions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import InvalidModel
from ..inertia import Array

VISCOUS, COULOMB, OFFSET, DRIVE, LOAD = "viscous", "coulomb", "offset", "drive_inertia", "load"
NOT_NEGATIVE = (VISCOUS, COULOMB, DRIVE, LOAD)


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
        load: friction in proportion to the torque of the bodies [-].
        load_bodies: parameters (10 bodies,) whose torque loads the joints; needed with `load`.

    Raises:
        InvalidModel: a negative speed.
    """

    viscous: bool = True
    coulomb: bool = True
    offset: bool = True
    drive_inertia: bool = False
    coulomb_velocity: float = 0.0
    load: bool = False
    load_bodies: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if not (np.isfinite(self.coulomb_velocity) and self.coulomb_velocity >= 0.0):
            raise InvalidModel(f"coulomb_velocity is {self.coulomb_velocity} rad/s; "
                               "it must be zero or positive")

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the terms of one joint, in the order of the columns."""
        wanted = {VISCOUS: self.viscous, COULOMB: self.coulomb, OFFSET: self.offset,
                  DRIVE: self.drive_inertia, LOAD: self.load}
        return tuple(name for name, there in wanted.items() if there)

    def columns(self, dq: Array, ddq: Array, load: Array | float = 0.0, span: float = 0.0) -> Array:
        """Columns (n, joints, terms) of each joint's own terms.

        Args:
            dq, ddq: (n, joints) [rad/s], [rad/s^2]; load: (n, joints) torque of the bodies [N m].
            span: time [s] over which efforts were averaged, see `mean_sign`.
        """
        sign = mean_sign(dq, ddq, self.coulomb_velocity, span)
        every = {VISCOUS: dq, COULOMB: sign, OFFSET: np.ones_like(dq), DRIVE: ddq,
                 LOAD: sign * np.abs(load)}
        return np.stack([every[name] for name in self.names], axis=-1) if self.names else (
            np.empty((*dq.shape, 0)))


def mean_sign(dq: Array, ddq: Array, speed: float, span: float) -> Array:
    """Mean (n, joints) of ``tanh(dq / speed)`` (0: of the sign) over a time about each instant, at
    constant acceleration.

    Where a joint turns back, friction changes sides within the time over which its effort was
    averaged; the sign at its middle is wrong there by as much as all of the friction.

    Args:
        dq, ddq: (n, joints) at the middle [rad/s], [rad/s^2]; span: that time [s]; 0: an instant.
    """
    half = 0.5 * span * ddq
    after, before = np.abs(dq + half), np.abs(dq - half)
    risen = after - before  # the integral of the sign is |x|, that of tanh(x) is log cosh x
    if speed > 0.0:
        risen += speed * (np.log1p(np.exp(-2.0 * after / speed))
                          - np.log1p(np.exp(-2.0 * before / speed)))
    turns = np.abs(half) > 1e-3 * (speed if speed > 0.0 else np.abs(dq))
    return np.where(turns, risen / np.where(turns, 2.0 * half, 1.0),
                    np.tanh(dq / speed) if speed > 0.0 else np.sign(dq))


NO_TERMS = JointTerms(viscous=False, coulomb=False, offset=False)
