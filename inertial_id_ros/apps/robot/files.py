# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Joint positions and efforts from a bag or a table, and the description of an identified robot."""

from pathlib import Path
from xml.etree import ElementTree

import pinocchio as pin

from ...errors import InvalidModel
from ...export.documents import number, urdf_inertial
from ...inertia import Array, body_from_phi, is_consistent, phi_from_pinocchio
from ...motion.robot import parse_urdf
from ...robot.model import COULOMB, VISCOUS, RobotModel
from ...settings import Settings
from ..recordings import Recording
from ..recordings.bags import read_bag
from ..recordings.tables import Columns, Table, columns_from_file, is_table


def read_recording(path: Path, columns: Path | None = None, topic: str | None = None,
                   described: bool = False) -> Recording:
    """Joint states with efforts of a bag or a table, and the robot description that a bag holds
    (raises RecordingError, InvalidData, InvalidSetting).

    Args:
        columns: YAML file with the columns of a table; None: their usual names.
        topic: of the joint states in a bag; None: the only one.
        described: True if a bag needs no robot description.
    """
    if is_table(path):
        table = Table(path, columns_from_file(columns) if columns else Columns())
        return Recording([[table.joint_states(table.stamps(), True)]], 0.0)
    # Joint states with efforts are what payloads from joint torques need, too.
    used = Settings().replace({
        "load.robot": "-", "wrench.sensor_frame": "-",
        "robot_description.file": "-" if described else "",
        **({} if topic is None else {"joint_states.topic": topic})})
    return read_bag(path, used)


def set_inertias(urdf: str, model: RobotModel, phi: Array) -> str:
    """The text of a URDF with the bodies and frictions of phi (p,).

    Links that are fixed to each other are one body: the one nearest to the root gets all of it, the
    others lose theirs. Links on joints that were locked, such as fingers, keep what is described,
    and their body gets the rest, so that they can move where the description is used. Links that do
    not move keep what they have.

    Raises:
        InvalidModel: links on locked joints are described as heavier than the body that was found.
    """
    parser = ElementTree.XMLParser(target=ElementTree.TreeBuilder(insert_comments=True))
    root = ElementTree.fromstring(urdf, parser)
    links = {link.get("name", ""): link for link in root.findall("link")}
    joints = {joint.get("name", ""): joint for joint in root.findall("joint")}
    full = parse_urdf(urdf)
    for k, name in enumerate(model.joint_names):
        mover, body = full.getJointId(name), phi[model.body_slice(k)]
        own = [frame.name for frame in full.frames
               if frame.type == pin.FrameType.BODY and frame.parentJoint == mover]
        locked = [link for link, body in model.links.items() if body == k and link not in own]
        if locked:
            alone = phi_from_pinocchio(full.inertias[mover].toDynamicParameters())
            body = body - (model.nominal[model.body_slice(k)] - alone)
            if not is_consistent(body):
                raise InvalidModel(f"of the body '{own[0]}' as found nothing is left beside "
                                   f"{', '.join(locked)} as described: is their mass right?")
        for link in own:
            for old in links[link].findall("inertial"):
                links[link].remove(old)
        links[own[0]].append(ElementTree.fromstring(urdf_inertial(body_from_phi(body))))
        for key, term in (("damping", VISCOUS), ("friction", COULOMB)):
            if indices := model.term_indices(term):
                element = joints[name].find("dynamics")
                if element is None:
                    element = ElementTree.SubElement(joints[name], "dynamics")
                element.set(key, number(max(phi[indices[k]], 0.0)))
    return '<?xml version="1.0"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"
