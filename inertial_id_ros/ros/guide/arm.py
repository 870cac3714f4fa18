# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The arm of a session: plans its motions, makes them through its controller, and stops it where
the node or the driver finds a fault."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor, wait

import numpy as np
from nav_msgs.msg import Path
from rclpy.qos import DurabilityPolicy, QoSProfile

from ...apps.excitation.collision import box_obstacle
from ...apps.excitation.motions import MotionLimits, PlannedMotion
from ...apps.guide.checks import Snapshot
from ...apps.guide.motions import MotionSource
from ...kinds import STOPPING
from ..motion_execution import ENDING, Ended, MotionExecution, path_message
from .command_line import Options
from .guide_node import GuideNode
from .listening import Listening
from .node_link import NodeLink

CHECKED = 0.005  # rad that a joint may have moved since a motion was checked
BY_HAND, STILL = 0.15, 0.01  # rad that a joint moves at least by hand; within which an arm rests
JUMP_TIME, JUMP = 0.15, 8.0  # s, N: a swung weight of 8 kg changes by 5 N, noise by 1 N


class MovedArm:
    """Plans motions around the pose that the arm has first, and makes them.

    Attributes:
        is_small: True while motions go on where the node doubts frames and sign: small ones, which
            are made to find that out.
    """

    def __init__(self, guide: GuideNode, listening: Listening, link: NodeLink, options: Options
                 ) -> None:
        self._guide, self._listening, self._link, self._options = guide, listening, link, options
        self._source: MotionSource | None = None
        self._frame = self._controller = ""
        self.is_small = False
        self._path = guide.node.create_publisher(Path, "identify_payload/next_path", QoSProfile(
            depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL))

    @property
    def pose(self) -> dict[str, float]:
        """Where every joint is now [rad or m]."""
        return self._listening.received.newest_positions()

    def use(self, seen: Snapshot) -> None:
        """Move the sensor that was seen, by the controller that fits."""
        self._frame = seen.motion.frame
        fitting = [c.name for c in seen.controllers
                   if not c.joints or set(seen.motion.chain) <= set(c.joints)]
        self._controller = (fitting or [""])[0]

    @property
    def source(self) -> MotionSource:
        """What plans motions (raises InertialIdError)."""
        if self._source is None:
            options = self._options
            around = [box_obstacle(f"keep-out box {k + 1}", corners)
                      for k, corners in enumerate(options.keep_out)]
            self._source = MotionSource(
                self._listening.received.description, self._frame, self.pose, self._link.settings,
                MotionLimits(link_speed=options.link_speed, floor=options.floor), options.box,
                [*around, *self._listening.scene.obstacles])
        return self._source

    def display(self, motion: PlannedMotion) -> None:
        """Show in RViz where a motion leads from here."""
        start = self.source.positions(self.pose)
        self._path.publish(path_message(motion, self.source.arm, start, self._guide.now_ns()))

    def move(self, motion: PlannedMotion, told: Callable[[], object]) -> Ended:
        """Make a motion; told: called now and then meanwhile."""
        pose = self.pose
        found = self.source.problems(motion, pose)
        execution = MotionExecution(
            self._guide.node, motion, f"{self._controller}{ENDING}",
            self._listening.joint_states_topic, lambda _, now: found or moved(pose, now),
            self.find_fault, self._options.silence,
            lambda: self._listening.driver().speed or 1.0)
        with ThreadPoolExecutor(1, "motion") as watch:
            ended = watch.submit(execution.run)
            while not wait([ended], 0.05).done:
                told()
        self._guide.release(execution)
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
        if self.is_small:  # a weight whose frames or sign are wrong looks like a contact
            jump = self._force_jump()
            return (f"contact: the force has changed by {jump:.0f} N within {JUMP_TIME:g} s"
                    if jump > JUMP else "")
        doubt, text = self._link.doubt()
        return text if doubt & STOPPING else ""

    def _force_jump(self) -> float:
        """How far the force has changed in the last `JUMP_TIME` [N]."""
        force = self._listening.received.wrench(
            self._guide.now_ns() - int(JUMP_TIME * 1e9)).rows[:, :3]
        part = len(force) // 3
        if part == 0:
            return 0.0
        return float(np.linalg.norm(force[-part:].mean(axis=0) - force[:part].mean(axis=0)))


def moved(checked: Mapping[str, float], now: Mapping[str, float]) -> tuple[str, ...]:
    """Which joints have moved since a motion was checked."""
    return tuple(f"{name} has moved since the motion was checked" for name, position in now.items()
                 if name in checked and abs(position - checked[name]) > CHECKED)


def _farthest(a: Mapping[str, float], b: Mapping[str, float]) -> float:
    """Largest difference between two poses [rad or m]."""
    return max((abs(a[name] - b[name]) for name in a if name in b), default=0.0)
