# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Robot descriptions (URDF): read, checked, and made a model of Pinocchio.

The parsers behind it are not made for hostile texts: their time grows with the square of the
attributes of an element, and deep nesting exhausts their stack. So the structure is counted first,
in one pass, and `simplify` lets a process of its own try what is large.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree
from xml.parsers import expat

import numpy as np
import pinocchio as pin

from ..errors import DamagedFile, InvalidModel, InvalidSetting
from ..io.child_process import ChildProcess, capture_complaints
from ..io.files import read_text
from ..limits import (
    MAX_URDF_ATTRIBUTES,
    MAX_URDF_BYTES,
    MAX_URDF_DEPTH,
    MAX_URDF_ELEMENTS,
    MAX_URDF_LINKS,
    MAX_URDF_VALUE,
)

SAME_NAME = "joint::"  # before the name of a joint that has the name of a link
_IMPOSSIBLE = 1e6  # m: no joint or frame of a robot lies that far away
_HARMLESS = 200_000  # bytes of a description that is parsed within a few hundredths of a second
# What matters to kinematics and dynamics; by far the most of a description is about its looks.
_KEPT = {"robot": {"link", "joint"}, "link": {"inertial"},
         "inertial": {"origin", "mass", "inertia"},
         "joint": {"origin", "parent", "child", "axis", "limit", "dynamics", "mimic"}}
_ATTRIBUTES = {"name", "type", "xyz", "rpy", "link", "joint", "value", "multiplier", "offset",
               "lower", "upper", "effort", "velocity", "damping", "friction",
               "ixx", "ixy", "ixz", "iyy", "iyz", "izz"}
_LONGEST = 1000  # characters of an attribute that is kept


def parse_urdf(urdf: str, root_joint: pin.JointModel | None = None,
               dynamics: bool = False) -> pin.Model:
    """Model of a URDF text; its root link is fixed to the world, or tied to it by `root_joint`.

    Args:
        dynamics: masses and inertias matter, so that those the parser cannot read are an error.

    Raises:
        InvalidModel: not a URDF, or larger than the parser can be trusted with.
    """
    if len(urdf) > MAX_URDF_BYTES:
        raise InvalidModel(f"robot description has {len(urdf)} bytes; at most {MAX_URDF_BYTES}")
    if "<!DOCTYPE" in urdf or "<!ENTITY" in urdf:
        raise InvalidModel("robot description declares XML entities, which are not accepted")
    complaints: list[str] = []
    try:
        check_structure(urdf)
        with capture_complaints() as complaints:  # its error says nothing, these lines do
            model = (pin.buildModelFromXML(urdf) if root_joint is None
                     else pin.buildModelFromXML(urdf, root_joint))
        _check_numbers(model)
        if dynamics and any("inertia" in line.lower() for line in complaints):
            raise ValueError("inertia")
        return _rename_joints(model)
    except Exception as error:  # the parser raises several kinds
        reason = (_reason(complaints) or " ".join(str(error).split()) or "not a URDF")[:300]
        raise InvalidModel(f"robot description is not a usable URDF: {reason}") from error


def root_link(model: pin.Model) -> str:
    """The link that all others hang on."""
    return str(next(f.name for f in model.frames if f.type == pin.FrameType.BODY))


def _reason(complaints: Sequence[str]) -> str:
    """The messages of the URDF parser without the lines that name its source files."""
    words = (line.removeprefix("Error:").split() for line in complaints
             if not line.lstrip().startswith("at line"))
    return "; ".join(" ".join(w) for w in words if w)


def _check_numbers(model: pin.Model) -> None:
    """Raise ValueError where a joint or a frame lies nowhere, or farther off than any robot."""
    for names, placements in ((model.names, model.jointPlacements),
                              ([f.name for f in model.frames],
                               [f.placement for f in model.frames])):
        for name, placement in zip(names, placements, strict=True):
            if not (np.abs(placement.homogeneous) < _IMPOSSIBLE).all():
                raise ValueError(f"the origin of '{name[:100]}' is not finite, or more than "
                                 f"{_IMPOSSIBLE:g} m away")


def _rename_joints(model: pin.Model) -> pin.Model:
    """The model with joints renamed that have the name of a link, which Pinocchio mixes up."""
    links = set(link_names(model))
    for frame in model.frames:
        if frame.type != pin.FrameType.BODY and frame.name in links:
            frame.name = SAME_NAME + frame.name
    for k, name in enumerate(list(model.names)):
        if name in links:
            model.names[k] = SAME_NAME + name
    return model


def read_description(path: Path) -> str:
    """The text of a URDF file.

    Raises:
        InvalidSetting: no such file, or not readable.
        InvalidModel: not text, or too large.
    """
    try:
        return read_text(path, MAX_URDF_BYTES)
    except OSError as error:
        raise InvalidSetting(f"robot description file {path} cannot be read: "
                             f"{error.strerror}") from error
    except DamagedFile as error:
        raise InvalidModel(f"robot description file {path} cannot be used: {error}") from error


def check_structure(urdf: str) -> None:
    """Count elements, attributes and levels in one pass, whose time grows as the text does.

    Raises:
        ValueError: there are too many of them, or the text is no XML.
    """
    counts: Counter[str] = Counter()

    def begin(name: str, attributes: dict[str, str]) -> None:
        counts["elements"] += 1
        counts["levels"] += 1
        counts["links"] += name == "link"
        _require("elements", counts["elements"], MAX_URDF_ELEMENTS)
        _require("levels of elements", counts["levels"], MAX_URDF_DEPTH)
        _require("attributes in one element", len(attributes), MAX_URDF_ATTRIBUTES)
        for value in attributes.values():
            _require("characters in one attribute", len(value), MAX_URDF_VALUE)

    def end(_: str) -> None:
        counts["levels"] -= 1

    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = begin, end
    parser.Parse(urdf, True)  # at once: in portions, a long element would be read again each time
    _require("links", counts["links"], MAX_URDF_LINKS)


def _require(what: str, count: int, most: int) -> None:
    """Raise ValueError where there are more of something than allowed."""
    if count > most:
        raise ValueError(f"it has {count} {what}; at most {most} are allowed")


def link_names(model: pin.Model) -> list[str]:
    """Names of all links; joints may have the same names."""
    return [f.name for f in model.frames if f.type == pin.FrameType.BODY]


def simplify(urdf: str, child: ChildProcess) -> str:
    """A description that can be parsed here at once: a small one as it is; of a large one, which
    another process parses first, what matters to kinematics and dynamics.

    Raises:
        InvalidModel: not a URDF, or the other process exceeded its bounds.
    """
    if len(urdf) <= _HARMLESS:
        return urdf
    if len(urdf) > MAX_URDF_BYTES:
        raise InvalidModel(f"robot description has {len(urdf)} bytes; at most {MAX_URDF_BYTES}")
    data = urdf.encode("utf-8", "surrogatepass")
    return child.run(f"{__name__}:reduce_text", data, "robot description", InvalidModel).decode()


def reduce_text(data: bytes) -> bytes:
    """A URDF without what neither kinematics nor dynamics need; in the process that may be killed.

    Raises:
        InvalidModel: not a usable URDF.
    """
    urdf = data.decode("utf-8", "surrogatepass")
    parse_urdf(urdf)
    root = ElementTree.fromstring(urdf)
    _strip(root)
    return ElementTree.tostring(root, encoding="unicode").encode("utf-8", "surrogatepass")


def _strip(element: ElementTree.Element) -> None:
    """Remove all that is not kept, and all but the first of children that count once."""
    element.text = element.tail = None
    element.attrib = {name: value for name, value in element.attrib.items() if name in _ATTRIBUTES}
    for name, value in element.attrib.items():
        if len(value) > _LONGEST:
            raise InvalidModel(f"robot description has {len(value)} characters in '{name}' of a "
                               f"<{element.tag}>; at most {_LONGEST} are allowed")
    wanted, seen, kept = _KEPT.get(element.tag, set()), set(), []
    for inner in element:
        if inner.tag in wanted and (element.tag == "robot" or inner.tag not in seen):
            seen.add(inner.tag)
            kept.append(inner)
            _strip(inner)
    element[:] = kept
