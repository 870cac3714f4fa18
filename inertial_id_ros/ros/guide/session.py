# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A session from an unknown payload to a robot that knows it: check, move, identify, prove, apply.
Nothing moves before the checks at rest have passed, nor far before those by a small motion of the
wrist have; nothing is applied that was not proved."""

from __future__ import annotations

import argparse
import time

import numpy as np
from std_srvs.srv import Trigger

from inertial_id_ros.srv import Save

from ...apps.guide.checks import Row, check_at_rest, check_by_motion, failed, prove
from ...apps.guide.show import LONGEST_MOTION, End, Show, interrupted
from ...cli import CHECK_FAILED, INTERRUPTED, NOT_APPLIED, NOT_IDENTIFIED, OK
from ...errors import InertialIdError
from ...estimate import UNOBSERVED
from ...kinds import Doubt
from ..conversions import payload_text
from ..services import TILT, TURN, describe_missing
from .node_link import LATEST, NodeLink
from .robot import Robot, Trajectory

ARRIVAL = 6.0  # s until wrench and joint states have come once
LISTENED, TRIES = 2.5, 3  # s of a check at rest; what is wrong must be so each time
SETTLED = 0.7  # s after a motion until its last rows count
SHOWN = 0.2  # s between two looks at what is known
BY_HAND, STILL = 0.15, 0.01  # rad that a joint moves at least by hand; within which an arm rests
AFTER_A_STOP = ("Correct what stopped the arm, make sure that nothing touches it, and run the "
                "command again: it begins anew. If it stopped for a contact though nothing touches "
                "it, wrench and joint states may be far apart in time: compare their stamps.")
NO_ANSWER = (f"The controller has not answered. This program stays for up to {LATEST:g} s, and "
             "cancels the motion if the controller accepts it after all.")


class Session:
    """An arm with a payload, and the node that identifies it; a step that ends it raises End."""

    def __init__(self, link: NodeLink, options: argparse.Namespace, show: Show) -> None:
        self.link, self.options, self.show = link, options, show
        link.connect()
        self.robot = Robot(link, options)
        self._is_identifying, self._saved, self._status = False, "", CHECK_FAILED

    def run(self) -> End:
        """Do it all; returns how it ended."""
        try:
            self.check()
            self.wiggle()
            self._status = NOT_IDENTIFIED
            self.identify()
            self._status = NOT_APPLIED
            self.prove()
            return self.apply()
        except End as end:
            return end
        except InertialIdError as error:
            return End(self._status, f"{error}. Nothing was applied.")

    def check(self) -> None:
        """The checks at rest."""
        self.show.step("check", f"at rest, for {LISTENED:g} s")
        recorder = self.robot.recorder
        self.link.wait(ARRIVAL, lambda: recorder.pose() and len(recorder.wrench()))
        for _ in range(TRIES):
            self.robot.discover()
            recorder.begin()
            self.link.wait(LISTENED)
            seen = self.robot.snapshot(LISTENED)
            rows = check_at_rest(seen, self.link.settings, self.options.motion)
            if not failed(rows):
                break
        self._note(rows, "Nothing has moved.")
        if self.options.motion and (surroundings := self.robot.prepare(seen)):
            self.show.say(surroundings)

    def wiggle(self) -> None:
        """Sign, frame, gravity and clocks, by a small motion."""
        done = End(OK, "The set-up is right, as far as it can be checked.")
        self.show.step("wiggle", "a small motion of the wrist")
        question = ("The arm will move by itself. Is everybody clear of it?" if self.options.motion
                    else "Sign, frame and gravity are open. Can you tilt the wrist by hand?")
        if (self.options.motion or self.options.check) and not self.show.ask(question):
            raise done if self.options.check else End(
                INTERRUPTED, "not agreed to; nothing has moved")
        if not self.options.check:
            self.link.call(Trigger, "reset")
            self.link.since, self._is_identifying = time.monotonic(), True
        self.robot.recorder.begin()
        self.robot.is_small, stopped = True, None
        try:
            if self.options.motion:
                for motion in self.robot.planner.wiggle(self.robot.pose):
                    self._move(motion)
            else:
                self._have_moved("tilt the wrist by about 20° to either side, about two axes, and "
                                 "hold it still again")
            self.link.wait(SETTLED)
        except End as end:
            if end.advice != AFTER_A_STOP:
                raise
            stopped = end
        self.robot.is_small = False
        self._note(check_by_motion(self.robot.recorder.read().window, self.link.settings),
                   "The arm has stopped; nothing was applied.")
        if stopped:  # the rows do not say why
            raise stopped
        if self.options.check:
            raise done
        if text := self.link.doubt(Doubt.MASS | Doubt.FRAME):
            raise End(CHECK_FAILED, f"The node doubts the set-up: {text}. Nothing was applied.")

    def identify(self) -> None:
        """Motions until the payload is known as wanted, or as can be had; the node saves it."""
        made, box = len(self.show.seconds), self.options.payload_box
        self.show.step("identify", f"until the goal, at most {self.options.timeout:g} s")
        while True:
            missing, known = self._wait(SETTLED), self.link.estimate
            if known is not None and not missing:
                break
            is_late = time.monotonic() - self.link.since > self.options.timeout
            if known is not None and UNOBSERVED not in known.verdict[:4] and (
                    is_late or sum(self.show.seconds[made:]) > LONGEST_MOTION):
                self.show.say("as good as this sensor, its mounting and the time allow")
                break
            if is_late:
                raise End(NOT_IDENTIFIED, f"Not identified in {self.options.timeout:.0f} s: "
                          f"{missing}")
            if self.options.motion:
                planner = self.robot.planner
                if known is not None:
                    planner.known = planner.known.revised(known.phi, known.phi_covariance)
                self._move(planner.next_motion(
                    self.robot.pose, self.options.wanted.sigma(planner.known.phi)))
            else:
                self._have_moved(TURN if TURN in missing and TILT not in missing else TILT)
        assert known is not None  # as there is progress
        self._is_identifying, self.show.found = False, known
        self._saved = f"identify_payload_{time.strftime('%Y%m%d-%H%M%S')}"
        self.show.say(self.link.call(Save, "save", name=self._saved), True)
        outside = np.abs(known.report[1:4] - box.mean(axis=0)) - 2.0 * known.sigma[1:4]
        if (outside > 0.5 * np.ptp(box, axis=0)).any():
            self.show.say("the centre of mass lies outside the box around the payload that motions "
                          "are checked with: set --payload-box", False)

    def prove(self) -> None:
        """Compare the payload with a motion that its estimate has not seen."""
        self.show.step("prove", "a motion that the estimate has not seen")
        found, stated = self.show.found, self.robot.driver.payload
        assert found is not None
        self.robot.recorder.begin()
        if self.options.motion:
            self._move(self.robot.planner.large_motion(self.robot.pose))
        else:
            self._have_moved("turn the wrist about other axes than before, for some seconds, and "
                             "hold it still again")
        self.link.wait(SETTLED)
        present = found.phi * ((stated or 0.0) / found.phi[0])
        proof = prove(self.robot.recorder.read().window, found.bias, present, found.phi,
                      self.link.settings)
        if proof is None:
            raise End(NOT_APPLIED, "The motion for the proof was not recorded.")
        self.show.prove(proof)
        if not proof.is_proof:
            raise End(NOT_APPLIED, "Not proved: the payload leaves more of the wrench of another "
                      "motion than the errors of the sensor explain. Nothing was applied.")
        self.show.say("proved", True)

    def apply(self) -> End:
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
            return End(OK, "Identified, proved and applied; the robot knows its payload.")
        if not answer.sent:
            return End(NOT_APPLIED, f"Identified and proved, not applied: {answer.message}")
        return End(NOT_APPLIED, "Identified and proved. The payload was sent or may have been, and "
                   f"it is not known whether {target} has it: {answer.message}.",
                   f"Read the payload of the robot, or ask ~/apply of {self.link.name} with undo.")

    def _move(self, motion: Trajectory) -> None:
        """Make a motion to its end."""
        self.show.motion(motion.words, motion.duration)
        ended = self.robot.move(motion, self._progress)
        if not ended.is_at_rest:
            raise End(INTERRUPTED if self.link.stop.is_set() else self._status,
                      f"It is not known whether the arm has stopped ({ended.reason}): use the "
                      "emergency stop. Nothing was applied.", NO_ANSWER)
        if self.link.stop.is_set():
            raise interrupted("the arm has stopped; ")
        if ended.reason:
            raise End(self._status, f"The arm has stopped: {ended.reason}. Nothing was applied.",
                      AFTER_A_STOP)

    def _have_moved(self, words: str) -> None:
        """Tell a person a motion, and wait until the arm has moved and rests again."""
        self.show.motion(words, 0.0)
        begin = before = self.robot.recorder.pose()
        has_moved, end = False, time.monotonic() + self.options.timeout
        while time.monotonic() < end:
            self._wait(0.5)
            now = self.robot.recorder.pose()
            has_moved = has_moved or _farthest(begin, now) > BY_HAND
            if has_moved and _farthest(before, now) < STILL:
                return
            before = now
        raise End(NOT_IDENTIFIED, f"No one has moved the arm for {self.options.timeout:g} s.")

    def _wait(self, seconds: float) -> str:
        """Show what is known, for so long; what is missing then."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0.0:
            self.link.wait(min(left, SHOWN))
            missing = self._progress()
        return missing

    def _progress(self) -> str:
        """What the payload lacks to what was asked for, which is shown; empty: nothing."""
        known, wanted, text = self.link.estimate, self.options.wanted, ""
        elapsed, missing = time.monotonic() - self.link.since, str(self.link.message.status)
        if known is not None:
            text, missing = payload_text(known), describe_missing(known, wanted._replace(
                mass_accuracy=wanted.mass_accuracy * float(known.phi[0])))
        if self._is_identifying:
            self.show.progress(elapsed, max(self.options.timeout - elapsed, 0.0), known, text,
                               missing)
        return missing

    def _note(self, rows: tuple[Row, ...], ending: str) -> None:
        """Show rows; wrong ones end the session."""
        for row in rows:
            self.show.row(row)
        if wrong := ", ".join(row.check for row in failed(rows)):
            raise End(CHECK_FAILED, f"Wrong: {wrong}. {ending}")


def _farthest(a: dict[str, float], b: dict[str, float]) -> float:
    """Largest difference between two poses [rad or m]."""
    return max((abs(a[name] - b[name]) for name in a if name in b), default=0.0)
