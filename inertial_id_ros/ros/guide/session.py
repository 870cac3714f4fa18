# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A session from an unknown load to a robot that knows it: check, move, identify, prove, apply.

Each stage may end the session, with an exit status of its own. Nothing moves before the checks at
rest have passed; only a small motion of the wrist, which decides sign and frame, goes before the
rest of the checks; nothing is applied that was not proved.
"""

from __future__ import annotations

import time
from functools import partial

import numpy as np

from ...apps.excitation.motions import PlannedMotion
from ...apps.guide.at_rest import check_at_rest
from ...apps.guide.by_motion import check_by_motion, check_joint_order
from ...apps.guide.motions import as_phi
from ...apps.guide.progress import (
    LONGEST_MOTION,
    Progress,
    is_at_its_limit,
)
from ...apps.guide.proof import Proof, prove
from ...apps.guide.record import End, Row, Verdict, describe_failed, failed, replaced
from ...cli import CHECK_FAILED, INTERRUPTED, NOT_APPLIED, NOT_IDENTIFIED, OK
from ...errors import InertialIdError
from ...inertia import Array
from ...io.messages import stamp_ns
from ...targets.registry import TARGETS
from .guide_node import Stopped
from .node_link import numbers_of
from .workplace import Ended, Workplace

_ARRIVAL = 6.0  # s until wrench and joint states have come once
_LISTENED = 2.5  # s of a check at rest
_JUDGEMENTS = 6  # of the node meanwhile, at least: a node that has just started says nothing yet
_LOOKS = 2  # at rest: what is wrong must be so in both
_SETTLED = 0.7  # s after a motion until its last rows count
_ANOTHER = 0.05  # rad that a joint moves at least that moves in place of another
_PROOF_BY_HAND = 6.0  # s of a motion by hand
_APART = ("If it stopped for a contact though nothing touches it, wrench and joint states may be "
          "far apart in time: compare their stamps while the arm stops.")
_NAME = "identify_payload"  # of the saved estimate, with the time behind


def run_session(place: Workplace) -> End:
    """Do it all; returns how it ended."""
    try:
        checking = Checking(place)
        checking.at_rest()
        checking.by_motion()
        if place.plan.only_check:
            return End(OK, "The set-up is right, as far as it can be told.")
        bias = Identifying(place).run()
        proving = Proving(place)
        proving.run(bias)
        return _apply(place, proving)
    except Ended as error:
        return error.end
    except Stopped:
        return End(INTERRUPTED, ("interrupted; the arm has stopped; "
                                 if place.moves_itself and place.record.motions
                                 else "interrupted; ") + (
            "the payload was applied" if place.record.applied else "nothing was applied"))
    finally:
        place.link.close()


class Checking:
    """The set-up: what is told at rest, then sign and frames by a small motion."""

    def __init__(self, place: Workplace) -> None:
        self._place = place

    def at_rest(self) -> None:
        """The checks at rest (raises Ended)."""
        place = self._place
        guide, listening = place.guide, place.listening
        place.show.step("check", f"at rest, for {_LISTENED:g} s")
        received = listening.received
        guide.wait_until(lambda: received.newest_positions() and received.sensor_frame, _ARRIVAL)
        for _ in range(_LOOKS):
            listening.look_for_driver()
            begin, enough = guide.now_ns(), listening.judgements + _JUDGEMENTS
            guide.wait(_LISTENED)
            guide.wait_until(partial(listening.has_judged, enough), _ARRIVAL)
            seen = listening.see(begin, guide.now_ns(), place.plan.controller, place.moves_itself)
            rows = check_at_rest(seen, place.link.settings, place.moves_itself)
            if not failed(rows):
                break
        place.note_rows(rows)
        if failed(rows):
            raise Ended(CHECK_FAILED, f"{describe_failed(rows)} Nothing has moved.")

    def by_motion(self) -> None:
        """The checks that need a small motion (raises Ended)."""
        place = self._place
        if not place.moves_itself:
            return self._tilted_by_hand()
        try:
            motions = place.plan_from_here().wiggle(place.pose)
        except InertialIdError as error:
            raise Ended(CHECK_FAILED, f"The arm cannot be moved from here: {error}") from None
        place.show.step("wiggle", "a small motion of the wrist")
        if not place.show.ask("The arm will move by itself. Is everybody clear of it?"):
            if place.plan.only_check:
                return self._leave_open()
            raise Ended(INTERRUPTED, "not agreed to; nothing has moved")
        place.begin_goal()
        begin = place.guide.now_ns()
        assert place.mover is not None
        place.mover.is_patient = True
        try:
            for motion in motions:
                first = place.guide.now_ns()
                place.move(motion)
                place.guide.wait(_SETTLED)
                self._judge_joint(motion, first)
        except Ended as error:
            # Where it was stopped on its way, the motion perhaps tells why.
            if error.end.status == NOT_IDENTIFIED and place.mover.is_at_rest:
                self._judge_joint(motion, first, stopped=True)
                self._judge_motion(begin)
                raise Ended(CHECK_FAILED, error.end.text,
                            f"{error.end.advice} {_APART}".strip()) from None
            raise
        place.mover.is_patient = False
        self._judge_motion(begin)

    def _leave_open(self) -> None:
        """Say what stays open without a motion."""
        self._place.note_rows(tuple(
            Row(name, Verdict.OPEN, "no motion was made", "", "")
            for name in ("sign of the wrench", "axes of the sensor", "direction of gravity")))

    def _tilted_by_hand(self) -> None:
        """A person tilts the wrist."""
        place = self._place
        if place.plan.only_check and not place.show.ask(
                "Sign, frame and gravity are open. Can you tilt the wrist by hand?"):
            return self._leave_open()
        place.show.step("wiggle", "tilted by hand")
        place.begin_goal()
        begin = place.guide.now_ns()
        place.have_moved("tilt the wrist by about 20° to either side, about two axes, and hold it "
                         "still again")
        self._judge_motion(begin)

    def _judge_joint(self, motion: PlannedMotion, first_ns: int, stopped: bool = False) -> None:
        """Whether the joint states show the joint that was told to move.

        Args:
            stopped: it did not come to its end, so that only another joint instead tells anything.
        """
        place = self._place
        told = {name: float(np.ptp(column)) for name, column in
                zip(motion.joint_names, motion.positions.T, strict=True)}
        seen = place.listening.received.joints("", (), first_ns, place.guide.now_ns())
        moved = {name: float(np.ptp(column)) for name, column in
                 zip(seen.names, seen.rows.T, strict=True)} if len(seen) else {}
        most = max(moved, key=moved.__getitem__, default="")
        if stopped and (not moved or most == max(told, key=told.__getitem__)
                        or moved[most] < _ANOTHER):
            return
        row = check_joint_order(told, moved)
        if row.verdict is Verdict.FAILED:
            place.note_rows((row,))
            raise Ended(CHECK_FAILED, "The joint states are wrong; the arm has stopped.")
        place.record.rows = replaced(place.record.rows, (row,))

    def _judge_motion(self, begin_ns: int) -> None:
        """Sign, frame, gravity and clocks, by the motion since a time."""
        place, settings = self._place, self._place.link.settings
        received = place.listening.received
        stretch = received.stretch(begin_ns, place.guide.now_ns())
        if stretch is None:
            raise Ended(CHECK_FAILED, "The motion of the sensor is not known.")
        rows = check_by_motion(stretch, settings, received.sensor_frame, settings.gravity.frame)
        place.note_rows(rows)
        if failed(rows):
            raise Ended(CHECK_FAILED, f"{describe_failed(rows)} The arm has stopped; nothing was "
                        "applied.")


class Identifying:
    """Motions until the payload is known as well as was asked for, or as can be had."""

    def __init__(self, place: Workplace) -> None:
        self._place = place

    def run(self) -> Array:
        """Identify, and keep the estimate; its bias (6,) of the sensor (raises Ended)."""
        place, timeout = self._place, self._place.plan.timeout
        place.show.step("identify", f"until the goal, at most {timeout:g} s")
        place.link.end()
        self._learn()
        made, parts = len(place.record.motions), place.link.parts(place.wanted)
        mass = parts[0].goal if parts and parts[0].is_known else 0.0
        place.link.begin(mass, place.wanted.com, place.wanted.inertia, timeout, keep_data=True)
        shares: list[Array] = []  # intervals over the goal, after each motion
        while True:
            progress = place.look(_SETTLED)
            self._learn()
            if self._is_reached(progress):
                break
            shares.append(np.array([part.width / part.goal if part.goal > 0.0 else 0.0
                                    for part in progress.parts]))
            moved = sum(seconds for _, seconds in place.record.motions[made:])
            is_vain = is_at_its_limit(shares)
            if progress.is_known and (
                    is_vain or moved > LONGEST_MOTION or progress.left <= 0.0):
                reason = "" if is_vain else progress.missing
                place.show.say("as good as this sensor, its mounting and the time allow: "
                               f"{reason or 'more motion does not help'}")
                break
            if progress.left <= 0.0 or is_vain:
                raise Ended(NOT_IDENTIFIED, f"Not identified in {progress.elapsed:.0f} s: "
                            + (progress.missing or "the intervals are too wide"))
            self._improve()
        place.is_identifying = False
        return self._keep_estimate()

    def _learn(self) -> None:
        """Have the next motion planned by the newest estimate."""
        message, source = self._place.link.parameters, self._place.source
        if message is not None and source is not None:
            report, covariance, _ = numbers_of(message)
            source.learn_estimate(report, covariance)

    def _improve(self) -> None:
        """Make the next motion, or have it made."""
        place = self._place
        if place.mover is None:
            return self._have_moved()
        source = place.plan_from_here()
        try:
            motion = source.next_motion(place.pose, place.wanted)
        except InertialIdError as error:
            raise Ended(NOT_IDENTIFIED, str(error)) from None
        source.learn(motion, place.pose)
        place.move(motion)

    def _have_moved(self) -> None:
        """Tell a person the next motion, and wait for it."""
        place = self._place
        words = place.link.progress(place.wanted, place.plan.timeout).missing
        pose = place.pose
        try:
            source = place.plan_from_here()
            motion = source.next_motion(pose, place.wanted, by_hand=True)
            place.display(motion)
            source.learn(motion, pose)
            words = motion.words
        except InertialIdError:
            pass  # the words of the node are good enough
        place.have_moved(words or "tilt the wrist by 20 to 30° about two axes")

    def _is_reached(self, progress: Progress) -> bool:
        """Whether the goal is reached."""
        return progress.is_reached and self._place.link.has_fresh_estimate

    def _keep_estimate(self) -> Array:
        """Keep the estimate, as file of the node and in the record; its bias (6,)."""
        name = f"{_NAME}_{time.strftime('%Y%m%d-%H%M%S')}"
        place, record = self._place, self._place.record
        try:
            message = place.link.newest()
            place.show.say(place.link.save(name), True)
        except InertialIdError as error:
            raise Ended(NOT_IDENTIFIED, str(error)) from None
        report, covariance, bias = numbers_of(message)
        record.report, record.frame = report, message.header.frame_id
        record.sigma = np.sqrt(np.maximum(np.diag(covariance), 0.0))
        record.stamp_ns = stamp_ns(message.header.stamp)
        record.saved, record.parts = name, place.link.parts(place.wanted)
        outside = place.source is not None and place.source.describe_outside(
            report[1:4], record.sigma[1:4])
        if outside:
            place.show.say(outside, False)
        place.link.end()
        return bias


class Proving:
    """Motions that the estimate has not seen, and the wrench that payloads foretell for them."""

    def __init__(self, place: Workplace) -> None:
        self._place = place

    def run(self, bias: Array) -> None:
        """Compare the payload with such a motion; bias: (6,) of the sensor (raises Ended)."""
        place = self._place
        place.show.step("prove", "a motion that the estimate has not seen")
        proof = place.record.proof = self.compare(bias, self._present(), self.identified)
        place.show.proof(proof)
        if not proof.is_given:
            raise Ended(NOT_APPLIED, f"Not proved: {proof.sentence()}. Nothing was applied.")
        place.show.say("proved", True)

    @property
    def identified(self) -> Array:
        """phi (10,) of what was identified."""
        assert self._place.record.report is not None
        return as_phi(self._place.record.report)

    def _present(self) -> Array:
        """phi (10,) that the robot has now, as far as it tells: its mass, where the new payload
        has it."""
        stated = self._place.listening.driver().payload
        return self.identified * (stated / self.identified[0]) if stated else np.zeros(10)

    def compare(self, bias: Array | None, present: Array, new: Array) -> Proof:
        """Make another motion, and compare two payloads with its wrench.

        Args:
            bias: (6,) reading without load; None: the mean of the motion.
        """
        place = self._place
        begin = place.guide.now_ns()
        self._unseen_motion()
        place.guide.wait(_SETTLED)
        stretch = place.listening.received.stretch(begin, place.guide.now_ns())
        proof = None
        if stretch is not None:
            proof = prove(stretch, stretch.readings.mean(axis=0) if bias is None else bias,
                          present, new, place.link.settings)
        if proof is None:
            raise Ended(NOT_APPLIED, "The motion for the proof was not recorded.")
        return proof

    def _unseen_motion(self) -> None:
        """Move the arm, or have it moved, in another way."""
        place = self._place
        if place.mover is None:
            place.have_moved("turn the wrist about other axes than before, for "
                             f"{_PROOF_BY_HAND:g} s, and hold it still again")
            return
        try:
            motion = place.plan_from_here().large_motion(place.pose)
        except InertialIdError as error:
            raise Ended(NOT_APPLIED, f"There is no motion for the proof: {error}") from None
        place.move(motion)


def _apply(place: Workplace, proving: Proving) -> End:
    """Hand the payload to the robot, through ~/apply and its conditions."""
    show, link, record = place.show, place.link, place.record
    show.step("apply", "through ~/apply")
    target = place.plan.target or link.settings.apply.target
    if not target:
        return End(OK, "Identified and proved. No target is set (apply.target or --target), so "
                   "nothing was applied.")
    rehearsal = link.apply(target, record.saved, send=False)
    show.say(rehearsal.message, None if rehearsal.success else False)
    for text in rehearsal.left_out:
        show.say(f"left out: {text}")
    if not rehearsal.success:
        return End(NOT_APPLIED, f"Identified and proved, not applied: {rehearsal.message}")
    if place.plan.dry_run:
        return End(OK, "Identified and proved. Nothing was applied (--dry-run).")
    if not show.ask(f"Tell {target} this payload?"):
        return End(NOT_APPLIED, "Identified and proved; applying it was not agreed to.")
    answer = link.apply(target, record.saved, send=True)
    show.say(answer.message, answer.success)
    if not answer.success and answer.sent:
        stated = place.listening.driver().payload
        told = "" if stated is None else f" The driver states {stated:.3f} kg at this moment."
        return End(NOT_APPLIED, "Identified and proved. The payload was sent or may have been, and "
                   f"it is not known whether {target} has it: {answer.message}.{told}",
                   f"Read the payload of the robot, or ask ~/apply of {link.name} with undo.")
    if not answer.success:
        return End(NOT_APPLIED, f"Identified and proved, not applied: {answer.message}")
    record.applied = answer.message
    return _verify(place, proving, target)


def _verify(place: Workplace, proving: Proving, target: str) -> End:
    """Whether the driver's own wrench is near zero, where it subtracts the payload."""
    if not TARGETS[target].changes_wrench:
        return End(OK, "Identified, proved and applied.")
    place.guide.wait(_SETTLED)
    proof = place.record.proof_after = proving.compare(None, proving.identified, np.zeros(10))
    (force, torque) = proof.left[1]
    allowed = proof.allowed_of(place.record.proof)
    text = (f"the driver's own wrench varies by {force:.2g} N and {torque:.2g} N m while the "
            f"arm moves (allowed {allowed[0]:.2g} N, {allowed[1]:.2g} N m)")
    good = force <= allowed[0] and torque <= allowed[1]
    place.show.say(text, good)
    if good:
        return End(OK, "Identified, proved and applied; the robot knows its payload.")
    return End(NOT_APPLIED, f"Applied, but {text}; ~/apply with undo gives back what it had.")
