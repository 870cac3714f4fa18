# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Doosan: a tool of the controller, made by ``config_create_tool`` and chosen by
``set_current_tool`` of doosan-robot2.

The controller tells the name of its tool only. A new tool has another name than the present one,
which undo chooses again.
"""

from __future__ import annotations

import posixpath

from ..settings import Settings
from .calls import ServiceCall
from .payload import Payload
from .target import Placement, Plan, Seen, Sources, Target

SERVICE = "dsr01/dsr_controller2/tool/config_create_tool"
_TYPES = {name: f"dsr_msgs2/srv/{kind}" for name, kind in (
    ("config_create_tool", "ConfigCreateTool"), ("config_delete_tool", "ConfigDeleteTool"),
    ("set_current_tool", "SetCurrentTool"), ("get_current_tool", "GetCurrentTool"))}


class Doosan(Target):
    """The tool weight of a Doosan arm, about its flange."""

    takes_tool = True
    needs_limits = True
    changes_wrench = False

    def sources(self, settings: Settings) -> Sources:
        return Sources({_name(settings, "config_create_tool"): (_TYPES["config_create_tool"],),
                        _name(settings, "set_current_tool"): (_TYPES["set_current_tool"],)},
                       query=_call(settings, "get_current_tool", {}))

    def placement(self, settings: Settings, seen: Seen) -> Placement:
        return Placement(settings.apply.frame or "link_6")

    def plan(self, payload: Payload, settings: Settings, seen: Seen) -> Plan:
        before = "" if seen.answer is None else str(seen.answer.info)
        name = settings.apply.tool_name
        name = f"{name}_2" if name == before else name
        choose = _call(settings, "set_current_tool", {"name": name})
        return Plan(
            (_call(settings, "config_delete_tool", {"name": name}, may_fail=True),
             _call(settings, "config_create_tool",
                   {"name": name, "weight": payload.mass, "cog": payload.com_mm,
                    "inertia": [0.0] * 6}),
             choose),
            undo=(_call(settings, "set_current_tool", {"name": before}),) if before else None,
            left_out=("the inertia: the definition says neither its unit nor the point that it is "
                      "about",),
            notes=("the centre of mass is sent in mm, but the maker's pages contradict each other "
                   "(mm or m): compare it with the teach pendant",
                   "the tool is lost when the controller reboots"))


def _name(settings: Settings, service: str) -> str:
    """A service of the tools beside that which makes one."""
    return posixpath.join(posixpath.dirname(settings.apply.service or SERVICE), service)


def _call(settings: Settings, service: str, fields: dict[str, object],
          may_fail: bool = False) -> ServiceCall:
    return ServiceCall(_name(settings, service), _TYPES[service], fields, may_fail=may_fail)
