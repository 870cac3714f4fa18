# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Whether a trajectory keeps its limits, found out without the planner.

Shares no computation with it: it samples the very points that a controller is to be sent, has
Pinocchio place every link's geometry, takes speeds from how far corners move between samples,
accelerations and jerks from differences of positions, and compares the shapes themselves, not
their hulls.
"""

from __future__ import annotations

from collections.abc import Sequence

import coal
import numpy as np
import pinocchio as pin

from ....errors import InvalidModel, UnknownFrame
from ....geometry.mesh import package_roots
from ....inertia import Array, phi_to_pinocchio
from ....kinematics.robot_description import parse_urdf
from ....robot.model import check_joints, configuration_columns
from ..arm import CarriedLoad
from ..collision_shapes import Obstacle, link_shapes
from .planned_motion import MotionLimits, PlannedMotion

_STEP = 0.005  # s between samples
_ROUNDING = 1.01  # of a limit: differences of samples, and rounding of a message
_REST = 1e-6  # rad/s, rad/s^2
_START = 0.02  # rad, between where a trajectory starts and where the arm is
_POSES = 100  # random ones: shapes that meet in all of them are neighbours drawn too large
_LEVEL = 1e-4  # m: a link that rises and falls by less turns about the vertical
_RIM = 48  # points on the rim of a cylinder


class CheckedRobot:
    """A robot with its payload and surroundings, as the check sees it.

    Args:
        urdf: text of the robot description; frame: link that carries the payload.
        carried: payload, with a box around it.
        obstacles: what stands around the robot.

    Raises:
        InvalidModel: not a usable description, or one without collision shapes.
        UnknownFrame: it has no such link.
        InvalidShape: a mesh that cannot be used.
    """

    def __init__(self, urdf: str, frame: str, carried: CarriedLoad,
                 obstacles: Sequence[Obstacle] = ()) -> None:
        self.model = parse_urdf(urdf, dynamics=True)
        check_joints(list(self.model.names)[1:], list(self.model.joints)[1:])
        if not self.model.existFrame(frame, pin.FrameType.BODY):
            raise UnknownFrame(f"the robot description has no link '{frame}'")
        self.shapes = link_shapes(self.model, urdf, package_roots())
        if not self.shapes.ngeoms:
            raise InvalidModel("the robot description has no collision shapes; no motion can be "
                               "checked")
        at = self.model.frames[self.model.getFrameId(frame, pin.FrameType.BODY)]
        if carried.phi is not None:
            self.model.appendBodyToJoint(at.parentJoint, pin.Inertia.FromDynamicParameters(
                phi_to_pinocchio(carried.phi)), at.placement)
        if carried.box is not None:
            low, high = carried.box
            place = at.placement * pin.SE3(np.eye(3), 0.5 * (low + high))
            self.shapes.addGeometryObject(pin.GeometryObject(
                "payload", at.parentJoint, place, coal.Box(*(high - low))))
        self.own = self.shapes.ngeoms
        for item in obstacles:
            self.shapes.addGeometryObject(pin.GeometryObject(
                item.name, 0, pin.SE3(np.asarray(item.pose)), item.solid()))
        self.joint_names = tuple(list(self.model.names)[1:])
        self._circular = np.array([joint.nq == 2 for joint in list(self.model.joints)[1:]])
        self._add_pairs()

    def configurations(self, q: Array) -> Array:
        """Pinocchio's configurations (n, nq) of positions (n, joints)."""
        return np.concatenate(configuration_columns(q, self._circular), axis=1)

    def _add_pairs(self) -> None:
        """Compare all shapes on different links, but those that a joint ties together or that meet
        in every pose."""
        shapes, parents = self.shapes, self.model.parents
        joints = [shape.parentJoint for shape in shapes.geometryObjects]
        for i in range(self.own):
            for j in range(i + 1, shapes.ngeoms):
                first, second = joints[i], joints[j]
                tied = first == parents[second] or second == parents[first]
                if first != second and not (tied and j < self.own):
                    shapes.addCollisionPair(pin.CollisionPair(i, j))
        rng = np.random.default_rng(1)
        q = rng.uniform(-np.pi, np.pi, (_POSES, len(self.joint_names)))
        always = meeting_pairs(self, self.configurations(q), 0.0).all(axis=0)
        for k in reversed(np.flatnonzero(always)):
            pair = shapes.collisionPairs[int(k)]
            if max(pair.first, pair.second) < self.own:
                shapes.removeCollisionPair(pair)


def check_motion(robot: CheckedRobot, motion: PlannedMotion, start: dict[str, float],
                 limits: MotionLimits) -> tuple[str, ...]:
    """What is wrong with a motion, a sentence each; empty where nothing is.

    Args:
        start: where every joint of the description is now, by name [rad or m].
    """
    problems = _problems_of_points(robot, motion, start)
    if problems:
        return problems
    t = np.linspace(0.0, motion.duration, int(np.ceil(motion.duration / _STEP)) + 1)
    q = np.tile([start[name] for name in robot.joint_names], (len(t), 1))
    index = [robot.joint_names.index(name) for name in motion.joint_names]
    q[:, index] = motion.sample(t).q
    step = t[1]
    configurations = robot.configurations(q)
    return (*_joint_problems(robot, q, step, limits),
            *_effort_problems(robot, configurations, q, step, limits),
            *_link_problems(robot, configurations, step, limits),
            *_contact_problems(robot, configurations, limits))


def _problems_of_points(robot: CheckedRobot, motion: PlannedMotion, start: dict[str, float]
                        ) -> tuple[str, ...]:
    """Whether the points are a trajectory of this robot, from where it is, from rest to rest."""
    for name in robot.joint_names:
        if name not in start:
            return (f"it is not known where {name} is",)
    unknown = [name for name in motion.joint_names if name not in robot.joint_names]
    if unknown:
        return (f"the robot description has no joint {', '.join(unknown)}",)
    shape = (len(motion.stamps), len(motion.joint_names))
    parts = (motion.positions, motion.velocities, motion.accelerations)
    if len(motion.stamps) < 2 or any(np.shape(part) != shape for part in parts):
        return ("the trajectory does not have a position, velocity and acceleration of every joint "
                "at two points or more",)
    if not all(np.isfinite(part).all() for part in (motion.stamps, *parts)):
        return ("the trajectory holds numbers that are not finite",)
    if motion.stamps[0] != 0.0 or not (np.diff(motion.stamps) > 0.0).all():
        return ("the times of the trajectory do not increase from zero",)
    moving = max(np.abs(part[[0, -1]]).max() for part in parts[1:])
    away = np.abs(motion.positions[0] - [start[name] for name in motion.joint_names])
    out = []
    if moving > _REST:
        out.append("the trajectory does not begin and end at rest")
    if away.max() > _START:
        k = int(np.argmax(away))
        out.append(f"the trajectory starts {away[k]:.3f} rad from where {motion.joint_names[k]} is")
    return tuple(out)


def _joint_problems(robot: CheckedRobot, q: Array, step: float, limits: MotionLimits
                    ) -> list[str]:
    """Limits of position, speed, acceleration and jerk that joints q (n, joints) exceed."""
    model = robot.model
    count = len(robot.joint_names)
    out = []
    speed = np.where(model.velocityLimit > 0.0, limits.share * model.velocityLimit, np.inf)
    bounds = (("speed", "rad/s", np.minimum(speed, limits.joint_speed)),
              ("acceleration", "rad/s^2", np.full(count, limits.joint_acceleration)),
              ("jerk", "rad/s^3", np.full(count, limits.joint_jerk)))
    values = q
    for what, unit, allowed in bounds:
        values = np.diff(values, axis=0) / step
        out += _exceeded(robot.joint_names, what, unit, np.abs(values).max(axis=0),
                         _ROUNDING * allowed)
    for k, (name, joint) in enumerate(zip(robot.joint_names, list(model.joints)[1:], strict=True)):
        if joint.nq == 1:
            low, high = (float(x[joint.idx_q]) for x in (model.lowerPositionLimit,
                                                         model.upperPositionLimit))
            if q[:, k].min() < low or q[:, k].max() > high:
                out.append(f"{name} would leave its range of {low:.3f} to {high:.3f} rad")
    return out


def _effort_problems(robot: CheckedRobot, configurations: Array, q: Array, step: float,
                     limits: MotionLimits) -> list[str]:
    """Efforts that are exceeded, for joint positions q (n, joints)."""
    dq = np.gradient(q, step, axis=0)
    ddq = np.gradient(dq, step, axis=0)
    data = robot.model.createData()
    torque = np.abs([pin.rnea(robot.model, data, c, v, a)
                     for c, v, a in zip(configurations, dq, ddq, strict=True)]).max(axis=0)
    effort = robot.model.effortLimit
    allowed = np.where((effort > 0.0) & (effort < 1e12), limits.share * effort, np.inf)
    return _exceeded(robot.joint_names, "torque", "N m", torque, _ROUNDING * allowed)


def _link_problems(robot: CheckedRobot, configurations: Array, step: float, limits: MotionLimits
                   ) -> list[str]:
    """Links that are too fast, or below the floor."""
    model, shapes = robot.model, robot.shapes
    data, placed = model.createData(), shapes.createData()
    moving = [k for k in range(robot.own) if shapes.geometryObjects[k].parentJoint > 0]
    corners = {k: _surface_points(shapes.geometryObjects[k]) for k in moving}
    up = -np.array(model.gravity.linear)
    up /= np.linalg.norm(up)
    before: dict[int, Array] = {}
    fastest, lowest = dict.fromkeys(moving, 0.0), dict.fromkeys(moving, np.inf)
    highest = dict.fromkeys(moving, -np.inf)  # of the lowest points
    for configuration in configurations:
        pin.updateGeometryPlacements(model, data, shapes, placed, configuration)
        for k in moving:
            place = placed.oMg[k]
            now = corners[k] @ place.rotation.T + place.translation
            if k in before:
                speed = np.sqrt(((now - before[k]) ** 2).sum(axis=1).max()) / step
                fastest[k] = max(fastest[k], float(speed))
            height = float((now @ up).min())
            lowest[k], highest[k] = min(lowest[k], height), max(highest[k], height)
            before[k] = now
    out = []
    for k in moving:
        name = shapes.geometryObjects[k].name
        if fastest[k] > _ROUNDING * limits.link_speed:
            out.append(f"{name} would move at {fastest[k]:.3f} m/s, and may at "
                       f"{limits.link_speed:g} m/s")
        if lowest[k] < limits.floor and highest[k] - lowest[k] > _LEVEL:
            out.append(f"{name} would be {limits.floor - lowest[k]:.3f} m below the floor")
    return out


def _contact_problems(robot: CheckedRobot, configurations: Array, limits: MotionLimits
                      ) -> list[str]:
    """Shapes that come nearer than the clearance.

    Between two samples nothing moves by more than speed times half the step; the clearance is
    enlarged by that much for each of two shapes.
    """
    margin = limits.clearance + limits.link_speed * _STEP
    near = meeting_pairs(robot, configurations, margin).any(axis=0)
    pairs = [robot.shapes.collisionPairs[int(k)] for k in np.flatnonzero(near)]
    names = [shape.name for shape in robot.shapes.geometryObjects]
    return [f"{names[pair.first]} would come within {1e3 * margin:.1f} mm of {names[pair.second]}"
            for pair in pairs]


def meeting_pairs(robot: CheckedRobot, configurations: Array, margin: float) -> np.ndarray:
    """Which pairs (n, pairs) of shapes are nearer than a margin [m]."""
    data, geometry = robot.model.createData(), robot.shapes.createData()
    for request in geometry.collisionRequests:
        request.security_margin = margin
    out = np.zeros((len(configurations), len(robot.shapes.collisionPairs)), dtype=bool)
    for row, configuration in zip(out, configurations, strict=True):
        if pin.computeCollisions(robot.model, data, robot.shapes, geometry, configuration, False):
            row[:] = [result.isCollision() for result in geometry.collisionResults]
    return out


def _exceeded(names: Sequence[str], what: str, unit: str, values: Array, allowed: Array
              ) -> list[str]:
    """A sentence for each joint whose value exceeds what is allowed."""
    return [f"{what} of {name} would be {value:.3g} {unit}, and may be {limit / _ROUNDING:.3g}"
            for name, value, limit in zip(names, values, allowed, strict=True) if value > limit]


def _surface_points(shape: pin.GeometryObject) -> Array:
    """Points (n, 3) on the surface of a shape among which its fastest and lowest are, in its axes.

    A cylinder is its two rims; a ball is the corners of the cube around it.
    """
    solid = shape.geometry
    if isinstance(solid, coal.BVHModelBase):
        corners = np.array(solid.vertices()) * np.asarray(shape.meshScale)
        return corners
    if isinstance(solid, coal.Cylinder):
        turn = 2.0 * np.pi * np.arange(_RIM) / _RIM
        rim = solid.radius * np.column_stack([np.cos(turn), np.sin(turn), 0.0 * turn])
        return np.vstack([rim + [0.0, 0.0, end] for end in (-solid.halfLength, solid.halfLength)])
    solid.computeLocalAABB()
    low, high = np.array(solid.aabb_local.min_), np.array(solid.aabb_local.max_)
    return np.array([(x, y, z) for x in (low[0], high[0]) for y in (low[1], high[1])
                     for z in (low[2], high[2])])
