# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Whether a load explains the wrenches that came lately, while the arm moved.

A load that is removed from the wrench may change so slowly that no single moment shows it: a
container that is emptied, a sensor that drifts. Motion shows it all the same, since a force from
outside does not follow the sensor's orientation; at rest nothing would tell it from contact.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...inertia import Array
from ...kinematics.motion import Motion
from ...regression.rows import regressor_of
from ...signals.bins import BIN_NS
from ..compensation.load_latch import Load
from .compensation import remove_load

SPAN = round(0.5e9 / BIN_NS)  # bins of motion over which what is left is averaged
CREPT = "what is carried, or the zero of the sensor, has slowly become another one"
_SHOWN = round(0.5e9 / BIN_NS)  # bins after which a disturbance has shown
_BEFORE = round(2e9 / BIN_NS)  # bins; how the zero walks is taken from before a change had begun
_TURNS = 0.05  # rad/s; an arm that turns more slowly tells nothing
_NOISE = 3.0  # standard deviations of the sensor's own errors that may be left
_SHARE = 0.03  # of the weight, and of its moment, that may be left
_UNCERTAIN = 2.0  # standard deviations of what the load itself is not known by
_UNSURE = 0.25  # share of what else pulls that its law may be wrong by
_ARM = 0.05  # m; least lever of the weight for that


class LoadCheck:
    """Keeps the newest bins of motion in which no disturbance showed.

    Attributes:
        crept_at: bin at which the load in use was found not to explain them; None: it does.
    """

    def __init__(self) -> None:
        self._number = np.empty(0, dtype=np.int64)
        self._motion: Motion | None = None
        self._y = np.empty((0, 6))
        self._walks: list[tuple[int, Array]] = []
        self.crept_at: int | None = None

    def add(self, number: np.ndarray, motion: Motion, y: Array) -> None:
        """Add bins.

        Args:
            number: (k,) of the bins; y: wrenches (k, 6) with the sign of ``A phi`` [N, N m].
        """
        moving = motion.valid & (np.linalg.norm(motion.omega, axis=1) > _TURNS)
        if not moving.any():
            return
        new = motion.part(moving)
        self._motion = new if self._motion is None else self._motion.followed_by(new)
        self._number = np.concatenate([self._number, number[moving]])
        self._y = np.concatenate([self._y, y[moving]])
        self._keep(slice(max(self._judged() - SPAN, 0), None))

    def learn_walk(self, number: int, walk: Array) -> None:
        """Learn how the zero walks (6,) by an estimate up to a bin."""
        known = [n for n, _ in self._walks if n <= number - _BEFORE]
        self._walks = [*self._walks[max(len(known) - 1, 0):], (number, walk)]

    @property
    def walk(self) -> Array:
        """Variance (6,) by which the zero walks, as it was known two seconds ago."""
        return self._walks[0][1] if self._walks else np.zeros(6)

    @property
    def first(self) -> int:
        """The oldest bin that is judged; 0 without any."""
        return int(self._number[0]) if len(self._number) else 0

    def keep_judged(self) -> None:
        """Keep none of the newest bins: a disturbance has begun in them."""
        if self._motion is not None and len(self._number):
            self._keep(slice(0, self._judged()))

    def _keep(self, which: slice) -> None:
        """Keep some of the bins."""
        assert self._motion is not None
        self._motion = self._motion.part(which)
        self._number, self._y = self._number[which], self._y[which]

    def _judged(self) -> int:
        """How many of the bins are so old that a disturbance would have shown."""
        return int(np.searchsorted(self._number, self._number[-1] - _SHOWN))

    def misfit(self, load: Load, covariance: Array, sign: float, noise: Array, wander: Array,
               pull_at: Callable[[int, Motion], Array]) -> float:
        """What a load leaves of the wrench on average, over what it may leave; 0 where too little
        motion is known.

        Args:
            covariance: (10, 10) of its phi; sign: of the reading against ``A phi``.
            noise: (6,) of one sample, wander: (6,) of the sensor's zero, which is no other load
                [N, N m].
            pull_at: what else pulls, in ``y = A phi + pull`` (n, 6), at the times of a motion that
                begins with a bin of this number.
        """
        if self._motion is None or not len(self._y) or (judged := self._judged()) < SPAN:
            return 0.0
        which = slice(0, judged)
        motion = self._motion.part(which)
        pulls = pull_at(int(self._number[0]), motion)
        y = self._y[which] - pulls
        left = remove_load(motion, y, load, sign).mean(axis=0)
        gravity = self._motion.gravity
        weight, moment = gravity * load.phi[0], gravity * np.linalg.norm(load.phi[1:4])
        share = np.repeat([weight, max(moment, _ARM * weight)], 3)
        allowed = np.maximum(_NOISE * noise + _SHARE * share, _NOISE * np.hypot(noise, wander))
        allowed += _UNSURE * np.sqrt((pulls * pulls).mean(axis=0))
        a = regressor_of(motion).mean(axis=0)
        allowed += _UNCERTAIN * np.sqrt(np.maximum((a @ covariance @ a.T).diagonal(), 0.0))
        return float((np.abs(left) / allowed).max())
