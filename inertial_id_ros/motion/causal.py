# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Motion now, from joints or transforms so far: a quartic with exponentially fading weights."""

from collections.abc import Sequence

import numpy as np
from scipy.special import comb

from ..samples.ring import GAP_NS, SECOND, SILENT_NS
from .motion import BIN_NS, Array, Motion
from .robot import Chain
from .track import STEP, TURN, WINDOW

TAU = WINDOW / np.array([3.0, 5.0])  # s, of the memories
PERIODS = 3.0  # of the samples at least, in the short one
CLEAR = 2.0  # deviations by which both memories differ where the short one counts
SETTLED_NS = 3 * GAP_NS  # of samples before anything is known
FASTEST = 20.0  # rad/s (or m/s), beside `STEP`: faster than that is no motion
TERMS = ("gravity", "velocity", "acceleration")  # of the motion, each with those before
_POWERS = np.arange(5)  # of ages
_CHOOSE = comb(_POWERS[:, None], _POWERS)
_LATER = np.maximum(_POWERS[:, None] - _POWERS, 0)
_UNITS = TAU[[0, 1, 1]]  # of ages in sums, and rates at which these fade: the third sums squares
_RATES = np.array([1, 1, 2]) / _UNITS  # of weights


class Signal:
    """Samples (k,) of a motion as they come, and its derivatives now, by the quartic that fits them
    best with weights that fade with their age (Morrison 1969, ch. 13). It begins anew after a gap
    or a jump.

    A short memory follows fast motion, a long one lets less noise through: the answer is that of
    the long one, and goes over to the other's as far as they differ by more than noise does.

    Args:
        turns: (k,) True where a sample is an angle that may be wrapped to +-pi.
    """

    def __init__(self, turns: np.ndarray) -> None:
        self._turns, self._newest = turns, -2 * SILENT_NS
        self._clear(self._newest, np.zeros(len(turns)))

    def _clear(self, stamp: int, sample: Array) -> None:
        """Forget all samples before one."""
        self._begin, self._count = stamp, 0
        self._last = np.zeros((4, len(sample)))  # differences of the newest samples
        self._last[0], self._noise = sample, np.zeros(len(sample))  # variance
        # Weighed sums of products of powers of ages, and of these with samples.
        self._powers, self._moments = np.zeros((3, 5, 5)), np.zeros((2, 5, len(sample)))

    def update(self, stamp: int, sample: Array) -> None:
        """Take a sample at a stamp [ns]; one that is late or not finite changes nothing."""
        after, last = stamp - self._newest, self._last[0]
        if -SILENT_NS < after <= 0 or not np.isfinite(sample).all():
            return
        sample = sample - self._turns * TURN * np.round((sample - last) / TURN)
        if abs(after) > SILENT_NS or (
                np.abs(sample - last).max() > STEP + FASTEST * after / SECOND):
            self._clear(stamp, sample)
            after = 0
        self._newest, self._count, step = stamp, self._count + 1, after / SECOND
        fade = np.exp(-min(step, TAU[1] / PERIODS) * _RATES)[:, None, None]
        shift = _shifted(step / _UNITS)
        self._powers = fade * (shift @ self._powers @ shift.transpose(0, 2, 1))
        self._powers[:, 0, 0] += 1.0
        self._moments = fade[:2] * (shift[:2] @ self._moments)
        self._moments[:, 0] += sample
        for before in self._last:
            sample, before[:] = sample - before, sample
        self._noise += min(after / GAP_NS, 1.0) * (sample**2 / 70.0 - self._noise)

    def at(self, stamp: int, terms: str) -> Array | None:
        """Value, rate and acceleration (3, k), extrapolated to a stamp [ns]; derivatives that
        `terms` leaves out are zero.

        None where the newest sample is too far from it, or there are samples of too short a time.
        """
        ahead = stamp - self._newest
        if abs(ahead) > GAP_NS or self._count <= len(_POWERS) or (
                self._newest - self._begin < SETTLED_NS):
            return None
        gains = (_shifted(-ahead / SECOND / TAU).transpose(0, 2, 1)[:, :3]
                 @ np.linalg.inv(self._powers[:2]))
        gains *= [[1.0], [1.0], [2.0]] / TAU[:, None, None] ** [[0], [1], [2]]
        slow, fast = gains @ self._moments
        noise = CLEAR**2 * (gains[1, 2] @ self._powers[2] @ gains[1, 2]) * self._noise
        gap = np.square(fast[2] - slow[2])
        state = slow + np.maximum(1.0 - noise / np.maximum(gap, 1e-30), 0.0) * (fast - slow)
        state[1 + TERMS.index(terms):] = 0.0
        return np.asarray(state)


def _shifted(steps: Array) -> Array:
    """Matrices (2, 5, 5) from powers of ages to those of ages that are less by so much (2,)."""
    return np.asarray(_CHOOSE * (-steps[:, None, None]) ** _LATER)


class MotionNow:
    """Motion of the sensor from joint states or transforms as they come.

    Attributes:
        chain: from the base to the sensor.
    """

    def __init__(self, chain: Chain) -> None:
        self._names, self.chain, self._data = chain.names, chain, chain.model.createData()
        self._signal = Signal(np.repeat(list(chain.turning.values()), 7 if chain.floats else 1))
        self._poses: dict[str, tuple[int, Array]] = {}

    def update(self, stamp: int, names: Sequence[str], positions: Sequence[float] | Array) -> None:
        """Take a joint state [ns; rad, m]; one that lacks a joint changes nothing."""
        if len(positions) >= len(names) and all(name in names for name in self._names):
            at = [positions[names.index(name)] for name in self._names]
            self._signal.update(stamp, np.array(at, float))

    def update_pose(self, stamp: int, frame: str, pose: Array) -> None:
        """Take the pose (7,) of a frame in its parent [ns; m; x, y, z, w]; one of another frame
        than those of the chain changes nothing."""
        is_turn = abs(np.linalg.norm(pose[3:]) - 1.0) < 0.1
        if not (self.chain.floats and frame in self._names and is_turn):
            return
        if frame in self._poses and self._poses[frame][1][3:] @ pose[3:] < 0.0:
            pose = np.r_[pose[:3], -pose[3:]]
        self._poses[frame] = stamp, pose
        if len(self._poses) == len(self._names):
            oldest = min(at for at, _ in self._poses.values())
            self._signal.update(oldest, np.concatenate([
                self._poses[name][1] for name in self._names]))

    def at(self, stamp: int, terms: str = TERMS[-1]) -> Motion | None:
        """Motion at a stamp [ns], as of one bin, None where there is none so near; terms: see
        `TERMS`."""
        state = self._signal.at(stamp, terms)
        if state is None:
            return None
        q, dq, ddq = state[:, None]
        return self.chain.motion(np.array([stamp // BIN_NS]), self._names, q, dq, ddq, self._data)
