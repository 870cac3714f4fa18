# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Fits at other set-ups, where the set-up as stated does not explain the data."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..model.history import Window
from ..model.rows import Rows, is_enough
from ..model.setup import Setup
from .calibration import usual_terms
from .causes import CompensatedWeight, SensorFilter
from .fit import Fit, Prior, fit
from .residual import surprise
from .setup_errors import ODDS, USUAL_CLOCK, SetupError, belief_in_body, setup_errors
from .term import Term, Values

SURPRISING, STRETCHED, LATE = 0.4, 2.5, 0.1  # of the data sheet; scale of a prior; s
UNBELIEVABLE = -2.0  # logarithm
EXPLAINED = 0.6  # of the data sheet, by all errors but clock and filter: nothing else is wrong then
ROUNDS = 12  # of Gauss-Newton


class Rival(NamedTuple):
    """A fit at a set-up, with the logarithm of its odds; error: None for the set-up as stated."""

    fit: Fit
    odds: float
    error: SetupError | None

    def on_all(self, window: Window, prior: Prior) -> Rival:
        """The same fitted to all bins of a window, not only to those that all rivals share."""
        whole = window if self.error is None else self.error.correction.window(window)
        mine = self.fit.rows.window.used
        return self if whole.used.sum() == mine.sum() else _rival(self.error, whole, prior)


def rivals(window: Window, prior: Prior) -> list[Rival]:
    """The set-up as stated, and others that explain the data better; the best comes first.

    They are compared on the same bins.
    """
    stated = _rival(None, window, prior)
    if not _is_suspect(stated.fit, prior) or not (errors := setup_errors(window, prior)):
        return [stated]
    windows = [error.correction.window(window) for error in errors]
    used = np.logical_and.reduce([window.used, *(w.used for w in windows)])
    if not is_enough(used):
        return [stated]
    if used.sum() < window.used.sum():
        stated = _rival(None, replace(window, used=used), prior)
    size = stated.fit.solution.variance.size
    others = [_rival(error, replace(w, used=used), prior, size)
              for error, w in zip(errors, windows, strict=True)]
    # An error other than of clock or filter explains everything, or it is none.
    return sorted([stated, *(r for r, e in zip(others, errors, strict=True) if e.kind in (
        "clock_offset", "wrench_filtered") or surprise(r.fit, prior.sheet) < EXPLAINED)],
        key=lambda r: -r.odds)


def _is_suspect(base: Fit, prior: Prior) -> bool:
    """True if usual terms and noise do not explain the data, or no body is like that."""
    late = abs(float(base.values["delay"][0])) if "delay" in base.values else 0.0
    return (surprise(base, prior.sheet) > SURPRISING or late > LATE
            or max(base.scales.values()) > STRETCHED
            or belief_in_body(base.phi, base.covariance, prior.region) < UNBELIEVABLE)


def _rival(error: SetupError | None, window: Window, prior: Prior, size: int = 0) -> Rival:
    """The fit of a corrected window; its evidence is that of as many modes as `size`."""
    terms: list[Term] = usual_terms(prior.sheet, window.motion.joints.shape[1])
    rows = Rows(window, Setup())
    if error is None:
        new = fit(rows, terms, prior)
        return Rival(new, new.evidence + belief_in_body(new.phi, new.covariance, prior.region),
                     None)
    x, odds = error.solved.x, ODDS
    given: Values = {"bias": x[-6:]}
    if error.filter:
        odds += ODDS * (abs(error.correction.late) > USUAL_CLOCK)
        own = SensorFilter(len(error.filter))
        given[own.name] = np.r_[np.log(error.filter[0]), error.filter[1:],
                                own.mean[own.order:]]
        terms.append(own)
    if error.kind == "removed_payload":
        terms.append(weight := CompensatedWeight())
        given[weight.name] = x[10:14]
    new = fit(rows, terms, prior, given=given, phi=x[:10], rounds=ROUNDS)
    modes = new.solution.variance
    # The density is that of readings as they came.
    evidence = new.evidence + len(modes) * float(
        np.log(np.abs(error.correction.channels)).sum())
    return Rival(new, evidence * (size or modes.size) / modes.size + odds
                 + belief_in_body(new.phi, new.covariance, prior.region), error)
