# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Settings of the node: what it publishes and hands over, which files it reads and writes, and
its life cycle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..errors import InvalidSetting
from .spec import setting


@dataclass(frozen=True)
class StateSettings:
    directory: str = setting(
        "~/.ros/inertial_id_ros", "The only folder in which files are written: estimates and tools "
        "that services write, and the state that outlives a run.")
    restore: bool = setting(
        True, "Begin with the tool, the bias and the estimate that an earlier run kept in "
        "state.directory.")


@dataclass(frozen=True)
class CompensationSettings:
    """The wrench without bias and payload, for each message as it comes."""

    terms: str = setting(
        "acceleration", "What of the payload is removed: gravity: its weight; velocity: also its "
        "centrifugal and gyroscopic forces; acceleration: also its other inertial forces.",
        choices=("gravity", "velocity", "acceleration"))
    frame: str = setting(
        "", "Frame, fixed to the sensor, in whose axes and about whose origin the compensated "
        "wrench is given; empty: that of the incoming wrench.")
    # Age of the estimate from which on a finding calls it old [s].
    max_age: ClassVar[float] = 120.0


@dataclass(frozen=True)
class MotionSettings:
    """Whether the arm may be moved to identify; the node itself moves nothing."""

    execute: bool = setting(
        False, "Whether identify_payload may move the arm beside this node, once a person agrees. "
        "A node that it starts allows it, unless its settings say otherwise.", runtime=True)


@dataclass(frozen=True)
class ApplySettings:
    """What ~/apply hands the payload to, and under which conditions (docs/apply.md)."""

    target: str = setting(
        "", "Driver or controller that takes the payload where a request of ~/apply names none; "
        "docs/apply.md lists them.", runtime=True)
    service: str = setting(
        "", "Its service, or the node whose parameters it sets (ros2_control); empty: that of the "
        "target with its default name.", runtime=True)
    topic: str = setting(
        "", "Topic on which the driver tells its payload; empty: that of the target with its "
        "default name.", runtime=True)
    frame: str = setting(
        "", "Frame in which the target wants the payload; empty: that of the target.",
        runtime=True)
    tool: str = setting(
        "", "Name (Doosan) or number (FANUC: of the payload schedule) of the tool in controllers "
        "that keep several; empty: inertial_id, or 1.", runtime=True)
    # A centre of mass that is sent lies no farther from the origin of its frame [m]: beyond that, a
    # frame or a unit is wrong.
    max_com: ClassVar[float] = 1.0
    # Speed of a joint below which the arm is at rest [rad/s or m/s]; nothing is sent in motion.
    rest_speed: ClassVar[float] = 0.02
    timeout: ClassVar[float] = 10.0  # longest wait for each answer of the target [s]

    @property
    def schedule(self) -> int:
        """Number of the payload schedule (raises InvalidSetting where `tool` is none)."""
        try:
            number = int(self.tool or 1)
        except ValueError:
            number = 0
        if not 1 <= number <= 100:
            raise InvalidSetting(f"apply.tool is '{self.tool[:100]}'; FANUC numbers its payload "
                                 "schedules: 1 to 100")
        return number


@dataclass(frozen=True)
class LifecycleSettings:
    """The life cycle of a managed node."""

    autostart: bool = setting(
        True, "Configure and activate the node when it starts; false: a lifecycle manager, or ros2 "
        "lifecycle set, does so.")
