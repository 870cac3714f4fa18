# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What a wrist sensor and encoders of a UR5 measure, with the truth: MuJoCo gives the motion of the
sensor, and payloads are point masses, whose wrench is Newton's law point by point; no regressor."""

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from inertial_id_ros.apps.simulation.cobot import SENSOR_FRAME, ArmEngine, Truth, load_description
from inertial_id_ros.apps.simulation.payload import Part, Payload
from inertial_id_ros.estimate import Outcome
from inertial_id_ros.inertia import Array
from inertial_id_ros.io.inputs import Edges, JointStates, Samples, Wrenches
from inertial_id_ros.settings import Settings

START = 1_785_000_000_123_456_789  # ns
GRAVITY = np.array([0.0, 0.0, -9.81])
URDF, NAMES, FRAME = load_description().urdf, load_description().joint_names, SENSOR_FRAME
MIDDLE = np.radians([0.0, -90.0, 60.0, -90.0, -90.0, 0.0])
NOISE, ENCODER_NOISE = np.repeat([0.1, 0.005], 3), 1e-4  # N, N m; rad
BIAS = np.array([2.0, -3.0, 1.0, 0.1, -0.2, 0.15])  # N, N m
NOTHING = Payload("nothing", (Part("sphere", (1e-2,), 1e-3),))
Motion = Callable[[Array], tuple[Array, Array, Array]]


def wide_motion(duration: float, seed: int = 0, harmonics: int = 8, size: float = 0.8) -> Motion:
    """A random sum of sines in all joints, up to `size` [rad] from the middle, that begins and ends
    at rest: positions, velocities and accelerations (n, joints) at times (n,)."""
    rng = np.random.default_rng(seed)
    rate = 2.0 * np.pi / duration * np.arange(1, harmonics + 1)
    a, b = rng.normal(size=(2, harmonics, 6))
    a -= np.outer(rate, rate @ a) / (rate @ rate)  # no velocity
    b -= np.outer(rate**2, rate**2 @ b) / np.sum(rate**4)  # no acceleration
    t = np.linspace(0.0, duration, 400)[:, None] * rate
    reach = np.abs(np.sin(t) @ a + (np.cos(t) - 1.0) @ b).max(axis=0)
    a, b = size * a / reach, size * b / reach

    def motion(t: Array) -> tuple[Array, Array, Array]:
        s, c = np.sin(t[:, None] * rate), np.cos(t[:, None] * rate)
        return (MIDDLE + s @ a + (c - 1.0) @ b, (c * rate) @ a - (s * rate) @ b,
                -(s * rate**2) @ a - (c * rate**2) @ b)

    return motion


@cache
def moved(seed: int, seconds: float, rate: float = 250.0, size: float = 0.8, tilt: float = 0.0,
          harmonics: int = 0) -> Truth:
    """Motion of the sensor in base axes, of a base that is tilted about x and y [rad]."""
    up = Rotation.from_euler("xyz", [tilt, tilt, 0.0])
    motion = wide_motion(seconds, seed, harmonics or max(4, round(0.35 * seconds)), size)
    return ArmEngine(URDF, NOTHING, up.inv().apply(GRAVITY)).evaluate(
        *motion(np.arange(round(seconds * rate)) / rate))


class Points(NamedTuple):
    """Point masses: (p,) or (n, p) [kg] at places (p, 3) or (n, p, 3) in sensor axes [m]."""

    masses: Array
    places: Array

    def wrench(self, at: Truth) -> Array:
        """Force and torque (n, 6) of the sensor on the points."""
        places = np.broadcast_to(self.places, (len(at.q), *self.places.shape[-2:]))
        alpha, omega = at.alpha[:, None], at.omega[:, None]
        force = self.masses[..., None] * (at.a_g[:, None] + np.cross(alpha, places) + np.cross(
            omega, np.cross(omega, places)))
        return np.concatenate([force.sum(1), np.cross(places, force).sum(1)], axis=1)

    def phi(self, k: int = -1) -> Array:
        """Mass, first moments, and xx, xy, xz, yy, yz, zz about the sensor at sample k."""
        m = np.atleast_2d(self.masses)[k if self.masses.ndim > 1 else 0]
        x, y, z = (self.places[k] if self.places.ndim > 2 else self.places).T
        return np.array([m.sum(), m @ x, m @ y, m @ z, m @ (y * y + z * z), -m @ (x * y),
                         -m @ (x * z), m @ (x * x + z * z), -m @ (y * z), m @ (x * x + y * y)])

    def report(self, k: int = -1) -> Array:
        """Mass, centre, and the tensor about it, at sample k."""
        phi = self.phi(k)
        com = phi[1:4] / phi[0]
        return np.r_[phi[0], com, phi[4:] - Points(phi[:1], com[None]).phi()[4:]]


def body(seed: int = 3, mass: float = 1.4) -> Points:
    """Twelve points, about 0.2 m across, 0.1 m in front of the sensor."""
    rng = np.random.default_rng(seed)
    return Points(mass * rng.dirichlet(np.full(12, 5.0)),
                  rng.uniform(-0.1, 0.1, (12, 3)) + [0.02, -0.03, 0.1])


BODY = body()


class Stream(NamedTuple):
    """Samples of a topic: kind and labels of their block, times of arrival and stamps (n,) [s],
    rows (n, k)."""

    kind: type
    labels: tuple[Any, ...]
    at: Array
    stamp: Array
    rows: Array

    def part(self, which: Array | slice) -> "Stream":
        """Some of them."""
        return self._replace(at=self.at[which], stamp=self.stamp[which], rows=self.rows[which])

    def block(self) -> Samples:
        """As an identifier takes them, in the order of arrival."""
        order = np.argsort(self.at, kind="stable")
        stamps = START + np.round(1e9 * self.stamp[order]).astype(np.int64)
        made: Samples = self.kind(stamps, *self.labels, self.rows[order])
        return made


class Recording(NamedTuple):
    """The motion behind streams, the payload, and the streams."""

    motion: Truth
    points: Points
    streams: list[Stream]

    def changed(self, **changes: Callable[[Stream], Stream | list[Stream]]) -> "Recording":
        """With other streams in place of `wrench` or `motion`."""
        out: list[Stream] = []
        for name, stream in zip(("motion", "wrench"), self.streams, strict=True):
            new = changes[name](stream) if name in changes else stream
            out += [new] if isinstance(new, Stream) else new
        topics = dict.fromkeys(stream[:2] for stream in out)
        return self._replace(streams=[Stream(*topic, *map(np.concatenate, zip(*(
            stream[2:] for stream in out if stream[:2] == topic), strict=True)))
            for topic in topics])

    def blocks(self, every: float = 0.0) -> Iterator[tuple[float, list[Samples]]]:
        """Time and samples that have come since the one before; 0: all at once."""
        end = max(float(stream.at.max()) for stream in self.streams)
        for k in range(1 + int(end / every) if every else 1):
            begin, until = (k * every, (k + 1) * every) if every else (-np.inf, np.inf)
            parts = [s.part((s.at >= begin) & (s.at < until)) for s in self.streams]
            yield min(until, end), [part.block() for part in parts if len(part.at)]

    def outcomes(self, made: Any, every: float = 0.0) -> list[Outcome]:
        """What an identifier says to all of it, so many seconds of arrival at a time."""
        due = [outcome for _, part in self.blocks(every) for outcome in made.add_arrays(part)]
        return due + made.finish()


def times(seconds: float, rate: float) -> Array:
    """Sample times [s]."""
    return np.arange(round(seconds * rate)) / rate


def stream(kind: type, labels: tuple[Any, ...], rows: Array, seconds: float) -> Stream:
    """Rows (n, k), evenly in some seconds."""
    t = times(seconds, len(rows) / seconds)
    return Stream(kind, labels, t, t, rows)


def poses(motion: Truth) -> Array:
    """Transforms (n, 7) of the sensor in the base."""
    return np.hstack([motion.position, Rotation.from_matrix(motion.rotation).as_quat()])


def record(seconds: float = 6.0, points: Points = BODY, *, seed: int = 1, rate: float = 200.0,
           joint_rate: float = 0.0, noise: float = 0.0, sign: float = -1.0, extra: Any = 0.0,
           by_poses: bool = False, **motion_of: Any) -> Recording:
    """A motion of all joints with a payload.

    Args:
        noise: times the usual; sign: -1 is `on_sensor`; extra: (6,) or (n, 6) beside it in the
            readings; by_poses: transforms tell the motion; motion_of: options of `moved`.
    """
    rng = np.random.default_rng(100 + seed)
    motion = moved(seed, seconds, rate, **motion_of)
    readings = sign * points.wrench(motion) + extra
    other = moved(seed, seconds, joint_rate, **motion_of) if joint_rate else motion
    q = other.q + noise * ENCODER_NOISE * rng.normal(size=other.q.shape)
    y = readings + noise * NOISE * rng.normal(size=readings.shape)
    moving = (stream(Edges, ("base_link", FRAME), poses(other), seconds) if by_poses else
              stream(JointStates, (NAMES,), q, seconds))
    return Recording(motion, points, [moving, stream(Wrenches, (FRAME,), y, seconds)])


def settings(**changes: Any) -> Settings:
    """Settings of a sensor that has noise and a bias but no other error, with ``wls``; keyword
    ``wrench__topic`` is ``wrench.topic``."""
    base = {"wrench.sensor": "ideal", "alignment.orientation_sd": 0.0, "alignment.position_sd": 0.0,
            "estimator.method": "wls"}
    return Settings().replace(base | {k.replace("__", "."): v for k, v in changes.items()})


def dotted(changes: dict[str, Any]) -> dict[str, Any]:
    """Names of settings with a dot in place of two underscores."""
    return {name.replace("__", "."): value for name, value in changes.items()}


def in_sensor(motion: Truth, room: Iterable[float] | Array) -> Array:
    """Vectors (3,) or (n, 3) of the base in sensor axes (n, 3)."""
    return np.einsum("nji,nj->ni", motion.rotation, np.broadcast_to(room, motion.a_g.shape))


def applied(force: Array, lever: Iterable[float]) -> Array:
    """Wrench (n, 6) of forces (n, 3) at a point (3,)."""
    return np.hstack([force, np.cross(np.broadcast_to(lever, force.shape), force)])


def cable(motion: Truth, tension: float, stiffness: float) -> Array:
    """Wrench (n, 6) of a cable on the payload, 36 mm beside the sensor, whose other end is fixed
    above the arm: tension where it is shortest [N], stiffness [N/m]."""
    arm = np.array([0.03, -0.02, 0.0])
    fixed = motion.position.mean(axis=0) + [0.2, -0.1, 0.0]
    fixed[2] = motion.position[:, 2].max() + 0.4
    away = fixed - motion.position - np.einsum("nij,j->ni", motion.rotation, arm)
    length = np.linalg.norm(away, axis=1, keepdims=True)
    return applied(in_sensor(motion, (tension + stiffness * (length - length.min())) * away
                             / length), arm)


def play(readings: Array, share: float, of: Array) -> Array:
    """Hysteresis: readings (n, 6) behind a play of .3 of their range, mixed in up to a share of
    full scale (6,)."""
    half = 0.3 * np.ptp(readings, axis=0)
    at, out = readings[0], np.empty_like(readings)
    for k, row in enumerate(readings):
        out[k] = at = np.clip(at, row - half, row + half)
    return readings + np.minimum(share * of / half, 0.5) * (out - readings)
