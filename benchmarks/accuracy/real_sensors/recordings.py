# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""One simulated recording by source and seed: `simulate("gain", 1000)`.

Arm, payload, motion and white noise depend on the seed alone, so that sources can be compared run
by run.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np
from scipy.signal import bilinear, lfilter
from scipy.spatial.transform import Rotation

from inertial_id_ros.inertia import Array, report_from_phi

from .. import sensors
from ..motions import GRAVITY
from .arms import ARMS, Arm, SensorMotion
from .errors import wandering
from .paths import KINDS, LENGTHS, JointPath, PathLaw, random_path, random_speed
from .payloads import FAMILIES, Told
from .sources import SOURCES, Source

ENCODER_NOISE = 1e-4  # rad
BIAS_SD = np.repeat([3.0, 0.2], 3)  # N, N m
CALIBRATION = (0.2, 1e-3, 0.2)  # deg and m of a joint's place, deg of its zero
BASE_MODE = (6.0, 0.03, 0.02)  # Hz, damping, share of the arm's acceleration that drives it
VIBRATION = (12.0, 0.5)  # Hz, m/s^2
CABLE_LEVER = 0.036  # m, from the sensor's origin to where a cable is fastened
CABLE_HEIGHT = 0.4  # m, of its fixed point above the sensor's middle position
ARRIVAL_DELAY = 0.003  # s, mean
LARGEST_SHARE = 0.8  # of a sensor's range, for the wrench of a payload
START_NS = 1_000_000_000_000


@dataclass(frozen=True, eq=False)
class Recording:
    """What a sensor and encoders measured, and the truth behind it.

    Attributes:
        arm: as the robot description has it.
        payload: its phi is in the sensor's frame as the robot description has it.
        wrench_stamps: (n,) [ns]; wrench: (n, 6) readings (`on_sensor`: minus the wrench on the
            payload) [N, N m]; bias: (6,) of them.
        joint_stamps: (m,) [ns]; positions: (m, k) [rad].
        kind, speed, seconds: of the motion; the speed is the one asked for [rad/s].
        exact: motion of the sensor at the wrenches.
    """

    source: Source
    seed: int
    arm: Arm
    payload: Told
    wrench_stamps: Array
    wrench: Array
    bias: Array
    joint_stamps: Array
    positions: Array
    kind: str
    speed: float
    seconds: float
    exact: SensorMotion

    @property
    def truth(self) -> Array:
        """Mass, centre of mass and tensor about it (10,), as `Estimate.report`."""
        return report_from_phi(self.payload.phi)


@dataclass(frozen=True)
class Draw:
    """What a recording is drawn from.

    Attributes:
        family: of payloads; lengths: of recordings [s]; kinds: of motions; speeds: lowest and
            highest mean angular speed that is asked for [rad/s]; None: those of the kind.
    """

    family: str = "composites"
    lengths: tuple[float, ...] = LENGTHS
    kinds: tuple[str, ...] = KINDS
    speeds: tuple[float, float] | None = None


def simulate(source: str | Source, seed: int, draw: Draw | None = None) -> Recording:
    """The recording of a source and a seed."""
    source = SOURCES[source] if isinstance(source, str) else source
    draw = draw or Draw()
    rng = np.random.default_rng([seed, 0])
    arm = ARMS[str(rng.choice(list(ARMS)))]
    payload = FAMILIES[draw.family](rng)
    kind = str(rng.choice(list(draw.kinds)))
    speed = random_speed(kind, draw.speeds, rng)
    seconds = float(rng.choice(list(draw.lengths)))
    law = random_path(arm, kind, speed, seconds, rng)
    bias, noise_rng = BIAS_SD * rng.normal(size=6), np.random.default_rng([seed, 1])
    rng = np.random.default_rng([seed, 2, zlib.crc32(source.name.encode())])
    t = np.arange(round(seconds * source.rate)) / source.rate
    payload = _within_range(source, arm, payload, law(t))
    exact, wrench = _true_wrench(source, arm, payload.phi, law, t, rng)
    readings = -wrench
    for effect in source.effects:
        readings = effect(readings, t, rng)
    if source.wandering is not None:
        readings = wandering(*source.wandering)(readings, t, rng)
    readings = readings + bias + np.repeat(source.white, 3) * noise_rng.normal(size=wrench.shape)
    if source.rounding is not None:
        readings = source.rounding(readings, t, rng)
    joint_times = np.arange(round(seconds * source.joint_rate)) / source.joint_rate
    q = law(joint_times).q
    q = q + ENCODER_NOISE * noise_rng.normal(size=q.shape)
    payload = _wrongly_told(source, payload, rng)
    stamps = _stamps(t + source.late, source.stamps, rng)
    return Recording(source, seed, arm, payload, stamps, readings, bias,
                     _stamps(joint_times, source.stamps, rng), q, kind, speed, seconds, exact)


def _within_range(source: Source, arm: Arm, payload: Told, path: JointPath) -> Told:
    """The payload, with less density where its wrench would exceed the sensor's range."""
    peak = np.abs(_body_wrench(payload.phi, arm.motion(*path))).max(axis=0)
    share = float(np.max(peak / np.repeat(source.range, 3)))
    return payload._replace(phi=payload.phi * min(1.0, LARGEST_SHARE / max(share, 1e-9)))


def _wrongly_told(source: Source, payload: Told, rng: np.random.Generator) -> Told:
    """The payload, with another box told of it where the source says so."""
    distance, angle, factor = (rng.uniform(*limits) for limits in (
        source.shape_moved, source.shape_turned, source.shape_scaled))
    if not distance and not angle and factor == 1.0:
        return payload
    hint, shift = payload.hint, distance * sensors.direction(rng)
    turn = Rotation.from_rotvec(angle * sensors.direction(rng), degrees=True)
    size = ({"shape.size": tuple(factor * s for s in hint["shape.size"])} if "shape.size" in hint
            else {"shape.mesh_scale": factor})
    return payload._replace(hint={
        **hint, **size,
        "shape.center": tuple((np.array(hint["shape.center"]) + shift).tolist()),
        "shape.rpy": tuple(turn.as_euler("xyz").tolist())})


def _true_wrench(source: Source, arm: Arm, phi: Array, law: PathLaw, t: Array,
                 rng: np.random.Generator) -> tuple[SensorMotion, Array]:
    """Exact motion, and wrench (n, 6) of the sensor on the payload in the sensor's own axes."""
    path, real = law(t), arm
    if source.calibration:
        angle, distance, zero = (source.calibration * size for size in CALIBRATION)
        real = arm.disturbed(rng, angle, distance)
        path = path._replace(q=path.q + np.deg2rad(rng.normal(0.0, zero, path.q.shape[1])))
    if source.compliance:
        path = _deflected(real, path, phi, source.compliance, t)
    exact = real.motion(*path)
    if source.soft_base:
        exact = real.motion(*path, base=_base_acceleration(exact, t, rng))
    wrench = _body_wrench(phi, exact)
    if any(source.cable):
        wrench = wrench - _cable_wrench(exact, source.cable, rng)
    if source.moved:
        wrench = _about(wrench, rng.normal(0.0, source.moved, 3))
    if source.turned:
        wrench = sensors.turned(wrench, source.turned, rng)
    return exact, wrench


def _body_wrench(phi: Array, motion: SensorMotion) -> Array:
    """Wrench (n, 6) of the sensor on the payload."""
    return sensors.newton_euler(phi, motion.proper, motion.omega, motion.alpha)


def _deflected(arm: Arm, path: JointPath, phi: Array, compliance: float, t: Array) -> JointPath:
    """The path behind joints that give way under the weight of the payload."""
    bent = compliance * arm.weight_torques(path.q, phi[0], phi[1:4] / phi[0])
    rate = np.gradient(bent, t, axis=0, edge_order=2)
    return JointPath(path.q + bent, path.dq + rate,
                     path.ddq + np.gradient(rate, t, axis=0, edge_order=2))


def _base_acceleration(motion: SensorMotion, t: Array, rng: np.random.Generator) -> Array:
    """Acceleration (n, 3) of a base that the arm swings, and that vibrates [m/s^2]."""
    frequency, damping, share = BASE_MODE
    rate = 2.0 * np.pi * frequency
    arm = np.einsum("nij,ni->nj", motion.axes, motion.proper) - [0.0, 0.0, GRAVITY]
    mode = bilinear([1.0, 0.0, 0.0], [1.0, 2.0 * damping * rate, rate**2], 1.0 / (t[1] - t[0]))
    swing = lfilter(*mode, share * (arm - arm[0]), axis=0)
    angle = 2.0 * np.pi * VIBRATION[0] * t + rng.uniform(0.0, 2.0 * np.pi)
    return swing + VIBRATION[1] * np.sin(angle)[:, None] * sensors.direction(rng)


def _cable_wrench(motion: SensorMotion, cable: tuple[float, float],
                  rng: np.random.Generator) -> Array:
    """Wrench (n, 6) of a cable on the payload, in sensor axes about its origin."""
    shortest, stiffness = cable
    arm = CABLE_LEVER * sensors.direction(rng)
    at = motion.position + np.einsum("nij,i->nj", motion.axes, arm)
    fixed = motion.position.mean(axis=0) + [*rng.uniform(-0.3, 0.3, 2), 0.0]
    fixed[2] = motion.position[:, 2].max() + CABLE_HEIGHT
    line = fixed - at
    length = np.linalg.norm(line, axis=1, keepdims=True)
    pull = (shortest + stiffness * (length - length.min())) * line / length
    force = np.einsum("nij,nj->ni", motion.axes, pull)
    return np.hstack([force, np.cross(arm, force)])


def _about(wrench: Array, origin: Array) -> Array:
    """Wrench (n, 6) about another origin (3,) [m], along the same axes."""
    return np.hstack([wrench[:, :3], wrench[:, 3:] - np.cross(origin, wrench[:, :3])])


def _stamps(t: Array, kind: str, rng: np.random.Generator) -> Array:
    """Stamps (n,) [ns] of samples at times t (n,) [s]; they increase."""
    if kind == "jitter":
        t = np.maximum.accumulate(t + rng.exponential(ARRIVAL_DELAY, len(t)))
    elif kind == "bursts":
        t = t.copy()
        begin = 0
        while begin < len(t):
            end = min(begin + int(rng.integers(4, 9)), len(t))
            gaps = rng.uniform(50e-6, 100e-6, end - begin)
            t[begin:end] = t[end - 1] + np.cumsum(gaps)
            begin = end
    stamps = START_NS + np.round(1e9 * t).astype(np.int64)
    rising = stamps - 1000 * np.arange(len(t))  # kept in order: at least 1 us apart
    return np.maximum.accumulate(rising) + 1000 * np.arange(len(t))
