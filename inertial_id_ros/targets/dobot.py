# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Dobot, controllers of version 4: ``SetPayload`` of DOBOT_6Axis_ROS2_V4, in millimetres. It tells
no payload."""

from __future__ import annotations

from ..settings import Settings
from .calls import ServiceCall
from .payload import Payload
from .target import Placement, Plan, Seen, Sources, Target

SERVICE, TYPE = "dobot_bringup_ros2/srv/SetPayload", "dobot_msgs_v4/srv/SetPayload"


class Dobot(Target):
    """The payload of a Dobot arm, about its flange."""

    takes_tool = True
    needs_limits = True
    changes_wrench = False

    def sources(self, settings: Settings) -> Sources:
        return Sources({_service(settings): (TYPE,)})

    def placement(self, settings: Settings, seen: Seen) -> Placement:
        return Placement(settings.apply.frame or "Link6")

    def plan(self, payload: Payload, settings: Settings, seen: Seen) -> Plan:
        request = {"load": payload.mass, **dict(zip("xyz", payload.com_mm, strict=True))}
        return Plan((ServiceCall(_service(settings), TYPE, request, ("res", 0)),),
                    left_out=("the inertia: SetPayload takes none",))


def _service(settings: Settings) -> str:
    return settings.apply.service or SERVICE
