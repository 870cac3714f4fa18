# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""From recorded joint positions and efforts to low-passed regressor rows.

Velocities and accelerations come from local quartics through the positions, efforts are averaged
over 10 ms; then the same Hann low-pass on the regressor and on the efforts, which costs no bias.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.ndimage import binary_dilation

from ..errors import InvalidData, NotEnoughData
from ..inertia import Array
from ..motion.motion import BIN, BIN_NS
from ..motion.quartic import fit_quartics, is_covered, near, window_length
from ..samples.stamps import spacing_of
from .factors import Compressed, compress_rows
from .joint_terms import NO_TERMS
from .model import RobotModel

LOW_PASS = 0.4  # s
BREAK_NS = 2_000_000_000  # without samples: what follows is another recording
CHUNK = 200  # rows whose regressors are in memory at a time
_AT_ONCE = 20_000  # bins whose quartics are fitted at once
_NEAR = 5  # bins; samples of a topic as slow as 10 Hz are not holes in it
_COVERED = 0.6  # share of a kernel that must lie that near to samples
_SECOND = 1_000_000_000

Regressor = Callable[[Array, Array, Array], Array]


class BinnedMotion(NamedTuple):
    """Bins of 10 ms in which the motion is known: number (n,), samples (n,), effort (n, joints),
    position, velocity and acceleration (n, joints)."""

    number: np.ndarray
    samples: np.ndarray
    effort: Array
    q: Array
    dq: Array
    ddq: Array


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

    def motion(self, delay: float = 0.0) -> BinnedMotion:
        """Bins of efforts, with the motion a delay [s] before; the newest is kept for other models.

        Raises:
            NotEnoughData: samples are too sparse, or too few.
        """
        if delay not in self._motions:
            self._motions.clear()
            self._motions[delay] = _binned_motion(self, delay)
        return self._motions[delay]

    @cached_property
    def _motions(self) -> dict[float, BinnedMotion]:
        return {}

    @cached_property
    def bodies(self) -> list[tuple[tuple[float, float], RobotModel, FilteredRecording]]:
        """Rows of bodies without joint terms that were asked for last, see `filter_recording`."""
        return []

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
                     low_pass: float = LOW_PASS) -> FilteredRecording:
    """Low-passed regressor rows and efforts.

    Args:
        delay: how much later than the positions the efforts are stamped [s].
        low_pass: length of the kernel [s].

    Raises:
        InvalidData: the model has other joints. NotEnoughData: too short, or too sparse.
    """
    for what, there in (("positions", recording.q), ("efforts", recording.effort)):
        if there.shape[1] != model.nv:
            raise InvalidData(f"the recording has {there.shape[1]} {what}, the model {model.nv}")
    if model.terms.load_bodies or not model.terms.names:
        return filter_regressor(partial(model.regressor, span=BIN), recording, delay, low_pass)
    known = recording.bodies  # models that differ in their terms share them
    key, bare = (delay, low_pass), model.with_terms(NO_TERMS)
    bodies = next((rows for k, m, rows in known if k == key and m.has_bodies_of(bare)), None)
    if bodies is None:
        bodies = filter_regressor(bare.regressor, recording, delay, low_pass)
        known[:] = [*known[-1:], (key, bare, bodies)]
    terms = filter_regressor(partial(model.term_regressor, span=BIN), recording, delay, low_pass)
    return replace(bodies, regressor=np.concatenate([bodies.regressor, terms.regressor], axis=2))


def filter_regressor(regressor: Regressor, recording: JointRecording, delay: float = 0.0,
                     low_pass: float = LOW_PASS) -> FilteredRecording:
    """Low-passed rows of any regressor (n, joints, p) of the motion; see `filter_recording`.

    Raises:
        NotEnoughData: too short, or too sparse.
    """
    motion = recording.motion(delay)
    half = max(round(low_pass / BIN) // 2, 1)
    step = max(half // 4, 1)
    kernel = np.cos(0.5 * np.pi * np.arange(-half, half + 1) / (half + 1)) ** 2
    # A joint feels only what lies beyond it: entries that are always zero are not filtered.
    trial = np.random.default_rng(0).normal(size=(3, 3, recording.q.shape[1]))
    felt = np.asarray(regressor(*trial).any(axis=0))
    parts = [_filter(regressor, felt, run, middles, kernel, step)
             for run, middles in _runs(motion, half, step)]
    if not sum(len(part.time) for part in parts):
        raise NotEnoughData(f"the recording is too short for a filter of {low_pass:g} s")
    return FilteredRecording(*(np.concatenate([getattr(part, name) for part in parts])
                               for name in vars(parts[0])))


def _runs(motion: BinnedMotion, half: int, step: int) -> Iterator[tuple[BinnedMotion, np.ndarray]]:
    """Bins without a break, and the middles of the rows that have all their kernel in them."""
    breaks = np.flatnonzero(np.diff(motion.number) * BIN_NS >= BREAK_NS) + 1
    for run in np.split(np.arange(len(motion.number)), breaks):
        first, last = motion.number[run[[0, -1]]]
        middles = np.arange(-(-(first + half) // step) * step, last - half + 1, step)
        for k in range(0, len(middles), CHUNK):
            some = middles[k:k + CHUNK]
            low, high = np.searchsorted(motion.number, (some[0] - half, some[-1] + half + 1))
            yield BinnedMotion(*(column[low:high] for column in motion)), some


def _filter(regressor: Regressor, felt: np.ndarray, motion: BinnedMotion, middles: np.ndarray,
            kernel: Array, step: int) -> FilteredRecording:
    """Rows with these middles (r,), but those in holes."""
    first, outputs = int(middles[0]) - len(kernel) // 2, motion.effort.shape[1]
    at = motion.number - first
    rate = np.gradient(motion.effort, BIN * motion.number, axis=0) if len(at) > 1 else (
        0.0 * motion.effort)
    grid = np.zeros((step * (len(middles) - 1) + len(kernel), 1 + 2 * outputs + int(felt.sum())))
    grid[at] = motion.samples[:, None] * np.concatenate([
        np.ones((len(at), 1)), motion.effort, rate,
        regressor(motion.q, motion.dq, motion.ddq)[:, felt]], axis=1)
    there = binary_dilation(grid[:, 0] > 0.0, iterations=_NEAR)
    sums, covered = np.zeros((len(middles), grid.shape[1])), np.zeros(len(middles))
    for k, weight in enumerate(kernel):
        under = slice(k, k + step * (len(middles) - 1) + 1, step)
        sums += weight * grid[under]
        covered += weight * there[under]
    good = (covered > _COVERED * kernel.sum()) & (sums[:, 0] > 0.0)
    means = sums[good, 1:] / sums[good, :1]
    rows = np.zeros((len(means), *felt.shape))
    rows[:, felt] = means[:, 2 * outputs:]
    return FilteredRecording((middles[good] + 0.5) * BIN, rows, means[:, :outputs],
                             means[:, outputs:2 * outputs])


def _binned_motion(recording: JointRecording, delay: float) -> BinnedMotion:
    stamps = recording.stamps
    if len(stamps) < 2:
        raise NotEnoughData("the recording holds fewer than two samples")
    number, begin, count = np.unique(stamps // BIN_NS, return_index=True, return_counts=True)
    late = np.add.reduceat(stamps - stamps // BIN_NS * BIN_NS, begin) // count
    effort = np.add.reduceat(recording.effort, begin) / count[:, None]
    wanted = number * BIN_NS + late - int(delay * 1e9)
    window = window_length(spacing_of(stamps))
    parts, known = [], []
    for k in range(0, len(wanted), _AT_ONCE):
        samples = near(stamps, wanted[k:k + _AT_ONCE], window)
        known.append(is_covered(samples))
        parts.append(np.stack(fit_quartics(samples, recording.q, window)[:3]))
    good, motion = np.concatenate(known), np.concatenate(parts, axis=1)
    if not good.any():
        raise NotEnoughData("the joint states are too sparse, or too short, for velocities")
    return BinnedMotion(number[good], count[good].astype(float), effort[good],
                        *motion[:, good])
