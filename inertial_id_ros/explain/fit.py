# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Payload, terms and noise of a window: Gauss-Newton rounds, each computed anew from the bins."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from ..model import noise
from ..model.history import Window
from ..model.rows import Rows
from ..model.setup import Setup
from ..model.sheet import Sheet
from ..motion.motion import Array
from .term import Term, Values

VAGUE = np.r_[30.0, np.full(3, 5.0), np.full(6, 3.0)]  # deviations of phi before the data
LIGHTEST = 0.05  # kg
ROUNDS, CLOSE = 6, 0.3  # a change of phi, in deviations, which ends them
CLOSE_TO_START = 1.0  # the same of the first round, where that began near the answer
SETTLED = 0.05  # of a cost
FIRST_SCALE, LEAST_SCALE, SHRINK, GROW = 0.3, 0.03, 0.1, 10.0  # of a prior; change in a round
LATEST = 0.3  # s
HALVINGS = 4  # of a step
INNER, SAME = 4, 0.2  # rounds of noise and scales at one linearisation; change that ends them
BANDS = (1e-6, 0.02, 0.045, 0.09, 0.17, 0.3, 0.5, 0.8, 1.3, 2.1, 3.0)  # Hz, edges
SCALES = (1.0, 0.3, 0.1, 0.03)  # of a prior, at which a linear term is screened


@dataclass(frozen=True, eq=False)
class Region:
    """A box in which the centre of mass lies: its centre and lengths (3,) [m]."""

    centre: Array
    size: Array

    def rows(self, phi: Array) -> Array:
        """Whitened rows (3, 10) that say so, for a payload of about phi."""
        deviation = max(phi[0], LIGHTEST) * self.size[:, None] / np.sqrt(12.0)
        return np.asarray(np.c_[-self.centre, np.eye(3), np.zeros((3, 6))] / deviation)


@dataclass(frozen=True, eq=False)
class Fit:
    """What a fit tells.

    Attributes:
        terms: in their order; phi, covariance: with all terms marginalised, priors at the scales
            that the data tell; wide: both, with scales not below those of the data sheet.
        values, sigma, scales: by the names of terms. log_noise: (2, c) strengths.
        evidence: logarithm; rows: at the set-up of the values; solution: of the last round.
    """

    terms: tuple[Term, ...]
    phi: Array
    covariance: Array
    wide: tuple[Array, Array]
    values: Values
    sigma: Values
    scales: dict[str, float]
    log_noise: Array
    evidence: float
    rows: Rows
    solution: Solution

    @property
    def names(self) -> frozenset[str]:
        """Names of the terms."""
        return frozenset(term.name for term in self.terms)

    def doubt(self) -> Array:
        """Covariance (10, 10) of phi by what the laws of the terms leave out."""
        return np.asarray(sum((term.doubt(self.rows, self.phi, self.values[term.name])
                               for term in self.terms), np.zeros((10, 10))))


def setup_of(values: Values, terms: Sequence[Term]) -> Setup:
    """The set-up that values make."""
    own = [term for term in terms if hasattr(term, "filter")]
    delay = float(np.clip(values.get("delay", np.zeros(1))[0], -LATEST, LATEST))
    return Setup(values.get("tilt", np.zeros(2)), delay,
                 own[0].filter(values[own[0].name]) if own else ())


def fit(window: Window, terms: Sequence[Term], sheet: Sheet, region: Region | None, *,
        start: Fit | None = None, rounds: int = ROUNDS, given: Mapping[str, Array] | None = None,
        log_noise: Array | None = None, first: Array | None = None, rows: Rows | None = None,
        is_near: bool = False) -> Fit:
    """Fit terms beside the payload.

    Args:
        start: to begin at; given: values to begin at, by name; log_noise: to keep;
            first: (10,) payload to begin at; rows: of the window, at any set-up;
            is_near: True if one round is enough where the payload hardly changes by it.
    """
    terms = tuple(sorted(terms, key=lambda term: term.place))
    values: Values = {term.name: term.mean for term in terms}
    scales = {t.name: FIRST_SCALE if np.isfinite(t.strength) else 1.0 for t in terms}
    phi: Array = np.zeros(10) if first is None else first
    log = log_noise
    if start is not None:
        values.update({k: v for k, v in start.values.items()
                       if k in values and v.shape == values[k].shape})
        scales.update({k: v for k, v in start.scales.items() if k in scales})
        phi, rows = start.phi, rows or start.rows
        log = start.log_noise if log is None else log
    values.update(given or {})
    x = np.concatenate([phi, *[values[term.name] for term in terms]])
    system = _system(rows or Rows(window, setup_of(values, terms)), terms, x, sheet, region)
    mean, spread = noise.strengths_before(sheet, system.rows.time[-1] - system.rows.time[0])
    log = mean if log is None else log
    for number in range(max(rounds, 1)):
        if number:
            for _ in range(HALVINGS):  # Gauss-Newton may go too far: then half as far
                new = _system(system.rows, terms, x, sheet, region)
                if new.cost(log, scales) < system.cost(log, scales) + SETTLED:
                    break
                x = 0.5 * (x + system.x)
            system = new
        bands = Bands(system, log)
        for _ in range(INNER if number else 1):
            x, covariance = bands.solve(log, scales)
            before = log
            if log_noise is None:
                log = bands.strengths(log, x, covariance, mean, spread)
            scales = system.learnt_scales(x, covariance, scales)
            if np.abs(log - before).max() < SAME:
                break
        x, covariance = bands.solve(log, scales)
        moved = distance(x[:10] - system.x[:10], covariance[:10, :10])
        if moved < (CLOSE if number else CLOSE_TO_START if is_near else 0.0):
            break
    return _conclude(system, scales, log, mean, spread)


def _system(rows: Rows, terms: tuple[Term, ...], x: Array, sheet: Sheet, region: Region | None
            ) -> System:
    """The system at values x, with rows at the set-up that they make."""
    values = split(terms, x)
    now = setup_of(values, terms)
    return System(rows if now.is_near(rows.setup) else rows.at(now), terms, x[:10], values, sheet,
                  region)


def _conclude(system: System, scales: dict[str, float], log: Array, mean: Array, spread: Array
              ) -> Fit:
    solution = system.solve(log, scales)
    evidence = (solution.evidence - noise.cost_of_choice(
        log, mean, spread, system.spectrum, solution.freedom) - system.cost_of_scales(scales))
    sigma = split(system.terms, np.sqrt(np.diag(solution.covariance)))
    stated = system.deviations({k: max(scale, 1.0) for k, scale in scales.items()})
    least = noise.least_strengths(mean, system.rows.time[-1] - system.rows.time[0])
    wide = (Solution(system, np.maximum(log, least), stated) if (log < least).any() else solution
            ).at(stated)
    return Fit(system.terms, solution.x[:10], solution.covariance[:10, :10],
               (wide[0][:10], wide[1][:10, :10]), split(system.terms, solution.x), sigma, scales,
               log, evidence, system.rows, solution)


def split(terms: Sequence[Term], x: Array) -> Values:
    """Values of terms by name, of x (10 + q,)."""
    out, k = {}, 10
    for term in terms:
        out[term.name], k = x[k:k + len(term.sd)], k + len(term.sd)
    return out


class System:
    """The linear system of one round: modes of payload and terms, and what is known before."""

    def __init__(self, rows: Rows, terms: tuple[Term, ...], phi: Array, values: Values,
                 sheet: Sheet, region: Region | None) -> None:
        self.rows, self.terms = rows, terms
        size = 10 + sum(len(term.sd) for term in terms)
        X, at, load, k = np.empty((*rows.y.shape, size)), [phi], rows.A @ phi, 10
        X[..., :10] = rows.A
        applied = {"tilt": rows.setup.tilt, "delay": np.r_[rows.setup.delay]}
        for term in terms:
            at.append(applied.get(term.name, values[term.name]))
            effect = term.effect(rows, phi, at[-1], load)
            if effect.wrench is not None:
                load = load + effect.wrench
            if effect.through is not None:
                X[..., :k] += effect.through(X[..., :k])
            q = effect.slopes.shape[2]
            X[..., k:k + q] = effect.slopes
            k += q
        self.x, self.residual = np.concatenate(at), rows.y - load
        self.X, self.y = X, self.residual + X @ self.x
        self.mean = np.concatenate([np.zeros(10), *[term.mean for term in terms]])
        self.unit = np.concatenate([VAGUE, *[term.sd for term in terms]])
        self.spectrum = noise.spectra(rows, sheet)
        self.inside = np.zeros((3, 10)) if region is None else region.rows(phi)
        self.normaliser = 0.0 if region is None else -3.0 * np.log(max(phi[0], LIGHTEST))

    def deviations(self, scales: Mapping[str, float]) -> Array:
        """Those of x before the data, at scales of the priors."""
        return np.concatenate([VAGUE, *[scales[term.name] * term.sd for term in self.terms]])

    def cost(self, log: Array, scales: Mapping[str, float]) -> float:
        """Half the square of what x leaves, in deviations, of wrench and priors; exact."""
        variance = np.repeat(self.spectrum @ np.exp(log).T, 3, 1)
        gap, outside = (self.x - self.mean) / self.deviations(scales), self.inside @ self.x[:10]
        return float(0.5 * (np.sum(self.residual**2 / variance) + gap @ gap + outside @ outside))

    def posterior(self, normal: Array, target: Array, sd: Array) -> tuple[Array, Array, Array]:
        """x of a normal matrix and target by deviations before the data, its covariance, and the
        root of the normal matrix of x over its deviations."""
        scaled, inside = normal * sd * sd[:, None], self.inside * sd[:10]
        scaled[:10, :10] += inside.T @ inside
        scaled.flat[::len(sd) + 1] += 1.0
        root = np.linalg.cholesky(scaled)
        half = solve_triangular(root, np.diag(sd), lower=True, check_finite=False)
        covariance = half.T @ half
        return covariance @ (target + self.mean / sd**2), covariance, root

    def solve(self, log: Array, scales: Mapping[str, float]) -> Solution:
        """The solution at strengths of the noise and scales of the priors."""
        return Solution(self, log, self.deviations(scales))

    def learnt_scales(self, x: Array, covariance: Array, scales: Mapping[str, float]
                      ) -> dict[str, float]:
        """Scale of each prior: the mean square of the values that the data determine (MacKay 1992).

        Above the data sheet, `strength` pseudo-observations hold it back.
        """
        out: dict[str, float] = {}
        squares = np.square(x / self.unit)[10:]
        variances = (np.diagonal(covariance) / self.unit**2)[10:]
        at = 0
        for term in self.terms:
            out[term.name], q = 1.0, len(term.sd)
            if np.isfinite(term.strength):
                scale = scales[term.name]
                known = q - float(variances[at:at + q].sum()) / scale**2
                square = float(squares[at:at + q].sum())
                held = term.strength if square > known else 0.0
                new = math.sqrt((held + square) / (held + known + 1e-9))
                out[term.name] = min(max(new, scale * SHRINK, LEAST_SCALE), scale * GROW)
            at += q
        return out

    def cost_of_scales(self, scales: Mapping[str, float]) -> float:
        """What stretched priors take off the evidence."""
        return sum(0.5 * t.strength * (np.log(scales[t.name] ** 2) + scales[t.name] ** -2 - 1.0)
                   for t in self.terms if np.isfinite(t.strength) and scales[t.name] > 1.0)


def distance(step: Array, covariance: Array) -> float:
    """Length of a step (10,) in deviations."""
    return float(np.sqrt(abs(step @ np.linalg.solve(covariance, step))))


class Bands:
    """A system in bands of frequency, in each of which strengths of the noise change alike: made
    once for many strengths and scales."""

    def __init__(self, system: System, log: Array) -> None:
        self.system, X = system, system.X
        p = X.shape[2]
        variance = system.spectrum @ np.exp(log).T  # (k, 2)
        rows = np.concatenate([X, system.y[..., None]], 2) / np.sqrt(
            np.repeat(variance, 3, 1))[..., None]
        number = np.digitize(system.rows.frequency, BANDS)
        normal, spectrum, count = [], [], []
        for band in np.unique(number):
            which = number == band
            for g in (0, 1):
                some = rows[which, 3 * g:3 * g + 3].reshape(-1, p + 1)
                normal.append(some.T @ some)
                spectrum.append((system.spectrum[which] / variance[which, g, None]).mean(0))
                count.append(len(some))
        self.normal, self.count = np.array(normal), np.array(count).reshape(-1, 2)
        self.spectrum = np.array(spectrum).reshape(-1, 2, system.spectrum.shape[1])

    def solve(self, log: Array, scales: Mapping[str, float]) -> tuple[Array, Array]:
        """x (10 + q,) and its covariance at strengths of the noise and scales of the priors."""
        weight = 1.0 / np.einsum("bgc,gc->bg", self.spectrum, np.exp(log)).ravel()
        both = np.tensordot(weight, self.normal, 1)
        return self.system.posterior(both[:-1, :-1], both[:-1, -1],
                                     self.system.deviations(scales))[:2]

    def strengths(self, log: Array, x: Array, covariance: Array, mean: Array, spread: Array
                  ) -> Array:
        """Strengths (2, c) of the noise that the residual of x tells."""
        full = np.append(x, -1.0)
        power = ((self.normal @ full) @ full).reshape(-1, 2)
        p = len(x)
        taken = self.normal[:, :p, :p].reshape(len(self.normal), -1) @ covariance.ravel()
        free = np.maximum(self.count - taken.reshape(-1, 2) / np.einsum(
            "bgc,gc->bg", self.spectrum, np.exp(log)), 1e-3)
        return np.stack([noise.update(log[g], self.spectrum[:, g], power[:, g], free[:, g],
                                      mean[g], spread) for g in (0, 1)])


class Solution:
    """Solution of a system: x (10 + q,) and its covariance; the logarithm of its evidence."""

    def __init__(self, system: System, log: Array, sd: Array) -> None:
        self._system = system
        self.spectrum = system.spectrum
        self.variance = np.repeat(system.spectrum @ np.exp(log).T, 3, 1)  # (k, 6)
        self.weight = 1.0 / np.sqrt(self.variance)
        X = (system.X * self.weight[..., None]).reshape(-1, system.X.shape[2])
        yw = (system.y * self.weight).ravel()
        self._normal, self._target = X.T @ X, X.T @ yw
        self.x, self.covariance, root = self.at(sd)
        self.inverse = solve_triangular(root, np.eye(len(sd)), lower=True, check_finite=False)
        self.Xw, self.unit = X * sd, self.inverse.T @ self.inverse
        self.residual, gap = yw - X @ self.x, (self.x - system.mean) / sd
        outside = system.inside @ self.x[:10]
        square = self.residual @ self.residual + gap @ gap + outside @ outside
        self.evidence = float(-0.5 * (np.log(self.variance).sum() + square)
                              - np.log(np.diag(root)).sum() + system.normaliser)

    def at(self, sd: Array) -> tuple[Array, Array, Array]:
        """See `System.posterior`, by other deviations (10 + q,) before the data."""
        return self._system.posterior(self._normal, self._target, sd)

    @property
    def freedom(self) -> Array:
        """Degrees of freedom (k, 6) that the fit leaves to each residual, at most one."""
        taken = ((self.Xw @ self.unit) * self.Xw).sum(1)
        return np.asarray(np.maximum(1.0 - taken.reshape(self.variance.shape), 0.0))


class _Screen:
    """One more term beside a fit, all else being linear and the noise as it is."""

    def __init__(self, best: Fit, term: Term) -> None:
        self.best, self.term = best, term
        self.load = best.rows.A @ best.phi

    def look(self, values: Array) -> tuple[Array, Array, Array, float]:
        """Normal matrix, gradient, values in deviations and cost, less what payload and other terms
        take."""
        term, s = self.term, self.best.solution
        effect = term.effect(self.best.rows, self.best.phi, values, self.load)
        wrench = np.zeros(self.load.shape) if effect.wrench is None else effect.wrench
        B = np.concatenate([effect.slopes * term.sd, wrench[..., None]], 2) * s.weight[..., None]
        B = B.reshape(-1, len(values) + 1)
        taken = s.inverse @ (s.Xw.T @ B)
        G, told = B.T @ B - taken.T @ taken, B.T @ s.residual
        u = (values - term.mean) / term.sd
        return (G[:-1, :-1], told[:-1] - G[:-1, -1], u,
                float(G[-1, -1] - 2.0 * told[-1] + u @ u))


def climb(best: Fit, term: Term, values: Array, steps: int = 10, longest: float = 0.5
          ) -> tuple[Array, float]:
    """The value of one more term beside a fit, and the logarithm of what it gains in evidence.

    Damped Gauss-Newton steps (Levenberg, Marquardt) of at most `longest` prior deviations.
    """
    screen = _Screen(best, term)
    square, slope, u, cost = screen.look(values)
    identity = np.eye(len(u))
    if term.is_linear:  # the summit itself, at the best scale of its prior
        told = []
        for scale in SCALES if np.isfinite(term.strength) else (1.0,):
            root = np.linalg.cholesky(square * scale**2 + identity)
            half = np.linalg.solve(root, (slope + square @ u) * scale)
            gain = float(0.5 * half @ half - np.log(np.diag(root)).sum())
            told.append((gain, scale * np.linalg.solve(root.T, half)))
        gain, u = max(told, key=lambda t: t[0])
        return term.mean + u * term.sd, gain
    damping = 1e-2
    for _ in range(steps):
        bent = square + identity
        step = np.linalg.solve(bent + damping * np.diag(np.diag(bent)), slope - u)
        step *= min(1.0, longest / max(float(np.abs(step).max()), 1e-12))
        there = screen.look(values + step * term.sd)
        if there[-1] > cost:
            damping *= 10.0
            continue
        gained, values, damping = cost - there[-1], values + step * term.sd, damping / 5.0
        square, slope, u, cost = there
        if gained < SETTLED:
            break
    near = np.linalg.solve(square + identity, slope - u)
    curved = float(np.linalg.slogdet(square + identity)[1])
    return values, 0.5 * (float((slope - u) @ near) - cost - curved)
