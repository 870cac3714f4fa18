# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A robot description as a planner sees it: sensor motion, torques, speeds and distances of links
and of what stands around. For its speed a link is the corners of boxes around its collision shapes,
so that no speed is too low; distances are those of the shapes themselves."""

from collections.abc import Mapping, Sequence
from itertools import combinations, product

import coal
import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from ...errors import InvalidData, InvalidModel, UnknownFrame
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


def obstacle(name: str, shape: str, size: Sequence[float], pose: Array,
             vertices: ArrayLike = (), triangles: ArrayLike = ()) -> pin.GeometryObject:
    """A solid that no moving link may touch: box, sphere, cylinder (along its z axis), or mesh of
    vertices (n, 3) [m]; size as of `SIZES`; pose (4, 4) to axes of the description's root (raises
    InvalidData: sizes that are not positive, a mesh that is none)."""
    wanted, corners, faces = SIZES[shape], np.array(vertices, dtype=float), np.array(triangles)
    if len(size) != len(wanted.split()) or not all(0.0 < s < np.inf for s in size):
        raise InvalidData(f"size of {shape} '{name}' is {list(size)}; positive: {wanted}")
    if shape == "mesh":
        if not (0 < len(faces) <= MAX_FACES and np.isfinite(corners).all()
                and faces.min() >= 0 and faces.max() < len(corners)):
            raise InvalidData(f"mesh '{name}': 1 to {MAX_FACES} faces of finite corners are needed")
        solid = coal.BVHModelOBBRSS()
        solid.beginModel(len(faces), len(corners))
        solid.addVertices(corners)
        solid.addTriangles(faces.astype(np.int64))
        solid.endModel()
    else:
        solid = {"box": coal.Box, "sphere": coal.Sphere, "cylinder": coal.Cylinder}[shape](
            *reversed(size) if shape == "cylinder" else size)
    return pin.GeometryObject(name, 0, 0, pin.SE3(pose), solid)


def box_obstacle(name: str, corners: Array) -> pin.GeometryObject:
    """A box with corners (2, 3) [m], along the axes of the description's root."""
    low, high = np.asarray(corners, dtype=float)
    pose = np.eye(4)
    pose[:3, 3] = 0.5 * (low + high)
    return obstacle(name, "box", (high - low).tolist(), pose)


def floor(height: float | str) -> pin.GeometryObject:
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
        lower, upper, speed: limits of the joints, infinite where there is none.
        chain: names of the joints that move the frame, root first; moving: their numbers.

    Raises UnknownFrame: it has no such link; InvalidModel: not a usable description, a joint with
    several degrees of freedom, or no usable collision shapes, which tell speeds and distances."""

    def __init__(self, urdf: str, frame: str, box: Array | None = None, phi: Array | None = None,
                 gravity: ArrayLike = GRAVITY,
                 obstacles: Sequence[pin.GeometryObject] = ()) -> None:
        model = parse_urdf(urdf, dynamics=True)
        if frame not in link_names(model):
            raise UnknownFrame(f"there is no link '{frame}', but {', '.join(link_names(model))}")
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
        self.speed = np.where(model.velocityLimit > 0.0, model.velocityLimit, np.inf)
        try:
            self._shapes = pin.buildGeomFromUrdfString(
                model, urdf, pin.GeometryType.COLLISION,
                package_dirs=[str(root) for root in package_roots()])
        except ValueError as error:  # such as a mesh that is not found
            reason = " ".join(str(error).rpartition("message:")[2].split())
            raise InvalidModel(f"collision shapes: {reason}; no motion can be checked") from error
        if not self._shapes.ngeoms:
            raise InvalidModel("no link has collision shapes: no motion can be checked")
        if box is not None:
            payload = box_obstacle("payload", box)
            payload.parentJoint = tip.parentJoint
            payload.placement = tip.placement * payload.placement
            self._shapes.addGeometryObject(payload)
        self._corners = [self._corners_on(j) for j in range(1, model.njoints)]
        self._compare(obstacles)

    def _corners_on(self, joint: int) -> Array:
        """Points (c, 3) [m] on a joint, in its axes: origins of frames, corners around shapes."""
        corners = [frame.placement.translation
                   for frame in self._model.frames if frame.parentJoint == joint]
        for shape in self._shapes.geometryObjects:
            if shape.parentJoint == joint:
                shape.geometry.computeLocalAABB()
                box = shape.geometry.aabb_local
                corners += [shape.placement.act(np.array(corner))
                            for corner in product(*zip(box.min_, box.max_, strict=True))]
        return np.array(corners)

    def _compare(self, obstacles: Sequence[pin.GeometryObject]) -> None:
        """Have shapes compared that joints do not tie together; those of links that meet in all
        random poses are neighbours drawn too large."""
        shapes, parents, own = self._shapes, self._model.parents, self._shapes.ngeoms
        for one in obstacles:
            shapes.addGeometryObject(one)
        joints = [shape.parentJoint for shape in shapes.geometryObjects]
        for (i, first), (j, second) in combinations(enumerate(joints), 2):
            tied = j < own and (first == parents[second] or second == parents[first])
            if first != second and not tied:
                shapes.addCollisionPair(pin.CollisionPair(i, j))
        random = np.random.default_rng(0).uniform(-np.pi, np.pi, (POSES, self.nv))
        q = np.clip(random, self.lower, self.upper)
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
        """Positions (joints,) of joints by name (raises InvalidData: one is not known)."""
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
        """Speed (n, joints) [m/s] of the fastest point on each joint in states (n, joints)."""
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
