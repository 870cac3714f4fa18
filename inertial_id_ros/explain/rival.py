# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Fits at other set-ups, where the set-up as stated does not explain the data."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..model import noise
from ..model.history import Window
from ..model.rows import stretches
from ..model.sheet import Sheet
from ..motion.motion import Array
from .calibration import usual_terms
from .compensated import CompensatedWeight
from .fit import Fit, Region, fit
from .sensor_filter import SensorFilter
from .setup_fit import belief_in_body
from .setup_search import ODDS, USUAL_CLOCK, SetupError, setup_errors
from .term import Term, Values

SURPRISING, STRETCHED, LATE = 0.4, 2.5, 0.1  # of the data sheet; scale of a prior; s
UNBELIEVABLE = -2.0  # logarithm
EXPLAINED = 0.6  # of the data sheet, by all errors but clock and filter: nothing else is wrong then
FEWEST, ROUNDS = 12, 12  # rows; of Gauss-Newton


class Rival(NamedTuple):
    """A fit at a set-up, with the logarithm of its odds; error: None for the set-up as stated."""

    window: Window
    fit: Fit
    odds: float
    error: SetupError | None


def rivals(window: Window, base: Fit, sheet: Sheet, region: Region | None) -> list[Rival]:
    """The set-up as stated, and others that explain the data better; the best comes first.

    They are compared on the same bins.
    """
    stated = Rival(window, base, base.evidence + belief_in_body(
        base.phi, base.covariance, region), None)
    if not is_suspect(base, sheet, region) or not (errors := setup_errors(window, sheet, region)):
        return [stated]
    windows = [error.correction.window(window) for error in errors]
    used = np.logical_and.reduce([window.used, *(w.used for w in windows)])
    if sum(stretch.n for stretch in stretches(used)) < FEWEST:
        return [stated]
    if used.sum() < window.used.sum():
        stated = _rival(None, replace(window, used=used), sheet, region)
    size = stated.fit.solution.variance.size
    others = [_rival(error, replace(w, used=used), sheet, region, size)
              for error, w in zip(errors, windows, strict=True)]
    return sorted([stated, *(r for r in others if _explains(r, sheet))], key=lambda r: -r.odds)


def surprise(base: Fit, sheet: Sheet) -> float:
    """Root mean square of the residual over that of the data sheet: forces or torques."""
    solution = base.solution
    power = solution.residual.reshape(solution.variance.shape) ** 2 * solution.variance
    mean, _ = noise.strengths_before(sheet, base.rows.time[-1] - base.rows.time[0])
    usual = (solution.spectrum @ np.exp(mean).T).sum(0)
    return float(np.sqrt((power.reshape(-1, 2, 3).sum((0, 2)) / (3.0 * usual)).max()))


def is_suspect(base: Fit, sheet: Sheet, region: Region | None) -> bool:
    """True if usual terms and noise do not explain the data, or no body is like that."""
    late = abs(float(base.values["delay"][0])) if "delay" in base.values else 0.0
    return (surprise(base, sheet) > SURPRISING or max(base.scales.values()) > STRETCHED
            or late > LATE or belief_in_body(base.phi, base.covariance, region) < UNBELIEVABLE)


def _explains(rival: Rival, sheet: Sheet) -> bool:
    """True if nothing else is wrong, beside a clock or a filter."""
    assert rival.error is not None
    return (rival.error.kind in ("clock_offset", "wrench_filtered")
            or surprise(rival.fit, sheet) < EXPLAINED)


def _rival(error: SetupError | None, window: Window, sheet: Sheet, region: Region | None,
           size: int = 0) -> Rival:
    """The fit of a corrected window; its evidence is that of as many modes as `size`."""
    terms: list[Term] = usual_terms(sheet, window.motion.joints.shape[1])
    given: Values = {}
    kind, odds = "", 0.0
    factor: Array = np.ones(6)
    first: Array | None = None
    if error is not None:
        first, given["bias"] = error.solved.x[:10], error.solved.x[-6:]
        odds = ODDS[error.kind]
        if error.filter and abs(error.correction.late) > USUAL_CLOCK:
            odds += ODDS["clock_offset"]
        kind, factor = error.kind, error.correction.channels
        if error.filter:
            own = SensorFilter(len(error.filter))
            given[own.name] = np.r_[np.log(error.filter[0]), error.filter[1:],
                                    own.mean[len(error.filter):]]
            terms.append(own)
        if kind == "removed_payload":
            terms.append(weight := CompensatedWeight())
            given[weight.name] = error.solved.x[10:14]
    new = fit(window, terms, sheet, region, given=given, first=first,
              rounds=ROUNDS)
    modes = new.solution.variance
    # the density is that of readings as they came
    evidence = new.evidence + len(modes) * float(np.log(np.abs(factor)).sum())
    return Rival(window, new, evidence * (size or modes.size) / modes.size + odds
                 + belief_in_body(new.phi, new.covariance, region), error)


def on_all(rival: Rival, window: Window, sheet: Sheet, region: Region | None) -> Rival:
    """The rival fitted to all bins of a window, not only to those that all rivals share."""
    whole = window if rival.error is None else rival.error.correction.window(window)
    if whole.used.sum() == rival.window.used.sum():
        return rival
    return _rival(rival.error, whole, sheet, region)
