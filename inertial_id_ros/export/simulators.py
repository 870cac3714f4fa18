# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Descriptions for simulators: SDF for Gazebo, MJCF for MuJoCo."""

from __future__ import annotations

import pinocchio as pin

from ..errors import InvalidSetting
from ..inertia import principal_moments
from .markup import TENSOR_ENTRIES, attribute, comment, comments, indented, number, numbers
from .payload import Payload

_SDF_VERSION = "1.7"  # the oldest in which frames mean what they mean in all later ones


def payload_sdf(payload: Payload) -> str:
    """A model with one link, whose frame is that of the parent (SDF).

    Raises:
        InvalidSetting: a name that SDF keeps for itself.
    """
    if "::" in payload.link or (payload.link.startswith("__") and payload.link.endswith("__")):
        raise InvalidSetting(f"link '{payload.link}' is no name in SDF: '::' separates names "
                             "there, and names between '__' are its own")
    body = payload.body
    tensor = [f"<{name}>{number(body.inertia_com[i, j])}</{name}>" for name, i, j in TENSOR_ENTRIES]
    hint = comment("To be fixed to the robot: <joint type='fixed'> from "
                   f"'{payload.parent}' to this link, at the parent's pose")
    name = attribute(payload.link)
    inertial = [f"<pose>{numbers(body.com)} 0 0 0</pose>", f"<mass>{number(body.mass)}</mass>",
                "<inertia>", *indented(tensor), "</inertia>"]
    return "\n".join([
        '<?xml version="1.0"?>', f'<sdf version="{_SDF_VERSION}">', f"  <model name={name}>",
        *indented([*comments(payload), hint, f"<link name={name}>"], 2), "      <inertial>",
        *indented(inertial, 4), "      </inertial>", "    </link>", "  </model>", "</sdf>", ""])


def payload_mjcf(payload: Payload) -> str:
    """A model with one body, whose frame is that of the parent (MJCF).

    Principal moments and axes stand in it, for which MuJoCo does not have to solve.
    """
    body = payload.body
    moments, axes = principal_moments(body.inertia_com)
    x, y, z, w = pin.Quaternion(axes).coeffs()
    name = attribute(payload.link)
    inertial = (f'<inertial pos="{numbers(body.com)}" quat="{numbers((w, x, y, z))}" '
                f'mass="{number(body.mass)}" diaginertia="{numbers(moments)}"/>')
    hint = comment(f"To be fixed to the robot: <attach> it in the body '{payload.parent}', or copy "
                   "the body there")
    return "\n".join([
        '<?xml version="1.0"?>', f"<mujoco model={name}>", "  <worldbody>",
        *indented([*comments(payload), hint, f"<body name={name}>", f"  {inertial}", "</body>"], 2),
        "  </worldbody>", "</mujoco>", ""])
