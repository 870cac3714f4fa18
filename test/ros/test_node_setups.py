# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The node in other surroundings: joint torques, no optional packages, two arms, examples."""

import sys
import time
from array import array

import numpy as np
import pytest
from conftest import ROOT
from diagnostic_msgs.msg import DiagnosticArray
from node_client import (
    NODE,
    PARAMETERS,
    com_of,
    is_known,
    is_physical,
    wait_for_valid,
    wait_until_all_is_used,
)
from ros_process import LATCHED, Stage, time_message
from ros_process import NODE as PROGRAM
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from torque_arm import FRAME, URDF, block, loaded, write_robot

from inertial_id_ros.apps.simulation.payload import PAYLOADS
from inertial_id_ros.msg import InertialParameters
from inertial_id_ros.srv import Save

CARRIED = {"left": "hammer", "right": "drill"}


def test_the_payload_is_found_from_efforts(tmp_path):
    """Twelve seconds of motion of an arm without a force-torque sensor."""
    robot, truth = write_robot(tmp_path / "arm.robot"), block(2.0)
    with Stage() as stage:
        stage.start_node(load__robot=str(robot), wrench__sensor_frame=FRAME,
                         state__directory=str(tmp_path))
        stage.client.publish("/robot_description", String(data=URDF), LATCHED)
        stamps, names, *rows, _ = loaded(2.0, 1)
        offset = time.time_ns() - stamps[0]
        for stamp, q, effort in zip(stamps.tolist(), *rows, strict=True):
            message = JointState(name=list(names), position=array("d", q),
                                 effort=array("d", effort))
            message.header.stamp = time_message(offset + stamp)
            stage.client.publish("/joint_states", message, 1000)
            time.sleep(0.0008)
        wait_until_all_is_used(stage)
        message = wait_for_valid(stage)
    assert is_physical(message.inertia) and message.header.frame_id == FRAME
    assert message.inertia.m == pytest.approx(2.0, rel=0.03)
    np.testing.assert_allclose(com_of(message.inertia), truth.com, atol=0.010)


def start_arm(stage: Stage, name: str, payload: str, folder: str, prefix: str = "") -> None:
    """A simulated cobot and its node in a namespace; the joint states of all arms come on one
    topic."""
    own = ("--ros-args", "-r", f"__ns:=/{name}")
    stage.start(sys.executable, "-m", "inertial_id_ros.cli", "simulate_cobot",
          *(("--prefix", prefix) if prefix else ()), "--payload", payload, "--rate", "100",
          "--speed", "1.5", "--seed", str(len(stage.processes)), *own,
          "-r", "joint_states:=/joint_states")
    stage.start(*PROGRAM, *own, "--params-file", str(ROOT / "config" / "simulation.yaml"),
          "-p", f"wrench.sensor_frame:={prefix}ft_sensor", "-p",
          "joint_states.topic:=/joint_states", "-p", f"state.directory:={folder}")


@pytest.mark.slow
def test_each_of_two_arms_gets_its_own_payload_and_files(tmp_path):
    with Stage() as stage:
        client = stage.client
        got = {name: client.listen(InertialParameters, f"/{name}{PARAMETERS}") for name in CARRIED}
        statuses = client.listen(DiagnosticArray, "/diagnostics", 100)
        for name, payload in CARRIED.items():
            start_arm(stage, name, payload, str(tmp_path), f"{name}_")
        client.spin_until(lambda: all(heard and is_known(heard[-1]) for heard in got.values()))
        for name, payload in CARRIED.items():
            message, truth = got[name][-1], PAYLOADS[payload]
            assert message.header.frame_id == f"{name}_ft_sensor"
            sigma = np.sqrt(np.diag(message.covariance.reshape(10, 10)))
            found = np.r_[message.inertia.m, com_of(message.inertia)]
            right = np.r_[truth.mass, truth.com]
            assert (abs(found - right) < 4.0 * sigma[:4]).all(), (name, found, right, sigma)
            other = PAYLOADS[CARRIED["left" if name == "right" else "right"]]
            assert abs(found[0] - other.mass) > 10.0 * sigma[0]
            answer = client.call(Save, f"/{name}{NODE}/save")
            assert answer.success, answer.message
            assert answer.path == str(tmp_path / "saves" / f"{name}.inertial_parameters.json")
        client.spin_until(lambda: {f"{name}{NODE}: estimate" for name in CARRIED} <= {
            status.name for message in statuses for status in message.status})
