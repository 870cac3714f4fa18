# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The motions of a session: the wiggle that decides sign and frame, then what identifies most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...errors import InvalidData, InvalidModel
from ...inertia import Array, phi_from_body, report_from_phi, report_jacobian, tensor_from_six
from ...settings import Settings
from ..excitation.arm import Arm
from ..excitation.collision import Obstacle
from ..excitation.knowledge import Knowledge, SensorModel
from ..excitation.motions import MotionLimits, Pace, PlannedMotion, RestToRest, shortest_moves
from ..excitation.planner import BY_ARM, BY_HAND, WRIST, MotionPlanner
from ..excitation.violations import positions_of, violations
from ..report.results import CONFIDENCE_95
from .progress import Wanted

# A box around the payload in the frame of the sensor, corners [m], where nobody gave one.
USUAL_BOX = np.array([[-0.1, -0.1, 0.0], [0.1, 0.1, 0.2]])
RATE = 500.0  # Hz, of the wrench for which motions are planned
WIGGLED = 2  # joints
ANGLES = (np.radians(18.0), np.radians(12.0))  # to either side; the larger one first
SLOW = 1.1  # s at least, of a move: accelerations hardly count then
DRAWN, LARGE = 12, np.radians(50.0)  # large motions, and how far a joint turns in them


class MotionSource:
    """Plans motions of the arm, all of them around one pose.

    Args:
        urdf: of the robot; frame: of the sensor, a link of it.
        pose: position of every joint by name [rad or m].
        settings: of the node; box: corners (2, 3) [m] of a box around the payload, in the frame.
        obstacles: that nothing may touch.

    Attributes:
        arm: that moves.

    Raises:
        InvalidModel, UnknownFrame, InvalidData: the robot cannot be moved from there.
    """

    def __init__(self, urdf: str, frame: str, pose: Mapping[str, float], settings: Settings,
                 limits: MotionLimits, box: Array = USUAL_BOX, obstacles: Sequence[Obstacle] = ()
                 ) -> None:
        self.arm, self._box, self._limits = Arm(urdf, frame, box, obstacles=obstacles), box, limits
        if self.arm.unchecked:
            raise InvalidModel(f"{self.arm.unchecked}; no motion can be checked")
        self._planner = MotionPlanner(self.arm, limits, self.positions(pose))
        self._knowledge = Knowledge.usual(SensorModel.from_settings(settings, RATE))
        self._seed, self._rng = 0, np.random.default_rng()

    def positions(self, pose: Mapping[str, float]) -> Array:
        """Positions (joints,) in the order of the description (raises InvalidData)."""
        return positions_of(self.arm, pose)

    def problems(self, motion: PlannedMotion, pose: Mapping[str, float]) -> tuple[str, ...]:
        """What is wrong with a motion from this pose, a sentence each."""
        return violations(self.arm, motion, pose, self._limits)

    def wiggle(self, pose: Mapping[str, float]) -> list[PlannedMotion]:
        """Small motions to and fro, of one joint each, that tilt the sensor most (raises
        InvalidData: none is within the limits)."""
        out: list[PlannedMotion] = []
        for joint in self._tilting(pose):
            for angle in ANGLES:
                q = self.positions(pose)
                poses = q + angle * np.outer([0.0, 1.0, -1.0, 0.0], np.eye(len(q))[joint])
                motion = self._through(poses, SLOW)
                if len(out) < WIGGLED and not self.problems(motion, pose):
                    out.append(motion)
                    break
        if not out:
            raise InvalidData("no small motion of the wrist is within the limits: move the arm to "
                              "where it has more room")
        return out

    def next_motion(self, pose: Mapping[str, float], wanted: Wanted, by_hand: bool = False
                    ) -> PlannedMotion:
        """The motion that lowers the uncertainty most (raises InvalidData: there is none)."""
        self._seed += 1
        return self._planner.next_motion(
            self.positions(pose), self._knowledge,
            wanted.widths(report_from_phi(self._knowledge.phi)) / CONFIDENCE_95, self._seed,
            BY_HAND if by_hand else BY_ARM)

    def large_motion(self, pose: Mapping[str, float]) -> PlannedMotion:
        """A motion of the whole wrist and back: of some drawn at random the one that turns gravity
        most in the sensor (raises InvalidData: there is none within the limits)."""
        q, wrist = self.positions(pose), self.arm.index(self.arm.chain[-WRIST:])
        drawn: list[tuple[float, PlannedMotion]] = []
        for _ in range(DRAWN):
            poses = np.tile(q, (3, 1))
            poses[1, wrist] += self._rng.uniform(-LARGE, LARGE, len(wrist))
            drawn.append((self._tilt(poses[:2]), self._through(poses)))
        for _, motion in sorted(drawn, key=lambda entry: -entry[0]):
            if not self.problems(motion, pose):
                return motion
        raise InvalidData("no large motion of the wrist is within the limits")

    def learn(self, motion: PlannedMotion, pose: Mapping[str, float]) -> None:
        """Count a motion from this pose as made."""
        self._knowledge = self._planner.knowledge_after(self._knowledge, motion,
                                                        self.positions(pose))

    def learn_estimate(self, report: Array, covariance: Array) -> None:
        """Plan by an estimate from now on.

        Args:
            report: (10,) mass, centre of mass, inertia about it; covariance: (10, 10) of it; one
                that is not finite and positive tells nothing.
        """
        if not np.isfinite(covariance).all():
            return
        phi = phi_from_body(report[0], report[1:4], tensor_from_six(report[4:]))
        back = np.linalg.inv(report_jacobian(phi))
        of_phi = back @ covariance @ back.T
        if np.linalg.eigvalsh(of_phi)[0] > 0.0:
            self._knowledge = self._knowledge.revised(phi, of_phi)

    def describe_outside(self, com: Array, sigma: Array) -> str:
        """That a centre of mass (3,), known to sigma (3,) [m], lies outside the box by which
        motions are checked, in words; empty where it does not."""
        low, high = self._box + 2.0 * np.outer((-1.0, 1.0), sigma)
        if ((com >= low) & (com <= high)).all():
            return ""
        sides = "; ".join(f"{name} {1e3 * a:.0f} to {1e3 * b:.0f}" for name, a, b in zip(
            "xyz", *self._box, strict=True))
        return ("the centre of mass lies outside the box around the payload that motions are "
                f"checked with ({sides} mm): set --payload-box")

    def _tilting(self, pose: Mapping[str, float]) -> list[int]:
        """Joints of the wrist, those that tilt the sensor most first."""
        q = self.positions(pose)
        wrist = self.arm.index(self.arm.chain[-WRIST:]).tolist()
        return sorted(wrist, key=lambda joint: -self._tilt(
            q + ANGLES[0] * np.outer([0.0, 1.0], np.eye(len(q))[joint])))

    def _tilt(self, poses: Array) -> float:
        """How far the direction of gravity turns in the sensor from one pose to another."""
        up = self.arm.motion(poses, 0.0 * poses, 0.0 * poses).rotation[:, 2]
        return float(np.linalg.norm(up[1] - up[0]))

    def _through(self, poses: Array, slow: float = 0.0) -> PlannedMotion:
        """A motion through poses (n, joints), each move of so many seconds at least."""
        least = shortest_moves(self.arm, self._limits, poses[:-1], poses[1:])
        slower = np.maximum(slow / least.durations, 1.0)
        return RestToRest(poses, Pace(*(slower * part for part in least))).as_planned(self.arm)


def as_phi(report: Array | None) -> Array:
    """phi (10,) of a report (10,); zeros where it holds nothing."""
    if report is None or not np.isfinite(report).all() or report[0] == 0.0:
        return np.zeros(10)
    return phi_from_body(report[0], report[1:4], tensor_from_six(report[4:]))
