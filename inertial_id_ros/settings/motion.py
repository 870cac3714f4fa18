# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Settings of the sensor's motion: its source and filters, gravity, errors of the set-up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .spec import Vector, setting


@dataclass(frozen=True)
class GravitySettings:
    frame: str = setting(
        "", "Frame whose z axis points up; empty: the root of the robot (with the fixed transforms "
        "above it), or of TF.")
    acceleration: float = setting(9.81, "Gravity.", unit="m/s^2", low=0.1, high=30.0)


@dataclass(frozen=True)
class KinematicsSettings:
    source: str = setting(
        "auto", "Motion of the sensor from joint_states with the URDF, or from tf alone; auto: "
        "joint_states where a robot description is there.",
        choices=("auto", "joint_states", "tf"))
    # Length of the local quartic through joint positions [s]; longer by itself for slow topics.
    window: ClassVar[float] = 0.15
    filter_window: float = setting(
        0.4, "Length of the Hann low-pass on both wrench and regressor.", unit="s",
        low=0.02, high=2.0)
    # A longer gap in the wrench starts a new filter segment [s].
    max_gap: ClassVar[float] = 0.5


@dataclass(frozen=True)
class AccelerationsSettings:
    """Measured motion: for recordings of accelerations, and for the estimator rtls."""

    noise: Vector = setting(
        (0.05, 0.5, 0.005), "Standard deviation of one sample of linear acceleration, of angular "
        "acceleration, and of angular velocity where the angular acceleration is its derivative; "
        "0: exact.", unit="m/s^2, rad/s^2, rad/s", low=0.0, lengths=(3,))


@dataclass(frozen=True)
class AlignmentSettings:
    """Small errors of the set-up that are estimated with the payload; 0 switches a group off."""

    rotation_sd: float = setting(
        0.5, "Standard deviation of the sensor's rotation against its frame, about each axis; "
        "0: taken as exact.", unit="deg", low=0.0, high=10.0)
    tilt_sd: float = setting(
        0.25, "Standard deviation of the tilt of gravity against its frame, about x and y; a tilt "
        "of four of them and 2 deg may be the pull of a cable, and widens the intervals. "
        "0: taken as exact.", unit="deg", low=0.0, high=10.0)
    orientation_sd: float = setting(
        0.4, "Standard deviation of what the robot description gets wrong in the orientation of "
        "the sensor's frame, about each axis (calibration of the arm), which no data tell; it "
        "widens the intervals. 0: exact.", unit="deg", low=0.0, high=10.0)
    position_sd: float = setting(
        0.002, "Standard deviation of the position of the sensor's origin in its frame, along each "
        "axis, which widens the interval of the centre of mass; 0: taken as exact.", unit="m",
        low=0.0, high=0.1)
    estimate_position: bool = setting(
        False, "Estimate the position of the sensor's origin from the motion: for fast motions and "
        "sensors without hysteresis, which looks like a displaced origin.")
    delay_sd: float = setting(
        0.05, "Standard deviation of the offset between the clocks of wrench and motion; "
        "0: taken as exact.", unit="s", low=0.0, high=0.2)
