# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Errors of the set-up: which explain a window far better than the set-up as stated does.

All are tried by least squares on thinned rows, by one prior and likelihood, whose noise is at least
what usual terms may leave; the best are fitted. Bodies that cannot be cost evidence: a negative
mass, or a centre of mass out of reach.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import NamedTuple

import numpy as np
from scipy.constants import foot, hecto, inch, kilo, lbf, milli
from scipy.ndimage import uniform_filter1d
from scipy.special import log_ndtr

from ..model.history import Window
from ..model.newton_euler import GRAVITY, regressor, static_wrench, weight_columns
from ..model.rows import FEWEST, Rows, is_enough
from ..model.setup import Correction, Setup
from ..motion.motion import BIN, Array, Motion
from .causes import CompensatedWeight, SensorFilter
from .fit import ROUNDS, VAGUE, Fit, Prior, Region, fit
from .residual import surprise
from .terms import Term, Values, usual_terms

SURPRISING, STRETCHED, LATE = 0.4, 2.5, 0.1  # of the data sheet; scale of a prior; s
UNBELIEVABLE = -2.0  # logarithm
EXPLAINED = 0.6  # of the data sheet, by all errors but that of a clock: nothing else is wrong then
STEP, BOX = 12, 9  # bins from row to row, and of a moving mean that is taken twice
INDEPENDENT = 0.4  # s, between residuals that do not repeat one another
USUAL = 0.01  # of the wrench, which usual terms may leave
MASS, WIDE = 2.0, 1.5  # kg, usual; and within what factor's logarithm
WORST = 20.0  # logarithm, of a centre of mass outside of where it can be
FARTHEST, COARSE, USUAL_CLOCK = 200, 8, 12  # bins, of a clock
SMALLEST = 0.14  # rad; smaller turns are usual terms
OVERLAP = 0.45  # of the rows that an offset must leave
CLEAR, NEAR, MOST = 8.0, 15.0, 4  # odds over the set-up as stated, below the best; errors to fit
REPEATS = 8
G = float(np.linalg.norm(GRAVITY))
UNITS = {  # readings for 1 N and for 1 N m
    "N and N mm": (1.0, kilo), "N and N cm": (1.0, hecto), "mN and N mm": (kilo, kilo),
    "kN and N m": (milli, 1.0), "kN and kN m": (milli, milli), "kgf and N m": (1.0 / G, 1.0),
    "kgf and kgf m": (1.0 / G, 1.0 / G), "kgf and kgf cm": (1.0 / G, hecto / G),
    "lbf and lbf in": (1.0 / lbf, 1.0 / lbf / inch),
    "lbf and lbf ft": (1.0 / lbf, 1.0 / lbf / foot)}
ODDS = -5.0  # logarithm, of each kind before the data, shared by its variants


@dataclass(frozen=True, eq=False)
class SetupError:
    """A hypothesis.

    Attributes:
        kind: of its finding; "": usual terms hold it; units: of the readings.
        correction: that turns it right, but for a payload whose weight the driver takes off.
        odds: logarithm, with the prior; x: least squares of payload, further columns and zero.
    """

    kind: str
    correction: Correction
    odds: float
    x: Array
    units: str = ""


class Model(NamedTuple):
    """A fit with the logarithm of its odds; error: None for the set-up as stated."""

    fit: Fit
    odds: float
    error: SetupError | None = None

    def fitted(self, new: Fit) -> Model:
        """The same with another fit of the same terms."""
        return self._replace(fit=new, odds=self.odds - self.fit.evidence + new.evidence)


def rivals(window: Window, prior: Prior) -> list[Model]:
    """The set-up as stated, and others that explain the data better; the best comes first.

    They are compared on the same bins.
    """
    stated = _model(None, window, prior)
    late = abs(float(stated.fit.values.get("delay", np.zeros(1))[0]))
    if not (surprise(stated.fit, prior.sheet) > SURPRISING or late > LATE
            or max(stated.fit.scales.values()) > STRETCHED or _belief_in_body(
                stated.fit.phi, stated.fit.covariance, prior.region) < UNBELIEVABLE):
        return [stated]
    errors = setup_errors(window, prior)
    windows = [error.correction.window(window) for error in errors]
    used = np.logical_and.reduce([window.used, *(w.used for w in windows)])
    if not is_enough(used):
        return [stated]
    late, same = max([late, *(BIN * error.correction.late for error in errors)]), replace(
        window, used=used)
    out = [_model(None, same, prior)]
    for own in (SensorFilter(1), SensorFilter(2)) if late > LATE else ():
        out.append(_model(None, same, prior, own, own.start(late)))
    for error, corrected in zip(errors, windows, strict=True):
        weight = CompensatedWeight() if error.kind == "removed_payload" else None
        rival = _model(error, replace(corrected, used=used), prior, weight)
        # An error other than of the clock explains everything, or it is none.
        if error.kind == "clock_offset" or surprise(rival.fit, prior.sheet) < EXPLAINED:
            out.append(rival)
    return sorted(out, key=attrgetter("odds"), reverse=True)


def _model(error: SetupError | None, window: Window, prior: Prior, more: Term | None = None,
           given: Values | None = None) -> Model:
    """A fit of a corrected window: of usual terms, and one more, which begins at given values."""
    terms = [*usual_terms(prior.sheet, window.motion.joints.shape[1]), *filter(None, [more])]
    new = fit(Rows(window, Setup()), terms, prior, given=given, rounds=2 * ROUNDS)
    odds = new.evidence + sum(term.odds for term in terms) + _belief_in_body(
        new.phi, new.covariance, prior.region)
    if error is not None:  # the density is that of readings as they came
        odds += ODDS + len(new.solution.variance) * float(
            np.log(np.abs(error.correction.channels)).sum())
    return Model(new, odds, error)


def _belief_in_body(phi: Array, covariance: Array, region: Region | None) -> float:
    """Logarithm of how believable mass and centre of mass of phi (10,) are; 0: fully."""
    mass, variance = float(phi[0]), np.diag(covariance)
    sd = float(np.sqrt(variance[0] + (0.03 * mass) ** 2 + 0.02**2))
    out = float(log_ndtr(mass / sd))
    if abs(mass) < 3.0 * sd:
        return out
    strange = max(abs(float(np.log(abs(mass) / MASS))) - WIDE, 0.0)
    centre, size = (region.centre, region.size) if region else (np.zeros(3), np.ones(3))
    away = np.square(phi[1:4] / mass - centre) / (np.square(0.5 * size) + variance[1:4] / mass**2)
    return out - min(float(away.sum()), WORST) - 0.5 * strange**2


def setup_errors(window: Window, prior: Prior) -> list[SetupError]:
    """Errors of the set-up that explain a window far better than the set-up as stated does, the
    most probable first: at most one of a kind, and of units."""
    search = _Search(window, prior)
    if search.used.sum() < FEWEST:
        return []
    tried = sorted(search.all(), key=attrgetter("odds"), reverse=True)
    usual = max(error.odds for error in tried if not error.kind)
    best: dict[tuple[str, str], SetupError] = {}
    for error in tried:
        if error.kind and error.odds > max(usual + CLEAR, tried[0].odds - NEAR):
            best.setdefault((error.kind, error.units), error)
    return list(best.values())[:MOST]


class _Search:
    """The thinned rows of a window, and all hypotheses about them.

    Attributes:
        at: (r,) bins; used: (r,); A: (r, 6, 10); back: (r, 3, 3) from base to sensor axes.
        wrench: (n, 6) of all bins, smoothed; count: independent residuals of a force.
    """

    def __init__(self, window: Window, prior: Prior) -> None:
        self.window, self.prior = window, prior
        self.at = np.arange(BOX, len(window.used) - BOX, STEP)
        self.used = _smooth(window.used.astype(float))[self.at] > 0.999
        self.back = _smooth(window.motion.rotation.transpose(0, 2, 1))[self.at]
        self.A = self._regressor(window.motion)
        self.wrench = _smooth(window.wrench)
        self.count = max(3.0 * self.used.sum() * STEP * BIN / INDEPENDENT, 6.0)

    def _regressor(self, motion: Motion) -> Array:
        proper = motion.acceleration - motion.rotation.transpose(0, 2, 1) @ GRAVITY
        return _smooth(regressor(proper, motion.omega, motion.alpha))[self.at]

    def all(self) -> Iterator[SetupError]:
        """Every hypothesis; those of one variant share the odds of their kind."""
        yield self._best_clock("", range(-USUAL_CLOCK, USUAL_CLOCK + 1, 2))
        late = self._best_clock("", range(-FARTHEST, FARTHEST + 1, COARSE)).correction.late
        yield self._best_clock("clock_offset" if abs(late) > USUAL_CLOCK else "",
                               range(late - 6, late + 7, 2))
        yield self._error("sign_wrong", Correction(channels=-np.ones(6)))
        for axes in np.ones((3, 3)) - 2.0 * np.eye(3):  # two that are mirrored are a turn
            yield self._error("axes_mirrored", Correction(channels=np.tile(axes, 2)))
        for units, factors in UNITS.items():
            yield self._error("wrong_units", Correction(channels=1.0 / np.repeat(factors, 3)),
                              units=units)
        yield self._error("wrench_in_base_axes", Correction(in_base=True))
        yield self._turned()
        yield max((self._raised(sign) for sign in (1.0, -1.0)), key=attrgetter("odds"))
        # A driver that takes the weight of a payload off, not its inertia.
        weight = np.concatenate([self.A, -weight_columns(self.back @ -GRAVITY)], 2)
        removed = self._error("removed_payload", Correction(), weight, tuple(CompensatedWeight.sd))
        if removed.x[10] > 0.0:
            yield removed
        if not self.window.motion.joints.shape[1]:  # poses that somebody gave
            for kind, order in (("quaternion_order", "wxyz"), ("poses_inverted", "inverse")):
                meant = Correction(order=order)
                yield self._error(kind, meant, self._regressor(meant.motion(self.window.motion)))

    def _best_clock(self, kind: str, late: Sequence[int]) -> SetupError:
        return max((self._error(kind, Correction(late=k)) for k in late), key=attrgetter("odds"))

    def _error(self, kind: str, correction: Correction, A: Array | None = None,
               more: tuple[float, ...] = (), chosen: int = 0, units: str = "") -> SetupError:
        """The hypothesis of a correction, by least squares of a zero and columns.

        Args:
            A: (r, 6, p) columns; more: deviations before the data of those beside phi's.
            chosen: numbers that were chosen for it.
        """
        A, end = self.A if A is None else A, len(self.wrench)
        at = self.at + correction.late
        used = self.used & (at >= 0) & (at < end) & self.window.used[at.clip(0, end - 1)]
        y = correction.wrench(self.wrench[at.clip(0, end - 1)], self.back.transpose(0, 2, 1))[used]
        if used.sum() < OVERLAP * self.used.sum():
            return SetupError(kind, correction, -np.inf, np.zeros(A.shape[2] + 6), units)
        p, sheet, factor = A.shape[2], self.prior.sheet, np.abs(correction.channels)
        rows = np.concatenate([A[used], np.broadcast_to(np.eye(6), (len(y), 6, 6)), y[..., None]],
                              2)
        parts = np.stack([rows[:, k:k + 3].reshape(-1, p + 7) for k in (0, 3)])
        normal = parts.transpose(0, 2, 1) @ parts / (3 * len(y))
        own = np.hypot(sheet.accuracy, sheet.noise) * factor[[0, 3]]
        floor = own**2 + USUAL**2 * y.reshape(-1, 2, 3).var(0).mean(1)
        precision = np.concatenate([VAGUE, more, sheet.bias_sd]) ** -2.0
        mean, variance = np.concatenate([np.zeros(p), sheet.bias_mean]), floor
        for _ in range(REPEATS // 2):
            both = self.count * (normal / variance[:, None, None]).sum(0)
            H = both[:-1, :-1] + np.diag(precision)
            x = np.linalg.solve(H, both[:-1, -1] + precision * mean)
            square = np.maximum(np.append(x, -1.0) @ normal @ np.append(x, -1.0), 0.0)
            variance = floor + square
        misfit = self.count * (np.log(variance) + square / variance).sum()
        known = precision @ (x - mean) ** 2 + (len(x) + chosen) * np.log(self.count)
        odds = self.count / 3.0 * np.log(factor).sum() - 0.5 * (misfit + known) + (
            ODDS * bool(kind) + _belief_in_body(x, np.linalg.inv(H), self.prior.region))
        return SetupError(kind, correction, float(odds), x, units)

    def _turned(self) -> SetupError:
        """Axes of the wrench, from the forces (Kabsch 1976) that the payload makes in them."""
        made, force = self.A[self.used, :3, 0], self.wrench[self.at][self.used, :3]
        for _ in range(REPEATS):
            u, _, v = np.linalg.svd((made - made.mean(0)).T @ (force - force.mean(0)))
            turn = u @ np.diag([1.0, 1.0, np.linalg.det(u @ v)]) @ v
            is_large = np.arccos(np.clip(0.5 * np.trace(turn) - 0.5, -1.0, 1.0)) > SMALLEST
            error = self._error("sensor_turned" * bool(is_large), Correction(turn=turn), chosen=3)
            made = self.A[self.used, :3] @ error.x[:10]
        return error

    def _raised(self, sign: float) -> SetupError:
        """Direction of gravity, from the forces or opposite to that, then by Gauss-Newton."""
        force = np.concatenate([G * self.back, (self.A[:, :3, 0] + self.back @ GRAVITY)[..., None],
                                np.broadcast_to(np.eye(3), self.back.shape)], 2)[self.used]
        up = sign * np.linalg.lstsq(
            force.reshape(-1, 7), self.wrench[self.at][self.used, :3].ravel())[0][:3]
        for _ in range(REPEATS):
            up /= max(float(np.linalg.norm(up)), 1e-9)
            A, across = self.A.copy(), np.linalg.svd(up[None])[2][1:]
            A[..., :4] += weight_columns(G * self.back @ (up - [0.0, 0.0, 1.0]))
            kind = "gravity_elsewhere" if up[2] < np.cos(SMALLEST) else ""
            error = self._error(kind, Correction(up=up.copy()), A, chosen=2)
            slopes = static_wrench(error.x[:10], (G * self.back @ across.T).transpose(0, 2, 1))
            up += self._error("", Correction(), np.concatenate([A, slopes.transpose(0, 2, 1)], 2),
                              (1.0, 1.0)).x[10:12] @ across
        return error


def _smooth(bins: Array) -> Array:
    return np.asarray(uniform_filter1d(uniform_filter1d(bins, BOX, 0), BOX, 0))
