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

The sensors make readings of that truth: with noise, bias, errors, misalignment and sign.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from ...errors import InvalidSetting
from ...extras import optional_packages
from ...inertia import PARAMETERS, Array, phi_from_body
from ...model.newton_euler import regressor
from ...settings.inputs import SENSORS
from .description import SENSOR_FRAME, WORLD_FRAME, ArmDescription, Transform, load_description
from .motion import CommandedMotion, Motion, make_motion
from .payload import Part, Payload, load_payload
from .settings import COMMANDED, NO_ERRORS, CobotSettings

with optional_packages("simulating an arm"):
    import mujoco

_USUAL_RANGE = (130.0, 10.0)  # N, N m, of a sensor whose range is not known
# Columns of a row of unit noise: wrench (6), joint positions (6), joint velocities (6).
_WRENCH, _POSITION, _VELOCITY = slice(0, 6), slice(6, 12), slice(12, 18)


class NoiseStream:
    """Rows of independent unit normal numbers: the same for a seed, however they are read.

    Rows are drawn in blocks of about a second, each from a generator of its own (NumPy's
    ``SeedSequence``), so that any range can be read without what came before it.
    """

    def __init__(self, seed: int, block: int, stream: int = 1, columns: int = 18) -> None:
        self._block = block
        self._draw = lru_cache(4)(lambda k: np.random.default_rng(np.random.SeedSequence(
            [seed, stream, k])).standard_normal((block, columns)))

    def rows(self, start: int, count: int) -> Array:
        """Rows (count, columns) from number ``start`` on."""
        first, last = start // self._block, (start + max(count, 1) - 1) // self._block
        rows = np.vstack([self._draw(k) for k in range(first, last + 1)])
        offset = start - first * self._block
        return np.asarray(rows[offset:offset + count])


class WanderingZero:
    """An Ornstein-Uhlenbeck process in each channel: the same for a seed, however it is read.

    Drawn at 10 Hz, straight lines between.

    Args:
        sd: (6,) standard deviations [N, N m]; rate: of the samples [Hz].
    """

    _TIME, _STEP = 5.0, 0.1  # s, of its correlation, and between two draws

    def __init__(self, seed: int, sd: Array, rate: float) -> None:
        self._rng = np.random.default_rng(np.random.SeedSequence([seed, 3]))
        self._sd, self._rate = sd, rate
        self._knots = self._rng.standard_normal((1, len(sd)))

    def rows(self, start: int, count: int) -> Array:
        """Rows (count, 6) from sample number ``start`` on [N, N m]."""
        at = (start + np.arange(count)) / (self._rate * self._STEP)
        self._draw_until(int(at[-1]) + 2)
        k = at.astype(int)
        part = (at - k)[:, None]
        return np.asarray(self._sd * ((1.0 - part) * self._knots[k] + part * self._knots[k + 1]))

    def _draw_until(self, count: int) -> None:
        """Have that many draws; those before stay as they are."""
        missing = count - len(self._knots)
        if missing <= 0:
            return
        keep = np.exp(-self._STEP / self._TIME)
        more = np.empty((missing, len(self._sd)))
        last = self._knots[-1]
        for k, new in enumerate(self._rng.standard_normal(more.shape)):
            last = more[k] = keep * last + np.sqrt(1.0 - keep**2) * new
        self._knots = np.vstack([self._knots, more])


class WristSensor:
    """Turns true wrenches into published readings.

    The sensor's axes are turned by ``sensor_rotation_error`` against the declared frame, about the
    same origin. With R that rotation and ``w`` the wrench of the sensor on the payload in the
    declared frame, the reading is ``bias + noise - R' w`` (convention on_sensor), or its opposite
    (on_environment). At rest and on_sensor that is the bias and the payload's weight. With a sensor
    named in the settings, every channel has an error of its gain, reads a share of the others, and
    its zero wanders, each as its data sheet says of one standard deviation.
    """

    def __init__(self, settings: CobotSettings) -> None:
        self._bias = np.array(settings.bias)
        self._deviation = np.repeat(settings.noise, 3)
        self._matrix = np.eye(6)
        self._zero: WanderingZero | None = None
        if settings.sensor != NO_ERRORS:
            self._take_errors_of_data_sheet(settings)
        self._to_sensor = Rotation.from_rotvec(
            settings.sensor_rotation_error, degrees=True).inv().as_matrix()
        self._sign = 1.0 if settings.convention == "on_sensor" else -1.0

    def read(self, wrench: Array, noise: Array, start: int) -> Array:
        """Readings (n, 6) [N, N m].

        Args:
            wrench: (n, 6) of the sensor on the payload, declared sensor frame.
            noise: (n, 18) unit noise of ``NoiseStream``; start: number of the first sample.
        """
        turned = (wrench.reshape(-1, 2, 3) @ self._to_sensor.T).reshape(-1, 6) @ self._matrix.T
        read = self._bias - turned + self._deviation * noise[:, _WRENCH]
        if self._zero is not None:
            read += self._zero.rows(start, len(wrench))
        return np.asarray(self._sign * read)

    def _take_errors_of_data_sheet(self, settings: CobotSettings) -> None:
        """Have noise, a zero that wanders, and gain and cross-talk errors drawn by the seed, as
        the data sheet of the sensor that the settings name has them."""
        sheet = SENSORS[settings.sensor]
        self._deviation = np.repeat(sheet.noise, 3)
        self._zero = WanderingZero(settings.seed, np.repeat(sheet.accuracy, 3), settings.rate)
        ranges = np.repeat(sheet.range if all(sheet.range) else _USUAL_RANGE, 3)
        sd = sheet.cross_talk * ranges[:, None] / ranges
        sd[np.diag_indices(6)] = sheet.gain_error
        rng = np.random.default_rng(np.random.SeedSequence([settings.seed, 4]))
        self._matrix = np.eye(6) + sd * rng.standard_normal((6, 6))


PAYLOAD_BODY, PAYLOAD_SITE = "payload", "payload_mount"
# Order of the numbers in a row of sensor data: MuJoCo's types.
_SENSORS = ("FORCE", "TORQUE", "GYRO", "ACCELEROMETER", "FRAMEANGACC", "FRAMEPOS", "FRAMEQUAT")


class SensorMotion(NamedTuple):
    """What holds at the sensor's origin at n instants, from the engine, without any noise.

    Attributes:
        wrench: (n, 6) force [N] and torque [N m] of the sensor on the payload, sensor axes.
        position: (n, 3) in the base [m]; rotation: (n, 3, 3) from sensor axes to base axes.
        omega, alpha: (n, 3) angular velocity and acceleration, sensor axes [rad/s, rad/s^2].
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
        model, data, inverse = self.model, self._data, mujoco.mj_inverse
        qpos, qvel, qacc, sensors = data.qpos, data.qvel, data.qacc, data.sensordata
        rows, effort = np.empty((len(q), model.nsensordata)), np.empty((len(q), model.nv))
        for i in range(len(q)):
            qpos[:], qvel[:], qacc[:] = q[i], dq[i], ddq[i]
            inverse(model, data)
            rows[i], effort[i] = sensors, data.qfrc_inverse
        wrench, gyro, acc, ang, position, quaternion = np.split(rows, (6, 9, 12, 15, 18), axis=1)
        rotation = Rotation.from_quat(quaternion[:, [1, 2, 3, 0]]).as_matrix()
        return SensorMotion(wrench, position, rotation, gyro,
                            np.einsum("nji,nj->ni", rotation, ang), acc, effort)


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
    for kind in _SENSORS:
        spec.add_sensor(name=kind, type=getattr(mujoco.mjtSensor, f"mjSENS_{kind}"),
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


GRAVITY = np.array([0.0, 0.0, -9.81])  # in the world [m/s^2]
STATED_POINT = 0.05  # m, height of a payload of which the mass alone is stated
_BLOCK = 5000  # samples computed at a time by run()


@dataclass(frozen=True, eq=False)
class Truth:
    """What really happened at each of n samples; vectors in the declared sensor axes.

    Attributes:
        q, dq, ddq: (n, 6) joint motion [rad, rad/s, rad/s^2].
        position: (n, 3) origin of ft_sensor in the world [m].
        rotation: (n, 3, 3) from ft_sensor to the world, whose z axis is exactly vertical.
        omega: (n, 3) angular velocity [rad/s].
        alpha: (n, 3) angular acceleration [rad/s^2].
        acceleration: (n, 3) linear acceleration of the origin, without gravity [m/s^2].
        a_g: (n, 3) acceleration less gravity, ``R'(p'' - g)`` [m/s^2].
        wrench: (n, 6) force and torque of the sensor on the payload [N, N m].
        effort: (n, 6) torques of the joints, without friction [N m].
    """

    q: Array
    dq: Array
    ddq: Array
    position: Array
    rotation: Array
    omega: Array
    alpha: Array
    acceleration: Array
    a_g: Array
    wrench: Array
    effort: Array


@dataclass(frozen=True, eq=False)
class Recording:
    """Samples as the cobot publishes them, and the truth behind them.

    Attributes:
        t: (n,) stamps, from 0 [s].
        q: (n, 6) measured joint positions [rad].
        dq: (n, 6) measured joint velocities [rad/s]; None where they are off.
        wrench: (n, 6) readings in the chosen convention [N, N m].
        effort: (n, 6) measured torques of the joints [N m].
        truth: what really happened at the stamps; with a clock offset, its wrench is the one at
            the stamps, too, while the readings are older.
    """

    t: Array
    q: Array
    dq: Array | None
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
        self.motion: Motion = motion or self.commanded or make_motion(self.description, settings)
        self.stated_phi = point_phi(settings.stated_mass)
        self._declared = _tilt(settings.tilt)
        self._world_base = (_tilt(settings.tilt_error) * self._declared).as_matrix()
        self.engine = ArmEngine(
            load_description().urdf, self.payload, self._world_base.T @ GRAVITY)
        self._sensor = WristSensor(settings)
        second = max(1, round(settings.rate))
        self._noise = NoiseStream(settings.seed, second)
        self._effort_noise = NoiseStream(settings.seed, second, stream=2, columns=6)

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
        return self.description.chain[-1].child

    @property
    def tf_step(self) -> int:
        """Samples from one publication of the transforms to the next."""
        return max(1, round(self.settings.rate / self.settings.tf_rate))

    def static_transforms(self) -> list[Transform]:
        """world -> base_link with the declared tilt, then the fixed joints down to ft_sensor."""
        base = Transform(WORLD_FRAME, self.description.chain[0].parent, np.zeros(3),
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
        t = (start + np.arange(count)) / self.settings.rate
        truth = self._truth(t)
        offset = self.settings.clock_offset
        felt = self._truth(t - offset) if offset else truth
        wrench = felt.wrench
        if self.stated_phi.any():
            wrench = wrench - regressor(felt.a_g, felt.omega, felt.alpha) @ self.stated_phi
        noise = self._noise.rows(start, count)
        q = truth.q + self.settings.encoder_noise * noise[:, _POSITION]
        dq = (truth.dq + self.settings.velocity_noise * noise[:, _VELOCITY]
              if self.settings.velocities else None)
        coulomb, viscous = self.settings.friction
        effort = truth.effort + coulomb * np.sign(truth.dq) + viscous * truth.dq
        effort += self.settings.effort_noise * self._effort_noise.rows(start, count)
        return Recording(t, q, dq, self._sensor.read(wrench, noise, start), effort, truth)

    def _truth(self, t: Array) -> Truth:
        """What happens at times t (n,) [s], without noise."""
        q, dq, ddq = self.motion(t)
        at = self.engine.evaluate(q, dq, ddq)
        rotation = self._world_base @ at.rotation
        return Truth(
            q=q, dq=dq, ddq=ddq, position=at.position @ self._world_base.T, rotation=rotation,
            omega=at.omega, alpha=at.alpha, acceleration=at.a_g + GRAVITY @ rotation, a_g=at.a_g,
            wrench=at.wrench, effort=at.effort)


def point_phi(mass: float) -> Array:
    """phi (10,) of a point of a mass [kg] on the sensor's axis, all zero for none."""
    return (phi_from_body(mass, [0.0, 0.0, STATED_POINT], np.zeros((3, 3))) if mass > 0.0
            else np.zeros(PARAMETERS))


def _tilt(roll_pitch: tuple[float, ...]) -> Rotation:
    """The rotation of a roll and a pitch [deg]."""
    return Rotation.from_euler("xyz", [*roll_pitch, 0.0], degrees=True)
