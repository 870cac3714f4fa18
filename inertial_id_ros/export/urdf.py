# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""URDF: the payload alone, or in a robot description that stays as it is otherwise.

Names are escaped, and numbers come back to the last bit; other writers of XML use the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from xml.parsers import expat
from xml.sax.saxutils import quoteattr

from ..errors import InvalidModel, printable
from ..inertia import Body
from ..limits import MAX_URDF_BYTES
from .payload import PayloadOnLink

TENSOR_ENTRIES = tuple((f"i{'xyz'[i]}{'xyz'[j]}", i, j) for i in range(3) for j in range(i, 3))


def number(value: float) -> str:
    """The shortest text from which exactly this number is read back."""
    return repr(float(value))


def numbers(values: Iterable[float]) -> str:
    """Numbers separated by spaces."""
    return " ".join(map(number, values))


def attribute(text: str) -> str:
    """A text in quotes, as the value of an attribute."""
    return quoteattr(text)


def comment(text: str) -> str:
    """A comment, in which XML allows no two hyphens in a row."""
    return f"<!-- {re.sub('-(?=-)', '- ', printable(text))} -->"


def comments(payload: PayloadOnLink) -> list[str]:
    """Comments that say where a payload comes from, and what to know about it."""
    return [comment(f"Payload in '{payload.parent}' by inertial_id_ros: {payload.source}"),
            *(comment(note) for note in payload.notes)]


def urdf_inertial(body: Body) -> list[str]:
    """The lines of a URDF's ``<inertial>`` element, along the axes of its link."""
    tensor = " ".join(f'{name}="{number(body.inertia_com[i, j])}"' for name, i, j in TENSOR_ENTRIES)
    return ["<inertial>", f'  <origin xyz="{numbers(body.com)}" rpy="0 0 0"/>',
            f'  <mass value="{number(body.mass)}"/>', f"  <inertia {tensor}/>", "</inertial>"]


def indented(lines: Iterable[str], levels: int = 1) -> list[str]:
    """Lines moved to the right."""
    return ["  " * levels + line for line in lines]


_BEGIN, _END = "inertial_id_ros payload begins", "inertial_id_ros payload ends"


def payload_urdf(payload: PayloadOnLink) -> str:
    """A description of the parent without mass, and of the payload fixed to it."""
    parent = attribute(payload.parent)
    return "\n".join([
        '<?xml version="1.0"?>', f"<robot name={attribute(payload.link)}>",
        *indented([comment("leave this link out where the robot description has it"),
                   f"<link name={parent}/>", *_link_and_joint(payload)]), "</robot>", ""])


def add_payload(urdf: str, payload: PayloadOnLink) -> str:
    """A robot description with the payload as a link fixed to its parent.

    All else stays as it is, byte for byte.

    Raises:
        InvalidModel: no such parent, a name that is taken, a result that is too large.
    """
    names = _Names(urdf)
    if payload.parent not in names.links:
        raise InvalidModel(f"parent '{payload.parent}' is no link of the robot description")
    for kind, name, taken in (("link", payload.link, names.links),
                              ("joint", payload.joint, names.joints)):
        if name in taken:
            raise InvalidModel(f"the robot description has a {kind} '{name}' already; give the "
                               "payload's link another name, or remove that one")
    block = "\n".join([comment(_BEGIN), *_link_and_joint(payload), comment(_END), ""])
    data = urdf.encode("utf-8", "surrogatepass")
    text = (data[:names.end] + block.encode() + data[names.end:]).decode("utf-8", "surrogatepass")
    if len(text) > MAX_URDF_BYTES:
        raise InvalidModel(f"robot description with the payload has {len(text)} bytes; at most "
                           f"{MAX_URDF_BYTES}")
    return text


def without_payloads(urdf: str, link: str = "") -> str:
    """A robot description without what `add_payload` has added: payloads of one name, or all."""
    declared = f"\n<link name={attribute(link)}>"
    opening, closing = comment(_BEGIN), f"{comment(_END)}\n"
    kept, done = [], 0
    # Not a regular expression, which would look for an end from each of a million beginnings.
    while (begin := urdf.find(opening, done)) >= 0 and (end := urdf.find(closing, begin)) >= 0:
        end += len(closing)
        stays = link and declared not in urdf[begin:end]
        kept.append(urdf[done:end if stays else begin])
        done = end
    return "".join([*kept, urdf[done:]])


def _link_and_joint(payload: PayloadOnLink) -> list[str]:
    """The lines of the payload's link and of the joint that fixes it."""
    return [*comments(payload), f"<link name={attribute(payload.link)}>",
            *indented(urdf_inertial(payload.body)), "</link>",
            f'<joint name={attribute(payload.joint)} type="fixed">',
            f"  <parent link={attribute(payload.parent)}/>",
            f"  <child link={attribute(payload.link)}/>",
            '  <origin xyz="0 0 0" rpy="0 0 0"/>', "</joint>"]


class _Names:
    """Names of links and joints of a robot description, and where its last tag begins.

    Attributes:
        end: offset in bytes of UTF-8.

    Raises:
        InvalidModel: the text is no XML.
    """

    def __init__(self, urdf: str) -> None:
        self.links: set[str] = set()
        self.joints: set[str] = set()
        self.end = 0
        self._depth = 0
        self._parser = expat.ParserCreate()
        self._parser.StartElementHandler = self._begin
        self._parser.EndElementHandler = self._finish
        try:
            self._parser.Parse(urdf.encode("utf-8", "surrogatepass"), True)
        except expat.ExpatError as error:
            raise InvalidModel(f"robot description is not a usable URDF: {error}") from None

    def _begin(self, tag: str, attributes: dict[str, str]) -> None:
        if self._depth == 1 and tag in ("link", "joint"):
            names = self.links if tag == "link" else self.joints
            names.add(attributes.get("name", ""))
        self._depth += 1

    def _finish(self, _: str) -> None:
        self._depth -= 1
        if self._depth == 0:
            self.end = self._parser.CurrentByteIndex
