# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Command line: identify a robot from a recording of its joint positions and torques."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ...cli import NO_ESTIMATE, OK, Parser, exit_status, names, numbers
from ...errors import InvalidModel, InvalidSetting, printable
from ...io import files
from ...motion.robot import read_description
from ...robot.base_parameters import check_base_parameters
from ...robot.identify import FADING, GAIN_ERROR, Request, identify_described_robot
from ...robot.model import COULOMB, DRIVE, OFFSET, VISCOUS, JointTerms, RobotModel
from ...robot.recording import JointRecording
from ...robot.robot_file import save_robot
from .files import read_recording, set_inertias
from .page import print_result, result_json, robot_page

_TERMS = (VISCOUS, COULOMB, OFFSET, DRIVE)
_SETTINGS = {
    "joint_states.topic": "topic in a bag (default: the only one)",
    "gravity": "X,Y,Z in axes of the description's root [m/s^2] (default: 0,0,-9.81)",
    "align": "look for a tilt of the base and a delay of the efforts (default: true)",
    "low_pass": "length of the filter on both sides [s] (default: 0.4)",
    "hold_back": "part of the time, at the end, for a test; of several recordings the last one "
                 "(default: 0.3; 0: none)",
    "prior_weight": "of the description: 1 trusts each body to 100 %% of itself (default: 1)",
    "coulomb_velocity": f"speed below which Coulomb friction fades [rad/s] (default: {FADING:g})",
    "gain_error": f"standard deviation of each of --gains, relative (default: {GAIN_ERROR:g})"}
_FILES: tuple[tuple[str, str, str], ...] = (
    ("--urdf", "FILE", "robot description (default: the one in the bag)"),
    ("--columns", "FILE", "YAML file with the names of the columns of tables: time, joints, "
     "efforts, time_unit, rate (docs/recordings.md)"),
    ("--constraints", "FILE",
     "YAML with bounds on masses, centres of mass and densities of links (docs/robot.md)"),
    ("--check-feasibility", "FILE", "without a recording: whether a robot can have the base "
     "parameters of this YAML or JSON file, and the nearest that one can have; exit status 1 if "
     "not"),
    ("--loaded", "RECORDING", "efforts are motor currents [A]; with this recording of the robot "
     "with a payload of --payload-mass on its last link, the gains of the drives are found"),
    ("--write-urdf", "OUT", "write the description with these bodies"),
    ("--write-robot", "OUT",
     "write a robot file, for payloads from joint torques (load.robot)"),
    ("--json", "OUT", "write the result to this file"),
    ("--report", "DIR", "write a report to this folder: one HTML file"))


def make_parser() -> argparse.ArgumentParser:
    """The command line of `identify_robot`."""
    parser = Parser(
        prog="identify_robot",
        description="Identify bodies and joint friction of a robot from joint positions and "
        "torques: every link physically consistent, the description as a prior as far as the "
        "recording does not contradict it.",
        epilog="Exit status: 0 identified, 1 the recording is not enough, 2 the request cannot be "
        "carried out; of --check-feasibility 0 feasible, 1 infeasible.")
    add = parser.add_argument
    add("recording", metavar="RECORDING", type=Path, nargs="*",
        help="rosbag2 folder, .mcap or .db3 with joint states that carry efforts; CSV with columns "
        "time, position.<joint>, effort.<joint>; or NPZ with t, q, effort [s, rad, N m]. Several "
        "recordings of one robot are used together")
    add("--test", metavar="RECORDING", type=Path, action="append", default=[],
        help="test the robot on this recording, and do not identify it from it (may be repeated)")
    for option, metavar, text in _FILES:
        add(option, metavar=metavar, type=Path, help=text)
    add("--payload-mass", metavar="X", type=float, help="mass of the payload of --loaded [kg]")
    add("--gains", metavar="A,B,...", default="", help="efforts are motor currents [A]; gains of "
        "the drives, in the order of the joints [N m/A]")
    add("--joints", metavar="A,B,...", default="",
        help="joints that move; others are locked at zero (default: all)")
    add("--terms", metavar="A,B,...", default="", help=f"terms of every joint, out of "
        f"{', '.join(_TERMS)} (default: these, and friction in proportion to the load)")
    add("--method", metavar="NAME", default="lmi",
        help="lmi: bodies that exist, the description as a prior; fbpe, ols+bpfc: base parameters "
        "without a prior, the description for the rest; mass-points: points in the boxes of the "
        "links (default: %(default)s)")
    add("--set", metavar="NAME=VALUE", action="append", default=[], dest="settings",
        help="; ".join(f"{name}: {text}" for name, text in _SETTINGS.items()))
    add("--quiet", action="store_true", help="print nothing but errors")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tool; returns its exit status."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    return exit_status(lambda: run(make_parser().parse_args(words), words))


def run(args: argparse.Namespace, words: Sequence[str] = ()) -> int:
    """Identify, report, write files; returns the exit status.

    Args:
        words: of the command line, for the report.

    Raises:
        InertialIdError: the request cannot be carried out.
    """
    constraints = _document(args.constraints)
    if args.check_feasibility:
        return _check_feasibility(args, constraints)
    if not args.recording:
        raise InvalidSetting("no recording is named (see identify_robot --help)")
    paths = [*args.recording, *args.test, *([args.loaded] if args.loaded else [])]
    urdf_out, robot_out, json_out, report_out = outputs = files.check_outputs(
        {"--write-urdf": args.write_urdf, "--write-robot": args.write_robot, "--json": args.json,
         "--report": args.report and files.report_file(args.report, args.recording[0])},
        {"the robot description": args.urdf, **{f"the recording {path}": path for path in paths}})
    given = _settings(args.settings)
    topic = given.pop("joint_states.topic", None)
    urdf = read_description(files.user_path(args.urdf)) if args.urdf else ""
    read = {}
    for path in paths:
        read[path] = read_recording(path, args.columns, topic, bool(urdf))
        urdf = urdf or read[path].urdf
    if not urdf:
        raise InvalidModel("there is no robot description: the recording holds none, and --urdf "
                           "gives none")
    request = _request(args, given, constraints, read.get(args.loaded))
    result = identify_described_robot(urdf, [read[path] for path in args.recording], request,
                                      [read[path] for path in args.test])
    title = ", ".join(map(str, args.recording))
    if not args.quiet:
        for note in dict.fromkeys(note for path in args.recording for note in read[path].notes):
            print(f"note: {printable(note)}")
        print_result(result, title)
    if report_out is not None:
        files.write_atomically(report_out, robot_page(result, args.recording[0], words))
    if result.unexplained is None:
        if urdf_out is not None:
            files.write_atomically(urdf_out, set_inertias(urdf, result.model, result.fit.phi))
        if robot_out is not None:
            save_robot(robot_out, result.robot)
        if json_out is not None:
            files.write_json(json_out, result_json(result, title))
    if not args.quiet:
        files.print_written(*([report_out] if result.unexplained else outputs))
    result.check_explained()
    return OK


def _request(args: argparse.Namespace, given: Mapping[str, Any], constraints: Mapping[str, Any],
             loaded: JointRecording | None) -> Request:
    """What the command line asks for (raises InvalidSetting)."""
    if "gain_error" in given and not args.gains:
        raise InvalidSetting("gain_error is that of the gains that --gains gives")
    wanted = names(args.terms)
    for name in wanted:
        if name not in _TERMS:
            raise InvalidSetting(f"--terms names '{name}'; allowed: {', '.join(_TERMS)}")
    terms = JointTerms(VISCOUS in wanted, COULOMB in wanted, OFFSET in wanted, DRIVE in wanted,
                       given.get("coulomb_velocity", FADING))
    gains = numbers(f"--gains {args.gains}", args.gains, "numbers") if args.gains else ()
    return Request(joints=names(args.joints), terms=terms if wanted else None, gains=gains,
                   loaded=loaded, payload_mass=args.payload_mass, method=args.method,
                   constraints=constraints, **given)


def _settings(given: Sequence[str]) -> dict[str, Any]:
    """Values of --set by name (raises InvalidSetting)."""
    out: dict[str, Any] = {}
    for text in given:
        name, sign, value = text.partition("=")
        if name not in _SETTINGS or not sign:
            raise InvalidSetting(f"--set {text}: expected NAME=VALUE, of {', '.join(_SETTINGS)}")
        if name == "align" and value not in ("true", "false"):
            raise InvalidSetting(f"align is '{value}'; allowed: true, false")
        if name in ("joint_states.topic", "align"):
            out[name] = value == "true" if name == "align" else value.strip()
        elif name == "gravity":
            out[name] = numbers(name, value, "three numbers", 3)
        else:
            out[name], = numbers(name, value, "a number", 1)
    return out


def _document(path: Path | None) -> Mapping[str, Any]:
    """The mapping of a YAML or JSON file; empty where none is named (raises InvalidSetting)."""
    content = {} if path is None else files.read_yaml(files.user_path(path), f"file {path}")
    if not isinstance(content, Mapping):
        raise InvalidSetting(f"{path} holds no mapping")
    return content


def _check_feasibility(args: argparse.Namespace, constraints: Mapping[str, Any]) -> int:
    """Say whether a robot can have base parameters; returns the exit status."""
    if args.recording:
        raise InvalidSetting("--check-feasibility reads no recording; leave one of them out")
    described = RobotModel.from_urdf(
        read_description(files.user_path(args.urdf))) if args.urdf else None
    found = check_base_parameters(_document(args.check_feasibility), constraints, described)
    answer, proof = found.feasibility, found.feasibility.certificate
    rows = list(zip(found.combinations, found.beta.tolist(), found.nearest.tolist(), strict=True))
    if args.json:
        files.write_json(args.json, {
            "feasible": answer.feasible, "margin": answer.margin,
            "certificate": None if proof is None else {
                "value": proof.value, "leak": proof.leak, "depth": proof.depth,
                "multipliers": [z.tolist() for z in proof.multipliers]},
            "distance": found.distance, "base_parameters": [
                {"combination": text, "value": value, "nearest": nearest}
                for text, value, nearest in rows]})
    if not args.quiet:
        print(f"feasible: margin {answer.margin:.3g}" if proof is None else
              f"infeasible: certificate {proof.value:.3g} (leak {proof.leak:.0e}); nearest "
              f"feasible base parameters at a distance of {found.distance:.4g}:")
        for text, value, nearest in rows:
            print(f"  {value:12.6g} {nearest:12.6g}  {printable(text)}")
    return OK if answer.feasible else NO_ESTIMATE


if __name__ == "__main__":
    sys.exit(main())
