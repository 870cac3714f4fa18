# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""An identified robot in a file, for payloads that are found relative to it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

from ..errors import DamagedFile, InvalidData, InvalidModel, InvalidSetting
from ..inertia import Array
from ..io.files import format_document, read_document, user_path, write_atomically
from ..limits import MAX_ROBOT_BYTES
from ..motion.description import parse_urdf
from .joint_terms import JointTerms
from .model import RobotModel

_KIND, _VERSION = "inertial_id_ros robot", 2


@dataclass(frozen=True)
class RobotCurrents:
    """How the motor currents that a robot sends as efforts become torques.

    Attributes:
        gain: (joints,) [N m/A]; spread: (joints, joints) covariance of their relative errors.
        follow: (p, joints) by how much the identified parameters grow with each gain, relative.
    """

    gain: Array
    spread: Array
    follow: Array

    @property
    def covariance(self) -> Array:
        """What errors of the gains add to the covariance of the parameters (p, p)."""
        return np.asarray(self.follow @ self.spread @ self.follow.T)


@dataclass(frozen=True)
class IdentifiedRobot:
    """A robot without payload, as joint torques showed it.

    Attributes:
        joints: names, in the order of phi's joint terms; bodies: names.
        terms: of the joints; gravity: (3,) [m/s^2] in root axes; delay: by which efforts are
        stamped late [s]; low_pass: of the filter [s] that the rows went through.
        phi: (p,) parameters; covariance: (p, p), of what data and prior know.
        noise: (joints,) of one low-passed row, taken as independent [N m].
        currents: None if efforts are torques.
    """

    joints: tuple[str, ...]
    bodies: tuple[str, ...]
    terms: JointTerms
    gravity: Array
    delay: float
    low_pass: float
    phi: Array
    covariance: Array
    noise: Array
    currents: RobotCurrents | None = None

    def model(self, urdf: str) -> RobotModel:
        """The regressor that phi belongs to, from the same robot's description.

        Raises:
            InvalidModel: the description has other joints or bodies.
        """
        made = robot_model(urdf, self.joints, self.terms, self.gravity)
        if made.bodies != self.bodies or made.size != len(self.phi):
            raise InvalidModel("the robot file was made with another robot description: it has the "
                               f"bodies {', '.join(self.bodies)}, the description "
                               + ", ".join(made.bodies))
        return made


def robot_model(urdf: str, joints: tuple[str, ...] | None = None, terms: JointTerms | None = None,
                gravity: Array | tuple[float, ...] = (0.0, 0.0, -9.81)) -> RobotModel:
    """The model of a description in which only some joints move, the others locked at zero.

    Args:
        gravity: (3,) in the axes of the description's root [m/s^2].

    Raises:
        InvalidModel: the description lacks one of the joints.
    """
    model = RobotModel(reduced_model(urdf, joints), terms, gravity)
    if joints is not None and model.joint_names != tuple(joints):
        raise InvalidModel("the joints of the robot description stand in another order: "
                           + ", ".join(model.joint_names))
    return model


def reduced_model(urdf: str, joints: Collection[str] | None) -> pin.Model:
    """Pinocchio's model in which only these joints move (None: all), the others locked at zero.

    Raises:
        InvalidModel: not a usable description, or it lacks one of the joints.
    """
    full = parse_urdf(urdf)
    names = list(full.names)[1:]
    for name in joints or ():
        if name not in names:
            raise InvalidModel(f"the robot description has no joint '{name}'; it has: "
                               + ", ".join(names))
    locked = [k for k, name in enumerate(names, 1) if joints is not None and name not in joints]
    return pin.buildReducedModel(full, locked, pin.neutral(full)) if locked else full


def save_robot(path: str | Path, robot: IdentifiedRobot) -> None:
    """Write a robot file.

    Raises:
        InvalidSetting: it cannot be written. InvalidModel: the robot has too many parameters.
    """
    t = robot.terms
    content: dict[str, Any] = {
        "joints": list(robot.joints), "bodies": list(robot.bodies),
        "terms": {"viscous": t.viscous, "coulomb": t.coulomb, "offset": t.offset,
                  "drive_inertia": t.drive_inertia, "coulomb_velocity": t.coulomb_velocity,
                  "load": list(t.load),
                  "load_bodies": list(t.load_bodies)},
        "gravity": np.asarray(robot.gravity).tolist(), "delay": robot.delay,
        "low_pass": robot.low_pass, "phi": robot.phi.tolist(),
        "covariance": robot.covariance.tolist(), "noise": robot.noise.tolist()}
    if robot.currents is not None:
        content["currents"] = {key: value.tolist() for key, value in vars(robot.currents).items()}
    text = format_document(_KIND, _VERSION, content)
    if len(text) > MAX_ROBOT_BYTES:  # which could not be read again
        raise InvalidModel(f"the robot has {len(robot.phi)} parameters, whose file would have "
                           f"{len(text)} bytes; at most {MAX_ROBOT_BYTES} are allowed")
    try:
        write_atomically(user_path(path), text)
    except OSError as error:
        raise InvalidSetting(f"{path} cannot be written: {error.strerror or error}") from error


def load_robot(path: str | Path) -> IdentifiedRobot:
    """Read a robot file.

    Raises:
        InvalidSetting: not readable. InvalidData: not such a file, or damaged.
    """
    try:
        tree = read_document(user_path(path), _KIND, _VERSION, limit=MAX_ROBOT_BYTES)
    except OSError as error:
        raise InvalidSetting(f"robot file {path} cannot be read: {error.strerror}") from error
    except DamagedFile as error:
        raise InvalidData(f"robot file {path} cannot be used: {error}") from error
    try:
        robot = IdentifiedRobot(
            tuple(tree["joints"]), tuple(tree["bodies"]), _read_terms(tree["terms"]),
            np.array(tree["gravity"], dtype=float), float(tree["delay"]),
            float(tree["low_pass"]), np.array(tree["phi"], dtype=float),
            np.array(tree["covariance"], dtype=float), np.array(tree["noise"], dtype=float),
            _read_currents(tree.get("currents")))
    except (KeyError, TypeError, ValueError, InvalidModel) as error:
        raise InvalidData(f"robot file {path} cannot be used: {error!r}") from error
    p, n = len(robot.phi), len(robot.joints)
    if robot.currents is not None and not _fit_currents(robot.currents, p, n):
        raise InvalidData(f"robot file {path} cannot be used: its gains do not fit its joints")
    numbers = (robot.phi, robot.covariance, robot.noise, robot.gravity)
    if (robot.covariance.shape != (p, p) or robot.noise.shape != (len(robot.joints),)
            or robot.gravity.shape != (3,) or not all(np.isfinite(x).all() for x in numbers)
            or not (robot.noise > 0.0).all()):
        raise InvalidData(f"robot file {path} cannot be used: its numbers do not fit each other")
    return robot


def _read_currents(tree: dict[str, Any] | None) -> RobotCurrents | None:
    """Gains of a file; older files have none."""
    if tree is None:
        return None
    return RobotCurrents(*(np.array(tree[key], dtype=float)
                           for key in ("gain", "spread", "follow")))


def _fit_currents(currents: RobotCurrents, p: int, n: int) -> bool:
    """Whether gains are those of n joints and p parameters."""
    shapes = currents.gain.shape, currents.spread.shape, currents.follow.shape
    return (shapes == ((n,), (n, n), (p, n)) and bool((currents.gain > 0.0).all())
            and all(np.isfinite(x).all() for x in vars(currents).values()))


def _read_terms(tree: dict[str, Any]) -> JointTerms:
    """Joint terms of a file, whose lists become tuples."""
    return JointTerms(**{**tree, "load": tuple(map(bool, tree["load"])),
                         "load_bodies": tuple(map(float, tree["load_bodies"]))})
