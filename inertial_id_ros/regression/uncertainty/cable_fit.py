# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Whether a cable pulls, and how: by the evidence for it in the means over slices.

Payload, states, errors of the calibration and the law of the cable are fitted to the cosine modes
of the means, each mode weighed by noise and walking bias, whose levels are estimated with the
cable and without. The law is nonlinear, so that Gauss-Newton steps are taken from several starts.
A cable is believed where the evidence (the probability of the data, by Laplace's method) is far
greater with it than without it, than with a payload that is poured out, and than with accelerations
that are wrong by a factor, as those of an arm with other lengths are. Hysteresis of the sensor
stands beside it where the data tell it: either alone would be fitted to both.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...inertia import PARAMETERS, Array
from ...linalg import identity, inverse
from ...signals.low_pass import ZeroPhaseFilter
from ..regressor_window import WindowContent
from ..row_layout import ACCELERATION
from .cable import (
    CERTAIN,
    PRIOR_SD,
    TENSION,
    VALUES,
    Cable,
    Places,
    linearise_pull,
    places_of,
    pull,
)
from .walking_bias import FORCE, TORQUE, Levels, estimate_levels, modes, spectra_of

_SHORTEST = 12  # slices
_STILL = 1e-3  # m; where the place of the sensor is not known, a pull looks like weight
# Logarithm of the evidence for a cable over that against it: from which on rounds go on, and by
# which other laws may be worse than the best.
_WORTH_ASKING, _HOPELESS = -4.0, 12.0
_NEAR = 0.02  # standard deviations before the data, between laws that are one
# N, and of the weight; a weaker pull is an error of something else. An arm that is not calibrated
# may look like a pull below the last of them.
_WEAKEST, _WEAKEST_SHARE, _CLEAR_SHARE = 0.4, 0.01, 0.03
_LONGEST_LEVER = 0.35  # m
_ROUNDS, _STEPS = 3, 10  # of the levels; of Gauss and Newton
_LONGEST_STEP = 0.3  # m, of the fixed point
_SETTLED = 0.05  # of the objective
# Starts: the fixed point [m], with 2.5 N and 3 N/m; and those beside a law that is known.
_STARTS = np.array([[0.0, 0.0, 0.5], [0.0, 0.0, 1.0], [0.4, 0.0, 0.4], [-0.4, 0.0, 0.4],
                    [0.0, 0.4, 0.4], [0.0, -0.4, 0.4]])
_BESIDE = np.zeros((3, VALUES))
_BESIDE[:, 2] = 0.0, 0.25, -0.25
_FIRST_LAW = np.r_[2.5, 3.0, 0.0, 0.0, 0.0]
_OTHER_LENGTHS = 0.3  # standard deviation of their factor
# Standard deviations of what half a window pours out, over the mass: mass, and first moments [m].
_POURED = np.array([0.2, 0.02, 0.02, 0.02])
_PLAY = (0.1, 0.3)  # half the play of hysteresis, as a share of the range of a channel's load


class FitInput(NamedTuple):
    """What a cable is fitted to.

    Attributes:
        window: its content; low_pass: the filter of its rows; gravity: [m/s^2].
        matrix: (STORED, n) from stored columns to ``[A | states | y]``.
        prior: (n, n) products of whitened rows that are known before the data.
        calibration: (6, 3, 3) covariance of what each channel reads per acceleration too much.
        levels: of noise and walking bias to begin with; sheet: (6,) white noise by the data sheet;
            walk: (2,) standard deviation of the walks before the data.
        phi: (10,) payload near which the load is taken.
    """

    window: WindowContent
    low_pass: ZeroPhaseFilter
    gravity: float
    matrix: Array
    prior: Array
    calibration: Array
    levels: Levels
    sheet: Array
    walk: Array
    phi: Array


def find_cable(given: FitInput, last: Cable | None = None) -> tuple[Cable | None, bool]:
    """The cable that pulls at the payload, if one does, or may; and whether the payload is poured
    out instead for certain.

    Args:
        last: found in the window before, from which the fit then starts.
    """
    places = places_of(given.window, given.gravity)
    if len(places.position) < _SHORTEST or np.ptp(places.position, axis=0).max() < _STILL:
        return None, False
    models = _without_cable(given)
    without, levels = max(evidence for _, _, evidence in models), models[0][1]
    laws = np.column_stack([_STARTS, np.tile(_FIRST_LAW, (len(_STARTS), 1))])
    if last is not None:
        laws = np.vstack([last.seen_from(places).law + _BESIDE, laws])
    best = _most_probable([found for rows, levels, evidence in models
                           for found in _fit_laws(rows, places, laws, levels, given, evidence)])
    with_cable = -np.inf if best is None else best.evidence
    if last is None:
        poured = _evidence_of_trend(given, levels, _pouring(given))
        if poured > max(without + CERTAIN, with_cable) and poured > CERTAIN + _evidence_of_trend(
                given, levels, np.diag(np.repeat(given.walk, 3))):  # of the zero
            return None, True
    if best is None or with_cable < without + _WORTH_ASKING:
        return None, False
    states = slice(PARAMETERS, given.matrix.shape[1] - 1)
    cable = Cable(best.law, places, pull(best.law[None], places)[0], best.covariance,
                  best.change[:PARAMETERS], best.solution[states], best.sigma[states],
                  with_cable - without)
    weight = given.gravity * float(given.phi[0] + cable.change[0])
    if (cable.tension < max(_WEAKEST, _WEAKEST_SHARE * weight)
            or cable.lever > _LONGEST_LEVER):
        return None, False
    if last is None and with_cable < _evidence_of_other_lengths(given, levels, places):
        return None, False
    if cable.law[TENSION] < 0.0 or (last is None and cable.tension < _CLEAR_SHARE * weight):
        return cable._replace(evidence=min(cable.evidence, CERTAIN)), False
    return cable, False


class _Found(NamedTuple):
    """A law (8,), the logarithm of its evidence, the covariance (10, 10) of phi that comes of what
    is not known of the law, the solution (m,) beside it with its standard deviations (m,), and its
    change (m,) by the cable."""

    law: Array
    evidence: float
    covariance: Array
    solution: Array
    sigma: Array
    change: Array


class Rows:
    """Cosine modes of the means over slices, with the constant one first.

    Args:
        more: (s, 6, k) further columns, with a prior standard deviation of 1.

    Attributes:
        means: (6, s, n + 18 + k) ``[A | states | calibration | more | y]``.
        columns: (s, 6, n + 17 + k) modes of all but y; target: (s, 6) those of y.
        prior: (n + 18 + k, ...) products of what is known before the data.
    """

    def __init__(self, given: FitInput, more: Array | None = None) -> None:
        slices = given.window.slices
        means = (slices.sums @ given.matrix) / slices.samples[:, None, None]
        count, n = len(means), means.shape[2]
        acceleration = slices.sums[:, 0, ACCELERATION] / slices.samples[:, None]
        calibration = np.zeros((count, 6, 6, 3))
        channel = np.arange(6)
        calibration[:, channel, channel] = np.einsum(
            "sa,cab->scb", acceleration, np.linalg.cholesky(given.calibration))
        parts: list[Array] = [means[..., :-1], calibration.reshape(count, 6, 18)]
        if more is not None:
            parts.append(more)
        columns = np.concatenate(parts, axis=2)
        self.means = np.concatenate([columns, means[..., -1:]], axis=2).transpose(1, 0, 2)
        self.columns, self.target = _all_modes(columns), _all_modes(means[..., -1])
        size = columns.shape[2] + 1
        self.prior = np.zeros((size, size))
        known = np.r_[np.arange(n - 1), size - 1]
        self.prior[np.ix_(known, known)] = given.prior
        extra = np.arange(n - 1, size - 1)
        self.prior[extra, extra] = 1.0
        self._log_prior = float(np.linalg.slogdet(self.prior[:-1, :-1])[1])
        self._spectra = spectra_of(given.window, given.low_pass)

    def variances(self, levels: Levels) -> Array:
        """Variances (s, 6) of the modes of the residual."""
        out = np.empty(self.target.shape)
        for group, level in zip((FORCE, TORQUE), levels, strict=True):
            modes_of = self._spectra.variance(level)
            out[1:, group] = modes_of[:, None]
            out[0, group] = modes_of[0]
        return out

    def weighed(self, levels: Levels) -> _Weighed:
        """The normal equations at these levels."""
        variance = self.variances(levels)
        root = 1.0 / np.sqrt(variance)
        columns = (self.columns * root[..., None]).reshape(-1, self.columns.shape[2])
        target = (self.target * root).ravel()
        information = columns.T @ columns + self.prior[:-1, :-1]
        vector = columns.T @ target + self.prior[:-1, -1]
        covariance = inverse(information)
        solution = covariance @ vector
        cost = float(target @ target + self.prior[-1, -1] - vector @ solution)
        log = -0.5 * (float(np.log(variance).sum()) + float(np.linalg.slogdet(information)[1])
                      - self._log_prior)
        return _Weighed(root, columns, target, covariance, solution, cost, log)


class _Weighed(NamedTuple):
    """Normal equations of payload, states and calibration at some levels.

    Attributes:
        root: (s, 6) weights; columns: (6 s, m) weighed; target: (6 s,).
        covariance: (m, m) and solution: (m,) of the fit without a cable.
        cost: sum of squares that it leaves; log: logarithm of the evidence, but for the cost.
    """

    root: Array
    columns: Array
    target: Array
    covariance: Array
    solution: Array
    cost: float
    log: float

    @property
    def evidence(self) -> float:
        """Logarithm of the evidence."""
        return self.log - 0.5 * self.cost

    def project(self, wrench: Array, slopes: Array) -> tuple[Array, Array, Array]:
        """What modes of a wrench (s, 6) and its derivatives (s, 6, k) leave, payload and states
        being fitted beside them: information (k, k), gradient (k,) and (m, k) cross products."""
        slope = (slopes * self.root[..., None]).reshape(-1, slopes.shape[2])
        left = self.target - (wrench * self.root).ravel()
        cross = self.columns.T @ slope
        solved = self.covariance @ cross
        # gradient of the cost at the best payload: slope' (left - columns solution(left))
        vector = self.columns.T @ (left - self.target)
        residual = left - self.columns @ (self.solution + self.covariance @ vector)
        return slope.T @ slope - cross.T @ solved, slope.T @ residual, cross

    def cost_with(self, wrench: Array) -> float:
        """Sum of squares that is left with modes (s, 6) of a wrench taken out."""
        shift = (wrench * self.root).ravel()
        vector = self.columns.T @ shift
        return self.cost + float(shift @ (shift - 2.0 * self.target)
                                 + 2.0 * vector @ self.solution
                                 - vector @ self.covariance @ vector)


def _all_modes(means: Array) -> Array:
    """Orthonormal modes (s, ...) of means over slices (s, ...), the constant one first."""
    constant = means.sum(axis=0, keepdims=True) / np.sqrt(len(means))
    return np.concatenate([constant, modes(means)])


def _climb(weighed: _Weighed, places: Places, law: Array, surprise: float) -> _Found:
    """The law after a few damped steps of Gauss and Newton.

    Args:
        surprise: by the levels, see `_surprise`.
    """
    precision, damping = PRIOR_SD**-2.0, 1e-2
    wrench, slopes = map(_all_modes, linearise_pull(law, places))
    now = weighed.cost_with(wrench) + float(precision @ law**2)
    for _ in range(_STEPS):
        information, gradient, _ = weighed.project(wrench, slopes)
        information += np.diag(precision)
        information += damping * np.diag(information.diagonal())
        step = np.linalg.solve(information, gradient - precision * law)
        step *= min(1.0, _LONGEST_STEP / max(float(np.abs(step[:3]).max()), 1e-9))
        other = law + step
        wrench_there, slopes_there = map(_all_modes, linearise_pull(other, places))
        there = weighed.cost_with(wrench_there) + float(precision @ other**2)
        if there > now:
            damping *= 10.0
            continue
        gain, law, now = now - there, other, there
        wrench, slopes, damping = wrench_there, slopes_there, 0.2 * damping
        if gain < _SETTLED:
            break
    information, _, cross = weighed.project(wrench, slopes)
    of_law = inverse(information + np.diag(precision))
    turn = weighed.covariance @ cross
    covariance = turn @ of_law @ turn.T
    # Rounding may leave less than nothing of a state that is known exactly.
    sigma = np.sqrt(np.maximum((weighed.covariance + covariance).diagonal(), 0.0))
    evidence = (weighed.log - 0.5 * now + 0.5 * float(np.linalg.slogdet(of_law)[1])
                - float(np.log(PRIOR_SD).sum()) - surprise)
    shift = weighed.columns.T @ (wrench * weighed.root).ravel()
    change = -weighed.covariance @ shift
    return _Found(law, evidence, covariance[:PARAMETERS, :PARAMETERS], weighed.solution + change,
                  sigma, change)


def _fit_laws(rows: Rows, places: Places, laws: Array, levels: Levels, given: FitInput,
              without: float) -> list[_Found]:
    """Laws from several first ones (l, 8) on, the most probable one first, with the levels that go
    with it. A cable does not push: laws that pull come before those that do not.

    Args:
        without: logarithm of the evidence without a cable; there are none where the first levels
            already tell that there is no cable.
    """
    best: list[_Found] = []
    for _ in range(_ROUNDS):
        weighed = rows.weighed(levels)
        found = sorted((_climb(weighed, places, law, _surprise(levels, given)) for law in laws),
                       key=lambda one: -one.evidence)
        found = [one for one in found if one.evidence > found[0].evidence - _HOPELESS]
        found = [one for one in found if one.law[TENSION] > 0.0] or found
        if not best or found[0].evidence > best[0].evidence:
            best = found
        if best[0].evidence < without + _WORTH_ASKING:
            return []
        laws = _distinct(found)
        levels = _levels_with(rows, given, levels, weighed, *linearise_pull(laws[0], places))
    return best


def _most_probable(found: list[_Found]) -> _Found | None:
    """The most probable law, with the covariance of phi by all of them.

    How high the fixed point is shows only in accelerations and in how the pull turns: in short and
    slow motions laws that are far apart fit as well, and what phi differs by is not known.
    """
    first = max(found, key=lambda one: one.evidence, default=None)
    if first is None:
        return None
    covariance = first.covariance.copy()
    for one in found:
        apart = one.solution[:PARAMETERS] - first.solution[:PARAMETERS]
        covariance += np.exp(one.evidence - first.evidence) * np.outer(apart, apart)
    return first._replace(covariance=covariance)


def _distinct(found: list[_Found]) -> Array:
    """The laws (l, 8), without those that are near an earlier one."""
    laws: list[Array] = []
    for one in found:
        if all((np.abs(one.law - law) > _NEAR * PRIOR_SD).any() for law in laws):
            laws.append(one.law)
    return np.array(laws)


def _levels_with(rows: Rows, given: FitInput, levels: Levels, weighed: _Weighed,
                 wrench: Array, slopes: Array) -> Levels:
    """The levels of the residual without the wrench (s, 6) of a law with these slopes (s, 6, 8)."""
    means = np.concatenate([rows.means[..., :-1], slopes.transpose(1, 0, 2),
                            rows.means[..., -1:] - wrench.T[..., None]], axis=2)
    slope = (_all_modes(slopes) * weighed.root[..., None]).reshape(-1, VALUES)
    shift = weighed.columns.T @ (_all_modes(wrench) * weighed.root).ravel()
    solution = np.r_[weighed.solution - weighed.covariance @ shift, np.zeros(VALUES), -1.0]
    cross = weighed.columns.T @ slope
    m = len(cross)
    information = np.zeros((m + VALUES, m + VALUES))
    information[:m, :m] = weighed.columns.T @ weighed.columns + rows.prior[:-1, :-1]
    information[:m, m:], information[m:, :m] = cross, cross.T
    information[m:, m:] = slope.T @ slope + np.diag(PRIOR_SD**-2.0)
    return estimate_levels(means, inverse(information), solution, given.window, given.low_pass,
                           levels, given.sheet, given.walk)


def settle_levels(rows: Rows, given: FitInput, rounds: int = _ROUNDS) -> tuple[Levels, float]:
    """The levels without a cable, and the logarithm of the evidence at the best of them."""
    levels, best = given.levels, (given.levels, -np.inf)
    for left in reversed(range(rounds)):
        weighed = rows.weighed(levels)
        evidence = weighed.evidence - _surprise(levels, given)
        if evidence > best[1]:
            best = levels, evidence
        if left:
            levels = estimate_levels(
                rows.means, weighed.covariance, np.append(weighed.solution, -1.0), given.window,
                given.low_pass, levels, given.sheet, given.walk)
    return best


def _without_cable(given: FitInput) -> list[tuple[Rows, Levels, float]]:
    """The rows, their levels, and the logarithm of the evidence without a cable: without
    hysteresis, and with that of the more probable play."""
    plain = Rows(given)
    levels, evidence = settle_levels(plain, given)
    found = []
    for columns in np.split(plays(given), len(_PLAY), axis=2):
        rows = Rows(given, columns)
        found.append((rows, *settle_levels(rows, given._replace(levels=levels))))
    return [(plain, levels, evidence), max(found, key=lambda one: one[2])]


def plays(given: FitInput) -> Array:
    """What plays of the widths of `_PLAY` add to the load: columns (s, 6, 6 k), those of the
    channels one after the other."""
    slices, out = given.window.slices, []
    load = (slices.sums[..., :PARAMETERS] @ given.phi) / slices.samples[:, None]
    for share in _PLAY:
        half = share * np.ptp(load, axis=0)
        moved, at = np.empty_like(load), load[0]
        for k, now in enumerate(load):
            at = moved[k] = np.clip(at, now - half, now + half)
        out.append((moved - load)[:, :, None] * identity(6))
    return np.concatenate(out, axis=2)


def _surprise(levels: Levels, given: FitInput) -> float:
    """Negative logarithm of the probability of these walks before the data."""
    total = 0.0
    for level, walk in zip(levels, given.walk.tolist(), strict=True):
        if walk > 0.0 and level.walk.variance > 0.0:
            total += 0.5 * (0.5 * np.log(level.walk.variance / walk**2)) ** 2
    return total


def other_lengths(given: FitInput, places: Places) -> Array:
    """Wrench (s, 6, 1) by accelerations that are wrong by a factor, as those of an arm of other
    lengths are; for its standard deviation."""
    slices = given.window.slices
    proper = slices.sums[:, 0, ACCELERATION] / slices.samples[:, None]
    load = _OTHER_LENGTHS * (proper - given.gravity * places.axes[:, 2])
    return np.hstack([given.phi[0] * load, np.cross(given.phi[1:4], load)])[..., None]


def _evidence_of_other_lengths(given: FitInput, levels: Levels, places: Places) -> float:
    """Logarithm of the evidence with other lengths of the arm, instead."""
    return settle_levels(Rows(given, other_lengths(given, places)),
                         given._replace(levels=levels))[1]


def _pouring(given: FitInput) -> Array:
    """Wrench (slices, 6, 4) of what half a window pours out, by its standard deviations."""
    slices = given.window.slices
    return (slices.sums[..., :_POURED.size] / slices.samples[:, None, None]
            * (given.phi[0] * _POURED))


def _evidence_of_trend(given: FitInput, levels: Levels, change: Array) -> float:
    """Logarithm of the evidence with something that evenly becomes another thing, instead.

    Args:
        change: (slices, 6, n) or (6, n) of the wrench by its standard deviations, in half a window.
    """
    time = np.linspace(-1.0, 1.0, len(given.window.slices.samples))[:, None, None]
    return settle_levels(Rows(given, time * change), given._replace(levels=levels))[1]
