# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The packaged arm: its URDF, and where its links lie."""

import re
from importlib import resources
from typing import NamedTuple

from ...inertia import Array
from ...motion.frames import Edge, links_of
from ...motion.robot import model_of

WORLD_FRAME, BASE_FRAME, SENSOR_FRAME = "world", "base_link", "ft_sensor"
MODEL_FILE = "models/ur5_class_arm.urdf"
NAMED = re.compile(r'(<(?:link|joint) name="|<(?:parent|child) link=")')


class ArmDescription(NamedTuple):
    """The packaged UR5-class arm, one chain from the base to the sensor."""

    urdf: str
    joint_names: tuple[str, ...]  # in the order of every array of positions

    def links(self, q: Array) -> dict[str, Edge]:
        """All links but the base in their parents, at joint positions (k,) [rad]."""
        return links_of(self.urdf, {name: (1, angle) for name, angle in zip(
            self.joint_names, q.tolist(), strict=True)})


def load_description(prefix: str = "") -> ArmDescription:
    """The arm, with a prefix before the names of all joints and links."""
    file = resources.files("inertial_id_ros.apps.simulation").joinpath(MODEL_FILE)
    urdf = NAMED.sub(rf"\g<1>{prefix}", file.read_text(encoding="utf-8"))
    return ArmDescription(urdf, tuple(model_of(urdf)[0].names)[1:])
