# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The motions that identify a robot itself: planned excitation of all joints, and joints to and fro
at steady speeds, which tell friction."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pinocchio as pin

from ...errors import InvalidData
from ...inertia import Array
from ...kinematics.robot_description import parse_urdf, read_description
from ..excitation.arm import Arm, CarriedLoad
from ..excitation.collision_shapes import Obstacle, box_obstacle
from ..excitation.config import parse_options
from ..excitation.next_motion.check_motion import CheckedRobot, check_motion
from ..excitation.next_motion.planned_motion import (
    MotionLimits,
    Pace,
    PlannedMotion,
    RestToRest,
    shortest_moves,
)
from ..excitation.plan_excitation import make_plan
from .motions import as_planned, positions_of

EXCITATION = 10.0  # s, of a planned motion: what goes on where nobody can stop it any more
BUDGET = 45.0  # s of planning
SWEEPS = 6  # motions at steady speeds
_SPEEDS = (0.1, 0.3, 1.0)  # of the joints in a sweep, relative to each other
_AT_SPEED = 1.2  # s of each move to or fro
_STEP = 0.3  # rad or m, of a move by which the largest speed of a joint is found
_TRIES = 8  # directions of the joints
_SPARE = 0.003  # m: the check asks for more clearance than the planner, as it allows for its step
_NEAR = 0.005  # rad or m, from where a motion starts


class RobotMotions:
    """Plans motions about a pose, from rest to rest, and checks each by other means.

    Args:
        urdf: file of the robot description; frame: link whose joints move.
        pose: position of every joint by name [rad or m].
        box: corners (2, 3) [m] of a box around payload or tool, in that frame; keep_out: of boxes
            that nothing may touch, in axes of the description's root; obstacles: of a planning
            scene, which the check knows, and the planner does not.

    Raises:
        InvalidModel, UnknownFrame, InvalidData: the robot cannot be moved from there.
    """

    def __init__(self, urdf: Path, frame: str, pose: Mapping[str, float], limits: MotionLimits,
                 box: Array, keep_out: Sequence[Array], obstacles: Sequence[Obstacle]) -> None:
        text, self._urdf, self._limits = read_description(urdf), urdf, limits
        self._box, self._keep_out = box, keep_out
        around = [*(box_obstacle(f"keep-out box {k + 1}", corners)
                    for k, corners in enumerate(keep_out)), *obstacles]
        carried = CarriedLoad(box=box)
        self.arm = Arm(text, frame, carried, obstacles=around)
        self._checked = CheckedRobot(text, frame, carried, around)
        self._home = positions_of(self.arm, pose)
        self._chain = np.array([self.arm.joint_names.index(name) for name in self.arm.chain])

    def problems(self, motion: PlannedMotion, pose: Mapping[str, float]) -> tuple[str, ...]:
        """What is wrong with a motion from this pose, by the independent check."""
        return check_motion(self._checked, motion, dict(pose), self._limits)

    def excitation(self, seed: int) -> PlannedMotion:
        """A motion of all joints, as `plan_excitation` plans it for a robot; another for each seed.

        Raises:
            InertialIdError: there is none, or the check finds something wrong with it.
        """
        options = parse_options([
            str(self._urdf), "--frame", self.arm.frame, "--for", "robot", "--starts", "1",
            "--duration", f"{EXCITATION:g}", "--budget", f"{BUDGET:g}", "--seed", f"{seed}",
            "--start=" + ",".join(map(repr, self._home.tolist())),
            f"--tool-speed={self._limits.link_speed!r}", f"--floor={self._limits.floor!r}",
            f"--range={self._limits.range!r}", f"--clearance={self._limits.clearance + _SPARE!r}",
            f"--payload-box={_as_words(self._box)}",
            *(f"--keep-out={_as_words(corners)}" for corners in self._keep_out)])
        motion = as_planned(self.arm, make_plan(options, time.monotonic()).found.motion, EXCITATION,
                            "all joints")
        found = self.problems(motion, self._pose())
        if found:
            raise InvalidData(f"no motion of all joints passes the check: {found[0]}")
        return motion

    def sweep(self, number: int) -> PlannedMotion:
        """All joints to and fro, and once more to the other side, each at a steady speed: in each
        of `SWEEPS` a joint has another, so that any part of the recording tells of each.

        Raises:
            InvalidData: there is no room for it.
        """
        rng = np.random.default_rng(number)
        found: tuple[str, ...] = ()
        for _ in range(_TRIES):
            motion = self._sweep(number, rng.choice([-1.0, 1.0], len(self._chain)))
            found = self.problems(motion, self._pose())
            if not found:
                return motion
        raise InvalidData(f"no motion to and fro passes the check: {found[0]}")

    def way_home(self, pose: Mapping[str, float]) -> PlannedMotion | None:
        """The way from a pose to where all other motions start; None where the robot is there.

        Raises:
            InvalidData: the check finds something on it.
        """
        begin = positions_of(self.arm, pose)
        if np.abs(begin - self._home).max() < _NEAR:
            return None
        path = RestToRest(np.stack([begin, self._home]), shortest_moves(
            self.arm, self._limits, begin[None], self._home[None]))
        motion = as_planned(self.arm, path, path.duration, "back to the start pose")
        found = self.problems(motion, pose)
        if found:
            raise InvalidData(f"the way back to the start pose is not clear: {found[0]}")
        return motion

    def _pose(self) -> dict[str, float]:
        return dict(zip(self.arm.joint_names, self._home.tolist(), strict=True))

    def _sweep(self, number: int, signs: Array) -> PlannedMotion:
        """A sweep that begins in these directions (chain,)."""
        count = len(self._chain)
        alone = np.tile(self._home, (count, 1))
        alone[np.arange(count), self._chain] += _STEP * signs
        full = shortest_moves(self.arm, self._limits, np.tile(self._home, (count, 1)), alone)
        shares = np.array(_SPEEDS)[(np.arange(count) + number) % len(_SPEEDS)]
        step = signs * shares * _STEP / (full.durations - full.ramps)  # rad/s
        # Together they may be faster than the limits allow; each then goes less far in the time.
        poses = self._home + np.array([0.0, 1.0, 0.0, -1.0, 0.0])[:, None] * self._all(step)
        pace = shortest_moves(self.arm, self._limits, poses[:-1], poses[1:])
        poses = self._home + (poses - self._home) * _AT_SPEED / float(
            (pace.durations - pace.ramps).max())
        pace = shortest_moves(self.arm, self._limits, poses[:-1], poses[1:])
        path = RestToRest(poses, Pace(np.maximum(pace.durations, _AT_SPEED + pace.ramps),
                                      pace.ramps))
        return as_planned(self.arm, path, path.duration, "all joints to and fro, at steady speeds")

    def _all(self, step: Array) -> Array:
        """A step (chain,) as one of all joints (joints,)."""
        out = np.zeros(len(self._home))
        out[self._chain] = step
        return out


def last_link(urdf: str) -> str:
    """The link that most joints move: the flange, or what is fixed to it (raises InvalidModel)."""
    model = parse_urdf(urdf)
    if model.njoints < 2:
        raise InvalidData("the robot description has no joint that moves")
    last = max(range(1, model.njoints), key=lambda joint: len(model.supports[joint]))
    return [str(f.name) for f in model.frames
            if f.type == pin.FrameType.BODY and f.parentJoint == last][-1]


def _as_words(box: Array) -> str:
    """Corners (2, 3) of a box as lengths and centre, for a command line."""
    low, high = box
    return ",".join(map(repr, [*(high - low).tolist(), *(0.5 * (low + high)).tolist()]))
