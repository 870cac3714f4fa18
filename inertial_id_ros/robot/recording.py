# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""From recorded joint positions and efforts to low-passed regressor rows.

Velocities and accelerations come from local quartics through the positions, efforts are averaged
over 10 ms; then the same Hann low-pass on the regressor and on the efforts, which costs no bias.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.ndimage import binary_dilation

from ..errors import NotEnoughData
from ..inertia import Array
from ..motion.motion import BIN, BIN_NS
from ..motion.quartic import fit_quartics, is_covered, near, window_length
from ..samples.stamps import spacing_of
from .factors import Compressed, compress_rows
from .model import RobotModel

LOW_PASS = 0.4  # s
BREAK_NS = 2_000_000_000  # between recordings that are joined
_AT_ONCE = 2000  # bins whose motion and regressors are in memory at a time
_NEAR = 5  # bins; samples of a topic as slow as 10 Hz are not holes in it
_COVERED = 0.6  # share of a kernel that must lie that near to samples
_SECOND = 1_000_000_000

Regressor = Callable[[Array, Array, Array], Array]


@dataclass(frozen=True)
class JointRecording:
    """Joint positions and efforts at the same times.

    Attributes:
        stamps: (n,) increasing [ns].
        q: (n, joints) [rad] or [m]; effort: (n, joints) [N m], [N], or [A].
    """

    stamps: np.ndarray
    q: Array
    effort: Array

    @classmethod
    def join(cls, recordings: Sequence[JointRecording]) -> JointRecording:
        """Recordings of the same joints one after the other, with breaks between them that no
        filter bridges; the first keeps its times."""
        stamps = [recordings[0].stamps]
        for recording in recordings[1:]:
            later = stamps[-1][-1] + 2 * BREAK_NS - recording.stamps[0]
            # Whole seconds, so that its samples fall into the same bins as without the others.
            stamps.append(recording.stamps + -(-later // _SECOND) * _SECOND)
        return cls(np.concatenate(stamps), np.concatenate([r.q for r in recordings]),
                   np.concatenate([r.effort for r in recordings]))

    def part(self, samples: slice) -> JointRecording:
        """Some of the samples."""
        return JointRecording(self.stamps[samples], self.q[samples], self.effort[samples])

    def split(self, share: float) -> tuple[JointRecording, JointRecording]:
        """The first part of the time, and the rest."""
        last = self.stamps[0] + share * (self.stamps[-1] - self.stamps[0])
        k = int(np.searchsorted(self.stamps, last, side="right"))
        return self.part(slice(0, k)), self.part(slice(k, None))


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
class FilteredRecording:
    """Low-passed rows of a recording.

    Attributes:
        time: (r,) [s] since the epoch of the stamps.
        regressor: (r, joints, p); effort: (r, joints).
    """

    time: Array
    regressor: Array
    effort: Array

    def compress(self, weights: Array) -> Compressed:
        """Triangular factors of these rows, each times its weight (r, joints)."""
        return compress_rows(self.regressor * weights[..., None], self.effort * weights)


class RowFilter:
    """The low-pass of a recording, for any regressor of its motion.

    Args:
        delay: how much later than the positions the efforts are stamped [s].
        low_pass: length of the kernel [s].

    Attributes:
        motion: of the bins; time: (r,) [s] of the rows; effort: (r, joints) low-passed.

    Raises:
        NotEnoughData: samples are too sparse, or too few.
    """

    def __init__(self, recording: JointRecording, delay: float = 0.0, low_pass: float = LOW_PASS
                 ) -> None:
        self.motion = binned_motion(recording, delay)
        half = max(round(low_pass / BIN) // 2, 1)
        step = max(half // 4, 1)
        kernel = np.cos(0.5 * np.pi * np.arange(-half, half + 1) / (half + 1)) ** 2
        first, last = self.motion.number[[0, -1]]
        samples = np.zeros(last - first + 1)
        samples[self.motion.number - first] = self.motion.samples
        middles = np.arange(-(-(first + half) // step) * step, last - half + 1, step)
        under = middles[:, None] - first + np.arange(-half, half + 1)
        near_samples = binary_dilation(samples > 0.0, iterations=_NEAR)
        weights = samples[under] * kernel
        good = (near_samples[under] @ kernel > _COVERED * kernel.sum()) & weights.any(axis=1)
        if not good.any():
            raise NotEnoughData(f"the recording is too short for a filter of {low_pass:g} s")
        weights = weights[good] / weights[good].sum(axis=1, keepdims=True)
        row, column = np.nonzero(weights)
        bins = (np.cumsum(samples > 0.0) - 1)[under[good]]
        self._mean = sparse.csc_array((weights[row, column], (row, bins[row, column])),
                                      (len(weights), len(self.motion.number)))
        self.time: Array = (middles[good] + 0.5) * BIN
        self.effort: Array = self._mean @ self.motion.effort

    @property
    def effort_rate(self) -> Array:
        """Time derivative of the effort (r, joints), filtered alike [1/s]."""
        return np.asarray(self._mean @ np.gradient(self.motion.effort, BIN * self.motion.number,
                                                   axis=0))

    def regressor(self, regressor: Regressor) -> Array:
        """Low-passed rows (r, joints, p) of a regressor (n, joints, p) of the motion."""
        total: Array = np.zeros(())
        for k in range(0, len(self.motion.number), _AT_ONCE):
            some = slice(k, k + _AT_ONCE)
            rows = regressor(self.motion.q[some], self.motion.dq[some], self.motion.ddq[some])
            total = total + self._mean[:, some] @ rows.reshape(len(rows), -1)
        return total.reshape(len(self.time), *rows.shape[1:])

    def rows(self, model: RobotModel, bodies: Array | None = None) -> FilteredRecording:
        """Low-passed rows of a model.

        Args:
            bodies: (r, joints, 10 bodies) of a model that differs in its terms; None: not known.
        """
        own = self.regressor(model.body_regressor) if bodies is None else bodies
        terms = self.regressor(partial(model.term_regressor, span=BIN))
        return FilteredRecording(self.time, np.concatenate([own, terms], axis=2), self.effort)


def filter_recording(model: RobotModel, recording: JointRecording, delay: float = 0.0,
                     low_pass: float = LOW_PASS) -> FilteredRecording:
    """Low-passed regressor rows and efforts of the joints of a model, see `RowFilter` (raises
    NotEnoughData)."""
    return RowFilter(recording, delay, low_pass).rows(model)


def binned_motion(recording: JointRecording, delay: float = 0.0) -> BinnedMotion:
    """Bins of efforts, with the motion a delay [s] before (raises NotEnoughData)."""
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
    return BinnedMotion(number[good], count[good].astype(float), effort[good], *motion[:, good])
