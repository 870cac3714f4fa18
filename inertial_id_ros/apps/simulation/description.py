# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The packaged arm: its URDF, and the names and transforms of its links."""

from __future__ import annotations

import re
from importlib import resources
from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np
from scipy.spatial.transform import Rotation

from ...inertia import Array

WORLD_FRAME, SENSOR_FRAME = "world", "ft_sensor"
MODEL_FILE = "models/ur5_class_arm.urdf"
NAMED = re.compile(r'(<(?:link|joint) name="|<(?:parent|child) link=")')


class Transform(NamedTuple):
    """Pose of a child frame in its parent: translation (3,) [m], quaternion (4,) x, y, z, w."""

    parent: str
    child: str
    translation: Array
    quaternion: Array


class ArmDescription(NamedTuple):
    """The packaged UR5-class arm as one chain from the base to the sensor."""

    urdf: str
    joint_names: tuple[str, ...]  # that move, in the order of every array of positions
    moving: list[Transform]  # at position 0; each turns about the z axis of its child
    fixed: list[Transform]  # that of the sensor last

    def joint_quaternions(self, q: Array) -> Array:
        """Rotations (n, k, 4), x, y, z, w, of moving links in their parents at positions (n, k)."""
        return np.stack([(Rotation.from_quat(joint.quaternion) * Rotation.from_euler(
            "z", angle[:, None])).as_quat() for joint, angle in zip(self.moving, q.T, strict=True)],
            axis=1)


def load_description(prefix: str = "") -> ArmDescription:
    """The arm, with a prefix before the names of all joints and links."""
    file = resources.files("inertial_id_ros.apps.simulation").joinpath(MODEL_FILE)
    urdf = NAMED.sub(rf"\g<1>{prefix}", file.read_text(encoding="utf-8"))
    names, moving, fixed = list[str](), list[Transform](), list[Transform]()
    for joint in ElementTree.fromstring(urdf).iter("joint"):
        place = {element.tag: element.attrib for element in joint}
        xyz, rpy = (np.array(place["origin"].get(key, "0 0 0").split(), dtype=float)
                    for key in ("xyz", "rpy"))
        is_fixed = joint.get("type") == "fixed"
        (fixed if is_fixed else moving).append(Transform(
            place["parent"]["link"], place["child"]["link"], xyz,
            Rotation.from_euler("xyz", rpy).as_quat()))
        names += [] if is_fixed else [joint.get("name", "")]
    return ArmDescription(urdf, tuple(names), moving, fixed)
