# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Joint torques of a robot, linear in its parameters: ``tau = Y(q, dq, ddq) phi``.

phi stacks ten numbers for every moving body (see `inertia`; about the origin of the frame of the
joint that moves it, which in a URDF is the frame of its link, in that frame's axes), and the terms
of every joint. Links that are fixed to each other are one body, named as that nearest to the root.

Terms: ``tau_k = fv_k dq_k + fc_k sgn(dq_k) + fo_k + Ia_k ddq_k`` (Sousa and Cortesao 2014, eq. 27,
and its text on drive chains; ``Ia`` is seen from the joint: gear ratio squared times the rotor's),
and friction of gears under load, ``fl_k sgn(dq_k) |tau_b|`` with the torque tau_b of the bodies as
described.
"""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from ..errors import InvalidModel
from ..inertia import Array, phi_from_pinocchio
from ..motion.robot import parse_urdf

BODY_TERMS = ("m", "mx", "my", "mz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")
BODY_SIZE = len(BODY_TERMS)
BASE_SIZE = 6  # velocities of a floating base
# Terms of a joint: N m s/rad; N m; N m, of the friction of both directions, or of the sensor; and
# kg m^2 of motor and gear, seen from the joint; friction per torque of the bodies.
VISCOUS, COULOMB, OFFSET, DRIVE, LOAD = "viscous", "coulomb", "offset", "drive_inertia", "load"
NOT_NEGATIVE = (VISCOUS, COULOMB, DRIVE, LOAD)
GRAVITY = (0.0, 0.0, -9.81)  # m/s^2
_FROM_PINOCCHIO = np.asarray(phi_from_pinocchio(np.arange(BODY_SIZE)), dtype=int)
_STEP = 1e-9  # rad/s below which friction fades where it is a step


@dataclass(frozen=True)
class JointTerms:
    """What the torque of every joint has besides rigid bodies."""

    names: tuple[str, ...] = (VISCOUS, COULOMB, OFFSET)  # of the terms, in the order of the columns
    # rad/s, below which Coulomb friction fades, as tanh(dq / speed); 0: a step, which the noise of
    # dq throws from side to side around rest.
    coulomb_velocity: float = 0.0


NO_TERMS = JointTerms(())


def body_slices(bodies: int) -> list[slice]:
    """Where the bodies are that phi begins with."""
    return [slice(BODY_SIZE * k, BODY_SIZE * (k + 1)) for k in range(bodies)]


class RobotModel:
    """Regressor of the joint torques of a tree of joints with one degree of freedom each, under
    gravity (3,) [m/s^2] in root axes; the first joint of Pinocchio's model may be a free-flyer: a
    floating base, whose root link is a body with parameters.

    Attributes:
        nv: degrees of freedom; bodies, joint_names, parameter_names: in the order of phi.
        size: number p of parameters; inertial: of those of the bodies, which phi begins with.
        effort_limits, slides: largest effort (joints,) [N m or N], infinite where the description
            says none; True (joints,) where a joint is prismatic.
        links: number of the body that each link belongs to, by name; -1: none moves it.

    Raises InvalidModel: no joint, or a joint with several degrees of freedom."""

    def __init__(self, description: pin.Model, terms: JointTerms | None = None,
                 gravity: ArrayLike = GRAVITY) -> None:
        self.terms = terms if terms is not None else JointTerms()
        self.gravity = np.array(gravity, dtype=float)
        self._model = pin.Model(description)
        self._model.gravity.linear = self.gravity
        self._data = self._model.createData()
        names, joints = list(description.names)[1:], list(description.joints)[1:]
        self.nv = description.nv
        floats = bool(joints) and joints[0].nv == BASE_SIZE
        self.joint_names, self._joints = tuple(names[floats:]), joints[floats:]
        if not self._joints or any(joint.nv != 1 for joint in self._joints):
            raise InvalidModel("joints must move, each with one degree of freedom; the robot "
                               f"description has {', '.join(self.joint_names) or 'none'}")
        efforts = description.effortLimit[self.nv - len(self._joints):]
        self.effort_limits = np.where(efforts > 0.0, efforts, np.inf)
        self.slides = np.array([joint.shortname().startswith("JointModelP")  # PX, ...Unaligned
                                for joint in self._joints])
        self.links = {frame.name: frame.parentJoint - 1 for frame in description.frames
                      if frame.type == pin.FrameType.BODY}
        first = {body: link for link, body in reversed(self.links.items())}
        self.bodies = tuple(first.get(k, name) for k, name in enumerate(names))
        self.parameter_names = (
            *(f"{term}({body})" for body in self.bodies for term in BODY_TERMS),
            *(f"{term}({joint})" for joint in self.joint_names for term in self.terms.names))
        self.size, self.inertial = len(self.parameter_names), BODY_SIZE * len(self.bodies)

    @classmethod
    def from_urdf(cls, urdf: str, terms: JointTerms | None = None,
                  gravity: ArrayLike = GRAVITY, joints: Collection[str] | None = None
                  ) -> "RobotModel":
        """The model of a URDF text (raises InvalidModel: not usable, or it lacks a joint).

        Args:
            joints: that move, in the description's order, the others locked at zero; none: all.
        """
        full = parse_urdf(urdf, dynamics=True)
        names = list(full.names)[1:]
        moving = list(joints or names)
        if moving != [name for name in names if name in moving]:
            raise InvalidModel(f"joints {', '.join(moving)} are asked for; the robot description "
                               f"has, in this order: {', '.join(names)}")
        locked = [k for k, name in enumerate(names, 1) if name not in moving]
        return cls(pin.buildReducedModel(full, locked, pin.neutral(full)) if locked else full,
                   terms, gravity)

    def with_gravity(self, gravity: ArrayLike) -> "RobotModel":
        """The same robot under another gravity (3,) [m/s^2], such as a tilted mounting."""
        return RobotModel(self._model, self.terms, gravity)

    def body_slice(self, body: int) -> slice:
        """Where the ten parameters of a body are."""
        return body_slices(len(self.bodies))[body]

    def split(self, phi: Array) -> Array:
        """The parameters (bodies, 10) of the bodies in phi (p,)."""
        return phi[:self.inertial].reshape(-1, BODY_SIZE)

    def term_indices(self, term: str) -> list[int]:
        """Indices in phi of a term (`VISCOUS`, ...) of all joints; none where it is lacking."""
        return [k for k, name in enumerate(self.parameter_names) if name.startswith(f"{term}(")]

    def signs(self, regressor: Array) -> Array:
        """Sign (n, nv) of the velocities in a regressor (n, nv, p): between -1 and 1 where a joint
        rests or turns back; 1 without Coulomb friction."""
        out, columns = np.ones(regressor.shape[:2]), self.term_indices(COULOMB)
        rows = np.arange(self.nv - len(columns), self.nv)
        out[:, rows] = regressor[:, rows, columns]
        return out

    def coulomb(self, phi: Array) -> Array:
        """Coulomb friction (nv,) of phi (p,); zero where there is none."""
        own = phi[self.term_indices(COULOMB)]
        return np.append(np.zeros(self.nv - len(own)), own)

    def carrier(self, link: str) -> tuple[slice, pin.SE3]:
        """Where in phi the body is that carries a link, and the pose of the link in its frame
        (raises InvalidModel: no joint moves it)."""
        if self.links[link] < 0:
            raise InvalidModel(f"no joint moves '{link}' (wrench.sensor_frame)")
        frame = self._model.getFrameId(link, pin.FrameType.BODY)
        return self.body_slice(self.links[link]), self._model.frames[frame].placement

    @property
    def nominal(self) -> Array:
        """phi (p,) of the description: bodies of the URDF, joint terms zero."""
        bodies = [phi_from_pinocchio(inertia.toDynamicParameters())
                  for inertia in list(self._model.inertias)[1:]]
        return np.concatenate([*bodies, np.zeros(self.size - self.inertial)])

    def random_regressor(self, n: int) -> Array:
        """Regressor (n, nv, p) of random motions, the same in each call."""
        rng = np.random.default_rng(0)
        dq, ddq = rng.normal(size=(2, n, self.nv))
        return self.regressor(rng.uniform(-np.pi, np.pi, (n, self.nv)), dq, ddq)

    def regressor(self, q: Array, dq: Array, ddq: Array) -> Array:
        """Regressor Y (n, nv, p) of generalised forces [N m, or N for prismatic joints]; the first
        `BASE_SIZE` rows are those of a floating base, which no joint torque enters.

        Args:
            q, dq, ddq: (n, nv) [rad] or [m] and derivatives; a floating base comes first, in q by
                the twist from its neutral pose (`pinocchio.difference`), in dq by linear [m/s] and
                angular velocity [rad/s] in its own axes.
        """
        out = np.zeros((len(q), self.nv, self.size))
        bodies = out[:, :, :self.inertial]
        for rows, configuration, v, a in zip(bodies, self._configuration(q), dq, ddq, strict=True):
            rows[:] = pin.computeJointTorqueRegressor(self._model, self._data, configuration, v, a)
        bodies[:] = bodies.reshape(len(q), self.nv, len(self.bodies), BODY_SIZE)[
            ..., _FROM_PINOCCHIO].reshape(bodies.shape)
        sign = np.tanh(dq / max(self.terms.coulomb_velocity, _STEP))
        columns = {VISCOUS: dq, COULOMB: sign, OFFSET: np.ones_like(dq), DRIVE: ddq}
        if LOAD in self.terms.names:
            columns[LOAD] = sign * np.abs(bodies @ self.nominal[:self.inertial])
        rows = np.arange(self.nv - len(self.joint_names), self.nv)
        for term in self.terms.names:
            out[:, rows, self.term_indices(term)] = columns[term][:, rows]
        return out

    def described_torque(self, q: Array, dq: Array, ddq: Array) -> Array:
        """Generalised forces (n, nv) of the described bodies: as with `nominal`, but faster."""
        return np.stack([pin.rnea(self._model, self._data, *state)
                         for state in zip(self._configuration(q), dq, ddq, strict=True)])

    def _configuration(self, q: Array) -> Array:
        """Pinocchio's configuration (n, nq) of positions (n, nv); of continuous joints cos, sin."""
        neutral = pin.neutral(self._model)
        return np.array([pin.integrate(self._model, neutral, position) for position in q])
