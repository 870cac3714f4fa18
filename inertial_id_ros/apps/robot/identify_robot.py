# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Command line: identify a robot from a recording of its joint positions and torques."""

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from ...cli import NO_ESTIMATE, OK, Parser, exit_status, names, numbers
from ...errors import InvalidModel, InvalidSetting, printable
from ...io import files
from ...motion.robot import read_description
from ...robot import METHODS, TERMS, RobotRequest, check_base_parameters, save_robot
from ...robot.identify import identify_described_robot
from ...settings.spec import iter_group
from ..report.page import print_report
from .files import read_recording, set_inertias
from .page import diagnose, result_json, robot_page, robot_sections


def _document(path: str) -> Any:
    """What a YAML or JSON file holds (raises InvalidSetting: it cannot be read)."""
    return files.read_yaml(files.user_path(path), f"file {path}") or {}


_TOPIC = "joint_states.topic"
_SETTINGS = {_TOPIC: "topic in a bag (default: the only one)"} | {
    name: f"{spec.description} (default: {value})"
    for name, value, spec in iter_group(RobotRequest())}
_OPTIONS: tuple[tuple[str, Callable[[str], Any], str, str], ...] = (
    ("--urdf", Path, "FILE", "robot description (default: the one in the bag)"),
    ("--columns", Path, "FILE", "YAML with the names of columns of tables (docs/recordings.md)"),
    ("--constraints", _document, "FILE",
     "YAML with bounds on masses, centres of mass and densities of links (docs/robot.md)"),
    ("--check-feasibility", _document, "FILE", "without a recording: whether a robot can have the "
     "base parameters of this YAML or JSON file, and the nearest that one can have"),
    ("--loaded", Path, "RECORDING", "efforts are motor currents [A]; with this recording of the "
     "robot with a payload of --payload-mass on its last link, the gains of the drives are found"),
    ("--payload-mass", float, "X", "mass of the payload of --loaded [kg]"),
    ("--gains", lambda text: numbers(f"--gains {text}", text, "numbers"), "A,B,...",
     "efforts are motor currents [A]; gains of the drives, in the order of the joints [N m/A]"),
    ("--effort-sign", names, "A,B,...", "joints whose efforts have the opposite sign"),
    ("--joints", names, "A,B,...", "joints that move; others are locked at zero (default: all)"),
    ("--terms", names, "A,B,...", f"terms of every joint, of {', '.join(TERMS)} (default: all)"),
    ("--write-urdf", Path, "OUT", "write the description with these bodies"),
    ("--write-robot", Path, "OUT", "write a file for payloads from torques (load.robot)"),
    ("--json", Path, "OUT", "write the result to this file"),
    ("--report", Path, "DIR", "write a report to this folder: one HTML file"))


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
    for option, kind, metavar, text in _OPTIONS:
        add(option, metavar=metavar, type=kind, help=text, default=() if kind is names else None)
    add("--method", default="lmi", choices=METHODS,
        help="lmi: bodies that exist, the description as a prior; fbpe, ols+bpfc: base parameters "
        "without a prior, the description for the rest; mass-points: points in the boxes of the "
        "links (default: %(default)s)")
    add("--set", metavar="NAME=VALUE", action="append", default=[], dest="settings",
        help="; ".join(map(": ".join, _SETTINGS.items())))
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tool; returns its exit status."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    return exit_status(lambda: run(make_parser().parse_args(words), words))


def run(args: argparse.Namespace, words: Sequence[str] = ()) -> int:
    """Identify, report, write files; returns the exit status (raises InertialIdError); words: of
    the command line, for the report."""
    if args.check_feasibility is not None:
        return _check_feasibility(args)
    if not args.recording:
        raise InvalidSetting("no recording is named (see identify_robot --help)")
    paths = [*args.recording, *args.test, *([args.loaded] if args.loaded else [])]
    urdf_out, robot_out, json_out, report_out = outputs = files.check_outputs(
        {"--write-urdf": args.write_urdf, "--write-robot": args.write_robot, "--json": args.json,
         "--report": args.report and files.report_file(args.report, args.recording[0])},
        {"the robot description": args.urdf, **{f"the recording {path}": path for path in paths}})
    topic, asked = _request(args)
    urdf = read_description(files.user_path(args.urdf)) if args.urdf else ""
    read = {}
    for path in paths:
        read[path] = recording = read_recording(path, args.columns, topic, bool(urdf))
        urdf = urdf or recording.description
        for note in (*recording.notes, *(finding.text for finding in recording.findings)):
            print(f"note: {printable(note)}")
    if not urdf:
        raise InvalidModel("neither the recording nor --urdf gives a robot description")
    joints = {path: recording.joints for path, recording in read.items()}
    result = identify_described_robot(
        urdf, [joints[path] for path in args.recording],
        RobotRequest(**{**asked, "loaded": joints.get(args.loaded)}),
        [joints[path] for path in args.test])
    title = ", ".join(map(str, args.recording))
    if report_out is not None:
        files.write_atomically(report_out, robot_page(result, args.recording[0], words))
    if urdf_out is not None:
        files.write_atomically(urdf_out, set_inertias(urdf, result.fit.model, result.fit.phi))
    if robot_out is not None:
        save_robot(robot_out, result.robot)
    if json_out is not None:
        files.write_json(json_out, result_json(result, title))
    print_report(title, robot_sections(result), diagnose(result))
    files.print_written(*outputs)
    return OK


def _request(args: argparse.Namespace) -> tuple[str | None, dict[str, Any]]:
    """The topic, and the other options, by field of `RobotRequest` (raises InvalidSetting)."""
    given = files.assignments(args.settings, tuple(_SETTINGS))
    if "gain_error" in given and not args.gains:
        raise InvalidSetting("gain_error is that of the gains that --gains gives")
    topic, options = given.pop(_TOPIC, None), vars(args)
    return topic, {item.name: options[item.name] for item in fields(RobotRequest)
                   if options.get(item.name) is not None} | given


def _check_feasibility(args: argparse.Namespace) -> int:
    """Say whether a robot can have base parameters; returns the exit status."""
    if args.recording:
        raise InvalidSetting("--check-feasibility reads no recording; leave one of them out")
    found = check_base_parameters(args.check_feasibility, args.constraints)
    if args.json:
        files.write_json(args.json, found)
    print("feasible: margin {margin:.3g}".format(**found) if found["feasible"] else
          "infeasible: certificate {certificate:.3g}; nearest feasible base parameters at a "
          "distance of {distance:.4g}:".format(**found))
    for each in found["base_parameters"]:
        print("  {value:12.6g} {nearest:12.6g}".format(**each), printable(each["combination"]))
    return OK if found["feasible"] else NO_ESTIMATE
