# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The examples for ROS run beside the node and the simulated cobot, in the namespace of an arm."""

from __future__ import annotations

import re
import sys

import numpy as np
import pinocchio as pin
import pytest

pytest.importorskip("rclpy")

from conftest import ROOT  # noqa: E402
from geometry_msgs.msg import Wrench  # noqa: E402
from ros_process import NODE, RosProcess, Stage, wait_until  # noqa: E402

from inertial_id_ros.apps.simulation.description import load_description  # noqa: E402
from inertial_id_ros.apps.simulation.payload import load_payload  # noqa: E402

pytestmark = pytest.mark.slow
IN_NAMESPACE = ("--ros-args", "-r", "__ns:=/arm")


def start(stage: Stage, *command: str) -> RosProcess:
    """A process of the stage."""
    stage.processes.append(RosProcess(stage.domain, *command))
    return stage.processes[-1]


def start_arm(stage: Stage, folder: str) -> None:
    """The simulated cobot with a hammer, and the node."""
    start(stage, sys.executable, "-m", "inertial_id_ros.ros.tools.simulate_cobot", *IN_NAMESPACE,
          "-p", "payload:=hammer", "-p", "rate:=200.0")
    start(stage, *NODE, *IN_NAMESPACE, "--params-file", str(ROOT / "config" / "simulation.yaml"),
          "-p", f"state.directory:={folder}")


def start_example(stage: Stage, name: str) -> RosProcess:
    """A file of examples/."""
    return start(stage, sys.executable, str(ROOT / "examples" / name), *IN_NAMESPACE)


def torque_at_the_start(joint: int) -> float:
    """By hand what the payload adds to the torque of a joint at the first pose of the example,
    where the arm is at rest and accelerates by nothing: weight times arm [N m]."""
    model, payload = pin.buildModelFromXML(load_description().urdf), load_payload("hammer")
    data, q = model.createData(), np.full(model.nq, -0.75)
    pin.framesForwardKinematics(model, data, q)
    com = data.oMf[model.getFrameId("ft_sensor")].act(payload.com)
    pivot = data.oMi[joint]
    weight = np.array([0.0, 0.0, -9.81 * payload.mass])
    return -float(np.cross(com - pivot.translation, weight) @ pivot.rotation[:, 2])


def test_the_torques_of_a_trajectory_are_checked_with_the_payload(tmp_path):
    import runpy

    example = runpy.run_path(str(ROOT / "examples" / "check_torques.py"))
    with Stage() as stage:
        start_arm(stage, str(tmp_path))
        status, text = start_example(stage, "check_torques.py").finish()
    rows = {name: [float(x) for x in numbers] for name, *numbers in re.findall(
        r"^(\w+_joint) +([\d.]+) +([\d.]+) +limit ([\d.]+)$", text, re.M)}
    model = pin.buildModelFromXML(load_description().urdf)
    assert list(rows) == list(model.names)[1:], text
    truth, loaded = load_payload("hammer"), model.copy()
    frame = model.frames[model.getFrameId("ft_sensor")]
    loaded.appendBodyToJoint(frame.parentJoint, pin.Inertia(
        truth.mass, truth.com, truth.inertia_com), frame.placement)
    assert float(re.search(r"payload of ([\d.]+) kg", text)[1]) == pytest.approx(
        truth.mass, rel=0.03)
    for column, robot in enumerate((model, loaded)):
        peaks = example["peak_torques"](robot, example["plan"](model.nv))
        np.testing.assert_allclose(
            [row[column] for row in rows.values()], peaks, rtol=0.03, atol=0.3)
    peaks, limits = np.array([row[1:] for row in rows.values()]).T
    assert status == int((peaks > limits).any()), text


def test_the_payload_adds_its_weight_times_its_arm():
    import runpy

    from inertial_id_ros.ros.payload_client import Payload

    example = runpy.run_path(str(ROOT / "examples" / "check_torques.py"))
    model, truth = pin.buildModelFromXML(load_description().urdf), load_payload("hammer")
    payload = Payload(truth.mass, truth.com, truth.inertia_com, np.zeros((10, 10)), (2,) * 10,
                      "ft_sensor", False, 0, 0, 0.0, 0.0)
    loaded, start = example["with_payload"](model, payload), [x[0] for x in example["plan"](6)]
    added = (pin.rnea(loaded, loaded.createData(), *start)
             - pin.rnea(model, model.createData(), *start))
    np.testing.assert_allclose(
        added, [torque_at_the_start(joint) for joint in range(1, 7)], atol=1e-9)


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
