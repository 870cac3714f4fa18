# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A payload in a robot description: on another of its links, or as a link that is added to it."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pinocchio as pin

from ..errors import InvalidModel, UnknownFrame
from ..limits import MAX_URDF_BYTES
from ..motion.description import link_names, parse_urdf
from .documents import urdf_parts
from .payload import PayloadOnLink

NAMED = 20  # links in an error
LIGHTEST = 1e-6  # kg of a link that is worth a note
BEGIN = "<!-- inertial_id_ros payload begins -->"
END = "<!-- inertial_id_ros payload ends -->\n"


def move_to_link(payload: PayloadOnLink, parent: str, model: pin.Model) -> PayloadOnLink:
    """The payload on another link of the robot, to which its present one is fixed.

    Raises:
        UnknownFrame: one of them is no link. InvalidModel: a joint can move between them.
    """
    if parent == payload.parent:
        return payload
    old, new = _frame(model, payload.parent), _frame(model, parent)
    if old.parentJoint != new.parentJoint:
        between = set(model.supports[old.parentJoint]) ^ set(model.supports[new.parentJoint])
        raise InvalidModel(f"parent '{parent}' moves against '{payload.parent}', the frame of the "
                           f"estimate (joint '{model.names[max(between)]}'); a parent must be "
                           "fixed to it")
    pose = new.placement.inverse() * old.placement
    return payload.on(parent, pose.rotation, pose.translation)


def _frame(model: pin.Model, link: str) -> pin.Frame:
    """The frame of a link (raises UnknownFrame)."""
    if not model.existFrame(link, pin.FrameType.BODY):
        raise UnknownFrame(f"'{link}' is no link of the robot description; links: "
                           f"{', '.join(link_names(model)[:NAMED])}")
    return model.frames[model.getFrameId(link, pin.FrameType.BODY)]


def add_payload(urdf: str, payload: PayloadOnLink, parent: str) -> tuple[str, PayloadOnLink]:
    """A robot description with the payload as a link fixed to its parent, and that payload.

    An earlier payload of the same name is replaced; all else stays as it is, byte for byte.

    Raises:
        UnknownFrame: no such parent. InvalidModel: it moves against the frame of the estimate, a
            name is taken, or the description or the result cannot be used.
    """
    urdf = without_payloads(urdf, payload.link)
    model = parse_urdf(urdf)
    sensor, payload = payload.parent, move_to_link(payload, parent, model)
    _frame(model, parent)
    described = carried_links(urdf, sensor)
    if described and not payload.tool_apart:
        named = ", ".join(f"{name} {mass:.3g} kg" for name, mass in list(described.items())[:5])
        payload = payload.with_note(
            f"the description gives masses to links that '{sensor}' carries ({named}); a payload "
            "from the wrench holds them already, so that they count twice")
    root = ElementTree.fromstring(urdf)
    for kind, name in (("link", payload.link), ("joint", payload.joint)):
        if any(one.get("name") == name for one in root.findall(kind)):
            raise InvalidModel(f"the robot description has a {kind} '{name}' already; give the "
                               "payload's link another name, or remove that one")
    parts = []
    for part in urdf_parts(payload):
        ElementTree.indent(part)
        parts.append(ElementTree.tostring(part, encoding="unicode"))
    end = [m.start() for m in re.finditer(
        r"<!--.*?-->|<!\[CDATA\[.*?\]\]>|</robot\s*>", urdf, re.S) if m[0].startswith("</")][-1]
    text = urdf[:end] + "\n".join([BEGIN, *parts, END]) + urdf[end:]
    if len(text) > MAX_URDF_BYTES:
        raise InvalidModel(f"robot description with the payload has {len(text)} bytes; at most "
                           f"{MAX_URDF_BYTES}")
    parse_urdf(text)
    return text, payload


def without_payloads(urdf: str, link: str) -> str:
    """A robot description without the payloads of a name that `add_payload` has added."""
    def keep(block: re.Match[str]) -> str:
        return "" if any(part.get("name") == link for part in ElementTree.fromstring(
            f"<x>{block[0]}</x>").iter("link")) else block[0]
    return re.sub(f"{BEGIN}.*?{END}", keep, urdf, flags=re.S)


def carried_links(urdf: str, frame: str) -> dict[str, float]:
    """Masses [kg] of the links below a link, by name: what a sensor there carries."""
    root = ElementTree.fromstring(urdf)
    children: dict[str, list[str]] = {}
    for joint in root.findall("joint"):
        parent, child = joint.find("parent"), joint.find("child")
        if parent is not None and child is not None:
            children.setdefault(parent.get("link", ""), []).append(child.get("link", ""))
    below = list(children.get(frame, []))
    for link in below:
        below += children.get(link, [])
    masses = {link.get("name", ""): float(mass.get("value", "0"))
              for link in root.findall("link") if (mass := link.find("inertial/mass")) is not None}
    return {link: masses[link] for link in below if masses.get(link, 0.0) > LIGHTEST}
