# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Drivers of arms that a service tells a payload. Their interfaces: docs/apply.md."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..errors import InertialIdError
from ..inertia import tensor_from_six
from ..io.decoding import Interfaces, inertia_numbers, interfaces_of, stated_payload
from .payload import TargetPayload
from .ratings import UNIVERSAL_ROBOTS
from .target import (
    COM,
    ENTRIES,
    INERTIA,
    MASS,
    ArmDriver,
    Plan,
    Values,
    body_values,
)

SILENCE = 1.0  # s that a topic with the payload may be silent
STATES, STATES_KIND = "dynamic_joint_states", "control_msgs/msg/DynamicJointState"
BROADCASTER = "state_interfaces_broadcaster"  # in place of those on ROS 2 Lyrical
BROADCAST = {"names": "control_msgs/msg/Keys", "values": "control_msgs/msg/Float64Values"}
FRANKA_STATE = "franka_robot_state_broadcaster/robot_state"
IDLE = 1  # of FrankaRobotState.robot_mode
DOOSAN_TOOLS = {name: f"dsr_msgs2/srv/{kind}" for name, kind in (
    ("config_create_tool", "ConfigCreateTool"), ("config_delete_tool", "ConfigDeleteTool"),
    ("set_current_tool", "SetCurrentTool"), ("get_current_tool", "GetCurrentTool"))}
FANUC_COMP, FANUC_VALUE = "fanuc_msgs/srv/SetPayloadComp", "fanuc_msgs/srv/SetPayloadValue"


class UniversalRobots(ArmDriver):
    """``set_payload`` of ur_robot_driver, about the tool flange, read back from the interfaces that
    a broadcaster publishes.

    The request has had three forms: mass and centre of mass (ur_msgs up to 2.5); with the inertia
    as well (2.6); one geometry_msgs/Inertia (Rolling). Drivers up to 3.8, 4.8 and 6.0 drop the
    inertia of the second form without a word. Those that read it also export
    ``payload/inertia.ixx``: only then is it sent.
    """

    changes_wrench, ratings = True, UNIVERSAL_ROBOTS
    default, flange = "io_and_status_controller/set_payload", "tool0"
    types = ("ur_msgs/srv/SetPayload",)

    @property
    def tells(self) -> str:  # type: ignore[override]
        return self.settings.apply.topic or self.settings.dynamic_joint_states.topic or STATES

    def read(self) -> Values | None:
        values = self._interfaces()
        payload = stated_payload(values, name := self.settings.dynamic_joint_states.payload)
        if payload is None or not np.isfinite(payload).all():
            return None
        return body_values(payload[0], payload[1:4], tensor_from_six(payload[4:])
                           if (name, "inertia.ixx") in values else None)

    def _interfaces(self) -> Interfaces:
        """Values by name and interface, from whichever broadcaster runs."""
        if f"{self.robot.resolve(BROADCASTER)}/values" in self.robot.topics():
            names, values = (self.robot.wait_for_message(kind, f"{BROADCASTER}/{part}", SILENCE)
                             for part, kind in BROADCAST.items())
            if names is not None and values is not None:
                keys = [tuple(key.split("/", 1)) for key in names.keys]
                return {(k[0], k[-1]): float(v) for k, v in zip(keys, values.values, strict=False)}
        message = self.robot.wait_for_message(STATES_KIND, self.tells, SILENCE)
        return {} if message is None else interfaces_of(message)

    def plan(self, payload: TargetPayload, before: Values | None) -> Plan:
        names = self.robot.request_fields(self.service)
        why = ""
        if names and not {"ixx", "payload"} & set(names):
            why = "ur_msgs of this driver has no field for it"
        elif before is None or INERTIA not in before:
            why = ("payload/inertia.ixx is not among the joint states, so that this driver would "
                   "drop it")
        elif not payload.inertia_is_known:
            why = "it is unobserved; the robot takes it for zero"
        return Plan(body_values(payload.mass, payload.com, None if why else payload.inertia),
                    (f"the inertia: {why}",) if why else ())

    def send(self, values: Values) -> None:
        com = dict(zip("xyz", values[COM], strict=True))
        entries = dict(zip(ENTRIES, values[INERTIA], strict=True)) if INERTIA in values else {}
        is_one = "payload" in self.robot.request_fields(self.service)
        request: Values = ({"payload": {"m": values[MASS], "com": com, **entries}} if is_one else
                           {"mass": values[MASS], "center_of_gravity": com, **entries})
        self.tell(self.types[0], self.service, request)


class Franka(ArmDriver):
    """``set_load`` of franka_ros2, read back from the robot state.

    The load hangs on the end effector that is set in Desk, and is given about the flange. The robot
    takes it only while it is idle, that is while no controller holds command interfaces. The
    request has had two forms: numbers, with the tensor column after column, and one
    geometry_msgs/InertiaStamped.
    """

    takes_tool, changes_wrench = False, True
    default, flange = "service_server/set_load", "fr3_link8"
    types = ("franka_msgs/srv/SetLoad",)

    @property
    def tells(self) -> str:  # type: ignore[override]
        return self.settings.apply.topic or FRANKA_STATE

    def _state(self) -> Any:
        return self.robot.wait_for_message("franka_msgs/msg/FrankaRobotState", self.tells, SILENCE)

    def read(self) -> Values | None:
        state = self._state()
        if state is None:
            return None
        numbers = inertia_numbers(state.inertia_load.inertia)
        if not np.isfinite(numbers).all():
            return None
        return body_values(numbers[0], numbers[1:4], tensor_from_six(numbers[4:]))

    def refusals(self) -> Iterator[str]:
        state = self._state()
        if state is None:
            yield ("the robot state is silent, so that it is not known whether the robot is idle; "
                   "start franka_robot_state_broadcaster")
        elif int(state.robot_mode) != IDLE:
            yield (f"robot_mode is {int(state.robot_mode)}; the robot takes a load only in mode "
                   f"{IDLE} (idle): deactivate the controllers that command it")

    def plan(self, payload: TargetPayload, before: Values | None) -> Plan:
        return Plan(body_values(payload.mass, payload.com, payload.inertia),
                    notes=() if payload.inertia_is_known else (unmeasured("inertia"),))

    def send(self, values: Values) -> None:
        tensor = tensor_from_six(values[INERTIA])
        names = self.robot.request_fields(self.service)
        request: dict[str, Any] = {"mass": values[MASS], "center_of_mass": values[COM],
                                   "load_inertia": tensor.flatten(order="F").tolist()}
        if names and "mass" not in names:
            request = {"load_inertia": {
                "header": {"frame_id": self.frame().frame},
                "inertia": {"m": values[MASS], "com": dict(zip("xyz", values[COM], strict=True)),
                            **dict(zip(ENTRIES, values[INERTIA], strict=True))}}}
        self.tell(self.types[0], self.service, request, reason="error")


class XArm(ArmDriver):
    """``set_tcp_load`` of xarm_ros2, in millimetres. The raw wrench of its sensor, from which the
    configuration of this package identifies, holds everything with any payload."""

    default, flange = "xarm/set_tcp_load", "link_eef"
    types = ("xarm_msgs/srv/SetTcpLoad",)

    def plan(self, payload: TargetPayload, before: Values | None) -> Plan:
        return Plan(body_values(payload.mass, payload.com),
                    ("the inertia: set_tcp_load takes none",), (
                        "the controller forgets it when it restarts, unless its configuration is "
                        "saved",))

    def send(self, values: Values) -> None:
        request = {"weight": values[MASS], "center_of_gravity": _millimetres(values)}
        self.tell(self.types[0], self.service, request, ("ret", 0), "message")


class Dobot(ArmDriver):
    """``SetPayload`` of DOBOT_6Axis_ROS2_V4, for controllers of version 4, in millimetres."""

    default, flange = "dobot_bringup_ros2/srv/SetPayload", "Link6"
    types = ("dobot_msgs_v4/srv/SetPayload",)

    def plan(self, payload: TargetPayload, before: Values | None) -> Plan:
        return Plan(body_values(payload.mass, payload.com),
                    ("the inertia: SetPayload takes none",))

    def send(self, values: Values) -> None:
        request = {"load": values[MASS], **dict(zip("xyz", _millimetres(values), strict=True))}
        self.tell(self.types[0], self.service, request, ("res", 0))


class Doosan(ArmDriver):
    """A tool of the controller, made by ``config_create_tool`` and chosen by ``set_current_tool``
    of doosan-robot2, which tells the name of its tool only. A new tool has another name than the
    present one, which is chosen again where the application is undone."""

    default, flange = "dsr01/dsr_controller2/tool/config_create_tool", "link_6"
    confirms = False  # a name is no mass

    def _beside(self, service: str) -> str:
        return posixpath.join(posixpath.dirname(self.service), service)

    def services(self) -> dict[str, tuple[str, ...]]:
        return {self._beside(name): (DOOSAN_TOOLS[name],)
                for name in ("config_create_tool", "set_current_tool")}

    def read(self) -> Values | None:
        name = "get_current_tool"
        if self.robot.resolve(self._beside(name)) not in self.robot.services():
            return None
        answer = self.robot.call(DOOSAN_TOOLS[name], self._beside(name), {})
        return {"name": str(answer.info)} if answer is not None and answer.info else None

    def plan(self, payload: TargetPayload, before: Values | None) -> Plan:
        name = self.settings.apply.tool or "inertial_id"
        if before is not None and before["name"] == name:
            name = f"{name}_2"
        return Plan(
            {"name": name, **body_values(payload.mass, payload.com)},
            ("the inertia: the definition says neither its unit nor the point that it is about",),
            ("the centre of mass is sent in mm, but the maker's pages contradict each other (mm or "
             "m): compare it with the teach pendant",
             "the tool is lost when the controller reboots"))

    def send(self, values: Values) -> None:
        def tell(service: str, **request: Any) -> None:
            self.tell(DOOSAN_TOOLS[service], self._beside(service), request)

        if MASS in values:
            try:
                tell("config_delete_tool", name=values["name"])
            except InertialIdError:  # there was none
                pass
            tell("config_create_tool", name=values["name"], weight=values[MASS],
                 cog=_millimetres(values), inertia=[0.0] * 6)
        tell("set_current_tool", name=values["name"])


class Fanuc(ArmDriver):
    """A payload schedule of fanuc_driver, by ``set_payload_comp`` or ``set_payload_value``, as the
    name of the service says. The first is for CRX robots, where the second ends streaming and asks
    for a power cycle."""

    default, flange = "fanuc_gpio_controller/set_payload_comp", "fanuc_flange"
    types = (FANUC_COMP, FANUC_VALUE)

    @property
    def _kind(self) -> str:
        by_name = posixpath.basename(self.service) == "set_payload_value"
        return self.robot.services().get(self.robot.resolve(self.service),
                                         FANUC_VALUE if by_name else FANUC_COMP)

    def plan(self, payload: TargetPayload, before: Values | None) -> Plan:
        is_value = self._kind == FANUC_VALUE
        sends = payload.inertia_is_known or not is_value
        left_out = ("the products of inertia: it takes the moments about the axes only" if sends
                    else "the inertia: it is unobserved")
        notes = [("on a CRX this ends streaming, and needs DCS apply and a power cycle" if is_value
                  else "it takes effect only for the schedule in use, with payload compensation "
                  "enabled")]
        if sends and not payload.inertia_is_known:
            notes.append(unmeasured("moments of inertia"))
        return Plan({"schedule": self.settings.apply.schedule, **body_values(
            payload.mass, payload.com, payload.inertia if sends else None)}, (left_out,),
            tuple(notes))

    def send(self, values: Values) -> None:
        kind = self._kind
        request: dict[str, Any] = {
            "payload_schedule_id": values["schedule"], "mass": values[MASS],
            **{f"cg_{axis}": x for axis, x in zip("xyz", values[COM], strict=True)}}
        if kind == FANUC_VALUE:
            request["use_in"] = INERTIA in values
        if INERTIA in values:
            moments = np.diagonal(tensor_from_six(values[INERTIA])).tolist()
            request |= {f"in_{axis}": x for axis, x in zip("xyz", moments, strict=True)}
        self.tell(kind, self.service, request, ("result", 0))


def _millimetres(values: Values) -> list[float]:
    return [1e3 * x for x in values[COM]]


def unmeasured(what: str) -> str:
    """The note on a quantity that is sent though it is unobserved, since the call needs it."""
    return (f"sent though not measured: the {what}; the call needs it, so that the value of the "
            "prior goes with it")
