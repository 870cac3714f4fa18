# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The objects of MoveIt's planning scene (moveit_msgs/PlanningScene) as obstacles.

Messages are read by their fields, so that moveit_msgs is needed only where a scene is published.
What cannot be represented is an error: an obstacle that is left out would be driven through.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation
from shape_msgs.msg import SolidPrimitive

from ..apps.excitation.collision import Obstacle
from ..errors import InvalidShape, printable
from ..inertia import Array
from .program import find_type
from .ros_client import TIMES, RosClient

TYPE, SERVICE = "moveit_msgs/msg/PlanningScene", "moveit_msgs/srv/GetPlanningScene"
ANSWER = 3.0  # s
PRIMITIVES = {SolidPrimitive.BOX: ("box", 3), SolidPrimitive.SPHERE: ("sphere", 1),
              SolidPrimitive.CYLINDER: ("cylinder", 2)}
REMOVED = b"\x01"  # CollisionObject.REMOVE


class SceneWatch:
    """Reads the planning scene where there is one, and notices when its objects change.

    Attributes:
        obstacles: its objects; has_changed: True if they are others by now than when they were
            read.
    """

    def __init__(self, client: RosClient) -> None:
        self._client = client
        self._whole: Any = None  # the last message that is no difference
        self._read: Any = None  # world of the scene that was read
        self.has_changed = False
        self.obstacles: list[Obstacle] = []

    def take(self, scene: Any) -> None:
        """Note whether a message is another scene; one of the robot's state alone is none."""
        world = scene.world
        if not scene.is_diff:
            self._whole = scene
        if self._read not in (None, world) and (
                not scene.is_diff or world.collision_objects or len(world.octomap.octomap.data)):
            self.has_changed = True

    def read(self, find_frame: Callable[[str], Array]) -> str:
        """Read the scene as it is now; find_frame: as for `read_obstacles`, whose errors it raises.

        Returns:
            What is kept clear of, in words; empty without a scene.
        """
        self.obstacles, self._read, self.has_changed = [], None, False
        service = next((name for name, kind in self._client.services().items()
                        if kind == SERVICE), "")
        if (service or TYPE in self._client.topics().values()) and find_type(TYPE) is None:
            raise InvalidShape("a planning scene is published, and moveit_msgs is not installed "
                               "here: its objects are not known")
        whole = self._whole if not service else self._client.call(
            SERVICE, service, {}, ANSWER, TIMES).scene
        if whole is None:
            return ""
        self.obstacles, self._read = read_obstacles(whole, find_frame), whole.world
        names = dict.fromkeys(item.name for item in self.obstacles)
        carried = [item.object.id for item in whole.robot_state.attached_collision_objects]
        return printable("kept clear of objects of the planning scene: "
                         f"{', '.join(names) or 'none'}" + (
                             f"; {', '.join(carried)}, which the robot carries, is kept clear "
                             "itself as far as --payload-box holds it" if carried else ""))


def read_obstacles(scene: Any, find_frame: Callable[[str], Array]) -> list[Obstacle]:
    """All objects of a whole scene's world (raises InvalidShape: an octomap, a plane, a cone, or a
    shape that is none); find_frame: (4, 4) from axes of a frame to those of the robot description's
    root."""
    if scene.is_diff:
        raise InvalidShape("the planning scene is a difference; ask for the whole scene")
    if len(scene.world.octomap.octomap.data):
        raise InvalidShape("the planning scene has an octomap, which cannot be used; remove it, or "
                           "give what it stands for as boxes")
    return [obstacle for item in scene.world.collision_objects
            if item.operation not in (REMOVED, REMOVED[0])
            for obstacle in _read_object(item, find_frame(item.header.frame_id) @ _pose(item.pose))]


def _read_object(item: Any, place: Array) -> Iterator[Obstacle]:
    """The shapes of an object that stands at a place (4, 4)."""
    if item.planes:
        raise InvalidShape(f"object '{item.id}' has a plane; set the height of the floor instead")
    for shape, pose in zip(item.primitives, item.primitive_poses, strict=True):
        if shape.type not in PRIMITIVES:
            raise InvalidShape(f"object '{item.id}' has a primitive of type {shape.type}; allowed: "
                               + ", ".join(name for name, _ in PRIMITIVES.values()))
        kind, count = PRIMITIVES[shape.type]
        size = tuple(float(x) for x in shape.dimensions)[:count]
        yield Obstacle(item.id, kind, size, place @ _pose(pose))
    for mesh, pose in zip(item.meshes, item.mesh_poses, strict=True):
        corners = np.array([(p.x, p.y, p.z) for p in mesh.vertices]).reshape(-1, 3)
        faces = np.array([t.vertex_indices for t in mesh.triangles], dtype=int).reshape(-1, 3)
        yield Obstacle(item.id, "mesh", (), place @ _pose(pose), corners, faces)


def _pose(pose: Any) -> Array:
    """A pose as (4, 4); an all-zero (default) quaternion means identity."""
    p, o = pose.position, pose.orientation
    q = np.array([o.x, o.y, o.z, o.w])
    out = np.eye(4)
    if np.linalg.norm(q) > 1e-6:
        out[:3, :3] = Rotation.from_quat(q).as_matrix()
    out[:3, 3] = p.x, p.y, p.z
    return out
