# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The node in other surroundings: joint torques, two arms; the same recording played to the running
node and read offline gives the same answer."""

import json
import sys
import time
from array import array
from pathlib import Path

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
    stamp_of,
    wait_for_valid,
    wait_until_all_is_used,
)
from rclpy.duration import Duration
from rclpy.time import Time
from ros_process import LATCHED, Client, Stage, time_message, wait_until
from ros_process import NODE as PROGRAM
from rosbags.rosbag2 import Reader
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from torque_arm import FRAME, URDF, block, loaded, write_robot

from inertial_id_ros.apps.bag.identify_bag import main as identify_bag
from inertial_id_ros.apps.simulation.cobot import Scenario
from inertial_id_ros.apps.simulation.payload import PAYLOADS
from inertial_id_ros.apps.simulation.write import topics_of, write_bag
from inertial_id_ros.msg import InertialParameters
from inertial_id_ros.ros.program import message_type
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


@pytest.mark.slow
def test_each_of_two_arms_gets_its_own_payload_and_files(tmp_path):
    with Stage() as stage:
        client = stage.client
        got = {name: client.listen(InertialParameters, f"/{name}{PARAMETERS}") for name in CARRIED}
        statuses = client.listen(DiagnosticArray, "/diagnostics", 100)
        for name, payload in CARRIED.items():
            own = ("--ros-args", "-r", f"__ns:=/{name}")  # joint states of both are on one topic
            stage.start(sys.executable, "-m", "inertial_id_ros.cli", "simulate_cobot", "--prefix",
                        f"{name}_", "--payload", payload, "--rate", "100", "--speed", "1.5",
                        "--seed", str(len(stage.processes)), *own, "-r",
                        "joint_states:=/joint_states")
            stage.start(*PROGRAM, *own, "--params-file", str(ROOT / "config" / "simulation.yaml"),
                        "-p", f"wrench.sensor_frame:={name}_ft_sensor", "-p",
                        "joint_states.topic:=/joint_states", "-p", f"state.directory:={tmp_path}")
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


# ---- live and offline ----------------------------------------------------------------------------

DURATION = 6.0  # s
LOST = 0.7  # s of data that the live node may lack: its last estimate is up to .5 s earlier
CLOCK_PERIOD = 0.01  # s
READ = {"/wrench", "/ft_sensor/wrench", "/joint_states", "/robot_description", "/tf", "/tf_static"}


def play(client: Client, recording: Reader) -> None:
    """Publish at their times the messages that a node reads, with a /clock that is never ahead of
    the next one. So does ``ros2 bag play --clock``, which not every ROS of the tests has."""
    clock = client.node.create_publisher(Clock, "/clock", 10)
    publishers = {}
    for c in recording.connections:
        if c.topic in READ:
            latched = any(qos.durability.name == "TRANSIENT_LOCAL"
                          for qos in c.ext.offered_qos_profiles)
            publishers[c.topic] = client.node.create_publisher(
                message_type(c.msgtype), c.topic, LATCHED if latched else 100)
    used = [clock, *publishers.values()]
    wait_until(lambda: all(publisher.get_subscription_count() for publisher in used))
    began, next_clock = time.monotonic(), 0.0
    for connection, log_time, data in recording.messages():
        due = began + 1e-9 * (log_time - recording.start_time)
        while (now := time.monotonic()) < due or now >= next_clock:
            if now >= next_clock:
                recorded = recording.start_time + int(1e9 * (now - began))
                clock.publish(Clock(clock=Time(nanoseconds=min(recorded, log_time)).to_msg()))
                next_clock = now + CLOCK_PERIOD
            else:
                time.sleep(min(due, next_clock) - now)
        if connection.topic in publishers:
            publishers[connection.topic].publish(data)
    for publisher in used:
        publisher.wait_for_all_acked(Duration(seconds=1.0))


def live(bag: Path, report: dict, **parameters: str) -> InertialParameters:
    """Last message of the node while a recording is played at its own speed with /clock; played
    again where the middleware lost messages, as it does on a machine that has no time for it."""
    for _ in range(4):
        with Stage() as stage, Reader(bag) as recording:
            stage.start_node(use_sim_time="true", estimator__rate="2.0", **parameters)
            play(stage.client, recording)
            wait_until_all_is_used(stage)
            message = wait_for_valid(stage)
        if message.window > report["window"] - LOST:
            break
    return message


def offline(bag: Path, folder: Path, *options: str) -> dict:
    """The JSON report of identify_bag, with as many estimates a second as the node."""
    assert identify_bag([str(bag), "--json", str(folder / "out.json"),
                         "--set", "estimator.rate=2.0", *options]) in (0, 3)
    return json.loads((folder / "out.json").read_text())


def assert_same(message: InertialParameters, report: dict) -> None:
    """Mass to 0.1 %, centre of mass to 0.2 mm, on the offline estimate of the same time."""
    same = min((h for h in report["history"] if h["valid"]),
               key=lambda h: abs(1e9 * h["stamp"] - stamp_of(message)))
    assert abs(1e9 * same["stamp"] - stamp_of(message)) < 5e6
    assert message.inertia.m == pytest.approx(same["mass"], rel=1e-3)
    np.testing.assert_allclose(com_of(message.inertia), same["com"], atol=2e-4)


def test_a_simulated_recording_live_and_offline_agree(tmp_path: Path) -> None:
    """Joint states with a robot description, a biased sensor, a tilted base, the other sign."""
    convention = "on_environment"
    cobot = Scenario(payload="hammer", convention=convention, speed=1.5, tilt=(4.0, -3.0),
                     bias=(3.0, -2.0, 4.0, 0.1, -0.2, 0.05), rate=250.0)
    bag = tmp_path / "bag"
    write_bag(bag, topics_of(cobot.record(DURATION)))
    report = offline(bag, tmp_path, "--set", f"wrench.convention={convention}")
    assert report["mass"] == pytest.approx(cobot.carried.mass, rel=0.01)
    np.testing.assert_allclose(report["com"], cobot.carried.com, atol=2e-3)
    message = live(bag, report, wrench__convention=convention)
    assert_same(message, report)


def test_a_real_recording_live_and_offline_agree(tmp_path: Path, data_folder: Path) -> None:
    """TF alone, 700 Hz wrench of an ATI Gamma on a KUKA LBR Med."""
    bag = data_folder / "kuka_ati_gamma" / "baseline"
    report = offline(bag, tmp_path, "--set", "wrench.topic=/ft_sensor/wrench")
    assert report["mass"] == pytest.approx(0.933, rel=0.03)
    assert report["com"][2] == pytest.approx(0.0439, abs=2e-3)
    assert set(report["verdict"][4:]) == {"unobserved"}
    message = live(bag, report, wrench__topic="/ft_sensor/wrench")
    assert_same(message, report)
