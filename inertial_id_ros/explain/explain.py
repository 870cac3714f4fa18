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
from ..model.setup import Setup
from ..model.sheet import Sheet
from ..motion.motion import BIN, Array
from .calibration import usual_terms
from .candidates import candidates
from .fit import Fit, Region, climb, fit, setup_of
from .plain_rows import PlainRows, plain_rows
from .pouring import MISFIT, newest_misfit
from .rival import Rival, on_all, rivals, surprise
from .sensor_filter import SensorFilter
from .setup_search import SetupError
from .term import Term, Values
from .unknown import Unknown, unknown

# Logarithms of odds: above which a term stays; to try it at all, at the noise of the fit without
# it; below which a model is forgotten; what they are divided by in the average, as no model is
# exact.
CERTAIN, WORTH_IT, DOUBT, TEMPER = 3.0, -8.0, -12.0, 2.0
STRETCHED = 1.5  # scale of a prior that may have been stretched by what is looked for
BEAM, BEHIND = 2, 40.0
AHEAD, EQUAL = 60.0, 8.0  # of set-ups: no cable or change wins this back; as good as equal
QUICK, NEAR = 3, 12.0  # rounds of a first fit; how far behind it is left at that
CLIMBS, SEEN, SUMMITS, APART = 6, -10.0, 3, 0.1


class Model(NamedTuple):
    """A fit and the logarithm of its odds."""

    fit: Fit
    odds: float


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
    error: SetupError | None = None
    alternatives: tuple[SetupError, ...] = ()
    surprise: float = 1.0

    def plain_rows(self, c1: float) -> PlainRows:
        """Rows of payload and bias alone, see there."""
        return plain_rows(self.best, c1)

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
        fitted = self.best
        out: list[tuple[str, dict[str, float | str]]] = []
        if self.error is not None and self.error.kind in ("clock_offset", "removed_payload"):
            kind, numbers = self.error.finding
            out.append((kind, {**numbers, "milliseconds": 1e3 * self.setup.delay}))
        for term in fitted.terms:
            if term.odds and self.probability.get(term.name, 0.0) > 0.9:
                described = term.describe(fitted.rows, fitted.phi, fitted.values[term.name])
                if described:
                    out.append((term.name, {**described}))
        if left := self.unknown.describe(fitted.rows):
            out.append(("load_unexplained", {**left}))
        return tuple(out)


def explain(window: Window, sheet: Sheet, region: Region | None,
            known: Explanation | None = None) -> Explanation:
    """Explain the wrench of a window; it has rows.

    Args:
        known: what a search has found a little before, of mostly the same samples: its models are
            fitted anew, and no others are looked for.
    """
    if known is not None:
        return _fitted_anew(window, sheet, region, known)
    base = fit(window, usual_terms(sheet, window.motion.joints.shape[1]), sheet, region)
    ranked = rivals(window, base, sheet, region)
    top = ranked[0].odds
    likely = [r for k, r in enumerate(ranked) if k == 0 or (not r.error and r.odds > top - AHEAD)]
    found = [(rival, _search(rival, sheet, region)) for rival in likely]
    rival, models = max(found, key=lambda pair: max(m.odds for m in pair[1]))
    if rival.window.used.sum() < window.used.sum():
        models = _search(on_all(rival, window, sheet, region), sheet, region)
    return _averaged(models, sheet, rival.error, tuple(
        r.error for r in ranked if r.error and r is not rival and r.odds > top - EQUAL))


def _fitted_anew(window: Window, sheet: Sheet, region: Region | None, known: Explanation
                 ) -> Explanation:
    """The models of an explanation on other bins."""
    if known.error is not None:
        window = known.error.correction.window(window)
    rows, models = Rows(window, known.best.rows.setup), list[Model]()
    for model in sorted(known.models, key=lambda m: -m.odds):
        old = model.fit
        seconds = BIN * float(window.motion.number[-1] - old.rows.window.motion.number[-1])
        moved = {term.name: term.later(old.values[term.name], seconds) for term in old.terms
                 if len(term.on(rows).sd) == len(term.sd)}
        new = fit(window, [term.on(rows) for term in old.terms], sheet, region, start=old,
                  given=moved, rows=rows, is_near=True)
        if not models or _is_believable(new):
            models.append(Model(new, model.odds - old.evidence + new.evidence))
    top = max(m.odds for m in models)
    return _averaged([m for m in models if m.odds > top + DOUBT], sheet, known.error,
                     known.alternatives)


def _averaged(models: Sequence[Model], sheet: Sheet, error: SetupError | None,
              alternatives: tuple[SetupError, ...]) -> Explanation:
    weights = _weights(models)
    phi, covariance = _mixture(weights, [(m.fit.phi, m.fit.covariance) for m in models])
    wide = [(m.fit.wide[0], m.fit.wide[1] * _inexact(m.fit) + m.fit.doubt()
             + unknown(m.fit, sheet).covariance(m.fit.phi)) for m in models]
    wide_phi, wide_covariance = _mixture(weights, wide)
    probability: dict[str, float] = {}
    for weight, model in zip(weights, models, strict=True):
        for term in model.fit.terms:
            if term.odds:
                probability[term.name] = probability.get(term.name, 0.0) + float(weight)
    best = max(models, key=lambda m: m.odds).fit
    lever = sheet.lever**2 * moved_centre(phi) if phi[0] > 0.0 else 0.0
    return Explanation(phi, covariance, wide_phi, wide_covariance + lever, best, tuple(models),
                       probability, unknown(best, sheet), error, alternatives,
                       surprise(best, sheet))


def moved_centre(phi: Array) -> Array:
    """Covariance (10, 10) of phi by a centre of mass that is moved by 1 m along each axis."""
    columns = np.linalg.inv(report_jacobian(phi))[:, 1:4]
    return np.asarray(columns @ columns.T)


def _inexact(model: Fit) -> int:
    """Factor on the covariance of the interval: the number of terms whose law is only approximate,
    at least 1, since each may absorb errors of the others."""
    return max(sum(term.is_inexact for term in model.terms), 1)


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


def _search(rival: Rival, sheet: Sheet, region: Region | None) -> list[Model]:
    """The fit of a set-up, and candidates, one more at a time, from the best sets of terms: which
    comes first decides to which summit the next one climbs."""
    window, models = rival.window, [Model(rival.fit, rival.odds)]
    if sheet.is_ideal:
        return models
    beam = models[:]
    while beam:
        grown: dict[frozenset[str], list[Model]] = {}
        for node in beam:
            for term, starts in _worth_trying(window, node, sheet, region):
                new = _try(window, term, starts, node, sheet, region)
                grown.setdefault(node.fit.names | {term.name}, []).extend(new)
        now = max(node.odds for node in beam)
        least = min(node.odds for node in beam) + CERTAIN
        most = max((m.odds for some in grown.values() for m in some), default=0.0)
        beam = []
        for some in filter(None, grown.values()):
            near = max(max(m.odds for m in some) - NEAR, now - NEAR, most - BEHIND)
            settled = [_settle(window, m, sheet, region) if m.odds > near else m for m in some]
            models += settled
            beam.append(max(settled, key=lambda m: m.odds))
        beam = sorted((b for b in beam if b.odds > least), key=lambda b: -b.odds)[:BEAM]
        beam = [b for b in beam if b.odds > beam[0].odds - BEHIND]
    top = max(m.odds for m in models)
    return [m for m in models if m.odds > top + DOUBT]


def _is_believable(new: Fit) -> bool:
    return all(term.is_believable(new.values[term.name]) for term in new.terms)


def _settle(window: Window, model: Model, sheet: Sheet, region: Region | None) -> Model:
    """The fit with more rounds, if it is better and can be true."""
    slow = fit(window, model.fit.terms, sheet, region, start=model.fit)
    better = Model(slow, model.odds - model.fit.evidence + slow.evidence)
    return better if better.odds > model.odds and _is_believable(slow) else model


def _worth_trying(window: Window, node: Model, sheet: Sheet, region: Region | None
                  ) -> list[tuple[Term, list[Values]]]:
    """Terms with the values to start at, but those that the noise without them makes hopeless."""
    best = clean = node.fit
    is_filtered = any(isinstance(term, SensorFilter) for term in best.terms)
    if max(best.scales.values()) > STRETCHED or any(t.is_inexact for t in best.terms):
        fresh = {t.name: 0.3 for t in best.terms}
        clean = fit(window, best.terms, sheet, region, rounds=1, log_noise=best.log_noise,
                    start=_with_scales(best, fresh))
    out: list[tuple[Term, list[Values]]] = []
    for term in candidates(best.rows, sheet):
        if term.name in node.fit.names or (is_filtered and isinstance(term, SensorFilter)):
            continue
        if isinstance(term, SensorFilter):
            out.append((term, term.starts(best)))
            continue
        sides = [clean] if clean is best or term.is_linear else [best, clean]
        climbed = [_climb_all(side, term) for side in sides]
        if max(gain for _, gain in climbed) + term.odds > WORTH_IT:
            summits: list[Array] = []
            for values in (v for some, _ in climbed for v in some):
                if _is_apart(values, summits, term):
                    summits.append(values)
            out.append((term, [{term.name: v} for v in summits]))
    return out


def _with_scales(best: Fit, scales: dict[str, float]) -> Fit:
    """The fit with other scales to begin at; those that are never learnt stay."""
    kept = {t.name: scales[t.name] if np.isfinite(t.strength) else 1.0 for t in best.terms}
    return Fit(**{**vars(best), "scales": kept})


def _is_apart(values: Array, others: Sequence[Array], term: Term) -> bool:
    return all(float(np.abs((values - other) / term.sd).max()) > APART for other in others)


def _climb_all(side: Fit, term: Term) -> tuple[list[Array], float]:
    """The distinct summits that starts lead to, the most probable first, and what that gains."""
    values = [start[term.name] for start in term.starts(side)]
    if len(values) > 1:  # what the law tells where it starts says which are worth a climb
        told = [climb(side, term, value, steps=0)[1] for value in values]
        order = np.argsort(told)[::-1][:CLIMBS]
        values = [values[k] for k in order if told[k] > SEEN]
    climbed = sorted((climb(side, term, value) for value in values), key=lambda c: -c[1])
    summits: list[Array] = []
    for value, _ in climbed:
        if len(summits) < SUMMITS and term.is_believable(value) and _is_apart(value, summits, term):
            summits.append(value)
    return summits, climbed[0][1] if summits else -np.inf


def _try(window: Window, term: Term, starts: Sequence[Values], node: Model, sheet: Sheet,
         region: Region | None) -> list[Model]:
    """Models with one more term."""
    out, prior = [], node.odds - node.fit.evidence + term.odds
    for given in starts:
        fresh = _with_scales(node.fit, {t.name: 0.3 for t in node.fit.terms})
        new = fit(window, [*node.fit.terms, term], sheet, region, start=fresh, rounds=QUICK,
                  given=given)
        if _is_believable(new):
            out.append(Model(new, prior + new.evidence))
    return out
