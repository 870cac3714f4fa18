# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The objects of MoveIt's planning scene (moveit_msgs/PlanningScene) as obstacles. What cannot be
represented is an error: an obstacle that is left out would be driven through."""

from collections.abc import Callable
from typing import Any

import pinocchio as pin

from ..apps.excitation.arm import obstacle
from ..errors import InvalidData, printable
from ..inertia import Array
from .conversions import PRIMITIVES, mesh_arrays, pose_matrix
from .program import find_type
from .ros_client import TIMES, RosClient

SCENE, SERVICE = "moveit_msgs/msg/PlanningScene", "moveit_msgs/srv/GetPlanningScene"
ANSWER = 3.0  # s
REMOVED = b"\x01"  # CollisionObject.REMOVE


class SceneWatch:
    """`obstacles` of the planning scene; `has_changed`: True where it has others than were read."""

    def __init__(self, client: RosClient) -> None:
        self._client = client
        self._whole: Any = None  # the last message that is no difference
        self._read: Any = None  # world of the scene that was read
        self.has_changed = False
        self.obstacles: list[pin.GeometryObject] = []

    def take(self, scene: Any) -> None:
        """Note whether a message is another scene; one of the robot's state alone is none."""
        world = scene.world
        if not scene.is_diff:
            self._whole = scene
        if self._read not in (None, world) and (
                not scene.is_diff or world.collision_objects or len(world.octomap.octomap.data)):
            self.has_changed = True

    def read(self, find_frame: Callable[[str], Array]) -> str:
        """Read the scene of now as `read_obstacles`; in words; empty: there is no scene."""
        self.obstacles, self._read, self.has_changed = [], None, False
        service = next((name for name, kind in self._client.services().items()
                        if kind == SERVICE), "")
        if (service or SCENE in self._client.topics().values()) and find_type(SCENE) is None:
            raise InvalidData("a planning scene is published, and moveit_msgs is not installed "
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


def read_obstacles(scene: Any, find_frame: Callable[[str], Array]) -> list[pin.GeometryObject]:
    """All objects of a whole scene (raises InvalidData: an octomap, a plane, a cone, or a
    pose). find_frame: (4, 4) from axes of a frame to those of the description's root."""
    if scene.is_diff:
        raise InvalidData("the planning scene is a difference; ask for the whole scene")
    if len(scene.world.octomap.octomap.data):
        raise InvalidData("the planning scene has an octomap, which cannot be used; remove it, or "
                           "give what it stands for as boxes")
    obstacles = list[pin.GeometryObject]()
    for item in scene.world.collision_objects:
        if item.operation in (REMOVED, REMOVED[0]):
            continue
        if item.planes:
            raise InvalidData(f"object '{item.id}' has a plane; set the height of the floor "
                               "instead")
        place = find_frame(item.header.frame_id) @ pose_matrix(item.pose)
        for shape, pose in zip(item.primitives, item.primitive_poses, strict=True):
            if shape.type not in PRIMITIVES:
                raise InvalidData(f"object '{item.id}' has a primitive of type {shape.type}; "
                                   f"allowed: {', '.join(PRIMITIVES.values())}")
            obstacles.append(obstacle(item.id, PRIMITIVES[shape.type], tuple(
                map(float, shape.dimensions)), place @ pose_matrix(pose)))
        obstacles += [obstacle(item.id, "mesh", (), place @ pose_matrix(pose), *mesh_arrays(mesh))
                      for mesh, pose in zip(item.meshes, item.mesh_poses, strict=True)]
    return obstacles
