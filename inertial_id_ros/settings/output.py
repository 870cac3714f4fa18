# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Settings of what the node gives to controllers and drivers."""

from __future__ import annotations

from dataclasses import dataclass

from .spec import setting


@dataclass(frozen=True)
class CompensationSettings:
    """The wrench without bias and payload, for each message as it comes."""

    terms: str = setting(
        "acceleration", "What of the payload is removed: gravity: its weight; velocity: also its "
        "centrifugal and gyroscopic forces; acceleration: also its other inertial forces.",
        choices=("gravity", "velocity", "acceleration"))
    filter_time: float = setting(
        0.03, "Time constant of the causal filter of joint positions or poses that gives "
        "velocities and accelerations; three periods of slower ones.", unit="s", low=0.002,
        high=1.0)
    frame: str = setting(
        "", "Frame, fixed to the sensor, in whose axes and about whose origin the compensated "
        "wrench is given; empty: that of the incoming wrench.")
    blend_time: float = setting(
        0.3, "Time in which one load takes the place of another; longer by itself where the wrench "
        "would change faster than the sensor's noise.", unit="s", low=0.0, high=60.0, runtime=True)
    max_age: float = setting(
        120.0, "Age of the estimate from which on it is old.", unit="s", above=0.0,
        runtime=True)
    when_old: str = setting(
        "warn", "What happens with an old estimate: hold: it is used; warn: it is used, with a "
        "finding; stop: nothing is published.", choices=("hold", "warn", "stop"),
        runtime=True)
    unknown_payload: str = setting(
        "tool", "What is removed while a payload was gripped or released and is not known yet: "
        "tool: bias and tool; silent: nothing is published.", choices=("tool", "silent"),
        runtime=True)


@dataclass(frozen=True)
class ApplySettings:
    """What ~/apply hands the payload to, and under which conditions (docs/apply.md)."""

    target: str = setting(
        "", "Driver or controller that takes the payload where a request of ~/apply names none; "
        "docs/apply.md lists them.", runtime=True)
    service: str = setting(
        "", "Its service; empty: that of the target with its default name.", runtime=True)
    node: str = setting(
        "", "Node whose parameters it sets, for targets of ros2_control; empty: "
        "admittance_controller, or the broadcaster that wrench.topic belongs to.", runtime=True)
    topic: str = setting(
        "", "Topic on which the driver tells its payload; empty: that of the target with its "
        "default name.", runtime=True)
    frame: str = setting(
        "", "Frame in which the target wants the payload; empty: that of the target.",
        runtime=True)
    tool_name: str = setting(
        "inertial_id", "Name of the tool that is made in controllers that keep tools by name "
        "(Doosan).", runtime=True)
    schedule: int = setting(
        1, "Number of the payload schedule, for controllers that number them (FANUC).", low=1,
        high=100, runtime=True)
    max_mass: float = setting(
        0.0, "Largest mass that is sent; 0: load.rated_payload.", unit="kg", low=0.0, runtime=True)
    max_com: float = setting(
        0.5, "Farthest that a centre of mass that is sent may lie from the origin of its frame; "
        "0: any.", unit="m", low=0.0, runtime=True)
    max_inertia: float = setting(
        0.0, "Largest principal moment of an inertia that is sent; 0: any.", unit="kg m^2",
        low=0.0, runtime=True)
    rest_speed: float = setting(
        0.02, "Joint speed below which the arm is at rest; nothing is sent while it moves.",
        unit="rad/s or m/s", above=0.0, high=1.0, runtime=True)
    require_idle: bool = setting(
        True, "Send only while no controller moves the arm, to robots that accept it only then "
        "(Franka).", runtime=True)
    timeout: float = setting(
        5.0, "Longest wait for each answer of the target.", unit="s", low=0.1, high=60.0,
        runtime=True)
    automatic: bool = setting(
        False, "Send without being asked whenever mass or centre of mass differ from what was sent "
        "last by more than their verdict allows, and all conditions are met.", runtime=True)
    follow: bool = setting(
        False, "Set precompensated.mass, .com and .inertia to what a driver has taken and removes "
        "from its wrench from then on, and back with an undo (precompensated.source settings).",
        runtime=True)
    interval: float = setting(
        10.0, "Time between two attempts of apply.automatic.", unit="s", low=1.0, high=3600.0,
        runtime=True)
