# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""FANUC: a payload schedule, by ``set_payload_comp`` or ``set_payload_value`` of fanuc_driver.

``set_payload_comp`` is for CRX robots, where ``set_payload_value`` ends streaming and asks for a
power cycle. Which of them is called, the name of the service says. Neither tells what was set.
"""

from __future__ import annotations

import posixpath
from typing import Any

from ..settings import Settings
from .calls import ServiceCall
from .payload import Payload
from .target import Placement, Plan, Seen, Sources, Target, unmeasured

SERVICE = "fanuc_gpio_controller/set_payload_comp"
COMP, VALUE = "fanuc_msgs/srv/SetPayloadComp", "fanuc_msgs/srv/SetPayloadValue"


class Fanuc(Target):
    """A payload schedule of a FANUC robot, about its flange."""

    takes_tool = True
    needs_limits = True
    changes_wrench = False

    def sources(self, settings: Settings) -> Sources:
        return Sources({_service(settings): (COMP, VALUE)})

    def placement(self, settings: Settings, seen: Seen) -> Placement:
        return Placement(settings.apply.frame or "fanuc_flange")

    def plan(self, payload: Payload, settings: Settings, seen: Seen) -> Plan:
        service = _service(settings)
        by_name = VALUE if posixpath.basename(service) == "set_payload_value" else COMP
        kind = seen.types.get(service, by_name)
        request: dict[str, Any] = {
            "payload_schedule_id": settings.apply.schedule, "mass": payload.mass,
            **{f"cg_{axis}": x for axis, x in zip("xyz", payload.com, strict=True)}}
        left_out = ["the products of inertia: it takes the moments about the axes only"]
        notes = _notes(kind)
        if kind == VALUE:
            request["use_in"] = payload.inertia_is_known
        if payload.inertia_is_known or kind == COMP:
            request |= {f"in_{axis}": x for axis, x in zip(
                "xyz", payload.inertia.diagonal().tolist(), strict=True)}
        if not payload.inertia_is_known and kind == VALUE:
            left_out = ["the inertia: it is unobserved"]
        elif not payload.inertia_is_known:
            notes += (unmeasured("moments of inertia"),)
        return Plan((ServiceCall(service, kind, request, ("result", 0)),),
                    left_out=tuple(left_out), notes=notes)


def _service(settings: Settings) -> str:
    return settings.apply.service or SERVICE


def _notes(kind: str) -> tuple[str, ...]:
    """What the service does beside setting the payload."""
    if kind == VALUE:
        return ("on a CRX this ends streaming, and needs DCS apply and a power cycle",)
    return ("it takes effect only for the schedule in use, with payload compensation enabled",)
