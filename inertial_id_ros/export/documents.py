# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A payload as the text of a document, one function for each format.

Numbers come back to the last bit, but those of UsdPhysics, which have single precision.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from xml.sax.saxutils import quoteattr

import numpy as np
import yaml
from scipy.spatial.transform import Rotation

from ..errors import InvalidSetting, printable
from ..inertia import PARAMETER_NAMES, Array, Body, principal_moments, six_from_tensor
from ..limits import MAX_NAME


@dataclass(frozen=True)
class PayloadOnLink:
    """A payload that may be exported.

    Attributes:
        link: its name in the document.
        parent: link of the robot, or other frame, that carries it.
        body: mass [kg], centre of mass [m] and inertia about it [kg m^2], in `parent`.
        source: where the numbers come from.
        notes: what its user must know, one sentence each.

    Raises:
        InvalidSetting: a name cannot stand in a document of any format.
    """

    link: str
    parent: str
    body: Body
    source: str
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for what, name in (("link", self.link), ("parent", self.parent)):
            if not name or not name.isprintable() or len(name) > MAX_NAME:
                raise InvalidSetting(f"{what} is {name[:100]!r}; it must have 1 to {MAX_NAME} "
                                     "printable characters")
        if self.link in (self.parent, "world"):
            raise InvalidSetting(f"link '{self.link}' is the parent itself, or the world; the "
                                 "payload needs another name")

    def with_note(self, note: str) -> PayloadOnLink:
        """The same with one more note."""
        return replace(self, notes=(*self.notes, note))


def number(value: float) -> str:
    """The shortest text from which exactly this number is read back."""
    return repr(float(value))


def numbers(values: Iterable[float], separator: str = " ") -> str:
    """Numbers in a row."""
    return separator.join(map(number, values))


def entries(body: Body) -> dict[str, float]:
    """The tensor about the centre of mass by the names of its entries; ixy is -int x y dm."""
    return dict(zip(PARAMETER_NAMES[4:], six_from_tensor(body.inertia_com).tolist(), strict=True))


def principal(body: Body) -> tuple[Array, Array, Array]:
    """Principal moments (3,) [kg m^2], their axes (3, 3) and these as quaternion w, x, y, z."""
    moments, axes = principal_moments(body.inertia_com)
    return moments, axes, Rotation.from_matrix(axes).as_quat()[[3, 0, 1, 2]]


def comments(payload: PayloadOnLink) -> str:
    """Where a payload comes from, and what to know about it; XML allows no two hyphens in a row."""
    lines = (f"Payload in '{payload.parent}' by inertial_id_ros: {payload.source}", *payload.notes)
    return "\n".join(f"<!-- {re.sub('-(?=-)', '- ', printable(line))} -->" for line in lines)


def urdf_inertial(body: Body) -> str:
    """The URDF element of a body, along the axes of its link."""
    inertia = " ".join(f'{name}="{number(value)}"' for name, value in entries(body).items())
    return (f'<inertial><origin xyz="{numbers(body.com)}" rpy="0 0 0"/>'
            f'<mass value="{number(body.mass)}"/><inertia {inertia}/></inertial>')


def urdf_parts(payload: PayloadOnLink) -> str:
    """The payload's link, and the joint that fixes it to its parent."""
    link = quoteattr(payload.link)
    return f"""{comments(payload)}
<link name={link}>{urdf_inertial(payload.body)}</link>
<joint name={quoteattr(payload.link + "_joint")} type="fixed">
  <parent link={quoteattr(payload.parent)}/><child link={link}/>
  <origin xyz="0 0 0" rpy="0 0 0"/>
</joint>
"""


def payload_urdf(payload: PayloadOnLink) -> str:
    """A description of the parent without mass, and of the payload fixed to it."""
    return f"""<?xml version="1.0"?>
<robot name={quoteattr(payload.link)}>
<!-- leave this link out where the robot description has it -->
<link name={quoteattr(payload.parent)}/>
{urdf_parts(payload)}</robot>
"""


def payload_sdf(payload: PayloadOnLink) -> str:
    """A model with one link, whose frame is that of the parent (SDF 1.7, the oldest in which frames
    mean what they mean in all later ones).

    Raises:
        InvalidSetting: a name that SDF keeps for itself.
    """
    if re.search("::|^__.*__$", payload.link):
        raise InvalidSetting(f"link '{payload.link}' is no name in SDF: '::' separates names "
                             "there, and names between '__' are its own")
    body, link = payload.body, quoteattr(payload.link)
    inertia = "".join(f"<{name}>{number(value)}</{name}>" for name, value in entries(body).items())
    return f"""<?xml version="1.0"?>
<sdf version="1.7"><model name={link}>
{comments(payload)}
<link name={link}><inertial>
  <pose>{numbers(body.com)} 0 0 0</pose>
  <mass>{number(body.mass)}</mass>
  <inertia>{inertia}</inertia>
</inertial></link>
</model></sdf>
"""


def payload_mjcf(payload: PayloadOnLink) -> str:
    """A model with one body, whose frame is that of the parent (MJCF).

    Principal moments and axes stand in it, for which MuJoCo does not have to solve.
    """
    (moments, _, turn), body, link = principal(payload.body), payload.body, quoteattr(payload.link)
    return f"""<?xml version="1.0"?>
<mujoco model={link}><worldbody>
{comments(payload)}
<body name={link}>
  <inertial mass="{number(body.mass)}" pos="{numbers(body.com)}" quat="{numbers(turn)}"
    diaginertia="{numbers(moments)}"/>
</body>
</worldbody></mujoco>
"""


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


WRITERS: dict[str, Callable[[PayloadOnLink], str]] = {
    "urdf": payload_urdf, "sdf": payload_sdf, "mjcf": payload_mjcf, "usd": payload_usd,
    "yaml": payload_yaml, "franka_desk": payload_franka_desk}
