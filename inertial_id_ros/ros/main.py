# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Main program of ``inertial_id_node``; the node itself is `node.InertialIdNode`.

It prints its help without loading the libraries, for which `cli` chooses the number of threads.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import takewhile

from ..arguments import VERSION
from ..cli import exit_status, inertial_id_node

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
    from .run import run

    return exit_status(lambda: run(words))


if __name__ == "__main__":
    raise SystemExit(inertial_id_node())
