# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A payload as the text of a document, one function for each format.

Numbers come back to the last bit, but those of UsdPhysics, which have single precision.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any
from xml.etree.ElementTree import Comment, Element, indent, tostring

import numpy as np
import yaml
from scipy.spatial.transform import Rotation

from ..errors import InvalidSetting, printable
from ..inertia import PARAMETER_NAMES, Array, Body, principal_moments, six_from_tensor
from .payload import PayloadOnLink


def number(value: float) -> str:
    """The shortest text from which exactly this number is read back."""
    return repr(float(value))


def numbers(values: Iterable[float], separator: str = " ") -> str:
    """Numbers in a row."""
    return separator.join(map(number, values))


def element(tag: str, *children: Element[Any], text: str | None = None, **attributes: str
            ) -> Element[Any]:
    """An XML element."""
    made = Element(tag, attributes)
    made.extend(children)
    made.text = text
    return made


def comments(payload: PayloadOnLink) -> list[Element[Any]]:
    """Where a payload comes from, and what to know about it; XML allows no two hyphens in a row."""
    lines = (f"Payload in '{payload.parent}' by inertial_id_ros: {payload.source}", *payload.notes)
    return [Comment(f" {re.sub('-(?=-)', '- ', printable(line))} ") for line in lines]


def document(root: Element[Any]) -> str:
    """The text of an XML document."""
    indent(root)
    return f'<?xml version="1.0"?>\n{tostring(root, encoding="unicode")}\n'


def entries(body: Body) -> dict[str, float]:
    """The tensor about the centre of mass by the names of its entries; ixy is -int x y dm."""
    return dict(zip(PARAMETER_NAMES[4:], six_from_tensor(body.inertia_com).tolist(), strict=True))


def principal(body: Body) -> tuple[Array, Array, Array]:
    """Principal moments (3,) [kg m^2], their axes (3, 3) and these as quaternion w, x, y, z."""
    moments, axes = principal_moments(body.inertia_com)
    return moments, axes, Rotation.from_matrix(axes).as_quat()[[3, 0, 1, 2]]


def urdf_inertial(body: Body) -> Element[Any]:
    """The URDF element of a body, along the axes of its link."""
    inertia = {name: number(value) for name, value in entries(body).items()}
    return element("inertial", element("origin", xyz=numbers(body.com), rpy="0 0 0"),
                   element("mass", value=number(body.mass)), element("inertia", **inertia))


def urdf_parts(payload: PayloadOnLink) -> list[Element[Any]]:
    """The payload's link, and the joint that fixes it to its parent."""
    return [*comments(payload),
            element("link", urdf_inertial(payload.body), name=payload.link),
            element("joint", element("parent", link=payload.parent),
                    element("child", link=payload.link),
                    element("origin", xyz="0 0 0", rpy="0 0 0"),
                    name=f"{payload.link}_joint", type="fixed")]


def payload_urdf(payload: PayloadOnLink) -> str:
    """A description of the parent without mass, and of the payload fixed to it."""
    return document(element(
        "robot", Comment(" leave this link out where the robot description has it "),
        element("link", name=payload.parent), *urdf_parts(payload), name=payload.link))


def payload_sdf(payload: PayloadOnLink) -> str:
    """A model with one link, whose frame is that of the parent (SDF 1.7, the oldest in which frames
    mean what they mean in all later ones).

    Raises:
        InvalidSetting: a name that SDF keeps for itself.
    """
    if re.search("::|^__.*__$", payload.link):
        raise InvalidSetting(f"link '{payload.link}' is no name in SDF: '::' separates names "
                             "there, and names between '__' are its own")
    body = payload.body
    inertial = element(
        "inertial", element("pose", text=f"{numbers(body.com)} 0 0 0"),
        element("mass", text=number(body.mass)),
        element("inertia", *(element(k, text=number(v)) for k, v in entries(body).items())))
    return document(element("sdf", element(
        "model", *comments(payload), element("link", inertial, name=payload.link),
        name=payload.link), version="1.7"))


def payload_mjcf(payload: PayloadOnLink) -> str:
    """A model with one body, whose frame is that of the parent (MJCF).

    Principal moments and axes stand in it, for which MuJoCo does not have to solve.
    """
    moments, _, turn = principal(payload.body)
    inertial = element("inertial", pos=numbers(payload.body.com), quat=numbers(turn),
                       mass=number(payload.body.mass), diaginertia=numbers(moments))
    return document(element("mujoco", element(
        "worldbody", *comments(payload), element("body", inertial, name=payload.link)),
        model=payload.link))


def payload_usd(payload: PayloadOnLink) -> str:
    """A layer (.usda) whose default prim is the payload, a rigid body in the parent's frame.

    As UsdPhysics has it (openusd.org, "Rigid Body Physics in USD"): `centerOfMass` in the prim's
    own space, `diagonalInertia` along the principal axes, which `principalAxes` (w, x, y, z) turns
    into it.
    """
    moments, _, turn = principal(payload.body)
    # A name that every version takes for a prim.
    name = re.sub("^(?=[0-9])", "_", re.sub("[^A-Za-z0-9_]", "_", payload.link))
    return f"""#usda 1.0
(
    defaultPrim = "{name}"
    kilogramsPerUnit = 1
    metersPerUnit = 1
    upAxis = "Z"
)

def Xform "{name}" (
    prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]
    customData = {{
        dictionary inertial_id_ros = {{
            string source = {_usd_text(payload.source)}
            string parent = {_usd_text(payload.parent)}
            string[] notes = [{', '.join(map(_usd_text, payload.notes))}]
        }}
    }}
    displayName = {_usd_text(payload.link)}
)
{{
    point3f physics:centerOfMass = ({numbers(payload.body.com, ', ')})
    float3 physics:diagonalInertia = ({numbers(moments, ', ')})
    float physics:mass = {number(payload.body.mass)}
    quatf physics:principalAxes = ({numbers(turn, ', ')})
}}
"""


def _usd_text(text: str) -> str:
    return '"' + printable(text).replace("\\", "\\\\").replace('"', '\\"') + '"'


def payload_yaml(payload: PayloadOnLink) -> str:
    """Mass, centre of mass and inertia about it with frame and units, also as principal moments
    about axes that are the columns of a rotation."""
    body = payload.body
    moments, axes, _ = principal(body)
    load = {"frame": payload.parent, "units": {"mass": "kg", "length": "m", "inertia": "kg m^2"},
            "mass": float(body.mass), "center_of_mass": body.com.tolist(),
            "inertia": entries(body), "principal_moments": moments.tolist(),
            "rotation": axes.tolist()}
    lines = (f"By inertial_id_ros: {payload.source}", *payload.notes)
    return "".join(f"# {printable(line)}\n" for line in lines) + yaml.safe_dump(
        {"load": load}, sort_keys=False, allow_unicode=True, default_flow_style=None, width=100)


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
