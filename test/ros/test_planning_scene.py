# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Objects of a planning scene as obstacles; the scene's own types stand in as plain objects."""

from types import SimpleNamespace

import numpy as np
import pytest
from geometry_msgs.msg import Pose
from scipy.spatial.transform import Rotation
from shape_msgs.msg import SolidPrimitive
from std_msgs.msg import Header

from inertial_id_ros.errors import InvalidData
from inertial_id_ros.ros import planning_scene
from inertial_id_ros.ros.planning_scene import SCENE, SERVICE, SceneWatch, read_obstacles

TURN = Rotation.from_euler("xyz", [0.3, -0.4, 1.2])
WORLD = np.eye(4)
WORLD[:3, 3] = 1.0, 2.0, 3.0


def pose_message(position=(0, 0, 0), turn: Rotation | None = None) -> Pose:
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


def thing(primitive=None, at=None, meshes=(), planes=(), operation=b"\x00") -> SimpleNamespace:
    """An object of one primitive, type and size, at a pose in its axes."""
    some = [] if primitive is None else [SolidPrimitive(type=primitive[0],
                                                        dimensions=list(primitive[1:]))]
    return SimpleNamespace(
        id="crate", header=Header(frame_id="world"), operation=operation,
        pose=pose_message((0.1, 0.2, 0.3), TURN), planes=list(planes), primitives=some,
        primitive_poses=[at or pose_message()] * len(some), meshes=list(meshes),
        mesh_poses=[pose_message()] * len(meshes))


@pytest.mark.parametrize(("primitive", "shape", "lengths"), [
    ((SolidPrimitive.BOX, 0.1, 0.2, 0.3), "Box", [0.1, 0.2, 0.3]),
    ((SolidPrimitive.SPHERE, 0.1), "Sphere", [0.2] * 3),
    ((SolidPrimitive.CYLINDER, 0.4, 0.1), "Cylinder", [0.2, 0.2, 0.4])])
def test_a_primitive_stands_where_object_and_frame_put_it(primitive, shape, lengths):
    own = pose_message((0.5, 0.0, 0.0), TURN.inv())
    found, = read_obstacles(scene(thing(primitive, own)), lambda frame: WORLD)
    found.geometry.computeLocalAABB()
    assert (found.name, type(found.geometry).__name__) == ("crate", shape)
    np.testing.assert_allclose(2.0 * found.geometry.aabb_local.max_, lengths)
    np.testing.assert_allclose(found.placement.rotation, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(found.placement.translation,
                               TURN.apply([0.5, 0.0, 0.0]) + [1.1, 2.2, 3.3])


@pytest.mark.parametrize("message", [
    scene(thing(planes=[1])), scene(thing((SolidPrimitive.CONE, 1.0, 1.0))),
    scene(thing((SolidPrimitive.BOX, 1.0, -1.0, 1.0))), scene(octomap=[1]), scene(is_diff=True)],
    ids=["plane", "cone", "negative size", "octomap", "difference"])
def test_what_cannot_be_an_obstacle_is_not_left_out_silently(message):
    with pytest.raises(InvalidData):
        read_obstacles(message, lambda frame: WORLD)


@pytest.mark.parametrize("answers", [True, False])
def test_a_scene_that_is_answered_or_published_is_kept_clear_until_it_changes(
        monkeypatch, answers):
    """By move_group where it answers a whole one; another node publishes it."""
    monkeypatch.setattr(planning_scene, "find_type", lambda name: SimpleNamespace(Request=object))
    crate = thing((SolidPrimitive.BOX, 0.1, 0.2, 0.3))
    graph = SimpleNamespace(
        whole=scene(crate) if answers else None,
        topics=lambda: {"/monitored_planning_scene": SCENE, "/tf": "tf2_msgs/msg/TFMessage"},
        services=lambda: {"/get_planning_scene": SERVICE} if graph.whole else {},
        call=lambda *request, **options: SimpleNamespace(scene=graph.whole))
    watch = SceneWatch(graph)
    take = watch.take
    if not answers:
        take(scene(crate))
    assert "crate" in watch.read(lambda frame: WORLD) and len(watch.obstacles) == 1
    take(scene(is_diff=True))  # the robot has moved
    take(scene(crate))  # the same once more
    assert not watch.has_changed
    take(scene(thing(operation=b"\x01"), is_diff=True))
    assert watch.has_changed
    graph.whole = scene(attached=[crate]) if answers else None
    take(scene(attached=[crate]))
    assert "crate" in watch.read(lambda frame: WORLD) and not watch.obstacles
    assert not watch.has_changed
