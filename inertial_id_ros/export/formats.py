# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The formats by name, and a payload on a link of the robot as a document."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin

from ..errors import InvalidModel, InvalidSetting, UnknownFrame
from ..inertia import move_body
from ..motion.description import link_names, parse_urdf
from . import documents
from .payload import PayloadOnLink

ROBOT, DESK = "urdf_robot", "franka_desk"
WRITERS: dict[str, Callable[[PayloadOnLink], str]] = {
    "urdf": documents.payload_urdf, "sdf": documents.payload_sdf, "mjcf": documents.payload_mjcf,
    "usd": documents.payload_usd, "yaml": documents.payload_yaml,
    DESK: documents.payload_franka_desk}
FORMATS = (*WRITERS, ROBOT)
NEARLY_ZERO = 1e-5  # kg m^2: OpenUSD takes smaller moments (norm) for not stated
NAMED = 20  # links in an error
LIGHTEST = 1e-6  # kg of a link that is worth a note
BEGIN = "<!-- inertial_id_ros payload begins -->"
END = "<!-- inertial_id_ros payload ends -->\n"


class ExportedPayload(NamedTuple):
    """The text of a document, and what its user must know, one sentence each."""

    text: str
    notes: tuple[str, ...]


def export(payload: PayloadOnLink, name: str, parent: str, urdf: str) -> ExportedPayload:
    """A payload as a document.

    Args:
        name: of the format. parent: link that shall carry it; empty: the present one.
        urdf: text of the robot description; empty: there is none.

    Raises:
        InvalidSetting: no such format, or a name that it does not allow.
        InvalidModel: the description is missing or cannot be used, or the parent moves against the
            frame of the estimate.
        UnknownFrame: no such link, or no description that holds it.
    """
    if name not in FORMATS:
        raise InvalidSetting(f"format is {name[:100]!r}; allowed: {', '.join(FORMATS)}")
    if name == DESK and not parent:
        raise UnknownFrame(f"{DESK} needs the payload in the frame of the flange: name its link as "
                           "parent, as fr3_link8")
    parent = parent or payload.parent
    if not urdf and name == ROBOT:
        raise InvalidModel(f"format {ROBOT} needs a robot description, and there is none")
    if not urdf and parent != payload.parent:
        raise UnknownFrame(f"parent '{parent}' is not '{payload.parent}', the frame of the "
                           "estimate, and there is no robot description that relates them")
    if name == ROBOT:
        urdf = without_payloads(urdf, payload.link)
        payload = _with_note_on_masses(payload, urdf)
    if name == ROBOT or parent != payload.parent:
        payload = move_to_link(payload, parent, parse_urdf(urdf))
    if name == ROBOT:
        return ExportedPayload(add_payload(urdf, payload), payload.notes)
    if name == DESK:
        payload = payload.with_note(
            f"Desk takes the numbers in the frame of the flange, here '{parent}'; the "
            "transformation is that of the flange, set the tool centre point in Desk")
    size = float(np.linalg.norm(documents.principal(payload.body)[0]))
    if name == "usd" and size < NEARLY_ZERO:
        payload = payload.with_note(
            f"its moments are {size:.1e} kg m^2 in all; OpenUSD takes less than {NEARLY_ZERO:g} "
            "kg m^2 for none, and computes those of a small sphere instead")
    return ExportedPayload(WRITERS[name](payload), payload.notes)


def move_to_link(payload: PayloadOnLink, parent: str, model: pin.Model) -> PayloadOnLink:
    """The payload on a link of the robot, to which its present one is fixed.

    Raises:
        UnknownFrame: one of them is no link. InvalidModel: a joint can move between them.
    """
    frames = []
    for link in (payload.parent, parent):
        if not model.existFrame(link, pin.FrameType.BODY):
            raise UnknownFrame(f"'{link}' is no link of the robot description; links: "
                               f"{', '.join(link_names(model)[:NAMED])}")
        frames.append(model.frames[model.getFrameId(link, pin.FrameType.BODY)])
    old, new = frames
    if old.parentJoint != new.parentJoint:
        between = set(model.supports[old.parentJoint]) ^ set(model.supports[new.parentJoint])
        raise InvalidModel(f"parent '{parent}' moves against '{payload.parent}', the frame of the "
                           f"estimate (joint '{model.names[max(between)]}'); a parent must be "
                           "fixed to it")
    pose = new.placement.inverse() * old.placement
    return replace(payload, parent=parent,
                   body=move_body(payload.body, pose.rotation, pose.translation))


def add_payload(urdf: str, payload: PayloadOnLink) -> str:
    """A robot description with the payload as a link fixed to its parent; all else stays as it is,
    byte for byte (raises InvalidModel where the result cannot be used, as if a name is taken)."""
    parts = documents.urdf_parts(payload)
    for part in parts:
        ElementTree.indent(part)
    lines = [BEGIN, *(ElementTree.tostring(part, encoding="unicode") for part in parts), END]
    end = [m.start() for m in re.finditer(
        r"<!--.*?-->|<!\[CDATA\[.*?\]\]>|</robot\s*>", urdf, re.S) if m[0].startswith("</")][-1]
    text = urdf[:end] + "\n".join(lines) + urdf[end:]
    parse_urdf(text)
    return text


def without_payloads(urdf: str, link: str) -> str:
    """A robot description without the payloads of a name that `add_payload` has added."""
    def keep(block: re.Match[str]) -> str:
        parts = ElementTree.fromstring(f"<x>{block[0]}</x>")
        return "" if any(part.get("name") == link for part in parts.iter("link")) else block[0]
    return re.sub(f"{BEGIN}.*?{END}", keep, urdf, flags=re.S)


def _with_note_on_masses(payload: PayloadOnLink, urdf: str) -> PayloadOnLink:
    """The payload with a note on the links below its own that have masses, as a gripper's: what a
    sensor there carries."""
    parse_urdf(urdf)  # its parser says what is wrong
    root, below = ElementTree.fromstring(urdf), [payload.parent]
    joints = [(parent.get("link", ""), child.get("link", "")) for parent, child in zip(
        root.iterfind("joint/parent"), root.iterfind("joint/child"), strict=True)]
    for link in below:
        below += [child for parent, child in joints if parent == link]
    masses = {link.get("name", ""): float(mass.get("value", 0.0))
              for link in root.findall("link") for mass in link.iterfind("inertial/mass")}
    named = [f"{link} {masses[link]:.3g} kg" for link in below[1:]
             if masses.get(link, 0.0) > LIGHTEST]
    if not named or payload.tool_apart:
        return payload
    return payload.with_note(
        f"the description gives masses to links that '{payload.parent}' carries "
        f"({', '.join(named[:5])}); a payload from the wrench holds them already, so that they "
        "count twice")
