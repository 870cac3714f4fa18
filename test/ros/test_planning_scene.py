# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Objects of a planning scene as obstacles; the scene's own types stand in as plain objects."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("rclpy")
from geometry_msgs.msg import Point, Pose  # noqa: E402
from scipy.spatial.transform import Rotation  # noqa: E402
from shape_msgs.msg import Mesh, MeshTriangle, SolidPrimitive  # noqa: E402
from std_msgs.msg import Header  # noqa: E402

from inertial_id_ros.apps.guide.checks import Scene  # noqa: E402
from inertial_id_ros.errors import InvalidShape  # noqa: E402
from inertial_id_ros.ros import planning_scene  # noqa: E402
from inertial_id_ros.ros.planning_scene import (  # noqa: E402
    SERVICE,
    TYPE,
    SceneWatch,
    read_obstacles,
)

TURN = Rotation.from_euler("xyz", [0.3, -0.4, 1.2])
WORLD = np.eye(4)
WORLD[:3, 3] = 1.0, 2.0, 3.0


def pose_message(position, turn: Rotation | None = None) -> Pose:
    pose = Pose()
    pose.position.x, pose.position.y, pose.position.z = map(float, position)
    o = pose.orientation
    o.x, o.y, o.z, o.w = map(float, (turn or Rotation.identity()).as_quat())
    return pose


def scene(*objects, is_diff: bool = False, octomap=(), attached=()) -> SimpleNamespace:
    return SimpleNamespace(
        is_diff=is_diff, world=SimpleNamespace(
            collision_objects=list(objects),
            octomap=SimpleNamespace(octomap=SimpleNamespace(data=list(octomap)))),
        robot_state=SimpleNamespace(attached_collision_objects=[
            SimpleNamespace(object=item) for item in attached]))


def thing(primitives=(), meshes=(), planes=(), operation=b"\x00", **more) -> SimpleNamespace:
    return SimpleNamespace(
        id="crate", header=Header(frame_id="world"), operation=operation,
        pose=pose_message((0.1, 0.2, 0.3), TURN), planes=list(planes),
        primitives=[p for p, _ in primitives], primitive_poses=[p for _, p in primitives],
        meshes=[m for m, _ in meshes], mesh_poses=[p for _, p in meshes], **more)


def primitive(kind: int, *size: float) -> SolidPrimitive:
    return SolidPrimitive(type=kind, dimensions=list(size))


@pytest.mark.parametrize(("message", "shape", "size"), [
    (primitive(SolidPrimitive.BOX, 0.1, 0.2, 0.3), "box", (0.1, 0.2, 0.3)),
    (primitive(SolidPrimitive.SPHERE, 0.1), "sphere", (0.1,)),
    (primitive(SolidPrimitive.CYLINDER, 0.4, 0.1), "cylinder", (0.4, 0.1)),
])
def test_a_primitive_stands_where_object_and_frame_put_it(message, shape, size):
    own = pose_message((0.5, 0.0, 0.0), TURN.inv())
    found, = read_obstacles(scene(thing([(message, own)])), lambda frame: WORLD)
    assert (found.name, found.shape, found.size) == ("crate", shape, size)
    np.testing.assert_allclose(found.pose[:3, :3], np.eye(3), atol=1e-12)
    np.testing.assert_allclose(found.pose[:3, 3],
                               TURN.apply([0.5, 0.0, 0.0]) + [1.1, 2.2, 3.3])


def test_a_mesh_keeps_its_corners_and_faces():
    mesh = Mesh(triangles=[MeshTriangle(vertex_indices=[0, 1, 2])],
                vertices=[Point(), Point(x=1.0), Point(y=1.0)])
    found, = read_obstacles(scene(thing(meshes=[(mesh, pose_message((0, 0, 0)))])),
                            lambda frame: WORLD)
    np.testing.assert_array_equal(found.vertices, [[0, 0, 0], [1, 0, 0], [0, 1, 0]])
    np.testing.assert_array_equal(found.triangles, [[0, 1, 2]])


@pytest.mark.parametrize(("message", "words"), [
    (scene(thing(planes=[1])), "plane"),
    (scene(thing([(primitive(SolidPrimitive.CONE, 1.0, 1.0), pose_message((0, 0, 0)))])),
     "primitive of type"),
    (scene(thing([(primitive(SolidPrimitive.BOX, 1.0, -1.0, 1.0), pose_message((0, 0, 0)))])),
     "positive"),
    (scene(octomap=[1]), "octomap"),
    (scene(is_diff=True), "difference"),
])
def test_what_cannot_be_an_obstacle_is_not_left_out_silently(message, words):
    with pytest.raises(InvalidShape, match=words):
        read_obstacles(message, lambda frame: WORLD)


class Graph:
    """A node, and who publishes and serves scenes beside it.

    Args:
        whole: the scene that move_group answers; None: there is no move_group.
    """

    def __init__(self, whole=None) -> None:
        self.whole, self.takers = whole, []

    def get_topic_names_and_types(self):
        return [("/monitored_planning_scene", [TYPE]), ("/tf", ["tf2_msgs/msg/TFMessage"])]

    def get_service_names_and_types(self):
        return [("/get_planning_scene", [SERVICE])] if self.whole else []

    def count_publishers(self, name):
        return 1

    def create_subscription(self, kind, name, take, qos):
        self.takers.append(take)

    def call(self, kind, service, request, timeout, times):
        return SimpleNamespace(scene=self.whole)

    def watch(self) -> SceneWatch:
        watch = SceneWatch(self, self)
        watch.discover()
        watch.discover()
        assert len(self.takers) == 1
        return watch


@pytest.fixture
def installed(monkeypatch):
    monkeypatch.setattr(planning_scene, "find_type", lambda name: SimpleNamespace(Request=object))


CRATE = thing([(primitive(SolidPrimitive.BOX, 0.1, 0.2, 0.3), pose_message((0, 0, 0)))])


@pytest.mark.parametrize("answers", [True, False])
def test_a_scene_that_is_answered_or_published_is_kept_clear_until_it_changes(installed, answers):
    graph = Graph(scene(CRATE) if answers else None)
    watch = graph.watch()
    take, = graph.takers
    if not answers:
        take(scene(CRATE))
    watch.read(lambda frame: WORLD)
    assert watch.scene.names == ("crate",) and len(watch.obstacles) == 1
    take(scene(is_diff=True))  # the robot has moved
    take(scene(CRATE))  # the same once more
    assert not watch.has_changed
    take(scene(thing(operation=b"\x01"), is_diff=True))
    assert watch.has_changed
    graph.whole = scene() if answers else None
    take(scene())
    watch.read(lambda frame: WORLD)
    assert watch.scene == Scene() and not watch.has_changed


def test_what_the_robot_carries_is_told_and_no_obstacle(installed):
    watch = Graph(scene(attached=[CRATE])).watch()
    watch.read(lambda frame: WORLD)
    assert watch.scene.attached == ("crate",) and not watch.obstacles


def test_without_a_scene_or_its_types_nothing_is_known(installed, monkeypatch):
    watch = Graph().watch()
    watch.read(lambda frame: WORLD)
    assert watch.scene is None
    monkeypatch.setattr(planning_scene, "find_type", lambda name: None)
    watch.read(lambda frame: WORLD)
    assert watch.scene.problem and not watch.obstacles
