# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A robot description as a planner sees it: sensor motion, torques, speeds and distances of links
and of what stands around. For its speed a link is the corners of boxes around its collision shapes,
so that no speed is too low; distances are those of the shapes themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product
from xml.etree import ElementTree

import coal
import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from ...errors import InvalidData, InvalidModel, InvalidShape, UnknownFrame
from ...geometry.mesh import package_roots
from ...inertia import Array, phi_to_pinocchio
from ...limits import MAX_FACES
from ...model.newton_euler import GRAVITY, skew
from ...motion.robot import link_names, parse_urdf

# Shape -> its sizes [m].
SIZES = {"box": "x, y, z", "sphere": "radius", "cylinder": "height, radius", "mesh": ""}
POSES = 100  # random ones
FLOOR = 10.0  # m, half of each length of the box that stands for a floor


@dataclass(frozen=True, eq=False)
class Obstacle:
    """A solid that no moving link may touch (raises InvalidShape: sizes that are not positive, a
    mesh that is none)."""

    name: str  # for messages
    shape: str  # box, sphere, cylinder (along its z axis) or mesh
    size: tuple[float, ...]  # as of `SIZES` [m]
    pose: Array = field(default_factory=lambda: np.eye(4))  # to axes of the description's root
    vertices: Array = field(default_factory=lambda: np.empty((0, 3)))  # of a mesh [m]
    triangles: np.ndarray = field(default_factory=lambda: np.empty((0, 3), dtype=int))

    def __post_init__(self) -> None:
        wanted, faces = SIZES[self.shape], self.triangles
        if len(self.size) != len(wanted.split()) or not all(0.0 < s < np.inf for s in self.size):
            raise InvalidShape(f"size of the {self.shape} '{self.name}' is {list(self.size)}; it "
                               f"must be positive numbers: {wanted}")
        if self.shape == "mesh" and not (
                0 < len(faces) <= MAX_FACES and np.isfinite(self.vertices).all()
                and faces.min() >= 0 and faces.max() < len(self.vertices)):
            raise InvalidShape(f"mesh '{self.name}' has {len(faces)} faces (allowed: 1 to "
                               f"{MAX_FACES}), or a corner that is not finite, or missing")

    def solid(self) -> coal.CollisionGeometry:
        """The shape in its own axes."""
        if self.shape == "cylinder":
            return coal.Cylinder(self.size[1], self.size[0])
        if self.shape != "mesh":
            return {"box": coal.Box, "sphere": coal.Sphere}[self.shape](*self.size)
        out = coal.BVHModelOBBRSS()
        out.beginModel(len(self.triangles), len(self.vertices))
        out.addVertices(np.asarray(self.vertices, dtype=float))
        out.addTriangles(np.asarray(self.triangles, dtype=np.int64))
        out.endModel()
        return out


def box_obstacle(name: str, corners: Array) -> Obstacle:
    """A box with corners (2, 3) [m], along the axes of the description's root."""
    low, high = np.asarray(corners, dtype=float)
    pose = np.eye(4)
    pose[:3, 3] = 0.5 * (low + high)
    return Obstacle(name, "box", tuple((high - low).tolist()), pose)


def floor(height: float | str) -> Obstacle:
    """What lies below a height [m], a number or its text, above the description's root."""
    top = np.array([0.0, 0.0, float(height)])
    return box_obstacle("the floor", top + FLOOR * np.array([[-1.0, -1.0, -2.0], [1.0, 1.0, 0.0]]))


class Arm:
    """A robot of joints with one degree of freedom each, with a frame that carries a payload.

    Args:
        urdf: text of the robot description; frame: link that carries the payload.
        box: corners (2, 3) [m] of a box around the payload, in that frame; phi: (10,) of it.
        gravity: (3,) [m/s^2] in axes of the description's root.
        obstacles: what no moving link may touch; is_driven: True if a program moves the arm.

    Attributes:
        joint_names: of all joints that move; lower, upper, speed, effort: their limits, infinite
            where there is none; chain: of the joints that move the frame, root first.
        unchecked: why collisions are not checked; empty: they are.

    Raises:
        InvalidModel: not a usable description, or without usable collision shapes beside obstacles
            or where the arm is driven. UnknownFrame: it has no such link.
    """

    def __init__(self, urdf: str, frame: str, box: Array | None = None, phi: Array | None = None,
                 gravity: ArrayLike = GRAVITY, obstacles: Sequence[Obstacle] = (),
                 is_driven: bool = False) -> None:
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
        if phi is not None:
            model.appendBodyToJoint(tip.parentJoint, pin.Inertia.FromDynamicParameters(
                phi_to_pinocchio(phi)), tip.placement)
        first = [joint.idx_q for joint in joints]
        turns = np.where([joint.nq == 2 for joint in joints], np.inf, 0.0)  # continuous: cos, sin
        self.lower = model.lowerPositionLimit[first] - turns
        self.upper = model.upperPositionLimit[first] + turns
        self.speed, self.effort = (np.where((limit > 0.0) & (limit < 1e12), limit, np.inf)
                                   for limit in (model.velocityLimit, model.effortLimit))
        self._data, self._rest = model.createData(), pin.neutral(model)
        self._shapes, self.unchecked = read_shapes(model, urdf)
        if self.unchecked and (is_driven or obstacles):
            raise InvalidModel(f"{self.unchecked}; no motion can be checked")
        if box is not None:
            low, high = np.asarray(box, dtype=float)
            self._shapes.addGeometryObject(pin.GeometryObject(
                "payload", tip.parentJoint, tip.placement * pin.SE3(
                    np.eye(3), 0.5 * (low + high)), coal.Box(*(high - low))))
        self._corners = [self._corners_on(j) for j in range(1, model.njoints)]
        self._compare(obstacles)

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

    def _corners_on(self, joint: int) -> Array:
        """Points (c, 3) [m] on a joint, in its axes: origins of its frames, and corners of boxes
        around its shapes."""
        corners = [frame.placement.translation
                   for frame in self._model.frames if frame.parentJoint == joint]
        for shape in self._shapes.geometryObjects:
            if shape.parentJoint == joint:
                shape.geometry.computeLocalAABB()
                box = shape.geometry.aabb_local
                corners += [shape.placement.act(np.array(corner))
                            for corner in product(*zip(box.min_, box.max_, strict=True))]
        return np.array(corners)

    def _compare(self, obstacles: Sequence[Obstacle]) -> None:
        """Have shapes compared that joints do not tie together; those of links that meet in all
        random poses are neighbours drawn too large."""
        shapes, parents, own = self._shapes, self._model.parents, self._shapes.ngeoms
        for one in obstacles:
            shapes.addGeometryObject(
                pin.GeometryObject(one.name, 0, 0, pin.SE3(one.pose), one.solid()))
        joints = [shape.parentJoint for shape in shapes.geometryObjects]
        for (i, first), (j, second) in combinations(enumerate(joints), 2):
            tied = j < own and (first == parents[second] or second == parents[first])
            if first != second and not tied:
                shapes.addCollisionPair(pin.CollisionPair(i, j))
        q = np.random.default_rng(0).uniform(
            np.where(np.isfinite(self.lower), self.lower, -np.pi),
            np.where(np.isfinite(self.upper), self.upper, np.pi), (POSES, len(self.lower)))
        for k in reversed(np.flatnonzero(self.near(q, 0.0).all(axis=0)).tolist()):
            pair = shapes.collisionPairs[k]
            if max(pair.first, pair.second) < own:  # obstacles are meant as they stand
                shapes.removeCollisionPair(pair)

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Names of the shapes that may not come near each other."""
        name = [shape.name for shape in self._shapes.geometryObjects]
        return [(name[pair.first], name[pair.second]) for pair in self._shapes.collisionPairs]

    def index(self, names: Sequence[str]) -> np.ndarray:
        """Where joints of these names stand among all."""
        return np.array([self.joint_names.index(name) for name in names], dtype=int)

    def positions(self, pose: Mapping[str, float]) -> Array:
        """Positions (joints,) in this order of all joints by name (raises InvalidData: one is not
        known)."""
        for name in set(self.joint_names) - set(pose):
            raise InvalidData(f"it is not known where joint '{name}' is")
        return np.array([pose[name] for name in self.joint_names])

    def motion(self, q: Array, dq: Array, ddq: Array) -> tuple[Array, Array, Array]:
        """Motion of the frame, in its own axes, for joint motion (n, joints) [rad, rad/s, rad/s^2,
        or m]: acceleration of its origin less gravity [m/s^2], angular velocity and acceleration
        [rad/s, rad/s^2], (n, 3) each."""
        model, data, frame = self._model, self._data, self._frame
        turns, felt, omega = np.empty((len(q), 3, 3)), np.empty((len(q), 6)), np.empty((len(q), 3))
        for k, state in enumerate(zip(self._configurations(q), dq, ddq, strict=True)):
            pin.forwardKinematics(model, data, *state)
            turns[k] = pin.updateFramePlacement(model, data, frame).rotation
            felt[k] = pin.getFrameClassicalAcceleration(model, data, frame, pin.LOCAL).vector
            omega[k] = pin.getFrameVelocity(model, data, frame, pin.LOCAL).angular
        return felt[:, :3] - model.gravity.linear @ turns, omega, felt[:, 3:]

    def link_speed(self, q: Array, dq: Array) -> Array:
        """Speed (n, joints) [m/s] of the fastest points of what each joint carries, for joint
        states (n, joints)."""
        twists, speed = np.empty((len(q), self._model.njoints, 6)), np.empty_like(q)
        for k, state in enumerate(zip(self._configurations(q), dq, strict=True)):
            pin.forwardKinematics(self._model, self._data, *state)
            twists[k] = [twist.vector for twist in self._data.v]
        for k, corners in enumerate(self._corners):
            linear, angular = np.split(twists[:, k + 1], 2, axis=1)
            velocity = linear[:, None] + corners @ skew(angular).transpose(0, 2, 1)
            speed[:, k] = np.linalg.norm(velocity, axis=2).max(axis=1)
        return speed

    def torque(self, q: Array, dq: Array, ddq: Array) -> Array:
        """Torques (n, joints) [N m or N] of the description's bodies, without friction."""
        return np.stack([pin.rnea(self._model, self._data, *state) for state in zip(
            self._configurations(q), dq, ddq, strict=True)])

    def near(self, q: Array, margin: float) -> np.ndarray:
        """True (n, pairs) where shapes are nearer than a margin [m], for positions (n, joints)."""
        data = self._shapes.createData()
        for request in data.collisionRequests:
            request.security_margin = margin
        out = np.zeros((len(q), len(self._shapes.collisionPairs)), dtype=bool)
        for row, configuration in zip(out, self._configurations(q), strict=True):
            if pin.computeCollisions(self._model, self._data, self._shapes, data, configuration,
                                     False):
                row[:] = [result.isCollision() for result in data.collisionResults]
        return out

    def _configurations(self, q: Array) -> Array:
        """Pinocchio's configurations (n, nq) of positions (n, joints)."""
        return np.stack([pin.integrate(self._model, self._rest, row) for row in q])


def read_shapes(model: pin.Model, urdf: str) -> tuple[pin.GeometryModel, str]:
    """Collision shapes of a robot's links, and why there are none; empty: there are."""
    try:
        shapes = pin.buildGeomFromUrdfString(
            model, urdf, pin.GeometryType.COLLISION,
            package_dirs=[str(root) for root in package_roots()])
    except ValueError as error:
        reason = " ".join(str(error).rpartition("message:")[2].split())
        return pin.GeometryModel(), f"collision shapes: {reason}"
    return shapes, "" if shapes.ngeoms else "the robot description has no collision shapes"
