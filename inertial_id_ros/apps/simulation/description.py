# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The packaged arm: its URDF, and the names and transforms of its links."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np
from scipy.spatial.transform import Rotation

from ...inertia import Array

WORLD_FRAME, SENSOR_FRAME = "world", "ft_sensor"
MODEL_FILE = "models/ur5_class_arm.urdf"


class Transform(NamedTuple):
    """Pose of a child frame in its parent: translation (3,) [m], quaternion (4,) x, y, z, w."""

    parent: str
    child: str
    translation: Array
    quaternion: Array


@dataclass(frozen=True, eq=False)
class ArmDescription:
    """The arm as one chain, whose joints stand in its URDF from the base on; those that move turn
    about the z axis of their child."""

    urdf: str

    @cached_property
    def _joints(self) -> list[ElementTree.Element]:
        return ElementTree.fromstring(self.urdf).findall("joint")

    @cached_property
    def moving(self) -> list[Transform]:
        """The joints that move, at position 0."""
        return [_transform(j) for j in self._joints if j.get("type") != "fixed"]

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints that move, in the order of every array of positions."""
        return tuple(j.get("name", "") for j in self._joints if j.get("type") != "fixed")

    @property
    def sensor_frame(self) -> str:
        """Name of the last link."""
        return self.fixed_transforms()[-1].child

    def joint_quaternions(self, q: Array) -> Array:
        """Rotations (n, k, 4), x, y, z, w, of moving links in their parents at positions (n, k)."""
        return np.stack([(Rotation.from_quat(joint.quaternion) * Rotation.from_euler(
            "z", angle[:, None])).as_quat() for joint, angle in zip(self.moving, q.T, strict=True)],
            axis=1)

    def fixed_transforms(self) -> list[Transform]:
        """The transforms that never change."""
        return [_transform(j) for j in self._joints if j.get("type") == "fixed"]


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


def _transform(joint: ElementTree.Element) -> Transform:
    """The pose of a joint's child in its parent, at position 0."""
    place = {e.tag: e.attrib for e in joint}
    xyz, rpy = (np.array(place["origin"].get(key, "0 0 0").split(), dtype=float)
                for key in ("xyz", "rpy"))
    return Transform(place["parent"]["link"], place["child"]["link"], xyz,
                     Rotation.from_euler("xyz", rpy).as_quat())
