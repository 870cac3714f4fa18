# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Removes the load from each wrench as it comes, with the newest motion."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..detect.row import CHANGED
from ..model.newton_euler import regressor, rotation
from ..motion.causal import MotionNow
from ..motion.motion import Array
from ..motion.robot import Chain
from .latch import LoadInUse, Mode

STUCK = 20  # wrenches that are the same to the last bit
TERMS = ("gravity", "velocity", "acceleration")


class Compensation:
    """The wrench without the load, on the thread of the stream; others hand over a load to use.

    Args:
        sign: of a reading against W; terms: what of the load is removed (`TERMS`).
    """

    def __init__(self, sign: float, terms: str = TERMS[-1]) -> None:
        self._sign, self._terms = sign, terms
        self._load = LoadInUse()
        self._motion: MotionNow | None = None
        self._last: Sequence[float] = ()
        self._same = 0

    def use_chain(self, chain: Chain) -> None:
        """Take another robot description."""
        self._motion = MotionNow(chain)

    def use(self, load: LoadInUse) -> None:
        """Remove this load from now on; one assignment, from any thread."""
        self._load = load

    def add_joint_state(self, stamp: int, names: Sequence[str], positions: Sequence[float]) -> None:
        """Take a joint state [ns; rad, m]."""
        if self._motion is not None:
            self._motion.update(stamp, names, positions)

    def compensate(self, stamp: int, wrench: Sequence[float]) -> Array | None:
        """The reading (6,) without the load; None: nothing may be published.

        Args:
            stamp: [ns]; wrench: reading (6,) in its own sign.
        """
        load, motion = self._load, self._motion
        self._same = self._same + 1 if list(wrench) == list(self._last) else 0
        self._last = wrench
        if load.mode is Mode.SILENT or motion is None or self._same >= STUCK:
            return None
        now = motion.at(stamp - round(1e9 * load.setup.delay))
        if now is None or not np.isfinite(wrench).all():
            return None
        return self._sign * (self._sign * np.asarray(wrench) - self._of_load(load, *now))

    def _of_load(self, load: LoadInUse, proper: Array, omega: Array, alpha: Array, turn: Array
                 ) -> Array:
        """W and bias (6,) of a load at a motion."""
        if self._terms != TERMS[-1]:
            alpha = np.zeros(3)
            if self._terms == TERMS[0]:
                omega = np.zeros(3)
            proper = 9.81 * turn[2]
        proper = proper + load.setup.tilt @ (CHANGED @ turn)
        wrench = (regressor(proper[None], omega[None], alpha[None]) @ load.phi)[0]
        back = rotation(load.rotation)
        return np.r_[back @ wrench[:3], back @ wrench[3:]] + load.bias
