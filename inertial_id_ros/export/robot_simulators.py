# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Whole robots for simulators: MJCF for MuJoCo, SDF for Gazebo.

Links that are fixed to each other are one body, at the one nearest to the root; the others are
frames on it. A joint that would move no mass is fixed. Shapes are left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin

from ..errors import InvalidModel, InvalidSetting
from ..inertia import (
    PARAMETERS,
    Array,
    Body,
    body_from_phi,
    phi_from_body,
    principal_moments,
    transform_phi,
)
from .urdf import TENSOR_ENTRIES, attribute, comment, indented, number, numbers

MOVING = ("revolute", "continuous", "prismatic")


@dataclass(frozen=True)
class TreeJoint:
    """How a link is attached to its parent.

    Attributes:
        kind: one of `MOVING`, or `fixed`.
        position: (3,) [m] and angles: (3,) roll, pitch, yaw [rad] of the child in the parent.
        axis: (3,) unit vector in the child's axes.
        limits: of position [rad] or [m], or None; effort, velocity: limits, or None.
        damping: [N m s/rad]; friction: Coulomb's [N m]; armature: drive inertia [kg m^2].
        mimic: joint that it follows, multiplier, offset; or None.
    """

    name: str
    kind: str
    parent: str
    child: str
    position: Array
    angles: Array
    axis: Array
    limits: tuple[float, float] | None = None
    effort: float | None = None
    velocity: float | None = None
    damping: float = 0.0
    friction: float = 0.0
    armature: float = 0.0
    mimic: tuple[str, float, float] | None = None

    @property
    def rotation(self) -> Array:
        """From the child's axes to the parent's (3, 3)."""
        return np.asarray(pin.rpy.rpyToMatrix(*self.angles))


@dataclass
class TreeLink:
    """A link: the body at its frame, None where it is only a frame; the joint that holds it, None
    for the root; and the links on it."""

    name: str
    body: Body | None
    joint: TreeJoint | None
    children: list[TreeLink] = field(default_factory=list)


def robot_tree(urdf: str, armature: dict[str, float] | None = None) -> tuple[str, TreeLink]:
    """Name and root link of a description that is a usable URDF.

    Args:
        armature: drive inertia by joint [kg m^2].

    Raises:
        InvalidModel: a kind of joint that is not known here, or numbers that are none.
    """
    root = ElementTree.fromstring(urdf)
    try:
        phis = {e.get("name", ""): _read_inertial(e) for e in root.findall("link")}
        joints = [_read_joint(e, armature or {}) for e in root.findall("joint")]
    except ValueError as error:
        raise InvalidModel(f"robot description holds something else than numbers: {error}"
                           ) from error
    below: dict[str, list[TreeJoint]] = {}
    for joint in joints:
        below.setdefault(joint.parent, []).append(joint)
    (top,) = set(phis) - {joint.child for joint in joints}
    base = TreeLink(top, None, None)
    total = _grow(base, phis, below)
    base.body = body_from_phi(total) if total[0] > 0.0 else None
    return root.get("name", "robot"), base


def _grow(link: TreeLink, phis: dict[str, Array], below: dict[str, list[TreeJoint]]) -> Array:
    """Attach what is below a link; returns the parameters (10,), in its frame, of the body that it
    and what is fixed to it are."""
    total = phis[link.name].copy()
    for joint in below.get(link.name, ()):
        child = TreeLink(joint.child, None, joint)
        phi = _grow(child, phis, below)
        link.children.append(child)
        if joint.kind != "fixed" and phi[0] > 0.0:
            child.body = body_from_phi(phi)
        else:
            child.joint = TreeJoint(joint.name, "fixed", joint.parent, joint.child, joint.position,
                                    joint.angles, joint.axis)
            total = total + transform_phi(phi, joint.rotation, joint.position)
    return total


def _read_inertial(link: ElementTree.Element) -> Array:
    """Parameters (10,) of a link in its frame; zero without an inertial."""
    inertial = link.find("inertial")
    if inertial is None:
        return np.zeros(PARAMETERS)
    position, angles = _read_origin(inertial)
    mass, tensor = inertial.find("mass"), inertial.find("inertia")
    entries = {} if tensor is None else tensor.attrib
    matrix = np.array([[float(entries.get("i" + "".join(sorted(a + b)), 0.0)) for b in "xyz"]
                       for a in "xyz"])
    turn = pin.rpy.rpyToMatrix(*angles)
    return phi_from_body(0.0 if mass is None else float(mass.get("value", 0.0)), position,
                         turn @ matrix @ turn.T)


def _read_joint(element: ElementTree.Element, armature: dict[str, float]) -> TreeJoint:
    """A joint of a description."""
    name, kind = element.get("name", ""), element.get("type", "")
    if kind not in (*MOVING, "fixed"):
        raise InvalidModel(f"joint '{name}' is of type '{kind}'; {', '.join(MOVING)} and fixed can "
                           "be written")
    position, angles = _read_origin(element)
    axis = _vector(element.find("axis"), "xyz", (1.0, 0.0, 0.0))
    limit, dynamics, mimic = (element.find(tag) for tag in ("limit", "dynamics", "mimic"))
    limits = None
    if limit is not None and kind != "continuous":
        low, high = float(limit.get("lower", 0.0)), float(limit.get("upper", 0.0))
        limits = (low, high) if low < high else None
    numbers = {} if limit is None else {key: float(limit.get(key, 0.0))
                                        for key in ("effort", "velocity")}
    friction = {} if dynamics is None else dynamics.attrib
    return TreeJoint(
        name, kind, _link_of(element, "parent"), _link_of(element, "child"), position, angles,
        axis / max(float(np.linalg.norm(axis)), 1e-300), limits, numbers.get("effort") or None,
        numbers.get("velocity") or None, float(friction.get("damping", 0.0)),
        float(friction.get("friction", 0.0)), armature.get(name, 0.0),
        None if mimic is None else (mimic.get("joint", ""), float(mimic.get("multiplier", 1.0)),
                                    float(mimic.get("offset", 0.0))))


def _link_of(element: ElementTree.Element, tag: str) -> str:
    """Name of a joint's parent or child."""
    found = element.find(tag)
    return "" if found is None else found.get("link", "")


def _read_origin(element: ElementTree.Element) -> tuple[Array, Array]:
    """Position (3,) and angles (3,) of an element's origin."""
    origin = element.find("origin")
    return _vector(origin, "xyz", (0.0,) * 3), _vector(origin, "rpy", (0.0,) * 3)


def _vector(element: ElementTree.Element | None, key: str, default: tuple[float, ...]) -> Array:
    """Three numbers (3,) of an attribute."""
    text = None if element is None else element.get(key)
    return np.array(default if text is None else [float(word) for word in text.split()])


_SDF_VERSION = "1.7"  # the oldest in which frames mean what they mean in all later ones
_WORLD = "world"


def robot_mjcf(name: str, root: TreeLink) -> str:
    """A model whose root is fixed to the world (MJCF).

    Viscous friction is `damping`, Coulomb friction `frictionloss`, drive inertia `armature`.
    """
    lines = ["<compiler angle=\"radian\" autolimits=\"true\"/>",
             comment("Bodies and joints by inertial_id_ros; shapes are left out"), "<worldbody>",
             *indented(_mjcf_body(root) if root.name != _WORLD else
                       [line for child in root.children for line in _mjcf_body(child)]),
             "</worldbody>"]
    followers = [(joint, *joint.mimic) for joint in _joints(root)
                 if joint.mimic is not None and joint.kind != "fixed"]
    if followers:
        lines += ["<equality>", *indented(
            f"<joint joint1={attribute(joint.name)} joint2={attribute(leader)} "
            f'polycoef="{numbers((offset, factor, 0.0, 0.0, 0.0))}"/>'
            for joint, leader, factor, offset in followers), "</equality>"]
    return "\n".join(['<?xml version="1.0"?>', f"<mujoco model={attribute(name)}>",
                      *indented(lines), "</mujoco>", ""])


def _mjcf_body(link: TreeLink) -> Iterator[str]:
    """The lines of a link and of all below it."""
    place = "" if link.joint is None else (
        f' pos="{numbers(link.joint.position)}" quat="{_quaternion(link.joint.rotation)}"')
    inside = [*_mjcf_joint(link.joint), *_mjcf_inertial(link.body),
              *(line for child in link.children for line in _mjcf_body(child))]
    yield f"<body name={attribute(link.name)}{place}>"
    yield from indented(inside)
    yield "</body>"


def _mjcf_joint(joint: TreeJoint | None) -> list[str]:
    """The line of a joint that moves."""
    if joint is None or joint.kind == "fixed":
        return []
    kind = "slide" if joint.kind == "prismatic" else "hinge"
    given = {"range": joint.limits, "actuatorfrcrange": joint.effort and (-joint.effort,
                                                                          joint.effort)}
    terms = {"damping": joint.damping, "frictionloss": joint.friction, "armature": joint.armature}
    return [f'<joint name={attribute(joint.name)} type="{kind}" axis="{numbers(joint.axis)}"'
            + "".join(f' {key}="{numbers(pair)}"' for key, pair in given.items() if pair)
            + "".join(f' {key}="{number(value)}"' for key, value in terms.items() if value) + "/>"]


def _mjcf_inertial(body: Body | None) -> list[str]:
    """The line of a body: principal moments and axes, for which MuJoCo does not have to solve."""
    if body is None:
        return []
    moments, axes = principal_moments(body.inertia_com)
    return [f'<inertial pos="{numbers(body.com)}" quat="{_quaternion(axes)}" '
            f'mass="{number(body.mass)}" diaginertia="{numbers(moments)}"/>']


def _quaternion(rotation: object) -> str:
    """A rotation (3, 3) as MuJoCo writes it, the scalar first."""
    x, y, z, w = pin.Quaternion(rotation).coeffs()
    return numbers((w, x, y, z))


def robot_sdf(name: str, root: TreeLink) -> str:
    """A model whose root is fixed to the world (SDF), which knows no drive inertia.

    Raises:
        InvalidSetting: a name that SDF keeps for itself, or that stands twice.
    """
    taken: set[str] = set()
    for item in (*(link.name for link in _links(root)), *(j.name for j in _joints(root)
                                                          if j.kind != "fixed")):
        if "::" in item or (item.startswith("__") and item.endswith("__")):
            raise InvalidSetting(f"'{item}' is no name in SDF: '::' separates names there, and "
                                 "names between '__' are its own")
        if item in taken:
            raise InvalidSetting(f"'{item}' names a link and a joint; SDF needs names of their own")
        taken.add(item)
    lines = [comment("Bodies and joints by inertial_id_ros; shapes are left out"),
             *_sdf_link(root)]
    if root.name != _WORLD:
        holder = next(n for k in range(len(taken) + 1) if (n := "fixed_to_world" + "_" * k)
                      not in taken)
        lines += [f'<joint name={attribute(holder)} type="fixed">', f"  <parent>{_WORLD}</parent>",
                  f"  <child>{_text(root.name)}</child>", "</joint>"]
    return "\n".join(['<?xml version="1.0"?>', f'<sdf version="{_SDF_VERSION}">',
                      *indented([f"<model name={attribute(name)}>", *indented(lines), "</model>"]),
                      "</sdf>", ""])


def _sdf_link(link: TreeLink) -> Iterator[str]:
    """The lines of a link, of the joint that holds it, and of all below it."""
    joint, name = link.joint, attribute(link.name)
    if joint is not None and joint.kind == "fixed":
        # Without an inertial, a link would weigh 1 kg.
        yield (f"<frame name={name}>" if joint.parent == _WORLD else
               f"<frame name={name} attached_to={attribute(joint.parent)}>")
        yield f"  <pose>{numbers((*joint.position, *joint.angles))}</pose>"
        yield "</frame>"
    elif joint is not None or link.name != _WORLD:
        yield f"<link name={name}>"
        if joint is not None:
            yield f"  <pose relative_to={attribute(joint.name)}>0 0 0 0 0 0</pose>"
        yield from indented(_sdf_inertial(link.body))
        yield "</link>"
        if joint is not None:
            yield from _sdf_joint(joint)
    for child in link.children:
        yield from _sdf_link(child)


def _sdf_inertial(body: Body | None) -> list[str]:
    """The lines of a body."""
    if body is None:
        return []
    return ["<inertial>", f"  <pose>{numbers(body.com)} 0 0 0</pose>",
            f"  <mass>{number(body.mass)}</mass>", "  <inertia>",
            *(f"    <{entry}>{number(body.inertia_com[i, j])}</{entry}>"
              for entry, i, j in TENSOR_ENTRIES), "  </inertia>", "</inertial>"]


def _sdf_joint(joint: TreeJoint) -> list[str]:
    """The lines of a joint that moves."""
    low, high = joint.limits or (None, None)
    limits = {"lower": low, "upper": high, "effort": joint.effort, "velocity": joint.velocity}
    limit = [f"<{key}>{number(value)}</{key}>" for key, value in limits.items()
             if value is not None]
    place = "" if joint.parent == _WORLD else f" relative_to={attribute(joint.parent)}"
    kind = "prismatic" if joint.kind == "prismatic" else "revolute"
    # `lower` and `upper` are required of a limit: without them the joint turns on.
    if joint.limits is None:
        limit = ["<lower>-1e16</lower>", "<upper>1e16</upper>", *limit]
    axis = [f"<xyz>{numbers(joint.axis)}</xyz>", "<limit>", *indented(limit), "</limit>",
            "<dynamics>", f"  <damping>{number(joint.damping)}</damping>",
            f"  <friction>{number(joint.friction)}</friction>",
            "  <spring_reference>0</spring_reference>", "  <spring_stiffness>0</spring_stiffness>",
            "</dynamics>"]
    return [f'<joint name={attribute(joint.name)} type="{kind}">',
            f"  <pose{place}>{numbers((*joint.position, *joint.angles))}</pose>",
            f"  <parent>{_text(joint.parent)}</parent>", f"  <child>{_text(joint.child)}</child>",
            "  <axis>", *indented(axis, 2), "  </axis>", "</joint>"]


def _text(name: str) -> str:
    """A name as the text of an element."""
    return name.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _links(link: TreeLink) -> Iterator[TreeLink]:
    """A link and all below it."""
    yield link
    for child in link.children:
        yield from _links(child)


def _joints(root: TreeLink) -> Iterator[TreeJoint]:
    """All joints."""
    for link in _links(root):
        if link.joint is not None:
            yield link.joint
