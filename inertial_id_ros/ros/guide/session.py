# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A session from an unknown load to a robot that knows it: check, move, identify, prove, apply.

Each step may end the session, with an exit status of its own. Nothing moves before the checks at
rest have passed; only a small motion of the wrist, which decides sign and frame, goes before the
rest of the checks; nothing is applied that was not proved.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np

from ...apps.excitation.next_motion.planned_motion import PlannedMotion
from ...apps.guide.at_rest import check_at_rest
from ...apps.guide.by_motion import check_by_motion, check_joint_order, rejected_row
from ...apps.guide.motions import MotionSource, as_phi
from ...apps.guide.progress import (
    LONGEST_MOTION,
    USUAL_MOTION,
    Part,
    Progress,
    Wanted,
    describe_attainable,
    is_at_its_limit,
)
from ...apps.guide.proof import Proof, prove
from ...apps.guide.record import End, Record, Row, Verdict, failed, replaced
from ...apps.guide.show import Show
from ...cli import CHECK_FAILED, INTERRUPTED, NOT_APPLIED, NOT_IDENTIFIED, OK
from ...errors import InertialIdError
from ...identification.accuracy_goal import AccuracyGoal
from ...inertia import Array
from ...io.messages import stamp_ns
from ...targets.registry import load_target
from .guide_node import GuideNode, Stopped
from .listening import Listening
from .node_link import NodeLink, numbers_of

_ARRIVAL = 6.0  # s until wrench and joint states have come once
_LISTENED = 2.5  # s of a check at rest
_JUDGEMENTS = 6  # of the node meanwhile, at least: a node that has just started says nothing yet
_LOOKS = 2  # at rest: what is wrong must be so in both
_GIVEN_UP = 12  # motions that bring nothing, after which it is given up
_SETTLED = 0.7  # s after a motion until its last rows count
_SHOWN = 0.2  # s between two looks at what is known
_BY_HAND = 0.15  # rad that a joint moves at least where the arm is moved by hand
_ANOTHER = 0.05  # rad that a joint moves at least that moves in place of another
_STILL = 0.01  # rad within which an arm is at rest again
_PROOF_BY_HAND = 6.0  # s of a motion by hand
_NAME = "identify_payload"  # of the saved estimate, with the time behind


class Mover(Protocol):
    """Moves the arm, and stops it.

    Attributes:
        was_rejected: whether the controller rejected the last motion.
        is_patient: whether motions go on where the node doubts frames and sign: small ones, which
            are made to find that out.
    """

    was_rejected: bool
    is_patient: bool

    def run(self, motion: PlannedMotion, told: Callable[[], object]) -> str:
        """Make a motion; why it ended before its end, in words, or empty.

        Args:
            told: called now and then while the arm moves.
        """


@dataclass(frozen=True)
class Plan:
    """What a session is asked to do.

    Attributes:
        wanted: accuracy; timeout: of the identification [s].
        only_check, dry_run: end after the checks, or before anything is applied.
        target: of ~/apply; empty: that of the node; controller: to use, where there are several.
    """

    wanted: Wanted
    timeout: float
    only_check: bool = False
    dry_run: bool = False
    target: str = ""
    controller: str = ""


class _Ended(Exception):
    """A step ends the session."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.end = End(status, text)


class Session:
    """One session.

    Args:
        make_source: plans motions from a pose.
        make_mover: makes the motions of a source; None: a person moves the arm, who is told what
            to do.
        display: shows where a motion leads from a pose.
    """

    def __init__(self, guide: GuideNode, link: NodeLink, listening: Listening, show: Show,
                 plan: Plan, make_source: Callable[[Mapping[str, float]], MotionSource],
                 make_mover: Callable[[MotionSource], Mover] | None,
                 display: Callable[[MotionSource, PlannedMotion, Mapping[str, float]], None]
                 ) -> None:
        self._guide, self._link, self._listening = guide, link, listening
        self._show, self._plan = show, plan
        self._make_source, self._make_mover, self._display = make_source, make_mover, display
        self._wanted, self._is_lowered = plan.wanted, False  # as far as it can be had
        self._source: MotionSource | None = None
        self._mover: Mover | None = None
        self._is_identifying = False
        self.record = Record()

    def run(self) -> End:
        """Do it all; returns how it ended."""
        try:
            self._check()
            self._wiggle()
            if self._plan.only_check:
                return End(OK, "The set-up is right, as far as it can be told.")
            self._identify()
            self._prove()
            return self._apply()
        except _Ended as error:
            return error.end
        except Stopped:
            return End(INTERRUPTED, "interrupted; " + (
                "the payload was applied" if self.record.applied else "nothing was applied"))
        finally:
            self._link.close()

    # ---- check -----------------------------------------------------------------------------------

    def _check(self) -> None:
        """The checks at rest."""
        self._show.step("check", f"at rest, for {_LISTENED:g} s")
        received = self._listening.received
        begin = self._guide.now_ns()
        self._guide.wait_until(lambda: received.newest_positions() and received.sensor_frame,
                               _ARRIVAL)
        for _ in range(_LOOKS):
            self._listening.look_for_driver()
            begin, enough = self._guide.now_ns(), self._listening.judgements + _JUDGEMENTS
            self._guide.wait(_LISTENED)
            self._guide.wait_until(partial(self._listening.has_judged, enough), _ARRIVAL)
            seen = self._listening.see(begin, self._guide.now_ns(), self._plan.controller,
                                       self._make_mover is not None)
            rows = check_at_rest(seen, self._link.settings, self._make_mover is not None)
            if not failed(rows):
                break
        self._note_rows(rows)
        if failed(rows):
            raise _Ended(CHECK_FAILED, f"{_count(failed(rows))} wrong; nothing has moved.")

    def _note_rows(self, rows: tuple[Row, ...]) -> None:
        """Show rows and keep them."""
        for row in rows:
            self._show.row(row)
        self.record.rows = replaced(self.record.rows, rows)

    # ---- sign and frame --------------------------------------------------------------------------

    def _wiggle(self) -> None:
        """The checks that need a small motion."""
        if self._make_mover is None:
            return self._tilt_by_hand()
        try:
            self._source = self._make_source(self._pose())
            self._mover = self._make_mover(self._source)
            motions = self._source.wiggle(self._pose())
        except InertialIdError as error:
            raise _Ended(CHECK_FAILED, f"The arm cannot be moved from here: {error}") from None
        self._show.step("wiggle", "a small motion of the wrist")
        if not self._show.ask("The arm will move by itself. Is everybody clear of it?"):
            raise _Ended(INTERRUPTED, "not agreed to; nothing has moved")
        self._begin_goal()
        begin = self._guide.now_ns()
        self._mover.is_patient = True
        try:
            for motion in motions:
                first = self._guide.now_ns()
                self._move(motion)
                self._guide.wait(_SETTLED)
                self._judge_joint(motion, first)
        except _Ended as error:
            if error.end.status == NOT_IDENTIFIED:  # stopped on its way: perhaps it told why
                self._judge_joint(motion, first, stopped=True)
                self._judge_motion(begin)
                raise _Ended(CHECK_FAILED, error.end.text) from None
            raise
        self._mover.is_patient = False
        self._judge_motion(begin)

    def _tilt_by_hand(self) -> None:
        """A person tilts the wrist."""
        if self._plan.only_check and not self._show.ask(
                "Sign, frame and gravity are open. Can you tilt the wrist by hand?"):
            self._note_rows(tuple(Row(name, Verdict.OPEN, "no motion was made", "", "")
                                  for name in ("sign of the wrench", "axes of the sensor",
                                               "direction of gravity")))
            return
        self._show.step("wiggle", "tilted by hand")
        self._begin_goal()
        begin = self._guide.now_ns()
        self._wait_for_person("tilt the wrist by about 20° to either side, about two axes, and "
                              "hold it still again")
        self._judge_motion(begin)

    def _judge_joint(self, motion: PlannedMotion, first_ns: int, stopped: bool = False) -> None:
        """Whether the joint states show the joint that was told to move.

        Args:
            stopped: it did not come to its end, so that only another joint instead tells anything.
        """
        told = {name: float(np.ptp(column)) for name, column in
                zip(motion.joint_names, motion.positions.T, strict=True)}
        seen = self._listening.received.joints("", (), first_ns, self._guide.now_ns())
        moved = {name: float(np.ptp(column)) for name, column in
                 zip(seen.names, seen.rows.T, strict=True)} if len(seen) else {}
        most = max(moved, key=moved.__getitem__, default="")
        if stopped and (not moved or most == max(told, key=told.__getitem__)
                        or moved[most] < _ANOTHER):
            return
        row = check_joint_order(told, moved)
        if row.verdict is Verdict.FAILED:
            self._note_rows((row,))
            raise _Ended(CHECK_FAILED, "The joint states are wrong; the arm has stopped.")
        self.record.rows = replaced(self.record.rows, (row,))

    def _judge_motion(self, begin_ns: int) -> None:
        """Sign, frame, gravity and clocks, by the motion since a time."""
        received = self._listening.received
        stretch = received.stretch(begin_ns, self._guide.now_ns())
        if stretch is None:
            raise _Ended(CHECK_FAILED, "The motion of the sensor is not known.")
        settings = self._link.settings
        rows = check_by_motion(stretch, settings, received.sensor_frame, settings.gravity.frame)
        self._note_rows(rows)
        if failed(rows):
            raise _Ended(CHECK_FAILED, f"{_count(failed(rows))} wrong; the arm has stopped.")

    # ---- identify --------------------------------------------------------------------------------

    def _begin_goal(self) -> None:
        """Have the node forget what it knew, and begin."""
        if self._plan.only_check:
            return
        try:
            self._link.begin(0.0, 0.0, 0.0, self._plan.timeout, keep_data=False)
        except InertialIdError as error:
            raise _Ended(CHECK_FAILED, str(error)) from None
        self._is_identifying = True

    def _identify(self) -> None:
        """Move until the payload is known as well as was asked for."""
        self._show.step("identify", f"until the goal, at most {self._plan.timeout:g} s")
        self._link.end()
        self._lower_goal()
        goal, made = self._goal(), len(self.record.motions)
        self._link.begin(goal.mass, goal.com, goal.inertia, self._plan.timeout, keep_data=True)
        shares: list[Array] = []  # intervals over the goal, after each motion
        while True:
            progress = self._look(_SETTLED)
            self._lower_goal()
            if self._is_reached(progress):
                break
            shares.append(np.array([part.width / part.goal if part.goal > 0.0 else 0.0
                                    for part in progress.parts]))
            moved = sum(seconds for _, seconds in self.record.motions[made:])
            is_vain = is_at_its_limit(shares, *([] if self._mover else [_GIVEN_UP]))
            if self._is_known(progress) and (
                    is_vain or moved > LONGEST_MOTION or progress.left <= 0.0):
                self._show.say("as good as this sensor, its mounting and the time allow: "
                               f"{progress.missing or 'more motion does not help'}")
                break
            if progress.left <= 0.0 or is_at_its_limit(shares, _GIVEN_UP):
                raise _Ended(NOT_IDENTIFIED, f"Not identified in {progress.elapsed:.0f} s: "
                             + (progress.missing or "the intervals are too wide"))
            self._improve()
        self._is_identifying = False
        self._keep_estimate()

    def _goal(self) -> AccuracyGoal:
        """The accuracy in kilograms and metres, by the mass that is known so far."""
        wanted = self._wanted
        parts = self._link.parts(wanted)
        mass = parts[0].goal if parts and parts[0].is_known else 0.0
        return AccuracyGoal(mass, wanted.com, wanted.inertia)

    def _lower_goal(self) -> None:
        """Ask for no more than this sensor can tell, once an estimate says of what; say so."""
        message = self._link.parameters
        if message is None or self._source is None:
            return
        asked = self._plan.wanted
        self._source.learn_estimate(*numbers_of(message)[:2])
        self._wanted, limit = self._source.attainable(asked)
        text = describe_attainable(asked, self._wanted, USUAL_MOTION, limit)
        if text and not self._is_lowered:
            self._show.say(text)
        self._is_lowered = self._is_lowered or bool(text)

    def _improve(self) -> None:
        """Make the next motion, or have it made."""
        goal = self._goal()
        if self._mover is None:
            return self._have_moved(goal)
        assert self._source is not None
        try:
            motion = self._source.next_motion(self._pose(), goal)
        except InertialIdError as error:
            raise _Ended(NOT_IDENTIFIED, str(error)) from None
        self._source.learn(motion, self._pose())
        self._move(motion)

    def _have_moved(self, goal: AccuracyGoal) -> None:
        """Tell a person the next motion, and wait for it."""
        words = self._link.progress(self._wanted, self._plan.timeout).missing
        pose = self._pose()
        try:
            if self._source is None:  # kept: it knows what was told before, and tells another
                self._source = self._make_source(pose)
            motion = self._source.next_motion(pose, goal, by_hand=True)
            self._display(self._source, motion, pose)
            self._source.learn(motion, pose)
            words = motion.words
        except InertialIdError:
            pass  # the words of the node are good enough
        self._wait_for_person(words or "tilt the wrist by 20 to 30° about two axes")

    def _asked(self, progress: Progress) -> tuple[Part, ...]:
        """The parts that were asked for, once there is an estimate."""
        return progress.parts[:3] if self._wanted.inertia else progress.parts[:2]

    def _is_known(self, progress: Progress) -> bool:
        """Whether mass and centre of mass are known, as well as was asked or for the verdict."""
        return len(progress.parts) > 1 and all(part.is_known for part in progress.parts[:2])

    def _is_reached(self, progress: Progress) -> bool:
        """Whether the goal is reached."""
        asked = self._asked(progress)
        return bool(asked) and all(part.is_reached for part in asked) and (
            self._link.has_fresh_estimate)

    def _keep_estimate(self) -> None:
        """Keep the estimate, as file of the node and here."""
        name = f"{_NAME}_{time.strftime('%Y%m%d-%H%M%S')}"
        try:
            message = self._link.newest()
            self._show.say(self._link.save(name), True)
        except InertialIdError as error:
            raise _Ended(NOT_IDENTIFIED, str(error)) from None
        report, covariance, self._bias = numbers_of(message)
        self.record.report, self.record.frame = report, message.header.frame_id
        self.record.sigma = np.sqrt(np.maximum(np.diag(covariance), 0.0))
        self.record.stamp_ns = stamp_ns(message.header.stamp)
        self.record.saved, self.record.parts = name, self._link.parts(self._wanted)
        self._link.end()

    # ---- prove -----------------------------------------------------------------------------------

    def _prove(self) -> None:
        """Compare the payload with a motion that its estimate has not seen."""
        self._show.step("prove", "a motion that the estimate has not seen")
        assert self.record.report is not None
        new = as_phi(self.record.report)
        proof = self._compare(self._bias, self._present(), new)
        self.record.proof = proof
        self._show.proof(proof)
        if not proof.is_given:
            raise _Ended(NOT_APPLIED, f"Not proved: {proof.sentence()}. Nothing was applied.")
        self._show.say("proved", True)

    def _present(self) -> Array:
        """phi (10,) that the robot has now, as far as it tells: its mass, where the new payload
        has it."""
        stated = self._listening.driver().payload
        assert self.record.report is not None
        if not stated:
            return np.zeros(10)
        report = self.record.report.copy()
        report[4:] *= stated / report[0]
        report[0] = stated
        return as_phi(report)

    def _compare(self, bias: Array | None, present: Array, new: Array) -> Proof:
        """Make another motion, and compare two payloads with its wrench.

        Args:
            bias: (6,) reading without load; None: the mean of the motion.
        """
        begin = self._guide.now_ns()
        self._unseen_motion()
        self._guide.wait(_SETTLED)
        stretch = self._listening.received.stretch(begin, self._guide.now_ns())
        proof = None
        if stretch is not None:
            proof = prove(stretch, stretch.readings.mean(axis=0) if bias is None else bias,
                          present, new, self._link.settings)
        if proof is None:
            raise _Ended(NOT_APPLIED, "The motion for the proof was not recorded.")
        return proof

    def _unseen_motion(self) -> None:
        """Move the arm, or have it moved, in another way."""
        if self._mover is None:
            self._wait_for_person("turn the wrist about other axes than before, for "
                                  f"{_PROOF_BY_HAND:g} s, and hold it still again")
            return
        assert self._source is not None
        try:
            motion = self._source.large_motion(self._pose())
        except InertialIdError as error:
            raise _Ended(NOT_APPLIED, f"There is no motion for the proof: {error}") from None
        self._move(motion)

    # ---- apply -----------------------------------------------------------------------------------

    def _apply(self) -> End:
        """Hand the payload to the robot, through ~/apply and its conditions."""
        self._show.step("apply", "through ~/apply")
        target = self._plan.target or self._link.settings.apply.target
        if not target:
            return End(OK, "Identified and proved. No target is set (apply.target or --target), so "
                       "nothing was applied.")
        rehearsal = self._link.apply(target, self.record.saved, send=False)
        self._show.say(rehearsal.message, None if rehearsal.success else False)
        for text in rehearsal.left_out:
            self._show.say(f"left out: {text}")
        if not rehearsal.success:
            return End(NOT_APPLIED, f"Identified and proved, not applied: {rehearsal.message}")
        if self._plan.dry_run:
            return End(OK, "Identified and proved. Nothing was applied (--dry-run).")
        if not self._show.ask(f"Tell {target} this payload?"):
            return End(NOT_APPLIED, "Identified and proved; applying it was not agreed to.")
        answer = self._link.apply(target, self.record.saved, send=True)
        self._show.say(answer.message, answer.success)
        if not answer.success:
            return End(NOT_APPLIED, f"Identified and proved, not applied: {answer.message}")
        self.record.applied = answer.message
        return self._verify(target)

    def _verify(self, target: str) -> End:
        """Whether the driver's own wrench is near zero, where it subtracts the payload."""
        if not load_target(target).changes_wrench:
            return End(OK, "Identified, proved and applied.")
        assert self.record.report is not None
        self._guide.wait(_SETTLED)
        proof = self._compare(None, as_phi(self.record.report), np.zeros(10))
        self.record.proof_after = proof
        (force, torque) = proof.left[1]
        allowed = proof.allowed_of(self.record.proof)
        text = (f"the driver's own wrench varies by {force:.2g} N and {torque:.2g} N m while the "
                f"arm moves (allowed {allowed[0]:.2g} N, {allowed[1]:.2g} N m)")
        good = force <= allowed[0] and torque <= allowed[1]
        self._show.say(text, good)
        if good:
            return End(OK, "Identified, proved and applied; the robot knows its payload.")
        return End(NOT_APPLIED, f"Applied, but {text}; ~/apply with undo gives back what it had.")

    # ---- motion ----------------------------------------------------------------------------------

    def _pose(self) -> dict[str, float]:
        """Where every joint is now [rad or m]."""
        return self._listening.received.newest_positions()

    def _move(self, motion: PlannedMotion) -> None:
        """Make a motion (raises _Ended where it does not come to its end)."""
        assert self._mover is not None and self._source is not None
        self._display(self._source, motion, self._pose())
        self._show.motion(motion.words, motion.duration)
        self.record.motions.append((motion.words, motion.duration))
        ended = self._mover.run(motion, lambda: self._look(0.0))
        if self._guide.stop.is_set():
            raise Stopped
        if ended and self._mover.was_rejected and len(self.record.motions) == 1:
            self._note_rows((rejected_row(ended),))
            raise _Ended(CHECK_FAILED, "1 check is wrong; nothing has moved.")
        if ended:
            status = NOT_APPLIED if self.record.proof else NOT_IDENTIFIED
            raise _Ended(status, f"The arm has stopped: {ended}. "
                         + ("The payload was applied; its check was not finished."
                            if self.record.applied else "Nothing was applied."))

    def _look(self, seconds: float) -> Progress:
        """Show what is known, for so long."""
        end = time.monotonic() + seconds
        while True:
            progress = self._link.progress(self._wanted, self._plan.timeout)
            last = self.record.progress[-1].elapsed if self.record.progress else -_SHOWN
            if self._is_identifying and abs(progress.elapsed - last) >= _SHOWN:
                self._show.progress(progress)
                self.record.progress.append(progress)
            left = end - time.monotonic()
            if left <= 0.0:
                return progress
            self._guide.wait(min(left, _SHOWN))

    def _wait_for_person(self, words: str) -> None:
        """Tell a person a motion, and wait until the arm has moved and rests again."""
        self._show.motion(words, 0.0)
        self.record.motions.append((words, 0.0))
        begin, moved = self._pose(), False
        before, deadline = begin, time.monotonic() + self._plan.timeout
        while time.monotonic() < deadline:
            self._look(0.5)
            now = self._pose()
            moved = moved or _farthest(begin, now) > _BY_HAND
            if moved and _farthest(before, now) < _STILL:
                return
            before = now
        raise _Ended(NOT_IDENTIFIED, f"Nobody has moved the arm for {self._plan.timeout:g} s.")


def _farthest(a: Mapping[str, float], b: Mapping[str, float]) -> float:
    """Largest difference between two poses [rad or m]."""
    return max((abs(a[name] - b[name]) for name in a if name in b), default=0.0)


def _count(rows: tuple[Row, ...]) -> str:
    return f"{len(rows)} check{'s are' if len(rows) > 1 else ' is'}"

