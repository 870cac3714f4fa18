# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A robot description as a planner sees it: sensor motion, torques, speeds and distances of links
and of what stands around. For its speed a link is the corners of boxes around its collision shapes,
so that no speed is too low; distances are those of the shapes themselves."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product

import coal
import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from ...errors import InvalidData, InvalidModel, InvalidShape, UnknownFrame
from ...geometry.mesh import package_roots
from ...inertia import Array, phi_to_pinocchio
from ...limits import MAX_FACES
from ...model.newton_euler import GRAVITY, skew
from ...motion.robot import link_names, model_of, parse_urdf
from ...robot.model import NO_TERMS, RobotModel

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


class Arm(RobotModel):
    """A robot with a frame that carries a payload, and with shapes.

    Args:
        urdf: text of the robot description; frame: link that carries the payload.
        box: corners (2, 3) [m] of a box around the payload, in that frame; phi: (10,) of it.
        gravity: (3,) [m/s^2] in axes of the description's root.
        obstacles: what no moving link may touch.

    Attributes:
        lower, upper, speed, effort: limits of the joints, infinite where there is none.
        chain: names of the joints that move the frame, root first; moving: their numbers.

    Raises:
        InvalidModel: not a usable description, a joint with several degrees of freedom, or no
            usable collision shapes, by which alone speeds of links and distances are known.
        UnknownFrame: it has no such link.
    """

    def __init__(self, urdf: str, frame: str, box: Array | None = None, phi: Array | None = None,
                 gravity: ArrayLike = GRAVITY, obstacles: Sequence[Obstacle] = ()) -> None:
        model = parse_urdf(urdf, dynamics=True)
        if frame not in link_names(model):
            raise UnknownFrame(f"the robot description has no link '{frame}'; it has: "
                               + ", ".join(link_names(model)))
        self.frame, self._frame = frame, model.getFrameId(frame, pin.FrameType.BODY)
        tip = model.frames[self._frame]
        if phi is not None:
            model.appendBodyToJoint(tip.parentJoint, pin.Inertia.FromDynamicParameters(
                phi_to_pinocchio(phi)), tip.placement)
        super().__init__(model, NO_TERMS, gravity)
        self.moving = np.array([j - 1 for j in model.supports[tip.parentJoint] if j], dtype=int)
        self.chain = tuple(self.joint_names[k] for k in self.moving)
        for k, name in zip(self.moving.tolist(), self.chain, strict=True):
            if (leader := model_of(urdf)[1][k + 1].name) != name:
                raise InvalidModel(f"joint '{name}' follows joint '{leader}' (mimic); joints that "
                                   "move the frame must move on their own")
        first = [joint.idx_q for joint in self._joints]
        turns = np.where([joint.nq == 2 for joint in self._joints], np.inf, 0.0)  # continuous
        self.lower = model.lowerPositionLimit[first] - turns
        self.upper = model.upperPositionLimit[first] + turns
        self.effort = self.effort_limits
        self.speed = np.where(model.velocityLimit > 0.0, model.velocityLimit, np.inf)
        self._shapes = read_shapes(model, urdf)
        if box is not None:
            payload = box_obstacle("payload", box)
            self._shapes.addGeometryObject(pin.GeometryObject(
                "payload", tip.parentJoint, tip.placement * pin.SE3(payload.pose), payload.solid()))
        self._corners = [self._corners_on(j) for j in range(1, model.njoints)]
        self._compare(obstacles)

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
        q = np.clip(self.sample_positions(np.random.default_rng(0), POSES), self.lower, self.upper)
        for k in reversed(np.flatnonzero(self.near(q, 0.0).all(axis=0)).tolist()):
            pair = shapes.collisionPairs[k]
            if max(pair.first, pair.second) < own:  # obstacles are meant as they stand
                shapes.removeCollisionPair(pair)

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Names of the shapes that may not come near each other."""
        name = [shape.name for shape in self._shapes.geometryObjects]
        return [(name[pair.first], name[pair.second]) for pair in self._shapes.collisionPairs]

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
        for k, state in enumerate(zip(self._configuration(q), dq, ddq, strict=True)):
            pin.forwardKinematics(model, data, *state)
            turns[k] = pin.updateFramePlacement(model, data, frame).rotation
            felt[k] = pin.getFrameClassicalAcceleration(model, data, frame, pin.LOCAL).vector
            omega[k] = pin.getFrameVelocity(model, data, frame, pin.LOCAL).angular
        return felt[:, :3] - model.gravity.linear @ turns, omega, felt[:, 3:]

    def link_speed(self, q: Array, dq: Array) -> Array:
        """Speed (n, joints) [m/s] of the fastest points of what each joint carries, for joint
        states (n, joints)."""
        twists, speed = np.empty((len(q), self._model.njoints, 6)), np.empty_like(q)
        for k, state in enumerate(zip(self._configuration(q), dq, strict=True)):
            pin.forwardKinematics(self._model, self._data, *state)
            twists[k] = [twist.vector for twist in self._data.v]
        for k, corners in enumerate(self._corners):
            linear, angular = np.split(twists[:, k + 1], 2, axis=1)
            velocity = linear[:, None] + corners @ skew(angular).transpose(0, 2, 1)
            speed[:, k] = np.linalg.norm(velocity, axis=2).max(axis=1)
        return speed

    def near(self, q: Array, margin: float) -> np.ndarray:
        """True (n, pairs) where shapes are nearer than a margin [m], for positions (n, joints)."""
        data = self._shapes.createData()
        for request in data.collisionRequests:
            request.security_margin = margin
        out = np.zeros((len(q), len(self._shapes.collisionPairs)), dtype=bool)
        for row, configuration in zip(out, self._configuration(q), strict=True):
            if pin.computeCollisions(self._model, self._data, self._shapes, data, configuration,
                                     False):
                row[:] = [result.isCollision() for result in data.collisionResults]
        return out


def read_shapes(model: pin.Model, urdf: str) -> pin.GeometryModel:
    """Collision shapes of a robot's links (raises InvalidModel: there are none, or a mesh of one is
    not found)."""
    try:
        shapes = pin.buildGeomFromUrdfString(
            model, urdf, pin.GeometryType.COLLISION,
            package_dirs=[str(root) for root in package_roots()])
    except ValueError as error:
        reason = " ".join(str(error).rpartition("message:")[2].split())
        raise InvalidModel(f"collision shapes: {reason}; no motion can be checked") from error
    if not shapes.ngeoms:
        raise InvalidModel("the robot description has no collision shapes: no motion can be "
                           "checked")
    return shapes
