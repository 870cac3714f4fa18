# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Errors of the set-up: hypotheses by least squares on thinned rows, by one likelihood and prior.

What is nonlinear (clock, filter, direction of gravity, turned axes) climbs from a closed form. The
noise of forces and of torques is unknown, and at least what usual terms may leave. Bodies that
cannot be cost evidence: a negative mass, or a centre of mass out of reach.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.constants import foot, hecto, inch, kilo, lbf, milli
from scipy.ndimage import uniform_filter1d
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation
from scipy.special import log_ndtr

from ..model.correction import Correction
from ..model.history import Window
from ..model.newton_euler import GRAVITY, regressor, skew, static_wrench, weight_columns
from ..model.rows import FEWEST
from ..model.setup import low_pass
from ..motion.motion import BIN, Array, Motion
from .fit import VAGUE, Prior, Region

STEP, BOX = 4, 9  # bins from row to row, and of a moving mean that is taken twice
THIN = 3  # one of so many rows is fitted
INDEPENDENT = 0.4  # s, between residuals that do not repeat one another
USUAL = 0.01  # of the wrench, which usual terms may leave
ROUNDS = 4
WORST = 20.0  # logarithm, of a centre of mass outside of where it can be
MASS, WIDE = 2.0, 1.5  # kg, usual; and within what factor's logarithm
MOST = 4  # errors that are fitted
FARTHEST, COARSE, USUAL_CLOCK = 200, 8, 12  # bins, of a clock
OVERLAP = 0.45  # of the rows that an offset must leave
SMALLEST = 8.0  # deg; smaller turns are usual terms
CLEAR, NEAR = 8.0, 15.0  # logarithms of odds: over the set-up as stated; below the best
TIMES = 0.02 * 2.0 ** np.arange(6)  # s, of one stage of a filter
LOOKS, WAY = 30, 30.0  # of a climb to a filter; bins, of its clock
TURNS, SETTLED = 8, 1e-3  # Gauss-Newton steps; rad
G = float(np.linalg.norm(GRAVITY))
UNITS = {  # readings for 1 N and for 1 N m
    "N and N mm": (1.0, kilo), "N and N cm": (1.0, hecto), "mN and N mm": (kilo, kilo),
    "kN and N m": (milli, 1.0), "kN and kN m": (milli, milli), "kgf and N m": (1.0 / G, 1.0),
    "kgf and kgf m": (1.0 / G, 1.0 / G), "kgf and kgf cm": (1.0 / G, hecto / G),
    "lbf and lbf in": (1.0 / lbf, 1.0 / lbf / inch),
    "lbf and lbf ft": (1.0 / lbf, 1.0 / lbf / foot)}
ODDS = -5.0  # logarithm, of each kind before the data, shared by its variants
ABOUT = {  # errors of frames, and what to enter
    "axes_mirrored": "{axes} have the opposite sign, as in axes of a left-handed frame; turn them "
                     "in the driver",
    "wrench_in_base_axes": "it is given in axes of the base; let the driver give it in those of "
                           "the sensor",
    "sensor_turned": "the sensor is turned against its frame by roll {roll:.0f}, pitch "
                     "{pitch:.0f}, yaw {yaw:.0f} deg; turn the frame by that, or set "
                     "wrench.sensor_frame",
    "gravity_elsewhere": "gravity does not point along -z of the base, up is ({x:.3f}, {y:.3f}, "
                         "{z:.3f}) in its axes (robot on a wall, a ceiling, a slope); set "
                         "gravity.frame to a frame whose z axis points up",
    "quaternion_order": "orientations are given with w first; their order is x, y, z, w",
    "poses_inverted": "poses are those of the base in the sensor; invert them"}
REFUSED = frozenset(ABOUT) | {"sign_wrong", "wrong_units"}


class Solved(NamedTuple):
    """Least squares of one hypothesis: logarithm of its evidence, x (p,) of payload, further
    columns and zero, and its covariance (p, p)."""

    evidence: float
    x: Array
    covariance: Array


@dataclass(frozen=True, eq=False)
class SetupError:
    """A hypothesis.

    Attributes:
        kind: of its finding; "": the set-up is as stated; numbers: for its sentence.
        correction: that turns it right, but for the sensor's own low-pass of `filter` (time
            constant [s], damping), and a payload whose weight the driver takes off.
        odds: logarithm, with the prior.
    """

    kind: str
    solved: Solved
    odds: float
    correction: Correction
    filter: tuple[float, ...]
    numbers: dict[str, float]

    @property
    def is_usual(self) -> bool:
        """True if usual terms hold it."""
        late = abs(self.correction.late) <= USUAL_CLOCK
        return (not self.kind or (self.kind == "clock_offset" and late)
                or self.numbers.get("degrees", 180.0) < SMALLEST)

    @property
    def finding(self) -> tuple[str, dict[str, float | str]]:
        """Kind and numbers of its finding, with what is to be entered."""
        x, y, z = self.correction.up
        flipped = zip("xyz", self.correction.channels, strict=False)
        axes = " and ".join(f"F{axis} and T{axis}" for axis, sign in flipped if sign < 0.0)
        mass = float(self.solved.x[10 if self.kind == "removed_payload" else 0])
        numbers: dict[str, float | str] = {
            **self.numbers, "mass": -mass if self.kind == "sign_wrong" else mass, "why": "",
            "x": x, "y": y, "z": z, "axes": axes}
        if self.kind == "wrong_units":
            return "wrong_units.wrench", {
                **numbers, "why": f"forces and torques are in {self.units}, as it seems; they must "
                                  "be in N and N m"}
        if self.kind in ABOUT:
            why = ABOUT[self.kind].format(**numbers)
            return f"frame_wrong.{self.kind}", {**numbers, "why": f": {why}"}
        return self.kind, numbers

    @property
    def units(self) -> str:
        """Those of the readings."""
        return list(UNITS)[int(self.numbers["units"])]


def setup_errors(window: Window, prior: Prior) -> list[SetupError]:
    """Errors of the set-up that explain a window far better than the set-up as stated does, the
    most probable first: at most one of a kind, of a filter's order, of units."""
    search = _Search(window, prior)
    if search.used.sum() < FEWEST:
        return []
    tried = sorted(search.all(), key=lambda error: -error.odds)
    usual = max(error.odds for error in tried if error.is_usual)
    best = [e for e in tried if not e.is_usual and e.odds > max(usual + CLEAR,
                                                                tried[0].odds - NEAR)]
    kinds = [(e.kind, len(e.filter), e.numbers.get("units")) for e in best]
    return [e for k, e in enumerate(best) if kinds[k] not in kinds[:k]][:MOST]


def belief_in_body(phi: Array, covariance: Array, region: Region | None) -> float:
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
        self.A, self.wrench = self._regressor(window.motion), _smooth(window.wrench)
        self.count = max(3.0 * self.used.sum() * STEP * BIN / INDEPENDENT, 6.0)

    def _regressor(self, motion: Motion) -> Array:
        proper = motion.acceleration - motion.rotation.transpose(0, 2, 1) @ GRAVITY
        return _smooth(regressor(proper, motion.omega, motion.alpha))[self.at]

    def all(self) -> Iterator[SetupError]:
        """Every hypothesis."""
        yield self._best_clock(range(-10, 11, 2), "")
        middle = self._best_clock(range(-FARTHEST, FARTHEST + 1, COARSE)).correction.late
        clock = self._best_clock(range(middle - 6, middle + 7, 2))
        yield clock
        yield self._filtered(1, clock.correction.late)
        yield self._filtered(2, clock.correction.late)
        yield from self._scaled()
        yield self._error("wrench_in_base_axes", Correction(in_base=True))
        yield self._turned()
        yield max((self._raised(sign) for sign in (1.0, -1.0)), key=_odds)
        # A driver that takes the weight of a payload off, not its inertia.
        columns = np.concatenate([self.A, -weight_columns(self.back @ -GRAVITY)], 2)
        taken_off = self._error("removed_payload", A=columns, more=np.r_[10.0, np.ones(3)])
        if taken_off.solved.x[10] > 0.0:
            yield taken_off
        if not self.window.motion.joints.shape[1]:
            for order, kind in (("wxyz", "quaternion_order"), ("inverse", "poses_inverted")):
                correction = Correction(quaternion=order)
                motion = correction.motion(self.window.motion)
                yield self._error(kind, correction, self._regressor(motion))

    def _error(self, kind: str, correction: Correction | None = None, A: Array | None = None, *,
               more: Array | None = None, chosen: int = 0, filter: tuple[float, ...] = (),
               **numbers: float) -> SetupError:
        """The hypothesis of a correction.

        Args:
            A: (r, 6, p) of the rows; more: deviations before the data of columns beside those of
                phi; chosen: numbers that were chosen for it.
        """
        correction, end = correction or Correction(), len(self.wrench)
        at = self.at + correction.late
        used = self.used & (at >= 0) & (at < end) & self.window.used[at.clip(0, end - 1)]
        y = correction.wrench(self.wrench[at.clip(0, end - 1)], self.back.transpose(0, 2, 1))
        solved = self._solve((self.A if A is None else A)[used][::THIN], y[used][::THIN],
                             np.empty(0) if more is None else more, correction.channels)
        odds = ODDS * bool(kind) + solved.evidence - 0.5 * chosen * float(np.log(self.count))
        odds += belief_in_body(solved.x, solved.covariance, self.prior.region)
        enough = used.sum() >= OVERLAP * self.used.sum()
        return SetupError(kind, solved, odds if enough else -np.inf, correction, filter, numbers)

    def _solve(self, A: Array, y: Array, more: Array, factor: Array) -> Solved:
        """Fit y (r, 6), readings times a factor (6,), by A (r, 6, p) and a zero."""
        p, sheet = A.shape[2], self.prior.sheet
        rows = np.concatenate([A, np.broadcast_to(np.eye(6), (len(A), 6, 6)), y[..., None]], 2)
        parts = np.stack([rows[:, k:k + 3].reshape(-1, p + 7) for k in (0, 3)])
        normal = parts.transpose(0, 2, 1) @ parts / max(3 * len(rows), 1)
        own = np.hypot(sheet.accuracy, sheet.noise) * np.abs(factor[[0, 3]])
        floor = own**2 + USUAL**2 * (y.reshape(-1, 2, 3).var(0).mean(1) if len(y) else 1.0)
        precision = np.concatenate([VAGUE, more, sheet.bias_sd]) ** -2.0
        mean = np.concatenate([np.zeros(p), sheet.bias_mean])
        variance = floor
        for _ in range(ROUNDS):
            both = self.count * (normal / variance[:, None, None]).sum(0)
            H = both[:-1, :-1] + np.diag(precision)
            x = np.linalg.solve(H, both[:-1, -1] + precision * mean)
            full = np.append(x, -1.0)
            square = np.maximum(full @ normal @ full, 0.0)
            variance = floor + square
        fit = self.count * (np.log(variance) + square / variance).sum()
        known = precision @ (x - mean) ** 2 + len(x) * np.log(self.count)
        evidence = self.count / 3.0 * np.log(np.abs(factor)).sum() - 0.5 * (fit + known)
        return Solved(float(evidence), x, np.linalg.inv(H))

    def _best_clock(self, late: range, kind: str = "clock_offset") -> SetupError:
        return max((self._error(kind, Correction(late=k)) for k in late), key=_odds)

    def _filtered(self, order: int, late: int) -> SetupError:
        """The best low-pass; it begins with those that delay as much as a clock of so many bins."""
        def at(v: Array) -> SetupError:
            time = float(np.clip(np.exp(v[0]), TIMES[0], TIMES[-1]))
            filter = (time, 1.0)[:order]
            beside = round(late - order * time / BIN + WAY * v[1])
            return self._error("wrench_filtered", Correction(late=beside), low_pass(
                self.A, filter, STEP * BIN), filter=filter)
        begin = max((np.array([np.log(time), 0.0]) for time in TIMES), key=lambda v: at(v).odds)
        return at(minimize(lambda v: -at(v).odds, begin, method="Nelder-Mead", options={
            "maxfev": LOOKS, "initial_simplex": begin + 0.2 * np.eye(3, 2)}).x)

    def _scaled(self) -> Iterator[SetupError]:
        """Sign, one mirrored axis (two are a turn), units."""
        yield self._error("sign_wrong", Correction(channels=-np.ones(6)))
        for axes in np.ones((3, 3)) - 2.0 * np.eye(3):
            yield self._error("axes_mirrored", Correction(channels=np.tile(axes, 2)))
        for k, units in enumerate(UNITS.values()):
            channels = 1.0 / np.repeat(units, 3)
            yield self._error("wrong_units", Correction(channels=channels), units=float(k))

    def _turned(self) -> SetupError:
        """Axes of the wrench, from the forces (Kabsch 1976), then by Gauss-Newton."""
        weight, force = self.A[self.used, :3, 0], self.wrench[self.at][self.used, :3]
        u, _, v = np.linalg.svd((weight - weight.mean(0)).T @ (force - force.mean(0)))
        turn = u @ np.diag([1.0, 1.0, np.linalg.det(u @ v)]) @ v
        for _ in range(TURNS):
            y = Correction(turn=turn).wrench(self.wrench[self.at], self.back)
            slopes = np.concatenate([skew(y[:, :3]), skew(y[:, 3:])], 1)
            step = self._error("", Correction(turn=turn), np.concatenate([self.A, slopes], 2),
                               more=np.ones(3)).solved.x[10:13]
            turn = Rotation.from_rotvec(step).as_matrix() @ turn
            if np.abs(step).max() < SETTLED:
                break
        whole = Rotation.from_matrix(turn)
        roll, pitch, yaw = whole.as_euler("xyz", degrees=True)
        return self._error("sensor_turned", Correction(turn=turn), chosen=3, roll=roll, yaw=yaw,
                           degrees=float(np.degrees(whole.magnitude())), pitch=pitch)

    def _raised(self, sign: float) -> SetupError:
        """Direction of gravity, from the forces or opposite to that, then by Gauss-Newton."""
        force = self.A * 0.0
        force[:, :3, :3] = G * self.back
        force[:, :3, 3] = self.A[:, :3, 0] + self.back @ GRAVITY
        up = sign * self._solve(force[self.used][::THIN], (self.wrench[self.at] * np.repeat(
            [1.0, 0.0], 3))[self.used][::THIN], np.empty(0), np.ones(6)).x[:3]
        up /= max(float(np.linalg.norm(up)), 1e-9)
        for _ in range(TURNS):
            A = self._with_up(up)
            across = np.linalg.svd(up[None])[2][1:]
            phi = self._error("", A=A).solved.x
            slopes = static_wrench(phi, (G * self.back @ across.T).transpose(0, 2, 1))
            A = np.concatenate([A, slopes.transpose(0, 2, 1)], 2)
            step = self._error("", A=A, more=np.ones(2)).solved.x[10:12] @ across
            up = (up + step) / np.linalg.norm(up + step)
            if np.abs(step).max() < SETTLED:
                break
        degrees = float(np.degrees(np.arccos(np.clip(up[2], -1.0, 1.0))))
        return self._error("gravity_elsewhere", Correction(up=up), self._with_up(up), chosen=2,
                           degrees=degrees)

    def _with_up(self, up: Array) -> Array:
        A = self.A.copy()
        A[..., :4] += weight_columns(G * self.back @ (up - [0.0, 0.0, 1.0]))
        return A


def _smooth(bins: Array) -> Array:
    return np.asarray(uniform_filter1d(uniform_filter1d(bins, BOX, 0), BOX, 0))


def _odds(error: SetupError) -> float:
    return error.odds
