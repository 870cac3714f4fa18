# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Names a payload of which a part swings by itself: liquid, a loose part, a tool that dangles.

A part that hangs from a point of the payload, or is held to it by a spring, follows that point's
acceleration a as a low-pass with a frequency and a damping of its own does. The wrench then has,
beside that of a rigid body with all of the mass, one of ``mass (H - 1) a`` in that point, which is
linear in the part's mass and first moment. That is fitted for a grid of frequencies and dampings,
with the acceleration taken in the room (a pendulum, sideways) and in the tool (a spring). A contact
or a cable does not follow such a law, and a mount that swings does so at higher frequencies.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...findings import FindingLog
from ...inertia import PARAMETERS, Array, skew
from ...kinematics.motion import Motion
from ...linalg import triangular_factor
from ...signals.bins import BIN_NS
from .base_watch import BASE_MOVES, BaseMoves, find_base_motion

NOT_RIGID = "not_rigid"  # finding
_STEP = 1e-9 * BIN_NS
_KEPT = round(12.0 / _STEP)  # newest bins
_FEWEST = round(5.0 / _STEP)
_SETTLING = round(2.5 / _STEP)  # bins after which the filters have forgotten how they began
_EVERY = round(1.0 / _STEP)  # new bins from one look to the next
_GROUP = 5  # bins that are averaged
_LONGEST_GAP = 3  # bins
_RATES = 0.5 * 1.18 ** np.arange(13)  # Hz, 0.5 to 3.6
_PADDED = 2048  # bins, over which most of what swings has died out
_S = 2j * np.pi / _STEP * np.fft.rfftfreq(_PADDED)  # 1/s
_DAMPING, _WORTH_REFINING = 0.06, 0.3  # share of the residual beyond noise
_FACTORS, _DAMPINGS = 1.18 ** np.linspace(-0.6, 0.6, 7), (0.02, 0.04, 0.08, 0.16)
_SMOOTHED = 17, 9, 33  # bins over which the motion may have been smoothed
# Share of the residual beyond noise that the part must explain, what that residual is at least
# [standard deviations of a sample], share of the mass that it must be at least, in standard
# deviations too.
_EXPLAINED, _LOUD, _LEAST_SHARE, _CLEAR = 0.5, 0.2, 0.04, 8.0
_UNSURE = 1.0  # how far the mean may be off, times what the part changes it by
_BIASES = 12  # the zeros, and how they drift


class Swing(NamedTuple):
    """A part that swings.

    Attributes:
        rate: [Hz]; share: of the mass; explained: share of the residual.
        phi: (10,) fitted beside it.
    """

    rate: float
    share: float
    explained: float
    phi: Array


class SwingWatch:
    """Keeps the newest bins, and looks for a part that swings.

    Args:
        log: of findings.

    Attributes:
        swing: that was found last, or what makes the whole payload follow another motion than the
            sensor's; None: neither.
    """

    def __init__(self, log: FindingLog) -> None:
        self._log = log
        self._number = np.empty(0, dtype=np.int64)
        self._columns = np.empty((0, 6, PARAMETERS + 1))  # [A | y]
        self._axes = np.empty((0, 3, 3))
        self._looked, self._kept_until = 0, 0  # bins
        self._looks, self._seen = 0, 0  # how many, and which of them found something last
        self._may_move = False  # whether the base did at the last look
        self.swing: Swing | BaseMoves | None = None

    def add(self, number: np.ndarray, motion: Motion, a: Array, y: Array, noise: Array) -> None:
        """Take bins as they follow each other, and look every second.

        Args:
            number: (k,) of the bins, all with motion; a, y: their regressor (k, 6, 10) and wrench
                (k, 6); noise: (6,) of one bin [N, N m].
        """
        if not len(number):
            return
        self._number = np.concatenate([self._number, number])[-_KEPT:]
        new = np.concatenate([a, y[..., None]], axis=2)
        self._columns = np.concatenate([self._columns, new])[-_KEPT:]
        self._axes = np.concatenate([self._axes, motion.axes])[-_KEPT:]
        gaps = np.flatnonzero(np.diff(self._number) > _LONGEST_GAP)
        if len(gaps):
            self._keep_from(int(gaps[-1]) + 1)
        if len(self._number) >= _FEWEST and number[-1] >= self._looked + _EVERY:
            self._looked = int(number[-1])
            self._look(noise)

    def _keep_from(self, begin: int) -> None:
        """Keep the bins from this index on."""
        self._number, self._columns, self._axes = (
            self._number[begin:], self._columns[begin:], self._axes[begin:])

    def _look(self, noise: Array) -> None:
        """Look for a part that swings, every other time, or a base that does, and name it: until it
        is sought again or, found once more, for as long as bins are kept in which it showed, as it
        may rest for a while."""
        self._looks += 1
        found: Swing | BaseMoves | None = None
        if self._looks % 2:
            found = find_swing(self._columns, self._axes, noise)
        if found is None and not isinstance(self.swing, Swing):
            moved = find_base_motion(self._columns, self._axes, noise)
            found = moved if self._may_move else None  # what shows it once is chance
            self._may_move = moved is not None
        if found is not None:
            if isinstance(found, type(self.swing)):
                self._kept_until = self._looked + _KEPT
            self.swing, self._seen = found, self._looks
        elif self._looked > self._kept_until and self._looks > self._seen + 1:
            self.swing = None
        self._log.clear(NOT_RIGID)
        self._log.clear(BASE_MOVES)
        if isinstance(self.swing, BaseMoves):
            self._log.set(
                BASE_MOVES, "warning",
                "what is left of the wrench is that of a payload which is accelerated as a whole, "
                f"horizontally, by {self.swing.size:.2g} m/s^2 (root mean square): the base of the "
                "robot moves (AGV, crane); name an IMU on it in base_imu.topic")
        elif self.swing is not None:
            self._log.set(
                NOT_RIGID, "warning",
                f"the payload is not rigid: about {100.0 * self.swing.share:.0f} % of its mass "
                f"swing by themselves at {self.swing.rate:.1f} Hz, as liquid, a loose part or a "
                "tool that dangles do; the inertia is not claimed, and the intervals of mass and "
                "centre of mass hold what that does to them")


def find_swing(columns: Array, axes: Array, noise: Array) -> Swing | None:
    """The part that swings, if one does.

    Args:
        columns: (k, 6, 11) regressor and wrench ``[A | y]`` of successive bins; axes: (k, 3, 3)
            those of the gravity frame, as rows along those of the sensor; noise: (6,) of one bin.
    """
    weight = 1.0 / noise[:, None]
    constant = np.broadcast_to(np.eye(6), (len(columns), 6, 6))
    constant = np.concatenate(
        [constant, np.linspace(-1.0, 1.0, len(columns))[:, None, None] * constant], axis=2)
    rigid = _grouped(np.concatenate([constant, columns], axis=2)) * weight
    rows = rigid.reshape(-1, rigid.shape[2])
    count = len(rows) - rows.shape[1]
    found, left, *_ = np.linalg.lstsq(rows[:, :-1], rows[:, -1], rcond=None)
    phi = found[_BIASES:]
    if phi[0] <= 0.0 or float(left.sum()) * _GROUP < (1.0 + _LOUD)**2 * count:
        return None
    pivot: Array = columns[:, :3, 0] + columns[:, :3, 1:4] @ (phi[1:4] / phi[0])
    # Motion that was smoothed looks like a part that swings much faster.
    smooth = [_smoothed(part, length) - part for length, part in zip(
        _SMOOTHED, (columns[..., :PARAMETERS], columns[..., :4], columns[..., :4]), strict=True)]
    rows = np.column_stack([*((_grouped(one) * weight).reshape(-1, one.shape[2])
                              for one in smooth), rows])
    if triangular_factor(rows)[-1, -1]**2 * _GROUP < (1.0 + _LOUD)**2 * count:
        return None
    basis, _ = np.linalg.qr(rows[:, :-1])
    left = rows[:, -1] - basis @ (basis.T @ rows[:, -1])
    before = float(left @ left)
    beyond = before - count / _GROUP

    spectra = {in_room: np.fft.rfft(seen - seen[0], _PADDED, axis=0) for in_room, seen in (
        (True, (axes @ pivot[..., None])[..., 0]), (False, pivot))}

    def fit(rate: float, damping: float, in_room: bool) -> _Candidate:
        """The part of this frequency and damping."""
        driven = _driven(spectra[in_room], axes, rate, damping, in_room)
        return _Candidate(rate, damping, in_room, *_fit_part(driven, basis, left, weight))

    best = min((fit(rate, _DAMPING, in_room) for rate in _RATES.tolist()
                for in_room in (True, False)), key=lambda one: one.cost)
    if before - best.cost < _WORTH_REFINING * beyond:
        return None
    at_end = best.rate in (_RATES[0], _RATES[-1])
    best = min((fit(best.rate * factor, damping, best.in_room) for factor in _FACTORS
                for damping in _DAMPINGS), key=lambda one: one.cost)
    # Noise of the motion, which is smoothed, looks like a part on a spring: such a one must explain
    # that share of all of the residual.
    explained = (before - best.cost) / (beyond if best.in_room else before)
    mass, sd = best.part[0], best.sd * float(np.sqrt(best.cost / count))
    if (explained < _EXPLAINED or mass < max(_LEAST_SHARE * phi[0], _CLEAR * sd) or at_end
            or mass > 1.2 * phi[0]):
        return None
    part = _part_columns(_driven(spectra[best.in_room], axes, best.rate, best.damping,
                                 best.in_room), weight)
    own = np.linalg.lstsq(rows[:, :-1], rows[:, -1] - part @ best.part, rcond=None)[0][-PARAMETERS:]
    return Swing(best.rate, min(mass / own[0], 1.0), explained, own)


class _Candidate(NamedTuple):
    """A frequency [Hz] and damping, in the room or in the tool; the sum of squares that is left;
    mass and first moment (4,) of the part, and the standard deviation of the mass in unit noise."""

    rate: float
    damping: float
    in_room: bool
    cost: float
    part: Array
    sd: float


def _grouped(values: Array) -> Array:
    """Means of groups of bins (g, ...) without those in which filters settle."""
    kept = values[_SETTLING:]
    return kept[:len(kept) // _GROUP * _GROUP].reshape(-1, _GROUP, *values.shape[1:]).mean(axis=1)


def _smoothed(values: Array, length: int) -> Array:
    """Running means (k, ...) over so many bins, an odd number, with the ends repeated."""
    half = length // 2
    ends = np.concatenate([np.repeat(values[:1], half + 1, axis=0), values,
                           np.repeat(values[-1:], half, axis=0)])
    sums = np.cumsum(ends, axis=0)
    return np.asarray((sums[length:] - sums[:-length]) / length)


def _driven(spectrum: np.ndarray, axes: Array, rate: float, damping: float, in_room: bool) -> Array:
    """Acceleration (k, 3) of a part less that of its pivot, in the sensor's axes (k, 3, 3), by the
    spectrum (f, 3) of the latter, in the room or in the tool."""
    turn = 2.0 * np.pi * rate
    response = -_S**2 / (_S**2 + 2.0 * damping * turn * _S + turn**2)
    moved = np.fft.irfft(response[:, None] * spectrum, axis=0)[:len(axes)]
    if not in_room:
        return np.asarray(moved)
    moved[:, 2] = 0.0  # along the string it goes with the point
    return np.asarray((moved[:, None] @ axes)[:, 0])


def _part_columns(driven: Array, weight: Array) -> Array:
    """Weighed columns (m, 4) of mass and first moment of a part with these accelerations (k, 3)."""
    driven = _grouped(driven)
    columns = np.zeros((len(driven), 6, 4))
    columns[:, :3, 0] = driven
    columns[:, 3:, 1:] = -skew(driven)
    return np.asarray((columns * weight).reshape(-1, 4))


def _fit_part(driven: Array, basis: Array, left: Array, weight: Array
              ) -> tuple[float, Array, float]:
    """Sum of squares with a part, its mass and first moment (4,), and the deviation of the mass."""
    columns = _part_columns(driven, weight)
    columns = columns - basis @ (basis.T @ columns)
    information = columns.T @ columns + 1e-9 * np.eye(4)
    inverse = np.linalg.inv(information)
    vector = columns.T @ left
    part = inverse @ vector
    return float(left @ left - vector @ part), part, float(np.sqrt(inverse[0, 0]))


def swing_covariance(phi: Array, swing: Swing | BaseMoves | None) -> Array:
    """Covariance (10, 10) of phi (10,) by a part that swings, beside which nothing is known of the
    inertia, or by a base that moves: the mean is as far off as a fit with it is."""
    out = np.zeros((PARAMETERS, PARAMETERS))
    if swing is None:
        return out
    change = (swing.phi - phi)[:4]
    out[:4, :4] = _UNSURE**2 * np.outer(change, change)
    moved = phi[0] * swing.phi[1:4] / swing.phi[0] - phi[1:4]
    out[1:4, 1:4] += _UNSURE**2 * np.eye(3) * float(moved @ moved) / 3.0
    inertia = (phi[4] + phi[7] + phi[9]) / 3.0
    out[4:, 4:] += inertia**2 * np.eye(PARAMETERS - 4)
    return out
