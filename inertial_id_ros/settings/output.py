# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Settings of what the node gives to controllers."""

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
        0.5, "Time in which one load takes the place of another; longer by itself where the wrench "
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
