# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Kinematics of a serial chain: from joint positions to the motion of the sensor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from ..errors import InvalidModel, UnknownFrame
from ..samples.stamps import evened
from .motion import BIN_NS, Array, IntArray, Motion
from .quartic import local_quartics, window_length


class Joint(NamedTuple):
    """A moving joint of the chain.

    Attributes:
        name: of the joint whose position counts; scale, shift: of that position (mimic joints).
        place: in the axes before it; axis: (3,); turns: False where it slides.
    """

    name: str
    scale: float
    shift: float
    place: pin.SE3
    axis: Array
    turns: bool


@dataclass(frozen=True, eq=False)
class Chain:
    """The joints from the base to the sensor.

    Attributes:
        root: place of the chain's root in a frame whose z axis points up.
        joints: that move the sensor, from the base on; tip: place of the sensor behind the last.
    """

    root: pin.SE3
    joints: tuple[Joint, ...]
    tip: pin.SE3

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the joints whose positions are needed."""
        return tuple(dict.fromkeys(joint.name for joint in self.joints))

    def motion(self, number: IntArray, names: Sequence[str], q: Array, dq: Array, ddq: Array
               ) -> Motion:
        """Motion of the sensor in n bins.

        Args:
            number: (n,) bins; names: of k joints; q, dq, ddq: (n, k).
        """
        n, column = len(number), {name: k for k, name in enumerate(names)}
        walk = _Walk(n, self.root.rotation)
        walk.move(self.root)
        axes, at, along, slides = [], [], [], []
        for joint in self.joints:
            k = column[joint.name]
            walk.move(joint.place)
            walk.push(joint, joint.scale * q[:, k] + joint.shift, joint.scale * dq[:, k],
                      joint.scale * ddq[:, k])
            axes.append(walk.rotation)
            at.append(walk.position)
            along.append(walk.rotation @ joint.axis)
            slides.append(not joint.turns)
        walk.move(self.tip)
        twists = [np.hstack([w, np.zeros((n, 3))]) if slide else np.hstack([np.cross(p, w), w])
                  for p, w, slide in zip(at, along, slides, strict=True)]
        j = len(self.joints)
        return Motion(number, walk.rotation, walk.position, walk.acceleration, walk.omega,
                      walk.alpha, np.stack(axes, 1) if j else np.empty((n, 0, 3, 3)),
                      np.stack(twists, 1) if j else np.empty((n, 0, 6)))


class _Walk:
    """Pose, velocity and acceleration of a frame that goes along the chain, in its own axes."""

    def __init__(self, n: int, root: Array) -> None:
        self.rotation = np.broadcast_to(np.eye(3), (n, 3, 3))
        self.position = np.zeros((n, 3))
        self.acceleration, self.omega, self.alpha = np.zeros((3, n, 3))

    def move(self, place: pin.SE3) -> None:
        """Go on to a fixed place in the present axes."""
        step, turn = np.asarray(place.translation), np.asarray(place.rotation)
        if step.any():
            self.position = self.position + self.rotation @ step
            self.acceleration = self.acceleration + self._of_rotation(step)
        self.rotation = self.rotation @ turn
        self.acceleration, self.omega, self.alpha = (
            v @ turn for v in (self.acceleration, self.omega, self.alpha))

    def push(self, joint: Joint, q: Array, dq: Array, ddq: Array) -> None:
        """Go through a joint at n positions, velocities, accelerations."""
        u, rate = joint.axis, dq[:, None] * joint.axis
        if not joint.turns:
            step = q[:, None] * u
            self.position = self.position + np.einsum("nij,nj->ni", self.rotation, step)
            self.acceleration = (self.acceleration + self._of_rotation(step)
                                 + 2.0 * np.cross(self.omega, rate) + ddq[:, None] * u)
            return
        turn = _about(u, q)
        self.rotation = self.rotation @ turn
        self.acceleration, self.omega, self.alpha = (
            np.einsum("nij,ni->nj", turn, v) for v in (self.acceleration, self.omega, self.alpha))
        self.alpha = self.alpha + np.cross(self.omega, rate) + ddq[:, None] * u
        self.omega = self.omega + rate

    def _of_rotation(self, step: Array) -> Array:
        turned = np.cross(self.omega, step)
        return np.asarray(np.cross(self.alpha, step) + np.cross(self.omega, turned))


def _about(axis: Array, angle: Array) -> Array:
    """Rotation matrices (n, 3, 3) about a unit axis (3,) by angles (n,) (Rodrigues)."""
    k = np.cross(np.eye(3), axis)
    s, c = np.sin(angle)[:, None, None], np.cos(angle)[:, None, None]
    return np.asarray(np.eye(3) + s * k + (1.0 - c) * (k @ k))


def chain_of(urdf: str, frame: str, gravity_frame: str = "") -> Chain:
    """The chain to a link of a robot description.

    Args:
        urdf: text; frame: link of the sensor; gravity_frame: link whose z axis points up, fixed to
            the base; empty: the root.

    Raises:
        InvalidModel: the text is no robot description.
        UnknownFrame: it has no such link, or the gravity frame moves.
    """
    model = _parsed(urdf)
    for name in filter(None, (frame, gravity_frame)):
        if not model.existFrame(name):
            raise UnknownFrame(f"the robot description has no link '{name}'")
    tip, root = model.frames[model.getFrameId(frame)], pin.SE3.Identity()
    if gravity_frame:
        up = model.frames[model.getFrameId(gravity_frame)]
        if up.parentJoint:
            raise UnknownFrame(f"gravity.frame '{gravity_frame}' is moved by a joint; it must be "
                               "fixed to the base")
        root = up.placement.inverse()
    joints = [_joint(model, k) for k in model.supports[tip.parentJoint].tolist() if k]
    return Chain(root, tuple(joints), tip.placement)


def links_of(urdf: str) -> tuple[str, ...]:
    """Names of the links of a robot description; raises InvalidModel if it is none."""
    return tuple(f.name for f in _parsed(urdf).frames if f.type == pin.FrameType.BODY)


def _parsed(urdf: str) -> pin.Model:
    try:
        return pin.buildModelFromXML(urdf)
    except (ValueError, RuntimeError) as error:
        raise InvalidModel("the robot description is no URDF that can be read: "
                           f"{str(error).splitlines()[0][:200]}") from error


def _joint(model: pin.Model, k: int) -> Joint:
    joint, place = model.joints[k], model.jointPlacements[k]
    data = joint.createData()
    joint.calc(data, np.r_[1.0, 0.0][:joint.nq] if joint.nq == 2 else np.zeros(joint.nq))
    subspace = np.asarray(data.S).reshape(6, -1)
    if subspace.shape[1] != 1:
        raise InvalidModel(f"joint '{model.names[k]}' moves in {subspace.shape[1]} ways; only "
                           "revolute, continuous and prismatic joints can be used")
    turns = bool(np.abs(subspace[3:, 0]).max() > 0.5)
    axis = subspace[3:, 0] if turns else subspace[:3, 0]
    return Joint(model.names[k], 1.0, 0.0, place, np.asarray(axis), turns)


def motion_from_arrays(urdf: str, frame: str, names: Sequence[str], stamps: IntArray,
                       positions: Array) -> Motion:
    """Motion in all bins that joint positions (m, k) at stamps (m,) [ns] cover."""
    chain, stamps = chain_of(urdf, frame), evened(stamps)
    number = np.arange(stamps[0] // BIN_NS, stamps[-1] // BIN_NS + 1)
    window = window_length(1e-9 * float(stamps[-1] - stamps[0]) / max(len(stamps) - 1, 1))
    q, dq, ddq, known, _ = local_quartics(stamps, positions, number * BIN_NS + BIN_NS // 2, window)
    return chain.motion(number[known], names, q[known], dq[known], ddq[known])
