# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""`identify_bag` identifies the payload of a recorded motion."""

import argparse
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ...cli import NO_ESTIMATE, NOT_IDENTIFIED, OK, Parser, exit_status, numbers
from ...errors import InvalidSetting
from ...estimate import Estimate
from ...io import files
from ...model.tool import save_tool, tool_from_estimate
from ...settings import SENSORS, Settings, flatten
from ..recordings.tables import Columns, columns_from_file, is_table
from ..report.page import payload_page, payload_sections, print_report
from ..report.results import Identification, diagnose, is_identified
from .offline import identify_recording

# Parameters that every ROS node has; they mean nothing without ROS.
NODE_PARAMETERS = ("use_sim_time", "qos_overrides.", "start_type_description_service")
HISTORY = ("verdict", "mass", "com", "inertia_com", "valid")  # of each estimate, in JSON
PRIMITIVES = {"box": "three lengths x,y,z", "cylinder": "radius,height", "sphere": "radius"}


def make_parser() -> argparse.ArgumentParser:
    """The command line of `identify_bag`."""
    parser = Parser(
        prog="identify_bag",
        description="Identify mass, centre of mass and inertia of a robot's payload from a bag "
        "(wrench, and joint states with a robot description or TF) or a table.",
        epilog="Exit status: 0 mass and centre of mass are identified, 1 no estimate, 2 the "
        "request cannot be carried out, 3 an estimate without mass or centre of mass.")
    add = parser.add_argument
    add("recording", metavar="BAG", type=Path, help="rosbag2 folder, .mcap, .db3 or (ROS 1) .bag "
        "file; or a table: .csv, .tsv, .txt, .npz, .parquet, or a LeRobot dataset")
    add("--columns", metavar="FILE", type=Path, help="names of columns (docs/recordings.md)")
    add("--config", metavar="FILE", help="YAML file of settings (nested, dotted, or a ROS "
        "parameter file), or the name of one of the package's own, such as ur")
    add("--set", metavar="NAME=VALUE", action="append", default=[], dest="assignments",
        help="any setting by its dotted name, e.g. estimator.method=wls; may be repeated")
    add("--sensor", metavar="NAME", dest="wrench.sensor", choices=tuple(SENSORS),
        help=f"wrench.sensor, by its data sheet: {', '.join(SENSORS)}")
    add("--sensor-frame", metavar="FRAME", dest="wrench.sensor_frame", help="wrench.sensor_frame")
    add("--urdf", metavar="FILE", dest="robot_description.file", help="robot_description.file")
    add("--shape", metavar="SHAPE",
        help="box:sx,sy,sz | cylinder:r,h | sphere:r [m] that bounds the object, each with "
        "@cx,cy,cz where its centre is not the sensor origin; or a mesh file that it fills")
    add("--window", metavar="SECONDS", dest="buffer.window", type=float,
        help="buffer.window: how much of the recording's end is used, at most two minutes")
    add("--stamps", choices=("header", "recorded"), default="header", help="times of the samples: "
        "their header stamps, or the times of recording, for drivers that leave the stamps zero")
    add("--save-tool", metavar="OUT", type=Path, help="write it as a tool, for --set tool.file=OUT")
    add("--json", metavar="OUT", type=Path, help="write the result and its history to this file")
    add("--report", metavar="DIR", type=Path, help="write a report, one HTML file, to this folder")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tool; returns its exit status."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    return exit_status(lambda: run(make_parser().parse_args(words), shlex.join(words)))


def run(args: argparse.Namespace, words: str) -> int:
    """Identify, report, write files; returns the exit status (raises InertialIdError); words: of
    the command line, for the report."""
    recording, settings = args.recording, settings_of(args)
    for what, kind, given in (("--columns", "table", args.columns is not None),
                              ("--stamps recorded", "bag", args.stamps == "recorded")):
        if given and is_table(recording) is not (kind == "table"):
            raise InvalidSetting(f"{what} is for a {kind}, and {recording} is none")
    json_path, tool_path, report_path = files.check_outputs(
        {"--json": args.json, "--save-tool": args.save_tool,
         "--report": args.report and files.report_file(args.report, recording)},
        {"the recording": recording})
    columns = columns_from_file(files.user_path(args.columns)) if args.columns else Columns()
    result = identify_recording(recording, settings, columns, args.stamps == "recorded")
    outcome = result.outcome
    if json_path is not None:
        files.write_json(json_path, result_json(result, recording))
    if tool_path is not None and isinstance(outcome, Estimate):
        save_tool(tool_path, tool_from_estimate(outcome, result.tool))
    if report_path is not None:
        files.write_atomically(
            report_path, payload_page(result, recording, f"identify_bag {words}"))
    print_report(str(recording), payload_sections(result), diagnose(result))
    files.print_written(json_path, tool_path if outcome.valid else None, report_path)
    if not isinstance(outcome, Estimate):
        return NO_ESTIMATE
    return OK if is_identified(outcome) else NOT_IDENTIFIED


def result_json(result: Identification, recording: Path) -> dict[str, Any]:
    """The JSON report (SI units, sensor axes), with the estimate over time as `history`."""
    tree = result.outcome.to_json()
    said = [*tree["diagnostics"], *(f.text for f in result.findings), *result.notes]
    history = [{"stamp": found.stamp_ns * 1e-9, "t": time,
                "sigma": found.sigma.tolist() if isinstance(found, Estimate) else None,
                **{name: found.to_json().get(name) for name in HISTORY}}
               for time, found, _ in result.history]
    return {**tree, "diagnostics": list(dict.fromkeys(said)),
            "findings": [finding._asdict() for finding in result.findings],
            "recording": str(recording), "duration": result.duration, "messages": result.counts,
            "history": history}


def settings_of(args: argparse.Namespace) -> Settings:
    """The settings of file and command line, which wins (raises InvalidSetting)."""
    changes: dict[str, Any] = {}
    if args.config:
        path = files.config_file(args.config)
        tree = files.read_yaml(path, f"settings file {path}") or {}
        if not isinstance(tree, Mapping):
            raise InvalidSetting(f"settings file {path} holds no names and values: {tree!r:.200}")
        changes = {name: value for name, value in flatten(tree).items()
                   if not name.startswith(NODE_PARAMETERS)}
    changes |= files.assignments(args.assignments) | {
        name: value for name, value in vars(args).items() if "." in name and value is not None}
    kind, colon, rest = (args.shape or "").partition(":")
    if colon and kind in PRIMITIVES:  # which bounds the object
        sizes, _, center = rest.partition("@")
        what = f"--shape {args.shape}"
        changes |= {"shape.type": kind, "shape.bounding": True,
                    "shape.size": numbers(what, sizes, PRIMITIVES[kind]),
                    "shape.center": numbers(what, center or "0,0,0", "three numbers after @", 3)}
    elif args.shape:  # a mesh file that it fills
        changes |= {"shape.type": "mesh", "shape.bounding": False, "shape.mesh": args.shape}
    return Settings().replace(changes)
