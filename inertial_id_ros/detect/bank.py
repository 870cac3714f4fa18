# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Hypotheses about what the rows from one on mean: filters side by side.

A wrench at rest says nothing about its cause. So the payload that may have changed has a rival that
does the same to the wrench, but does not follow the motion (its shadow).
"""

from enum import Enum

import numpy as np

from ..explain.terms import DECIDED
from ..motion.motion import Array
from .predictor import ACCELERATION, Predictor
from .row import BIAS, PHI, PUSH, Row

LOUDER = 16.0  # times the noise: rows may just be noisier than those before
FIT = 2.25  # mean square residual of the best in any channel, in deviations
MOVED = 10.0  # deviations of the acceleration by which it has changed: not at rest
TURN = 0.35  # rad by which the sensor turns before an offset counts as one
UNWEIGHED = 0.3  # of what disturbs, that the unknown part of the payload may weigh
REACH = 1.0  # m, of the centre of mass of what is carried
LEVER = 0.2  # m, of the torque of a disturbance over its force
PAYLOAD = np.r_[2.0, np.full(3, 0.3), np.full(6, 0.02)]  # of phi, for each N / g that is seen

# Kinds of events.
Kind = Enum("Kind", "SUSPECT CALM PAYLOAD RELEASED ZEROED RETURNED OFFSET POURS LOST")
_CHANGED, _SHADOW, _STILL = range(3)  # first filters of a bank; others of contact follow


class Bank:
    """Hypotheses about the rows from one on; `begin`: bin of that row.

    Args:
        calm, before: predictors at the onset, and before the last change; row: that one.
        peak: (c,) largest residual; readings: (m, c) of calm rows.
        tool: phi (10,) and its deviations (10,); is_late: the disturbance has lasted for a while.
    """

    def __init__(self, calm: Predictor, before: Predictor | None, row: Row, peak: Array,
                 readings: Array, tool: tuple[Array, Array], is_late: bool) -> None:
        self.begin, self._up, self._a = row.number, row.up, row.felt
        self._turn = self._ahead = 0.0

        def same(which: slice = BIAS, covariance: Array | float = 0.0, walk: Array | float = 0.0
                 ) -> Predictor:
            return calm.copy(row.number).doubting(which, covariance, walk)
        push = row.lever.T @ peak / np.linalg.norm(row.lever, 2) ** 2  # the least such wrench
        size = max(float(np.linalg.norm(push[:3])), float(np.linalg.norm(push[3:])) / LEVER)
        # What was carried may weigh as much: one pose has shown its sum with the zero alone.
        self._is_unweighed = 9.81 * float(np.sqrt(calm.covariance[0, 0, 0])) > UNWEIGHED * size
        wrench = (row.lever * np.repeat([size, LEVER * size], 3) ** 2) @ row.lever.T
        payload, noisy = np.diag((size / 9.81 * PAYLOAD) ** 2), same()
        noisy.louder = np.full(1, LOUDER)
        # Another payload, its shadow, contact: constant, slow, fast, noise, a push along gravity.
        free = [same(PHI, payload), same(BIAS, row.A @ payload @ row.A.T),
                same(BIAS, 4.0 * wrench), same(BIAS, 4.0 * wrench, 0.01 * wrench),
                same(BIAS, 4.0 * wrench, wrench), noisy]
        if is_late:
            free.append(same(PUSH, payload[:4, :4]))
        # Without free parameters: as before, released, zeroed, as before the last change.
        exact = {Kind.CALM: same(), Kind.RELEASED: same()}
        exact[Kind.RELEASED].hold(*tool)
        if len(readings) > 2:
            last = readings[-1] - readings.mean(0)  # a driver may take the newest alone
            exact[Kind.ZEROED] = same(BIAS, np.cov(readings.T) + np.outer(last, last))
            exact[Kind.ZEROED].mean[:, BIAS] -= readings.mean(0)
        if before is not None:
            exact[Kind.RETURNED] = before.copy(row.number)
        self._exact, self._first = tuple(exact), len(free)
        self._filters = Predictor.beside([*free, *exact.values()])

    def learn(self, row: Row, noise: Array) -> None:
        """Learn an independent row; noise: (c,) variance of it as the calm predictor has it."""
        self._turn = max(self._turn, float(np.linalg.norm(np.cross(row.up, self._up))))
        likelihood = self._filters.learn(row, noise)[1]
        if np.abs(row.felt - self._a).max() > MOVED * ACCELERATION[0]:  # it does not rest
            self._ahead += float(likelihood[_CHANGED] - likelihood[_SHADOW])

    def verdict(self, is_steady: bool) -> tuple[Kind, Predictor] | None:
        """The kind of event and its predictor; is_steady: they have held for long enough."""
        score, fits = self._filters.score, self._filters.misfit.max(1) < FIT
        contact = float(score[_STILL:self._first].max())
        exact = dict(zip(self._exact, score[self._first:].tolist(), strict=True))
        kind = max(exact, key=lambda k: exact[k])
        rivals = [s for k, s in exact.items() if (k is Kind.ZEROED) is not (kind is Kind.ZEROED)]
        at = self._first + self._exact.index(kind)
        if fits[at] and exact[kind] > max(contact, score[_CHANGED], *rivals) + DECIDED:
            return kind, self._filters.one(at)
        if not is_steady:
            return None
        others = max(score[_STILL + 1:self._first].max(), exact[kind])
        if self._is_unweighed:  # nothing tells which of the two has changed; usual is the payload
            at = int(score[:_STILL + 1].argmax())
            is_told = self._turn > TURN and fits[at] and score[at] > others + DECIDED
            return (Kind.PAYLOAD, self._filters.one(at)) if is_told else None
        ahead = min(self._ahead, score[_CHANGED] - max(contact, exact[kind]))
        phi, sd = self._filters.mean[_CHANGED], np.sqrt(self._filters.covariance[_CHANGED, 0, 0])
        mass = float(phi[0] + 5.0 * sd) + 0.02  # that it may have; its centre is within reach
        is_body = mass > 0.0 and float(np.linalg.norm(phi[1:4])) < REACH * mass
        if ahead > DECIDED and fits[_CHANGED] and is_body:
            return Kind.PAYLOAD, self._filters.one(_CHANGED)
        if self._turn > TURN and score[_STILL] > max(others, score[_CHANGED]) + DECIDED:
            return Kind.OFFSET, self._filters.one(_STILL)
        return None
