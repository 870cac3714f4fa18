# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The largest mass that may be sent to the driver of an arm: what the user says, or what the manual
of the maker says of the model that the robot description names.

Only models whose manual was read are rated, and only by their whole name, in upper or lower case:
`name` of a description is "ur5e" where ur_robot_driver made it (ur_rsp.launch.py passes ur_type),
and anything where a user did. Not rated, since the name does not tell the model: xarm_ros2 names
every arm "UF_ROBOT" (Humble, Jazzy), or a Lite 6 "xarm6" like an xArm 6 (its main branch).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple
from xml.etree import ElementTree

from ..settings import Settings


class Rating(NamedTuple):
    """A rated payload [kg], and the manual of the maker that says so."""

    mass: float
    source: str


UNIVERSAL_ROBOTS = {
    "ur3": Rating(3.0, "UR3/CB3 User Manual 3.10, A.1"),
    "ur5": Rating(5.0, "UR5/CB3 User Manual 3.4.5, A.1"),
    "ur10": Rating(10.0, "UR10/CB3 User Manual (2020), 1.6.2"),
    "ur5e": Rating(5.0, "UR5e Hardware Manual (2022), 9"),
    # 10 kg or 12.5 kg, by the label on the arm.
    "ur10e": Rating(10.0, "UR10e User Manual SW 10.6, Maximum Payload")}


class PayloadLimit(NamedTuple):
    """The largest mass that may be sent [kg], and who says so; 0: not known, and why not."""

    mass: float
    source: str


def payload_limit(settings: Settings, ratings: Mapping[str, Rating], urdf: str) -> PayloadLimit:
    """The limit by the settings, or else by the model that the robot description names.

    Args:
        ratings: of the models of one maker, by their names in lower case.
        urdf: the robot description that is in use; empty: there is none.
    """
    if settings.load.rated_payload > 0.0:
        return PayloadLimit(settings.load.rated_payload, "load.rated_payload")
    if not urdf:
        return PayloadLimit(0.0, "there is no robot description to name its model")
    name = ElementTree.fromstring(urdf).get("name", "")
    rating = ratings.get(name.lower())
    if rating is None:
        return PayloadLimit(0.0, f"the robot description names it '{name[:100]}', which is no "
                            "model whose rating is known")
    return PayloadLimit(rating.mass, f"the rating of {name} ({rating.source}; load.rated_payload "
                        "replaces it)")
