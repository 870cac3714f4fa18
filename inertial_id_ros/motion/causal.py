# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Motion now, from joints or transforms so far: a cubic with exponentially fading weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..samples.ring import FEW, GAP_NS, SECOND, SILENT_NS
from .motion import Array
from .robot import Chain
from .track import STEP

TAU, PERIODS = 0.025, 3.0  # s, of the memory; at least so many periods of the samples
SETTLED = 12.0  # times TAU, after which what it began with is forgotten
FASTEST = 20.0  # rad/s (or m/s), beside `STEP`: faster than that is no motion
TERMS = ("gravity", "velocity", "acceleration")  # of the motion, each with those before


class Now(NamedTuple):
    """Motion of the sensor: acceleration less gravity, omega, alpha (3,) in sensor axes; rotation
    (3, 3) to the base."""

    proper: Array
    omega: Array
    alpha: Array
    rotation: Array


class Signal:
    """Samples (k,) of a motion as they come, and its derivatives now: x, v, a, jerk (4, k)
    by a memory that fades (Morrison 1969, ch. 13). It begins anew, at rest, after a gap or a jump.

    Args:
        turns: (k,) True where a sample is an angle that may be wrapped to +-pi.
    """

    def __init__(self, turns: np.ndarray) -> None:
        self._turns = turns
        self._state: Array | None = None
        self._stamp = self._since = 0
        self._last: Array = np.zeros(len(turns))
        self._period = 0.0

    def update(self, stamp: int, sample: Array) -> None:
        """Take a sample at a stamp [ns]; one that is late or not finite changes nothing."""
        step = 1e-9 * (stamp - self._stamp)
        if -SILENT_NS < stamp - self._stamp <= 0 or not np.isfinite(sample).all():
            return
        turn = 2.0 * np.pi * np.round((sample - self._last) / (2.0 * np.pi))
        sample = sample - np.where(self._turns, turn, 0.0)
        jump = np.abs(sample - self._last).max(initial=0.0) > STEP + FASTEST * step
        if self._state is None or abs(step) > SILENT_NS / SECOND or jump:
            self._state = np.zeros((4, len(sample)))
            self._state[0], self._since, self._period = sample, stamp, 0.0
        else:
            self._period += (step - self._period) / FEW
            k = np.exp(-step / max(TAU, PERIODS * self._period))
            gain = np.array([
                1.0 - k**4, (1.0 - k) ** 2 * (11.0 + 14.0 * k + 11.0 * k * k) / 6.0 / step,
                2.0 * (1.0 - k) ** 3 * (1.0 + k) / step**2, (1.0 - k) ** 4 / step**3])
            ahead = _after(step) @ self._state
            self._state = ahead + gain[:, None] * (sample - ahead[0])
        self._stamp, self._last = stamp, sample

    def at(self, stamp: int, terms: str) -> Array | None:
        """Value, rate and acceleration (3, k), extrapolated to a stamp [ns]; derivatives that
        `terms` leaves out are zero.

        None where the newest sample is too far from it, or the filter has not settled yet.
        """
        step, age = 1e-9 * (stamp - self._stamp), 1e-9 * (self._stamp - self._since)
        if self._state is None or abs(step) > GAP_NS / SECOND or age < SETTLED * TAU:
            return None
        state = np.asarray(_after(step)[:3] @ self._state)
        state[1 + TERMS.index(terms):] = 0.0
        return state


def _after(step: float) -> Array:
    """Matrix (4, 4) from x, v, a, jerk to those after so long [s]."""
    half = 0.5 * step * step
    return np.array([[1.0, step, half, half * step / 3.0], [0.0, 1.0, step, half],
                     [0.0, 0.0, 1.0, step], [0.0, 0.0, 0.0, 1.0]])


class MotionNow:
    """Motion of the sensor from joint states or transforms as they come.

    Args:
        chain: from the base to the sensor.
    """

    def __init__(self, chain: Chain) -> None:
        self._names, self._chain, self._data = chain.names, chain, chain.model.createData()
        self._signal = Signal(np.repeat(list(chain.turning.values()), 7 if chain.floats else 1))
        self._poses: dict[str, tuple[int, Array]] = {}

    def update(self, stamp: int, names: Sequence[str], positions: Sequence[float]) -> None:
        """Take a joint state [ns; rad, m]; one that lacks a joint changes nothing."""
        if len(positions) >= len(names) and all(name in names for name in self._names):
            at = [positions[names.index(name)] for name in self._names]
            self._signal.update(stamp, np.array(at, float))

    def update_pose(self, stamp: int, frame: str, pose: Array) -> None:
        """Take the pose (7,) of a frame in its parent [ns; m; x, y, z, w]; one of another frame
        than those of the chain changes nothing."""
        if not self._chain.floats or frame not in self._names or not (
                np.isfinite(pose).all() and abs(np.linalg.norm(pose[3:]) - 1.0) < 0.1):
            return
        if frame in self._poses and self._poses[frame][1][3:] @ pose[3:] < 0.0:
            pose = np.r_[pose[:3], -pose[3:]]
        self._poses[frame] = stamp, pose
        if len(self._poses) == len(self._names):
            oldest = min(at for at, _ in self._poses.values())
            self._signal.update(oldest, np.concatenate([
                self._poses[name][1] for name in self._names]))

    def at(self, stamp: int, terms: str = TERMS[-1]) -> Now | None:
        """Motion at a stamp [ns], None where there is none so near; terms: see `TERMS`."""
        state = self._signal.at(stamp, terms)
        if state is None:
            return None
        states = self._chain.states(self._names, *state[:, None])
        place, felt, omega, alpha = self._chain.move(self._data, *(row[0] for row in states))
        return Now(felt + 9.81 * place.rotation[2], omega, alpha, np.array(place.rotation))
