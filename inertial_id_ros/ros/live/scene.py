# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The arm, the payload and the wrench in the 3D scene of one browser."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from ...inertia import Array
from ...kinematics.transform_tree import Pose
from .live_node import LiveNode
from .payload_view import Ellipsoid, com_ellipsoid, inertia_box

_ARM, _COM, _BOX, _FORCE = (110, 120, 130), (217, 83, 25), (0, 114, 189), (162, 20, 47)
_HELD = (150, 150, 150)
_LEAST = 0.004  # m: half axis of an ellipsoid that is still seen
_METRES_A_NEWTON = 0.01
_CAMERA, _TARGET = np.array([1.2, 1.2, 1.0]), np.array([0.2, 0.0, 0.4])  # m
_NEAR = np.array([0.55, 0.45, 0.3])  # m: of the camera from the sensor; the payload is then seen


class Scene:
    """Draws into a browser's scene; what is not known is not drawn.

    Args:
        client: of viser.
    """

    def __init__(self, client: Any) -> None:
        self._api = api = client.scene
        self._camera = client.camera
        self._camera.position, self._camera.look_at = _CAMERA, _TARGET
        self._is_aimed = False  # at the payload, once; from then on the camera is the user's
        api.set_up_direction("+z")
        api.add_grid("/ground", width=2.0, height=2.0, cell_size=0.1)
        self._sensor = api.add_frame("/sensor", axes_length=0.1, axes_radius=0.003, visible=False)

    def draw(self, node: LiveNode) -> None:
        """Draw what the node has heard last."""
        edges = node.edges()
        if len(edges):
            self._api.add_line_segments("/arm", edges, _ARM, thickness=0.02)
        message = node.message
        pose = None if message is None else node.pose(message.header.frame_id.lstrip("/"))
        self._sensor.visible = pose is not None
        if message is None or pose is None:
            return
        if not self._is_aimed:
            self._is_aimed = True
            self._camera.position = pose.translation + _NEAR
            self._camera.look_at = pose.translation
        self._sensor.wxyz, self._sensor.position = _quaternion(pose.rotation), pose.translation
        colour = _HELD if message.stale else None
        ball = com_ellipsoid(message)
        if ball is not None:
            ball = ball._replace(size=np.maximum(ball.size, _LEAST))
        self._place("/sensor/com", self._api.add_icosphere, ball, colour or _COM, 1.0)
        self._place("/sensor/inertia", self._api.add_box, inertia_box(message), colour or _BOX,
                    0.3)
        self._draw_force(node, pose)

    def _place(self, name: str, add: Any, shape: Ellipsoid | None, colour: tuple[int, ...],
               opacity: float) -> None:
        """Put a shape into the frame of the sensor, or take it away."""
        if shape is None:
            self._api.remove_by_name(name)
            return
        add(name, color=colour, opacity=opacity, scale=tuple(shape.size), position=shape.centre,
            wxyz=_quaternion(shape.rotation))

    def _draw_force(self, node: LiveNode, pose: Pose) -> None:
        """The compensated force at the origin of its frame."""
        if node.wrench is None:
            return
        own = node.pose(node.wrench.header.frame_id.lstrip("/")) or pose
        force = node.wrench.wrench.force
        end = own.rotation @ np.array([force.x, force.y, force.z]) * _METRES_A_NEWTON
        self._api.add_arrows("/force", np.array([[own.translation, own.translation + end]]),
                             _FORCE, shaft_radius=0.006, head_radius=0.015, head_length=0.03)


def _quaternion(rotation: Array) -> Array:
    """w, x, y, z of a rotation matrix."""
    x, y, z, w = Rotation.from_matrix(rotation).as_quat()
    return np.array([w, x, y, z])
