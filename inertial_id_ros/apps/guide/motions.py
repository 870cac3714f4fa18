# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The motions of a session: the wiggle that decides sign and frame, then what tells most."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ...errors import InvalidData
from ...identification.accuracy_goal import AccuracyGoal
from ...inertia import PARAMETERS, Array, phi_from_body, report_jacobian, tensor_from_six
from ...settings import Settings
from ..excitation.arm import Arm, CarriedLoad
from ..excitation.collision_shapes import Obstacle, box_obstacle
from ..excitation.next_motion.check_motion import CheckedRobot, check_motion
from ..excitation.next_motion.knowledge import Knowledge, SensorModel
from ..excitation.next_motion.planned_motion import (
    MotionLimits,
    Pace,
    PlannedMotion,
    RestToRest,
    describe_motion,
    shortest_moves,
)
from ..excitation.next_motion.planner import MotionPlanner
from ..simulation.motion import JointMotion

# A box around the payload in the frame of the sensor, corners [m], where nobody gave one.
USUAL_BOX = np.array([[-0.1, -0.1, 0.0], [0.1, 0.1, 0.2]])
_WRIST = 3  # joints that may be wiggled
_WIGGLED = 2  # of them
_ANGLES = (np.radians(18.0), np.radians(12.0))  # to either side; the larger one first
_SLOW = 1.1  # s at least, of a move: accelerations hardly count then
_POINTS = 0.02  # s between points of a trajectory
_TRIES = 6  # seeds of the planner, where the check finds something wrong
_DRAWN, _LARGE = 12, np.radians(50.0)  # large motions, and how far a joint turns in them


class MotionSource:
    """Plans motions of the arm as it stands, and checks them independently of how they came about.

    Args:
        urdf: of the robot; frame: of the sensor, a link of it.
        pose: position of every joint by name [rad or m]; all motions stay around it.
        settings: of the node; rate: of the wrench [Hz].
        box: corners (2, 3) [m] of a box around the payload, in the frame of the sensor.
        keep_out: corners (2, 3) [m] of boxes that nothing may touch, in axes of the description's
            root; obstacles: other shapes that nothing may.

    Attributes:
        arm: that moves.

    Raises:
        InvalidModel, UnknownFrame, InvalidData: the robot cannot be moved from there.
    """

    def __init__(self, urdf: str, frame: str, pose: Mapping[str, float], settings: Settings,
                 limits: MotionLimits, rate: float, box: Array = USUAL_BOX,
                 keep_out: Sequence[Array] = (), obstacles: Sequence[Obstacle] = ()) -> None:
        self._box = box
        carried = CarriedLoad(box=box)
        around = [*(box_obstacle(f"keep-out box {k + 1}", corners)
                    for k, corners in enumerate(keep_out)), *obstacles]
        self.arm, self._limits = Arm(urdf, frame, carried, obstacles=around), limits
        self._checked = CheckedRobot(urdf, frame, carried, around)
        home = self.positions(pose)
        self._planner = MotionPlanner(self.arm, limits, home)
        self._knowledge = Knowledge.usual(SensorModel.from_settings(settings, rate))
        self._seed, self._rng = 0, np.random.default_rng()

    def problems(self, motion: PlannedMotion, pose: Mapping[str, float]) -> tuple[str, ...]:
        """What is wrong with a motion from this pose, by the independent check."""
        return check_motion(self._checked, motion, dict(pose), self._limits)

    def wiggle(self, pose: Mapping[str, float]) -> list[PlannedMotion]:
        """Small motions to and fro, of one joint each, that tilt the sensor most.

        Raises:
            InvalidData: none is within the limits.
        """
        out: list[PlannedMotion] = []
        for joint in self._tilting(pose):
            motion = self._wiggle_of(joint, pose)
            if motion is not None:
                out.append(motion)
            if len(out) == _WIGGLED:
                return out
        if not out:
            raise InvalidData("no small motion of the wrist is within the limits: move the arm to "
                              "where it has more room")
        return out

    def next_motion(self, pose: Mapping[str, float], goal: AccuracyGoal, by_hand: bool = False
                    ) -> PlannedMotion:
        """The motion that lowers the uncertainty most, and that the check finds nothing wrong with.

        Raises:
            InvalidData: there is none.
        """
        found: tuple[str, ...] = ()
        for _ in range(_TRIES):
            self._seed += 1
            motion = self._planner.next_motion(self.positions(pose), self._knowledge, goal,
                                               self._seed, by_hand)
            found = self.problems(motion, pose)
            if not found:
                return motion
        raise InvalidData(f"no motion passes the check: {found[0]}")

    def large_motion(self, pose: Mapping[str, float]) -> PlannedMotion:
        """A motion of the whole wrist and back, drawn at random: of some that the check finds
        nothing wrong with, the one that turns gravity most in the sensor.

        Raises:
            InvalidData: there is none.
        """
        q = self.positions(pose)
        names = list(self.arm.joint_names)
        wrist = [names.index(name) for name in self.arm.chain[-_WRIST:]]
        best: tuple[float, PlannedMotion] | None = None
        for _ in range(_DRAWN):
            poses = np.tile(q, (3, 1))
            poses[1, wrist] += self._rng.uniform(-_LARGE, _LARGE, len(wrist))
            path = RestToRest(poses, shortest_moves(self.arm, self._limits, poses[:-1], poses[1:]))
            up = self.arm.frame_motion(poses, 0.0 * poses, 0.0 * poses).up
            turned = float(np.linalg.norm(up[1] - up[0]))
            motion = self._as_planned(path, describe_motion(
                self.arm.chain, poses[:, [names.index(name) for name in self.arm.chain]]))
            if (best is None or turned > best[0]) and not self.problems(motion, pose):
                best = turned, motion
        if best is None:
            raise InvalidData("no large motion of the wrist passes the check")
        return best[1]

    def learn(self, motion: PlannedMotion, pose: Mapping[str, float]) -> None:
        """Take a motion from this pose for made."""
        self._knowledge = self._planner.knowledge_after(self._knowledge, motion,
                                                        self.positions(pose))

    def learn_estimate(self, report: Array, covariance: Array) -> None:
        """Take an estimate for what is known.

        Args:
            report: (10,) mass, centre of mass, inertia about it; covariance: (10, 10) of it.
        """
        phi = phi_from_body(report[0], report[1:4], tensor_from_six(report[4:]))
        back = np.linalg.inv(report_jacobian(phi))
        of_phi = back @ covariance @ back.T
        if np.isfinite(of_phi).all() and np.linalg.eigvalsh(of_phi)[0] > 0.0:
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
        names = list(self.arm.joint_names)
        q = self.positions(pose)
        wrist = [names.index(name) for name in self.arm.chain[-_WRIST:]]

        def tilt(joint: int) -> float:
            rows = np.tile(q, (2, 1))
            rows[1, joint] += _ANGLES[0]
            up = self.arm.frame_motion(rows, 0.0 * rows, 0.0 * rows).up
            return -float(np.linalg.norm(up[1] - up[0]))

        return sorted(wrist, key=tilt)

    def _wiggle_of(self, joint: int, pose: Mapping[str, float]) -> PlannedMotion | None:
        """A motion to and fro of one joint; None where none is within the limits."""
        q = self.positions(pose)
        for angle in _ANGLES:
            poses = q + angle * np.array([0.0, 1.0, -1.0, 0.0])[:, None] * np.eye(len(q))[joint]
            least = shortest_moves(self.arm, self._limits, poses[:-1], poses[1:])
            slower = np.maximum(_SLOW / least.durations, 1.0)
            path = RestToRest(poses, Pace(*(slower * part for part in least)))
            motion = self._as_planned(path, f"turn {self.arm.joint_names[joint]} by "
                                            f"{np.degrees(angle):.0f}° to either side")
            if not self.problems(motion, pose):
                return motion
        return None

    def _as_planned(self, path: RestToRest, words: str) -> PlannedMotion:
        """The points of a motion, of all joints that move the sensor: controllers want them all."""
        return as_planned(self.arm, path, path.duration, words)

    def positions(self, pose: Mapping[str, float]) -> Array:
        """Positions (joints,) in the order of the description (raises InvalidData)."""
        return positions_of(self.arm, pose)


def as_planned(arm: Arm, path: Callable[[Array], JointMotion], duration: float, words: str
               ) -> PlannedMotion:
    """The points of a motion from rest to rest, of all joints that move the frame.

    Args:
        path: motion of all joints at times (n,) [s]; duration: [s].
    """
    chain = [arm.joint_names.index(name) for name in arm.chain]
    stamps = np.linspace(0.0, duration, int(np.ceil(duration / _POINTS)) + 1)
    state = path(stamps)
    for part in state[1:]:
        part[[0, -1]] = 0.0  # what is left there is rounding
    return PlannedMotion(arm.chain, stamps, state.q[:, chain], state.dq[:, chain],
                         state.ddq[:, chain], words=words)


def positions_of(arm: Arm, pose: Mapping[str, float]) -> Array:
    """Positions (joints,) in the order of the description.

    Raises:
        InvalidData: one is not known.
    """
    for name in arm.joint_names:
        if name not in pose:
            raise InvalidData(f"it is not known where joint '{name}' is")
    return np.array([pose[name] for name in arm.joint_names])


def as_phi(report: Array) -> Array:
    """phi (10,) of a report (10,); zeros where it holds nothing."""
    if not np.isfinite(report).all() or report[0] == 0.0:
        return np.zeros(PARAMETERS)
    return phi_from_body(report[0], report[1:4], tensor_from_six(report[4:]))
