# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Motion of the sensor now, from TF."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pinocchio as pin

from ...errors import InvalidData
from ...inertia import Array
from ..transform_tree import Pose
from .fading_memory import FadingMemory, SampleClock
from .features import TERMS, MotionNow, features_of
from .transform_chain import ChainPoses, TransformChain

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
