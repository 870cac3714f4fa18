# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Where the frame in which a wrench is expressed lies in the frame of the sensor.

Drivers of Universal Robots express the wrench at and in the active TCP, whose transform they
publish. Its place in the sensor follows from fixed transforms, or from where both are as they move.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from ..errors import UnknownFrame
from .frames import Frames
from .lookup import Tree
from .motion import BIN_NS, Motion
from .robot import Chain

EVERY, FEWEST = 10, 15  # bins; places of which the median is taken
SPREAD = 0.01  # m; frames that move more against each other are not fixed
SHIFT, TURN = 0.002, np.deg2rad(1.0)  # m, rad: less is no other place


class WrenchPlace:
    """Attributes: place: of the frame of the wrench in that of the sensor; None: not known."""

    def __init__(self) -> None:
        self.place: pin.SE3 | None = None
        self._seen: list[pin.SE3] = []

    def use_fixed(self, said: str, used: str, tree: Tree) -> bool:
        """Take the place that fixed transforms and links tell; False where they do not."""
        try:
            self.place = tree.place(used, said)[0]
        except UnknownFrame:
            return False
        return True

    def compare(self, said: str, frames: Frames, tree: Tree, base: str, chain: Chain,
                motion: Motion) -> bool:
        """Compare the poses of both frames as the arm moves; True where the place is another.

        Args:
            base: link that the chain begins with.
        """
        root = next((name for name in frames.path(said) if name == base or name in tree), "")
        try:
            stands = chain.root * tree.place(base, root)[0]
        except UnknownFrame:
            return False
        rings = [frames.moving[n][1] for n in frames.moving_between(said, root)]
        if not rings or not all(map(len, rings)):
            return False
        low, high = max(r.stamps[0] for r in rings), min(r.stamps[-1] for r in rings)
        centre = motion.number * BIN_NS + BIN_NS // 2
        which = (motion.number % EVERY == 0) & (centre >= low) & (centre < high)
        some = motion.part(which)
        place, turn = frames.poses_at(said, root, centre[which])
        for k, (move, spin) in enumerate(zip(place, turn.as_matrix(), strict=True)):
            sensor = pin.SE3(some.rotation[k], some.position[k])
            self._seen.append(sensor.inverse() * stands * pin.SE3(spin, move))
        if len(self._seen) < FEWEST:
            return False
        seen, self._seen = self._seen, []
        return self._take(seen)

    def _take(self, seen: list[pin.SE3]) -> bool:
        at = np.array([place.translation for place in seen])
        distance = np.linalg.norm(at - np.median(at, axis=0), axis=1)
        if np.median(distance) > SPREAD:
            return False
        place, before = seen[int(np.argmin(distance))], self.place
        if before is not None:
            move = before.inverse() * place
            if np.linalg.norm(move.translation) < SHIFT and np.linalg.norm(
                    pin.log3(move.rotation)) < TURN:
                return False
        self.place = place
        return True
