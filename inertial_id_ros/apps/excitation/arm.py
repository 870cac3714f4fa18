# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A robot description as a planner sees it: sensor motion, torques, speeds and distances of links.

Motions are computed for many joint states at once, as a planner asks for thousands. A link is the
corners of what bounds its collision shapes, so that no speed is too low.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import coal
import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from ...errors import InvalidModel, UnknownFrame
from ...geometry.mesh import package_roots
from ...inertia import Array, phi_to_pinocchio
from ...model.newton_euler import GRAVITY, skew
from ...motion.description import link_names, parse_urdf
from .collision import POSES, CollisionShapes, Obstacle, corners_of

LEVEL = 1e-4  # m: a link that rises and falls by less turns about the vertical


class FrameMotion(NamedTuple):
    """Motion of a frame at n instants, in its own axes, (n, 3) each.

    Attributes:
        up: direction against gravity; proper: acceleration of the origin less gravity [m/s^2];
            omega, alpha: angular velocity and acceleration [rad/s, rad/s^2].
    """

    up: Array
    proper: Array
    omega: Array
    alpha: Array


class LinkState(NamedTuple):
    """Links at n states: speed of their fastest points [m/s], height of their lowest points above
    the description's root, against gravity [m], both (n, joints)."""

    speed: Array
    height: Array


class _Body(NamedTuple):
    """What a joint moves, in axes of the root: rotation (n, 3, 3); origin, velocity, acceleration
    less gravity, angular velocity and acceleration (n, 3)."""

    turn: Array
    origin: Array
    velocity: Array
    proper: Array
    omega: Array
    alpha: Array

    def at(self, offset: Array) -> Array:
        """Acceleration less gravity (n, 3) of a point of it, at an offset (n, 3) in root axes."""
        return self.proper + np.cross(self.alpha, offset) + np.cross(
            self.omega, np.cross(self.omega, offset))


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
        self.joint_names: tuple[str, ...] = tuple(list(model.names)[1:])
        for name, joint in zip(self.joint_names, joints, strict=True):
            if joint.nv != 1:
                raise InvalidModel(f"joint '{name}' has {joint.nv} degrees of freedom; one is "
                                   "allowed")
        if frame not in link_names(model):
            raise UnknownFrame(f"the robot description has no link '{frame}'; it has: "
                               + ", ".join(link_names(model)))
        self.urdf, self.frame = urdf, frame
        model.gravity.linear = np.asarray(gravity, dtype=float)
        self._up = -model.gravity.linear / np.linalg.norm(model.gravity.linear)
        self._tip = tip = model.frames[model.getFrameId(frame, pin.FrameType.BODY)]
        if phi is not None:
            model.appendBodyToJoint(tip.parentJoint, pin.Inertia.FromDynamicParameters(
                phi_to_pinocchio(phi)), tip.placement)
        self._circular = np.array([joint.nq == 2 for joint in joints])
        self._starts = np.array([joint.idx_q for joint in joints])
        turns = np.where(self._circular, np.inf, 0.0)
        self.lower = model.lowerPositionLimit[self._starts] - turns
        self.upper = model.upperPositionLimit[self._starts] + turns
        self.speed, self.effort = (
            np.where((limit > 0.0) & (limit < 1e12), limit, np.inf)
            for limit in (np.array(model.velocityLimit), np.array(model.effortLimit)))
        self._data = model.createData()
        self._set_shapes(box, obstacles)

    @property
    def chain(self) -> tuple[str, ...]:
        """Joints that move the frame, root first."""
        return tuple(self.joint_names[j - 1] for j in self._model.supports[
            self._tip.parentJoint] if j)

    def index(self, names: Sequence[str]) -> np.ndarray:
        """Where joints of these names stand among all."""
        return np.array([self.joint_names.index(name) for name in names], dtype=int)

    def motion(self, q: Array, dq: Array, ddq: Array) -> FrameMotion:
        """Motion of the frame for joint motion (n, joints) [rad, rad/s, rad/s^2, or m]."""
        body, place = self._bodies(q, dq, ddq)[self._tip.parentJoint], self._tip.placement
        turn = body.turn @ place.rotation
        return FrameMotion(*(np.squeeze(v[:, None] @ turn, 1) for v in (
            np.zeros((len(q), 3)) + self._up, body.at(body.turn @ place.translation), body.omega,
            body.alpha)))

    def links(self, q: Array, dq: Array) -> LinkState:
        """Speeds and heights of the links on all joints, for joint states (n, joints)."""
        speed, height = np.empty_like(q), np.empty_like(q)
        for k, body in enumerate(self._bodies(q, dq, 0.0 * q)[1:]):
            corners = self._corners[k] @ body.turn.transpose(0, 2, 1)
            velocity = body.velocity[:, None] + corners @ skew(body.omega).transpose(0, 2, 1)
            speed[:, k] = np.sqrt(np.square(velocity).sum(axis=2).max(axis=1))
            height[:, k] = body.origin @ self._up + (corners @ self._up).min(axis=1)
        return LinkState(speed, height)

    def torque(self, q: Array, dq: Array, ddq: Array) -> Array:
        """Torques (n, joints) [N m or N] of the description's bodies, without friction."""
        return np.stack([pin.rnea(self._model, self._data, *state) for state in zip(
            self.configurations(q), dq, ddq, strict=True)])

    def configurations(self, q: Array) -> Array:
        """Pinocchio's configurations (n, nq) of positions (n, joints)."""
        out, turns = np.empty((len(q), self._model.nq)), self._circular
        out[:, self._starts[~turns]] = q[:, ~turns]
        out[:, self._starts[turns]] = np.cos(q[:, turns])
        out[:, self._starts[turns] + 1] = np.sin(q[:, turns])
        return out

    def _bodies(self, q: Array, dq: Array, ddq: Array) -> list[_Body]:
        """The root, and what each joint moves."""
        still = np.zeros((len(q), 3))
        out = [_Body(np.eye(3) + still[:, None], still, still, still - self._model.gravity.linear,
                     still, still)]
        for k, (parent, place, axis) in enumerate(self._tree):
            base = out[parent]
            turn = base.turn @ place.rotation
            slide, spin = turn @ axis[:3], turn @ axis[3:]
            step = base.turn @ place.translation + q[:, k, None] * slide
            sliding, spinning = dq[:, k, None] * slide, dq[:, k, None] * spin
            out.append(_Body(
                turn @ Rotation.from_rotvec(q[:, k, None] * axis[3:]).as_matrix(),
                base.origin + step, base.velocity + np.cross(base.omega, step) + sliding,
                base.at(step) + ddq[:, k, None] * slide + 2.0 * np.cross(base.omega, sliding),
                base.omega + spinning,
                base.alpha + ddq[:, k, None] * spin + np.cross(base.omega, spinning)))
        return out

    def _set_shapes(self, box: Array | None, obstacles: Sequence[Obstacle]) -> None:
        """Collision shapes of links and payload, their corners, and what may collide."""
        self.unchecked, model = "", self._model
        try:
            shapes = pin.buildGeomFromUrdfString(
                model, self.urdf, pin.GeometryType.COLLISION,
                package_dirs=[str(root) for root in package_roots()])
        except ValueError as error:  # a mesh is not there, or cannot be read
            shapes, reason = pin.GeometryModel(), str(error).rpartition("message:")[2]
            self.unchecked = f"collision shapes: {' '.join(reason.split())}"
        if not shapes.ngeoms:
            self.unchecked = self.unchecked or "the robot description has no collision shapes"
            if obstacles:
                raise InvalidModel(f"{self.unchecked}: the robot cannot be kept out of obstacles")
        if box is not None:
            low, high = np.asarray(box, dtype=float)
            place = self._tip.placement * pin.SE3(np.eye(3), 0.5 * (low + high))
            shapes.addGeometryObject(pin.GeometryObject(
                "payload", self._tip.parentJoint, place, coal.Box(*(high - low))))
        axes = [pin.computeJointJacobian(model, self._data, pin.neutral(model), j)[
            :, model.joints[j].idx_v] for j in range(1, model.njoints)]
        self._tree = list(zip(list(model.parents)[1:], list(model.jointPlacements)[1:], axes,
                              strict=True))
        self._corners = [self._corners_on(shapes, j) for j in range(1, model.njoints)]
        q = np.random.default_rng(0).uniform(
            np.where(np.isfinite(self.lower), self.lower, -np.pi),
            np.where(np.isfinite(self.upper), self.upper, np.pi), (POSES, len(self.joint_names)))
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
