# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A payload as the text of a document: templates that are filled from one set of fields.

Numbers come back to the last bit, but those of UsdPhysics, which have single precision.
"""

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from xml.sax.saxutils import quoteattr

import numpy as np
import yaml
from scipy.spatial.transform import Rotation

from ..errors import InvalidSetting, printable
from ..inertia import PARAMETER_NAMES, Body, principal_moments, six_from_tensor
from ..limits import MAX_NAME

# The payload's link, and the joint that fixes it to its parent.
URDF_PARTS = """{comments}
<link name={link}>{inertial}</link>
<joint name={joint} type="fixed">
  <parent link={parent}/><child link={link}/>
  <origin xyz="0 0 0" rpy="0 0 0"/>
</joint>
"""
# URDF: the parent without mass, and the payload fixed to it. SDF, MJCF, USD: one body in the frame
# of the parent. SDF 1.7 is the oldest version in which frames mean what they mean in all later
# ones. USD (openusd.org, "Rigid Body Physics in USD"): `centerOfMass` in the prim's own space,
# `diagonalInertia` along the principal axes, which `principalAxes` (w, x, y, z) turns into it.
TEMPLATES = {"urdf": f"""<?xml version="1.0"?>
<robot name={{link}}>
<!-- leave this link out where the robot description has it -->
<link name={{parent}}/>
{URDF_PARTS}</robot>
""", "sdf": """<?xml version="1.0"?>
<sdf version="1.7"><model name={link}>
{comments}
<link name={link}><inertial>
  <pose>{com} 0 0 0</pose>
  <mass>{mass}</mass>
  <inertia>{elements}</inertia>
</inertial></link>
</model></sdf>
""", "mjcf": """<?xml version="1.0"?>
<mujoco model={link}><worldbody>
{comments}
<body name={link}>
  <inertial mass="{mass}" pos="{com}" quat="{quaternion}"
    diaginertia="{moments}"/>
</body>
</worldbody></mujoco>
""", "usd": """#usda 1.0
(
    defaultPrim = "{prim}"
    kilogramsPerUnit = 1
    metersPerUnit = 1
    upAxis = "Z"
)

{remarks}
def Xform "{prim}" (
    prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]
    displayName = {usd_link}
)
{{
    point3f physics:centerOfMass = ({usd_com})
    float3 physics:diagonalInertia = ({usd_moments})
    float physics:mass = {mass}
    quatf physics:principalAxes = ({usd_quaternion})
}}
"""}


@dataclass(frozen=True)
class PayloadOnLink:
    """A payload that may be exported (raises InvalidSetting: a name cannot stand in a document of
    any format)."""

    link: str  # its name in the document
    parent: str  # link of the robot, or other frame, that carries it
    body: Body  # in `parent`
    source: str  # where the numbers come from
    notes: tuple[str, ...] = ()  # what its user must know, one sentence each

    def __post_init__(self) -> None:
        for what, name in (("link", self.link), ("parent", self.parent)):
            if not name or not name.isprintable() or len(name) > MAX_NAME:
                raise InvalidSetting(f"{what} is {name[:100]!r}; it must have 1 to {MAX_NAME} "
                                     "printable characters")
        if self.link in (self.parent, "world"):
            raise InvalidSetting(f"link '{self.link}' is the parent itself, or the world; the "
                                 "payload needs another name")


def number(value: float) -> str:
    """The shortest text from which exactly this number is read back."""
    return repr(float(value))


def numbers(values: Iterable[float], separator: str = " ") -> str:
    """Numbers in a row."""
    return separator.join(map(number, values))


def entries(body: Body) -> dict[str, float]:
    """The tensor about the centre of mass by the names of its entries; ixy is -int x y dm."""
    return dict(zip(PARAMETER_NAMES[4:], six_from_tensor(body.inertia_com).tolist(), strict=True))


def urdf_inertial(body: Body) -> str:
    """The URDF element of a body, along the axes of its link."""
    inertia = " ".join(f'{name}="{number(value)}"' for name, value in entries(body).items())
    return (f'<inertial><origin xyz="{numbers(body.com)}" rpy="0 0 0"/>'
            f'<mass value="{number(body.mass)}"/><inertia {inertia}/></inertial>')


def fill(template: str, payload: PayloadOnLink) -> str:
    """A template with the fields of a payload; XML allows no two hyphens in a comment."""
    body = payload.body
    moments, axes = principal_moments(body.inertia_com)
    turn = Rotation.from_matrix(axes).as_quat()[[3, 0, 1, 2]]
    lines = (f"Payload in '{payload.parent}' by inertial_id_ros: {payload.source}", *payload.notes)
    return template.format(
        link=quoteattr(payload.link), joint=quoteattr(f"{payload.link}_joint"),
        parent=quoteattr(payload.parent), inertial=urdf_inertial(body),
        comments="\n".join(f"<!-- {re.sub('-(?=-)', '- ', printable(x))} -->" for x in lines),
        remarks="\n".join(f"# {printable(x)}" for x in lines), usd_link=json.dumps(
            printable(payload.link), ensure_ascii=False),
        mass=number(body.mass), com=numbers(body.com), moments=numbers(moments),
        quaternion=numbers(turn), elements="".join(
            f"<{name}>{number(value)}</{name}>" for name, value in entries(body).items()),
        # A name that every version takes for a prim.
        prim=re.sub("^(?=[0-9])", "_", re.sub("[^A-Za-z0-9_]", "_", payload.link)),
        usd_com=numbers(body.com, ", "), usd_moments=numbers(moments, ", "),
        usd_quaternion=numbers(turn, ", "))


def as_yaml(payload: PayloadOnLink) -> str:
    """Mass, centre of mass, inertia and its principal moments by name."""
    body, (moments, axes) = payload.body, principal_moments(payload.body.inertia_com)
    load = {"frame": payload.parent, "units": {"mass": "kg", "length": "m", "inertia": "kg m^2"},
            "mass": float(body.mass), "center_of_mass": body.com.tolist(),
            "inertia": entries(body), "principal_moments": moments.tolist(),
            "rotation": axes.tolist()}
    return fill("{remarks}\n", payload) + yaml.safe_dump(
        {"load": load}, sort_keys=False, allow_unicode=True, default_flow_style=None, width=100)


def as_franka_desk(payload: PayloadOnLink) -> str:
    """JSON for Franka Desk: fields and their order are those of endeffector-config.json in "End
    effector commissioning" of Franka RIDE 1.1.1, matrices column-major. No estimate knows the end
    effector's frame: its `transformation` is written as that of the flange."""
    body = payload.body
    return json.dumps({
        "mass": body.mass, "centerOfMass": body.com.tolist(),
        "transformation": np.eye(4).ravel(order="F").tolist(),
        "inertia": body.inertia_com.ravel(order="F").tolist()}, indent=2) + "\n"


FORMATS: dict[str, Callable[[PayloadOnLink], str]] = {
    **{name: partial(fill, template) for name, template in TEMPLATES.items()},
    "yaml": as_yaml, "franka_desk": as_franka_desk}
