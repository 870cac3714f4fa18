# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The packaged arm: its URDF, the names and transforms of its links, and its motion."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np
from scipy.spatial.transform import Rotation

from ...errors import InvalidModel
from ...inertia import Array
from ...motion.motion import Motion
from ...motion.robot import Chain, chain_of

WORLD_FRAME, SENSOR_FRAME = "world", "ft_sensor"
MODEL_FILE = "models/ur5_class_arm.urdf"


class Transform(NamedTuple):
    """Pose of a child frame in its parent: translation (3,) [m], quaternion (4,) x, y, z, w."""

    parent: str
    child: str
    translation: Array
    quaternion: Array


class Joint(NamedTuple):
    """A joint of the URDF: its fixed origin in the parent link, and its axis in the child link;
    an axis of length 0: it is fixed."""

    name: str
    parent: str
    child: str
    translation: Array
    rotation: Rotation
    axis: Array


@dataclass(frozen=True, eq=False)
class ArmDescription:
    """A serial chain of revolute joints, root to tip.

    Attributes:
        urdf: its text; chain: its joints.

    Raises:
        InvalidModel: the URDF is not a chain of revolute and fixed joints.
    """

    urdf: str

    @cached_property
    def chain(self) -> tuple[Joint, ...]:
        """All joints (raises InvalidModel)."""
        try:
            root = ElementTree.fromstring(self.urdf)
        except ElementTree.ParseError as error:
            raise InvalidModel(f"robot description is not XML: {error}") from error
        joints = [_read_joint(element) for element in root.findall("joint")]
        by_parent = {joint.parent: joint for joint in joints}
        roots = [name for name in by_parent if name not in {joint.child for joint in joints}]
        if len(roots) != 1 or len(by_parent) != len(joints):
            raise InvalidModel("robot description is not one chain of links")
        out = [by_parent[roots[0]]]
        while out[-1].child in by_parent:
            out.append(by_parent[out[-1].child])
        return tuple(out)

    @cached_property
    def moving(self) -> tuple[Joint, ...]:
        """The joints that move, root to tip."""
        return tuple(joint for joint in self.chain if joint.axis.any())

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints that move, in the order of every array of positions."""
        return tuple(joint.name for joint in self.moving)

    def joint_quaternions(self, q: Array) -> Array:
        """Rotations (n, k, 4), x, y, z, w, of moving links in their parents at positions (n, k)."""
        return np.stack(
            [(joint.rotation * Rotation.from_rotvec(q[:, [i]] * joint.axis)).as_quat()
             for i, joint in enumerate(self.moving)], axis=1)

    def fixed_transforms(self) -> list[Transform]:
        """The transforms that never change, root to tip."""
        return [Transform(j.parent, j.child, j.translation, j.rotation.as_quat())
                for j in self.chain if not j.axis.any()]

    @cached_property
    def _kinematics(self) -> Chain:
        return chain_of(self.urdf, self.chain[-1].child)

    def motion(self, q: Array, dq: Array | None = None, ddq: Array | None = None) -> Motion:
        """Motion of the last frame in the base, for joint motion (n, k); at rest where none."""
        still = np.zeros_like(q)
        return self._kinematics.motion(
            np.arange(len(q)), self.joint_names, q, still if dq is None else dq,
            still if ddq is None else ddq)

    def tool_point(self, q: Array, offset: Array) -> Array:
        """Positions (n, 3) in the base of a point fixed at offset (3,) [m] in the last frame."""
        at = self.motion(np.atleast_2d(q))
        return at.position + at.rotation @ offset

    def tool_velocity(self, q: Array, dq: Array, offset: Array) -> tuple[Array, Array]:
        """Linear [m/s] and angular [rad/s] velocity (n, 3) in the base of such a point."""
        at = self.motion(q, dq)
        twist = np.einsum("njk,nj->nk", at.twists, dq)  # about the base's origin
        point = at.position + at.rotation @ offset
        return twist[:, :3] + np.cross(twist[:, 3:], point), twist[:, 3:]


def load_description(prefix: str = "") -> ArmDescription:
    """The packaged UR5-class arm, from base_link to ft_sensor.

    Args:
        prefix: put before the names of all joints and links.
    """
    file = resources.files("inertial_id_ros.apps.simulation").joinpath(MODEL_FILE)
    urdf = file.read_text(encoding="utf-8")
    if not prefix:
        return ArmDescription(urdf)
    root = ElementTree.fromstring(urdf)
    for tag, key in (("link", "name"), ("joint", "name"), ("joint/parent", "link"),
                     ("joint/child", "link")):
        for element in root.findall(tag):
            element.set(key, prefix + element.get(key, ""))
    return ArmDescription(ElementTree.tostring(root, encoding="unicode"))


def _read_joint(element: ElementTree.Element) -> Joint:
    """A joint of a URDF (raises InvalidModel where its type is not allowed)."""
    name, kind = element.get("name", ""), element.get("type", "")
    links = [link.get("link", "") for link in (element.find("parent"), element.find("child"))
             if link is not None]
    if kind not in ("fixed", "revolute", "continuous") or len(links) != 2:
        raise InvalidModel(f"joint '{name}' is {kind}; allowed: fixed, revolute, continuous, from "
                           "one link to another")
    axis = _vector(element, "axis", "xyz", "1 0 0")
    return Joint(name, links[0], links[1], _vector(element, "origin", "xyz", "0 0 0"),
                 Rotation.from_euler("xyz", _vector(element, "origin", "rpy", "0 0 0")),
                 np.zeros(3) if kind == "fixed" else axis / np.linalg.norm(axis))


def _vector(joint: ElementTree.Element, tag: str, key: str, default: str) -> Array:
    element = joint.find(tag)
    text = default if element is None else element.get(key, default)
    return np.array([float(x) for x in text.split()])
