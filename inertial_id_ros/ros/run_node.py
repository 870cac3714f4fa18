# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Runs the node as a program: from its arguments to a clean end."""

from __future__ import annotations

import sys
import time
from typing import Any

from rclpy.exceptions import ParameterException

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
from .settings.parameters import Section, read_parameter_files

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
