# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The formats by name, and the way from a payload to a document.

URDF and USD have files of their own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from ..errors import InvalidModel, InvalidSetting, UnknownFrame, printable
from ..inertia import PARAMETER_NAMES, principal_moments
from ..motion.description import link_names, parse_urdf
from .payload import DRAW, PayloadOnLink, ranges_of
from .urdf import (
    TENSOR_ENTRIES,
    add_payload,
    attribute,
    comment,
    comments,
    indented,
    number,
    numbers,
    payload_urdf,
    without_payloads,
)
from .usd import notes_for_usd, payload_usd

_LIGHTEST = 1e-6  # kg of a link that is worth a note
NAMED = 20  # links in an error


def move_to_link(payload: PayloadOnLink, parent: str, model: pin.Model) -> PayloadOnLink:
    """The payload on another link of the robot, to which its present one is fixed.

    Raises:
        UnknownFrame: one of them is no link. InvalidModel: a joint can move between them.
    """
    if parent == payload.parent:
        return payload
    old, new = _frame(model, payload.parent), _frame(model, parent)
    if old.parentJoint != new.parentJoint:
        raise moves_against(parent, payload.parent, _joint_between(model, old, new))
    pose = new.placement.inverse() * old.placement
    return payload.on(parent, pose.rotation, pose.translation)


def moves_against(parent: str, frame: str, joint: str = "") -> InvalidModel:
    """The error of a parent to which the frame of the estimate is not fixed."""
    by = f" (joint '{joint}')" if joint else ""
    return InvalidModel(f"parent '{parent}' moves against '{frame}', the frame of the estimate{by};"
                        " a parent must be fixed to it")


def _frame(model: pin.Model, link: str) -> pin.Frame:
    """The frame of a link (raises UnknownFrame)."""
    if not model.existFrame(link, pin.FrameType.BODY):
        raise UnknownFrame(f"'{link}' is no link of the robot description; links: "
                           f"{', '.join(link_names(model)[:NAMED])}")
    return model.frames[model.getFrameId(link, pin.FrameType.BODY)]


def _joint_between(model: pin.Model, one: pin.Frame, other: pin.Frame) -> str:
    """A joint that moves one of the links and not the other."""
    above = [_chain(model, frame.parentJoint) for frame in (one, other)]
    return str(model.names[max(set(above[0]) ^ set(above[1]))])


def _chain(model: pin.Model, joint: int) -> list[int]:
    """A joint and those above it, without the root."""
    chain = []
    while joint > 0:
        chain.append(joint)
        joint = model.parents[joint]
    return chain


def carried_links(model: pin.Model, frame: str) -> dict[str, float]:
    """Masses [kg] of the links below a link, by name: what a sensor there carries."""
    below = {model.getFrameId(frame, pin.FrameType.BODY)}
    masses: dict[str, float] = {}
    for k, inner in enumerate(model.frames):  # parents come before their children
        if k > 0 and inner.parentFrame in below:
            below.add(k)
            if inner.type == pin.FrameType.BODY and (mass := _mass(model, k)) > _LIGHTEST:
                masses[inner.name] = mass
    return masses


def _mass(model: pin.Model, number: int) -> float:
    """Mass [kg] of the link of a frame.

    Pinocchio keeps it with the joint above: with the frame of a fixed one; of one that moves,
    together with the masses of all links that are fixed to the link.
    """
    frame = model.frames[number]
    above = model.frames[frame.parentFrame]
    if above.type != pin.FrameType.JOINT:
        return float(above.inertia.mass)
    joint = frame.parentJoint
    return float(model.inertias[joint].mass) - sum(
        float(f.inertia.mass) for f in model.frames if f.parentJoint == joint)


def payload_yaml(payload: PayloadOnLink) -> str:
    """Mass, centre of mass and inertia with frame and units, also as principal moments, and their
    ranges."""
    body = payload.body
    moments, axes = principal_moments(body.inertia_com)
    tensor = ", ".join(f"{name}: {_scalar(body.inertia_com[i, j])}"
                       for name, i, j in TENSOR_ENTRIES)
    said = [f"# {printable(line)}" for line in (f"By inertial_id_ros: {payload.source}",
                                                *payload.notes)]
    return "\n".join([
        *said, "load:", f"  frame: {json.dumps(payload.parent, ensure_ascii=False)}",
        "  units: {mass: kg, length: m, inertia: kg m^2}", f"  mass: {_scalar(body.mass)}",
        f"  center_of_mass: {_list(body.com)}",
        "  # About the centre of mass, along the axes of the frame; ixy is -int x y dm.",
        f"  inertia: {{{tensor}}}",
        "  # The same: moments about the principal axes, which are the columns of the rotation.",
        f"  principal_moments: {_list(moments)}",
        f"  rotation: {_rows(axes)}", *_ranges(payload), ""])


def _ranges(payload: PayloadOnLink) -> list[str]:
    """The group of ranges, and the covariance; nothing where they are not known."""
    ranges = ranges_of(payload)
    if ranges is None:
        return []
    return ["# Low and high ends of 95 % intervals, in the units and axes of the load:",
            f"# {DRAW}.", "ranges:", f"  mass: {_list(ranges.mass)}",
            f"  center_of_mass: {_rows(ranges.com)}",
            f"  principal_moments: {_rows(ranges.moments)}", "covariance:",
            f"  of: [{', '.join(PARAMETER_NAMES)}]", f"  matrix: {_rows(ranges.covariance)}"]


def payload_franka_desk(payload: PayloadOnLink) -> str:
    """The end-effector configuration that Franka Desk imports: SI units, in the flange's frame.

    Fields and their order are those of endeffector-config.json in "End effector commissioning" of
    Franka RIDE 1.1.1: `transformation` of the end effector in the flange and `inertia` are
    column-major. No estimate knows the end effector's frame: it is written as that of the flange.
    """
    body = payload.body
    tree = {"mass": body.mass, "centerOfMass": body.com.tolist(),
            "transformation": np.eye(4).ravel(order="F").tolist(),
            "inertia": body.inertia_com.ravel(order="F").tolist()}
    return json.dumps(tree, indent=2, allow_nan=False) + "\n"


def _scalar(value: float) -> str:
    """A number that YAML 1.1 takes for one: with a point, also before an exponent."""
    digits, e, exponent = number(value).partition("e")
    return f"{digits}{'' if '.' in digits else '.0'}{e}{exponent}"


def _rows(rows: Iterable[Iterable[float]]) -> str:
    """Rows of numbers in brackets."""
    return f"[{', '.join(map(_list, rows))}]"


def _list(values: Iterable[float]) -> str:
    """Numbers in brackets."""
    return f"[{', '.join(map(_scalar, values))}]"


_SDF_VERSION = "1.7"  # the oldest in which frames mean what they mean in all later ones


def payload_sdf(payload: PayloadOnLink) -> str:
    """A model with one link, whose frame is that of the parent (SDF).

    Raises:
        InvalidSetting: a name that SDF keeps for itself.
    """
    if "::" in payload.link or (payload.link.startswith("__") and payload.link.endswith("__")):
        raise InvalidSetting(f"link '{payload.link}' is no name in SDF: '::' separates names "
                             "there, and names between '__' are its own")
    body = payload.body
    tensor = [f"<{name}>{number(body.inertia_com[i, j])}</{name}>" for name, i, j in TENSOR_ENTRIES]
    hint = comment("To be fixed to the robot: <joint type='fixed'> from "
                   f"'{payload.parent}' to this link, at the parent's pose")
    name = attribute(payload.link)
    inertial = [f"<pose>{numbers(body.com)} 0 0 0</pose>", f"<mass>{number(body.mass)}</mass>",
                "<inertia>", *indented(tensor), "</inertia>"]
    return "\n".join([
        '<?xml version="1.0"?>', f'<sdf version="{_SDF_VERSION}">', f"  <model name={name}>",
        *indented([*comments(payload), hint, f"<link name={name}>"], 2), "      <inertial>",
        *indented(inertial, 4), "      </inertial>", "    </link>", "  </model>", "</sdf>", ""])


def payload_mjcf(payload: PayloadOnLink) -> str:
    """A model with one body, whose frame is that of the parent (MJCF).

    Principal moments and axes stand in it, for which MuJoCo does not have to solve.
    """
    body = payload.body
    moments, axes = principal_moments(body.inertia_com)
    x, y, z, w = pin.Quaternion(axes).coeffs()
    name = attribute(payload.link)
    inertial = (f'<inertial pos="{numbers(body.com)}" quat="{numbers((w, x, y, z))}" '
                f'mass="{number(body.mass)}" diaginertia="{numbers(moments)}"/>')
    hint = comment(f"To be fixed to the robot: <attach> it in the body '{payload.parent}', or copy "
                   "the body there")
    return "\n".join([
        '<?xml version="1.0"?>', f"<mujoco model={name}>", "  <worldbody>",
        *indented([*comments(payload), hint, f"<body name={name}>", f"  {inertial}", "</body>"], 2),
        "  </worldbody>", "</mujoco>", ""])


_FLANGES = ("link8", "flange")  # endings of the names of a Franka's flange
ROBOT = "urdf_robot"  # needs a robot description
_WRITERS: dict[str, Callable[[PayloadOnLink], str]] = {
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


def export(payload: PayloadOnLink, name: str, parent: str, urdf: str) -> ExportedPayload:
    """A payload as a document.

    Args:
        name: of the format. parent: link that shall carry it; empty: the present one.
        urdf: text of the robot description; empty: there is none.

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
        return _into_robot(payload, parent, urdf)
    if parent != payload.parent:
        payload = move_to_link(payload, parent, parse_urdf(urdf))
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


def _into_robot(payload: PayloadOnLink, parent: str, urdf: str) -> ExportedPayload:
    """A robot description with the payload (raises what `export` raises)."""
    urdf = without_payloads(urdf, payload.link)  # of an earlier export
    model = parse_urdf(urdf)
    sensor, payload = payload.parent, move_to_link(payload, parent, model)
    described = carried_links(model, sensor) if model.existFrame(sensor) else {}
    if described and not payload.tool_apart:
        named = ", ".join(f"{name} {mass:.3g} kg" for name, mass in list(described.items())[:5])
        payload = payload.with_notes(
            f"the description gives masses to links that '{sensor}' carries ({named}); a payload "
            "from the wrench holds them already, so that they count twice")
    text = add_payload(urdf, payload)
    parse_urdf(text)  # what no parser reads is not handed out
    return ExportedPayload(text, payload.notes)
