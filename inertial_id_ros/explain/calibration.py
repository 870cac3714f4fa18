# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Terms that are always there: zero, mounting, clock, arm, gains and cross-talk."""

from __future__ import annotations

import numpy as np

from ..model.newton_euler import rotation, skew, static_wrench
from ..model.rows import Rows
from ..model.sheet import Sheet
from ..motion.motion import Array
from .term import Effect, Term, linear

_OFF_DIAGONAL = ~np.eye(6, dtype=bool)


class Bias(Term):
    """Zero of the sensor."""

    name, place, strength = "bias", 9, np.inf

    def __init__(self, sheet: Sheet) -> None:
        super().__init__(sheet.bias_sd)
        self.mean = sheet.bias_mean

    def effect(self, rows: Rows, phi: Array, values: Array, load: Array) -> Effect:
        return linear(rows.constant[:, None, None] * np.eye(6), values)


class Rotation(Term):
    """The sensor is turned against its frame."""

    name, place = "rotation", 1

    def effect(self, rows: Rows, phi: Array, values: Array, load: Array) -> Effect:
        turn = np.kron(np.eye(2), rotation(values))
        turned = load @ turn.T
        slopes = -np.concatenate([skew(turned[:, :3]), skew(turned[:, 3:])], 1)
        return Effect(slopes, turned - load, lambda more: turn @ more - more)


class Tilt(Term):
    """Gravity is tilted against its frame."""

    name = "tilt"

    def effect(self, rows: Rows, phi: Array, values: Array, load: Array) -> Effect:
        return Effect(static_wrench(phi, rows.turned[:, :2]).transpose(0, 2, 1), None)


class Arm(Term):
    """Each joint but the last is turned about its three axes: the arm is not calibrated."""

    name, strength = "arm", 8.0

    def effect(self, rows: Rows, phi: Array, values: Array, load: Array) -> Effect:
        return linear(static_wrench(phi, rows.turned[:, 2:]).transpose(0, 2, 1), values)


class Flex(Term):
    """Each joint gives way to the weight of the payload [rad/(N m)]."""

    name = "flex"

    def effect(self, rows: Rows, phi: Array, values: Array, load: Array) -> Effect:
        return linear(static_wrench(phi, rows.bend @ phi[:4]).transpose(0, 2, 1), values)


class Delay(Term):
    """Stamps of the wrench are late [s]."""

    name, place, strength = "delay", 5, np.inf

    def effect(self, rows: Rows, phi: Array, values: Array, load: Array) -> Effect:
        return Effect(-rows.modes(rows.rates(rows.back(load)))[..., None], None)


class Mixing(Term):
    """The reading is the wrench times one and a matrix (6, 6) that is linear in the values.

    Args:
        basis: (q, 6, 6) that matrix for each value.
    """

    def __init__(self, name: str, sd: Array, basis: Array, place: int, strength: float) -> None:
        super().__init__(sd)
        self.name, self.place, self.strength, self._basis = name, place, strength, basis

    def effect(self, rows: Rows, phi: Array, values: Array, load: Array) -> Effect:
        matrix = np.tensordot(values, self._basis, 1)
        return linear((self._basis @ load.T).transpose(2, 1, 0), values,
                      lambda more: matrix @ more)


def origin(sd: float) -> Mixing:
    """The sensor's origin is beside that of its frame [m]."""
    basis = np.zeros((3, 6, 6))
    basis[:, 3:, :3] = -skew(np.eye(3))  # -d x f
    return Mixing("origin", np.full(3, sd), basis, 1, Term.strength)


def gain(sd: float) -> Mixing:
    """Gains of the channels are not one."""
    return Mixing("gain", np.full(6, sd), np.eye(6)[:, None] * np.eye(6)[:, :, None], 2, 20.0)


def cross_talk(sd: float, scale: tuple[float, float]) -> Mixing:
    """Channels read each other, relative to scales of a force and of a torque."""
    both = np.repeat(scale, 3)
    basis = np.zeros((30, 36))
    basis[np.arange(30), np.flatnonzero(_OFF_DIAGONAL)] = 1.0
    return Mixing("cross_talk", (sd * both[:, None] / both)[_OFF_DIAGONAL],
                  basis.reshape(30, 6, 6), 2, Arm.strength)


def usual_terms(sheet: Sheet, joints: int) -> list[Term]:
    """The terms that are always there, for an arm of so many joints."""
    terms = (Rotation([sheet.rotation] * 3), Tilt([sheet.tilt] * 2), Delay([sheet.delay]),
             origin(sheet.origin), gain(sheet.gain), cross_talk(sheet.cross_talk, sheet.scale),
             Arm([sheet.arm] * 3 * max(joints - 1, 0)),
             Flex([sheet.flex if sheet.arm else 0.0] * joints))
    return [Bias(sheet), *(term for term in terms if term.sd.any())]
