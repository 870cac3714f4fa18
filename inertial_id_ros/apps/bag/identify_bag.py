# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Command line of `identify_bag`, which identifies the payload of a recorded motion. Options go
before the YAML file of settings.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...arguments import Parser, numbers
from ...cli import NO_ESTIMATE, NOT_IDENTIFIED, OK, exit_status
from ...errors import DamagedFile, InvalidSetting, printable
from ...estimate import UNOBSERVED, Estimate, Outcome
from ...extras import optional_packages
from ...geometry.shape import check_sizes
from ...io.files import config_file, user_path
from ...regression.tool import tool_from_estimate
from ...settings import SENSORS, Settings, flatten
from ..report.diagnosis import Diagnosis, Trial, diagnose, try_frames
from ..report.results import Identification, summary
from ..tables.motion_table import Columns, as_recording, columns_from_file, is_table
from ..tables.read_table import is_dataset
from .black_box import BlackBox, read_black_box
from .offline import identify_recording
from .output import (
    check_outputs,
    print_report,
    print_written,
    report_file,
    result_json,
    write_json,
    write_text,
    write_tool,
)

with optional_packages("printing the result"):
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

# Parameters that every ROS node has; they mean nothing without ROS.
_NODE_PARAMETERS = ("use_sim_time", "qos_overrides.", "start_type_description_service")
_WHOLE = "all"  # value of --window
_PRIMITIVES = {"box": "three lengths x,y,z", "cylinder": "radius,height", "sphere": "radius"}


@dataclass(frozen=True)
class BagOptions:
    """What one run of `identify_bag` was asked to do.

    Attributes:
        asked: names of the settings that were given on the command line.
        whole: make buffer.window as long as the recording.
        columns, episode: of a table in place of a recording.
        recorded_stamps: use the times of recording in place of the header stamps.
        box: what lies beside the recording, where it is a black box and no settings file is given.
        report: folder of the HTML report; command: the command line, for that report.
    """

    recording: Path
    columns: Columns
    episode: int
    settings: Settings
    asked: frozenset[str]
    whole: bool
    recorded_stamps: bool
    box: BlackBox | None
    save_tool: Path | None
    json: Path | None
    report: Path | None
    quiet: bool
    command: str


def make_parser() -> argparse.ArgumentParser:
    """The command line of `identify_bag`."""
    parser = Parser(
        prog="identify_bag",
        description="Identify mass, centre of mass and inertia of a robot's payload from a rosbag2 "
        "recording (wrench, and joint states with a robot description or TF).",
        epilog="Exit status: 0 an estimate, 1 none came out, 2 the request cannot be carried out, "
        "3 an estimate whose data tell neither mass nor centre of mass.")
    add = parser.add_argument
    add("recording", metavar="BAG", type=Path, help="rosbag2 folder, .mcap or .db3 file; or a "
        "table: .csv, .npz, .parquet, or a LeRobot dataset")
    add("--columns", metavar="FILE", type=Path, help="YAML file with the names of the columns of a "
        "table (docs/tables.md)")
    add("--episode", metavar="N", type=int, help="episode of a dataset (default 0)")
    add("--config", metavar="FILE", help="YAML file of settings (nested, dotted, or a ROS "
        "parameter file), or the name of one of the package's own, such as ur")
    add("--method", metavar="NAME", help="estimator (estimator.method)")
    add("--set", metavar="NAME=VALUE", action="append", default=[], dest="assignments",
        help="any setting by its dotted name, e.g. estimator.rate=5; may be repeated")
    add("--wrench-topic", metavar="TOPIC", help="wrench.topic")
    add("--joint-states-topic", metavar="TOPIC", help="joint_states.topic")
    add("--robot", metavar="FILE", help="robot file of identify_robot: joint torques measure the "
        "load (load.robot)")
    add("--sensor", metavar="NAME", choices=tuple(SENSORS), help="wrench.sensor, whose data sheet "
        f"gives what is not set otherwise: {', '.join(SENSORS)}")
    add("--sensor-frame", metavar="FRAME", help="wrench.sensor_frame")
    add("--gravity-frame", metavar="FRAME", help="gravity.frame, the frame whose z axis points up")
    add("--convention", metavar="NAME", help="wrench.convention: on_sensor or on_environment")
    add("--urdf", metavar="FILE", help="robot_description.file")
    shape = parser.add_mutually_exclusive_group()
    shape.add_argument("--box", metavar="SX,SY,SZ,CX,CY,CZ",
                       help="lengths and centre of a box that bounds the object [m, sensor frame]")
    shape.add_argument("--mesh", metavar="FILE",
                       help="watertight mesh that the object fills [m, sensor frame]")
    shape.add_argument("--shape", metavar="SHAPE",
                       help="box:sx,sy,sz | cylinder:r,h | sphere:r, each with @cx,cy,cz where its "
                       "centre is not the sensor origin, or a mesh file")
    add("--window", metavar="SECONDS|all", help="how much of the recording's end is used "
        "(buffer.window); all: the whole recording")
    add("--stamps", choices=("header", "recorded"), default="header", help="times of the samples: "
        "their header stamps, or the times of recording, for drivers that leave the stamps zero")
    add("--tool", metavar="FILE", help="tool file (tool.file); the object is identified apart from "
        "this tool")
    add("--save-tool", metavar="OUT", type=Path, help="write the result to this file as a tool, "
        "for --tool")
    add("--json", metavar="OUT", type=Path, help="write the result and its history to this file")
    add("--report", metavar="DIR", type=Path, help="write a report to this folder: one HTML file "
        "with the verdict, all numbers and pictures")
    add("--quiet", action="store_true", help="print nothing but errors")
    return parser


def parse_options(arguments: Sequence[str] | None = None) -> BagOptions:
    """Options from a command line and the YAML file it names.

    Raises:
        InvalidSetting: unknown option, unreadable YAML, or a value that is not allowed.
    """
    words = sys.argv[1:] if arguments is None else list(arguments)
    args = make_parser().parse_args(words)
    box = None if args.config else read_black_box(args.recording)
    if box is not None:
        changes = dict(box.settings)
    else:
        changes = read_settings_file(config_file(args.config)) if args.config else {}
    given = _settings_given(args)
    settings = Settings().replace({**changes, **given})
    if args.columns and not is_table(args.recording):
        raise InvalidSetting(f"--columns names those of a table, and {args.recording} is none")
    if args.episode is not None and not is_dataset(args.recording):
        raise InvalidSetting(f"--episode is for a dataset, and {args.recording} is none")
    columns = columns_from_file(user_path(args.columns)) if args.columns else Columns()
    return BagOptions(recording=args.recording, columns=columns, episode=args.episode or 0,
                      settings=settings, asked=frozenset(given),
                      whole=args.window == _WHOLE, recorded_stamps=args.stamps == "recorded",
                      box=box, save_tool=args.save_tool, json=args.json,
                      report=args.report, quiet=args.quiet,
                      command=shlex.join(["identify_bag", *words]))


def read_settings_file(path: Path) -> dict[str, Any]:
    """Dotted settings from a YAML file; what only concerns a ROS node is left out.

    Raises:
        InvalidSetting: no such file, no YAML, or no mapping.
    """
    from ...io.yaml_files import read_yaml

    tree = read_yaml(path, f"settings file {path}")
    if tree is None:
        return {}
    if not isinstance(tree, Mapping):
        raise InvalidSetting(f"settings file {path} must hold names and values, not "
                             f"{'a list' if isinstance(tree, list) else repr(tree)[:200]}")
    return {name: value for name, value in flatten(tree).items()
            if not name.startswith(_NODE_PARAMETERS)}


def _settings_given(args: argparse.Namespace) -> dict[str, Any]:
    """Dotted settings that the command line gives."""
    named = {
        "estimator.method": args.method, "wrench.topic": args.wrench_topic,
        "joint_states.topic": args.joint_states_topic,
        "load.robot": args.robot, "wrench.sensor": args.sensor,
        "wrench.sensor_frame": args.sensor_frame, "gravity.frame": args.gravity_frame,
        "wrench.convention": args.convention, "robot_description.file": args.urdf,
        "tool.file": args.tool}
    given = dict(_parse_assignment(text) for text in args.assignments)
    given.update({name: value for name, value in named.items() if value is not None})
    if args.window not in (None, _WHOLE):
        given["buffer.window"], = numbers(f"--window {args.window}", args.window,
                                          f"seconds or '{_WHOLE}'", 1)
    if args.box is not None:
        given.update(_box_settings(args.box))
    if args.mesh is not None:
        given.update(_mesh_settings(args.mesh))
    if args.shape is not None:
        given.update(parse_shape(args.shape))
    return given


def _parse_assignment(text: str) -> tuple[str, Any]:
    """Name and value of one ``--set NAME=VALUE`` (raises InvalidSetting)."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise InvalidSetting(f"--set {text}: write NAME=VALUE, e.g. estimator.rate=5")
    from ...io.yaml_files import parse_yaml

    try:
        return name, parse_yaml(value) if value else ""
    except DamagedFile as error:
        raise InvalidSetting(f"--set {text[:200]}: {error}") from error


def parse_shape(text: str) -> dict[str, Any]:
    """Settings from the short form: a primitive with its sizes, and centre, or a mesh file.

    Raises:
        InvalidSetting: numbers that cannot be read.
    """
    kind, colon, rest = text.partition(":")
    if not colon or kind not in _PRIMITIVES:
        return _mesh_settings(text)
    sizes, _, center = rest.partition("@")
    size = numbers(f"--shape {text}", sizes, _PRIMITIVES[kind])
    check_sizes(kind, np.array(size))
    return {"shape.type": kind, "shape.bounding": True, "shape.size": size,
            "shape.center": numbers(f"--shape {text}", center, "three numbers after @")
            if center else (0.0, 0.0, 0.0)}


def _box_settings(text: str) -> dict[str, Any]:
    """Settings of a box that bounds the object, from ``sx,sy,sz,cx,cy,cz`` [m]."""
    values = numbers(f"--box {text}", text, "six numbers sx,sy,sz,cx,cy,cz")
    if len(values) != 6:
        raise InvalidSetting(f"--box has {len(values)} numbers; it needs six: lengths and centre "
                             "in metres, sx,sy,sz,cx,cy,cz")
    return {"shape.type": "box", "shape.bounding": True,
            "shape.size": values[:3], "shape.center": values[3:]}


def _mesh_settings(path: str) -> dict[str, Any]:
    """Settings of a mesh file that the object fills."""
    return {"shape.type": "mesh", "shape.bounding": False, "shape.mesh": path}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tool; returns its exit status."""
    return exit_status(lambda: run(parse_options(arguments)))


def run(options: BagOptions) -> int:
    """Identify, report, write files; returns the exit status.

    Raises:
        InertialIdError: the request cannot be carried out.
    """
    json_path, tool_path, report_path = check_outputs(
        {"--json": options.json, "--save-tool": options.save_tool,
         "--report": options.report and report_file(options.report, options.recording)},
        {"the recording": options.recording})
    # The trace is drawn in a report, and tells which frame is wrong.
    result = _identify(options, traced=report_path is not None or not options.quiet)
    if json_path is not None:
        write_json(json_path, result_json(result, options.recording, result.notes))
    if tool_path is not None and isinstance(result.outcome, Estimate):
        write_tool(tool_path, tool_from_estimate(result.outcome, result.tool))
    if report_path is not None:
        write_text(report_path, _page(result, options))
    _report(result, options, diagnose(result, _try_frames(result, options), None))
    if not options.quiet:
        saved = tool_path if isinstance(result.outcome, Estimate) else None
        print_written(json_path, saved, report_path)
    return _status(result.outcome)


def _status(outcome: Outcome) -> int:
    """The exit status that tells a script what came out."""
    if not isinstance(outcome, Estimate):
        return NO_ESTIMATE
    nothing = all(verdict == UNOBSERVED for verdict in outcome.verdict[:4])
    return NOT_IDENTIFIED if nothing else OK


def _identify(options: BagOptions, traced: bool) -> Identification:
    """Identify the payload of the recording; traced: keep readings and poses."""
    with as_recording(options.recording, options.columns, options.settings,
                      options.episode) as recording:
        return identify_recording(
            recording, options.settings, options.asked,
            lambda duration: progress_bar(duration, not options.quiet),
            traced, options.whole, options.recorded_stamps, options.box)


def _page(result: Identification, options: BagOptions) -> str:
    """The HTML report."""
    from ..report.page import ReportOrigin
    from ..report.payload_page import payload_page

    origin = ReportOrigin(options.recording.name, str(options.recording), options.command)
    return payload_page(result, options.settings, origin)


def _try_frames(result: Identification, options: BagOptions) -> Trial | None:
    """Other frames that explain the force better, where the recording was traced."""
    return try_frames(result.trace, options.settings.wrench.sign, result.outcome.frame_id,
                      options.settings.gravity.frame)


def _report(result: Identification, options: BagOptions, found: Diagnosis) -> None:
    if not options.quiet:
        print_report(Console(), result, str(options.recording), found, result.notes)
    elif not isinstance(result.outcome, Estimate):
        print(printable(summary(result.outcome)), file=sys.stderr)


@contextmanager
def progress_bar(duration: float, wanted: bool) -> Iterator[Callable[[float], None] | None]:
    """A progress bar on standard error; nothing where that is not a terminal."""
    console = Console(stderr=True)
    if not wanted or not console.is_terminal:
        yield None
        return
    columns = (TextColumn("identifying"), BarColumn(),
               TextColumn("{task.completed:.0f} of {task.total:.0f} s"), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=duration)
        yield lambda reached: progress.update(task, completed=reached)


if __name__ == "__main__":
    sys.exit(main())
