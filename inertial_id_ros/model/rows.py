# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""From bins to slow cosine modes: the same smoothing on motion and wrench, then a cosine transform.

In the modes of a stretch without holes, stationary noise is nearly independent, with the variance
of its spectrum; leaving out the fast ones is the low-pass.
"""

from collections.abc import Callable
from copy import copy
from functools import cache, cached_property, partial

import numpy as np
from scipy.fft import dct, idct
from scipy.ndimage import uniform_filter1d
from scipy.special import chdtri

from ..motion.motion import BIN, Array
from .history import Window
from .newton_euler import GRAVITY, linear_regressor, regressor_of, rotation, skew
from .setup import Setup, low_pass

HALF = 10  # bins, of the smoothing kernel
STEP = 8  # bins from row to row
BAND = 4.0  # Hz, modes below
SHORTEST = 2 * (HALF + 1) + 6 * STEP  # bins of a stretch: it has eight rows
FEWEST = 12  # rows of a fit
REST = 0.01  # m or rad, up to which the sensor moves by noise of encoders alone
_QUIET = 4.5  # Hz, from which on motion is noise
_ABOVE = 2.5  # times the noise: power that is a signal


class Stretch:
    """Rows of bins without holes: n rows of STEP bins from bin `first` on, and its slow modes."""

    def __init__(self, begin: int, end: int, late: int, rests: bool = False) -> None:
        self.n = (end - begin - 2 - abs(late)) // STEP  # one bin each side: parts of bins of delays
        self.first = end - 1 - max(0, late) - STEP * self.n
        self.size = 1 if rests else max(int(2.0 * BAND * BIN * STEP * self.n), 3)

    def smooth(self, bins: Array, late: int) -> Array:
        """Rows (n, ...) of bins, which are `late` bins after those of the motion; beyond the ends
        bins are mirrored, as in the modes, so that white noise stays independent in these."""
        part = bins[self.first + late:][:STEP * self.n].reshape(self.n, STEP, -1)
        after, own, before = (_kernel() @ part).transpose(1, 0, 2)
        out = own + np.concatenate([before[:1], after[:-1]])
        return (out + np.concatenate([before[1:], after[-1:]])).reshape(self.n, *bins.shape[1:])


def stretches(used: np.ndarray, late: int = 0, rests: bool = False) -> list[Stretch]:
    """The stretches of used bins that are long enough."""
    edges = np.flatnonzero(np.diff(np.r_[False, used, False].astype(np.int8)))
    least = SHORTEST + abs(late)
    return [Stretch(int(a), int(b), late, rests) for a, b in edges.reshape(-1, 2) if b - a >= least]


def is_enough(used: np.ndarray) -> bool:
    """True if used bins make enough rows for a fit."""
    return sum(stretch.n for stretch in stretches(used)) >= FEWEST


class Rows:
    """Motion, wrench and regressor of a window at a set-up; modes of all stretches in turn.

    Attributes:
        n: rows; lost: by this factor a delay has made them fewer.
        time, age: (n,) from the window's begin, and to its end [s].
        rotation, place: (n, 3, 3), (n, 3) pose of the sensor.
        A: (k, 6, 10) modes of the regressor; y: (k, 6) of the wrench.
        turned: (k, 2 + 3 (j - 1), 3) change of the acceleration less gravity, by a turn about the
            base's x and y, and about the axes of each joint but the last [1/rad].
        bend: (k, j, 3, 4) the same by joints that give way, per mass and first moment.
        frequency: (k,) [Hz]; gain: (k,) of the smoothing on the power of white noise; constant:
            (k,) modes of a one in each row; of_joints: True if torques stand for the wrench.
    """

    of_joints = False

    def __init__(self, window: Window, setup: Setup) -> None:
        self.window, self.setup = window, setup
        self.late = round(setup.delay / BIN)
        self.stretches = stretches(window.used, self.late, window.rests)
        self.n = sum(s.n for s in self.stretches)
        if not self.n:
            return
        self.lost = sum(s.n for s in stretches(window.used)) / self.n
        self.time = BIN * self.smooth(np.arange(0.5, len(window.used)))
        self.age = BIN * len(window.used) - self.time
        self.frequency = np.concatenate([
            np.arange(s.size) / (2.0 * BIN * STEP * s.n) for s in self.stretches])
        self.gain, self.constant = _gain(self.frequency), self.modes(np.ones(self.n))
        self._fill(window, setup)

    def _fill(self, window: Window, setup: Setup) -> None:
        """Make what is left of the attributes."""
        motion, omega = window.motion, window.motion.omega
        bins = np.hstack([motion.acceleration, motion.alpha, *(
            part.reshape(-1, 9) for part in (omega[:, :, None] * omega[:, None],
                                             motion.rotation.transpose(0, 2, 1)))])
        slow = self.smooth(low_pass(bins, setup.filter))
        self.rotation, self.place = self.smooth(motion.rotation), self.smooth(motion.position)
        self._turn(setup)
        modes = self.modes(slow)
        # Noise of the encoders, by which a load seems lighter than it is, is left out: of each mode
        # of accelerations counts the share of its power that is signal (Wiener).
        modes[:, :6] *= np.repeat(self._per_stretch(
            self.smooth(bins[:, :6]), partial(_share_of_signal, rise=window.rise)), 3, axis=1)
        self.level = modes[:, 15:].reshape(-1, 3, 3)
        for part in (slow, modes):
            part[:, :3] -= part[:, 15:].reshape(-1, 3, 3) @ GRAVITY
        self.steady, self.upright = (linear_regressor(part[:, :15]) for part in (slow, modes))
        self._apply(setup)

    @property
    def moves(self) -> bool:
        """True if the sensor is seen to move or to turn; else accelerations are noise."""
        return bool(max(np.ptp(part, axis=0).max() for part in (self.place, self.rotation)) > REST)

    @cached_property
    def unfiltered(self) -> Array:
        """Regressor (b, 6, 10) of each bin."""
        return regressor_of(self.window.motion)

    def _turn(self, setup: Setup) -> None:
        """How the acceleration changes by turned and by bent joints."""
        motion = self.window.motion
        joints = self.smooth(motion.joints)[:, :-1]
        twists = self.smooth(motion.twists)
        axes = np.concatenate([np.broadcast_to(-np.eye(3)[:2], (self.n, 2, 3)),
                               joints.transpose(0, 1, 3, 2).reshape(self.n, -1, 3)], 1)
        turn = twists[..., 3:]
        sideways = turn @ skew(GRAVITY)  # turn x g: turn . (r x g) = -(turn x g) . r
        lever = (sideways @ self.place[..., None])[..., 0]
        torque = np.concatenate([(twists[..., :3] @ GRAVITY - lever)[..., None],
                                 -sideways @ self.rotation], 2)  # (n, j, 4)
        changed = np.concatenate([axes @ skew(GRAVITY), sideways], 1) @ self.rotation
        if setup.filter:
            changed = low_pass(changed, setup.filter, BIN * STEP)
        count = axes.shape[1]
        self.turned = self.modes(changed[:, :count])
        self.bend = self.modes(changed[:, count:, :, None] * torque[:, :, None])

    def _apply(self, setup: Setup) -> None:
        change = self.level @ (GRAVITY - rotation(np.r_[setup.tilt, 0.0]) @ GRAVITY)
        self.A = self.upright.copy()
        self.A[:, :3, 0] += change
        self.A[:, 3:, 1:4] -= skew(change)
        self.y = self.modes(self.smooth(self.window.wrench, setup.delay))

    def of(self, window: Window) -> "Rows":
        """Rows of another window, made alike."""
        return Rows(window, self.setup)

    def at(self, setup: Setup) -> "Rows":
        """The same window at another set-up, or these rows where a delay leaves too few; what is
        not changed by the set-up is kept."""
        if setup.filter != self.setup.filter or round(setup.delay / BIN) != self.late:
            moved = Rows(self.window, setup)
            return moved if moved.n >= FEWEST else self
        new = copy(self)
        new.setup = setup
        new._apply(setup)
        return new

    def smooth(self, bins: Array, delay: float = 0.0) -> Array:
        """Rows (n, ...) of bins, a delay [s] after those of the motion."""
        late = round(delay / BIN)
        if part := delay / BIN - late:  # a parabola through three bins
            ends = np.concatenate([bins[:1], bins, bins[-1:]])
            bins = bins + 0.5 * part * (ends[2:] - ends[:-2] + part * np.diff(ends, 2, axis=0))
        return np.concatenate([s.smooth(bins, late) for s in self.stretches])

    def modes(self, rows: Array) -> Array:
        """Orthonormal cosine modes (k, ...) below the band of rows (n, ...)."""
        return self._per_stretch(rows, lambda part, s: dct(part, norm="ortho", axis=0)[:s.size])

    def back(self, modes: Array) -> Array:
        """Rows (n, ...) of modes (k, ...)."""
        return self._per_stretch(
            modes, lambda part, s: idct(part, n=s.n, norm="ortho", axis=0), "size")

    def rates(self, rows: Array) -> Array:
        """Time derivatives (n, ...) of values in each row, per second; never across a gap."""
        return self._per_stretch(rows, lambda part, _: np.gradient(part, STEP * BIN, axis=0))

    def _per_stretch(self, rows: Array, function: Callable[[Array, Stretch], Array],
                     length: str = "n") -> Array:
        at = np.cumsum([getattr(s, length) for s in self.stretches])[:-1]
        return np.concatenate([function(part, s) for part, s in zip(
            np.split(rows, at), self.stretches, strict=True)])


def _share_of_signal(rows: Array, stretch: Stretch, rise: tuple[int, int]) -> Array:
    """Share (k, 2) of signal in the power of each mode of accelerations and of angular
    accelerations (n, 6), whose noise is that of the highest frequencies and rises with these
    powers of the frequency."""
    f = np.arange(stretch.n)[:, None] / (2.0 * STEP * BIN * stretch.n)
    power = np.square(dct(rows, norm="ortho", axis=0)).reshape(-1, 2, 3)
    shape = f ** np.array(rise) * _gain(f[:, 0])[:, None] + 1e-12
    level = np.median((power / shape[..., None])[f[:, 0] > _QUIET], axis=(0, 2))
    level = level / chdtri(1, 0.5) * shape[:stretch.size]  # median of a square
    power = uniform_filter1d(power.mean(2), 5, axis=0)[:stretch.size]
    return np.where(power > _ABOVE * level, 1.0 - level / np.maximum(power, 1e-300), 0.0)


def _gain(frequency: Array) -> Array:
    """Gain (k,) of the smoothing on the power of noise at frequencies (k,) [Hz]."""
    turn = np.exp(2j * np.pi * BIN * np.outer(frequency, np.arange(3 * STEP)))
    return np.asarray(np.abs(turn @ _kernel().ravel()) ** 2)


@cache
def _kernel() -> Array:
    """Hann weights (3, STEP) of the bins of a row in the row after it, in itself, and before it."""
    hann = np.pad(np.hanning(2 * HALF + 2)[1:-1], (3 * STEP - 2 * HALF) // 2)
    return np.asarray(hann.reshape(3, STEP) / hann.sum())
