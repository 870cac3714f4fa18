# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Drivers that a service tells a payload, and that tell none: Dobot, Doosan, FANUC, xArm."""

from __future__ import annotations

import posixpath
from typing import Any

from ..settings import Settings
from .target import (
    Seen,
    ServiceCall,
    Sources,
    Target,
    TargetFrame,
    TargetPayload,
    TargetPlan,
    unmeasured,
)

DOBOT, DOBOT_TYPE = "dobot_bringup_ros2/srv/SetPayload", "dobot_msgs_v4/srv/SetPayload"


class Dobot(Target):
    """The payload of a Dobot arm, about its flange, in millimetres: ``SetPayload`` of
    DOBOT_6Axis_ROS2_V4, for controllers of version 4."""

    takes_tool = True
    needs_limits = True
    changes_wrench = False

    def sources(self, settings: Settings) -> Sources:
        return Sources({settings.apply.service or DOBOT: (DOBOT_TYPE,)})

    def placement(self, settings: Settings, seen: Seen) -> TargetFrame:
        return TargetFrame(settings.apply.frame or "Link6")

    def plan(self, payload: TargetPayload, settings: Settings, seen: Seen) -> TargetPlan:
        request = {"load": payload.mass, **dict(zip("xyz", payload.com_mm, strict=True))}
        service = settings.apply.service or DOBOT
        return TargetPlan((ServiceCall(service, DOBOT_TYPE, request, ("res", 0)),),
                          left_out=("the inertia: SetPayload takes none",))


DOOSAN = "dsr01/dsr_controller2/tool/config_create_tool"
_TYPES = {name: f"dsr_msgs2/srv/{kind}" for name, kind in (
    ("config_create_tool", "ConfigCreateTool"), ("config_delete_tool", "ConfigDeleteTool"),
    ("set_current_tool", "SetCurrentTool"), ("get_current_tool", "GetCurrentTool"))}


class Doosan(Target):
    """The tool weight of a Doosan arm, about its flange: a tool of the controller, made by
    ``config_create_tool`` and chosen by ``set_current_tool`` of doosan-robot2.

    The controller tells the name of its tool only. A new tool has another name than the present
    one, which undo chooses again.
    """

    takes_tool = True
    needs_limits = True
    changes_wrench = False

    def sources(self, settings: Settings) -> Sources:
        return Sources({_tool(settings, "config_create_tool"): (_TYPES["config_create_tool"],),
                        _tool(settings, "set_current_tool"): (_TYPES["set_current_tool"],)},
                       query=_call_tool(settings, "get_current_tool", {}))

    def placement(self, settings: Settings, seen: Seen) -> TargetFrame:
        return TargetFrame(settings.apply.frame or "link_6")

    def plan(self, payload: TargetPayload, settings: Settings, seen: Seen) -> TargetPlan:
        before = "" if seen.answer is None else str(seen.answer.info)
        name = settings.apply.tool_name
        name = f"{name}_2" if name == before else name
        choose = _call_tool(settings, "set_current_tool", {"name": name})
        return TargetPlan(
            (_call_tool(settings, "config_delete_tool", {"name": name}, may_fail=True),
             _call_tool(settings, "config_create_tool",
                        {"name": name, "weight": payload.mass, "cog": payload.com_mm,
                         "inertia": [0.0] * 6}),
             choose),
            undo=(_call_tool(settings, "set_current_tool", {"name": before}),) if before else None,
            left_out=("the inertia: the definition says neither its unit nor the point that it is "
                      "about",),
            notes=("the centre of mass is sent in mm, but the maker's pages contradict each other "
                   "(mm or m): compare it with the teach pendant",
                   "the tool is lost when the controller reboots"))


def _tool(settings: Settings, service: str) -> str:
    """A service of the tools beside that which makes one."""
    return posixpath.join(posixpath.dirname(settings.apply.service or DOOSAN), service)


def _call_tool(settings: Settings, service: str, fields: dict[str, object],
               may_fail: bool = False) -> ServiceCall:
    return ServiceCall(_tool(settings, service), _TYPES[service], fields, may_fail=may_fail)


FANUC = "fanuc_gpio_controller/set_payload_comp"
FANUC_COMP, FANUC_VALUE = "fanuc_msgs/srv/SetPayloadComp", "fanuc_msgs/srv/SetPayloadValue"


class Fanuc(Target):
    """A payload schedule of a FANUC robot, about its flange, by ``set_payload_comp`` or
    ``set_payload_value`` of fanuc_driver.

    ``set_payload_comp`` is for CRX robots, where ``set_payload_value`` ends streaming and asks for
    a power cycle. Which of them is called, the name of the service says.
    """

    takes_tool = True
    needs_limits = True
    changes_wrench = False

    def sources(self, settings: Settings) -> Sources:
        return Sources({settings.apply.service or FANUC: (FANUC_COMP, FANUC_VALUE)})

    def placement(self, settings: Settings, seen: Seen) -> TargetFrame:
        return TargetFrame(settings.apply.frame or "fanuc_flange")

    def plan(self, payload: TargetPayload, settings: Settings, seen: Seen) -> TargetPlan:
        service = settings.apply.service or FANUC
        by_name = FANUC_VALUE if posixpath.basename(service) == "set_payload_value" else FANUC_COMP
        kind = seen.types.get(service, by_name)
        request: dict[str, Any] = {
            "payload_schedule_id": settings.apply.schedule, "mass": payload.mass,
            **{f"cg_{axis}": x for axis, x in zip("xyz", payload.com, strict=True)}}
        left_out = ["the products of inertia: it takes the moments about the axes only"]
        notes = _fanuc_notes(kind)
        if kind == FANUC_VALUE:
            request["use_in"] = payload.inertia_is_known
        if payload.inertia_is_known or kind == FANUC_COMP:
            request |= {f"in_{axis}": x for axis, x in zip(
                "xyz", payload.inertia.diagonal().tolist(), strict=True)}
        if not payload.inertia_is_known and kind == FANUC_VALUE:
            left_out = ["the inertia: it is unobserved"]
        elif not payload.inertia_is_known:
            notes += (unmeasured("moments of inertia"),)
        return TargetPlan((ServiceCall(service, kind, request, ("result", 0)),),
                          left_out=tuple(left_out), notes=notes)


def _fanuc_notes(kind: str) -> tuple[str, ...]:
    """What the service does beside setting the payload."""
    if kind == FANUC_VALUE:
        return ("on a CRX this ends streaming, and needs DCS apply and a power cycle",)
    return ("it takes effect only for the schedule in use, with payload compensation enabled",)


XARM, XARM_TYPE = "xarm/set_tcp_load", "xarm_msgs/srv/SetTcpLoad"


class XArm(Target):
    """The TCP payload of an xArm, about its flange, in millimetres: ``set_tcp_load`` of xarm_ros2.

    The raw wrench of its sensor, from which the configuration of this package identifies, holds
    everything with any payload.
    """

    takes_tool = True
    needs_limits = True
    changes_wrench = False

    def sources(self, settings: Settings) -> Sources:
        return Sources({settings.apply.service or XARM: (XARM_TYPE,)})

    def placement(self, settings: Settings, seen: Seen) -> TargetFrame:
        return TargetFrame(settings.apply.frame or "link_eef")

    def plan(self, payload: TargetPayload, settings: Settings, seen: Seen) -> TargetPlan:
        request = {"weight": payload.mass, "center_of_gravity": payload.com_mm}
        service = settings.apply.service or XARM
        return TargetPlan(
            (ServiceCall(service, XARM_TYPE, request, ("ret", 0), "message"),),
            left_out=("the inertia: set_tcp_load takes none",),
            notes=("the controller forgets it when it restarts, unless its configuration is saved",)
        )
