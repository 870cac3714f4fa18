# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""An identified robot in a file, and the payload of that robot in the torques of its joints.

``tau - Y phi_robot = A phi + E e``: A are the columns of the body that carries the payload, moved
to the payload's frame. e ~ N(0, 1) are errors of the robot: those of its file, by how much friction
may have changed since, and, where torques are motor currents times gains, errors of the gains,
which add to the torque of each joint in proportion to it and have made the robot wrong alike.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..errors import DamagedFile, InvalidData, InvalidModel, InvalidSetting
from ..inertia import PARAMETERS, Array, transform_matrix
from ..io.fields import numbers
from ..io.files import read_document, user_path, write_document
from ..motion.frames import chain_of
from .model import COULOMB, OFFSET, VISCOUS, JointTerms, RobotModel

_KIND, _VERSION = "inertial_id_ros robot", 4
FRICTION_DRIFT = 0.05  # of itself, by which friction may have changed since (one deviation)
_SMALLEST = 0.01  # of the robot's noise: errors that move torques less are left out
_TRIALS = 100  # random motions that tell how much each moves them


class Drives(NamedTuple):
    """How the motor currents that a robot sends as efforts become torques."""

    gain: Array  # (joints,) [N m/A]
    spread: Array  # (joints, joints) covariance of their relative errors
    # (p, joints) by how much parameters grow with each gain, relative; None: none are identified
    follow: Array | None = None


@dataclass(frozen=True)
class IdentifiedRobot:
    """A robot without payload, as joint torques showed it."""

    joints: tuple[str, ...]  # names, in the order of phi's joint terms
    bodies: tuple[str, ...]  # names
    terms: JointTerms
    gravity: Array  # (3,) [m/s^2] in root axes
    delay: float  # by which efforts are stamped late [s]
    phi: Array  # (p,)
    covariance: Array  # (p, p), of what data and prior know
    noise: Array  # (joints,) of one low-passed row, taken as independent [N m]
    currents: Drives | None = None  # None: efforts are torques

    def model(self, urdf: str) -> RobotModel:
        """The regressor of phi, from the same robot's description (raises InvalidModel)."""
        made = RobotModel.from_urdf(urdf, self.terms, self.gravity, self.joints)
        if made.bodies != self.bodies or made.size != len(self.phi):
            raise InvalidModel("the robot file was made with another description: of bodies "
                               f"{', '.join(self.bodies)}, not {', '.join(made.bodies)}")
        return made


def save_robot(path: str | Path, robot: IdentifiedRobot) -> None:
    """Write a robot file (raises OSError)."""
    drives = robot.currents and robot.currents._asdict()
    content = json.loads(json.dumps({**asdict(robot), "currents": drives},
                                    default=np.ndarray.tolist))
    write_document(user_path(path), _KIND, _VERSION, content)


def load_robot(path: str | Path) -> IdentifiedRobot:
    """Read a robot file (raises InvalidSetting: not readable; InvalidData: damaged, or none)."""
    try:
        tree = read_document(user_path(path), _KIND, _VERSION)
        p, n, terms, given = len(tree["phi"]), len(tree["joints"]), tree["terms"], tree["currents"]
        currents = None if given is None else Drives(
            numbers(given, "gain", n), numbers(given, "spread", n, n),
            numbers(given, "follow", p, n))
        noise = numbers(tree, "noise", n)
        if noise.min() <= 0.0 or currents is not None and currents.gain.min() <= 0.0:
            raise DamagedFile("its noise and gains must be positive")
        return IdentifiedRobot(
            tuple(tree["joints"]), tuple(tree["bodies"]),
            JointTerms(tuple(terms["names"]), float(terms["coulomb_velocity"])),
            numbers(tree, "gravity", 3), float(tree["delay"]), numbers(tree, "phi", p),
            numbers(tree, "covariance", p, p), noise, currents)
    except OSError as error:
        raise InvalidSetting(f"robot file {path} cannot be read: {error.strerror}") from error
    except (DamagedFile, AttributeError, KeyError, TypeError, ValueError) as error:
        raise InvalidData(f"robot file {path} cannot be used: {error}") from error


class TorqueLoad:
    """Makes rows of one robot, of a description, and one frame of the payload, a link.

    Attributes:
        model: its regressor; robot: as identified; joints: j; chain: to the frame.
        friction: (j,) Coulomb friction; typical: (j,) torque by its errors in random motion [N m].
        in_proportion: (j, e) errors per torque of each joint.

    Raises InvalidModel: another description, or no moving body carries the frame; UnknownFrame:
    there is no such link."""

    def __init__(self, robot: IdentifiedRobot, urdf: str, frame: str) -> None:
        self.robot, self.model, self.chain = robot, robot.model(urdf), chain_of(urdf, frame)
        self.joints, size = self.model.nv, self.model.size
        self._carrier, placement = self.model.carrier(frame)
        self._to_body = transform_matrix(placement.rotation, placement.translation)
        self.friction = np.abs(self.model.coulomb(robot.phi))
        root = _error_root(self.model, robot)
        Y = self.model.random_regressor(_TRIALS)
        moved = Y @ root[:size] + (Y @ robot.phi)[..., None] * root[size:]
        self.typical = np.sqrt(np.square(moved).sum(2).mean(0))
        scaled = (moved / robot.noise[:, None]).reshape(-1, moved.shape[2])
        sizes, turn = np.linalg.svd(scaled, full_matrices=False)[1:]
        root = root @ turn[sizes > _SMALLEST * np.sqrt(_TRIALS)].T
        self._root, self.in_proportion = root[:size], root[size:]

    def rows(self, q: Array, dq: Array, ddq: Array, torque: Array) -> Array:
        """Rows (n, ...) of motion and measured torques (n, j), see `columns`."""
        Y = self.model.regressor(q, dq, ddq)
        own = Y @ self.robot.phi
        parts = np.stack([torque - own, own, self.model.signs(Y)], axis=2)
        out = np.concatenate([parts, Y[:, :, self._carrier] @ self._to_body, Y @ self._root], 2)
        return out.reshape(len(q), self.joints * out.shape[2])

    def columns(self, rows: Array) -> tuple[Array, ...]:
        """What n > 0 rows, or weighted means of rows, hold: torque (n, j) of the payload, measured
        less that of the robot; torque (n, j) of the robot; sign (n, j) of the velocity, as of
        `RobotModel.signs`; A (n, j, 10); columns E (n, j, e) of errors without those in proportion
        to the torque."""
        parts = rows.reshape(len(rows), self.joints, -1)
        return *np.moveaxis(parts[..., :3], 2, 0), *np.split(parts[..., 3:], [PARAMETERS], axis=2)


def _error_root(model: RobotModel, robot: IdentifiedRobot) -> Array:
    """Square root (p + j, e) of the covariance of the robot's errors and of the relative errors of
    its gains; zero where torques are measured. Friction and, like it, offsets may have changed."""
    size, joints = model.size, model.nv
    drift = np.zeros(size)
    for term, like in ((VISCOUS, VISCOUS), (COULOMB, COULOMB), (OFFSET, COULOMB)):
        own, known = model.term_indices(term), model.term_indices(like)
        drift[own[:len(known)]] = FRICTION_DRIFT * np.abs(robot.phi[known[:len(own)]])
    spread, across = np.zeros((joints, joints)), np.zeros((size, joints))
    if robot.currents is not None and robot.currents.follow is not None:
        spread = robot.currents.spread
        across = -robot.currents.follow @ spread
    covariance = np.block([[robot.covariance + np.diag(drift**2), across], [across.T, spread]])
    sd = np.sqrt(np.maximum(np.diag(covariance), 1e-300))
    values, vectors = np.linalg.eigh(covariance / np.outer(sd, sd))
    return np.asarray(sd[:, None] * vectors * np.sqrt(np.maximum(values, 0.0)))
