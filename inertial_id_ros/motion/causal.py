# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Motion now, from joints or transforms so far: a cubic with exponentially fading weights."""

from collections.abc import Sequence

import numpy as np

from ..samples.ring import GAP_NS, SECOND, SILENT_NS, Ring
from .motion import BIN_NS, Array, Motion
from .robot import Chain
from .track import STEP, TURN

TAU, PERIODS = 0.025, 3.0  # s, of the memory; at least so many periods of the samples
SETTLED = 12.0  # times the memory, after which samples are forgotten
FASTEST = 20.0  # rad/s (or m/s), beside `STEP`: faster than that is no motion
TERMS = ("gravity", "velocity", "acceleration")  # of the motion, each with those before


class Signal:
    """Samples (k,) of a motion as they come, and its derivatives now, by the cubic that fits them
    best with weights that fade with their age (Morrison 1969, ch. 13). It begins anew after a gap
    or a jump.

    Args:
        turns: (k,) True where a sample is an angle that may be wrapped to +-pi.
    """

    def __init__(self, turns: np.ndarray) -> None:
        self._turns, self._ring = turns, Ring(len(turns))
        self._memory = TAU

    def update(self, stamp: int, sample: Array) -> None:
        """Take a sample at a stamp [ns]; one that is late or not finite changes nothing."""
        ring, after = self._ring, stamp - self._ring.newest
        if -SILENT_NS < after <= 0 or not np.isfinite(sample).all():
            return
        if len(ring):
            last = ring.rows[-1]
            sample = sample - self._turns * TURN * np.round((sample - last) / TURN)
            if abs(after) > SILENT_NS or (
                    np.abs(sample - last).max() > STEP + FASTEST * after / SECOND):
                ring.clear()
        ring.append(np.array([stamp]), sample[None])
        spacing = (stamp - int(ring.stamps[0])) / SECOND / max(len(ring) - 1, 1)
        self._memory = max(TAU, PERIODS * spacing)
        ring.drop(stamp - round(SETTLED * SECOND * self._memory))

    def at(self, stamp: int, terms: str) -> Array | None:
        """Value, rate and acceleration (3, k), extrapolated to a stamp [ns]; derivatives that
        `terms` leaves out are zero.

        None where the newest sample is too far from it, or there are samples of too short a time.
        """
        ring, newest = self._ring, self._ring.newest
        if abs(stamp - newest) > GAP_NS or newest - ring.stamps[0] < SETTLED * SECOND * TAU:
            return None
        age = (ring.stamps - stamp) / (SECOND * self._memory)
        powers = np.vander(age, 4, increasing=True)
        weighted = powers.T * np.exp(age - age[-1])
        state = np.asarray(np.linalg.solve(weighted @ powers, weighted @ ring.rows)[:3])
        state[1] /= self._memory
        state[2] *= 2.0 / self._memory**2
        state[1 + TERMS.index(terms):] = 0.0
        return state


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
        number = np.array([stamp // BIN_NS])
        return self.chain.motion(number, self._names, q, dq, ddq, self._data)
