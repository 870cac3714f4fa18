# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Two arms in one ROS graph: a node for each, in a namespace, with a prefix before all names."""

from __future__ import annotations

import sys

import numpy as np
import pytest

pytest.importorskip("rclpy")

from conftest import ROOT  # noqa: E402
from diagnostic_msgs.msg import DiagnosticArray  # noqa: E402
from ros_process import NODE, RosProcess, Stage  # noqa: E402

from inertial_id_ros.apps.simulation.payload import load_payload  # noqa: E402
from inertial_id_ros.msg import InertialParameters  # noqa: E402
from inertial_id_ros.srv import Save  # noqa: E402

PAYLOADS = {"left": "hammer", "right": "drill"}
COBOT = (sys.executable, "-m", "inertial_id_ros.ros.tools.simulate_cobot")


def start_arm(stage: Stage, name: str, folder: str) -> None:
    """A simulated cobot and its node; the joint states of all arms come on one topic."""
    stage.processes.append(RosProcess(
        stage.domain, *COBOT, "--prefix", f"{name}_", "--payload", PAYLOADS[name], "--rate", "100",
        "--speed", "1.5", "--seed", str(len(stage.processes)), "--ros-args",
        "-r", f"__ns:=/{name}", "-r", "joint_states:=/joint_states"))
    stage.processes.append(RosProcess(
        stage.domain, *NODE, "--ros-args", "-r", f"__ns:=/{name}",
        "--params-file", str(ROOT / "config" / "simulation.yaml"),
        "-p", f"wrench.sensor_frame:={name}_ft_sensor", "-p", "joint_states.topic:=/joint_states",
        "-p", f"state.directory:={folder}"))


def known(messages: list[InertialParameters]) -> bool:
    """Whether the newest message tells mass and centre of mass."""
    identified = InertialParameters.IDENTIFIED
    return bool(messages) and messages[-1].valid and all(
        v == identified for v in messages[-1].verdict[:4])


@pytest.mark.slow
def test_each_of_two_arms_gets_its_own_payload_and_files(tmp_path):
    with Stage() as stage:
        client = stage.client
        got = {name: client.listen(InertialParameters, f"/{name}/inertial_id_node"
                                   "/inertial_parameters") for name in PAYLOADS}
        statuses = client.listen(DiagnosticArray, "/diagnostics", 100)
        for name in PAYLOADS:
            start_arm(stage, name, str(tmp_path))
        client.spin_until(lambda: all(map(known, got.values())))

        for name, payload in PAYLOADS.items():
            message, truth = got[name][-1], load_payload(payload)
            assert message.header.frame_id == f"{name}_ft_sensor"
            sigma = np.sqrt(np.diag(message.covariance.reshape(10, 10)))
            body = message.inertia
            found = np.array([body.m, body.com.x, body.com.y, body.com.z])
            right = np.r_[truth.mass, truth.com]
            assert (abs(found - right) < 4.0 * sigma[:4]).all(), (name, found, right, sigma)
            other = load_payload(PAYLOADS["left" if name == "right" else "right"])
            assert abs(found[0] - other.mass) > 10.0 * sigma[0]

            answer = client.call(Save, f"/{name}/inertial_id_node/save")
            assert answer.success, answer.message
            assert answer.path == str(tmp_path / "saves" / f"{name}.inertial_parameters.json")

        client.spin_until(lambda: {f"{name}/inertial_id_node: estimate" for name in PAYLOADS} <= {
            status.name for message in statuses for status in message.status})
