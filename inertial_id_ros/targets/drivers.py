# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Drivers of arms, a service of which takes the payload, and controllers of ros2_control, whose
parameters do. Their interfaces: docs/apply.md."""

import posixpath
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from ..errors import InertialIdError, InvalidData, InvalidSetting
from ..estimate import Estimate
from ..inertia import PARAMETER_NAMES, tensor_from_six
from ..io.decoding import Interfaces, StateReader, inertia_numbers, payload_among
from ..model.newton_euler import GRAVITY
from ..settings import Settings
from .target import COM, INERTIA, MASS, Plan, Target, Values, values_of

BROADCASTER = "state_interfaces_broadcaster"  # in place of dynamic_joint_states on ROS 2 Lyrical
OFFSETS = tuple(f"offset.{kind}.{axis}" for kind in ("force", "torque") for axis in "xyz")
LIVE = "enable_parameter_update_without_reactivation"


def _xyz(values: Iterable[float]) -> dict[str, float]:
    return dict(zip("xyz", values, strict=True))


def _millimetres(values: Values) -> list[float]:
    return [1e3 * x for x in values[COM]]


def _entries(values: Values) -> dict[str, float]:
    """Entries of the inertia by name; none where it is not sent."""
    return dict(zip(PARAMETER_NAMES[4:], values.get(INERTIA, ()), strict=False))


def _inertia(values: Values) -> Values:
    """Fields of a geometry_msgs/Inertia."""
    return {"m": values[MASS], "com": _xyz(values[COM]), **_entries(values)}


def _stated(numbers: np.ndarray | None, inertia: bool = True) -> Values:
    """Values of the ten numbers that a driver states; empty: it states none."""
    return {} if numbers is None or not np.isfinite(numbers).all() else values_of(numbers, inertia)


class UniversalRobots(Target):
    """``set_payload`` of ur_robot_driver, about the tool flange, read back from a broadcaster.

    The request has had three forms: mass and centre of mass (ur_msgs up to 2.5); with the inertia
    as well (2.6); one geometry_msgs/Inertia (Rolling). Drivers up to 3.8, 4.8 and 6.0 drop the
    inertia of the second form. Those that read it export ``payload/inertia.ixx``, too.
    """

    changes_wrench = True
    topic = "dynamic_joint_states"
    default, flange = "io_and_status_controller/set_payload", "tool0"
    kind = "ur_msgs/srv/SetPayload"
    # Models by their whole name, as ur_rsp.launch.py gives it: only those whose manual was read.
    ratings: Mapping[str, tuple[float, str]] = {
        "ur3": (3.0, "UR3/CB3 User Manual 3.10, A.1"),
        "ur5": (5.0, "UR5/CB3 User Manual 3.4.5, A.1"),
        "ur10": (10.0, "UR10/CB3 User Manual (2020), 1.6.2"),
        "ur5e": (5.0, "UR5e Hardware Manual (2022), 9"),
        # 10 kg or 12.5 kg, by the label on the arm.
        "ur10e": (10.0, "UR10e User Manual SW 10.6, Maximum Payload")}

    def read(self) -> Values:
        heard, states, said = self.robot.wait_for_message, StateReader(), Interfaces()
        if self.robot.resolve(f"{BROADCASTER}/values", "topic") in self.robot.topics():
            states.interfaces(heard("control_msgs/msg/Keys", f"{BROADCASTER}/names", latched=True))
            said = states.interfaces(heard(
                "control_msgs/msg/Float64Values", f"{BROADCASTER}/values"))
        said = said or states.interfaces(heard(
            "control_msgs/msg/DynamicJointState", self.topic))  # whichever broadcaster runs
        name = self.settings.precompensated.name
        return _stated(payload_among(said, name), (name, "inertia.ixx") in said)

    def plan(self, payload: Estimate, before: Values) -> Plan:
        names, why = self.robot.request_fields(self.service), ""
        if names and not {"ixx", "payload"} & set(names):
            why = "ur_msgs of this driver has no field for it"
        elif INERTIA not in before:
            why = "payload/inertia.ixx is not published, so that this driver would drop it"
        elif not payload.is_known(INERTIA):
            why = "it is unobserved; the robot takes it for zero"
        return Plan(values_of(payload.report, not why), (f"the inertia: {why}",) if why else ())

    def send(self, values: Values) -> None:
        if "payload" in self.robot.request_fields(self.service):
            self.call({"payload": _inertia(values)})
        else:
            self.call({"mass": values[MASS], "center_of_gravity": _xyz(values[COM]),
                       **_entries(values)})


class Franka(Target):
    """``set_load`` of franka_ros2, read back from the robot state.

    The load hangs on the end effector that is set in Desk, and is given about the flange. The robot
    takes it only while no controller holds command interfaces. The request has had two forms:
    numbers, with the tensor column after column, and one geometry_msgs/InertiaStamped.
    """

    takes_tool = False
    changes_wrench = takes_inertia = True
    topic = "franka_robot_state_broadcaster/robot_state"
    default, flange = "service_server/set_load", "fr3_link8"
    kind = "franka_msgs/srv/SetLoad"
    idle = 1  # of FrankaRobotState.robot_mode

    def _state(self) -> Any:
        return self.robot.wait_for_message("franka_msgs/msg/FrankaRobotState", self.topic)

    def read(self) -> Values:
        state = self._state()
        return {} if state is None else _stated(inertia_numbers(state.inertia_load.inertia))

    def refusals(self) -> Iterator[str]:
        state = self._state()
        if state is None:
            yield (f"'{self.topic}' is silent, so that it is not known whether the robot is idle; "
                   "start franka_robot_state_broadcaster")
        elif int(state.robot_mode) != self.idle:
            yield (f"robot_mode is {int(state.robot_mode)}; the robot takes a load only in mode "
                   f"{self.idle} (idle): deactivate the controllers that command it")

    def send(self, values: Values) -> None:
        names = self.robot.request_fields(self.service)
        if names and "mass" not in names:
            self.call({"load_inertia": {"header": {"frame_id": self.frame({})},
                                        "inertia": _inertia(values)}})
        else:
            tensor = tensor_from_six(values[INERTIA]).flatten(order="F").tolist()
            self.call({"mass": values[MASS], "center_of_mass": values[COM], "load_inertia": tensor})


class XArm(Target):
    """``set_tcp_load`` of xarm_ros2, in millimetres. The raw wrench of its sensor, from which the
    configuration of this package identifies, holds everything with any payload."""

    default, flange = "xarm/set_tcp_load", "link_eef"
    kind = "xarm_msgs/srv/SetTcpLoad"
    success = ("ret", 0)
    left_out = ("the inertia: set_tcp_load takes none",)
    notes = ("the controller forgets it when it restarts, unless its configuration is saved",)

    def send(self, values: Values) -> None:
        self.call({"weight": values[MASS], "center_of_gravity": _millimetres(values)})


class Dobot(Target):
    """``SetPayload`` of DOBOT_6Axis_ROS2_V4, for controllers of version 4, in millimetres."""

    default, flange = "dobot_bringup_ros2/srv/SetPayload", "Link6"
    kind = "dobot_msgs_v4/srv/SetPayload"
    success = ("res", 0)
    left_out = ("the inertia: SetPayload takes none",)

    def send(self, values: Values) -> None:
        self.call({"load": values[MASS], **_xyz(_millimetres(values))})


class Doosan(Target):
    """A tool of the controller, made by ``config_create_tool`` and chosen by ``set_current_tool``
    of doosan-robot2, which reads back the name of its tool only. A new tool has another name than
    the present one, which is chosen again where the application is undone."""

    default, flange = "dsr01/dsr_controller2/tool/config_create_tool", "link_6"
    confirms = False  # a name is no mass
    left_out = ("the inertia: the definition says neither its unit nor the point that it is about",)
    notes = ("the centre of mass is sent in mm, but the maker's pages contradict each other (mm or "
             "m): compare it with the teach pendant",
             "the tool is lost when the controller reboots")

    def _beside(self, name: str) -> tuple[str, str]:
        """Name and type of a service beside the one that is set."""
        return (posixpath.join(posixpath.dirname(self.service), name),
                f"dsr_msgs2/srv/{name.title().replace('_', '')}")

    def services(self) -> Mapping[str, str]:
        return dict(map(self._beside, ("config_create_tool", "set_current_tool")))

    def read(self) -> Values:
        service, kind = self._beside("get_current_tool")
        if self.robot.resolve(service) not in self.robot.services():
            return {}
        answer = self.robot.call(kind, service, {})
        return {"name": answer.info} if answer.info else {}

    def plan(self, payload: Estimate, before: Values) -> Plan:
        name = self.settings.apply.tool or "inertial_id"
        name = f"{name}_2" if before.get("name") == name else name
        plan = super().plan(payload, before)
        return plan._replace(values={"name": name, **plan.values})

    def send(self, values: Values) -> None:
        name = {"name": values["name"]}
        if MASS in values:
            with suppress(InertialIdError):  # there was none
                self.call(name, *self._beside("config_delete_tool"))
            self.call({**name, "weight": values[MASS], "cog": _millimetres(values),
                       "inertia": [0.0] * 6}, *self._beside("config_create_tool"))
        self.call(name, *self._beside("set_current_tool"))


class Fanuc(Target):
    """A payload schedule of fanuc_driver, by ``set_payload_comp``."""

    default, flange = "fanuc_gpio_controller/set_payload_comp", "fanuc_flange"
    kind = "fanuc_msgs/srv/SetPayloadComp"
    success = ("result", 0)
    takes_inertia = True
    left_out = ("the products of inertia: it takes the moments about the axes only",)
    notes = ("it takes effect only for the schedule in use, with payload compensation enabled",)

    def send(self, values: Values) -> None:
        moments = np.diagonal(tensor_from_six(values[INERTIA])).tolist()
        tool = self.settings.apply.tool or "1"
        if tool not in map(str, range(1, 101)):
            raise InvalidSetting(f"apply.tool is '{tool[:100]}'; FANUC numbers its payload "
                                 "schedules: 1 to 100")
        self.call({"payload_schedule_id": int(tool), "mass": values[MASS],
                   **{f"cg_{axis}": x for axis, x in _xyz(values[COM]).items()},
                   **{f"in_{axis}": x for axis, x in _xyz(moments).items()}})


# ---- controllers ---------------------------------------------------------------------------------
# None of them takes an inertia. Both that compensate gravity apply the torque at the origin of the
# sensor: the centre of mass is sent from there, along the axes of the frame that they name.


class ParameterTarget(Target):
    """A node, `default` by name, that takes values as parameters."""

    needs_limits = False
    prefixes: tuple[str, ...] = ()  # of the parameters that are read

    @property
    def node(self) -> str:
        """Full name of the node: the broadcaster whose topic the wrench is, unless it is named."""
        topic = self.settings.wrench.topic
        name = self.service or posixpath.dirname(topic)
        if not name.strip("/"):
            raise InvalidSetting(f"wrench.topic is '{topic}', which is no topic of a "
                                 "force_torque_sensor_broadcaster; name its node in apply.service")
        return str(self.robot.resolve(name))

    def read(self) -> Values:
        return dict(self.robot.parameters(self.node, list(self.prefixes)))

    def send(self, values: Values) -> None:
        self.robot.set_parameters(self.node, values)

    def undo_of(self, before: Values, values: Values) -> Values:
        had = {name: before.get(name) for name in values}
        return {} if None in had.values() else had

    def value(self, before: Values, name: str, default: Any = None) -> Any:
        """The value of a parameter, or the default where it was never set (raises InvalidData where
        there is none of this name)."""
        if name not in before:
            raise InvalidData(f"node '{self.node}' has no parameter '{name}'")
        return default if before[name] is None else before[name]


class BroadcasterOffsets(ParameterTarget):
    """The offsets of a force_torque_sensor_broadcaster, which take the bias away: it publishes
    ``(raw + offset) multiplier``."""

    takes_tool, changes_wrench = False, True
    prefixes = ("offset", "multiplier")

    def plan(self, payload: Estimate, before: Values) -> Plan:
        if not np.isfinite(payload.bias).all():
            raise InvalidData("a saved estimate does not hold the bias that the sensor has now; "
                              "apply the newest one")
        offsets = np.array([self.value(before, name, 0.0) for name in OFFSETS])
        gains = np.array([self.value(before, name.replace("offset", "multiplier"), 1.0)
                          for name in OFFSETS])
        if not gains.all():
            raise InvalidData(f"a multiplier of node '{self.node}' is 0, so that it publishes "
                              "nothing")
        values = dict(zip(OFFSETS, (offsets - payload.bias / gains).tolist(), strict=True))
        return Plan(values, ("mass, centre of mass and inertia: this node takes offsets only",),
                    what="offsets that take away a bias of "
                    f"{', '.join(f'{x:.3g}' for x in payload.bias)} N and N m")


class GravityFilter(ParameterTarget):
    """The gravity compensation of control_toolbox in the filter chain of a broadcaster, which takes
    m g off a reading of +m g, along the axes of a frame that a parameter names."""

    axes_only = True
    per_mass = 1.0  # of what is sent
    prefixes: tuple[str, ...] = ("sensor_filter_chain",)
    left_out = ("the inertia: this filter removes the weight at rest only", "the bias of the "
                "sensor: tare it, or apply to force_torque_sensor_broadcaster as well")

    def names(self, before: Values) -> tuple[str, str, str]:
        """Names of the parameters for the frame, the mass or weight, and the centre of mass (raises
        InvalidData)."""
        found = [name for name in before if name.endswith(".tool.mass")]
        if len(found) != 1:
            raise InvalidData(f"node '{self.node}' has {len(found)} gravity compensation filters "
                              "(sensor_filter_chain.*.tool.mass); it must run one")
        prefix = found[0].removesuffix("tool.mass")
        return f"{prefix}sensor_frame", found[0], f"{prefix}tool.CoG"

    def frame(self, before: Values) -> str:
        name = self.names(before)[0]
        frame = self.settings.apply.frame or self.value(before, name)
        if not frame:
            raise InvalidData(f"parameter '{name}' of node '{self.node}' names no frame; set "
                              "apply.frame")
        return str(frame)

    def plan(self, payload: Estimate, before: Values) -> Plan:
        _, mass, com = self.names(before)
        for name in (mass, com):
            self.value(before, name)
        notes = () if before.get(LIVE) is not False else (
            f"{LIVE} is false: it takes effect when the controller is activated again",)
        return Plan({mass: self.per_mass * payload.body.mass, com: payload.body.com.tolist()},
                    self.left_out, notes)

    def refusals(self) -> Iterator[str]:
        wrench = self.settings.wrench
        if wrench.convention != "on_sensor":
            yield (f"wrench.convention is '{wrench.convention}': the sensor reads -m g, and this "
                   "filter expects +m g")
        if wrench.topic.endswith("wrench_filtered") and not self.default:
            yield (f"wrench.topic is '{wrench.topic}', from which this filter removes the payload; "
                   "identify from the broadcaster's own wrench")


class AdmittanceController(GravityFilter):
    """The gravity compensation of the admittance_controller, which takes a weight in newtons."""

    prefixes = ("gravity_compensation", LIVE)
    default = "admittance_controller"
    per_mass = float(-GRAVITY[2])

    def names(self, before: Values) -> tuple[str, str, str]:
        return ("gravity_compensation.frame.id", "gravity_compensation.CoG.force",
                "gravity_compensation.CoG.pos")


TARGETS: dict[str, type[Target]] = {  # by the value of apply.target
    "admittance_controller": AdmittanceController,
    "dobot": Dobot,
    "doosan": Doosan,
    "fanuc": Fanuc,
    "force_torque_sensor_broadcaster": BroadcasterOffsets,
    "franka": Franka,
    "gravity_compensation": GravityFilter,
    "universal_robots": UniversalRobots,
    "xarm": XArm,
}


def load_target(name: str, robot: Any, settings: Settings) -> Target:
    """The target of this name (raises InvalidSetting, which names all)."""
    if name not in TARGETS:
        raise InvalidSetting(f"apply.target is '{name[:100]}'; allowed: {', '.join(TARGETS)}")
    return TARGETS[name](robot, settings)
