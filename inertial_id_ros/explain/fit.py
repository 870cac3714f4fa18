# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Payload, terms and noise of a window: Gauss-Newton rounds, each computed anew from the bins."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import blas, lapack

from ..model import noise
from ..model.rows import Rows
from ..model.setup import Setup, Sheet
from ..motion.motion import Array
from .terms import Term, Values

VAGUE = np.r_[30.0, np.full(3, 5.0), np.full(6, 3.0)]  # deviations of phi before the data
LIGHTEST = 0.05  # kg: what is relative to the mass takes at least this
ROUNDS, CLOSE = 6, 0.3  # changes of phi, in deviations, and of the log of noise, which end them
LINEAR = 3.0  # deviations: usual terms are linear in so small a change
FIRST_SCALE, CHANGE = 0.3, 10.0  # of a prior; in a round, and from the first to the least one
LATEST = 0.3  # s
EPS = float(np.finfo(float).eps)
HALVINGS = 4  # of a step
SETTLED = 0.05  # of its cost


class Region(NamedTuple):
    """A box in which the centre of mass lies: its centre and lengths (3,) [m]."""

    centre: Array
    size: Array


class Prior(NamedTuple):
    """What is known before the data; region: None where it is not."""

    sheet: Sheet
    region: Region | None


@dataclass(frozen=True, eq=False)
class Fit:
    """What a fit tells.

    Attributes:
        terms: in their order; phi, covariance: with all terms marginalised, priors at the scales
            that the data tell; wide: both, with scales not below those of the data sheet.
        values, sigma, scales: by the names of terms.
        evidence: logarithm; rows: at the set-up of the values; solution: of the last round.
    """

    terms: tuple[Term, ...]
    phi: Array
    covariance: Array
    wide: tuple[Array, Array]
    values: Values
    sigma: Values
    scales: dict[str, float]
    evidence: float
    rows: Rows
    solution: "Solution"


def setup_of(values: Values, terms: Sequence[Term]) -> Setup:
    """The set-up that values make."""
    own = [term.filter(values[term.name]) for term in terms if hasattr(term, "filter")]
    delay = float(np.clip(values.get("delay", np.zeros(1))[0], -LATEST, LATEST))
    return Setup(values.get("tilt", np.zeros(2)), delay, own[0] if own else ())


def fit(rows: Rows, terms: Sequence[Term], prior: Prior, *, start: Fit | None = None,
        given: Mapping[str, Array] | None = None, rounds: int = ROUNDS, is_near: bool = False
        ) -> Fit:
    """Fit terms beside the payload.

    Args:
        rows: at any set-up; start: to begin at; given: values to begin at, by name.
        rounds: at most; 0: the noise stays that of the start.
        is_near: True if the start is near the answer: scales of the priors begin at its, and one
            round is enough where the payload hardly changes by it.
    """
    terms = tuple(sorted(terms, key=lambda term: term.place))
    values: Values = {term.name: term.mean for term in terms}
    scales = {term.name: FIRST_SCALE if np.isfinite(term.strength) else 1.0 for term in terms}
    if start is not None:
        values.update({k: v for k, v in start.values.items()
                       if k in values and v.shape == values[k].shape})
        if is_near:
            scales.update({k: v for k, v in start.scales.items() if k in scales})
    values.update(given or {})
    system = System(rows, terms, np.concatenate([
        np.zeros(10) if start is None else start.phi, *[values[t.name] for t in terms]]), prior)
    mean, spread, least = noise.strengths_before(prior.sheet, rows)
    log = mean if start is None else start.solution.log_noise
    solution, gained, moved = Solution(system, log, scales), np.inf, np.inf
    for number in range(rounds):
        x = system.x
        if is_near and moved < LINEAR and not any(term.odds for term in terms):
            x = solution.x  # only noise and scales change
        elif number:
            system, gained = _stepped(system, solution.x, log, scales, prior)
            x, solution = system.x, Solution(system, log, scales)
        log, scales = solution.strengths(mean, spread), system.learnt_scales(solution, scales)
        is_quiet = start is not None or np.abs(log - solution.log_noise).max() < CLOSE
        solution = Solution(system, log, scales)
        step = solution.x[:10] - x[:10]
        moved = np.sqrt(abs(step @ np.linalg.solve(solution.covariance[:10, :10], step)))
        if is_quiet and (gained < SETTLED or (moved < CLOSE and (number or is_near))):
            break  # or a flat valley, as of an arm at rest
    stretched = ((t.strength, scales[t.name] ** 2) for t in terms
                 if np.isfinite(t.strength) and scales[t.name] > 1.0)
    evidence = solution.evidence - 0.5 * float(np.square((log - mean) / spread).sum()) - sum(
        0.5 * held * (np.log(square) + 1.0 / square - 1.0) for held, square in stretched)
    wide = Solution(system, np.maximum(log, least), {k: max(v, 1.0) for k, v in scales.items()})
    return Fit(terms, solution.x[:10], solution.covariance[:10, :10],
               (wide.x[:10], wide.covariance[:10, :10]), split(terms, solution.x),
               split(terms, np.sqrt(np.diag(solution.covariance))), scales, evidence, system.rows,
               solution)


def _stepped(old: "System", x: Array, log: Array, scales: Mapping[str, float], prior: Prior
             ) -> "tuple[System, float]":
    """The system at x, or part of the way where Gauss-Newton goes too far; its gain in cost."""
    before, share = old.cost(log, scales), x - old.x
    for k in range(HALVINGS):
        new = System(old.rows, old.terms, old.x + 0.5**k * share, prior)
        gained = before - new.cost(log, scales)
        if gained > -SETTLED:
            break
    return new, gained


def split(terms: Sequence[Term], x: Array) -> Values:
    """Values of terms by name, of x (10 + q,)."""
    ends = 10 + np.cumsum([len(term.sd) for term in terms])
    return {term.name: x[end - len(term.sd):end] for term, end in zip(terms, ends, strict=True)}


class System:
    """The linear system of one round at x (10 + q,): modes of payload and terms, and what is known
    before; rows are brought to the set-up that x makes."""

    def __init__(self, rows: Rows, terms: tuple[Term, ...], x: Array, prior: Prior) -> None:
        phi, values = x[:10], split(terms, x)
        setup, old = setup_of(values, terms), rows.setup
        is_near = setup.filter == old.filter and abs(setup.delay - old.delay) < 1e-4 and (
            np.abs(setup.tilt - old.tilt).max() < 1e-3)
        self.rows = rows = rows if is_near else rows.at(setup)
        self.terms, applied = terms, {"tilt": rows.setup.tilt, "delay": np.r_[rows.setup.delay]}
        X, at, load, k = np.empty((*rows.y.shape, len(x))), [phi], rows.A @ phi, 10
        X[..., :10] = rows.A
        for term in terms:
            at.append(applied.get(term.name, values[term.name]))
            effect = term.effect(rows, phi, at[-1], load)
            load = load + effect.wrench
            if effect.through is not None:
                X[..., :k] += effect.through(X[..., :k])
            X[..., k:k + len(term.sd)] = effect.slopes
            k += len(term.sd)
        self.x, self.X = np.concatenate(at), X
        self.y = rows.y - load + X @ self.x
        self.mean = np.concatenate([np.zeros(10), *[term.mean for term in terms]])
        self.spectrum = noise.spectra(rows, prior.sheet)
        # Whitened rows that say: the centre of mass lies in the region.
        self.inside, self.normaliser, region = np.zeros((3, 10)), 0.0, prior.region
        if region is not None:
            mass = max(phi[0], LIGHTEST)
            self.inside[:, :4] = np.c_[-region.centre, np.eye(3)] / (
                mass * region.size[:, None] / np.sqrt(12.0))
            self.normaliser = -3.0 * np.log(mass)

    def deviations(self, scales: Mapping[str, float]) -> Array:
        """Of x (10 + q,) before the data."""
        return np.concatenate([VAGUE, *[scales[term.name] * term.sd for term in self.terms]])

    def cost(self, log: Array, scales: Mapping[str, float]) -> float:
        """Half the square of what x leaves, in deviations, of wrench and priors; exact."""
        variance = noise.variances(self.spectrum, log, self.y.shape[1])
        gap = (self.x - self.mean) / self.deviations(scales)
        residual, outside = self.y - self.X @ self.x, self.inside @ self.x[:10]
        return float(0.5 * (np.sum(residual**2 / variance) + gap @ gap + outside @ outside))

    def learnt_scales(self, solution: "Solution", scales: Mapping[str, float]) -> dict[str, float]:
        """Scale of each prior: the mean square of the values that the data determine (MacKay 1992).

        Above the data sheet, `strength` pseudo-observations hold it back.
        """
        out = dict.fromkeys(scales, 1.0)
        x, variances = (split(self.terms, v) for v in (solution.x, np.diag(solution.covariance)))
        for term in self.terms:
            if np.isfinite(term.strength):
                scale = scales[term.name]
                known = len(term.sd) - float((variances[term.name] / (scale * term.sd)**2).sum())
                square = float(np.square(x[term.name] / term.sd).sum())
                held = term.strength if square > known else 0.0
                new = math.sqrt((held + square) / (held + known + 1e-9))
                out[term.name] = min(max(new, scale / CHANGE, FIRST_SCALE / CHANGE), scale * CHANGE)
        return out


class Solution:
    """Solution of a system at strengths of the noise and scales of the priors: x (10 + q,) and its
    covariance; the logarithm of its evidence.

    Attributes:
        variance: (k, 6) of each mode's noise, of strengths log_noise (2, c); residual: whitened.
    """

    def __init__(self, system: System, log: Array, scales: Mapping[str, float]) -> None:
        self.log_noise, self.spectrum, sd = log, system.spectrum, system.deviations(scales)
        self.variance = noise.variances(system.spectrum, log, system.y.shape[1])
        self.weight = 1.0 / np.sqrt(self.variance)
        yw = (system.y * self.weight).ravel()
        self.Xw = (system.X * self.weight[..., None]).reshape(len(yw), -1) * sd
        inside = system.inside * sd[:10]
        normal = self.Xw.T @ self.Xw
        normal[:10, :10] += inside.T @ inside
        normal.flat[::len(sd) + 1] += 1.0 + EPS * normal.trace()  # wrong units: digits end
        root = np.linalg.cholesky(normal)
        self.inverse = lapack.dtrtri(root, lower=1)[0]
        self.unit = self.inverse.T @ self.inverse
        u = self.unit @ (self.Xw.T @ yw + system.mean / sd)
        self.x, self.covariance = sd * u, self.unit * sd * sd[:, None]
        self.residual, gap = yw - self.Xw @ u, u - system.mean / sd
        outside = inside @ u[:10]
        # Rows that a delay takes away count as the others do: models of several delays compare.
        data = system.rows.lost * (np.log(self.variance).sum() + self.residual @ self.residual)
        self.evidence = float(-0.5 * (data + gap @ gap + outside @ outside)
                              - np.log(np.diag(root)).sum() + system.normaliser)

    @property
    def left(self) -> Array:
        """Residual (k, 6) of each mode, not whitened."""
        return self.residual.reshape(self.variance.shape) / self.weight

    def strengths(self, mean: Array, spread: Array) -> Array:
        """Strengths (2, c) of the noise that the residual tells, by those before the data."""
        taken = np.square(blas.dtrmm(1.0, self.inverse, self.Xw.T, lower=1)).sum(0)
        power, free = (part.reshape(len(self.variance), len(mean), -1).sum(2) for part in (
            self.left**2, np.maximum(1.0 - taken, 0.0)))  # what the fit leaves
        return np.stack([noise.update(self.log_noise[g], self.spectrum, power[:, g], free[:, g],
                                      mean[g], spread) for g in range(len(mean))])


def promise(best: Fit, term: Term, values: Array) -> tuple[float, Array]:
    """Logarithm of what one more term gains in evidence beside a fit, being linear about values;
    all else is linear, too, and the noise as it is. And the values, of which those in which the
    effect is linear are at their best."""
    load, solution, sd = best.rows.A @ best.phi, best.solution, term.sd
    effect, u = term.effect(best.rows, best.phi, values, load), (values - term.mean) / sd
    columns = np.concatenate([effect.slopes * sd, effect.wrench[..., None]], 2)
    flat = (columns * solution.weight[..., None]).reshape(-1, len(u) + 1)
    taken, told = solution.inverse @ (solution.Xw.T @ flat), flat.T @ solution.residual
    G = flat.T @ flat - taken.T @ taken  # less what payload and terms take
    bent, slope = G[:-1, :-1] + np.eye(len(u)), told[:-1] - G[:-1, -1] - u
    step = np.linalg.solve(bent, slope)
    cost = float(G[-1, -1] - 2.0 * told[-1] + u @ u)
    linear = np.arange(len(u)) >= term.curved
    return (0.5 * float(slope @ step - cost - np.linalg.slogdet(bent)[1]),
            values + linear * step * sd)
