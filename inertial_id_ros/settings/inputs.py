# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Settings of where the data come from: topics, files, and what measures the load."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .spec import setting


@dataclass(frozen=True)
class LoadSettings:
    """Where the load of the payload is measured: in a wrist sensor, or in the joints."""

    robot: str = setting(
        "", "Robot file of identify_robot: the load is measured by the efforts of the joint "
        "states, relative to the robot without payload that the file holds. They must be torques "
        "(Franka, KUKA iiwa), or motor currents (UR) where it was identified from currents; "
        "wrench.sensor_frame is then the link in which the payload is given. Empty: a sensor in "
        "the wrist measures it.")
    # What the friction of a joint may have changed since the robot was identified, relative to it
    # (one standard deviation).
    friction_drift: ClassVar[float] = 0.05
    rated_payload: float = setting(
        0.0, "Payload for which the robot is made; much more than that makes the units of the "
        "wrench suspect. 0: not known.", unit="kg", low=0.0)
    reference_mass: float = setting(
        0.0, "Mass of what is carried now (beside the tool, if one is stored), where it was "
        "weighed or a data sheet tells it. An estimate that contradicts it shows wrong units, gain "
        "or sign, which wrench and motion alone cannot tell. 0: not known.", unit="kg", low=0.0,
        runtime=True)

    @property
    def source(self) -> str:
        """What measures the load: ``wrench`` or ``joint_torque``."""
        return "joint_torque" if self.robot else "wrench"


@dataclass(frozen=True)
class JointStatesSettings:
    topic: str = setting("joint_states", "Joint state topic (sensor_msgs/JointState).")


@dataclass(frozen=True)
class DynamicJointStatesSettings:
    """Wrench and joints in one message; needs wrench.sensor_frame, which that does not carry."""

    topic: str = setting(
        "", "Topic with wrench and joint states (control_msgs/DynamicJointState), used in place of "
        "wrench.topic and joint_states.topic; empty: those two.")
    sensor: str = setting("tcp_fts_sensor", "Name of the force-torque sensor in it.")
    payload: str = setting("payload", "Name of the driver's payload in it.")


@dataclass(frozen=True)
class RobotDescriptionSettings:
    topic: str = setting("robot_description", "URDF topic (std_msgs/String, transient local).")
    file: str = setting("", "URDF file to use in place of the topic; empty: the topic.")


@dataclass(frozen=True)
class TfSettings:
    topic: str = setting(
        "/tf", "Transforms (tf2_msgs/TFMessage); static ones are read from the same name with "
        "_static behind it.")

    @property
    def static_topic(self) -> str:
        """Topic of static transforms (transient local), which stands beside that of the others."""
        return f"{self.topic}_static"
