# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Options of `identify_bag`; they go before the YAML file of settings."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...arguments import Parser, numbers
from ...errors import DamagedFile, InvalidSetting
from ...geometry.shape import check_sizes
from ...io.files import config_file, parse_yaml, read_yaml, user_path
from ...settings import SENSORS, Settings, flatten
from ..recordings import columns_from_file, is_dataset, is_table

# Parameters that every ROS node has; they mean nothing without ROS.
NODE_PARAMETERS = ("use_sim_time", "qos_overrides.", "start_type_description_service")
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
    add("--columns", metavar="FILE", type=Path, help="YAML file with the names of the columns of a "
        "table (docs/recordings.md)")
    add("--episode", metavar="N", type=int, help="episode of a dataset (default 0)")
    add("--config", metavar="FILE", help="YAML file of settings (nested, dotted, or a ROS "
        "parameter file), or the name of one of the package's own, such as ur")
    add("--set", metavar="NAME=VALUE", action="append", default=[], dest="assignments",
        help="any setting by its dotted name, e.g. wrench.topic=/ft or estimator.method=wls; may "
        "be repeated")
    add("--sensor", metavar="NAME", choices=tuple(SENSORS), help="wrench.sensor, whose data sheet "
        f"gives what is not set otherwise: {', '.join(SENSORS)}")
    add("--sensor-frame", metavar="FRAME", help="wrench.sensor_frame")
    add("--urdf", metavar="FILE", help="robot_description.file")
    add("--shape", metavar="SHAPE",
        help="box:sx,sy,sz | cylinder:r,h | sphere:r [m] that bounds the object, each with "
        "@cx,cy,cz where its centre is not the sensor origin; or a mesh file that it fills")
    add("--window", metavar="SECONDS", help="how much of the recording's end is used "
        "(buffer.window); all: the most that is used, two minutes")
    add("--stamps", choices=("header", "recorded"), default="header", help="times of the samples: "
        "their header stamps, or the times of recording, for drivers that leave the stamps zero")
    add("--save-tool", metavar="OUT", type=Path, help="write the result to this file as a tool, "
        "for --set tool.file=OUT")
    add("--json", metavar="OUT", type=Path, help="write the result and its history to this file")
    add("--report", metavar="DIR", type=Path, help="write a report to this folder: one HTML file "
        "with the verdict, all numbers and pictures")
    add("--quiet", action="store_true", help="print nothing but errors")
    return parser


def parse_options(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Options from a command line and the files it names, with `settings`, the names of those
    `given` on the command line, the columns `named`, and the `command` itself.

    Raises:
        InvalidSetting: unknown option, unreadable YAML, or a value that is not allowed.
    """
    words = sys.argv[1:] if arguments is None else list(arguments)
    args = make_parser().parse_args(words)
    changes = read_settings_file(config_file(args.config)) if args.config else {}
    given = _settings_given(args)
    for option, is_one, what in (("columns", is_table, "table"),
                                 ("episode", is_dataset, "dataset")):
        if getattr(args, option) is not None and not is_one(args.recording):
            raise InvalidSetting(f"--{option} is for a {what}, and {args.recording} is none")
    args.settings, args.given = Settings().replace({**changes, **given}), frozenset(given)
    args.named = columns_from_file(user_path(args.columns)) if args.columns else None
    args.command = shlex.join(["identify_bag", *words])
    return args


def read_settings_file(path: Path) -> dict[str, Any]:
    """Dotted settings from a YAML file; what only concerns a ROS node is left out.

    Raises:
        InvalidSetting: no such file, no YAML, or no mapping.
    """
    tree = read_yaml(path, f"settings file {path}") or {}
    if not isinstance(tree, Mapping):
        raise InvalidSetting(f"settings file {path} must hold names and values, not {tree!r:.200}")
    return {name: value for name, value in flatten(tree).items()
            if not name.startswith(NODE_PARAMETERS)}


def _settings_given(args: argparse.Namespace) -> dict[str, Any]:
    """Dotted settings that the command line gives (raises InvalidSetting)."""
    given: dict[str, Any] = {}
    for text in args.assignments:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise InvalidSetting(f"--set {text}: write NAME=VALUE, e.g. estimator.rate=5")
        try:
            given[name] = parse_yaml(value) if value else ""
        except DamagedFile as error:
            raise InvalidSetting(f"--set {text[:200]}: {error}") from error
    named = {"wrench.sensor": args.sensor, "wrench.sensor_frame": args.sensor_frame,
             "robot_description.file": args.urdf}
    given |= {name: value for name, value in named.items() if value is not None}
    if args.window is not None:
        given["buffer.window"], = numbers(f"--window {args.window}", args.window.replace(
            "all", "120"), "seconds", 1)
    return given | (parse_shape(args.shape) if args.shape else {})


def parse_shape(text: str) -> dict[str, Any]:
    """Settings from the short form: a primitive with its sizes, and centre, or a mesh file that
    the object fills.

    Raises:
        InvalidSetting: numbers that cannot be read.
    """
    kind, colon, rest = text.partition(":")
    if not colon or kind not in PRIMITIVES:
        return {"shape.type": "mesh", "shape.bounding": False, "shape.mesh": text}
    sizes, _, center = rest.partition("@")
    size = numbers(f"--shape {text}", sizes, PRIMITIVES[kind])
    check_sizes(kind, np.array(size))
    return {"shape.type": kind, "shape.bounding": True, "shape.size": size, "shape.center": numbers(
        f"--shape {text}", center or "0,0,0", "three numbers after @")}
