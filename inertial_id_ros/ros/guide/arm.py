# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The arm of a session: plans its motions, makes them through its controller, and stops it where
the node or the driver finds a fault."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait

import numpy as np

from ...apps.excitation.arm import Arm
from ...apps.excitation.collision import box_obstacle
from ...apps.excitation.motions import MotionLimits
from ...apps.guide.checks import Snapshot
from ...apps.guide.motions import MotionSource
from ...apps.simulation.motion import Trajectory
from ...kinds import STOPPING
from ..motion_execution import ENDING, Ended, MotionExecution
from .listening import Listening
from .node_link import GuideNode, NodeLink

BY_HAND, STILL = 0.15, 0.01  # rad that a joint moves at least by hand; within which an arm rests
JUMP_TIME, JUMP = 0.15, 8.0  # s, N: a swung weight of 8 kg changes by 5 N, noise by 1 N


class MovedArm:
    """Makes motions around the pose that the arm has first.

    Attributes:
        source: plans them, after `prepare`.
        is_small: True while motions go on where the node doubts frames and sign: small ones, which
            are made to find that out.
    """

    source: MotionSource

    def __init__(self, guide: GuideNode, listening: Listening, link: NodeLink,
                 options: argparse.Namespace) -> None:
        self._guide, self._listening, self._link, self._options = guide, listening, link, options
        self._controller = ""
        self.is_small = False

    @property
    def pose(self) -> dict[str, float]:
        """Where every joint is now [rad or m]."""
        return self._listening.received.newest_positions()

    def prepare(self, seen: Snapshot) -> None:
        """Plan motions of the sensor that was seen, to be made by the controller that fits, around
        the pose that the arm has now (raises InertialIdError: none can be made)."""
        options, self._controller = self._options, seen.fitting[0]
        around = [box_obstacle(f"keep-out box {k + 1}", corners)
                  for k, corners in enumerate(options.keep_out)]
        arm = Arm(self._listening.received.description, seen.frame, options.box,
                  obstacles=[*around, *self._listening.scene.obstacles])
        self.source = MotionSource(arm, MotionLimits(
            link_speed=options.link_speed, floor=options.floor), self.pose, self._link.settings)

    def move(self, motion: Trajectory, meanwhile: Callable[[], object]) -> Ended:
        """Make a motion; meanwhile: called now and then until it has ended."""
        execution = MotionExecution(
            self._guide.node, motion, f"{self._controller}{ENDING}",
            self._listening.joint_states_topic,
            lambda: self.source.problems(motion, self.pose), self.find_fault,
            self._options.silence, lambda: self._listening.driver().speed or 1.0)
        with ThreadPoolExecutor(1, "motion") as watch:
            ended = watch.submit(execution.run)
            while not wait([ended], 0.05).done:
                meanwhile()
        if execution.is_settled:
            execution.close()
        else:
            self._guide.unsettled.append(execution)
        return ended.result()

    def is_moved_by_hand(self, wait: Callable[[], object], longest: float) -> bool:
        """True if somebody moves the arm, and it rests again, within this time [s].

        Args:
            wait: lets some time pass.
        """
        begin = before = self.pose
        has_moved, end = False, time.monotonic() + longest
        while time.monotonic() < end:
            wait()
            now = self.pose
            has_moved = has_moved or _farthest(begin, now) > BY_HAND
            if has_moved and _farthest(before, now) < STILL:
                return True
            before = now
        return False

    def find_fault(self) -> str:
        """What must stop the arm, in one sentence; empty where nothing must."""
        if self._guide.stop.is_set():
            return "interrupted"
        if stopped := self._listening.driver().stopped:
            return stopped
        if self._listening.scene.has_changed:
            return "the planning scene has changed since it was read"
        if not self.is_small:
            doubt, text = self._link.doubt()
            return text if doubt & STOPPING else ""
        # A weight whose frames or sign are wrong looks like a contact: only a jump of the force is.
        first, _, last = np.array_split(self._listening.received.wrench(
            self._guide.now_ns() - int(JUMP_TIME * 1e9)).rows[:, :3], 3)
        jump = float(np.linalg.norm(last.mean(axis=0) - first.mean(axis=0))) if len(last) else 0.0
        return (f"contact: the force has changed by {jump:.0f} N within {JUMP_TIME:g} s"
                if jump > JUMP else "")


def _farthest(a: dict[str, float], b: dict[str, float]) -> float:
    """Largest difference between two poses [rad or m]."""
    return max((abs(a[name] - b[name]) for name in a if name in b), default=0.0)
