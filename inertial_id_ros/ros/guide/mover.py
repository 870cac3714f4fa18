# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Moves the arm through its trajectory controller, one motion after the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from ...apps.excitation.motions import PlannedMotion
from ...findings import STOPPING
from ..motion_execution import MotionExecution, State
from .guide_node import GuideNode, Stopped
from .listening import ENDING, Listening
from .node_link import NodeLink

_READY = 3.0  # s until controller and joint states are heard
_POLL = 0.05  # s
_STILL = 0.005  # rad or m
_JUMP_TIME, _JUMP = 0.15, 8.0  # s, N: a swung weight of 8 kg changes by 5 N, noise by 1 N


class ControllerMover:
    """Makes motions, and stops the arm where the node or the driver finds a fault.

    Args:
        controller: name of the controller; found when the first motion is made, where empty.
        check: what is wrong with a motion from where the joints are, a sentence each. It takes
            a while, in which the executor must go on: so it is made in the session's thread, and
            holds if the arm has not moved when the motion is sent.
        silence: longest time without joint states while the arm moves [s]; None: as their rate
            allows.

    Attributes:
        was_rejected, is_patient, is_at_rest: as `workplace.Mover`.
    """

    def __init__(self, guide: GuideNode, listening: Listening, link: NodeLink, controller: str,
                 check: Callable[[PlannedMotion, dict[str, float]], tuple[str, ...]],
                 silence: float | None) -> None:
        self._guide, self._listening, self._link = guide, listening, link
        self._controller, self._check, self._silence = controller, check, silence
        self.was_rejected = self.is_patient = False
        self.is_at_rest = True

    def run(self, motion: PlannedMotion, told: Callable[[], object]) -> str:
        """As `workplace.Mover`."""
        jobs = self._guide.jobs
        pose = self._listening.received.newest_positions()
        found = self._check(motion, pose)
        execution = jobs.run(lambda: MotionExecution(
            self._guide.node, motion, self._action(), self._listening.joint_states_topic,
            self._listening.received.settings.motion.execute,
            lambda _, now: found or _moved(pose, now), self.find_fault, self._silence))
        sent = False
        try:
            self._guide.wait_until(lambda: not execution.find_problem(), _READY)
            jobs.run(execution.ask)
            sent = jobs.run(lambda: confirm(execution)) is State.SENDING
            while not execution.finished.wait(_POLL):
                told()
        except Stopped:
            execution.abort("interrupted")
        finally:
            if not execution.finished.is_set():
                execution.abort("the session ends")
                execution.finished.wait(_READY)
            self._guide.release(execution)
        self.is_at_rest = execution.state in (State.DONE, State.REFUSED, State.STOPPED)
        self.was_rejected = sent and execution.state is State.REFUSED
        return "" if execution.state is State.DONE else execution.reason

    def find_fault(self) -> str:
        """What must stop the arm, in one sentence; empty where nothing must."""
        if self._guide.stop.is_set():
            return "interrupted"
        stopped = self._listening.driver().stopped
        if stopped:
            return stopped
        if self._listening.scene.has_changed:
            return "the planning scene has changed since it was read"
        if self.is_patient:  # a weight whose frames or sign are wrong looks like a contact
            jump = self._force_jump()
            return (f"contact: the force has changed by {jump:.0f} N within {_JUMP_TIME:g} s"
                    if jump > _JUMP else "")
        doubt, text = self._link.doubt()
        return text if doubt & STOPPING else ""

    def _force_jump(self) -> float:
        """How far the force has changed in the last `_JUMP_TIME` [N]."""
        now = self._guide.now_ns()
        rows = self._listening.received.wrench("", (), now - int(_JUMP_TIME * 1e9), now).rows
        part = len(rows) // 3
        if part == 0:
            return 0.0
        return float(np.linalg.norm(rows[-part:, :3].mean(axis=0) - rows[:part, :3].mean(axis=0)))

    def _action(self) -> str:
        """Name of the controller's action."""
        if not self._controller:
            self._controller = self._listening.controller_names()[0]
        return f"{self._controller}{ENDING}"


def confirm(execution: MotionExecution) -> State:
    """Confirm a motion; where it stands then."""
    execution.confirm()
    return execution.state


def _moved(checked: Mapping[str, float], now: Mapping[str, float]) -> tuple[str, ...]:
    """Which joint has moved since a motion was checked."""
    return tuple(f"{name} has moved since the motion was checked" for name, position in now.items()
                 if name in checked and abs(position - checked[name]) > _STILL)
