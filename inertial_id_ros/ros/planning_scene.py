# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The objects of MoveIt's planning scene (moveit_msgs/PlanningScene) as obstacles.

Messages are read by their fields, so that moveit_msgs is needed only where a scene is published.
What cannot be represented is an error: an obstacle that is left out would be driven through.
move_group publishes what changes, and is asked for the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from rclpy.node import Node
from shape_msgs.msg import SolidPrimitive

from ..apps.excitation.collision import Obstacle
from ..apps.guide.at_rest import NO_SCENE, Scene
from ..errors import InertialIdError, InvalidShape, printable
from ..inertia import Array
from .apply.other_nodes import Asking
from .compat import find_type

TYPE, SERVICE = "moveit_msgs/msg/PlanningScene", "moveit_msgs/srv/GetPlanningScene"
_ANSWER = 3.0  # s
_PRIMITIVES = {SolidPrimitive.BOX: "box", SolidPrimitive.SPHERE: "sphere",
               SolidPrimitive.CYLINDER: "cylinder"}
_SIZES = {"box": 3, "sphere": 1, "cylinder": 2}
_REMOVED = b"\x01"  # CollisionObject.REMOVE
_SHORTEST = 1e-6  # of a quaternion


class SceneWatch:
    """Reads the planning scene where there is one, and notices when its objects change.

    Args:
        node: of this program; asking: asks other nodes.
        subscribe: to a type and a topic, with the function that takes its messages.

    Attributes:
        scene: what is known of it; obstacles: its objects.
        has_changed: whether they are others by now than when they were read.
    """

    def __init__(self, node: Node, asking: Asking,
                 subscribe: Callable[[Any, str, Callable[[Any], None]], object]) -> None:
        self._node, self._asking, self._subscribe = node, asking, subscribe
        self._heard: set[str] = set()
        self._whole: Any = None  # the last message that is no difference
        self._read: list[Any] | None = None
        self.scene, self.has_changed = NO_SCENE, False
        self.obstacles: list[Obstacle] = []

    def look(self) -> None:
        """Listen to the topics of scenes that are there by now."""
        kind = find_type(TYPE)
        for name, types in self._node.get_topic_names_and_types():
            if TYPE in types and name not in self._heard and self._node.count_publishers(name):
                self._heard.add(name)
                if kind is not None:
                    self._subscribe(kind, name, self._take)

    def read(self, find_frame: Callable[[str], Array]) -> None:
        """Read the scene as it is now.

        Args:
            find_frame: as for `read_obstacles`.
        """
        services = [name for name, types in self._node.get_service_names_and_types()
                    if SERVICE in types]
        self.scene, self.obstacles, self._read, self.has_changed = NO_SCENE, [], None, False
        if (services or self._heard) and find_type(TYPE) is None:
            self.scene = Scene(unknown="a planning scene is published, and moveit_msgs is not "
                               "installed here: its objects are not known")
            return
        try:
            whole = self._ask(services[0]) if services else self._whole
            if whole is None:
                return
            self.obstacles, self._read = read_obstacles(whole, find_frame), _content(whole)
            # Where something is attached or let go, the world's objects change, too.
            self.scene = Scene(tuple(dict.fromkeys(item.name for item in self.obstacles)), attached=
                               tuple(printable(item.object.id) for item in
                                     whole.robot_state.attached_collision_objects))
        except InertialIdError as error:
            self.scene = Scene(problem=printable(str(error)))

    def _ask(self, service: str) -> Any:
        """The whole scene (raises NoAnswer)."""
        kind: Any = find_type(SERVICE)
        return self._asking.ask(kind, service, kind.Request(), _ANSWER).scene

    def _take(self, scene: Any) -> None:
        """Note whether a message is another scene; one of the robot's state alone is none."""
        if not scene.is_diff:
            self._whole = scene
        changes = _content(scene)
        if self._read is not None and changes != self._read and (changes or not scene.is_diff):
            self.has_changed = True


def _content(scene: Any) -> list[Any]:
    """What of the objects of a scene must stay as it is: all but stamps."""
    seen = [["", "octomap"]] if len(scene.world.octomap.octomap.data) else []
    return seen + sorted(
        [item.id, repr((item.header.frame_id, item.operation, item.pose, item.primitives,
                        item.primitive_poses, item.meshes, item.mesh_poses))]
        for item in scene.world.collision_objects)


def read_obstacles(scene: Any, find_frame: Callable[[str], Array]) -> list[Obstacle]:
    """All objects of a scene's world.

    Args:
        scene: a whole scene (`is_diff` false).
        find_frame: (4, 4) from axes of a frame to those of the robot description's root.

    Raises:
        InvalidShape: an octomap, a plane, a cone, or a shape that is none.
    """
    if scene.is_diff:
        raise InvalidShape("the planning scene is a difference; ask for the whole scene")
    if len(scene.world.octomap.octomap.data):
        raise InvalidShape("the planning scene has an octomap, which is not taken; remove it, or "
                           "tell what it stands for as boxes")
    out: list[Obstacle] = []
    for item in scene.world.collision_objects:
        if _as_bytes(item.operation) != _REMOVED:
            out += _read_object(item, find_frame(item.header.frame_id) @ _matrix(item.pose))
    return out


def _read_object(item: Any, place: Array) -> Iterator[Obstacle]:
    """The shapes of an object that stands at a place (4, 4)."""
    if item.planes:
        raise InvalidShape(f"object '{item.id}' has a plane; set the height of the floor instead")
    for shape, pose in zip(item.primitives, item.primitive_poses, strict=True):
        kind = _PRIMITIVES.get(shape.type)
        if kind is None:
            raise InvalidShape(f"object '{item.id}' has a primitive of type {shape.type}; allowed: "
                               + ", ".join(_PRIMITIVES.values()))
        size = tuple(float(x) for x in shape.dimensions)[:_SIZES[kind]]
        yield Obstacle(item.id, kind, size, place @ _matrix(pose))
    for mesh, pose in zip(item.meshes, item.mesh_poses, strict=True):
        corners = np.array([(p.x, p.y, p.z) for p in mesh.vertices]).reshape(-1, 3)
        faces = np.array([t.vertex_indices for t in mesh.triangles], dtype=int).reshape(-1, 3)
        yield Obstacle(item.id, "mesh", (), place @ _matrix(pose), corners, faces)


def _matrix(pose: Any) -> Array:
    """A pose as (4, 4); a quaternion of zeros, as in a message that nobody filled, turns nothing.
    """
    p, o = pose.position, pose.orientation
    q = np.array([o.x, o.y, o.z, o.w])
    length = float(np.linalg.norm(q))
    x, y, z, w = q / length if length > _SHORTEST else np.array([0.0, 0.0, 0.0, 1.0])
    out = np.eye(4)
    out[:3, :3] = [[1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                   [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                   [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]]
    out[:3, 3] = p.x, p.y, p.z
    return out


def _as_bytes(operation: Any) -> bytes:
    """An operation, which rclpy gives as bytes."""
    return operation if isinstance(operation, bytes) else bytes([operation])
