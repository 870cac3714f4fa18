# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The payload on another link, and what the robot description says about that link."""

from __future__ import annotations

import pinocchio as pin

from ..errors import InvalidModel, UnknownFrame
from ..kinematics.robot_description import link_names
from ..kinematics.transform_tree import list_names
from .payload import Payload

_LIGHTEST = 1e-6  # kg of a link that is worth a note


def move_to_link(payload: Payload, parent: str, model: pin.Model) -> Payload:
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
                           + list_names(link_names(model)))
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
