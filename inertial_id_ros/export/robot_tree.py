# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A robot description as rigid bodies and joints, to be written in other formats.

Links that are fixed to each other are one body, at the one nearest to the root; the others are
frames on it. A joint that would move no mass is fixed. Shapes are left out.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin

from ..errors import InvalidModel
from ..inertia import PARAMETERS, Array, Body, body_from_phi, phi_from_body, transform_phi

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
