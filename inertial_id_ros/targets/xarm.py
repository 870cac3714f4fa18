# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""UFACTORY xArm: ``set_tcp_load`` of xarm_ros2, in millimetres. The driver tells no payload."""

from __future__ import annotations

from ..settings import Settings
from .calls import ServiceCall
from .payload import Payload
from .target import Placement, Plan, Seen, Sources, Target

SERVICE, TYPE = "xarm/set_tcp_load", "xarm_msgs/srv/SetTcpLoad"


class XArm(Target):
    """The TCP payload of an xArm, about its flange. The raw wrench of its sensor, from which the
    configuration of this package identifies, holds everything with any payload."""

    takes_tool = True
    needs_limits = True
    changes_wrench = False

    def sources(self, settings: Settings) -> Sources:
        return Sources({_service(settings): (TYPE,)})

    def placement(self, settings: Settings, seen: Seen) -> Placement:
        return Placement(settings.apply.frame or "link_eef")

    def plan(self, payload: Payload, settings: Settings, seen: Seen) -> Plan:
        request = {"weight": payload.mass, "center_of_gravity": payload.com_mm}
        return Plan(
            (ServiceCall(_service(settings), TYPE, request, ("ret", 0), "message"),),
            left_out=("the inertia: set_tcp_load takes none",),
            notes=("the controller forgets it when it restarts, unless its configuration is saved",)
        )


def _service(settings: Settings) -> str:
    return settings.apply.service or SERVICE
