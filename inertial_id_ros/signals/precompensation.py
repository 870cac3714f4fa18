# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The payload that a driver already removes from the wrench it publishes.

It is configured, or the driver states it while it runs. What is measured then adds to it, so that
the estimate is of both. Drivers zero the sensor when it changes: no earlier data count then.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from ..errors import InertialIdError, InvalidData, InvalidSetting, NotEnoughData
from ..findings import Missing
from ..inertia import PARAMETERS, Array, phi_from_body, tensor_from_six, transform_phi
from ..io.messages import DynamicJointStates
from ..settings import PrecompensatedSettings, Settings
from .message_adapter import FRANKA_STATE, PAYLOAD_STATES, InputTopic

# After a change, the driver's wrench and its statement may disagree for this long.
_SETTLING_NS = 600_000_000
SETTLED = -_SETTLING_NS  # stamp of a change so long ago that it does not matter
NOT_ADDED = "payload_not_added"  # finding
# The source of the removed payload that a topic of each type can be.
STATED_BY = {PAYLOAD_STATES: "dynamic_joint_states", FRANKA_STATE: "franka"}
_LEAST = 1e-3  # kg; less is no payload
_NOISE = 1e-6  # kg, m, kg m^2: smaller differences are rounding
Lookup = Callable[[str, str], tuple[Array, Array, int | None]]


class StatedPayload(NamedTuple):
    """What the driver states: frame; mass [kg], com (3,) [m], inertia about it (6,) [kg m^2]."""

    frame_id: str
    values: Array


def configured_payload(settings: Settings) -> Array:
    """phi (10,) of the configured payload in the sensor frame; zero where none is configured.

    Raises:
        InvalidSetting: no body has these values.
    """
    removed = settings.precompensated
    if removed.mass == 0.0:
        if any(removed.com) or any(removed.inertia):
            raise InvalidSetting(
                f"precompensated.mass is 0 kg, but precompensated.com is {list(removed.com)} and "
                f"precompensated.inertia is {list(removed.inertia)}; their payload needs a mass")
        return np.zeros(PARAMETERS)
    tensor = tensor_from_six(removed.inertia)
    if np.linalg.eigvalsh(0.5 * np.trace(tensor) * np.eye(3) - tensor)[0] < -1e-12:
        raise InvalidSetting(f"precompensated.inertia is {list(removed.inertia)} kg m^2; no body "
                             "has it (moments must not be negative, nor one above the other two)")
    return phi_from_body(removed.mass, removed.com, tensor)


def check_source(settings: PrecompensatedSettings, dynamic_topic: str) -> None:
    """Raise InvalidSetting where the source of the removed payload lacks its topic."""
    if settings.source in ("inertia", "franka") and not settings.topic:
        raise InvalidSetting(f"precompensated.source is '{settings.source}', and "
                             "precompensated.topic is empty; name the topic")
    if settings.source == "dynamic_joint_states" and not (dynamic_topic or settings.topic):
        raise InvalidSetting("precompensated.source is 'dynamic_joint_states', and "
                             "dynamic_joint_states.topic is empty, as is precompensated.topic; "
                             "name the topic in one of them")
    if settings.source != "settings" and settings.mass > 0.0:
        raise InvalidSetting(f"precompensated.mass is {settings.mass:g} kg, but "
                             f"precompensated.source is '{settings.source}'; give one of the two")


def may_be_not_added(settings: Settings) -> bool:
    """Whether nobody has said what the driver removes, although that may matter."""
    removed = settings.precompensated
    return (settings.load.source == "wrench" and removed.source == "settings"
            and removed.mass == 0.0)


def stated_mass(kind: InputTopic, message: Any, states: DynamicJointStates) -> float:
    """Mass [kg] of the payload that a message states to be configured; 0 where it states none."""
    if kind is FRANKA_STATE:
        mass = float(message.inertia_load.inertia.m)
    else:
        payload = states.split(message.joint_names, message.interface_values).payload
        mass = 0.0 if payload is None else payload[0]
    return mass if isfinite(mass) and mass > _LEAST else 0.0


def describe_not_added(topic: str, source: str, mass: float) -> str:
    """A sentence on a payload of this mass [kg] that is configured and was not asked for."""
    return (f"{topic} states that a payload of {mass:.3f} kg is configured on the robot, whose "
            "driver removes it from its own wrench, so that what is identified comes without it: "
            f"to add it, set precompensated.source={source} and precompensated.topic={topic} (and "
            "precompensated.frame, where it is given in another frame than the sensor's); if the "
            "wrench is of another sensor, set precompensated.source=none")


class Removed(NamedTuple):
    """What is removed from the wrench: phi (10,) in the sensor frame, and whether its weight only,
    not its inertial forces."""

    phi: Array
    weight_only: bool = False


class RemovedPayload:
    """The removed payload as known now.

    Attributes:
        weight_only: whether the driver removes its weight only, as far as known.
        missing: what it takes to know the payload; None where it is known.

    Raises:
        InvalidSetting: settings that no body has, or that contradict each other.
    """

    def __init__(self, settings: Settings) -> None:
        check_source(settings.precompensated, settings.dynamic_joint_states.topic)
        self._settings = settings.precompensated
        self.weight_only = self._settings.terms == "weight"
        self._told = False  # whether the motion has told that
        self._stated: StatedPayload | None = None
        self._phi: Array | None = None
        if self._settings.source in ("settings", "none"):
            self._phi = configured_payload(settings)
        self.missing = None if self._phi is not None else Missing(
            "waiting for the payload that the driver removes from the wrench "
            f"(precompensated.source is '{self._settings.source}')")

    def update(self, frame_id: str, values: Sequence[float]) -> str | None:
        """Use what the driver states now: mass, com (3) and inertia (6) in a frame.

        Returns:
            what changed, in words; None if nothing did, or nothing was known before.

        Raises:
            InvalidSetting: no body has these values.
        """
        stated = StatedPayload(self._settings.frame or frame_id.lstrip("/"),
                               np.array(values, dtype=float))
        before = self._stated
        if before is not None and before.frame_id == stated.frame_id and np.allclose(
                before.values, stated.values, rtol=0.0, atol=_NOISE):
            return None
        if not np.isfinite(stated.values).all() or stated.values[0] < 0.0:
            raise InvalidSetting("the driver states a payload of "
                                 f"{stated.values[0]:g} kg that cannot exist; it is ignored")
        self._stated, self._phi = stated, None
        if before is None:
            return None
        return (f"the payload that the driver removes changed from {before.values[0]:.3f} to "
                f"{stated.values[0]:.3f} kg")

    def describe(self) -> str | None:
        """A sentence on what is removed and who says so; None where nothing is."""
        if self._stated is not None:
            return (f"the driver removes a payload of {self._stated.values[0]:.3f} kg from the "
                    "wrench, as it reports itself")
        if self._settings.mass > 0.0:
            return (f"the payload of {self._settings.mass:.3f} kg that the driver removes from the "
                    "wrench is taken from precompensated.mass: the driver is not asked")
        return None

    def in_sensor(self, sensor_frame: str, lookup: Lookup) -> Removed | None:
        """What is removed, in the sensor frame; None while it is not known, or its frame cannot be
        related to the sensor, which `missing` then says. It is kept until the driver tells another.
        """
        if self._phi is None and self._stated is not None:
            try:
                self._phi = _phi_in_sensor_frame(self._stated, sensor_frame, lookup)
                self.missing = None
            except InertialIdError as error:
                self.missing = Missing("the payload that the driver removes is given in frame "
                                       f"'{self._stated.frame_id}', which cannot be related to "
                                       f"the sensor: {error}")
        return None if self._phi is None else Removed(self._phi, self.weight_only)

    def believe(self, weight_only: bool) -> bool:
        """Take the driver to remove the payload's weight only, or all; says whether that is new.

        It never is where the user has said what the driver removes, nor a second time: a motion
        that tells both is not to be trusted.
        """
        if self._settings.terms != "auto" or self._told or weight_only == self.weight_only:
            return False
        self.weight_only, self._told = weight_only, True
        return True

    def require_none(self) -> None:
        """Raise NotEnoughData where something is removed: the sensor's own reading is not known."""
        mass = 0.0 if self._phi is None else float(self._phi[0])
        if self.missing is not None or mass > 0.0:
            raise NotEnoughData(
                "tare needs the sensor's own reading, but the driver removes a payload from it "
                f"(of {mass:g} kg); set the driver's payload to zero first")


def is_settling(stamp_ns: Any, since: int) -> Any:
    """Whether wrenches are ignored after a change of the removed payload or the sensor's zero.

    Args:
        stamp_ns: of wrenches [ns], a number or an array (n,), as the result.
        since: stamp of the change [ns]; SETTLED: there was none.
    """
    return (stamp_ns >= since) & (stamp_ns < since + _SETTLING_NS)


def _phi_in_sensor_frame(stated: StatedPayload, sensor_frame: str, lookup: Lookup) -> Array:
    """phi (10,) about the sensor origin (raises InertialIdError where the frames are not fixed to
    each other)."""
    phi = phi_from_body(stated.values[0], stated.values[1:4], tensor_from_six(stated.values[4:]))
    if stated.frame_id in ("", sensor_frame):
        return phi
    rotation, translation, moment = lookup(sensor_frame, stated.frame_id)
    if moment is not None:
        raise InvalidData("it moves against the sensor")
    return transform_phi(phi, rotation, translation)
