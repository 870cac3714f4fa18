# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Hostile messages and requests for a node that runs: each kind makes one case from random numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import Point, TransformStamped
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import GetParameters, SetParameters
from shape_msgs.msg import Mesh, MeshTriangle, SolidPrimitive
from std_msgs.msg import String
from std_srvs.srv import Trigger
from tf2_msgs.msg import TFMessage

from inertial_id_ros.action import Identify
from inertial_id_ros.apps.simulation.description import load_description
from inertial_id_ros.settings import Settings, iter_settings
from inertial_id_ros.srv import GetInertialParameters, Save, SetShape, SetTool

from .texts import NUMBERS, Rng, mutated_bytes, mutated_urdf

NODE = "/inertial_id_node"
URDF = load_description().urdf
_WORDS = ("", " ", "/", "..", "../x", "a" * 300, "a" * 100_000, "tool0\n[ERROR] forged\x1b[31m",
          "x", "ä\u202e", "base_link", "ft_sensor", "world", "/etc/passwd", "gripper.json", "~",
          "$(id)")
_FLOATS = (0.0, -1.0, 1e-320, 1e-9, 0.05, 0.1, 1.0, 1e3, 1e9, 1e300, float("nan"), float("inf"))
# Settings that say how often there is an estimate, and by which clock.
_OF_THE_RATE = ("estimator.rate", "use_sim_time")
Send = Callable[["Hands", Rng], None]


class Hands:
    """What a case may use: publishing, calling services.

    Args:
        publish: takes topic, message (or bytes with its class), and whether it is latched.
        call: takes class, name and request of a service; the answer, None where none came.
    """

    def __init__(self, publish: Callable[..., None], call: Callable[..., Any]) -> None:
        self.publish, self.call = publish, call


def description(hands: Hands, rng: Rng) -> None:
    """A mutated or a bloated description; afterwards the true one again."""
    more = int(rng.choice([1000, 20_000, 60_000]))
    bloated = (
        lambda: URDF.replace("<robot ", "<robot " + " ".join(
            f'a{k}="1"' for k in range(more)) + " ", 1),
        lambda: URDF.replace("</link>", '<visual><geometry><box size="1 1 1"/></geometry></visual>'
                             * more + "</link>", 1),
        lambda: URDF.replace("</robot>", "<x>" * more + "</x>" * more + "</robot>"),
        lambda: _chain(int(rng.choice([60, 200, 990]))),
        lambda: URDF + " " * 10_000_000 * int(rng.integers(1, 4)))
    text = (bloated[int(rng.integers(len(bloated)))]() if rng.random() < 0.4
            else mutated_urdf(URDF, rng).decode(errors="replace"))
    text = text.encode("utf-8", "replace").decode().replace("\0", "")
    hands.publish("/robot_description", String(data=text), True)
    hands.publish("/robot_description", String(data=URDF), True)


def _chain(count: int) -> str:
    """The robot with so many joints more between its flange and the sensor."""
    links = "".join(
        f'<link name="c{k}"/><joint name="cj{k}" type="revolute"><parent link="'
        f'{f"c{k - 1}" if k else "tool0"}"/><child link="c{k}"/><axis xyz="0 0 1"/>'
        '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>' for k in range(count))
    return URDF.replace("</robot>", links + "</robot>")


def shape(hands: Hands, rng: Rng) -> None:
    """A request of `set_shape`; afterwards the shape is forgotten again."""
    hands.call(SetShape, f"{NODE}/set_shape", shape_request(rng))
    hands.call(SetShape, f"{NODE}/set_shape", SetShape.Request())


def shape_request(rng: Rng) -> SetShape.Request:
    """A request with one or more shapes, most of them unusable, some very large."""
    request = SetShape.Request(bounding=bool(rng.integers(2)))
    request.frame_id = str(rng.choice(_WORDS)) if rng.random() < 0.2 else ""
    if rng.random() < 0.3:
        request.pose.orientation.w = float(rng.choice(_FLOATS))
        request.pose.position.x = float(rng.choice(_FLOATS))
    kinds = (_with_primitive, _with_mesh, _with_points, _with_points, _with_resource)
    for _ in range(1 + int(rng.random() < 0.1)):
        kinds[int(rng.integers(len(kinds)))](request, rng)
    return request


def _with_primitive(request: SetShape.Request, rng: Rng) -> None:
    count = int(rng.integers(0, 4))
    sizes = [float(rng.choice(_FLOATS)) for _ in range(count)] if rng.random() < 0.5 else (
        rng.uniform(0.02, 0.3, count).tolist())
    request.primitive = SolidPrimitive(type=int(rng.integers(1, 6)), dimensions=sizes)


def _with_mesh(request: SetShape.Request, rng: Rng) -> None:
    count, faces = (int(rng.choice([3, 100, 20_000, 90_000])) for _ in range(2))
    vertices = rng.normal(size=(count, 3)) * float(rng.choice([1e-9, 0.1, 1e6]))
    index = rng.integers(0, count + int(rng.integers(2)), (faces, 3))
    request.mesh = Mesh(vertices=_points(vertices), triangles=[
        MeshTriangle(vertex_indices=[int(k) for k in row]) for row in index.tolist()])


def _with_points(request: SetShape.Request, rng: Rng) -> None:
    count = int(rng.choice([1, 4, 100, 5000, 100_000, 100_000, 200_000, 1_000_000],
                           p=[.1, .1, .2, .2, .1, .2, .08, .02]))
    cloud = rng.uniform(-0.1, 0.1, (count, 3)) * [1.0, 1.0, float(rng.choice([0.0, 1e-9, 1.0]))]
    if rng.random() < 0.2:
        cloud[int(rng.integers(count))] = float(rng.choice(_FLOATS))
    request.points = _points(cloud)


def _points(rows: np.ndarray) -> list[Point]:
    return [Point(x=x, y=y, z=z) for x, y, z in rows.tolist()]


def _with_resource(request: SetShape.Request, rng: Rng) -> None:
    request.mesh_resource = str(rng.choice(["file://", "package://", "http://", ""])) + str(
        rng.choice(["/dev/zero", "/etc/passwd", "x/../../y.stl", "[x", "%00", "a" * 5000, "a.stl"]))
    request.mesh_scale = float(rng.choice(_FLOATS))


def transforms(hands: Hands, rng: Rng) -> None:
    """Frames without end, odd poses, loops, names that are texts, or bytes that are no message."""
    topic = str(rng.choice(["/tf", "/tf", "/tf_static"]))
    count = int(rng.choice([1, 50, 2000]))
    salt = int(rng.integers(1_000_000))
    message = TFMessage()
    for k in range(count):
        edge = TransformStamped(child_frame_id=f"flood_{salt}_{k}")
        edge.header.frame_id = "base_link" if rng.random() < 0.5 else f"flood_{salt}_{k - 1}"
        edge.header.stamp = Time(sec=int(rng.choice([0, 1, 2**31 - 1, 1_800_000_000])))
        edge.transform.rotation.w = 1.0
        if rng.random() < 0.1:
            edge.transform.translation.x = float(rng.choice(_FLOATS))
            edge.transform.rotation.w = float(rng.choice(_FLOATS))
        if count < 2000 and rng.random() < 0.2:
            edge.child_frame_id = str(rng.choice(_WORDS[:-10]))
            edge.header.frame_id = edge.child_frame_id if rng.random() < 0.5 else "x"
        message.transforms.append(edge)
    if rng.random() < 0.2:
        from rclpy.serialization import serialize_message
        hands.publish(topic, (TFMessage, mutated_bytes(serialize_message(message), rng)),
                      topic != "/tf")
    else:
        hands.publish(topic, message, topic != "/tf")


def parameters(hands: Hands, rng: Rng) -> None:
    """Parameters of any type with any value; afterwards those that were set are set back."""
    if rng.random() < 0.1:
        _many_parameters(hands, rng)
        return
    names = [name for name, _, _ in iter_settings(Settings())]
    chosen = [str(n) for n in rng.choice([n for n in names if n not in _OF_THE_RATE], 3)]
    chosen += [str(rng.choice(_WORDS[5:]))] if rng.random() < 0.2 else []
    before = hands.call(GetParameters, f"{NODE}/get_parameters", GetParameters.Request(
        names=[n for n in chosen if n in names]))
    hands.call(SetParameters, f"{NODE}/set_parameters", SetParameters.Request(
        parameters=[Parameter(name=n, value=_value(rng)) for n in chosen]))
    if before is not None:
        hands.call(SetParameters, f"{NODE}/set_parameters", SetParameters.Request(parameters=[
            Parameter(name=n, value=v) for n, v in zip(
                (n for n in chosen if n in names), before.values, strict=False)]))


def _many_parameters(hands: Hands, rng: Rng) -> None:
    """Parameters without end, or very long values."""
    count = int(rng.choice([3000, 100_000, 500_000]))
    name = str(rng.choice(["estimator.rate", "x"]))
    texts, numbers = ParameterType.PARAMETER_STRING_ARRAY, ParameterType.PARAMETER_DOUBLE_ARRAY
    match int(rng.integers(4)):
        case 0:
            hands.call(GetParameters, f"{NODE}/get_parameters",
                       GetParameters.Request(names=[name] * count))
        case 1:
            hands.call(SetParameters, f"{NODE}/set_parameters", SetParameters.Request(
                parameters=[Parameter(name=name)] * (count // 5)))
        case 2:
            hands.call(SetParameters, f"{NODE}/set_parameters", SetParameters.Request(parameters=[
                Parameter(name=name, value=ParameterValue(
                    type=texts, string_array_value=["x"] * count))]))
        case _:
            hands.call(SetParameters, f"{NODE}/set_parameters", SetParameters.Request(parameters=[
                Parameter(name=name, value=ParameterValue(
                    type=numbers, double_array_value=[0.5] * count * 5)),
                Parameter(name=name, value=ParameterValue(
                    type=ParameterType.PARAMETER_STRING, string_value="x" * count * 20))]))


def _value(rng: Rng) -> ParameterValue:
    number = float(rng.choice(_FLOATS))
    match int(rng.integers(6)):
        case 0:
            return ParameterValue(type=ParameterType.PARAMETER_BOOL,
                                  bool_value=bool(rng.integers(2)))
        case 1:
            return ParameterValue(type=ParameterType.PARAMETER_INTEGER, integer_value=int(
                rng.choice([0, -1, 1, 100, 2**31, 2**62])))
        case 2 | 3:
            return ParameterValue(type=ParameterType.PARAMETER_DOUBLE, double_value=number)
        case 4:
            return ParameterValue(type=ParameterType.PARAMETER_STRING, string_value=str(
                rng.choice([*_WORDS, *NUMBERS, "pmd", "lmi", "density", "box", "mesh"])))
        case _:
            return ParameterValue(type=ParameterType.PARAMETER_DOUBLE_ARRAY,
                                  double_array_value=[number] * int(rng.choice([0, 3, 6, 100_000])))


def services(hands: Hands, rng: Rng) -> None:
    """Any other service, with any names; afterwards tool and tare are forgotten."""
    word = str(rng.choice(_WORDS))
    kind, name, request = ((Trigger, "tare", None), (Trigger, "untare", None),
                           (Trigger, "reset", None), (Save, "save", Save.Request(name=word)),
                           (SetTool, "set_tool", SetTool.Request(
                               action=int(rng.integers(0, 6)), name=word)),
                           (GetInertialParameters, "get_inertial_parameters",
                            GetInertialParameters.Request(target_frame=word)))[
                                int(rng.integers(6))]
    hands.call(kind, f"{NODE}/{name}", request or kind.Request())
    if name in ("tare", "set_tool"):
        hands.call(SetTool, f"{NODE}/set_tool", SetTool.Request(action=SetTool.Request.CLEAR))
        hands.call(Trigger, f"{NODE}/untare", Trigger.Request())


def goals(hands: Hands, rng: Rng) -> None:
    """A goal of the action, with any shape and any numbers; afterwards all goals are cancelled."""
    given = shape_request(rng)
    goal = Identify.Goal(
        method=str(rng.choice(["", "", "lmi", "x", "a" * 1000])), keep_data=bool(rng.integers(2)),
        mass_accuracy=float(rng.choice(_FLOATS)), timeout=float(rng.choice([0.0, 2.0, -1.0, 1e9])))
    for name in goal.shape.get_fields_and_field_types():
        setattr(goal.shape, name, getattr(given, name))
    request = Identify.Impl.SendGoalService.Request(goal=goal)
    request.goal_id.uuid = rng.integers(0, 256, 16).astype(np.uint8)
    hands.call(Identify.Impl.SendGoalService, f"{NODE}/identify/_action/send_goal", request)
    hands.call(Identify.Impl.CancelGoalService, f"{NODE}/identify/_action/cancel_goal",
               Identify.Impl.CancelGoalService.Request())


KINDS: dict[str, Send] = {"description": description, "shape": shape, "transforms": transforms,
                          "parameters": parameters, "services": services, "goals": goals}
