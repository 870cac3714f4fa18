# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The formats by name, and the way from a payload to a document."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..errors import InvalidModel, InvalidSetting, UnknownFrame
from ..motion.description import parse_urdf
from . import documents
from .payload import PayloadOnLink
from .robot import add_payload, move_to_link

FLANGES = ("link8", "flange")  # endings of the names of a Franka's flange
ROBOT = "urdf_robot"  # needs a robot description
WRITERS: dict[str, Callable[[PayloadOnLink], str]] = {
    "urdf": documents.payload_urdf, "sdf": documents.payload_sdf, "mjcf": documents.payload_mjcf,
    "usd": documents.payload_usd, "yaml": documents.payload_yaml,
    "franka_desk": documents.payload_franka_desk}
FORMATS = ("urdf", ROBOT, "sdf", "mjcf", "usd", "yaml", "franka_desk")
NEARLY_ZERO = 1e-5  # kg m^2: OpenUSD takes moments whose root of squares is smaller for not stated


class ExportedPayload(NamedTuple):
    """An exported payload.

    Attributes:
        text: of the document; notes: what its user must know, one sentence each.
    """

    text: str
    notes: tuple[str, ...]


def check_format(name: str) -> None:
    """Raise InvalidSetting where this is no format."""
    if name not in FORMATS:
        raise InvalidSetting(f"format is {name[:100]!r}; allowed: {', '.join(FORMATS)}")


def export(payload: PayloadOnLink, name: str, parent: str, urdf: str) -> ExportedPayload:
    """A payload as a document.

    Args:
        name: of the format. parent: link that shall carry it; empty: the present one.
        urdf: text of the robot description; empty: there is none.

    Raises:
        InvalidSetting: no such format, or a name that it does not allow.
        InvalidModel: the description is missing or cannot be used.
        UnknownFrame: no such link, or no description that holds it.
    """
    check_format(name)
    if name == "franka_desk":
        parent = parent or _flange(payload.parent, urdf)
    parent = parent or payload.parent
    if not urdf and name == ROBOT:
        raise InvalidModel(f"format {ROBOT} needs a robot description, and there is none")
    if not urdf and parent != payload.parent:
        raise UnknownFrame(f"parent '{parent}' is not '{payload.parent}', the frame of the "
                           "estimate, and there is no robot description that relates them")
    if name == ROBOT:
        text, payload = add_payload(urdf, payload, parent)
        return ExportedPayload(text, payload.notes)
    if parent != payload.parent:
        payload = move_to_link(payload, parent, parse_urdf(urdf))
    if name == "franka_desk":
        payload = payload.with_note(
            f"Desk takes the numbers in the frame of the flange, here '{parent}'; the "
            "transformation is that of the flange, set the tool centre point in Desk")
    size = float(np.linalg.norm(documents.principal(payload.body)[0]))
    if name == "usd" and size < NEARLY_ZERO:
        payload = payload.with_note(
            f"its moments are {size:.1e} kg m^2 in all; what asks OpenUSD for mass properties "
            f"takes less than {NEARLY_ZERO:g} kg m^2 for none, and gets a small sphere instead")
    return ExportedPayload(WRITERS[name](payload), payload.notes)


def _flange(sensor: str, urdf: str) -> str:
    """The flange of a Franka robot, by its name: the frame of the estimate or a link of the
    description (raises UnknownFrame where it is not known)."""
    links = re.findall(r'<link\s[^>]*?name="([^"]+)"', urdf)
    flanges = [name for name in dict.fromkeys((sensor, *links)) if name.endswith(FLANGES)]
    if not flanges:
        raise UnknownFrame("franka_desk needs the payload in the frame of the flange; the estimate "
                           f"is in '{sensor}' and no link is called ...link8: give the flange as "
                           "parent, with a robot description that holds it")
    return flanges[0]
