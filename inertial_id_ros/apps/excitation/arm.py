# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A robot description as a planner sees it: sensor motion, torques, speeds and distances of links.

Speeds and heights of links are computed for many joint states at once, as a planner asks for
thousands. A link is the corners of what bounds its collision shapes, so that no speed is too low.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import coal
import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from ...errors import InvalidModel, InvalidShape, UnknownFrame
from ...geometry.mesh import package_roots
from ...inertia import Array, phi_to_pinocchio, skew
from ...motion.description import link_names, parse_urdf
from ...motion.motion import Motion
from ...motion.robot import Chain, chain_of
from .collision import POSES, CollisionShapes, Obstacle, corners_of, link_shapes

GRAVITY = (0.0, 0.0, -9.81)  # m/s^2
LEVEL = 1e-4  # m: a link that rises and falls by less turns about the vertical


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
            effort: limits; infinite where there is none. root: link that all others hang on.
        rises: (joints,) True where the height of the link on a joint depends on the pose.
        shapes: of collisions; None: see `unchecked`, which says why they are not checked.

    Raises:
        InvalidModel: not a usable description, or obstacles and no shapes of links.
        UnknownFrame: it has no such link.
    """

    def __init__(self, urdf: str, frame: str, box: Array | None = None, phi: Array | None = None,
                 gravity: ArrayLike = GRAVITY, obstacles: Sequence[Obstacle] = ()) -> None:
        self._model = model = parse_urdf(urdf, dynamics=True)
        joints = list(model.joints)[1:]
        for name, joint in zip(list(model.names)[1:], joints, strict=True):
            if joint.nv != 1:
                raise InvalidModel(f"joint '{name}' has {joint.nv} degrees of freedom; one is "
                                   "allowed")
        if frame not in link_names(model):
            raise UnknownFrame(f"the robot description has no link '{frame}'; it has: "
                               + ", ".join(link_names(model)))
        self.urdf, self.frame, self.root = urdf, frame, link_names(model)[0]
        model.gravity.linear = np.asarray(gravity, dtype=float)
        self._up = -model.gravity.linear / np.linalg.norm(model.gravity.linear)
        chain = chain_of(urdf, frame)
        upright = pin.SE3(pin.Quaternion.FromTwoVectors(self._up, np.eye(3)[2]).matrix(),
                          np.zeros(3))
        self._chain = Chain(upright * chain.root, chain.joints, chain.tip)
        self._at = model.frames[model.getFrameId(frame, pin.FrameType.BODY)]
        if phi is not None:
            model.appendBodyToJoint(self._at.parentJoint, pin.Inertia.FromDynamicParameters(
                phi_to_pinocchio(phi)), self._at.placement)
        self.joint_names: tuple[str, ...] = tuple(list(model.names)[1:])
        self._circular = np.array([joint.nq == 2 for joint in joints])
        self._starts = np.array([joint.idx_q for joint in joints])
        beyond = np.where(self._circular, np.inf, 0.0)
        self.lower = model.lowerPositionLimit[self._starts] - beyond
        self.upper = model.upperPositionLimit[self._starts] + beyond
        self.speed, self.effort = (_infinite_where_unset(limit) for limit in (
            model.velocityLimit, model.effortLimit))
        self._data = model.createData()
        self._set_shapes(box, obstacles)

    @property
    def chain(self) -> tuple[str, ...]:
        """Joints that move the frame, root first."""
        return self._chain.names

    def index(self, names: Sequence[str]) -> np.ndarray:
        """Where joints of these names stand among all."""
        return np.array([self.joint_names.index(name) for name in names], dtype=int)

    def motion(self, q: Array, dq: Array, ddq: Array) -> Motion:
        """Motion of the frame for joint motion (n, joints) [rad, rad/s, rad/s^2, or m]; the base's
        z axis points against gravity."""
        return self._chain.motion(np.arange(len(q)), self.joint_names, q, dq, ddq)

    def torque(self, q: Array, dq: Array, ddq: Array) -> Array:
        """Torques (n, joints) [N m or N] of the description's bodies, without friction."""
        return np.stack([pin.rnea(self._model, self._data, *state) for state in zip(
            self.configurations(q), dq, ddq, strict=True)])

    def poses(self, q: Array) -> list[tuple[Array, Array]]:
        """Position (3,) [m] and quaternion x, y, z, w of the frame in the root, for poses (n,
        joints)."""
        out = []
        for configuration in self.configurations(q):
            pin.forwardKinematics(self._model, self._data, configuration)
            pose = self._data.oMi[self._at.parentJoint] * self._at.placement
            out.append((np.array(pose.translation), np.array(pin.Quaternion(
                pose.rotation).coeffs())))
        return out

    def configurations(self, q: Array) -> Array:
        """Pinocchio's configurations (n, nq) of positions (n, joints)."""
        out, turns = np.empty((len(q), self._model.nq)), self._circular
        out[:, self._starts[~turns]] = q[:, ~turns]
        out[:, self._starts[turns]] = np.cos(q[:, turns])
        out[:, self._starts[turns] + 1] = np.sin(q[:, turns])
        return out

    # ---- links -----------------------------------------------------------------------------------

    def links(self, q: Array, dq: Array) -> LinkState:
        """Speeds and heights of the links on all joints, for joint states (n, joints)."""
        speed, height = np.empty_like(q), np.empty_like(q)
        places: list[tuple[Array, Array, Array, Array]] = []
        zero = np.zeros((len(q), 3))
        root = np.broadcast_to(np.eye(3), (len(q), 3, 3)), zero, zero, zero
        for k, (parent, place, axis) in enumerate(self._tree):
            turn, at, linear, omega = places[parent - 1] if parent else root
            offset = place.translation + (q[:, k, None] * axis[:3]) @ place.rotation.T
            own = place.rotation @ _rotations(axis[3:], q[:, k])
            linear = linear + np.cross(omega, offset)
            linear, omega = (np.einsum("nji,nj->ni", own, v) for v in (linear, omega))
            at = at + np.einsum("nij,nj->ni", turn, offset)
            places.append((turn @ own, at, linear + dq[:, k, None] * axis[:3],
                           omega + dq[:, k, None] * axis[3:]))
            turn, at, linear, omega = places[-1]
            corners = self._corners[k]
            velocity = linear[:, None] + corners @ skew(omega).transpose(0, 2, 1)
            speed[:, k] = np.sqrt((velocity**2).sum(axis=2).max(axis=1))
            height[:, k] = at @ self._up + (self._up @ turn @ corners.T).min(axis=1)
        return LinkState(speed, height)

    def _set_shapes(self, box: Array | None, obstacles: Sequence[Obstacle]) -> None:
        """Corners of links, and what may collide."""
        model, self.unchecked = self._model, ""
        try:
            shapes = link_shapes(model, self.urdf, [str(folder) for folder in package_roots()])
        except InvalidShape as error:
            shapes, self.unchecked = pin.GeometryModel(), f"collision shapes: {error}"
        if not shapes.ngeoms:
            self.unchecked = self.unchecked or "the robot description has no collision shapes"
            if obstacles:
                raise InvalidModel(f"{self.unchecked}: the robot cannot be kept out of obstacles")
        if box is not None:
            low, high = np.asarray(box, dtype=float)
            place = self._at.placement * pin.SE3(np.eye(3), 0.5 * (low + high))
            shapes.addGeometryObject(pin.GeometryObject(
                "payload", self._at.parentJoint, place, coal.Box(*(high - low))))
        neutral = pin.neutral(model)
        axes = [pin.computeJointJacobian(model, self._data, neutral, j)[:, model.joints[j].idx_v]
                for j in range(1, model.njoints)]
        self._tree = list(zip(list(model.parents)[1:], list(model.jointPlacements)[1:], axes,
                              strict=True))
        self._corners = [self._corners_on(shapes, j) for j in range(1, model.njoints)]
        rng = np.random.default_rng(0)
        q = rng.uniform(np.where(np.isfinite(self.lower), self.lower, -np.pi),
                        np.where(np.isfinite(self.upper), self.upper, np.pi),
                        (POSES, len(self.joint_names)))
        self.rises = np.ptp(self.links(q, 0.0 * q).height, axis=0) > LEVEL
        self.shapes = None if self.unchecked else CollisionShapes(
            model, shapes, obstacles, self.configurations(q))

    def _corners_on(self, shapes: pin.GeometryModel, joint: int) -> Array:
        """Corners (c, 3) [m] of the shapes on a joint, in its axes; without shapes the origins of
        its frames and of the joints that follow."""
        own = [corners_of(s) for s in shapes.geometryObjects if s.parentJoint == joint]
        model = self._model
        return np.vstack(own or [
            np.zeros(3), *(f.placement.translation for f in model.frames if f.parentJoint == joint),
            *(model.jointPlacements[k].translation for k in range(1, model.njoints)
              if model.parents[k] == joint)])


def proper_acceleration(motion: Motion) -> Array:
    """Acceleration less gravity (n, 3) [m/s^2] in axes of the frame."""
    return motion.acceleration + 9.81 * motion.rotation[:, 2]


def _rotations(axis: Array, angles: Array) -> Array:
    """Rotations (n, 3, 3) about an axis (3,) of length 1 or 0 by angles (n,) [rad]."""
    spin = skew(axis)
    sine, versine = np.sin(angles)[:, None, None], (1.0 - np.cos(angles))[:, None, None]
    return np.asarray(np.eye(3) + sine * spin + versine * (spin @ spin))


def _infinite_where_unset(limits: Array) -> Array:
    values = np.array(limits, dtype=float)
    return np.where((values > 0.0) & (values < 1e12), values, np.inf)
