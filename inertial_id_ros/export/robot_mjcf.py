# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A whole robot for MuJoCo, whose own reader of URDF makes the model."""

from __future__ import annotations

from collections.abc import Mapping
from xml.etree import ElementTree

from ..errors import InvalidModel
from ..extras import optional_packages

with optional_packages("writing MJCF"):
    import mujoco


def robot_mjcf(urdf: str, armature: Mapping[str, float]) -> str:
    """A description as MJCF, without shapes, its root fixed to the world.

    Viscous friction is ``damping``, Coulomb friction ``frictionloss``. A joint that moves no mass
    is fixed, as MuJoCo demands. Numbers have the six digits that MuJoCo writes.

    Args:
        armature: drive inertia by joint [kg m^2].

    Raises:
        InvalidModel: MuJoCo cannot read the description.
    """
    root = ElementTree.fromstring(urdf)
    for link in root.findall("link"):
        for shape in (*link.findall("visual"), *link.findall("collision")):
            link.remove(shape)
    try:
        spec = mujoco.MjSpec.from_string(ElementTree.tostring(root, encoding="unicode"))
        spec.compiler.fusestatic = False
        _fix_where_massless(spec, spec.worldbody)
        for joint in spec.joints:
            joint.armature = armature.get(joint.name, 0.0)
        spec.compile()
    except ValueError as error:
        raise InvalidModel(f"MuJoCo cannot read the robot description: "
                           f"{' '.join(str(error).split())}") from error
    return str(spec.to_xml())


def _fix_where_massless(spec: mujoco.MjSpec, body: mujoco.MjsBody) -> float:
    """Delete joints that move no mass; returns the mass [kg] of a body and all that it carries."""
    mass = (body.mass if body.explicitinertial else 0.0) + sum(
        _fix_where_massless(spec, child) for child in body.bodies)
    if mass == 0.0:
        for joint in body.joints:
            spec.delete(joint)
    return mass
