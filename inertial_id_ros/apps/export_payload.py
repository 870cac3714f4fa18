# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Command line: write a saved estimate in the format of a planner, simulator or controller."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from ..cli import OK, Parser, exit_status
from ..errors import InvalidData, InvalidSetting, printable
from ..export import DEFAULT_LINK, FORMATS, export_payload
from ..io.files import check_outputs, user_path, write_atomically
from ..motion.robot import read_description

PATIENCE = 5.0  # s, for the services of a node, and for its answer


def make_parser() -> argparse.ArgumentParser:
    """The command line of `export_payload`."""
    parser = Parser(
        prog="export_payload",
        description="Write a saved estimate for planners, simulators and controllers.",
        epilog="Exit status: 0 written, 1 the estimate does not determine mass or centre of mass, "
        "2 the request cannot be carried out.")
    add = parser.add_argument
    add("estimate", metavar="ESTIMATE", type=Path, help="JSON of ~/save or identify_bag --json")
    add("--format", choices=FORMATS, required=True, help="of the document")
    add("--robot", metavar="URDF", type=Path, help="description: for urdf_robot, or another parent")
    add("--parent", metavar="LINK", default="",
        help="link that carries the payload; franka_desk: the flange (default: the sensor frame)")
    add("--link", default=DEFAULT_LINK, help="name of the payload (default: %(default)s)")
    add("--output", metavar="FILE", type=Path, help="write to this file (default: standard output)")
    add("--publish", metavar="NODE", nargs="?", const="robot_state_publisher",
        help="set robot_description of this node to the urdf_robot (default: %(const)s)")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tool; returns its exit status."""
    return exit_status(lambda: run(make_parser().parse_args(arguments)))


def run(args: argparse.Namespace) -> int:
    """Write the document, notes to standard error; the exit status (raises InertialIdError)."""
    (output,) = check_outputs({"--output": args.output}, {
        "the estimate": args.estimate, "the robot description": args.robot})
    urdf = read_description(user_path(args.robot)) if args.robot else ""
    if args.publish and args.format != "urdf_robot":
        raise InvalidSetting(f"--publish is for --format urdf_robot, not {args.format}")
    document = export_payload(args.estimate, args.format, urdf, args.parent.lstrip("/"), args.link)
    if args.publish:
        publish(document.text, args.publish)
    if output is not None:
        write_atomically(output, document.text)
    elif not args.publish:
        print(document.text, end="")
    for note in document.notes:
        print(f"note: {printable(note)}", file=sys.stderr)
    return OK


def publish(urdf: str, name: str) -> None:
    """Set the parameter robot_description of a node (raises InvalidData where it is not taken)."""
    import rclpy
    from rclpy.parameter import Parameter
    from rclpy.parameter_client import AsyncParameterClient

    rclpy.init()
    try:
        node = rclpy.create_node("export_payload")
        client = AsyncParameterClient(node, name)
        if not client.wait_for_services(PATIENCE):
            raise InvalidData(f"--publish {name}: no such node has parameters")
        answer = client.set_parameters([Parameter("robot_description", value=urdf)])
        rclpy.spin_until_future_complete(node, answer, timeout_sec=PATIENCE)
        results = answer.result().results if answer.done() else []
        if not results or not results[0].successful:
            raise InvalidData(f"--publish {name}: the description is not taken: "
                              + (results[0].reason if results else "no answer"))
    finally:
        rclpy.try_shutdown()
