# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Command line of `plan_excitation`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ...arguments import Parser, names, numbers
from ...errors import InvalidSetting
from ...inertia import Array, phi_from_body
from ...io.files import user_path
from .arm import CarriedLoad
from .limits import COBOT_TOOL_SPEED, Limits
from .optimise import SearchEffort

PAYLOAD, ROBOT = "payload", "robot"
_BALL = 0.05  # m, root mean square along each axis, of a payload of unknown shape


@dataclass(frozen=True)
class Options:
    """What one run of `plan_excitation` was asked to do.

    Attributes:
        goal: what is to be identified.
        joints: names of those that move, empty: chosen by goal; start: pose of all joints, empty:
        zero.
        expected: the payload, for scale, torques and collisions; keep_out: corners (2, 3) [m] of
        boxes in axes of the root.
        noise: of one sample: force and torque; or joint torque, of all joints or of each.
    """

    urdf: Path
    frame: str
    goal: str
    joints: tuple[str, ...]
    start: tuple[float, ...]
    gravity: tuple[float, ...]
    duration: float
    harmonics: int
    periods: int
    limits: Limits
    expected: Array
    carried: CarriedLoad
    keep_out: tuple[Array, ...]
    noise: tuple[float, ...]
    rate: float
    effort: SearchEffort
    output_rate: float
    csv: Path | None
    trajectory: Path | None
    quiet: bool


def make_parser() -> argparse.ArgumentParser:
    """The command line of `plan_excitation`."""
    parser = Parser(
        prog="plan_excitation",
        description="Plan a joint motion that shows inertial parameters well, within the limits of "
        "the robot: a Fourier series, at rest in the start pose at its beginning and end. Drive "
        "the robot to the start pose first.",
        epilog="Exit status: 0 a motion was planned, 2 the request cannot be carried out.")
    add = parser.add_argument
    add("urdf", metavar="URDF", type=Path, help="robot description")
    add("--frame", required=True, metavar="LINK",
        help="link that carries the payload (that of the wrench sensor, or the flange)")
    add("--for", dest="goal", choices=(PAYLOAD, ROBOT), default=PAYLOAD,
        help="what is to be identified: the ten parameters of a payload from a wrist sensor, or "
        "the base parameters of the robot from joint torques (default: %(default)s)")
    add("--joints", metavar="A,B,...", default="",
        help="joints that move (default: for a payload the last three before the frame, for a "
        "robot all before it)")
    add("--start", metavar="Q1,Q2,...", help="start pose of all joints, in the order of the URDF "
        "[rad] (write --start=-1.5,...; default: all zero)")
    add("--gravity", metavar="X,Y,Z", default="0,0,-9.81",
        help="gravity in axes of the URDF's root [m/s^2] (write --gravity=0,0,-9.81, the default)")
    _option(add, "--duration", 10.0, "length of a period", "s")
    add("--harmonics", type=int, default=5, metavar="N",
        help="number of harmonics of the Fourier series (default: %(default)s)")
    add("--periods", type=int, default=1, metavar="N",
        help="how often the period is run through (default: %(default)s)")
    limits = parser.add_argument_group("limits (position, speed and effort: those of the URDF)")
    more = limits.add_argument
    _option(more, "--tool-speed", COBOT_TOOL_SPEED, "speed of every tool point", "m/s")
    more("--link-speed", type=float, metavar="X",
         help="speed of every point of every link and of the payload's box [m/s] (default: that of "
         "--tool-speed)")
    more("--tool-point", metavar="X,Y,Z", action="append", default=[],
         help="point in the frame whose speed is limited [m]; may be repeated (default: the "
         "frame's origin, or the corners of the payload's box)")
    _option(more, "--acceleration", 5.0, "acceleration of every joint", "rad/s^2")
    _option(more, "--speed-share", 0.8, "part of the URDF's joint speeds that may be used", "")
    _option(more, "--torque-share", 0.8, "part of the URDF's joint efforts that may be used", "")
    _option(more, "--range", np.inf, "largest distance of a joint from the start pose", "rad")
    _option(more, "--clearance", 0.01, "least distance between links", "m")
    _option(more, "--floor", -np.inf, "least height of the tool points and of every moving link "
            "above the URDF's root", "m")
    more("--keep-out", metavar="SX,SY,SZ,CX,CY,CZ", action="append", default=[],
         help="lengths and centre [m], in axes of the URDF's root, of a box (table, wall) that no "
         "moving link may touch; may be repeated")
    load = parser.add_argument_group("expected payload")
    _option(load.add_argument, "--payload-mass", 1.0, "its mass", "kg")
    load.add_argument("--payload-box", metavar="SX,SY,SZ,CX,CY,CZ",
                      help="lengths and centre in the frame of a box around it [m], kept clear of "
                      "the links (default: a ball of about 0.1 m, not kept clear)")
    search = parser.add_argument_group("search")
    more = search.add_argument
    more("--noise", metavar="SD,...", help="noise of one sample: force [N], torque [N m] of the "
         "sensor (default 0.1,0.005), or of joint torques, one number or one for each "
         "joint that moves [N m] (default 0.5)")
    _option(more, "--rate", 500.0, "samples a second of the sensor", "Hz")
    more("--starts", type=int, default=4, metavar="N", help="random starts (default: %(default)s)")
    more("--iterations", type=int, default=90, metavar="N",
         help="steps of each start, at most (default: %(default)s)")
    _option(more, "--budget", 120.0, "time that planning may take", "s")
    more("--seed", type=int, default=0, metavar="N", help="of the starts (default: %(default)s)")
    out = parser.add_argument_group("output")
    more = out.add_argument
    more("--csv", metavar="OUT", type=Path, help="write time, positions, velocities, accelerations")
    more("--trajectory", metavar="OUT", type=Path,
         help="write a trajectory_msgs/JointTrajectory as YAML, for ros2 topic pub")
    _option(more, "--output-rate", 50.0, "points a second in the files", "Hz")
    more("--quiet", action="store_true", help="print nothing but errors")
    return parser


def _option(add: object, name: str, default: float, text: str, unit: str) -> None:
    """Add an option that takes a number, with unit and default in its help."""
    shown = "none" if not np.isfinite(default) else f"{default:g}"
    add(name, type=float, default=default, metavar="X",  # type: ignore[operator]
        help=f"{text}{f' [{unit}]' if unit else ''} (default: {shown})")


def parse_options(arguments: Sequence[str] | None = None) -> Options:
    """Options from a command line.

    Raises:
        InvalidSetting: unknown option, or a value that is not allowed.
    """
    args = make_parser().parse_args(arguments)
    for name, least in (("duration", 0.0), ("rate", 0.0), ("output_rate", 0.0),
                        ("payload_mass", 0.0), ("periods", 0), ("starts", 0), ("iterations", 0)):
        value = getattr(args, name)
        if not (value > least and np.isfinite(value)):
            raise InvalidSetting(f"--{name.replace('_', '-')} is {value:g}; it must be above "
                                 f"{least:g}")
    expected, box = _payload(args.payload_mass, args.payload_box)
    return Options(
        user_path(args.urdf), args.frame, args.goal, names(args.joints),
        numbers(f"--start {args.start}", args.start, "joint positions") if args.start else (),
        numbers(f"--gravity {args.gravity}", args.gravity, "three numbers", 3),
        args.duration, args.harmonics, args.periods,
        Limits(args.tool_speed, _tool_points(args.tool_point, box),
               args.tool_speed if args.link_speed is None else args.link_speed, args.acceleration,
               args.speed_share, args.torque_share, args.range, args.clearance, args.floor),
        expected, CarriedLoad(expected if args.goal == PAYLOAD else None, box),
        tuple(box_corners("--keep-out", text) for text in args.keep_out), _noise(args),
        args.rate, SearchEffort(args.starts, args.iterations, args.budget, args.seed),
        args.output_rate, args.csv, args.trajectory, args.quiet)


def _payload(mass: float, box: str | None) -> tuple[Array, Array | None]:
    """phi (10,) of the expected payload, and the corners (2, 3) of its box, if there is one."""
    if box is None:
        return phi_from_body(mass, np.zeros(3), 2.0 * mass * _BALL**2 * np.eye(3)), None
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


def _tool_points(words: Sequence[str], box: Array | None) -> tuple[tuple[float, float, float], ...]:
    """Points whose speed is limited: as given, or corners of the payload's box."""
    if words:
        points = [numbers(f"--tool-point {text}", text, "three numbers x,y,z", 3)
                  for text in words]
        return tuple((x, y, z) for x, y, z in points)
    if box is None:
        return ((0.0, 0.0, 0.0),)
    return tuple((float(x), float(y), float(z)) for x in box[:, 0] for y in box[:, 1]
                 for z in box[:, 2])


def _noise(args: argparse.Namespace) -> tuple[float, ...]:
    """Noise of one sample as given, or the default of the goal (raises InvalidSetting)."""
    payload = args.goal == PAYLOAD
    if args.noise is None:
        return (0.1, 0.005) if payload else (0.5,)
    values = numbers(f"--noise {args.noise}", args.noise, "force and torque" if payload else
                     "one number, or one for each joint", 2 if payload else None)
    if not (np.isfinite(values).all() and min(values) > 0.0):
        raise InvalidSetting(f"--noise {args.noise}: every number must be above zero")
    return values
