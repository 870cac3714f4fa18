# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Universal Robots: ``set_payload`` of ur_robot_driver, read back from /dynamic_joint_states.

The request has had three forms: mass and centre of mass (ur_msgs up to 2.5); with the inertia as
well (2.6); one geometry_msgs/Inertia (Rolling). Drivers up to 3.8, 4.8 and 6.0 drop the inertia of
the second form without a word. Those that read it also export ``payload/inertia.ixx``: only then is
it sent.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..inertia import Array, six_from_tensor, tensor_from_six
from ..io.messages import DynamicJointStates
from ..settings import Settings
from .ratings import UNIVERSAL_ROBOTS
from .target import (
    ArmDriver,
    Gate,
    Reading,
    Seen,
    ServiceCall,
    Sources,
    TargetPayload,
    TargetPlan,
    WatchedTopic,
    body_reading,
)

STATES = "dynamic_joint_states"
_ENTRIES = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
_LARGEST = 133.0  # kg m^2, of the script function set_target_payload


class UniversalRobots(ArmDriver):
    """The payload of a Universal Robots arm, about its tool flange."""

    changes_wrench = True
    ratings = UNIVERSAL_ROBOTS
    service, frame = "io_and_status_controller/set_payload", "tool0"
    types = ("ur_msgs/srv/SetPayload",)

    def sources(self, settings: Settings) -> Sources:
        topic = settings.apply.topic or settings.dynamic_joint_states.topic or STATES
        return Sources({self.service_name(settings): self.types},
                       WatchedTopic(topic, "control_msgs/msg/DynamicJointState"))

    def plan(self, payload: TargetPayload, settings: Settings, seen: Seen) -> TargetPlan:
        told = self.read(settings, seen)
        inertia, left_out = _inertia_to_send(payload, self._fields(settings, seen), told)
        undo = None
        if told is not None:
            before = told.values.get("inertia")
            undo = (self._call(settings, seen, told.values["mass"], told.values["com"],
                               None if before is None else tensor_from_six(before)),)
        largest = 0.0 if inertia is None else float(np.abs(inertia).max())
        too_large = Gate("largest_inertia", f"an entry of the inertia is {largest:.4g} kg m^2; the "
                         f"robot takes up to {_LARGEST:g}" if largest > _LARGEST else "")
        return TargetPlan((self._call(settings, seen, payload.mass, payload.com, inertia),),
                          body_reading(payload.mass, payload.com, inertia), undo, left_out,
                          (too_large,))

    def read(self, settings: Settings, seen: Seen) -> Reading | None:
        if seen.message is None:
            return None
        payload = DynamicJointStates(settings.dynamic_joint_states).split(
            seen.message.joint_names, seen.message.interface_values).payload
        if payload is None or not all(map(math.isfinite, payload)):
            return None
        exported = _exports_inertia(settings, seen.message)
        return body_reading(payload[0], list(payload[1:4]),
                            tensor_from_six(payload[4:]) if exported else None)

    def _fields(self, settings: Settings, seen: Seen) -> set[str]:
        """Fields of the request; of the second form where its package is not installed."""
        return set(seen.fields.get(self.service_name(settings),
                                   ("mass", "center_of_gravity", *_ENTRIES)))

    def _call(self, settings: Settings, seen: Seen, mass: float, com: list[float],
              inertia: Array | None) -> ServiceCall:
        """The call in the form that the driver has: flat fields, or one geometry_msgs/Inertia.

        Args:
            mass: [kg]; com: [m]; inertia: (3, 3) about it [kg m^2], or None to leave it out.
        """
        names, service = self._fields(settings, seen), self.service_name(settings)
        com_field = dict(zip("xyz", com, strict=True))
        entries = {} if inertia is None else dict(
            zip(_ENTRIES, six_from_tensor(inertia).tolist(), strict=True))
        request: dict[str, Any] = (
            {"payload": {"m": mass, "com": com_field, **entries}} if "payload" in names
            else {"mass": mass, "center_of_gravity": com_field, **entries})
        return ServiceCall(service, self.types[0], request)


def _exports_inertia(settings: Settings, message: Any) -> bool:
    """Whether a message of the joint states holds the inertia of the payload."""
    return any(name == settings.dynamic_joint_states.payload
               and "inertia.ixx" in values.interface_names
               for name, values in zip(message.joint_names, message.interface_values,
                                       strict=False))


def _inertia_to_send(payload: TargetPayload, fields: set[str],
                     told: Reading | None) -> tuple[Array | None, tuple[str, ...]]:
    """The inertia that is sent, or None and why it is left out."""
    if not {"ixx", "payload"} & fields:
        return None, ("the inertia: ur_msgs of this driver has no field for it",)
    if told is None or "inertia" not in told.values:
        return None, ("the inertia: payload/inertia.ixx is not among the joint states, so that "
                      "this driver would drop it",)
    if not payload.inertia_is_known:
        return None, ("the inertia: it is unobserved; the robot takes it for zero",)
    return payload.inertia, ()
