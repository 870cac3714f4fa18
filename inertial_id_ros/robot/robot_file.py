# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""An identified robot in a file, for payloads that are found relative to it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import DamagedFile, InvalidData, InvalidModel, InvalidSetting
from ..inertia import Array
from ..io.files import format_document, read_document, user_path, write_atomically
from ..limits import MAX_ROBOT_BYTES
from .calibration import Drives
from .model import JointTerms, RobotModel

_KIND, _VERSION = "inertial_id_ros robot", 3


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
    currents: Drives | None = None

    def model(self, urdf: str) -> RobotModel:
        """The regressor that phi belongs to, from the same robot's description.

        Raises:
            InvalidModel: the description has other joints or bodies.
        """
        made = RobotModel.from_urdf(urdf, self.terms, False, self.gravity, self.joints)
        if made.bodies != self.bodies or made.size != len(self.phi):
            raise InvalidModel("the robot file was made with another robot description: it has the "
                               f"bodies {', '.join(self.bodies)}, the description "
                               + ", ".join(made.bodies))
        return made


def save_robot(path: str | Path, robot: IdentifiedRobot) -> None:
    """Write a robot file.

    Raises:
        InvalidSetting: it cannot be written.
    """
    drives = robot.currents and robot.currents._asdict()
    content = json.loads(json.dumps({**asdict(robot), "currents": drives},
                                    default=np.ndarray.tolist))
    try:
        write_atomically(user_path(path), format_document(_KIND, _VERSION, content))
    except OSError as error:
        raise InvalidSetting(f"{path} cannot be written: {error.strerror or error}") from error


def load_robot(path: str | Path) -> IdentifiedRobot:
    """Read a robot file.

    Raises:
        InvalidSetting: not readable. InvalidData: not such a file, or damaged.
    """
    try:
        return _from_tree(read_document(user_path(path), _KIND, _VERSION, limit=MAX_ROBOT_BYTES))
    except OSError as error:
        raise InvalidSetting(f"robot file {path} cannot be read: {error.strerror}") from error
    except DamagedFile as error:
        raise InvalidData(f"robot file {path} cannot be used: {error}") from error
    except (KeyError, TypeError, ValueError, InvalidModel) as error:
        raise InvalidData(f"robot file {path} cannot be used: {error!r}") from error


def _from_tree(tree: dict[str, Any]) -> IdentifiedRobot:
    """The robot of a file's mapping (raises KeyError, TypeError, ValueError, InvalidModel)."""
    p, n = len(tree["phi"]), len(tree["joints"])

    def numbers(given: Mapping[str, Any], name: str, *shape: int) -> Array:
        array = np.array(given[name], dtype=float)
        if array.shape != shape or not np.isfinite(array).all() or (
                name in ("gain", "noise") and not (array > 0.0).all()):
            raise ValueError(f"{name} has shape {array.shape}; {shape} finite numbers are needed, "
                             "of gains and noise positive ones")
        return array

    terms, given = tree["terms"], tree["currents"]
    currents = None if given is None else Drives(
        numbers(given, "gain", n), numbers(given, "spread", n, n), numbers(given, "follow", p, n))
    return IdentifiedRobot(
        tuple(tree["joints"]), tuple(tree["bodies"]),
        JointTerms(**{**terms, "load_bodies": tuple(map(float, terms["load_bodies"]))}),
        numbers(tree, "gravity", 3), float(tree["delay"]), float(tree["low_pass"]),
        numbers(tree, "phi", p), numbers(tree, "covariance", p, p), numbers(tree, "noise", n),
        currents)
