# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""From bins to slow cosine modes: the same smoothing on motion and wrench, then a cosine transform.

In the modes of a stretch without holes, stationary noise is nearly independent, with the variance
of its spectrum; leaving out the fast ones is the low-pass.
"""

from collections.abc import Callable
from copy import copy
from functools import partial

import numpy as np
from scipy.fft import dct, idct
from scipy.ndimage import uniform_filter1d
from scipy.special import chdtri

from ..motion.motion import BIN, Array
from .history import Window
from .newton_euler import GRAVITY, regressor, regressor_of, rotation, skew
from .setup import Setup, low_pass

HALF = 10  # bins, of the smoothing kernel
STEP = 8  # bins from row to row
BAND = 4.0  # Hz, modes below
SHORTEST = 2 * (HALF + 1) + 6 * STEP  # bins of a stretch: it has seven rows
FEWEST = 12  # rows of a fit
_QUIET = 4.5  # Hz, from which on motion is noise
_ABOVE = 2.5  # times the noise: power that is a signal


class Stretch:
    """Rows of bins without holes: n rows from bin `first` on, and its slow modes."""

    def __init__(self, begin: int, end: int, late: int) -> None:
        self.first = begin + HALF + 1 + max(0, -late)
        self.n = (end - HALF - 2 - max(0, late) - self.first) // STEP + 1
        self.size = max(int(2.0 * BAND * BIN * STEP * self.n), 3)

    def smooth(self, bins: Array, kernel: Array, late: int) -> Array:
        """Rows (n, ...) of bins, which are `late` bins after those of the motion."""
        first, half, last = self.first + late, len(kernel) // 2, STEP * self.n
        return np.asarray(sum(
            weight * bins[first + k - half:first + k - half + last:STEP][:self.n]
            for k, weight in enumerate(kernel) if weight > 0.0))


def stretches(used: np.ndarray, late: int = 0) -> list[Stretch]:
    """The stretches of used bins that are long enough."""
    edges = np.flatnonzero(np.diff(np.r_[False, used, False].astype(np.int8)))
    least = SHORTEST + abs(late)
    return [Stretch(int(a), int(b), late) for a, b in edges.reshape(-1, 2) if b - a >= least]


def is_enough(used: np.ndarray) -> bool:
    """True if used bins make enough rows for a fit."""
    return sum(stretch.n for stretch in stretches(used)) >= FEWEST


class Rows:
    """Motion, wrench and regressor of a window at a set-up; modes of all stretches in turn.

    Attributes:
        n: rows; lost: by this factor a delay has made them fewer; time: (n,) from the begin [s].
        rotation, place: (n, 3, 3), (n, 3) pose of the sensor; p: place from its mean.
        A: (k, 6, 10) modes of the regressor; y: (k, 6) of the wrench.
        turned: (k, 2 + 3 (j - 1), 3) change of the acceleration less gravity, by a turn about the
            base's x and y, and about the axes of each joint but the last [1/rad].
        bend: (k, j, 3, 4) the same by joints that give way, per mass and first moment.
        frequency: (k,) [Hz]; gain: (k,) of the smoothing on the power of white noise.
    """

    def __init__(self, window: Window, setup: Setup) -> None:
        self.window, self.setup = window, setup
        self.late = round(setup.delay / BIN)
        self.stretches = stretches(window.used, self.late)
        self.n = sum(s.n for s in self.stretches)
        if not self.n:
            return
        self.lost = sum(s.n for s in stretches(window.used)) / self.n
        motion = window.motion
        self.unfiltered = regressor_of(motion)
        self.steady = self.smooth(low_pass(self.unfiltered, setup.filter))
        self.rotation, self.place = self.smooth(motion.rotation), self.smooth(motion.position)
        self.p = self.place - self.place.mean(0)
        self.index = np.concatenate([s.first + STEP * np.arange(s.n) for s in self.stretches])
        self.time = BIN * self.index
        self.frequency = np.concatenate([
            np.arange(s.size) / (2.0 * BIN * STEP * s.n) for s in self.stretches])
        self.gain = _gain(self.frequency)
        self._turn(setup)
        self.level = self.modes(self.smooth(low_pass(
            motion.rotation.transpose(0, 2, 1), setup.filter)))
        self.upright = self.modes(self.steady) - self._noise_of_motion()
        self._apply(setup)

    def _noise_of_motion(self) -> Array:
        """What noise of the encoders adds to the modes of the regressor (k, 6, 10).

        Accelerations of a slow motion are nothing but noise at higher frequencies; a load that is
        multiplied with noise seems lighter than it is. Of each mode this is the share of its power
        that is no signal (Wiener), where the noise is that of the highest frequencies.
        """
        motion = self.window.motion
        bins = np.concatenate([motion.acceleration, motion.alpha], 1)
        share = self._per_stretch(self.smooth(bins), partial(
            _share_of_signal, rise=self.window.rise))
        noise = self.modes(self.smooth(low_pass(bins, self.setup.filter))) * (
            1.0 - np.repeat(share, 3, axis=1))
        return regressor(noise[:, :3], np.zeros((len(noise), 3)), noise[:, 3:])

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
        kernel = _kernel(delay / BIN - late)
        return np.concatenate([s.smooth(bins, kernel, late) for s in self.stretches])

    def modes(self, rows: Array) -> Array:
        """Orthonormal cosine modes (k, ...) below the band of rows (n, ...)."""
        return self._per_stretch(rows, lambda part, s: dct(part, norm="ortho", axis=0)[:s.size])

    def back(self, modes: Array) -> Array:
        """Rows (n, ...) of modes (k, ...)."""
        at = np.cumsum([s.size for s in self.stretches])[:-1]
        return np.concatenate([idct(part, n=s.n, norm="ortho", axis=0) for part, s in zip(
            np.split(modes, at), self.stretches, strict=True)])

    def rates(self, rows: Array) -> Array:
        """Time derivatives (n, ...) of values in each row, per second; never across a gap."""
        return self._per_stretch(rows, lambda part, _: np.gradient(part, STEP * BIN, axis=0))

    def _per_stretch(self, rows: Array, function: Callable[[Array, Stretch], Array]) -> Array:
        at = np.cumsum([s.n for s in self.stretches])[:-1]
        return np.concatenate([function(part, s) for part, s in zip(
            np.split(rows, at), self.stretches, strict=True)])

    @property
    def constant(self) -> Array:
        """Modes (k,) of a one in each row."""
        return self.modes(np.ones(self.n))


def _share_of_signal(rows: Array, stretch: Stretch, rise: tuple[int, int]) -> Array:
    """Share (k, 2) of signal in the power of each mode of accelerations and of angular
    accelerations (n, 6), whose noise rises with these powers of the frequency."""
    f = np.arange(stretch.n)[:, None] / (2.0 * STEP * BIN * stretch.n)
    power = np.square(dct(rows, norm="ortho", axis=0)).reshape(-1, 2, 3)
    shape = f ** np.array(rise) * _gain(f[:, 0])[:, None] + 1e-12
    level = np.median((power / shape[..., None])[f[:, 0] > _QUIET], axis=(0, 2))
    level = level / chdtri(1, 0.5) * shape[:stretch.size]  # median of a square
    power = uniform_filter1d(power.mean(2), 5, axis=0)[:stretch.size]
    return np.where(power > _ABOVE * level, 1.0 - level / np.maximum(power, 1e-300), 0.0)


def _gain(frequency: Array) -> Array:
    """Gain (k,) of the smoothing on the power of noise at frequencies (k,) [Hz]."""
    taps = np.arange(-HALF, HALF + 1)
    turn = 2.0 * np.pi * BIN * frequency[:, None] * taps
    return np.asarray(np.square(np.cos(turn) @ _kernel(0.0)[1:-1]))


def _kernel(shift: float) -> Array:
    """Hann weights at -HALF - 1 to HALF + 1 bins, moved by part of a bin; their sum is one."""
    x = np.arange(-HALF - 1, HALF + 2) - shift
    weight = np.where(np.abs(x) < HALF, np.cos(0.5 * np.pi * x / HALF) ** 2, 0.0)
    return np.asarray(weight / weight.sum())
