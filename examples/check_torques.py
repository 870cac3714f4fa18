# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Says whether an arm has the torque to follow a trajectory with what it carries.

Run it beside the node:  python examples/check_torques.py
It takes the robot description and the payload from their topics, and prints the largest torque of
each joint with and without the payload. A planner would check its own trajectory in place of
`plan`, and ask for a new payload each time: one that has expired says nothing about the next move.
Exit status: 0 the torques suffice, 1 they do not.
"""

import sys

import numpy as np
import pinocchio as pin
import rclpy
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import String

from inertial_id_ros.client import Payload, PayloadClient

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
DURATION = 0.8  # s for a move of 1.5 rad in every joint


def plan(joints: int, steps: int = 200) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Positions, velocities, accelerations (steps, joints) of a quintic, from rest to rest."""
    s = np.linspace(0.0, 1.0, steps)[:, np.newaxis]
    way = np.full((1, joints), 1.5)  # rad
    return (way * (10 * s**3 - 15 * s**4 + 6 * s**5) - 0.5 * way,
            way * (30 * s**2 - 60 * s**3 + 30 * s**4) / DURATION,
            way * (60 * s - 180 * s**2 + 120 * s**3) / DURATION**2)


def with_payload(robot: pin.Model, payload: Payload) -> pin.Model:
    """A copy of the robot that carries the payload; one of unknown inertia is a point mass."""
    loaded = robot.copy()
    frame = loaded.frames[loaded.getFrameId(payload.frame_id)]
    inertia = payload.inertia if payload.is_known("inertia") else np.zeros((3, 3))
    loaded.appendBodyToJoint(
        frame.parentJoint, pin.Inertia(payload.mass, payload.com, inertia), frame.placement)
    return loaded


def peak_torques(model: pin.Model, plan: tuple[np.ndarray, ...]) -> np.ndarray:
    """Largest torque of each joint along a trajectory (joints,) [N m]."""
    data = model.createData()
    return np.max([abs(pin.rnea(model, data, *at)) for at in zip(*plan, strict=True)], axis=0)


def main() -> int:
    """Wait for robot and payload, check, print."""
    rclpy.init()
    node = rclpy.create_node("check_torques")
    descriptions: list[str] = []
    node.create_subscription(
        String, "robot_description", lambda message: descriptions.append(message.data), LATCHED)
    client = PayloadClient(node, "inertial_id_node/inertial_parameters", require="com")
    while not (descriptions and (payload := client.newest())):
        rclpy.spin_once(node, timeout_sec=0.5)
    node.destroy_node()
    rclpy.shutdown()

    robot = pin.buildModelFromXML(descriptions[-1])
    trajectory = plan(robot.nv)
    empty = peak_torques(robot, trajectory)
    loaded = peak_torques(with_payload(robot, payload), trajectory)
    print(f"largest torque [N m], without and with the payload of {payload.mass:.3f} kg")
    for name, *row in zip(list(robot.names)[1:], empty, loaded, robot.effortLimit, strict=True):
        print("{:24} {:6.1f} {:6.1f}  limit {:g}".format(name, *row))
    suffices = bool((loaded <= robot.effortLimit).all())
    print("the torques suffice" if suffices else "the torques do not suffice: move more slowly")
    return 0 if suffices else 1


if __name__ == "__main__":
    sys.exit(main())
