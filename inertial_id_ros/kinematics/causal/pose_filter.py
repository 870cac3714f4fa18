# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Motion of the sensor now, from TF: its pose from transforms as they come, and that filtered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from ...errors import InvalidData
from ...inertia import Array
from ..transform_tree import Pose, TransformTree, pose_from
from .features import TERMS, MotionNow, features_of
from .joint_filter import FadingMemory, SampleClock

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


_TURN, _PLACE = slice(0, 3), slice(3, 6)  # channels
_FASTEST, _JUMP = np.repeat((20.0, 10.0), 3), 0.1  # rad/s, m/s; rad, m: more is no motion
_ZERO: Array = np.zeros(3)


class PoseFilter:
    """Filters the poses that transforms give and predicts the motion at the stamps of wrenches.

    The orientation is a rotation vector about the newest one, whose derivatives there are the
    angular velocity and acceleration in sensor axes.

    Args:
        terms: of `features.TERMS`; tau: as `JointFilter` takes it [s].
    """

    def __init__(self, chain: TransformChain, terms: str, tau: float) -> None:
        self._poses, self._gravity = ChainPoses(chain), chain.gravity
        self._terms, self._tau = TERMS.index(terms), tau
        self._clock = SampleClock("transform of the sensor", tau)
        self._filter: FadingMemory | None = None
        self._turn: Array = np.eye(3)

    def add_transform(self, stamp_ns: int, parent: str, child: str,
                      translation: Sequence[float], quaternion: Sequence[float]) -> None:
        """Take a moving transform in; what cannot be used is ignored."""
        try:
            pose = self._poses.add(stamp_ns, parent.lstrip("/"), child.lstrip("/"), translation,
                                   quaternion)
        except InvalidData:
            return
        if pose is None or stamp_ns <= 0:
            return
        step = self._clock.step_to(stamp_ns)
        if self._filter is None or step is None:
            self._begin(stamp_ns, pose)
        elif step > 0.0:
            self._correct(stamp_ns, pose, step)

    def _begin(self, stamp_ns: int, pose: Pose) -> None:
        """Begin with this pose, at rest."""
        self._turn = pose.rotation
        self._filter = FadingMemory(np.concatenate([_ZERO, pose.translation]), self._tau)
        self._clock.begin(stamp_ns)

    def _correct(self, stamp_ns: int, pose: Pose, step: float) -> None:
        """Take the next pose in."""
        assert self._filter is not None
        turn, predicted = self._predict(step)
        error = np.concatenate([pin.log3(turn.T @ pose.rotation),
                                pose.translation - predicted[0, _PLACE]])
        if (np.abs(error) > _JUMP + _FASTEST * step).any():
            self._begin(stamp_ns, pose)
            return
        self._filter.tau = self._clock.advance(stamp_ns, step)
        self._filter.correct(predicted, error, step)
        self._turn, self._filter.state = _centred(turn, self._filter.state)

    def _predict(self, ahead: float) -> tuple[Array, Array]:
        """Orientation (3, 3), and value and derivatives (4, 6) about it, some time [s] after the
        newest pose."""
        assert self._filter is not None
        return _centred(self._turn, self._filter.predict(ahead))

    def motion_at(self, stamp_ns: int) -> MotionNow:
        """Motion of the sensor at a stamp [ns]."""
        ahead, reason = self._clock.ahead(stamp_ns)
        if reason:
            return MotionNow(None, reason)
        turn, state = self._predict(ahead)
        acceleration: Array = _ZERO
        omega, alpha = _ZERO, _ZERO
        if self._terms > 0:
            omega = state[1, _TURN]
        if self._terms > 1:
            acceleration, alpha = turn.T @ state[2, _PLACE], state[2, _TURN]
        return MotionNow(features_of(acceleration, self._gravity * turn, omega, alpha))


def _centred(turn: Array, state: Array) -> tuple[Array, Array]:
    """The orientation (3, 3) with the rotation vector of a state (4, 6), and the state about it."""
    vector = state[0, _TURN].copy()
    out = state.copy()
    out[0, _TURN] = 0.0
    out[1:, _TURN] -= 0.5 * np.cross(vector, state[1:, _TURN])  # right Jacobian, first order
    return turn @ pin.exp3(vector), out
