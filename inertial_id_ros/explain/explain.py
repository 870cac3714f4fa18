# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What besides the payload moves the wrench: models with more and more terms, averaged."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..inertia import report_jacobian
from ..model.history import Window
from ..model.rows import STEP
from ..model.setup import LEVER, Setup, SetupError, Sheet
from ..motion.motion import BIN, Array
from .causes import MovingBase, candidates
from .fit import Fit, Prior, Region, fit, promise, setup_of
from .laws import Pouring
from .residual import LARGE, SHARE, Unknown, is_believable, is_felt, looks_like, surprise, unknown
from .setup_errors import ACCOUNTED, AHEAD, NEAREST, STRETCHED, SURPRISING, Model, rivals
from .terms import DECIDED, Place, Term, Values
from .torques import Robot, as_identified

# Logarithms of odds: above which a term stays; to try it at all, at the noise of the fit without
# it; what evidence is divided by in the average, as no model is exact.
CERTAIN, WORTH_IT, TEMPER = 3.0, -8.0, 2.0
NAMED = 0.9  # probability
SECOND, ENOUGH = round(1.0 / (BIN * STEP)), 3  # rows; seconds to compare with
MOST = 2  # terms of a name that are worth a try, if their effect is linear


@dataclass(frozen=True, eq=False)
class Explanation:
    """The average over models.

    Attributes:
        phi, covariance: (10,), (10, 10) at the scales that the data tell: for the answer.
        wide_phi, wide_covariance: at those of the data sheet at least: for the interval.
        models: the most probable first; best, error: its fit, and the error of the set-up, which is
            corrected in all of these.
        probability: of each term that had to earn its place.
        unknown, surprise: what the best fit does not explain, and that over the data sheet.
        sheet: of the sensor.
    """

    phi: Array
    covariance: Array
    wide_phi: Array
    wide_covariance: Array
    models: tuple[Model, ...]
    best: Fit
    error: SetupError
    probability: dict[str, float]
    unknown: Unknown
    surprise: float
    sheet: Sheet

    @property
    def is_outdated(self) -> bool:
        """True if the mean residual of the newest second, of forces or of torques, is large beside
        those of the seconds before. A payload that begins to pour shows there first."""
        left, count = self.best.rows.back(self.best.solution.left)[::-1], self.best.rows.n // SECOND
        together = left.shape[1] if self.best.rows.of_joints else 3
        power = np.square(left[:count * SECOND].reshape(count, SECOND, -1, together).mean(1)).sum(2)
        return len(power) > ENOUGH and bool(
            (power[0] > LARGE**2 * np.maximum(power[1:].mean(0), 1e-12)).any())

    @property
    def is_surprising(self) -> bool:
        """True if something is left that the data sheet does not expect."""
        return self.surprise > SURPRISING

    @property
    def is_undisturbed(self) -> bool:
        """True if there is nothing beside the payload but the set-up."""
        return all(term.place is Place.FILTER for term in self.best.terms if term.odds)

    @property
    def setup(self) -> Setup:
        """Delay, filter and tilt."""
        known = setup_of(self.best.values, self.best.terms)
        return replace(known, delay=known.delay + BIN * self.error.late)

    @cached_property
    def named(self) -> tuple[tuple[str, dict[str, float | str]], ...]:
        """Kinds and numbers of findings: what is taken into account of the set-up, and terms that
        are certain and large enough."""
        best, out = self.best, list[tuple[str, dict[str, float | str]]]()
        if abs(self.setup.delay) > BIN * NEAREST:
            out.append(("clock_offset", {"milliseconds": 1e3 * self.setup.delay}))
        if self.error.kind == "removed_payload":
            out.append(("removed_payload", {"mass": float(best.values["removed_payload"][0])}))
        out += [(term.name, {**term.describe(best.phi, best.values[term.name],
                                             best.sigma[term.name])})
                for term in best.terms if self.probability.get(term.name, 0.0) > NAMED
                and is_felt(best, term, self.sheet)]
        if ((self.unknown.times > LARGE) & (self.unknown.share > SHARE)).any():
            out.append(("load_unexplained", {"seconds": float(np.ptp(best.rows.time)),
                                             "force": float(self.unknown.size[0])}))
        return tuple(out)


def explain(window: Window, sheet: Sheet, region: Region | None,
            known: Explanation | None = None, robot: Robot | None = None) -> Explanation:
    """Explain the wrench of a window; it has rows.

    Args:
        known: what a search has found a little before, of mostly the same samples: its models are
            fitted anew, and no others are looked for.
        robot: whose torques stand for the wrench, and whether their zeros have moved.
    """
    prior = Prior(sheet, region)
    if known is not None:
        return _averaged(_fitted_anew(window, prior, known.models), sheet)
    ranked = [as_identified(window, prior, *robot)] if robot else rivals(window, prior)
    top = ranked[0].odds
    models = max((_search(model, prior) for model in ranked if model.odds == top or (
        not model.error.kind and model.odds > top - AHEAD)), key=lambda some: some[0].odds)
    if models[0].fit.rows.window.used.sum() != window.used.sum():  # rivals share bins
        models = _fitted_anew(window, prior, models)
    return _averaged(models, sheet)


def _fitted_anew(window: Window, prior: Prior, models: Sequence[Model]) -> list[Model]:
    """Models of other bins on those of a window."""
    was, error, out = models[0].fit.rows, models[0].error, list[Model]()
    rows = was.of(error.window(window) if error.kind else window)
    for model in models:
        terms = [MovingBase(rows.n) if isinstance(t, MovingBase) else
                 Pouring(rows) if isinstance(t, Pouring) else t for t in model.fit.terms]
        new = fit(rows, terms, prior, start=model.fit, is_near=True)
        if not out or is_believable(new):
            out.append(model.fitted(new))
    return _likely(out)


def _averaged(models: Sequence[Model], sheet: Sheet) -> Explanation:
    """The average, tempered."""
    odds, best = np.array([m.odds for m in models]), models[0].fit
    before = np.array([sum(term.odds for term in m.fit.terms) for m in models])
    weights = np.exp(before + (odds - odds[0] - before) / TEMPER)
    weights /= weights.sum()
    probability = {name: float(sum(weight for weight, model in zip(weights, models, strict=True)
                                   if name in model.fit.values))
                   for name in {t.name for m in models for t in m.fit.terms if t.odds}}
    phi, covariance = _mixture(weights, [(m.fit.phi, m.fit.covariance) for m in models])
    wide = list[tuple[Array, Array]]()
    for one in (model.fit for model in models):
        # Each term whose law is only approximate may absorb errors of the others.
        out = one.wide[1] * max(sum(term.is_inexact for term in one.terms), 1)
        out = out + looks_like(unknown(one, sheet).share, one.phi)  # what its terms leave out
        wide.append((one.wide[0], out + sum(
            term.doubt(one.phi, one.values[term.name]) for term in one.terms)))
    wide_phi, wide_covariance = _mixture(weights, wide)
    if phi[0] > 0.0 and not (sheet.is_ideal or best.rows.of_joints):
        # No motion tells the centre of mass better.
        moved = np.linalg.inv(report_jacobian(phi))[:, 1:4]
        wide_covariance = wide_covariance + LEVER**2 * moved @ moved.T
    return Explanation(phi, covariance, wide_phi, wide_covariance, tuple(models), best,
                       models[0].error, probability, unknown(best, sheet),
                       surprise(best, sheet), sheet)


def _mixture(weights: Array, parts: Sequence[tuple[Array, Array]]) -> tuple[Array, Array]:
    """Mean (10,) and covariance (10, 10) of a mixture."""
    mean = np.asarray(sum(w * x for w, (x, _) in zip(weights, parts, strict=True)))
    return mean, np.asarray(sum(w * (c + np.outer(x - mean, x - mean))
                                for w, (x, c) in zip(weights, parts, strict=True)))


def _likely(models: Sequence[Model]) -> list[Model]:
    """Those that count, the most probable first."""
    ranked = sorted(models, key=lambda m: -m.odds)
    return [m for m in ranked if m.odds > ranked[0].odds - DECIDED]


def _search(best: Model, prior: Prior) -> list[Model]:
    """A model, and those with candidates, one more at a time beside the best terms so far; beside
    an error by which the answer is refused, none."""
    models, least = [best], -np.inf
    while best.odds > least and not prior.sheet.is_ideal and best.error.kind in ACCOUNTED:
        clean = best.fit  # with the noise as it is, but no prior stretched by what is looked for
        if max(clean.scales.values()) > STRETCHED or any(term.is_inexact for term in clean.terms):
            clean = fit(clean.rows, clean.terms, prior, start=clean, rounds=0)
        fitted = [best.fitted(fit(clean.rows, [*clean.terms, term], prior, start=clean,
                                  given=given), term.odds) for term, given in _promising(clean)]
        # Accelerations of the base can be all that a part does which swings by the arm's motion;
        # also where that explains more, but the noise leaves too little of it to be believed.
        base, part = (np.array([m.odds if name in m.fit.values else -np.inf for m in fitted])
                      for name in ("base_moves", "not_rigid"))
        sure = np.array([is_believable(m.fit) for m in fitted], bool)
        swings = (part > best.odds + AHEAD) & (sure | (part > base.max(initial=-np.inf)))
        tried = [m for m, is_sure in zip(fitted, sure, strict=True) if is_sure
                 and not (m.fit.rows.of_joints and m.odds < best.odds)
                 and not (swings.any() and "base_moves" in m.fit.values)]
        if not tried:
            break
        models += tried
        least, best = best.odds + CERTAIN, max(tried, key=lambda m: m.odds)
    return _likely(models)


def _promising(clean: Fit) -> list[tuple[Term, Values]]:
    """Further terms and values to start at: the best of a name, and of each term that is not linear
    in its values, where the noise leaves any hope."""
    out: dict[Term | str, list[tuple[float, Term, Values]]] = {}
    for term in candidates(clean):
        for start in term.starts(clean):
            gain = 0.0
            # What moves other terms, too, or whose scale is learnt, is no small step: a fit tells.
            if len(start) == 1 and not np.isfinite(term.strength):
                gain, start[term.name] = promise(clean, term, start[term.name])
            kind = term if term.curved else term.name
            out.setdefault(kind, []).append((gain + term.odds, term, start))
    return [(term, start) for some in out.values() for gain, term, start in
            sorted(some, key=lambda each: -each[0])[:1 if some[0][1].curved else MOST]
            if gain > WORTH_IT]
