# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Every setting of the simulated cobot: default, unit, range and meaning, in one place; the command
line is made from this table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...cli import Parser
from ...settings.groups import SENSORS
from ...settings.spec import Vector, allowed_range, check, iter_group, setting
from .payload import PAYLOADS

COMMANDED = "commanded"
NO_ERRORS = "none"


@dataclass(frozen=True)
class CobotSettings:
    """What the arm carries, how it moves and what its sensors add to the truth.

    Raises:
        InvalidSetting: a value is outside its range; the text names it.
    """

    payload: str = setting("drill", "What it carries.", choices=tuple(PAYLOADS))
    motion: str = setting(
        "sinusoid", "How the arm moves; commanded: it rests in its pose, and offers what a driver "
        "does (FollowJointTrajectory, set_payload).", choices=("sinusoid", COMMANDED))
    stated_mass: float = setting(
        0.0, "Mass of the payload that a commanded arm's driver knows at first, a point 0.05 m "
        "before the sensor; the driver subtracts it from the wrench.", unit="kg", low=0.0)
    speed: float = setting(
        1.0, "Mean angular speed of the tool in sinusoids.", unit="rad/s", above=0.0, high=4.0)
    duration: float = setting(0.0, "Length of the simulation; 0: endless.", unit="s", low=0.0)
    rate: float = setting(
        500.0, "Samples of wrench and joint states a second.", unit="Hz", low=10.0, high=2000.0)
    convention: str = setting(
        "on_sensor", "Sign of the published wrench.", choices=("on_sensor", "on_environment"))
    noise: Vector = setting(
        (0.1, 0.005), "Standard deviations of the white noise of one force [N] and one torque "
        "[N m] sample.", low=0.0, lengths=(2,))
    sensor: str = setting(
        NO_ERRORS, "Sensor with the errors of whose data sheet the wrench is read: gains, "
        "cross-talk, bias drift, and its noise in place of `noise`; none: only what the "
        "other settings say.", choices=(NO_ERRORS, *SENSORS))
    bias: Vector = setting(
        (0.0,) * 6, "Reading of the unloaded sensor in the on_sensor sign: three forces [N], "
        "three torques [N m].", lengths=(6,))
    sensor_rotation_error: Vector = setting(
        (0.0, 0.0, 0.0), "Rotation vector of the sensor's true axes against its declared frame.",
        unit="deg", low=-180.0, high=180.0, lengths=(3,))
    clock_offset: float = setting(
        0.0, "A wrench stamped t was measured at t minus this.", unit="s", low=-1.0, high=1.0)
    encoder_noise: float = setting(
        1e-4, "Standard deviation of the white noise of one joint position; ten times as much "
        "a second in a velocity.", unit="rad", low=0.0, high=0.1)
    prefix: str = setting(
        "", "Put before the names of all joints and links (left_), for several arms.")
    tilt: Vector = setting(
        (0.0, 0.0), "Roll and pitch of the robot base against the world, declared in TF.",
        unit="deg", low=-180.0, high=180.0, lengths=(2,))
    tilt_error: Vector = setting(
        (0.0, 0.0), "Further roll and pitch of the base about the world's axes, not declared.",
        unit="deg", low=-45.0, high=45.0, lengths=(2,))
    seed: int = setting(0, "Seed of the noise.", low=0)

    def __post_init__(self) -> None:
        for name, value, spec in iter_group(self):
            check(name, value, spec)


def parse(parser: Parser, arguments: Sequence[str]) -> tuple[CobotSettings, dict[str, Any]]:
    """Settings from command-line words (without ROS arguments), and the other options of a parser.

    Raises:
        InvalidSetting: an unknown option, or a value that is not allowed.
    """
    def vector(text: str) -> Vector:
        return tuple(float(part) for part in text.split(","))

    options = list(iter_group(CobotSettings()))
    for name, default, spec in options:
        is_vector = isinstance(default, tuple)
        shown = ",".join(f"{v:g}" for v in default) if is_vector else default
        text = f"{spec.description} ({allowed_range(spec)}; default: {shown})"
        parser.add_argument(
            "--" + name.replace("_", "-"), dest=name, default=default, metavar="VALUE",
            type=vector if is_vector else type(default), help=text.replace("%", "%%"))
    given = vars(parser.parse_args(list(arguments)))
    return CobotSettings(**{name: given.pop(name) for name, _, _ in options}), given
