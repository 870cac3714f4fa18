# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""From recorded joint positions and efforts to low-passed regressor rows.

As for a wrist sensor: velocities and accelerations from a local quartic through the positions
(`kinematics.polynomial`), efforts averaged over 10 ms (`signals.bins`), then the same Hann low-pass
on the regressor and on the efforts (`low_pass`), which costs no bias.

Where a joint hardly moves, its friction is anything between the two directions'. The model holds
``c fc`` with ``|c| < 1`` there, ``c`` the low-passed sign (or fading sign) of the velocity. A
motion that begins and ends smoothly creeps for a second; rows of full weight would then have
the other parameters make up for friction that is there, and that the model lacks.

All rows end in one small triangular factor per output: ``|F_j [phi; -1]|^2`` is the sum of squared
residuals of output j over all samples (Sousa and Cortesao 2014, eqs 64-71, one joint at a time, so
that joints can be weighted afterwards)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InvalidData, NotEnoughData
from ..inertia import Array
from ..kinematics.polynomial import (
    choose_window,
    fit_quartics,
    gather_samples,
    has_coverage,
    measure_spacing,
    parts_in_memory,
)
from ..linalg import triangular_factors
from ..signals.bins import BIN_NS, average_bins
from ..signals.low_pass import FilteredRows, ZeroPhaseFilter, make_low_pass
from .joint_terms import COULOMB, NO_TERMS, STRIBECK
from .model import RobotModel

CHUNK = 2000  # samples whose regressors are in memory at a time, and in how many bytes at most:
_CHUNK_BYTES = 8_000_000  # memory that is used again need not be asked for again, which costs more


@dataclass(frozen=True)
class Compressed:
    """Factors of a recording.

    Attributes:
        factors: (k, p + 1, p + 1), one for each output (joint, or row of the floating base).
        counts: (k,) samples in each.
    """

    factors: Array
    counts: Array

    @property
    def size(self) -> int:
        """Number p of parameters."""
        return self.factors.shape[2] - 1

    def squares(self, phi: Array) -> Array:
        """Sum of squared residuals (k,) of each output, for parameters (p,)."""
        return np.sum((self.factors @ np.append(phi, -1.0))**2, axis=1)

    def rms(self, phi: Array) -> Array:
        """Root mean square residual (k,) of each output [N m]."""
        return np.sqrt(self.squares(phi) / self.counts)

    def relative_error(self, phi: Array) -> float:
        """``|omega - W phi| / |omega|`` over all outputs (Sousa and Cortesao 2014, eq. 84)."""
        return float(np.sqrt(self.squares(phi).sum() / self.squares(np.zeros(self.size)).sum()))

    def stack(self, noise: Array | None = None) -> Array:
        """Factor (p + 1, p + 1) of all outputs, each divided by its noise (k,) [N m]; None: 1."""
        rows, outputs = self._rows
        if noise is not None:
            rows = rows / np.asarray(noise)[outputs, None]
        return triangular_factors(rows)

    @cached_property
    def _rows(self) -> tuple[Array, np.ndarray]:
        """All rows of the factors that are not zero (n, p + 1), and the output of each (n,)."""
        used = self.factors.any(axis=2)
        return self.factors[used], np.nonzero(used)[0]

    def __add__(self, other: Compressed) -> Compressed:
        """The factors of both recordings together."""
        both = zip(self.factors, other.factors, strict=True)
        return Compressed(np.stack([triangular_factors(np.concatenate(pair)) for pair in both]),
                          self.counts + other.counts)


def compress_rows(rows: Array, target: Array) -> Compressed:
    """Factors of regressor rows (n, k, p) and measured outputs (n, k).

    Raises:
        InvalidData: shapes do not fit, or numbers are not finite.
        NotEnoughData: no rows.
    """
    if target.shape != rows.shape[:2]:
        raise InvalidData(f"outputs have shape {target.shape}; expected {rows.shape[:2]}")
    if len(rows) == 0:
        raise NotEnoughData("there is no sample")
    if not np.isfinite(target).all():
        raise InvalidData("outputs hold numbers that are not finite")
    return Compressed(factors_of_joints(np.concatenate([rows, target[..., None]], axis=2)),
                      np.full(rows.shape[1], len(rows)))


def factors_of_joints(rows: Array) -> Array:
    """Triangular factors (k, width, width) of rows (n, k, width) of k joints.

    A joint feels only what lies beyond it: most columns of most joints are zero.
    """
    factors = np.zeros((rows.shape[1], rows.shape[2], rows.shape[2]))
    for j, factor in enumerate(factors):
        columns = np.flatnonzero(rows[:, j].any(axis=0))
        upper = triangular_factors(rows[:, j, columns])
        factor[np.ix_(np.arange(len(upper)), columns)] = upper
    return factors


def equivalent_white_noise(residual: Array, least: Array) -> Array:
    """Noise (k,) of independent rows that carry as much information as these correlated ones.

    The root mean square times the root of the integrated autocorrelation time, ``1 + 2 sum rho``,
    summed until its first pair of lags that is not positive (Geyer 1992).

    Args:
        residual: (n, k), evenly spaced but for gaps; least: (k,) lower bound of the answer.
    """
    n = len(residual)
    size = 2 ** int(np.ceil(np.log2(2 * n)))
    spectrum = np.fft.rfft(residual, size, axis=0)
    covariance = np.fft.irfft(np.abs(spectrum)**2, size, axis=0)[:n]
    power = np.maximum(covariance[0], np.finfo(float).tiny)
    rho = covariance / power
    pairs = rho[:-1:2][:n // 2] + rho[1::2][:n // 2]
    positive = np.cumprod(pairs > 0.0, axis=0)
    time = np.maximum(2.0 * (pairs * positive).sum(axis=0) - 1.0, 1.0)
    return np.maximum(np.sqrt(power / n * time), least)


WINDOW, LOW_PASS = 0.15, 0.4  # s
BIN = BIN_NS * 1e-9  # s
BREAK_NS = 2_000_000_000  # without samples: what follows is another recording
_SECOND = 1_000_000_000


@dataclass(frozen=True)
class JointRecording:
    """Joint positions and efforts at the same times.

    Attributes:
        stamps: (n,) increasing [ns].
        q: (n, joints) [rad] or [m]; effort: (n, joints) [N m], [N], or [A].

    Raises:
        InvalidData: shapes do not fit, numbers are not finite, or stamps do not increase.
    """

    stamps: np.ndarray
    q: Array
    effort: Array

    def __post_init__(self) -> None:
        n = len(self.stamps)
        for name, array in (("q", self.q), ("effort", self.effort)):
            if array.ndim != 2 or len(array) != n or not np.isfinite(array).all():
                raise InvalidData(f"{name} has shape {array.shape}, expected {n} rows of finite "
                                  "numbers")
        if not np.all(np.diff(self.stamps) > 0):
            raise InvalidData("stamps of the joint states do not increase")

    @classmethod
    def from_seconds(cls, t: ArrayLike, q: ArrayLike, effort: ArrayLike) -> JointRecording:
        """A recording with times (n,) in seconds; samples that repeat a time are left out."""
        stamps = np.round(np.asarray(t, dtype=float) * 1e9).astype(np.int64)
        new = np.append(True, np.diff(stamps) > 0)
        return cls(stamps[new], np.asarray(q, dtype=float)[new],
                   np.asarray(effort, dtype=float)[new])

    @classmethod
    def join(cls, recordings: Sequence[JointRecording]) -> JointRecording:
        """Recordings of the same joints one after the other, with breaks between them that no
        filter bridges; the first keeps its times."""
        if len(recordings) == 1:
            return recordings[0]
        stamps = [recordings[0].stamps]
        for recording in recordings[1:]:
            later = stamps[-1][-1] + 2 * BREAK_NS - recording.stamps[0]
            # Whole seconds, so that its samples fall into the same bins as without the others.
            stamps.append(recording.stamps + -(-later // _SECOND) * _SECOND)
        return cls(np.concatenate(stamps), np.concatenate([r.q for r in recordings]),
                   np.concatenate([r.effort for r in recordings]))

    def motion(self, wanted: np.ndarray, window: float) -> tuple[Array, Array, Array, np.ndarray]:
        """As `joint_motion`. The last one is kept: a dozen models ask for it, one after the other.
        """
        key, held = (wanted.tobytes(), window), self._last_motion
        if key not in held:
            held.clear()
            held[key] = joint_motion(self, wanted, window)
        return held[key]

    def filtered_bodies(self, model: RobotModel, delay: float, window: float, low_pass: float
                        ) -> FilteredRecording:
        """As `filter_recording`, without joint terms. Two are kept: a dozen models that differ in
        their terms ask for them."""
        for key, like, rows in self._last_bodies:
            if key == (delay, window, low_pass) and like.has_bodies_of(model):
                return rows
        bare = model.with_terms(NO_TERMS)
        rows = filter_regressor(bare.regressor, self, delay, window, low_pass)
        self._last_bodies.append(((delay, window, low_pass), bare, rows))
        return rows

    @cached_property
    def _last_bodies(self) -> deque[tuple[tuple[float, ...], RobotModel, FilteredRecording]]:
        return deque(maxlen=2)

    @cached_property
    def _last_motion(self) -> dict[tuple[bytes, float],
                                   tuple[Array, Array, Array, np.ndarray]]:
        return {}

    def split(self, share: float) -> tuple[JointRecording, JointRecording]:
        """The first part of the time, and the rest."""
        last = self.stamps[0] + share * (self.stamps[-1] - self.stamps[0])
        k = int(np.searchsorted(self.stamps, last, side="right"))
        return (JointRecording(self.stamps[:k], self.q[:k], self.effort[:k]),
                JointRecording(self.stamps[k:], self.q[k:], self.effort[k:]))


@dataclass(frozen=True)
class FilteredRecording:
    """Low-passed rows of a recording.

    Attributes:
        time: (r,) [s] since the epoch of the stamps.
        regressor: (r, joints, p); effort: (r, joints).
        effort_rate: (r, joints) time derivative of the effort, filtered alike [1/s].
    """

    time: Array
    regressor: Array
    effort: Array
    effort_rate: Array

    def compress(self, weights: Array | None = None) -> Compressed:
        """Triangular factors of these rows, each times its weight (r, joints)."""
        w = np.ones_like(self.effort) if weights is None else weights
        return compress_rows(self.regressor * w[..., None], self.effort * w)

    def part(self, rows: slice) -> FilteredRecording:
        """Some of the rows."""
        return FilteredRecording(self.time[rows], self.regressor[rows], self.effort[rows],
                                 self.effort_rate[rows])


def filter_recording(model: RobotModel, recording: JointRecording, delay: float = 0.0,
                     window: float = WINDOW, low_pass: float = LOW_PASS) -> FilteredRecording:
    """Low-passed regressor rows and efforts.

    Args:
        delay: how much later than the positions the efforts are stamped [s].
        window: of the quartic [s]; longer where samples are sparse. low_pass: of the kernel [s].

    Raises:
        InvalidData: the model has other joints. NotEnoughData: too short, or too sparse.
    """
    for what, there in (("positions", recording.q), ("efforts", recording.effort)):
        if there.shape[1] != model.nv:
            raise InvalidData(f"the recording has {there.shape[1]} {what}, the model {model.nv}")

    if model.terms.load_bodies or not model.terms.names:
        return filter_regressor(partial(model.regressor, span=BIN), recording, delay, window,
                                low_pass)
    bodies = recording.filtered_bodies(model, delay, window, low_pass)
    terms = filter_regressor(partial(model.term_regressor, span=BIN), recording, delay, window,
                             low_pass)
    return replace(bodies, regressor=np.concatenate([bodies.regressor, terms.regressor], axis=2))


def filter_regressor(regressor: Callable[[Array, Array, Array], Array], recording: JointRecording,
                     delay: float = 0.0, window: float = WINDOW, low_pass: float = LOW_PASS
                     ) -> FilteredRecording:
    """Low-passed rows of any regressor (n, joints, p) of the motion; see `filter_recording`.

    A joint feels only what lies beyond it: entries that are zero whatever the motion are not
    filtered.

    Raises:
        NotEnoughData: too short, or too sparse.
    """
    rng = np.random.default_rng(0)
    random = [rng.normal(size=(3, recording.q.shape[1])) for _ in range(3)]
    felt = np.asarray(regressor(random[0], random[1], random[2]).any(axis=0))

    def rows(q: Array, dq: Array, ddq: Array) -> Array:
        return regressor(q, dq, ddq)[:, felt]

    return filter_columns(rows, felt, recording, delay, window, low_pass)


def filter_columns(columns: Callable[[Array, Array, Array], Array], felt: np.ndarray,
                   recording: JointRecording, delay: float = 0.0, window: float = WINDOW,
                   low_pass: float = LOW_PASS) -> FilteredRecording:
    """Low-passed columns of any kind and efforts; see `filter_recording`.

    Args:
        columns: gives them (n, d) for motion q, dq, ddq (n, joints): the entries of a regressor
            that are `felt` (joints, p), d of them.

    Raises:
        NotEnoughData: too short, or too sparse.
    """
    outputs = recording.effort.shape[1]
    if len(recording.stamps) < 2:
        raise NotEnoughData("the recording holds fewer than two samples")
    bins = average_bins(recording.stamps, recording.effort)
    q, dq, ddq, valid = recording.motion(bins.stamps - int(delay * 1e9), window)
    if not valid.any():
        raise NotEnoughData("the joint states are too sparse, or too short, for velocities")
    low: ZeroPhaseFilter | None = None
    parts: list[FilteredRows] = []
    most = max(min(CHUNK, _CHUNK_BYTES // max(8 * felt.size, 1)), 1)
    for part, last in _pieces(bins.number, np.flatnonzero(valid), most):
        y = np.concatenate([bins.mean[part], columns(q[part], dq[part], ddq[part])], axis=1)
        low = low or make_low_pass(low_pass, y.shape[1], outputs)
        parts.append(low.push(bins.number[part], bins.samples[part].astype(float), y))
        if last:
            parts.append(low.last_rows())
            low = low.for_next_segment()
    middle = np.concatenate([part.number for part in parts])
    if len(middle) == 0:
        raise NotEnoughData(f"the recording is too short for a filter of {low_pass:g} s")
    filtered = np.concatenate([part.columns for part in parts])
    regressor = np.zeros((len(middle), *felt.shape))
    regressor[:, felt] = filtered[:, outputs:]
    return FilteredRecording((middle + 0.5) * BIN_NS * 1e-9, regressor,
                             filtered[:, :outputs].copy(),
                             np.concatenate([part.rates for part in parts]))


def _pieces(number: np.ndarray, used: np.ndarray, most: int) -> Iterator[tuple[np.ndarray, bool]]:
    """Indices `used` of bins with these numbers, in pieces of at most so many, and whether a break,
    or the end, follows."""
    breaks = np.flatnonzero(np.diff(number[used]) * BIN_NS >= BREAK_NS) + 1
    for run in np.split(used, breaks):
        for begin in range(0, len(run), most):
            yield run[begin:begin + most], begin + most >= len(run)


def joint_motion(recording: JointRecording, wanted: np.ndarray, window: float = WINDOW
                 ) -> tuple[Array, Array, Array, np.ndarray]:
    """Position, velocity, acceleration (k, joints) at wanted times (k,) [ns]; where valid (k,)."""
    length = choose_window(measure_spacing(recording.stamps), window)
    out = np.zeros((3, len(wanted), recording.q.shape[1]))
    valid = np.zeros(len(wanted), dtype=bool)
    for part in parts_in_memory(recording.stamps, wanted, length):
        index, u, weights = gather_samples(recording.stamps, wanted[part], length)
        valid[part] = has_coverage(u, weights)
        out[:, part] = fit_quartics(u, weights, recording.q[index], length)
    return out[0], out[1], out[2], valid


_WRONG = 0.1  # part of the Coulomb friction that is wrong near rest, from which on rows are doubted
_LEAST = 1e-3  # weight of a row before friction is known


def friction_weight(sign: Array, ratio: float | Array) -> Array:
    """Weights of rows, as if doubtful friction were noise: uniform from minus to plus.

    Args:
        sign: c, 1 or -1 where the joint moves on; ratio: Coulomb friction over the noise.
    """
    unsure = np.maximum(1.0 - sign**2, 0.0)
    return (1.0 + unsure * np.square(ratio) / 3.0) ** -0.5


def rest_weights(model: RobotModel, regressor: Array, friction: Array, noise: Array
                 ) -> Array:
    """Weights (r, joints) of rows of a regressor (r, joints, p).

    Args:
        friction: (joints,) that may act either way; noise: (joints,) [N m].
    """
    out = np.ones(regressor.shape[:2])
    for j, sign in _signs(model, regressor).items():
        out[:, j] = friction_weight(sign, friction[j] / noise[j])
    return out


def moving_weights(model: RobotModel, regressor: Array) -> Array:
    """Weights (r, joints) before friction is known: rows count by the square of their sign."""
    out = np.ones(regressor.shape[:2])
    for j, coulomb in _signs(model, regressor).items():
        sign = np.minimum(np.abs(coulomb), 1.0)
        if sign.max() > 0.5:  # else it never moves, and one row is as good as another
            out[:, j] = np.maximum(sign**2, _LEAST)
    return out


def friction_in_doubt(model: RobotModel, regressor: Array, phi: Array, error: Array,
                      noise: Array) -> Array:
    """Friction (joints,) that may act either way near rest [N m], see `friction_weight`.

    As much as makes up for errors that are larger there than elsewhere, twice over, and at most all
    the Coulomb friction: where the model has friction near rest right, its rows keep their weight.

    Args:
        phi: (p,) of a fit that leaves rows near rest out; error: (r, joints) of that fit; noise:
            (joints,) its rms elsewhere [N m].
    """
    out = np.zeros(error.shape[1])
    stribeck = _columns_of(model, STRIBECK)
    signs = _signs(model, regressor)
    for j, term in coulomb_columns(model).items():
        unsure = np.maximum(1.0 - signs[j]**2, 0.0)
        total = float(unsure @ unsure)
        if total > 0.0:
            excess = max(float(unsure @ (error[:, j]**2 - noise[j]**2)) / total, 0.0)
            friction = abs(phi[term] + (phi[stribeck[j]] if j in stribeck else 0.0))
            wrong = np.sqrt(3.0 * excess)
            if wrong > _WRONG * friction:
                out[j] = min(friction, 2.0 * wrong)
    return out


def _signs(model: RobotModel, regressor: Array) -> dict[int, Array]:
    """Column (r,) of the Coulomb friction of each row of the regressor that has one."""
    return {j: regressor[:, j, term] for j, term in coulomb_columns(model).items()}


def coulomb_columns(model: RobotModel) -> dict[int, int]:
    """Column of the Coulomb friction of each row of the regressor that has one."""
    return _columns_of(model, COULOMB)


def _columns_of(model: RobotModel, term: str) -> dict[int, int]:
    """Column of a term of each row of the regressor that has one."""
    if term not in model.terms.names:
        return {}
    first = model.nv - len(model.joint_names)
    return {first + k: model.term_index(joint, term)
            for k, joint in enumerate(model.joint_names) if model.terms.has(k, term)}
