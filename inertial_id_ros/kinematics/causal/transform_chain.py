# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The pose of the sensor from transforms as they come."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..transform_tree import Pose, TransformTree, pose_from

Edge = tuple[str, str, Pose | None]  # parent, child, and the pose where it is fixed


class TransformChain(NamedTuple):
    """The edges between the world and the sensor, for reading only.

    Attributes:
        up: from the sensor to their common ancestor; down: from the world to it.
        gravity: magnitude along the world's z axis, downwards [m/s^2].
    """

    up: tuple[Edge, ...]
    down: tuple[Edge, ...]
    gravity: float

    @property
    def moving(self) -> dict[str, str]:
        """Parents of the moving edges by child."""
        return {child: parent for parent, child, pose in (*self.up, *self.down) if pose is None}


def chain_of(tree: TransformTree, world: str, sensor: str, gravity: float) -> TransformChain:
    """The chain between two frames (raises UnknownFrame); gravity [m/s^2]."""
    up, down = (tuple(tree.edge(frame) for frame in frames)
                for frames in tree.path(world, sensor))
    return TransformChain(up, down, gravity)


class ChainPoses:
    """Composes poses of the sensor from the newest transforms of a chain."""

    def __init__(self, chain: TransformChain) -> None:
        self._chain, self._parents = chain, chain.moving
        self._newest: dict[str, tuple[int, Pose]] = {}

    def add(self, stamp_ns: int, parent: str, child: str, translation: Sequence[float],
            quaternion: Sequence[float]) -> Pose | None:
        """The pose of the sensor in the world once all edges have this stamp; else None. Raises
        InvalidData where the transform is no pose."""
        if self._parents.get(child) != parent:
            return None
        self._newest[child] = stamp_ns, pose_from(parent, child, translation, quaternion)
        if len(self._newest) < len(self._parents) or any(
                stamp != stamp_ns for stamp, _ in self._newest.values()):
            return None
        return self._compose(self._chain.down).inverse() @ self._compose(self._chain.up)

    def _compose(self, edges: Sequence[Edge]) -> Pose:
        """Pose of the first child of these edges in the last parent."""
        out = Pose(np.eye(3), np.zeros(3))
        for _, child, fixed in edges:
            out = (self._newest[child][1] if fixed is None else fixed) @ out
        return out

