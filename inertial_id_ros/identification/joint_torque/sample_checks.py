# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Checks of joint states with efforts before they enter the stream, and their findings."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...findings import FindingLog
from ...inertia import Array

_IMPOSSIBLE = 1e6  # rad, N m: no joint stands there, uninitialised memory does
_CLIPPED = 0.999  # share of the largest torque from which on a torque is clipped


class JointStateChecks:
    """Checks joint states with efforts; counts what it refuses.

    Args:
        joints: names in the wanted order.
    """

    def __init__(self, joints: Sequence[str], findings: FindingLog) -> None:
        self._joints, self._findings = tuple(joints), findings
        self.use_limits(np.zeros(len(self._joints)))
        self._refused: str | None = None  # why the last sample could not enter

    def use_limits(self, limits: Array) -> None:
        """Set the largest torques (joints,) [N m] of the robot description; 0: it has none."""
        self._limits = limits
        self._ceiling = np.where(limits > 0.0, _CLIPPED * limits, _IMPOSSIBLE)

    def check(self, stamp_ns: int, names: Sequence[str], positions: Sequence[float],
              efforts: Sequence[float]) -> Array | None:
        """Positions and efforts (2 joints,), or None where they must not enter."""
        if stamp_ns <= 0 or not len(names):
            return None  # `MotionSelector` counts these
        index = {name: k for k, name in enumerate(names)}
        absent = [joint for joint in self._joints if joint not in index]
        if absent:  # of something else, such as a gripper, or of part of the robot
            if any(joint in index for joint in self._joints):
                self._refuse("joint_states_incomplete", f"joint states without joint '{absent[0]}' "
                             "dropped", f"are without joint '{absent[0]}'")
            return None
        if len(positions) < len(names) or len(efforts) < len(names):
            self._refuse("joint_states_incomplete.efforts", "joint states without efforts dropped; "
                         "load.robot needs them", "are without efforts")
            return None
        order = [index[joint] for joint in self._joints]
        q, effort = (np.array([values[k] for k in order], dtype=float)
                     for values in (positions, efforts))
        if not ((np.abs(q) < _IMPOSSIBLE).all() and np.isfinite(effort).all()):
            self._refuse("samples_invalid.joints", "joint states with NaN or infinity dropped",
                         "hold NaN or infinity")
            return None
        if np.any(clipped := np.abs(effort) >= self._ceiling):
            which = int(np.argmax(clipped))
            self._refuse("samples_saturated.joints", "joint states with a saturated torque dropped "
                         f"(the last: {effort[which]:.1f} N m of '{self._joints[which]}', which "
                         f"the robot description allows {self._limits[which]:g} N m)",
                         f"hold a torque of '{self._joints[which]}' at its limit")
            return None
        self._refused = None
        return np.concatenate([q, effort])

    def _refuse(self, name: str, text: str, why: str) -> None:
        """Count a finding, and remember why the sample was refused."""
        self._findings.count(name, text)
        self._refused = why

    def explain_silence(self, topic: str) -> str:
        """Why no sample of the topic has come through."""
        if self._refused is not None:
            return f"no usable joint states on '{topic}': they {self._refused}"
        return f"no joint states with positions and efforts of all joints received on '{topic}'"
