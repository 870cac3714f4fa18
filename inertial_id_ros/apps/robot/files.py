# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Joint positions and efforts from a bag or a table, and the description of an identified robot."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin
from scipy.linalg import eigh

from ...errors import RecordingError
from ...export.documents import number, urdf_inertial
from ...inertia import Array, body_from_phi, is_consistent, phi_from_pinocchio, pseudo_inertia
from ...io.files import user_path
from ...io.inputs import JointStates
from ...motion.robot import parse_urdf
from ...robot.model import COULOMB, VISCOUS, RobotModel
from ...robot.recording import JointRecording
from ...settings import Settings
from ..recordings.bags import read_bag
from ..recordings.tables import Columns, Table, columns_from_file, is_table


def read_recording(path: Path, columns: Path | None = None, topic: str | None = None,
                   described: bool = False) -> JointRecording:
    """Read joint positions and efforts from a bag or a table (raises RecordingError, InvalidData,
    InvalidSetting).

    Args:
        columns: YAML file with the columns of a table; None: their usual names.
        topic: of the joint states in a bag; None: the only one.
        described: True if a bag needs no robot description.
    """
    path = user_path(path)
    if is_table(path):
        table = Table(path, columns_from_file(user_path(columns)) if columns else Columns())
        states = table.joint_states(table.stamps(), True)
        return JointRecording(states.names, states.stamps, states.positions,
                              np.asarray(states.efforts))
    # Joint states with efforts are what payloads from joint torques need, too.
    used = Settings().replace({
        "load.robot": "-", "wrench.sensor_frame": "-",
        "robot_description.file": "-" if described else "",
        **({} if topic is None else {"joint_states.topic": topic})})
    recording = read_bag(path, used)
    blocks = [block for part in recording.parts for block in part if isinstance(block, JointStates)]
    found = _of_blocks(blocks)
    skipped = recording.damaged - len(found.stamps) + sum(len(block.stamps) for block in blocks)
    left_out = [f"{skipped} joint states without efforts, or of other joints, left out"]
    return found._replace(urdf=recording.description, notes=(
        *recording.notes, *found.notes, *left_out[:skipped]))


def _of_blocks(blocks: Sequence[JointStates]) -> JointRecording:
    """The samples of the joints that carry efforts (raises RecordingError)."""
    used = [(block, np.asarray(block.efforts)) for block in blocks if block.efforts is not None
            and len(set(block.names)) == len(block.names) == block.positions.shape[1]]
    if not used:
        raise RecordingError("no joint states of the recording carry efforts beside positions")
    largest, efforts = max(used, key=lambda each: len(each[0].stamps))
    names = tuple(np.array(largest.names)[np.isfinite(efforts).any(axis=0)].tolist())
    if not names:
        raise RecordingError("no effort in the joint states of the recording is a number")
    without = sorted({name for block in blocks for name in block.names} - set(names))
    parts = [(block.stamps, *(each[:, [block.names.index(name) for name in names]]
                              for each in (block.positions, efforts)))
             for block, efforts in used if set(names) <= set(block.names)]
    stamps, q, effort = (np.concatenate(each) for each in zip(*parts, strict=True))
    order = np.argsort(stamps, kind="stable")
    note = f"left out, as no message brings them with an effort: {', '.join(without)}"
    return JointRecording(names, stamps[order], q[order], effort[order],
                          notes=(note,) if without else ())


def set_inertias(urdf: str, model: RobotModel, phi: Array) -> str:
    """The text of a URDF with the bodies and frictions of phi (p,).

    Links that are fixed to each other are one body: the one nearest to the root gets all of it, the
    others lose theirs. Links on joints that were locked, such as fingers, keep what is described,
    and their body gets the rest, so that they can move where the description is used; where no
    body is left then, they keep half of what leaves one. Links that do not move keep what they
    have.
    """
    parser = ElementTree.XMLParser(target=ElementTree.TreeBuilder(insert_comments=True))
    root = ElementTree.fromstring(urdf, parser)
    links = {link.get("name", ""): link for link in root.findall("link")}
    joints = {joint.get("name", ""): joint for joint in root.findall("joint")}
    full = parse_urdf(urdf)
    for k, name in enumerate(model.joint_names):
        mover, where = full.getJointId(name), model.body_slice(k)
        own = [frame.name for frame in full.frames
               if frame.type == pin.FrameType.BODY and frame.parentJoint == mover]
        locked = [link for link, body in model.links.items() if body == k and link not in own]
        body = phi[where]
        if locked:
            described = model.nominal[where] - phi_from_pinocchio(
                full.inertias[mover].toDynamicParameters())  # of those on locked joints
            share = 1.0 if is_consistent(body - described) else 0.5 / float(eigh(
                pseudo_inertia(described), pseudo_inertia(body), eigvals_only=True)[-1])
            body = body - share * described
            for part in (part for link in locked for part in links[link].findall("inertial/*")
                         if share < 1.0):
                for key in set(part.keys()) & {"value", "ixx", "ixy", "ixz", "iyy", "iyz", "izz"}:
                    part.set(key, number(share * float(part.get(key, ""))))
        for link in own:
            for old in links[link].findall("inertial"):
                links[link].remove(old)
        links[own[0]].append(ElementTree.fromstring(urdf_inertial(body_from_phi(body))))
        for key, term in (("damping", VISCOUS), ("friction", COULOMB)):
            if term in model.terms.names:
                element = joints[name].find("dynamics")
                if element is None:
                    element = ElementTree.SubElement(joints[name], "dynamics")
                element.set(key, number(max(phi[model.term_index(name, term)], 0.0)))
    return '<?xml version="1.0"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"
