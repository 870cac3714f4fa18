# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Hypotheses about what the rows from one on mean: each is a `Predictor`.

What a wrench is at rest tells nothing about its cause; so whatever the payload may have become has
a rival that does the same to the wrench, but does not follow the motion (its shadow).
"""

from __future__ import annotations

from enum import Enum, auto
from typing import NamedTuple

import numpy as np

from ..motion.motion import Array
from .predictor import ACCELERATION, BIAS, PHI, PUSH, Predictor
from .row import Row

ODDS = 12.0  # logarithm, by which the best must be ahead of its rivals
LOUDER = 16.0  # times the noise: rows may just be noisier than those before
FIT = 2.25  # mean square residual of the best in any channel, in deviations
MOVED = 10.0  # deviations of the acceleration by which it has changed: not at rest
TURN = 0.35  # rad by which the sensor turns before an offset counts as one
REACH = 1.0  # m, of the centre of mass of what is carried
SMALLEST, LEVER = 0.5, 0.2  # N of a disturbance; m, of its torque over its force
PAYLOAD = np.r_[2.0, np.full(3, 0.3), np.full(6, 0.02)]  # of phi, for each N / g that is seen


class Kind(Enum):
    """Kinds of events."""

    SUSPECT = auto()
    CALM = auto()
    PAYLOAD = auto()
    RELEASED = auto()
    ZEROED = auto()
    RETURNED = auto()
    OFFSET = auto()
    POURS = auto()
    SETTLED = auto()
    LOST = auto()


class Context(NamedTuple):
    """What a bank begins with.

    Attributes:
        predictor, before: at the onset, and before the last change; peak: (6,) largest residual.
        readings: (m, 6) of calm rows; tool: phi (10,) and its deviations (10,).
        is_late: whether the disturbance has lasted for a while.
    """

    predictor: Predictor
    before: Predictor | None
    peak: Array
    readings: Array
    tool: tuple[Array, Array]
    is_late: bool


class Bank:
    """Hypotheses about the rows from one on; `begin`: bin of that row."""

    def __init__(self, context: Context, row: Row) -> None:
        self.begin, self._up, self._a = row.number, row.up, row.A[:3, 0]
        self._turn, self._ahead, self._was = 0.0, 0.0, context.predictor
        peak = context.peak
        size = max(float(np.linalg.norm(peak[:3])), float(np.linalg.norm(peak[3:])) / LEVER,
                   SMALLEST)
        wrench = np.diag(np.repeat([size, LEVER * size], 3) ** 2)
        payload = np.diag((size / 9.81 * PAYLOAD) ** 2)
        self.payload = self._same().doubting(PHI, payload)
        self.shadow = self._same().doubting(BIAS, row.A @ payload @ row.A.T)
        self.still = self._same().doubting(BIAS, 4.0 * wrench)
        self.contact = [self.still, self._same().doubting(BIAS, 4.0 * wrench, 0.01 * wrench),
                        self._same().doubting(BIAS, 4.0 * wrench, wrench), self._same()]
        self.contact[-1].louder = LOUDER
        if context.is_late:  # then a push along gravity is a rival, too
            self.contact.append(self._same().doubting(PUSH, payload[:4, :4]))
        self.exact = self._exact(context)

    def _same(self) -> Predictor:
        return self._was.copy(self.begin)

    def _exact(self, context: Context) -> dict[Kind, Predictor]:
        """Hypotheses without free parameters: released, zeroed, as before the last change."""
        phi, sd = context.tool
        released = self._same()
        released.mean[PHI] = phi
        released.covariance[PHI, :] = released.covariance[:, PHI] = 0.0
        out = {Kind.RELEASED: released.doubting(PHI, np.diag(sd**2))}
        if len(context.readings) > 2:
            zeroed = self._same()
            zeroed.mean[BIAS] -= context.readings.mean(0)
            out[Kind.ZEROED] = zeroed.doubting(BIAS, np.cov(context.readings.T))
        if context.before is not None:
            out[Kind.RETURNED] = context.before.copy(self.begin)
        return out

    def learn(self, row: Row, noise: Array) -> None:
        """Learn an independent row; noise: (6,) variance of it as the calm predictor has it."""
        self._turn = max(self._turn, float(np.linalg.norm(np.cross(row.up, self._up))))
        for hypothesis in (*self.contact, *self.exact.values()):
            hypothesis.learn(row, noise)
        seen, dark = self.payload.learn(row, noise), self.shadow.learn(row, noise)
        if np.abs(row.A[:3, 0] - self._a).max() > MOVED * ACCELERATION[0]:
            self._ahead += seen.log_likelihood - dark.log_likelihood

    def verdict(self, is_steady: bool) -> tuple[Kind, Predictor] | None:
        """The kind of event that is told and its predictor; is_steady: they last long enough."""
        contact = max(h.score for h in self.contact)
        kind = max(self.exact, key=lambda k: self.exact[k].score)
        best = self.exact[kind]
        rivals = [h.score for k, h in self.exact.items()
                  if (k is Kind.ZEROED) is not (kind is Kind.ZEROED)]
        least = max(contact, self.payload.score, *rivals) + ODDS
        if best.misfit.max() < FIT and best.score > least:
            return kind, best
        if not is_steady:
            return None
        exact = max(h.score for h in self.exact.values())
        if (self._ahead > ODDS and self.payload.score > max(contact, exact) + ODDS
                and self.payload.misfit.max() < FIT and is_body(self.payload)):
            return Kind.PAYLOAD, self.payload
        others = [h.score for h in (*self.contact, self.payload) if h is not self.still]
        if self._turn > TURN and self.still.score > max(exact, *others) + ODDS:
            return Kind.OFFSET, self.still
        return None


def is_body(predictor: Predictor) -> bool:
    """True if the payload may have mass, and its centre is within reach."""
    sd = float(np.sqrt(predictor.covariance[0, 0]))
    mass = float(predictor.mean[0]) + 5.0 * sd + 0.02
    return mass > 0.0 and float(np.linalg.norm(predictor.mean[1:4])) < REACH * mass
