# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""``identify_payload``: from an unknown load to a robot that knows it, in one command, by topics
and services of a node; where none identifies already, one is started as a process of its own.
Nothing moves before the checks at rest have passed, nor far before those by a small motion of the
wrist have; nothing is applied that was not proved."""

import argparse
import sys
import threading
import time
from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path

import numpy as np

from ... import cli
from ...apps.excitation.plan_excitation import add_limits, within
from ...apps.guide.checks import Row, check_at_rest, check_by_motion, failed, prove
from ...apps.guide.show import LONGEST_MOTION, End, Show, Wanted, interrupted, session_page
from ...errors import InertialIdError
from ...estimate import CONFIDENCE_95, UNOBSERVED
from ...io.files import check_outputs, config_file, report_file, write_atomically
from ...settings import SENSORS
from ..conversions import describe_missing, lacking
from ..program import Children, stop_flag
from .node_link import LATEST, SETUP, NodeLink
from .robot import Robot, Trajectory

NAME = "identify_payload_%Y%m%d-%H%M%S"  # of a saved estimate, and of a report
WINDOW = 90.0  # s: all motions of a session count, with the pauses between them
# Corners of a box around the payload in the frame of the sensor [m], where nobody gave one.
USUAL_BOX = np.array([[-0.1, -0.1, 0.0], [0.1, 0.1, 0.2]])
LISTENED, TRIES = 2.5, 3  # s of a check at rest; what is wrong must be so each time
BY_HAND = "tilt the wrist by about 20° to either side, about two axes, and hold it still again"
SETTLED = 0.7  # s after a motion until its last rows count
AFTER_A_STOP = ("Correct what stopped the arm, make sure that nothing touches it, and run the "
                "command again: it begins anew. If it stopped for a contact though nothing touches "
                "it, wrench and joint states may be far apart in time: compare their stamps.")
NO_ANSWER = (f"The controller has not answered. This program stays for up to {LATEST:g} s, and "
             "cancels the motion if the controller accepts it after all.")


class Session:
    """An arm with a payload, and the node that identifies it; a step that ends it raises End."""

    def __init__(self, link: NodeLink, options: argparse.Namespace, show: Show) -> None:
        self.link, self.options, self.show = link, options, show
        self._is_identifying, self._saved, self._status = False, "", cli.CHECK_FAILED
        link.on_message = self._progress
        self.robot = Robot(link, options)

    def run(self) -> End:
        """Do it all; returns how it ended."""
        try:
            self.check()
            self.wiggle()
            self._status = cli.NOT_IDENTIFIED
            self.identify()
            self._status = cli.NOT_APPLIED
            self.prove()
            return self.apply()
        except End as end:
            return end
        except InertialIdError as error:
            return self._end(f"{error}. Nothing was applied.")

    def check(self) -> None:
        """The checks at rest."""
        self.show.step("check", f"at rest, for {LISTENED:g} s")
        for _ in range(TRIES):
            self.robot.discover()
            self.robot.recorder.begin()
            self.link.wait(LISTENED)
            seen = self.robot.snapshot(LISTENED)
            rows = check_at_rest(seen, self.link.settings, self.options.motion)
            if not failed(rows):
                break
        self._note(rows)
        if self.options.motion and (surroundings := self.robot.prepare(seen)):
            self.show.say(surroundings)

    def wiggle(self) -> None:
        """Sign, frame, gravity and clocks, by a small motion."""
        done = End(cli.OK, "The set-up is right, as far as it can be checked.")
        self.show.step("wiggle", "a small motion of the wrist")
        question = ("The arm will move by itself. Is everybody clear of it?" if self.options.motion
                    else "Sign, frame and gravity are open. Can you tilt the wrist by hand?")
        if (self.options.motion or self.options.check) and not self.show.ask(question):
            raise done if self.options.check else End(
                cli.INTERRUPTED, "you did not agree; nothing has moved")
        if not self.options.check:
            self.link.call("reset")
            self.link.since, self._is_identifying = time.monotonic(), True
        self.robot.recorder.begin()
        self.robot.is_small, stopped = True, None
        try:
            if self.options.motion:
                for motion in self.robot.planner.wiggle(self.robot.pose):
                    self._move(motion)
            else:
                self._have_moved(BY_HAND)
            self.link.wait(SETTLED)
        except End as end:
            if end.advice != AFTER_A_STOP:
                raise
            stopped = end
        self.robot.is_small = False
        self._note(check_by_motion(self.robot.recorder.read().window, self.link.settings))
        if stopped:  # the rows do not say why
            raise stopped
        if self.options.check:
            raise done
        if text := self.link.doubt(SETUP):
            raise self._end(f"The node doubts the set-up: {text}. Nothing was applied.")

    def identify(self) -> None:
        """Motions until the payload is known as wanted, or as can be had; the node saves it."""
        made, box = len(self.show.seconds), self.options.payload_box
        self.show.step("identify", f"until the goal, at most {self.options.timeout:g} s")
        while True:
            self.link.wait(SETTLED)
            lacks, known = self._progress(), self.link.estimate
            if known is not None and not lacks:
                break
            is_late = time.monotonic() - self.link.since > self.options.timeout
            if known is not None and UNOBSERVED not in known.verdict[:4] and (
                    is_late or sum(self.show.seconds[made:]) > LONGEST_MOTION):
                self.show.say("as good as this sensor, its mounting and the time allow")
                break
            if is_late:
                raise self._end(f"Not identified in time: {describe_missing(lacks)}")
            if self.options.motion:
                planner = self.robot.planner
                if known is not None:
                    planner.known = planner.known._replace(phi=known.phi)
                self._move(planner.next_motion(
                    self.robot.pose, self.options.wanted.sigma(planner.known.phi)))
            else:
                self._have_moved(next(filter(None, lacks.values()), BY_HAND))
        assert known is not None  # as there is progress
        self._is_identifying, self.show.found = False, known
        self._saved = time.strftime(NAME)
        self.show.say(self.link.call("save", name=self._saved), True)
        away = np.abs(known.report[1:4] - box.mean(axis=0)) - CONFIDENCE_95 * known.sigma[1:4]
        if (away > 0.5 * np.ptp(box, axis=0)).any():
            self.show.say("the centre of mass lies outside the box around the payload that motions "
                          "are checked with: set --payload-box", False)

    def prove(self) -> None:
        """Compare the payload with a motion that its estimate has not seen."""
        self.show.step("prove", "a motion that the estimate has not seen")
        found, stated = self.show.found, self.robot.driver.payload
        assert found is not None
        self.robot.recorder.begin()
        if self.options.motion:
            self._move(self.robot.planner.next_motion(self.robot.pose))
        else:
            self._have_moved("turn the wrist about other axes for some seconds, and hold it still")
        self.link.wait(SETTLED)
        present = found.phi * ((stated or 0.0) / found.phi[0])
        proof = prove(self.robot.recorder.read().window, found.bias, present, found.phi,
                      self.link.settings)
        if proof is None:
            raise self._end("The motion for the proof was not recorded.")
        self.show.prove(proof)
        if not proof.is_proof:
            raise self._end("Not proved: the payload leaves more of the wrench of another motion "
                            "than the errors of the sensor explain. Nothing was applied.")
        self.show.say("proved", True)

    def apply(self) -> End:
        """Hand the payload to the robot, through ~/apply and its conditions."""
        self.show.step("apply", "through ~/apply")
        target = self.options.target or self.link.settings.apply.target
        if not target:
            return End(cli.OK, "Identified and proved. No target is set (apply.target or "
                       "--target), so nothing was applied.")
        rehearsal = self.link.apply(target, self._saved, send=False)
        self.show.say(rehearsal.message, None if rehearsal.success else False)
        for text in rehearsal.left_out:
            self.show.say(f"left out: {text}")
        if not rehearsal.success:
            return self._end(f"Identified and proved, not applied: {rehearsal.message}")
        if self.options.dry_run:
            return End(cli.OK, "Identified and proved. Nothing was applied (--dry-run).")
        if not self.show.ask(f"Send this payload to {target}?"):
            return self._end("Identified and proved; you declined to apply it.")
        answer = self.link.apply(target, self._saved, send=True)
        self.show.say(answer.message, answer.success)
        if answer.success:
            self.show.applied = answer.message
            return End(cli.OK, "Identified, proved and applied; the robot knows its payload.")
        if not answer.sent:
            return self._end(f"Identified and proved, not applied: {answer.message}")
        return self._end(
            "Identified and proved. The payload was sent or may have been, and it is not known "
            f"whether {target} has it: {answer.message}.",
            f"Read the payload of the robot, or ask ~/apply of {self.link.name} with undo.")

    def _end(self, text: str, advice: str = "") -> End:
        """The end of a session in the present step."""
        return End(self._status, text, advice)

    def _move(self, motion: Trajectory) -> None:
        """Make a motion to its end."""
        self.show.motion(motion.words, motion.duration)
        ended = self.robot.move(motion)
        if not ended.is_at_rest:
            raise End(cli.INTERRUPTED if self.link.stop.is_set() else self._status,
                      f"It is not known whether the arm has stopped ({ended.reason}): use the "
                      "emergency stop. Nothing was applied.", NO_ANSWER)
        if self.link.stop.is_set():
            raise interrupted("the arm has stopped; ")
        if ended.reason:
            raise self._end(f"The arm has stopped: {ended.reason}. Nothing was applied.",
                            AFTER_A_STOP)

    def _have_moved(self, words: str) -> None:
        """Tell a person a motion, and wait until the arm has moved and rests again."""
        self.show.motion(words, 0.0)
        if not self.robot.has_been_moved(self.options.timeout):
            raise self._end(f"No one has moved the arm for {self.options.timeout:g} s.")

    def _progress(self) -> dict[str, str]:
        """What the payload lacks to what was asked for, as `lacking`, which is shown."""
        known, wanted = self.link.estimate, self.options.wanted
        elapsed, said = time.monotonic() - self.link.since, str(self.link.message.status)
        lacks = {said: ""} if known is None else lacking(known, wanted._replace(
            mass_accuracy=wanted.mass_accuracy * float(known.phi[0])))
        if self._is_identifying:
            self.show.progress(elapsed, max(self.options.timeout - elapsed, 0.0), known,
                               said if known else "", describe_missing(lacks))
        return lacks

    def _note(self, rows: tuple[Row, ...]) -> None:
        """Show rows; wrong ones end the session."""
        for row in rows:
            self.show.row(row)
        if wrong := ", ".join(row.check for row in failed(rows)):
            raise self._end(f"Wrong: {wrong}. The arm is at rest; nothing was applied.")


def make_parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = cli.Parser(
        prog="identify_payload",
        description="Lead from an unknown load to a robot that knows it: check the set-up, move "
        "the arm, identify the payload, prove it on another motion, hand it to the driver, write a "
        "report. Beside a node that runs already, or with one of its own.",
        epilog="Exit status: 0 identified, proved and applied (or as far as was asked for); 2 a "
        "mistake in the command; 3 not identified; 4 a check failed, nothing was identified; 5 "
        "identified, but not proved or not applied; 130 interrupted. Without a terminal each event "
        "is a line of JSON.")
    add = parser.add_argument_group("what is done").add_argument
    add("--check", action="store_true",
        help="only check the set-up: at rest, and by a small motion if you agree")
    add("--dry-run", action="store_true", help="do all, but tell the robot nothing")
    add("--no-motion", action="store_false", dest="motion",
        help="do not move the arm: say which motion is needed, and wait for it")
    add("--yes", "-y", action="store_true",
        help="agree to every question: the arm then moves without being asked for")
    add = parser.add_argument_group("accuracy (half of a 95 % interval)").add_argument
    add("--mass-accuracy", type=within(0.01, 100.0), default=2.0, metavar="%",
        help="of the mass (default: 2)")
    add("--com-accuracy", type=within(0.01, 1000.0), default=3.0, metavar="MM",
        help="of each coordinate of the centre of mass (default: 3)")
    add("--inertia-accuracy", type=within(0.0, 1000.0), default=20.0, metavar="%",
        help="of the inertia, in %% of its mean moment; 0: it is not asked for (default: 20)")
    add("--timeout", type=within(5.0, 600.0), default=120.0, metavar="S",
        help="longest identification, 5 to 600 s (default: 120)")
    add = parser.add_argument_group("robot").add_argument
    add("--config", metavar="NAME",
        help="settings of a node that is started: a file, or ur, franka, xarm, kuka_lbr, kinova, "
        "ros2_control")
    add("--sensor", choices=sorted(SENSORS), help="the wrench sensor, by its data sheet")
    add("--node", default="/inertial_id_node",
        help="the node that identifies (default: /inertial_id_node); started where it does not run")
    add("--target", default="",
        help="what the payload is handed to, such as universal_robots, which needs "
        "load.rated_payload (default: apply.target)")
    add("--controller", default="", help="the trajectory controller, where there are several")
    add_limits(add, 2.0)
    add("--silence", type=within(0.05, 1.0), metavar="S",
        help="longest time without joint states while the arm moves, after which it is stopped, "
        "0.05 to 1 s (default: 0.1)")
    add = parser.add_argument_group("output").add_argument
    add("--report", type=Path, default=Path("reports"), metavar="FOLDER",
        help="where the report is written (default: reports)")
    add("--json", action="store_true", help="lines of JSON on a terminal, too")
    return parser


def parse(words: Sequence[str], ros_words: Sequence[str] = ()) -> argparse.Namespace:
    """Checked options (raises InvalidSetting): those of the command line, the accuracy as `wanted`,
    `arguments` of a node that is started, and `ros`, words for the own one, which go to both."""
    args = make_parser().parse_args(words)
    args.wanted = Wanted(args.mass_accuracy / 100.0, args.com_accuracy / 1000.0,
                         args.inertia_accuracy / 100.0)
    args.payload_box = USUAL_BOX if args.payload_box is None else args.payload_box
    args.node, args.ros = f"/{args.node.removeprefix('/')}", ["--ros-args", *ros_words]
    namespace, name = args.node.rsplit("/", 1)
    args.arguments = [
        "--ros-args", "-r", f"__node:={name}", "-p", f"buffer.window:={WINDOW}",
        *(["-r", f"__ns:={namespace}"] if namespace else []),
        *(["-p", "motion.execute:=true"] if args.motion else []),  # the command asks for it
        *(["--params-file", str(config_file(args.config))] if args.config else []),
        *(["-p", f"wrench.sensor:={args.sensor}"] if args.sensor else []), *ros_words]
    return args


def main() -> int:
    """Run a session; returns the exit status (see --help; raises InertialIdError, as `run`)."""
    own = list(takewhile(lambda word: word != "--ros-args", sys.argv[1:]))
    return run(parse(own, sys.argv[len(own) + 2:]), stop_flag())[0].status


def run(options: argparse.Namespace, stop: threading.Event) -> tuple[End, Show]:
    """Find or start the node that identifies, and run a session until `stop` is set; how it ended,
    and what was shown (raises InertialIdError: the node has ended, or does not answer, or the
    report cannot be written)."""
    show = Show(options.yes, options.json or not sys.stdout.isatty(), stop)
    path = report_file(options.report, Path(time.strftime(NAME)))
    check_outputs({"--report": path}, {})  # now, not after all motions
    try:
        with Children() as children, NodeLink(options.node, stop, options.ros) as link:
            link.connect(children, options.arguments, show.say)
            end = Session(link, options, show).run()
            show.step("report")
            write_atomically(path, session_page(show, end))
            show.say(f"report: {path}")
            show.end(end)
            return end, show
    except End as end:  # interrupted before the session
        return end, show
