# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Drivers that a service tells a payload: Dobot, Doosan, FANUC, Franka, xArm."""

from __future__ import annotations

import math
import posixpath
from typing import Any

from ..inertia import Array, six_from_tensor, tensor_from_six
from ..settings import Settings
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
    unmeasured,
)


class Dobot(ArmDriver):
    """The payload of a Dobot arm, about its flange, in millimetres: ``SetPayload`` of
    DOBOT_6Axis_ROS2_V4, for controllers of version 4."""

    service, frame = "dobot_bringup_ros2/srv/SetPayload", "Link6"
    types = ("dobot_msgs_v4/srv/SetPayload",)

    def plan(self, payload: TargetPayload, settings: Settings, seen: Seen) -> TargetPlan:
        request = {"load": payload.mass, **dict(zip("xyz", payload.com_mm, strict=True))}
        call = ServiceCall(self.service_name(settings), self.types[0], request, ("res", 0))
        return TargetPlan((call,),
                          left_out=("the inertia: SetPayload takes none",))


DOOSAN = "dsr01/dsr_controller2/tool/config_create_tool"
_TYPES = {name: f"dsr_msgs2/srv/{kind}" for name, kind in (
    ("config_create_tool", "ConfigCreateTool"), ("config_delete_tool", "ConfigDeleteTool"),
    ("set_current_tool", "SetCurrentTool"), ("get_current_tool", "GetCurrentTool"))}


class Doosan(ArmDriver):
    """The tool weight of a Doosan arm, about its flange: a tool of the controller, made by
    ``config_create_tool`` and chosen by ``set_current_tool`` of doosan-robot2.

    The controller tells the name of its tool only. A new tool has another name than the present
    one, which undo chooses again.
    """

    service, frame = DOOSAN, "link_6"

    def sources(self, settings: Settings) -> Sources:
        return Sources({_tool(settings, "config_create_tool"): (_TYPES["config_create_tool"],),
                        _tool(settings, "set_current_tool"): (_TYPES["set_current_tool"],)},
                       query=_call_tool(settings, "get_current_tool", {}))

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


FANUC_COMP, FANUC_VALUE = "fanuc_msgs/srv/SetPayloadComp", "fanuc_msgs/srv/SetPayloadValue"


class Fanuc(ArmDriver):
    """A payload schedule of a FANUC robot, about its flange, by ``set_payload_comp`` or
    ``set_payload_value`` of fanuc_driver.

    ``set_payload_comp`` is for CRX robots, where ``set_payload_value`` ends streaming and asks for
    a power cycle. Which of them is called, the name of the service says.
    """

    service, frame = "fanuc_gpio_controller/set_payload_comp", "fanuc_flange"
    types = (FANUC_COMP, FANUC_VALUE)

    def plan(self, payload: TargetPayload, settings: Settings, seen: Seen) -> TargetPlan:
        service = self.service_name(settings)
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


class XArm(ArmDriver):
    """The TCP payload of an xArm, about its flange, in millimetres: ``set_tcp_load`` of xarm_ros2.

    The raw wrench of its sensor, from which the configuration of this package identifies, holds
    everything with any payload.
    """

    service, frame = "xarm/set_tcp_load", "link_eef"
    types = ("xarm_msgs/srv/SetTcpLoad",)

    def plan(self, payload: TargetPayload, settings: Settings, seen: Seen) -> TargetPlan:
        request = {"weight": payload.mass, "center_of_gravity": payload.com_mm}
        return TargetPlan(
            (ServiceCall(self.service_name(settings), self.types[0], request, ("ret", 0),
                         "message"),),
            left_out=("the inertia: set_tcp_load takes none",),
            notes=("the controller forgets it when it restarts, unless its configuration is saved",)
        )


STATE = WatchedTopic("franka_robot_state_broadcaster/robot_state",
                     "franka_msgs/msg/FrankaRobotState")
_ENTRIES = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
_IDLE = 1  # of FrankaRobotState.robot_mode


class Franka(ArmDriver):
    """The load of a Franka arm: ``set_load`` of franka_ros2, read back from the robot state.

    The load hangs on the end effector that is set in Desk, and is given about the flange. The robot
    takes it only while it is idle, that is while no controller holds command interfaces. The
    request has had two forms: numbers, with the tensor column after column, and one
    geometry_msgs/InertiaStamped.
    """

    takes_tool = False
    changes_wrench = True
    service, frame = "service_server/set_load", "fr3_link8"
    types = ("franka_msgs/srv/SetLoad",)

    def sources(self, settings: Settings) -> Sources:
        return Sources({self.service_name(settings): self.types},
                       STATE._replace(name=settings.apply.topic or STATE.name))

    def plan(self, payload: TargetPayload, settings: Settings, seen: Seen) -> TargetPlan:
        told = self.read(settings, seen)
        undo = None if told is None else (self._call(
            settings, seen, payload.frame_id, told.values["mass"], told.values["com"],
            tensor_from_six(told.values["inertia"])),)
        notes = () if payload.inertia_is_known else (unmeasured("inertia"),)
        return TargetPlan((self._call(settings, seen, payload.frame_id, payload.mass, payload.com,
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

    def _call(self, settings: Settings, seen: Seen, frame: str, mass: float, com: list[float],
              inertia: Array) -> ServiceCall:
        """The call in the form that the driver has."""
        service = self.service_name(settings)
        request: dict[str, Any] = {
            "mass": mass, "center_of_mass": com,
            "load_inertia": inertia.flatten(order="F").tolist()}
        if "mass" not in seen.fields.get(service, request):
            entries = dict(zip(_ENTRIES, six_from_tensor(inertia).tolist(), strict=True))
            request = {"load_inertia": {
                "header": {"frame_id": frame},
                "inertia": {"m": mass, "com": dict(zip("xyz", com, strict=True)), **entries}}}
        return ServiceCall(service, self.types[0], request, reason="error")


def _idle(settings: Settings, seen: Seen) -> Gate:
    """The robot refuses a load unless it is idle."""
    if seen.message is None:
        return Gate("idle", "the robot state is silent, so that it is not known whether the robot "
                    "is idle; start franka_robot_state_broadcaster")
    mode = int(seen.message.robot_mode)
    return Gate("idle", "" if mode == _IDLE else
                f"robot_mode is {mode}; the robot takes a load only in mode {_IDLE} (idle): "
                "deactivate the controllers that command it")
