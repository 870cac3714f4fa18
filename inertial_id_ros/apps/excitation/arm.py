# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A robot description as a planner sees it: tool motion, joint torques, distances between links."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from ...errors import InvalidModel, InvalidSetting, InvalidShape, UnknownFrame
from ...inertia import Array, phi_to_pinocchio
from ...io.child_process import capture_complaints
from ...kinematics.robot_description import parse_urdf, root_link
from ...robot.model import check_joints, configuration_columns
from .collision_shapes import CollisionShapes, PlacedBox, carried_shapes, copy_meshes
from .link_motion import LinkMotion
from .obstacles import Obstacle, box_obstacle

FOLDERS_OPTION = "--mesh-folders"  # of `plan_excitation`
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
        folders: that ``file://`` meshes may lie in.
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
                 folders: Sequence[Path] = (), keep_out: Sequence[Array] = (),
                 obstacles: Sequence[Obstacle] = ()) -> None:
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
        self._links, self.unchecked = self._read_links(packages, folders)
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

    def _read_links(self, packages: Sequence[Path], folders: Sequence[Path]
                    ) -> tuple[pin.GeometryModel, str]:
        """Collision shapes of the links, and why there are none."""
        try:
            with copy_meshes(self.urdf, packages, folders, FOLDERS_OPTION) as urdf, \
                    capture_complaints():  # parse_urdf has told what matters
                shapes = pin.buildGeomFromUrdfString(self._model, urdf, pin.GeometryType.COLLISION)
        except (ValueError, InvalidShape, InvalidSetting) as error:
            return pin.GeometryModel(), ("collision shapes cannot be loaded "
                                         f"({' '.join(str(error).split())})")
        return shapes, "" if shapes.ngeoms else "the robot description has no collision shapes"


def _infinite_where_unset(limits: Array) -> Array:
    """Limits, those that are not given (zero or huge) as infinity."""
    values = np.array(limits, dtype=float)
    return np.where((values > 0.0) & (values < 1e12), values, np.inf)
