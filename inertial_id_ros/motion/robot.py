# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Robot descriptions (URDF), and kinematics of a serial chain: from joints, or poses, to the motion
of the sensor."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin
from scipy.spatial.transform import Rotation

from ..errors import DamagedFile, InvalidModel, InvalidSetting
from ..io.files import read_text
from ..limits import MAX_URDF_BYTES
from .motion import Array, IntArray, Motion

_INERTIAL = (("mass", "value"), *(("inertia", name) for name in (
    "ixx", "ixy", "ixz", "iyy", "iyz", "izz")))
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")


class Joint(NamedTuple):
    """A moving joint of the chain.

    Attributes:
        name: of the joint whose position counts, or the frame whose pose does.
        place: in the axes before it.
        twist: (6,) per unit of the position, linear and angular; None: it moves in several ways, as
            a transform.
        scale, shift: of the position (mimic joints).
    """

    name: str
    place: pin.SE3
    twist: Array | None = None
    scale: float = 1.0
    shift: float = 0.0

    @property
    def turns(self) -> bool:
        """False where it slides."""
        return self.twist is not None and bool(self.twist[3:].any())


@dataclass(frozen=True, eq=False)
class Chain:
    """What moves the sensor: joints of an arm, or transforms alone.

    Attributes:
        root: place of the chain's root in a frame whose z axis points up.
        joints: that move the sensor, from the base on; tip: place of the sensor behind the last.
    """

    root: pin.SE3
    joints: tuple[Joint, ...]
    tip: pin.SE3

    @property
    def turning(self) -> dict[str, bool]:
        """The joints whose positions are needed; True for each that turns."""
        return {joint.name: joint.turns for joint in self.joints}

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the joints whose positions are needed."""
        return tuple(self.turning)

    @property
    def floats(self) -> bool:
        """True where transforms tell the motion."""
        return self.joints[0].twist is None

    def motion(self, number: IntArray, names: Sequence[str], q: Array, dq: Array, ddq: Array,
               data: pin.Data | None = None) -> Motion:
        """Motion of the sensor in n bins.

        Args:
            number: (n,) bins; names: of k joints.
            q, dq, ddq: (n, k) positions, velocities and accelerations of each. Of j transforms:
                their poses (n, 7 j), x, y, z and quaternion x, y, z, w, and its derivatives, in
                the chain's order.
            data: of the model, of one thread, for a motion without joints; None: new ones.
        """
        n, j = len(number), 0 if self.floats or data else len(self.joints)
        if self.floats:
            q, dq, ddq = _twists(q, dq, ddq)
        else:
            which = [list(names).index(joint.name) for joint in self.joints]
            scale, shift = np.array([(joint.scale, joint.shift) for joint in self.joints]).T
            q, dq, ddq = scale * q[:, which] + shift, scale * dq[:, which], scale * ddq[:, which]
        model, frame = self.model, self.model.nframes - 1
        position, acceleration, omega, alpha = np.empty((4, n, 3))
        out = Motion(number, np.empty((n, 3, 3)), position, acceleration, omega, alpha,
                     np.empty((n, j, 3, 3)), np.empty((n, j, 6)))
        data = data or model.createData()
        for k, now in enumerate(zip(q, dq, ddq, strict=True)):
            pin.forwardKinematics(model, data, *now)
            place = pin.updateFramePlacement(model, data, frame)
            out.rotation[k], position[k] = place.rotation, place.translation
            felt = pin.getFrameClassicalAcceleration(model, data, frame, pin.LOCAL)
            acceleration[k], alpha[k] = felt.linear, felt.angular
            omega[k] = pin.getFrameVelocity(model, data, frame, pin.LOCAL).angular
            if j:
                out.twists[k] = pin.computeJointJacobians(model, data).T
                out.joints[k] = [data.oMi[i + 1].rotation for i in range(j)]
        return out

    @cached_property
    def model(self) -> pin.Model:
        """Pinocchio's model of the chain alone, in which mimic joints are joints of their own."""
        model, parent = pin.Model(), 0
        for k, joint in enumerate(self.joints):
            if joint.twist is None:
                kind = pin.JointModelFreeFlyer()
            elif joint.turns:
                kind = pin.JointModelRevoluteUnaligned(joint.twist[3:])
            else:
                kind = pin.JointModelPrismaticUnaligned(joint.twist[:3])
            place = self.root * joint.place if k == 0 else joint.place
            parent = model.addJoint(parent, kind, place,
                                    f"{k}: {joint.name} {joint.scale} {joint.shift}")
        model.addFrame(pin.Frame("sensor", parent, 0, self.tip, pin.FrameType.OP_FRAME))
        return model


def _twists(q: Array, dq: Array, ddq: Array) -> tuple[Array, Array, Array]:
    """Poses (n, 7 j) with unit quaternions, and of their first and second derivatives the twists
    (n, 6 j) along the moving axes, and the derivatives of these."""
    pose, rate, change = (x.reshape(-1, 7) for x in (q, dq, ddq))
    size = np.linalg.norm(pose[:, 3:], axis=1)[:, None]
    vector, scalar = pose[:, 3:6] / size, pose[:, 6:] / size
    omega, alpha = (2.0 / size * (scalar * d[:, 3:6] - d[:, 6:] * vector
                                  - np.cross(vector, d[:, 3:6])) for d in (rate, change))
    back = Rotation.from_quat(pose[:, 3:]).inv()  # 2 vec(q* dq), along the turned axes
    linear = back.apply(rate[:, :3])
    twist = np.hstack([linear, omega])
    push = np.hstack([back.apply(change[:, :3]) - np.cross(omega, linear), alpha])
    wide = len(q), 6 * q.shape[1] // 7
    return (np.hstack([pose[:, :3], vector, scalar]).reshape(q.shape), twist.reshape(wide),
            push.reshape(wide))


def parse_urdf(urdf: str, dynamics: bool = False) -> pin.Model:
    """Model of a URDF text, whose root link is fixed to the world.

    Args:
        dynamics: masses and inertias matter, so that those that are no numbers are an error.

    Raises:
        InvalidModel: not a URDF, or larger than its parser can be trusted with.
    """
    if len(urdf) > MAX_URDF_BYTES:
        raise InvalidModel(f"robot description has {len(urdf)} bytes; at most {MAX_URDF_BYTES}")
    try:
        root = ElementTree.fromstring(urdf)  # the parser of URDF prints what is wrong
        if root.tag != "robot" or root.find("link") is None:
            raise InvalidModel(f"the robot description is <{root.tag}> without links; a URDF is "
                               "needed: <robot> with <link> and <joint>")
        for link in root.iterfind("link[inertial]") if dynamics else ():
            for tag, name in _INERTIAL:  # the parser of URDF takes what is no number for zero
                element = link.find(f"inertial/{tag}")
                text = None if element is None else element.get(name)
                if not _NUMBER.fullmatch((text or "").strip()):
                    raise InvalidModel(f"link '{link.get('name')}' of the robot description has the"
                                       f" {tag} {name}={text!r}; it must be a number")
        return pin.buildModelFromXML(urdf)
    except (ElementTree.ParseError, ValueError, RuntimeError, IndexError) as error:
        raise InvalidModel("the robot description is no text of a URDF that can be read: "
                           f"{' '.join(str(error).split())[:200]}") from error


def link_names(model: pin.Model) -> tuple[str, ...]:
    """Names of all links, the root first; joints may have the same names."""
    return tuple(f.name for f in model.frames if f.type == pin.FrameType.BODY)


def read_description(path: Path) -> str:
    """The text of a URDF file.

    Raises:
        InvalidSetting: no such file, or not readable.
        InvalidModel: not text, too large, or a xacro file.
    """
    try:
        text = read_text(path, MAX_URDF_BYTES)
    except OSError as error:
        raise InvalidSetting(f"robot description file {path} cannot be read: "
                             f"{error.strerror}") from error
    except DamagedFile as error:
        raise InvalidModel(f"robot description file {path} cannot be used: {error}") from error
    if path.suffix == ".xacro" or "<xacro:" in text:
        raise InvalidModel(f"{path} is a xacro file; expand it first: xacro {path} > robot.urdf")
    return text


@lru_cache(maxsize=4)
def model_of(urdf: str) -> tuple[pin.Model, dict[int, Joint]]:
    """The model of a robot description, and its joints by number (raises InvalidModel)."""
    model = parse_urdf(urdf)
    mimics = {joint.get("name", ""): mimic
              for joint in ElementTree.fromstring(urdf).findall("joint")
              if (mimic := joint.find("mimic")) is not None and mimic.get("joint")}
    return model, {k: _joint(model, k, mimics) for k in range(1, model.njoints)}


def _joint(model: pin.Model, k: int, mimics: Mapping[str, ElementTree.Element]) -> Joint:
    """The joint of a number; mimics: by name, what a joint follows, and how."""
    joint, out = model.joints[k], Joint(str(model.names[k]), model.jointPlacements[k])
    if joint.nv != 1:
        return out
    data = joint.createData()
    joint.calc(data, np.array([1.0, 0.0])[:joint.nq])  # of continuous joints cosine and sine
    name, scale, shift = out.name, 1.0, 0.0
    for _ in mimics:  # one may follow another that follows
        if (mimic := mimics.get(name)) is not None:
            name, shift = mimic.get("joint", ""), shift + scale * float(mimic.get("offset", 0.0))
            scale *= float(mimic.get("multiplier", 1.0))
    return Joint(name, out.place, np.asarray(data.S).reshape(6), scale, shift)
