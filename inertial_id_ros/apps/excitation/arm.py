# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A robot description as a planner sees it: sensor motion, torques, speeds and distances of links.

Motions are computed for many joint states at once, as a planner asks for thousands. A link is the
corners of what bounds its collision shapes, so that no speed is too low.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from xml.etree import ElementTree

import coal
import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from ...errors import InvalidModel, UnknownFrame
from ...inertia import Array, phi_to_pinocchio
from ...model.newton_euler import GRAVITY, skew
from ...motion.robot import link_names, parse_urdf
from .collision import CollisionShapes, Obstacle, corners_of, read_shapes

LEVEL = 1e-4  # m: a link that rises and falls by less turns about the vertical
POSES = 100  # random ones


class FrameMotion(NamedTuple):
    """Motion of a frame at n instants, in its own axes, (n, 3) each: acceleration of the origin
    less gravity [m/s^2], angular velocity and acceleration [rad/s, rad/s^2]."""

    proper: Array
    omega: Array
    alpha: Array


class LinkState(NamedTuple):
    """Links at n states: speed of their fastest points [m/s], height of their lowest points above
    the description's root, against gravity [m], both (n, joints)."""

    speed: Array
    height: Array


class Arm:
    """A robot of joints with one degree of freedom each, with a frame that carries a payload.

    Args:
        urdf: text of the robot description; frame: link that carries the payload.
        box: corners (2, 3) [m] of a box around the payload, in that frame; phi: (10,) of it.
        gravity: (3,) [m/s^2] in axes of the description's root.
        obstacles: what no moving link may touch.

    Attributes:
        joint_names: of all joints that move; lower, upper: limits of position [rad or m], speed,
            effort: limits; infinite where there is none.
        chain: names of the joints that move the frame, root first.
        rises: (joints,) True where the height of the link on a joint depends on the pose.
        shapes: of collisions; None: see `unchecked`, which says why they are not checked.

    Raises:
        InvalidModel: not a usable description, or obstacles and no shapes of links.
        UnknownFrame: it has no such link.
    """

    def __init__(self, urdf: str, frame: str, box: Array | None = None, phi: Array | None = None,
                 gravity: ArrayLike = GRAVITY, obstacles: Sequence[Obstacle] = ()) -> None:
        self._model = model = parse_urdf(urdf, dynamics=True)
        self.urdf, self.frame, joints = urdf, frame, list(model.joints)[1:]
        self.joint_names: tuple[str, ...] = tuple(list(model.names)[1:])
        if frame not in link_names(model):
            raise UnknownFrame(f"the robot description has no link '{frame}'; it has: "
                               + ", ".join(link_names(model)))
        self._frame = model.getFrameId(frame, pin.FrameType.BODY)
        tip = model.frames[self._frame]
        self.chain = tuple(self.joint_names[j - 1] for j in model.supports[tip.parentJoint] if j)
        self._check_joints()
        model.gravity.linear = np.asarray(gravity, dtype=float)
        self._up = -model.gravity.linear / np.linalg.norm(model.gravity.linear)
        if phi is not None:
            model.appendBodyToJoint(tip.parentJoint, pin.Inertia.FromDynamicParameters(
                phi_to_pinocchio(phi)), tip.placement)
        first = [joint.idx_q for joint in joints]
        turns = np.where([joint.nq == 2 for joint in joints], np.inf, 0.0)  # continuous: cos, sin
        self.lower = model.lowerPositionLimit[first] - turns
        self.upper = model.upperPositionLimit[first] + turns
        self.speed, self.effort = (
            np.where((limit > 0.0) & (limit < 1e12), limit, np.inf)
            for limit in (np.array(model.velocityLimit), np.array(model.effortLimit)))
        self._data, self._rest = model.createData(), pin.neutral(model)

        shapes, self.unchecked = read_shapes(model, urdf)
        if obstacles and self.unchecked:
            raise InvalidModel(f"{self.unchecked}: the robot cannot be kept out of obstacles")
        if box is not None:
            low, high = np.asarray(box, dtype=float)
            shapes.addGeometryObject(pin.GeometryObject(
                "payload", tip.parentJoint, tip.placement * pin.SE3(
                    np.eye(3), 0.5 * (low + high)), coal.Box(*(high - low))))
        self._corners = [self._corners_on(shapes, j) for j in range(1, model.njoints)]
        q = np.random.default_rng(0).uniform(
            np.where(np.isfinite(self.lower), self.lower, -np.pi),
            np.where(np.isfinite(self.upper), self.upper, np.pi), (POSES, len(joints)))
        self.rises = np.ptp(self.links(q, 0.0 * q).height, axis=0) > LEVEL
        self.shapes = None if self.unchecked else CollisionShapes(
            model, shapes, obstacles, self.configurations(q))

    def index(self, names: Sequence[str]) -> np.ndarray:
        """Where joints of these names stand among all."""
        return np.array([self.joint_names.index(name) for name in names], dtype=int)

    def motion(self, q: Array, dq: Array, ddq: Array) -> FrameMotion:
        """Motion of the frame for joint motion (n, joints) [rad, rad/s, rad/s^2, or m]."""
        model, data, frame = self._model, self._data, self._frame
        turns, felt, omega = np.empty((len(q), 3, 3)), np.empty((len(q), 6)), np.empty((len(q), 3))
        for k, state in enumerate(zip(self.configurations(q), dq, ddq, strict=True)):
            pin.forwardKinematics(model, data, *state)
            turns[k] = pin.updateFramePlacement(model, data, frame).rotation
            felt[k] = pin.getFrameClassicalAcceleration(model, data, frame, pin.LOCAL).vector
            omega[k] = pin.getFrameVelocity(model, data, frame, pin.LOCAL).angular
        falling = model.gravity.linear @ turns
        return FrameMotion(felt[:, :3] - falling, omega, felt[:, 3:])

    def links(self, q: Array, dq: Array) -> LinkState:
        """Speeds and heights of the links on all joints, for joint states (n, joints)."""
        shape = len(q), self._model.njoints
        places, twists = np.empty((*shape, 4, 4)), np.empty((*shape, 6))
        for k, state in enumerate(zip(self.configurations(q), dq, strict=True)):
            pin.forwardKinematics(self._model, self._data, *state)
            places[k] = [place.homogeneous for place in self._data.oMi]
            twists[k] = [twist.vector for twist in self._data.v]
        speed, height = np.empty_like(q), np.empty_like(q)
        for k, corners in enumerate(self._corners):
            linear, angular = np.split(twists[:, k + 1], 2, axis=1)
            velocity = linear[:, None] + corners @ skew(angular).transpose(0, 2, 1)
            speed[:, k] = np.sqrt(np.square(velocity).sum(axis=2).max(axis=1))
            up = self._up @ places[:, k + 1, :3]
            height[:, k] = up[:, 3] + (up[:, :3] @ corners.T).min(axis=1)
        return LinkState(speed, height)

    def torque(self, q: Array, dq: Array, ddq: Array) -> Array:
        """Torques (n, joints) [N m or N] of the description's bodies, without friction."""
        return np.stack([pin.rnea(self._model, self._data, *state) for state in zip(
            self.configurations(q), dq, ddq, strict=True)])

    def configurations(self, q: Array) -> Array:
        """Pinocchio's configurations (n, nq) of positions (n, joints)."""
        return np.stack([pin.integrate(self._model, self._rest, row) for row in q])

    def _check_joints(self) -> None:
        """Raise InvalidModel where a joint cannot be planned for."""
        for name, joint in zip(self.joint_names, list(self._model.joints)[1:], strict=True):
            if joint.nv != 1:
                raise InvalidModel(f"joint '{name}' has {joint.nv} degrees of freedom; one is "
                                   "allowed")
        for element in ElementTree.fromstring(self.urdf).iter("joint"):
            mimic, name = element.find("mimic"), element.get("name", "")
            if mimic is not None and name in self.chain:
                raise InvalidModel(f"joint '{name}' follows joint '{mimic.get('joint')}' (mimic); "
                                   "joints that move the frame must move on their own")

    def _corners_on(self, shapes: pin.GeometryModel, joint: int) -> Array:
        """Corners (c, 3) [m] of the shapes on a joint, in its axes; without shapes the origins of
        its frames and of the joints that follow."""
        own = [corners_of(s) for s in shapes.geometryObjects if s.parentJoint == joint]
        model = self._model
        return np.vstack(own or [
            np.zeros(3), *(f.placement.translation for f in model.frames if f.parentJoint == joint),
            *(model.jointPlacements[k].translation for k in range(1, model.njoints)
              if model.parents[k] == joint)])
