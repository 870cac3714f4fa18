# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Friction, offset and drive inertia of joints, linear in their parameters.

``tau_k = fv_k dq_k + fc_k sgn(dq_k) + fo_k + Ia_k ddq_k`` (Sousa and Cortesao 2014, eq. 27, and
its text on drive chains; ``Ia`` is seen from the joint: gear ratio squared times the rotor's), and,
where a joint has them, terms of `FrictionCurve`. The offset makes Coulomb friction differ between
the directions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import InvalidModel
from ..inertia import Array

VISCOUS, COULOMB, OFFSET, DRIVE = "viscous", "coulomb", "offset", "drive_inertia"
STRIBECK, SIGMOID, LOAD = CURVES = ("stribeck", "sigmoid", "load")


@dataclass(frozen=True)
class FrictionCurve:
    """A term of friction that some joints have.

    With the curve's speed v, the sign s of the joint's velocity (fading as that of its Coulomb
    friction does) and tau_b the torque of the bodies:

    ``stribeck``: ``s exp(-(dq / v)^2)``, friction that falls off once the joint moves [N m].
    ``sigmoid``: ``tanh(dq / v)``, viscous friction that saturates [N m].
    ``load``: ``s |tau_b|``, friction of gears under load [-].

    Attributes:
        kind: one of `CURVES`.
        speeds: (joints,) [rad/s]; 0: that joint has no such term. ``load``, whose shape has no
            speed, has any positive number.

    Raises:
        InvalidModel: another kind, or a negative speed.
    """

    kind: str
    speeds: tuple[float, ...]

    def __post_init__(self) -> None:
        if self.kind not in CURVES:
            raise InvalidModel(f"a friction curve is '{self.kind}'; allowed: {', '.join(CURVES)}")
        if not all(np.isfinite(v) and v >= 0.0 for v in self.speeds):
            raise InvalidModel(f"a speed of '{self.kind}' is negative or not a number")

    def columns(self, dq: Array, sign: Array, load: Array | None) -> Array:
        """Column (n, joints) of each joint, zero where it has no such term.

        Args:
            dq: (n, joints) [rad/s]; sign: (n, joints); load: (n, joints) torque of the bodies
                [N m].
        """
        speeds = np.asarray(self.speeds)
        v = np.where(speeds > 0.0, speeds, 1.0)
        if self.kind == STRIBECK:
            out = sign * np.exp(-(dq / v)**2)
        elif self.kind == SIGMOID:
            out = np.tanh(dq / v)
        else:
            assert load is not None  # `JointTerms` has bodies where it has this kind
            out = sign * np.abs(load)
        return out * (speeds > 0.0)


@dataclass(frozen=True)
class JointTerms:
    """Which terms the torque of every joint has besides rigid bodies.

    Attributes:
        viscous: viscous friction [N m s/rad].
        coulomb: Coulomb friction [N m].
        offset: offset of friction, or of the torque sensor [N m].
        drive_inertia: inertia of motor and gear, seen from the joint [kg m^2].
        coulomb_velocity: speed [rad/s] below which Coulomb friction fades, as tanh(dq / speed);
            0: a step, which the noise of dq throws from side to side around rest. One for all
            joints, or (joints,).
        curves: further terms, each kind at most once.
        load_bodies: parameters (10 bodies,) whose torque loads the joints, for `LOAD`.

    Raises:
        InvalidModel: a negative speed, a kind of curve twice, or `LOAD` without bodies.
    """

    viscous: bool = True
    coulomb: bool = True
    offset: bool = True
    drive_inertia: bool = False
    coulomb_velocity: float | tuple[float, ...] = 0.0
    curves: tuple[FrictionCurve, ...] = ()
    load_bodies: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        speeds = np.atleast_1d(self.coulomb_velocity)
        if not (np.isfinite(speeds).all() and (speeds >= 0.0).all()):
            raise InvalidModel(f"coulomb_velocity is {self.coulomb_velocity} rad/s; "
                               "it must be zero or positive")
        kinds = [curve.kind for curve in self.curves]
        if len(set(kinds)) < len(kinds):
            raise InvalidModel(f"a kind of friction curve stands twice: {', '.join(kinds)}")
        if LOAD in kinds and not self.load_bodies:
            raise InvalidModel("friction by load needs bodies that load the joints")

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the terms of one joint, in the order of the columns."""
        wanted = {VISCOUS: self.viscous, COULOMB: self.coulomb, OFFSET: self.offset,
                  DRIVE: self.drive_inertia}
        return (*(name for name, there in wanted.items() if there),
                *(curve.kind for curve in self.curves))

    def has(self, joint: int, term: str) -> bool:
        """Whether a joint has a term: curves may belong to some joints only."""
        speeds = {curve.kind: curve.speeds for curve in self.curves}
        return speeds[term][joint] > 0.0 if term in speeds else term in self.names

    def check_joints(self, joints: int, bodies: int) -> None:
        """Raise InvalidModel unless the terms fit a robot of so many joints and bodies."""
        for name, there, wanted in (
                ("coulomb_velocity", np.size(self.coulomb_velocity), (1, joints)),
                *((curve.kind, len(curve.speeds), (joints,)) for curve in self.curves),
                ("load_bodies", len(self.load_bodies), (0, 10 * bodies))):
            if there not in wanted:
                raise InvalidModel(f"{name} of the joint terms has {there} numbers; the robot has "
                                   f"{joints} joints and {bodies} bodies")

    def columns(self, dq: Array, ddq: Array, load: Array | None = None, span: float = 0.0) -> Array:
        """Columns (n, joints, terms) of each joint's own terms.

        Args:
            dq, ddq: (n, joints) [rad/s], [rad/s^2]; load: (n, joints), see `FrictionCurve`.
            span: time [s] over which efforts were averaged, see `mean_sign`.
        """
        sign = mean_sign(dq, ddq, self.coulomb_velocity, span)
        every = {VISCOUS: dq, COULOMB: sign, OFFSET: np.ones_like(dq), DRIVE: ddq}
        every.update((curve.kind, curve.columns(dq, sign, load)) for curve in self.curves)
        out = np.empty((*dq.shape, len(self.names)))
        for k, name in enumerate(self.names):
            out[..., k] = every[name]
        return out


def fading_sign(dq: Array, speed: float | Sequence[float]) -> Array:
    """``tanh(dq / speed)`` (n, joints), a step where the speed (one, or one a joint) is zero."""
    speeds = np.broadcast_to(np.asarray(speed, dtype=float), dq.shape[-1:])
    return np.where(speeds > 0.0, np.tanh(dq / np.where(speeds > 0.0, speeds, 1.0)), np.sign(dq))


def mean_sign(dq: Array, ddq: Array, speed: float | Sequence[float], span: float) -> Array:
    """Mean (n, joints) of `fading_sign` over a time about each instant, at constant acceleration.

    Where a joint turns back, friction changes sides within the time over which its effort was
    averaged; the sign at its middle is wrong there by as much as all of the friction.

    Args:
        dq, ddq: (n, joints) at the middle [rad/s], [rad/s^2]; span: that time [s]; 0: an instant.
    """
    speeds = np.broadcast_to(np.asarray(speed, dtype=float), dq.shape[-1:])
    v = np.where(speeds > 0.0, speeds, 1.0)
    half = 0.5 * span * ddq
    turns = np.abs(half) > 1e-3 * np.where(speeds > 0.0, speeds, np.abs(dq))
    after, before = np.abs(dq + half), np.abs(dq - half)
    # The integral of tanh(x) is log cosh x, that of the sign |x|.
    faded = v * (np.log1p(np.exp(-2.0 * after / v)) - np.log1p(np.exp(-2.0 * before / v)))
    risen = after - before + np.where(speeds > 0.0, faded, 0.0)
    return np.where(turns, risen / np.where(turns, 2.0 * half, 1.0), fading_sign(dq, speed))


NO_TERMS = JointTerms(viscous=False, coulomb=False, offset=False)
