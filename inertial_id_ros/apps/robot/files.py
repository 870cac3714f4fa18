# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Joint positions and efforts from a bag or a table, and the description of an identified robot."""

import re
from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree
from xml.parsers import expat

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
    """The text of a URDF with the bodies and frictions of phi (p,); all else stays byte for byte.

    Links that are fixed to each other are one body: the one nearest to the root gets all of it, the
    others lose theirs. Links on locked joints, such as fingers, keep what is described, to move
    where it is used; their body gets the rest. Links that do not move keep what they have.

    Raises:
        InvalidModel: links on locked joints are described as heavier than the body that was found.
    """
    full, wanted = parse_urdf(urdf), dict[tuple[str, str], tuple[str, str]]()
    described = {joint.get("name"): dynamics.attrib for joint in ElementTree.fromstring(
        urdf).iterfind("joint") for dynamics in joint.iterfind("dynamics")}
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
        wanted |= {("link", link): ("inertial", "") for link in own}
        wanted["link", own[0]] = "inertial", urdf_inertial(body_from_phi(body))
        found = {key: number(max(phi[indices[k]], 0.0)) for key, term in (
            ("damping", VISCOUS), ("friction", COULOMB)) if (indices := model.term_indices(term))}
        if found:
            element = ElementTree.Element("dynamics", described.get(name, {}), **found)
            wanted["joint", name] = "dynamics", ElementTree.tostring(element, "unicode")
    return _replace_children(urdf, wanted)


def _replace_children(document: str, wanted: Mapping[tuple[str, str], tuple[str, str]]) -> str:
    """A document with other children of elements below its root; wanted: by tag and name of such
    an element, the tag of its children, and the text in their place."""
    data, edits, left = document.encode(), list[tuple[int, int, str]](), dict(wanted)
    path, parser = list[tuple[int, tuple[str, str]]](), expat.ParserCreate("utf-8")

    def end(tag: str) -> None:
        (begin, own), at = path.pop(), parser.CurrentByteIndex
        closing = re.compile(rf"</{re.escape(tag)}\s*>".encode()).match(data, at)  # None: <tag/>
        if len(path) == 2 and wanted.get(path[1][1], ("",))[0] == tag:
            text = left.pop(path[1][1], ("", ""))[1]  # that of the second is empty
            edits.append((begin, closing.end() if closing else at, text))
        elif len(path) == 1 and (text := left.pop(own, ("", ""))[1]):
            edits.append((at, at, text) if closing else (at - 2, at, f">{text}</{tag}>"))

    parser.StartElementHandler = lambda tag, attributes: path.append(
        (parser.CurrentByteIndex, (tag, attributes.get("name", ""))))
    parser.EndElementHandler = end
    parser.Parse(data, True)
    for begin, last, text in reversed(edits):
        data = data[:begin] + text.encode() + data[last:]
    return data.decode()
