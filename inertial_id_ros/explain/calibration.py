# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Terms that are always there: zero, mounting, clock, arm, gains and cross-talk."""

from __future__ import annotations

import numpy as np

from ..model.newton_euler import rotation, skew, static_wrench
from ..model.rows import Rows
from ..model.sheet import Sheet
from ..motion.motion import Array
from .term import Effect, Term, linear

_OTHERS = [[j for j in range(6) if j != i] for i in range(6)]
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


class Origin(Term):
    """The sensor's origin is beside that of its frame [m]."""

    name, place = "origin", 1

    def effect(self, rows: Rows, phi: Array, values: Array, load: Array) -> Effect:
        slopes = np.zeros((*load.shape, 3))
        slopes[:, 3:] = skew(load[:, :3])  # -d x f
        move = np.zeros((6, 6))
        move[3:, :3] = -skew(values)
        return linear(slopes, values, lambda more: move @ more)


class Gain(Term):
    """Gains of the channels are not one."""

    name, place, strength = "gain", 2, 20.0

    def effect(self, rows: Rows, phi: Array, values: Array, load: Array) -> Effect:
        return linear(load[:, :, None] * np.eye(6), values, lambda more: values[:, None] * more)


class CrossTalk(Term):
    """Channels read each other."""

    name, place, strength = "cross_talk", 2, 8.0

    def effect(self, rows: Rows, phi: Array, values: Array, load: Array) -> Effect:
        slopes = np.zeros((len(load), 6, 6, 5))
        for i, others in enumerate(_OTHERS):
            slopes[:, i, i] = load[:, others]
        matrix = np.zeros((6, 6))
        matrix[_OFF_DIAGONAL] = values
        return linear(slopes.reshape(len(load), 6, 30), values, lambda more: matrix @ more)


def usual_terms(sheet: Sheet, joints: int) -> list[Term]:
    """The terms that are always there, for an arm of so many joints."""
    scale = np.repeat(sheet.scale, 3)
    cross = (sheet.cross_talk * scale[:, None] / scale)[_OFF_DIAGONAL]
    terms = (Rotation([sheet.rotation] * 3), Tilt([sheet.tilt] * 2), Delay([sheet.delay]),
             Origin([sheet.origin] * 3), Gain([sheet.gain] * 6), CrossTalk(cross),
             Arm([sheet.arm] * 3 * max(joints - 1, 0)),
             Flex([sheet.flex if sheet.arm else 0.0] * joints))
    return [Bias(sheet), *(term for term in terms if term.sd.any())]
