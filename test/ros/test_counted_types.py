# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Requests that are counted before they become Python objects, against rclpy's own conversion."""

import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("rclpy")
pytest.importorskip("inertial_id_ros.msg")
from geometry_msgs.msg import Point  # noqa: E402
from lifecycle_msgs.srv import GetState  # noqa: E402
from rcl_interfaces.msg import Parameter, ParameterValue  # noqa: E402
from rcl_interfaces.srv import GetParameters, SetParameters  # noqa: E402
from rclpy.serialization import deserialize_message, serialize_message  # noqa: E402
from rclpy.utilities import get_rmw_implementation_identifier  # noqa: E402
from ros_process import RosProcess, Stage  # noqa: E402
from shape_msgs.msg import Mesh, MeshTriangle, SolidPrimitive  # noqa: E402
from std_msgs.msg import String  # noqa: E402
from std_srvs.srv import SetBool, Trigger  # noqa: E402

from inertial_id_ros.action import Identify  # noqa: E402
from inertial_id_ros.errors import InvalidShape  # noqa: E402
from inertial_id_ros.limits import (  # noqa: E402
    MAX_REQUEST_ENTRIES,
    MAX_REQUEST_FACES,
    MAX_REQUEST_POINTS,
)
from inertial_id_ros.ros.requests.counted_types import (  # noqa: E402
    Rows,
    counted_action,
    counted_service,
)
from inertial_id_ros.ros.requests.memory_layout import fields_of  # noqa: E402
from inertial_id_ros.ros.requests.middleware_memory import free_large_messages  # noqa: E402
from inertial_id_ros.ros.requests.shape_request import read_request  # noqa: E402
from inertial_id_ros.srv import Save, SetShape, SetTool  # noqa: E402

GOAL = Identify.Impl.SendGoalService


def refuse(count):
    raise AssertionError(f"{count} entries are not too many")


def points(rows):
    return [Point(x=x, y=y, z=z) for x, y, z in rows.tolist()]


def shape(rng, kind=SetShape.Request):
    """A message with numbers, texts and all three kinds of rows."""
    faces = rng.integers(0, 2**32, (int(rng.integers(1, 9)), 3)).tolist()
    made = kind(
        frame_id="a_frame", mesh_resource="file://ä", mesh_scale=float(rng.normal()),
        bounding=True, points=points(rng.normal(size=(int(rng.integers(1, 9)), 3))),
        primitive=SolidPrimitive(type=2, dimensions=[0.5]),
        mesh=Mesh(vertices=points(rng.normal(size=(int(rng.integers(1, 9)), 3))),
                  triangles=[MeshTriangle(vertex_indices=face) for face in faces]))
    made.pose.position.y, made.pose.orientation.w = rng.normal(size=2).tolist()
    return made


def goal(rng):
    made = GOAL.Request(goal=Identify.Goal(method="lmi", keep_data=True, timeout=2.5))
    made.goal_id.uuid = rng.integers(0, 256, 16).astype(np.uint8)
    made.goal.shape = shape(rng, type(made.goal.shape))
    return made


def parameters(rng):
    values = [ParameterValue(type=3, bool_value=True, integer_value=-7, string_value="text"),
              ParameterValue(type=8, double_array_value=rng.normal(size=5).tolist()),
              ParameterValue(type=9, string_array_value=["x", "", "yz"]),
              ParameterValue(type=7, integer_array_value=[1, 2], byte_array_value=[b"q"])]
    return SetParameters.Request(parameters=[
        Parameter(name=f"name_{k}", value=value) for k, value in enumerate(values)])


def received(request, counted):
    """What rclpy makes of a request that was sent."""
    return deserialize_message(serialize_message(request), counted)


def assert_same(counted, plain):
    """Every field is what rclpy's own conversion makes of it; rows hold the same numbers."""
    for name, _ in fields_of(type(plain)):
        ours, theirs = getattr(counted, name), getattr(plain, name)
        if isinstance(ours, Rows):
            given = [p.vertex_indices if isinstance(p, MeshTriangle) else (p.x, p.y, p.z)
                     for p in theirs]
            assert np.array_equal(ours.rows, np.reshape(given, (-1, 3))) and len(ours) == len(given)
        elif hasattr(theirs, "get_fields_and_field_types"):
            assert_same(ours, theirs)
        else:
            assert np.array_equal(ours, theirs), name


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("kind", "make"), [
    (SetShape, shape), (GOAL, goal), (SetParameters, parameters),
    (Trigger, lambda _: Trigger.Request()), (SetBool, lambda _: SetBool.Request(data=True)),
    (SetTool, lambda _: SetTool.Request(action=2, name="gripper")),
    (Save, lambda _: Save.Request(name="ä" * 300)), (GetState, lambda _: GetState.Request()),
    (GetParameters, lambda rng: GetParameters.Request(names=["a"] * int(rng.integers(9))))])
def test_a_request_holds_what_the_conversion_of_rclpy_gives(kind, make, seed):
    request = make(np.random.default_rng(seed))
    assert_same(received(request, counted_service(kind, refuse).Request),
                received(request, kind.Request))


def test_points_and_triangles_become_no_objects(monkeypatch):
    request = shape(np.random.default_rng(0))
    counted, sent = counted_service(SetShape, refuse), serialize_message(request)
    made = []
    for kind in (Point, MeshTriangle):
        begin = kind.__init__
        monkeypatch.setattr(kind, "__init__", lambda self, begin=begin, **values: (
            made.append(type(self)), begin(self, **values))[1])
    deserialize_message(sent, SetShape.Request)
    of_rclpy = len(made)
    deserialize_message(sent, counted.Request)
    rows = len(request.points) + len(request.mesh.vertices) + len(request.mesh.triangles)
    assert of_rclpy > rows  # its pose has a point too
    assert len(made) - of_rclpy == of_rclpy - rows


@pytest.mark.parametrize(("fields", "limit"), [
    ({"points": [Point()] * (MAX_REQUEST_FACES + 1)}, MAX_REQUEST_POINTS),
    ({"mesh": Mesh(triangles=[MeshTriangle()] * (MAX_REQUEST_FACES + 1))}, MAX_REQUEST_FACES)])
def test_of_too_many_rows_only_the_number_is_taken(fields, limit):
    request = received(SetShape.Request(frame_id="kept", **fields),
                       counted_service(SetShape, refuse).Request)
    rows = request.points or request.mesh.triangles
    assert request.frame_id == "kept" and rows.rows is None
    with pytest.raises(IndexError, match=str(MAX_REQUEST_FACES + 1)):
        rows[0]
    with pytest.raises(InvalidShape, match=f"{MAX_REQUEST_FACES + 1} entries; at most {limit}"):
        read_request(request)


def test_a_shape_of_rows_is_filled_as_one_of_messages():
    rows = np.random.default_rng(0).uniform(-0.1, 0.1, (200, 3))
    request = SetShape.Request(points=points(rows))
    request.pose.orientation.w = 1.0
    counted = received(request, counted_service(SetShape, refuse).Request)
    ours, theirs = (read_request(r).fill(None) for r in (counted, request))
    assert np.array_equal(ours.points, theirs.points)


@pytest.mark.parametrize("request_of", [
    lambda n: SetParameters.Request(parameters=[Parameter(name="x")] * n),
    lambda n: SetParameters.Request(parameters=[Parameter(name="x", value=ParameterValue(
        type=9, string_array_value=["x"] * n))]),
    lambda n: SetParameters.Request(parameters=[Parameter(name="x", value=ParameterValue(
        type=8, double_array_value=[0.0] * (40 * n)))]),
    lambda n: SetParameters.Request(parameters=[Parameter(name="x", value=ParameterValue(
        type=9, string_array_value=["x"] * 100))] * (n // 100))])
def test_a_request_with_too_many_entries_is_taken_as_empty(request_of):
    said = []
    counted = counted_service(SetParameters, said.append).Request
    few = received(request_of(MAX_REQUEST_ENTRIES - 200), counted)
    assert few == received(request_of(MAX_REQUEST_ENTRIES - 200), SetParameters.Request)
    assert not said
    assert received(request_of(MAX_REQUEST_ENTRIES + 100), counted) == SetParameters.Request()
    assert len(said) == 1 and said[0] > MAX_REQUEST_ENTRIES


def test_the_counted_action_is_the_action_but_for_its_goals():
    counted = counted_action(Identify, refuse)
    assert counted.Result is Identify.Result and counted.Goal is Identify.Goal
    assert counted.Impl.GetResultService is Identify.Impl.GetResultService
    request = goal(np.random.default_rng(1))
    assert isinstance(received(request, counted.Impl.SendGoalService.Request).goal.shape.points,
                      Rows)


def test_the_middleware_is_told_to_free_large_messages_unless_the_user_tells_it_something():
    names = {"humble": "FASTRTPS_DEFAULT_PROFILES_FILE", "jazzy": "FASTRTPS_DEFAULT_PROFILES_FILE",
             "kilted": "FASTDDS_DEFAULT_PROFILES_FILE", "rolling": "FASTDDS_DEFAULT_PROFILES_FILE"}
    for distribution, name in names.items():
        environment = {"ROS_DISTRO": distribution}
        assert free_large_messages(environment)
        assert environment.pop("RMW_FASTRTPS_USE_QOS_FROM_XML") == "1"
        assert Path(environment.pop(name)).is_file()
        assert environment == {"ROS_DISTRO": distribution}
        own = {name: "mine.xml"}
        assert not free_large_messages(own) and own == {name: "mine.xml"}


RECEIVER = """
import gc, sys
from inertial_id_ros.ros import compat
from inertial_id_ros.ros.requests.middleware_memory import (
    free_large_messages, return_large_blocks)
if sys.argv[1] != "library":
    free_large_messages()
if sys.argv[1] != "middleware":
    return_large_blocks()
compat.init([])
from rclpy.node import Node
from std_msgs.msg import String

sizes, node = [], Node("receiver")
node.create_subscription(String, "large", lambda data: sizes.append(len(data)), 10, raw=True)
executor = compat.make_executor()
executor.add_node(node)
while True:
    before = len(sizes)
    executor.spin_once(timeout_sec=0.2)
    if len(sizes) > before:
        gc.collect()
        pages = int(open("/proc/self/statm").read().split()[1])
        print("message", len(sizes), "memory", pages * 4096 // 1_000_000, flush=True)
"""


def growth(stage, how):
    """Memory [MB] by which a process grows that takes three messages of 30 MB, one by one."""
    process = RosProcess(stage.domain, sys.executable, "-c", RECEIVER, how)
    stage.processes.append(process)
    for number, size in enumerate([1, 30_000_000, 30_000_000, 30_000_000, 1], start=1):
        stage.client.publish("large", String(data="x" * size))
        process.wait_for_text(f"message {number} ")
    memory = [int(line.split()[-1]) for line in process.text.splitlines() if "memory" in line]
    process.process.kill()
    return memory[-1] - memory[0]


@pytest.mark.slow
@pytest.mark.skipif("fastrtps" not in get_rmw_implementation_identifier(),
                    reason="other middlewares are not told anything")
def test_a_large_message_leaves_no_memory_behind():
    with Stage() as stage:
        assert growth(stage, "both") < 10
    for half in ("library", "middleware"):  # where only one of them returns what it has taken
        with Stage() as stage:
            assert growth(stage, half) > 25


def test_profiles_in_the_working_folder_hold(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("DEFAULT_FASTRTPS_PROFILES.xml").write_text("<dds/>")
    environment = {}
    assert not free_large_messages(environment) and environment == {}
