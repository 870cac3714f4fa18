# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""How fast and how high every link is, for many joint states at once.

Velocities are carried from the root outwards, over all states in one pass of arrays: a planner asks
for thousands. A link is the corners of what bounds its collision shapes, so that no speed is told
too small.
"""

from __future__ import annotations

from typing import NamedTuple

import coal
import numpy as np
import pinocchio as pin

from ...inertia import Array, skew

_SIDES = 12  # of the prism around a cylinder: 3.5 % wider than it
_CIRCLE = 2.0 * np.pi * np.arange(_SIDES) / _SIDES
_POSES, _LEVEL = 20, 1e-6  # random poses in which a link that stays level does not rise [m]
_MOST_CORNERS = 60  # of a convex hull; beyond that its box stands for it


class LinkState(NamedTuple):
    """Speeds and heights of links at n states.

    Attributes:
        speed: (n, l) largest speed of a point of each link [m/s].
        height: (n, l) of its lowest point above the description's root, against gravity [m].
    """

    speed: Array
    height: Array


class _Body(NamedTuple):
    """Motion of a frame at n states.

    Attributes:
        rotation: (n, 3, 3) to axes of the root; position: (n, 3) of its origin, in those [m].
        linear: (n, 3) velocity [m/s]; omega: (n, 3) [rad/s]; in its own axes.
    """

    rotation: Array
    position: Array
    linear: Array
    omega: Array


class LinkMotion:
    """The moving links of a robot, and the boxes that they carry.

    Attributes:
        names: of the links, one for each joint; rises: (l,) whether the height of a link depends on
            the pose; that of a link which turns about the vertical does not.

    Args:
        model: of the robot, with joints of one degree of freedom each.
        shapes: collision shapes of links and payload; those on the root do not move. Of a link
            without any, the origins of the frames on it stand for it.
    """

    def __init__(self, model: pin.Model, shapes: pin.GeometryModel) -> None:
        self._parents = np.array(list(model.parents)[1:]) - 1  # -1: the root
        self._places = [model.jointPlacements[j] for j in range(1, model.njoints)]
        data, neutral = model.createData(), pin.neutral(model)
        self._axes = np.array([
            pin.computeJointJacobian(model, data, neutral, j)[:, model.joints[j].idx_v]
            for j in range(1, model.njoints)])
        gravity = np.array(model.gravity.linear)
        self._up = -gravity / np.linalg.norm(gravity)
        points = _corners_by_joint(shapes)
        self._points = [points[j] if j in points else _frame_origins(model, j)
                        for j in range(1, model.njoints)]
        self.names: tuple[str, ...] = tuple(_first_links(model)[1:])
        poses = np.random.default_rng(0).uniform(-np.pi, np.pi, (_POSES, len(self.names)))
        heights = self.links_at(poses, 0.0 * poses).height
        self.rises: np.ndarray = np.ptp(heights, axis=0) > _LEVEL

    def moved_by(self, moves: np.ndarray) -> np.ndarray:
        """Indices of the links that any of the joints moves which do (joints,)."""
        out = np.zeros(len(moves), dtype=bool)
        for joint, parent in enumerate(self._parents):
            out[joint] = moves[joint] or (parent >= 0 and out[parent])
        return np.flatnonzero(out)

    def links_at(self, q: Array, dq: Array) -> LinkState:
        """Speeds and heights of all links, for joint states (n, joints)."""
        speed, height = np.empty_like(q), np.empty_like(q)
        for k, (body, own) in enumerate(zip(self._bodies(q, dq), self._points, strict=True)):
            velocity = body.linear[:, None] + own @ skew(body.omega).transpose(0, 2, 1)
            speed[:, k] = np.sqrt((velocity**2).sum(axis=2).max(axis=1))
            height[:, k] = body.position @ self._up + (self._up @ body.rotation @ own.T).min(axis=1)
        return LinkState(speed, height)

    def _bodies(self, q: Array, dq: Array) -> list[_Body]:
        """Motion of every joint's frame."""
        n = len(q)
        zero = np.zeros((n, 3))
        root = _Body(np.broadcast_to(np.eye(3), (n, 3, 3)), zero, zero, zero)
        out: list[_Body] = []
        for j, (parent, place) in enumerate(zip(self._parents, self._places, strict=True)):
            slide, turn = self._axes[j, :3], self._axes[j, 3:]
            before = out[parent] if parent >= 0 else root
            turned = place.rotation @ _rotations(turn, q[:, j])
            offset = place.translation + (q[:, j, None] * slide) @ place.rotation.T
            swung = before.linear + np.cross(before.omega, offset)
            out.append(_Body(
                before.rotation @ turned,
                before.position + np.einsum("nij,nj->ni", before.rotation, offset),
                np.einsum("nji,nj->ni", turned, swung) + dq[:, j, None] * slide,
                np.einsum("nji,nj->ni", turned, before.omega) + dq[:, j, None] * turn))
        return out


def _rotations(axis: Array, angles: Array) -> Array:
    """Rotations (n, 3, 3) about an axis (3,) of length 1 or 0 by angles (n,) [rad]."""
    spin = skew(axis)
    sine, versine = np.sin(angles)[:, None, None], (1.0 - np.cos(angles))[:, None, None]
    return np.asarray(np.eye(3) + sine * spin + versine * (spin @ spin))


def _first_links(model: pin.Model) -> list[str]:
    """For each joint the first link that hangs on it."""
    names = list(model.names)
    for frame in reversed(list(model.frames)):
        if frame.type == pin.FrameType.BODY:
            names[frame.parentJoint] = frame.name
    return names


def _frame_origins(model: pin.Model, joint: int) -> Array:
    """Origins (c, 3) of all frames on a joint, and of the joints that follow, in its axes [m]."""
    return np.array([np.zeros(3), *(f.placement.translation for f in model.frames
                                    if f.parentJoint == joint),
                     *(model.jointPlacements[k].translation for k in range(1, model.njoints)
                       if model.parents[k] == joint)])


def _corners_by_joint(shapes: pin.GeometryModel) -> dict[int, Array]:
    """Corners (c, 3) of what bounds the shapes on each joint, in its axes [m]."""
    parts: dict[int, list[Array]] = {}
    for shape in shapes.geometryObjects:
        corners = bounding_corners(shape.geometry) * np.asarray(shape.meshScale)
        place = shape.placement
        parts.setdefault(shape.parentJoint, []).append(
            corners @ place.rotation.T + place.translation)
    return {joint: np.vstack(own) for joint, own in parts.items()}


def bounding_corners(solid: coal.CollisionGeometry) -> Array:
    """Corners (c, 3) of a convex polyhedron that contains a solid, in its axes [m]."""
    if isinstance(solid, coal.Cylinder):
        radius = solid.radius / np.cos(np.pi / _SIDES)
        ring = radius * np.column_stack([np.cos(_CIRCLE), np.sin(_CIRCLE)])
        return np.vstack([np.column_stack([ring, np.full(_SIDES, end)])
                          for end in (-solid.halfLength, solid.halfLength)])
    if isinstance(solid, coal.BVHModelBase):
        corners = _hull_corners(np.array(solid.vertices()))
        if len(corners) <= _MOST_CORNERS:
            return corners
    solid.computeLocalAABB()
    low, high = np.array(solid.aabb_local.min_), np.array(solid.aabb_local.max_)
    return np.array([(x, y, z) for x in (low[0], high[0]) for y in (low[1], high[1])
                     for z in (low[2], high[2])])


def _hull_corners(points: Array) -> Array:
    """Those of the points (n, 3) that are corners of their convex hull; all of them in a plane."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        return np.asarray(points[ConvexHull(points).vertices])
    except QhullError:
        return points
