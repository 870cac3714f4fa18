# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Joint torques of a robot, linear in its parameters: ``tau = Y(q, dq, ddq) phi``.

phi stacks ten numbers for every moving body (see `inertia`; about the origin of the frame of the
joint that moves it, which in a URDF is the frame of its link, in that frame's axes), and the terms
of every joint (see `joint_terms`). Links that are fixed to each other are one
body, under the name of the one nearest to the root.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from ..errors import InvalidModel
from ..inertia import Array, phi_from_pinocchio
from ..motion.description import parse_urdf
from .joint_terms import JointTerms

BODY_TERMS = ("m", "mx", "my", "mz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")
BODY_SIZE = len(BODY_TERMS)
BASE_SIZE = 6  # velocities of a floating base
_FROM_PINOCCHIO = np.asarray(phi_from_pinocchio(np.arange(BODY_SIZE)), dtype=int)
_MOVED = np.flatnonzero(_FROM_PINOCCHIO != np.arange(BODY_SIZE))


class RobotModel:
    """Regressor of the joint torques of a tree of joints with one degree of freedom each.

    Args:
        model: Pinocchio's model; the first joint may be a free-flyer.
        terms: friction, offset and drive inertia of each joint.
        gravity: acceleration (3,) [m/s^2] in root axes.

    Raises:
        InvalidModel: no joint, a joint with several degrees of freedom, terms of another
            robot.
    """

    def __init__(self, model: pin.Model, terms: JointTerms | None = None,
                 gravity: ArrayLike = (0.0, 0.0, -9.81)) -> None:
        self.terms = terms if terms is not None else JointTerms()
        self.floating_base = bool(model.njoints > 1 and model.joints[1].nv == BASE_SIZE)
        first = 2 if self.floating_base else 1
        self.joint_names: tuple[str, ...] = tuple(list(model.names)[first:])
        joints = self._joints = list(model.joints)[first:]
        if not joints:
            raise InvalidModel("the robot description has no moving joint")
        for name, joint in zip(self.joint_names, joints, strict=True):
            if joint.nv != 1:
                raise InvalidModel(f"joint '{name}' has {joint.nv} degrees of freedom; one is "
                                   "allowed")
        self._circular = np.array([joint.nq == 2 for joint in joints])
        self._description = model
        self._model = pin.Model(model)
        self._model.gravity.linear = np.asarray(gravity, dtype=float)
        self._data = self._model.createData()
        self.nv = model.nv
        self.bodies: tuple[str, ...] = tuple(_body_names(model))
        self.parameter_names: tuple[str, ...] = (
            *(f"{term}({body})" for body in self.bodies for term in BODY_TERMS),
            *(f"{term}({joint})" for joint in self.joint_names for term in self.terms.names))
        if len(self.terms.load_bodies) not in (0, BODY_SIZE * len(self.bodies)):
            raise InvalidModel(f"load_bodies of the joint terms has {len(self.terms.load_bodies)} "
                               f"numbers; the robot has {len(self.bodies)} bodies of ten")

    @classmethod
    def from_urdf(cls, urdf: str, terms: JointTerms | None = None,
                  floating_base: bool = False, gravity: ArrayLike = (0.0, 0.0, -9.81)
                  ) -> RobotModel:
        """The model of a URDF text.

        Args:
            urdf: text of the robot description.
            floating_base: the root link moves freely and is a body with parameters; else it is
                fixed to the ground and has none.

        Raises:
            InvalidModel: not a usable URDF.
        """
        root = pin.JointModelFreeFlyer() if floating_base else None
        return cls(parse_urdf(urdf, root, dynamics=True), terms, gravity)

    @property
    def gravity(self) -> Array:
        """Acceleration of gravity (3,) [m/s^2] in root axes."""
        return np.array(self._model.gravity.linear)

    def with_gravity(self, gravity: ArrayLike) -> RobotModel:
        """The same robot under another gravity (3,) [m/s^2], such as a tilted mounting."""
        return RobotModel(self._description, self.terms, gravity)

    def with_terms(self, terms: JointTerms) -> RobotModel:
        """The same robot with other joint terms."""
        return RobotModel(self._description, terms, self.gravity)

    def sample_positions(self, rng: np.random.Generator, n: int) -> Array:
        """Random positions (n, nv), with a floating base (n, nv + 1)."""
        q = rng.uniform(-np.pi, np.pi, (n, self.nv + int(self.floating_base)))
        if self.floating_base:
            q[:, 3:7] = rng.normal(size=(n, 4))
            q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1, keepdims=True)
        return q

    # Layout of phi

    @property
    def size(self) -> int:
        """Number p of parameters."""
        return len(self.parameter_names)

    def body_slice(self, body: str | int) -> slice:
        """Where the ten parameters of a body are."""
        k = body if isinstance(body, int) else self.bodies.index(body)
        return slice(BODY_SIZE * k, BODY_SIZE * (k + 1))

    def term_index(self, joint: str | int, term: str) -> int:
        """Index in phi of a joint's term (`joint_terms.VISCOUS`, ...)."""
        j = joint if isinstance(joint, int) else self.joint_names.index(joint)
        k = self.terms.names.index(term)
        return BODY_SIZE * len(self.bodies) + len(self.terms.names) * j + k

    @property
    def effort_limits(self) -> Array:
        """Largest torque or force (nv,) [N m or N] that the description allows; 0: it says none."""
        limits = np.array(self._model.effortLimit, dtype=float)
        return np.where(np.isfinite(limits), limits, 0.0)

    @property
    def position_limits(self) -> Array:
        """Lowest and highest position (joints, 2) [rad or m]; infinite: the description says none.
        """
        out = np.full((len(self.joint_names), 2), [-np.inf, np.inf])
        for k, joint in enumerate(self._joints):
            low, high = (float(limit[joint.idx_q]) for limit in (
                self._model.lowerPositionLimit, self._model.upperPositionLimit))
            if low < high and not self._circular[k]:  # both are zero where they are not given
                out[k] = low, high
        return out

    @property
    def slides(self) -> np.ndarray:
        """True (joints,) where a joint is prismatic."""
        return np.array([joint.shortname().startswith("JointModelP")  # PX, PrismaticUnaligned, ...
                         for joint in self._joints])

    @property
    def nominal(self) -> Array:
        """phi (p,) of the description: bodies of the URDF, joint terms zero."""
        out = np.zeros(self.size)
        for i in range(self._model.njoints - 1):
            out[self.body_slice(i)] = phi_from_pinocchio(
                self._model.inertias[i + 1].toDynamicParameters())
        return out

    # Dynamics

    def regressor(self, q: Array, dq: Array, ddq: Array, span: float = 0.0) -> Array:
        """Regressor Y (n, nv, p) of generalised forces [N m, or N for prismatic joints]; the first
        `BASE_SIZE` rows are those of a floating base, which no joint torque enters.

        Args:
            q: (n, nv) joint positions [rad] or [m]. With a floating base (n, 7 + joints): first the
                base's position [m] and quaternion x, y, z, w.
            dq: (n, nv) velocities. With a floating base the first six are its linear [m/s] and
                angular velocity [rad/s] in its own axes.
            ddq: (n, nv) their derivatives (of the base: the spatial acceleration, i.e. the
                derivative of the six numbers of dq).
            span: time [s] over which forces were averaged, for friction that changes sides within.
        """
        return np.concatenate([self.body_regressor(q, dq, ddq),
                               self.term_regressor(q, dq, ddq, span)], axis=2)

    def body_regressor(self, q: Array, dq: Array, ddq: Array) -> Array:
        """The columns (n, nv, 10 bodies) of the bodies, see `regressor`."""
        configuration = self._configuration(q)
        out = np.empty((len(q), self.nv, BODY_SIZE * len(self.bodies)))
        for i in range(len(q)):
            out[i] = pin.computeJointTorqueRegressor(
                self._model, self._data, configuration[i], dq[i], ddq[i])
        columns = out.reshape(len(q), self.nv, len(self.bodies), BODY_SIZE)
        columns[..., _MOVED] = columns[..., _FROM_PINOCCHIO[_MOVED]]
        return out

    def term_regressor(self, q: Array, dq: Array, ddq: Array, span: float = 0.0) -> Array:
        """The columns (n, nv, p - 10 bodies) of the joint terms, see `regressor`."""
        head, joints = self.nv - len(self.joint_names), len(self.joint_names)
        load = self.body_regressor(q, dq, ddq)[:, head:] @ np.array(self.terms.load_bodies
                                                                    ) if self.terms.load else 0.0
        values = self.terms.columns(dq[:, head:], ddq[:, head:], load, span)
        out = np.zeros((len(q), self.nv, joints, len(self.terms.names)))
        out[:, head + np.arange(joints), np.arange(joints)] = values
        return out.reshape(len(q), self.nv, -1)

    def described_torque(self, q: Array, dq: Array, ddq: Array) -> Array:
        """Generalised forces (n, nv) of the described bodies, without joint terms: as with
        `nominal`, but much faster."""
        configuration = self._configuration(q)
        return np.stack([pin.rnea(self._model, self._data, configuration[i], dq[i], ddq[i])
                         for i in range(len(q))])

    # Details

    def _configuration(self, q: Array) -> Array:
        """Pinocchio's configuration (n, nq) of positions q: the floating base as it is, joints
        without limits as cosine and sine, all others unchanged."""
        head = BASE_SIZE + 1 if self.floating_base else 0
        columns = [q[:, :head]]
        for position, is_circular in zip(q[:, head:].T[..., None], self._circular, strict=True):
            columns += [np.cos(position), np.sin(position)] if is_circular else [position]
        return np.concatenate(columns, axis=1)


def _body_names(model: pin.Model) -> list[str]:
    """For every joint the first link of the description that hangs on it."""
    names: dict[int, str] = {}
    for frame in model.frames:
        if frame.type == pin.FrameType.BODY:
            names.setdefault(frame.parentJoint, frame.name)
    return [names.get(j, model.names[j]) for j in range(1, model.njoints)]
