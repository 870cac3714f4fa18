# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Errors of the set-up: which explain a window far better than the set-up as stated does.

All are fitted with nothing but a zero beside the payload, the best ones then with all usual terms.
Bodies that cannot be cost evidence: a negative mass, or a centre of mass out of reach.
"""

from collections.abc import Iterator
from copy import copy
from dataclasses import replace
from operator import attrgetter
from typing import NamedTuple

import numpy as np
from scipy.constants import foot, hecto, inch, kilo, lbf, milli
from scipy.special import log_ndtr

from ..model.history import Window
from ..model.newton_euler import GRAVITY, weight_columns
from ..model.rows import Rows, is_enough
from ..model.setup import Setup, SetupError
from ..motion.motion import BIN
from .causes import SensorFilter
from .fit import ROUNDS, Fit, Prior, fit
from .residual import SHARE, surprise
from .terms import DECIDED, RARE, Place, Term, Usual, Values, linear, usual_terms

SURPRISING, STRETCHED = 0.4, 2.5  # of the data sheet; scale of a prior
UNBELIEVABLE = -2.0  # logarithm
MASS, WIDE = 2.0, 2.0  # kg, usual; deviation of its logarithm
FARTHEST, NEAREST = 200, 10  # bins of 10 ms, of a clock; nearer ones are a delay
SMALLEST = 0.14  # rad; smaller turns are usual terms
AHEAD = 30.0  # logarithm of odds: nothing wins that back
MOST = 3  # errors to fit
G = float(np.linalg.norm(GRAVITY))
UNITS = {  # readings for 1 N and for 1 N m
    "N and N mm": (1.0, kilo), "N and N cm": (1.0, hecto), "mN and N mm": (kilo, kilo),
    "kN and N m": (milli, 1.0), "kN and kN m": (milli, milli), "kgf and N m": (1.0 / G, 1.0),
    "kgf and kgf m": (1.0 / G, 1.0 / G), "kgf and kgf cm": (1.0 / G, hecto / G),
    "lbf and lbf in": (1.0 / lbf, 1.0 / lbf / inch),
    "lbf and lbf ft": (1.0 / lbf, 1.0 / lbf / foot)}
# Errors that are taken into account, or none; by others an answer is refused.
ACCOUNTED = ("", "clock_offset", "removed_payload")
# Mass and first moment of a payload whose weight the driver takes off, though nobody said so.
REMOVED = Usual("removed_payload", np.r_[10.0, np.ones(3)], Place.DRIVER, np.inf,
                lambda rows, phi, values, load: linear(
                    weight_columns(rows.level @ GRAVITY), values))


class Model(NamedTuple):
    """A fit with the logarithm of its odds; error: of the set-up, which is corrected in it."""

    fit: Fit
    odds: float
    error: SetupError

    def fitted(self, new: Fit, more: float = 0.0) -> "Model":
        """The same with another fit; more: logarithm of the odds of a further term."""
        return self._replace(fit=new, odds=self.odds - self.fit.evidence + new.evidence + more)


def rivals(window: Window, prior: Prior) -> list[Model]:
    """The set-up as stated, and others that explain the data better; the best comes first.

    They are compared on the same bins of the wrench: quiet ones are easy to explain.
    """
    usual = usual_terms(prior.sheet, window.motion.joints.shape[1])
    rows = Rows(window, Setup())
    stated = _model(SetupError(), rows, prior, usual)
    late = abs(float(stated.fit.values.get("delay", np.zeros(1))[0]))
    if not rows.moves or not (
            surprise(stated.fit, prior.sheet) > SURPRISING or late > BIN * NEAREST
            or max(stated.fit.scales.values()) > STRETCHED
            or _belief_in_body(stated.fit, prior) < UNBELIEVABLE):
        return [stated]
    clock = SetupError("clock_offset", _clock(rows))
    used = clock.window(window).used
    is_late = abs(clock.late) > NEAREST and is_enough(used)
    same = Rows(replace(window, used=np.roll(used, clock.late)), Setup()) if is_late else rows
    tried = [_model(error, rows if error.late else same, prior, usual[:1])
             for error in (SetupError(), *[clock][:is_late], *_setup_errors(same))]
    # Of few poses at rest the best may leave too much, as another factor of a unit.
    good = [model for model in tried if surprise(model.fit, prior.sheet) < SURPRISING] if (
        window.rests) else []
    least = max(tried[0].odds, max(model.odds for model in good or tried) - AHEAD)
    best: dict[tuple[str, str], SetupError] = {}
    for model in sorted(tried, key=attrgetter("odds"), reverse=True):
        if model.odds > least:
            best.setdefault((model.error.kind, model.error.units), model.error)
    out = [_model(error, rows if error.late else same, prior, usual)
           for error in (SetupError(), *list(best.values())[:MOST])]
    # An error other than of the clock explains everything, or it is none; and a driver that takes
    # a little off is no payload that somebody has set.
    out = [model for model in out if model.error.kind in ("", "clock_offset")
           or (surprise(model.fit, prior.sheet) < SURPRISING and model.fit.values.get(
               "removed_payload", np.full(1, np.inf))[0] > SHARE * model.fit.phi[0])]
    for model in tried[1:2] if is_late else ():  # it is late by a low-pass
        # From the payload that it shows: without one, no data tell a filter.
        seen = replace(model.fit, values=model.fit.values | {"delay": np.r_[BIN * clock.late]})
        out += [_model(SetupError(), same, prior, [*usual, own], given, seen)
                for own in (SensorFilter(1), SensorFilter(2)) for given in own.starts(seen)]
    return sorted(out, key=attrgetter("odds"), reverse=True)


def _model(error: SetupError, rows: Rows, prior: Prior, terms: list[Term],
           given: Values | None = None, start: Fit | None = None) -> Model:
    """The fit of terms, on what the window of rows should have been."""
    window = error.window(rows.window)
    if error.late or window.motion is not rows.window.motion:
        rows = Rows(window, Setup())
    else:  # only readings change
        rows = copy(rows)
        rows.window, rows.y = window, rows.modes(rows.smooth(window.wrench))
    if error.kind == "removed_payload":
        terms = [*terms, REMOVED]
    new = fit(rows, terms, prior, start=start, given=given, rounds=2 * ROUNDS)
    # The density is that of readings as they came. What refuses an answer must be beyond doubt.
    odds = new.evidence + _belief_in_body(new, prior) + sum(term.odds for term in terms) + len(
        new.solution.variance) * float(np.log(np.abs(error.channels)).sum()) + {
            "": 0.0, "clock_offset": RARE}.get(error.kind, -DECIDED)
    return Model(new, odds, error)


def _belief_in_body(fit: Fit, prior: Prior) -> float:
    """Logarithm of how believable mass and centre of mass of a fit are; 0: fully."""
    mass, variance, region = float(fit.phi[0]), np.diag(fit.covariance), prior.region
    sd = float(np.sqrt(variance[0] + (0.03 * mass) ** 2 + 0.02**2))
    out = float(log_ndtr(mass / sd))
    if abs(mass) < 3.0 * sd:
        return out
    strange = float(np.log(abs(mass) / MASS)) / WIDE
    centre, size = (region.centre, region.size) if region else (np.zeros(3), np.ones(3))
    away = np.square(fit.phi[1:4] / mass - centre) / (
        np.square(0.5 * size) + variance[1:4] / mass**2)
    return out - min(float(away.sum()), DECIDED) - 0.5 * strange**2


def _setup_errors(rows: Rows) -> Iterator[SetupError]:
    """Every hypothesis but those of the clock."""
    yield SetupError("sign_wrong", channels=-np.ones(6))
    for axes in np.ones((3, 3)) - 2.0 * np.eye(3):  # two that are mirrored are a turn
        yield SetupError("axes_mirrored", channels=np.tile(axes, 2))
    for units, factors in UNITS.items():
        yield SetupError("wrong_units", channels=1.0 / np.repeat(factors, 3), units=units)
    yield SetupError("wrench_in_base_axes", in_base=True)
    if np.ptp(rows.place, axis=0).any():  # else no acceleration tells the inertia
        yield SetupError("removed_payload")
    if not rows.window.motion.joints.shape[1]:  # poses that somebody gave
        yield SetupError("quaternion_order", order="wxyz")
        yield SetupError("poses_inverted", order="inverse")
    force, turn, phi = rows.smooth(rows.window.wrench)[:, :3], np.eye(3), np.eye(10)[0]
    for _ in range(3):  # axes of the wrench (Kabsch 1976), from the forces of the payload in them
        made = rows.steady[:, :3] @ phi
        u, _, v = np.linalg.svd((made - made.mean(0)).T @ (force - force.mean(0)))
        turn = u @ np.diag([1.0, 1.0, np.linalg.det(u @ v)]) @ v
        A = np.concatenate([rows.steady[:, :3, :4], np.tile(np.eye(3), (rows.n, 1, 1))], 2)
        phi[:4] = np.linalg.lstsq(A.reshape(-1, 7), (force @ turn.T).ravel())[0][:4]
    if np.trace(turn) < 1.0 + 2.0 * np.cos(SMALLEST):
        yield SetupError("sensor_turned", turn=turn)
    # Direction of gravity: mass times it, and the rest of the force.
    back = rows.rotation.transpose(0, 2, 1)
    A[:, :, 0] += back @ GRAVITY
    up = np.linalg.lstsq(np.concatenate([G * back, A], 2).reshape(-1, 10), force.ravel())[0][:3]
    for sign in (1.0, -1.0):
        own = SetupError("gravity_elsewhere", up=sign * up / np.linalg.norm(up))
        # Upside down at rest is the same as the opposite sign, which is the usual mistake.
        if own.up[2] < np.cos(SMALLEST) and not (
                rows.window.rests and own.up[2] < -np.cos(SMALLEST)):
            yield own


def _clock(rows: Rows) -> int:
    """Bins by which the wrench is late: where payload and zero gain most over the zero alone."""
    wrench, used = rows.window.wrench, rows.window.used
    lags = np.arange(-FARTHEST, FARTHEST + 1, 2)
    at = (rows.time / BIN).astype(int) + lags[:, None]
    there = (at >= 0) & (at < len(used)) & used[at.clip(0, len(used) - 1)]  # (l, n)
    scale = np.repeat(wrench[used].reshape(-1, 2, 3).std((0, 2)), 3) + 1e-9
    y = wrench[at.clip(0, len(used) - 1)] / scale * there[..., None]
    X = np.concatenate([rows.steady, np.tile(np.eye(6), (rows.n, 1, 1))], 2) / scale[:, None]
    X /= np.maximum(np.linalg.norm(X, axis=(0, 1)), 1e-9)  # poses at rest: no inertia
    normal = np.tensordot(there, X.transpose(0, 2, 1) @ X, 1) + 1e-9 * np.eye(16)
    slope = y.reshape(len(lags), -1) @ X.reshape(-1, 16)
    explained = (slope * np.linalg.solve(normal, slope[..., None])[..., 0]).sum(1)
    count, square = np.maximum(there.sum(1), 1), (y**2).sum((1, 2)) + 1e-9
    left = (square - explained) / (square - (y.sum(1) ** 2).sum(1) / count)
    return int(lags[np.where(count > 0.5 * rows.n, count * np.log(left), np.inf).argmin()])
