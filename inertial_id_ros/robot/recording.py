# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""From recorded joint positions and efforts to low-passed regressor rows.

Velocities and accelerations come from local quartics through the positions, efforts are averaged
over 10 ms; then the same Hann low-pass on the regressor and on the efforts, which costs no bias.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from ..errors import InvalidData, NotEnoughData, RecordingError
from ..inertia import Array
from ..io.fields import as_rows
from ..io.inputs import JointStates
from ..model.problem import triangle
from ..motion.motion import BIN, BIN_NS
from ..motion.track import fit_quartics, window_length
from ..samples.ring import spacing_of
from .model import RobotModel

LOW_PASS = 0.4  # s
_LARGEST = 1e9  # of positions and efforts: no robot has more
PAUSE = 20  # bins between two of a slow topic at most; longer is a break


def of_joints(states: JointStates, names: Sequence[str], turned: Sequence[str] = ()) -> JointStates:
    """The samples of these joints, in the order of names and of time, some with the opposite sign
    of their efforts; samples that repeat a time or are no numbers are left out.

    Raises:
        RecordingError: a joint is missing, or one to turn; or no two samples are left.
        InvalidData: arrays of other shapes or types.
    """
    there, count = states.names or tuple(names), np.shape(states.positions)[-1]
    if not set(names) <= set(there) or count != len(there):
        raise RecordingError(
            f"the recording has {count} joints{', ' * bool(states.names)}"
            f"{', '.join(states.names) or ' without names'}; the robot description has "
            f"{', '.join(names)}: --joints names those that moved and that it holds")
    for name in set(turned) - set(names):
        raise RecordingError(f"effort_sign names '{name}'; joints are {', '.join(names)}")
    stamps, columns = np.asarray(states.stamps), [there.index(name) for name in names]
    if stamps.dtype.kind not in "iu":
        raise InvalidData(f"stamps are of type {stamps.dtype}; they must be whole nanoseconds, "
                          "e.g. np.round(1e9 * seconds).astype(np.int64)")
    q, effort = (as_rows(what, values, (len(stamps), len(there)))[:, columns] for what, values in (
        ("positions", states.positions), ("efforts", np.asarray(states.efforts))))
    # Comparisons with NaN are false.
    good = np.flatnonzero((np.abs(np.hstack([q, effort])) < _LARGEST).all(axis=1))
    times, first = np.unique(stamps[good], return_index=True)
    if len(times) < 2:
        never = np.array(names)[~np.isfinite(q + effort).any(axis=0)]
        raise RecordingError("the recording holds fewer than two joint states with positions and "
                             f"efforts of {', '.join(never) or 'all joints'}; --joints names those "
                             "that moved")
    sign = np.where(np.isin(names, turned), -1.0, 1.0)
    return JointStates(times, tuple(names), q[good[first]], sign * effort[good[first]])


@dataclass(frozen=True)
class Rows:
    """Low-passed rows of a recording, in order of time."""

    model: RobotModel
    time: Array  # (r,) [s] since the epoch of the stamps, in the middle of each filter
    regressor: Array  # (r, nv, p)
    effort: Array  # (r, nv)
    weights: Array | float = 1.0  # (r, nv), or of all
    alike: float = 1.0  # rows that say as much as one of white noise would: filters overlap

    def __getitem__(self, some: slice) -> "Rows":
        return Rows(self.model, self.time[some], self.regressor[some], self.effort[some],
                    alike=self.alike)

    def factor(self, noise: Array | float = 1.0) -> tuple[Array, Array]:
        """Triangular rows (p + 1, p) and target (p + 1,) with the same squares for every phi, each
        output divided by its noise (nv,) (Sousa and Cortesao 2014, eqs 64-71)."""
        scale = np.broadcast_to(self.weights / noise, self.effort.shape)[..., None]
        every = np.concatenate([self.regressor, self.effort[..., None]], axis=2) * scale
        upper = triangle(every.reshape(-1, every.shape[2]))
        return upper[:, :-1], upper[:, -1]

    def residual(self, phi: Array) -> Array:
        """What parameters (p,) leave of the efforts (r, nv), weighted."""
        return np.asarray(self.weights * (self.effort - self.regressor @ phi))


class RowFilter:
    """The low-pass of a recording, for any regressor of its motion (raises NotEnoughData: samples
    are too sparse, or too few); delay: how much later than the positions efforts are stamped [s].

    Attributes:
        low_pass: length of the kernel [s]; half: of a side of it [s].
        motion: position, velocity and acceleration (3, n, joints) of the bins of 10 ms in which
            they are known, without leaps by a full turn; number: (n,) of these bins.
        weights: (r, n) sparse, of the bins in each row.
        time: (r,) [s] of the rows; effort: (r, joints) low-passed; effort_rate: its derivative,
            filtered alike [1/s].
    """

    def __init__(self, states: JointStates, delay: float = 0.0, low_pass: float = LOW_PASS) -> None:
        stamps, q = states.stamps, np.unwrap(states.positions, axis=0)
        number, begin, count = np.unique(stamps // BIN_NS, return_index=True, return_counts=True)
        effort = np.add.reduceat(np.asarray(states.efforts), begin) / count[:, None]
        wanted = number * BIN_NS + np.add.reduceat(stamps % BIN_NS, begin) // count - int(
            delay * 1e9)
        *motion, _, good = fit_quartics(stamps, q, wanted, window_length(spacing_of(stamps)))
        if not good.any():
            raise NotEnoughData("the joint states are too sparse, or too short, for velocities")
        self.number, count, effort = number[good], count[good], effort[good]
        self.motion = np.stack(motion)[:, good]
        half = max(round(low_pass / BIN) // 2, 1)
        step = max(half // 4, 1)
        first, last = self.number[[0, -1]]
        middles = np.arange(-(-(first + half) // step) * step, last - half + 1, step)
        begin, end = (np.searchsorted(self.number, middles + side) for side in (-half, half + 1))
        breaks = np.cumsum(np.diff(self.number, prepend=first) > PAUSE)
        good = (breaks[begin] == breaks[end - 1]) & (self.number[begin] <= middles) & (
            middles <= self.number[end - 1])
        if not good.any():
            raise NotEnoughData(f"the recording is too short for a filter of {low_pass:g} s")
        middles, begin, size = middles[good], begin[good], (end - begin)[good]
        row = np.repeat(np.arange(len(size)), size)
        column = np.arange(len(row)) + (begin - np.cumsum(size) + size)[row]
        kernel = np.cos(0.5 * np.pi * (np.arange(-half, half + 1) / (half + 1))) ** 2
        weights = count[column] * kernel[self.number[column] - middles[row] + half]
        self.weights = sparse.csr_array((weights / np.bincount(row, weights)[row], (row, column)),
                                      (len(middles), len(self.number)))
        self.low_pass, self.half = low_pass, (half + 1) * BIN
        self.time = (middles + 0.5) * BIN
        self._alike = max(float(np.sum(kernel) ** 2 / np.sum(kernel**2)) / step, 1.0)
        self.effort = self.weights @ effort
        self.effort_rate = self.weights @ np.gradient(effort, BIN * self.number, axis=0)

    def mean(self, regressor: Callable[[Array, Array, Array], Array]) -> Array:
        """Low-passed rows (r, joints, p) of a regressor (n, joints, p) of the motion."""
        rows = regressor(*self.motion)
        return np.reshape(self.weights @ rows.reshape(len(rows), -1), (-1, *rows.shape[1:]))

    def rows(self, model: RobotModel) -> Rows:
        """Low-passed rows of a model."""
        return Rows(model, self.time, self.mean(model.regressor), self.effort, alike=self._alike)

    def split(self, share: float) -> tuple[slice, slice]:
        """The rows of a share of the time, 1: all, and those after it, which share no sample."""
        cut = self.time[0] + share * np.ptp(self.time) if share < 1.0 else np.inf
        before, after = np.searchsorted(self.time, cut + np.array([-1, 1]) * self.half)
        return slice(0, before), slice(after, None)
