# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Hypotheses about what the rows from one on mean: filters side by side.

A wrench at rest says nothing about its cause. So the payload that may have changed has a rival that
does the same to the wrench, but does not follow the motion (its shadow).
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto
from functools import partial
from typing import NamedTuple

import numpy as np

from ..motion.motion import Array
from .predictor import ACCELERATION, Predictor
from .row import BIAS, PHI, PUSH, Row

ODDS = 12.0  # logarithm, by which the best must be ahead of its rivals
LOUDER = 16.0  # times the noise: rows may just be noisier than those before
FIT = 2.25  # mean square residual of the best in any channel, in deviations
MOVED = 10.0  # deviations of the acceleration by which it has changed: not at rest
TURN = 0.35  # rad by which the sensor turns before an offset counts as one
REACH = 1.0  # m, of the centre of mass of what is carried
SINGULAR = 0.1  # singular value, over the largest, of joints that feel a force
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
        predictor, before: at the onset, and before the last change; peak: (c,) largest residual.
        readings: (m, c) of calm rows; tool: phi (10,) and its deviations (10,).
        is_late: whether the disturbance has lasted for a while.
    """

    predictor: Predictor
    before: Predictor | None
    peak: Array
    readings: Array
    tool: tuple[Array, Array]
    is_late: bool


_CHANGED, _SHADOW, _STILL = range(3)  # first filters of a bank; others of contact follow


class Bank:
    """Hypotheses about the rows from one on; `begin`: bin of that row."""

    def __init__(self, context: Context, row: Row) -> None:
        self.begin, self._up, self._a = row.number, row.up, row.felt
        self._turn = self._ahead = 0.0
        same = partial(context.predictor.copy, row.number)
        filters, exact = _free(same, context, row), _exact(same, context)
        self._exact, self._first = tuple(exact), len(filters)
        self._filters = Predictor.beside([*filters, *exact.values()])

    def learn(self, row: Row, noise: Array) -> None:
        """Learn an independent row; noise: (c,) variance of it as the calm predictor has it."""
        self._turn = max(self._turn, float(np.linalg.norm(np.cross(row.up, self._up))))
        likelihood = self._filters.learn(row, noise)[1]
        if has_moved(row, self._a):
            self._ahead += float(likelihood[_CHANGED] - likelihood[_SHADOW])

    def verdict(self, is_steady: bool) -> tuple[Kind, Predictor] | None:
        """The kind of event and its predictor; is_steady: they have held for long enough."""
        score, fits = self._filters.score, self._filters.misfit.max(1) < FIT
        contact = float(score[_STILL:self._first].max())
        exact = dict(zip(self._exact, score[self._first:].tolist(), strict=True))
        kind = max(exact, key=lambda k: exact[k])
        rivals = [s for k, s in exact.items() if (k is Kind.ZEROED) is not (kind is Kind.ZEROED)]
        at = self._first + self._exact.index(kind)
        if fits[at] and exact[kind] > max(contact, score[_CHANGED], *rivals) + ODDS:
            return kind, self._filters.one(at)
        if not is_steady:
            return None
        best = max(exact.values())
        if (self._ahead > ODDS and score[_CHANGED] > max(contact, best) + ODDS and fits[_CHANGED]
                and is_body(self._filters)):
            return Kind.PAYLOAD, self._filters.one(_CHANGED)
        others = max(score[_STILL + 1:self._first].max(), score[_CHANGED], best)
        if self._turn > TURN and score[_STILL] > others + ODDS:
            return Kind.OFFSET, self._filters.one(_STILL)
        return None


def _free(same: Callable[[], Predictor], context: Context, row: Row) -> list[Predictor]:
    """Another payload, its shadow, contact: constant, slow, fast, noise, a push along gravity."""
    peak = np.linalg.lstsq(row.lever, context.peak, rcond=SINGULAR)[0]  # as a wrench
    size = max(float(np.linalg.norm(peak[:3])), float(np.linalg.norm(peak[3:])) / LEVER, SMALLEST)
    wrench = (row.lever * np.repeat([size, LEVER * size], 3) ** 2) @ row.lever.T
    payload = np.diag((size / 9.81 * PAYLOAD) ** 2)
    noisy = same()
    noisy.louder = np.full(1, LOUDER)
    out = [same().doubting(PHI, payload), same().doubting(BIAS, row.A @ payload @ row.A.T),
           same().doubting(BIAS, 4.0 * wrench), same().doubting(BIAS, 4.0 * wrench, 0.01 * wrench),
           same().doubting(BIAS, 4.0 * wrench, wrench), noisy]
    if context.is_late:
        out.append(same().doubting(PUSH, payload[:4, :4]))
    return out


def _exact(same: Callable[[], Predictor], context: Context) -> dict[Kind, Predictor]:
    """Hypotheses without free parameters: released, zeroed, as before the last change."""
    phi, sd = context.tool
    released = same()
    released.mean[:, PHI] = phi
    released.covariance[:, PHI, :] = released.covariance[:, :, PHI] = 0.0
    out = {Kind.RELEASED: released.doubting(PHI, np.diag(sd**2))}
    if len(context.readings) > 2:
        zeroed = same()
        zeroed.mean[:, BIAS] -= context.readings.mean(0)
        out[Kind.ZEROED] = zeroed.doubting(BIAS, np.cov(context.readings.T))
    if context.before is not None:
        out[Kind.RETURNED] = context.before.copy(released.number or 0)
    return out


def has_moved(row: Row, a: Array) -> bool:
    """True if the acceleration less gravity is no longer (3,): the arm does not rest."""
    return bool(np.abs(row.felt - a).max() > MOVED * ACCELERATION[0])


def is_body(predictor: Predictor) -> bool:
    """True if the payload may have mass, and its centre is within reach."""
    sd = float(np.sqrt(predictor.covariance[0, 0, 0]))
    mass = float(predictor.mean[0, 0]) + 5.0 * sd + 0.02
    return mass > 0.0 and float(np.linalg.norm(predictor.mean[0, 1:4])) < REACH * mass
