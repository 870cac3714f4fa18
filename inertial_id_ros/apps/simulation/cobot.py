# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The simulated cobot: motion, physics and sensors put together, as arrays of samples.

``mj_inverse`` runs the inverse dynamics of a given joint motion. Nothing is integrated, so that the
wrench belongs to exactly the motion that was asked for. Of all constraints only friction acts.

Facts of MuJoCo that this relies on, each held by a test: ``force`` and ``torque`` at a site of the
payload's body read the wrench that the *sensor exerts on the payload*, about the site, along its
axes (a payload at rest reads ``-m g``, upwards); ``accelerometer`` reads ``R'(p'' - g)``;
``frameangacc`` is in world axes.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin
from scipy.interpolate import make_interp_spline
from scipy.signal import lfilter
from scipy.spatial.transform import Rotation
from scipy.special import ndtri

from ...errors import InvalidModel, InvalidSetting
from ...extras import optional_packages
from ...inertia import Array, six_from_tensor
from ...io.inputs import START, Edges, JointStates, Samples, Wrenches
from ...model.newton_euler import GRAVITY
from ...motion.frames import links_of
from ...motion.robot import link_names, model_of, read_description
from ...settings.groups import SENSORS
from ...settings.spec import Vector, check, iter_group, setting
from ..recordings import Recording
from .motion import START_POSE, CommandedMotion, Motion, Sinusoid
from .payload import PAYLOADS, Payload

with optional_packages("simulating an arm"):
    import mujoco

WORLD_FRAME, SENSOR_FRAME = "world", "ft_sensor"
MODEL = Path(__file__).with_name("models") / "ur5_class_arm.urdf"
NAMED = re.compile(r'(<(?:link|joint) name="|<(?:parent|child) link=")')
SHAPES = re.compile(r"(?s)<(visual|collision)\b.*?</\1>")
# Order of the numbers in a row of sensor data: MuJoCo's types.
SENSED = ("FORCE", "TORQUE", "GYRO", "ACCELEROMETER", "FRAMEANGACC", "FRAMEPOS", "FRAMEQUAT")
DERIVED = 10.0  # 1/s: noise of a velocity by that of a position
TF_RATE = 100.0  # transforms a second, rounded to every n-th sample
USUAL_RANGE = (130.0, 10.0)  # N, N m, of a sensor whose range is not known
# Bias drift: time of its correlation, time between two draws, time after which it repeats [s].
CORRELATION, STEP, PERIOD = 5.0, 0.1, 3600.0


class ArmDescription(NamedTuple):
    """An arm, one chain from the base to the sensor."""

    urdf: str
    base: str  # its first link
    joint_names: tuple[str, ...]  # in the order of every array of positions

    def edges(self, stamps: np.ndarray, q: Array | None = None) -> list[Edges]:
        """Links in their parents, stamped (n,) [ns]: those that joints move, at their positions
        (n, k) [rad or m], or without these those that stay."""
        links = links_of(self.urdf, {}).items()
        if q is None:
            return [Edges(stamps, edge.parent, name, pin.SE3ToXYZQUAT(edge.place)[None])
                    for name, edge in links if edge.joint is None]
        return [Edges(stamps, edge.parent, name, np.array([pin.SE3ToXYZQUAT(
            joint.place * pin.exp6(pin.Motion((joint.scale * at + joint.shift) * joint.twist)))
            for at in q[:, self.joint_names.index(joint.name)]]).reshape(-1, 7))
            for name, edge in links if (joint := edge.joint) and joint.twist is not None]


def load_description(prefix: str = "", arm: str = "") -> ArmDescription:
    """An arm (text, or name of a file; empty: the packaged one), with a prefix before the names of
    all joints and links (raises InvalidSetting, InvalidModel)."""
    text = arm if "<" in arm else read_description(Path(arm or MODEL))
    urdf = NAMED.sub(rf"\g<1>{prefix}", text)
    model, _ = model_of(urdf)
    if prefix + SENSOR_FRAME not in (links := link_names(model)):
        raise InvalidModel(f"the robot description has no link '{prefix + SENSOR_FRAME}'")
    return ArmDescription(urdf, links[0], tuple(model.names)[1:])


class Truth(NamedTuple):
    """What really happens at n instants; vectors in the declared sensor axes, poses in the world,
    whose z axis is exactly vertical."""

    q: Array  # (n, k) joint positions [rad]
    dq: Array  # (n, k) [rad/s]
    wrench: Array  # (n, 6) of the sensor on the payload [N, N m]
    position: Array  # (n, 3) of the sensor [m]
    rotation: Array  # (n, 3, 3) from its axes
    omega: Array  # (n, 3) [rad/s]
    alpha: Array  # (n, 3) [rad/s^2]
    a_g: Array  # (n, 3) acceleration less gravity, R'(p'' - g) [m/s^2]
    effort: Array  # (n, k) torques of the joints [N m]


class ArmEngine:
    """An arm (a robot description with a link ``ft_sensor``), with a payload welded to that frame,
    compiled by MuJoCo; base: its rotation in the world."""

    def __init__(self, urdf: str, payload: Payload, base: Rotation) -> None:
        # Without shapes: a link without inertial would get the mass of its own.
        spec = mujoco.MjSpec.from_string(SHAPES.sub("", urdf))
        # A URDF's fixed links are fused by default; the payload needs the sensor's link.
        spec.compiler.fusestatic, spec.option.gravity = False, GRAVITY
        spec.worldbody.first_body().quat = np.roll(base.as_quat(), 1)
        for part in ("CONTACT", "LIMIT", "EQUALITY"):
            spec.option.disableflags |= getattr(mujoco.mjtDisableBit, f"mjDSBL_{part}")
        body = spec.body(SENSOR_FRAME).add_body(name="payload")
        body.explicitinertial, body.mass, body.ipos = True, payload.mass, payload.com
        body.fullinertia = six_from_tensor(payload.inertia_com)[[0, 3, 5, 1, 2, 4]]
        body.add_site(name="mount")
        for kind in SENSED:
            spec.add_sensor(name=kind, type=getattr(mujoco.mjtSensor, f"mjSENS_{kind}"),
                            objtype=mujoco.mjtObj.mjOBJ_SITE, objname="mount")
        spec.option.timestep = 1e-6  # else soft friction never saturates in a light joint
        self.model = spec.compile()
        self.model.dof_solref[:] = 2e-6, 1.0
        self._data = mujoco.MjData(self.model)

    def evaluate(self, q: Array, dq: Array, ddq: Array) -> Truth:
        """What happens in joint motion (n, k) [rad, rad/s, rad/s^2]."""
        data, rows, effort = self._data, np.empty((len(q), self.model.nsensordata)), 0.0 * q
        for i in range(len(q)):
            data.qpos, data.qvel, data.qacc = q[i], dq[i], ddq[i]
            mujoco.mj_inverse(self.model, data)
            rows[i], effort[i] = data.sensordata, data.qfrc_inverse
        wrench, gyro, acc, ang, position, quaternion = np.split(rows, (6, 9, 12, 15, 18), axis=1)
        rotation = Rotation.from_quat(quaternion[:, [1, 2, 3, 0]]).as_matrix()
        return Truth(q, dq, wrench, position, rotation, gyro,
                     np.einsum("nji,nj->ni", rotation, ang), acc, effort)


def wrist_sensor(settings: "Scenario") -> Callable[[Array, Array, Array], Array]:
    """What gives readings (n, 6) [N, N m] of wrenches (n, 6) on the payload in the declared frame,
    with unit noise (n, 6), at times (n,) [s].

    With R the rotation of ``sensor_rotation_error`` and ``w`` the wrench, the reading is ``bias +
    noise - R' w`` (convention on_sensor), or its opposite. With a sensor named in the settings,
    every channel has an error of its gain, reads a share of the others, and its bias drifts (an
    Ornstein-Uhlenbeck process), each as its data sheet says of one standard deviation.
    """
    bias, deviation = np.array(settings.bias), np.repeat(settings.noise, 3)
    steps = np.zeros((round(PERIOD / STEP) + 1, 6))
    back = Rotation.from_rotvec(settings.sensor_rotation_error, degrees=True).as_matrix().T
    matrix = np.kron(np.eye(2), back)
    if settings.sensor != "none":
        sheet, rng = SENSORS[settings.sensor], np.random.default_rng([settings.seed, 4])
        deviation = np.repeat(sheet.noise, 3)
        ranges = np.repeat(sheet.range if all(sheet.range) else USUAL_RANGE, 3)
        sd = sheet.cross_talk * ranges[:, None] / ranges
        sd[np.diag_indices(6)] = sheet.gain_error
        matrix = (np.eye(6) + sd * rng.standard_normal((6, 6))) @ matrix
        keep, draws = np.exp(-STEP / CORRELATION), rng.standard_normal(steps[1:].shape)
        draws[1:] *= np.sqrt(1.0 - keep**2)  # the first is stationary
        steps[:-1] = np.repeat(sheet.accuracy, 3) * lfilter([1.0], [1.0, -keep], draws, axis=0)
        steps[-1] = steps[0]
    sign = 1.0 if settings.convention == "on_sensor" else -1.0
    drift = make_interp_spline(STEP * np.arange(len(steps)), steps, 1)
    return lambda wrench, noise, t: np.asarray(sign * (
        bias + drift(t % PERIOD) - wrench @ matrix.T + deviation * noise))


Effect = Callable[[Array, Truth], Array]
Fault = tuple[str, str, float, float, float]  # signal, kind, begin [s], length [s], size

RISE, RARE = 0.05, 0.05  # s in which a load comes and goes; share of the samples
ASIDE = np.array([0.65, -0.49, 0.43, 0.055, 0.044, -0.027])  # N, N m: of 1 N beside the sensor
# What a fault of a size adds to the wrench (n, 6) of the payload: a force [N] on it, more of it.
LOADS: dict[str, Callable[[Array, float], Array]] = {
    "contact": lambda load, size: -size * ASIDE,
    "grip": lambda load, size: size * load, "release": lambda load, size: -size * load}
# What a fault of a size makes of rows (n, k) of a signal, by the row at its begin and numbers in
# [0, 1): how often a sample comes, how much later, stamped how far ahead [s]; the rows.
FAULTS: dict[str, Callable[[Array, float, Array, Array], tuple[Any, ...]]] = {
    "missing": lambda rows, size, first, x: (0, 0, 0, rows),
    "repeated": lambda rows, size, first, x: (2, 0, 0, rows),
    "late": lambda rows, size, first, x: (1, size * (x[:, 0] < RARE), 0, rows),
    "reordered": lambda rows, size, first, x: (1, size * x[:, 0], 0, rows),
    "stamped": lambda rows, size, first, x: (1, 0, size, rows),
    "stray": lambda rows, size, first, x: (1, 0, size * np.rint(1.02 * (x[:, 0] - 0.5)), rows),
    "invalid": lambda rows, size, first, x: (1, 0, 0, np.where(
        x < RARE, np.where(x < 0.5 * RARE, np.nan, np.inf), rows)),
    "stuck": lambda rows, size, first, x: (1, 0, 0, first + 0.0 * x),
    "joint_stuck": lambda rows, size, first, x: (1, 0, 0, np.where(  # of this number
        np.arange(len(first)) == size, first, rows)),
    "saturated": lambda rows, size, first, x: (1, 0, 0, np.clip(
        rows + 3.0 * size * ASIDE, -size, size)),
    "zeroed": lambda rows, size, first, x: (1, 0, 0, rows - first),
    "biased": lambda rows, size, first, x: (1, 0, 0, rows + size * ASIDE)}
SIGNALS = {"wrench": (Wrenches, "rows"), "joints": (JointStates, "positions"),
           "efforts": (JointStates, "efforts"), "transforms": (Edges, "rows")}


def faults_of(text: str) -> tuple[Fault, ...]:
    """Faults in words: wrench missing 5 1.5 1, joints stamped 9 3 .4 (raises ValueError)."""
    words = [part.split() for part in text.split(",") if part.strip()]
    if any(len(w) != 5 or w[0] not in SIGNALS or w[1] not in FAULTS | LOADS for w in words):
        raise ValueError
    return tuple((w[0], w[1], float(w[2]), float(w[3]), float(w[4])) for w in words)


@dataclass(eq=False)
class Scenario:
    """An arm that carries a payload on a wrist sensor along a motion, and what its sensors add to
    the truth; payload and motion may be others than those that have a name (raises InvalidSetting:
    a value is outside its range; the text names it).

    Attributes:
        effects: each gives a further wrench (n, 6) of the sensor on the payload at times (n,) [s],
            at which the truth is given [N, N m]; may be changed at any time.
        robot: the description; sensor_frame: of the wrench; carried, path: payload and motion.
    """

    payload: Payload | str = setting("drill", "What it carries.", choices=tuple(PAYLOADS))
    arm: str = setting(
        "", "Robot description (URDF) of its arm, text or file, with a link ft_sensor that carries "
        "the payload, and friction as it says; empty: a UR5-class arm.")
    motion: Motion | str = setting(
        "sinusoid", "How the arm moves; commanded: it rests in its pose, and offers what a driver "
        "does (FollowJointTrajectory, set_payload).", choices=("sinusoid", "commanded"))
    speed: float = setting(
        1.0, "Mean angular speed of the tool in sinusoids.", unit="rad/s", above=0.0, high=4.0)
    duration: float = setting(0.0, "Length of a recording that is made.", unit="s", low=0.0)
    rate: float = setting(
        500.0, "Samples of wrench and joint states a second.", unit="Hz", low=10.0, high=2000.0)
    convention: str = setting(
        "on_sensor", "Sign of the published wrench.", choices=("on_sensor", "on_environment"))
    noise: Vector = setting(
        (0.1, 0.005), "Standard deviations of the white noise of one force [N] and one torque "
        "[N m] sample.", low=0.0, length=2)
    sensor: str = setting(
        "none", "Sensor with the errors of whose data sheet the wrench is read: gains, "
        "cross-talk, bias drift, and its noise in place of `noise`; none: only what the "
        "other settings say.", choices=("none", *SENSORS))
    bias: Vector = setting(
        (0.0,) * 6, "Reading of the unloaded sensor in the on_sensor sign: three forces [N], "
        "three torques [N m].", length=6)
    sensor_rotation_error: Vector = setting(
        (0.0, 0.0, 0.0), "Rotation vector of the sensor's true axes against its declared frame.",
        unit="deg", low=-180.0, high=180.0, length=3)
    clock_offset: float = setting(
        0.0, "A wrench stamped t was measured at t minus this.", unit="s", low=-1.0, high=1.0)
    encoder_noise: float = setting(
        1e-4, "Standard deviation of the white noise of one joint position; ten times as much "
        "a second in a velocity.", unit="rad", low=0.0, high=0.1)
    effort_noise: Vector = setting(
        (0.1,), "Standard deviation of the white noise of a joint torque, of each joint or all.",
        unit="N m", low=0.0)
    prefix: str = setting(
        "", "Put before the names of all joints and links (left_), for several arms.")
    tilt: Vector = setting(
        (0.0, 0.0), "Roll and pitch of the robot base against the world, declared in TF.",
        unit="deg", low=-180.0, high=180.0, length=2)
    tilt_error: Vector = setting(
        (0.0, 0.0), "Further roll and pitch of the base about the world's axes, not declared.",
        unit="deg", low=-45.0, high=45.0, length=2)
    faults: tuple[Fault, ...] = setting(
        (), "What goes wrong: signal, kind, begin [s], length [s], size of each, as in 'wrench "
        f"missing 5 1.5 1, joints stamped 9 3 0.4'; {', '.join(SIGNALS)}; "
        f"{', '.join(FAULTS | LOADS)}.")
    seed: int = setting(0, "Seed of the noise.", low=0)
    effects: list[Effect] = field(default_factory=list)

    def __post_init__(self) -> None:
        for name, value, spec in iter_group(self):
            if not (callable(value) or isinstance(value, Payload) or value is self.faults):
                check(name, value, spec)
        self.robot = load_description(self.prefix, self.arm)
        self.sensor_frame = self.prefix + SENSOR_FRAME
        self.carried = PAYLOADS[self.payload] if isinstance(self.payload, str) else self.payload
        self.path: Motion = self.motion if not isinstance(self.motion, str) else (
            CommandedMotion(START_POSE) if self.motion == "commanded" else Sinusoid(self.speed))
        joints, moved = len(self.robot.joint_names), self.path(np.zeros(1))[0].shape[1]
        if joints != moved:
            raise InvalidSetting(f"the arm has {joints} joints, and the motion is of {moved}")
        declared, error = (Rotation.from_euler("xyz", [*angles, 0.0], degrees=True)
                           for angles in (self.tilt, self.tilt_error))
        self._base = np.r_[0.0, 0.0, 0.0, declared.as_quat()]
        self.engine = ArmEngine(load_description("", self.arm).urdf, self.carried, error * declared)
        self._read, self._first = wrist_sensor(self), cache(self._measured)
        self._step = max(1, round(self.rate / TF_RATE))  # of the transforms

    def record(self, duration: float, begin: int = START) -> Recording:
        """So many seconds, from a stamp [ns] on, with description and frames that stay (raises
        InvalidSetting: not one sample)."""
        total = round(duration * self.rate)
        if total < 1:
            raise InvalidSetting(f"duration is {duration:g} s; it must hold at least one sample, "
                                 f"{1 / self.rate:g} s")
        at = np.array([begin])
        base = Edges(at, WORLD_FRAME, self.robot.base, self._base[None])
        return replace(self.samples(0, total, begin), description=self.robot.urdf,
                       fixed=(base, *self.robot.edges(at)))

    def samples(self, start: int, count: int, begin: int = START) -> Recording:
        """What comes in the time of ``count`` samples from number ``start`` on, the same however it
        is asked for; begin: stamp of number 0 [ns]."""
        late = [size for _, kind, *_, size in self.faults if kind in ("late", "reordered")]
        early = min(start, round(self.rate * max(late, default=0.0)))
        return Recording([[self._received(k, block, range(start, start + count), begin) for k, block
                           in enumerate(self._measured(start - early, count + early))]],
                         count / self.rate)

    def _received(self, k: int, block: Any, numbers: range, begin: int) -> Any:
        """What of block k comes in the time of samples of these numbers."""
        t, stamps = 1e-9 * block.stamps, begin + block.stamps
        comes, copies = t, np.ones(len(t), int)
        for signal, kind, since, lasts, size in self.faults:
            (of, name), now = SIGNALS[signal], (t >= since) & (t < since + lasts)
            if kind in LOADS or not issubclass(type(block), of) or not now.any():
                continue
            rows = getattr(block, name)
            first = getattr(self._first(round(since * self.rate), self._step)[k], name)[0]
            x = np.sin(np.outer(np.rint(t * self.rate) + self.seed, 1 + np.arange(rows.shape[1]))
                       ) * 43758.5453 % 1.0  # the same however it is asked for
            times, later, ahead, new = FAULTS[kind](rows, size, first, x)
            copies[now] *= times
            comes = comes + now * later
            stamps = stamps + np.rint(1e9 * now * ahead).astype(int)
            block = block._replace(**{name: np.where(now[:, None], new, rows)})
        at = np.rint(comes * self.rate)
        due = np.flatnonzero((at >= numbers.start) & (at < numbers.stop))
        order = due[np.argsort(comes[due], kind="stable")]
        order = order.repeat(copies[order])
        return block._make(value[order] if isinstance(value, np.ndarray) else value
                           for value in block._replace(stamps=stamps))

    def _measured(self, start: int, count: int) -> list[Samples]:
        """Samples without faults but loads, stamped from 0 on [ns]."""
        t, k = (start + np.arange(count)) / self.rate, len(self.robot.joint_names)
        truth, then = self.truth(t), t - self.clock_offset
        felt = self.truth(then) if self.clock_offset else truth
        wrench = sum((effect(then, felt) for effect in self.effects), felt.wrench)
        for _, kind, since, lasts, size in self.faults:
            if kind in LOADS:
                share = np.clip(np.minimum(then - since, since + lasts - then) / RISE, 0.0, 1.0)
                wrench = wrench + share[:, None] * LOADS[kind](felt.wrench, size)
        bits = np.random.PCG64(np.random.SeedSequence([self.seed, 1]))
        bits.advance(start * (6 + 3 * k))  # one step a number, whose quantile the normal number is
        noise = np.split(ndtri(np.random.Generator(bits).random((count, 6 + 3 * k))),
                         (6, 6 + k, 6 + 2 * k), axis=1)
        q, stamps = truth.q + self.encoder_noise * noise[1], np.round(1e9 * t).astype(np.int64)
        some = slice(-start % self._step, None, self._step)
        return [JointStates(stamps, self.robot.joint_names, q,
                            truth.effort + np.array(self.effort_noise) * noise[3],
                            truth.dq + DERIVED * self.encoder_noise * noise[2]),
                Wrenches(stamps, self.sensor_frame, self._read(wrench, noise[0], t)),
                *self.robot.edges(stamps[some], q[some])]

    def truth(self, t: Array) -> Truth:
        """What happens at times t (n,) [s], in the world."""
        return self.engine.evaluate(*self.path(t))
