# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""``identify_robot --execute``: move a robot, record its joint states, identify it from them.

The motions go the same guarded way as those of identify_payload (`motion_execution`); what is
recorded is then what `identify_robot` reads, so that all can be repeated without the robot.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ...apps.excitation.config import box_corners
from ...apps.excitation.next_motion.planned_motion import MotionLimits
from ...apps.guide.at_rest import check_robot
from ...apps.guide.record import failed
from ...apps.guide.robot_motions import BUDGET, SWEEPS, RobotMotions, last_link
from ...arguments import check_motion_options
from ...cli import CHECK_FAILED, INTERRUPTED, NOT_IDENTIFIED, exit_status
from ...errors import InvalidSetting
from ...io.files import user_path, write_atomically
from ...kinematics.robot_description import read_description
from ...settings import Settings
from ...signals.message_adapter import JOINT_STATES, ROBOT_DESCRIPTION
from .. import compat
from ..program import ignore_signals, start_ros, stop_flag
from ..publisher_watch import subscription_qos
from .guide_node import GuideNode, Stopped
from .identify_payload import make_show
from .listening import Listening
from .mover import ControllerMover

if TYPE_CHECKING:
    from ...apps.excitation.next_motion.planned_motion import PlannedMotion
    from ...apps.guide.show import Show

_ARRIVAL, _LISTENED = 6.0, 2.5  # s
_SETTLED = 0.3  # s after a motion


class _Ended(Exception):
    """The robot is not moved any more; arguments: exit status, why."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Move, record and identify; returns the exit status (see --help)."""
    from ...apps.robot.identify_robot import make_parser  # needs packages that the node does not

    words = list(sys.argv[1:] if arguments is None else arguments)
    own = list(takewhile(lambda word: word != "--ros-args", words))
    return exit_status(lambda: _run(make_parser().parse_args(own), own, words[len(own):]))


def _run(args: argparse.Namespace, words: list[str], ros_words: list[str]) -> int:
    from ...apps.robot.identify_robot import run

    if args.recording or args.test or args.loaded:
        raise InvalidSetting("--execute records what it needs: leave out RECORDING, --test and "
                             "--loaded")
    check_motion_options(args, (("--payload-mass", args.payload_mass, 0.01, 1000.0),))
    stop, show = stop_flag(), make_show(args.yes, False)
    folder = user_path(args.execute)
    folder.mkdir(parents=True, exist_ok=True)
    start_ros("identify_robot", ros_words)
    try:
        with GuideNode(stop) as guide:
            recorded = RobotSession(args, guide, show, folder).run()
    except Stopped:
        show.end("interrupted; the robot was not identified", INTERRUPTED)
        return INTERRUPTED
    except _Ended as error:
        status, text = error.args
        show.end(text, status)
        return int(status)
    finally:
        show.close()
        if stop.is_set():
            ignore_signals()
        compat.shutdown()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    args.urdf = folder / "robot.urdf"
    args.test = [recorded.pop("test")]
    args.loaded = recorded.pop("loaded", None)
    args.recording = list(recorded.values())
    show.step("identify", "again without moving: identify_robot "
              f"{' '.join(map(str, args.recording))} --test {args.test[0]} --urdf {args.urdf}"
              + (f" --loaded {args.loaded} --payload-mass {args.payload_mass:g}"
                 if args.loaded else ""))
    show.close()
    return run(args, words)


class RobotSession:
    """Checks a robot, moves it, and records its joint states.

    Args:
        args: of the command line; folder: where recordings and description are written.
    """

    def __init__(self, args: argparse.Namespace, guide: GuideNode, show: Show, folder: Path
                 ) -> None:
        self._args, self._guide, self._show, self._folder = args, guide, show, folder
        self._recorded: dict[str, Path] = {}
        settings = Settings()
        text = (read_description(user_path(args.urdf)) if args.urdf
                else self._receive_description(settings))
        self._frame = args.frame or last_link(text)
        write_atomically(folder / "robot.urdf", text)
        self._listening = Listening(guide, "/identify_robot", settings.replace({
            "wrench.sensor_frame": self._frame, "motion.execute": True,
            "joint_states.topic": args.joint_states_topic or settings.joint_states.topic,
            "robot_description.file": str(folder / "robot.urdf")}))

    def run(self) -> dict[str, Path]:
        """Do it all; the recordings that were written, by name (raises Stopped, _Ended,
        InertialIdError)."""
        self._check()
        self._show.step("plan", f"motions of all joints, for up to {2.0 * BUDGET:g} s")
        motions = self._make_motions()
        mover = ControllerMover(self._guide, self._listening, self._args.controller,
                                motions.problems, self._args.silence)
        trained, test = motions.excitation(1), motions.excitation(2)
        sweeps = [motions.sweep(number) for number in range(SWEEPS)]
        seconds = sum(motion.duration for motion in (trained, test, *sweeps))
        self._show.step("move", f"{len(sweeps) + 2} motions, {seconds:.0f} s")
        self._agree("The robot will move by itself, all joints of it, without payload. Is it "
                    "empty, and everybody clear of it?")
        self._record("motion", mover, [trained])
        self._record("friction", mover, sweeps)
        self._record("test", mover, [test])
        if self._args.payload_mass is not None:
            self._agree(f"Fix the payload of {self._args.payload_mass:g} kg to the last link, and "
                        "stand clear. Does it hold?")
            home = motions.way_home(self._pose())
            if home is not None:
                self._move(mover, home)
            self._record("loaded", mover, [trained])
        return self._recorded

    def _receive_description(self, settings: Settings) -> str:
        """The robot description that is published (raises _Ended)."""
        from std_msgs.msg import String

        heard: list[str] = []
        topic = settings.robot_description.topic
        self._guide.subscribe(String, topic, lambda m: heard.append(m.data),
                              subscription_qos(ROBOT_DESCRIPTION))
        if not self._guide.wait_until(lambda: heard, _ARRIVAL):
            raise _Ended(CHECK_FAILED, f"There is no robot description on '{topic}': start the "
                         "robot_state_publisher, or give --urdf.")
        return heard[-1]

    def _check(self) -> None:
        """The checks at rest (raises _Ended)."""
        self._show.step("check", f"at rest, for {_LISTENED:g} s")
        listening = self._listening
        self._guide.wait_until(listening.received.newest_positions, _ARRIVAL)
        listening.look_for_driver()
        begin = self._guide.now_ns()
        self._guide.wait(_LISTENED)
        seen = listening.see(begin, self._guide.now_ns(), self._args.controller)
        rows = check_robot(seen, listening.received.settings)
        for row in rows:
            self._show.row(row)
        if failed(rows):
            raise _Ended(CHECK_FAILED, f"{', '.join(row.name for row in failed(rows))}: wrong; "
                         "nothing has moved.")

    def _make_motions(self) -> RobotMotions:
        args = self._args
        return RobotMotions(
            self._folder / "robot.urdf", self._frame, self._pose(),
            MotionLimits(link_speed=args.link_speed, floor=args.floor),
            box_corners("--payload-box", args.payload_box),
            [box_corners("--keep-out", text) for text in args.keep_out],
            self._listening.scene.obstacles)

    def _pose(self) -> dict[str, float]:
        return self._listening.received.newest_positions()

    def _agree(self, question: str) -> None:
        if not self._show.ask(question):
            raise _Ended(INTERRUPTED, "Not agreed to.")

    def _move(self, mover: ControllerMover, motion: PlannedMotion) -> None:
        """Make a motion (raises Stopped, _Ended)."""
        self._show.motion(motion.words, motion.duration)
        ended = mover.run(motion, lambda: None)
        if self._guide.stop.is_set():
            raise Stopped
        if ended:
            raise _Ended(NOT_IDENTIFIED, f"The robot has stopped: {ended}.")
        self._guide.wait(_SETTLED)

    def _record(self, name: str, mover: ControllerMover, motions: Sequence[PlannedMotion]) -> None:
        """Make motions, and write the joint states of them."""
        joints = self._listening.received.joints_with_effort(0, self._guide.now_ns())
        stamps, rows = [], []
        for motion in motions:
            begin = self._guide.now_ns()
            self._move(mover, motion)
            for _, m in self._listening.received.taken(JOINT_STATES, begin, self._guide.now_ns()):
                if tuple(m.names) == joints and len(m.efforts) == len(joints):
                    stamps.append(m.stamp_ns)
                    rows.append((m.positions, m.efforts))
        q, effort = np.array(rows).reshape(-1, 2, len(joints)).transpose(1, 0, 2)
        t = (np.array(stamps, dtype=np.int64) - (stamps[0] if stamps else 0)) * 1e-9
        self._recorded[name] = path = self._folder / f"{name}.npz"
        np.savez_compressed(path, t=t, q=q, effort=effort, names=np.array(joints))
        self._show.say(f"{len(t)} joint states: {path}", True)


if __name__ == "__main__":
    raise SystemExit(main())
