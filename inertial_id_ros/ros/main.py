# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Main program of ``inertial_id_node``: from the start of ROS to a clean end of the node."""

from __future__ import annotations

import os
import sys
import threading
from argparse import RawDescriptionHelpFormatter
from collections.abc import Sequence

import rclpy
from rclpy.exceptions import ParameterException
from rclpy.executors import MultiThreadedExecutor

from ..cli import Parser, exit_status
from ..errors import InvalidSetting
from .node import NAME, InertialIdNode
from .program import spin, start_ros, stop_flag

THREADS = 10  # more than callbacks that may wait at once: with all of them waiting, rclpy spins
RESULT_TIME = 0.3  # s to deliver what the node says at its end, as the result of an aborted goal
DESCRIPTION = """\
Identify online the mass, centre of mass and inertia of what a robot arm carries, from the wrench at
its wrist (or its joint torques), its joint states or TF, and its description.

settings are ROS parameters (docs/settings.md; config/ holds files for several drivers):
  inertial_id_node --ros-args --params-file ur.yaml -p estimator.method:=lmi
topics, services, the action and the parameters payload.*: docs/interfaces.md

Exit status: 0 stopped by a signal, 2 a setting or an argument that cannot be used."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the node until SIGINT or SIGTERM; returns the exit status (2: a bad setting). The command
    line is without the program's name; default: that of the process."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    return exit_status(lambda: _run(words))


def _run(words: list[str]) -> int:
    """Run the node with these arguments (raises InertialIdError where one cannot be used)."""
    Parser(prog=NAME, description=DESCRIPTION, formatter_class=RawDescriptionHelpFormatter,
           usage="%(prog)s [--help] [--version] [--ros-args ROS_ARGUMENTS]"
           ).parse_args(start_ros(NAME, words))
    stop = stop_flag()  # rclpy's own handlers would end ROS before the last messages are out
    try:
        node = InertialIdNode()
    except ParameterException as error:
        raise InvalidSetting(str(error)) from error
    executor = MultiThreadedExecutor(THREADS)
    executor.add_node(node)

    try:
        node.autostart()
        spin(executor, stop)
    finally:
        node.close()
        spin(executor, threading.Event(), RESULT_TIME)
        rclpy.try_shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)  # a solver or a service that has not come to its end must not keep it
