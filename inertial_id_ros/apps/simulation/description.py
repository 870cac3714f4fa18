# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The packaged arm: its URDF, names, and the positions and velocities of its chain of links."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field
from functools import cached_property
from importlib import resources
from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from ...errors import InvalidModel
from ...inertia import Array

WORLD_FRAME, SENSOR_FRAME = "world", "ft_sensor"
MODEL_FILE = "models/ur5_class_arm.urdf"


class Transform(NamedTuple):
    """Pose of a child frame in its parent: translation (3,) [m], quaternion (4,) x, y, z, w."""

    parent: str
    child: str
    translation: Array
    quaternion: Array


class Joint(NamedTuple):
    """A joint of the URDF: its fixed origin in the parent link, and its axis in the child link."""

    name: str
    parent: str
    child: str
    fixed: bool
    translation: Array
    rotation: Rotation
    axis: Array


class ToolVelocity(NamedTuple):
    """Velocities (n, 3) of a point of the tool in base axes: linear [m/s], angular [rad/s]."""

    linear: Array
    angular: Array


@dataclass(frozen=True, eq=False)
class ArmDescription:
    """A serial chain of revolute joints read from a URDF, root to tip.

    Raises:
        InvalidModel: the URDF is not a chain of revolute and fixed joints.
    """

    urdf: str
    chain: tuple[Joint, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "chain", _read_chain(self.urdf))

    @cached_property
    def moving(self) -> tuple[Joint, ...]:
        """The joints that move, root to tip."""
        return tuple(joint for joint in self.chain if not joint.fixed)

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints that move, in the order of every array of positions."""
        return tuple(joint.name for joint in self.moving)

    def joint_quaternions(self, q: Array) -> Array:
        """Rotations (n, k, 4), x, y, z, w, of moving links in their parents at positions (n, k)."""
        angles = np.asarray(q, dtype=float)
        return np.stack(
            [(joint.rotation * Rotation.from_rotvec(angles[:, [i]] * joint.axis)).as_quat()
             for i, joint in enumerate(self.moving)], axis=1)

    def fixed_transforms(self) -> list[Transform]:
        """The transforms that never change, root to tip."""
        return [Transform(j.parent, j.child, j.translation, j.rotation.as_quat())
                for j in self.chain if j.fixed]

    def poses(self, q: Array) -> tuple[Array, list[Rotation]]:
        """Origins (n, c, 3) [m] and rotations of every link of the chain in the base.

        Args:
            q: joint positions (n, k) [rad].
        """
        angles = np.atleast_2d(np.asarray(q, dtype=float))
        position, rotation = np.zeros((len(angles), 3)), Rotation.identity(len(angles))
        origins, rotations, i = [], [], 0
        for joint in self.chain:
            position = position + rotation.apply(joint.translation)
            rotation = rotation * joint.rotation
            if not joint.fixed:
                rotation = rotation * Rotation.from_rotvec(angles[:, [i]] * joint.axis)
                i += 1
            origins.append(position)
            rotations.append(rotation)
        return np.stack(origins, axis=1), rotations

    def tool_point(self, q: Array, offset: Array) -> Array:
        """Positions (n, 3) in the base of a point fixed at offset (3,) [m] in the last frame."""
        origins, rotations = self.poses(q)
        return origins[:, -1] + rotations[-1].apply(offset)

    def tool_velocity(self, q: Array, dq: Array, offset: Array) -> ToolVelocity:
        """Velocities of a point fixed at offset (3,) [m] in the last frame (geometric Jacobian).

        Args:
            q: joint positions (n, k) [rad].
            dq: joint velocities (n, k) [rad/s].
        """
        origins, rotations = self.poses(q)
        point = origins[:, -1] + rotations[-1].apply(offset)
        linear, angular = np.zeros_like(point), np.zeros_like(point)
        moving = [c for c, joint in enumerate(self.chain) if not joint.fixed]
        for i, c in enumerate(moving):
            turn = rotations[c].apply(self.chain[c].axis) * np.asarray(dq)[:, [i]]
            angular += turn
            linear += np.cross(turn, point - origins[:, c])
        return ToolVelocity(linear, angular)


def load_description(prefix: str = "") -> ArmDescription:
    """The packaged UR5-class arm, from base_link to ft_sensor.

    Args:
        prefix: put before the names of all joints and links.
    """
    file = resources.files("inertial_id_ros.apps.simulation").joinpath(MODEL_FILE)
    urdf = file.read_text(encoding="utf-8")
    return ArmDescription(_prefix_names(urdf, prefix) if prefix else urdf)


def _prefix_names(urdf: str, prefix: str) -> str:
    """A URDF with a prefix before the names of all joints and links."""
    root = ElementTree.fromstring(urdf)
    for tag, key in (("link", "name"), ("joint", "name"), ("joint/parent", "link"),
                     ("joint/child", "link")):
        for element in root.findall(tag):
            element.set(key, prefix + element.get(key, ""))
    return ElementTree.tostring(root, encoding="unicode")


def _read_chain(urdf: str) -> tuple[Joint, ...]:
    """The joints of a URDF from root to tip (raises InvalidModel: not one chain)."""
    try:
        root = ElementTree.fromstring(urdf)
    except ElementTree.ParseError as error:
        raise InvalidModel(f"robot description is not XML: {error}") from error
    by_parent = {joint.parent: joint for joint in map(_read_joint, root.findall("joint"))}
    children = {joint.child for joint in by_parent.values()}
    roots = [name for name in by_parent if name not in children]
    if len(roots) != 1 or len(by_parent) != len(root.findall("joint")):
        raise InvalidModel("robot description is not one chain of links")
    chain, link = [], roots[0]
    while link in by_parent:
        chain.append(by_parent[link])
        link = chain[-1].child
    return tuple(chain)


def _read_joint(element: ElementTree.Element) -> Joint:
    """A joint of a URDF (raises InvalidModel where its type is not allowed)."""
    name, kind = element.get("name", ""), element.get("type", "")
    if kind not in ("fixed", "revolute", "continuous"):
        raise InvalidModel(f"joint '{name}' is {kind}; allowed: fixed, revolute, continuous")
    origin = element.find("origin")
    translation = _vector(origin, "xyz", "0 0 0")
    rotation = Rotation.from_euler("xyz", _vector(origin, "rpy", "0 0 0"))
    axis = _vector(element.find("axis"), "xyz", "1 0 0")
    return Joint(name, _link(element, "parent"), _link(element, "child"), kind == "fixed",
                 translation, rotation, axis / np.linalg.norm(axis))


def _link(joint: ElementTree.Element, role: str) -> str:
    """Name of a joint's parent or child link."""
    element = joint.find(role)
    if element is None:
        raise InvalidModel(f"joint '{joint.get('name')}' has no {role}")
    return element.get("link", "")


def _vector(element: ElementTree.Element | None, key: str, default: str) -> Array:
    text = default if element is None else element.get(key, default)
    return np.array([float(x) for x in text.split()])
