# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Franka: ``set_load`` of franka_ros2, read back from the robot state.

The load hangs on the end effector that is set in Desk, and is given about the flange. The robot
takes it only while it is idle, that is while no controller holds command interfaces. The request
has had two forms: numbers, with the tensor column after column, and one
geometry_msgs/InertiaStamped.
"""

from __future__ import annotations

import math
from typing import Any

from ..inertia import Array, six_from_tensor, tensor_from_six
from ..settings import Settings
from .target import (
    Gate,
    Reading,
    Seen,
    ServiceCall,
    Sources,
    StateTopic,
    Target,
    TargetFrame,
    TargetPayload,
    TargetPlan,
    body_reading,
    unmeasured,
)

SERVICE, TYPE = "service_server/set_load", "franka_msgs/srv/SetLoad"
STATE = StateTopic("franka_robot_state_broadcaster/robot_state", "franka_msgs/msg/FrankaRobotState")
_ENTRIES = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
_IDLE = 1  # of FrankaRobotState.robot_mode


class Franka(Target):
    """The load of a Franka arm."""

    takes_tool = False
    needs_limits = True
    changes_wrench = True

    def sources(self, settings: Settings) -> Sources:
        return Sources({settings.apply.service or SERVICE: (TYPE,)},
                       STATE._replace(name=settings.apply.topic or STATE.name))

    def placement(self, settings: Settings, seen: Seen) -> TargetFrame:
        return TargetFrame(settings.apply.frame or "fr3_link8")

    def plan(self, payload: TargetPayload, settings: Settings, seen: Seen) -> TargetPlan:
        told = self.read(settings, seen)
        undo = None if told is None else (_call(
            settings, seen, payload.frame_id, told.values["mass"], told.values["com"],
            tensor_from_six(told.values["inertia"])),)
        notes = () if payload.inertia_is_known else (unmeasured("inertia"),)
        return TargetPlan((_call(settings, seen, payload.frame_id, payload.mass, payload.com,
                                 payload.inertia),),
                          body_reading(payload.mass, payload.com, payload.inertia), undo,
                          notes=notes)

    def ready(self, settings: Settings, seen: Seen) -> tuple[Gate, ...]:
        return (_idle(settings, seen),)

    def read(self, settings: Settings, seen: Seen) -> Reading | None:
        if seen.message is None:
            return None
        body = seen.message.inertia_load.inertia
        numbers = [float(getattr(body, name)) for name in ("m", *_ENTRIES)]
        com = [float(getattr(body.com, axis)) for axis in "xyz"]
        if not all(map(math.isfinite, [*numbers, *com])):
            return None
        return body_reading(numbers[0], com, tensor_from_six(numbers[1:]))


def _idle(settings: Settings, seen: Seen) -> Gate:
    """The robot refuses a load unless it is idle."""
    if seen.message is None:
        return Gate("idle", "the robot state is silent, so that it is not known whether the robot "
                    "is idle; start franka_robot_state_broadcaster")
    mode = int(seen.message.robot_mode)
    return Gate("idle", "" if mode == _IDLE else
                f"robot_mode is {mode}; the robot takes a load only in mode {_IDLE} (idle): "
                "deactivate the controllers that command it")


def _call(settings: Settings, seen: Seen, frame: str, mass: float, com: list[float],
          inertia: Array) -> ServiceCall:
    """The call in the form that the driver has."""
    service = settings.apply.service or SERVICE
    request: dict[str, Any] = {
        "mass": mass, "center_of_mass": com, "load_inertia": inertia.flatten(order="F").tolist()}
    if "mass" not in seen.fields.get(service, request):
        entries = dict(zip(_ENTRIES, six_from_tensor(inertia).tolist(), strict=True))
        request = {"load_inertia": {
            "header": {"frame_id": frame},
            "inertia": {"m": mass, "com": dict(zip("xyz", com, strict=True)), **entries}}}
    return ServiceCall(service, TYPE, request, reason="error")
