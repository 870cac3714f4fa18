# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The formats by name, and the way from a payload to a document."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from ..errors import InvalidModel, InvalidSetting, UnknownFrame
from ..io.child_process import ChildProcess
from ..kinematics.robot_description import parse_urdf, simplify
from .data_files import payload_franka_desk, payload_yaml
from .payload import Payload
from .placement import carried_links, move_to_link
from .simulators import payload_mjcf, payload_sdf
from .urdf import add_payload, payload_urdf, without_payloads
from .usd import notes_for_usd, payload_usd

_FLANGES = ("link8", "flange")  # endings of the names of a Franka's flange
ROBOT = "urdf_robot"  # needs a robot description
_WRITERS: dict[str, Callable[[Payload], str]] = {
    "urdf": payload_urdf, "sdf": payload_sdf, "mjcf": payload_mjcf, "usd": payload_usd,
    "yaml": payload_yaml, "franka_desk": payload_franka_desk}
FORMATS = ("urdf", ROBOT, "sdf", "mjcf", "usd", "yaml", "franka_desk")


class ExportedPayload(NamedTuple):
    """An exported payload.

    Attributes:
        text: of the document; notes: what its user must know, one sentence each.
    """

    text: str
    notes: tuple[str, ...]


def check_format(name: str) -> str:
    """The name of a format (raises InvalidSetting)."""
    if name not in FORMATS:
        raise InvalidSetting(f"format is {name[:100]!r}; allowed: {', '.join(FORMATS)}")
    return name


def export(payload: Payload, name: str, parent: str, urdf: str, child: ChildProcess
           ) -> ExportedPayload:
    """A payload as a document.

    Args:
        name: of the format. parent: link that shall carry it; empty: the present one.
        urdf: text of the robot description; empty: there is none.
        child: for descriptions that are large.

    Raises:
        InvalidSetting: no such format, or one that has no mesh.
        InvalidModel: the description is missing or cannot be used.
        UnknownFrame: no such link, or no description that holds it.
    """
    check_format(name)
    if payload.mesh is not None and name != "usd":
        raise InvalidSetting(f"a mesh is written in format usd only, and format is '{name}'")
    if name == "franka_desk":
        parent = parent or _flange(payload.parent, urdf)
    parent = parent or payload.parent
    if not urdf and name == ROBOT:
        raise InvalidModel(f"format {ROBOT} needs a robot description, and there is none")
    if not urdf and parent != payload.parent:
        raise UnknownFrame(f"parent '{parent}' is not '{payload.parent}', the frame of the "
                           "estimate, and there is no robot description that relates them")
    if name == ROBOT:
        return _into_robot(payload, parent, urdf, child)
    if parent != payload.parent:
        payload = move_to_link(payload, parent, parse_urdf(simplify(urdf, child)))
    if name == "franka_desk":
        payload = payload.with_notes(
            f"Desk takes the numbers in the frame of the flange, here '{parent}'; the "
            "transformation is that of the flange, set the tool centre point in Desk")
    if name == "usd":
        payload = payload.with_notes(*notes_for_usd(payload))
    return ExportedPayload(_WRITERS[name](payload), payload.notes)


def _flange(sensor: str, urdf: str) -> str:
    """The flange of a Franka robot, by its name: the frame of the estimate or a link of the
    description (raises UnknownFrame where it is not known)."""
    links = re.findall(r'<link\s[^>]*?name="([^"]+)"', urdf)
    flanges = [name for name in dict.fromkeys((sensor, *links)) if name.endswith(_FLANGES)]
    if not flanges:
        raise UnknownFrame("franka_desk needs the payload in the frame of the flange; the estimate "
                           f"is in '{sensor}' and no link is called ...link8: give the flange as "
                           "parent, with a robot description that holds it")
    return flanges[0]


def _into_robot(payload: Payload, parent: str, urdf: str, child: ChildProcess) -> ExportedPayload:
    """A robot description with the payload (raises what `export` raises)."""
    urdf = without_payloads(urdf, payload.link)  # of an earlier export
    model = parse_urdf(simplify(urdf, child))
    sensor, payload = payload.parent, move_to_link(payload, parent, model)
    described = carried_links(model, sensor) if model.existFrame(sensor) else {}
    if described and not payload.tool_apart:
        named = ", ".join(f"{name} {mass:.3g} kg" for name, mass in list(described.items())[:5])
        payload = payload.with_notes(
            f"the description gives masses to links that '{sensor}' carries ({named}); a payload "
            "from the wrench holds them already, so that they count twice")
    text = add_payload(urdf, payload)
    parse_urdf(simplify(text, child))  # what no parser reads is not handed out
    return ExportedPayload(text, payload.notes)
