# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Joint states with efforts of a simulated arm, to which things happen.

MuJoCo gives the torques of the rigid arm and its payload; friction has memory (Dahl): where a joint
stops, it keeps what it had, and after turning back it needs a milliradian to come about.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import mujoco
import numpy as np

from benchmarks.joint_torque import (
    COULOMB,
    ENCODER_NOISE,
    RATE,
    TORQUE_NOISE,
    VISCOUS,
    SimulatedTorques,
    arm,
    block,
    wide_motion,
)
from inertial_id_ros.apps.simulation.description import SENSOR_FRAME, load_description
from inertial_id_ros.apps.simulation.motion import Motion, PointToPoint
from inertial_id_ros.identification.joint_torque.identifier import TorqueIdentifier
from inertial_id_ros.inertia import Array
from inertial_id_ros.settings import Settings

from .stream import JOINTS, START_NS, Message, Stream, Truth

PRESLIDING = 3e-4  # rad; over which friction comes about
NAMES = load_description().joint_names


class Carried(NamedTuple):
    """From this time [s] on the arm carries a block of this mass [kg]; 0: nothing."""

    since: float
    mass: float


class Push(NamedTuple):
    """A force (3,) [N], world axes, on a link, as a function of seconds since its begin."""

    first: float
    last: float
    link: str
    force: Callable[[float], Array]


@dataclass(frozen=True)
class Sample:
    """One joint state."""

    stamp: int
    names: tuple[str, ...]
    q: tuple[float, ...]
    effort: tuple[float, ...]


@lru_cache
def motion_of(name: str, duration: float, seed: int = 0) -> Motion:
    """`smooth`: Fourier, all joints at once; `moves`: point to point, with rests of a second."""
    if name == "smooth":
        return wide_motion(duration, seed=100 + seed, harmonics=max(round(duration / 1.5), 1))
    return PointToPoint(load_description(), 1.2, tool_speed=0.5, seed=seed)


def simulated(motion: Motion, duration: float, carried: tuple[Carried, ...] = (Carried(0.0, 2.0),),
              pushes: tuple[Push, ...] = (), seed: int = 0) -> SimulatedTorques:
    """Positions and torques of a motion with noise; the noise alone depends on the seed."""
    t = np.arange(0.0, duration, 1.0 / RATE)
    q, dq, ddq = motion(t)
    effort = _friction(q, dq)
    since = np.array([c.since for c in carried] or [0.0])
    which = np.searchsorted(since, t, side="right") - 1
    for k, part in enumerate(carried or (Carried(0.0, 0.0),)):
        rows = np.flatnonzero(which == k)
        _rigid(effort, rows, (q, dq, ddq), t, part.mass, pushes)
    rng = np.random.default_rng(seed)
    return SimulatedTorques(t, q + ENCODER_NOISE * rng.normal(size=q.shape),
                            effort + TORQUE_NOISE * rng.normal(size=q.shape))


def _friction(q: Array, dq: Array) -> Array:
    """Viscous friction and Dahl's of a path (n, joints) [N m]."""
    z = np.zeros(q.shape[1])
    out = VISCOUS * dq
    for k in range(1, len(q)):
        step = q[k] - q[k - 1]
        sign = np.sign(step)
        z = np.where(step == 0.0, z, sign - (sign - z) * np.exp(-np.abs(step) / PRESLIDING))
        out[k] += COULOMB * z
    return np.asarray(out)


def _rigid(effort: Array, rows: np.ndarray, path: tuple[Array, Array, Array], t: Array, mass: float,
           pushes: tuple[Push, ...]) -> None:
    """Add the torques of arm, payload and pushes to some rows of effort (n, joints)."""
    model = arm(block(mass) if mass > 0.0 else None, friction=False)
    data = mujoco.MjData(model)
    jacobian, turn = np.zeros((3, model.nv)), np.zeros((3, model.nv))
    q, dq, ddq = path
    for i in rows:
        data.qpos[:], data.qvel[:], data.qacc[:] = q[i], dq[i], ddq[i]
        mujoco.mj_inverse(model, data)
        effort[i] += data.qfrc_inverse
        for push in pushes:
            if push.first <= t[i] < push.last:
                body = model.body(push.link).id
                mujoco.mj_jac(model, data, jacobian, turn, data.xpos[body], body)
                effort[i] -= jacobian.T @ push.force(t[i] - push.first)


@dataclass(frozen=True, eq=False)
class TorqueStream(Stream):
    """A stream of joint states with efforts, for an identifier from joint torques."""

    def identifier(self, changes: dict[str, Any]) -> TorqueIdentifier:
        """A fresh identifier for this stream."""
        made = TorqueIdentifier(Settings().replace(self.settings | changes))
        made.set_robot_description(load_description().urdf)
        return made


def stream(recorded: SimulatedTorques, carried: tuple[Carried, ...], robot_file: str
           ) -> TorqueStream:
    """As the driver publishes it; arguments of a message: stamp, names, positions, efforts."""
    messages = []
    for t, q, effort in zip(*recorded, strict=True):
        stamp = START_NS + round(float(t) * 1e9)
        messages.append(Message(stamp, JOINTS, (stamp, NAMES, q.tolist(), effort.tolist())))
    truths = tuple((c.since, Truth(c.mass, np.asarray(block(1.0).com))) for c in carried)
    return TorqueStream(messages, truths, lambda _: None, {
        "load.robot": robot_file,
        "wrench.sensor_frame": SENSOR_FRAME, "buffer.window": 8.0})


def with_effort(message: Message, effort: Array) -> Message:
    """The same message with other torques (joints,) [N m]."""
    return message._replace(arguments=(*message.arguments[:3], effort.tolist()))
