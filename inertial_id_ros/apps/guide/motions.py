# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The motions of a session: the wiggle that decides sign and frame, what identifies most, and the
large motion of the proof."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...errors import InvalidData, InvalidModel
from ...estimate import CONFIDENCE_95, Estimate
from ...inertia import Array, report_from_phi
from ...settings import Settings
from ..excitation.arm import Arm
from ..excitation.information import WRIST, Knowledge, payload_goal
from ..excitation.motions import (
    MotionLimits,
    MotionPlanner,
    points_for_controller,
    positions_of,
    through,
    violations,
)
from ..simulation.motion import Trajectory
from .show import Wanted

LONGEST_MOTION = 45.0  # s of motion, after which what is known is good enough
ANGLES = (np.radians(18.0), np.radians(12.0))  # to either side of a wiggle; the larger one first
SLOW = 1.1  # s at least, of a move: accelerations hardly count then
DRAWN, LARGE = 12, np.radians(50.0)  # large motions, and how far a joint turns in them
Pose = Mapping[str, float]  # position of every joint by name [rad or m]


class MotionSource:
    """Plans motions of an arm, all of them around one pose.

    Args:
        arm: that moves, with the box around its payload and with what it must not touch.
        settings: of the node.

    Raises:
        InvalidModel, InvalidData: the robot cannot be moved from there.
    """

    def __init__(self, arm: Arm, limits: MotionLimits, pose: Pose, settings: Settings) -> None:
        if arm.unchecked:
            raise InvalidModel(f"{arm.unchecked}; no motion can be checked")
        self._arm, self._limits = arm, limits
        self._wrist = arm.index(arm.chain[-WRIST:])
        self._planner = MotionPlanner(arm, limits, positions_of(arm, pose))
        self._knowledge = Knowledge.usual(settings)
        self._rng = np.random.default_rng()

    def problems(self, motion: Trajectory, pose: Pose) -> tuple[str, ...]:
        """What is wrong with a motion from this pose, a sentence each (raises InvalidData: it is
        not known where a joint is)."""
        return violations(self._arm, motion, positions_of(self._arm, pose), self._limits)

    def wiggle(self, pose: Pose) -> list[Trajectory]:
        """Two small motions to and fro, of one joint each, that tilt the sensor most (raises
        InvalidData: none is within the limits)."""
        q, out = positions_of(self._arm, pose), list[Trajectory]()
        turns = np.eye(len(q))[self._wrist]
        for turn in sorted(turns, key=lambda turn: -self._tilt(q, q + ANGLES[0] * turn)):
            for angle in ANGLES:
                poses = q + angle * np.outer([0.0, 1.0, -1.0, 0.0], turn)
                motion = points_for_controller(
                    self._arm, through(self._arm, self._limits, poses, SLOW))
                if len(out) < 2 and not self.problems(motion, pose):
                    out.append(motion)
                    break
        if not out:
            raise InvalidData("no small motion of the wrist is within the limits: move the arm to "
                              "where it has more room")
        return out

    def next_motion(self, pose: Pose, wanted: Wanted, known: Estimate | None) -> Trajectory:
        """The motion that lowers the uncertainty most, which counts as made (raises InvalidData:
        there is none); known: an estimate, which tells nothing where it is not determined."""
        if known is not None and np.isfinite(known.phi_covariance).all() and (
                np.linalg.eigvalsh(known.phi_covariance)[0] > 0.0):
            self._knowledge = self._knowledge.revised(known.phi, known.phi_covariance)
        sigma = wanted.widths(report_from_phi(self._knowledge.phi)) / CONFIDENCE_95
        goal = payload_goal(self._arm, self._knowledge, sigma)
        motion = self._planner.next_motion(positions_of(self._arm, pose), goal, self._rng)
        self._knowledge = self._knowledge._replace(information=goal.after(motion).information)
        return points_for_controller(self._arm, motion)

    def large_motion(self, pose: Pose) -> Trajectory:
        """A motion of the whole wrist and back: of some drawn at random the one that turns gravity
        most in the sensor (raises InvalidData: there is none within the limits)."""
        q = positions_of(self._arm, pose)
        ends = np.tile(q, (DRAWN, 1))
        ends[:, self._wrist] += self._rng.uniform(-LARGE, LARGE, (DRAWN, len(self._wrist)))
        for end in sorted(ends, key=lambda end: -self._tilt(q, end)):
            motion = points_for_controller(
                self._arm, through(self._arm, self._limits, np.stack([q, end, q])))
            if not self.problems(motion, pose):
                return motion
        raise InvalidData("no large motion of the wrist is within the limits")

    def _tilt(self, begin: Array, end: Array) -> float:
        """How far gravity turns in the sensor from one pose to another [m/s^2]."""
        poses = np.stack([begin, end])
        felt = self._arm.motion(poses, 0.0 * poses, 0.0 * poses).proper
        return float(np.linalg.norm(felt[1] - felt[0]))
