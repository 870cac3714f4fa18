# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The description of an identified robot: a URDF with its bodies and friction."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pinocchio as pin
from scipy.linalg import eigh

from ...errors import InvalidModel
from ...export.documents import number, urdf_inertial
from ...inertia import (
    Array,
    body_from_phi,
    is_consistent,
    phi_from_pinocchio,
    pseudo_inertia,
    transform_phi,
)
from ...motion.description import parse_urdf
from ...robot.model import COULOMB, VISCOUS, RobotModel


def set_inertias(urdf: str, model: RobotModel, phi: Array) -> str:
    """The text of a URDF with the bodies and frictions of phi (p,).

    Links that are fixed to each other are one body: the one nearest to the root gets all of it, the
    others lose theirs. Links on joints that were locked, such as fingers, keep what is described,
    and their body gets the rest, so that they can move where the description is used; where no
    body is left then, they keep a share. Links that do not move keep what they have.

    Raises:
        InvalidModel: a body of phi has no link in the description.
    """
    parser = ElementTree.XMLParser(target=ElementTree.TreeBuilder(insert_comments=True))
    root = ElementTree.fromstring(urdf, parser)
    links = {link.get("name", ""): link for link in root.findall("link")}
    for own, locked, described in _bodies(parse_urdf(urdf, pin.JointModelFreeFlyer()), model):
        if own[0] not in links:
            raise InvalidModel(f"body '{own[0]}' has no link in the robot description")
        total = phi[model.body_slice(own[0])]
        share = _share_of_locked(total, described)
        for part in (part for name in locked for part in links[name].findall("inertial/*")):
            for key, value in part.attrib.items():
                if share < 1.0 and part.tag in ("mass", "inertia"):
                    part.set(key, number(share * float(value)))
        for name in own:
            for old in links[name].findall("inertial"):
                links[name].remove(old)
        links[own[0]].append(urdf_inertial(body_from_phi(total - share * described)))
    for joint in root.findall("joint"):
        if joint.get("name") in model.joint_names:
            _set_friction(joint, model, phi)
    ElementTree.indent(root)
    return '<?xml version="1.0"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _bodies(full: pin.Model, model: RobotModel) -> list[tuple[list[str], list[str], Array]]:
    """Of each body that joints of `model` move: its own links, the one nearest to the root first;
    those on locked joints; and the parameters (10,) of the latter as described, in its frame.

    Args:
        full: the description, its root link tied to the world by the first joint.
    """
    data = full.createData()
    pin.forwardKinematics(full, data, pin.neutral(full))
    out: dict[int, tuple[list[str], list[str], Array]] = {}
    mover = {0: 0}  # joint that moves, by each joint below it
    for joint in range(1, full.njoints):
        moves = model.floating_base if joint == 1 else full.names[joint] in model.joint_names
        mover[joint] = joint if moves else mover[full.parents[joint]]
        names = [frame.name for frame in full.frames
                 if frame.type == pin.FrameType.BODY and frame.parentJoint == joint]
        if not mover[joint] or not names:
            continue
        if moves:
            out[joint] = names, [], np.zeros(10)
            continue
        pose = data.oMi[mover[joint]].inverse() * data.oMi[joint]
        described = phi_from_pinocchio(full.inertias[joint].toDynamicParameters())
        own, locked, phi = out[mover[joint]]
        out[mover[joint]] = own, locked + names, phi + transform_phi(
            described, pose.rotation, pose.translation)
    return list(out.values())


def _share_of_locked(total: Array, described: Array) -> float:
    """How much of the described links on locked joints a body (10,) can hold: 1 where a consistent
    body is left, else half of what leaves one."""
    if is_consistent(total - described):
        return 1.0
    most = eigh(pseudo_inertia(described), pseudo_inertia(total), eigvals_only=True)[-1]
    return float(0.5 / most)


def _set_friction(joint: ElementTree.Element, model: RobotModel, phi: Array) -> None:
    """Write viscous and Coulomb friction, where identified, into a joint's ``<dynamics>``."""
    for key, term in (("damping", VISCOUS), ("friction", COULOMB)):
        if term in model.terms.names:
            element = joint.find("dynamics")
            if element is None:
                element = ElementTree.SubElement(joint, "dynamics")
            value = phi[model.term_index(joint.get("name", ""), term)]
            element.set(key, number(max(value, 0.0)))
