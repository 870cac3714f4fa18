# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Main program of ``inertial_id_node``, from its arguments to a clean end; the node itself is
`node.InertialIdNode`.

It prints its help without loading the libraries, which takes a second.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from itertools import takewhile
from typing import Any

from rclpy.exceptions import ParameterException

from ..arguments import VERSION
from ..cli import exit_status, inertial_id_node
from ..errors import InvalidSetting
from . import compat
from .node import NAME, InertialIdNode
from .program import (
    ignore_signals,
    leave_in_time,
    start_ros,
    stop_flag,
    without_ros_arguments,
    without_sources,
)
from .settings_node import Section, read_parameter_files

_LONGEST_END = 0.9  # s from a signal to the end, whatever goes on: state files are replaced whole
# s for the threads to end. Where they took longer the machine is busy, and leaving the ROS graph in
# order would hold the interpreter's lock past the longest end: then the process leaves at once.
_ORDERLY = 0.3
# s between threads that run Python code. With the usual 5 ms, a solve that releases the lock a
# hundred times takes half a second longer while another thread reads a large request, and a wrench
# that comes meanwhile is compensated up to four times as long after it came.
_SWITCH = 0.0002
_RESULT_TIME = 0.2  # s to deliver the result of a goal that is aborted because the node stops


def run(words: list[str]) -> int:
    """Run the node with these arguments until SIGINT or SIGTERM; returns the exit status.

    Raises:
        InertialIdError: a setting or an argument that cannot be used.
    """
    stop = stop_flag()
    leave_in_time(stop, _LONGEST_END, lambda: compat.exit_process(0))
    sys.setswitchinterval(_SWITCH)
    node, executor, ended = None, None, True
    try:
        node = _make_node(_init(words))
        executor = compat.make_executor()
        executor.add_node(node)
        if node.settings.lifecycle.autostart:
            node.start_by_itself()
        else:
            node.get_logger().info("unconfigured: waiting for a lifecycle manager, because "
                                   "lifecycle.autostart is false")
        compat.spin(executor, stop)
    finally:
        if stop.is_set():
            ignore_signals()
        if node is not None:
            if executor is not None and compat.is_running():
                _end_goal(node, executor)
            began = time.monotonic()
            ended = node.stop()
            if stop.is_set() and time.monotonic() - began > _ORDERLY:
                compat.exit_process(0)
            node.destroy_node()
        compat.shutdown()
    if not ended:  # a solver that does not return must not keep the process
        compat.exit_process(0)
    return 0


def _make_node(files: list[list[Section]]) -> InertialIdNode:
    """The node (raises InvalidSetting where a setting, or a middleware without the security that is
    asked for, prevents that)."""
    try:
        return InertialIdNode(files)
    except ParameterException as error:
        raise InvalidSetting(str(error)) from error
    except RuntimeError as error:  # what rclpy raises has no other public class
        if "creating node" not in str(error):
            raise
        raise InvalidSetting(without_sources(str(error))) from error


def _end_goal(node: InertialIdNode, executor: Any) -> None:
    """Abort a goal that runs, and give its client the time to receive the result."""
    if node.end_goal():
        end = time.monotonic() + _RESULT_TIME
        while (left := end - time.monotonic()) > 0.0:
            executor.spin_once(timeout_sec=left)


def _init(words: list[str]) -> list[list[Section]]:
    """Start ROS; returns the parameter files of the command line (raises InvalidSetting)."""
    files = read_parameter_files(words)
    rest = without_ros_arguments(NAME, words)
    if rest:
        raise InvalidSetting(f"unknown argument '{rest[0]}'; settings are given as "
                             "--ros-args -p <name>:=<value> (see --help)")
    start_ros(NAME, words)
    return files


HELP = """usage: inertial_id_node [--help] [--version] [--ros-args ROS_ARGUMENTS]

Identify online the mass, centre of mass and inertia of what a robot arm carries, from the wrench at
its wrist (or its joint torques), its joint states or TF, and its description.

settings are ROS parameters (docs/settings.md; config/ holds files for several drivers):
  inertial_id_node --ros-args --params-file ur.yaml -p estimator.method:=lmi
  ros2 launch inertial_id_ros identify.launch.py config:=ur

topics in    wrench.topic, joint_states.topic, tf.topic (and its _static), robot_description.topic
             (or dynamic_joint_states.topic)
topics out   ~/inertial_parameters  ~/summary  ~/inertia  ~/markers  ~/wrench_compensated
             ~/compensation_state  /diagnostics
services     ~/get_inertial_parameters  ~/set_shape  ~/set_tool  ~/tare  ~/untare  ~/reset  ~/save
             ~/apply
action       ~/identify
parameters   payload.mass  .com  .inertia  .sigma  .valid  .stale  .frame_id  .stamp

Exit status: 0 stopped by a signal, 2 a setting or an argument that cannot be used."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the node until SIGINT or SIGTERM; returns the exit status (2: a bad setting).

    Args:
        arguments: command line without the program's name; default: that of the process.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    own = set(takewhile(lambda word: word != "--ros-args", words))
    if {"-h", "--help"} & own:
        print(HELP)
        return 0
    if "--version" in own:
        print(f"inertial_id_ros {VERSION}")
        return 0
    from .main import run

    return exit_status(lambda: run(words))


if __name__ == "__main__":
    raise SystemExit(inertial_id_node())
