# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Bodies to export, and readers of what was exported that share nothing with the writers.

They are Pinocchio, MuJoCo, PyYAML, json, OpenUSD, and one for SDF that follows its specification
(sdformat.org/spec, 1.7)."""

from __future__ import annotations

import json
from typing import Any
from xml.etree import ElementTree

import mujoco
import numpy as np
import pinocchio as pin
import pytest
import yaml

from inertial_id_ros.inertia import Body


def random_body(rng: np.random.Generator) -> Body:
    """A body of any size and flatness, turned anyhow, up to a metre from the frame."""
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    lengths = 10.0 ** rng.uniform(-4.0, 0.0, size=3)
    mass = 10.0 ** rng.uniform(-3.0, 2.0)
    second = mass * turn @ np.diag(lengths**2 / 12.0) @ turn.T
    tensor = np.trace(second) * np.eye(3) - second
    return Body(mass, rng.uniform(-1.0, 1.0, size=3), 0.5 * (tensor + tensor.T))


def assert_same(found: Body, truth: Body, tolerance: float = 1e-9) -> None:
    """Mass, centre of mass and tensor agree to this share of their size."""
    np.testing.assert_allclose(found.mass, truth.mass, rtol=tolerance)
    for one, other in ((found.com, truth.com), (found.inertia_com, truth.inertia_com)):
        np.testing.assert_allclose(one, other, rtol=0.0, atol=tolerance * np.abs(other).max())


def from_pinocchio(inertia: pin.Inertia) -> Body:
    return Body(inertia.mass, np.array(inertia.lever), np.array(inertia.inertia))


def pinocchio_link(urdf: str, link: str) -> Body:
    """A link that is fixed to its parent, in its own frame, as Pinocchio reads a URDF."""
    model = pin.buildModelFromXML(urdf, pin.JointModelFreeFlyer())
    frame = model.frames[model.getFrameId(link, pin.FrameType.BODY)]
    joint = model.frames[frame.parentFrame]  # of a fixed joint, it keeps the inertia of its link
    assert joint.type == pin.FrameType.FIXED_JOINT and frame.inertia.mass == 0.0
    assert frame.placement == joint.placement
    return from_pinocchio(joint.inertia)


def pinocchio_on_parent(urdf: str) -> Body:
    """All that hangs on the root link without joints, in its frame, as Pinocchio reads a URDF."""
    return from_pinocchio(pin.buildModelFromXML(urdf, pin.JointModelFreeFlyer()).inertias[1])


def mujoco_body(xml: str, name: str) -> Body:
    """A body in its own frame, as MuJoCo reads MJCF or a URDF."""
    spec = mujoco.MjSpec.from_string(xml)
    spec.compiler.fusestatic = False
    body, turn = spec.compile().body(name), np.empty(9)
    mujoco.mju_quat2Mat(turn, body.iquat)
    axes = turn.reshape(3, 3)
    return Body(float(body.mass[0]), np.array(body.ipos), axes @ np.diag(body.inertia) @ axes.T)


def sdf_link(sdf: str, name: str) -> Body:
    """The only link of the only model of an SDF document; fails where the document holds anything
    that the specification does not know, or lacks what it requires."""
    root = ElementTree.fromstring(sdf)
    ((link,),) = root
    assert [(e.tag, e.attrib) for e in (root, root[0], link, link[0])] == [
        ("sdf", {"version": "1.7"}), ("model", {"name": name}), ("link", {"name": name}),
        ("inertial", {})]
    pose, mass, inertia = link[0]
    assert [e.tag for e in (pose, mass, inertia)] == ["pose", "mass", "inertia"]
    numbers = [float(x) for x in str(pose.text).split()]
    turn = pin.rpy.rpyToMatrix(*numbers[3:])  # about fixed axes: roll, pitch, yaw
    tensor = symmetric({part.tag: float(str(part.text)) for part in inertia})
    return Body(float(str(mass.text)), np.array(numbers[:3]), turn @ tensor @ turn.T)


def symmetric(entries: dict[str, float]) -> np.ndarray:
    return np.array([[entries["i" + "".join(sorted(a + b))] for b in "xyz"] for a in "xyz"])


def yaml_bodies(text: str) -> tuple[str, Body, Body]:
    """Frame, the body of the tensor, and that of the principal moments."""
    load = yaml.safe_load(text)["load"]
    assert load["units"] == {"mass": "kg", "length": "m", "inertia": "kg m^2"}
    mass, com = load["mass"], np.array(load["center_of_mass"])
    axes = np.array(load["rotation"])
    assert np.linalg.det(axes) > 0.0
    return (load["frame"], Body(mass, com, symmetric(load["inertia"])),
            Body(mass, com, axes @ np.diag(load["principal_moments"]) @ axes.T))


def usd_stage(text: str) -> Any:
    """A layer as OpenUSD composes it."""
    stage = pytest.importorskip("pxr.Usd").Stage.CreateInMemory()
    assert stage.GetRootLayer().ImportFromString(text)
    return stage


def franka_body(text: str) -> Body:
    tree = json.loads(text)
    assert sorted(tree) == ["centerOfMass", "inertia", "mass", "transformation"]
    assert tree["transformation"] == np.eye(4).ravel().tolist()
    return Body(tree["mass"], np.array(tree["centerOfMass"]),
                np.array(tree["inertia"]).reshape(3, 3, order="F"))
