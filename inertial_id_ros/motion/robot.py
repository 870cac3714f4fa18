# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Kinematics of a serial chain: from joint positions to the motion of the sensor."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin

from ..errors import InvalidModel, UnknownFrame
from ..inertia import skew
from ..limits import MAX_ARM_JOINTS
from ..samples.ring import Ring
from .description import link_names, parse_urdf
from .motion import Array, IntArray, Motion, no_motion
from .track import Track

BEYOND, TURN = 1.2, 2.0 * math.pi + 0.5  # of a joint's limits: no position in rad lies beyond


class Joint(NamedTuple):
    """A moving joint of the chain.

    Attributes:
        name: of the joint whose position counts; scale, shift: of that position (mimic joints).
        place: in the axes before it; axis: (3,); turns: False where it slides.
        farthest: largest position that is plausible [rad or m].
    """

    name: str
    scale: float
    shift: float
    place: pin.SE3
    axis: Array
    turns: bool
    farthest: float


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

    @property
    def turning(self) -> dict[str, bool]:
        """True for each of these joints that turns."""
        return {joint.name: joint.turns for joint in self.joints}

    def equals(self, other: Chain) -> bool:
        """True where joints, links, sensor and base are those of another chain."""
        def numbers(chain: Chain) -> Array:
            return np.concatenate([place.homogeneous.ravel() for place in (
                chain.root, *(j.place for j in chain.joints), chain.tip)] + [
                np.r_[j.scale, j.shift, j.axis, j.turns] for j in chain.joints])
        return self.names == other.names and len(self.joints) == len(other.joints) and np.allclose(
            numbers(self), numbers(other), rtol=0.0, atol=1e-9)

    def is_in_degrees(self, names: Sequence[str], positions: Array) -> bool:
        """True where positions (k,) of some joints can be no radians: two of them lie beyond their
        limits, or one farther than two turns beyond."""
        at = dict(zip(names, np.abs(positions).tolist(), strict=True))
        over = [at[j.name] - j.farthest for j in self.joints
                if j.turns and j.name in at and (j.scale, j.shift) == (1.0, 0.0)]
        return sum(x > 0.0 for x in over) > 1 or max(over, default=0.0) > 2.0 * TURN

    def motion(self, number: IntArray, names: Sequence[str], q: Array, dq: Array, ddq: Array
               ) -> Motion:
        """Motion of the sensor in n bins.

        Args:
            number: (n,) bins; names: of k joints; q, dq, ddq: (n, k).
        """
        if not len(number):
            return no_motion(len(self.joints))
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
        twists = [np.hstack([w, np.zeros((n, 3))]) if slide else np.hstack([_cross(p, w), w])
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
                                 + 2.0 * _cross(self.omega, rate) + ddq[:, None] * u)
            return
        turn = _about(u, q)
        self.rotation = self.rotation @ turn
        self.acceleration, self.omega, self.alpha = (
            np.einsum("nij,ni->nj", turn, v) for v in (self.acceleration, self.omega, self.alpha))
        self.alpha = self.alpha + _cross(self.omega, rate) + ddq[:, None] * u
        self.omega = self.omega + rate

    def _of_rotation(self, step: Array) -> Array:
        turned = _cross(self.omega, step)
        return np.asarray(_cross(self.alpha, step) + _cross(self.omega, turned))


def _cross(a: Array, b: Array) -> Array:
    """Cross products (n, 3) of vectors (n, 3) and (n, 3) or (3,); NumPy's takes ten times as long
    for few of them."""
    (ax, ay, az), (bx, by, bz) = a.T, b.T
    return np.stack([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx], axis=1)


def _about(axis: Array, angle: Array) -> Array:
    """Rotation matrices (n, 3, 3) about a unit axis (3,) by angles (n,) (Rodrigues)."""
    k = skew(axis)
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
    model = parse_urdf(urdf)
    tip, root = _link(model, frame), pin.SE3.Identity()
    if gravity_frame:
        up = _link(model, gravity_frame)
        if up.parentJoint:
            raise UnknownFrame(f"gravity.frame '{gravity_frame}' is moved by a joint; it must be "
                               "fixed to the base")
        root = up.placement.inverse()
    mimics = _mimics(urdf)
    joints = [_joint(model, k, mimics) for k in model.supports[tip.parentJoint].tolist() if k]
    if not joints:
        raise InvalidModel(f"no joint of the robot description moves frame '{frame}'")
    if len(joints) > MAX_ARM_JOINTS:
        raise InvalidModel(f"{len(joints)} joints of the robot description move frame '{frame}'; "
                           f"at most {MAX_ARM_JOINTS} are allowed")
    return Chain(root, tuple(joints), tip.placement)


def links_of(urdf: str) -> tuple[str, ...]:
    """Names of the links of a robot description, its root first.

    Raises:
        InvalidModel: it is none, or larger than its parser can be trusted with.
    """
    return link_names(parse_urdf(urdf))


def place_on(urdf: str, link: str, chain: Chain) -> pin.SE3 | None:
    """Place of a link in the base of a chain, where no joint moves it, or in the sensor, where the
    last joint of the chain does; None elsewhere."""
    frame = _link(parse_urdf(urdf), link)
    if not frame.parentJoint:
        return chain.root * frame.placement
    other = chain_of(urdf, link)
    if len(other.joints) != len(chain.joints) or other.names != chain.names:
        return None
    return chain.tip.inverse() * other.tip


@lru_cache(maxsize=4)
def model_of(urdf: str) -> tuple[pin.Model, dict[int, Joint]]:
    """The model of a robot description, and its joints of one degree of freedom by number (raises
    InvalidModel)."""
    model, mimics, out = parse_urdf(urdf), _mimics(urdf), dict[int, Joint]()
    for k in range(1, model.njoints):
        if model.joints[k].nv == 1:
            out[k] = _joint(model, k, mimics)
    return model, out


def _link(model: pin.Model, name: str) -> pin.Frame:
    if not model.existFrame(name, pin.FrameType.BODY):
        raise UnknownFrame(f"the robot description has no link '{name}'")
    return model.frames[model.getFrameId(name, pin.FrameType.BODY)]


def _mimics(urdf: str) -> dict[str, tuple[str, float, float]]:
    """Joint that each mimic joint follows, multiplier and offset."""
    out: dict[str, tuple[str, float, float]] = {}
    for joint in ElementTree.fromstring(urdf).findall("joint"):
        mimic = joint.find("mimic")
        if mimic is not None and mimic.get("joint"):
            out[joint.get("name", "")] = (mimic.get("joint", ""), float(mimic.get(
                "multiplier", 1.0)), float(mimic.get("offset", 0.0)))
    return out


def _joint(model: pin.Model, k: int, mimics: dict[str, tuple[str, float, float]]) -> Joint:
    joint, name, scale, shift = model.joints[k], str(model.names[k]), 1.0, 0.0
    if joint.nv != 1:
        raise InvalidModel(f"joint '{name}' moves in {joint.nv} ways; only revolute, continuous "
                           "and prismatic joints can be used")
    data = joint.createData()
    joint.calc(data, np.array([1.0, 0.0])[:joint.nq] if joint.nq == 2 else np.zeros(joint.nq))
    subspace = np.asarray(data.S).reshape(6)
    turns = bool(np.abs(subspace[3:]).max() > 0.5)
    axis = subspace[3:] if turns else subspace[:3]
    limit = np.abs([model.lowerPositionLimit[joint.idx_q], model.upperPositionLimit[joint.idx_q]])
    farthest = math.inf if joint.nq == 2 else max(BEYOND * float(limit.max()), TURN)
    for _ in range(len(mimics)):
        if name not in mimics:
            break
        name, factor, offset = mimics[name]
        scale, shift = scale * factor, scale * offset + shift
    return Joint(name, scale, shift, model.jointPlacements[k], axis, turns, farthest)


def motion_from_arrays(urdf: str, frame: str, names: Sequence[str], stamps: IntArray,
                       positions: Array) -> Motion:
    """Motion in all bins that joint positions (m, k) at stamps (m,) [ns] cover."""
    chain = chain_of(urdf, frame)
    track = Track(Ring(len(names)), np.array([chain.turning.get(name, False) for name in names]))
    track.ring.push(stamps, positions)
    signal = track.advance(finished=True)
    return chain.motion(signal.number, names, signal.value, signal.rate, signal.acceleration)
