# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""MuJoCo as the physics: the wrench in the wrist of an arm whose joints follow a given motion.

How the motion is imposed: positions, velocities and accelerations of the joints are written to
``qpos``, ``qvel`` and ``qacc``, and ``mj_inverse`` runs the inverse dynamics. Nothing is
integrated, so that there is no time step, no drift and no controller error: the wrench belongs to
exactly the motion that was asked for. ``mj_inverse`` also evaluates the sensors; ``force`` and
``torque`` come from MuJoCo's recursive Newton-Euler pass at the given ``qacc`` and hold gravity,
Coriolis and inertial forces of the payload. Contacts, limits and other constraints are disabled.

Facts of MuJoCo that this relies on, each held by a test: ``force`` and ``torque`` at a site of the
payload's body read the wrench that the *sensor exerts on the payload*, about the site, along its
axes (a payload at rest reads ``-m g``, upwards); ``accelerometer`` reads ``R'(p'' - g)``;
``frameangacc`` is in world axes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from ...extras import optional_packages
from ...inertia import Array
from .description import SENSOR_FRAME
from .payload import Part, Payload

with optional_packages("simulating an arm"):
    import mujoco

PAYLOAD_BODY, PAYLOAD_SITE = "payload", "payload_mount"
# Order of the numbers in a row of sensor data; name -> (MuJoCo's type, count).
_SENSORS = {
    "force": ("FORCE", 3), "torque": ("TORQUE", 3), "gyro": ("GYRO", 3),
    "accelerometer": ("ACCELEROMETER", 3), "angular_acceleration": ("FRAMEANGACC", 3),
    "position": ("FRAMEPOS", 3), "quaternion": ("FRAMEQUAT", 4),
}


class SensorMotion(NamedTuple):
    """What holds at the sensor's origin at n instants, from the engine, without any noise.

    Attributes:
        wrench: (n, 6) force [N] and torque [N m] of the sensor on the payload, sensor axes.
        position: (n, 3) in the base [m].
        rotation: (n, 3, 3) from sensor axes to base axes.
        omega: (n, 3) angular velocity, sensor axes [rad/s].
        alpha: (n, 3) angular acceleration, sensor axes [rad/s^2].
        a_g: (n, 3) ``R'(p'' - g)``, acceleration less gravity, sensor axes [m/s^2].
        effort: (n, k) torques of the joints, without friction [N m].
    """

    wrench: Array
    position: Array
    rotation: Array
    omega: Array
    alpha: Array
    a_g: Array
    effort: Array


class ArmEngine:
    """An arm with a payload welded to its sensor frame, compiled by MuJoCo.

    Args:
        urdf: robot description with a link ``ft_sensor``.
        payload: what the sensor carries, in the sensor frame.
        gravity: (3,) in base axes, towards the Earth [m/s^2].
    """

    def __init__(self, urdf: str, payload: Payload, gravity: Array) -> None:
        self.model = _compile(urdf, payload, gravity)
        self._data = mujoco.MjData(self.model)

    def evaluate(self, q: Array, dq: Array, ddq: Array) -> SensorMotion:
        """Wrench and motion of the sensor for joint motion (n, k) [rad, rad/s, rad/s^2]."""
        rows, effort = self._inverse_dynamics(q, dq, ddq)
        stops = np.cumsum([count for _, count in _SENSORS.values()])
        force, torque, gyro, acc, ang, position, quaternion = np.split(rows, stops[:-1], axis=1)
        rotation = Rotation.from_quat(quaternion[:, [1, 2, 3, 0]]).as_matrix()
        return SensorMotion(
            wrench=np.hstack([force, torque]), position=position, rotation=rotation, omega=gyro,
            alpha=np.einsum("nji,nj->ni", rotation, ang), a_g=acc,
            effort=effort)

    def _inverse_dynamics(self, q: Array, dq: Array, ddq: Array) -> tuple[Array, Array]:
        """Sensor data (n, 22), in the order of _SENSORS, and joint torques (n, k) for joint motion
        (n, k)."""
        model, data, inverse = self.model, self._data, mujoco.mj_inverse
        qpos, qvel, qacc, sensors = data.qpos, data.qvel, data.qacc, data.sensordata
        rows, effort = np.empty((len(q), model.nsensordata)), np.empty((len(q), model.nv))
        for i in range(len(q)):
            qpos[:], qvel[:], qacc[:] = q[i], dq[i], ddq[i]
            inverse(model, data)
            rows[i], effort[i] = sensors, data.qfrc_inverse
        return rows, effort


def _compile(urdf: str, payload: Payload, gravity: Array) -> mujoco.MjModel:
    """MuJoCo's model of the arm with the payload and the sensors at its mount."""
    spec = mujoco.MjSpec.from_string(urdf)
    # A URDF's fixed links are fused by default; the payload needs the sensor's link.
    spec.compiler.fusestatic = False
    spec.compiler.discardvisual = True
    spec.option.gravity = gravity
    spec.option.disableflags |= (
        mujoco.mjtDisableBit.mjDSBL_CONSTRAINT | mujoco.mjtDisableBit.mjDSBL_CONTACT)
    for geom in spec.geoms:  # else a link without inertial gets the mass of its shape
        geom.density = 0.0
    body = spec.body(SENSOR_FRAME).add_body(name=PAYLOAD_BODY)
    for part in payload.parts:
        _add_geom(body, part)
    body.add_site(name=PAYLOAD_SITE)
    for name, (kind, _) in _SENSORS.items():
        spec.add_sensor(name=name, type=getattr(mujoco.mjtSensor, f"mjSENS_{kind}"),
                        objtype=mujoco.mjtObj.mjOBJ_SITE, objname=PAYLOAD_SITE)
    return spec.compile()


def _add_geom(body: mujoco.MjsBody, part: Part) -> None:
    """A part as a geom with a density: MuJoCo computes mass and inertia by itself."""
    kind, size = {
        # MuJoCo wants half lengths.
        "box": (mujoco.mjtGeom.mjGEOM_BOX, [0.5 * s for s in part.size]),
        "cylinder": (mujoco.mjtGeom.mjGEOM_CYLINDER, [part.size[0], 0.5 * part.size[-1], 0.0]),
        "sphere": (mujoco.mjtGeom.mjGEOM_SPHERE, [part.size[0], 0.0, 0.0]),
    }[part.shape]
    x, y, z, w = Rotation.from_matrix(part.rotation).as_quat()
    body.add_geom(type=kind, size=size, pos=part.center, quat=[w, x, y, z], density=part.density,
                  contype=0, conaffinity=0)
