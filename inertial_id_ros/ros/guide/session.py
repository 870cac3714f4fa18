# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A session from an unknown payload to a robot that knows it: check, move, identify, prove, apply.

Each step may end the session, with an exit status of its own. Nothing moves before the checks at
rest have passed; only a small motion of the wrist, which decides sign and frame, goes before the
rest of the checks; nothing is applied that was not proved.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from ...apps.guide.by_motion import check_by_motion, check_joint_order, rejected_row
from ...apps.guide.checks import Row, check_at_rest, failed
from ...apps.guide.progress import LONGEST_MOTION, Numbers, Progress
from ...apps.guide.proof import Proof, prove
from ...apps.guide.show import End, Show
from ...cli import CHECK_FAILED, INTERRUPTED, NOT_APPLIED, NOT_IDENTIFIED, OK
from ...errors import InertialIdError
from ...kinds import Doubt
from ...targets import TARGETS
from .arm import MovedArm, Trajectory
from .listening import Listening
from .node_link import LATEST, GuideNode, NodeLink, Stopped

ARRIVAL = 6.0  # s until wrench and joint states have come once
LISTENED, TRIES = 2.5, 3  # s of a check at rest; what is wrong must be so each time
SETTLED = 0.7  # s after a motion until its last rows count
SHOWN = 0.2  # s between two looks at what is known
AFTER_A_STOP = ("Correct what stopped the arm, make sure that nothing touches it, and run the "
                "command again: it begins anew. If it stopped for a contact though nothing touches "
                "it, wrench and joint states may be far apart in time: compare their stamps.")
NO_MOTION = "The arm cannot be moved from here: "
T = TypeVar("T")
NO_ANSWER = (f"The controller has not answered. This program stays for up to {LATEST:g} s, and "
             "cancels the motion if the controller accepts it after all.")


def _or_end(status: int, text: str, step: Callable[..., T], *arguments: Any) -> T:
    """The result of a step, whose error ends the session with a status and a text before it."""
    try:
        return step(*arguments)
    except InertialIdError as error:
        raise End(status, f"{text}{error}") from None


class Session:
    """An arm with a payload, the node that identifies it, and whoever moves the arm.

    Each step raises End where the session ends with it, and Stopped where the user wants it.
    """

    def __init__(self, guide: GuideNode, options: argparse.Namespace, show: Show) -> None:
        self.guide, self.options, self.show = guide, options, show
        self.link = NodeLink(guide, options.node)
        self.listening = Listening(guide, options.node, self.link.settings)
        self.arm = MovedArm(guide, self.listening, self.link, options)
        self._is_identifying, self._saved = False, ""

    def run(self) -> End:
        """Do it all; returns how it ended."""
        try:
            self.check()
            self.wiggle()
            if self.options.check:
                return End(OK, "The set-up is right, as far as it can be checked.")
            found = self.identify()
            self.prove(found)
            return self.apply(found)
        except End as end:
            return end
        except Stopped:
            stopped = "the arm has stopped; " if (
                self.options.motion and self.show.motions) else ""
            return End(INTERRUPTED, f"interrupted; {stopped}" + (
                "the payload was applied" if self.show.applied else "nothing was applied"))

    # ---- check -----------------------------------------------------------------------------------

    def check(self) -> None:
        """The checks at rest."""
        self.show.step("check", f"at rest, for {LISTENED:g} s")
        self.guide.wait_until(
            lambda: self.arm.pose and len(self.listening.received.wrench()), ARRIVAL)
        for _ in range(TRIES):
            self.listening.discover()
            begin = self.guide.now_ns()
            self.guide.wait(LISTENED)
            seen = self.listening.snapshot(begin, self.guide.now_ns(), self.options.controller,
                                           self.options.motion)
            rows = check_at_rest(seen, self.link.settings, self.options.motion)
            if not failed(rows):
                break
        self._note(rows, "Nothing has moved.")
        if self.options.motion:
            _or_end(CHECK_FAILED, NO_MOTION, self.arm.prepare, seen)

    def wiggle(self) -> None:
        """Sign, frame, gravity, clocks, order of the joints, by a small motion."""
        self.show.step("wiggle", "a small motion of the wrist")
        question = ("The arm will move by itself. Is everybody clear of it?" if self.options.motion
                    else "Sign, frame and gravity are open. Can you tilt the wrist by hand?")
        if (self.options.motion or self.options.check) and not self.show.ask(question):
            if self.options.check:
                return
            raise End(INTERRUPTED, "not agreed to; nothing has moved")
        if not self.options.check:
            _or_end(CHECK_FAILED, "", self.link.forget)
            self._is_identifying = True
        begin, self.arm.is_small = self.guide.now_ns(), True
        if self.options.motion:
            self._wiggle(begin)
        else:
            self._have_moved("tilt the wrist by about 20° to either side, about two axes, and hold "
                             "it still again")
        self.arm.is_small = False
        self._judge_motion(begin)
        doubt, text = self.link.doubt()
        if doubt & (Doubt.MASS | Doubt.FRAME) and not self.options.check:
            raise End(CHECK_FAILED, f"The node doubts the set-up: {text}. Nothing was applied.")

    def _wiggle(self, begin_ns: int) -> None:
        """Make the small motions; the order of the joints by each."""
        for motion in _or_end(CHECK_FAILED, NO_MOTION, self.arm.source.wiggle, self.arm.pose):
            first, stopped = self.guide.now_ns(), None
            try:
                self._move(motion)
                self.guide.wait(SETTLED)
            except End as end:
                if end.advice != AFTER_A_STOP:
                    raise
                stopped = End(CHECK_FAILED, end.text, end.advice)
            seen = self.listening.received.joints(first)
            moved = np.ptp(seen.rows, axis=0).tolist() if len(seen) else [0.0] * len(seen.names)
            self._note(check_joint_order(
                dict(zip(motion.joint_names, np.ptp(motion.positions, axis=0).tolist(),
                         strict=True)),
                dict(zip(seen.names, moved, strict=True)), stopped is not None),
                "The arm has stopped.")
            if stopped:
                self._judge_motion(begin_ns)  # which perhaps says why
                raise stopped

    def _judge_motion(self, begin_ns: int) -> None:
        """Sign, frame, gravity and clocks, by the motion since a time."""
        window = self.listening.received.window(begin_ns, self.guide.now_ns())
        self._note(check_by_motion(window, self.link.settings),
                   "The arm has stopped; nothing was applied.")

    # ---- identify --------------------------------------------------------------------------------

    def identify(self) -> Numbers:
        """Motions until the payload is known as well as was asked for, or as can be had."""
        made = len(self.show.motions)
        self.show.step("identify", f"until the goal, at most {self.options.timeout:g} s")
        while True:
            progress = self._wait(SETTLED)
            if progress.is_reached and self.link.is_fresh:
                break
            spent = sum(seconds for _, seconds in self.show.motions[made:])
            if progress.is_known and (spent > LONGEST_MOTION or progress.left <= 0.0):
                self.show.say("as good as this sensor, its mounting and the time allow")
                break
            if progress.left <= 0.0:
                raise End(NOT_IDENTIFIED, f"Not identified in {progress.elapsed:.0f} s: "
                          + (progress.missing or "the intervals are too wide"))
            if self.options.motion:
                self._improve()
            else:
                self._have_moved(progress.motion)
        self._is_identifying = False
        return self._keep_estimate()

    def _improve(self) -> None:
        """Make the next motion."""
        known = self.link.estimate
        if known is not None:
            self.arm.source.learn(known.phi, known.phi_covariance)
        self._move(_or_end(NOT_IDENTIFIED, "", self.arm.source.next_motion, self.arm.pose,
                           self.options.wanted, len(self.show.motions)))

    def _keep_estimate(self) -> Numbers:
        """Keep the estimate, as file of the node and in the record."""
        name, box = f"identify_payload_{time.strftime('%Y%m%d-%H%M%S')}", self.options.box
        found = _or_end(NOT_IDENTIFIED, "", self.link.newest)
        self.show.say(_or_end(NOT_IDENTIFIED, "", self.link.save, name), True)
        self.show.found, self._saved = found, name
        self.show.parts = self.link.progress(self.options.wanted, self.options.timeout).parts
        outside = np.abs(found.report[1:4] - box.mean(axis=0)) - 2.0 * found.sigma[1:4]
        if (outside > 0.5 * np.ptp(box, axis=0)).any():
            self.show.say("the centre of mass lies outside the box around the payload that motions "
                          "are checked with: set --payload-box", False)
        return found

    # ---- prove -----------------------------------------------------------------------------------

    def prove(self, found: Numbers) -> None:
        """Compare the payload with a motion that its estimate has not seen."""
        self.show.step("prove", "a motion that the estimate has not seen")
        stated = self.listening.driver().payload
        present = found.phi * (stated / found.phi[0]) if stated else np.zeros(10)
        proof = self._compare(found.bias, present, found.phi)
        self.show.proof(proof)
        if not proof.is_given:
            remains = ", ".join(f"{force:.2g} N and {torque:.2g} N m {name}"
                                for name, force, torque in proof.rows())
            raise End(NOT_APPLIED, f"Not proved: of the wrench of another motion remain {remains}. "
                      "Nothing was applied.")
        self.show.say("proved", True)

    def _compare(self, bias: np.ndarray | None, present: np.ndarray, new: np.ndarray) -> Proof:
        """Make another motion, and compare two payloads phi (10,) with its wrench."""
        begin = self.guide.now_ns()
        if self.options.motion:
            self._move(_or_end(NOT_APPLIED, "There is no motion for the proof: ",
                               self.arm.source.large_motion, self.arm.pose))
        else:
            self._have_moved("turn the wrist about other axes than before, for some seconds, and "
                             "hold it still again")
        self.guide.wait(SETTLED)
        window = self.listening.received.window(begin, self.guide.now_ns())
        proof = prove(window, bias, present, new, self.link.settings)
        if proof is None:
            raise End(NOT_APPLIED, "The motion for the proof was not recorded.")
        return proof

    # ---- apply -----------------------------------------------------------------------------------

    def apply(self, found: Numbers) -> End:
        """Hand the payload to the robot, through ~/apply and its conditions."""
        self.show.step("apply", "through ~/apply")
        target = self.options.target or self.link.settings.apply.target
        if not target:
            return End(OK, "Identified and proved. No target is set (apply.target or --target), so "
                       "nothing was applied.")
        rehearsal = self.link.apply(target, self._saved, send=False)
        self.show.say(rehearsal.message, None if rehearsal.success else False)
        for text in rehearsal.left_out:
            self.show.say(f"left out: {text}")
        if not rehearsal.success:
            return End(NOT_APPLIED, f"Identified and proved, not applied: {rehearsal.message}")
        if self.options.dry_run:
            return End(OK, "Identified and proved. Nothing was applied (--dry-run).")
        if not self.show.ask(f"Send this payload to {target}?"):
            return End(NOT_APPLIED, "Identified and proved; applying it was not agreed to.")
        answer = self.link.apply(target, self._saved, send=True)
        self.show.say(answer.message, answer.success)
        if answer.success:
            self.show.applied = answer.message
            return self._verify(target, found)
        if not answer.sent:
            return End(NOT_APPLIED, f"Identified and proved, not applied: {answer.message}")
        stated = self.listening.driver().payload
        said = "" if stated is None else f" The driver states {stated:.3f} kg at this moment."
        return End(NOT_APPLIED, "Identified and proved. The payload was sent or may have been, and "
                   f"it is not known whether {target} has it: {answer.message}.{said}",
                   f"Read the payload of the robot, or ask ~/apply of {self.link.name} with undo.")

    def _verify(self, target: str, found: Numbers) -> End:
        """Compare the driver's own wrench with zero, where it compensates the payload."""
        if not TARGETS[target].changes_wrench:
            return End(OK, "Identified, proved and applied.")
        self.guide.wait(SETTLED)
        proof = self._compare(None, found.phi, np.zeros(10))
        self.show.proofs.append(proof)
        force, torque = proof.residuals[1]
        allowed = np.maximum(proof.allowed, self.show.proofs[0].allowed)
        good = bool(force <= allowed[0] and torque <= allowed[1])
        text = (f"the driver's own wrench varies by {force:.2g} N and {torque:.2g} N m while the "
                f"arm moves (allowed {allowed[0]:.2g} N, {allowed[1]:.2g} N m)")
        self.show.say(text, good)
        if good:
            return End(OK, "Identified, proved and applied; the robot knows its payload.")
        return End(NOT_APPLIED, f"Applied, but {text}; ~/apply with undo restores what it had.")

    # ---- motions and what is shown ---------------------------------------------------------------

    def _move(self, motion: Trajectory) -> None:
        """Make a motion to its end."""
        self.show.motion(motion.words, motion.duration)
        ended = self.arm.move(motion, self._show_progress)
        status = NOT_APPLIED if self.show.proofs else NOT_IDENTIFIED
        applied = ("The payload was applied; its check was not finished." if self.show.applied
                   else "Nothing was applied.")
        if not ended.is_at_rest:
            raise End(INTERRUPTED if self.guide.stop.is_set() else status,
                      f"It is not known whether the arm has stopped ({ended.reason}): use the "
                      f"emergency stop. {applied}", NO_ANSWER)
        if self.guide.stop.is_set():
            raise Stopped
        if ended.was_rejected and len(self.show.motions) == 1:
            self._note((rejected_row(ended.reason),), "Nothing has moved.")
        if ended.reason:
            raise End(status, f"The arm has stopped: {ended.reason}. {applied}", AFTER_A_STOP)

    def _have_moved(self, words: str) -> None:
        """Tell a person a motion, and wait until the arm has moved and rests again."""
        self.show.motion(words, 0.0)
        if not self.arm.is_moved_by_hand(lambda: self._wait(0.5), self.options.timeout):
            raise End(NOT_IDENTIFIED, f"No one has moved the arm for {self.options.timeout:g} s.")

    def _wait(self, seconds: float) -> Progress:
        """Show what is known, for so long."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0.0:
            self.guide.wait(min(left, SHOWN))
            progress = self._show_progress()
        return progress

    def _show_progress(self) -> Progress:
        """Show what is known."""
        progress = self.link.progress(self.options.wanted, self.options.timeout)
        if self._is_identifying:
            self.show.progress(progress)
        return progress

    def _note(self, rows: tuple[Row, ...], ending: str) -> None:
        """Show rows; wrong ones end the session."""
        for row in rows:
            self.show.row(row)
        if wrong := ", ".join(row.check for row in failed(rows)):
            raise End(CHECK_FAILED, f"Wrong: {wrong}. {ending}")
