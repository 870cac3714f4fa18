# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A robot description with identified bodies and friction: as URDF with nothing else changed, and
for simulators."""

from __future__ import annotations

from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin

from ...errors import InvalidModel
from ...export.markup import number, urdf_inertial
from ...export.robot_simulators import robot_mjcf, robot_sdf, robot_tree
from ...inertia import Array, body_from_phi, is_consistent, phi_from_pinocchio, transform_phi
from ...kinematics.robot_description import parse_urdf
from ...robot.joint_terms import COULOMB, DRIVE, VISCOUS
from ...robot.model import RobotModel

_HALVINGS = 50


class _Part(NamedTuple):
    """Links that are fixed to each other, by the full description.

    Attributes:
        links: names, the one nearest to the root first; phi: (10,) of them all, as described, in
        the frame of the joint that moves the body they belong to.
    """

    links: list[str]
    phi: Array


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
    for own, locked in _bodies(parse_urdf(urdf, pin.JointModelFreeFlyer()), model):
        name = own.links[0]
        if name not in links:
            raise InvalidModel(f"body '{name}' has no link in the robot description")
        total = phi[model.body_slice(name)]
        described = np.sum([part.phi for part in locked], axis=0) if locked else np.zeros(10)
        share = _share_of_locked(total, described)
        for part in locked:
            for member in part.links:
                _scale_inertial(links[member], share)
        for member in own.links:
            for old in links[member].findall("inertial"):
                links[member].remove(old)
        rest = body_from_phi(total - share * described)
        links[name].append(ElementTree.fromstring("".join(urdf_inertial(rest))))
    for joint in root.findall("joint"):
        if joint.get("name") in model.joint_names:
            _set_friction(joint, model, phi)
    ElementTree.indent(root)
    return '<?xml version="1.0"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def described_mjcf(urdf: str, model: RobotModel, phi: Array) -> str:
    """The text of an MJCF with the bodies, frictions and drive inertias of phi (p,).

    Raises:
        InvalidModel: see `set_inertias` and `robot_tree`.
    """
    drives = {} if DRIVE not in model.terms.names else {
        name: max(float(phi[model.term_index(name, DRIVE)]), 0.0) for name in model.joint_names}
    return robot_mjcf(*robot_tree(set_inertias(urdf, model, phi), drives))


def described_sdf(urdf: str, model: RobotModel, phi: Array) -> str:
    """The text of an SDF with the bodies and frictions of phi (p,); it knows no drive inertia.

    Raises:
        InvalidModel: see `set_inertias` and `robot_tree`. InvalidSetting: see `robot_sdf`.
    """
    return robot_sdf(*robot_tree(set_inertias(urdf, model, phi)))


def _bodies(full: pin.Model, model: RobotModel) -> list[tuple[_Part, list[_Part]]]:
    """The parts of each body that joints of `model` move: its own, and those on locked joints."""
    data = full.createData()
    pin.forwardKinematics(full, data, pin.neutral(full))
    members: dict[int, list[str]] = {}
    for frame in full.frames:
        if frame.type == pin.FrameType.BODY:
            members.setdefault(frame.parentJoint, []).append(frame.name)
    own: dict[int, _Part] = {}
    locked: dict[int, list[_Part]] = {}
    mover = {0: 0}  # joint that moves, by each joint below it
    for joint in range(1, full.njoints):
        # The first joint ties the root link to the world.
        moves = model.tells_root if joint == 1 else full.names[joint] in model.joint_names
        mover[joint] = joint if moves else mover[full.parents[joint]]
        if not mover[joint] or joint not in members:
            continue
        pose = data.oMi[mover[joint]].inverse() * data.oMi[joint]
        described = phi_from_pinocchio(full.inertias[joint].toDynamicParameters())
        part = _Part(members[joint], transform_phi(described, pose.rotation, pose.translation))
        if moves:
            own[joint] = part
        else:
            locked.setdefault(mover[joint], []).append(part)
    return [(part, locked.get(joint, [])) for joint, part in own.items()]


def _share_of_locked(total: Array, described: Array) -> float:
    """How much of the described links on locked joints a body (10,) can hold: 1 where a consistent
    body is left, else half of what leaves one."""
    low, high = 0.0, 1.0
    if is_consistent(total - described):
        return high
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if is_consistent(total - middle * described) else (low, middle)
    return 0.5 * low


def _scale_inertial(link: ElementTree.Element, share: float) -> None:
    """Multiply mass and inertia of a link."""
    for element in (*link.findall("inertial/mass"), *link.findall("inertial/inertia")):
        for key, value in element.attrib.items():
            element.set(key, value if share == 1.0 else number(share * float(value)))


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
        element.set(key, number(max(phi[model.term_index(name, term)], 0.0)))
