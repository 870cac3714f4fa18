# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Real robots written as URDF, MJCF and SDF are the same robot in Pinocchio, in MuJoCo, and to a
reader of SDF that follows its specification (sdformat.org/spec, 1.7)."""

from __future__ import annotations

import sys
from pathlib import Path
from xml.etree import ElementTree

import mujoco
import numpy as np
import pinocchio as pin
import pytest

from benchmarks.robot.descriptions import data_sheet_ur10e
from inertial_id_ros.apps.robot.identify_robot import described_mjcf, described_sdf, set_inertias
from inertial_id_ros.errors import InvalidSetting
from inertial_id_ros.robot.joint_terms import COULOMB, DRIVE, VISCOUS, JointTerms
from inertial_id_ros.robot.model import RobotModel
from inertial_id_ros.robot.robot_file import robot_model

ROBOTS = {  # description, joints that were identified: all, or those whose names hold a word
    "Panda with fingers": ("panda_description/urdf/panda.urdf", "panda_joint"),
    "UR10e": ("", ""), "UR10": ("ur_description/urdf/ur10_robot.urdf", ""),
    "humanoid G1": ("g1_description/urdf/g1_29dof_with_hand_rev_1_0.urdf", ""),
    "humanoid Talos": ("talos_data/robots/talos_full_v2.urdf", "")}
SDF = {  # elements of each element, in which those of the specification that are written stand
    "sdf": {"model"}, "model": {"link", "joint", "frame"}, "frame": {"pose"},
    "link": {"pose", "inertial"}, "inertial": {"pose", "mass", "inertia"},
    "inertia": {"ixx", "ixy", "ixz", "iyy", "iyz", "izz"},
    "joint": {"pose", "parent", "child", "axis"}, "axis": {"xyz", "limit", "dynamics"},
    "limit": {"lower", "upper", "effort", "velocity"},
    "dynamics": {"damping", "friction", "spring_reference", "spring_stiffness"}}
ATTRIBUTES = {"sdf": {"version"}, "model": {"name"}, "link": {"name"}, "joint": {"name", "type"},
              "frame": {"name", "attached_to"}, "pose": {"relative_to"}}


def find(path: str) -> str:
    """Text of a description of the package example-robot-data, which development needs."""
    for folder in map(Path, sys.path):
        for place in folder.glob(f"cmeel.prefix/share/example-robot-data/robots/{path}"):
            return place.read_text()
    raise FileNotFoundError(path)


def identified(kind: str) -> tuple[str, RobotModel, np.ndarray]:
    """Description, model, and parameters other than described, with friction and drives."""
    path, word = ROBOTS[kind]
    urdf = find(path) if path else data_sheet_ur10e()
    names = tuple(n for n in robot_model(urdf).joint_names if word in n and "finger" not in n)
    model = robot_model(urdf, names, JointTerms(drive_inertia=True))
    rng = np.random.default_rng(0)
    phi = model.nominal
    for k in range(len(model.bodies)):
        phi[model.body_slice(k)] *= rng.uniform(1.0, 1.3)
    for j in range(len(names)):
        for term, most in ((VISCOUS, 5.0), (COULOMB, 3.0), (DRIVE, 0.5)):
            phi[model.term_index(j, term)] = rng.uniform(0.1, most)
    return urdf, model, phi


def rigid_torque(model: RobotModel, phi: np.ndarray, state: np.ndarray) -> np.ndarray:
    """Torques of the bodies alone."""
    bodies = phi.copy()
    bodies[10 * len(model.bodies):] = 0.0
    return model.torque(bodies, *(x[None] for x in state))[0]


def pinocchio_torque(read: pin.Model, names: tuple[str, ...], state: np.ndarray) -> np.ndarray:
    """Torques of these joints, the others at zero; continuous joints may be unit circles."""
    at = [read.joints[read.getJointId(name)] for name in names]
    q = pin.neutral(read)
    rates = np.zeros((2, read.nv))
    for joint, x, v, a in zip(at, *state, strict=True):
        if joint.nq == 2:
            q[joint.idx_q:joint.idx_q + 2] = np.cos(x), np.sin(x)
        else:
            q[joint.idx_q] = x
        rates[:, joint.idx_v] = v, a
    torque = pin.rnea(read, read.createData(), q, *rates)
    return np.array([torque[joint.idx_v] for joint in at])


def read_sdf(text: str) -> pin.Model:
    """A model as the specification says; fails on what it does not know."""
    root = ElementTree.fromstring(text)
    assert root.attrib == {"version": "1.7"}
    for element in root.iter():
        assert {child.tag for child in element} <= SDF.get(element.tag, set()), element.tag
        assert set(element.attrib) <= ATTRIBUTES.get(element.tag, set()), element.tag
    (model,) = root
    own = [e.get("name") for e in model]
    assert len(own) == len(set(own))
    frames = {"__model__": (0, pin.SE3.Identity())}  # joint and pose in it
    made = pin.Model()
    made.name = model.get("name", "")
    links = {e.get("name"): e for e in model.findall("link")}
    joints = {e.findtext("child"): e for e in model.findall("joint")}
    waiting = {e.get("name"): e for e in model if e.tag != "joint"}
    while waiting:
        before = len(waiting)
        for name, element in list(waiting.items()):
            holder = joints.get(name)
            if element.tag == "frame":
                base = element.get("attached_to", "__model__")
                if base in frames:
                    frames[name] = (frames[base][0], frames[base][1] * pose_of(element))
                    del waiting[name]
            elif holder is not None and holder.get("type") == "fixed":
                assert holder.findtext("parent") == "world"
                frames[name] = frames["__model__"]
                del waiting[name]
            elif holder is not None:
                assert element.find("pose").attrib == {"relative_to": holder.get("name")}
                assert pose_of(element) == pin.SE3.Identity()
                base = holder.find("pose").get("relative_to", "__model__")
                assert holder.findtext("parent") in (base, "world")
                if base not in frames:
                    continue
                axis = np.array([float(x) for x in holder.findtext("axis/xyz").split()])
                kind = {"revolute": pin.JointModelRevoluteUnaligned,
                        "prismatic": pin.JointModelPrismaticUnaligned}[holder.get("type")]
                parent, place = frames[base]
                index = made.addJoint(parent, kind(axis), place * pose_of(holder),
                                      holder.get("name"))
                frames[name] = (index, pin.SE3.Identity())
                del waiting[name]
                inertial = links[name].find("inertial")
                assert inertial is not None  # else it would weigh 1 kg
                pose = pose_of(inertial)
                entry = {e.tag: float(e.text) for e in inertial.find("inertia")}
                tensor = np.array([[entry["i" + "".join(sorted(a + b))] for b in "xyz"]
                                   for a in "xyz"])
                made.appendBodyToJoint(index, pin.Inertia(
                    float(inertial.findtext("mass")), pose.translation,
                    pose.rotation @ tensor @ pose.rotation.T), pin.SE3.Identity())
        assert len(waiting) < before, f"nothing holds {list(waiting)}"
    return made


def pose_of(element: ElementTree.Element) -> pin.SE3:
    x = np.array([float(word) for word in element.findtext("pose").split()])
    return pin.SE3(pin.rpy.rpyToMatrix(*x[3:]), x[:3])


@pytest.mark.slow
@pytest.mark.parametrize("kind", ROBOTS)
def test_the_torques_are_the_same_in_all_formats(kind: str) -> None:
    urdf, model, phi = identified(kind)
    names = model.joint_names
    written = pin.buildModelFromXML(set_inertias(urdf, model, phi))
    sdf = read_sdf(described_sdf(urdf, model, phi))
    physics = mujoco.MjModel.from_xml_string(described_mjcf(urdf, model, phi))
    physics.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_EQUALITY
                                    | mujoco.mjtDisableBit.mjDSBL_LIMIT)
    places = [physics.joint(name).dofadr[0] for name in names]
    for term, found in ((VISCOUS, physics.dof_damping), (COULOMB, physics.dof_frictionloss),
                        (DRIVE, physics.dof_armature)):
        np.testing.assert_array_equal(found[places], [phi[model.term_index(n, term)]
                                                      for n in names])
    physics.dof_damping[:], physics.dof_frictionloss[:], physics.dof_armature[:] = 0.0, 0.0, 0.0
    data = mujoco.MjData(physics)
    rng = np.random.default_rng(1)
    for _ in range(5):
        state = rng.normal(size=(3, len(names)))
        truth = rigid_torque(model, phi, state)
        for read in (written, sdf):
            np.testing.assert_allclose(pinocchio_torque(read, names, state), truth, rtol=0.0,
                                       atol=1e-9 * np.abs(truth).max())
        data.qpos[:], data.qvel[:], data.qacc[:] = 0.0, 0.0, 0.0
        data.qpos[places], data.qvel[places], data.qacc[places] = state
        mujoco.mj_inverse(physics, data)
        np.testing.assert_allclose(data.qfrc_inverse[places], truth, rtol=0.0,
                                   atol=1e-9 * np.abs(truth).max())


def test_locked_fingers_move_and_follow_each_other() -> None:
    urdf, model, phi = identified("Panda with fingers")
    physics = mujoco.MjModel.from_xml_string(described_mjcf(urdf, model, phi))
    joints = {physics.joint(k).name for k in range(physics.njnt)}
    assert joints == {*model.joint_names, "panda_finger_joint1", "panda_finger_joint2"}
    assert (physics.body_mass[1:] > 0.0).sum() == len(joints) + 1  # and the base
    assert physics.neq == urdf.count("<mimic")


def test_names_that_sdf_keeps_for_itself_are_refused() -> None:
    urdf, _, phi = identified("UR10")
    odd = urdf.replace('"wrist_3_link"', '"__wrist__"')
    model = robot_model(odd, None, JointTerms(drive_inertia=True))
    with pytest.raises(InvalidSetting, match="'__wrist__' is no name in SDF"):
        described_sdf(odd, model, phi)
