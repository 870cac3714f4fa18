# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The simulated cobot: motion, physics and sensors put together, as arrays of samples.

MuJoCo gives the wrench in the wrist of an arm whose joints follow a given motion: positions,
velocities and accelerations of the joints are written to ``qpos``, ``qvel`` and ``qacc``, and
``mj_inverse`` runs the inverse dynamics. Nothing is integrated, so that there is no time step, no
drift and no controller error: the wrench belongs to exactly the motion that was asked for.
``mj_inverse`` also evaluates the sensors; ``force`` and ``torque`` come from MuJoCo's recursive
Newton-Euler pass at the given ``qacc`` and hold gravity, Coriolis and inertial forces of the
payload. Contacts, limits and other constraints are disabled.

Facts of MuJoCo that this relies on, each held by a test: ``force`` and ``torque`` at a site of the
payload's body read the wrench that the *sensor exerts on the payload*, about the site, along its
axes (a payload at rest reads ``-m g``, upwards); ``accelerometer`` reads ``R'(p'' - g)``;
``frameangacc`` is in world axes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from ...errors import InvalidSetting
from ...extras import optional_packages
from ...inertia import PARAMETERS, Array, phi_from_body
from ...model.newton_euler import GRAVITY, regressor
from .description import SENSOR_FRAME, WORLD_FRAME, ArmDescription, Transform, load_description
from .motion import CommandedMotion, Motion, sinusoid
from .payload import Part, Payload, load_payload
from .sensors import NoiseStream, WristSensor
from .settings import COMMANDED, CobotSettings

with optional_packages("simulating an arm"):
    import mujoco

PAYLOAD_BODY, PAYLOAD_SITE = "payload", "payload_mount"
# Order of the numbers in a row of sensor data: MuJoCo's types.
_SENSORS = ("FORCE", "TORQUE", "GYRO", "ACCELEROMETER", "FRAMEANGACC", "FRAMEPOS", "FRAMEQUAT")
# Columns of a row of unit noise, six numbers each.
_WRENCH, _POSITION, _VELOCITY, _EFFORT = (slice(k, k + 6) for k in (0, 6, 12, 18))
_DERIVED = 10.0  # 1/s: noise of a velocity by that of a position
_TF_RATE = 100.0  # transforms a second, rounded to every n-th sample
STATED_POINT = 0.05  # m, height of a payload of which the mass alone is stated
_BLOCK = 5000  # samples computed at a time by blocks()


class Truth(NamedTuple):
    """What really happens at n instants; vectors in the declared sensor axes.

    Attributes:
        q, dq, ddq: (n, k) joint motion [rad, rad/s, rad/s^2].
        wrench: (n, 6) force and torque of the sensor on the payload [N, N m].
        position: (n, 3) of the sensor [m]; rotation: (n, 3, 3) from its axes. Those of a cobot are
            in the world, whose z axis is exactly vertical, those of the engine in the base.
        omega, alpha: (n, 3) angular velocity and acceleration [rad/s, rad/s^2].
        a_g: (n, 3) acceleration less gravity, ``R'(p'' - g)`` [m/s^2].
        effort: (n, k) torques of the joints [N m].
    """

    q: Array
    dq: Array
    ddq: Array
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
        for kind in _SENSORS:
            spec.add_sensor(name=kind, type=getattr(mujoco.mjtSensor, f"mjSENS_{kind}"),
                            objtype=mujoco.mjtObj.mjOBJ_SITE, objname=PAYLOAD_SITE)
        self.model = spec.compile()
        self._data = mujoco.MjData(self.model)

    def evaluate(self, q: Array, dq: Array, ddq: Array) -> Truth:
        """What happens in joint motion (n, k) [rad, rad/s, rad/s^2]."""
        model, data, inverse = self.model, self._data, mujoco.mj_inverse
        qpos, qvel, qacc, sensors = data.qpos, data.qvel, data.qacc, data.sensordata
        rows, effort = np.empty((len(q), model.nsensordata)), np.empty((len(q), model.nv))
        for i in range(len(q)):
            qpos[:], qvel[:], qacc[:] = q[i], dq[i], ddq[i]
            inverse(model, data)
            rows[i], effort[i] = sensors, data.qfrc_inverse
        wrench, gyro, acc, ang, position, quaternion = np.split(rows, (6, 9, 12, 15, 18), axis=1)
        rotation = Rotation.from_quat(quaternion[:, [1, 2, 3, 0]]).as_matrix()
        return Truth(q, dq, ddq, wrench, position, rotation, gyro,
                     np.einsum("nji,nj->ni", rotation, ang), acc, effort)


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


@dataclass(frozen=True, eq=False)
class Recording:
    """Samples as the cobot publishes them, and the truth behind them.

    Attributes:
        t: (n,) stamps, from 0 [s].
        q, dq: (n, 6) measured joint positions [rad] and velocities [rad/s].
        wrench: (n, 6) readings in the chosen convention [N, N m].
        effort: (n, 6) measured torques of the joints [N m].
        truth: what really happened at the stamps; with a clock offset, its wrench is the one at
            the stamps, too, while the readings are older.
    """

    t: Array
    q: Array
    dq: Array
    wrench: Array
    effort: Array
    truth: Truth

    def __len__(self) -> int:
        return len(self.t)


class SimulatedCobot:
    """A UR5-class arm that carries a payload on a wrist sensor along a given motion.

    Args:
        settings: what it carries, how it moves, what its sensors add.
        payload: carried instead of the one that the settings name.
        motion: followed instead of the one that the settings name.

    Attributes:
        commanded: the motion that trajectories are given to, where the settings say so.
        stated_phi: (10,) of the payload that the driver knows and subtracts from the wrench, about
            the sensor; may be replaced at any time.

    Raises:
        InvalidSetting, InvalidShape: the payload or a setting is not allowed.
    """

    def __init__(self, settings: CobotSettings | None = None, *, payload: Payload | None = None,
                 motion: Motion | None = None) -> None:
        self.settings = settings = CobotSettings() if settings is None else settings
        self.description: ArmDescription = load_description(settings.prefix)
        self.payload = load_payload(settings.payload) if payload is None else payload
        self.commanded = CommandedMotion(settings.pose) if settings.motion == COMMANDED else None
        self.motion: Motion = motion or self.commanded or sinusoid(settings.speed)
        self.stated_phi: Array = np.zeros(PARAMETERS)
        if settings.stated_mass:
            self.stated_phi = phi_from_body(settings.stated_mass, [0.0, 0.0, STATED_POINT],
                                            np.zeros((3, 3)))
        self._declared = _tilt(settings.tilt)
        self._world_base = (_tilt(settings.tilt_error) * self._declared).as_matrix()
        self.engine = ArmEngine(
            load_description().urdf, self.payload, self._world_base.T @ GRAVITY)
        self._sensor = WristSensor(settings)
        self._noise = NoiseStream(settings.seed, max(1, round(settings.rate)), 24)

    @property
    def urdf(self) -> str:
        """The robot description, from base_link to ft_sensor."""
        return self.description.urdf

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints, in the order of every array."""
        return self.description.joint_names

    @property
    def sensor_frame(self) -> str:
        """Frame of the wrench."""
        return self.description.sensor_frame

    @property
    def tf_step(self) -> int:
        """Samples from one publication of the transforms to the next."""
        return max(1, round(self.settings.rate / _TF_RATE))

    def static_transforms(self) -> list[Transform]:
        """world -> base_link with the declared tilt, then the fixed joints down to ft_sensor."""
        base = Transform(WORLD_FRAME, self.description.moving[0].parent, np.zeros(3),
                         self._declared.as_quat())
        return [base, *self.description.fixed_transforms()]

    def run(self, duration: float) -> Recording:
        """The first ``duration`` seconds, from 0 on.

        Raises:
            InvalidSetting: the duration holds no sample.
        """
        return next(self.blocks(duration, round(duration * self.settings.rate)))

    def blocks(self, duration: float, count: int = _BLOCK) -> Iterator[Recording]:
        """The first ``duration`` seconds in blocks of at most ``count`` samples.

        Raises:
            InvalidSetting: the duration holds no sample.
        """
        total = round(duration * self.settings.rate)
        if total < 1:
            raise InvalidSetting(
                f"duration is {duration:g} s; it must hold at least one sample, "
                f"{1 / self.settings.rate:g} s")
        return (self.samples(start, min(count, total - start)) for start in range(0, total, count))

    def samples(self, start: int, count: int) -> Recording:
        """``count`` samples from number ``start`` on; the same however they are asked for."""
        settings = self.settings
        t = (start + np.arange(count)) / settings.rate
        truth = self._truth(t)
        felt = self._truth(t - settings.clock_offset) if settings.clock_offset else truth
        left = felt.wrench - regressor(felt.a_g, felt.omega, felt.alpha) @ self.stated_phi
        noise = self._noise.rows(start, count)
        return Recording(t, truth.q + settings.encoder_noise * noise[:, _POSITION],
                         truth.dq + _DERIVED * settings.encoder_noise * noise[:, _VELOCITY],
                         self._sensor.read(left, noise[:, _WRENCH], t),
                         truth.effort + settings.effort_noise * noise[:, _EFFORT], truth)

    def _truth(self, t: Array) -> Truth:
        """What happens at times t (n,) [s], in the world."""
        at = self.engine.evaluate(*self.motion(t))
        return at._replace(position=at.position @ self._world_base.T,
                           rotation=self._world_base @ at.rotation)


def _tilt(roll_pitch: tuple[float, ...]) -> Rotation:
    """The rotation of a roll and a pitch [deg]."""
    return Rotation.from_euler("xyz", [*roll_pitch, 0.0], degrees=True)
