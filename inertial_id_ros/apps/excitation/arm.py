# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A robot description as a planner sees it: tool motion, joint torques, distances between links.

Speeds and heights of links are computed for many joint states at once: velocities are carried from
the root outwards, over all states in one pass of arrays, as a planner asks for thousands. A link is
the corners of what bounds its collision shapes, so that no speed is told too small.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import coal
import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from ...errors import InvalidModel, InvalidShape, UnknownFrame
from ...inertia import Array, phi_to_pinocchio, skew
from ...kinematics.robot_description import parse_urdf, root_link
from ...robot.model import check_joints, configuration_columns
from .collision_shapes import (
    CollisionShapes,
    Obstacle,
    PlacedBox,
    box_obstacle,
    carried_shapes,
    link_shapes,
)

_SIDES = 12  # of the prism around a cylinder: 3.5 % wider than it
_CIRCLE = 2.0 * np.pi * np.arange(_SIDES) / _SIDES
_RANDOM_POSES, _LEVEL = 20, 1e-6  # random poses in which a link that stays level does not rise [m]
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
        poses = np.random.default_rng(0).uniform(-np.pi, np.pi, (_RANDOM_POSES, len(self.names)))
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


_POSES = 200  # random ones, over the whole range of the joints


class CarriedLoad(NamedTuple):
    """What hangs on the frame: phi (10,) about it, and corners (2, 3) [m] of a box around it."""

    phi: Array | None = None
    box: Array | None = None


class FrameMotion(NamedTuple):
    """Motion of the frame that carries the payload at n instants, in that frame's axes.

    Attributes:
        proper_acceleration: ``R'(pddot - g)`` (n, 3) [m/s^2]; linear: velocity (n, 3) [m/s];
        omega: (n, 3) [rad/s]; alpha: (n, 3) [rad/s^2]; up: (n, 3) direction against gravity;
        height: (n,) of the origin above the root of the description, against gravity [m].
    """

    proper_acceleration: Array
    linear: Array
    omega: Array
    alpha: Array
    up: Array
    height: Array

    def point_speeds(self, points: ArrayLike) -> Array:
        """Speeds (n, k) [m/s] of points (k, 3) [m] that are fixed in the frame."""
        turning = np.cross(self.omega[:, None], np.asarray(points, dtype=float))
        return np.linalg.norm(self.linear[:, None] + turning, axis=2)


class Arm:
    """A robot of joints with one degree of freedom each, with a frame that carries a payload.

    Args:
        urdf: text of the robot description.
        frame: link that carries the payload, such as that of the wrench sensor.
        carried: payload to include in torques and collisions.
        packages: folders in which ``package://`` meshes are looked for.
        gravity: (3,) [m/s^2] in axes of the description's root.
        keep_out: boxes, corners (2, 3) [m] in axes of the root, and obstacles, that no moving link
            may touch.

    Attributes:
        joint_names: of all joints that move; lower, upper: limits of position [rad or m], not
        finite where there is none; speed, effort: limits, infinite where there is none.
        links: speeds and heights of the links that move, and of the payload's box.
        unchecked: why collisions are not checked between links; empty if they are.

    Raises:
        InvalidModel: not a usable description, or boxes to keep out of and no shapes of links.
        UnknownFrame: it has no such link.
    """

    def __init__(self, urdf: str, frame: str, carried: CarriedLoad | None = None,
                 packages: Sequence[Path] = (), gravity: ArrayLike = (0.0, 0.0, -9.81),
                 keep_out: Sequence[Array] = (), obstacles: Sequence[Obstacle] = ()) -> None:
        carried = CarriedLoad() if carried is None else carried
        model = parse_urdf(urdf, dynamics=True)
        joints = list(model.joints)[1:]
        check_joints(list(model.names)[1:], joints)
        if not model.existFrame(frame, pin.FrameType.BODY):
            links = [f.name for f in model.frames if f.type == pin.FrameType.BODY]
            raise UnknownFrame(f"the robot description has no link '{frame}'; it has: "
                               + ", ".join(links))
        model.gravity.linear = np.asarray(gravity, dtype=float)
        self.urdf, self.frame = urdf, frame
        self._model = model
        self.root = root_link(model)
        self._index = model.getFrameId(frame, pin.FrameType.BODY)
        at = model.frames[self._index]
        if carried.phi is not None:
            model.appendBodyToJoint(at.parentJoint, pin.Inertia.FromDynamicParameters(
                phi_to_pinocchio(carried.phi)), at.placement)
        self._data = model.createData()
        self.joint_names: tuple[str, ...] = tuple(list(model.names)[1:])
        self._circular = np.array([joint.nq == 2 for joint in joints])
        starts = [joint.idx_q for joint in joints]
        nowhere = np.where(self._circular, np.inf, 0.0)
        self.lower = model.lowerPositionLimit[starts] - nowhere
        self.upper = model.upperPositionLimit[starts] + nowhere
        self.speed = _infinite_where_unset(model.velocityLimit)
        self.effort = _infinite_where_unset(model.effortLimit)
        self._links, self.unchecked = self._read_links(packages)
        self._carried_boxes = ([] if carried.box is None
                               else [PlacedBox("payload", carried.box, self._index)])
        self.links = LinkMotion(model, carried_shapes(model, self._links, self._carried_boxes))
        self._obstacles = [*(box_obstacle(f"keep-out box {k + 1}", corners)
                             for k, corners in enumerate(keep_out)), *obstacles]
        if self._obstacles and self.unchecked:
            raise InvalidModel(f"{self.unchecked}: the robot cannot be kept out of "
                               + ("boxes" if keep_out else "obstacles"))

    @property
    def chain(self) -> tuple[str, ...]:
        """Joints that move the frame, root first."""
        joint, out = self._model.frames[self._index].parentJoint, []
        while joint > 0:
            out.append(self._model.names[joint])
            joint = self._model.parents[joint]
        return tuple(reversed(out))

    def frame_motion(self, q: Array, dq: Array, ddq: Array) -> FrameMotion:
        """Motion of the frame that carries the payload, in that frame's axes, for joint motion
        (n, joints) [rad, rad/s, rad/s^2, or m for sliding joints]."""
        model, data, index = self._model, self._data, self._index
        out = np.empty((len(q), 5, 3))
        height = np.empty(len(q))
        gravity = np.array(model.gravity.linear)
        up = -gravity / np.linalg.norm(gravity)
        configuration = self._configuration(q)
        for i in range(len(q)):
            pin.forwardKinematics(model, data, configuration[i], dq[i], ddq[i])
            pose = pin.updateFramePlacement(model, data, index)
            velocity = pin.getFrameVelocity(model, data, index, pin.LOCAL)
            change = pin.getFrameClassicalAcceleration(model, data, index, pin.LOCAL)
            turned = pose.rotation.T
            out[i] = (change.linear - turned @ gravity, velocity.linear, velocity.angular,
                      change.angular, turned @ up)
            height[i] = pose.translation @ up
        a, v, omega, alpha, upwards = out.transpose(1, 0, 2)
        return FrameMotion(a, v, omega, alpha, upwards, height)

    def frame_poses(self, q: Array) -> list[tuple[Array, Array]]:
        """Position (3,) [m] and quaternion (4,), x, y, z, w, of that frame in the description's
        root, for poses (n, joints)."""
        out = []
        for configuration in self._configuration(q):
            pin.forwardKinematics(self._model, self._data, configuration)
            pose = pin.updateFramePlacement(self._model, self._data, self._index)
            out.append((np.array(pose.translation), np.array(pin.Quaternion(
                pose.rotation).coeffs())))
        return out

    def torque(self, q: Array, dq: Array, ddq: Array) -> Array:
        """Torques (n, joints) [N m or N] of the description's bodies, without friction."""
        configuration = self._configuration(q)
        return np.stack([pin.rnea(self._model, self._data, configuration[i], dq[i], ddq[i])
                         for i in range(len(q))])

    def collision_shapes(self, start: Array | None = None, active: Iterable[int] | None = None,
                         clearance: float = 0.0) -> CollisionShapes:
        """The shapes that may not meet.

        Args:
            start: (joints,) pose at which a motion starts; None: zero. active: indices of the
            joints that move; None: all. clearance: least distance [m].
        """
        low = np.where(np.isfinite(self.lower), self.lower, -np.pi)
        high = np.where(np.isfinite(self.upper), self.upper, np.pi)
        count = len(low)
        return CollisionShapes(
            self._model, self._circular, self._links, self._carried_boxes, self._obstacles,
            clearance, np.zeros(count) if start is None else start,
            np.random.default_rng(0).uniform(low, high, (_POSES, count)),
            range(count) if active is None else active)

    def _configuration(self, q: Array) -> Array:
        """Pinocchio's configuration (n, nq): cosine and sine of continuous joints."""
        return np.concatenate(configuration_columns(q, self._circular), axis=1)

    def _read_links(self, packages: Sequence[Path]) -> tuple[pin.GeometryModel, str]:
        """Collision shapes of the links, and why there are none."""
        try:
            shapes = link_shapes(self._model, self.urdf, packages)
        except InvalidShape as error:
            return pin.GeometryModel(), f"collision shapes cannot be loaded ({error})"
        return shapes, "" if shapes.ngeoms else "the robot description has no collision shapes"


def _infinite_where_unset(limits: Array) -> Array:
    """Limits, those that are not given (zero or huge) as infinity."""
    values = np.array(limits, dtype=float)
    return np.where((values > 0.0) & (values < 1e12), values, np.inf)
