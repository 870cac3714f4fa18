# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""How well an estimate predicts what it has not seen.

The compensated wrench of a bin is made with the newest estimate before it, so every number here is
of data that its estimate did not hold (Dawid 1984, the prequential principle).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...inertia import Array
from .curves import WrenchCurves
from .results import Snapshot

_LEAST, _LEAST_POSES = 20, 5  # bins, or poses


class HeldOut(NamedTuple):
    """What is left of the wrench, without and with the estimate.

    Attributes:
        wrenches: how many wrenches; left_out: how many more, during a contact.
        without, with_: rms (6,) per channel [N, N m].
        weight_only: whether the estimate predicts the weight alone.
    """

    wrenches: int
    left_out: int
    without: Array
    with_: Array
    weight_only: bool

    def lengths(self, channels: slice) -> tuple[float, float]:
        """Rms length of the force, or of the torque, without and with the estimate."""
        return (float(np.linalg.norm(self.without[channels])),
                float(np.linalg.norm(self.with_[channels])))


FORCE, TORQUE = slice(0, 3), slice(3, 6)


def contact_spans(history: tuple[Snapshot, ...]) -> list[tuple[float, float]]:
    """First and last time [s] of the stretches in which a contact lasted."""
    spans: list[tuple[float, float]] = []
    before = 0.0
    for item in history:
        if any(f.name == "contact" and f.level == "warning" for f in item.findings):
            if spans and spans[-1][1] == before:
                spans[-1] = (spans[-1][0], item.time)
            else:
                spans.append((before, item.time))
        before = item.time
    return spans


def held_out(curves: WrenchCurves, bias: Array, history: tuple[Snapshot, ...]) -> HeldOut | None:
    """What is left of the wrench of a recording; None where too little was predicted.

    Args:
        bias: (6,) reading without load [N, N m], which is taken from the wrench either way.
    """
    predicted = np.isfinite(curves.model[:, 0])
    touched = np.zeros(len(predicted), dtype=bool)
    for first, last in contact_spans(history):
        touched |= (curves.time >= first) & (curves.time <= last)
    used = predicted & ~touched
    if used.sum() < (_LEAST_POSES if curves.weight_only else _LEAST):
        return None
    measured, model = curves.measured[used], curves.model[used]
    return HeldOut(int(used.sum()), int((predicted & touched).sum()),
                   _rms(measured - bias), _rms(measured - model), curves.weight_only)


def _rms(values: Array) -> Array:
    """Root mean square (6,) of rows (n, 6)."""
    return np.asarray(np.sqrt(np.mean(values**2, axis=0)))
