# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A robot whose base moves as measured, or on whose base the wrench is measured.

The equations of the base hold no joint torque (Ayusawa, Venture, Nakamura 2014): the wrench on the
base and the motion tell of all bodies, friction and drives apart. The base's coordinates are its
position, roll, pitch and yaw, so that they are low-passed and differentiated as those of joints.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from ..errors import InvalidData, InvalidModel, UnknownFrame
from ..inertia import Array
from ..kinematics.robot_description import parse_urdf
from .joint_terms import NO_TERMS, JointTerms
from .model import BASE_SIZE, RobotModel

WRENCH_NAMES = ("force x", "force y", "force z", "torque x", "torque y", "torque z")
STEEPEST = np.radians(80.0)  # pitch, beyond which roll and yaw can hardly be told apart


@dataclass(frozen=True)
class BaseSensing:
    """What is measured of a robot.

    Attributes:
        moves: the base, whose pose is measured; else it stands on the ground.
        wrench: the wrench on the base; efforts: joint torques.
        frame: link, fixed to the base, at whose origin and in whose axes the wrench is given;
            empty: the root link.
        on_sensor: the wrench is that on the ground, or sensor; else that on the robot.

    Raises:
        InvalidModel: neither wrench nor efforts.
    """

    moves: bool = False
    wrench: bool = False
    efforts: bool = True
    frame: str = ""
    on_sensor: bool = False

    def __post_init__(self) -> None:
        if not (self.wrench or self.efforts):
            raise InvalidModel("neither efforts of the joints nor the wrench on the base are "
                               "measured: nothing tells of masses")


class SensedBaseModel(RobotModel):
    """Regressor of the wrench on the base and of joint torques, as far as they are measured.

    Its outputs are the wrench [N, N m] at the origin of the root link, in its axes, then the joint
    torques. Its coordinates are x, y, z, roll, pitch, yaw of the base (if it moves), then joint
    positions. phi ends with the zeros of the six channels of the wrench.

    Args:
        model: Pinocchio's model, whose first joint is a free-flyer.
        terms: of the joints; none where no efforts are measured.

    Raises:
        InvalidModel: see `RobotModel`; no free-flyer.
    """

    def __init__(self, model: pin.Model, sensing: BaseSensing, terms: JointTerms | None = None,
                 gravity: ArrayLike = (0.0, 0.0, -9.81)) -> None:
        super().__init__(model, terms if sensing.efforts else NO_TERMS, gravity=gravity)
        if not self.floating_base:
            raise InvalidModel("the first joint of the model is no free-flyer")
        self.sensing = sensing
        self._zeros = len(self.parameter_names)
        if sensing.wrench:
            self.parameter_names += tuple(f"zero({name})" for name in WRENCH_NAMES)

    @property
    def coordinates(self) -> int:
        """Number of coordinates of a motion."""
        return len(self.joint_names) + BASE_SIZE * self.sensing.moves

    @property
    def output_names(self) -> tuple[str, ...]:
        """Names of the measured forces and torques."""
        return ((*WRENCH_NAMES,) * self.sensing.wrench
                + self.joint_names * self.sensing.efforts)

    @property
    def has_zero(self) -> np.ndarray:
        """Whether each output (outputs,) has a zero of its own, which hides constant loads."""
        return np.arange(len(self.output_names)) < BASE_SIZE * self.sensing.wrench

    @property
    def tells_root(self) -> bool:
        """Whether the root link moves."""
        return self.sensing.moves

    def with_gravity(self, gravity: ArrayLike) -> SensedBaseModel:
        """The same robot under another gravity (3,) [m/s^2]."""
        return SensedBaseModel(self._description, self.sensing, self.terms, gravity)

    def with_terms(self, terms: JointTerms) -> SensedBaseModel:
        """The same robot with other joint terms."""
        return SensedBaseModel(self._description, self.sensing, terms, self.gravity)

    def sample_positions(self, rng: np.random.Generator, n: int) -> Array:
        """Random coordinates (n, coordinates)."""
        q = rng.uniform(-np.pi, np.pi, (n, self.coordinates))
        if self.sensing.moves:
            q[:, 4] *= 0.4  # pitch
        return q

    def regressor(self, q: ArrayLike, dq: ArrayLike, ddq: ArrayLike, span: float = 0.0) -> Array:
        """Rows (n, outputs, p); see `RobotModel.regressor` for q, dq, ddq (n, coordinates) and
        span."""
        shown = [np.atleast_2d(np.asarray(x, dtype=float)) for x in (q, dq, ddq)]
        for name, array in zip(("q", "dq", "ddq"), shown, strict=True):
            if array.shape != (len(shown[0]), self.coordinates):
                raise InvalidData(f"{name} has shape {array.shape}; expected "
                                  f"({len(shown[0])}, {self.coordinates})")
        motion = free_flyer_motion(shown[0], shown[1], shown[2], self.sensing.moves)
        if self.sensing.efforts:
            rows = super().regressor(*motion, span)
            rows = rows if self.sensing.wrench else rows[:, BASE_SIZE:]
        else:
            rows = self.base_regressor(*motion)
        if self.sensing.wrench:
            k = np.arange(BASE_SIZE)
            rows[:, k, self._zeros + k] = 1.0
        return rows


def wrench_to_root(urdf: str, sensing: BaseSensing) -> Array:
    """Matrix (6, 6) from the measured wrench to that on the robot at the root link's origin.

    Raises:
        InvalidModel: no usable description. UnknownFrame: no such link, or it is not fixed to the
            base.
    """
    sign = -1.0 if sensing.on_sensor else 1.0
    if not sensing.frame:
        return sign * np.eye(6)
    model = parse_urdf(urdf)
    if not model.existFrame(sensing.frame, pin.FrameType.BODY):
        raise UnknownFrame(f"the robot description has no link '{sensing.frame}'")
    frame = model.frames[model.getFrameId(sensing.frame, pin.FrameType.BODY)]
    if frame.parentJoint != 0:
        raise UnknownFrame(f"link '{sensing.frame}' moves against the root of the description: "
                           "the wrench must be that of a sensor at the base")
    # Pinocchio puts the force first, too.
    return sign * np.asarray(frame.placement.toDualActionMatrix())


def free_flyer_motion(q: Array, dq: Array, ddq: Array, moves: bool) -> tuple[Array, Array, Array]:
    """Motion as of a free-flyer: position and quaternion, and the base's twist in its own axes.

    Args:
        q, dq, ddq: (n, 6 + joints) with position, roll, pitch and yaw first if the base moves, else
            (n, joints).
    """
    n = len(q)
    if not moves:
        pose = np.tile([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], (n, 1))
        rest = np.zeros((n, BASE_SIZE))
        return (np.hstack([pose, q]), np.hstack([rest, dq]), np.hstack([rest, ddq]))
    turned = Rotation.from_euler("ZYX", q[:, [5, 4, 3]])
    rates, change = _angular_rates(q[:, 3:6], dq[:, 3:6])
    omega = np.einsum("nij,nj->ni", rates, dq[:, 3:6])
    alpha = (np.einsum("nij,nj->ni", rates, ddq[:, 3:6])
             + np.einsum("nij,nj->ni", change, dq[:, 3:6]))
    v = turned.inv().apply(dq[:, :3])
    a = turned.inv().apply(ddq[:, :3]) - np.cross(omega, v)
    return (np.hstack([q[:, :3], turned.as_quat(), q[:, 6:]]),
            np.hstack([v, omega, dq[:, 6:]]), np.hstack([a, alpha, ddq[:, 6:]]))


def _angular_rates(angles: Array, speed: Array) -> tuple[Array, Array]:
    """Matrices (n, 3, 3) from speeds of roll, pitch and yaw (n, 3) to the angular velocity in the
    body's axes, and their time derivatives."""
    (sr, sp), (cr, cp) = np.sin(angles[:, :2]).T, np.cos(angles[:, :2]).T
    dr, dp = speed[:, :2].T
    out, change = np.zeros((2, len(angles), 3, 3))
    out[:, 0, 0] = 1.0
    out[:, 0, 2], change[:, 0, 2] = -sp, -cp * dp
    out[:, 1, 1], change[:, 1, 1] = cr, -sr * dr
    out[:, 1, 2], change[:, 1, 2] = sr * cp, cr * cp * dr - sr * sp * dp
    out[:, 2, 1], change[:, 2, 1] = -sr, -cr * dr
    out[:, 2, 2], change[:, 2, 2] = cr * cp, -sr * cp * dr - cr * sp * dp
    return out, change


def base_coordinates(position: ArrayLike, orientation: ArrayLike) -> Array:
    """Coordinates (n, 6) of a base: position (n, 3) [m], then roll, pitch and yaw [rad].

    Args:
        orientation: (n, 4) quaternions x, y, z, w of any length.

    Raises:
        InvalidData: a quaternion is zero, or the pitch is beyond `STEEPEST`.
    """
    quaternions = np.asarray(orientation, dtype=float)
    if not (np.linalg.norm(quaternions, axis=1) > 1e-6).all():
        raise InvalidData("an orientation of the base is a quaternion of length zero")
    yaw, pitch, roll = Rotation.from_quat(quaternions).as_euler("ZYX").T
    if np.abs(pitch).max(initial=0.0) > STEEPEST:
        raise InvalidData(f"the base pitches by {np.degrees(np.abs(pitch).max()):.0f} deg; at most "
                          f"{np.degrees(STEEPEST):.0f} are supported")
    return np.column_stack([np.asarray(position, dtype=float),
                            *np.unwrap(np.stack([roll, pitch, yaw]), axis=1)])
