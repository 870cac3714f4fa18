# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Command line: plan a motion that identifies inertial parameters well, and write it as CSV or as a
JointTrajectory in YAML."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from io import StringIO
from pathlib import Path
from typing import NamedTuple

import numpy as np
import yaml

from ...cli import OK, Parser, exit_status, names, numbers
from ...errors import InvalidData, InvalidSetting, printable
from ...inertia import Array, phi_from_body
from ...io.files import user_path, write_atomically
from ...motion.description import read_description
from ...settings import Settings
from .arm import Arm
from .collision import box_obstacle
from .knowledge import Knowledge
from .motions import COBOT_SPEED, MotionLimits, PlannedMotion, RestToRest, joined
from .planner import WRIST, Goal, MotionPlanner, Payload

PAYLOAD, ROBOT = "payload", "robot"
WANTED = np.full(10, 1e-9)  # of a payload: all that can be known
DIGITS = 9  # of numbers in files
STEP = 0.1  # s between the instants at which the information about a robot is counted
RATE = 500.0  # Hz, of the samples
TORQUE_NOISE = 0.5  # N m, of one sample of a joint torque


class Robot(NamedTuple):
    """The base parameters of a whole robot: a `Goal` of D-optimality.

    Attributes:
        rows: whitened rows (n, r, c) for joint motion, in units of what is known before;
            information: (c, c), the unit matrix before.
    """

    rows: Callable[[Array, Array, Array], Array]
    information: Array

    @classmethod
    def of(cls, arm: Arm, active: np.ndarray) -> Robot:
        """Of an arm, from the torques of the active joints (k,); its description is the unit."""
        from ...robot.base_parameters import structural_base_parameters
        from ...robot.least_squares import description_reference
        from ...robot.model import NO_TERMS, RobotModel

        model = RobotModel.from_urdf(arm.urdf, NO_TERMS)
        base = structural_base_parameters(model)
        across = base.matrix @ description_reference(model).unit
        root = np.asarray(np.linalg.qr(across.T, mode="r")).T / TORQUE_NOISE

        def rows(q: Array, dq: Array, ddq: Array) -> Array:
            return np.asarray(model.regressor(q, dq, ddq)[:, active][:, :, base.independent] @ root)

        return cls(rows, np.eye(root.shape[1]))

    @property
    def spread(self) -> float:
        """See `Goal`."""
        count = len(self.information)
        return float(np.exp(-0.5 * np.linalg.slogdet(self.information)[1] / count))

    def gains(self, motions: list[RestToRest]) -> Array:
        """See `Goal`."""
        spread = np.array([self.after(motion).spread for motion in motions])
        return np.log(self.spread / spread) * len(self.information) / [
            motion.duration for motion in motions]

    def after(self, motion: RestToRest) -> Robot:
        """See `Goal`."""
        rows = np.concatenate(self.rows(*motion.at(np.arange(0.5 * STEP, motion.duration, STEP))))
        return self._replace(information=self.information + RATE * STEP * rows.T @ rows)


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
    add("--for", dest="goal", choices=(PAYLOAD, ROBOT), default=PAYLOAD,
        help="what is to be identified: the payload from a wrist sensor, or the base parameters of "
        "the robot from joint torques (default: %(default)s)")
    add("--joints", metavar="A,B,...", default="",
        help="joints that move (default: for a payload the last three before the frame, for a "
        "robot all before it)")
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
    add("--csv", metavar="OUT", type=Path, help="write time, positions, velocities, accelerations")
    add("--trajectory", metavar="OUT", type=Path,
        help="write a trajectory_msgs/JointTrajectory as YAML, for ros2 topic pub")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tool; returns its exit status."""
    return exit_status(lambda: run(make_parser().parse_args(arguments)))


def run(options: argparse.Namespace) -> int:
    """Plan, write files, report; returns the exit status (raises InertialIdError)."""
    for name in ("duration", "payload_mass", "link_speed", "budget"):
        if not 0.0 < getattr(options, name) < np.inf:
            raise InvalidSetting(f"--{name.replace('_', '-')} is {getattr(options, name):g}; it "
                                 "must be above 0")
    if not options.floor < np.inf:
        raise InvalidSetting(f"--floor is {options.floor:g}; it must be a height in metres")
    limits = MotionLimits(link_speed=options.link_speed, range=np.inf, floor=options.floor)
    box = box_corners("--payload-box", options.payload_box) if options.payload_box else None
    known = payload_known(options.payload_mass, box)
    arm = Arm(read_description(user_path(options.urdf)), options.frame, box,
              known.phi if options.goal == PAYLOAD else None,
              numbers(f"--gravity {options.gravity}", options.gravity, "three numbers", 3),
              [box_obstacle(f"keep-out box {k + 1}", box_corners("--keep-out", text))
               for k, text in enumerate(options.keep_out)])
    if arm.unchecked:
        print(f"warning: {printable(arm.unchecked)}: self-collision is not checked",
              file=sys.stderr)
    start, active = np.zeros(len(arm.joint_names)), moving_joints(arm, options)
    if options.start:
        start = np.array(numbers(f"--start {options.start}", options.start, "positions of "
                                 + ", ".join(arm.joint_names), len(arm.joint_names)))
    goal = Payload(arm, known, WANTED) if options.goal == PAYLOAD else Robot.of(arm, active)
    motion = sequence(MotionPlanner(arm, limits, start), start, goal, active, options.duration,
                      time.monotonic() + options.budget)
    planned = motion.as_planned(arm)
    if options.csv is not None:
        write_atomically(user_path(options.csv), as_csv(planned))
    if options.trajectory is not None:
        write_atomically(user_path(options.trajectory), as_trajectory(planned))
    print("\n".join(summary(arm, motion, goal)))
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


def sequence(planner: MotionPlanner, start: Array, goal: Goal, active: np.ndarray, duration: float,
             deadline: float = np.inf) -> RestToRest:
    """Motions one after the other, each the best of its moment.

    Args:
        start: (joints,) pose at time 0; active: (k,) indices of the joints that move; duration: of
            all motions [s]; deadline: steady time after which no more are planned [s].

    Raises:
        InvalidData: no motion from the start pose is within the limits.
    """
    motions, pose, left, rng = list[RestToRest](), start, duration, np.random.default_rng(0)
    while not motions or time.monotonic() < deadline:
        try:
            motions.append(planner.next_motion(pose, goal, rng, (active,), left))
        except InvalidData:
            if not motions:
                raise
            break
        goal, pose = goal.after(motions[-1]), motions[-1].poses[-1]
        left -= motions[-1].duration
    return joined(motions)


def box_corners(option: str, text: str) -> Array:
    """Corners (2, 3) [m] of a box given by lengths and centre (raises InvalidSetting)."""
    values = np.array(numbers(f"{option} {text}", text, "six numbers sx,sy,sz,cx,cy,cz", 6))
    lengths, center = values[:3], values[3:]
    if not (np.isfinite(values).all() and (lengths > 0.0).all()):
        raise InvalidSetting(f"{option} {text}: the three lengths must be positive")
    return np.stack([center - 0.5 * lengths, center + 0.5 * lengths])


def moving_joints(arm: Arm, options: argparse.Namespace) -> np.ndarray:
    """Indices (k,) of the joints that move (raises InvalidSetting)."""
    chosen = names(options.joints) or (
        arm.chain[-WRIST:] if options.goal == PAYLOAD else arm.chain)
    for name in chosen or ("",):
        if name not in arm.chain:
            raise InvalidSetting(f"joint '{name}' does not move --frame '{arm.frame}'; those that "
                                 f"do: {', '.join(arm.chain) or 'none'}")
    return arm.index(tuple(dict.fromkeys(chosen)))


def as_csv(motion: PlannedMotion) -> str:
    """Columns ``time``, then position, velocity and acceleration of every joint."""
    header = ["time", *(f"{kind}.{name}" for kind in ("position", "velocity", "acceleration")
                        for name in motion.joint_names)]
    out = StringIO()
    np.savetxt(out, np.column_stack(motion.trajectory), f"%.{DIGITS}g", ",", comments="",
               header=",".join(header))
    return out.getvalue()


def as_trajectory(motion: PlannedMotion) -> str:
    """A trajectory_msgs/JointTrajectory in the YAML that `ros2 topic pub` reads."""
    points = []
    for at, *parts in zip(*motion.trajectory, strict=True):
        seconds, nanoseconds = divmod(round(float(at) * 1e9), 1_000_000_000)
        points.append({
            **{kind: np.round(part, DIGITS).tolist() for kind, part in zip(
                ("positions", "velocities", "accelerations"), parts, strict=True)},
            "time_from_start": {"sec": seconds, "nanosec": nanoseconds}})
    return yaml.safe_dump({"joint_names": list(motion.joint_names), "points": points},
                          sort_keys=False, default_flow_style=None)


def summary(arm: Arm, motion: RestToRest, goal: Goal) -> list[str]:
    """What was planned, in words."""
    q, dq, _ = motion.at(np.linspace(0.0, motion.duration, 1000))
    return [f"in {motion.duration:.1f} s the standard deviations of the parameters become "
            f"{goal.spread / goal.after(motion).spread:.2g} times smaller (geometric mean)",
            f"fastest point of a link: {arm.links(q, dq).speed.max():.3f} m/s",
            *(f"{name}: from {at:.4f} rad, {low:.3f} to {high:.3f} rad" for name, at, low, high in
              zip(arm.joint_names, q[0], q.min(axis=0), q.max(axis=0), strict=True))]


if __name__ == "__main__":
    sys.exit(main())
