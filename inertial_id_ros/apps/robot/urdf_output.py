# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A robot description with identified bodies, friction and nothing else changed."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pinocchio as pin

from ...errors import InvalidModel
from ...inertia import Array, body_from_phi
from ...robot.joint_terms import COULOMB, VISCOUS
from ...robot.model import RobotModel
from ...robot.robot_file import reduced_model


def set_inertias(urdf: str, model: RobotModel, phi: Array) -> str:
    """The text of a URDF with the bodies and frictions of phi (p,).

    Links that are fixed to each other are one body: the one nearest to the root gets all of it, the
    others lose theirs. Links that do not move keep what they have.

    Raises:
        InvalidModel: a body of phi has no link in the description.
    """
    parser = ElementTree.XMLParser(target=ElementTree.TreeBuilder(insert_comments=True))
    root = ElementTree.fromstring(urdf, parser)
    links = {link.get("name", ""): link for link in root.findall("link")}
    for name, group in _links_of_bodies(urdf, model).items():
        if name not in links:
            raise InvalidModel(f"body '{name}' has no link in the robot description")
        for member in group:
            for old in links[member].findall("inertial"):
                links[member].remove(old)
        links[name].append(_inertial_element(phi[model.body_slice(name)]))
    for joint in root.findall("joint"):
        if joint.get("name") in model.joint_names:
            _set_friction(joint, model, phi)
    ElementTree.indent(root)
    return '<?xml version="1.0"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _links_of_bodies(urdf: str, model: RobotModel) -> dict[str, list[str]]:
    """Links of every body, under the name of the body."""
    full = reduced_model(urdf, model.joint_names)
    members: dict[int, list[str]] = {}
    for frame in full.frames:
        if frame.type == pin.FrameType.BODY and frame.parentJoint > 0:
            members.setdefault(frame.parentJoint, []).append(frame.name)
    return {group[0]: group for group in members.values()}


def _inertial_element(phi: Array) -> ElementTree.Element:
    """The ``<inertial>`` element of a body, phi (10,)."""
    body = body_from_phi(phi)
    inertia = body.inertia_com
    out = ElementTree.Element("inertial")
    place = " ".join(_format_number(x) for x in body.com)
    ElementTree.SubElement(out, "origin", xyz=place, rpy="0 0 0")
    ElementTree.SubElement(out, "mass", value=_format_number(body.mass))
    ElementTree.SubElement(out, "inertia", {
        f"i{'xyz'[i]}{'xyz'[j]}": _format_number(inertia[i, j])
        for i in range(3) for j in range(i, 3)})
    return out


def _set_friction(joint: ElementTree.Element, model: RobotModel, phi: Array) -> None:
    """Write viscous and Coulomb friction, where identified, into a joint's ``<dynamics>``."""
    name = joint.get("name", "")
    given = {"damping": VISCOUS, "friction": COULOMB}
    there = {key: term for key, term in given.items() if term in model.terms.names}
    if not there:
        return
    element = joint.find("dynamics")
    if element is None:
        element = ElementTree.SubElement(joint, "dynamics")
    for key, term in there.items():
        element.set(key, _format_number(max(phi[model.term_index(name, term)], 0.0)))


def _format_number(value: float) -> str:
    """A number with twelve digits, as text."""
    return f"{np.float64(value):.12g}"
