# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Command line: plan a motion that identifies inertial parameters well."""

import argparse
import math
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import yaml
from scipy.linalg import null_space
from scipy.optimize import minimize

from ...cli import OK, Parser, exit_status, numbers
from ...errors import InvalidData, InvalidSetting
from ...inertia import Array
from ...io.files import assignments, user_path, write_atomically
from ...motion.robot import read_description
from ...robot.base_parameters import structural_base_parameters
from ...robot.least_squares import description_reference
from ...settings import Settings
from .arm import Arm, box_obstacle, floor
from .information import RATE, Knowledge
from .motions import COBOT_SPEED, POINTS, SLACK, MotionLimits, MotionPlanner, Trajectory, violations

HARMONICS = 5  # of a series
SPARSE, TORQUE_NOISE = 0.1, 0.5  # s between rows of torques; N m, of one sample of a torque
FIRST = 0.2  # rad, of coefficients before the search
ROUNDS = 12  # of the search, and of making a motion smaller that violates something


def make_parser() -> argparse.ArgumentParser:
    """The command line of `plan_excitation`."""
    parser = Parser(
        prog="plan_excitation",
        description="Plan a joint motion that identifies inertial parameters well, within the "
        "limits of the robot, from rest to rest. Drive the robot to the start pose first.",
        epilog="Exit status: 0 a motion was planned, 2 the request cannot be carried out.")
    add = parser.add_argument
    add("urdf", metavar="URDF", type=Path, help="robot description")
    add("--frame", required=True, metavar="LINK",
        help="link that carries the payload (that of the wrench sensor, or the flange)")
    add("--for", dest="goal", choices=("payload", "robot"), default="payload",
        help="what is to be identified: the payload from a wrist sensor, by moves of most "
        "information a second, or the base parameters of the robot from joint torques, by a "
        "Fourier series of each joint (default: %(default)s)")
    add("--start", metavar="Q1,Q2,...", default="", help="start pose of all joints, in the order "
        "of the URDF [rad] (write --start=-1.5,...; default: all zero)")
    add("--gravity", metavar="X,Y,Z", default="0,0,-9.81",
        help="in axes of the URDF's root [m/s^2] (write --gravity=0,0,-9.81, the default)")
    add("--duration", type=within(0.5, math.inf), default=10.0, metavar="S", help="default: 10 s")
    add("--payload-mass", type=within(1e-3, math.inf), default=1.0, metavar="KG",
        help="that is expected (default: %(default)s)")
    add("--set", metavar="NAME=VALUE", action="append", default=[], dest="assignments",
        help="any setting, e.g. of the sensor that measures the payload wrench.sensor=ur_e_series")
    add_limits(add, math.inf)
    add("--trajectory", metavar="OUT", type=Path,
        help="write a trajectory_msgs/JointTrajectory as YAML, for ros2 topic pub")
    return parser


def add_limits(add: Callable[..., object], fastest: float) -> None:
    """Options about what every motion keeps; fastest: highest speed that may be asked for [m/s]."""
    add("--link-speed", type=within(0.01, fastest), default=COBOT_SPEED, metavar="M/S",
        help="of every point of every link and the payload (default: %(default)s)")
    add("--payload-box", metavar="SX,SY,SZ,CX,CY,CZ", type=box_corners,
        help="lengths and centre [m], in the sensor's frame, of a box around the payload")
    add("--keep-out", metavar="SX,SY,SZ,CX,CY,CZ", action="append", default=[],
        type=lambda text: box_obstacle(f"keep-out box {text}", box_corners(text)),
        help="the same, in axes of the URDF's root, of what nothing may touch; may be repeated")
    add("--floor", metavar="M", action="append", dest="keep_out", type=floor,
        help="height [m] above the URDF's root of a floor that nothing may touch")


def within(low: float, high: float) -> Callable[[str], float]:
    """The type of an option that is a number of a range."""
    def read(text: str) -> float:
        value = float(text)
        if not low <= value <= high:
            raise argparse.ArgumentTypeError(f"{text} is not from {low:g} to {high:g}")
        return value
    return read


def box_corners(text: str) -> Array:
    """The type of an option that is a box, by lengths and centre: corners (2, 3) [m]."""
    values = np.array(numbers(f"--payload-box or --keep-out {text}", text, "lengths, centre", 6))
    return values[3:] + np.outer([-0.5, 0.5], values[:3])


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tool; returns its exit status."""
    return exit_status(lambda: run(make_parser().parse_args(arguments)))


def run(options: argparse.Namespace) -> int:
    """Plan, write the file, report; returns the exit status (raises InertialIdError)."""
    is_payload = options.goal == "payload"
    settings = Settings().replace(assignments(options.assignments))
    known = Knowledge.usual(settings, options.payload_mass)
    arm = Arm(read_description(user_path(options.urdf)), options.frame, options.payload_box,
              known.phi if is_payload else None,
              numbers(f"--gravity {options.gravity}", options.gravity, "three numbers", 3),
              options.keep_out)
    if not arm.chain:
        raise InvalidSetting(f"no joint moves --frame '{arm.frame}'")
    text = options.start or ",".join("0" for _ in arm.joint_names)
    start = np.array(numbers(f"--start {text}", text, "positions of " + ", ".join(arm.joint_names),
                             len(arm.joint_names)))
    limits = MotionLimits(link_speed=options.link_speed, range=np.inf)
    motion = sequence(MotionPlanner(arm, limits, start, known, 0), start, options.duration) if (
        is_payload) else robot_motion(arm, limits, start, options.duration)
    if options.trajectory is not None:
        write_atomically(user_path(options.trajectory), as_yaml(motion))
    print(f"a motion of {motion.duration:.1f} s")
    for name, q in zip(arm.chain, motion.positions.T, strict=True):
        print(f"{name}: from {q[0]:.4f} rad, {q.min():.3f} to {q.max():.3f} rad")
    return OK


def sequence(planner: MotionPlanner, start: Array, duration: float) -> Trajectory:
    """Motions one after the other, each the best of its moment, from a pose (joints,), of a
    duration of all [s] (raises InvalidData: none from the start pose is within the limits)."""
    pose, motion = start.copy(), planner.next_motion(start, longest=duration)
    while True:
        pose[planner.arm.moving] = motion.positions[-1]
        try:
            more = planner.next_motion(pose, longest=duration - motion.duration)
        except InvalidData:
            return motion
        later = more._replace(stamps=more.stamps + motion.duration)
        motion = Trajectory._make([*(np.concatenate([a, b[1:]]) for a, b in zip(
            motion[:4], later[:4], strict=True)), motion.joint_names, ""])


def robot_motion(arm: Arm, limits: MotionLimits, start: Array, duration: float) -> Trajectory:
    """A motion from a pose (joints,) [rad or m] and back, in so many seconds, that maximises the
    determinant of the information about the base parameters of a robot (Swevers et al. 1997), which
    are known to the description's order of magnitude (raises InvalidData: there is none)."""
    base, chain = structural_base_parameters(arm), arm.moving
    across = base.matrix @ description_reference(arm).unit
    root = np.asarray(np.linalg.qr(across.T, mode="r")).T / TORQUE_NOISE
    room = np.minimum(arm.upper - start, start - arm.lower)[chain] - SLACK
    bounds = np.stack([np.clip(room, 1e-9, limits.range),
                       np.minimum(limits.joint_speed, limits.share * arm.speed[chain]),
                       np.full(len(chain), limits.joint_acceleration)])
    free = null_space(_waves(np.zeros(1), duration)[:, 0])  # of series that begin and end at rest

    def states(flat: Array, t: Array, share: float = 1.0) -> Array:
        """Motion (3, n, joints) of coefficients, in a smaller way where it is beyond limits."""
        moved = _waves(t, duration) @ free @ flat.reshape(-1, len(chain))
        out = np.zeros((3, len(t), len(start)))
        out[:, :, chain] = moved / np.maximum(1.0, (np.abs(moved).max(axis=1) / bounds).max(axis=0))
        speed = arm.link_speed(start + out[0], out[1]).max()
        out *= share / max(1.0, speed / limits.link_speed)
        out[0] += start
        return out

    def missing(flat: Array) -> float:
        moved = states(flat, np.arange(0.5 * SPARSE, duration, SPARSE))
        rows = arm.regressor(*moved)[:, chain][:, :, base.independent].reshape(-1, len(root))
        added = RATE * SPARSE * (rows @ root).T @ (rows @ root)
        return -float(np.linalg.slogdet(np.eye(len(added)) + added)[1])

    drawn = np.random.default_rng(0).normal(scale=FIRST, size=free.shape[1] * len(chain))
    found = minimize(missing, drawn, method="L-BFGS-B", options={"maxiter": ROUNDS}).x
    stamps = np.linspace(0.0, duration, int(np.ceil(duration / POINTS)) + 1)
    for share in 0.97 ** np.arange(ROUNDS)**2:
        q, dq, ddq = states(found, stamps, share)[:, :, chain]
        motion = Trajectory(stamps, q, dq, ddq, arm.chain)
        if not (problems := violations(arm, motion, start, limits)):
            return motion
    raise InvalidData(f"no motion about the start pose is within the limits: {problems[0]}")


def _waves(t: Array, duration: float) -> Array:
    """Value, speed and acceleration (3, n, 2 k) at times (n,) [s] of k sines and cosines of which
    whole periods fill a duration [s]."""
    pace = 2j * np.pi / duration * np.arange(1, HARMONICS + 1)
    waves = np.stack([pace**order * np.exp(t[:, None] * pace) for order in range(3)])
    return np.concatenate([waves.imag, waves.real], axis=2)


def as_yaml(motion: Trajectory) -> str:
    """A trajectory_msgs/JointTrajectory in the YAML that `ros2 topic pub` reads."""
    points = []
    for at, q, dq, ddq in zip(*(part.tolist() for part in motion[:4]), strict=True):
        seconds, nanoseconds = divmod(round(at * 1e9), 1_000_000_000)
        points.append({"positions": q, "velocities": dq, "accelerations": ddq,
                       "time_from_start": {"sec": seconds, "nanosec": nanoseconds}})
    return yaml.safe_dump({"joint_names": list(motion.joint_names), "points": points},
                          sort_keys=False, default_flow_style=None)
