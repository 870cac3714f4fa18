# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Moves the arm through its trajectory controller, one motion after the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ...apps.excitation.next_motion.planned_motion import PlannedMotion
from ...apps.guide.swung_load import SwungLoad
from ...findings import NOTHING, STOPPING, Doubt
from ..motion_execution import MotionExecution, State
from .guide_node import GuideNode, Stopped
from .listening import ENDING, Listening
from .node_link import NodeLink

_READY = 3.0  # s until controller and joint states are heard
_POLL = 0.05  # s
_STILL = 0.005  # rad or m


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
        self._swung: SwungLoad | None = None  # of the motion that is made, where it is a small one
        self._looked_ns = 0  # when it was told last what came

    def run(self, motion: PlannedMotion, told: Callable[[], object]) -> str:
        """As `workplace.Mover`."""
        jobs = self._guide.jobs
        pose = self._listening.received.newest_positions()
        found = self._check(motion, pose)
        self._swung, self._looked_ns = None, self._guide.now_ns()
        if self.is_patient:
            self._swung = SwungLoad(self._listening.received.settings.wrench)
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
        doubt, text = self._link.doubt()
        stopping = STOPPING
        if self._swung is not None:
            self._tell(self._swung)
            # A weight whose frames or sign are wrong looks like a contact to the node.
            stopping = NOTHING if self._swung.explains else Doubt.PRESENT
        return text if doubt & stopping else ""

    def _tell(self, swung: SwungLoad) -> None:
        """Tell it what has come since the last time."""
        received, now = self._listening.received, self._guide.now_ns()
        wrench, joints = (take("", (), self._looked_ns, now) for take in (
            received.wrench, received.joints))
        self._looked_ns = now + 1
        swung.take(wrench.stamps, wrench.rows, joints.stamps, joints.rows)

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
