# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The examples for ROS run beside the node and the simulated cobot, in the namespace of an arm."""

from __future__ import annotations

import re
import sys

import pytest

pytest.importorskip("rclpy")

from conftest import ROOT  # noqa: E402
from geometry_msgs.msg import Wrench  # noqa: E402
from ros_process import NODE, RosProcess, Stage, wait_until  # noqa: E402

pytestmark = pytest.mark.slow
IN_NAMESPACE = ("--ros-args", "-r", "__ns:=/arm")


def start(stage: Stage, *command: str) -> RosProcess:
    """A process of the stage."""
    stage.processes.append(RosProcess(stage.domain, *command))
    return stage.processes[-1]


def start_arm(stage: Stage, folder: str) -> None:
    """The simulated cobot with a hammer, and the node."""
    start(stage, sys.executable, "-m", "inertial_id_ros.ros.tools.simulate_cobot",
          "--payload", "hammer", "--rate", "200", *IN_NAMESPACE)
    start(stage, *NODE, *IN_NAMESPACE, "--params-file", str(ROOT / "config" / "simulation.yaml"),
          "-p", f"state.directory:={folder}")


def start_example(stage: Stage, name: str) -> RosProcess:
    """A file of examples/."""
    return start(stage, sys.executable, str(ROOT / "examples" / name), *IN_NAMESPACE)


def test_a_push_is_told_when_it_begins_and_when_it_ends(tmp_path):
    with Stage() as stage:
        start_arm(stage, str(tmp_path))
        example = start_example(stage, "detect_contact.py")
        example.wait_for_text("free")
        push = Wrench()
        push.force.y = 15.0
        stage.client.publish("/arm/simulate_cobot/push", push)
        example.wait_for_text("contact")
        stage.client.publish("/arm/simulate_cobot/push", Wrench())
        wait_until(lambda: example.text.rstrip().endswith("free") and "contact" in example.text)
        x, y, z = (float(v) for v in re.search(
            r"contact: [\d.]+ N, \(([-\d.]+), ([-\d.]+), ([-\d.]+)\) N in ft_sensor",
            example.text).groups())
        assert y > 4.0 and abs(x) < 3.0 and abs(z) < 3.0, example.text
