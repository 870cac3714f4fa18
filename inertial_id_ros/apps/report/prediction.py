# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""How well estimates predict what they have not seen (Dawid 1984, the prequential principle)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...estimate import Estimate, Outcome
from ...identify.identifier import Identifier
from ...inertia import PARAMETERS, Array
from ...model.history import LONGEST, Window
from ...model.newton_euler import GRAVITY, regressor
from ...motion.motion import BIN, BIN_NS

LEAST = 20  # bins that must be predicted
FORCE, TORQUE = slice(0, 3), slice(3, 6)


class Prediction(NamedTuple):
    """The wrench in bins of 10 ms, and what the newest estimate before each makes of it.

    Attributes:
        time: (n,) since the start of the recording [s]; measured: (n, 6) [N, N m].
        model: (n, 6); NaN where no estimate was there before, or nothing was measured.
        without: (n, 6) the bias of that estimate alone.
        free: (n,) True where nothing else than the payload moved the wrench.
    """

    time: Array
    measured: Array
    model: Array
    without: Array
    free: np.ndarray

    def part(self, which: slice | np.ndarray) -> Prediction:
        """The prediction in some bins."""
        return Prediction(*(column[which] for column in self))


class HeldOut(NamedTuple):
    """What remains of the wrench on unseen data outside contacts, as rms length without and with
    the payload, of the force [N] and of the torque [N m]; the bias is taken out either way.
    bins: how many were predicted; left_out: how many more during a contact."""

    bins: int
    left_out: int
    force: tuple[float, ...]
    torque: tuple[float, ...]


def prediction_of(identifier: Identifier, estimates: Sequence[Outcome], origin: int
                  ) -> Prediction | None:
    """Predict the wrench that an identifier still has; None where it has none.

    Args:
        estimates: its outcomes, oldest first; origin: stamp of the start [ns].
    """
    history, tool = identifier.course.history, identifier.beliefs.tool
    end = min(history.end, history.wrench_end)
    window = history.window(end, LONGEST, marked=False)
    n = len(window.used)
    if not n or identifier.settings.load.source != "wrench":
        return None
    free = np.ones(n, bool)
    for first, last in history.marks.contacts:
        free[max(first - end + n, 0):max(last - end + n, 0)] = False
    return predict(window, free, estimates, identifier.settings.wrench.sign,
                   np.zeros(PARAMETERS) if tool is None else tool.phi, origin)


def predict(window: Window, free: np.ndarray, estimates: Sequence[Outcome], sign: float,
            tool: Array, origin: int) -> Prediction:
    """Predict the wrench of a window, bin by bin.

    Args:
        window: with all bins; free: (n,) True for those that tell of the payload.
        estimates: the outcomes, oldest first; sign: of readings against W + bias.
        tool: phi (10,) of what is carried beside the payload; origin: stamp of the start [ns].
    """
    motion, n = window.motion, len(window.used)
    back = motion.rotation.transpose(0, 2, 1)
    rows = regressor(motion.acceleration - back @ GRAVITY, motion.omega, motion.alpha)
    model, without = np.full((2, n, 6), np.nan)
    valid = [e for e in estimates if isinstance(e, Estimate) and not e.stale]
    ends = [e.stamp_ns // BIN_NS - int(motion.number[0]) for e in valid]
    for estimate, first, end in zip(valid, ends, [*ends, n][1:], strict=False):
        late = round(-estimate.alignment[5] / BIN) if len(estimate.alignment) > 5 else 0
        first = max(first + 1, late, 0)
        end = min(end + 1, n + min(late, 0), n)
        if end > first:
            wrench = rows[first - late:end - late] @ (estimate.phi + tool)
            without[first:end] = estimate.bias
            model[first:end] = sign * wrench + estimate.bias
    model[~window.used] = np.nan
    measured = np.where(window.used[:, None], sign * window.wrench, np.nan)
    return Prediction((motion.number + 0.5) * BIN - 1e-9 * origin, measured, model, without, free)


def held_out(prediction: Prediction | None) -> HeldOut | None:
    """What remains on unseen data; None where too little was predicted."""
    if prediction is None:
        return None
    known = np.isfinite(prediction.model[:, 0])
    used = prediction.part(known & prediction.free)
    if len(used.time) < LEAST:
        return None
    force, torque = (tuple(
        float(np.sqrt(np.mean(np.sum((used.measured - model)[:, channels]**2, axis=1))))
        for model in (used.without, used.model)) for channels in (FORCE, TORQUE))
    return HeldOut(len(used.time), int(np.sum(known & ~prediction.free)), force, torque)
