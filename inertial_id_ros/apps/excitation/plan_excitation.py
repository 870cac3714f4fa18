# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Command line: plan a motion that identifies inertial parameters well, and write it as a
JointTrajectory in YAML."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import yaml

from ...cli import OK, Parser, exit_status, numbers
from ...errors import InvalidData, InvalidSetting, printable
from ...inertia import Array, phi_from_body
from ...io.files import user_path, write_atomically
from ...motion.robot import read_description
from ...settings import Settings
from ..simulation.motion import Trajectory
from .arm import Arm
from .collision import box_obstacle
from .information import Goal, Knowledge, payload_goal, robot_goal
from .motions import COBOT_SPEED, MotionLimits, MotionPlanner, points_for_controller

WANTED = np.full(10, 1e-9)  # of a payload: all that can be known
DIGITS = 9  # of numbers in files


def make_parser() -> argparse.ArgumentParser:
    """The command line of `plan_excitation`."""
    parser = Parser(
        prog="plan_excitation",
        description="Plan a joint motion that identifies inertial parameters well, within the "
        "limits of the robot: moves from rest to rest, those that bring most information a "
        "second. Drive the robot to the start pose first.",
        epilog="Exit status: 0 a motion was planned, 2 the request cannot be carried out.")
    add = parser.add_argument
    add("urdf", metavar="URDF", type=Path, help="robot description")
    add("--frame", required=True, metavar="LINK",
        help="link that carries the payload (that of the wrench sensor, or the flange)")
    add("--for", dest="goal", choices=("payload", "robot"), default="payload",
        help="what is to be identified: the payload from a wrist sensor, or the base parameters of "
        "the robot from joint torques (default: %(default)s)")
    add("--start", metavar="Q1,Q2,...", default="", help="start pose of all joints, in the order "
        "of the URDF [rad] (write --start=-1.5,...; default: all zero)")
    add("--gravity", metavar="X,Y,Z", default="0,0,-9.81",
        help="in axes of the URDF's root [m/s^2] (write --gravity=0,0,-9.81, the default)")
    add("--duration", type=float, default=10.0, metavar="S", help="default: 10 s")
    add("--budget", type=float, default=60.0, metavar="S",
        help="time that planning may take (default: 60 s)")
    add("--link-speed", type=float, default=COBOT_SPEED, metavar="M/S",
        help="of every point of every link and of the payload's box (default: %(default)s)")
    add("--floor", type=float, default=-np.inf, metavar="M",
        help="least height of every moving link above the URDF's root (default: none)")
    add("--keep-out", metavar="SX,SY,SZ,CX,CY,CZ", action="append", default=[],
        help="lengths and centre [m], in axes of the URDF's root, of a box (table, wall) that no "
        "moving link may touch; may be repeated")
    add("--payload-mass", type=float, default=1.0, metavar="KG",
        help="that is expected (default: %(default)s)")
    add("--payload-box", metavar="SX,SY,SZ,CX,CY,CZ",
        help="lengths and centre in the frame of a box around the payload [m], kept clear of the "
        "links (default: a ball of about 0.1 m, not kept clear)")
    add("--trajectory", metavar="OUT", type=Path,
        help="write a trajectory_msgs/JointTrajectory as YAML, for ros2 topic pub")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tool; returns its exit status."""
    return exit_status(lambda: run(make_parser().parse_args(arguments)))


def run(options: argparse.Namespace) -> int:
    """Plan, write the file, report; returns the exit status (raises InertialIdError)."""
    for name in ("duration", "payload_mass", "link_speed", "budget"):
        if not 0.0 < getattr(options, name) < np.inf:
            raise InvalidSetting(f"--{name.replace('_', '-')} is {getattr(options, name):g}; it "
                                 "must be above 0")
    if not options.floor < np.inf:
        raise InvalidSetting(f"--floor is {options.floor:g}; it must be a height in metres")
    box = box_corners("--payload-box", options.payload_box) if options.payload_box else None
    known = payload_known(options.payload_mass, box)
    arm = Arm(read_description(user_path(options.urdf)), options.frame, box,
              known.phi if options.goal == "payload" else None,
              numbers(f"--gravity {options.gravity}", options.gravity, "three numbers", 3),
              [box_obstacle(f"keep-out box {k + 1}", box_corners("--keep-out", text))
               for k, text in enumerate(options.keep_out)])
    if not arm.chain:
        raise InvalidSetting(f"no joint moves --frame '{arm.frame}'")
    if arm.unchecked:
        print(f"warning: {printable(arm.unchecked)}: self-collision is not checked",
              file=sys.stderr)
    start = np.zeros(len(arm.joint_names))
    if options.start:
        start = np.array(numbers(f"--start {options.start}", options.start, "positions of "
                                 + ", ".join(arm.joint_names), len(arm.joint_names)))
    limits = MotionLimits(link_speed=options.link_speed, range=np.inf, floor=options.floor)
    goal = (payload_goal(arm, known, WANTED) if options.goal == "payload" else robot_goal(arm))
    motion, after = sequence(MotionPlanner(arm, limits, start), start, goal, options.duration,
                             time.monotonic() + options.budget)
    if options.trajectory is not None:
        write_atomically(user_path(options.trajectory),
                         as_yaml(points_for_controller(arm, motion)))
    q, dq, _ = motion.sample(np.linspace(0.0, motion.duration, 1000))
    gained = float(goal.missing(goal.information) - goal.missing(after.information))
    print(f"in {motion.duration:.1f} s the standard deviations of the parameters become "
          f"{np.exp(gained / goal.kinds):.2g} times smaller (geometric mean)\n"
          f"fastest point of a link: {arm.links(q, dq).speed.max():.3f} m/s")
    for name, at, low, high in zip(arm.joint_names, q[0], q.min(axis=0), q.max(axis=0),
                                   strict=True):
        print(f"{name}: from {at:.4f} rad, {low:.3f} to {high:.3f} rad")
    return OK


def payload_known(mass: float, corners: Array | None) -> Knowledge:
    """What is known of a payload of this mass [kg] that fills a box with corners (2, 3) [m]; None:
    a ball."""
    known = Knowledge.usual(Settings(), mass)
    if corners is None:
        return known
    squares = (corners[1] - corners[0])**2
    inertia = mass / 12.0 * np.diag(squares.sum() - squares)
    return known._replace(phi=phi_from_body(mass, corners.mean(axis=0), inertia))


def sequence(planner: MotionPlanner, start: Array, goal: Goal, duration: float,
             deadline: float = np.inf) -> tuple[Trajectory, Goal]:
    """Motions one after the other, each the best of its moment, and what is known then.

    Args:
        start: (joints,) pose at time 0; duration: of all motions [s]; deadline: steady time after
            which no more are planned [s].

    Raises:
        InvalidData: no motion from the start pose is within the limits.
    """
    still, rng = np.zeros((1, len(start))), np.random.default_rng(0)
    motion = Trajectory(np.zeros(1), start[None], still, still)
    while len(motion.stamps) == 1 or time.monotonic() < deadline:
        try:
            more = planner.next_motion(motion.positions[-1], goal, rng,
                                       longest=duration - motion.duration)
        except InvalidData:
            if len(motion.stamps) == 1:
                raise
            break
        goal = goal.after(more)
        later = more._replace(stamps=more.stamps + motion.duration)
        motion = Trajectory._make([*(np.concatenate([a, b[1:]]) for a, b in zip(
            motion[:4], later[:4], strict=True)), (), ""])
    return motion, goal


def box_corners(option: str, text: str) -> Array:
    """Corners (2, 3) [m] of a box given by lengths and centre (raises InvalidSetting)."""
    values = np.array(numbers(f"{option} {text}", text, "six numbers sx,sy,sz,cx,cy,cz", 6))
    lengths, center = values[:3], values[3:]
    if not (np.isfinite(values).all() and (lengths > 0.0).all()):
        raise InvalidSetting(f"{option} {text}: the three lengths must be positive")
    return np.stack([center - 0.5 * lengths, center + 0.5 * lengths])


def as_yaml(motion: Trajectory) -> str:
    """A trajectory_msgs/JointTrajectory in the YAML that `ros2 topic pub` reads."""
    points = []
    for at, *parts in zip(*motion[:4], strict=True):
        seconds, nanoseconds = divmod(round(float(at) * 1e9), 1_000_000_000)
        points.append({
            **{kind: np.round(part, DIGITS).tolist() for kind, part in zip(
                ("positions", "velocities", "accelerations"), parts, strict=True)},
            "time_from_start": {"sec": seconds, "nanosec": nanoseconds}})
    return yaml.safe_dump({"joint_names": list(motion.joint_names), "points": points},
                          sort_keys=False, default_flow_style=None)


if __name__ == "__main__":
    sys.exit(main())
