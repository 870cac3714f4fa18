# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What besides the payload moves the wrench: models with more and more terms, averaged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..inertia import report_jacobian
from ..model.history import Window
from ..model.rows import Rows
from ..model.setup import Setup, Sheet
from ..motion.motion import BIN, Array
from .causes import SensorFilter, candidates
from .fit import Fit, Prior, Region, climb, fit, setup_of
from .residual import Unknown, newest_misfit, surprise, unknown
from .setup_errors import Rival, SetupError, rivals
from .terms import Term, Values

# Logarithms of odds: above which a term stays; to try it at all, at the noise of the fit without
# it; below which a model is forgotten; what they are divided by in the average, as no model is
# exact.
CERTAIN, WORTH_IT, DOUBT, TEMPER = 3.0, -8.0, -12.0, 2.0
STRETCHED = 1.5  # scale of a prior that may have been stretched by what is looked for
AHEAD, EQUAL = 60.0, 8.0  # of set-ups: no cable or change wins this back; as good as equal
QUICK, NEAR = 3, 12.0  # rounds of a first fit; how far behind it is left at that
CLIMBS, SEEN, SUMMITS, APART = 6, -10.0, 3, 0.1
MISFIT = 3.5  # of the newest second, over the root mean square of those before
NAMED = 0.9  # probability


class Model(NamedTuple):
    """A fit and the logarithm of its odds."""

    fit: Fit
    odds: float

    def fitted(self, new: Fit) -> Model:
        """The same with another fit of the same terms."""
        return Model(new, self.odds - self.fit.evidence + new.evidence)


@dataclass(frozen=True, eq=False)
class Explanation:
    """The average over models.

    Attributes:
        phi, covariance: (10,), (10, 10) at the scales that the data tell: for the answer.
        wide_phi, wide_covariance: at those of the data sheet at least: for the interval.
        best: the most probable fit; probability: of each term that had to earn its place.
        unknown: what the best fit does not explain.
        error: of the set-up, which is corrected in all of these; None: it is as stated.
        alternatives: errors that are about as probable: the motion does not tell them apart.
        surprise: residual of the best fit over that of the data sheet.
    """

    phi: Array
    covariance: Array
    wide_phi: Array
    wide_covariance: Array
    best: Fit
    models: tuple[Model, ...]
    probability: dict[str, float]
    unknown: Unknown
    error: SetupError | None
    alternatives: tuple[SetupError, ...]
    surprise: float

    @property
    def is_outdated(self) -> bool:
        """True if the newest samples do not fit as those before do."""
        return newest_misfit(self.best) > MISFIT

    @property
    def setup(self) -> Setup:
        """Delay, filter and tilt."""
        known = setup_of(self.best.values, self.best.terms)
        late = self.error.correction.late if self.error is not None else 0
        return replace(known, delay=known.delay + BIN * late)

    @property
    def named(self) -> tuple[tuple[str, dict[str, float | str]], ...]:
        """Kinds and numbers of findings: what is taken into account of the set-up, and terms that
        are certain and large enough."""
        best, out = self.best, list[tuple[str, dict[str, float | str]]]()
        if self.error is not None and self.error.kind == "clock_offset":
            out.append(("clock_offset", {"milliseconds": 1e3 * self.setup.delay}))
        if self.error is not None and self.error.kind == "removed_payload":
            weight = float(best.values["removed_payload"][0])
            out.append(("removed_payload", {"mass": weight, "why": ""}))
        for term in best.terms:
            if term.odds and self.probability.get(term.name, 0.0) > NAMED:
                described = term.describe(best.rows, best.phi, best.values[term.name])
                if described:
                    out.append((term.name, {**described}))
        if self.unknown.is_large:
            seconds = float(BIN * (best.rows.index[-1] - best.rows.index[0]))
            out.append(("load_unexplained", {"seconds": seconds,
                                             "force": float(self.unknown.size[0])}))
        return tuple(out)


def explain(window: Window, sheet: Sheet, region: Region | None,
            known: Explanation | None = None) -> Explanation:
    """Explain the wrench of a window; it has rows.

    Args:
        known: what a search has found a little before, of mostly the same samples: its models are
            fitted anew, and no others are looked for.
    """
    prior = Prior(sheet, region)
    if known is not None:
        return _fitted_anew(window, prior, known)
    ranked = rivals(window, prior)
    top = ranked[0].odds
    likely = [r for k, r in enumerate(ranked) if k == 0 or (not r.error and r.odds > top - AHEAD)]
    found = [(rival, _search(rival, prior)) for rival in likely]
    rival, models = max(found, key=lambda pair: max(m.odds for m in pair[1]))
    whole = rival.on_all(window, prior)
    if whole is not rival:
        models = _search(whole, prior)
    return _averaged(models, sheet, rival.error, tuple(
        r.error for r in ranked if r.error and r is not rival and r.odds > top - EQUAL))


def _fitted_anew(window: Window, prior: Prior, known: Explanation) -> Explanation:
    """The models of an explanation on other bins."""
    if known.error is not None:
        window = known.error.correction.window(window)
    rows, models = Rows(window, known.best.rows.setup), list[Model]()
    for model in sorted(known.models, key=lambda m: -m.odds):
        old = model.fit
        seconds = BIN * float(window.motion.number[-1] - old.rows.window.motion.number[-1])
        moved = {term.name: term.later(old.values[term.name], seconds) for term in old.terms
                 if len(term.on(rows).sd) == len(term.sd)}
        new = fit(rows, [term.on(rows) for term in old.terms], prior, start=old, given=moved,
                  is_fresh=False, is_near=True)
        if not models or _is_believable(new):
            models.append(model.fitted(new))
    return _averaged(_likely(models), prior.sheet, known.error, known.alternatives)


def _averaged(models: Sequence[Model], sheet: Sheet, error: SetupError | None,
              alternatives: tuple[SetupError, ...]) -> Explanation:
    weights = _weights(models)
    phi, covariance = _mixture(weights, [(m.fit.phi, m.fit.covariance) for m in models])
    # Each term whose law is only approximate may absorb errors of the others.
    wide = [(m.fit.wide[0], m.fit.wide[1] * max(sum(t.is_inexact for t in m.fit.terms), 1)
             + m.fit.doubt() + unknown(m.fit, sheet).covariance(m.fit.phi)) for m in models]
    wide_phi, wide_covariance = _mixture(weights, wide)
    probability: dict[str, float] = {}
    for weight, model in zip(weights, models, strict=True):
        for term in model.fit.terms:
            if term.odds:
                probability[term.name] = probability.get(term.name, 0.0) + float(weight)
    best = max(models, key=lambda m: m.odds).fit
    # of a centre of mass that no motion tells better
    moved = np.linalg.inv(report_jacobian(phi))[:, 1:4] if phi[0] > 0.0 else np.zeros((10, 3))
    wide_covariance = wide_covariance + sheet.lever**2 * moved @ moved.T
    return Explanation(phi, covariance, wide_phi, wide_covariance, best, tuple(models),
                       probability, unknown(best, sheet), error, alternatives,
                       surprise(best, sheet))


def _weights(models: Sequence[Model]) -> Array:
    """Weights (m,) of models, tempered; summits of the same terms share the weight of one model."""
    odds = np.array([m.odds for m in models])
    weight = np.exp((odds - odds.max()) / TEMPER)
    for names in {m.fit.names for m in models}:
        same = np.array([m.fit.names == names for m in models])
        weight[same] *= weight[same].max() / weight[same].sum()
    return np.asarray(weight / weight.sum())


def _mixture(weights: Array, parts: Sequence[tuple[Array, Array]]) -> tuple[Array, Array]:
    """Mean (10,) and covariance (10, 10) of a mixture."""
    mean = np.asarray(sum(w * x for w, (x, _) in zip(weights, parts, strict=True)))
    return mean, np.asarray(sum(w * (c + np.outer(x - mean, x - mean))
                                for w, (x, c) in zip(weights, parts, strict=True)))


def _likely(models: Sequence[Model]) -> list[Model]:
    top = max(m.odds for m in models)
    return [m for m in models if m.odds > top + DOUBT]


def _is_believable(new: Fit) -> bool:
    return all(term.is_believable(new.values[term.name]) for term in new.terms)


# ---- the search ----------------------------------------------------------------------------------

def _search(rival: Rival, prior: Prior) -> list[Model]:
    """The fit of a set-up, and candidates, one more at a time beside the best terms so far."""
    best = Model(rival.fit, rival.odds)
    models, least = [best], -np.inf
    while best.odds > least and not prior.sheet.is_ideal:
        tried = [model for term, starts in _worth_trying(best, prior)
                 for model in _try(term, starts, best, prior)]
        if not tried:
            break
        near = max(best.odds, max(m.odds for m in tried)) - NEAR
        settled = [_settle(m, prior) if m.odds > near else m for m in tried]
        models += settled
        least, best = best.odds + CERTAIN, max(settled, key=lambda m: m.odds)
    return _likely(models)


def _try(term: Term, starts: Sequence[Values], node: Model, prior: Prior) -> list[Model]:
    """Models with one more term."""
    fits = [fit(node.fit.rows, [*node.fit.terms, term], prior, start=node.fit, rounds=QUICK,
                given=given) for given in starts]
    return [Model(new, node.odds - node.fit.evidence + term.odds + new.evidence)
            for new in fits if _is_believable(new)]


def _settle(model: Model, prior: Prior) -> Model:
    """The fit with more rounds, if it is better and can be true."""
    slow = fit(model.fit.rows, model.fit.terms, prior, start=model.fit, is_fresh=False)
    better = model.fitted(slow)
    return better if better.odds > model.odds and _is_believable(slow) else model


def _worth_trying(node: Model, prior: Prior) -> list[tuple[Term, list[Values]]]:
    """Terms with the values to start at, but those that the noise without them makes hopeless."""
    best = clean = node.fit
    is_filtered = any(isinstance(term, SensorFilter) for term in best.terms)
    if max(best.scales.values()) > STRETCHED or any(t.is_inexact for t in best.terms):
        clean = fit(best.rows, best.terms, prior, start=best, rounds=0)
    out: list[tuple[Term, list[Values]]] = []
    for term in candidates(best.rows, prior.sheet):
        if term.name in best.names or (is_filtered and isinstance(term, SensorFilter)):
            continue
        if term.is_screened:
            out.append((term, term.starts(best)))
            continue
        sides = [clean] if clean is best or term.is_linear else [best, clean]
        climbed = [_climb_all(side, term) for side in sides]
        if max(gain for _, gain in climbed) + term.odds > WORTH_IT:
            summits = _apart([v for some, _ in climbed for v in some], term)
            out.append((term, [{term.name: v} for v in summits]))
    return out


def _climb_all(side: Fit, term: Term) -> tuple[list[Array], float]:
    """The distinct summits that starts lead to, the most probable first, and what that gains."""
    values = [start[term.name] for start in term.starts(side)]
    if len(values) > 1:  # what the law tells where it starts says which are worth a climb
        told = [climb(side, term, value, steps=0)[1] for value in values]
        order = np.argsort(told)[::-1][:CLIMBS]
        values = [values[k] for k in order if told[k] > SEEN]
    climbed = sorted((climb(side, term, value) for value in values), key=lambda c: -c[1])
    summits = _apart([v for v, _ in climbed if term.is_believable(v)], term)[:SUMMITS]
    return summits, climbed[0][1] if summits else -np.inf


def _apart(values: Sequence[Array], term: Term) -> list[Array]:
    """The values that are not those of one before."""
    out: list[Array] = []
    for value in values:
        if all(float(np.abs((value - other) / term.sd).max()) > APART for other in out):
            out.append(value)
    return out
