# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Settings of the wrench sensor."""

from __future__ import annotations

from dataclasses import dataclass

from .sensors import SENSORS, UNKNOWN
from .spec import Vector, setting

DRIFT_IN_AN_HOUR = 8.0  # over that in a minute: about the square root of 60, as it wanders


def _channels(name: str) -> tuple[property, property]:
    """What a setting with two numbers says of a force, and of a torque."""
    def of(k: int) -> property:
        return property(lambda settings: getattr(settings, name)[k])
    return of(0), of(1)


@dataclass(frozen=True)
class WrenchSettings:
    topic: str = setting("wrench", "Wrench topic (geometry_msgs/WrenchStamped).")
    convention: str = setting(
        "on_sensor", "Sign at rest: on_sensor reads the payload's weight (+m g: ATI, UR, Gazebo), "
        "on_environment its opposite (Franka).", choices=("on_sensor", "on_environment"))
    sensor_frame: str = setting(
        "", "Frame of the wrench; empty: the frame_id of the messages.")
    sensor: str = setting(
        "unknown", "Sensor whose data sheet gives noise, accuracy, gain error, cross-talk, drift "
        "and range where they are not set themselves (settings.md has the values); ideal: nothing "
        "but white noise and a constant bias.", choices=tuple(SENSORS))
    filter_cutoff: float = setting(
        0.0, "Cut-off of the low-pass that the sensor applies to its own readings, as its data "
        "sheet or driver says; what is compared with the wrench is then filtered alike. 0: not "
        "known; it is found where it matters.", unit="Hz", low=0.0)
    filter_order: int = setting(
        1, "Number of equal first-order stages of that low-pass.", low=1, high=2)
    noise: Vector = setting(
        UNKNOWN.noise, "Standard deviation of one sample of a force and of a torque (data sheet); "
        "corrected from the residual.", unit="N, N m", above=0.0, lengths=(2,), runtime=True)
    bias_sd: Vector = setting(
        (5.0, 0.5), "Standard deviation of the bias of a force and of a torque before any data.",
        unit="N, N m", above=0.0, lengths=(2,), runtime=True)
    range: Vector = setting(
        UNKNOWN.range, "Force and torque at which a channel saturates; 0: unknown.",
        unit="N, N m", low=0.0, lengths=(2,))
    accuracy: Vector = setting(
        UNKNOWN.accuracy, "What one force and one torque channel may be wrong by beside noise, "
        "bias, gain and cross-talk (non-linearity, hysteresis; one standard deviation).",
        unit="N, N m", low=0.0, lengths=(2,), runtime=True)
    gain_error: float = setting(
        UNKNOWN.gain_error, "Error of the gain of each channel, relative to its reading (one "
        "standard deviation).", low=0.0, high=0.5, runtime=True)
    cross_talk: float = setting(
        UNKNOWN.cross_talk, "What a channel reads of each other one (one standard deviation), "
        "both relative to their ranges.", low=0.0, high=0.5, runtime=True)
    drift: Vector = setting(
        UNKNOWN.drift, "How far the bias of a force and of a torque wanders in a minute (one "
        "standard deviation).", unit="N/min, N m/min", low=0.0, lengths=(2,), runtime=True)

    @property
    def sign(self) -> float:
        """Sign of the reading against the wrench on the payload, ``A phi``."""
        return -1.0 if self.convention == "on_sensor" else 1.0

    @property
    def drift_of_tare(self) -> tuple[float, float]:
        """How far the bias of a force and of a torque channel may have moved an hour after a tare
        (one standard deviation) [N, N m]; grows with the square root of the tare's age."""
        return DRIFT_IN_AN_HOUR * self.force_drift, DRIFT_IN_AN_HOUR * self.torque_drift

    force_noise, torque_noise = _channels("noise")
    force_bias_sd, torque_bias_sd = _channels("bias_sd")
    force_range, torque_range = _channels("range")
    force_accuracy, torque_accuracy = _channels("accuracy")
    force_drift, torque_drift = _channels("drift")
