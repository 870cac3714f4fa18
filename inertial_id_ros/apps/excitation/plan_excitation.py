# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Command line: plan a motion that identifies inertial parameters well, and write it as CSV or as a
JointTrajectory in YAML."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from io import StringIO
from pathlib import Path

import numpy as np
import yaml

from ...arguments import Parser, names, numbers
from ...cli import OK, exit_status
from ...errors import InvalidData, InvalidSetting, printable
from ...estimators.reference_body import body_coordinates
from ...inertia import Array, phi_from_body
from ...io.files import user_path, write_atomically
from ...model.newton_euler import regressor
from ...motion.description import read_description
from ...settings import Settings
from .arm import Arm
from .collision import box_obstacle
from .motions import COBOT_SPEED, MotionLimits, PlannedMotion, RestToRest, joined
from .planner import WRIST, MotionPlanner

PAYLOAD, ROBOT = "payload", "robot"
BALL = 0.05  # m, root mean square along each axis, of a payload of unknown shape
STEP = 0.1  # s between the instants at which information is counted
RATE = 500.0  # Hz, of the samples
TORQUE_NOISE = 0.5  # N m, of one sample of a joint torque
Rows = Callable[[Array, Array, Array], Array]  # rows (n, r, c) of information of joint motion
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
    add("--budget", type=float, default=120.0, metavar="S",
        help="time that planning may take (default: %(default)s)")
    add("--csv", metavar="OUT", type=Path, help="write time, positions, velocities, accelerations")
    add("--trajectory", metavar="OUT", type=Path,
        help="write a trajectory_msgs/JointTrajectory as YAML, for ros2 topic pub")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tool; returns its exit status."""
    return exit_status(lambda: run(make_parser().parse_args(arguments)))


def run(options: argparse.Namespace) -> int:
    """Plan, write files, report; returns the exit status (raises InertialIdError)."""
    for name in ("duration", "payload_mass", "budget", "link_speed"):
        if not 0.0 < getattr(options, name) < np.inf:
            raise InvalidSetting(f"--{name.replace('_', '-')} is {getattr(options, name):g}; it "
                                 "must be above 0")
    if not options.floor < np.inf:
        raise InvalidSetting(f"--floor is {options.floor:g}; it must be a height in metres")
    limits = MotionLimits(link_speed=options.link_speed, range=np.inf, floor=options.floor)
    phi, box = expected_payload(options.payload_mass, options.payload_box)
    arm = Arm(read_description(user_path(options.urdf)), options.frame, box,
              phi if options.goal == PAYLOAD else None,
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
    rows = payload_rows(arm, phi) if options.goal == PAYLOAD else robot_rows(arm, active)
    motion, gain = plan(arm, start, active, rows, limits, options.duration, options.budget)
    planned = motion.as_planned(arm)
    if options.csv is not None:
        write_atomically(user_path(options.csv), as_csv(planned))
    if options.trajectory is not None:
        write_atomically(user_path(options.trajectory), as_trajectory(planned))
    print("\n".join(summary(arm, motion, gain, rows)))
    return OK


def expected_payload(mass: float, box: str | None) -> tuple[Array, Array | None]:
    """phi (10,) of the expected payload, and the corners (2, 3) of its box, if there is one."""
    if box is None:
        return phi_from_body(mass, np.zeros(3), 2.0 * mass * BALL**2 * np.eye(3)), None
    corners = box_corners("--payload-box", box)
    squares = (corners[1] - corners[0])**2
    inertia = mass / 12.0 * np.diag(squares.sum() - squares)
    return phi_from_body(mass, corners.mean(axis=0), inertia), corners


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


def plan(arm: Arm, start: Array, active: np.ndarray, rows: Rows, limits: MotionLimits,
         duration: float, budget: float) -> tuple[RestToRest, float]:
    """Motions one after the other, each with most information a second: of as many attempts as the
    computing time [s] allows the best, with its information [nats].

    Args:
        start: (joints,) pose at time 0; active: (k,) indices of the joints that move.

    Raises:
        InvalidData: the start pose itself is beyond a limit, or leaves no room to move.
    """
    planner, begin = MotionPlanner(arm, limits, start), time.thread_time()
    found: list[tuple[RestToRest, float]] = []
    while not found or (time.thread_time() - begin) * (1.0 + 1.0 / len(found)) <= budget:
        found.append(_attempt(planner, start, active, rows, duration,
                              np.random.default_rng(len(found))))
    return max(found, key=lambda attempt: attempt[1])


def _attempt(planner: MotionPlanner, start: Array, active: np.ndarray, rows: Rows, duration: float,
             rng: np.random.Generator) -> tuple[RestToRest, float]:
    """See `plan`.

    The gain is ``1/2 log det(I + F'F)`` of rows F, in units of what is known before: D-optimality
    with a prior.
    """
    def information(motions: list[RestToRest]) -> Array:
        times = [np.arange(0.5 * STEP, motion.duration, STEP) for motion in motions]
        states = zip(*(motion.at(t) for motion, t in zip(motions, times, strict=True)), strict=True)
        ends = np.cumsum([len(t) for t in times])
        parts = np.split(rows(*map(np.concatenate, states)), ends[:-1])
        flat = [part.reshape(-1, part.shape[2]) for part in parts]
        return RATE * STEP * np.stack([part.T @ part for part in flat])

    def gains(known: Array, motions: list[RestToRest]) -> Array:
        after = np.linalg.slogdet(known + information(motions))[1]
        return np.asarray((after - np.linalg.slogdet(known)[1]) / [m.duration for m in motions])

    motions: list[RestToRest] = []
    pose, left = start, duration
    known = np.eye(rows(*np.zeros((3, 1, len(start)))).shape[2])
    while True:
        motion = planner.best_motion(pose, partial(gains, known), (active,), rng, left)
        if motion is None and not motions:
            raise InvalidData("no motion from the start pose was found within the limits")
        if motion is None:
            return joined(motions), 0.5 * float(np.linalg.slogdet(known)[1])
        motions.append(motion)
        known = known + information([motion])[0]
        pose, left = motion.poses[-1], left - motion.duration


def payload_rows(arm: Arm, phi: Array) -> Rows:
    """Whitened rows (n, 6, 16) of the ten parameters of a payload phi (10,), in units of itself,
    and of the sensor's six biases."""
    wrench = Settings().wrench
    unit = phi[0] * body_coordinates(phi / phi[0]).to_phi
    noise, bias = np.repeat(wrench.noise, 3), np.diag(np.repeat(wrench.bias_sd, 3))

    def rows(q: Array, dq: Array, ddq: Array) -> Array:
        motion = arm.motion(q, dq, ddq)
        y = regressor(motion.proper, motion.omega, motion.alpha) @ unit
        biases = np.broadcast_to(bias, (len(y), 6, 6))
        return np.concatenate([y, biases], axis=2) / noise[:, None]

    return rows


def robot_rows(arm: Arm, active: np.ndarray) -> Rows:
    """Whitened rows (n, k, nb) of the base parameters of the whole robot, in units of those of its
    description, from the torques of the active joints (k,)."""
    from ...robot.base_parameters import structural_base_parameters
    from ...robot.joint_terms import NO_TERMS
    from ...robot.model import RobotModel
    from ...robot.reference import description_reference

    model = RobotModel.from_urdf(arm.urdf, NO_TERMS)
    base = structural_base_parameters(model)
    across = base.matrix @ description_reference(model).unit
    root = np.asarray(np.linalg.qr(across.T, mode="r")).T / TORQUE_NOISE

    def rows(q: Array, dq: Array, ddq: Array) -> Array:
        return np.asarray(model.regressor(q, dq, ddq)[:, active][:, :, base.independent] @ root)

    return rows


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


def summary(arm: Arm, motion: RestToRest, gain: float, rows: Rows) -> list[str]:
    """What was planned, in words."""
    q, dq, _ = motion.at(np.linspace(0.0, motion.duration, 1000))
    columns = rows(q[:1], q[:1], q[:1]).shape[2]
    return [f"in {motion.duration:.1f} s the standard deviations of {columns} parameters become "
            f"{np.exp(gain / columns):.2g} times smaller (geometric mean)",
            f"fastest point of a link: {arm.links(q, dq).speed.max():.3f} m/s",
            *(f"{name}: from {at:.4f} rad, {low:.3f} to {high:.3f} rad" for name, at, low, high in
              zip(arm.joint_names, q[0], q.min(axis=0), q.max(axis=0), strict=True))]


if __name__ == "__main__":
    sys.exit(main())
